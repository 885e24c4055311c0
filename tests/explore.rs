//! `fathom explore`, from outside: an answer, a resumed one, a campaign for what is close.

use rustix::process::Signal;

use crate::support::{User, wait_until};

const STUDY: &str = r#"
name = "small"

[space]
array = "px6-300d"
raid  = ["5", "6", "10"]
disks = [3, 4, 6]

[prices]
currency = "EUR"
array = { "px6-300d" = 600 }
disk  = 110

[[workload]]
name  = "vm"
size  = "8KiB"
reads = "70%"
depth = 4

[[requirement]]
meet = ["usable >= 3TB", "loss < 20%"]

[[requirement]]
workload = "vm"
meet     = "iops >= 220"
"#;

#[test]
fn a_study_is_answered_resumed_and_its_close_calls_become_a_campaign() {
    let user = User::with_plan("");
    user.write("study.toml", STUDY);
    let first = user.fathom("explore study.toml --json --settle close.toml --checkpoint known.jsonl");
    assert_eq!(first.code, Some(0), "{}", first.err);
    let first = first.json();
    assert_eq!((first["counts"]["designs"].as_u64(), first["price_unit"].as_str()), (Some(9), Some("EUR")));
    // Three members and two parities do not go with each other, nor three in pairs.
    assert_eq!(first["counts"]["impossible"].as_u64(), Some(2));
    let again = user.fathom("explore study.toml --json --checkpoint known.jsonl").json();
    assert_eq!((&again["front"], &again["requirements"]), (&first["front"], &first["requirements"]));
    assert_eq!(again["counts"]["simulated"], serde_json::json!([0, 0]), "all of it was known");
    let text = user.fathom("explore study.toml --checkpoint known.jsonl -o front.csv");
    assert!(text.out.contains("EUR") && text.out.contains("why not with one factor changed"), "{}", text.out);
    assert!(text.out.lines().count() <= 50, "one screen: {}", text.out);
    let csv = std::fs::read_to_string(user.path("front.csv")).unwrap();
    assert_eq!(csv.lines().count(), 1 + first["front"].as_array().unwrap().len(), "{csv}");
    if first["close_calls"].as_array().is_some_and(|calls| !calls.is_empty()) {
        let dry = user.fathom("campaign close.toml --dry-run");
        assert_eq!(dry.code, Some(0), "{}", dry.err);
    }
}

#[test]
fn a_front_in_a_file_of_another_format_is_refused_before_the_study() {
    let user = User::with_plan("");
    user.write("study.toml", STUDY);
    let ended = user.fathom("explore study.toml -o front.html");
    assert_eq!(ended.code, Some(2));
    assert!(ended.err.contains("name a file that ends in .csv"), "{}", ended.err);
    assert!(!user.path("front.html").exists());
}

#[test]
fn a_study_that_no_design_meets_ends_with_1_and_one_with_mistakes_with_2() {
    let user = User::with_plan("");
    user.write("study.toml", STUDY.replace("usable >= 3TB", "usable >= 300TB"));
    let ended = user.fathom("explore study.toml");
    assert_eq!(ended.code, Some(1), "{} {}", ended.out, ended.err);
    assert!(ended.out.contains("no design meets every requirement"), "{} {}", ended.out, ended.err);
    user.write("study.toml", STUDY.replace("disks = [3", "diks = [3"));
    let ended = user.fathom("explore study.toml");
    assert_eq!(ended.code, Some(2), "{} {}", ended.out, ended.err);
    assert!(ended.err.contains("did you mean `disks`"), "{} {}", ended.out, ended.err);
}

#[test]
fn a_close_call_of_a_degraded_array_is_settled_on_a_degraded_array() {
    let user = User::with_plan("");
    let study = STUDY
        .replace("meet     = \"iops >= 220\"", "state = \"degraded\"\nmeet = \"iops >= 1 at p99 < 400ms\"")
        .replace("raid  = [\"5\", \"6\", \"10\"]\ndisks = [3, 4, 6]", "raid  = [\"5\"]\ndisks = [3, 4]");
    user.write("study.toml", &study);
    let found = user.fathom("explore study.toml --json --checkpoint k.jsonl").json();
    let iops = found["requirements"][2]["value"].as_f64().expect("the cheapest has a rate");
    user.write("study.toml", study.replace("iops >= 1 at", &format!("iops >= {:.0} at", iops * 0.99)));
    let ended = user.fathom("explore study.toml --checkpoint k.jsonl --settle close.toml");
    assert_eq!(ended.code, Some(0), "{} {}", ended.out, ended.err);
    let plan = std::fs::read_to_string(user.path("close.plan.toml")).expect("a plan");
    assert!(plan.contains("state = \"fail disk 0\"") && plan.contains("vm, degraded, 4 in flight"), "{plan}");
    let dry = user.fathom("campaign close.toml --dry-run");
    assert_eq!(dry.code, Some(0), "{} {}", dry.out, dry.err);
    user.fathom("campaign close.toml").done();
    let run = user.last();
    let points = run["points"].as_array().expect("points");
    let load = points.iter().find(|point| point["kind"] == "load").expect("a load");
    assert_eq!(load["name"], "vm, degraded, 4 in flight");
    assert!(points[0]["name"] == "fail disk 0" && points[0]["kind"] == "state", "{}", points[0]["name"]);
}

#[test]
fn a_drive_without_a_price_ends_a_study_by_its_name() {
    let user = User::with_plan("");
    user.write("study.toml", STUDY.replace("disk  = 110", "disk  = { another = 80 }"));
    let ended = user.fathom("explore study.toml");
    assert_eq!(ended.code, Some(2), "{} {}", ended.out, ended.err);
    assert!(ended.err.contains("` is missing; add"), "{}", ended.err);
}

#[test]
fn off_a_terminal_a_study_says_how_far_it_is_and_by_sigterm_what_is_kept() {
    let user = User::with_plan("");
    let study = STUDY
        .replace(
            "disks = [3, 4, 6]",
            "disks = [3, 4, 5, 6]\nchunk = [\"16KiB\", \"32KiB\", \"64KiB\", \"128KiB\", \"256KiB\"]",
        )
        .replace("depth = 4", "depth = [1, 4, 16, 32, 64, 128]");
    user.write("study.toml", study);
    let line = "explore study.toml --brute --no-save --threads 1 --checkpoint known.jsonl";
    let mut running = user.start(line);
    let said = running.wait_for("ETA");
    // The first round may be over before it is told of.
    assert!(
        said.contains("60 designs, ") && said.contains(" round: ") && said.contains("at its pace so far"),
        "{said}"
    );
    running.signal(Signal::TERM);
    let ended = running.end().with(143);
    let known = || std::fs::read_to_string(user.path("known.jsonl")).unwrap().lines().count() - 1;
    let kept = known();
    let says = format!("interrupted; {kept} simulations of this study are in the checkpoint known.jsonl");
    assert!(ended.err.replace('\n', " ").contains(&says), "{says}: {}", ended.err);
    let quiet = user.start(&format!("{line} --quiet"));
    wait_until("it goes on", || known() > kept);
    quiet.signal(Signal::INT);
    let ended = quiet.end().with(130);
    assert!(!ended.err.contains("counted"), "{}", ended.err);
}
