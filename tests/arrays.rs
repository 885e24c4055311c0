//! The same program on virtual arrays.

use serde_json::Value;

use crate::support::{SMALL, User};

const DEGRADED: &str = r#"
name = "degraded"

[defaults]
span  = "500GiB"
reads = "2/3"
depth = 8
run   = "5s"

[[phase]]
name = "healthy"

[[phase]]
state = "fail disk 3"

[[phase]]
name = "degraded"
"#;

#[test]
fn a_plan_for_a_disk_runs_on_an_array_with_a_record_of_the_same_shape() {
    let user = User::with_plan(SMALL);
    let ended = user.fathom("run plan.toml --on array:md3000 --set span=1GiB --set reads=50%").done();
    assert!(ended.out.starts_with("small on array:md3000"), "{}", ended.out);
    let run = user.last();
    assert_eq!(run["world"], "array");
    assert_eq!(run["points"][0]["workloads"][0]["engine"]["name"], "virtual");
    assert!(run["points"][0]["workloads"][0]["planned"].as_u64().unwrap() > 0);
    assert_eq!(user.files(), ["plan.toml"]);
}

#[test]
fn the_same_seed_gives_the_same_figures_to_the_last_bit() {
    let user = User::with_plan(DEGRADED);
    let points = |seed: &str| -> Value {
        let line =
            format!("run plan.toml --on array:md3000?raid=5 --set seed={seed} --format json --no-save");
        user.fathom(&line).done().json()["points"].clone()
    };
    assert_eq!(points("1"), points("1"));
    assert_ne!(points("1"), points("2"));
}

#[test]
fn both_worlds_are_asked_for_the_same_stream() {
    let plan = "[[phase]]\nspan = \"4MiB\"\npattern = \"zipf(1.1)\"\nreads = \"70%\"\nops = 500\n";
    let user = User::with_plan(plan);
    let digests = |target: &str| {
        let line = format!("run plan.toml --on {target} --format json --no-save");
        user.fathom(&line).done().json()["points"][0]["workloads"][0]["digests"].clone()
    };
    assert_eq!(digests("array:md3000"), digests("."));
}

#[test]
fn a_failed_disk_slows_reads_down_and_the_next_phase_shows_it() {
    let user = User::with_plan(DEGRADED);
    let run = user
        .fathom("run plan.toml --on array:md3000?raid=5 --set reads=100% --set depth=64 --format json")
        .done()
        .json();
    let rate = |point: usize| {
        run["points"][point]["workloads"][0]["summary"][0]["ops_per_s"]["value"].as_f64().unwrap()
    };
    // With 14 disks, one read in 14 becomes 13 of them: 1.86 times the work.
    assert!(rate(2) < 0.75 * rate(0), "{} healthy, {} degraded", rate(0), rate(2));
}

#[test]
fn an_array_or_option_that_is_not_there_is_told_with_what_is() {
    let user = User::with_plan(SMALL);
    user.fathom("run plan.toml --on array:md300").with(2).saying(&["did you mean `md3000`"]);
    user.fathom("run plan.toml --on array:md3000?raid=9").with(2).saying(&["`raid`", "0, 10, 5, 6"]);
    user.fathom("run plan.toml --on array:md3000 --on .").with(2).saying(&["by itself"]);
}

#[test]
fn every_array_of_the_library_is_listed_and_comes_to_something() {
    let user = User::new();
    let list = user.fathom("array list").done().out;
    for line in list.lines() {
        let name = line.split_whitespace().next().unwrap();
        user.fathom(&format!("array show {name}")).done();
    }
    assert!(list.contains("md3000"), "{list}");
}

#[test]
fn models_are_held_to_published_figures_and_say_where_they_leave_them() {
    let user = User::new();
    let ended = user.fathom("validate --only PX-115").done();
    assert!(ended.out.contains("PX-115") && ended.out.contains("ok\n"), "{}", ended.out);
    user.fathom("validate --only no-such-case").with(2);
}

/// Three rows of one system: foretold, fitted, and one that does not count; `value` is what was "published" of the first.
fn rows(value: u32) -> String {
    format!(
        r#"
source = "a write-up"
tolerance = "25%"
array = "local-ssd-raid0"
case = [
  {{ id = "A-1", plan = "p", value = {value} }},
  {{ id = "A-2", plan = "p", value = 3000, fits = "host-windows-pc host.request" }},
  {{ id = "A-3", plan = "p", value = 1, score = false, why = "nobody knows" }},
]
[plan.p]
pattern = "random"
size = "4KiB"
span = "5GB"
warmup = "0s"
run = "1s"
metric = "iops"
"#
    )
}

