//! Runs that are kept: listed, shown, exported and removed, also where something is wrong with them.

use crate::support::{SMALL, User};

/// A user with three runs.
fn user() -> User {
    let user = User::with_plan(SMALL);
    user.write("other.toml", SMALL.replace("small", "other"));
    user.fathom("run plan.toml --on null: --tag room=3 --tag shelf=top").done();
    user.fathom("run other.toml --on null: --tag room=4").done();
    user.fathom("run plan.toml --on null:1GiB").done();
    user
}

/// The numbers of the runs that `fathom ls ARGUMENTS` shows.
fn listed(user: &User, arguments: &str) -> Vec<u32> {
    let table = user.fathom(&format!("ls {arguments}")).done().out;
    table.lines().filter_map(|line| line.split_whitespace().next()?.parse().ok()).collect()
}

#[test]
fn runs_are_listed_latest_first_and_can_be_narrowed_down() {
    let user = user();
    assert_eq!(listed(&user, ""), [3, 2, 1]);
    assert_eq!(listed(&user, "-n 1"), [3]);
    assert_eq!(listed(&user, "--plan other"), [2]);
    assert_eq!(listed(&user, "--on 1GiB"), [3]);
    assert_eq!(listed(&user, "--tag room"), [2, 1]);
    assert_eq!(listed(&user, "--tag room=3"), [1]);
    assert_eq!(listed(&user, "--tag shelf"), [1]);
    assert_eq!(listed(&user, "--since 2999-01-01"), [0; 0]);
    assert_eq!(listed(&user, "--since 2020-01-01"), [3, 2, 1]);
}

#[test]
fn a_run_is_named_by_its_place_its_number_or_its_id() {
    let user = user();
    let id = |selector: &str| {
        let run = user.fathom(&format!("show {selector} --format json")).done().json();
        run["id"].as_str().unwrap().to_owned()
    };
    assert_eq!(id("last"), id("3"));
    assert_eq!(id("last~2"), id("1"));
    assert_eq!(id(&id("2")), id("2"));
    user.fathom("show 99").with(2).saying(&["99", "fathom ls"]);
}

#[test]
fn what_is_shown_is_what_was_printed_after_the_run() {
    let user = User::with_plan(SMALL);
    let ended = user.fathom("run plan.toml --on null:").done().saying(&["Saved; show it with: fathom show"]);
    let printed = ended.out;
    assert_eq!(user.fathom("show last").done().out, printed);
    assert_eq!(user.fathom("show").done().out, printed);
}

#[test]
fn what_is_removed_is_gone_and_nothing_else() {
    let user = user();
    user.fathom("rm 1 last").done().saying(&["removed"]);
    assert_eq!(listed(&user, ""), [2]);
    user.fathom("rm 1").with(2);
    user.fathom("rm").with(2);
}

#[test]
fn a_library_of_ones_own_is_used_and_the_common_one_left_alone() {
    let user = User::with_plan(SMALL);
    let made = user.fathom("run plan.toml --on null: --store mine.sqlite").done();
    assert_eq!(made.err.matches("new library mine.sqlite").count(), 1, "{}", made.err);
    assert!(!user.fathom("ls --store mine.sqlite").done().err.contains("new library"), "it is there");
    assert_eq!(listed(&user, "--store mine.sqlite"), [1]);
    assert!(!user.path(".local").exists());
    let ended = user.command("ls").env("FATHOM_STORE", "mine.sqlite").output().unwrap();
    assert_eq!(String::from_utf8_lossy(&ended.stdout), user.fathom("ls --store mine.sqlite").done().out);
}

#[test]
fn a_run_that_is_not_to_be_kept_is_not() {
    let user = User::with_plan(SMALL);
    let ended = user.fathom("run plan.toml --on null: --no-save").done();
    assert!(!ended.err.contains("fathom show"), "{}", ended.err);
    assert!(!user.path(".local").exists());
}

