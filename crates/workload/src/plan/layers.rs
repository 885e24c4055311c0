//! Which value of a key holds: `--set` before the workload's own, its phase's and that of `[defaults]`.

use std::sync::Arc;

use document::{Key, Mistakes, Node, SourceText, TextSpan, Wrong, argument};

use super::keys::workload::WORKLOAD;
use super::keys::{self, Level};
use super::outline::{Outline, Within, check_load_key, check_state_key};
use super::synonyms;
use super::vars;

/// One `--set KEY=VALUE`.
#[derive(Debug)]
pub(crate) struct Override {
    aim: Aim,
    key: Key,
    node: Node,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Aim {
    Plan,
    Everywhere,
    Phase(usize),
    Workload(usize, usize),
}

/// A value that holds, and from where.
#[derive(Clone, Debug)]
pub(crate) struct LayeredValue<'a> {
    /// The value.
    pub node: &'a Node,
    /// What holds without a `--set`; none where nothing is written.
    pub written: Option<&'a Node>,
    /// Whether a `--set` says it.
    pub is_set: bool,
    /// Whether it was said for one workload of several alone.
    pub own: bool,
    /// Sorts sweeps in the order in which they were written; a `--set` stands where it replaces a value.
    pub order: (usize, usize),
}

/// All places where a value may stand.
#[derive(Debug)]
pub(crate) struct Layers<'a> {
    outline: &'a Outline<'a>,
    overrides: &'a [Override],
}

impl<'a> Layers<'a> {
    /// The layers of a plan.
    pub fn new(outline: &'a Outline<'a>, overrides: &'a [Override]) -> Layers<'a> {
        Layers { outline, overrides }
    }

    /// The value of a key at the top of the file.
    pub fn of_plan(&self, key: &str) -> Option<&'a Node> {
        let said = self.last(key, |aim| aim == Aim::Plan);
        said.or_else(|| self.outline.root.get(key))
    }

    /// The value of a key of a state. `[defaults]` count only where `shared` says that the key is a workload's.
    pub fn of_state(&self, phase: usize, key: &str, shared: bool) -> Option<&'a Node> {
        let own = self.outline.phases[phase].table.get(key);
        let said = self.last(key, |aim| aim == Aim::Phase(phase));
        // `--set run=1s` shortens loads; it is no limit for every state that could take one.
        let only_states = keys::find(WORKLOAD, key).is_none();
        let meant = own.is_some() || shared || only_states;
        let everywhere = || self.last(key, |aim| aim == Aim::Everywhere).filter(|_| meant);
        let defaults = || self.outline.defaults.and_then(|table| table.get(key)).filter(|_| shared);
        said.or_else(everywhere).or(own).or_else(defaults)
    }

    /// The value of a key of a phase.
    pub fn of_phase(&self, phase: usize, key: &str) -> Option<&'a Node> {
        self.find(phase, None, key).map(|found| found.node)
    }

    /// The value of a key of one workload of a phase.
    pub fn of_workload(&self, phase: usize, member: usize, key: &str) -> Option<LayeredValue<'a>> {
        self.find(phase, Some(member), key)
    }

    fn find(&self, phase: usize, member: Option<usize>, key: &str) -> Option<LayeredValue<'a>> {
        let own_aim = member.map(|member| Aim::Workload(phase, member));
        let own_said = self.last(key, |aim| Some(aim) == own_aim);
        let said = self.last(key, |aim| aim == Aim::Phase(phase));
        let said = said.or_else(|| self.last(key, |aim| aim == Aim::Everywhere));
        let table = &self.outline.phases[phase];
        let own = member.and_then(|member| table.members[member].table).and_then(|table| table.get(key));
        let shared = table.table.get(key).or_else(|| self.outline.defaults.and_then(|table| table.get(key)));
        let set = own_said.or(said);
        let written = own.or(shared);
        let node = set.or(written)?;
        let is_own = own_said.is_some() || (said.is_none() && own.is_some());
        let order = written.unwrap_or(node).place.order();
        Some(LayeredValue { node, written, is_set: set.is_some(), own: is_own, order })
    }

    /// The last `--set` of `key` that aims there: what is typed later holds.
    fn last(&self, key: &str, aims: impl Fn(Aim) -> bool) -> Option<&'a Node> {
        let said = self.overrides.iter().rev().find(|said| said.key.text == key && aims(said.aim));
        said.map(|said| &said.node)
    }
}

/// Reads every `--set` argument; `first` is the number of the first of their texts.
pub(crate) fn overrides(set: &[String], outline: &Outline<'_>, mistakes: &Mistakes) -> Vec<Override> {
    let mut overrides = Vec::new();
    for (index, text) in set.iter().enumerate().filter(|(_, text)| !vars::is_of_one(text)) {
        let source = SourceText::new("--set", text, index + 1);
        overrides.extend(one(&source, outline, mistakes));
    }
    overrides
}