#[test]
fn published_figures_that_were_fitted_and_foretold_are_scored_apart() {
    let user = User::new();
    user.write("rows.toml", rows(2_800));
    let ended = user.fathom("validate --cases rows.toml --format json").done();
    let document = ended.json();
    let count = |which: &str| document["all"][which]["figures"].as_u64().unwrap();
    assert_eq!((count("foretold"), count("fitted"), count("all")), (1, 1, 3));
    assert_eq!(document["systems"][0]["system"], "rows");
    assert_eq!(document["cases"][1]["fits"][0], "host-windows-pc host.request");
    let text = user.fathom("validate --cases rows.toml").done();
    assert!(text.out.contains("Foretold: 1 figure,") && text.out.contains("ok, fitted"), "{}", text.out);
    assert!(text.err.is_empty(), "{}", text.err);
}

#[test]
fn the_error_of_a_model_stands_beside_its_figures_and_is_what_validation_saves() {
    let user = User::with_plan(SMALL);
    let told = user.fathom("run plan.toml --on array:md3000").done().out;
    let line = told.lines().find(|line| line.starts_with("model error ")).unwrap_or_default();
    assert!(line.contains(" published figures of "), "{told}");
    let known = &user.last()["targets"][0]["validation"];
    assert!(known["median_error"].as_f64().is_some_and(|error| error > 0.0), "{known}");
    let exact = user.fathom("run plan.toml --on array:queue").done().out;
    assert!(!exact.contains("model error"), "{exact}");

    user.write("rows.toml", rows(2_800));
    user.fathom("validate --cases rows.toml --save-scores scores.toml").done();
    let saved = std::fs::read_to_string(user.path("scores.toml")).unwrap();
    for part in
        ["[all]\nfigures = 1\n", "[[array]]\nname = \"local-ssd-raid0\"\nfigures = 1\nmedian_error = \""]
    {
        assert!(saved.contains(part), "no {part:?} in {saved}");
    }
}

#[test]
fn the_score_of_what_was_foretold_decides_the_exit_code_and_not_one_row() {
    let user = User::new();
    user.write("rows.toml", rows(1_900));
    let far = user.fathom("validate --cases rows.toml").with(1);
    assert!(far.err.contains("median error of the foretold figures"), "{}", far.err);
    user.fathom("validate --cases rows.toml --max-median 100% --min-within 0%").done();
}

