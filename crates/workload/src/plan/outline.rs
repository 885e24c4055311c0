//! The tables of a plan: which phases and workloads there are, before any value is read.
//!
//! Everything that is wrong with a table as such is found here: unknown keys, keys in the wrong place, names
//! that stand twice.

use std::collections::BTreeMap;

use document::{Key, Mistake, Mistakes, Node, Table, TextSpan, Value};

use super::foreign;
use super::keys::phase::{a_name, a_purpose};
use super::keys::state::{self, STATE};
use super::keys::workload::WORKLOAD;
use super::keys::{self, AnyEntry, Kind, Level};
use super::state::StateWord;
use super::suggest::sentence;
use super::sweep;

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
    pub place: TextSpan,
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
    pub place: TextSpan,
    /// As the plan has it.
    pub name: String,
}

/// The name of the workload of a phase that has just one: the same everywhere, because random choices follow
/// from it.
const ONLY_WORKLOAD: &str = "load";
/// The most workloads that run together in one phase.
pub const MOST_WORKLOADS: usize = 64;

/// The outline of a document; what is wrong with it goes to `mistakes`.
pub(crate) fn outline<'a>(root: &'a Table, file: &TextSpan, mistakes: &Mistakes) -> Outline<'a> {
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
    let is_list = |node: &Node| matches!(&node.value, Value::List(items) if items.is_empty());
    if phases.is_empty() && root.get("phase").is_none_or(is_list) {
        let place = root.iter().next().map_or(file, |(key, _)| &key.place);
        mistakes.tell(place, "the plan has no phase", "write [[phase]] and its keys below it");
    }
    let phases: Vec<_> = phases
        .into_iter()
        .enumerate()
        .map(|(index, (table, place))| phase(index, table, place, mistakes))
        .collect();
    names_stand_once(&phases, mistakes);
    Outline { root, defaults, phases }
}

/// What is right where `key` stands twice in a table.
pub(crate) fn once(key: &str) -> String {
    match key {
        "phase" => "each phase begins with two brackets: [[phase]]".into(),
        "workload" => "each workload begins with two brackets: [[phase.workload]]".into(),
        _ => format!("keep one `{key}`; to measure several values write {{ sweep = [...] }}"),
    }
}

