//! Pipes, colours and width.

use std::io::Read;
use std::process::{Command, Stdio};

use crate::support::{Ended, SMALL, User};

/// A user with one run.
fn user() -> User {
    let user = User::with_plan(SMALL);
    user.fathom("run plan.toml --on null: --set depth={sweep=[1,2,4]}").done();
    user
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let user = user();
    for line in ["show last", "export last", "ls", "plan show corners", "--help"] {
        let mut child = user.command(line).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let status = child.wait().unwrap();
        let mut err = String::new();
        child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
        assert!(status.success(), "{line}: {status}: {err}");
    }
}

#[test]
fn progress_goes_to_stderr_and_the_result_to_stdout() {
    let user = User::with_plan(SMALL);
    let ended = user.fathom("run plan.toml --on null:").done();
    assert!(ended.err.contains("[1/1] read") && !ended.out.contains("[1/1]"), "{ended:?}");
    assert!(!ended.err.contains('\x1b') && !ended.out.contains('\x1b'), "no control codes in a pipe");
    let quiet = user.fathom("run plan.toml --on null: --quiet").done();
    assert_eq!(quiet.err, "");
}

/// What `fathom LINE` prints on a terminal of 80 columns, by script(1). `None` where that is missing.
fn on_a_terminal(user: &User, line: &str, variables: &[(&str, &str)]) -> Option<Ended> {
    let program = format!("stty cols 80; exec '{}' {line}", env!("CARGO_BIN_EXE_fathom"));
    let model = user.command("");
    let mut script = Command::new("script");
    script.args(["--quiet", "--return", "--command", &program, "/dev/null"]).env_clear();
    script.current_dir(user.path("")).stdin(Stdio::null());
    script.envs(model.get_envs().filter_map(|(key, value)| Some((key, value?))));
    script.env("TERM", "xterm").envs(variables.iter().copied());
    match script.output() {
        Ok(output) => Some(Ended::of(&output)),
        Err(_) => {
            crate::support::lacks("script", "needs script, from the package bsdutils");
            None
        }
    }
}

#[test]
fn colours_are_for_terminals_and_can_be_switched_off() {
    let user = user();
    let Some(coloured) = on_a_terminal(&user, "show last", &[]) else { return };
    assert!(coloured.out.contains('\x1b'), "{}", coloured.out);
    let plain = on_a_terminal(&user, "show last", &[("NO_COLOR", "1")]).unwrap();
    assert!(!plain.out.contains('\x1b'), "{}", plain.out);
    let never = on_a_terminal(&user, "show last --color never", &[]).unwrap();
    assert!(!never.out.contains('\x1b'), "{}", never.out);
    assert!(user.fathom("show last --color always").done().out.contains('\x1b'));
    assert!(!user.fathom("show last").done().out.contains('\x1b'));
}

#[test]
fn nothing_is_wider_than_asked_for() {
    let user = user();
    if let Some(ended) = on_a_terminal(&user, "show last", &[("NO_COLOR", "1")]) {
        let widest = ended.out.lines().map(|line| line.trim_end().chars().count()).max();
        assert!(widest <= Some(80), "{widest:?} columns on a terminal of 80:\n{}", ended.out);
    }
    for width in [60, 80, 140] {
        let text = user.fathom(&format!("show last --width {width}")).done().out;
        for line in text.lines() {
            assert!(line.chars().count() <= width, "{} columns, not {width}: {line}", line.chars().count());
        }
    }
}

/// A sweep over more points than anybody reads one by one.
const MANY: &str = "name = \"many\"\n[defaults]\nspan = \"1GiB\"\nrun = \"1s\"\n[[phase]]\n\
    name = \"{size} {pattern}, queue depth {depth}\"\n\
    size = { sweep = [\"4KiB\", \"16KiB\", \"64KiB\"] }\npattern = { sweep = [\"random\", \"sequential\"] }\n\
    depth = { sweep = [1, 2, 4, 8, 16, 32] }\n";

#[test]
fn what_many_points_come_to_fits_a_screen_or_two_and_the_rest_is_there_on_request() {
    let user = User::with_plan(MANY);
    user.fathom("run plan.toml --on array:md3000").done();
    let brief = user.fathom("explain last").done().out;
    let full = user.fathom("explain last --full").done().out;
    assert!(brief.lines().count() < 120, "{} lines", brief.lines().count());
    assert!(full.lines().count() > 2 * brief.lines().count());
    assert!(brief.contains("--full"), "{brief}");
    for text in
        [&brief, &full, &user.fathom("show last").done().out, &user.fathom("show last --full").done().out]
    {
        assert!(!text.contains(['{', '}']), "{text}");
    }
}
