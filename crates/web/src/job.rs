//! Runs and campaigns that were started from the page: child processes that write their events to files.
//!
//! A child has a process group of its own and writes to files, not to pipes: where the server ends, it goes on.

use std::ffi::OsString;
use std::fs::{self, DirBuilder, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};

use crate::desk::{CampaignAsked, Refusal};
use crate::server::TOKEN_VARIABLE;

/// What is carried out.
pub struct Order {
    /// What the plan or the campaign is called.
    pub name: String,
    /// What the program takes for it.
    pub source: Source,
    /// Its targets, where it does not name them itself.
    pub on: Vec<String>,
    /// The campaign that it is, with what was asked; none of a run.
    pub campaign: Option<(String, CampaignAsked)>,
    /// The arguments of the program.
    pub arguments: Vec<OsString>,
}

/// A plan or a campaign: one that the program has, or a text.
pub struct Source {
    /// The name, or the file that has the text, in the folder where the program is started.
    pub file: String,
    text: Option<String>,
}

impl Source {
    /// The one that is called `name`, or that is `text`, in a file `KIND.toml`.
    pub fn new(kind: &str, name: Option<&String>, text: Option<&String>) -> Result<Source, Refusal> {
        match (name, text) {
            (Some(name), None) => Ok(Source { file: name.clone(), text: None }),
            (None, Some(text)) => Ok(Source { file: format!("./{kind}.toml"), text: Some(text.clone()) }),
            _ => {
                let error = format!("a start has either `{kind}` or `toml`; give one of them");
                Err(Refusal::parted(400, &error))
            }
        }
    }
}

/// So many run at once.
const RUNNING_MOST: usize = 4;
/// Of those that have ended, so many are remembered.
const ENDED_MOST: usize = 32;
const _: () = assert!(RUNNING_MOST < ENDED_MOST && SAYS_MOST <= STDERR_MOST);
/// So much of what a run says on stderr is told, its end.
const STDERR_MOST: u64 = 64 << 10;
/// The last line of it lies in so much.
const SAYS_MOST: u64 = 4 << 10;
/// The last event of a run is found in so much of the end of its events.
const LAST_EVENT_MOST: u64 = 4 << 20;

/// All of them, with the folder in which each has one.
pub struct Jobs {
    program: PathBuf,
    environment: Vec<(OsString, OsString)>,
    folder: PathBuf,
    all: Mutex<All>,
}

#[derive(Default)]
struct All {
    jobs: Vec<Arc<Job>>,
    /// How many there ever were.
    count: u64,
}

/// One run, or one campaign.
pub struct Job {
    name: String,
    plan: String,
    campaign: Option<(String, CampaignAsked)>,
    on: Vec<String>,
    started: String,
    folder: PathBuf,
    state: Mutex<State>,
}

enum State {
    Running(Child),
    Ended(End),
}

/// How a run ended.
#[derive(Clone, Debug)]
pub struct End {
    /// The exit code; 128 and the number of the signal where one ended it.
    code: i32,
    /// The run's id, where one was begun.
    run: Option<String>,
    /// What it said on stderr.
    stderr: String,
}

