use proptest::prelude::*;
use workload::plan::{Plan, Task};

use super::*;
use crate::Refusal;
use crate::testing::{plan, refused, words};

fn parse(line: &str) -> Result<Command, Refusal> {
    Command::parse(&words(line))
}

#[test]
fn letters_may_stand_together_and_values_in_the_same_word() {
    let command = parse("-Raz -i0 -i 1 -g4m -n 64 -f /mnt/x -+n -e").unwrap();
    assert!(command.excel && command.grid.auto && !command.grid.crossover && command.no_retest);
    assert_eq!(command.tests, [0, 1]);
    assert_eq!((command.grid.files.min_kib, command.grid.files.max_kib), (64, 4096));
    assert_eq!(command.file.as_deref(), Some("/mnt/x"));
    assert_eq!(
        command.announced,
        [
            "Excel chart generation enabled",
            "Auto Mode",
            "Cross over of record size disabled.",
            "Using maximum file size of 4096 kilobytes.",
            "Using minimum file size of 64 kilobytes.",
            "No retest option selected",
            "Include fsync in write timing"
        ]
    );
}

#[test]
fn children_are_counted_and_named() {
    let command = parse("-t 2 -l 3 -u 5 -s 4m -r 64k -F a b c d e -i 0 -C -x").unwrap();
    assert_eq!(command.children, [2, 3, 4, 5]);
    assert_eq!(command.files, ["a", "b", "c", "d", "e"]);
    assert!(command.shows_children && command.no_stonewall);
    assert!(parse("-t 3 -F a b").unwrap_err().to_string().contains("names 2 files"));
    assert!(parse("-t 2 -a").unwrap_err().to_string().contains("-a"));
    assert!(parse("-l 3 -u 2").is_err() && parse("-F a").is_err());
}

#[test]
fn without_a_selection_all_tests_of_the_mode_are_made() {
    let single = parse("-a").unwrap();
    let selected: Vec<u8> = (0..=TESTS_MAX).filter(|test| single.selects(*test)).collect();
    assert_eq!(selected, [0, 1, 2, 3, 4, 5, 6, 7]);
    let several = parse("-t 2").unwrap();
    assert!(several.selects(8) && several.selects(10) && !several.selects(11));
    assert!(parse("-a -E").unwrap().selects(12));
}

#[test]
fn what_is_not_supported_is_named() {
    let cases = [
        ("-a -+m hosts", "-+m"),
        ("-a -K", "-K"),
        ("-a -+l -B", "contradict"),
        ("-a -+L -k 4", "contradict"),
        ("-t 2 -Q", "-Q"),
        ("-t 2 -X trace", "-X"),
        ("-a -B -Y trace", "-B"),
        ("-a -V 0", "-V"),
        ("-a -i 13", "0 to 12"),
        ("-s 1x", "1x"),
        ("-r 4g", "less than 2g"),
        ("-n 8m -g 4m -a", "no size"),
        ("-r 64 -s 32", "64 kB"),
        ("-B -I", "-I"),
        ("-a -?", "-?"),
        ("", "-a"),
        ("-f", "needs a value"),
        ("-+", "-+"),
        ("-+$", "-+$"),
        ("-i 8", "-t"),
    ];
    refused(parse, &cases);
}

proptest! {
    #[test]
    fn no_words_whatever_make_the_reader_panic(words in proptest::collection::vec("[-+a-zA-Z0-9é ]{0,6}", 0..8)) {
        let _ = Command::parse(&words);
    }
}

const HERE: Storage = Storage::Files { remote: false };

fn plan_of(line: &str, storage: Storage) -> Plan {
    plan(&parse(line).unwrap().translate(storage).unwrap())
}

#[test]
fn every_command_is_a_plan() {
    for line in [
        "-a -g 1m",
        "-s 1m -r 64k -I -o -e -c -w -i 0 -i 2 -j 5 -+q 2 -U /mnt -P 0",
        "-s 1m -B -E -i 0",
        "-s 8m -r 1m -k 16 -+n -+D",
        "-t 3 -s 4m -r 64k",
        "-l 1 -u 3 -s 4m -r 64k -x -+p 30 -i 0 -i 8 -T",
    ] {
        for storage in [HERE, Storage::Files { remote: true }, Storage::Device { size: 1 << 30 }] {
            let points = plan_of(line, storage).points().len();
            assert!(points > 0, "{line}");
        }
    }
}

