//! What the page is answered is what the command line prints.

use std::fs;

use serde_json::{Value, json};

use super::page::{PLAN, Page, kind};
use crate::campaign::{self, FIGURES, QUEUES};
use crate::support::{SMALL, User, repository};

/// A user with two runs of a queue, the second tagged and on a faster one.
fn with_runs() -> User {
    let user = User::with_plan(PLAN);
    user.fathom("run plan.toml --on array:queue?kind=queue-mm1").done();
    user.fathom("run plan.toml --on array:queue?kind=queue-mm4 --tag room=3").done();
    user
}

#[test]
fn published_figures_are_kept_apart_from_the_runs_that_were_measured_until_they_are_asked_for() {
    let queues = QUEUES.replace("repeats = 2", "repeats = 1\npublished = \"figures.toml\"");
    let user = campaign::user(&queues);
    user.write("figures.toml", FIGURES);
    user.fathom("campaign campaign.toml -q").done();
    let page = Page::start(&user);
    for (query, listed, apart) in [
        ("", 4, 1),
        ("tag=campaign%3Dqueues", 4, 1),
        ("published=1", 5, 0),
        ("published=0", 4, 1),
        ("search=published", 1, 0),
        ("search=queues", 5, 0),
    ] {
        let answer = page.json(&format!("/api/runs?{query}"));
        assert_eq!((&answer["total"], &answer["published"]), (&json!(listed), &json!(apart)), "{query}");
        assert_eq!(answer["runs"].as_array().unwrap().len(), listed, "{query}");
    }
    let found = page.json("/api/runs?search=published");
    assert_eq!((&found["runs"][0]["remark"], &found["runs"][0]["points"]), (&json!("published"), &json!(0)));
}

#[test]
fn runs_are_listed_searched_and_shown_as_the_command_line_has_them() {
    let user = with_runs();
    let page = Page::start(&user);
    let listed = page.json("/api/runs");
    assert_eq!(listed["total"], 2);
    let ids: Vec<&str> =
        listed["runs"].as_array().unwrap().iter().map(|run| run["id"].as_str().unwrap()).collect();
    for (line, id) in user.fathom("ls --width 400").done().out.lines().skip(1).zip(&ids) {
        assert!(line.contains(id), "{line}");
    }
    for (query, count) in [
        ("search=MM4", 1),
        ("search=queue", 2),
        ("search=room%3D3", 1),
        ("search=nowhere", 0),
        ("tag=room", 1),
        ("tag=room%3D3", 1),
        ("tag=room%3D4", 0),
        ("tag=room&tag=other", 0),
    ] {
        assert_eq!(page.json(&format!("/api/runs?{query}"))["total"], count, "{query}");
    }
    let one = page.json("/api/runs?limit=1");
    assert_eq!((one["runs"].as_array().unwrap().len(), &one["total"]), (1, &json!(2)));
    for name in ["last", "last~1", "1", "2", ids[0]] {
        let exported = user.fathom(&format!("export {name} --format json")).done().out;
        assert_eq!(page.get(&format!("/api/runs/{name}")).with(200).text(), exported, "{name}");
    }
    let first = &listed["runs"][1];
    let record = page.json("/api/runs/1");
    assert_eq!(first["id"], record["id"]);
    assert_eq!(first["points"], record["points"].as_array().unwrap().len());
    assert_eq!(
        (&first["plan"], &first["kind"], &first["state"], &first["target"]),
        (&json!("queue"), &json!("virtual"), &json!("done"), &json!("array:queue?kind=queue-mm1"))
    );
    page.get("/api/runs/nosuch").refused(404);
    let about = page.json("/api/about");
    assert_eq!((&about["runs"], &about["writable"]), (&json!(2), &json!(true)));
}

#[test]
fn a_report_and_a_comparison_are_those_of_the_command_line() {
    let user = with_runs();
    let page = Page::start(&user);
    user.fathom("report 1 -o one.html").done();
    user.fathom("report 1 2 -o both.html").done();
    user.fathom("report 1 2 -o both.xlsx").done();
    let file = |name: &str| fs::read(user.path(name)).unwrap();
    let one = page.json("/api/runs/1/report");
    let text = String::from_utf8(file("one.html")).unwrap();
    for part in ["html", "css"] {
        assert!(text.contains(one[part].as_str().unwrap()), "{part}");
    }
    assert!(!one["html"].as_str().unwrap().contains("<script"));
    assert!(page.get("/api/report.html?runs=1,2").with(200).body == file("both.html"), "the pages differ");
    let book = page.get("/api/report.xlsx?runs=1,2").with(200);
    assert_eq!(book.body.get(..4), Some(b"PK\x03\x04".as_slice()));
    assert!(book.head.contains("attachment; filename="), "{}", book.head);

    let compared = page.json("/api/compare?runs=1,2&margin=5");
    assert_eq!(compared["comparison"], user.fathom("compare 1 2 --format json").done().json());
    assert!(String::from_utf8(file("both.html")).unwrap().contains(compared["html"].as_str().unwrap()));
    assert_ne!(page.json("/api/compare?runs=1,2&margin=90")["comparison"], compared["comparison"]);
    page.get("/api/compare?runs=1").refused(400);
    page.get("/api/compare?runs=1,nosuch").refused(404);
}

