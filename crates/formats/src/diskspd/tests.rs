use proptest::prelude::*;

use super::*;
use crate::testing::{plan, refused, words};
use crate::{Refusal, TargetInfo};

fn parse(line: &str) -> Result<Command, Refusal> {
    Command::parse(&words(line), 7)
}

#[test]
fn the_usual_replacement_of_sqlio_is_understood() {
    let command = parse("-b8K -d60 -o8 -t2 -r -w30 -Sh -L -c10G file").unwrap();
    assert_eq!((command.block, command.seconds, command.outstanding, command.threads), (8192, 60, 8, 2));
    assert_eq!((command.access, command.writes), (Access::Random(8192), 30));
    assert_eq!((command.direct, command.through, command.latency), (true, true, true));
    assert_eq!((command.create, command.warmup, command.cooldown), (Some(10 << 30), 5, 0));
    assert_eq!(parse("-Zr -z x").unwrap().seed, Some(7));
}

#[test]
fn sizes_may_be_in_blocks_wherever_the_block_size_stands() {
    let command = parse("-s2b -B3b -b4K -f100b x").unwrap();
    assert_eq!(
        (command.access, command.base, command.most),
        (Access::Sequential(8192), 12288, Some(409_600))
    );
}

#[test]
fn what_is_not_supported_is_named() {
    let cases = [
        ("-X profile", "-X"),
        ("-o0 x", "-o"),
        ("-Suh x", "contradicts"),
        ("-Sr x", "-Su"),
        ("-r -T1M x", "-T"),
        ("-si128K x", "-si"),
        ("-s4K x", "overlap"),
        ("-F4 -t2 x", "-F"),
        ("-i3 x", "-j"),
        ("-yrgo x", "script"),
        ("-N x", "-N"),
        ("-O4 x y", "use -o"),
        ("-Z1M,file x", "-Zr"),
        ("-D500 x", "-D1000"),
        ("#1", "/dev/sdb"),
        ("-q x", "there is no option"),
        ("-b x", "-b"),
        ("-d10", "name at least one"),
        ("-\u{e9} x", "-\u{e9}"),
    ];
    refused(parse, &cases);
}

#[test]
fn every_command_is_a_plan_with_a_workload_for_each_thread() {
    for (line, workloads, workers) in [
        ("-b8K -d60 -o8 -t2 -r -w30 -Sh -L a", 2, 2),
        ("-t32 -s128K -g100 -Zr -w100 a b", 64, 64),
        ("-t64 -r -g100 -a0 a b", 2, 128),
        ("-si -t4 -b4K -n a b", 2, 8),
        ("-F3 -r4K -b64K -i8 -j5 -a0,1 a b", 6, 6),
        ("-T1M -t3 -B64K -f8M -l -z5 a", 3, 3),
    ] {
        let command = parse(line).unwrap();
        let sizes = vec![1 << 30; command.targets.len()];
        let plan = plan(&command.translate(&sizes).unwrap());
        let all = plan.points()[0].workloads();
        assert_eq!(
            (all.len(), all.iter().map(|each| each.workers).sum::<u32>()),
            (workloads, workers),
            "{line}"
        );
        assert!(all.iter().all(|each| each.depth == command.outstanding));
        for workload in all {
            let lengths: Vec<units::Bytes> =
                sizes.iter().map(|size| units::Bytes::new(*size)).take(1).collect();
            workload::compile(workload, &lengths).unwrap();
        }
    }
}

#[test]
fn threads_begin_where_the_offsets_say() {
    let command = parse("-T1M -t3 -B64K -f8M -b64K a").unwrap();
    let translated = command.translate(&[1 << 30]).unwrap();
    for offset in [64 << 10, (1 << 20) + (64 << 10), (2 << 20) + (64 << 10)] {
        assert!(translated.plan.contains(&format!(
            "offset  = \"{}KiB\"\nspan    = \"{}KiB\"",
            offset >> 10,
            ((8 << 20) - offset) >> 10
        )));
    }
    assert!(parse("-T9M -t2 -f8M a").unwrap().translate(&[1 << 30]).is_err());
    assert!(parse("-t65 a").unwrap().translate(&[1 << 30]).is_err());
    assert!(parse("-b1M a").unwrap().translate(&[1000]).is_err());
}

#[test]
fn a_target_must_be_there_or_be_created() {
    let found = |size, is_device| [TargetInfo::sized(size, is_device)];
    assert_eq!(parse("-c1G a").unwrap().sizes(&found(0, false)).unwrap(), [1 << 30]);
    assert_eq!(parse("a").unwrap().sizes(&found(5 << 20, false)).unwrap(), [5 << 20]);
    assert!(parse("a").unwrap().sizes(&found(0, false)).is_err());
    assert!(parse("-c1G /dev/sdb").unwrap().sizes(&found(5 << 30, true)).is_err());
}

proptest! {
    #[test]
    fn no_words_make_it_panic(words in proptest::collection::vec("-?[ -~]{0,7}", 0..6)) {
        if let Ok(command) = Command::parse(&words, 1) {
            let found = vec![TargetInfo::sized(1 << 40, false); command.targets.len()];
            if let Ok(sizes) = command.sizes(&found) {
                let _ = command.translate(&sizes);
            }
        }
    }
}

/// The plan of a command on one target of 10 MiB.
fn planned(line: &str) -> String {
    // One blank around each `=`, wherever the plan aligns them.
    let plan = parse(line).unwrap().translate(&[10 << 20]).unwrap();
    self::plan(&plan);
    plan.plan.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn random_requests_are_spread_over_parts_of_a_target_and_mixed_with_streams() {
    let mixed = planned("-b4K -rs30 x");
    assert!(mixed.contains("random = \"30%\""), "{mixed}");
    assert!(planned("-b4K -r -rdpct90/10:5/20 x").contains("hot(90% in 10%, 5% in 20%, 5% in 70%)"));
    assert!(planned("-b4K -rdabs90/1M x").contains("hot(90% in 1MiB, 10% in 9MiB)"));
    assert!(parse("-rdpct90/10:20/20 x").is_err(), "110 % of the requests");
    assert!(parse("-rdpct90/100 x").is_err(), "a tenth of the requests has no place");
    assert!(!planned("-b4K -rs0 x").contains("random"), "no request is random");
}

#[test]
fn throughput_mapping_and_requests_of_a_thread_are_as_said() {
    assert!(planned("-b4K -g100i -F2 x").contains("cap(100/s)"));
    assert!(planned("-b4K -g100 x").contains("cap(100000B/s)"));
    assert!(planned("-b4K -Sbm x").contains("engine = \"mmap\""));
    assert!(planned("-b4K -O7 -F2 x").contains("depth = 7"));
    assert!(parse("-O7 -F2 x y").unwrap_err().to_string().contains("use -o"));
    assert!(parse("-Sum x").is_err());
    assert!(parse("-Rpxml x").unwrap().only_profile && parse("-Rp x").unwrap().only_profile);
}

#[test]
fn the_way_to_the_kernel_changes_nothing() {
    let parse = |line: &str| parse(line).map(|command| command.notes);
    for way in ["-x", "-xk", "-xp"] {
        let notes = parse(&format!("-b4K -d1 {way} f")).unwrap();
        assert!(notes.iter().any(|note| note.starts_with(&format!("`{way}` changes nothing"))), "{notes:?}");
    }
    assert!(parse("-b4K -d1 -xs f").is_err() && parse("-b4K -d1 -xq f").is_err());
}
