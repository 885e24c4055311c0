//! What was measured, with what, and where: the lines above a table.

use record::names::fact;
use record::{Run, Target, World};
use units::{Bytes, Nanos};

use crate::condition;
use crate::words::{counted, harmless, model_error};

/// The lines above the table, most important first. The first is the title.
pub(crate) fn lines(run: &Run) -> Vec<String> {
    let mut lines = vec![title(run), changed(run)];
    lines.extend(run.targets.iter().map(|target| identity(run, target)));
    // What is out of order comes before what explains a figure by it.
    lines.extend(condition::line(run));
    lines.push(joined([how(run), where_(run)]));
    lines.extend(run.targets.iter().find_map(|target| target.validation.as_ref()).map(model_error));
    lines.push(joined([when(run), tags(run)]));
    lines.retain(|line| !line.is_empty());
    lines
}

/// What `--set` changed, which the names of the points may contradict; empty where it changed nothing.
fn changed(run: &Run) -> String {
    let all: Vec<String> = run.plan.overrides.iter().map(|one| harmless(one)).collect();
    if all.is_empty() { String::new() } else { format!("changed in the plan: {}", all.join(", ")) }
}

fn title(run: &Run) -> String {
    format!("{}{}", harmless(&run.plan.name), on_targets(run))
}

/// ` on /dev/sdb`, and ` on /mnt/a of host-a, /mnt/b of host-b` where each of several hosts had targets of its own.
pub fn on_targets(run: &Run) -> String {
    let targets: Vec<String> = match by_host(run) {
        hosts if hosts.len() > 1 => hosts,
        _ => run.targets.iter().map(|target| harmless(&target.address)).collect(),
    };
    if targets.is_empty() { String::new() } else { format!(" on {}", targets.join(", ")) }
}

/// Targets that are named in a title where each host has its own; of more it is said how many hosts there are.
const HOSTS_NAMED: usize = 4;

/// `/mnt/a of host-a` of each host, where they asked targets of different names; nothing where all asked the same.
fn by_host(run: &Run) -> Vec<String> {
    let mut hosts: Vec<(&str, Vec<&str>)> = Vec::new();
    for rank in run.points.iter().flat_map(|point| &point.ranks) {
        let own = match hosts.iter_mut().find(|(host, _)| *host == rank.host) {
            Some((_, own)) => own,
            None => {
                hosts.push((&rank.host, Vec::new()));
                &mut hosts.last_mut().expect("it was just added").1
            }
        };
        for target in &rank.targets {
            if !own.contains(&target.as_str()) {
                own.push(target);
            }
        }
    }
    if hosts.iter().all(|(_, targets)| *targets == hosts[0].1) {
        return Vec::new();
    }
    let more = hosts.len().saturating_sub(HOSTS_NAMED);
    let named = hosts.iter().take(HOSTS_NAMED);
    let mut said: Vec<String> = named
        .map(|(host, targets)| format!("{} of {}", harmless(&targets.join(" and ")), harmless(host)))
        .collect();
    said.extend((more > 0).then(|| format!("and those of {}", counted(more, "more host"))));
    said
}

/// What a load leaves out of a target of 100 bytes and more only because its last request would not fit.
const REST: u64 = 100;

/// `1.74 TiB tested`, or `256 MiB of 1.74 TiB tested` where all loads stayed within less of the only target: the largest of
/// their working sets. Empty for a target without a size, and for none at all.
pub fn tested(run: &Run, target: &Target) -> String {
    if target.size_bytes == 0 || target.kind == "null" {
        return String::new();
    }
    let loads = run.points.iter().flat_map(|point| &point.workloads);
    let spans: Option<Vec<u64>> = loads.map(|load| load.span_bytes).collect();
    let largest = spans.and_then(|spans| spans.into_iter().max()).filter(|span| {
        let left = target.size_bytes.saturating_sub(*span);
        run.targets.len() == 1 && *span > 0 && left > target.size_bytes / REST
    });
    let whole = Bytes::new(target.size_bytes);
    match largest.map(Bytes::new) {
        // As it was typed.
        Some(span) if is_decimal(span) => format!("{} of {whole} tested", span.as_sold()),
        Some(span) => format!("{span} of {whole} tested"),
        None => format!("{whole} tested"),
    }
}

