//! What is said about bad plans: the place, what is wrong, what would be right.

use super::super::*;

/// Everything that is said about `text` with these `--set` arguments.
fn said(text: &str, set: &[&str]) -> String {
    let overrides = Overrides { set: set.iter().map(|set| (*set).to_string()).collect(), tags: Vec::new() };
    match Plan::parse("t.toml", text, &overrides) {
        Ok(plan) => panic!("no mistake in {text:?}: {:?}", plan.points().len()),
        Err(errors) => errors.plain(),
    }
}

/// A bad plan; where the mistake is; parts of what must be said.
type Case = (&'static str, &'static str, &'static [&'static str]);

fn check(cases: &[Case]) {
    for (text, place, parts) in cases {
        let said = said(text, &[]);
        for part in [place].into_iter().chain(*parts) {
            assert!(said.contains(part), "expected `{part}` about\n{text}\nbut was told\n{said}");
        }
    }
}

#[test]
fn a_plan_of_trees_alone_has_nothing_to_prepare() {
    let tree = "[[phase]]\ntree = \"create\"\ncount = 5\n";
    let prepare = "[[phase]]\nstate = \"prepare\"\n";
    let told = said(&format!("{tree}{prepare}"), &[]);
    assert!(told.contains("t.toml:4:") && told.contains("work on trees of files alone"), "{told}");
    let blocks = format!("{tree}{prepare}[[phase]]\nrun = \"1s\"\n");
    assert!(Plan::parse("t.toml", &blocks, &Overrides::default()).is_ok());
}

const SYNTAX: &[Case] = &[
    ("[[phase]]\nsize = 8KiB\n", "t.toml:2:8", &["`8KiB` is a text and needs quotes", "\"8KiB\""]),
    ("[[phase]]\nsize = \"8KiB\nrun = \"1s\"\n", "t.toml:2:13", &["not TOML", "the quote it began with"]),
    ("[[phase]]\ndepth = 1\ndepth = 2\n", "t.toml:3:1", &["`depth` is a duplicate key", "{ sweep = [...] }"]),
    ("[[phase]]\nrun = \"1s\"\n[phase]\n", "t.toml:3:2", &["[[phase]]"]),
    ("[phase]\nrun = \"1s\"\n", "t.toml:1:2", &["[[phase]] with two brackets"]),
    ("[[phase]\nrun = \"1s\"\n", "t.toml:1:9", &["not TOML"]),
    ("phase = 3\n", "t.toml:1:1", &["[[phase]]"]),
    ("phase = [3]\n", "t.toml:1:10", &["a table"]),
    ("size\n", "t.toml:1:5", &["not TOML", "`=`"]),
    ("\u{0}\n", "t.toml:1:1", &["not TOML"]),
    ("defaults = 3\n[[phase]]\nrun = \"1s\"", "t.toml:1:12", &["a table"]),
    ("tags = 3\n[[phase]]\nrun = \"1s\"", "t.toml:1:8", &["a table"]),
    ("tags = { a = [1] }\n[[phase]]\nrun = \"1s\"", "t.toml:1:14", &["a single value"]),
];

