//! The page's server, from outside: what it answers is what the command line prints, what it refuses starts nothing, and
//! runs that it starts are runs.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal};
use serde_json::{Value, json};

use crate::support::{SMALL, User, repository, wait_until};

const TOKEN: &str = "4b1fd7c2a9e05831";

/// Two loads on a virtual queue.
const PLAN: &str = r#"
name = "queue"

[defaults]
run    = "5s"
warmup = "0s"
span   = "1GiB"

[[phase]]
name  = "light"
depth = 2

[[phase]]
name  = "heavy"
depth = 16
"#;

/// A running `fathom ui`, killed if it outlives the test.
struct Page {
    child: Child,
    address: SocketAddr,
    /// The first line of stdout.
    line: String,
}

impl Page {
    fn start(user: &User) -> Page {
        Page::of(user, &format!("ui --listen 127.0.0.1:0 --token {TOKEN}"))
    }

    fn of(user: &User, line: &str) -> Page {
        let out = user.path("address");
        let mut command: Command = user.command(line);
        command.env("TMPDIR", user.path("")).stdout(File::create(&out).unwrap());
        let child = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut page = Page { child, address: ([127, 0, 0, 1], 1).into(), line: String::new() };
        wait_until("the address", || {
            page.line = fs::read_to_string(&out).unwrap();
            page.line.ends_with('\n')
        });
        let address = page.line.trim_start_matches("http://").split('/').next().unwrap();
        page.address = address.replace("0.0.0.0", "127.0.0.1").parse().unwrap();
        page
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream
    }

    /// What comes back to these bytes.
    fn tell(&self, bytes: &[u8]) -> Reply {
        let mut stream = self.connect();
        // Whoever is refused early may find the connection closed.
        let _refused = stream.write_all(bytes);
        let mut told = Vec::new();
        let _reset = stream.read_to_end(&mut told);
        Reply::of(&told)
    }

    /// A request with these lines of its head; `Host` and `Connection` are added.
    fn ask(&self, first: &str, head: &[String], body: &str) -> Reply {
        let mut text = format!("{first} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n", self.address);
        head.iter().for_each(|line| text += &format!("{line}\r\n"));
        if !body.is_empty() {
            text += &format!("Content-Length: {}\r\n", body.len());
        }
        self.tell(format!("{text}\r\n{body}").as_bytes())
    }

    fn get(&self, path: &str) -> Reply {
        self.ask(&format!("GET {path}"), &[], "")
    }

    /// The JSON at `path`.
    #[track_caller]
    fn json(&self, path: &str) -> Value {
        self.get(path).with(200).json()
    }

    /// With the token.
    fn post(&self, path: &str, body: &Value) -> Reply {
        self.ask(&format!("POST {path}"), &[kind(), token(TOKEN)], &body.to_string())
    }

    /// Starts a run; its job.
    fn start_run(&self, body: &Value) -> String {
        self.post("/api/start", body).with(202).json()["job"].as_str().unwrap().to_owned()
    }

    /// The events of a job to its end, each with its number, name and data; the end has no number.
    fn events(&self, job: &str, known: u64) -> Vec<(Option<u64>, String, Value)> {
        let mut stream = self.connect();
        let head = format!("GET /api/jobs/{job}/events HTTP/1.1\r\nHost: {}\r\n", self.address);
        stream.write_all(format!("{head}Last-Event-ID: {known}\r\n\r\n").as_bytes()).unwrap();
        let (mut events, mut number, mut name) = (Vec::new(), None, String::new());
        for line in BufReader::new(stream).lines() {
            let line = line.unwrap();
            if let Some(id) = line.strip_prefix("id: ") {
                number = Some(id.parse().unwrap());
            } else if let Some(event) = line.strip_prefix("event: ") {
                name = event.to_owned();
            } else if let Some(data) = line.strip_prefix("data: ") {
                events.push((number.take(), name.clone(), serde_json::from_str(data).unwrap()));
                if name == "end" {
                    break;
                }
            }
        }
        events
    }

    /// Starts a campaign; its job.
    fn start_campaign(&self, body: &Value) -> String {
        self.post("/api/campaign/start", body).with(202).json()["job"].as_str().unwrap().to_owned()
    }

