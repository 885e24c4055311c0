//! Configuration differences between sides.
//!
//! **Invariant:** only what differs is reported; names of runs, instants and figures are no settings.

use std::collections::BTreeMap;

use record::names::fact;
use record::{Point, PointKind, Run, Setting, Target, World};
use units::Bytes;

use super::Group;
use super::cells::Cell;
use super::pivot;

/// Keys and their values in the order of the report.
type Values = Vec<(String, String)>;

/// Everything that is not the same for all groups: first targets and machine, then the plan's keys in matching cells.
pub(super) fn differences(groups: &[Group<'_>], cells: &[Vec<Cell<'_>>]) -> Vec<Setting> {
    let sides: Vec<Vec<Values>> =
        groups.iter().map(|group| group.runs.iter().map(|run| of_run(run)).collect()).collect();
    let mut keys: Vec<&str> = Vec::new();
    for (key, _) in sides.iter().flatten().flatten() {
        if !keys.contains(&key.as_str()) {
            keys.push(key);
        }
    }
    let all = keys.into_iter().map(|key| Setting {
        key: key.into(),
        values: sides.iter().map(|runs| together(runs.iter().map(|run| lookup(run, key)))).collect(),
    });
    let is_same_array = has_same_description_files(groups);
    let is_told = |setting: &Setting| is_same_array || !setting.key.starts_with(DESCRIPTION);
    let mut found: Vec<Setting> = all.filter(differs).filter(is_told).collect();
    found.extend(of_cells(cells));
    found
}

fn differs(setting: &Setting) -> bool {
    setting.values.windows(2).any(|pair| pair[0] != pair[1])
}

fn lookup<'a>(run: &'a Values, key: &str) -> Option<&'a str> {
    run.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str())
}

/// Separates several values of one side.
const OR: &str = " or ";

/// Facts that are another at every start and no setting.
const PASSING: [&str; 1] = ["load average at start"];

/// What the keys of an array's figures begin with.
const DESCRIPTION: &str = Setting::DESCRIPTION;

/// Whether all are of virtual arrays with one address whose figures are all known: where these differ, a file was changed.
fn has_same_description_files(groups: &[Group<'_>]) -> bool {
    let mut targets = groups.iter().flat_map(|group| &group.runs).flat_map(|run| &run.targets);
    let Some(first) = targets.next() else { return false };
    let is_known = |target: &Target| target.facts.contains_key(fact::DESCRIPTION);
    is_known(first) && targets.all(|target| target.address == first.address && is_known(target))
}

/// Each figure of an array's description.
pub(super) fn figures(description: &str) -> impl Iterator<Item = (&str, &str)> {
    description.split("; ").filter_map(|figure| figure.split_once(" = "))
}

/// What was set, in whatever order and with whatever blanks: of a key that is set twice the last holds.
fn set(overrides: &[String]) -> String {
    let pair = |text: &String| match text.split_once('=') {
        Some((key, value)) => (key.trim().to_owned(), value.trim().to_owned()),
        None => (text.clone(), String::new()),
    };
    let keys: BTreeMap<String, String> = overrides.iter().map(pair).collect();
    keys.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join(", ")
}

/// What direct I/O is possible in, without how that is known: of a file that is made it is known otherwise than of the same file
/// in the next run.
fn without_basis(direct: &str) -> &str {
    direct.split_once(" (").map_or(direct, |(words, _)| words)
}

/// Each value once, apart by ` or `, numbers in their order: sides that had the same values are alike whichever came first.
fn together<'a>(values: impl Iterator<Item = Option<&'a str>>) -> Option<String> {
    let mut seen: Vec<&str> = values.flatten().collect();
    let number = |value: &str| value.parse().unwrap_or(f64::INFINITY);
    seen.sort_by(|one, other| number(one).total_cmp(&number(other)).then_with(|| one.cmp(other)));
    seen.dedup();
    (!seen.is_empty()).then(|| seen.join(OR))
}