#[test]
fn a_pair_is_thirteen_passes_of_as_many_bytes_as_the_file_has() {
    let plan = plan_of("-s 1m -r 64k", HERE);
    let mut moved = Vec::new();
    for point in plan.points() {
        let Task::Load(load) = &point.task else { continue };
        if !point.name.starts_with("flush") {
            let workload = &load.workloads[0];
            moved.push(workload.stop.ops.unwrap() * workload.sizes.largest().get());
        }
    }
    assert_eq!(moved, vec![1 << 20; 13]);
    let names: Vec<&str> = plan.points().iter().map(|point| point.name.as_str()).collect();
    assert_eq!(names[0], "1024 kB, 64 kB: write");
    assert_eq!(names[1], "flush after 1024 kB, 64 kB: write");
    assert!(names.contains(&"empty for 1024 kB, 64 kB: fwrite"), "{names:?}");
    assert_eq!(names.iter().filter(|name| name.starts_with("empty")).count(), 1);
}

#[test]
fn what_is_written_with_a_pattern_is_held_against_it() {
    let plan = plan_of("-s 1m -r 64k -i 0 -i 1 -i 6 -V 170", HERE);
    let loads = plan.points().iter().flat_map(|point| point.workloads());
    let passes: Vec<_> = loads.filter(|workload| workload.mix.flushes == units::Share::NONE).collect();
    assert!(passes.iter().all(|pass| pass.content == workload::spec::Content::Pattern(vec![170])));
    let is_checked = |pass: &&&workload::spec::Workload| pass.verify == workload::spec::Verify::Content;
    assert_eq!((passes.len(), passes.iter().filter(is_checked).count()), (6, 4));
}

#[test]
fn telemetry_is_what_the_first_passes_ask_for() {
    let mut command = parse("-s 1m -r 64k -X w.txt -Y r.txt -i 0 -i 1 -i 2").unwrap();
    let trace = |text: &str| workload::trace::TraceReader::whole("t", text.as_bytes()).unwrap();
    command.see("w.txt", &trace("0 4096 0\n2097152 8192 0\n")).unwrap();
    command.see("r.txt", &trace("512 1024\n")).unwrap();
    assert_eq!(command.largest_file(), 2_097_152 + 8192);
    let plan = plan(&command.translate(HERE).unwrap());
    let told: Vec<(&str, Option<workload::Op>)> = plan
        .points()
        .iter()
        .filter_map(|point| {
            let replay = point.workloads().first()?.replay()?;
            Some((replay.file.as_str(), replay.as_op))
        })
        .collect();
    let (write, read) = (Some(workload::Op::Write), Some(workload::Op::Read));
    assert_eq!(told, [("w.txt", write), ("w.txt", write), ("r.txt", read), ("r.txt", read)]);
    let refused = command.see("w.txt", &trace("0 4096 0\n8192 4096 7\n")).unwrap_err().to_string();
    assert!(refused.contains("the request at 8192 follows a pause"), "{refused}");
}

#[test]
fn children_have_files_of_their_own_or_parts_of_a_device() {
    let command = parse("-t 2 -s 4m -r 64k -i 0 -i 8").unwrap();
    assert_eq!(command.targets(HERE), ["iozone.DUMMY.0", "iozone.DUMMY.1"]);
    let device = Storage::Device { size: 1 << 30 };
    assert_eq!(parse("-t 2 -f array:md3000").unwrap().targets(device), ["array:md3000"]);
    let plan = plan_of("-t 2 -s 4m -r 64k -i 0 -i 8", device);
    let mixed = plan.points().iter().find(|point| point.name == "2 mixed workload").unwrap();
    let [one, other] = mixed.workloads() else { panic!("two children") };
    assert!(!one.changes_data() && other.changes_data());
    assert_ne!(one.offset, other.offset);
    assert!(one.stop.exit_all);
    assert!(parse("-t 2 -s 1g").unwrap().translate(Storage::Device { size: 1 << 30 }).is_err());
}

/// Every load of the plan of a command that is not a flush.
fn passes_of(line: &str, storage: Storage) -> Vec<workload::spec::Workload> {
    let plan = plan_of(line, storage);
    let loads = plan.points().iter().flat_map(|point| point.workloads().to_vec());
    loads.filter(|load| load.mix.flushes == units::Share::NONE).collect()
}

#[test]
fn one_buffer_is_written_again_and_again_unless_its_data_is_looked_at() {
    use workload::spec::{Content, Verify};
    let writes = |line: &str| passes_of(line, HERE).into_iter().find(|pass| pass.changes_data()).unwrap();
    assert_eq!(writes("-s 1m -r 64k -i 0").content, Content::Reused);
    assert_eq!(writes("-s 1m -r 64k -i 0 -+Z").content, Content::Pattern(vec![0xA5]));
    let diagnosed = writes("-s 1m -r 64k -i 0 -+d");
    assert_eq!(diagnosed.verify, Verify::Written);
    assert!(matches!(diagnosed.content, Content::Random { .. }));
    let Content::Random { dedupe, .. } = writes("-s 1m -r 64k -i 0 -+y 50").content else { panic!("random") };
    assert_eq!(dedupe, 2.0);
}