const KEYS: &[Case] = &[
    ("nmae = \"x\"\n[[phase]]\nrun = \"1s\"", "t.toml:1:1", &["not a key of a plan", "did you mean `name`?"]),
    (
        "[[phase]]\nwrokers = 4\nrun = \"1s\"",
        "t.toml:2:1",
        &["not a key of a phase", "did you mean `workers`?"],
    ),
    ("[[phase]]\nqueue_depth = 4\nrun = \"1s\"", "t.toml:2:1", &["write `depth`"]),
    ("[[phase]]\nrwmixwrite = 70\nrun = \"1s\"", "t.toml:2:1", &["write `reads`"]),
    ("[[phase]]\nfilename = \"/dev/sda\"\nrun = \"1s\"", "t.toml:2:1", &["--on"]),
    ("depth = 4\n[[phase]]\nrun = \"1s\"", "t.toml:1:1", &["does not belong", "in a phase or in a workload"]),
    (
        "[defaults]\nname = \"x\"\n[[phase]]\nrun = \"1s\"",
        "t.toml:2:1",
        &["does not belong in [defaults]", "at the top of the file, or in a [[phase]]"],
    ),
    ("[[phase]]\nrun = \"1s\"\nshare = \"50%\"", "t.toml:3:1", &["[[phase.workload]]"]),
    (
        "[[phase]]\nrun = \"1s\"\n[[phase.workload]]\ncooldown = \"1s\"",
        "t.toml:4:1",
        &["belongs to the phase: all its workloads run together"],
    ),
    ("[[phase]]\nrun = \"1s\"\nfill = 2", "t.toml:3:1", &["a phase with a `state`"]),
    (
        "[[phase]]\nrun = \"1s\"\nuntil = { flat = \"iops\", witin = \"3%\" }",
        "t.toml:3:26",
        &["did you mean `within`?"],
    ),
    (
        "[[phase]]\nrun = \"1s\"\nuntil = { slo = \"p99\" }",
        "t.toml:3:17",
        &["neither `<` nor `>`", "p99<5ms"],
    ),
    ("[[phase]]\nrun = \"1s\"\nuntil = { }", "t.toml:3:9", &["has no rule"]),
    ("[[phase]]\nrun = \"1s\"\nuntil = { within = \"3%\" }", "t.toml:3:9", &["`flat` is missing"]),
    ("[[phase]]\nrun = \"1s\"\nqwertz = 1", "t.toml:3:1", &["not a key", "lists all keys"]),
    ("[[phase]]\nrun = \"1s\"\ntags = { a = 1 }", "t.toml:3:1", &["at the top of the file"]),
];

const VALUES: &[Case] = &[
    ("[[phase]]\nrun = 30", "t.toml:2:7", &["no unit", "30s"]),
    ("[[phase]]\nrun = \"30\"", "t.toml:2:7", &["no unit", "30s"]),
    ("[[phase]]\nrun = \"30 parsecs\"", "t.toml:2:7", &["not a unit"]),
    ("[[phase]]\nrun = true", "t.toml:2:7", &["`true`", "duration"]),
    ("[[phase]]\nrun = \"1s\"\nsize = 4096", "t.toml:3:8", &["no unit", "4096B"]),
    ("[[phase]]\nrun = \"1s\"\nsize = \"4kb\"", "t.toml:3:8", &["`kb`", "KiB"]),
    ("[[phase]]\nrun = \"1s\"\nsize = [\"4KiB\", \"8KiB\"]", "t.toml:3:8", &["a list", "sweep"]),
    (
        "[[phase]]\nrun = \"1s\"\nsize = { \"4KiB\" = 60, \"64KB\" = 0 }",
        "t.toml:3:32",
        &["`0` is not a weight"],
    ),
    ("[[phase]]\nrun = \"1s\"\nsize = { small = 60 }", "t.toml:3:10", &["`small` is not a size"]),
    ("[[phase]]\nrun = \"1s\"\nreads = 70", "t.toml:3:9", &["outside 0 to 1", "70%"]),
    ("[[phase]]\nrun = \"1s\"\nreads = \"110%\"", "t.toml:3:9", &["outside 0 to 1"]),
    ("[[phase]]\nrun = \"1s\"\ndepth = 0", "t.toml:3:9", &["`0` is outside 1 to 65536"]),
    ("[[phase]]\nrun = \"1s\"\nworkers = 0", "t.toml:3:11", &["`0` is outside 1 to 65536"]),
    ("[[phase]]\nrun = \"1s\"\nworkers = -4", "t.toml:3:11", &["`-4` is outside"]),
    (
        "[[phase]]\nrun = \"1s\"\nworkers = 99999999999999999999999999",
        "t.toml:3:11",
        &["is outside 1 to 65536"],
    ),
    ("[[phase]]\nrun = \"1s\"\nworkers = 2.5", "t.toml:3:11", &["expected a whole number"]),
    ("[[phase]]\nrun = \"1s\"\nworkers = \"4\"", "t.toml:3:11", &["the text \"4\"", "a whole number"]),
    ("[[phase]]\nrun = \"1s\"\ndirect = \"yes\"", "t.toml:3:10", &["true or false"]),
    ("[[phase]]\nrun = \"1s\"\npattern = \"randm\"", "t.toml:3:11", &["did you mean `random`?"]),
    (
        "[[phase]]\nrun = \"1s\"\npattern = \"zipf(0)\"",
        "t.toml:3:11",
        &["the same as uniform", "random(repeats)"],
    ),
    ("[[phase]]\nrun = \"1s\"\npattern = \"fractal\"", "t.toml:3:11", &["not a pattern", "sequential"]),
    ("[[phase]]\nrun = \"1s\"\npace = \"rate(500)\"", "t.toml:3:8", &["no unit", "500/s"]),
    ("[[phase]]\nrun = \"1s\"\npace = \"rate(0/s)\"", "t.toml:3:8", &["more than 0/s"]),
    ("[[phase]]\nrun = \"1s\"\npace = \"rate(5/s, random)\"", "t.toml:3:8", &["even, poisson"]),
    ("[[phase]]\nrun = \"1s\"\nengine = \"libaio\"", "t.toml:3:10", &["not an engine", "io_uring"]),
    ("[[phase]]\nrun = \"1s\"\ncompress = \"0.5:1\"", "t.toml:3:12", &["1:1 to 1000:1"]),
    ("[[phase]]\nrun = \"1s\"\ncpus = \"3-0\"", "t.toml:3:8", &["0-3,8"]),
    ("[[phase]]\nrun = \"1s\"\nspan = \"0B\"", "t.toml:3:8", &["a span of 0 bytes"]),
    ("[[phase]]\nrun = \"1s\"\nspan = 2026-01-01", "t.toml:3:8", &["2026-01-01"]),
    ("[[phase]]\nrun = \"1s\"\nheadline = \"p100\"", "t.toml:3:12", &["not a figure", "p99.9"]),
    ("[[phase]]\nrun = \"1s\"\nrepeat = 0", "t.toml:3:10", &["outside 1 to 1000"]),
    ("seed = -1\n[[phase]]\nrun = \"1s\"", "t.toml:1:8", &["outside 0 to 2^64-1"]),
    ("[[phase]]\nrun = \"1s\"\nname = \" \"", "t.toml:3:8", &["at least one letter"]),
    ("[[phase]]\nrun = \"1s\"\nname = \"a\\nb\"", "t.toml:3:8", &["is one line"]),
    ("name = 5\n[[phase]]\nrun = \"1s\"", "t.toml:1:8", &["expected a text"]),
];

