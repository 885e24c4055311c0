//! What the page asks, answered with what the other verbs print.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use array::spec::{self, OptionSpec, Takes};
use jiff::{Timestamp, Unit};
use library::{Filter, LibraryError, Location};
use record::{Entry, Run};
use serde_json::{Value, json};
use serve::control::{self, Answer as Said, Command};
use serve::service;
use units::{BytesPerSecond, OpsPerSecond};
use web::{Answer, CampaignAsked, CampaignCommand, Check, Desk, Download, Refusal, RunsWanted, Start};
use workload::plan::{Overrides, Plan};
use writeup::Evidence;

use super::campaigns::Belongs;
use super::{campaigns, mistaken, plans, refusal};
use crate::ending::Failure;
use crate::input::arrays::LIBRARY;
use crate::session::store::Store;
use crate::verbs::compare::Shelf;
use crate::verbs::lab::LabRefusal;
use crate::verbs::lab_json;
use crate::verbs::{array as known, array_control, library as listed, report as written};

/// What a plan is called whose text has no name that can be read.
const TYPED: &str = "plan";

/// Figures this close are equivalent in reports, as for `fathom report`.
const MARGIN: f64 = 0.05;

/// The library of runs, and what the program knows.
pub struct Library {
    store: Store,
    place: Location,
    host: String,
    /// Connections to a server that nobody uses just now.
    idle: Mutex<Vec<library::Library>>,
    /// To which campaigns runs belong: a record says so once and for all.
    belong: Mutex<BTreeMap<String, Option<Belongs>>>,
}

impl Library {
    /// Of `store`, by a path that holds in any folder.
    pub fn new(store: &Store) -> Result<Library, Failure> {
        let mut place = store.place()?;
        if let Location::File(path) = &mut place {
            *path = std::path::absolute(&path).map_err(Failure::system(path.display().to_string()))?;
        }
        let host = real::this_machine().environment.hostname;
        Ok(Library { store: store.clone(), place, host, idle: Mutex::default(), belong: Mutex::default() })
    }

    /// What the library answers. A file is opened for each question, as another may lie there by now.
    fn ask<T>(
        &self,
        question: impl FnOnce(&library::Library) -> Result<T, LibraryError>,
    ) -> Result<T, Refusal> {
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let free = idle().pop();
        let library = free.map_or_else(|| self.store.open(), Ok).map_err(refusal)?;
        let answer = question(&library).map_err(|error| refusal(error.into()));
        if matches!(self.place, Location::Server(_)) {
            idle().push(library);
        }
        answer
    }

    fn entries(&self, filter: &Filter) -> Result<Vec<Entry>, Refusal> {
        self.ask(|library| library.list(filter))
    }

    /// To which campaign this run belongs; `None` where its record does not say.
    fn campaign_of(&self, entry: &Entry) -> Option<Belongs> {
        let known = || self.belong.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(belongs) = known().get(&entry.id) {
            return belongs.clone();
        }
        let run = self.run(&entry.id).ok()?;
        let belongs = run.cell.map(|cell| Belongs { key: cell.key, runs: cell.runs });
        known().insert(entry.id.clone(), belongs.clone());
        belongs
    }

    fn run(&self, selector: &str) -> Result<Run, Refusal> {
        self.ask(|library| library.get(selector))
    }

    /// The program with this library, and the verb that is to measure. An address with a password goes by the environment.
    fn command(&self, verb: &str) -> Vec<OsString> {
        let store = match &self.place {
            Location::File(path) => Some(path.clone().into_os_string()),
            Location::Server(address) => (!address.has_password()).then(|| address.to_string().into()),
        };
        let store = store.into_iter().flat_map(|store| ["--store".into(), store]);
        store.chain([verb.into()]).collect()
    }

    /// The runs that words name, of which none is a file.
    fn named(&self, words: &[String]) -> Result<Vec<Run>, Refusal> {
        let mut shelf = Shelf::without_files(&self.store);
        let sides = words.iter().map(|word| shelf.side(word)).collect::<Result<Vec<_>, _>>();
        Ok(sides.map_err(refusal)?.into_iter().flatten().collect())
    }
}

/// A report as a part of the page.
pub fn article(evidence: &Evidence) -> Value {
    let report = writeup::write_up(evidence);
    json!({
        "title": report.title, "answer": report.answer.text(), "html": writeup::article(&report),
        "css": writeup::style(),
    })
}