    /// What has come of a job once it has ended.
    fn ended(&self, job: &str) -> Value {
        let mut told = Value::Null;
        wait_until("the end of the job", || {
            told = self.json(&format!("/api/jobs/{job}"));
            told["state"] != "running"
        });
        told
    }

    /// How a job ended.
    fn end_of(&self, job: &str) -> Value {
        self.events(job, u64::MAX).pop().unwrap().2
    }

    fn signal(&self, signal: Signal) {
        rustix::process::kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Its exit code and what it said.
    fn end(mut self) -> (Option<i32>, String) {
        let mut told = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut told).unwrap();
        (self.child.wait().unwrap().code(), told)
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        let _ended = self.child.kill();
        let _reaped = self.child.wait();
    }
}

fn kind() -> String {
    "Content-Type: application/json".into()
}

fn token(token: &str) -> String {
    format!("Authorization: Bearer {token}")
}

#[derive(Debug)]
struct Reply {
    status: u16,
    head: String,
    body: Vec<u8>,
}

impl Reply {
    fn of(bytes: &[u8]) -> Reply {
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").unwrap_or(bytes.len());
        let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        Reply { status, head, body: bytes.get(end + 4..).unwrap_or_default().to_vec() }
    }

    #[track_caller]
    fn with(self, status: u16) -> Reply {
        assert_eq!(self.status, status, "{}\n{}", self.head, self.text());
        self
    }

    /// Refused so, with a reason.
    #[track_caller]
    fn refused(self, status: u16) -> Value {
        let told = self.with(status).json();
        assert!(told["error"].as_str().is_some_and(|error| error.len() > 10), "{told}");
        told
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    #[track_caller]
    fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }
}

/// Nothing was started, and nothing is in the library.
fn nothing_happened(user: &User, page: &Page) {
    assert_eq!(page.json("/api/jobs"), json!({ "jobs": [] }));
    assert!(user.fathom("ls").done().out.contains("No run"));
    assert_eq!(user.files(), ["address"]);
}

#[test]
fn a_path_that_leads_out_of_the_page_is_refused() {
    let user = User::new();
    let page = Page::start(&user);
    let paths = [
        "/../../../../etc/passwd",
        "/..%2f..%2f..%2fetc%2fpasswd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/assets/../../../../etc/passwd",
        "/assets/..%5c..%5cetc%5cpasswd",
        "/etc/passwd.",
        "//etc/passwd.txt",
        "/%00.html",
        "/api/runs/..%2f..%2f..%2fetc%2fpasswd",
        "/api/runs/%2fetc%2fpasswd/report",
        "/api/plans/%2fetc%2fpasswd",
        "/api/plans/..%2fCargo.toml",
        "/api/arrays/%2fetc%2fpasswd",
        "/api/arrays/.%2fx.toml",
        "/api/campaigns/..%2f..",
        "/api/jobs/..%2f../events",
    ];
    for path in paths {
        page.get(path).refused(404);
    }
    let outside = page.get("/api/compare?runs=/etc/passwd,/etc/hosts").refused(404);
    assert!(!outside.to_string().contains("root:"), "{outside}");
    page.get("/api/report.html?runs=/etc/passwd").refused(404);
    page.get("/api/report.xlsx?runs=campaign:/etc/passwd").refused(400);
    nothing_happened(&user, &page);
}

