//! RAID levels, stripes, read-ahead, drives.

use array::sim::Sim;
use array::spec::Shipped;
use array::spec::case::Load;
use units::{Bytes, Nanos};
use workload::spec::{Durability, OpenSync};

use crate::fixture::*;

#[test]
fn raid_5_writes_a_stream_slower_than_raid_10_of_the_same_drives() {
    let write = writing(Load { warmup: Nanos::from_secs(5), ..stream(kib(1024), 4) });
    let of = |level: &str| rate(&format!("md3000?raid={level}&luns=2&stripe=on"), &write);
    assert_more(of("10"), of("5"), 1.05);
}

#[test]
fn with_a_few_percent_of_writes_small_requests_of_raid_5_are_clearly_lower_than_of_raid_10() {
    let mix = Load { reads: part(0.95), run: Nanos::from_secs(10), ..random(kib(8), 56) };
    assert_more(iops("md3000?raid=10", &mix), iops("md3000?raid=5", &mix), 1.04);
}

#[test]
fn writes_from_the_threshold_on_go_past_the_cache_of_a_smart_array() {
    let of = |size: Bytes, options: &str| {
        let load = Load { span: Some(gib(1)), ..writing(random(size, 8)) };
        rate(&format!("p440ar-raid10-8?{options}"), &load)
    };
    assert_more(of(kib(1280), "cache.bypass=none"), of(kib(1280), ""), 2.0);
    assert_equal(of(kib(512), "cache.bypass=none"), of(kib(512), ""), 0.001);
}

#[test]
fn a_client_drive_takes_longer_for_a_forced_write_than_for_a_flush_unless_it_answers_it_as_any_other() {
    let written = |drive: &str, durability: Durability| {
        let load = Load { durability, ..writing(random(kib(4), 1)) };
        iops(&format!("ssd-1?drive={drive}&state=fob"), &load)
    };
    let forced = Durability { open: OpenSync::Dsync, ..Durability::NONE };
    let flushed = Durability { every: Some(1), ..Durability::NONE };
    assert_equal(written("pro-980-2000", forced), 224.0, 0.05);
    assert_equal(written("pro-980-2000", flushed), 522.0, 0.05);
    assert_more(written("sx8200-pro-2000", forced), written("sx8200-pro-2000", flushed), 10.0);
}

#[test]
fn a_disk_takes_a_stream_into_its_buffer_in_the_order_in_which_it_came_at_any_depth() {
    let of = |depth: u32| {
        let load = Load { warmup: Nanos::from_secs(3), ..writing(stream(kib(512), depth)) };
        rate("hdd-1?drive=st3600057ss&write_back=true", &load)
    };
    assert_equal(of(32), of(4), 0.02);
}

#[test]
fn one_stream_stays_with_one_drive_of_an_md_mirror_and_two_streams_read_from_both() {
    let read = |workers: u32, balance: &str| {
        let load = Load { workers, ..stream(kib(512), 4) };
        rate(&format!("pm9a3-raid1-2?raid.read_balance={balance}"), &load)
    };
    let one = read(1, "streams");
    assert_more(read(2, "streams"), one, 1.6);
    assert_more(read(1, "least"), one, 1.3);
}

#[test]
fn oltp_runs_faster_on_raid_0_than_on_10_and_faster_on_10_than_on_5() {
    let of = |level: &str| iops(&format!("perc-3-qc?raid={level}&disks=12"), &oltp(64));
    let [stripes, mirrors, parity] = ["0", "10", "5"].map(of);
    assert_more(stripes, mirrors, 1.05);
    assert_more(mirrors, parity, 1.2);
}

#[test]
fn oltp_on_raid_10_gains_over_raid_5_what_its_fewer_operations_on_members_say() {
    // Four minutes are many times the rise and fall of the write cache between its watermarks.
    let load = Load { warmup: Nanos::from_secs(120), run: Nanos::from_secs(240), ..oltp(64) };
    let of = |level: &str, disks: u32| iops(&format!("perc-3-qc?raid={level}&disks={disks}"), &load);
    // A read is one operation; a write is two on mirrors, and two reads and two writes with parity.
    let (mirrors, parity) = (2.0 / 3.0 + 2.0 / 3.0, 2.0 / 3.0 + 4.0 / 3.0);
    // A write that follows its read also waits for the sector to come round again, which is more than a random one.
    assert_equal(of("10", 4) / of("5", 4), parity / mirrors, 0.2);
}

#[test]
fn fifteen_thousand_revolutions_give_markedly_more_than_ten() {
    let of = |drive: &str| iops(&format!("perc-3-qc?raid=0&disks=12&drive={drive}"), &oltp(64));
    assert_more(of("cheetah-x15"), of("cheetah-18lp"), 1.2);
}

