//! What files of devices may say, and what of it is refused.

use units::{Instant, Nanos};

use super::*;
use crate::device::flash::{Translation, Victims, Written};
use crate::device::{Command, Device, Submitted};
use crate::meter::Class;

#[test]
fn counts_that_would_only_fill_memory_are_refused() {
    assert!(complaint("[devices]\ncount = 4000000000\n").contains("an array has 1 to 32768 disks"));
    assert!(complaint("[channel]\ncount = 4000000000\n").ends_with("give 1 to 65536"));
    assert!(complaint("[cache]\nsize = \"1000TiB\"\nline = \"512B\"\n").contains("give larger lines"));
    assert!(complaint("[controller]\ncount = 3\n").contains("an array has one controller, or two"));
}

#[test]
fn a_page_map_is_as_long_as_it_may_be() {
    let scale = |add: &str| {
        let text = format!(
            "name = \"x\"\ninherits = \"nvme-jbof-8\"\n[devices.with]\ntranslation = \"mapped\"\n{add}"
        );
        let spec = array_text(&Shipped, "x.toml", &text, &Address::parse("x").unwrap());
        spec.map(|spec| match &spec.topology.models[0] {
            DeviceParams::Flash(flash) => flash.translation,
            _ => panic!("a flash drive"),
        })
    };
    // 117,210,901 pages of 16 KiB.
    assert_eq!(scale("").unwrap(), Translation::Mapped { scale: 64 });
    assert_eq!(scale("map_scale = 14307\n").unwrap(), Translation::Mapped { scale: 14_307 });
    for wrong in ["27", "14308"] {
        let told = scale(&format!("map_scale = {wrong}\n")).unwrap_err().to_string();
        assert!(told.contains("give 28 to 14307"), "{told}");
    }
    assert_eq!(scale("capacity = \"1GiB\"\n").unwrap(), Translation::Mapped { scale: 8 });
}

#[test]
fn a_flash_drive_begins_steady_or_fresh_and_may_write_one_bit_a_cell() {
    let drive = |add: &str| {
        let text = format!("name = \"x\"\ninherits = \"nvme-jbof-8\"\n[devices.with]\n{add}");
        let spec = array_text(&Shipped, "x.toml", &text, &Address::parse("x").unwrap());
        spec.map(|spec| match &spec.topology.models[0] {
            DeviceParams::Flash(flash) => flash.clone(),
            _ => panic!("a flash drive"),
        })
    };
    let plain = drive("planes = 1\n").unwrap();
    assert_eq!((plain.state, plain.victims, plain.slc_cache), (Written::Steady, Victims::Greedy, None));
    assert!(!plain.remembers());
    let fresh = drive("state = \"fob\"\ncollection = \"fifo\"\n").unwrap();
    assert_eq!((fresh.state, fresh.victims, fresh.remembers()), (Written::Fresh, Victims::Fifo, true));
    let cache = "[devices.with.slc_cache]\nsize = \"3GB\"\nprogram_page = \"0.4ms\"\n";
    let cached = drive(cache).unwrap();
    let slc = cached.slc_cache.unwrap();
    assert_eq!((slc.size.get(), slc.program_page.get(), slc.fold_after.get()), (3_000_000_000, 400_000, 0));
    assert!(cached.remembers());
    let derived = |path: &str| {
        let text = format!("write_path = \"{path}\"\n[devices.with.slc_cache]\nsize = \"3GB\"\n");
        drive(&text).unwrap().slc_cache.unwrap().program_page.get()
    };
    // Eight channels of eight dies program a page of 16 KiB each.
    assert_eq!(derived("6000MB/s"), 174_763, "all of them together take in what the controller moves");
    assert_eq!(derived("500MB/s"), 400_000, "no more than the class of one bit a cell takes");
    for (wrong, told) in [
        ("state = \"new\"\n", "fob"),
        ("collection = \"lru\"\n", "fifo"),
        (
            "[devices.with.slc_cache]\nsize = \"3TB\"\nprogram_page = \"0.4ms\"\n",
            "at most what the drive does",
        ),
    ] {
        let error = drive(wrong).unwrap_err().to_string();
        assert!(error.contains(told), "{wrong}: {error}");
    }
}