#[test]
fn a_library_that_is_no_library_is_told_before_anything_is_measured() {
    let user = User::with_plan(SMALL);
    user.write("letter", "Dear Sir, this is not a database.");
    user.fathom("run plan.toml --on . --store letter").with(2).saying(&["letter"]);
    user.fathom("run plan.toml --on . --store no/such/place.sqlite --dry-run").done();
    assert_eq!(std::fs::read(user.path("letter")).unwrap(), b"Dear Sir, this is not a database.");
}

#[test]
fn a_plan_that_turns_out_not_to_fit_leaves_no_run() {
    let user = User::with_plan(SMALL);
    user.directory("d");
    // Found by the engine, once scratch files are there; unless somebody has reserved that many huge pages.
    let changes = "--set huge_pages=true --set size=8MiB --set depth=512 --set span=auto";
    let ended = user.fathom(&format!("run plan.toml --on d --scratch 64MiB {changes}"));
    let ended = ended.with(2).saying(&["huge pages"]);
    assert_eq!((ended.out.as_str(), ended.err.contains("fathom show")), ("", false), "{}", ended.err);
    assert_eq!(listed(&user, ""), [0; 0]);
}

#[test]
fn what_a_medium_has_damaged_is_named_and_the_rest_is_shown() {
    let user = user();
    let library = user.path(".local/share/fathom/runs.sqlite");
    let mut bytes = std::fs::read(&library).unwrap();
    let (word, other) = (b"\"planned\":", b"\"plannee\":");
    let found = bytes.windows(word.len()).enumerate().filter(|(_, bytes)| bytes == word);
    let places: Vec<usize> = found.map(|(at, _)| at).collect();
    // Some lie in pages that the library has given up.
    let is_damaged = |&at: &usize| {
        bytes[at..at + word.len()].copy_from_slice(other);
        std::fs::write(&library, &bytes).unwrap();
        bytes[at..at + word.len()].copy_from_slice(word);
        user.fathom("ls --check").code == Some(8)
    };
    assert!(places.iter().any(is_damaged), "the library has a point");
    let ended = user
        .fathom("ls --check")
        .with(8)
        .saying(&["does not hold it as it was saved", "the checksum of point 0"]);
    assert_eq!(ended.out, user.fathom("ls").done().out);
    let shown: Vec<Option<i32>> = (1..=3).map(|number| user.fathom(&format!("show {number}")).code).collect();
    assert_eq!(shown.iter().filter(|code| **code == Some(0)).count(), 2, "{shown:?}");
    let damaged = 1 + shown.iter().position(|code| *code == Some(2)).unwrap();
    user.fathom(&format!("show {damaged}")).with(2).saying(&[&format!("fathom rm {damaged}")]);
    user.fathom(&format!("rm {damaged}")).done();
    user.fathom("ls --check").done();
}

#[test]
fn too_few_descriptors_are_told_as_such_with_what_to_do() {
    let user = User::with_plan(SMALL);
    user.directory("d");
    user.fathom("run plan.toml --on null:").done();
    let limited = |limit: u32, line: &str| {
        let mut command = std::process::Command::new("sh");
        command.args(["-c", &format!("ulimit -n {limit}; exec \"$0\" \"$@\"")]);
        let program = user.command(line);
        command.arg(program.get_program()).args(program.get_args()).current_dir(user.path(""));
        command.env("HOME", user.path("")).output().unwrap()
    };
    let mut failures = 0;
    for limit in 4..14 {
        for line in ["ls", "run plan.toml --on d --scratch 8MiB", "run plan.toml --on null: -o out.json"] {
            let ended = limited(limit, line);
            let said = String::from_utf8_lossy(&ended.stderr).into_owned();
            let last = said.lines().last().unwrap_or_default();
            match ended.status.code() {
                Some(0) => {}
                Some(_) => {
                    failures += 1;
                    assert!(last.contains("ulimit -n"), "{limit} descriptors, {line}: {said}");
                }
                None => panic!("{limit} descriptors, {line}: {said}"),
            }
        }
    }
    assert!(failures > 3, "only {failures} failed");
}