/// `value` as JSON.
pub fn value(value: &impl serde::Serialize) -> Answer {
    serde_json::to_value(value).map_err(|error| Refusal::parted(500, &format!("writing JSON: {error}")))
}

impl Desk for Library {
    fn now(&self) -> String {
        #[expect(clippy::disallowed_methods, reason = "the date that a job is shown with")]
        let now = Timestamp::try_from(std::time::SystemTime::now()).unwrap_or_default();
        now.round(Unit::Second).unwrap_or(now).to_string()
    }

    fn about(&self) -> Answer {
        let writable = self.ask(|library| Ok(library.is_writable()))?;
        let entries = self.entries(&Filter::default())?;
        Ok(json!({
            "version": env!("CARGO_PKG_VERSION"), "store": self.place.to_string(), "writable": writable,
            "can_start": writable, "host": self.host, "campaigns": campaigns::names(&entries).len(),
            "runs": entries.len(),
        }))
    }

    fn may_start(&self) -> Result<(), Refusal> {
        match self.ask(|library| Ok(library.refusal()))? {
            Some(why) => Err(Refusal::parted(409, &why.to_string())),
            None => Ok(()),
        }
    }

    fn runs(&self, wanted: &RunsWanted) -> Answer {
        let tags = wanted.tags.iter().map(|text| listed::label(text)).collect();
        let mut entries = self.entries(&Filter { tags, ..Filter::default() })?;
        let search = wanted.search.trim().to_lowercase();
        entries.retain(|entry| search.is_empty() || is_found(entry, &search));
        let found = entries.len();
        entries.retain(|entry| wanted.published || !search.is_empty() || !report::is_published(entry));
        let runs: Vec<Value> = entries.iter().take(wanted.limit).map(line).collect();
        debug_assert!(entries.len() <= found, "runs are left out, and none is added");
        Ok(json!({ "runs": runs, "total": entries.len(), "published": found - entries.len() }))
    }

    fn record(&self, selector: &str) -> Result<String, Refusal> {
        report::json(&self.run(selector)?).map_err(|error| refusal(error.into()))
    }

    fn report(&self, selector: &str) -> Answer {
        Ok(article(&writeup::evidence(vec![self.run(selector)?], None, None)))
    }

    fn report_file(&self, runs: &[String], ending: &str) -> Result<Download, Refusal> {
        let evidence = written::evidence_of(runs, self.named(runs)?, MARGIN, None);
        let report = writeup::write_up(&evidence);
        let (kind, bytes) = match ending {
            "xlsx" => (
                "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
                writeup::xlsx(&report, &evidence).map_err(|error| error.to_string()),
            ),
            _ => (
                "text/html; charset=utf-8",
                writeup::html(&report, &evidence).map(String::into_bytes).map_err(|error| error.to_string()),
            ),
        };
        let bytes = bytes.map_err(|error| Refusal::parted(500, &error))?;
        Ok(Download { name: format!("{}.{ending}", report.title), kind, bytes })
    }

    fn compare(&self, runs: &[String], margin: f64) -> Answer {
        let runs = runs.iter().map(|run| self.run(run)).collect::<Result<Vec<Run>, _>>()?;
        if runs.len() < 2 {
            return Err(Refusal::parted(400, "one run is named; a comparison needs two"));
        }
        let comparison = written::comparison_of(&runs, margin / 100.0);
        let told = value(&comparison)?;
        let ids: Vec<String> = runs.iter().map(|run| run.id.clone()).collect();
        let evidence = writeup::evidence(runs, Some(comparison), None);
        let mut answer = article(&evidence);
        debug_assert_eq!(writeup::labels(&evidence).len(), ids.len(), "each run has its label");
        let labels = ids.into_iter().zip(writeup::labels(&evidence));
        answer["labels"] =
            labels.map(|(id, label)| (id, label.into())).collect::<serde_json::Map<_, _>>().into();
        answer["comparison"] = told;
        Ok(answer)
    }

    fn campaigns(&self) -> Answer {
        let entries = self.entries(&Filter::default())?;
        Ok(campaigns::list(&entries, &|entry| self.campaign_of(entry)))
    }

    fn campaign(&self, name: &str, asked: Option<&CampaignAsked>) -> Answer {
        let runs = Shelf::without_files(&self.store).campaign_runs(name).map_err(refusal)?;
        campaigns::one(name, runs, asked)
    }