/// The tables of `[[key]]`; anything else under that key is a mistake.
fn tables<'a>(table: &'a Table, key: &str, heading: &str, mistakes: &Mistakes) -> Vec<(&'a Table, TextSpan)> {
    let Some((name, node)) = table.entry(key) else { return Vec::new() };
    let Value::List(items) = &node.value else {
        let help = format!("write {heading} with two brackets: there may be several");
        mistakes.tell(&name.place, format!("`{key}` is {}", node.kind()), help);
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

fn phase<'a>(index: usize, table: &'a Table, place: TextSpan, mistakes: &Mistakes) -> PhaseTable<'a> {
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

fn members<'a>(table: &'a Table, place: &TextSpan, mistakes: &Mistakes) -> Vec<MemberTable<'a>> {
    let tables = tables(table, "workload", "[[phase.workload]]", mistakes);
    if tables.is_empty() {
        return vec![MemberTable { table: None, place: place.clone(), name: ONLY_WORKLOAD.into() }];
    }
    if let Some((_, place)) = tables.get(MOST_WORKLOADS) {
        let help = format!("at most {MOST_WORKLOADS} run together; `workers` makes many alike");
        mistakes.tell(place, format!("{} workloads in one phase", tables.len()), help);
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

fn names_stand_once(phases: &[PhaseTable<'_>], mistakes: &Mistakes) {
    let mut known: BTreeMap<&str, usize> = BTreeMap::new();
    for phase in phases {
        let at = phase.table.get("name").map_or(&phase.place, |node| &node.place);
        if let Some(line) = known.insert(&phase.name, at.line()) {
            mistakes.add(twice("phase", &phase.name, at, line));
        }
    }
}

fn twice(what: &str, name: &str, place: &TextSpan, line: usize) -> Mistake {
    let message = format!("a {what} called \"{name}\" is already in line {line}");
    Mistake::new(place, message, Some(format!("give each {what} a name of its own")))
}

// Which keys may stand where, and whether their values can be read ------------------------------------

fn check_root(table: &Table, mistakes: &Mistakes) {
    for (key, node) in table.iter() {
        match key.text.as_str() {
            "defaults" | "phase" => {}
            "tags" => check_tags(node, mistakes),
            text => match keys::at(&[Level::Plan], text) {
                Some(entry) => drop(mistakes.take(&node.place, entry.check(node))),
                None => stranger(key, Within::Top, mistakes),
            },
        }
    }
}

fn check_tags(node: &Node, mistakes: &Mistakes) {
    let Some(table) = node.table() else {
        return mistakes.wrong(&node.place, node.not("a table", "[tags] on a line of its own"));
    };
    for (_, value) in table.iter() {
        if value.scalar().is_none() {
            mistakes.wrong(&value.place, value.not("a single value", "\"lab 3\""));
        }
    }
}

fn check_defaults(table: &Table, mistakes: &Mistakes) {
    for (key, node) in table.iter() {
        check_load_key(key, node, Within::Defaults, mistakes);
    }
}

fn check_phase(table: &Table, mistakes: &Mistakes) {
    for (key, node) in table.iter() {
        if key.text != "workload" {
            check_load_key(key, node, Within::Phase, mistakes);
        }
    }
}

fn check_member(table: &Table, mistakes: &Mistakes) {
    for (key, node) in table.iter() {
        if key.text == "name" {
            mistakes.take(&node.place, a_name(node));
        } else {
            check_load_key(key, node, Within::Workload, mistakes);
        }
    }
}

/// Where a key stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Within {
    /// At the top of the file.
    Top,
    /// In `[defaults]`.
    Defaults,
    /// In a phase with load.
    Phase,
    /// In a `[[phase.workload]]`.
    Workload,
}

impl Within {
    /// Whose key it would be, and where it stands, in words.
    fn words(self) -> (&'static str, &'static str) {
        match self {
            Within::Top => ("of a plan", "at the top of a plan"),
            Within::Defaults => ("of [defaults]", "in [defaults]"),
            Within::Phase => ("of a phase", "in a phase"),
            Within::Workload => ("of a workload", "in a workload"),
        }
    }

    fn levels(self) -> &'static [Level] {
        match self {
            Within::Top => &[Level::Plan],
            Within::Defaults => &[Level::Phase, Level::Workload],
            Within::Phase => &[Level::PhaseOnly, Level::Phase, Level::Workload],
            Within::Workload => &[Level::Workload, Level::WorkloadOnly],
        }
    }

    /// Keys that are tables of their own, not entries.
    fn tables(self) -> &'static [&'static str] {
        match self {
            Within::Top => &["phase", "defaults", "tags", "vars"],
            Within::Phase => &["workload"],
            Within::Defaults | Within::Workload => &[],
        }
    }
}

/// That a key of a load may stand here and its value, or each value of its sweep, can be read.
pub(crate) fn check_load_key(key: &Key, node: &Node, within: Within, mistakes: &Mistakes) {
    match keys::at(within.levels(), &key.text) {
        None => stranger(key, within, mistakes),
        Some(entry) if keys::find(WORKLOAD, &key.text).is_some() => {
            check_sweepable(key, node, entry, mistakes);
        }
        Some(entry) => check_single(key, node, entry, mistakes),
    }
}

/// That a value that cannot be swept is none, and can be read.
fn check_single(key: &Key, node: &Node, entry: &dyn AnyEntry, mistakes: &Mistakes) {
    if node.table().is_some_and(|table| table.get("sweep").is_some()) {
        let help = "write one value; only keys of a workload can be swept";
        return mistakes.tell(&node.place, format!("`{}` cannot be swept", key.text), help);
    }
    mistakes.take(&node.place, entry.check(node));
}

