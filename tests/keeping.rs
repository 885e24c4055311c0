//! Runs that are kept: listed, shown, exported and removed.

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
    user.fathom("run plan.toml --on null: --store mine.sqlite").done();
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
