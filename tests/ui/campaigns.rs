//! Campaigns that are started from the page.

use std::fs;
use std::io::{BufRead, BufReader, Write};

use serde_json::{Value, json};

use super::page::{PLAN, Page, kind, nothing_happened};
use crate::support::User;

#[test]
fn a_campaign_has_every_cell_with_the_figures_of_its_run() {
    let user = User::with_plan(PLAN);
    let campaign = "name = \"queues\"\non = \"array:queue\"\nplans = [\"plan.toml\"]\nrepeats = 2\n[factors]\nkind = \
                    [\"queue-mm1\", \"queue-mm4\"]\nseek = [1, 2]\n";
    user.write("campaign.toml", campaign.replace("seek", "depth"));
    user.fathom("campaign campaign.toml -q").done();
    user.fathom("rm 3").done();
    let page = Page::start(&user);
    let listed = page.json("/api/campaigns");
    let own = &listed["campaigns"][0];
    assert_eq!(
        (&own["name"], &own["runs_done"], &own["runs_planned"]),
        (&json!("queues"), &json!(7), &json!(8))
    );
    let told = page.json("/api/campaigns/queues");
    assert_eq!(told["factors"][0], json!({ "name": "kind", "levels": ["queue-mm1", "queue-mm4"] }));
    let cells = told["cells"].as_array().unwrap();
    assert_eq!(cells.len(), 8);
    let missing = cells.iter().filter(|cell| cell["state"] == "missing").count();
    assert_eq!(missing, 1, "{cells:#?}");
    for cell in cells.iter().filter(|cell| cell["state"] == "done") {
        let run = page.json(&format!("/api/runs/{}", cell["run"].as_str().unwrap()));
        assert_eq!(run["cell"]["block"], cell["block"]);
        assert_eq!(run["cell"]["levels"][0]["level"], cell["levels"]["kind"]);
        let is_light = |point: &&Value| {
            // A depth that is not the plan's own stands behind it.
            point["name"].as_str().is_some_and(|name| name == "light" || name.starts_with("light ["))
        };
        let light = run["points"].as_array().unwrap().iter().find(is_light).expect("the plan has it");
        let rates = light["workloads"][0]["summary"].as_array().unwrap().iter();
        let rate = rates.map(|one| one["ops_per_s"]["value"].as_f64().unwrap()).fold(0.0, f64::max);
        let figure = &cell["figures"]["light, iops"];
        let own = figure["value"].as_f64().unwrap();
        assert!(rate > 0.0 && (own / rate - 1.0).abs() < 1e-9, "{own} {rate}");
        assert_eq!(figure["unit"], "per_s", "{cell}");
    }
    user.fathom("report campaign:queues -o campaign.html").done();
    let report = fs::read_to_string(user.path("campaign.html")).unwrap();
    assert!(report.contains(told["html"].as_str().unwrap()));
    page.get("/api/campaigns/other").refused(404);
}

#[test]
fn void_and_skipped_cells_are_no_done_ones_and_have_their_reason() {
    let user = User::with_plan(PLAN);
    let campaign = "name = \"modes\"\non = \"array:queue\"\nplans = [\"plan.toml\"]\nrepeats = 2\n[factors.mode]\nlevels = \
                    [\"safe\", \"fast\", \"rare\"]\nset = \"[ {level} = rare ] && exit 9; true\"\ncheck = \"echo safe\"\n";
    user.write(
        "campaign.toml",
        campaign
            .replace("[\"safe\", \"fast\", \"rare\"]", "[\"safe\", \"slow\"]")
            .replace("echo safe", "echo {level}"),
    );
    user.fathom("campaign campaign.toml -q").done();
    user.write("campaign.toml", campaign);
    user.fathom("campaign campaign.toml -q").with(4);
    let page = Page::start(&user);
    let own = &page.json("/api/campaigns")["campaigns"][0];
    let counts = (&own["runs_done"], &own["runs_planned"], &own["lacking"]);
    assert_eq!(counts, (&json!(2), &json!(6), &json!(4)), "runs of another file of the name are none of it");
    let told = page.json("/api/campaigns/modes");
    let state = |mode: &str| -> Vec<(String, String)> {
        let cells = told["cells"].as_array().unwrap().iter().filter(|cell| cell["levels"]["mode"] == mode);
        cells
            .map(|cell| (cell["state"].as_str().unwrap().into(), cell["why"].as_str().unwrap_or("").into()))
            .collect()
    };
    let twice = |state: &str, why: &str| vec![(state.to_owned(), why.to_owned()); 2];
    assert_eq!(state("safe"), twice("done", ""));
    assert_eq!(state("fast"), twice("void", "mode is to be fast, and `echo safe` says safe"));
    assert_eq!(state("rare"), twice("skipped", "`set` of mode to rare says to skip: exit status: 9"));
    let html = told["html"].as_str().unwrap();
    assert!(html.contains("2 runs void (mode fast, block 1; mode fast, block 2)"), "{html}");
}

