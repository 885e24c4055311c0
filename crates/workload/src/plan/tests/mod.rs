//! Whole plans: what becomes of them, and what is said about bad ones.

mod mistakes;
mod properties;
mod texts;

pub(crate) mod arbitrary;

use units::{Bytes, Nanos, OpsPerSecond, Share};

use super::*;
use crate::spec::{Pace, Pattern};

fn read(text: &str) -> Plan {
    with(text, &[])
}

fn with(text: &str, set: &[&str]) -> Plan {
    let overrides = Overrides { set: set.iter().map(|set| (*set).to_string()).collect(), tags: Vec::new() };
    Plan::parse("t.toml", text, &overrides).unwrap_or_else(|errors| panic!("{}", errors.plain()))
}

fn names(plan: &Plan) -> Vec<&str> {
    plan.points().iter().map(|point| point.name.as_str()).collect()
}

#[test]
fn an_empty_phase_has_every_default() {
    let plan = read("[[phase]]\nrun = \"1s\"\n");
    let one = &plan.points()[0].workloads()[0];
    assert_eq!(plan.name, "t");
    assert_eq!((one.pattern.clone(), one.sizes.to_string().as_str()), (Pattern::Random, "4KiB"));
    assert_eq!((one.mix.reads, one.workers, one.depth, one.direct), (Share::ALL, 1, 1, true));
    assert!(!one.changes_data(), "nothing is written unless a plan says so");
    assert_eq!(one.stop.run, Some(Nanos::from_secs(1)));
}

#[test]
fn sweeps_nest_in_the_order_written_and_repeats_are_innermost() {
    let plan = read(
        "[[phase]]\nname = \"{size} x{depth}\"\nrun = \"1s\"\nrepeat = 2\n\
         size = { sweep = [\"4KiB\", \"8KiB\"] }\ndepth = { sweep = [1, 2] }\n",
    );
    let expected = ["4KiB x1", "4KiB x1", "4KiB x2", "4KiB x2", "8KiB x1", "8KiB x1", "8KiB x2", "8KiB x2"];
    assert_eq!(names(&plan), expected);
    let repeats: Vec<u32> = plan.points().iter().map(|point| point.repeat).collect();
    assert_eq!(repeats, [1, 2, 1, 2, 1, 2, 1, 2]);
    let groups: Vec<usize> = plan.points().iter().map(|point| point.group).collect();
    assert_eq!(groups, [0, 0, 0, 0, 1, 1, 1, 1]);
    assert_eq!(plan.phases[0].swept, ["size", "depth"]);
    assert_eq!(plan.points()[2].swept, [("size".into(), "4KiB".into()), ("depth".into(), "2".into())]);
}

/// A plan whose names say values, as the ready ones do.
const NAMED: &str = "[defaults]\nrun = \"1s\"\nreads = \"100%\"\n[[phase]]\nname = \"4 KiB random read\"\nsize = \"4KiB\"\n\
    [[phase]]\nname = \"64 KiB random read x{depth}\"\nsize = \"64KiB\"\ndepth = { sweep = [1, 8] }\n";

#[test]
fn a_name_has_behind_it_what_was_set_of_what_is_asked() {
    let named =
        |set: &[&str]| names(&with(NAMED, set)).iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let plain = ["4 KiB random read", "64 KiB random read x1", "64 KiB random read x8"];
    assert_eq!(named(&[]), plain);
    assert_eq!(named(&["reads=0%"]), plain.map(|name| format!("{name} [reads 0%]")));
    // The words of other tools are ours.
    assert_eq!(named(&["rwmixread=0"]), plain.map(|name| format!("{name} [reads 0%]")));
    let sizes = ["4 KiB random read", "64 KiB random read x1 [size 4k]", "64 KiB random read x8 [size 4k]"];
    assert_eq!(named(&["size=4k"]), sizes, "the first asks for what it did, under another spelling");
    let depths = ["4 KiB random read [depth 32]", "64 KiB random read x32"];
    assert_eq!(named(&["depth=32"]), depths, "a name that fills the key in says it");
    let of_one = named(&["phase.1.reads=50%", "phase.1.pattern=sequential"]);
    assert_eq!(of_one[0], "4 KiB random read [pattern sequential, reads 50%]");
    assert_eq!(of_one[1..], plain[1..]);
    let swept = named(&["reads={ sweep = [\"0%\", \"50%\"] }"]);
    assert_eq!(swept[..2], ["4 KiB random read reads=0%", "4 KiB random read reads=50%"], "as ever");
    // How long, where, and by which engine is in no name.
    assert_eq!(named(&["run=5s", "warmup=1s", "span=1GiB", "engine=pread", "seed=7"]), plain);
    assert_eq!(named(&["direct=false"])[0], "4 KiB random read [direct false]");
}

