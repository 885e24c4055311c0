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

#[test]
fn sequential_nfs_writes_are_about_half_of_iscsi_writes_and_nearly_the_same_for_every_level_without_parity() {
    let write = writing(Load { span: Some(gib(2)), ..stream(kib(512), 16) });
    let of = |options: &str| rate(&format!("px6-300d?{options}"), &write);
    let nfs = of("raid=0&protocol=nfs3");
    assert_equal(nfs / of("raid=0&protocol=iscsi"), 0.55, 0.25);
    assert_equal(of("raid=10&protocol=nfs3"), nfs, 0.25);
    assert_equal(of("raid=jbod&protocol=nfs3"), nfs, 0.25);
    // Answered from memory it would be the wire's rate.
    assert_more(of("raid=0&protocol=nfs3&protocol.sync_writes=false"), nfs, 1.3);
}

#[test]
fn random_nfs_writes_wait_for_the_disks_and_follow_their_number() {
    let write = writing(Load { span: Some(gib(2)), align: Some(Bytes::new(512)), ..random(kib(4), 16) });
    let of = |options: &str| iops(&format!("px6-300d?protocol=nfs3&raid=0&{options}"), &write);
    let two = of("disks=2");
    assert!((100.0..400.0).contains(&two), "{two}");
    assert_more(of("disks=6"), two, 1.25);
    assert_more(of("disks=2&protocol.sync_writes=false"), two, 1.5);
    assert_more(of("disks=2&cache.fills=false"), two, 1.25);
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