/// An array whose one processor is all that costs, and rows that were measured where it takes 50 us a request.
fn planted(published_of_four: u32) -> [(&'static str, String); 2] {
    planted_rows(&[(1, 20_000), (2, 20_000), (4, published_of_four)])
}

/// The same with a row for each number of volumes.
fn planted_rows(published: &[(u32, u32)]) -> [(&'static str, String); 2] {
    let array = "name = \"planted\"\ninherits = \"queue\"\n[devices]\nwith = { service = \"1us\" }\n[controller]\nprocessors = 1\n\
                 read_command = { value = \"80us\", bounds = [\"10us\", \"500us\"], source = \"fit\" }\n"
        .to_owned();
    let row = |&(luns, value): &(u32, u32)| {
        let array = format!("./planted.toml?kind=queue-md1&raid.luns={luns}");
        format!(
            "  {{ id = \"P-{luns}\", array = \"{array}\", plan = \"p\", value = {value}, fits = \"./planted.toml controller.read_command\" }},\n"
        )
    };
    let rows = format!(
        "source = \"a write-up\"\ntolerance = \"25%\"\ncase = [\n{}]\n[plan.p]\npattern = \"random\"\nsize = \"4KiB\"\n\
         depth = 64\nwarmup = \"0s\"\nrun = \"200ms\"\nmetric = \"iops\"\n",
        published.iter().map(row).collect::<String>()
    );
    [("planted.toml", array), ("rows.toml", rows)]
}

#[test]
fn a_figure_is_found_again_from_the_rows_that_are_left_and_a_wrong_row_shows_as_an_error() {
    let user = User::new();
    let left_out = |published_of_four: u32, options: &str| -> Value {
        planted(published_of_four).into_iter().for_each(|(name, text)| drop(user.write(name, text)));
        let line = format!("validate --cases rows.toml {options} --format json --max-median 100%");
        user.fathom(&line).done().json()
    };
    // As it stands the array is 37 % too slow.
    let before = left_out(20_000, "");
    assert!(before["all"]["fitted"]["median_error"].as_f64().unwrap() > 0.3, "{before}");
    let right = left_out(20_000, "--leave-out each");
    assert_eq!(right["groups"].as_array().unwrap().len(), 3);
    for group in right["groups"].as_array().unwrap() {
        let found = &group["refitted"][0];
        assert_eq!((&found["shipped"], found["rows"].as_u64()), (&Value::from("80us"), Some(2)));
        let value: f64 = found["value"].as_str().unwrap().trim_end_matches("us").parse().unwrap();
        assert!((value / 50.0 - 1.0).abs() < 0.02, "{value}");
        assert!(group["median_error"].as_f64().unwrap() < 0.02, "{group}");
    }
    // The other rows do not know of one that is wrong; it is twice too high, and they are pulled by it.
    let wrong = left_out(10_000, "--leave-out raid.luns=4 --min-within 0%");
    let error = wrong["groups"][0]["cases"][0]["error"].as_f64().unwrap();
    assert!((error - 1.0).abs() < 0.05, "{wrong}");
    let wrong = left_out(10_000, "--leave-out each --min-within 0%");
    assert!(wrong["groups"][0]["median_error"].as_f64().unwrap() > 0.2, "{wrong}");
}

#[test]
fn one_row_that_something_else_decided_does_not_move_a_figure_that_others_agree_on() {
    let user = User::new();
    // The last is twice too low: squares of its error would give 63 us.
    let files = planted_rows(&[(1, 20_000), (2, 20_000), (4, 20_000), (8, 10_000)]);
    files.into_iter().for_each(|(name, text)| drop(user.write(name, text)));
    let line = "validate --cases rows.toml --leave-out raid.luns=1 --format json";
    let document = user.fathom(line).done().json();
    let found = &document["groups"][0]["refitted"][0];
    assert_eq!(found["rows"].as_u64(), Some(3));
    let value: f64 = found["value"].as_str().unwrap().trim_end_matches("us").parse().unwrap();
    assert!((value / 50.0 - 1.0).abs() < 0.02, "{value}");
}

#[test]
fn a_figure_that_no_other_row_names_lies_in_the_middle_of_its_bounds() {
    let user = User::new();
    planted(20_000).into_iter().for_each(|(name, text)| drop(user.write(name, text)));
    let line = "validate --cases rows.toml --leave-out systems --max-median 100% --min-within 0%";
    let document = user.fathom(&format!("{line} --format json")).done().json();
    let found = &document["groups"][0]["refitted"][0];
    assert_eq!((&found["value"], found["rows"].as_u64()), (&Value::from("70.71us"), Some(0)));
    let text = user.fathom(line).done().out;
    assert!(text.contains("controller.read_command = 70.71us (80us; the middle of its bounds)"), "{text}");
    user.fathom("validate --cases rows.toml --leave-out nobody").with(2);
    // By default the score decides.
    user.fathom("validate --cases rows.toml --leave-out systems").with(1);
}

#[test]
fn a_sweep_on_a_virtual_array_is_the_same_record_on_one_processor_and_on_several() {
    let user = User::with_plan(
        "[defaults]\nrun = \"500ms\"\nwarmup = \"0s\"\nspan = \"10GiB\"\n[[phase]]\nname = \"mix\"\nreads = \"70%\"\n\
         repeat = 2\ndepth = { sweep = [1, 4, 16] }\n",
    );
    let line = "run plan.toml --on array:md3000?raid=5 --format json --no-save";
    let several = user.fathom(line).done().json();
    let one = user.fathom_on_one_processor(line).done().json();
    assert_eq!(several["points"].as_array().unwrap().len(), 6);
    assert_eq!(one["points"], several["points"]);
    assert_eq!(one["findings"], several["findings"]);
}

#[test]
fn explain_tells_where_the_time_went_and_what_a_faster_part_would_bring() {
    let user = User::with_plan(DEGRADED);
    user.fathom("run plan.toml --on array:md3000?raid=5 --breakdown").done();
    let told = user.fathom("explain last --what-if --seeds 2 --point healthy --width 120").done().out;
    let tables = told.split("Where the time went: ").collect::<Vec<_>>();
    assert_eq!(tables.len(), 3, "{told}");
    for words in ["disk seek", "disk rotation", "of mean", "of tail"] {
        assert!(tables[1].contains(words), "{told}");
    }
    let tried = told.split("What if: healthy").nth(1).expect("the trials follow");
    assert!(tried.contains("controller processor") && tried.contains("depth"), "{told}");
    assert!(told.contains("- what-if"), "{told}");
    let full = user.fathom("explain last --what-if --seeds 2 --point healthy --full").done().out;
    assert!(full.contains("note: what-if"), "{full}");
}

#[test]
fn what_if_is_refused_where_there_is_nothing_to_make_faster() {
    let user = User::with_plan(SMALL);
    user.fathom("run plan.toml --on null:").done();
    user.fathom("explain last --what-if").with(2).saying(&["this run was on real storage"]);
    user.fathom("run plan.toml --on null: --breakdown")
        .with(2)
        .saying(&["--breakdown needs a virtual array"]);
    user.fathom("run plan.toml --on array:md3000 --set span=1GiB").done();
    user.fathom("explain last --what-if --point none").with(2).saying(&["has no point `none`"]);
}

#[test]
fn an_array_says_how_likely_it_loses_data_and_a_rebuild_from_nowhere_is_refused() {
    let user = User::with_plan(SMALL);
    let json = |level: &str| -> Value {
        let line = format!("array loss md3000?raid={level} --rebuild 12h --histories 4000 --json");
        serde_json::from_str(&user.fathom(&line).done().out).unwrap()
    };
    let chance = |told: &Value| told["sets"][0]["chances"]["over_time"]["value"].as_f64().unwrap();
    let (five, six) = (json("5"), json("6"));
    assert!(chance(&six) > 0.0 && chance(&six) < chance(&five) / 10.0, "{five} {six}");
    let text = user.fathom("array loss md3000?raid=5 --rebuild 12h --histories 4000").done().out;
    assert!(
        text.contains("a disk's failure and the end of its rebuild") && text.contains("Assumptions:"),
        "{text}"
    );
    let of_model = user.fathom("array loss md3000?raid=5 --histories 4000").done().out;
    assert!(of_model.contains("as the model takes without a load"), "{of_model}");
    let bare = user.fathom("array loss md3000?raid=0 --histories 4000").done().out;
    assert!(bare.contains("survives no failed disk"), "{bare}");
    user.fathom("run plan.toml --on array:md3000 --set span=1GiB").done();
    user.fathom("array loss md3000 --run last").with(2).saying(&["saw no rebuild, or less than 1 % of one"]);
}

/// What is planted, the load, and what is to be named: no part of the array is busy in any.
const GATES: [(&str, &str, &str); 5] = [
    ("md3000?raid=10&host.lun_depth=4", "depth=64", "LUN queue is the bottleneck"),
    ("px6-300d?protocol=nfs3&controller.accepts=1", "depth=16", "controller queue is the bottleneck"),
    (
        "md3000?raid=5&write_cache=false",
        "reads=0%,depth=16,pattern=sequential(interlocked)",
        "stripe locks are the bottleneck",
    ),
    (
        "md3000?raid=0&link.count=2&multipath=none",
        "depth=32,size=512KiB,pattern=sequential",
        "LUN ownership is the bottleneck",
    ),
    ("md3000?raid=10", "pace=rate(400/s),depth=1", "queue depth is the bottleneck"),
];

#[test]
fn what_only_lets_requests_through_is_named_where_no_part_is_busy() {
    let user = User::with_plan("[[phase]]\nname = \"load\"\nwarmup = \"1s\"\nrun = \"4s\"\n");
    for (array, load, named) in GATES {
        let sets: Vec<String> = load.split(',').map(|one| format!("--set {one}")).collect();
        let line = format!("run plan.toml --on array:{array} {} --format json", sets.join(" "));
        let run = user.fathom(&line).done().json();
        let findings: Vec<&str> =
            run["findings"].as_array().unwrap().iter().filter_map(|one| one["sentence"].as_str()).collect();
        assert!(findings.iter().any(|told| told.starts_with(named)), "{array}: {findings:#?}");
    }
}

#[test]
fn the_lab_says_of_disks_with_an_arm_that_commands_queue_there_and_of_flash_what_it_serves() {
    let rows = |array: &str| {
        let told = User::new().fathom(&format!("array lab {array} --depths 1,16")).done().out;
        let breakdown = told.split("latency breakdown").nth(1).expect("a breakdown").to_owned();
        let own = breakdown.lines().filter(|line| line.starts_with("disk"));
        own.map(|line| line.split("  ").next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let arms = rows("md3000");
    assert!(arms.contains(&"disk queue".into()) && arms.contains(&"disk seek".into()), "{arms:?}");
    assert!(!arms.contains(&"disk".into()), "{arms:?}");
    assert_eq!(rows("ssd-1"), ["disk"]);
}

#[test]
fn a_device_that_is_checked_is_not_said_to_write_as_fast_as_its_buffer_takes_a_burst() {
    let user = User::new();
    user.write("d.toml", "inherits = \"cheetah-x15\"\n[buffer]\nsize = \"64MiB\"\nwrite_back = true\n");
    let told = user.fathom("array check ./d.toml").done().out;
    let number = |before: &str| -> f64 {
        let (_, after) = told.split_once(before).unwrap_or_else(|| panic!("{before}: {told}"));
        after.split_whitespace().next().unwrap().parse().unwrap()
    };
    let (full, burst) = (number("writes "), number("once its buffer is full, "));
    assert!(full < 1_000.0 && burst > 3.0 * full, "{told}");
    let told = user.fathom("array check queue-mm1").done().out;
    assert!(!told.contains("buffer"), "{told}");
}

#[test]
fn an_array_that_is_checked_says_what_it_gives_at_the_most() {
    let user = User::new();
    let told = user.fathom("array check md3000?raid=0").done().out;
    let number = |before: &str| -> f64 {
        let (_, after) = told.split_once(before).unwrap_or_else(|| panic!("{before}: {told}"));
        let digits: String =
            after.chars().take_while(|c| *c != ' ' && *c != '/').filter(|c| *c != ',').collect();
        digits.parse().unwrap_or_else(|error| panic!("{error}: {told}"))
    };
    assert!(told.contains("15 disks in 1 RAID set"), "{told}");
    // Fifteen disks of 15,000 rpm, and one path of 3 Gb/s.
    assert!((2_500.0..6_000.0).contains(&number("random 4 KiB reads ")), "{told}");
    assert!((200.0..310.0).contains(&number("a LUN: reads ")) && number(", writes ") > 100.0, "{told}");
}

#[test]
fn an_array_where_a_device_is_wanted_is_said_to_be_one_and_only_devices_of_like_names_are_listed() {
    let user = User::new();
    user.write("a.toml", "name = \"a\"\ninherits = \"ssd-1\"\n");
    user.write("b.toml", "name = \"b\"\ninherits = \"ssd-1\"\n[devices]\nmodel = \"./a.toml\"\n");
    let told = user.fathom("array check ./b.toml").with(2).err;
    assert!(told.contains("describes an array, not a device"), "{told}");
    user.write("c.toml", "name = \"c\"\ninherits = \"ssd-1\"\n[devices]\nmodel = \"sthing-of-no-name\"\n");
    let told = user.fathom("array check ./c.toml").with(2).err;
    assert!(told.contains("st31500341as") && !told.contains("atlas-10k"), "{told}");
}

#[test]
fn a_case_names_an_array_from_where_its_file_lies() {
    let user = User::new();
    user.directory("cases");
    user.directory("cases/mine");
    user.write("cases/mine/a.toml", "name = \"a\"\ninherits = \"queue\"\n");
    user.write(
        "cases/c.toml",
        "about = \"x\"\nsource = \"me\"\ntolerance = \"25%\"\narray = \"./mine/a.toml\"\n\
         case = [{ id = \"X-1\", plan = \"rr\", value = 181 }]\n\
         [plan.rr]\npattern = \"random\"\nsize = \"4KiB\"\nmetric = \"iops\"\nunit = \"IOPS\"\n",
    );
    let told = user.fathom("validate --cases cases/c.toml");
    assert!(!told.out.contains("there is no array"), "{}{}", told.out, told.err);
    assert!(told.out.contains("X-1") && told.out.contains("IOPS"), "{}{}", told.out, told.err);
}
