//! The program about itself: self-test, help, manual pages.

use crate::support::{SMALL, User, lacks};

#[test]
fn a_part_of_the_self_test_can_be_tried_alone_and_passes() {
    let ended = User::new().fathom("doctor --self-test --only generators").done();
    assert!(!ended.out.contains("planted"), "{}", ended.out);
    assert!(ended.out.contains("ok") && !ended.out.contains("FAILED"), "{}", ended.out);
}

#[test]
fn a_family_of_the_self_test_is_a_line_and_every_check_of_it_is_told_in_full() {
    let user = User::new();
    let short = user.fathom("doctor --self-test --only generators").done().out;
    let (_, short) = short.split_once("passed: generators").unwrap();
    assert!(short.lines().count() <= 4 && short.contains("% of their limits"), "{short}");
    let full = user.fathom("doctor --self-test --only generators --full").done().out;
    assert!(full.matches("  ok  ").count() > 10, "{full}");
}

#[test]
#[ignore = "takes minutes without optimisation; each part is tested where it is made"]
fn the_whole_self_test_passes_and_fits_a_screen() {
    let ended = User::new().fathom("doctor --self-test").done();
    assert!(!ended.out.contains("FAILED") && ended.out.lines().count() <= 24, "{}", ended.out);
    assert!(ended.out.lines().all(|line| line.chars().count() <= 120), "{}", ended.out);
}

#[test]
fn the_self_test_is_written_for_programs_with_what_was_found_and_what_is_asked() {
    let json = User::new().fathom("doctor --self-test --only generators --format json").done().out;
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&value["passed"], &value["full"]), (&true.into(), &false.into()));
    let checks =
        value["sections"].as_array().unwrap().iter().flat_map(|one| one["checks"].as_array().unwrap());
    assert!(checks.clone().count() > 10, "{json}");
    for check in checks {
        assert!(
            check["found"].is_number() && (check["low"].is_number() || check["high"].is_number()),
            "{check}"
        );
    }
    User::new().fathom("doctor . --self-test --format json").with(2);
}

#[test]
fn the_doctor_describes_a_place_and_what_speaks_against_writing_to_it() {
    let user = User::new();
    user.write("data", "mine");
    let out = user.fathom("doctor data").done().out;
    for word in ["machine", "memory", "io_uring", "library", "file system", "free"] {
        assert!(out.contains(word), "no `{word}` in:\n{out}");
    }
    user.fathom("doctor no/such/place").with(2);
}

#[test]
fn help_names_every_verb_and_exit_code() {
    let user = User::new();
    let help = user.fathom("--help").done().out;
    for word in ["run", "plan", "ls", "show", "export", "rm", "doctor", "completions", "Exit codes", "130"] {
        assert!(help.contains(word), "no `{word}` in:\n{help}");
    }
    assert!(user.fathom("--version").done().out.starts_with("fathom "));
    user.fathom("frobnicate").with(2);
    user.fathom("").with(2);
}

#[test]
fn every_command_has_a_manual_page_that_is_shown_without_a_warning() {
    let user = User::new();
    user.fathom("man pages").done();
    let pages = std::fs::read_dir(user.path("pages")).unwrap().map(|entry| entry.unwrap().path());
    let pages: Vec<_> = pages.collect();
    for name in ["fathom.1", "fathom-run.1", "fathom-array-fit.1", "fathom-plan-help.1"] {
        assert!(pages.iter().any(|page| page.ends_with(name)), "no {name} in {pages:?}");
    }
    let text = user.fathom("man").done().out;
    assert_eq!(text, std::fs::read_to_string(user.path("pages/fathom.1")).unwrap());
    assert!(text.contains(".SH EXAMPLES") && text.contains(".SH \"EXIT CODES\""), "{text}");
    for page in pages {
        let groff = std::process::Command::new("groff")
            .args(["-Kutf8", "-ww", "-man", "-Tutf8", "-z"])
            .arg(&page)
            .output();
        let Ok(shown) = groff else { return lacks("groff", "needs groff") };
        let err = String::from_utf8_lossy(&shown.stderr);
        assert!(shown.status.success() && err.is_empty(), "{}: {err}", page.display());
    }
}

#[test]
fn the_examples_of_the_help_fit_a_terminal_of_eighty_columns() {
    let help = User::new().fathom("--help").done().out;
    let examples: Vec<&str> = help.lines().skip_while(|line| !line.starts_with("Examples")).collect();
    assert!(examples.len() > 10, "{help}");
    for line in examples {
        assert!(line.len() < 80, "{line}");
    }
}

#[test]
fn the_path_to_the_media_is_drawn_and_written_and_put_right_by_a_file_of_parts() {
    let user = User::new();
    user.write("data", "mine");
    let drawn = user.fathom("doctor data --width 90").done().out;
    assert!(drawn.contains(" file system"), "{drawn}");
    let json = user.fathom("doctor data --format json").done().out;
    let path: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert!(path["kind"].as_str().unwrap().ends_with("file system"), "{json}");
    let name = path["name"].as_str().unwrap();
    user.write("parts.toml", format!("[[part]]\nname = \"box\"\nunder = \"{name}\"\nrequests = 90000\n"));
    assert!(user.fathom("doctor data --parts parts.toml").done().out.contains("90,000/s"));
    user.write("parts.toml", "[[part]]\nname = \"nowhere\"\nrequests = 1\n");
    let ended = user.fathom("doctor data --parts parts.toml");
    assert!(ended.err.contains("parts.toml:2"), "{}", ended.err);
    ended.with(2);
    user.fathom("doctor --format json").with(2);
}