/// AnandTech (show/7173, page 4) found 3 GB moved in 15 to 30 seconds.
#[test]
fn the_slc_cache_of_a_shipped_drive_is_moved_in_the_time_that_was_measured_of_it() {
    let spec = array(&Shipped, "ssd-1?drive=evo-840-250").expect("it is shipped");
    let second_burst = |idle_s: f64| {
        let mut drive = Device::new(&spec.topology.models[0], 1);
        let (mut now, mut first) = (Instant::START, 0);
        let mut burst = |now: &mut Instant| {
            let from = *now;
            for _ in 0..2_800 {
                let (tag, given, class) = (0, *now, Class::HostWrite);
                let command = Command { first, sectors: 2_048, tag, write: true, class, ready: given, given };
                first += 2_048;
                let Submitted::Ends(end) = drive.submit(*now, command) else { panic!("a flash drive") };
                *now = end;
            }
            (*now - from).as_secs_f64()
        };
        let first = burst(&mut now);
        now += Nanos::from_secs_f64(idle_s);
        burst(&mut now) / first
    };
    let (soon, late) = (second_burst(10.0), second_burst(30.0));
    assert!((late - 1.0).abs() < 0.02 && soon > 1.3, "{soon} and {late} of the first");
}

#[test]
fn an_interface_takes_its_frames_of_each_command_unless_a_drive_says_what_it_takes() {
    let link_command = |add: &str| {
        let text = format!("name = \"x\"\ninherits = \"nvme-jbof-8\"\n[devices.with]\n{add}");
        let spec = array_text(&Shipped, "x.toml", &text, &Address::parse("x").unwrap());
        spec.map(|spec| match &spec.topology.models[0] {
            DeviceParams::Flash(flash) => flash.link_command.get(),
            _ => panic!("a flash drive"),
        })
    };
    assert_eq!(link_command("").unwrap(), 0);
    // 235 dwords of 40 bits.
    let taken =
        ["sata-6", "sata-3", "sata-1.5"].map(|name| link_command(&format!("interface = \"{name}\"\n")));
    assert_eq!(taken.map(Result::unwrap), [1_566, 3_133, 6_266]);
    assert_eq!(link_command("interface = \"sata-6\"\nlink_command = \"5us\"\n").unwrap(), 5_000);
    assert!(link_command("interface = \"ide\"\n").unwrap_err().to_string().contains("sata-1.5"));
}

/// What is said about a device of the library with `text` laid over it.
fn of_device(model: &str, text: &str) -> Result<DeviceParams, String> {
    let text = format!("inherits = \"{model}\"\n{text}");
    device_text(&Shipped, "x.toml", &text).map(|(spec, _)| spec.params).map_err(|error| error.to_string())
}

#[test]
fn figures_that_no_device_has_are_refused_with_what_to_write() {
    for (model, text, told) in [
        ("cheetah-x15", "write_settle = \"-5ms\"", "settles by so much more; give -"),
        ("cheetah-x15", "head_switch = \"5s\"", "an arm moves for at most 4s"),
        ("cheetah-x15", "seek_full = \"1h\"", "an arm moves for at most 4s"),
        (
            "cheetah-x15",
            "rate_outer = \"1B/s\"\nrate_inner = \"1B/s\"",
            "a track holds a sector at least; give ",
        ),
        ("cheetah-x15", "link = \"1B/s\"", "it moves at least 1kB/s"),
        ("cheetah-x15", "cylinders = 0", "an arm moves over 2 to 100000000 cylinders"),
        ("cheetah-x15", "overhead = \"2h\"", "a device takes at most an hour"),
        ("cheetah-x15", "[buffer]\nsize = \"2TiB\"", "a device has at most 1TiB of it"),
        ("mx500-500", "over_provisioning = 7", "write 7 % as \"7%\" or 0.07"),
        ("mx500-500", "over_provisioning = 0", "write 7 % as \"7%\" or 0.07"),
        ("mx500-500", "over_provisioning = \"0%\"", "write 7 % as \"7%\" or 0.07"),
        ("mx500-500", "over_provisioning = \"700%\"", "0 to 1 (write percent as `70%`)"),
        ("mx500-500", "channel = \"0B/s\"", "it moves at least 1kB/s"),
        ("mx500-500", "channels = 60000\ndies_per_channel = 60000", "a drive has at most 65536 dies"),
        ("mx500-500", "read_page = [\"50us\", \"2h\"]", "a device takes at most an hour"),
    ] {
        let found = of_device(model, text).expect_err(text);
        assert!(found.contains(told), "{text}: {found}");
    }
}

