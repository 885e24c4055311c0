//! The tables of a plan: which phases and workloads there are, before any value is read.
//!
//! Everything that is wrong with a table as such is found here: unknown keys, keys in the wrong place, names
//! that stand twice.

use std::collections::BTreeMap;

use super::error::{Mistakes, PlanError, Wrong};
use super::keys::phase::{Head, PHASE, PLAN, PhaseHead};
use super::keys::state::{self, STATE, StateDraft};
use super::keys::workload::{Draft, MEMBER, WORKLOAD};
use super::keys::{self, KeyDoc, Level};
use super::source::Place;
use super::state::StateWord;
use super::suggest::sentence;
use super::sweep;
use super::tree::{Key, Node, Table, Value};

/// A plan's tables.
#[derive(Debug)]
pub(crate) struct Outline<'a> {
    /// The whole file.
    pub root: &'a Table,
    /// `[defaults]`.
    pub defaults: Option<&'a Table>,
    /// `[[phase]]`.
    pub phases: Vec<PhaseTable<'a>>,
}

/// One `[[phase]]`.
#[derive(Debug)]
pub(crate) struct PhaseTable<'a> {
    /// All of it.
    pub table: &'a Table,
    /// Its heading.
    pub place: Place,
    /// Its name as typed, or `phase 1` and so on.
    pub name: String,
    /// The state it brings about, if it is not a load.
    pub state: Option<StateWord>,
    /// `[[phase.workload]]`; for a phase that is its own workload, one without a table.
    pub members: Vec<MemberTable<'a>>,
}

/// One `[[phase.workload]]`.
#[derive(Debug)]
pub(crate) struct MemberTable<'a> {
    /// All of it; `None` where the phase is its own workload.
    pub table: Option<&'a Table>,
    /// Its heading.
    pub place: Place,
    /// Its name.
    pub name: String,
}

/// The name of the workload of a phase that has just one: the same everywhere, because random choices follow
/// from it.
const ONLY_WORKLOAD: &str = "load";
/// The most workloads that run together in one phase.
const MOST_WORKLOADS: usize = 64;

/// The outline of a document; what is wrong with it goes to `mistakes`.
pub(crate) fn outline<'a>(root: &'a Table, file: &Place, mistakes: &mut Mistakes) -> Outline<'a> {
    check_root(root, mistakes);
    let defaults = root.get("defaults").and_then(|node| {
        let table = node.table();
        if table.is_none() {
            mistakes.wrong(&node.place, node.not("a table", "[defaults] on a line of its own"));
        }
        table
    });
    if let Some(table) = defaults {
        check_defaults(table, mistakes);
    }
    let phases = tables(root, "phase", "[[phase]]", mistakes);
    if phases.is_empty() && root.entry("phase").is_none() {
        let place = root.iter().next().map_or(file, |(key, _)| &key.place);
        let help = "write [[phase]] and below it what to ask for".to_string();
        mistakes.add(PlanError::new(place, "the plan has no phase", Some(help)));
    }
    let phases: Vec<_> = phases
        .into_iter()
        .enumerate()
        .map(|(index, (table, place))| phase(index, table, place, mistakes))
        .collect();
    names_stand_once(&phases, mistakes);
    Outline { root, defaults, phases }
}

/// The tables of `[[key]]`; anything else under that key is a mistake.
fn tables<'a>(
    table: &'a Table,
    key: &str,
    heading: &str,
    mistakes: &mut Mistakes,
) -> Vec<(&'a Table, Place)> {
    let Some((name, node)) = table.entry(key) else { return Vec::new() };
    let Value::List(items) = &node.value else {
        let help = format!("write {heading} with two brackets: there may be several");
        mistakes.add(PlanError::new(&name.place, format!("`{key}` is {}", node.kind()), Some(help)));
        return Vec::new();
    };
    let mut tables = Vec::new();
    for item in items {
        match item.table() {
            Some(table) => tables.push((table, item.place.clone())),
            None => mistakes.wrong(&item.place, item.not("a table", heading)),
        }
    }
    tables
}

fn phase<'a>(index: usize, table: &'a Table, place: Place, mistakes: &mut Mistakes) -> PhaseTable<'a> {
    let typed = table.get("name").and_then(Node::scalar);
    let name = typed.unwrap_or_else(|| format!("phase {}", index + 1));
    let state = table.get("state").map(|node| (node, node.read::<StateWord>("prepare")));
    let state = match state {
        None => None,
        Some((node, read)) => {
            let word = mistakes.take(&node.place, read);
            // A state that cannot be read is a state nevertheless: its keys would only confuse as a load's.
            let Some(word) = word else {
                let members = Vec::new();
                return PhaseTable { table, place, name, state: Some(StateWord::Idle), members };
            };
            Some(word)
        }
    };
    if let Some(word) = state {
        check_state(table, word, mistakes);
        return PhaseTable { table, place, name, state, members: Vec::new() };
    }
    check_phase(table, mistakes);
    let members = members(table, &place, mistakes);
    PhaseTable { table, place, name, state, members }
}

