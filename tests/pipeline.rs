//! A plan that says what is good enough, and a build server that reads what came of it.

use serde_json::Value;

use crate::support::User;

/// A load on a virtual queue; half a minute of virtual time takes next to none.
const PLAN: &str = r#"
name = "gate"
target = "array:queue?kind={queue}"
slo = ["mean < {limit}", "iops > 10"]
baseline = "tag:release"

[vars]
queue = "queue-mm1"
limit = "10s"
depth_of_it = 4

[[phase]]
name   = "load"
run    = "60s"
warmup = "1s"
span   = "1GiB"
depth  = "{depth_of_it}"
"#;

fn with_baseline() -> User {
    let user = User::with_plan(PLAN);
    for seed in 1..=5 {
        user.fathom(&format!("run plan.toml --tag release=1 --set seed={seed}")).done();
    }
    user
}

fn gate(user: &User) -> Value {
    user.fathom("show last --json").done().json()["judgement"]["gate"].clone()
}

#[test]
fn a_violated_objective_exits_1_and_an_inconclusive_one_passes_or_fails_as_asked() {
    let user = User::with_plan(PLAN);
    let told = user.fathom("run plan.toml --set baseline=none --junit out.xml").done().out;
    assert!(told.contains("SLOs and baseline: met") && told.contains("iops>10 met at load"), "{told}");
    let line =
        "run plan.toml --set baseline=none --var limit=1us --annotations --junit out.xml --series s.csv";
    let violated = user.fathom(line).with(1).saying(&["exit 1: mean<1us violated at load"]);
    assert!(
        violated.err.contains("::error file=plan.toml,line=4,title=fathom gate::mean<1us"),
        "{}",
        violated.err
    );
    let xml = std::fs::read_to_string(user.path("out.xml")).unwrap();
    let document = roxmltree::Document::parse(&xml).unwrap();
    is_junit(&document);
    is_xunit_of_jenkins(&document);
    let failures = document.descendants().filter(|node| node.has_tag_name("failure")).count();
    assert_eq!(failures, 1, "{xml}");
    let rows: Vec<csv::StringRecord> =
        csv::Reader::from_path(user.path("s.csv")).unwrap().records().map(Result::unwrap).collect();
    assert!(rows.len() >= 60, "{} rows for a minute", rows.len());
    let record = user.fathom("show last --json").done().json();
    assert_eq!(record["judgement"]["verdict"], "violated");
    assert_eq!(record["ending"]["code"], 1);
    // Without a run of that label nobody can tell.
    user.fathom("run plan.toml").done().saying(&["No run of plan gate has the label"]);
    user.fathom("run plan.toml --inconclusive fail").with(1).saying(&["No run of plan gate has the label"]);
    let listed = user.fathom("ls --json").done().json();
    let codes: Vec<i64> =
        listed.as_array().unwrap().iter().map(|one| one["code"].as_i64().unwrap()).collect();
    assert_eq!(codes, [1, 0, 1, 0], "the newest first");
}

/// What the schema of Ant's JUnit reports wants of elements, their order and their attributes.
fn is_junit(document: &roxmltree::Document<'_>) {
    let root = document.root_element();
    assert_eq!(root.tag_name().name(), "testsuites");
    let suites: Vec<_> = root.children().filter(|node| node.is_element()).collect();
    assert_eq!(suites.len(), 1);
    let number = |node: &roxmltree::Node<'_, '_>, name: &str| -> f64 {
        node.attribute(name).unwrap_or_else(|| panic!("no {name}")).parse().unwrap()
    };
    for suite in suites {
        assert_eq!(suite.tag_name().name(), "testsuite");
        for name in ["name", "package", "id", "hostname"] {
            assert!(suite.attribute(name).is_some_and(|value| !value.is_empty()), "{name}");
        }
        let stamp = suite.attribute("timestamp").unwrap();
        assert!(stamp.len() == 19 && stamp.as_bytes()[10] == b'T', "{stamp}");
        let inner: Vec<_> = suite.children().filter(|node| node.is_element()).collect();
        let names: Vec<&str> = inner.iter().map(|node| node.tag_name().name()).collect();
        let mut order = names.clone();
        order.dedup();
        assert_eq!(order, ["properties", "testcase", "system-out", "system-err"]);
        let cases: Vec<_> = inner.iter().filter(|node| node.has_tag_name("testcase")).collect();
        assert_eq!(number(&suite, "tests"), cases.len() as f64);
        for (attribute, element) in [("failures", "failure"), ("errors", "error"), ("skipped", "skipped")] {
            let found = suite.descendants().filter(|node| node.has_tag_name(element)).count();
            assert_eq!(number(&suite, attribute), found as f64, "{attribute}");
        }
        for case in cases {
            assert!(case.attribute("name").is_some() && case.attribute("classname").is_some());
            assert!(number(case, "time") >= 0.0);
        }
    }
}