#[test]
fn a_write_settles_sooner_than_a_read_by_no_more_than_the_shortest_seek() {
    let settle = |text: &str| match of_device("cheetah-x15", &format!("seek_track = \"0.8ms\"\n{text}")) {
        Ok(DeviceParams::Rotating(drive)) => drive.write_settle_ns,
        other => panic!("{other:?}"),
    };
    assert_eq!(settle("write_settle = \"-0.8ms\""), -800_000);
    assert_eq!(settle("write_settle = \"0.3ms\""), 300_000);
}

#[test]
fn spare_flash_is_a_share_in_either_way_of_writing_it() {
    for text in ["\"12.5%\"", "0.125", "\"1/8\""] {
        let read = of_device("mx500-500", &format!("over_provisioning = {text}"));
        let Ok(DeviceParams::Flash(drive)) = read else { panic!("{text}: {read:?}") };
        assert!((drive.over_provisioning - 0.125).abs() < 1e-12, "{text}");
    }
}

#[test]
fn a_disk_reads_no_farther_ahead_than_a_segment_of_its_buffer() {
    let text =
        "[buffer]\nsize = \"16MiB\"\nsegments = 16\nread_ahead = \"1GiB\"\nread_ahead_least = \"1GiB\"";
    let Ok(DeviceParams::Rotating(drive)) = of_device("cheetah-x15", text) else { panic!("a disk") };
    let buffer = drive.cache.expect("it has a buffer");
    assert_eq!([buffer.read_ahead.0, buffer.read_ahead_least.0], [2_048; 2]);
}

#[test]
fn the_nearest_first_leaves_no_command_waiting_unless_that_is_asked_for() {
    const DISK: &str = "kind = \"rotating\"\ncapacity = \"36GiB\"\nrpm = 15000\nsurfaces = 4\nlink = \"160MB/s\"\n\
        seek_average = \"4ms\"\nrate_outer = \"50MB/s\"\nrate_inner = \"30MB/s\"\n[queue]\nwindow = 32\n";
    let longest = |queue: &str| {
        let read = device_text(&Shipped, "x.toml", &format!("{DISK}{queue}\n")).expect("a disk");
        let params = read.0.params;
        let DeviceParams::Rotating(drive) = &params else { panic!("a disk") };
        (drive.queue.age_limit, starved(&params))
    };
    let limit = Nanos::from_millis(500);
    for order in ["sptf", "sstf"] {
        let (age, waits) = longest(&format!("order = \"{order}\""));
        assert_eq!(age, Some(limit));
        assert!(waits < limit * 2, "{order}: {waits}");
        let (age, waits) = longest(&format!("order = \"{order}\"\nage_limit = \"none\""));
        assert_eq!(age, None);
        assert!(waits > Nanos::from_secs(5), "{order}: {waits}");
    }
    assert_eq!(longest("order = \"c-look\"").0, None);
    assert_eq!(longest("order = \"sptf\"\nage_limit = \"90ms\"").0, Some(Nanos::from_millis(90)));
}

/// How long a read of the last sectors waits beside seven writes in order at a time, of ten seconds at most.
fn starved(params: &DeviceParams) -> Nanos {
    let Device::Rotating(mut drive) = Device::new(params, 0) else { panic!("a disk") };
    let DeviceParams::Rotating(figures) = params else { panic!("a disk") };
    let command = |first: u64, tag: u32, at: Instant| {
        let write = tag != 99;
        let class = if write { Class::HostWrite } else { Class::HostRead };
        Command { first, sectors: 64, tag, write, class, ready: at, given: at }
    };
    let mut ends = None;
    let mut next = 0;
    for tag in 0..7 {
        ends = drive.submit(Instant::START, command(next, tag, Instant::START)).or(ends);
        next += 64;
    }
    drive.submit(Instant::START, command(figures.capacity.0 - 64, 99, Instant::START));
    while let Some(now) = ends {
        let (finished, after) = drive.finish(now);
        if finished.command.tag == 99 || now.since_start() > Nanos::from_secs(10) {
            return now.since_start();
        }
        let started = drive.submit(now, command(next, finished.command.tag, now));
        next += 64;
        ends = after.or(started);
    }
    panic!("a command is always under way");
}
