//! What an array holds of written data that is not yet on its media.

use units::convert::truncated;
use units::{Bytes, SECTOR_BYTES};

use super::ArraySpec;
use crate::device::DeviceParams;
use crate::device::rotating::DriveCacheParams;
use crate::topology::Topology;

impl ArraySpec {
    /// Written bytes that may be acknowledged and not yet on the media: the write caches of all controllers and the
    /// write buffers of all devices, each full. Zero where every write waits for the media.
    ///
    /// A host's page cache is not among them: direct I/O passes it by.
    pub fn write_cache(&self) -> Bytes {
        let Topology { controllers, controller, models, disks, .. } = &self.topology;
        let cache = controller.cache.as_ref().filter(|cache| cache.takes_writes(*controllers > 1));
        let room = cache.map_or(Bytes::ZERO, |cache| cache.write_room() * u64::from(*controllers));
        let disks = disks.iter().filter_map(|model| models.get(*model as usize));
        room + disks.map(buffer).sum::<Bytes>()
    }
}

fn buffer(device: &DeviceParams) -> Bytes {
    match device {
        DeviceParams::Rotating(drive) => match drive.cache.filter(DriveCacheParams::is_write_back) {
            Some(cache) => Bytes::new(cache.segment.0 * SECTOR_BYTES * u64::from(cache.write_segments)),
            None => Bytes::ZERO,
        },
        DeviceParams::Flash(drive) => drive.write_buffer,
        DeviceParams::CachedFlash(device) => {
            Bytes::new(truncated(device.cache.as_f64() * device.dirty_limit.get()))
        }
        DeviceParams::Queue(_) | DeviceParams::Fitted(_) => Bytes::ZERO,
    }
}

#[cfg(test)]
mod tests {
    use crate::spec::{Shipped, array};
    use units::Bytes;

    fn of(address: &str) -> Bytes {
        array(&Shipped, address).unwrap().write_cache()
    }

    #[test]
    fn what_is_acknowledged_lies_in_controllers_and_devices() {
        assert_eq!(of("queue"), Bytes::ZERO);
        assert_eq!(of("queue?cache.size=64MiB"), Bytes::MIB * 64);
        assert_eq!(of("queue?cache.size=64MiB&cache.write_part=50%"), Bytes::MIB * 32);
        assert_eq!(of("queue?cache.size=64MiB&cache.write_back=false"), Bytes::ZERO);
        assert_eq!(of("queue?cache.size=64MiB&cache.mirrored=true"), Bytes::ZERO, "nobody mirrors it");
        assert_eq!(of("queue?cache.size=64MiB&cache.mirrored=true&controller.count=2"), Bytes::MIB * 64);
    }
}