/// Whether it is a whole number of MB and none of MiB.
fn is_decimal(size: Bytes) -> bool {
    size.is_multiple_of(Bytes::new(1_000_000)) && !size.is_multiple_of(Bytes::MIB)
}

/// Model, size, firmware, name by id; file system; how much of it was used.
fn identity(run: &Run, target: &Target) -> String {
    let fact = |key: &str| target.facts.get(key).map(|value| harmless(value)).unwrap_or_default();
    let size = fact(fact::DEVICE_SIZE).parse::<Bytes>().ok().map(Bytes::as_sold).unwrap_or_default();
    let labelled =
        |label: &str, value: String| if value.is_empty() { value } else { format!("{label} {value}") };
    let is_null = target.kind == "null";
    let kind = if is_null { "no storage at all".into() } else { harmless(&target.kind) };
    let named = if run.targets.len() > 1 { harmless(&target.address) + ":" } else { String::new() };
    let rest = joined([
        maker_and_model(&fact(fact::VENDOR), &fact(fact::MODEL)),
        size,
        labelled("firmware", fact(fact::FIRMWARE)),
        if fact(fact::BY_ID).is_empty() { fact(fact::DEVICE) } else { fact(fact::BY_ID) },
        fact(fact::REMOTE),
        if fact(fact::FILE_SYSTEM).is_empty() {
            kind.clone()
        } else {
            format!("{kind} on {}", fact(fact::FILE_SYSTEM))
        },
        tested(run, target),
    ]);
    format!("{named} {rest}").trim_start().to_owned()
}

/// Many a model's name begins with its maker's.
fn maker_and_model(maker: &str, model: &str) -> String {
    if model.starts_with(maker) { model.into() } else { format!("{maker} {model}").trim_end().to_owned() }
}

/// Direct or not, and by which engine.
fn how(run: &Run) -> String {
    if run.world == World::Array {
        return "a virtual array, in virtual time".into();
    }
    let workloads = || run.points.iter().flat_map(|point| &point.workloads);
    let mut paths: Vec<&str> = workloads()
        .map(|workload| if workload.spec.direct { "direct" } else { "through the page cache" })
        .collect();
    let mut engines: Vec<String> = workloads().map(|workload| workload.engine.name.to_string()).collect();
    dedup(&mut paths);
    dedup(&mut engines);
    joined([paths.join(" and "), engines.join(" and ")])
}

fn dedup<T: PartialEq + Clone>(items: &mut Vec<T>) {
    let mut seen: Vec<T> = Vec::new();
    items.retain(|item| {
        let new = !seen.contains(item);
        if new {
            seen.push(item.clone());
        }
        new
    });
}

/// The machine that asked. That of a virtual array is in its description, and this one has no part in its figures.
fn where_(run: &Run) -> String {
    if run.world == World::Array {
        return String::new();
    }
    let machine = &run.environment;
    let cpus = match machine.cpus {
        0 => String::new(),
        1 => "1 CPU".into(),
        cpus => format!("{cpus} CPUs"),
    };
    let ram =
        if machine.ram_bytes == 0 { String::new() } else { format!("{} RAM", Bytes::new(machine.ram_bytes)) };
    let hypervisor =
        machine.facts.get(fact::HYPERVISOR).map(|name| format!("virtual machine ({})", harmless(name)));
    let host = if machine.hostname.is_empty() {
        String::new()
    } else {
        format!("host {}", harmless(&machine.hostname))
    };
    joined([host, harmless(&machine.kernel), cpus, ram, hypervisor.unwrap_or_default()])
}

