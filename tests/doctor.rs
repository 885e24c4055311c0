//! The program about itself: self-test, help, completions.

use crate::support::User;

#[test]
fn the_self_test_passes() {
    let ended = User::new().fathom("doctor --self-test").done();
    assert!(ended.out.contains("ok") && !ended.out.contains("FAILED"), "{}", ended.out);
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
fn completions_are_made_for_every_shell() {
    let user = User::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = user.fathom(&format!("completions {shell}")).done().out;
        assert!(script.contains("fathom") && script.contains("dry-run"), "{shell}");
    }
    user.fathom("completions tcsh").with(2);
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
    assert!(told.contains("you are latency-bound"), "{told}");
    assert!(told.contains("disks are the limit"), "{told}");
    let json = user.fathom("explain last --format json").done().out;
    let findings: serde_json::Value = serde_json::from_str(&json).unwrap();
    let codes: Vec<&str> =
        findings.as_array().unwrap().iter().filter_map(|each| each["code"].as_str()).collect();
    assert!(codes.contains(&"limit") && codes.contains(&"latency-bound"), "{codes:?}");
    user.write("parts.toml", "[[part]]\nname = \"box\"\nunder = \"x\"\nrequests = 1\n");
    user.fathom("explain --parts parts.toml").with(2);
}