#[test]
fn plans_arrays_and_the_schema_are_those_that_the_program_has() {
    let user = User::with_plan(PLAN);
    let page = Page::start(&user);
    let named = |list: &Value| -> String {
        let each = list.as_array().unwrap().iter();
        each.map(|one| format!("{} {}\n", one["name"].as_str().unwrap(), one["about"].as_str().unwrap()))
            .collect()
    };
    let printed = |line: &str| -> String {
        let text = user.fathom(line).done().out;
        text.lines()
            .map(|line| line.split_once(' ').unwrap())
            .map(|(name, about)| format!("{name} {}\n", about.trim()))
            .collect()
    };
    assert_eq!(named(&page.json("/api/plans")["plans"]), printed("plan list"));
    assert_eq!(named(&page.json("/api/arrays")["arrays"]), printed("array list"));
    assert_eq!(page.json("/api/plans/oltp")["toml"], user.fathom("plan show oltp").done().out);
    let keys = page.json("/api/plan-keys");
    assert!(
        keys["keys"].as_array().unwrap().iter().any(|key| key["key"] == "depth" && key["default"] == "1")
    );
    let array = page.json("/api/arrays/md3000");
    let raid = array["options"].as_array().unwrap().iter().find(|option| option["name"] == "raid").unwrap();
    assert_eq!(raid["values"], json!(["0", "10", "5", "6"]));
    let committed = fs::read_to_string(repository("docs/schema/run-v2.json")).unwrap();
    assert_eq!(page.json("/api/schema"), serde_json::from_str::<Value>(&committed).unwrap());

    let check = |body: Value| page.ask("POST /api/plans/check", &[kind()], &body.to_string());
    let good = check(json!({ "toml": PLAN, "on": "array:md3000", "set": ["depth=4"] })).with(200).json();
    let dry = user.fathom("run plan.toml --on array:md3000 --set depth=4 --dry-run").done().out;
    assert_eq!((&good["ok"], &good["dry_run"]), (&json!(true), &json!(dry)));
    let wrong = check(json!({ "toml": "[[phase]]\nrun = \"1s\"\ndepht = 3\n" })).with(200).json();
    let error = &wrong["errors"][0];
    assert_eq!(
        (&wrong["ok"], &error["line"], &error["column"], &error["length"]),
        (&json!(false), &json!(3), &json!(1), &json!(5))
    );
    user.write("wrong.toml", "[[phase]]\nrun = \"1s\"\ndepht = 3\n");
    let told = user.fathom("plan check wrong.toml").with(2).err;
    assert!(told.contains(error["message"].as_str().unwrap()), "{told}");
    // Files and devices are looked at for the token alone.
    for body in [
        json!({ "toml": PLAN, "on": "/etc" }),
        json!({ "toml": PLAN, "on": "array:/etc/passwd" }),
        json!({ "toml": PLAN, "on": "array:md3000?disk=./x.toml" }),
        json!({ "toml": "[[phase]]\npattern = \"trace\"\ntrace = \"/etc/passwd\"\n", "on": "null:" }),
    ] {
        let told = check(body.clone());
        let is_refused = told.status == 401 || told.json()["ok"] == false;
        assert!(is_refused && !told.text().contains("root:"), "{body}: {}", told.text());
    }
    let home = user.path("").display().to_string();
    let body = json!({ "toml": SMALL, "on": home, "set": ["reads=0%"] });
    let told = page.post("/api/plans/check", &body).with(200).json();
    assert!(told["dry_run"].as_str().unwrap().contains("scratch file"), "{told}");
    for path in ["/api/lab", "/api/lab/rebuild"] {
        let body = json!({ "array": "array:/etc/passwd" }).to_string();
        page.ask(&format!("POST {path}"), &[kind()], &body).refused(401);
    }
}

#[test]
fn the_array_lab_answers_with_a_load_curve_and_says_what_is_wrong_with_an_array() {
    let user = User::new();
    let page = Page::start(&user);
    let ask = |array: &str| {
        let workload = json!({ "pattern": "random", "size": "8KiB", "reads": "100%" });
        json!({ "array": array, "workload": workload, "depths": [1, 8], "fail": [] })
    };
    let told = page.post("/api/lab", &ask("array:queue?kind=queue-mm1")).with(200).json();
    let points = told["points"].as_array().unwrap();
    assert_eq!(points.len(), 2, "{told}");
    assert!(points[1]["iops"].as_f64().unwrap() > points[0]["iops"].as_f64().unwrap() * 0.9, "{told}");
    let wrong = page.post("/api/lab", &ask("array:md3000?disks=1000")).refused(400);
    assert!(wrong["error"].as_str().unwrap().contains("disks"), "{wrong}");
}