fn members<'a>(table: &'a Table, place: &Place, mistakes: &mut Mistakes) -> Vec<MemberTable<'a>> {
    let tables = tables(table, "workload", "[[phase.workload]]", mistakes);
    if tables.is_empty() {
        return vec![MemberTable { table: None, place: place.clone(), name: ONLY_WORKLOAD.into() }];
    }
    if let Some((_, place)) = tables.get(MOST_WORKLOADS) {
        let help = format!("at most {MOST_WORKLOADS} run together; `workers` makes many alike");
        mistakes.add(PlanError::new(place, format!("{} workloads in one phase", tables.len()), Some(help)));
    }
    let mut members = Vec::new();
    let mut known: BTreeMap<String, usize> = BTreeMap::new();
    for (index, (table, place)) in tables.into_iter().enumerate().take(MOST_WORKLOADS) {
        check_member(table, mistakes);
        let typed = table.get("name").and_then(Node::scalar);
        let name = typed.unwrap_or_else(|| format!("workload {}", index + 1));
        let at = table.get("name").map_or(&place, |node| &node.place);
        if let Some(line) = known.insert(name.clone(), at.line()) {
            mistakes.add(twice("workload", &name, at, line));
        }
        members.push(MemberTable { table: Some(table), place, name });
    }
    members
}