#[test]
fn a_point_answers_to_its_name_with_and_without_what_was_set() {
    let plan = with(NAMED, &["reads=0%"]);
    let point = &plan.points()[0];
    assert!(point.is_called("4 KiB random read [reads 0%]") && point.is_called("4 KiB random read"));
    assert!(!point.is_called("64 KiB random read x1"));
}

#[test]
fn what_is_set_for_one_of_several_workloads_is_said_of_it() {
    let text = "[[phase]]\nname = \"both\"\nrun = \"1s\"\n[[phase.workload]]\nname = \"log\"\n[[phase.workload]]\nname = \"db\"\n";
    assert_eq!(names(&with(text, &["phase.both.workload.log.depth=4"])), ["both [log.depth 4]"]);
    assert_eq!(names(&with(text, &["depth=4"])), ["both [depth 4]"], "once for both");
}

#[test]
fn a_sweep_that_one_value_replaces_is_said() {
    let text = "[[phase]]\nname = \"reads\"\nrun = \"1s\"\ndepth = { sweep = [1, 8] }\n";
    assert_eq!(names(&with(text, &["depth=1"])), ["reads [depth 1]"]);
}

#[test]
fn shuffled_points_are_passes_in_orders_of_their_own_and_issue_what_they_would_as_written() {
    let text = "[[phase]]\nname = \"x{depth}\"\nrun = \"1s\"\nrepeat = 2\ndepth = { sweep = [1, 2, 3, 4, 5, 6, 7, 8] }\n";
    let (plan, written) = (with(text, &["point_order=shuffled"]), read(text));
    let repeats: Vec<u32> = plan.points().iter().map(|point| point.repeat).collect();
    assert_eq!(repeats, [[1; 8], [2; 8]].concat(), "a pass for each repeat");
    let orders = names(&plan);
    assert!(orders[..8] != orders[8..] && orders[..8] != names(&written)[..8], "{orders:?}");
    for (position, point) in plan.points().iter().enumerate() {
        assert_eq!(point.index, position);
        let same = |other: &&Point| (&other.name, other.repeat) == (&point.name, point.repeat);
        let as_written = written.points().iter().find(same).expect("the same points");
        assert_eq!(point.task, as_written.task, "with the seed that it has as written");
    }
    assert_eq!(names(&with(text, &["point_order=shuffled", "seed=2"])).len(), 16);
    assert_ne!(names(&with(text, &["point_order=shuffled", "seed=2"])), orders, "the seed decides");
}

#[test]
fn a_sweep_that_ends_early_cannot_be_shuffled() {
    let text = "[[phase]]\nrun = \"1s\"\npoint_order = \"shuffled\"\ndepth = { sweep = [1, 2, 4, 8, 16] }\n\
                until = { flat = \"iops\" }\n";
    let said = Plan::parse("t", text, &Overrides::default()).unwrap_err().plain();
    assert!(said.contains("`point_order` shuffles them"), "{said}");
}

const IN_ROUNDS: &str = "[[phase]]\nname = \"{size}\"\nrun = \"1s\"\nsize = { sweep = [\"8KiB\", \"4KiB\"] }\n\
    rounds = { most = 6, steady = \"mean\", at = { size = \"4KiB\" } }\n";

#[test]
fn rounds_go_through_a_whole_phase_and_stand_among_the_swept_values() {
    let plan = read(IN_ROUNDS);
    assert_eq!(plan.points().len(), 12);
    assert_eq!(plan.phases[0].swept, ["round", "size"]);
    assert_eq!(names(&plan)[..3], ["8KiB round=1", "4KiB round=1", "8KiB round=2"]);
    assert_eq!(plan.points()[3].round, 2);
    let tracked = plan.phases[0].rounds.steady.clone().unwrap();
    assert_eq!((tracked.figure, tracked.to_string().as_str()), (Metric::Mean, "mean at size 4KiB"));
    assert!(tracked.is_at(&plan.points()[3].swept) && !tracked.is_at(&plan.points()[2].swept));
    assert!(plan.estimate().may_end_early);
    let text = plan.phases[0].rounds.to_string();
    assert_eq!(with(IN_ROUNDS, &[&format!("rounds={text}")]).phases[0].rounds, plan.phases[0].rounds);
    let plain = with(IN_ROUNDS, &["rounds=2"]);
    assert_eq!((plain.points().len(), plain.estimate().may_end_early), (4, false));
}