fn of_run(run: &Run) -> Values {
    let mut values: Values = Vec::new();
    let mut add = |key: &str, value: String| {
        if !value.is_empty() {
            values.push((key.into(), value));
        }
    };
    add("plan", run.plan.name.clone());
    add("set", set(&run.plan.overrides));
    add("storage", if run.world == World::Host { "real" } else { "virtual array" }.into());
    for (number, target) in (1..).zip(&run.targets) {
        let name = if run.targets.len() == 1 { "target".to_owned() } else { format!("target {number}") };
        add(&name, target.address.clone());
        if run.targets.len() == 1 {
            let options = pivot::options(&target.address);
            options
                .for_each(|(option, value)| add(&format!("{}{option}", Setting::OPTION), value.to_owned()));
        }
        add(&format!("{name} kind"), target.kind.clone());
        add(&format!("{name} size"), Bytes::new(target.size_bytes).to_string());
        for cache in &target.caches {
            add(&format!("{name} cache of {}", cache.name), Bytes::new(cache.size_bytes).to_string());
        }
        for (key, value) in &target.facts {
            match key.as_str() {
                fact::DESCRIPTION => figures(value)
                    .for_each(|(key, value)| add(&format!("{DESCRIPTION}{key}"), value.to_owned())),
                fact::DIRECT => add(&format!("{name} {key}"), without_basis(value).into()),
                _ => add(&format!("{name} {key}"), value.clone()),
            }
        }
    }
    let machine = &run.environment;
    add("host", machine.hostname.clone());
    add("kernel", machine.kernel.clone());
    add("cpu", machine.cpu_model.clone());
    add("cpus", machine.cpus.to_string());
    add("memory", Bytes::new(machine.ram_bytes).to_string());
    let settings = machine.facts.iter().filter(|(key, _)| !PASSING.contains(&key.as_str()));
    settings.for_each(|(key, value)| add(&format!("host {key}"), value.clone()));
    run.tags.iter().for_each(|(key, value)| add(&format!("label {key}"), value.clone()));
    let mut engines: Vec<&str> = Vec::new();
    for workload in run.points.iter().flat_map(|point| &point.workloads) {
        if !engines.contains(&workload.engine.name.name()) {
            engines.push(workload.engine.name.name());
        }
    }
    add("engine", engines.join(", "));
    add("ranks", ranks(run));
    add("states", states(run));
    add("fathom", run.tool.version.clone());
    values
}

/// What the array was brought into before its loads, in order: `fail disk 3, rebuild`.
fn states(run: &Run) -> String {
    let states = run.points.iter().filter(|point| point.kind == PointKind::State);
    let told = |point: &Point| point.state.get("state").cloned().unwrap_or_else(|| point.name.clone());
    states.map(told).collect::<Vec<_>>().join(", ")
}

/// In how many processes the load was driven: `1`, or `4 on host-a, host-b`.
fn ranks(run: &Run) -> String {
    let Some(most) = run.points.iter().map(|point| &point.ranks).max_by_key(|ranks| ranks.len()) else {
        return String::new();
    };
    let mut hosts: Vec<&str> = most.iter().map(|rank| rank.host.as_str()).collect();
    hosts.sort_unstable();
    hosts.dedup();
    match most.len() {
        0 | 1 => "1".into(),
        several => format!("{several} on {}", hosts.join(", ")),
    }
}

/// Puts a key that differs in several cells into one line.
fn merge(found: &mut Vec<Setting>, setting: Setting) {
    let Some(same) = found.iter_mut().find(|one| one.key == setting.key) else { return found.push(setting) };
    for (value, more) in same.values.iter_mut().zip(setting.values) {
        match (value.as_mut(), more) {
            (Some(text), Some(more)) if text.split(OR).all(|one| one != more) => {
                text.push_str(OR);
                text.push_str(&more);
            }
            (None, more) => *value = more,
            _ => {}
        }
    }
}