#[test]
fn who_may_not_is_told_why_and_nothing_is_started() {
    let user = User::new();
    let page = Page::start(&user);
    let start = json!({ "plan": "quick", "on": "null:" }).to_string();
    let post = |head: &[String]| page.ask("POST /api/start", head, &start);
    post(&[kind()]).refused(401);
    post(&[kind(), token("4b1fd7c2a9e05832")]).refused(401);
    post(&[kind(), token("")]).refused(401);
    post(&[kind(), "Authorization: Basic 4b1fd7c2a9e05831".into()]).refused(401);
    post(&[kind(), token(TOKEN), "Origin: http://evil.example".into()]).refused(403);
    post(&[kind(), token(TOKEN), "Origin: null".into()]).refused(403);
    post(&[kind(), token(TOKEN), "Sec-Fetch-Site: cross-site".into()]).refused(403);
    post(&[token(TOKEN)]).refused(415);
    post(&[token(TOKEN), "Content-Type: text/plain".into()]).refused(415);
    page.ask(&format!("POST /api/start?token={TOKEN}"), &[kind()], &start).refused(401);
    page.ask("POST /api/jobs/j1/stop", &[kind()], "{}").refused(401);
    let campaign = json!({ "campaign": "nas" }).to_string();
    let post = |head: &[String]| page.ask("POST /api/campaign/start", head, &campaign);
    post(&[kind()]).refused(401);
    post(&[kind(), token(TOKEN), "Origin: http://evil.example".into()]).refused(403);
    post(&[token(TOKEN), "Content-Type: text/plain".into()]).refused(415);
    page.ask("POST /api/campaign/check", &[kind(), "Origin: http://evil.example".into()], "{}").refused(403);
    // What is only computed takes no token, but no other origin either.
    page.ask("POST /api/plans/check", &[kind(), "Origin: http://evil.example".into()], "{}").refused(403);

    // Another name that leads here, as a page has whose name server lies.
    for host in ["evil.example", "127.0.0.1", "localhost.evil.example:80"] {
        let head = format!("Host: {host}\r\nConnection: close\r\n{}\r\n", token(TOKEN));
        page.tell(format!("GET /api/runs HTTP/1.1\r\n{head}\r\n").as_bytes()).refused(421);
    }
    page.tell(b"GET /api/runs HTTP/1.1\r\nConnection: close\r\n\r\n").refused(421);

    for (first, status) in [
        ("PUT /api/runs/1", 405),
        ("DELETE /api/runs/last", 405),
        ("OPTIONS /api/start", 405),
        ("PATCH /", 405),
        ("GET /api/start", 405),
        ("POST /api/runs", 405),
        ("POST /", 405),
        ("GET /api", 404),
        ("GET /api/nothing", 404),
        ("POST /api/nothing", 404),
    ] {
        page.ask(first, &[kind(), token(TOKEN)], "").refused(status);
    }
    nothing_happened(&user, &page);
}

