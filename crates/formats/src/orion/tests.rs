use proptest::prelude::*;
use units::convert::narrow;
use workload::plan::{Plan, Task};
use workload::spec::Pattern;

use super::*;
use crate::Refusal;
use crate::testing::{plan, refused, words};

fn parse(line: &str) -> Result<Command, Refusal> {
    Command::parse(&words(line))
}

#[test]
fn what_is_not_said_is_as_orion_has_it() {
    let command = parse("-run simple").unwrap();
    assert_eq!((command.name.as_str(), command.disks), ("orion", None));
    assert_eq!((command.small_kib, command.large_kib, command.stream_ios), (8, 1024, 4));
    assert_eq!((command.write, command.cache_mib, command.seconds), (0, None, 60));
    assert_eq!((command.large, command.array), (Large::Random, Simulated::Concat));
    assert_eq!(command.lun_file(), "orion.lun");
    let raid0 = parse("-run advanced -simulate RAID0 -matrix column -num_small 0").unwrap();
    assert_eq!(raid0.array, Simulated::Raid0 { stripe_kib: 1024 });
    assert_eq!((raid0.matrix, raid0.num_small), (Matrix::Col, Some(0)));
}

#[test]
fn what_is_wrong_is_named() {
    let cases = [
        ("", "-run simple"),
        ("-run fast", "`simple`, `normal`"),
        ("-run simple -num_disk 4", "did you mean `-num_disks`"),
        ("-run simple -num_disks 0", "from 1"),
        ("-run simple -num_disks", "needs a value"),
        ("-run simple -testname my.lun", "without `.lun`"),
        ("-run simple -testname /tmp/", "file names"),
        ("-run simple -matrix point", "-run advanced"),
        ("-run oltp -num_large 3", "-run advanced"),
        ("-run dss -type seq", "-run advanced"),
        ("-run advanced -matrix point -num_small 3", "needs `-num_large`"),
        ("-run advanced -matrix row", "needs `-num_large`"),
        ("-run advanced -write 101", "from 0 to 100"),
        ("-run advanced -storax asmlib", "no Oracle library"),
        ("-run advanced -simulate raid5", "`concat` or `raid0`"),
        ("-run simple -shape 9i", "10.2, 11.1 or 11.2"),
    ];
    refused(parse, &cases);
}

#[test]
fn what_changes_nothing_is_noted() {
    let command = parse(
        "-run advanced -num_streamIO 8 -stripe 64 -hugenotneeded -num_small 3 -cache_size 1 -storax skgfr",
    );
    assert_eq!(command.unwrap().notes.len(), 6);
    assert_eq!(parse("-run simple -matrix basic -num_disks 3").unwrap().notes.len(), 0);
    assert!(parse("-run advanced -type seq -cache_size 67108864").unwrap().notes[0].contains("64 TiB"));
}

#[test]
fn help_names_every_option() {
    for option in
        ["-run simple|normal|advanced|oltp|dss", "-cache_size MB", "-shape 10.2|11.1|11.2", "-verbose"]
    {
        assert!(help().contains(option), "{option}");
    }
    assert!(asks_for_help(&[]) && asks_for_help(&["-run".into(), "-help".into()]));
}

fn command(line: &str) -> Command {
    parse(line).unwrap_or_else(|refusal| panic!("{line}: {refusal}"))
}

fn plan_of(line: &str, names: &[&str]) -> Plan {
    let command = command(line);
    let luns: Vec<Lun> = names.iter().map(|name| Lun { line: 1, name: (*name).into() }).collect();
    let grid = command.grid(narrow::<u32>(luns.len())).unwrap();
    plan(&command.translate(&luns, &grid, 7).unwrap())
}

/// For each measured point, (small in flight, large in flight or streams).
fn loads(plan: &Plan) -> Vec<(u32, u32)> {
    let of = |point: &workload::plan::Point| {
        let Task::Load(load) = &point.task else { panic!("every phase is a load") };
        let sum =
            |kind: &str| {
                let some = load.workloads.iter().filter(|workload| workload.name.starts_with(kind));
                some.map(|one| {
                    if one.pattern == Pattern::Sequential { one.workers } else { one.workers * one.depth }
                })
                .sum::<u32>()
            };
        (sum("small"), sum("large"))
    };
    plan.points().iter().map(of).filter(|load| *load != (0, 0)).collect()
}

