//! The full screen in a real terminal, by tmux: what is drawn, and that whatever ends it leaves the terminal as it was.

use std::fs;
use std::process::Command;

use rustix::process::{Pid, Signal, kill_process};

use crate::support::{User, wait_until};

const LONG: &str = r#"
name = "long"

[defaults]
span  = "4MiB"
depth = 4

[[phase]]
name = "read at random"
run  = "60s"
"#;

/// A terminal with a shell in it, which ends with this.
struct Terminal<'a> {
    user: &'a User,
    /// Its tmux server is nobody else's.
    socket: String,
}

impl Terminal<'_> {
    /// `None` where there is no tmux.
    fn open(user: &User, columns: u16, rows: u16) -> Option<Terminal<'_>> {
        let terminal = Terminal { user, socket: user.path("tmux").display().to_string() };
        let size = format!("-x {columns} -y {rows}");
        let started = terminal.tmux(
            &[&["-f", "/dev/null", "new-session", "-d"], &size.split(' ').collect::<Vec<_>>()[..], &["sh"]]
                .concat(),
        );
        if started.is_none() {
            crate::support::lacks("tmux", "needs tmux");
        }
        started.map(|_| terminal)
    }

    /// What tmux says; `None` where it fails.
    fn tmux(&self, arguments: &[&str]) -> Option<String> {
        let model = self.user.command("");
        let mut command = Command::new("tmux");
        command.args(["-S", &self.socket]).args(arguments).env_clear().current_dir(self.user.path(""));
        command.envs(model.get_envs().filter_map(|(key, value)| Some((key, value?))));
        command.env("TERM", "xterm-256color").env("LC_ALL", "C.UTF-8").env("PS1", "$ ");
        let output = command.output().ok().filter(|output| output.status.success())?;
        Some(String::from_utf8(output.stdout).unwrap())
    }

    /// Types `text` and a line end.
    fn line(&self, text: &str) {
        self.tmux(&["send-keys", "-l", text]).unwrap();
        self.key("Enter");
    }

    fn key(&self, key: &str) {
        self.tmux(&["send-keys", key]).unwrap();
    }

    fn run(&self, options: &str) {
        self.line(&format!("'{}' run plan.toml --on disk {options}", env!("CARGO_BIN_EXE_fathom")));
    }

    fn shown(&self) -> String {
        self.tmux(&["capture-pane", "-p"]).unwrap()
    }

    #[track_caller]
    fn wait_for(&self, words: &str) {
        let mut shown = String::new();
        let is_there = || {
            shown = self.shown();
            shown.contains(words)
        };
        wait_until(&format!("`{words}` in the terminal"), is_there);
    }

    /// Whether the other screen is up.
    fn is_full(&self) -> bool {
        self.tmux(&["display-message", "-p", "#{alternate_on}"]).unwrap().trim() == "1"
    }

    /// Holds the terminal to how a shell wants it: its own screen, with a cursor, keys by line and echoed.
    #[track_caller]
    fn is_as_before(&self, what: &str) {
        wait_until(&format!("the shell's screen, {what}"), || !self.is_full());
        let cursor = || self.tmux(&["display-message", "-p", "#{cursor_flag}"]).unwrap();
        wait_until(&format!("a cursor, {what}"), || cursor().trim() == "1");
        self.line("stty -a > modes; echo modes are $((6 * 7))");
        self.wait_for("modes are 42");
        let modes = fs::read_to_string(self.user.path("modes")).unwrap();
        assert!(modes.contains(" icanon") && modes.contains(" echo "), "{what}:\n{modes}");
        self.line("clear");
    }

    /// The process that measures: the child of the child of the shell.
    fn worker(&self) -> Pid {
        let shell = self.tmux(&["display-message", "-p", "#{pane_pid}"]).unwrap();
        let child = |pid: &str| {
            let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap();
            children.split_whitespace().next().unwrap().to_owned()
        };
        Pid::from_raw(child(&child(shell.trim())).parse().unwrap()).unwrap()
    }
}

impl Drop for Terminal<'_> {
    fn drop(&mut self) {
        self.tmux(&["kill-server"]);
    }
}