#[test]
fn rounds_that_say_too_little_are_refused() {
    let said = |rounds: &str| {
        let overrides = Overrides { set: vec![format!("rounds={rounds}")], tags: Vec::new() };
        Plan::parse("t.toml", IN_ROUNDS, &overrides).unwrap_err().plain()
    };
    assert!(said("{ most = 9, steady = 'iops' }").contains("does not say at which size"));
    assert!(
        said("{ most = 9, steady = 'iops', at = { size = '16KiB' } }")
            .contains("is not among the swept values")
    );
    assert!(said("{ most = 9, steady = 'iops', at = { depth = 4 } }").contains("`depth` is not swept"));
    assert!(said("{ most = 4, steady = 'iops', at = { size = '4KiB' } }").contains("five rounds"));
    assert!(said("{ at = { size = '4KiB' } }").contains("not which figure"));
    assert!(said("{ steady = 'speed' }").contains("`speed` is not a figure"));
    assert!(said("0").contains("1000"));
    assert!(said("'often'").contains("whole number"));
}

#[test]
fn work_that_goes_on_can_be_watched() {
    let plan = read("[[phase]]\nstate = \"watch scrub\"\nwait = false\n[[phase]]\nrun = \"1s\"\n");
    assert_eq!(plan.points()[0].task, Task::State(State::Watch(Watch { work: Work::Scrub, wait: false })));
    assert_eq!(plan.points()[0].name, "watch scrub");
    let wrong = Plan::parse("t", "[[phase]]\nstate = \"watch rebild\"\n", &Overrides::default()).unwrap_err();
    assert!(wrong.plain().contains("watch rebuild"), "{}", wrong.plain());
}

#[test]
fn what_is_swept_and_not_named_is_added_to_the_name() {
    let plan = read(
        "[[phase]]\nname = \"x{depth}\"\nrun = \"1s\"\ndepth = { sweep = [1] }\nreads = { sweep = [\"2/3\"] }",
    );
    assert_eq!(names(&plan), ["x1 reads=2/3"]);
}

#[test]
fn no_two_points_ask_for_the_same_addresses_unless_told_to() {
    let plan = read("seed = 7\n[[phase]]\nrun = \"1s\"\nrepeat = 3\n");
    let seeds = |plan: &Plan| plan.points().iter().map(|point| point.workloads()[0].seed).collect::<Vec<_>>();
    assert_eq!(seeds(&plan), [7, 8, 9]);
    assert_eq!(seeds(&with("[[phase]]\nrun = \"1s\"\nrepeat = 2\nseed = 5", &[])), [5, 5]);
    assert_eq!(seeds(&with("[[phase]]\nrun = \"1s\"\nrepeat = 2", &["seed=40"])), [40, 41]);
}

const TWO: &str = "[[phase]]\nname = \"both\"\nrun = \"10s\"\npace = \"rate(1000/s)\"\n\
    depth = { sweep = [4, 8] }\n\
    [[phase.workload]]\nname = \"oltp\"\nshare = \"60%\"\nreads = \"2/3\"\nheadline = \"p99\"\n\
    workers = { sweep = [1, 2] }\n\
    [[phase.workload]]\nname = \"log\"\nshare = \"40%\"\npattern = \"sequential\"\nreads = \"0%\"\n";

#[test]
fn workloads_of_a_phase_share_its_rate_and_its_sweeps() {
    let plan = read(TWO);
    assert_eq!(names(&plan)[1], "both depth=4 oltp.workers=2");
    assert_eq!(plan.points().len(), 4);
    let Task::Load(load) = &plan.points()[1].task else { panic!("a load") };
    let [oltp, log] = &load.workloads[..] else { panic!("two workloads") };
    assert_eq!(
        (oltp.pace, log.pace),
        (Pace::even(OpsPerSecond::new(600.0)), Pace::even(OpsPerSecond::new(400.0)))
    );
    assert_eq!((oltp.workers, log.workers, oltp.depth, log.depth), (2, 1, 4, 4));
    assert_eq!(load.headlines, [Metric::Percentile(Share::new(0.99).unwrap()), Metric::Iops]);
}

