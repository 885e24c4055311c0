//! Commands of the user's, given to `sh` with nothing to read.

use std::io::{self, IsTerminal, Read};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use units::Nanos;

/// How soon it is looked again whether a command has ended.
const LOOK_AGAIN: Nanos = Nanos::from_millis(20);

/// No more of what a command says on stderr is kept.
const SAID_MOST: u64 = 4096;

/// Runs `text` with `variables` in its environment, to its end. An error where it cannot be started or fails; then with
/// its status and what it said on stderr.
pub fn run(text: &str, variables: &[(&str, String)]) -> io::Result<()> {
    let output = shell(text).envs(variables.iter().map(|(name, value)| (name, value))).output()?;
    match output.status.success() {
        true => Ok(()),
        false => Err(failed(output.status, &String::from_utf8_lossy(&output.stderr))),
    }
}

/// What a command that has ended answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// What it printed, without the blanks around it.
    pub out: String,
    /// Its exit code; `None` where a signal ended it.
    pub code: Option<i32>,
    /// How it ended, with what it said on stderr: `exit status: 4: no disk`.
    pub ending: String,
}

impl Answer {
    fn of(status: ExitStatus, out: &str, said: &str) -> Answer {
        Answer {
            out: out.trim().to_owned(),
            code: status.code(),
            ending: failed(status, said).to_string().trim_end_matches(": ").to_owned(),
        }
    }
}

/// Runs `text` with `variables` in its environment, to its end, whatever its exit code. `None` where `is_over` said in the meantime
/// that nobody waits for it any more: then it and all that it has started were asked to end, and after `grace` killed. An error
/// where it cannot be started.
///
/// Off a terminal it has a process group of its own. On one it may ask for a password there, which a group in the background cannot;
/// the keys that interrupt reach it anyway.
pub fn answer(
    text: &str,
    variables: &[(String, String)],
    grace: Duration,
    is_over: impl Fn() -> bool,
) -> io::Result<Option<Answer>> {
    let mut command = shell(text);
    command.envs(variables.iter().map(|(name, value)| (name, value)));
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let is_alone = !io::stdin().is_terminal();
    if is_alone {
        command.process_group(0);
    }
    let mut child = command.spawn()?;
    let (out, err) = (drained(child.stdout.take()), drained(child.stderr.take()));
    let clock = crate::clock::Clock::start();
    while child.try_wait()?.is_none() {
        if is_over() {
            if is_alone {
                Running(child).stop(grace)?;
            } else {
                child.kill()?;
                child.wait()?;
            }
            return Ok(None);
        }
        clock.sleep_until(clock.now() + LOOK_AGAIN);
    }
    let status = child.wait()?;
    let text = |said: std::thread::JoinHandle<Vec<u8>>| {
        String::from_utf8_lossy(&said.join().unwrap_or_default()).into_owned()
    };
    Ok(Some(Answer::of(status, &text(out), &text(err))))
}

/// All that a pipe gives, read beside the program.
fn drained(pipe: Option<impl Read + Send + 'static>) -> std::thread::JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut all = Vec::new();
        // What could be read is what it said.
        let _cut = pipe.map(|mut pipe| pipe.read_to_end(&mut all));
        all
    })
}

/// A command that goes on beside the program. It is left to itself when this is dropped.
#[derive(Debug)]
pub struct Running(Child);

impl Running {
    /// Starts `text` in a process group of its own: an interrupt of the program is none of the command.
    pub fn start(text: &str) -> io::Result<Running> {
        let mut command = shell(text);
        command.stdout(Stdio::null()).stderr(Stdio::piped()).process_group(0);
        Ok(Running(command.spawn()?))
    }

    /// Has it and all that it has started end, and after `grace` without asking. Waits for its end.
    pub fn stop(mut self, grace: Duration) -> io::Result<()> {
        self.signal(Signal::TERM);
        let given = crate::clock::Clock::start();
        let until = given.now() + Nanos::from_secs(grace.as_secs());
        while self.0.try_wait()?.is_none() {
            if given.now() >= until {
                self.signal(Signal::KILL);
                self.0.wait()?;
                break;
            }
            given.sleep_until((given.now() + LOOK_AGAIN).min(until));
        }
        Ok(())
    }

