//! A user with a home, and what came back from the program.

mod devices;
mod postgres;
mod skip;

use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Output, Stdio};
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

pub use devices::{Frozen, Loop, Mounted, Throttled, mkfs};
pub use postgres::Postgres;
#[allow(unused_imports, reason = "not every binary of tests needs large programs")]
pub use skip::has_large;
pub use skip::{lacks, skipped};

/// The shortest measurement that says something: a target of 4 MiB, read for a fifth of a second.
pub const SMALL: &str = r#"
name = "small"

[defaults]
span = "4MiB"
run  = "200ms"

[[phase]]
name  = "read"
depth = 4
"#;

/// A user. Nothing is shared with other tests; the home lies on the disk that the build is on.
pub struct User {
    home: TempDir,
}

impl User {
    pub fn new() -> User {
        User { home: TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap() }
    }

    /// A user who has written `plan` to `plan.toml`.
    pub fn with_plan(plan: &str) -> User {
        let user = User::new();
        user.write("plan.toml", plan);
        user
    }

    /// Where something of the given name lies in the home.
    pub fn path(&self, name: &str) -> PathBuf {
        self.home.path().canonicalize().unwrap().join(name)
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, content).unwrap();
        path
    }

    pub fn directory(&self, name: &str) -> PathBuf {
        let path = self.path(name);
        fs::create_dir(&path).unwrap();
        path
    }

    /// The program with `line` as arguments, split at spaces, in the home.
    pub fn command(&self, line: &str) -> Command {
        self.command_of(line.split_whitespace())
    }

    /// The same for arguments that have spaces in them.
    pub fn command_of<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A>) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fathom"));
        command.args(arguments).current_dir(self.home.path()).env_clear().stdin(Stdio::null());
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("HOME", self.home.path()).env("LANG", "C.UTF-8");
        command
    }

    /// Runs `fathom LINE` to its end.
    pub fn fathom(&self, line: &str) -> Ended {
        Ended::of(&self.command(line).output().unwrap())
    }

    /// Runs it where it may use one processor alone.
    pub fn fathom_on_one_processor(&self, line: &str) -> Ended {
        let there = self.command(line);
        let mut alone = Command::new("taskset");
        alone.env_clear().stdin(Stdio::null());
        alone.args(["--cpu-list", "0"]).arg(there.get_program()).args(there.get_args());
        for (name, value) in there.get_envs() {
            match value {
                Some(value) => alone.env(name, value),
                None => alone.env_remove(name),
            };
        }
        if let Some(folder) = there.get_current_dir() {
            alone.current_dir(folder);
        }
        Ended::of(&alone.output().unwrap())
    }

    /// Runs it with arguments that have spaces in them.
    pub fn fathom_of<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A>) -> Ended {
        Ended::of(&self.command_of(arguments).output().unwrap())
    }

    /// Starts `fathom LINE` and lets it run; killed if it outlives the test.
    pub fn start(&self, line: &str) -> Running {
        Running::of(&mut self.command(line))
    }

    /// The last run that was kept, as a record.
    pub fn last(&self) -> Value {
        self.fathom("show last --format json").done().json()
    }

    /// Names of what lies in the home, sorted, without the library.
    pub fn files(&self) -> Vec<String> {
        let entries = fs::read_dir(self.home.path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.retain(|name| name != ".local");
        names.sort();
        names
    }
}

/// What came back.
#[derive(Debug)]
pub struct Ended {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Ended {
    pub fn of(output: &Output) -> Ended {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        Ended { code: output.status.code(), out: text(&output.stdout), err: text(&output.stderr) }
    }

    /// Itself, if it ended with `code`; the last line on stderr says so too, unless the code is 0.
    #[track_caller]
    pub fn with(self, code: i32) -> Ended {
        assert_eq!(self.code, Some(code), "stdout:\n{}\nstderr:\n{}", self.out, self.err);
        let says = self.err.contains(&format!("fathom: exit {code}: "));
        assert_eq!(says, code != 0, "stderr:\n{}", self.err);
        self
    }

    #[track_caller]
    pub fn done(self) -> Ended {
        self.with(0)
    }

    /// Itself, if stderr has every one of `words`. Line breaks count as spaces.
    #[track_caller]
    pub fn saying(self, words: &[&str]) -> Ended {
        let flat = self.err.split_whitespace().collect::<Vec<_>>().join(" ");
        for word in words {
            assert!(flat.contains(word), "no `{word}` in stderr:\n{}", self.err);
        }
        self
    }

    /// stdout as JSON.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}:\n{}", self.out))
    }
}