#[test]
fn the_command_line_changes_what_it_names() {
    let depths = |set: &[&str]| {
        let plan = with(TWO, set);
        plan.points().iter().map(|p| (p.workloads()[0].depth, p.workloads()[1].depth)).collect::<Vec<_>>()
    };
    assert_eq!(depths(&["depth=1"]), [(1, 1), (1, 1)]);
    assert_eq!(depths(&["phase.both.depth=1", "depth=3"]), [(1, 1), (1, 1)]);
    assert_eq!(depths(&["phase.1.workload.log.depth=9", "depth=3"]), [(3, 9), (3, 9)]);
    assert_eq!(depths(&["depth={ sweep = [5] }", "phase.both.workload.oltp.workers=1"]), [(5, 5)]);
    let plan = with(TWO, &["name=mine", "size=16KiB", "run=2s"]);
    assert_eq!(
        (plan.name.as_str(), plan.points()[0].workloads()[0].sizes.to_string().as_str()),
        ("mine", "16KiB")
    );
    let tags = Overrides { set: Vec::new(), tags: vec!["lab=3".into(), "site= a=b ".into()] };
    let plan = Plan::parse("t", &format!("tags = {{ lab = 1, who = \"me\" }}\n{TWO}"), &tags).unwrap();
    let expected =
        [("who", "me"), ("lab", "3"), ("site", "a=b")].map(|(k, v)| (k.to_string(), v.to_string()));
    assert_eq!(plan.tags, expected);
}

#[test]
fn a_replaced_sweep_keeps_its_place_in_the_order() {
    let text =
        "[[phase]]\nrun = \"1s\"\nsize = { sweep = [\"4KiB\", \"8KiB\"] }\ndepth = { sweep = [1, 2] }\n";
    let plan = with(text, &["size={ sweep = [\"16KiB\", \"32KiB\"] }"]);
    assert_eq!(plan.phases[0].swept, ["size", "depth"]);
}

#[test]
fn states_prepare_what_will_be_measured() {
    let plan = read(
        "[defaults]\nspan = \"10GiB\"\nrun = \"5s\"\n\
         [[phase]]\nstate = \"prepare\"\nfill = 2\ntrim = true\nread_ahead = \"4MiB\"\ncompress = \"2:1\"\n\
         [[phase]]\nstate = \"idle\"\nrun = \"60s\"\n\
         [[phase]]\nreads = \"50%\"\n\
         [[phase]]\nstate = \"fail disk 3\"\n\
         [[phase]]\nstate = \"rebuild\"\nrate = \"30%\"\nwait = false\n",
    );
    let states: Vec<_> = plan.points().iter().map(|point| &point.task).collect();
    let Task::State(State::Prepare(prepare)) = states[0] else { panic!("prepare") };
    assert_eq!((prepare.fill, prepare.trim, prepare.read_ahead), (2, true, Some(Bytes::MIB * 4)));
    assert_eq!(prepare.span, crate::spec::Span::Of(crate::spec::Extent::Bytes(Bytes::GIB * 10)));
    assert_eq!(states[1], &Task::State(State::Idle(Nanos::from_secs(60))));
    assert_eq!(states[3], &Task::State(State::FailDisk(3)));
    let rebuild = Background { work: Work::Rebuild, rate: Share::new(0.3), wait: false };
    assert_eq!(states[4], &Task::State(State::Background(rebuild)));
    assert_eq!(names(&plan), ["prepare", "idle", "phase 3", "fail disk 3", "rebuild"]);
    let estimate = plan.estimate();
    assert_eq!((estimate.time, estimate.untimed_points), (Nanos::from_secs(65), 1));
    assert_eq!(estimate.written.at_most, Bytes::GIB * 20);
    assert_eq!(estimate.written.unbounded, Nanos::from_secs(5));
}

#[test]
fn what_is_odd_but_possible_is_a_caution() {
    let text = "[[phase]]\nrun = \"1s\"\nuntil = { flat = \"iops\" }\nsize = \"1GiB\"\ndepth = { sweep = [8, 16] }\n";
    let plan = read(text);
    let cautions: Vec<String> = plan.cautions.iter().map(Mistake::plain).collect();
    assert_eq!(cautions.len(), 3, "{cautions:?}");
    assert!(cautions[0].contains("t.toml:3:9: `until` looks at 3 points after the first"), "{}", cautions[0]);
    assert!(
        cautions[1].contains("t.toml:5:20: 8 requests in flight need buffers of 8 GiB"),
        "{}",
        cautions[1]
    );
    // A plan that sweeps is still good when the command line takes the sweep away.
    let plan = ready::find("oltp").unwrap().plan(&Overrides { set: vec!["workers=8".into()], tags: vec![] });
    assert!(plan.unwrap().cautions[0].message().contains("sweeps nothing"));
}