/// Keys of workloads that differ between matching cells, each key once.
fn of_cells(cells: &[Vec<Cell<'_>>]) -> Vec<Setting> {
    let Some((base, others)) = cells.split_first() else { return Vec::new() };
    let mut found: Vec<Setting> = Vec::new();
    for cell in base.iter().filter(|cell| cell.total) {
        let others = others.iter().map(|of| of.iter().find(|other| other.key == cell.key)?.spec());
        let specs: Vec<_> = std::iter::once(cell.spec()).chain(others).collect();
        let known: Vec<_> = specs.iter().flatten().collect();
        let mut keys: Vec<&str> = known.iter().flat_map(|spec| spec.keys().copied()).collect();
        keys.sort();
        keys.dedup();
        for key in keys {
            let value = |spec: &Option<BTreeMap<&str, String>>| spec.as_ref()?.get(key).cloned();
            let values: Vec<_> = known.iter().map(|spec| spec.get(key)).collect();
            let setting =
                Setting { key: format!("{}{key}", Setting::PLAN), values: specs.iter().map(value).collect() };
            if values.windows(2).any(|pair| pair[0] != pair[1]) {
                merge(&mut found, setting);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use record::{Engine, sample};

    use super::*;

    #[test]
    fn values_of_a_side_are_told_once_and_in_their_order() {
        let of = |values: &[&str]| together(values.iter().map(|value| Some(*value)));
        assert_eq!(of(&["8", "4", "16", "4"]).as_deref(), Some("4 or 8 or 16"));
        assert_eq!(of(&["b", "2", "a"]).as_deref(), Some("2 or a or b"));
        assert_eq!(of(&[]), None);
    }

    #[test]
    fn several_targets_have_numbers_and_each_engine_and_what_is_no_setting_is_told_once_or_not_at_all() {
        let mut run = sample::run("p", Vec::new());
        run.points = [Engine::IoUring, Engine::Pread, Engine::IoUring]
            .into_iter()
            .map(|engine| {
                let mut workload = sample::workload("main", &[]);
                workload.engine.name = engine;
                sample::point(0, "p", vec![workload])
            })
            .collect();
        run.environment.facts = [(PASSING[0], "0.4"), ("governor", "performance")]
            .map(|(key, value)| (key.into(), value.into()))
            .into();
        let of = |run: &Run, key: &str| {
            of_run(run).into_iter().find(|(own, _)| own == key).map(|(_, value)| value)
        };
        assert_eq!(of(&run, "engine").as_deref(), Some("io_uring, pread"));
        assert_eq!(of(&run, "host governor").as_deref(), Some("performance"));
        assert_eq!(of(&run, "host load average at start"), None);
        assert_eq!((of(&run, "target").as_deref(), of(&run, "target 1")), (Some("/mnt/array"), None));
        run.targets.push(run.targets[0].clone());
        assert_eq!((of(&run, "target"), of(&run, "target 2").as_deref()), (None, Some("/mnt/array")));
        assert_eq!(of(&run, "storage").as_deref(), Some("real"));
        assert_eq!(of(&run, "set"), None, "what is empty is left out");
        run.targets.truncate(1);
        run.targets[0].address = "array:md3000?raid=5&link.rate=145MB/s".into();
        assert_eq!(of(&run, "target option link.rate").as_deref(), Some("145MB/s"));
    }

    #[test]
    fn a_figure_of_an_array_that_was_changed_in_its_file_is_named_and_those_of_another_array_are_not() {
        let run = |address: &str, overhead: &str| {
            let mut run = sample::run("p", Vec::new());
            run.targets[0].address = address.into();
            let description = format!("link.rate = 4000MB/s; drive: overhead = {overhead}");
            run.targets[0].facts.insert(fact::DESCRIPTION.into(), description);
            run
        };
        let differ = |first: &Run, second: &Run| -> Vec<Setting> {
            let groups = [first, second].map(|run| Group { name: run.id.clone(), runs: vec![run] });
            differences(&groups, &[]).into_iter().filter(|one| one.key.starts_with(DESCRIPTION)).collect()
        };
        let before = run("array:mine.toml", "0.2ms");
        let found = differ(&before, &run("array:mine.toml", "2ms"));
        let key = "description: drive: overhead".to_owned();
        assert_eq!(found, [Setting { key, values: vec![Some("0.2ms".into()), Some("2ms".into())] }]);
        assert_eq!(differ(&before, &run("array:other.toml", "2ms")), []);
        let mut old = before.clone();
        old.targets[0].facts.remove(fact::DESCRIPTION);
        assert_eq!(differ(&old, &before), [], "an older record does not say");
    }

    #[test]
    fn what_was_set_is_the_same_in_another_order() {
        let of = |texts: &[&str]| set(&texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>());
        assert_eq!(of(&["size=4k", "run=1s"]), of(&["run = 1s", "size=8k", "size=4k"]));
        assert_eq!(of(&["depth=2"]), "depth=2");
    }

    #[test]
    fn how_it_is_known_what_direct_io_is_possible_in_is_no_difference() {
        let of = |words: &str| {
            let mut run = sample::run("p", Vec::new());
            run.targets[0].facts.insert(fact::DIRECT.into(), words.into());
            run
        };
        let differ = |first: &Run, second: &Run| {
            let groups = [first, second].map(|run| Group { name: run.id.clone(), runs: vec![run] });
            differences(&groups, &[]).into_iter().filter(|one| one.key.ends_with(fact::DIRECT)).count()
        };
        let first = of("in multiples of 512 B (logical block of the device)");
        assert_eq!(differ(&first, &of("in multiples of 512 B (reported by the kernel (statx))")), 0);
        assert_eq!(differ(&first, &of("in multiples of 4 KiB (logical block of the device)")), 1);
    }

    #[test]
    fn a_key_of_several_cells_has_each_value_of_a_side_once() {
        let setting = |values: &[Option<&str>]| Setting {
            key: "plan depth".into(),
            values: values.iter().map(|value| value.map(str::to_owned)).collect(),
        };
        let mut found = Vec::new();
        for values in [[Some("1"), None], [Some("8"), Some("2")], [Some("1"), Some("2")], [None, Some("4")]] {
            merge(&mut found, setting(&values));
        }
        assert_eq!(found, [setting(&[Some("1 or 8"), Some("2 or 4")])]);
    }
}