fn check_sweepable(key: &Key, node: &Node, entry: &dyn AnyEntry, mistakes: &Mistakes) {
    let kind = entry.doc().kind;
    let Some(values) = mistakes.take(&node.place, sweep::values(node, kind)) else { return };
    if let Some(values) = values {
        for value in &values {
            mistakes.take(&value.place, entry.check(value));
        }
        return;
    }
    let is_list = matches!(node.value, Value::List(_)) && kind != Kind::Lines;
    let is_table = node.table().is_some() && !matches!(kind, Kind::Sizes | Kind::Lines);
    if is_list || is_table {
        let list = if is_list { node.place.text() } else { "[...]" };
        let help = format!("for one value after the other write {} = {{ sweep = {list} }}", key.text);
        let message = format!("`{}` is {}, expected one value", key.text, node.kind());
        mistakes.tell(&node.place, message, help);
        return;
    }
    mistakes.take(&node.place, entry.check(node));
}

fn check_state(table: &Table, word: StateWord, mistakes: &Mistakes) {
    for (key, node) in table.iter() {
        check_state_key(key, node, word, mistakes);
    }
    if word == StateWord::Idle && table.get("run").is_none() {
        let place = table.get("state").map(|node| &node.place);
        if let Some(place) = place {
            mistakes.tell(place, "`idle` does not say how long", "write for example `run = \"60s\"`");
        }
    }
}

/// That a key may stand in a phase with that state, and its value can be read.
pub(crate) fn check_state_key(key: &Key, node: &Node, word: StateWord, mistakes: &Mistakes) {
    let text = key.text.as_str();
    match text {
        "name" | "about" => {
            mistakes.take(&node.place, if text == "name" { a_name(node) } else { a_purpose(node) });
            return;
        }
        "state" => return,
        _ => {}
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
        mistakes.tell(&key.place, message, help);
        return;
    }
    let entry = keys::at(&[Level::State], text).or_else(|| keys::at(&[Level::Workload], text));
    if let Some(entry) = entry {
        check_single(key, node, entry, mistakes);
    }
}

/// A key that is unknown, or known but not here.
fn stranger(key: &Key, within: Within, mistakes: &Mistakes) {
    let text = key.text.as_str();
    let (of, at) = within.words();
    let elsewhere = belongs(text, within);
    let known = keys::all().into_iter().filter(|doc| within.levels().contains(&doc.level)).map(|doc| doc.key);
    let near = || sentence(text, known.chain(within.tables().iter().copied()));
    let message = match elsewhere {
        Some(_) => format!("`{text}` does not belong {at}"),
        None => format!("`{text}` is not a key {of}"),
    };
    let meant = |here: String| match foreign::sentence(text, &here) {
        Some(theirs) => format!("{here}; {theirs}"),
        None => here,
    };
    let help =
        elsewhere.map(meant).or_else(near).unwrap_or_else(|| "`fathom plan help` lists all keys".into());
    mistakes.tell(&key.place, message, help);
}

/// Where a known key belongs instead, or `None` for an unknown one.
fn belongs(text: &str, within: Within) -> Option<String> {
    match text {
        "tags" | "defaults" => return Some(format!("[{text}] belongs at the top of the file")),
        "phase" => return Some("[[phase]] belongs on a line of its own".into()),
        "workload" => return Some("[[phase.workload]] belongs in a phase with load".into()),
        _ => {}
    }
    let levels: Vec<Level> =
        keys::all().into_iter().filter(|doc| doc.key == text).map(|doc| doc.level).collect();
    if within == Within::Workload && levels.contains(&Level::Phase) {
        return Some(format!("`{text}` belongs to the phase: all its workloads run together"));
    }
    let places: Vec<&str> = levels.into_iter().map(place_of).collect();
    (!places.is_empty()).then(|| format!("`{text}` belongs {}", places.join(", or ")))
}

fn place_of(level: Level) -> &'static str {
    match level {
        Level::Plan => "at the top of the file",
        Level::PhaseOnly => "in a [[phase]]",
        Level::Phase => "in [defaults] or in a phase",
        Level::Workload => "in [defaults], in a phase or in a workload",
        Level::WorkloadOnly => "in a [[phase.workload]]",
        Level::State => "in a phase with a `state`",
    }
}