impl End {
    /// For the page.
    pub fn json(&self) -> Value {
        json!({ "code": self.code, "run": self.run, "stderr": self.stderr })
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Jobs {
    /// None yet; `program` carries them out with `environment` beside this process's own, each in a folder of its own in
    /// `folder`, which is made with the first.
    pub fn new(program: PathBuf, environment: Vec<(OsString, OsString)>, folder: PathBuf) -> Jobs {
        Jobs { program, environment, folder, all: Mutex::default() }
    }

    /// Starts one.
    pub fn start(&self, order: Order, now: String) -> Result<String, Refusal> {
        let mut all = locked(&self.all);
        let running = || all.jobs.iter().filter(|job| job.look().is_none());
        let count = running().count();
        if count >= RUNNING_MOST {
            let error =
                format!("{count} runs are under way, and no more are started; wait for one, or stop one");
            return Err(Refusal::parted(429, &error));
        }
        let Order { name: plan, source, on, campaign, arguments } = order;
        if let Some((own, _)) = &campaign
            && let Some(job) = running().find(|job| job.campaign() == Some(own))
        {
            let error = format!("the campaign {own} is under way as `{}`; wait for it, or stop it", job.name);
            return Err(Refusal::parted(409, &error));
        }
        let name = format!("j{}", all.count + 1);
        let folder = self.folder.join(&name);
        let child = self.spawn(&folder, &source, &arguments).map_err(|error| {
            self.clear(&folder);
            let status = if error.kind() == io::ErrorKind::InvalidInput { 400 } else { 500 };
            Refusal { status, error: format!("the run could not be started: {error}"), help: None }
        })?;
        all.count += 1;
        all.jobs.push(Arc::new(Job {
            name: name.clone(),
            plan,
            campaign,
            on,
            started: now,
            folder,
            state: Mutex::new(State::Running(child)),
        }));
        forget(&mut all.jobs);
        assert!(all.jobs.len() <= RUNNING_MOST + ENDED_MOST, "those that have ended are forgotten");
        debug_assert!(all.jobs.iter().any(|job| job.name == name), "what has just begun is kept");
        Ok(name)
    }

    fn spawn(&self, folder: &Path, source: &Source, arguments: &[OsString]) -> io::Result<Child> {
        // What is measured, and with which plan, is nobody else's business.
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        if let Some(text) = &source.text {
            fs::write(folder.join(&source.file), text)?;
        }
        Command::new(&self.program)
            .args(arguments)
            .current_dir(folder)
            .envs(self.environment.iter().map(|(key, value)| (key, value)))
            .env_remove(TOKEN_VARIABLE)
            .stdin(Stdio::null())
            .stdout(File::create(folder.join(EVENTS))?)
            .stderr(File::create(folder.join(STDERR))?)
            .process_group(0)
            .spawn()
    }

    /// Removes the folder of a job, and that of all where it was the last.
    fn clear(&self, folder: &Path) {
        let _gone = fs::remove_dir_all(folder);
        let _others = fs::remove_dir(&self.folder);
    }

    /// All that are remembered, the newest first.
    pub fn list(&self) -> Value {
        let jobs: Vec<Value> = locked(&self.all).jobs.iter().rev().map(|job| job.json()).collect();
        json!({ "jobs": jobs })
    }

    /// The one of that name.
    pub fn find(&self, name: &str) -> Result<Arc<Job>, Refusal> {
        let found = locked(&self.all).jobs.iter().find(|job| job.name == name).cloned();
        found.ok_or_else(|| {
            Refusal::parted(404, &format!("there is no job `{name}`; GET /api/jobs lists them"))
        })
    }

    /// How the campaign of that name was asked for last.
    pub fn campaign(&self, name: &str) -> Option<CampaignAsked> {
        let all = locked(&self.all);
        let mut asked = all.jobs.iter().rev().filter_map(|job| job.campaign.as_ref());
        asked.find(|(own, _)| own == name).map(|(_, asked)| asked.clone())
    }

    /// The names of those that go on.
    pub fn running(&self) -> Vec<String> {
        let all = locked(&self.all);
        all.jobs.iter().filter(|job| job.look().is_none()).map(|job| job.name.clone()).collect()
    }
}

impl Drop for Jobs {
    /// What has ended leaves nothing behind but its run in the library.
    fn drop(&mut self) {
        let all = locked(&self.all);
        all.jobs.iter().filter(|job| job.look().is_some()).for_each(|job| self.clear(&job.folder));
    }
}

/// Leaves the newest of those that have ended.
fn forget(jobs: &mut Vec<Arc<Job>>) {
    let ended = jobs.iter().filter(|job| job.look().is_some()).count();
    let mut surplus = ended.saturating_sub(ENDED_MOST);
    jobs.retain(|job| {
        let is_kept = surplus == 0 || job.look().is_none();
        if !is_kept {
            surplus -= 1;
            let _gone = fs::remove_dir_all(&job.folder);
        }
        is_kept
    });
}

/// Names of a job's files.
const EVENTS: &str = "events.jsonl";
const STDERR: &str = "stderr";

impl Job {
    /// How it ended; `None` while it runs.
    pub fn look(&self) -> Option<End> {
        let mut state = locked(&self.state);
        if let State::Running(child) = &mut *state
            && let Ok(Some(status)) = child.try_wait()
        {
            *state = State::Ended(self.end(status));
        }
        match &*state {
            State::Running(_) => None,
            State::Ended(end) => Some(end.clone()),
        }
    }

    fn end(&self, status: ExitStatus) -> End {
        let code = status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or_default());
        let stderr = tail(&self.folder.join(STDERR), STDERR_MOST);
        let events = tail(&self.events(), LAST_EVENT_MOST);
        let last = events.lines().rev().find(|line| line.contains("\"run-ended\""));
        let last = last.and_then(|line| serde_json::from_str::<Value>(line).ok());
        let run = last.and_then(|last| Some(last.get("id")?.as_str()?.to_owned()));
        End { code, run, stderr }
    }

    /// For the page.
    pub fn json(&self) -> Value {
        let end = self.look();
        let state = match &end {
            None => "running",
            Some(End { code: 0, .. }) => "done",
            Some(_) => "failed",
        };
        json!({
            "job": self.name, "plan": self.plan, "on": self.on, "started": self.started, "state": state,
            "code": end.as_ref().map(|end| end.code), "run": end.as_ref().and_then(|end| end.run.clone()),
            "stderr": end.as_ref().map(|end| &end.stderr), "campaign": self.campaign(),
            "request": self.campaign.as_ref().map(|(_, asked)| asked), "says": self.says(end.is_some()),
        })
    }

    fn campaign(&self) -> Option<&String> {
        self.campaign.as_ref().map(|(name, _)| name)
    }

    /// The last that a campaign has said of how far it is.
    fn says(&self, has_ended: bool) -> Option<String> {
        self.campaign.as_ref().filter(|_| !has_ended)?;
        tail(&self.folder.join(STDERR), SAYS_MOST).lines().last().map(str::to_owned)
    }

    /// The file of its events.
    pub fn events(&self) -> PathBuf {
        self.folder.join(EVENTS)
    }

    /// Asks it to end with what it has measured.
    pub fn stop(&self) -> Result<(), Refusal> {
        let gone = || Refusal::parted(409, &format!("the job `{}` has ended already", self.name));
        if self.look().is_some() {
            return Err(gone());
        }
        // Only who waits for a child can make its number another's.
        let state = locked(&self.state);
        let State::Running(child) = &*state else { return Err(gone()) };
        let pid = rustix::process::Pid::from_child(child);
        rustix::process::kill_process(pid, rustix::process::Signal::INT).map_err(|_| gone())
    }
}

/// The end of a file as text; empty where it cannot be read.
fn tail(path: &Path, most: u64) -> String {
    let read = || -> io::Result<Vec<u8>> {
        let mut file = File::open(path)?;
        let size = file.metadata()?.len();
        file.seek(SeekFrom::Start(size.saturating_sub(most)))?;
        let mut bytes = Vec::new();
        file.take(most).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    read().map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
}