#[test]
fn children_may_start_one_after_the_other_share_a_size_and_a_file() {
    let starts: Vec<u64> = passes_of("-t 3 -s 6m -r 64k -i 0 -+n -d 250", HERE)
        .iter()
        .map(|child| child.stop.start.get())
        .collect();
    assert_eq!(starts, [0, 250_000, 500_000]);
    let command = parse("-t 3 -s 6m -r 64k -i 0 -+n -+k -+V").unwrap();
    assert_eq!(command.targets(HERE), ["iozone.DUMMY.0"]);
    assert!(command.throughput_heading(3).contains("a 2048 kByte file in 64 kByte records"));
    let spans: Vec<String> = passes_of("-t 3 -s 6m -r 64k -i 0 -+n -+k -+V", HERE)
        .iter()
        .map(|child| child.span.to_string())
        .collect();
    assert_eq!(spans, ["2MiB", "2MiB", "2MiB"]);
    let readers = passes_of("-t 3 -s 4m -r 64k -i 0 -i 8 -+n -+K 2 -+B", HERE);
    let mixed = &readers[3..];
    assert_eq!(mixed.iter().filter(|child| !child.changes_data()).count(), 2);
    assert!(mixed.iter().all(|child| child.pattern == workload::spec::Pattern::Sequential));
}

#[test]
fn each_record_is_locked_where_that_is_said_but_for_those_that_are_gathered() {
    let engines = |line: &str| -> Vec<String> {
        let plan = plan_of(line, HERE);
        let timed = plan.points().iter().filter(|point| !point.name.contains("flush after"));
        timed.flat_map(|point| point.workloads()).map(|workload| workload.engine.kind.to_string()).collect()
    };
    assert_eq!(engines("-s 1m -r 64k -+l -+n -i 0 -i 1 -i 6 -i 11"), ["locked", "locked", "stdio", "locked"]);
    let shared = parse("-t 2 -s 1m -r 64k -+L -i 0").unwrap();
    assert!(shared.shares_file && shared.announced.iter().any(|line| line.contains("shared file mode")));
    assert_eq!(engines("-s 1m -r 64k -Z -B -+n -i 0"), ["mmap"]);
}

#[test]
fn a_file_of_the_users_is_only_read_and_stays() {
    let command = parse("-+E -f mine -i 1 -i 2 -s 1m -r 64k").unwrap();
    assert!(command.keep && !command.writes());
    for (line, why) in [
        ("-+E -f mine -i 0", "leave out every test that writes"),
        ("-+E -f mine", "needs tests that read"),
        ("-+E -i 1", "-f FILE"),
        ("-+d -V 3 -a", "contradict"),
        ("-J 5 -k 4 -a", "contradict"),
        ("-t 2 -s 1m -r 64k -+w 50", "-+w"),
        ("-a -+A 3", "-+A 3"),
        ("-a -h", "no other option"),
    ] {
        let refusal = parse(line).unwrap_err().to_string();
        assert!(refusal.contains(why), "{line}: {refusal}");
    }
}

#[test]
fn one_bound_of_children_is_enough_as_in_the_original() {
    assert_eq!(parse("-u 3 -s 1m -r 64k").unwrap().children, [1, 2, 3]);
    assert_eq!(parse("-l 2 -s 1m -r 64k").unwrap().children, [2]);
}

#[test]
fn a_word_that_is_no_option_changes_nothing() {
    let command = parse("-i 0 -i 1 -l 1 -u 3 -s 4m -r 8k /mnt/storage").unwrap();
    assert_eq!(command.children, [1, 2, 3]);
    assert!(command.notes.iter().any(|note| note.contains("/mnt/storage")), "{:?}", command.notes);
}

#[test]
fn several_children_have_the_size_and_the_record_that_were_said_last() {
    let command = parse("-t 4 -i 0 -s 8m -s 4m -r 4k -r 64k -r 1024k").unwrap();
    let [pair] = command.grid.pairs()[..] else { panic!("{:?}", command.grid.pairs()) };
    assert_eq!((pair.file_kib, pair.record_kib), (4096, 1024));
}

#[test]
fn children_that_write_by_pwrite_need_no_files() {
    let command = parse("-t 4 -i 9 -i 10 -r 1k -s 1m").unwrap();
    let labels: Vec<&str> = command.child_tests().map(|test| test.label).collect();
    assert_eq!(labels, ["pwrite writers", "pread readers"]);
    // A file that is there is not cut.
    assert!(command.makes_files() && !command.empties());
    assert!(!parse("-t 4 -i 10 -r 1k -s 1m").unwrap().makes_files());
    let command = parse("-t 4 -i 11 -i 12 -r 1k -s 1m").unwrap();
    let labels: Vec<&str> = command.child_tests().map(|test| test.label).collect();
    assert_eq!(labels, ["initial writers", "rewriters"]);
    assert_eq!(command.announced[0], "Selected test not available on the version.");
    assert!(parse("-i 11 -i 12 -r 1k -s 1m").unwrap().announced[0].starts_with("Record Size"));
}
