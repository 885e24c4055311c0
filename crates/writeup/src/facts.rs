//! What is to be known of the runs of a report.

use record::names::fact;
use record::{Run, World};
use units::{Bytes, Nanos};

use crate::document::RunFacts;
use crate::views::Subject;

/// The runs whose facts are told: of a campaign the first of each plan, as the others differ in their cells alone.
pub(crate) fn told_runs<'a>(subject: &'a Subject<'_>) -> impl Iterator<Item = (&'a Run, &'a String)> {
    let is_first = |(place, run): (usize, &Run)| {
        !subject.runs[..place].iter().any(|before| before.plan.name == run.plan.name)
    };
    let all = subject.runs.iter().zip(subject.labels).enumerate();
    all.filter(move |(place, (run, _))| subject.campaign.is_none() || is_first((*place, run)))
        .map(|(_, one)| one)
}

/// What is to be known of a run, by name.
pub(crate) fn facts(run: &Run, label: &str) -> RunFacts {
    let mut facts: Vec<(String, String)> = Vec::new();
    let mut add = |name: &str, value: String| {
        if !value.is_empty() {
            facts.push((name.to_owned(), value));
        }
    };
    add("run", run.id.clone());
    add("began", run.started.clone());
    add(
        "plan",
        if run.plan.about.is_empty() {
            run.plan.name.clone()
        } else {
            format!("{}: {}", run.plan.name, run.plan.about)
        },
    );
    add("changed in the plan", run.plan.overrides.join(", "));
    for target in &run.targets {
        let used = match report::tested(run, target) {
            none if none.is_empty() => none,
            used => format!(", {used}"),
        };
        let kind = if target.kind.is_empty() { String::new() } else { format!(" ({})", target.kind) };
        add("target", format!("{}{kind}{used}", target.address));
        for key in [
            fact::VENDOR,
            fact::MODEL,
            fact::FIRMWARE,
            fact::SERIAL,
            fact::FILE_SYSTEM,
            fact::SCHEDULER,
            fact::WRITE_CACHE,
            "about",
        ] {
            add(key, target.facts.get(key).cloned().unwrap_or_default());
        }
    }
    add(
        "labels",
        run.tags.iter().map(|(key, value)| format!("{key} {value}")).collect::<Vec<_>>().join(", "),
    );
    if run.world == World::Host {
        let machine = &run.environment;
        add("machine", machine.hostname.clone());
        add("kernel", machine.kernel.clone());
        // A run that ended before it looked knows neither.
        if machine.cpus > 0 {
            add("processors", format!("{} × {}", machine.cpus, machine.cpu_model));
        }
        if machine.ram_bytes > 0 {
            add("memory", Bytes::new(machine.ram_bytes).to_string());
        }
    } else {
        add("world", "a virtual array, in virtual time".into());
        let known = run.targets.iter().find_map(|target| target.validation.as_ref());
        add("model", known.map(report::model_error).unwrap_or_default());
    }
    add("version", format!("{} {}", run.tool.name, run.tool.version));
    if !run.points.is_empty() {
        let measured: u64 =
            run.points.iter().map(|point| point.ended_ns.saturating_sub(point.started_ns)).sum();
        add("points", format!("{}, {} in all", run.points.len(), Nanos::new(measured)));
    }
    if let Some(cost) = run.display.as_ref().filter(|cost| cost.shown_s > 0.0) {
        let kind = if cost.kind == "full" { "full screen" } else { cost.kind.as_str() };
        let (cpu, share) = (Nanos::from_secs_f64(cost.cpu_s), cost.cpu_s / cost.shown_s * 100.0);
        add("display", format!("{kind}, {cpu} of processor time: {share:.2} % of one processor"));
    }
    add("grade", run.grading.as_ref().map(|grading| grading.grade.to_string()).unwrap_or_default());
    add("ending", format!("{} (exit code {})", run.ending.reason, run.ending.code));
    RunFacts {
        label: label.to_owned(),
        id: run.id.clone(),
        facts,
        command: run.command.iter().map(|word| report::shell_word(word)).collect::<Vec<_>>().join(" "),
        plan: run.plan.text.clone(),
        campaign: run.cell.as_ref().map(|cell| cell.toml.clone()).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_run_never_came_to_know_is_no_fact_of_it() {
        let mut run = record::sample::run("oltp", Vec::new());
        run.world = World::Host;
        (run.environment.cpus, run.environment.ram_bytes) = (0, 0);
        (run.targets[0].address, run.targets[0].kind) = ("null:".into(), String::new());
        let facts = facts(&run, "").facts;
        assert!(facts.iter().all(|(name, _)| name != "processors" && name != "memory"), "{facts:?}");
        let target = facts.iter().find(|(name, _)| name == "target").expect("it has one");
        assert!(!target.1.contains("()"), "{target:?}");
    }
}