/// What the schema of Jenkins' xUnit plugin (`junit-10.xsd`) has of elements, their attributes and what stands within them:
/// nothing else is accepted.
fn is_xunit_of_jenkins(document: &roxmltree::Document<'_>) {
    const SUITE: [&str; 14] = [
        "name",
        "tests",
        "failures",
        "errors",
        "group",
        "time",
        "skipped",
        "timestamp",
        "hostname",
        "id",
        "package",
        "file",
        "log",
        "url",
    ];
    const RESULT: [&str; 2] = ["type", "message"];
    for node in document.descendants().filter(roxmltree::Node::is_element) {
        let (attributes, needed, within): (&[&str], &[&str], &[&str]) = match node.tag_name().name() {
            "testsuites" => (&["name", "time", "tests", "failures", "errors"], &[], &["testsuite"]),
            "testsuite" => {
                let within = &["testsuite", "properties", "testcase", "system-out", "system-err"];
                (&SUITE, &SUITE[..4], within)
            }
            "properties" => (&[], &[], &["property"]),
            "property" => (&["name", "value"], &["name", "value"], &[]),
            "testcase" => {
                let within = &["skipped", "error", "failure", "system-out", "system-err"];
                (&["name", "time", "classname", "group"], &["name"], within)
            }
            "failure" | "error" | "skipped" => (&RESULT, &[], &[]),
            "system-out" | "system-err" => (&[], &[], &[]),
            other => panic!("the schema has no {other}"),
        };
        let name = node.tag_name().name();
        for attribute in node.attributes() {
            assert!(attributes.contains(&attribute.name()), "{name} has no {}", attribute.name());
        }
        assert!(needed.iter().all(|one| node.attribute(*one).is_some()), "{name} lacks one of {needed:?}");
        for inner in node.children().filter(roxmltree::Node::is_element) {
            assert!(within.contains(&inner.tag_name().name()), "{:?} in {name}", inner.tag_name());
        }
        if let Some(time) = node.attribute("time").filter(|_| name != "testcase") {
            assert!(time.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.'), "{time}");
        }
        // Only what failed has text of its own.
        let is_mixed = matches!(name, "failure" | "error" | "skipped" | "system-out" | "system-err");
        let text = |node: &roxmltree::Node<'_, '_>| node.text().is_some_and(|text| !text.trim().is_empty());
        assert!(is_mixed || !node.children().any(|inner| inner.is_text() && text(&inner)), "text in {name}");
    }
}

#[test]
fn a_run_like_the_baseline_passes_and_a_slower_one_fails_once_a_second_has_confirmed_it() {
    let user = with_baseline();
    user.fathom("run plan.toml --set seed=9").done();
    let equal = gate(&user);
    assert_eq!(equal["baseline_runs"].as_array().unwrap().len(), 5, "{equal:#}");
    assert_eq!(equal["false_alarm_rate"], 0.01);
    assert!(equal["verdict"] != "violated" && equal["rows"][0]["detectable"].as_f64().is_some(), "{equal:#}");
    // Half as many requests in flight on four slow servers: half the rate.
    let slower = "--var queue=queue-mm4 --var depth_of_it=2";
    let before = user.fathom("ls --json -n 100").done().json().as_array().unwrap().len();
    user.fathom(&format!("run plan.toml --set seed=21 {slower}"))
        .with(1)
        .saying(&["measured again", "worse than"]);
    let slow = gate(&user);
    assert_eq!(
        (slow["verdict"].as_str(), slow["confirmed"].as_bool()),
        (Some("violated"), Some(true)),
        "{slow:#}"
    );
    let after = user.fathom("ls --json -n 100").done().json();
    assert_eq!(after.as_array().unwrap().len(), before + 2, "the run and the one that confirms it");
    assert_eq!(after[1]["code"], 0, "the first only suspects: {}", after[1]["reason"]);
    user.fathom(&format!("run plan.toml --set seed=22 --confirm 0 {slower}")).with(1);
    assert_eq!(gate(&user)["confirmed"], false);
    user.fathom("run plan.toml --set seed=23 --set baseline=tag:release=1").done();
}

#[test]
fn one_run_of_each_side_learns_the_noise_from_equal_runs_of_the_library() {
    let user = User::with_plan(PLAN);
    user.fathom("run plan.toml --tag release=1 --set seed=1").done();
    for seed in 2..=4 {
        user.fathom(&format!("run plan.toml --tag build=a --set seed={seed} --set baseline=none")).done();
    }
    user.fathom("run plan.toml --tag build=b --set seed=5 --set baseline=none --var depth_of_it=8").done();
    user.fathom("run plan.toml --set seed=9").done();
    let noise = gate(&user)["noise"].clone();
    assert!(noise.as_str().unwrap().starts_with("learnt from 3 equal runs of the library"), "{noise}");
}

#[test]
fn a_model_of_the_array_names_the_part_that_became_slower() {
    let user = User::with_plan(
        "name = \"m\"\ntarget = \"array:md3000?raid=5\"\nbaseline = \"tag:release\"\n\
         model = \"array:md3000?raid=5\"\n[defaults]\npattern = \"random\"\nwarmup = \"1s\"\nrun = \"3s\"\n\
         [[phase]]\nname = \"read\"\n[[phase]]\nname = \"write\"\nreads = \"0%\"\ndepth = 8\n\
         [[phase]]\nname = \"write alone\"\nreads = \"0%\"\n",
    );
    for seed in 1..=3 {
        user.fathom(&format!("run plan.toml --tag release=1 --set seed={seed}")).done();
    }
    let slower = "--on array:md3000?raid=5&write_cache=false --confirm 0";
    user.fathom(&format!("run plan.toml --set seed=9 {slower} --junit out.xml")).with(1);
    let found = gate(&user)["culprit"].clone();
    assert_eq!(found["part"], "write cache", "{found:#}");
    let told = user.fathom("show last").done().out;
    assert!(told.contains("slower part: write cache off, by array:md3000?raid=5"), "{told}");
    let xml = std::fs::read_to_string(user.path("out.xml")).unwrap();
    assert!(xml.contains("<property name=\"slower_part\" value=\"write cache\"/>"), "{xml}");
    user.fathom("run plan.toml --set model=md3000").with(2).saying(&["a model is a virtual array"]);
}

#[test]
fn a_target_that_a_plan_names_is_no_consent_to_destroy_it() {
    let user =
        User::with_plan("name = \"w\"\ntarget = \"data.bin\"\n[[phase]]\nreads = \"0%\"\nrun = \"1s\"\n");
    user.write("data.bin", vec![7u8; 1 << 20]);
    user.fathom("run plan.toml").with(3);
    assert_eq!(std::fs::read(user.path("data.bin")).unwrap(), vec![7u8; 1 << 20]);
    user.fathom("run plan.toml --set target=missing.bin").with(2);
    assert!(!user.path("missing.bin").exists(), "nothing is created");
}

#[test]
fn an_unknown_variable_is_shown_where_it_was_typed() {
    let user = User::with_plan(PLAN);
    user.fathom("run plan.toml --var queu=x")
        .with(2)
        .saying(&["no variable of the plan", "did you mean `queue`?"]);
    let plan = PLAN.replace("{depth_of_it}", "{deep}");
    user.write("plan.toml", plan);
    user.fathom("plan check plan.toml")
        .with(2)
        .saying(&["`{deep}` is no variable of the plan", "plan.toml:"]);
}
