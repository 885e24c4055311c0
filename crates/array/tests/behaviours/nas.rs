//! Corners of small network boxes, and of flash beside disks.

use array::spec::case::Load;
use units::{Bytes, Nanos};

use crate::fixture::*;

fn corner(depth: u32) -> Load {
    Load { span: Some(gib(5)), ..random(kib(4), depth) }
}

fn tiny(depth: u32) -> Load {
    Load { span: Some(gib(2)), run: Nanos::from_secs(3), ..stream(Bytes::new(512), depth) }
}

#[test]
fn flash_beats_disks_spindle_for_spindle_and_loses_most_of_its_speed_behind_a_small_processor() {
    let flash = iops("local-ssd-raid0", &corner(1));
    assert_more(flash, iops("local-sata-raid1", &corner(1)), 5.0);
    assert_more(flash, iops("ix2-200?drive=snv425&protocol=smb1", &corner(1)), 2.0);
}

#[test]
fn many_spindles_can_equal_flash() {
    let load = Load { span: None, ..random(kib(4), 64) };
    let disks = iops("md3000?raid=0&disks=14", &load);
    let flash = iops("ix2-200?drive=snv425&raid=0", &corner(16));
    assert_more(disks, flash, 1.0);
}

#[test]
fn reads_of_512_bytes_are_the_same_for_every_level_and_number_of_disks() {
    let load = tiny(16);
    let one = iops("px6-300d?raid=jbod&disks=1&protocol=iscsi", &load);
    for options in ["raid=10&disks=6", "raid=5&disks=6", "raid=0&disks=4"] {
        assert_equal(iops(&format!("px6-300d?{options}&protocol=iscsi"), &load), one, 0.05);
    }
}

#[test]
fn hops_lower_what_one_outstanding_request_reaches() {
    let load = tiny(1);
    let [none, one, three] = [0, 1, 3].map(|hops| iops(&format!("ix4-200d?hops={hops}"), &load));
    assert!(none > one && one > three, "{none}, {one}, {three}");
    assert_more(none, three, 1.5);
}

/// Sequential writes of a test disk.
fn streaming() -> Load {
    writing(Load { span: Some(gib(2)), ..stream(kib(512), 16) })
}

/// Random writes of it that cover pages in part.
fn scattered() -> Load {
    writing(Load { span: Some(gib(2)), align: Some(Bytes::new(512)), ..random(kib(4), 16) })
}

#[test]
fn sequential_nfs_writes_are_about_half_of_iscsi_writes_and_the_same_whether_there_is_parity_or_not() {
    let of = |options: &str| rate(&format!("px6-300d?{options}"), &streaming());
    let nfs = of("raid=0&protocol=nfs3");
    assert_equal(nfs / of("raid=0&protocol=iscsi"), 0.55, 0.25);
    for level in ["jbod&disks=1", "1&disks=2", "10&disks=6", "5&disks=4", "5&disks=5", "6&disks=6"] {
        assert_equal(of(&format!("raid={level}&protocol=nfs3")), nfs, 0.15);
    }
    // Answered from memory, or with many writes to a force of the log, it would be the wire's rate.
    assert_more(of("raid=0&protocol=nfs3&protocol.sync_writes=false"), nfs, 1.3);
    assert_more(of("raid=0&protocol=nfs3&controller.journal.force=none"), nfs, 1.3);
}

#[test]
fn sequential_nfs_writes_to_a_level_with_parity_need_the_stripes_that_md_keeps() {
    let of = |options: &str| {
        rate(
            &format!("px6-300d?raid=5&disks=5&protocol=nfs3&controller.journal.force=none{options}"),
            &streaming(),
        )
    };
    assert_more(of(""), of("&cache.stripes=0B"), 1.5);
}

#[test]
fn random_nfs_writes_to_pages_that_are_not_there_go_through_the_file_one_at_a_time_whatever_the_disks() {
    // Longer than a disk's buffer gathers writes.
    let load = Load { warmup: Nanos::from_secs(20), ..scattered() };
    let of = |options: &str| iops(&format!("px6-300d?protocol=nfs3&{options}"), &load);
    let one = of("raid=jbod&disks=1");
    assert!((100.0..200.0).contains(&one), "{one}");
    for set in ["raid=1&disks=2", "raid=0&disks=4", "raid=0&disks=6", "raid=5&disks=5"] {
        assert_equal(of(set), one, 0.35);
    }
    assert_more(of("raid=0&disks=6&controller.file_lock=false"), of("raid=0&disks=6"), 2.0);
    assert_more(of("raid=0&disks=6&cache.fills=false"), of("raid=0&disks=6"), 2.0);
}

