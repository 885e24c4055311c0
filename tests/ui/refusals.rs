//! What the server refuses, and that nothing comes of it.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::thread;
use std::time::Duration;

use serde_json::json;

use super::page::{Page, Reply, TOKEN, kind, nothing_happened, token};
use crate::support::{User, wait_until};

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

#[test]
fn an_address_that_is_taken_is_named() {
    let user = User::new();
    let page = Page::start(&user);
    let told = user.fathom(&format!("ui --listen {}", page.address)).with(2).err;
    assert!(told.contains(&page.address.to_string()) && told.contains("choose another"), "{told}");
}