#[test]
fn workloads_that_go_past_the_page_cache_and_through_it_in_one_file_are_warned_of() {
    let text = |files: &str, reads: &str| {
        format!(
            "[[phase]]\nrun = \"1s\"\nreads = \"{reads}\"\n{files}\n[[phase.workload]]\nname = \"a\"\ndirect = true\n\
             [[phase.workload]]\nname = \"b\"\ndirect = false\n"
        )
    };
    let told = |files: &str, reads: &str| -> Vec<String> {
        read(&text(files, reads)).cautions.iter().map(Mistake::plain).collect()
    };
    let mixed = told("", "50%");
    assert!(
        mixed[0].contains("t.toml:10:10") && mixed[0].contains("the kernel may fail such requests (EIO)"),
        "{mixed:?}"
    );
    assert!(told("", "100%").is_empty(), "reads alone throw nothing out of the page cache");
    assert!(told("files = \"per_worker(1)\"", "50%").is_empty());
}

#[test]
fn cautions_are_told_once_for_each_place() {
    let text =
        "[[phase]]\nrun = \"1s\"\nsize = \"1GiB\"\ndepth = { sweep = { from = 8, to = 80, step = 8 } }\n";
    assert_eq!(read(text).cautions.len(), 1);
}

#[test]
fn a_phase_can_be_renamed_from_the_command_line() {
    let plan = with(
        "[[phase]]\nname = \"a\"\nrun = \"1s\"\n[[phase]]\nstate = \"prepare\"",
        &["phase.a.name=b{depth}", "phase.2.name=filled", "fill=3"],
    );
    assert_eq!((names(&plan), plan.phases[0].name.as_str()), (vec!["b1", "filled"], "b{depth}"));
    let Task::State(State::Prepare(prepare)) = &plan.points()[1].task else { panic!("a state") };
    assert_eq!(prepare.fill, 3);
}

#[test]
fn a_mix_is_read_and_what_its_lines_do_not_say_holds_from_the_workload() {
    let plan = read(
        "[[phase]]\nrun = \"1s\"\nreads = \"80%\"\nrandom = \"90%\"\nmix = [\n\
         { share = 60, size = \"4KiB\" },\n{ share = \"30%\", size = { \"8KiB\" = 1, \"16KiB\" = 2 } },\n\
         { share = 10, reads = \"0%\", random = \"0%\", delay = \"5ms\", burst = 1 },\n]\n",
    );
    let one = &plan.points()[0].workloads()[0];
    assert_eq!(one.lines.len(), 3);
    assert_eq!((one.lines[0].mix.reads, one.lines[0].random), (Share::new(0.8).unwrap(), Share::new(0.9)));
    assert_eq!((one.lines[2].burst, one.lines[2].delay), (1, Nanos::from_millis(5)));
    assert_eq!(one.sizes.to_string(), "{ \"4KiB\" = 70, \"8KiB\" = 10, \"16KiB\" = 20 }");
    assert!((one.mix.reads.get() - 0.72).abs() < 1e-12);
    let again = from_texts("load", one.texts().iter().map(|(key, text)| (*key, text.as_str()))).unwrap();
    assert_eq!(&again, one);
}

#[test]
fn a_mix_can_be_swept_and_set() {
    let text = "[[phase]]\nrun = \"1s\"\nmix = { sweep = [[{ share = 1, size = \"4KiB\" }], [{ share = 1, size = \"8KiB\" }]] }\n";
    let sizes: Vec<String> =
        read(text).points().iter().map(|point| point.workloads()[0].sizes.to_string()).collect();
    assert_eq!(sizes, ["4KiB", "8KiB"]);
    let plan = with("[[phase]]\nrun = \"1s\"\n", &["mix=[{ share = 1, size = \"2MiB\" }]"]);
    assert_eq!(plan.points()[0].workloads()[0].sizes.largest(), Bytes::MIB * 2);
}