#[test]
fn a_key_leaves_the_full_screen_and_the_run_goes_on_to_its_end() {
    let user = User::with_plan(&LONG.replace("60s", "12s"));
    user.directory("disk");
    let Some(terminal) = Terminal::open(&user, 80, 24) else { return };
    terminal.run("--display full");
    terminal.wait_for("p99 ");
    assert!(terminal.is_full());
    let shown = terminal.shown();
    for words in
        ["[1/1] read at random", "left by the plan", " IOPS", "p50 ", "max ", "in flight", "no errors", "CPU"]
    {
        assert!(shown.contains(words), "`{words}` is not in:\n{shown}");
    }
    terminal.key("Space");
    terminal.wait_for("frozen; the run continues");
    let frozen = terminal.shown();
    terminal.tmux(&["run-shell", "sleep 1.2"]).unwrap();
    assert_eq!(terminal.shown(), frozen, "nothing is drawn on a frozen screen");
    terminal.key("Space");
    wait_until("the screen is drawn again", || !terminal.shown().contains("frozen"));
    terminal.tmux(&["resize-window", "-x", "40", "-y", "12"]).unwrap();
    wait_until("the screen fits the new size", || {
        let shown = terminal.shown();
        shown.lines().all(|line| line.chars().count() <= 40)
            && shown.contains("IOPS")
            && !shown.contains("one line")
    });
    terminal.tmux(&["resize-window", "-x", "80", "-y", "24"]).unwrap();
    terminal.key("q");
    wait_until("the screen is left", || !terminal.is_full());
    terminal.wait_for("left by the plan");
    terminal.wait_for("Grade");
    terminal.is_as_before("after the end");
    let run = user.last();
    assert_eq!(run["ending"]["complete"], true);
    assert_eq!(run["display"]["kind"], "full");
    let cost = run["display"]["cpu_s"].as_f64().unwrap() / run["display"]["shown_s"].as_f64().unwrap();
    assert!(cost > 0.0 && cost < 0.2, "{cost} of a processor, by a development build");
}

#[test]
fn whatever_ends_the_run_the_terminal_is_as_it_was() {
    let user = User::with_plan(LONG);
    user.directory("disk");
    let Some(terminal) = Terminal::open(&user, 80, 24) else { return };
    let begun = || {
        terminal.run("--display full");
        terminal.wait_for("[1/1] read at random");
        assert!(terminal.is_full());
    };
    begun();
    terminal.key("C-c");
    terminal.wait_for("exit 130");
    terminal.is_as_before("after Ctrl-C");
    for signal in [Signal::TERM, Signal::KILL, Signal::ABORT] {
        begun();
        kill_process(terminal.worker(), signal).unwrap();
        terminal.wait_for("fathom: exit ");
        terminal.is_as_before(&format!("after {signal:?}"));
    }
    for fault in ["panic main 20", "panic worker 20"] {
        terminal.line(&format!("export FATHOM_FAULT='{fault}'"));
        terminal.run("--display full");
        terminal.wait_for("exit 8");
        assert!(terminal.shown().contains("internal error"), "{}", terminal.shown());
        terminal.is_as_before(fault);
    }
}

#[test]
fn ctrl_z_gives_the_shell_its_terminal_and_fg_brings_the_screen_back() {
    let user = User::with_plan(LONG);
    user.directory("disk");
    let Some(terminal) = Terminal::open(&user, 80, 24) else { return };
    terminal.line("set -m");
    terminal.run("--display full");
    terminal.wait_for("p99 ");
    terminal.key("C-z");
    terminal.is_as_before("after Ctrl-Z");
    terminal.line("fg");
    terminal.wait_for("p99 ");
    assert!(terminal.is_full());
    terminal.key("C-c");
    terminal.wait_for("exit 130");
    terminal.is_as_before("after the end");
}

#[test]
fn a_full_screen_is_plain_lines_where_there_is_no_terminal_and_events_want_the_terminal_for_themselves() {
    let user = User::with_plan(LONG);
    let ended = user.fathom("run plan.toml --on null: --set run=1s --display full").done();
    assert!(ended.err.contains("[1/1] read at random") && !ended.err.contains('\x1b'), "{}", ended.err);
    assert!(user.last().get("display").is_none());
    let ended = user.fathom("run plan.toml --on null: --set run=1s --display none").done();
    assert!(!ended.err.contains("[1/1]"), "{}", ended.err);
    user.directory("disk");
    let Some(terminal) = Terminal::open(&user, 80, 24) else { return };
    terminal.run("--display full --format jsonl");
    terminal.wait_for("exit 2");
}