/// Cells of a campaign that was started, by their state.
fn states(page: &Page, name: &str) -> Vec<String> {
    let told = page.json(&format!("/api/campaigns/{name}"));
    let cells = told["cells"].as_array().unwrap().iter();
    cells.map(|cell| cell["state"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_campaign_is_checked_started_followed_stopped_and_resumed() {
    let user = User::new();
    let page = Page::start(&user);
    let toml = "name = \"levels\"\non = \"array:md3000\"\nplans = [\"quick\"]\nrepeats = 2\n[factors]\nraid = [5, 10]\n\
                depth = [1, 2, 4, 8]\n";
    let body = json!({ "toml": toml, "set": ["run=20s"] });
    let check = |body: &Value| page.ask("POST /api/campaign/check", &[kind()], &body.to_string());
    let told = check(&body).with(200).json();
    assert_eq!((&told["ok"], &told["name"]), (&json!(true), &json!("levels")), "{told}");
    assert_eq!((&told["runs"], &told["left"]), (&json!(16), &json!(16)));
    user.write("levels.toml", toml);
    let dry = user.fathom("campaign levels.toml --set run=20s --dry-run --order").done().out;
    assert_eq!(told["dry_run"], dry);
    assert!(dry.contains("8 cells") && dry.contains("the smallest change of one figure of "), "{dry}");
    assert_eq!(check(&json!({ "toml": toml, "repeats": 3 })).with(200).json()["runs"], 24);
    let wrong = check(&json!({ "toml": toml.replace("repeats", "repeat") })).with(200).json();
    let error = &wrong["errors"][0];
    assert_eq!((&error["line"], &error["column"], &error["length"]), (&json!(4), &json!(1), &json!(6)));

    let job = page.start_campaign(&body);
    // A second one would wait for the first in vain.
    let told = page.post("/api/campaign/start", &body).refused(409);
    assert!(told["error"].as_str().unwrap().contains("under way"), "{told}");
    let mut events = BufReader::new(page.connect());
    let ask = format!("GET /api/campaign/events HTTP/1.1\r\nHost: {}\r\n\r\n", page.address);
    events.get_mut().write_all(ask.as_bytes()).unwrap();
    let mut seen = Vec::new();
    for line in events.lines().map(Result::unwrap) {
        let Some(data) = line.strip_prefix("data: ") else { continue };
        let told: Value = serde_json::from_str(data).unwrap();
        assert_eq!((&told["jobs"][0]["job"], &told["jobs"][0]["campaign"]), (&json!(job), &json!("levels")));
        seen.push(told["campaigns"][0]["runs_done"].as_u64().unwrap_or(0));
        if seen.last() >= Some(&2) {
            break;
        }
    }
    assert!(seen.is_sorted(), "{seen:?}");
    // All cells are there from the beginning.
    assert_eq!(states(&page, "levels").len(), 16);
    page.post(&format!("/api/jobs/{job}/stop"), &json!({})).with(200);
    let ended = page.ended(&job);
    assert_eq!(ended["code"], 130, "{ended}");
    let done = states(&page, "levels").iter().filter(|state| *state == "done").count();
    assert!((2..16).contains(&done), "{done}");
    assert_eq!(check(&body).with(200).json()["left"], 16 - done);

    let ended = page.ended(&page.start_campaign(&body));
    assert_eq!(ended["code"], 0, "{ended}");
    assert_eq!(states(&page, "levels"), vec!["done"; 16]);
    let listed = page.json("/api/runs?tag=campaign%3Dlevels");
    let whole = listed["runs"].as_array().unwrap().iter().filter(|run| run["state"] == "done").count();
    assert_eq!(whole, 16, "none is measured twice, and what was cut short counts for nothing");
    let told = page.json("/api/campaigns/levels");
    for cell in told["cells"].as_array().unwrap() {
        let run = page.json(&format!("/api/runs/{}", cell["run"].as_str().unwrap()));
        assert_eq!(run["tags"]["raid"], cell["levels"]["raid"]);
        assert!(
            (page.json(&format!("/api/runs/{}/report", run["id"].as_str().unwrap()))["html"]).is_string()
        );
    }
}

#[test]
fn a_campaign_of_the_page_runs_no_command_and_opens_no_file_but_targets() {
    let user = User::new();
    let page = Page::start(&user);
    let done = user.path("done");
    let campaign = |more: &str| {
        format!(
            "name = \"x\"\non = \"array:md3000\"\nplans = [\"quick\"]\n[factors.a]\nlevels = [1, 2]\n{more}"
        )
    };
    let touch = format!("touch {}", done.display());
    for toml in [
        campaign(&format!("set = \"{touch}\"\n")),
        campaign(&format!("key = \"depth\"\ncheck = \"{touch}\"\n")),
        campaign("ask = \"turn it on\"\n"),
        campaign("key = \"depth\"\n").replace("quick", "/etc/passwd"),
        campaign("key = \"depth\"\n").replace("plans", "published = [\"./x.toml\"]\nplans"),
    ] {
        let told = page.post("/api/campaign/check", &json!({ "toml": toml })).with(200).json();
        assert_eq!(told["ok"], false, "{told}");
        let refused = page.post("/api/campaign/start", &json!({ "toml": toml })).refused(400);
        assert!(!refused.to_string().contains("root:"), "{refused}");
    }
    page.post("/api/campaign/start", &json!({ "campaign": "/etc/passwd" })).refused(404);
    page.post("/api/campaign/start", &json!({ "campaign": "nas", "toml": "x" })).refused(400);
    page.post("/api/campaign/start", &json!({})).refused(400);
    page.get("/api/campaign/ready/..%2fx").refused(404);
    // Without the token not even targets are looked at.
    let check = |body: Value| page.ask("POST /api/campaign/check", &[kind()], &body.to_string());
    let toml = campaign("key = \"depth\"\n");
    for body in [
        json!({ "toml": toml, "on": "/etc" }),
        json!({ "toml": toml.replace("array:md3000", "/etc") }),
        json!({ "toml": toml, "on": "array:./x.toml" }),
        json!({ "toml": toml.replace("key = \"depth\"", "option = \"disk\"").replace("[1, 2]", "[\"./x.toml\", \"y\"]") }),
        json!({ "toml": toml, "set": ["trace=/etc/passwd"] }),
    ] {
        check(body).refused(401);
    }
    assert_eq!(check(json!({ "campaign": "nas" })).with(200).json()["ok"], true);
    assert!(!done.exists());
    nothing_happened(&user, &page);
}

#[test]
fn a_campaign_on_a_target_that_is_not_safe_is_refused_as_on_the_command_line() {
    let user = User::new();
    let content = vec![3; 4 << 20];
    let file = user.write("data", &content);
    let page = Page::start(&user);
    let toml = format!(
        "name = \"writes\"\non = {:?}\nplans = [\"quick\"]\nrepeats = 1\n[set]\nreads = \"0%\"\nrun = \"200ms\"\nwarmup = \"0s\"\n\
         [factors]\ndepth = [1, 2]\n",
        file.display().to_string()
    );
    let told = page.post("/api/campaign/check", &json!({ "toml": toml })).with(200).json();
    assert!(told["ok"] == true && told["refused"].is_string(), "{told}");
    let ended = page.ended(&page.start_campaign(&json!({ "toml": toml })));
    assert_eq!(ended["code"], 3, "{ended}");
    assert_eq!(fs::read(&file).unwrap(), content);
    assert!(user.fathom("ls").done().out.contains("No run"));
    let body = json!({ "toml": toml, "destroy": file });
    let ended = page.ended(&page.start_campaign(&body));
    // On a busy machine a window may be without a request; what is written is written.
    assert!(ended["code"] != 2 && ended["code"] != 3, "{ended}");
    assert_eq!(ended["request"]["destroy"], Value::Null, "{ended}");
    assert_ne!(fs::read(&file).unwrap(), content);
}
