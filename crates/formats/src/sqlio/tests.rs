use proptest::prelude::*;

use super::*;
use crate::testing::{plan, refused, words};
use crate::{Refusal, TargetInfo};

fn parse(line: &str) -> Result<Command, Refusal> {
    Command::parse(&words(line))
}

#[test]
fn defaults_are_those_that_the_tool_prints() {
    let command = parse("").unwrap();
    assert_eq!((command.writes, command.threads, command.seconds, command.block_kib), (false, 1, 30, 2));
    assert_eq!(command.access, Access::Stripe { blocks: 64, rows: 64 });
    assert_eq!((command.buffering, command.named), (Buffering::None, vec!["testfile.dat".to_owned()]));
}

#[test]
fn flags_have_their_values_behind_them() {
    let command = parse("-kW -t2 -s60 -o8 -frandom -b64 -BH -LS -Fparam.txt -a0x3").unwrap();
    assert!(command.writes);
    assert_eq!((command.threads, command.seconds, command.outstanding), (2, 60, Some(8)));
    assert_eq!((command.access, command.block_kib, command.mask), (Access::Random, 64, 3));
    assert_eq!((command.timer, command.params.as_deref()), (Some("system"), Some("param.txt")));
}

#[test]
fn what_is_not_supported_is_named() {
    let cases = [
        ("-kX", "`R`, `W`"),
        ("-t0", "-t"),
        ("-t 4", "without a blank"),
        ("-dDEF", "-dDEF"),
        ("-R1", "/dev/sdb"),
        ("-LSi", "-LS"),
        ("-mX", "C or S"),
        ("-v1.1.1", "1.5"),
        ("-z", "-z"),
        ("-frandom -i3", "-i"),
        ("-BX", "`N`"),
        ("-F", "without a blank"),
        ("-\u{fc}", "-\u{fc}"),
    ];
    refused(parse, &cases);
}

fn found(sizes: &[u64]) -> Vec<TargetInfo> {
    sizes.iter().map(|size| TargetInfo::sized(*size, false)).collect()
}

#[test]
fn every_command_is_a_plan_of_the_same_requests() {
    let cases = [
        ("-kR -s10 -frandom -o8 -b8 -LS -BH a", vec![1u64 << 30]),
        ("-kW -s360 -fsequential -o64 -b256 -t4 a b", vec![1 << 30, 2 << 30]),
        ("-kR -frandom a b c", vec![1 << 30, 1 << 30, 1 << 30]),
        ("a", vec![0]),
        ("-t4 -f64 -i32 a", vec![0]),
        ("-kW -BY -p0 -f1 a", vec![0]),
        ("-S4 -fsequential -b64 -BS -t2 a", vec![1 << 30]),
    ];
    for (line, sizes) in cases {
        let command = parse(line).unwrap();
        let files = command.files(&[], &found(&sizes)).unwrap();
        let plan = plan(&command.translate(&files, 3).unwrap());
        assert_eq!(plan.estimate().changes_data, command.writes, "{line}");
        for workload in plan.points()[0].workloads() {
            assert_eq!(
                (workload.workers, workload.sizes.largest().get()),
                (command.threads, command.block())
            );
            assert_eq!(workload.depth, command.outstanding.unwrap_or(1));
        }
    }
}

#[test]
fn sizes_come_from_the_line_the_file_or_the_pattern() {
    let command = parse("-kR -frandom -Fparam.txt").unwrap();
    let lines = read_params("param.txt", "a 2 0x3 100\nb 4\nc 1\n").unwrap();
    let files = command.files(&lines, &found(&[1 << 20, 7 << 20, 0])).unwrap();
    let sizes: Vec<(u64, bool, bool)> =
        files.iter().map(|file| (file.size >> 20, file.is_specified, file.expands())).collect();
    assert_eq!(sizes, [(100, true, true), (7, false, false), (8, false, true)]);
    assert!(
        parse("-kR -Fparam.txt").unwrap().files(&lines, &found(&[0, 0, 0])).is_err(),
        "a size with a stripe"
    );
    let stripe = parse("a").unwrap();
    assert_eq!(stripe.files(&[], &found(&[0])).unwrap()[0].size, 8 << 20);
    let fixed = [TargetInfo::sized(1 << 20, true)];
    assert!(stripe.files(&[], &fixed).is_err());
    let uneven = parse("-t3 a").unwrap();
    let refused = uneven.translate(&uneven.files(&[], &found(&[0])).unwrap(), 1).expect_err("64 by 3");
    assert!(refused.to_string().contains("3 threads do not divide 64 columns"), "{refused}");
}

#[test]
fn threads_have_columns_of_a_stripe_one_beside_the_other() {
    let command = parse("-t4 -f64 -i64 -b2 a").unwrap();
    let plan = plan(&command.translate(&command.files(&[], &found(&[0])).unwrap(), 1).unwrap());
    let specs = workload::compile(&plan.points()[0].workloads()[0], &[units::Bytes::new(8 << 20)]).unwrap();
    let kib = |kib: u64| units::Bytes::new(kib << 10);
    let step_and_width = workload::spec::Pattern::Columns { step: kib(128), width: kib(32) };
    assert!(specs.iter().all(|spec| spec.pattern == step_and_width));
    let regions: Vec<_> = specs.iter().map(|spec| (spec.region.start, spec.region.len)).collect();
    let expected: Vec<_> = (0..4).map(|thread| (kib(32 * thread), kib(63 * 128 + 32))).collect();
    assert_eq!(regions, expected);
}

#[test]
fn the_same_file_is_in_each_directory_and_devices_may_stand_for_files() {
    let named = |line: &str| parse(line).unwrap().named;
    assert_eq!(named("-d/mnt/a,/mnt/b/ t.dat"), ["/mnt/a/t.dat", "/mnt/b/t.dat"]);
    assert_eq!(named("-d./a"), ["./a/testfile.dat"]);
    assert_eq!(named("-R/dev/sdb,/dev/sdc"), ["/dev/sdb", "/dev/sdc"]);
}

proptest! {
    #[test]
    fn no_words_make_it_panic(words in proptest::collection::vec("-?[ -~]{0,8}", 0..6), text in "[ -~\n]{0,60}") {
        let lines = read_params("p", &text).unwrap_or_default();
        if let Ok(command) = Command::parse(&words) {
            let found = vec![TargetInfo::sized(1 << 40, false); 9];
            if let Ok(files) = command.files(&lines, &found) && !files.is_empty() {
                let _ = command.translate(&files, 1);
            }
        }
    }
}

#[test]
fn no_depth_is_one_request_at_a_time_and_of_two_letters_the_first_holds() {
    assert_eq!(parse("-o0").unwrap().outstanding, None);
    assert!(parse("-kWR").unwrap().writes && !parse("-kRW").unwrap().writes);
}

#[test]
fn a_stripe_may_have_any_number_of_rows() {
    assert_eq!(
        parse("-kR -s1 -b64 -f1 -i2000000 f").unwrap().access,
        Access::Stripe { blocks: 1, rows: 2_000_000 }
    );
}