fn names_stand_once(phases: &[PhaseTable<'_>], mistakes: &mut Mistakes) {
    let mut known: BTreeMap<&str, usize> = BTreeMap::new();
    for phase in phases {
        let at = phase.table.get("name").map_or(&phase.place, |node| &node.place);
        if let Some(line) = known.insert(&phase.name, at.line()) {
            mistakes.add(twice("phase", &phase.name, at, line));
        }
    }
}

fn twice(what: &str, name: &str, place: &Place, line: usize) -> PlanError {
    let message = format!("a {what} called \"{name}\" stands already in line {line}");
    PlanError::new(place, message, Some(format!("give each {what} a name of its own")))
}

// Which keys may stand where, and whether their values can be read ------------------------------------

fn check_root(table: &Table, mistakes: &mut Mistakes) {
    for (key, node) in table.iter() {
        match key.text.as_str() {
            "defaults" | "phase" => {}
            "tags" => check_tags(node, mistakes),
            text => match keys::find(&PLAN, text) {
                Some(entry) => plain(entry.read, &mut Head::default(), node, mistakes),
                None => stranger(key, "the top of a plan", &[Level::Plan], mistakes),
            },
        }
    }
}

fn check_tags(node: &Node, mistakes: &mut Mistakes) {
    let Some(table) = node.table() else {
        return mistakes.wrong(&node.place, node.not("a table", "[tags] on a line of its own"));
    };
    for (_, value) in table.iter() {
        if value.scalar().is_none() {
            mistakes.wrong(&value.place, value.not("a single value", "\"lab 3\""));
        }
    }
}

fn check_defaults(table: &Table, mistakes: &mut Mistakes) {
    for (key, node) in table.iter() {
        check_load_key(key, node, "[defaults]", &[Level::Phase, Level::Workload], mistakes);
    }
}

fn check_phase(table: &Table, mistakes: &mut Mistakes) {
    for (key, node) in table.iter() {
        if key.text != "workload" {
            let levels = [Level::PhaseOnly, Level::Phase, Level::Workload];
            check_load_key(key, node, "a phase", &levels, mistakes);
        }
    }
}

fn check_member(table: &Table, mistakes: &mut Mistakes) {
    for (key, node) in table.iter() {
        if key.text == "name" {
            plain(|_: &mut (), node| node.text("\"oltp\"").map(|_| ()), &mut (), node, mistakes);
        } else {
            check_load_key(key, node, "a workload", &[Level::Workload, Level::WorkloadOnly], mistakes);
        }
    }
}

/// That a key of a load may stand here and its value, or each value of its sweep, can be read.
pub(crate) fn check_load_key(
    key: &Key,
    node: &Node,
    within: &str,
    levels: &[Level],
    mistakes: &mut Mistakes,
) {
    let fits = |doc: &KeyDoc| levels.contains(&doc.level);
    if let Some(entry) = keys::find(&WORKLOAD, &key.text).filter(|entry| fits(&entry.doc)) {
        let values = mistakes.take(&node.place, sweep::values(node, entry.doc.kind));
        let mut draft = Draft::blank();
        match values {
            None => {}
            Some(None) => plain(entry.read, &mut draft, node, mistakes),
            Some(Some(values)) => {
                values.iter().for_each(|value| plain(entry.read, &mut draft, value, mistakes));
            }
        }
    } else if let Some(entry) = keys::find(&MEMBER, &key.text).filter(|entry| fits(&entry.doc)) {
        not_swept(key, node, mistakes);
        plain(entry.read, &mut Draft::blank(), node, mistakes);
    } else if let Some(entry) = keys::find(&PHASE, &key.text).filter(|entry| fits(&entry.doc)) {
        not_swept(key, node, mistakes);
        plain(entry.read, &mut PhaseHead::default(), node, mistakes);
    } else {
        stranger(key, within, levels, mistakes);
    }
}

fn check_state(table: &Table, word: StateWord, mistakes: &mut Mistakes) {
    for (key, node) in table.iter() {
        check_state_key(key, node, word, mistakes);
    }
    if word == StateWord::Idle && table.get("run").is_none() {
        let place = table.get("state").map(|node| &node.place);
        let help = "write for example `run = \"60s\"`".to_string();
        if let Some(place) = place {
            mistakes.add(PlanError::new(place, "`idle` does not say how long", Some(help)));
        }
    }
}

/// That a key may stand in a phase with that state, and its value can be read.
pub(crate) fn check_state_key(key: &Key, node: &Node, word: StateWord, mistakes: &mut Mistakes) {
    let text = key.text.as_str();
    if text == "name" || text == "about" {
        plain(|_: &mut (), node| node.text("\"fill\"").map(|_| ()), &mut (), node, mistakes);
        return;
    }
    if text == "state" {
        return;
    }
    if !state::fits(word, text) {
        let known = STATE.iter().map(|entry| entry.doc.key).chain(state::PREPARE_SHARES);
        let known: Vec<&str> = known.filter(|known| state::fits(word, known)).collect();
        let near = sentence(text, known.iter().copied());
        let all = if known.is_empty() {
            "it takes no keys".into()
        } else {
            format!("it takes {}", known.join(", "))
        };
        let help = near.unwrap_or(all);
        let message = format!("`{text}` says nothing in the state `{word}`");
        mistakes.add(PlanError::new(&key.place, message, Some(help)));
        return;
    }
    not_swept(key, node, mistakes);
    if let Some(entry) = keys::find(&STATE, text) {
        plain(entry.read, &mut StateDraft::blank(), node, mistakes);
    } else if let Some(entry) = keys::find(&WORKLOAD, text) {
        plain(entry.read, &mut Draft::blank(), node, mistakes);
    }
}

fn plain<T>(
    read: impl Fn(&mut T, &Node) -> Result<(), Wrong>,
    into: &mut T,
    node: &Node,
    mistakes: &mut Mistakes,
) {
    if let Err(wrong) = read(into, node) {
        mistakes.wrong(&node.place, wrong);
    }
}

fn not_swept(key: &Key, node: &Node, mistakes: &mut Mistakes) {
    if node.table().is_some_and(|table| table.get("sweep").is_some()) {
        let help = "write one value; only keys of a workload can be swept".to_string();
        mistakes.add(PlanError::new(&node.place, format!("`{}` cannot be swept", key.text), Some(help)));
    }
}

/// A key that is unknown, or known but not here.
fn stranger(key: &Key, within: &str, levels: &[Level], mistakes: &mut Mistakes) {
    let text = key.text.as_str();
    let place = match keys::all().into_iter().find(|doc| doc.key == text && !levels.contains(&doc.level)) {
        Some(doc) => Some(belongs(doc)),
        None if text == "tags" || text == "defaults" => {
            Some(format!("[{text}] stands at the top of the file"))
        }
        None if text == "workload" => Some("[[phase.workload]] stands in a phase".into()),
        None => None,
    };
    let known = keys::all().into_iter().filter(|doc| levels.contains(&doc.level)).map(|doc| doc.key);
    let structure: &[&str] = match levels[0] {
        Level::Plan => &["phase", "defaults", "tags"],
        Level::PhaseOnly => &["workload"],
        _ => &[],
    };
    let known = known.chain(structure.iter().copied());
    let help = place.clone().or_else(|| sentence(text, known));
    let help = help.or_else(|| Some("the page about the plan language lists all keys".into()));
    let message = match place {
        Some(_) => format!("`{text}` does not belong in {within}"),
        None => format!("`{text}` is not a key of {within}"),
    };
    mistakes.add(PlanError::new(&key.place, message, help));
}

fn belongs(doc: &KeyDoc) -> String {
    match doc.level {
        Level::Plan => format!("`{}` stands at the top of the file", doc.key),
        Level::PhaseOnly => format!("`{}` stands in a [[phase]]", doc.key),
        Level::Phase => format!("`{}` belongs to the phase: all its workloads run together", doc.key),
        Level::Workload => format!("`{}` stands in [defaults], in a phase or in a workload", doc.key),
        Level::WorkloadOnly => format!("`{}` stands in a [[phase.workload]]", doc.key),
        Level::State => format!("`{}` stands in a phase with a `state`", doc.key),
    }
}
