//! A team's library: the same commands on a PostgreSQL server, which the tests start themselves.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::support::{Postgres, SMALL, User, repository};

#[test]
fn the_statements_of_the_guide_make_writers_and_readers() {
    let Some(server) = Postgres::own() else { return };
    let page = fs::read_to_string(repository("docs/src/team.md")).unwrap();
    let blocks: Vec<&str> =
        page.split("```sql\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    server.sql("postgres", blocks[0]);
    server.sql("fathom", blocks[1]);
    let user = User::with_plan(SMALL);
    let fathom =
        |role: &str, line: &str| user.fathom(&format!("--store {} {line}", server.address(role, "fathom")));
    fathom("anna", "run plan.toml --on null:").done();
    server.sql("fathom", "CREATE ROLE emil LOGIN IN ROLE fathom_writers");
    fathom("emil", "run plan.toml --on null:").done();
    for line in ["ls --check", "show 1", "explain", "compare 1 2", "report 1 -o r.html", "export 2 -o 2.json"]
    {
        fathom("bert", line).done();
    }
    let why = ["the role bert lacks the right", "INSERT on fathom.runs", "GRANT SELECT, INSERT"];
    let refused = fathom("bert", "run plan.toml --on null:").with(2).saying(&why);
    assert!(!refused.err.contains("[1/1]"), "{}", refused.err);
    fathom("bert", "rm last").with(2).saying(&why);
    fathom("bert", "doctor").done();
    server.sql("fathom", &format!("CREATE ROLE carla LOGIN; {}", blocks[2]));
    fathom("carla", "show last").done();
}

#[test]
fn a_campaign_is_measured_by_one_machine_at_a_time() {
    let Some((_, _, address)) = user() else { return };
    let campaign =
        "name = \"c\"\nplans = [\"plan.toml\"]\non = \"null:\"\nrepeats = 2\n[factors]\ndepth = [1, 2]\n";
    let users = [0, 1].map(|_| User::with_plan(&SMALL.replace("200ms", "3s")));
    users.iter().for_each(|user| drop(user.write("c.toml", campaign)));
    let line = format!("--store {address} campaign c.toml");
    let mut first = users[0].start(&line);
    first.wait_for("[1 of");
    users[1].fathom(&line).with(2).saying(&["is being measured by another process"]);
    first.signal(rustix::process::Signal::INT);
    assert_eq!(first.wait(), Some(130));
}

/// A user, and the address of a fresh database.
fn user() -> Option<(User, &'static Postgres, String)> {
    let server = Postgres::shared()?;
    let address = server.address("postgres", &server.database());
    Some((User::with_plan(SMALL), server, address))
}

#[test]
fn every_verb_that_takes_a_library_takes_a_server() {
    let Some((user, _, address)) = user() else { return };
    let done = |line: &str| user.fathom(&format!("--store {address} {line}")).done();
    let told = done("run plan.toml --on null: --tag rack=7").err;
    assert!(told.contains(&format!("fathom --store {address} show")), "{told}");
    done("run plan.toml --on null:");
    assert_eq!(done("ls").out.matches("small").count(), 2);
    assert_eq!(done("ls --tag rack=7").out.matches("small").count(), 1);
    assert_eq!(done("show 1 --format json").json()["tags"]["rack"], "7");
    done("show last --full");
    done("explain last");
    done("compare last~1 last");
    done("export last -o last.csv");
    done("report last~1 last -o report.html");
    done("report --verify report.html");
    done("ls --check");
    assert!(done("doctor").out.contains(&address));
    let listed = user.command("ls").env("FATHOM_STORE", &address).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&listed.stdout), done("ls").out);
    done("rm 1 last");
    user.fathom(&format!("--store {address} show last")).with(2).saying(&["is empty"]);
    // Beside a library on a server, this machine has no other.
    assert!(!user.path(".local/share/fathom/runs.sqlite").exists());
}

#[test]
fn a_password_is_found_in_the_environment_or_a_private_file_and_told_nowhere() {
    let Some((user, server, address)) = user() else { return };
    let name = address.split(['/', '?']).nth(3).unwrap();
    server.sql(
        name,
        "CREATE ROLE dora LOGIN PASSWORD 'se cret' IN ROLE asked; CREATE SCHEMA fathom AUTHORIZATION dora",
    );
    let address = server.address("dora", name);
    let run = format!("--store {address} run plan.toml --on null:");
    user.fathom(&run).with(2).saying(&["PGPASSWORD", "~/.pgpass"]);
    assert!(user.command(&run).env("PGPASSWORD", "se cret").output().unwrap().status.success());
    let file = user.write(".pgpass", format!("{}:*:*:dora:se cret\n", server.folder()));
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    user.fathom(&run).with(2);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    user.fathom(&run).done();
    fs::remove_file(file).unwrap();

    let with = address.replace("dora@", "dora:se%20cret@");
    let ended = user.fathom(&format!("--store {with} run plan.toml --on null: -o run.json -o run.md")).done();
    let ended = ended.saying(&["others see the password of --store in the list of processes", &address]);
    let shown = user.fathom(&format!("--store {with} show last --full")).done();
    let page = user.fathom(&format!("--store {with} report last -o report.html")).done();
    let dump = server.sql(name, "SELECT string_agg(json, '') FROM fathom.records");
    let files =
        ["run.json", "run.md", "report.html"].map(|file| fs::read_to_string(user.path(file)).unwrap());
    let help = user.command("ls --help").env("FATHOM_STORE", &with).output().unwrap();
    let wrong = user.fathom(&format!("--store {} ls", with.replace("cret", "cret2"))).with(2);
    let texts = [ended.out, ended.err, shown.out, page.out, page.err, wrong.err, dump];
    for text in texts.iter().chain(&files).chain([&String::from_utf8(help.stdout).unwrap()]) {
        assert!(!text.contains("cret@") && !text.contains("se cret") && !text.contains("se%20"), "{text}");
    }
}