const SWEEPS: &[Case] = &[
    ("[[phase]]\nrun = \"1s\"\ndepth = { sweep = [] }", "t.toml:3:19", &["over nothing"]),
    ("[[phase]]\nrun = \"1s\"\ndepth = { sweep = [1, 0, 4] }", "t.toml:3:23", &["`0` is outside"]),
    ("[[phase]]\nrun = \"1s\"\ndepth = { sweep = [1, 1] }", "t.toml:3:23", &["is twice", "repeat = 3"]),
    (
        "[[phase]]\nrun = \"1s\"\ndepth = { swep = [1, 1] }",
        "t.toml:3:9",
        &["is a table", "{ sweep = [...] }"],
    ),
    ("[[phase]]\nrun = \"1s\"\ndepth = [1, 2]", "t.toml:3:9", &["a list", "{ sweep = [1, 2] }"]),
    ("[[phase]]\nrun = \"1s\"\nrepeat = { sweep = [1, 2] }", "t.toml:3:10", &["cannot be swept"]),
    (
        "[[phase]]\nrun = \"1s\"\ndepth = { sweep = { from = 1, to = 200, step = 1 } }\n\
         workers = { sweep = { from = 1, to = 200, step = 1 } }",
        "t.toml:4:11",
        &["40000 points", "at most 10000"],
    ),
    (
        "[[phase]]\nrun = \"1s\"\nrepeat = 1000\ndepth = { sweep = { from = 1, to = 10, step = 1 } }\n\
         [[phase.workload]]\n[[phase.workload]]\n[[phase.workload]]\n[[phase.workload]]\n[[phase.workload]]\n\
         [[phase.workload]]\n",
        "t.toml:4:9",
        &["60000 workloads, and at most 50000"],
    ),
    (
        "[[phase]]\nrun = \"1s\"\npattern = { sweep = { from = \"random\", to = \"reverse\", step = 1 } }",
        "t.toml:3:21",
        &["no range between such values", "list the values"],
    ),
];