#[test]
fn a_plan_has_exactly_the_data_points() {
    for line in [
        "-run simple -num_disks 8",
        "-run normal -num_disks 2",
        "-run oltp -num_disks 3 -write 30",
        "-run dss",
        "-run advanced -matrix point -num_small 7 -num_large 2 -size_small 4",
        "-run advanced -matrix col -num_small 3 -num_disks 2",
        "-run advanced -matrix row -num_large 4",
        "-run advanced -matrix max -num_small 5 -num_large 3",
        "-run advanced -type seq -num_disks 4 -matrix detailed",
        "-run advanced -type seq -num_disks 4 -cache_size 0 -write 50",
        "-run advanced -type seq -num_disks 4 -cache_size 64 -write 25",
    ] {
        let asked = command(line).grid(1).unwrap();
        let expected: Vec<(u32, u32)> = asked.points.iter().map(|load| (load.small, load.large)).collect();
        let mut found = loads(&plan_of(line, &["disk"]));
        let mut sorted = expected.clone();
        found.sort_unstable();
        sorted.sort_unstable();
        assert_eq!(found, sorted, "{line}");
    }
}

#[test]
fn of_four_streams_a_quarter_writes_one() {
    let plan = plan_of(
        "-run advanced -type seq -matrix point -num_small 2 -num_large 4 -write 25 -cache_size 64",
        &["d"],
    );
    let points = plan.points();
    assert_eq!(points.len(), 2);
    let warming = &points[0].workloads()[0];
    assert_eq!((warming.stop.run, warming.stop.bytes), (None, Some(units::Bytes::new(64 << 20))));
    let of: Vec<(&str, u32, u32)> =
        points[1].workloads().iter().map(|one| (one.name.as_str(), one.workers, one.depth)).collect();
    assert_eq!(of, [("small", 1, 2), ("large reads", 3, 4), ("large writes", 1, 4)]);
    let writes = &points[1].workloads()[2];
    assert_eq!(writes.offset.to_string(), "75%");
}

#[test]
fn two_minutes_of_random_requests_go_before_a_stream_unless_something_else_is_said() {
    let plan = plan_of("-run advanced -type seq -matrix point -num_small 0 -num_large 1 -duration 5", &["d"]);
    let times: Vec<u64> =
        plan.points().iter().map(|point| point.estimate().time.get() / 1_000_000_000).collect();
    assert_eq!(times, [120, 5]);
}

#[test]
fn stripes_are_for_several_luns_and_hold_whole_requests() {
    let luns = [Lun { line: 1, name: "a".into() }, Lun { line: 2, name: "b".into() }];
    let translated = |line: &str, luns: &[Lun]| {
        let command = command(line);
        let grid = command.grid(1).unwrap();
        command.translate(luns, &grid, 1)
    };
    let simple = "-run simple -simulate raid0";
    assert!(translated(simple, &luns).unwrap().plan.contains("striped(1024KiB)"));
    assert!(!translated(simple, &luns[..1]).unwrap().plan.contains("striped"));
    let refusal = translated("-run simple -simulate raid0 -stripe 64", &luns).unwrap_err().to_string();
    assert!(refusal.contains("-stripe 64") && refusal.contains("-size_large 1024"), "{refusal}");
}

#[test]
fn a_list_of_luns_is_read_line_by_line() {
    let names = |text: &str| {
        luns("t.lun", text).map(|luns| luns.into_iter().map(|lun| (lun.line, lun.name)).collect::<Vec<_>>())
    };
    assert_eq!(
        names("/dev/sda\r\n\n  array:md3000?luns=2 \n"),
        Ok(vec![(1, "/dev/sda".into()), (3, "array:md3000?luns=2".into())])
    );
    let message = |text: &str| names(text).unwrap_err().to_string();
    assert!(message("a\n# b\n").starts_with("t.lun:2: "));
    assert!(message("\\\\.\\E:\n").contains("Windows"));
    assert!(message("\n\n").contains("no LUN"));
}

proptest! {
    #[test]
    fn no_words_make_it_panic(
        words in proptest::collection::vec(
            prop_oneof![
                Just("-run".to_owned()), Just("advanced".to_owned()), Just("oltp".to_owned()),
                Just("-type".to_owned()), Just("seq".to_owned()), Just("-matrix".to_owned()),
                "(basic|detailed|point|col|row|max)", "-num_(disks|small|large)", "-(write|stripe|duration|cache_size)",
                "[0-9]{1,6}", "[ -~]{0,6}",
            ], 0..10),
        text in "[ -~\n]{0,40}",
    ) {
        let _ = luns("t.lun", &text);
        if let Ok(command) = Command::parse(&words)
            && let Ok(grid) = command.grid(1)
            && grid.points.len() < 200
        {
            let lun = Lun { line: 1, name: "disk".into() };
            let plan = plan(&command.translate(std::slice::from_ref(&lun), &grid, 1).unwrap());
            prop_assert_eq!(loads(&plan).len(), grid.points.len());
        }
    }
}
