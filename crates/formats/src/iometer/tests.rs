//! Files of every version become plans that can be carried out, or are refused with their line.

use proptest::prelude::*;
use workload::plan::{Overrides, Plan};

use super::*;
use crate::Refusal;
use crate::testing::words;

/// A file of 1.1.0 with two workers; the second asks two disks for its second specification.
const NEW: &str = "Version 1.1.0 \r
'TEST SETUP ====================================================================\r
'Test Description\r
\ta, b\r
'Run Time\r
'\thours      minutes    seconds\r
\t0          1          30\r
'Ramp Up Time (s)\r
\t5\r
'Default Disk Workers to Spawn\r
\tNUMBER_OF_CPUS\r
'Default Network Workers to Spawn\r
\t0\r
'Record Results\r
\tNO_TARGETS\r
'Worker Cycling\r
'\tstart      step       step type\r
\t1          1          LINEAR\r
'Disk Cycling\r
'\tstart      step       step type\r
\t1          1          LINEAR\r
'Queue Depth Cycling\r
'\tstart      end        step       step type\r
\t1          32         2          EXPONENTIAL\r
'Test Type\r
\tNORMAL\r
'END test setup\r
'RESULTS DISPLAY ===============================================================\r
'Record Last Update Results,Update Frequency,Update Type\r
\tDISABLED,1,LAST_UPDATE\r
'Bar chart 1 statistic\r
\tTotal I/Os per Second\r
'END results display\r
'ACCESS SPECIFICATIONS =========================================================\r
'Access specification name,default assignment\r
\tpages,NONE\r
'size,% of size,% reads,% random,delay,burst,align,reply\r
\t8192,100,67,100,0,1,0,0\r
'Access specification name,default assignment\r
\tmix,ALL\r
'size,% of size,% reads,% random,delay,burst,align,reply\r
\t4096,60,100,100,0,1,4096,0\r
\t65536,40,0,0,5,8,0,0\r
'END access specifications\r
'MANAGER LIST ==================================================================\r
'Manager ID, manager name\r
\t1,HOST\r
'Manager network address\r
\t\r
'Worker\r
\tWorker 1\r
'Worker type\r
\tDISK\r
'Default target settings for worker\r
'Number of outstanding IOs,test connection rate,transactions per connection,use fixed seed,fixed seed value\r
\t16,ENABLED,500,ENABLED,12345\r
'Disk maximum size,starting sector,Data pattern\r
\t1024,64,2\r
'End default target settings for worker\r
'Assigned access specs\r
\tpages\r
'End assigned access specs\r
'Target assignments\r
'Target\r
\tC: \"System\"\r
'Target type\r
\tDISK\r
'End target\r
'End target assignments\r
'End worker\r
'Worker\r
\tWorker 1\r
'Worker type\r
\tDISK\r
'Assigned access specs\r
\tIdle\r
\tmix\r
'End assigned access specs\r
'Target assignments\r
'Target\r
\tC: \"Renamed\"\r
'Target type\r
\tDISK\r
'End target\r
'Target\r
\tPHYSICALDRIVE:1\r
'Target type\r
\tDISK\r
'End target\r
'End target assignments\r
'End worker\r
'End manager\r
'END manager list\r
Version 1.1.0 \r
";

/// One of before May 1998: neither names nor alignment.
const OLD: &str = "Version 1998.02.01\n'TEST SETUP ====\n'Run Time\n\t0 0 10\n'Default Workers to Spawn\n\t0\n\
'ACCESS SPECIFICATIONS ====\n'size, % of size, % reads, % random, delay, burst\n2048 100 67 100 0 1\n\
512 50 100 0 0 1\n1024 50 0 0 0 1\n'END access specifications\n";

fn translate(text: &str) -> TranslatedJob {
    read("x.icf", text, &JobEnvironment::NONE).unwrap_or_else(|error| panic!("{error}"))
}

fn refusal(text: &str) -> String {
    read("x.icf", text, &JobEnvironment::NONE).expect_err("refused").to_string()
}

fn planned(text: &str) -> Plan {
    let translated = translate(text);
    Plan::parse("x.icf", &translated.plan, &Overrides::default())
        .unwrap_or_else(|errors| panic!("{}\n{}", errors.plain(), translated.plan))
}