    fn ready_campaigns(&self) -> Answer {
        Ok(campaigns::ready())
    }

    fn ready_campaign(&self, name: &str) -> Answer {
        campaigns::ready_one(name)
    }

    fn check_campaign(&self, asked: &CampaignAsked, trusted: bool) -> Answer {
        campaigns::check(asked, trusted, &self.store)
    }

    fn plans(&self) -> Answer {
        Ok(plans::list())
    }

    fn plan(&self, name: &str) -> Answer {
        plans::one(name)
    }

    fn plan_keys(&self) -> Answer {
        Ok(plans::keys())
    }

    fn check(&self, check: &Check, trusted: bool) -> Answer {
        plans::check(check, trusted)
    }

    fn arrays(&self) -> Answer {
        let files = known::files().map_err(refusal)?;
        let arrays: Vec<Value> =
            files.iter().map(|file| json!({ "name": file.name, "about": file.about })).collect();
        Ok(json!({ "arrays": arrays }))
    }

    fn served(&self) -> Answer {
        /// Lines of the event log that are shown.
        const EVENTS: usize = 50;
        let sockets = array_control::directory()
            .map_err(Failure::system("the directory of control sockets"))
            .map_err(refusal)?;
        let state = |(name, socket): (String, PathBuf)| {
            // One that has just ended is not there.
            let Ok(Said::Status(status)) = control::ask(&socket, &Command::Status) else { return None };
            let Ok(Said::Events(events)) = control::ask(&socket, &Command::Events { after: 0 }) else {
                return None;
            };
            let events = &events[events.len().saturating_sub(EVENTS)..];
            debug_assert!(events.len() <= EVENTS, "the newest events are shown");
            Some(json!({ "name": name, "status": status, "events": events }))
        };
        let servers: Vec<Value> = service::running(&sockets).into_iter().filter_map(state).collect();
        Ok(json!({ "servers": servers }))
    }

    fn array(&self, name: &str) -> Answer {
        // A name with a path in it would be read as a file.
        if !plans::is_shipped(name) {
            return Err(Refusal::parted(
                404,
                &format!("there is no array `{name}`; GET /api/arrays lists them"),
            ));
        }
        let file =
            spec::array_file(&LIBRARY, name).map_err(|errors| Refusal { status: 404, ..mistaken(errors) })?;
        let options: Vec<Value> = file.options.iter().map(option).collect();
        let source = file.figures.iter().find_map(|figure| figure.source.clone());
        Ok(json!({ "name": file.name, "about": file.about, "options": options, "source": source }))
    }

    fn schema(&self) -> Answer {
        value(&record::schema())
    }

    fn lab_arrays(&self) -> Answer {
        lab_json::arrays().map_err(not_modelled)
    }

    fn lab(&self, body: Value, trusted: bool) -> Answer {
        must_be_shipped(&body, trusted)?;
        lab_json::curve(body).map_err(not_modelled)
    }

    fn lab_rebuild(&self, body: Value, trusted: bool) -> Answer {
        must_be_shipped(&body, trusted)?;
        lab_json::rebuild(body).map_err(not_modelled)
    }

    fn environment(&self) -> Vec<(OsString, OsString)> {
        match &self.place {
            Location::Server(address) if address.has_password() => {
                vec![("FATHOM_STORE".into(), address.with_password().into())]
            }
            _ => Vec::new(),
        }
    }

    fn arguments(&self, start: &Start, plan: &str) -> Result<Vec<OsString>, Refusal> {
        if let Some(name) = &start.plan {
            plans::must_be_ready(name)?;
        }
        let mut words = self.command("run");
        start.on.list().iter().for_each(|target| add(&mut words, "on", target));
        start.set.iter().for_each(|key| add(&mut words, "set", key));
        start.tags.iter().for_each(|(key, value)| add(&mut words, "tag", &format!("{key}={value}")));
        start.destroy.iter().for_each(|identity| add(&mut words, "destroy", identity));
        add(&mut words, "format", "jsonl");
        words.extend(["--quiet", "--", plan].map(OsString::from));
        Ok(words)
    }

    fn plan_name(&self, start: &Start) -> String {
        let text = start.toml.as_ref();
        let of_text = text.and_then(|text| Plan::parse("plan.toml", text, &Overrides::default()).ok());
        of_text.map(|plan| plan.name).or_else(|| start.plan.clone()).unwrap_or_else(|| TYPED.into())
    }