/// A program that runs.
pub struct Running {
    child: Option<Child>,
    err: Option<BufReader<ChildStderr>>,
    heard: String,
}

impl Running {
    /// Starts it, in a group of processes of its own.
    pub fn of(command: &mut Command) -> Running {
        let command = command.stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        let mut child = command.spawn().unwrap();
        let err = BufReader::new(child.stderr.take().unwrap());
        Running { child: Some(child), err: Some(err), heard: String::new() }
    }

    /// Waits until a line on stderr has `words` in it, and gives that line. Fails where the program ends before, and where it
    /// says nothing for two minutes: a test that waits for ever would end all others without a word.
    #[track_caller]
    pub fn wait_for(&mut self, words: &str) -> String {
        loop {
            let before = self.heard.len();
            let err = self.err.as_mut().unwrap();
            let silent = err.buffer().is_empty() && !becomes_readable(err.get_ref(), 120);
            assert!(!silent, "silent for two minutes, without `{words}`:\n{}", self.heard);
            err.read_line(&mut self.heard).unwrap();
            assert!(self.heard.len() > before, "it ended without `{words}`:\n{}", self.heard);
            if self.heard[before..].contains(words) {
                return self.heard[before..].to_owned();
            }
        }
    }

    pub fn signal(&self, signal: rustix::process::Signal) {
        let child = self.child.as_ref().unwrap();
        rustix::process::kill_process(rustix::process::Pid::from_child(child), signal).unwrap();
    }

    /// Whether it has said what it does at `signal`, which before that just ends it.
    pub fn catches(&self, signal: rustix::process::Signal) -> bool {
        let pid = self.child.as_ref().unwrap().id();
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
        let caught = caught.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
        caught >> (signal.as_raw() - 1) & 1 == 1
    }

    /// Sends a signal to the process that measures, whose guard was started; `false` where it is not there yet.
    pub fn signal_worker(&self, signal: rustix::process::Signal) -> bool {
        let guard = self.child.as_ref().unwrap().id();
        let children = fs::read_to_string(format!("/proc/{guard}/task/{guard}/children")).unwrap_or_default();
        let worker = children.split_whitespace().next().and_then(|pid| pid.parse().ok());
        let worker = worker.and_then(rustix::process::Pid::from_raw);
        worker.is_some_and(|pid| rustix::process::kill_process(pid, signal).is_ok())
    }

    /// Kills it and all that it has started.
    pub fn kill_all(&self) {
        let group = rustix::process::Pid::from_child(self.child.as_ref().unwrap());
        rustix::process::kill_process_group(group, rustix::process::Signal::KILL).unwrap();
    }

    /// Goes away from the end of its stdout.
    pub fn stop_reading(&mut self) {
        self.child.as_mut().unwrap().stdout = None;
    }

    /// The same of its stderr, which nothing more is known of.
    pub fn stop_hearing(&mut self) {
        self.err = None;
    }

    /// Its exit code, once it has ended; what it has started may live on.
    pub fn wait(mut self) -> Option<i32> {
        self.child.take().unwrap().wait().unwrap().code()
    }

    /// What it printed by the time it ended.
    pub fn end(mut self) -> Ended {
        let err = self.err.take();
        let rest = std::thread::spawn(move || {
            let mut text = String::new();
            err.map_or(Ok(0), |mut err| err.read_to_string(&mut text)).map(|_| text)
        });
        let output = self.child.take().unwrap().wait_with_output().unwrap();
        let mut ended = Ended::of(&output);
        ended.err = std::mem::take(&mut self.heard) + &rest.join().unwrap().unwrap();
        ended
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ended = child.kill();
            let _reaped = child.wait();
        }
    }
}

/// Waits until `is_so`, at most a minute: by then even a busy machine has got there.
#[track_caller]
#[allow(
    clippy::disallowed_methods,
    reason = "the test waits for another process, whose world has the real clock"
)]
pub fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let until = std::time::Instant::now() + Duration::from_secs(60);
    while !is_so() {
        assert!(std::time::Instant::now() < until, "waited for a minute: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Whether there is anything to read within `seconds`, be it the end.
fn becomes_readable(stream: impl std::os::fd::AsFd, seconds: i64) -> bool {
    let mut asked = [rustix::event::PollFd::new(&stream, rustix::event::PollFlags::IN)];
    let patience = rustix::event::Timespec { tv_sec: seconds, tv_nsec: 0 };
    rustix::event::poll(&mut asked, Some(&patience)).unwrap() > 0
}

/// Every file of the repository is found from here.
pub fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}