/// The workloads of each point, in few words.
fn told(plan: &Plan) -> Vec<String> {
    let workload = |one: &workload::spec::Workload| {
        let lines =
            if one.lines.is_empty() { String::new() } else { format!(" of {} lines", one.lines.len()) };
        format!("{} {} reads {}{lines} x{} on {:?}", one.pattern, one.sizes, one.mix.reads, one.depth, one.on)
    };
    plan.points()
        .iter()
        .map(|point| point.workloads().iter().map(workload).collect::<Vec<_>>().join(" | "))
        .collect()
}

#[test]
fn each_worker_and_target_becomes_a_workload_with_its_own_queue() {
    let plan = planned(NEW);
    assert_eq!(
        told(&plan),
        [
            "random(repeats) 8KiB reads 67 % x16 on [1]",
            "random(repeats) { \"4KiB\" = 15.7894736842, \"64KiB\" = 84.2105263158 } reads 15.8 % of 2 lines x1 on [1] \
             | random(repeats) { \"4KiB\" = 15.7894736842, \"64KiB\" = 84.2105263158 } reads 15.8 % of 2 lines x1 on \
             [2]",
        ]
    );
    let first = &plan.points()[0].workloads()[0];
    assert_eq!(first.stop.run.map(|run| run.get()), Some(90_000_000_000));
    assert_eq!(first.stop.warmup.get(), 5_000_000_000);
    assert_eq!(first.seed, 12_345);
    assert_eq!(first.align, Some(units::Bytes::new(512)));
    assert_eq!((first.offset.to_string(), first.span.to_string()), ("32KiB".into(), "512KiB".into()));
    let second = &plan.points()[1].workloads()[0];
    assert_eq!((second.lines[1].burst, second.lines[1].delay.get()), (8, 5_000_000));
}

#[test]
fn what_was_understood_is_told() {
    let translated = translate(NEW);
    let head: Vec<&str> = translated.plan.lines().take(5).collect();
    assert_eq!(
        head,
        [
            "# An Iometer configuration of version 1.1.0: 1 manager with 2 workers, 2 targets, 2 access specifications.",
            "# Test type: NORMAL.",
            "# Targets, to be named with --on in this order:",
            "#   1: C: \"System\" of HOST",
            "#   2: PHYSICALDRIVE:1 of HOST",
        ]
    );
    let notes = translated.notes.join("\n");
    assert!(notes.contains("test connection rate") && notes.contains("name 2 targets with --on"), "{notes}");
}

#[test]
fn names_of_linux_become_paths_and_those_of_windows_are_left_to_the_user() {
    let with =
        |name: &str| translate(&NEW.replace("C: \"System\"", name).replace("C: \"Renamed\"", name)).targets;
    assert_eq!(with("sdb"), [""; 0]);
    let with = |one: &str, other: &str| {
        let text = NEW.replace("C: \"System\"", one).replace("C: \"Renamed\"", one);
        translate(&text.replace("PHYSICALDRIVE:1", other)).targets
    };
    assert_eq!(with("sdb", "nvme0n1"), ["/dev/sdb", "/dev/nvme0n1"]);
    assert_eq!(with("/mnt/data [ext4]", "array:md3000"), ["/mnt/data", "array:md3000"]);
    assert_eq!(with("sdb", "1: \"MODEL FW\""), [""; 0]);
}

#[test]
fn old_files_have_specifications_without_names() {
    let plan = planned(OLD);
    let names: Vec<&str> = plan.points().iter().map(|point| point.name.as_str()).collect();
    assert_eq!(names, ["2 KiB random 67% reads", "Untitled 1"]);
    assert_eq!(told(&plan)[1], "sequential { \"512B\" = 50, \"1KiB\" = 50 } reads 50 % of 2 lines x1 on []");
}