#[test]
fn a_full_stripe_beats_a_part_of_one_and_one_that_does_not_begin_on_its_boundary() {
    // A host that cuts the stripe would have its parity written once for each piece, one after the other.
    let array = "esds-s24s-g2240?cache.write_back=false&host.max_transfer=1280KiB";
    let spec = array::spec::array(&Shipped, array).expect("it is shipped");
    let rate = |size: Bytes, offset: Bytes| {
        let mut sim = Sim::new(&spec.topology, 1).expect("the shipped array is possible");
        let load = writing(Load { offset, ..stream(size, 1) });
        worker(&mut sim, &load, 300) * size.as_f64() / 1e6
    };
    let (whole, half, shifted) = (rate(kib(1280), kib(0)), rate(kib(640), kib(0)), rate(kib(1280), kib(64)));
    println!("full stripes {whole:.0}, halves {half:.0}, shifted by 64 KiB {shifted:.0} MB/s");
    assert_more(whole, half, 1.5);
    assert_more(whole, shifted, 1.1);
}

#[test]
fn a_block_of_whole_chunks_beats_one_that_is_none() {
    let of =
        |size| rate("esds-s24s-g2240?raid=0&disks=10&cache.read=false", &random(kib(size), 8)) / size as f64;
    assert_more(of(128), of(192), 1.1);
}

#[test]
fn read_ahead_of_the_host_changes_buffered_streams_strongly_and_direct_ones_not_at_all() {
    let of = |setra: &str, direct| {
        rate(&format!("esds-s24s-g2240?setra={setra}"), &Load { direct, ..stream(kib(128), 1) })
    };
    assert_more(of("8MiB", false), of("32KiB", false), 1.5);
    assert_equal(of("8MiB", true), of("32KiB", true), 0.001);
}

#[test]
fn raid_6_of_ten_and_two_gives_at_most_ten_drives_and_two_sets_more_than_raid_60_of_both() {
    let deep = |luns| Load { luns, span: Some(gib(64)), ..stream(kib(1280), 16) };
    let ten_drives = 10.0 * 157.0;
    let one = rate("esds-s24s-g2240?sets=1&links=1", &deep(1));
    assert!(one <= ten_drives, "{one}");
    // With a controller whose memory carries more than its channel, which would make both equal.
    let two = rate("esds-s24s-g2240?sets=2&links=2&controller.bus=8GB/s", &deep(2));
    let nested = rate("esds-s24s-g2240?sets=1&raid=60&disks=24&links=2&controller.bus=8GB/s", &deep(1));
    println!("one set {one:.0}, two {two:.0}, RAID 60 of both {nested:.0} MB/s");
    // Twenty drives would give more than their channel carries.
    assert_equal(two, 2_200.0, 0.02);
    assert_more(two, one, 1.3);
    assert_more(two, nested, 1.005);
    assert!(two <= 2.0 * ten_drives);
}

#[test]
fn raid_5_is_better_than_raid_10_where_reads_dominate() {
    let reads = Load { span: Some(Bytes::GIB * 32), ..stream(kib(1024), 4) };
    let of = |level: &str| rate(&format!("perc-3-qc?raid={level}&disks=4"), &reads);
    assert_more(of("5"), of("10"), 1.0);
}

#[test]
fn with_a_few_percent_of_writes_small_requests_of_raid_5_are_clearly_fewer_once_what_is_old_leaves() {
    let load = Load {
        reads: part(0.95),
        warmup: Nanos::from_secs(30),
        run: Nanos::from_secs(20),
        ..random(kib(8), 56)
    };
    let of = |age: &str| {
        let [ten, five] =
            ["10", "5"].map(|level| iops(&format!("md3000?raid={level}&cache.dirty_age={age}"), &load));
        ten / five
    };
    assert_more(of("10s"), 1.1, 1.0);
    // What is young stays in the cache, and costs no disk anything.
    assert!(of("10000s") < 1.08);
}

#[test]
fn raid_5_reads_a_stream_faster_than_raid_10_of_the_same_drives() {
    let read = stream(kib(1024), 4);
    let of = |level: &str| rate(&format!("md3000?raid={level}&luns=2&stripe=on"), &read);
    // Thirteen disks of a stripe hold what seven pairs do: the arms go less often from one LUN to the other. A fifth more was
    // published (`MD-001`, which is scored); 6 % are left since LUNs are cut at stripes, so that both begin at the same member.
    assert_more(of("5"), of("10"), 1.05);
}

#[test]
fn one_set_two_sets_on_one_channel_or_on_two_and_raid_60_are_four_answers() {
    let deep = |luns| Load { luns, span: Some(gib(64)), ..stream(kib(1280), 16) };
    // A port that one set does not fill and two do, and a controller whose memory carries more than its channel.
    let of = |options: &str, luns| {
        let array = "esds-s24s-g2240?link.rate=1700MB/s&controller.bus=8GB/s&host.multipath=round-robin";
        rate(&format!("{array}&{options}"), &deep(luns))
    };
    let one = of("sets=1&links=1", 1);
    let two_on_one = of("sets=2&links=1", 2);
    let nested = of("sets=1&raid=60&disks=24&links=2", 1);
    let two_on_two = of("sets=2&links=2", 2);
    assert_more(two_on_one, one, 1.03);
    assert_more(nested, two_on_one, 1.2);
    assert_more(two_on_two, nested, 1.005);
}
