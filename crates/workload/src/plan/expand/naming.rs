//! The names of points.

use std::collections::BTreeSet;

use document::{Key, Node, Wrong};

use super::member::{Axis, Cell, Member};
use crate::plan::keys::KeyDoc;
use crate::plan::keys::workload::WORKLOAD;
use crate::plan::suggest::sentence;
use crate::plan::template::Template;
use crate::spec::{Workload, is_of_load};

/// A value as it stands in a name: as typed.
pub(super) fn short(node: &Node) -> String {
    node.scalar().unwrap_or_else(|| {
        let table = node.table().map(|table| {
            let entry = |(key, weight): (&Key, &Node)| {
                format!("{}:{}", key.text, weight.scalar().unwrap_or_default())
            };
            table.iter().map(entry).collect::<Vec<_>>().join("+")
        });
        table.unwrap_or_default()
    })
}

/// The members a key in a name speaks of, and the key itself without the member's name.
fn speaks_of<'m, 'a, 'k>(key: &'k str, members: &'m [Member<'a>]) -> (Vec<&'m Member<'a>>, &'k str) {
    for member in members {
        if let Some(rest) = key.strip_prefix(member.name.as_str()).and_then(|rest| rest.strip_prefix('.')) {
            return (vec![member], rest);
        }
    }
    (members.iter().collect(), key)
}

/// That a key in a name is a key, and means one value.
pub(super) fn check_name_key(key: &str, members: &[Member<'_>], axes: &[Axis<'_>]) -> Result<(), Wrong> {
    let (meant, bare) = speaks_of(key, members);
    let Some(index) = WORKLOAD.iter().position(|entry| entry.doc.key == bare) else {
        let known = WORKLOAD.iter().map(|entry| entry.doc.key);
        let labels = axes.iter().map(|axis| axis.label.as_str());
        let help =
            sentence(bare, known.chain(labels)).unwrap_or_else(|| "fill in a key of a workload".into());
        return Err(Wrong::new(format!("the name fills in `{key}`, which is not a key of a workload"), help));
    };
    let nodes: BTreeSet<Option<usize>> = meant
        .iter()
        .map(|member| member.found[index].as_ref().map(|found| std::ptr::from_ref(found.node) as usize))
        .collect();
    if nodes.len() > 1 {
        let choices: Vec<String> = meant.iter().map(|member| format!("{{{}.{bare}}}", member.name)).collect();
        let message = format!("the workloads of the phase have their own `{bare}`");
        return Err(Wrong::new(message, format!("say which is meant: {}", choices.join(" or "))));
    }
    Ok(())
}

/// The name of a point: keys filled in, and what is swept and not named added.
pub(super) fn name(
    template: &Template,
    members: &[Member<'_>],
    cell: &Cell<'_>,
    workloads: &[Workload],
    swept: &[(String, String)],
) -> String {
    let value = |key: &str| {
        let (meant, bare) = speaks_of(key, members);
        let member = meant.first()?;
        let index = WORKLOAD.iter().position(|entry| entry.doc.key == bare)?;
        match &member.found[index] {
            Some(found) => Some(short(cell.value(found.node))),
            None => {
                let number = members.iter().position(|one| std::ptr::eq(one, *member))?;
                let unsaid = || WORKLOAD[index].doc.default.to_owned();
                Some(workloads[number].text(bare).unwrap_or_else(unsaid))
            }
        }
    };
    let mut name = template.fill(|key| value(key).unwrap_or_default());
    let named: Vec<&str> = template.keys().collect();
    for (label, value) in swept {
        let in_name = |key: &&str| *key == label || label.ends_with(&format!(".{key}"));
        if !named.iter().any(in_name) {
            name += &format!(" {label}={value}");
        }
    }
    name
}

/// The headings of keys that names tell of. Where it is asked, of what content and by which engine is no part of a name.
const ASKED: [&str; 5] =
    ["Access pattern", "Queue depth and rate", "Durability", "Trace replay", "Files and directories"];

/// A key that names tell of, although it stands under another heading: a page cache answers instead of the storage.
const DIRECT: &str = "direct";

fn is_named(doc: &KeyDoc) -> bool {
    is_of_load(doc.key) && (ASKED.contains(&doc.section) || doc.key == DIRECT)
}

/// What `--set` changed of what a point asks, and its name neither fills in nor has as a sweep: keys and values as typed.
pub(super) fn set_by(
    template: &Template,
    members: &[Member<'_>],
    cell: &Cell<'_>,
    workloads: &[Workload],
) -> Vec<(String, String)> {
    let mut set = Vec::new();
    for (member, workload) in members.iter().zip(workloads) {
        let before = member.as_written(cell);
        for (entry, found) in WORKLOAD.iter().zip(&member.found) {
            let key = entry.doc.key;
            let is_filled_in =
                template.keys().any(|named| named == key || named == format!("{}.{key}", member.name));
            let Some(found) = found.as_ref().filter(|found| found.is_set && !is_filled_in) else { continue };
            let is_swept = cell.axes.iter().any(|axis| std::ptr::eq(axis.node, found.node));
            let is_same = before.as_ref().is_some_and(|before| before.text(key) == workload.text(key))
                && !Member::has_lost_its_sweep(found, entry);
            if is_swept || is_same || !is_named(&entry.doc) {
                continue;
            }
            let label = if found.own { format!("{}.{key}", member.name) } else { key.to_owned() };
            let value = (label, short(found.node));
            if !set.contains(&value) {
                set.push(value);
            }
        }
    }
    set
}