#[test]
fn sections_and_version_may_be_missing_and_lines_end_either_way() {
    let specs = &NEW[NEW.find("'ACCESS").unwrap()..NEW.find("'MANAGER").unwrap()];
    let plan = planned(&specs.replace('\r', ""));
    // Of two specifications one is assigned to whoever has none.
    assert_eq!(told(&plan).len(), 1);
    assert_eq!(plan.points()[0].name, "mix");
    assert_eq!(told(&planned(&NEW.replace('\r', ""))), told(&planned(NEW)));
    let no_tabs: String = NEW.lines().map(|line| line.trim().to_owned() + "\n").collect();
    assert_eq!(told(&planned(&no_tabs)), told(&planned(NEW)));
    assert_eq!(
        told(&planned(&NEW.replace("'Test Type", "'TEST TYPE").replace("NORMAL", "0"))),
        told(&planned(NEW))
    );
}

#[test]
fn old_key_lists_are_taken_as_well() {
    let old = NEW
        .replace(",use fixed seed,fixed seed value", "")
        .replace("16,ENABLED,500,ENABLED,12345", "16,DISABLED,1")
        .replace(",Data pattern", "")
        .replace("1024,64,2", "1024,64")
        .replace("'Record Last Update Results,Update Frequency,Update Type", "'Update Frequency,Update Type")
        .replace("DISABLED,1,LAST_UPDATE", "4,WHOLE_TEST");
    assert_eq!(told(&planned(&old)), told(&planned(NEW)));
}

#[test]
fn what_is_written_follows_the_data_pattern_of_each_version() {
    let content = |key: &str, value: &str| {
        let plan =
            translate(&NEW.replace("Data pattern", key).replace("1024,64,2", &format!("1024,64,{value}")))
                .plan;
        let keys = ["compress = \"1000:1\"", "dedupe = \"1000:1\""];
        let first = plan.split("[[phase]]").nth(1).unwrap_or_default();
        let first = first.split_whitespace().collect::<Vec<_>>().join(" ");
        keys.map(|key| first.contains(key))
    };
    assert_eq!(content("Data pattern", "0"), [true, false]);
    assert_eq!(content("Data pattern", "1"), [false, true]);
    assert_eq!(content("Data pattern", "2"), [false, false]);
    assert_eq!(content("Use Random Data", "1"), [false, false]);
    assert_eq!(content("Use Random Data", "ENABLED"), [false, false]);
    assert_eq!(content("Use Random Data", "DISABLED"), [true, false]);
}

#[test]
fn outstanding_requests_are_swept_where_they_are_cycled() {
    let plan = planned(&NEW.replace("\tNORMAL", "\tCYCLE_OUTSTANDING_IOS"));
    let depths: Vec<u32> = plan.points().iter().map(|point| point.workloads()[0].depth).collect();
    assert_eq!(depths, [1, 2, 4, 8, 16, 32, 1, 2, 4, 8, 16, 32]);
}

#[test]
fn targets_are_added_where_they_are_cycled() {
    let plan = planned(&NEW.replace("\tNORMAL", "\tCYCLE_TARGETS"));
    let counts: Vec<usize> = plan.points().iter().map(|point| point.workloads().len()).collect();
    assert_eq!(counts, [1, 1, 2]);
}

#[test]
fn what_storage_cannot_be_asked_is_refused_by_name_and_line() {
    let network = NEW.replacen("\tDISK", "\tNETWORK,TCP", 1);
    let message = refusal(&network);
    assert!(message.starts_with("x.icf:53: worker `Worker 1` is of type NETWORK,TCP"), "{message}");
    let target = NEW.replacen("'Target type\r\n\tDISK", "'Target type\r\n\tTCP", 1);
    assert!(refusal(&target).contains("target `C: \"System\"` is of type TCP"), "{}", refusal(&target));
    let reply = refusal(&NEW.replace("8192,100,67,100,0,1,0,0", "8192,100,67,100,0,1,0,512"));
    assert!(reply.starts_with("x.icf:38: a reply of 512 bytes"), "{reply}");
}

