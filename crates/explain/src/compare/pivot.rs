//! Runs grouped by the value of a key.
//!
//! **Invariant:** a run is in one group at most; a run without the key is in none.

use std::collections::BTreeMap;

use record::names::fact;
use record::{Run, Target, World};

use super::Group;
use super::settings::figures;

/// The value of `key` in `run`: a label of its own, a fact of its targets or of the machine, an option in an array's
/// address, a figure of its description, the machine, plan or version, or a key of its workloads; in this order. `None`
/// without one.
///
/// Case, `-`, `_` and spaces make no difference in the key. Several values stand apart by commas.
pub fn value_of(run: &Run, key: &str) -> Option<String> {
    let key = plain(key);
    let of = |facts: &BTreeMap<String, String>| {
        facts.iter().find(|(name, _)| plain(name) == key).map(|(_, value)| value.clone())
    };
    of(&run.tags)
        .or_else(|| joined(run.targets.iter().filter_map(|target| of(&target.facts))))
        .or_else(|| of(&run.environment.facts))
        .or_else(|| joined(run.targets.iter().filter_map(|target| option(&target.address, &key))))
        .or_else(|| joined(run.targets.iter().filter_map(|target| described(target, &key))))
        .or_else(|| well_known(run, &key))
        .or_else(|| {
            let workloads = run.points.iter().flat_map(|point| &point.workloads);
            let named = |workload: &record::WorkloadResult| {
                let mut texts = workload.spec.texts().into_iter();
                texts.find(|(name, _)| plain(name) == key).map(|(_, text)| text)
            };
            joined(workloads.filter_map(named))
        })
}

/// `runs` by the value of `key`, in the order of the first of each.
pub fn by<'a>(key: &str, runs: impl IntoIterator<Item = &'a Run>) -> Vec<Group<'a>> {
    let mut groups: Vec<Group<'a>> = Vec::new();
    for run in runs {
        let Some(name) = value_of(run, key) else { continue };
        match groups.iter_mut().find(|group| group.name == name) {
            Some(group) => group.runs.push(run),
            None => groups.push(Group { name, runs: vec![run] }),
        }
    }
    debug_assert!(groups.iter().all(|group| !group.runs.is_empty()), "a group is made for a run");
    groups
}

fn plain(key: &str) -> String {
    key.to_lowercase().replace(['-', '_'], " ")
}

fn well_known(run: &Run, key: &str) -> Option<String> {
    let target = |of: fn(&record::Target) -> &str| joined(run.targets.iter().map(|one| of(one).to_owned()));
    match key {
        "target" | "on" => target(|one| &one.address),
        "kind" => target(|one| &one.kind),
        "kernel" => Some(run.environment.kernel.clone()),
        "host" | "hostname" => Some(run.environment.hostname.clone()),
        "cpu" | "cpu model" => Some(run.environment.cpu_model.clone()),
        "plan" => Some(run.plan.name.clone()),
        "version" | "fathom" => Some(run.tool.version.clone()),
        "world" => Some(if run.world == World::Host { "host".into() } else { "array".into() }),
        "day" | "date" => run.started.get(..10).map(str::to_owned),
        _ => None,
    }
}

/// An option in an array's address: `raid` in `array:md3000?raid=5&luns=2`.
fn option(asked: &str, key: &str) -> Option<String> {
    options(asked).find(|(name, _)| plain(name) == key).map(|(_, value)| value.to_owned())
}

/// All of them, in order; none of what is no virtual array.
pub(super) fn options(asked: &str) -> impl Iterator<Item = (&str, &str)> {
    let options =
        asked.strip_prefix("array:").and_then(|asked| asked.split_once('?')).map(|(_, options)| options);
    options.unwrap_or_default().split('&').filter_map(|option| option.split_once('='))
}

/// The figure of that name in the description of a virtual array: `link.rate`; `raid` is its level, `disks` those of a set.
fn described(target: &Target, key: &str) -> Option<String> {
    let name = match key {
        "raid" => "raid.level".to_owned(),
        "disks" | "luns" | "sets" | "spares" => format!("raid.{key}"),
        _ => key.to_owned(),
    };
    let description = target.facts.get(fact::DESCRIPTION)?;
    figures(description).find(|(one, _)| plain(one) == name).map(|(_, value)| value.to_owned())
}

fn joined(values: impl Iterator<Item = String>) -> Option<String> {
    let mut seen: Vec<String> = Vec::new();
    values.for_each(|value| {
        if !value.is_empty() && !seen.contains(&value) {
            seen.push(value);
        }
    });
    (!seen.is_empty()).then(|| seen.join(", "))
}