#[test]
fn a_body_that_is_too_large_or_malformed_is_refused() {
    let user = User::new();
    let page = Page::start(&user);
    let head = [kind(), token(TOKEN)];
    for body in [
        "{",
        "[]",
        "null",
        "\"text\"",
        "{\"plan\":7}",
        "{\"plan\":\"quick\",\"on\":\"null:\",\"keep\":true}",
        "{\"plan\":\"quick\",\"toml\":\"x\",\"on\":\"null:\"}",
        "{\"on\":\"null:\"}",
        "{\"plan\":\"quick\",\"on\":\"a\\u0000b\"}",
        "\u{fffd}",
    ] {
        page.ask("POST /api/start", &head, body).refused(400);
    }
    page.ask("POST /api/start", &head, "{\"plan\":\"/etc/passwd\",\"on\":\"null:\"}").refused(404);
    page.ask("POST /api/start", &head, &format!("{}1", "[".repeat(100_000))).refused(400);
    page.ask("POST /api/start", &head, &"x".repeat((1 << 20) + 1)).refused(413);
    let chunked = format!(
        "POST /api/start HTTP/1.1\r\nHost: {}\r\n{}\r\n{}\r\nTransfer-Encoding: chunked\r\n\r\n",
        page.address, head[0], head[1]
    );
    let pieces = format!("10000\r\n{}\r\n", " ".repeat(0x10000)).repeat(20);
    page.tell(format!("{chunked}{pieces}0\r\n\r\n").as_bytes()).refused(413);
    // What is no HTTP at all.
    assert_eq!(page.tell(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n").status, 400);
    assert_eq!(page.tell(b"GET / HTTP/9.9\r\n\r\n").status, 400);
    let long = format!("GET / HTTP/1.1\r\nHost: {}\r\nX: {}\r\n\r\n", page.address, "y".repeat(200_000));
    assert_eq!(page.tell(long.as_bytes()).status, 431);
    for query in ["limit=x", "limit=-1"] {
        page.get(&format!("/api/runs?{query}")).refused(400);
    }
    for query in ["", "runs=", "runs=1&margin=x", "runs=1&margin=101"] {
        page.get(&format!("/api/compare?{query}")).refused(400);
    }
    nothing_happened(&user, &page);
}

#[test]
fn who_is_slow_keeps_nobody_waiting() {
    let user = User::new();
    let page = Page::start(&user);
    // A head that never ends, and a body that never comes.
    let mut slow: Vec<TcpStream> = (0..256).map(|_| page.connect()).collect();
    slow.iter_mut().for_each(|stream| stream.write_all(b"GET /api/runs HTTP/1.1\r\nHost: x").unwrap());
    let mut bodiless = page.connect();
    let head = format!("POST /api/start HTTP/1.1\r\nHost: {}\r\n{}\r\n", page.address, token(TOKEN));
    bodiless.write_all(format!("{head}{}\r\nContent-Length: 9\r\n\r\n{{", kind()).as_bytes()).unwrap();
    assert_eq!(page.json("/api/jobs"), json!({ "jobs": [] }));
    // More than there are places for.
    let mut more: Vec<TcpStream> = (0..300).map(|_| page.connect()).collect();
    let turned_away = |stream: &mut TcpStream| {
        let mut told = Vec::new();
        let _reset = stream.read_to_end(&mut told);
        Reply::of(&told)
    };
    turned_away(&mut more[299]).refused(503);
    let mut told = Vec::new();
    let _reset = bodiless.read_to_end(&mut told);
    Reply::of(&told).refused(408);
    // All of them are sent away in the end.
    slow.iter_mut().chain(&mut more[..200]).for_each(|stream| {
        let _closed = stream.read_to_end(&mut Vec::new());
    });
    nothing_happened(&user, &page);
}

/// What comes in drops has a time in which it must be whole, and what is not taken has one too.
#[test]
#[allow(clippy::disallowed_methods, reason = "the server's limits are of the real clock")]
fn a_request_that_comes_in_drops_and_an_answer_that_nobody_takes_are_given_up() {
    let user = User::new();
    let page = Page::start(&user);
    let host = format!("Host: {}\r\n", page.address);
    let body = json!({ "plan": "quick", "on": "null:" }).to_string();
    let start = format!("POST /api/start HTTP/1.1\r\n{host}{}\r\n{}\r\n", kind(), token(TOKEN));
    let whole = format!("{start}Content-Length: {}\r\n\r\n", body.len());
    // A byte in half a second: the head would take a minute, the body more than ten seconds.
    let drops = |known: &str, rest: String| {
        let mut stream = page.connect();
        stream.write_all(known.as_bytes()).unwrap();
        let mut back = stream.try_clone().unwrap();
        let drip = thread::spawn(move || {
            rest.bytes()
                .take_while(|byte| {
                    thread::sleep(Duration::from_millis(500));
                    stream.write_all(&[*byte]).is_ok()
                })
                .count()
        });
        let began = std::time::Instant::now();
        let mut told = Vec::new();
        let _reset = back.read_to_end(&mut told);
        assert!((5.0..40.0).contains(&began.elapsed().as_secs_f64()), "{:?}", began.elapsed());
        drop(back);
        (Reply::of(&told), drip)
    };
    thread::scope(|scope| {
        let head = scope.spawn(|| drops("", whole.clone()).0);
        let slow = scope.spawn(|| drops(&whole, body.clone()).0);
        let idle = scope.spawn(|| drops("", String::new()).0);
        // More answers than any buffer holds, of which none is read.
        let mut deaf = page.connect();
        let ask = format!("GET /api/lab/arrays HTTP/1.1\r\n{host}\r\n").repeat(64);
        deaf.set_write_timeout(Some(Duration::from_secs(1))).unwrap();
        (0..100).for_each(|_| drop(deaf.write_all(ask.as_bytes())));
        assert_eq!(head.join().unwrap().status, 0, "a head that is not whole is no request");
        slow.join().unwrap().refused(408);
        assert_eq!(idle.join().unwrap().status, 0);
        wait_until("the end of the answers", || {
            deaf.write_all(b"GET").is_err_and(|error| {
                matches!(error.kind(), ErrorKind::BrokenPipe | ErrorKind::ConnectionReset)
            })
        });
    });
    nothing_happened(&user, &page);
}

#[test]
fn every_answer_tells_browsers_to_load_nothing_from_elsewhere() {
    let user = User::new();
    let page = Page::start(&user);
    for path in ["/", "/runs/last~1", "/api/about", "/api/nothing", "/missing.js"] {
        let head = page.get(path).head.to_lowercase();
        for line in [
            "content-security-policy: default-src 'none'; script-src 'self';",
            "x-content-type-options: nosniff",
            "referrer-policy: no-referrer",
            "frame-ancestors 'none'",
        ] {
            assert!(head.contains(line), "{path}: {line} is not in\n{head}");
        }
        assert!(!head.contains("access-control-"), "{head}");
    }
    let first = page.get("/").with(200);
    assert!(first.text().contains("<!doctype html>") || first.text().contains("<!DOCTYPE html>"));
    let tag = first.head.lines().find_map(|line| line.strip_prefix("etag: ")).unwrap().to_owned();
    page.ask("GET /", &[format!("If-None-Match: {tag}")], "").with(304);
    assert!(page.ask("HEAD /api/about", &[], "").with(200).body.is_empty());
}

#[test]
fn an_address_that_others_reach_takes_a_token_for_everything() {
    let user = User::new();
    user.fathom("ui --listen 0.0.0.0:0").with(2).saying(&["--token"]);
    user.fathom_of(["ui", "--listen", "127.0.0.1:0", "--token", "a b"]).with(2).saying(&["letters, digits"]);
    let page = Page::of(&user, &format!("ui --listen 0.0.0.0:0 --token {TOKEN}"));
    page.get("/").with(200);
    for path in ["/api/about", "/api/runs", "/api/schema"] {
        page.get(path).refused(401);
        page.get(&format!("{path}?token={TOKEN}")).refused(401);
        page.ask(&format!("GET {path}"), &[token(TOKEN)], "").with(200);
    }
    page.ask("POST /api/plans/check", &[kind()], "{\"toml\":\"\"}").refused(401);
    page.get("/api/jobs/j1/events?token=wrong").refused(401);
    page.get(&format!("/api/jobs/j1/events?token={TOKEN}")).refused(404);
}

#[test]
fn a_token_is_random_unless_it_is_given() {
    let user = User::new();
    let pages = [0, 1].map(|_| Page::of(&user, "ui --listen 127.0.0.1:0"));
    let tokens = pages.each_ref().map(|page| page.line.trim().split("#token=").nth(1).unwrap().to_owned());
    assert_ne!(tokens[0], tokens[1]);
    for (page, own) in pages.iter().zip(&tokens) {
        assert!(own.len() == 32 && own.chars().all(|one| one.is_ascii_hexdigit()), "{own}");
        page.ask("POST /api/jobs/j1/stop", &[kind(), token(own)], "{}").refused(404);
    }
}

/// A user with two runs of a queue, the second tagged and on a faster one.
fn with_runs() -> User {
    let user = User::with_plan(PLAN);
    user.fathom("run plan.toml --on array:queue?kind=queue-mm1").done();
    user.fathom("run plan.toml --on array:queue?kind=queue-mm4 --tag room=3").done();
    user
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
    assert_eq!((&own["name"], &own["runs"], &own["cells_done"]), (&json!("queues"), &json!(7), &json!(4)));
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
        let light = run["points"].as_array().unwrap().iter().find(|point| point["name"] == "light").unwrap();
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
    let dry = user.fathom("campaign levels.toml --set run=20s --dry-run").done().out;
    assert_eq!(told["dry_run"], dry);
    assert!(dry.contains("8 cells") && dry.contains("the smallest change that is found"), "{dry}");
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
        seen.push(told["campaigns"][0]["cells_done"].as_u64().unwrap_or(0));
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
    assert_eq!(
        (&told["state"], &told["run"], &told["plan"]),
        (&json!("done"), &run["id"], &json!("plan.toml"))
    );
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
    assert_eq!((&listed["state"], &listed["remark"]), (&json!("running"), &Value::Null));
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

#[test]
fn an_address_that_is_taken_is_named() {
    let user = User::new();
    let page = Page::start(&user);
    let told = user.fathom(&format!("ui --listen {}", page.address)).with(2).err;
    assert!(told.contains(&page.address.to_string()) && told.contains("choose another"), "{told}");
}