const TOGETHER: &[Case] = &[
    ("[[phase]]\nname = \"a\"\n", "t.toml:1:1", &["no stop condition", "run = \"30s\""]),
    ("[[phase]]\nrun = \"0s\"\n", "t.toml:2:7", &["measures nothing"]),
    ("[[phase]]\nrun = \"1s\"\nreads = \"80%\"\ntrims = \"30%\"", "t.toml:3:9", &["110%", "at most 100%"]),
    ("[[phase]]\nrun = \"1s\"\nsize = \"1000B\"", "t.toml:3:8", &["multiple of 512B", "1KiB"]),
    ("[[phase]]\nrun = \"1s\"\nalign = \"100B\"", "t.toml:3:9", &["multiple of 512B"]),
    ("[[phase]]\nrun = \"1s\"\noffset = \"100B\"", "t.toml:3:10", &["multiple of 512B"]),
    (
        "[[phase]]\nrun = \"1s\"\npattern = \"sequential\"\nsize = \"4KiB\"\nalign = \"8KiB\"",
        "t.toml:5:9",
        &["would have gaps"],
    ),
    (
        "[[phase]]\nrun = \"1s\"\nsize = \"8KiB\"\npattern = \"stride(4KiB)\"",
        "t.toml:4:11",
        &["stride(8KiB)"],
    ),
    (
        "[[phase]]\nrun = \"1s\"\nsize = \"24KiB\"\nluns = \"striped(64KiB)\"",
        "t.toml:4:8",
        &["not a multiple of 24KiB"],
    ),
    ("[[phase]]\nrun = \"1s\"\nspan = \"2KiB\"", "t.toml:3:8", &["no room for a request of 4KiB"]),
    (
        "[[phase]]\nrun = \"1s\"\nspan = \"16KiB\"\nworkers = 8\npattern = \"sequential\"",
        "t.toml:3:8",
        &["each of 8 workers", "at least 32KiB"],
    ),
    ("[[phase]]\nrun = \"1s\"\noffset = \"60%\"\nspan = \"60%\"", "t.toml:4:8", &["more than the target"]),
    ("[[phase]]\nrun = \"1s\"\nengine = \"mmap\"", "t.toml:3:10", &["page cache", "direct = false"]),
    ("[[phase]]\nrun = \"1s\"\nengine = \"pread\"\nsqpoll = true", "t.toml:4:10", &["no sqpoll", "io_uring"]),
    (
        "[[phase]]\nrun = \"1s\"\nengine = \"sg\"\ndirect = false",
        "t.toml:4:10",
        &["page cache", "direct = true"],
    ),
    ("[[phase]]\nrun = \"1s\"\nengine = \"sg\"\nsync = \"dsync\"", "t.toml:4:8", &["write_fua = true"]),
    ("[[phase]]\nrun = \"1s\"\nengine = \"sg\"\nflush = \"sync_file_range\"", "t.toml:4:9", &["fsync"]),
    ("[[phase]]\nrun = \"1s\"\nengine = \"sg\"\nwrite_hint = \"long\"", "t.toml:4:14", &["carry none"]),
    ("[[phase]]\nrun = \"1s\"\nengine = \"sg\"\nnowait = true", "t.toml:4:10", &["passes no flags"]),
    (
        "[[phase]]\nrun = \"1s\"\nengine = \"nvme\"\nwrite_command = \"write_same\"",
        "t.toml:4:17",
        &["no command `write_same`"],
    ),
    (
        "[[phase]]\nrun = \"1s\"\nengine = \"sg\"\nwrite_command = \"write_uncorrectable\"",
        "t.toml:4:17",
        &["no command `write_uncorrectable`"],
    ),
    ("[[phase]]\nrun = \"1s\"\nread_fua = true", "t.toml:3:12", &["no commands", "engine = \"sg\""]),
    (
        "[[phase]]\nrun = \"1s\"\nreads = \"0%\"\nengine = \"sg\"\nwrite_command = \"compare\"\nverify = \"written\"",
        "t.toml:6:10",
        &["does not hold the data"],
    ),
    (
        "[[phase]]\nrun = \"1s\"\nengine = \"sg\"\nwrite_command = \"verify\"\nwrite_fua = true",
        "t.toml:5:13",
        &["plain writes"],
    ),
    ("[[phase]]\nrun = \"1s\"\niopoll = true\ndirect = false", "t.toml:3:10", &["direct = true"]),
    ("[[phase]]\nrun = \"1s\"\npolled = \"1%\"", "t.toml:3:10", &["single requests", "preadv2"]),
    (
        "[[phase]]\nrun = \"1s\"\ncontent = \"zeros\"\ncompress = \"2:1\"",
        "t.toml:4:12",
        &["zeros have no ratio"],
    ),
    ("[[phase]]\nrun = \"1s\"\nname = \"x{wrokers}\"", "t.toml:3:8", &["fills in `wrokers`", "`workers`"]),
    ("[[phase]]\nrun = \"1s\"\nname = \"x{workers\"", "t.toml:3:8", &["without its partner"]),
];

