//! Runs that are started from the page.

use std::fs;
use std::io::{Read, Write};

use rustix::process::Signal;
use serde_json::{Value, json};

use super::page::{PLAN, Page};
use crate::support::{SMALL, User, wait_until};

#[test]
fn a_run_on_a_virtual_array_is_followed_to_its_end_and_kept() {
    let user = User::new();
    let page = Page::start(&user);
    let body = json!({ "toml": PLAN, "on": ["array:queue?kind=queue-mm1"], "set": ["seed=7"], "tags": { "room": "3" } });
    let job = page.start_run(&body);
    let events = page.events(&job, 0);
    let numbers: Vec<u64> = events.iter().filter_map(|event| event.0).collect();
    assert_eq!(numbers, (1..=numbers.len() as u64).collect::<Vec<_>>());
    let names: Vec<&str> = events.iter().map(|event| event.1.as_str()).collect();
    assert_eq!(names.iter().filter(|name| **name == "point-ended").count(), 2, "{names:?}");
    assert!(names.contains(&"point-started") && names.ends_with(&["run-ended", "end"]), "{names:?}");
    assert!(events.iter().filter(|event| event.1 != "end").all(|event| event.2["event"] == event.1));
    let end = &events.last().unwrap().2;
    assert_eq!(end["code"], 0);
    let run = user.last();
    assert_eq!((&run["id"], &run["tags"]["room"]), (&end["run"], &json!("3")));
    let known = numbers.len() - 1;
    assert_eq!(page.events(&job, known as u64), events[known..]);
    let told = page.json(&format!("/api/jobs/{job}"));
    assert_eq!((&told["state"], &told["run"], &told["plan"]), (&json!("done"), &run["id"], &json!("queue")));
    page.post(&format!("/api/jobs/{job}/stop"), &json!({})).refused(409);
    page.get("/api/jobs/j9/events").refused(404);
}

#[test]
fn a_run_on_a_directory_is_kept_and_leaves_nothing_behind() {
    let user = User::new();
    let folder = user.directory("measured");
    let page = Page::start(&user);
    let job = page.start_run(&json!({ "toml": SMALL, "on": [folder], "set": ["reads=50%"] }));
    assert_eq!(page.end_of(&job)["code"], 0);
    assert_eq!(user.last()["targets"][0]["address"], folder.display().to_string());
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
    page.signal(Signal::TERM);
    assert_eq!(page.end().0, Some(143));
    assert_eq!(user.files(), ["address", "measured"], "folders of jobs that have ended are removed");
}

#[test]
fn a_run_that_is_stopped_keeps_what_it_has_measured() {
    let user = User::new();
    let folder = user.directory("measured");
    let page = Page::start(&user);
    let plan = format!("{SMALL}\n[[phase]]\nname = \"long\"\nrun = \"60s\"\n");
    let job = page.start_run(&json!({ "toml": plan, "on": [folder] }));
    wait_until("the first point in the library", || page.json("/api/runs")["total"] == 1);
    let listed = page.json("/api/runs")["runs"][0].clone();
    assert_eq!((&listed["state"], &listed["remark"]), (&json!("not ended"), &Value::Null));
    let told = page.post(&format!("/api/jobs/{job}/stop"), &json!({})).with(200).json();
    assert_eq!(told["job"], job.as_str());
    let end = page.end_of(&job);
    assert_eq!(end["code"], 130);
    let run = user.last();
    assert_eq!((&run["id"], &run["ending"]["complete"]), (&end["run"], &json!(false)));
    let point = &run["points"][0];
    assert_eq!((&point["name"], &point["complete"]), (&json!("read"), &json!(true)));
    assert_eq!(page.json("/api/runs")["runs"][0]["state"], "partial");
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
}

#[test]
fn a_target_that_is_not_safe_is_refused_as_on_the_command_line() {
    let user = User::with_plan(SMALL);
    let content = vec![3; 4 << 20];
    let file = user.write("data", &content);
    let page = Page::start(&user);
    let body = |set: &[&str]| json!({ "toml": SMALL, "on": file, "set": set });
    let end = page.end_of(&page.start_run(&body(&["reads=0%"])));
    let told = user.fathom(&format!("run plan.toml --on {} --set reads=0%", file.display())).with(3).err;
    assert_eq!((&end["code"], &end["run"]), (&json!(3), &Value::Null));
    assert_eq!(end["stderr"], told);
    let end = page.end_of(&page.start_run(&body(&["depht=1"])));
    assert_eq!(end["code"], 2);
    assert!(end["stderr"].as_str().unwrap().contains("depht"));
    // What is typed is no option, whatever it begins with.
    let end = page.end_of(&page.start_run(&json!({ "toml": SMALL, "on": "--no-save" })));
    assert_eq!(end["code"], 2, "{end}");
    assert_eq!(fs::read(&file).unwrap(), content);
    assert!(user.fathom("ls").done().out.contains("No run"));

    let mut consented = body(&["reads=0%"]);
    consented["destroy"] = json!(file);
    assert_eq!(page.end_of(&page.start_run(&consented))["code"], 0);
    assert_ne!(fs::read(&file).unwrap(), content);
}

#[test]
fn no_more_than_four_run_at_once_and_they_outlive_the_server() {
    let user = User::new();
    let page = Page::start(&user);
    // A request a second: it is no load for this machine.
    let body = json!({ "toml": SMALL, "on": "null:", "set": ["run=5s", "pace=rate(20/s)"] });
    for _ in 0..4 {
        page.start_run(&body);
    }
    let told = page.post("/api/start", &body).refused(429);
    assert!(told["error"].as_str().unwrap().contains("4 runs"), "{told}");
    page.signal(Signal::INT);
    let (code, told) = page.end();
    assert_eq!(code, Some(130), "{told}");
    assert!(told.contains("the 4 runs that were started continue"), "{told}");
    let is_whole = |number: i32| {
        let shown = user.fathom(&format!("show {number} --format json"));
        shown.code == Some(0) && shown.json()["ending"]["complete"] == true
    };
    wait_until("the runs", || (1..=4).all(is_whole));
}

#[test]
fn a_signal_ends_the_server_at_once_also_while_somebody_listens() {
    let user = User::new();
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let page = Page::start(&user);
        let job =
            page.start_run(&json!({ "toml": SMALL, "on": "null:", "set": ["run=2s", "pace=rate(20/s)"] }));
        let mut reader = page.connect();
        let head = format!("GET /api/jobs/{job}/events HTTP/1.1\r\nHost: {}\r\n\r\n", page.address);
        reader.write_all(head.as_bytes()).unwrap();
        let mut first = [0; 16];
        reader.read_exact(&mut first).unwrap();
        assert!(first.starts_with(b"HTTP/1.1 200"));
        page.signal(signal);
        let (ended, told) = page.end();
        assert_eq!(ended, Some(code), "{told}");
        assert!(told.contains("interrupted"), "{told}");
    }
}