#[test]
fn mistakes_are_named_with_file_and_line() {
    let wrong = |from: &str, to: &str| refusal(&NEW.replacen(from, to, 1));
    let cases = [
        ("8192,100,67", "8192,90,67", "x.icf:36: the lines of `pages` make up 90%"),
        ("8192,100,67", "8192,100,167", "x.icf:38: 167% reads"),
        ("8192,100,67", "none,100,67", "x.icf:38: `none` in column 1"),
        ("\tmix\r\n'End", "\tnix\r\n'End", "is assigned `nix`"),
        ("'Run Time", "'Rum Time", "x.icf:5: `'Rum Time` is not a key of the test setup"),
        ("\t16,ENABLED", "\t0,ENABLED", "x.icf:56: `0` outstanding I/Os"),
        ("\tNORMAL", "\tODD", "x.icf:26: `ODD` is none of NORMAL"),
        ("'End manager\r\n", "", "is not a key of a manager"),
        ("\t0          1          30", "\tsoon", "x.icf:7: `soon` is not hours, minutes and seconds"),
    ];
    for (from, to, want) in cases {
        let message = wrong(from, to);
        assert!(message.contains(want), "{message}\nshould say\n{want}");
    }
    assert!(refusal("'END test setup\n").contains("no section"));
    assert!(
        refusal("'MANAGER LIST ==\n'END manager list\n")
            .contains("neither workers nor access specifications")
    );
    let nothing = refusal(&NEW.replace("\tpages\r\n'End", "'End").replace("\tIdle\r\n\tmix\r\n", ""));
    assert!(nothing.contains("so no requests are issued"), "{nothing}");
    let cycled =
        NEW.replace("\tNORMAL", "\tCYCLE_OUTSTANDING_IOS").replace("1          32         2 ", "8 4 2 ");
    assert!(refusal(&cycled).contains("no series that ends"), "{}", refusal(&cycled));
}

#[test]
fn a_run_without_end_gets_one_and_says_so() {
    let translated = translate(&NEW.replace("0          1          30", "0 0 0"));
    assert!(translated.plan.contains("run    = \"30s\""));
    assert!(
        translated.notes.iter().any(|note| note.contains("until it is stopped")),
        "{:?}",
        translated.notes
    );
}

#[test]
fn a_disk_size_of_fewer_sectors_than_a_request_asks_for_is_refused() {
    let refused =
        read("x.icf", &NEW.replace("1024,64,2", "15,64,2"), &JobEnvironment::NONE).unwrap_err().to_string();
    assert!(refused.contains("15 sectors, holds no request of 8192 bytes"), "{refused}");
    translate(&NEW.replace("1024,64,2", "16,64,2"));
}

#[test]
fn sequential_requests_that_do_not_fill_their_alignment_step_over_the_rest() {
    let plan = planned(&NEW.replace("8192,100,67,100,0,1,0,0", "512,100,100,0,0,1,4096,0"));
    let one = plan.points()[0].workloads()[0].clone();
    assert_eq!((one.lines.len(), one.lines[0].align), (1, Some(units::Bytes::new(4096))));
}

#[test]
fn a_configuration_is_known_by_its_name_or_its_sections_and_results_are_none() {
    assert!(is_one("X.ICF", "") && is_one("x.txt", NEW) && is_one("x", OLD));
    let results = "'Test Type,Test Description\r\n0,\r\n'Access specifications\r\n";
    assert!(!is_one("x.csv", results) && !is_one("x.toml", "name = \"x\"\n") && !is_one("\u{e9}icf", ""));
}

#[test]
fn the_columns_are_those_of_both_generations() {
    let run = record::sample::run(
        "any",
        vec![record::sample::point(
            0,
            "a, b",
            vec![record::sample::workload(
                "load",
                &[record::sample::Stream {
                    op: "read",
                    size_bytes: 4096,
                    per_s: 100,
                    median_ns: 40_000,
                    spread: 0.1,
                }],
            )],
        )],
    );
    for (generation, columns) in [(Generation::New, 80), (Generation::Old, 56)] {
        let text = text(&run, generation).unwrap();
        assert!(text.lines().count() > 10 && text.split("\r\n").all(|line| !line.contains('\n')));
        let rows: Vec<&str> =
            text.split("\r\n").filter(|line| line.starts_with(|c: char| c.is_ascii_uppercase())).collect();
        let kinds: Vec<&str> = rows.iter().map(|row| row.split(',').next().unwrap()).collect();
        assert_eq!(kinds, ["ALL", "MANAGER", "WORKER", "DISK"]);
        for row in text.split("\r\n").filter(|line| line.starts_with("'Target Type")).chain(rows) {
            assert_eq!(row.split(',').count(), columns, "{row}");
        }
        assert!(text.contains("\r\na- b,0\r\n") && text.ends_with("'End Test\r\n"), "{text}");
    }
}