    fn campaign_command(&self, asked: &CampaignAsked, file: &str) -> Result<CampaignCommand, Refusal> {
        let name = campaigns::name(asked)?;
        let mut words = self.command("campaign");
        asked.on.list().iter().for_each(|target| add(&mut words, "on", target));
        asked.set.iter().for_each(|key| add(&mut words, "set", key));
        asked.repeats.iter().for_each(|count| add(&mut words, "repeats", &count.to_string()));
        asked.fraction.iter().for_each(|count| add(&mut words, "fraction", &count.to_string()));
        asked.destroy.iter().for_each(|identity| add(&mut words, "destroy", identity));
        words.extend(["--quiet", "--", file].map(OsString::from));
        Ok(CampaignCommand { name, arguments: words })
    }
}

/// An option with its value behind the `=`: no value is taken for an option.
fn add(words: &mut Vec<OsString>, option: &str, value: &str) {
    debug_assert!(!option.starts_with('-'), "an option is named without its dashes");
    words.push(format!("--{option}={value}").into());
}

/// That the array of a body for the lab is one of the library, unless the token was shown: another is a file.
fn must_be_shipped(body: &Value, trusted: bool) -> Result<(), Refusal> {
    let address = body.get("array").and_then(Value::as_str).unwrap_or_default();
    match trusted || plans::is_shipped(address) {
        true => Ok(()),
        false => Err(Refusal {
            status: 401,
            error: format!(
                "`{address}` is no array of the library, and files are opened for the token alone"
            ),
            help: Some("choose one of GET /api/arrays, or send the token".into()),
        }),
    }
}

fn not_modelled(LabRefusal { error, help }: LabRefusal) -> Refusal {
    Refusal { status: 400, error, help }
}

/// Whether a run has `search`, in lower case, in what it is known by.
fn is_found(entry: &Entry, search: &str) -> bool {
    let has = |text: &str| text.to_lowercase().contains(search);
    [&entry.plan, &entry.hostname, &entry.id].into_iter().any(|text| has(text))
        || entry.targets.iter().any(|target| has(target))
        || entry.tags.iter().any(|(key, value)| has(&format!("{key}={value}")))
}

/// A line of the list, as `fathom ls` has it.
fn line(entry: &Entry) -> Value {
    let kind = if entry.world == "array" { "virtual" } else { "real" };
    let state = match entry {
        Entry { ended: None, .. } => "not ended",
        Entry { code: 128.., .. } => "partial",
        Entry { complete: true, code: 0, .. } => "done",
        _ => "failed",
    };
    let seconds = entry.ended.as_ref().and_then(|ended| {
        let (began, ended) = (entry.started.parse::<Timestamp>().ok()?, ended.parse::<Timestamp>().ok()?);
        Some(ended.duration_since(began).as_secs_f64())
    });
    let rates = entry.peak_ops_per_s.map(|rate| format!("{} IOPS", OpsPerSecond::new(rate)));
    let bytes = entry.peak_bytes_per_s.map(|rate| BytesPerSecond::new(rate).to_string());
    let headline: Vec<String> = rates.into_iter().chain(bytes).collect();
    json!({
        "id": entry.id, "number": entry.number, "started": entry.started, "plan": entry.plan,
        "target": entry.targets.join(", "), "targets": entry.targets, "kind": kind, "state": state,
        "remark": entry.ended.is_some().then(|| report::state_words(entry)), "grade": entry.grade.map(|grade| grade.to_string()),
        "points": entry.points, "seconds": seconds, "tags": entry.tags, "campaign": entry.tags.get("campaign"),
        "host": entry.hostname, "headline": (!headline.is_empty()).then(|| format!("peak {}", headline.join(", "))),
        "peak_ops_per_s": entry.peak_ops_per_s, "peak_bytes_per_s": entry.peak_bytes_per_s,
    })
}

/// An option of an array.
fn option(option: &OptionSpec) -> Value {
    let (values, range) = match &option.takes {
        Takes::Values(values) => (Some(values), None),
        Takes::Range(least, most) => (None, Some((least, most))),
        Takes::Any => (None, None),
    };
    json!({
        "name": option.name, "about": option.about, "values": values, "default": option.default, "unit": null,
        "min": range.map(|range| range.0), "max": range.map(|range| range.1), "takes": option.takes.text(),
    })
}
