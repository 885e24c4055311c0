//! Runs held against each other, from the command line.

use serde_json::Value;

use crate::support::User;

/// Two loads on a virtual queue, each measured three times; half a minute of virtual time takes next to none.
const PLAN: &str = r#"
name = "queue"

[defaults]
run    = "20s"
warmup = "1s"
span   = "1GiB"
repeat = 3

[[phase]]
name  = "light"
depth = 2

[[phase]]
name  = "heavy"
depth = 16
"#;

fn user() -> User {
    User::with_plan(PLAN)
}

fn compared(user: &User, arguments: &str) -> Value {
    user.fathom(&format!("compare {arguments} --format json")).done().json()
}

fn verdicts(comparison: &Value, metric: &str) -> Vec<String> {
    let rows = comparison["rows"].as_array().unwrap().iter();
    let of = rows.filter(|row| row["metric"] == metric);
    of.map(|row| row["verdict"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn two_seeds_do_not_differ_and_two_queues_do() {
    let user = user();
    user.fathom("run plan.toml --on array:queue?kind=queue-mm1 --set seed=1").done();
    user.fathom("run plan.toml --on array:queue?kind=queue-mm1 --set seed=2").done();
    user.fathom("run plan.toml --on array:queue?kind=queue-mm4 --set seed=3").done();
    let equal = compared(&user, "1 2");
    for metric in ["iops", "p99"] {
        let told = verdicts(&equal, metric);
        assert!(told.iter().all(|one| one == "equivalent" || one == "inconclusive"), "{equal:#}");
    }
    let other = compared(&user, "1 3");
    assert!(verdicts(&other, "mean").contains(&"worse".to_owned()), "{other:#}");
    let settings: Vec<&str> =
        other["settings"].as_array().unwrap().iter().map(|one| one["key"].as_str().unwrap()).collect();
    assert!(settings.contains(&"target"), "{settings:?}");
    let text = user.fathom("compare 1 3 --width 120").done().out;
    for words in
        ["A, B compared", "configuration differences", "queue-mm4", "light", "IOPS", "worse", "min. effect"]
    {
        assert!(text.contains(words), "{words} is not in\n{text}");
    }
}

#[test]
fn several_runs_of_a_side_are_repeats_and_a_file_is_a_run() {
    let user = user();
    for seed in 1..=3 {
        user.fathom(&format!("run plan.toml --on array:queue --set seed={seed}")).done();
    }
    user.fathom("export 3 -o third.json").done();
    let comparison = compared(&user, "1,2 third.json");
    assert_eq!(comparison["rows"][0]["repeats"], serde_json::json!([6, 3]));
    assert_eq!(comparison["sides"][0]["runs"].as_array().unwrap().len(), 2);
    assert_eq!(comparison["rows"][0]["basis"], "repeats");
}

#[test]
fn runs_are_put_together_by_an_option_of_the_array_or_a_label() {
    let user = user();
    user.fathom("run plan.toml --on array:queue?kind=queue-mm1 --tag room=3").done();
    user.fathom("run plan.toml --on array:queue?kind=queue-md1 --tag room=4").done();
    user.fathom("run plan.toml --on array:queue?kind=queue-mm4").done();
    let names = |comparison: &Value| -> Vec<String> {
        let sides = comparison["sides"].as_array().unwrap().iter();
        sides.map(|side| side["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(&compared(&user, "--by kind")), ["queue-mm1", "queue-md1", "queue-mm4"]);
    assert_eq!(names(&compared(&user, "--by kind --base queue-mm4"))[0], "queue-mm4");
    let by_room = compared(&user, "--by room");
    assert_eq!((names(&by_room), &by_room["by"]), (vec!["3".into(), "4".into()], &Value::from("room")));
    assert_eq!(names(&compared(&user, "1 3 --by kind")), ["queue-mm1", "queue-mm4"]);
    user.fathom("compare --by colour").with(2).saying(&["colour", "--tag"]);
    user.fathom("compare --by kind --base none").with(2).saying(&["queue-mm1"]);
}

#[test]
fn a_limit_that_is_surely_broken_ends_with_1() {
    let user = user();
    user.fathom("run plan.toml --on array:queue?kind=queue-mm1 --set seed=1").done();
    user.fathom("run plan.toml --on array:queue?kind=queue-mm4 --set seed=2").done();
    user.fathom("compare 1 2 --fail-on mean>50%").with(1).saying(&["mean", "breaks mean>50%"]);
    user.fathom("compare 1 2 --fail-on iops<-50%").done();
    user.fathom("compare 1 2 --fail-on mean>1ns").with(1).saying(&["breaks mean>1ns"]);
    user.fathom("compare 1 2 --fail-on iops<1").done();
    user.fathom("compare 1 1 --margin 0.001% --fail-on inconclusive").with(1).saying(&["inconclusive"]);
    user.fathom("compare 1 2 --fail-on p12>5%").with(2).saying(&["p12"]);
    user.fathom("compare 1 2 --fail-on iops").with(2).saying(&["iops<-5%"]);
}

#[test]
fn every_form_says_the_same() {
    let user = user();
    user.fathom("run plan.toml --on array:queue --set seed=1").done();
    user.fathom("run plan.toml --on array:queue --set seed=2").done();
    let rows = compared(&user, "1 2")["rows"].as_array().unwrap().clone();
    let csv = user.fathom("compare 1 2 --format csv").done().out;
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let verdict = reader.headers().unwrap().iter().position(|title| title == "verdict").unwrap();
    let lines: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    assert_eq!(lines.len(), rows.len());
    for (line, row) in lines.iter().zip(&rows) {
        assert_eq!(&line[verdict], row["verdict"].as_str().unwrap());
        assert_eq!(line[10].parse::<f64>().unwrap(), row["ratio"].as_f64().unwrap());
    }
    let md = user.fathom("compare 1 2 --format md -o c.md -o c.csv -o c.json -o c.txt").done().out;
    let file = |name: &str| std::fs::read_to_string(user.path(name)).unwrap();
    assert_eq!((file("c.md"), file("c.csv")), (md.clone(), csv));
    assert_eq!(serde_json::from_str::<Value>(&file("c.json")).unwrap()["rows"].as_array().unwrap(), &rows);
    assert!(file("c.txt").contains("A, B compared"), "{}", file("c.txt"));
    user.fathom("compare 1 2 -o c.html").with(2).saying(&["c.html", ".txt, .json, .csv or .md"]);
    user.fathom("compare 1 2 -o nowhere/c.md").with(2).saying(&["nowhere"]);
    assert!(md.starts_with("### A, B compared") && md.contains("| light |"), "{md}");
}

/// Patterns that tell the write cache of an array from its other parts.
const PARTS: &str = r#"
name = "parts"

[defaults]
pattern = "random"
warmup  = "1s"
run     = "3s"

[[phase]]
name = "read"

[[phase]]
name  = "write"
reads = "0%"
depth = 8

[[phase]]
name  = "write alone"
reads = "0%"
"#;

#[test]
fn a_model_names_the_part_that_became_slower_between_two_runs_and_nothing_where_none_did() {
    let user = User::with_plan(PARTS);
    user.fathom("run plan.toml --on array:md3000?raid=5 --set seed=1").done();
    user.fathom("run plan.toml --on array:md3000?raid=5 --set seed=2").done();
    user.fathom("run plan.toml --on array:md3000?raid=5&write_cache=false --set seed=3").done();
    let model = "--model array:md3000?raid=5";
    let found = compared(&user, &format!("1,2 3 {model}"))["culprit"].clone();
    // The records name the option, and the model with it fits: no part needs to be looked for.
    assert_eq!((&found["part"], &found["model"]), (&"write_cache".into(), &"array:md3000?raid=5".into()));
    // Markdown has a backslash before what would be emphasis.
    for form in ["text", "md"] {
        let told = user.fathom(&format!("compare 1,2 3 {model} --format {form}")).done().out;
        assert!(told.replace('\\', "").contains("slower part: write_cache was changed: "), "{told}");
    }
    let faster = compared(&user, &format!("3 1 {model}"))["culprit"].clone();
    assert!(faster["part"].is_null() && faster["why"].as_str().unwrap().contains("worse"), "{faster:#}");
    assert!(compared(&user, "1 3")["culprit"].is_null());
    user.fathom(&format!("compare 1 2 3 {model}")).with(2).saying(&["between two runs"]);
    user.fathom("compare 1 3 --model md3000").with(2).saying(&["a model is a virtual array"]);
}

#[test]
fn one_run_is_no_comparison_and_an_unknown_one_is_named() {
    let user = user();
    user.fathom("compare last").with(2).saying(&["two runs"]);
    user.fathom("compare 7 8").with(2).saying(&["7"]);
    user.write("letter.json", "Dear Sir");
    user.fathom("compare letter.json letter.json").with(2).saying(&["letter.json", "not a run record"]);
}

#[test]
fn two_targets_are_measured_by_turns_and_compared() {
    let user = user();
    let run =
        "run plan.toml --on array:queue?kind=queue-mm1 --against array:queue?kind=queue-mm4 --format json";
    let ended = user.fathom(run).done();
    let comparison = ended.json();
    assert_eq!(comparison["rows"][0]["repeats"], serde_json::json!([3, 3]));
    assert!(verdicts(&comparison, "mean").contains(&"worse".to_owned()), "{comparison:#}");
    // Both are kept, and their requests are those of the plan alone.
    let kept = compared(&user, "1 2");
    assert_eq!(kept["rows"], comparison["rows"]);
    let started: Vec<&str> = ended.err.lines().filter(|line| line.starts_with('[')).collect();
    let sides: Vec<&str> = started.iter().map(|line| line.rsplit(' ').next().unwrap()).collect();
    assert_eq!(sides, ["A", "B", "B", "A", "A", "B", "B", "A", "A", "B", "B", "A"], "{}", ended.err);
}

#[test]
fn a_measurement_of_two_targets_takes_a_margin_as_a_comparison_of_two_runs_does() {
    let user = user();
    let run =
        "run plan.toml --on array:queue?kind=queue-mm1 --against array:queue?kind=queue-mm1 --format json";
    let wide = user.fathom(&format!("{run} --margin 90%")).done().json();
    assert_eq!(wide["margin"], serde_json::json!(0.9));
    assert!(verdicts(&wide, "iops").contains(&"equivalent".to_owned()), "{wide:#}");
    let narrow = user.fathom(&format!("{run} --margin 0.01%")).done().json();
    assert!(!verdicts(&narrow, "iops").contains(&"equivalent".to_owned()), "{narrow:#}");
    user.fathom("run plan.toml --on null: --margin 3%").with(2).saying(&["--against"]);
}

#[test]
fn a_kept_run_names_the_targets_to_measure_against() {
    let user = user();
    user.fathom("run plan.toml --on array:queue?kind=queue-mm4").done();
    let against = "run plan.toml --on array:queue?kind=queue-mm1 --against";
    user.fathom(&format!("{against} last --fail-on mean>50%")).with(1).saying(&["breaks mean>50%"]);
    assert_eq!(user.last()["points"].as_array().unwrap().len(), 6);
    user.fathom(&format!("{against} nothing-of-that-name")).with(2).saying(&["nothing-of-that-name"]);
    user.fathom(&format!("{against} last -o x.jsonl")).with(2).saying(&[".txt, .json, .csv or .md"]);
    user.fathom(&format!("{against} last -o x.md")).done();
    assert!(std::fs::read_to_string(user.path("x.md")).unwrap().starts_with("### A, B compared"));
    user.fathom("run plan.toml --on null: --fail-on iops<-5%").with(2);
}

/// Two phases on real storage, as short as they can be.
const SHORT: &str = r#"
name = "short"

[defaults]
span   = "4MiB"
run    = "300ms"
repeat = 2

[[phase]]
name = "reads"
"#;

#[test]
fn both_sides_may_be_one_directory_and_then_have_files_of_their_own() {
    let user = User::with_plan(SHORT);
    let disk = user.directory("disk");
    let ended = user.fathom("run plan.toml --on disk --against ./disk --format json").done();
    let sides = ["1", "2"].map(|run| user.fathom(&format!("show {run} --format json")).done().json());
    let paths = sides.map(|run| run["targets"][0]["path"].as_str().unwrap().to_owned());
    assert_ne!(paths[0], paths[1]);
    assert!(!ended.json()["rows"].as_array().unwrap().is_empty());
    assert_eq!(std::fs::read_dir(&disk).unwrap().count(), 0, "the scratch files of both are gone");
    let other = user.directory("other");
    user.fathom("run plan.toml --on disk --against other").done();
    assert_eq!(std::fs::read_dir(other).unwrap().count(), 0);
    user.fathom("run files --on disk --against disk").with(2).saying(&["name two directories"]);
}

#[test]
fn parts_of_a_virtual_array_are_changed_in_its_address() {
    let user = user();
    user.fathom("run plan.toml --on array:queue").done();
    user.write("parts.toml", "");
    user.fathom("explain last --parts parts.toml").with(2).saying(&["fathom array show", "address"]);
}

/// Runs of one phase, measured twice with seeds of their own, without and with repeats.
const ONE: &str = r#"
name = "one"

[defaults]
run    = "10s"
warmup = "500ms"
span   = "1GiB"

[[phase]]
name  = "reads"
depth = 4
"#;

/// The same queue, five in a hundred slower.
const SLOWER: &str = r#"
name     = "slower"
about    = "One exponential server, 9,524 requests a second"
kind     = "queue"
capacity = "1TiB"
servers  = 1
service  = "105us"
law      = "exponential"
"#;

/// Of 200 pairs of runs of ten seconds, measured so often, those that are told to differ in some figure and those in
/// their rate.
fn told(repeat: u32, other: &str) -> (usize, usize) {
    let user = User::with_plan(&ONE.replace("[[phase]]", &format!("repeat = {repeat}\n\n[[phase]]")));
    user.write("slower.toml", SLOWER);
    let (mut any, mut rate) = (0, 0);
    for pair in 0..200 {
        for (side, target) in ["array:queue", other].into_iter().enumerate() {
            let seed = 2 * pair + side;
            let line = format!("run plan.toml --on {target} --set seed={seed} -q --no-save -o {side}.json");
            user.fathom(&line).done();
        }
        let comparison = compared(&user, "0.json 1.json");
        let rows = comparison["rows"].as_array().unwrap();
        let differ: Vec<&Value> =
            rows.iter().filter(|row| row["verdict"] == "better" || row["verdict"] == "worse").collect();
        any += usize::from(!differ.is_empty());
        rate += usize::from(differ.iter().any(|row| row["metric"] == "iops"));
    }
    (any, rate)
}

#[test]
#[ignore = "four hundred pairs of runs take minutes: cargo test -p fathom-io --test main -- --ignored seeded_pairs"]
fn of_200_equal_seeded_pairs_no_more_than_ten_are_told_to_differ() {
    for repeat in [1, 3] {
        let (any, _) = told(repeat, "array:queue");
        assert!(any <= 10, "{repeat} measured: {any} of 200");
    }
}

#[test]
#[ignore = "two hundred pairs of runs take minutes: cargo test -p fathom-io --test main -- --ignored seeded_pairs"]
fn of_200_seeded_pairs_five_percent_apart_nine_of_ten_are_found() {
    let (_, rate) = told(3, "array:queue?devices.model=./slower.toml");
    assert!(rate >= 180, "{rate} of 200");
}