#[test]
fn random_nfs_writes_to_pages_that_are_in_memory_wait_for_nothing_but_the_log() {
    let held = Load { held: part(0.8), ..scattered() };
    let of =
        |options: &str, load: &Load| iops(&format!("px6-300d?protocol=nfs3&raid=0&disks=6&{options}"), load);
    let log = of("cache.fills=false", &scattered());
    assert_equal(log, 1000.0, 0.05);
    assert_more(of("", &held), of("", &scattered()), 2.0);
    assert_more(of("cache.fills=false&controller.journal.force=0.25ms", &scattered()), log, 1.5);
}

#[test]
fn parts_of_a_write_that_an_smb_client_sends_leave_the_box_together() {
    let of = |size| rate("ix2-200?protocol=smb1", &writing(Load { span: Some(gib(5)), ..stream(size, 1) }));
    // Alone each part waits for a revolution of the disks.
    assert_more(of(kib(480)), of(kib(60)), 2.0);
}

#[test]
fn a_faster_clock_and_larger_frames_speed_up_a_box_that_its_processor_limits() {
    let read = stream(kib(512), 1);
    let of = |options: &str, load: &Load| rate(&format!("ix4-200d?protocol=smb1{options}"), load);
    let slow = of("", &read);
    assert_more(of("&jumbo=on", &read), slow, 1.05);
    assert_more(of("&processor.clock_mhz=2400", &read), slow, 1.5);
    assert_more(of("&processor.clock_mhz=2400", &tiny(1)), of("", &tiny(1)), 1.3);
}

#[test]
fn random_reads_follow_the_disks_as_far_as_the_threads_of_the_server_go() {
    let read = Load { span: Some(gib(2)), ..random(kib(4), 16) };
    let of = |options: &str| iops(&format!("px6-300d?raid=0&{options}"), &read);
    let [one, two, six] = [1, 2, 6].map(|disks| of(&format!("disks={disks}")));
    assert!(one * 1.2 < two && two * 1.2 < six, "{one}, {two}, {six}");
    assert_more(of("disks=6&controller.accepts=none"), six, 1.2);
}

#[test]
fn reads_of_parts_of_pages_bring_whole_ones() {
    let read = Load {
        span: Some(gib(2)),
        align: Some(Bytes::new(512)),
        run: Nanos::from_secs(60),
        ..random(kib(4), 16)
    };
    let of = |options: &str| iops(&format!("px6-300d?raid=jbod&disks=1{options}"), &read);
    // Most take 4 KiB more of the disk, 26 us of its outer tracks beside some 2 ms.
    let (whole, parts) = (of(""), of("&cache.fills=false"));
    assert!((1.002..1.03).contains(&(parts / whole)), "{parts} against {whole}");
}

#[test]
fn iscsi_with_two_paths_exceeds_one_link_and_nfs_on_one_does_not() {
    let read = Load { span: Some(gib(2)), ..stream(kib(512), 16) };
    let one_link = 117.7;
    let of = |options: &str| rate(&format!("px6-300d?raid=0&{options}"), &read);
    assert_more(of("protocol=iscsi&paths=2"), one_link, 1.1);
    assert!(of("protocol=nfs3&paths=1") <= one_link * 1.005);
}

#[test]
fn a_session_stays_on_its_link_whatever_the_level_the_paths_and_the_multipath_policy() {
    let read = Load { span: Some(gib(2)), ..stream(kib(512), 16) };
    let one_link = 117.7;
    for options in
        ["raid=0&protocol=nfs3", "raid=10&protocol=nfs3", "raid=5&protocol=iscsi&protocol.sessions=1"]
    {
        let reached = rate(&format!("px6-300d?paths=2&host.multipath=round-robin&{options}"), &read);
        assert!(reached <= one_link * 1.005, "{options}: {reached}");
    }
}
