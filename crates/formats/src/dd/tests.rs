use proptest::prelude::*;

use super::options::bytes;
use super::output::{iec, rate, shortest, si};
use super::*;
use crate::testing::{plan, refused, words};
use crate::{Refusal, TargetInfo, TargetKind};

fn parse(line: &str) -> Result<Command, Refusal> {
    Command::parse(&words(line))
}

const DEVICE: TargetInfo = TargetInfo { size: 10_000_000, kind: TargetKind::Device, direct_unit: Some(512) };
const NEW: TargetInfo = TargetInfo { size: 0, kind: TargetKind::NewFile, direct_unit: Some(512) };

#[test]
fn one_side_is_the_target() {
    let read = parse("if=/dev/sdb of=/dev/null").unwrap();
    assert_eq!((read.side, read.target.as_str(), read.ibs, read.obs), (Side::Read, "/dev/sdb", 512, 512));
    let write = parse("of=/dev/sdb if=/dev/urandom ibs=4k obs=1M").unwrap();
    assert_eq!((write.side, write.ibs, write.obs), (Side::Write(Source::Random), 4096, 1 << 20));
    for wrong in ["if=/dev/sdb", "of=/dev/null", "if=a of=b", "if=/dev/zero of=/dev/null", ""] {
        assert!(parse(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn what_is_not_supported_is_named() {
    let cases = [
        ("conv=ucase", "conv=ucase"),
        ("conv=notrunc,sparse", "conv=sparse"),
        ("iflag=nocache", "direct"),
        ("oflag=append", "seek="),
        ("conv=block", "conv=block"),
        ("bs=4G", "2147479552"),
        ("bs=0", "bs"),
        ("bz=1M", "did you mean `bs`"),
        ("oflag=dsnyc", "did you mean `dsync`"),
        ("status=quiet", "noxfer"),
        ("oflag=skip_bytes", "other side"),
        ("verbose", "verbose"),
    ];
    refused(|operand| parse(&format!("if=/dev/zero of=/dev/sdb {operand}")), &cases);
}

#[test]
fn flags_of_the_other_side_are_noted() {
    let read = parse("if=/dev/sdb of=/dev/null oflag=direct conv=fsync").unwrap();
    assert_eq!((read.direct, read.flush, read.notes.len()), (false, None, 1));
    let write = parse("if=/dev/zero of=/dev/sdb conv=fdatasync,fsync oflag=dsync,sync").unwrap();
    assert_eq!((write.flush, write.sync), (Some(FlushAtEnd::Fsync), Some("sync")));
}

proptest! {
    #[test]
    fn no_words_make_it_panic(words in proptest::collection::vec("(if|of|bs|count|conv|iflag|seek|status)?=?[ -~]{0,12}", 0..6)) {
        if let Ok(command) = Command::parse(&words) {
            let target = TargetInfo::sized(1 << 30, true);
            if let Ok(transfer) = command.transfer(target) {
                command.translate(transfer, target, 1);
            }
        }
    }
}

#[test]
fn a_device_ends_a_command_without_count() {
    let read = parse("if=/dev/sda of=/dev/null bs=1M").unwrap().transfer(DEVICE).unwrap();
    assert_eq!(read, Transfer { start: 0, total: 10_000_000, block: 1 << 20, runs_out: false });
    assert_eq!((read.full(), read.rest()), (9, 10_000_000 - 9 * (1 << 20)));
    let write = parse("if=/dev/zero of=/dev/sda bs=1M seek=3").unwrap().transfer(DEVICE).unwrap();
    assert_eq!((write.start, write.total, write.runs_out), (3 << 20, 10_000_000 - (3 << 20), true));
    let within = parse("if=/dev/zero of=/dev/sda bs=1M count=9").unwrap().transfer(DEVICE).unwrap();
    assert!(!within.runs_out);
    assert!(parse("if=/dev/zero of=new bs=1M").unwrap().transfer(NEW).is_err());
    assert!(parse("if=/dev/sda of=/dev/null bs=1M skip=10").unwrap().transfer(DEVICE).is_err());
    assert_eq!(parse("if=/dev/sda of=/dev/null count=0").unwrap().transfer(DEVICE).unwrap().total, 0);
}

#[test]
fn counts_and_offsets_in_bytes_are_taken_as_such() {
    let transfer =
        parse("if=/dev/sda of=/dev/null bs=1000 count=2500B skip=7B").unwrap().transfer(DEVICE).unwrap();
    assert_eq!((transfer.start, transfer.full(), transfer.rest()), (7, 2, 500));
    let old =
        parse("if=/dev/sda of=/dev/null bs=1000 count=2500 skip=7 iflag=count_bytes,skip_bytes").unwrap();
    assert_eq!(old.transfer(DEVICE).unwrap(), transfer);
}

#[test]
fn every_command_is_a_plan_that_moves_its_bytes() {
    let lines = [
        "if=/dev/sda of=/dev/null bs=1M",
        "if=/dev/sda of=/dev/null bs=4k skip=3 count=7 iflag=direct",
        "if=/dev/zero of=/dev/sda bs=64k count=10 oflag=direct,dsync conv=fdatasync,notrunc",
        "if=/dev/urandom of=/dev/sda ibs=4k obs=1M count=300 conv=fsync",
        "if=/dev/zero of=/dev/sda oflag=sync count=1",
    ];
    for line in lines {
        let command = parse(line).unwrap();
        let transfer = command.transfer(DEVICE).unwrap();
        let plan = plan(&command.translate(transfer, DEVICE, 7));
        let (mut moved, mut from) = (0, u64::MAX);
        for workload in plan.points().iter().flat_map(workload::plan::Point::workloads) {
            moved += workload.stop.ops.unwrap() * workload.sizes.largest().get();
            if let workload::spec::Extent::Bytes(offset) = workload.offset {
                from = from.min(offset.get());
            }
        }
        assert_eq!((moved, from), (transfer.total, transfer.start), "{line}");
    }
}

fn line(bytes: u64, elapsed_ns: u64, generation: Generation) -> String {
    Copied::so_far(bytes, elapsed_ns, 512, 512).transfer(generation)
}

#[test]
fn both_generations_have_their_own_line() {
    let (bytes, elapsed) = (2_147_483_648, 3_968_160_000);
    assert_eq!(
        line(bytes, elapsed, Generation::Old),
        "2147483648 bytes (2.1 GB) copied, 3.96816 s, 541 MB/s\n"
    );
    assert_eq!(
        line(bytes, elapsed, Generation::New),
        "2147483648 bytes (2.1 GB, 2.0 GiB) copied, 3.96816 s, 541 MB/s\n"
    );
    assert_eq!(line(1, 33_760, Generation::New), "1 byte copied, 3.376e-05 s, 29.6 kB/s\n");
    assert_eq!(line(1000, 33_760, Generation::New), "1000 bytes (1.0 kB) copied, 3.376e-05 s, 29.6 MB/s\n");
    assert_eq!(line(512, 33_760, Generation::Old), "512 bytes (512 B) copied, 3.376e-05 s, 15.2 MB/s\n");
}

#[test]
fn what_is_left_over_is_a_partial_record() {
    let copied = Copied::so_far(2500, 1, 1000, 512);
    assert_eq!(copied.records(), "2+1 records in\n4+1 records out\n");
}

#[test]
fn multipliers_are_those_of_the_manual() {
    let cases = [
        ("0", 0),
        ("512", 512),
        ("1c", 1),
        ("3w", 6),
        ("2b", 1024),
        ("1k", 1024),
        ("1kB", 1000),
        ("1KiB", 1024),
        ("1M", 1 << 20),
        ("1MB", 1_000_000),
        ("2G", 2 << 30),
        ("1T", 1 << 40),
        ("2x1Kx3", 6144),
        ("4xM", 4 << 20),
        ("100B", 100),
    ];
    for (text, number) in cases {
        assert_eq!(bytes(text), Some(number), "{text}");
    }
    for wrong in ["", "x", "1x", "-1", "1.5M", "1Q", "1KB1", "many", "99999999999999999999", "16E"] {
        assert_eq!(bytes(wrong), None, "{wrong}");
    }
}

#[test]
fn sizes_and_rates_are_rounded_as_coreutils_does() {
    let sizes = [
        (8_192_000, "8.2 MB", "7.8 MiB"),
        (2_147_483_648, "2.1 GB", "2.0 GiB"),
        (2_684_354_560, "2.7 GB", "2.5 GiB"),
        (12_582_912, "13 MB", "12 MiB"),
        (1000, "1.0 kB", "1000 B"),
        (1024, "1.0 kB", "1.0 KiB"),
        (999_999, "1.0 MB", "977 KiB"),
        (9_950_000, "10 MB", "9.5 MiB"),
        (512, "512 B", "512 B"),
    ];
    for (bytes, decimal, binary) in sizes {
        assert_eq!((si(bytes).as_str(), iec(bytes).as_str()), (decimal, binary));
    }
    let rates = [
        (8_192_000, 4_920_700, "1.7 GB/s"),
        (2_147_483_648, 3_968_160_000, "541 MB/s"),
        (2_684_354_560, 27_203_500_000, "98.7 MB/s"),
        (1, 33_760, "29.6 kB/s"),
        (1, 5_100_000_000, "0.0 kB/s"),
        (512, 1_000_000_000, "512 B/s"),
        (12_500_000, 1_000_000_000, "12 MB/s"),
        (1, 0, "Infinity B/s"),
    ];
    for (bytes, elapsed, text) in rates {
        assert_eq!(rate(bytes, elapsed), text);
    }
}

#[test]
fn seconds_are_printed_as_c_does() {
    let cases = [
        (0.0049207, "0.0049207"),
        (3.376e-5, "3.376e-05"),
        (27.2035, "27.2035"),
        (123.4567, "123.457"),
        (30.0, "30"),
        (1234567.0, "1.23457e+06"),
        (0.000123456789, "0.000123457"),
    ];
    for (value, text) in cases {
        assert_eq!(shortest(value), text);
    }
}

#[test]
fn a_point_of_any_run_has_the_rate_of_a_copy_that_never_takes_whole_seconds() {
    use record::sample::{Stream, point, run, workload};
    let stream = Stream { op: "read", size_bytes: 4096, per_s: 2900, median_ns: 1_000_000, spread: 0.1 };
    let record = run("quick", vec![point(0, "reads", vec![workload("main", &[stream])])]);
    let text = (super::OUTPUT.write)(&record).unwrap();
    assert!(text.ends_with(" s, 11.9 MB/s\n"), "{text}");
}