const STRUCTURE: &[Case] = &[
    ("", "t.toml:1:1", &["no phase", "[[phase]]"]),
    ("name = \"x\"\n", "t.toml:1:1", &["no phase"]),
    ("phase = []\n", "t.toml:1:1", &["no phase"]),
    (
        "[[phase]]\nname = \"a\"\nrun = \"1s\"\n[[phase]]\nname = \"a\"\nrun = \"1s\"",
        "t.toml:5:8",
        &["\"a\" is already in line 2"],
    ),
    (
        "[[phase]]\nrun = \"1s\"\n[[phase.workload]]\nname = \"a\"\n[[phase.workload]]\nname = \"a\"",
        "t.toml:6:8",
        &["a workload called \"a\""],
    ),
    (
        "[[phase]]\nrun = \"1s\"\npace = \"rate(9/s)\"\n[[phase.workload]]\nshare = \"60%\"\n[[phase.workload]]\nshare = \"50%\"",
        "t.toml:7:9",
        &["110%", "at most 100%"],
    ),
    (
        "[[phase]]\nrun = \"1s\"\n[[phase.workload]]\nshare = \"60%\"\n",
        "t.toml:4:9",
        &["no rate", "pace = \"rate(1000/s)\""],
    ),
    (
        "[[phase]]\nrun = \"1s\"\npace = \"rate(9/s)\"\n[[phase.workload]]\nshare = \"60%\"\n[[phase.workload]]\nname = \"b\"",
        "t.toml:6:1",
        &["`b` has no share"],
    ),
    (
        "[[phase]]\nrun = \"1s\"\npace = \"rate(9/s)\"\n[[phase.workload]]\nshare = \"60%\"\npace = \"closed\"",
        "t.toml:5:9",
        &["a share of the phase's rate or a pace of its own"],
    ),
    (
        "[[phase]]\nname = \"{depth}\"\nrun = \"1s\"\n[[phase.workload]]\nname = \"a\"\ndepth = 2\n[[phase.workload]]\nname = \"b\"",
        "t.toml:2:8",
        &["{a.depth} or {b.depth}"],
    ),
    ("[[phase]]\nstate = \"prepair\"", "t.toml:2:9", &["did you mean `prepare`?"]),
    ("[[phase]]\nstate = \"fail disk\"", "t.toml:2:9", &["which disk", "fail disk 3"]),
    ("[[phase]]\nstate = \"idle\"", "t.toml:2:9", &["how long"]),
    (
        "[[phase]]\nstate = \"idle\"\nrun = \"1s\"\ndepth = 4",
        "t.toml:4:1",
        &["says nothing in the state `idle`", "run"],
    ),
    ("[[phase]]\nstate = \"prepare\"\nfil = 1", "t.toml:3:1", &["did you mean `fill`?"]),
    (
        "[defaults]\nspan = { sweep = [\"1GiB\", \"2GiB\"] }\n[[phase]]\nstate = \"prepare\"",
        "t.toml:2:8",
        &["prepared only once"],
    ),
    ("[[phase]]\nstate = \"prepare\"\nrun = \"3s\"", "t.toml:3:1", &["says nothing in the state `prepare`"]),
];

