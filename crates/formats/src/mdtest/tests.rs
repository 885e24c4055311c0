//! mdtest's options, the phases that they come to, and what is printed.

use proptest::prelude::*;

use super::*;
use crate::Refusal;
use crate::testing::{plan, refused, words};

fn read(line: &str) -> Result<Command, Refusal> {
    Command::parse(&words(line), None)
}

fn phases(line: &str) -> Vec<String> {
    let plan = plan(&read(line).unwrap().translate());
    plan.points().iter().map(|point| point.name.clone()).collect()
}

#[test]
fn phases_follow_each_other_as_in_mdtest() {
    assert_eq!(
        phases("-n 100 -d /d"),
        [
            "Directory creation 0",
            "Directory stat 0",
            "Directory rename 0",
            "Directory removal 0",
            "File creation 0",
            "File stat 0",
            "File read 0",
            "File removal 0"
        ]
    );
    assert_eq!(
        phases("-I 10 -z 2 -b 3 -F -C -r -i 2"),
        [
            "Tree creation 0",
            "File creation 0",
            "File removal 0",
            "Tree removal 0",
            "Tree creation 1",
            "File creation 1",
            "File removal 1",
            "Tree removal 1"
        ]
    );
    assert_eq!(
        phases("-n 5 -D -p 1"),
        ["delay 0", "Directory creation 0", "Directory stat 0", "Directory rename 0", "Directory removal 0"]
    );
    assert_eq!(phases("-n 1 -D -C -U"), ["Directory creation 0"], "one directory has nowhere to go");
    assert_eq!(phases("-n 5 -D -C -p 1 -i 3").len(), 6, "a delay before each repetition");
    assert_eq!(Test::phase("File stat 3"), Some((Test::FileStat, 3)));
}

#[test]
fn items_of_a_directory_are_multiplied_by_the_directories_that_hold_some() {
    let items = |line: &str| read(line).unwrap().items;
    assert_eq!(items("-I 10 -z 2 -b 3 -F"), 10 * (1 + 3 + 9));
    assert_eq!(items("-I 10 -z 2 -b 3 -F -L"), 10 * 9);
    assert_eq!(items("-n 100 -z 2 -b 3 -F"), 91, "as many in each directory");
    assert_eq!(items("-n 100"), 100);
}

#[test]
fn what_a_file_holds_is_written_and_read() {
    let of = |line: &str| plan(&read(line).unwrap().translate());
    let plan = of("-n 10 -F -w 3901 -e 3901 -u --tasks 2 -R -y");
    let tree = |at: usize| plan.points()[at].workloads()[0].tree.clone().unwrap();
    let ops: Vec<&str> = (0..4).map(|at| tree(at).op.name()).collect();
    assert_eq!(ops, ["create", "stat", "read", "delete"]);
    assert_eq!(tree(0).count, 20);
    assert!(tree(0).unique_dirs);
    let empty = of("-n 10 -F -E");
    assert_eq!(empty.points()[0].workloads()[0].tree.as_ref().unwrap().op.name(), "open");
}

#[test]
fn tasks_visit_what_others_made_where_options_say_so() {
    let visited = |line: &str| {
        let plan = plan(&read(line).unwrap().translate());
        let tree = |point: &workload::plan::Point| {
            let tree = point.workloads()[0].tree.clone().unwrap();
            format!("{} {} {}", tree.op, tree.visitors, tree.count)
        };
        plan.points().iter().map(tree).collect::<Vec<_>>()
    };
    assert_eq!(
        visited("-n 10 -F -N 1 --tasks 4"),
        ["create own 40", "stat shifted(1) 40", "open shifted(2) 40", "delete shifted(3) 40"]
    );
    assert_eq!(visited("-n 10 -N 2 --tasks 4 -T"), ["statdir shifted(2) 4", "stat shifted(2) 40"]);
    assert_eq!(
        visited("-n 10 -S --tasks 4"),
        ["create all 10", "stat all 10", "open all 10", "delete first 10"],
        "files are there once"
    );
    assert_eq!(
        visited("-n 10 -c --tasks 4 -C -r"),
        ["mkdir first 4", "rmdir first 4", "mknod first 40", "write own 40", "delete first 40"]
    );
    assert_eq!(visited("-n 10 -F -k -C"), ["mknod own 10"]);
}