/// A `KEY=VALUE` argument taken apart: the key, and where each part stands.
pub(crate) fn pair(source: &Arc<SourceText>, mistakes: &Mistakes) -> Option<(Key, Node)> {
    let whole = TextSpan::new(source, 0..source.text.len());
    let Some((key, value)) = source.text.split_once('=') else {
        let help = format!("write {} KEY=VALUE, for example {} depth=32", source.label, source.label);
        let help = if source.label == "--tag" {
            "write --tag KEY=VALUE, for example --tag lab=3".into()
        } else {
            help
        };
        mistakes.tell(&whole, format!("`{}` has no `=`", source.text), help);
        return None;
    };
    let start = source.text.len() - value.len();
    let start = start + (value.len() - value.trim_start().len());
    let end = start + value.trim().len();
    let place = TextSpan::new(source, 0..key.trim_end().len());
    Some((Key { text: key.trim().to_string(), place }, argument(source, start..end)))
}

fn one(source: &Arc<SourceText>, outline: &Outline<'_>, mistakes: &Mistakes) -> Option<Override> {
    let (mut key, mut node) = pair(source, mistakes)?;
    let aim = match key.text.strip_prefix("phase.") {
        None if keys::at(&[Level::Plan], &key.text).is_some() => Aim::Plan,
        None => Aim::Everywhere,
        Some(path) => {
            let aimed = aim(path, outline);
            let (aim, rest) = mistakes.take(&key.place, aimed)?;
            key.text = rest;
            aim
        }
    };
    synonyms::translate_one(&mut key, &mut node);
    check(aim, &key, &node, outline, mistakes);
    Some(Override { aim, key, node })
}

fn check(aim: Aim, key: &Key, node: &Node, outline: &Outline<'_>, mistakes: &Mistakes) {
    match aim {
        Aim::Plan => {
            let entry = keys::at(&[Level::Plan], &key.text).expect("only keys of a plan aim at it");
            mistakes.take(&node.place, entry.check(node));
        }
        Aim::Everywhere => {
            // A key that only a phase with that state knows is good if there is such a phase.
            let mut states = outline.phases.iter().filter_map(|phase| phase.state);
            let of_state = states.find(|word| keys::state::fits(*word, &key.text));
            match of_state {
                Some(word) if keys::find(WORKLOAD, &key.text).is_none() => {
                    check_state_key(key, node, word, mistakes);
                }
                _ => check_load_key(key, node, Within::Defaults, mistakes),
            }
        }
        Aim::Phase(phase) => match outline.phases[phase].state {
            Some(word) => check_state_key(key, node, word, mistakes),
            None => {
                check_load_key(key, node, Within::Phase, mistakes);
            }
        },
        Aim::Workload(..) => {
            check_load_key(key, node, Within::Workload, mistakes);
        }
    }
}

/// What `NAME.KEY` or `NAME.workload.NAME.KEY` aims at, and the key; names may contain dots.
fn aim(path: &str, outline: &Outline<'_>) -> Result<(Aim, String), Wrong> {
    let phases = || outline.phases.iter().map(|phase| phase.name.as_str());
    let found = longest(path, phases());
    let (phase, rest) = found.ok_or_else(|| nobody("phase", path, "phase.NAME.KEY", phases()))?;
    let Some(path) = rest.strip_prefix("workload.") else {
        return Ok((Aim::Phase(phase), rest.to_string()));
    };
    let members = || outline.phases[phase].members.iter().map(|member| member.name.as_str());
    let found = longest(path, members());
    let (member, key) = found.ok_or_else(|| nobody("workload", path, "workload.NAME.KEY", members()))?;
    Ok((Aim::Workload(phase, member), key.to_string()))
}

fn nobody<'n>(what: &str, path: &str, form: &str, names: impl Iterator<Item = &'n str>) -> Wrong {
    let names: Vec<String> = names.map(|name| format!("\"{name}\"")).collect();
    let help = format!("write {form} with a name or a number from 1; there are {}", names.join(", "));
    Wrong::new(format!("no {what} is meant by `{path}`"), help)
}

/// The name, or the number from 1, with which `path` begins, and what follows its dot. The longest name wins.
fn longest<'a, 'n>(path: &'a str, names: impl Iterator<Item = &'n str>) -> Option<(usize, &'a str)> {
    let after = |name: &str| path.strip_prefix(name).and_then(|rest| rest.strip_prefix('.'));
    names
        .enumerate()
        .filter_map(|(index, name)| {
            let by_name = after(name).map(|rest| (name.len(), index, rest));
            by_name.or_else(|| after(&(index + 1).to_string()).map(|rest| (0, index, rest)))
        })
        .max_by_key(|(length, ..)| *length)
        .map(|(_, index, rest)| (index, rest))
}