/// The run's name, when it was, and how long its points took.
fn when(run: &Run) -> String {
    let took = run.points.iter().map(|point| point.ended_ns).max();
    let clock = if run.world == World::Array { " of virtual time" } else { "" };
    joined([
        format!("run {}", harmless(&run.id)),
        harmless(&run.started).replace('T', " ").replace('Z', " UTC"),
        took.map(|took| format!("took {}{clock}", Nanos::new(took))).unwrap_or_default(),
    ])
}

fn tags(run: &Run) -> String {
    let tags: Vec<String> = run.tags.iter().map(|(key, value)| harmless(&format!("{key}={value}"))).collect();
    tags.join(", ")
}

/// The parts that say something, apart by dots.
fn joined<const N: usize>(parts: [String; N]) -> String {
    let said: Vec<String> = parts.into_iter().filter(|part| !part.trim().is_empty()).collect();
    said.join(" · ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_names_the_targets_of_each_host_where_they_are_not_the_same() {
        let ranks = |targets: &[(&str, &str)]| {
            let mut point = record::sample::point(0, "one", Vec::new());
            let rank = |(rank, (host, target)): (u32, &(&str, &str))| record::RankResult {
                rank,
                host: (*host).into(),
                targets: vec![(*target).into()],
                ..record::RankResult::default()
            };
            point.ranks = (0..).zip(targets).map(rank).collect();
            on_targets(&record::sample::run("p", vec![point]))
        };
        let own = ranks(&[("a", "/dev/sdb"), ("a", "/dev/sdb"), ("b", "/dev/sdc")]);
        assert_eq!(own, " on /dev/sdb of a, /dev/sdc of b");
        let alike = ranks(&[("a", "/mnt/x"), ("b", "/mnt/x")]);
        assert_eq!(alike, on_targets(&record::sample::run("p", Vec::new())), "one name is enough");
        let many = ranks(&["a", "b", "c", "d", "e", "f"].map(|host| (host, host)));
        assert!(many.ends_with("d of d, and those of 2 more hosts"), "{many}");
    }

    #[test]
    fn what_was_tested_is_the_largest_working_set_where_all_loads_stay_within_less_of_the_target() {
        let said = |spans: &[Option<u64>]| {
            let load = |span: &Option<u64>| record::WorkloadResult {
                span_bytes: *span,
                ..record::sample::workload("main", &[])
            };
            let points = spans.iter().map(|span| record::sample::point(0, "one", vec![load(span)]));
            let run = record::sample::run("p", points.collect());
            tested(&run, &run.targets[0])
        };
        let mib = |mib: u64| Some(mib << 20);
        assert_eq!(said(&[mib(256), mib(100)]), "256 MiB of 64 GiB tested");
        assert_eq!(said(&[Some(256_000_000)]), "256 MB of 64 GiB tested");
        assert_eq!(said(&[mib(256), mib(64 << 10)]), "64 GiB tested", "one load had all of it");
        assert_eq!(said(&[mib((64 << 10) - 1)]), "64 GiB tested", "the rest does not hold a request");
        assert_eq!(said(&[mib(256), None]), "64 GiB tested", "one may have been anywhere");
        assert_eq!(said(&[mib(0)]), "64 GiB tested");
        let mut run = record::sample::run("p", Vec::new());
        run.targets[0].kind = "null".into();
        assert_eq!(tested(&run, &run.targets[0]), "");
    }

    #[test]
    fn a_model_that_begins_with_its_maker_is_not_told_twice() {
        assert_eq!(maker_and_model("Acme", "Acme P5"), "Acme P5");
        assert_eq!(maker_and_model("DELL", "MD3000"), "DELL MD3000");
        assert_eq!(maker_and_model("", "P5"), "P5");
        assert_eq!(maker_and_model("DELL", ""), "DELL");
    }
}