#[test]
fn tests_of_several_numbers_of_tasks_follow_each_other() {
    let line = "-n 10 -F -C --tasks 6 -f 2 -l 6 -s 2";
    assert_eq!(read(line).unwrap().courses, [2, 4, 6]);
    let named = phases(line);
    assert_eq!(named, ["File creation, 2 tasks 0", "File creation, 4 tasks 0", "File creation, 6 tasks 0"]);
    assert_eq!(Test::phase(&named[1]), Some((Test::FileCreation, 0)));
    assert_eq!((Test::tasks(&named[1]), Test::tasks("File creation 0")), (Some(4), None));
    assert_eq!(read("-n 1 --tasks 3 -f 2").unwrap().courses, [3], "without a last one all");
}

#[test]
fn content_is_compared_locked_and_moved_past_the_page_cache() {
    let of = |line: &str| {
        let plan = plan(&read(line).unwrap().translate());
        let workload = |point: &workload::plan::Point| {
            let workload = &point.workloads()[0];
            (
                workload.verify.to_string(),
                workload.engine.kind.to_string(),
                workload.tree.as_ref().unwrap().direct,
            )
        };
        plan.points().iter().map(workload).collect::<Vec<_>>()
    };
    let line = "-n 2 -F -w 4k -e 4k -C -E -X --posix.odirect --posix.rangelocks";
    assert!(
        of(line).iter().all(|found| *found == ("written".into(), "locked".into(), true)),
        "{:?}",
        of(line)
    );
    assert_eq!(of("-n 2 -F -w 4k -C --verify-write")[0].0, "all");
    let command = read("-n 100 -z 2 -b 2 -F -T -x status").unwrap();
    assert_eq!(command.clone().with_items(30).unwrap().items, 28, "as many in each directory");
    assert!(command.with_items(6).is_err());
}

#[test]
fn what_cannot_be_done_is_refused_by_name() {
    refused(
        read,
        &[
            ("-d /d", "-n"),
            ("-n 4 -I 4", "not by both"),
            ("-n 4 -z 2 -b 2 -F", "7 directories"),
            ("-n 100 -z 1 -b 2", "-F"),
            ("-n 1 -d a@b", "@"),
            ("-n 1 -S -c", "`-c` and `-S`"),
            ("-n 1 -S -u", "`-u` and `-S`"),
            ("-n 1 -k -w 1", "-k"),
            ("-n 1 -k -c", "leave one out"),
            ("-n 1 -X -T", "-E"),
            ("-n 1 -X", "-e"),
            ("-n 1 -B 1", "barriers"),
            ("-n 1 -w 700 --posix.odirect", "512"),
            ("-n 1 --tasks 2 -l 4", "2 tasks at most"),
            ("-n 1 --tasks 4 -f 3 -l 2", "3 to 2"),
            ("-n 1 -W 3 -S", "-S"),
            ("-n 1 -g", "Lustre"),
            ("-n 1 -e 5 -w 1", "-e"),
            ("-n 1 -q", "no option"),
            ("-I 1000000000 -z 20 -b 1000000 -F", "too large"),
        ],
    );
}

#[test]
fn lines_have_the_width_of_mdtest() {
    let mut run = record::sample::run("p", Vec::new());
    assert!((TEXT.write)(&run).unwrap_err().to_string().contains("fathom run mdtest"));
    let stream =
        record::sample::Stream { op: "read", size_bytes: 0, per_s: 100, median_ns: 1000, spread: 0.0 };
    let mut workload = record::sample::workload("a", &[stream]);
    workload.classes[0].op = record::Op::Stat;
    let plan = plan(&read("-n 10 -F -T").unwrap().translate());
    workload.spec = plan.points()[0].workloads()[0].clone();
    run.points = vec![record::sample::point(0, "File stat 0", vec![workload])];
    let text = (TEXT.write)(&run).unwrap();
    let line = text.lines().find(|line| line.starts_with("   File stat")).unwrap();
    assert_eq!(line, "   File stat                     100.000        100.000        100.000          0.000");
    assert!(text.starts_with(
        "-- started at 01/02/2026 03:04:05 --\n\nmdtest-4.1.0 was launched with 1 total task(s)"
    ));
}

proptest! {
    #[test]
    fn no_words_make_it_panic(words in proptest::collection::vec("-?[ -~]{0,8}", 0..6)) {
        if let Ok(command) = Command::parse(&words, None) {
            let _plan = command.translate();
        }
    }
}
