use super::*;
use crate::device::DeviceParams;
use crate::device::rotating::{ContinuousRead, FastWrite, RotatingParams, Seek, Zones};
use crate::spec::{Shipped, device_text};

const SPECS: &str = "\
# A drive of nobody's
disksim_disk TINY {
   Model = source tiny.model,
   Time scale for overheads = 2.0,
   Bulk sector transfer time = 0.1,
   Allow almost read hits = 1,
   Number of buffer segments = 4,
   Maximum number of write segments = 2,
   Segment size (in blks) = 64, # sectors
   Use separate write segment = 1,
   Low (write) water mark = 0.25,
   High (read) water mark = 0.75,
   Enable caching in buffer = 1,
   Buffer continuous read = 4,
   Maximum read-ahead (blks) = 32,
   Read-ahead over requested = 0,
   Fast write level = 1,
   Read hit over. after read = 0.1,
   Read hit over. after write = 0.2,
   Scheduler = disksim_ioqueue {
      Scheduling policy = 1
   },
   Max queue length = 1
}
";

const MODEL: &str = "\
dm_disk TINY_model {
   Number of data surfaces = 2,
   Number of cylinders = 100,
   Block count = 19000,
   Layout Model = dm_layout_g1 {
      Zones = [
         dm_layout_g1_zone {
            First cylinder number = 0,
            Last cylinder number = 49,
            Blocks per track = 100,
            Skew for track switch = -5.0,
            Skew for cylinder switch = 20,
            slips = [ 1, 2, 3 ], defects = []
         },
         dm_layout_g1_zone
         {
            First cylinder number = 51,
            Last cylinder number = 99,
            Blocks per track = 90,
            Skew units = revolutions,
            Skew for track switch = 0.1
         }
      ]
   },
   Mechanical Model = dm_mech_g1 {
      Access time type = trackSwitchPlusRotation,
      Seek type = extracted,
      Full seek curve = tiny.seek,
      Add. write settling delay = -0.2,
      Head switch time = 0.5,
      Rotation speed (in rpms) = 6000
   }
}
";

const SEEK: &str = "Seek distances measured: 2\n1,\t1.0\n99,\t9.0\n";

fn beside(name: &str) -> Option<String> {
    match name {
        "tiny.model" => Some(MODEL.into()),
        "tiny.seek" => Some(SEEK.into()),
        _ => None,
    }
}

fn read(specs: &str) -> Result<DiskSimDrive, DiskSimError> {
    drive("tiny.diskspecs", specs, &mut beside)
}

fn params(specs: &str) -> RotatingParams {
    let drive = read(specs).unwrap();
    let (device, _) = device_text(&Shipped, "tiny", &drive.text).unwrap_or_else(|error| panic!("{error}"));
    let DeviceParams::Rotating(params) = device.params else { panic!("a disk turns") };
    params
}

#[test]
fn every_parameter_becomes_the_key_that_means_it() {
    let params = params(SPECS);
    assert_eq!((params.capacity.0, params.surfaces, params.cylinders), (19_000, 2, 100));
    assert_eq!((params.write_settle_ns, params.head_switch.get()), (-200_000, 500_000));
    assert_eq!(params.link.get().round(), 5_120_000.0);
    let Zones::Exact(zones) = &params.zones else { panic!("the drive has zones") };
    assert_eq!((zones[0].sectors_per_track, zones[1].first_cylinder), (100, 51));
    assert_eq!((zones[0].track_skew, zones[0].cylinder_skew, zones[1].track_skew), (-5.0, 20.0, 9.0));
    let Seek::Measured(points) = &params.seek else { panic!("the curve is measured") };
    assert_eq!((points.len(), points[1].0, points[1].1.get()), (2, 99, 9_000_000));
    assert_eq!(params.overhead.read_hit.after_write.get(), 400_000, "overheads are scaled");
    let cache = params.cache.unwrap();
    assert_eq!((cache.segments, cache.segment.0, cache.read_ahead.0), (4, 64, 32));
    assert_eq!((cache.continuous_read, cache.fast_write), (ContinuousRead::Stream, FastWrite::Appending));
    assert_eq!((cache.forward_after.get(), cache.write_after.get()), (0.75, 0.25));
    assert!(cache.almost_hits && cache.separate_write && cache.keeps_read && !cache.free_blocks);
}

#[test]
fn a_drive_that_may_overwrite_what_was_read_reads_ahead_of_every_read() {
    let specs = SPECS.replace("Read-ahead over requested = 0", "Read-ahead over requested = 1");
    let cache = params(&specs).cache.unwrap();
    assert_eq!((cache.continuous_read, cache.keeps_read), (ContinuousRead::NextTrack, false));
    let specs = SPECS.replace("Enable caching in buffer = 1", "Enable caching in buffer = 0");
    assert_eq!(params(&specs).cache, None);
}

#[test]
fn a_bus_slower_than_the_drive_bounds_its_interface_and_none_leaves_it_open() {
    let bus = "disksim_bus BUS0 {\n Read block transfer time = 0.4 }\nsource tiny.diskspecs\n";
    let mut files = |name: &str| if name == "tiny.diskspecs" { Some(SPECS.into()) } else { beside(name) };
    let parv = drive("x.parv", bus, &mut files).unwrap();
    assert!(parv.text.contains("link = \"1280000B/s\""), "{}", parv.text);
    let silent = read(&SPECS.replace("time = 0.1", "time = 0.0")).unwrap();
    assert!(!silent.states_link && !silent.text.contains("link ="));
}

#[test]
fn what_cannot_be_read_is_said_with_its_place() {
    let says = |specs: &str| read(specs).unwrap_err().to_string();
    assert_eq!(says("disksim_disk X {\n Model = 3"), "tiny.diskspecs:2: the text ends inside a block");
    assert!(says(&SPECS.replace("tiny.model", "gone.model")).contains("no such file beside this one"));
    assert!(says("disksim_bus X { }").contains("no `disksim_disk`"));
    let looped = drive("a", "source a\n", &mut |_| Some("source a\n".into())).unwrap_err();
    assert!(looped.to_string().contains("does a file take in itself?"));
    let deep = format!("disksim_disk X {{ a = {}", "[".repeat(100_000));
    assert!(says(&deep).contains("too deep"));
}

#[test]
fn a_text_of_disksims_is_told_from_toml() {
    assert!(is_disksim("\n# x\ndisksim_global G {\n") && is_disksim("source a.diskspecs"));
    assert!(!is_disksim("name = \"x\"\n"));
}