const DISKS: &str = r#"
name = "disks"

[defaults]
span  = "500GiB"
reads = "100%"
run   = "5s"

[[phase]]
name  = "x{depth}"
depth = { sweep = [1, 128] }
"#;

#[test]
fn the_limit_of_a_virtual_array_is_told_from_the_record_alone() {
    let user = User::with_plan(DISKS);
    user.fathom("run plan.toml --on array:md3000").done();
    let told = user.fathom("explain").done().out;
    assert!(told.contains("Latency-bound"), "{told}");
    assert!(told.contains("LUN queue is the bottleneck"), "{told}");
    let json = user.fathom("explain last --format json").done().out;
    let findings: serde_json::Value = serde_json::from_str(&json).unwrap();
    let codes: Vec<&str> =
        findings.as_array().unwrap().iter().filter_map(|each| each["code"].as_str()).collect();
    assert!(codes.contains(&"bottleneck") && codes.contains(&"latency-bound"), "{codes:?}");
    user.write("parts.toml", "[[part]]\nname = \"box\"\nunder = \"x\"\nrequests = 1\n");
    user.fathom("explain --parts parts.toml").with(2);
}

const OPEN: &str = r#"
name = "open"

[defaults]
reads = "100%"
size  = "8KiB"
depth = 16

[[phase]]
name = "short"
run  = "100ms"

[[phase]]
name = "long"
run  = "600s"
"#;

#[test]
fn a_limit_that_takes_long_to_try_is_left_open_with_what_to_ask_for() {
    let user = User::with_plan(OPEN);
    user.fathom("run plan.toml --on array:perc-3-qc?raid=0").done();
    let findings = user.last()["findings"].as_array().unwrap().clone();
    let open = findings.iter().filter(|finding| finding["code"] == "bottleneck-undetermined");
    assert!(open.clone().count() == 2, "{findings:?}");
    let command = "`fathom explain last --what-if --point ";
    assert!(open.clone().all(|finding| finding["remedy"].as_str().unwrap().contains(command)));
    let told: serde_json::Value =
        serde_json::from_str(&user.fathom("explain last --format json").done().out).unwrap();
    let of_point = |index: u64| {
        let about = |finding: &&serde_json::Value| {
            let code = finding["code"].as_str().unwrap();
            finding["point"] == index && (code.starts_with("bottleneck") || code == "latency-bound")
        };
        told.as_array().unwrap().iter().find(about).unwrap().clone()
    };
    let (short, long) = (of_point(0), of_point(1));
    assert_ne!(short["code"], "bottleneck-undetermined", "{short}");
    assert_eq!(long["code"], "bottleneck-undetermined");
    let remedy = long["remedy"].as_str().unwrap();
    assert!(remedy.contains("--what-if --point 2`") && !remedy.contains("`fathom explain`"), "{remedy}");
}

/// What the descriptions say the controllers have, in MiB.
const CACHES: [(&str, f64); 3] = [("md3000", 512.0), ("ix2-200", 128.0), ("drobo-pro", 256.0)];

#[test]
fn the_caches_of_virtual_arrays_are_found_as_large_as_they_are() {
    for (array, mib) in CACHES {
        let user = User::new();
        let line = format!("doctor array:{array} --caches --most 2GiB --format json");
        let caches = user.fathom(&line).done().json();
        let size = |cache: &serde_json::Value| cache["size_bytes"].as_f64().unwrap() / 1_048_576.0;
        let sizes: Vec<f64> = caches.as_array().unwrap().iter().map(size).collect();
        assert!(sizes.iter().any(|size| (size / mib - 1.0).abs() < 0.2), "{array}: {sizes:?}, not {mib}");
    }
}

#[test]
fn a_look_for_caches_is_kept_and_writes_nothing() {
    let user = User::new();
    user.write("data", vec![7; 16 << 20]);
    let out = user.fathom("doctor data --caches --most 8MiB").done().out;
    // Whether one is seen is for the machine to say.
    assert!(out.to_lowercase().contains("cache") && out.contains("8 MiB"), "{out}");
    assert_eq!(std::fs::read(user.path("data")).unwrap(), vec![7; 16 << 20]);
    assert!(user.fathom("ls").done().out.contains("caches"));
    user.write("small", vec![7; 1 << 20]);
    user.fathom("doctor small --caches").with(2).saying(&["no room for more than 1 MiB"]);
    user.fathom("doctor --caches").with(2);
}

#[test]
fn a_run_shows_its_grade_and_what_it_follows_from_wherever_it_is_shown() {
    let user = User::with_plan(SMALL);
    let out = user.fathom("run plan.toml --on .").done().out;
    // Where the line breaks depends on what failed.
    let words = out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("Grade ") && words.contains("not checked: cache"), "{out}");
    let full = user.fathom("show last --full").done().out;
    assert!(full.contains("? cache was not checked"), "{full}");
    let grade = user.last()["grading"]["grade"].as_str().unwrap().to_owned();
    for line in ["show last", "show last --format md", "explain last"] {
        let shown = user.fathom(line).done().out;
        assert!(shown.contains(&format!("Grade {grade}")), "{line}:\n{shown}");
    }
    let list = user.fathom("ls").done().out;
    assert!(list.contains("grade") && list.contains(&format!(" {grade} ")), "{list}");
}