#[test]
fn a_bad_mix_is_told_where_and_why() {
    let help = |mix: &str| {
        let text = format!("[[phase]]\nrun = \"1s\"\nmix = {mix}\n");
        Plan::parse("t.toml", &text, &Overrides::default()).unwrap_err().plain()
    };
    for (mix, expected) in [
        ("[]", "an empty mix issues no requests"),
        ("\"4KiB\"", "a list of tables"),
        ("[{ size = \"4KiB\" }]", "has no `share`"),
        ("[{ share = 0 }]", "is not a weight"),
        ("[{ share = 1, seize = \"4KiB\" }]", "did you mean `size`"),
        ("[{ share = 1, reads = \"80%\", trims = \"30%\" }]", "are 110% of the requests"),
        ("[{ share = 1, align = \"3KiB\" }, { share = 1, align = \"4KiB\" }]", "3KiB does not divide 4KiB"),
        ("[{ share = 1, size = \"1000B\" }]", "not a multiple of 512B"),
        ("[{ share = 1, burst = 0 }]", "outside 1 to"),
    ] {
        assert!(help(mix).contains(expected), "{mix}: {}", help(mix));
    }
    let text = "[[phase]]\nrun = \"1s\"\npace = \"rate(9/s)\"\nmix = [{ share = 1, delay = \"1ms\" }]\n";
    let error = Plan::parse("t.toml", text, &Overrides::default()).unwrap_err().plain();
    assert!(error.contains("t.toml:3:8: lines that wait"), "{error}");
    let text = "[[phase]]\nrun = \"1s\"\npattern = \"reverse\"\nrandom = \"5%\"\n";
    let error = Plan::parse("t.toml", text, &Overrides::default()).unwrap_err().plain();
    assert!(error.contains("t.toml:4:10: `reverse` has no share that continues"), "{error}");
}

#[test]
fn nothing_follows_a_flush_at_the_end() {
    let text = "[[phase]]\nrun = \"1s\"\ncooldown = \"1s\"\nflush_at_end = true\n";
    let error = Plan::parse("t.toml", text, &Overrides::default()).unwrap_err().plain();
    assert!(error.contains("t.toml:3:12: a flush at the end is measured"), "{error}");
}

#[test]
fn what_rewrites_says_that_it_changes_data() {
    let summary = read("[[phase]]\nrun = \"1s\"\nrewrites = \"10%\"\n").summary().to_string();
    assert!(
        summary.contains("10 % of the reads rewritten") && summary.contains("writes to the target"),
        "{summary}"
    );
}

#[test]
fn a_cap_is_a_rate_in_requests_or_bytes() {
    let pace = |text: &str| text.parse::<Pace>();
    assert_eq!(pace("cap(1k/s)"), Ok(Pace::Cap(OpsPerSecond::new(1000.0))));
    assert_eq!(pace("cap(100MB/s)").unwrap().to_string(), "cap(100000000B/s)");
    assert!(pace("cap(0/s)").unwrap_err().to_string().contains("not a rate that can be issued"));
    assert!(pace("cap(0B/s)").unwrap_err().to_string().contains("allows no requests"));
    assert!(pace("think(5ms, 0)").unwrap_err().to_string().contains("think(5ms, 8)"));
}

#[test]
fn what_contradicts_a_pattern_or_the_offsets_of_workers_is_told() {
    let error = |lines: &str| {
        let text = format!("[[phase]]\nrun = \"1s\"\n{lines}\n");
        Plan::parse("t.toml", &text, &Overrides::default()).unwrap_err().plain()
    };
    for (lines, expected) in [
        ("worker_offset = \"1000B\"", "t.toml:3:17: steps of 1000B leave the alignment of 512B"),
        (
            "worker_offset = \"1MiB\"\nfiles = \"workers_per_file(2)\"",
            "t.toml:3:17: workers that share a file",
        ),
        ("worker_offset = \"0B\"", "0 bytes would issue no requests"),
        (
            "pattern = \"sequential(interlocked)\"\nsize = { \"4KiB\" = 1, \"8KiB\" = 1 }",
            "t.toml:4:8: an interlocked stream has one block size",
        ),
        (
            "pattern = \"sequential(interlocked)\"\nrandom = \"5%\"",
            "t.toml:4:10: `sequential(interlocked)` has no share",
        ),
        ("pattern = \"pareto(2)\"", "is not a parameter of pareto"),
        ("pattern = \"hot(50% in 0B)\"", "holds nothing"),
    ] {
        assert!(error(lines).contains(expected), "{lines}: {}", error(lines));
    }
    let zones = "hot(50% in 1GiB, 25% in 2GiB)";
    assert_eq!(zones.parse::<Pattern>().unwrap().to_string(), zones);
}