#[test]
fn what_cannot_be_stamped_is_not_verified() {
    let told = |keys: &str| {
        let text = format!("[[phase]]\nrun = \"1s\"\nverify = \"written\"\n{keys}\n");
        Plan::parse("p.toml", &text, &Overrides::default()).map(|_| ()).map_err(|errors| errors.to_string())
    };
    assert!(told("").is_ok() && told("size = \"1536B\"").is_ok());
    for (keys, words) in [
        ("direct = false\nsize = \"1000B\"", "1000B is not a multiple of 512B, the smallest block"),
        ("direct = false\noffset = \"100B\"", "100B is not a multiple of 512B, the smallest block"),
        ("dedupe = \"2:1\"", "blocks with stamps do not repeat"),
        ("engine = \"null\"", "the null engine reads nothing"),
        ("engine = \"stdio\"\ndirect = false", "holds back what it has written"),
        ("tree = \"stat\"", "stat compares no content of files"),
        ("verify = \"some\"", "is a duplicate key"),
    ] {
        let error = told(keys).unwrap_err();
        assert!(error.contains(words), "{keys}: {error}");
    }
}

#[test]
fn bad_toml_is_named_by_its_place() {
    check(SYNTAX);
}

#[test]
fn unknown_and_misplaced_keys_are_told_where_they_belong() {
    check(KEYS);
}

#[test]
fn bad_values_are_told_a_right_one() {
    check(VALUES);
}

#[test]
fn bad_sweeps_point_at_the_value_that_is_wrong() {
    check(SWEEPS);
}

#[test]
fn keys_that_contradict_each_other_are_refused() {
    check(TOGETHER);
}

#[test]
fn phases_and_workloads_that_do_not_fit_together_are_refused() {
    check(STRUCTURE);
}

#[test]
fn several_mistakes_are_told_at_once_in_the_order_typed() {
    let text = "[[phase]]\nwrokers = 4\nsize = \"4\"\nrun = 30\n";
    let said = said(text, &[]);
    let places: Vec<usize> =
        ["t.toml:2:1", "t.toml:3:8", "t.toml:4:7"].map(|place| said.find(place).unwrap()).to_vec();
    assert!(places.is_sorted(), "{said}");
}

#[test]
fn a_mistake_on_the_command_line_is_shown_there() {
    let good = "[[phase]]\nname = \"a\"\nrun = \"1s\"\n";
    let told = |set: &str| said(good, &[set]);
    assert!(told("depth").contains("--set:1:1: `depth` has no `=`"), "{}", told("depth"));
    assert!(told("dpeth=4").contains("did you mean `depth`?"), "{}", told("dpeth=4"));
    assert!(told("depth=0").contains("--set:1:7: `0` is outside"), "{}", told("depth=0"));
    assert!(told("phase.b.depth=4").contains("there are \"a\""), "{}", told("phase.b.depth=4"));
    assert!(told("phase.a.workload.x.depth=4").contains("there are \"load\""));
    assert!(
        told("phase.a.depth = {sweep=[]}").contains("--set:1:24"),
        "{}",
        told("phase.a.depth = {sweep=[]}")
    );
    assert!(told("depth={ sweep = [1, 0] }").contains("--set:1:21"), "{}", told("depth={ sweep = [1, 0] }"));
    assert!(told("seed=x").contains("a whole number"), "{}", told("seed=x"));
}

#[test]
fn every_mistake_shows_its_line_and_a_pointer() {
    let said = said("[[phase]]\nrun = \"1s\"\nwrokers = 4\n", &[]);
    let expected = "t.toml:3:1: `wrokers` is not a key of a phase\n    wrokers = 4\n    ^^^^^^^\n    did you mean `workers`?\n";
    assert_eq!(said, expected);
}

#[test]
fn mistakes_are_drawn_with_the_line_and_its_neighbours() {
    let text = "[[phase]]\nrun = \"1s\"\nwrokers = 4\n";
    let errors = Plan::parse("t.toml", text, &Overrides::default()).unwrap_err();
    let drawn = errors.graphical(false, 80);
    for part in
        ["`wrokers` is not a key of a phase", "[t.toml:3:1]", "wrokers = 4", "help: did you mean `workers`?"]
    {
        assert!(drawn.contains(part), "{drawn}");
    }
}
