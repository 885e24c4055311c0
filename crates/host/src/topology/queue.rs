//! What the queue of a block device lets through.
//!
//! Source of the attributes: `Documentation/ABI/stable/sysfs-block`.

use std::path::Path;

use units::Bytes;

use super::component::{Ceiling, Limit, PathComponent, shown, yes_no};
use crate::sysroot::{SysRoot, number};
use crate::target::Device;

/// `part` with the queue of `device`: its settings as facts, its sizes as ceilings.
pub(super) fn with_queue(root: &SysRoot, part: PathComponent, device: &Device) -> PathComponent {
    let queue = device.folder.join("queue");
    let settings = &device.queue;
    part.fact("scheduler", settings.scheduler.clone())
        .fact("read-ahead", settings.read_ahead.map(|size| size.to_string()))
        .fact("write cache", settings.write_cache.clone())
        .fact("rotational", settings.rotational.map(yes_no))
        .maybe(of_file(root, &queue.join("max_sectors_kb"), Limit::RequestSize, 1024.0, "max_sectors_kb"))
        .maybe(of_file(
            root,
            &queue.join("nr_requests"),
            Limit::InFlight,
            1.0,
            "nr_requests of the block layer, a queue",
        ))
        .maybe(of_file(
            root,
            &device.folder.join("device/queue_depth"),
            Limit::InFlight,
            1.0,
            "queue_depth of the device",
        ))
}

/// A ceiling that stands in a file as a number of `scale`; `None` where it is absent or zero.
pub(super) fn of_file(root: &SysRoot, path: &Path, limit: Limit, scale: f64, basis: &str) -> Option<Ceiling> {
    let value = number(path).filter(|value| *value > 0)? as f64 * scale;
    Some(Ceiling { limit, value, each_way: false, basis: basis.into(), source: shown(root, path) })
}

/// The rate at which a rotating disk can serve random requests one at a time if it never had to seek: one each half
/// revolution.
///
/// The speed is that of VPD page B1h, bytes 4 and 5 (SBC-4); 0 is not reported, 1 does not rotate.
pub(super) fn rotation(root: &SysRoot, device: &Device) -> Result<Ceiling, String> {
    let path = device.folder.join("device/vpd_pgb1");
    let page = std::fs::read(&path).unwrap_or_default();
    let rpm = match page.get(4..6) {
        Some(bytes) => u32::from(u16::from_be_bytes([bytes[0], bytes[1]])),
        None => 0,
    };
    if rpm <= 1 {
        return Err(format!("rotation rate: {} does not report it", shown(root, &path)));
    }
    Ok(Ceiling {
        limit: Limit::OneAtATime,
        value: f64::from(rpm) / 60.0 * 2.0,
        each_way: false,
        basis: format!("half a revolution at {rpm}/min and no seek"),
        source: shown(root, &path),
    })
}

/// The buffer of an ATA drive, as it says itself; `None` where it does not, as drives with more than 32 MiB.
///
/// Word 21 of IDENTIFY DEVICE, in blocks of 512 bytes (ATA-3; later standards retire it, and drives still fill it, which
/// `hdparm -I` prints), all ones where they are not enough. The kernel keeps IDENTIFY DEVICE in VPD page 89h, from byte
/// 60 on (SAT-4, 12.4.2).
pub(super) fn buffer(device: &Device) -> Option<Bytes> {
    const WORD_21: usize = 60 + 2 * 21;
    let page = std::fs::read(device.folder.join("device/vpd_pg89")).ok()?;
    let blocks = u16::from_le_bytes([*page.get(WORD_21)?, *page.get(WORD_21 + 1)?]);
    (!matches!(blocks, 0 | u16::MAX)).then(|| Bytes::new(u64::from(blocks) * 512))
}