#[test]
fn addresses_that_cannot_be_are_refused_before_anything_is_measured() {
    let user = User::with_plan(SMALL);
    for (address, word) in [
        ("postgres://anna@127.0.0.1:1/runs", "cannot be reached"),
        ("postgres://anna@/runs?host=/nowhere", "cannot be reached"),
        ("postgres://anna@host/runs?sslmode=require", "this program has no TLS"),
        ("postgres://anna:secret@host:secret/runs", "is not understood"),
        ("postgres://anna:sec@ret@host/runs", "%40"),
    ] {
        let ended =
            user.fathom(&format!("--store {address} run plan.toml --on null:")).with(2).saying(&[word]);
        assert!(!ended.err.contains("[1/1]") && !ended.err.contains("secret"), "{}", ended.err);
    }
}

#[test]
fn a_run_whose_server_goes_away_is_kept_on_this_machine_and_brought_in_later() {
    let Some(server) = Postgres::own() else { return };
    let address = server.address("postgres", &server.database());
    let user = User::with_plan(&format!(
        "{}\n[[phase]]\nname = \"again\"\ndepth = {{ sweep = [1, 2, 3] }}\n",
        SMALL.replace("200ms", "1s")
    ));
    let mut running = user.start(&format!("--store {address} run plan.toml --on null:"));
    running.wait_for("[2/");
    server.control("stop");
    let ended = running.end().with(8).saying(&["the run is kept in", "import", "cannot be reached"]);
    let command = ended.err.split('`').nth(1).unwrap();
    assert_eq!(user.fathom("ls").done().out.matches("small").count(), 1);
    server.control("start");
    let points = |ended: crate::support::Ended| ended.json()["points"].as_array().unwrap().len();
    let show = format!("--store {address} show last --format json");
    assert!(points(user.fathom(&show).done()) < 4, "it went away before the last point");
    user.fathom(command.trim_start_matches("fathom ")).done().saying(&["imported"]);
    assert_eq!(points(user.fathom(&show).done()), 4);
    assert_eq!(user.fathom(&show).done().out, user.fathom("show last --format json").done().out);
    user.fathom(command.trim_start_matches("fathom ")).done().saying(&["already there: 1"]);
}

#[test]
fn a_server_that_comes_back_before_the_end_has_the_whole_run_and_this_machine_nothing() {
    let Some(server) = Postgres::own() else { return };
    let address = server.address("postgres", &server.database());
    let user = User::with_plan(&format!(
        "{}\n[[phase]]\nname = \"again\"\ndepth = {{ sweep = [1, 2, 3] }}\n",
        SMALL.replace("200ms", "1s")
    ));
    let mut running = user.start(&format!("--store {address} run plan.toml --on null:"));
    running.wait_for("[2/");
    server.control("stop");
    running.wait_for("[4/");
    server.control("start");
    running.end().done();
    assert!(user.fathom("ls").done().out.contains("No run"));
    let last = user.fathom(&format!("--store {address} show last --format json")).done().json();
    assert_eq!(last["points"].as_array().unwrap().len(), 4);
}

#[test]
fn runs_are_imported_from_records_and_libraries_once() {
    let user = User::with_plan(SMALL);
    for turn in 0..3 {
        user.fathom(&format!("run plan.toml --on null: --tag turn={turn}")).done();
    }
    user.fathom("export 2 -o two.json").done();
    let local = ".local/share/fathom/runs.sqlite";
    let store = "--store other.sqlite";
    user.fathom(&format!("{store} import two.json")).done().saying(&["imported", "as 1"]);
    user.fathom(&format!("{store} import {local} last")).done().saying(&["as 2"]);
    user.fathom(&format!("{store} import {local}")).done().saying(&["as 3", "already there: 2"]);
    let shown = |line: &str| user.fathom(line).done().out;
    assert_eq!(shown(&format!("{store} show last --format json")), shown("show 1 --format json"));
    assert_eq!(shown(&format!("{store} show 1 --format json")), shown("show 2 --format json"));
    user.fathom("import nothing.sqlite").with(2).saying(&["no such file"]);
    user.fathom(&format!("{store} import other.sqlite")).with(2).saying(&["already"]);
    user.fathom("import plan.toml").with(2).saying(&["is not a library"]);
}