proptest! {
    #[test]
    fn no_text_whatever_makes_the_reader_panic(text in "\\PC{0,400}|[ -~\n\r\t]{0,400}") {
        let _read = read("x.icf", &text, &JobEnvironment::NONE);
    }

    /// What is read at all is a plan that can be carried out, or one whose mistakes are named.
    #[test]
    fn a_file_with_changed_lines_is_read_or_refused(
        changes in proptest::collection::vec((0usize..110, 0usize..4, "[0-9]{1,3}|[a-zA-Z', =]{0,12}"), 1..6),
    ) {
        let mut lines: Vec<String> = NEW.lines().map(str::to_owned).collect();
        for (at, what, text) in changes {
            let at = at % lines.len().max(1);
            match what {
                0 if lines.len() > 1 => { lines.remove(at); }
                1 => lines.insert(at, text),
                2 => { let copied = lines[at].clone(); lines.insert(at, copied); }
                _ => lines[at] = format!("\t{text}"),
            }
        }
        let text = lines.join("\n");
        if let Ok(translated) = read("x.icf", &text, &JobEnvironment::NONE) {
            let plan = Plan::parse("x", &translated.plan, &Overrides::default());
            prop_assert!(plan.is_ok(), "{}\n{}", plan.unwrap_err().plain(), translated.plan);
        }
    }

    #[test]
    fn numbers_of_any_size_do_no_harm(numbers in proptest::collection::vec(any::<u64>(), 12)) {
        let n = |at: usize| numbers[at].to_string();
        let text = NEW
            .replace("8192,100,67,100,0,1,0,0", &format!("{},100,67,100,{},{},{},0", n(0), n(1), n(2), n(3)))
            .replace("1024,64,2", &format!("{},{},2", n(4), n(5)))
            .replace("0          1          30", &format!("{} {} {}", n(6), n(7), n(8)))
            .replace("16,ENABLED,500,ENABLED,12345", &format!("{},ENABLED,{},ENABLED,{}", n(9), n(10), n(11)));
        let _read = read("x.icf", &text, &JobEnvironment::NONE);
    }
}

#[test]
fn a_command_that_is_not_supported_says_what_comes_nearest() {
    let Refusal::Unsupported { tool, why, .. } = refused_dynamo(&["-i".into()]) else {
        panic!("not supported")
    };
    assert_eq!(tool, "dynamo");
    assert!(why.contains("fathom as iometer /c"));
}

fn parse(line: &str) -> Result<Command, Refusal> {
    Command::parse(&words(line))
}

#[test]
fn options_begin_with_either_character_and_may_be_capitals() {
    let command = parse("/C a.icf -r b.csv /t 10 --on array:md3000").unwrap();
    assert_eq!(command.config, "a.icf");
    assert_eq!(command.results, Destination::File("b.csv".into()));
    assert_eq!(command.targets, ["array:md3000"]);
    assert_eq!(command.notes.len(), 1);
}

#[test]
fn files_may_stand_without_options_and_begin_with_a_slash() {
    let command = parse("/tmp/a.icf /tmp/b.csv 20").unwrap();
    assert_eq!(
        (command.config.as_str(), command.results),
        ("/tmp/a.icf", Destination::File("/tmp/b.csv".into()))
    );
    assert_eq!(parse("").unwrap().config, "iometer.icf");
}

#[test]
fn what_is_no_option_is_refused_by_name() {
    let message = |line: &str| parse(line).unwrap_err().to_string();
    assert!(message("/z").contains("there is no option `/z`"), "{}", message("/z"));
    assert!(message("--result 1.1.0").contains("did you mean `--results`?"));
    assert!(message("/c").contains("`/c` needs a value"));
    assert!(message("/t soon").contains("does not take `soon`"));
    assert!(message("a.icf b.csv 10 11").contains("`11` is one argument too many"));
    assert!(message("/c a.icf b.icf").contains("given with `/c`"));
    assert!(message("--results 1.2").contains("56 columns"));
}