    /// To its whole group, unless it has ended and was waited for.
    fn signal(&mut self, signal: Signal) {
        if let Ok(None) = self.0.try_wait() {
            let _gone = kill_process_group(Pid::from_child(&self.0), signal);
        }
    }

    /// Whether it has ended well. An error where it has failed, as of [`run`].
    pub fn has_ended(&mut self) -> io::Result<bool> {
        let Some(status) = self.0.try_wait()? else { return Ok(false) };
        if status.success() {
            return Ok(true);
        }
        let mut said = String::new();
        if let Some(stderr) = self.0.stderr.take() {
            let _gone = stderr.take(SAID_MOST).read_to_string(&mut said);
        }
        Err(failed(status, &said))
    }
}

fn shell(text: &str) -> Command {
    let mut command = Command::new("sh");
    command.arg("-c").arg(text).stdin(Stdio::null());
    command
}

fn failed(status: ExitStatus, said: &str) -> io::Error {
    io::Error::other(format!("{status}: {}", said.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_that_fails_tells_its_status_and_what_it_said() {
        let error = run("echo no $WHAT >&2; exit 4", &[("WHAT", "disk".into())]).unwrap_err();
        assert_eq!(error.to_string(), "exit status: 4: no disk");
        run("exit 0", &[]).unwrap();
    }

    #[test]
    fn a_command_answers_what_it_prints_and_how_it_ended() {
        let variables = [("WHAT".to_owned(), "3.88".to_owned())];
        let answer =
            |text: &str, variables: &[_]| answer(text, variables, Duration::ZERO, || false).unwrap().unwrap();
        let answered = answer("echo \" $WHAT \"; echo slow >&2; exit 9", &variables);
        let whole = Answer { out: "3.88".into(), code: Some(9), ending: "exit status: 9: slow".into() };
        assert_eq!(answered, whole);
        let silent = answer("kill -9 $$", &[]);
        assert_eq!((silent.code, silent.out.as_str()), (None, ""));
        assert!(silent.ending.starts_with("signal: 9"), "{}", silent.ending);
    }

    #[test]
    fn a_command_that_nobody_waits_for_is_ended_with_all_that_it_has_started() {
        let folder = tempfile::TempDir::new().unwrap();
        let file = folder.path().join("pid");
        let text = format!("sleep 600 & echo $! > {}; wait", file.display());
        let started = || std::fs::read_to_string(&file).is_ok_and(|pid| pid.ends_with('\n'));
        let answered = answer(&text, &[], Duration::from_secs(5), started).unwrap();
        assert_eq!(answered, None);
        let pid = std::fs::read_to_string(&file).unwrap();
        // The shell is waited for; what it has started has its signal, and ends when it next runs.
        let state = || std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
        let is_gone = || state().is_empty() || state().contains(") Z ");
        let clock = crate::clock::Clock::start();
        let until = clock.now() + Nanos::from_secs(60);
        while !is_gone() {
            assert!(clock.now() < until, "{}", state());
            clock.sleep_until(clock.now() + LOOK_AGAIN);
        }
        let whole = answer("echo 3; exit 4", &[], Duration::ZERO, || false).unwrap().unwrap();
        assert_eq!((whole.out.as_str(), whole.code), ("3", Some(4)));
    }

    #[test]
    fn a_command_beside_the_program_is_asked_until_it_has_ended() {
        let ended = |text: &str| {
            let mut running = Running::start(text).unwrap();
            loop {
                match running.has_ended() {
                    Ok(false) => std::thread::yield_now(),
                    ended => return ended,
                }
            }
        };
        assert!(ended("true").unwrap());
        assert_eq!(ended("echo gone >&2; exit 3").unwrap_err().to_string(), "exit status: 3: gone");
    }
}
