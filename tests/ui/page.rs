//! The page as a browser reaches it: a running server, and what comes back.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal};
use serde_json::{Value, json};

use crate::support::{User, wait_until};

pub(super) const TOKEN: &str = "4b1fd7c2a9e05831";

/// Two loads on a virtual queue.
pub(super) const PLAN: &str = r#"
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
pub(super) struct Page {
    pub(super) child: Child,
    pub(super) address: SocketAddr,
    /// The first line of stdout.
    pub(super) line: String,
}

impl Page {
    pub(super) fn start(user: &User) -> Page {
        Page::of(user, &format!("ui --listen 127.0.0.1:0 --token {TOKEN}"))
    }

    pub(super) fn of(user: &User, line: &str) -> Page {
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

    pub(super) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream
    }

    /// What comes back to these bytes.
    pub(super) fn tell(&self, bytes: &[u8]) -> Reply {
        let mut stream = self.connect();
        // Whoever is refused early may find the connection closed.
        let _refused = stream.write_all(bytes);
        let mut told = Vec::new();
        let _reset = stream.read_to_end(&mut told);
        Reply::of(&told)
    }

    /// A request with these lines of its head; `Host` and `Connection` are added.
    pub(super) fn ask(&self, first: &str, head: &[String], body: &str) -> Reply {
        let mut text = format!("{first} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n", self.address);
        head.iter().for_each(|line| text += &format!("{line}\r\n"));
        if !body.is_empty() {
            text += &format!("Content-Length: {}\r\n", body.len());
        }
        self.tell(format!("{text}\r\n{body}").as_bytes())
    }

    pub(super) fn get(&self, path: &str) -> Reply {
        self.ask(&format!("GET {path}"), &[], "")
    }

    /// The JSON at `path`.
    #[track_caller]
    pub(super) fn json(&self, path: &str) -> Value {
        self.get(path).with(200).json()
    }

    /// With the token.
    pub(super) fn post(&self, path: &str, body: &Value) -> Reply {
        self.ask(&format!("POST {path}"), &[kind(), token(TOKEN)], &body.to_string())
    }

    /// Starts a run; its job.
    pub(super) fn start_run(&self, body: &Value) -> String {
        self.post("/api/start", body).with(202).json()["job"].as_str().unwrap().to_owned()
    }

    /// The events of a job to its end, each with its number, name and data; the end has no number.
    pub(super) fn events(&self, job: &str, known: u64) -> Vec<(Option<u64>, String, Value)> {
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
    pub(super) fn start_campaign(&self, body: &Value) -> String {
        self.post("/api/campaign/start", body).with(202).json()["job"].as_str().unwrap().to_owned()
    }

    /// What has come of a job once it has ended.
    pub(super) fn ended(&self, job: &str) -> Value {
        let mut told = Value::Null;
        wait_until("the end of the job", || {
            told = self.json(&format!("/api/jobs/{job}"));
            told["state"] != "running"
        });
        told
    }

    /// How a job ended.
    pub(super) fn end_of(&self, job: &str) -> Value {
        self.events(job, u64::MAX).pop().unwrap().2
    }

    pub(super) fn signal(&self, signal: Signal) {
        rustix::process::kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Its exit code and what it said.
    pub(super) fn end(mut self) -> (Option<i32>, String) {
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

pub(super) fn kind() -> String {
    "Content-Type: application/json".into()
}

pub(super) fn token(token: &str) -> String {
    format!("Authorization: Bearer {token}")
}

#[derive(Debug)]
pub(super) struct Reply {
    pub(super) status: u16,
    pub(super) head: String,
    pub(super) body: Vec<u8>,
}

impl Reply {
    pub(super) fn of(bytes: &[u8]) -> Reply {
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").unwrap_or(bytes.len());
        let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        Reply { status, head, body: bytes.get(end + 4..).unwrap_or_default().to_vec() }
    }

    #[track_caller]
    pub(super) fn with(self, status: u16) -> Reply {
        assert_eq!(self.status, status, "{}\n{}", self.head, self.text());
        self
    }

    /// Refused so, with a reason.
    #[track_caller]
    pub(super) fn refused(self, status: u16) -> Value {
        let told = self.with(status).json();
        assert!(told["error"].as_str().is_some_and(|error| error.len() > 10), "{told}");
        told
    }

    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    #[track_caller]
    pub(super) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }
}

/// Nothing was started, and nothing is in the library.
pub(super) fn nothing_happened(user: &User, page: &Page) {
    assert_eq!(page.json("/api/jobs"), json!({ "jobs": [] }));
    assert!(user.fathom("ls").done().out.contains("No run"));
    assert_eq!(user.files(), ["address"]);
}
