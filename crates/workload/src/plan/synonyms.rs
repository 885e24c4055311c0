//! Keys under the names that other tools give them: `iodepth` for `depth`.
//!
//! **Invariant:** a name is here only where its values are written as those of our key; what another tool means otherwise
//! is an error that says what to write (`suggest`).

use document::{Key, Mistakes, Node, Table, Value};

/// Tool, its name of a key, and ours.
///
/// Sources: fio's HOWTO; the parameters of vdbench 5.04.
const SYNONYMS: [(&str, &str, &str); 31] = [
    ("fio", "bs", "size"),
    ("fio", "blocksize", "size"),
    ("vdbench", "xfersize", "size"),
    ("fio", "rwmixread", "reads"),
    ("vdbench", "rdpct", "reads"),
    ("fio", "percentage_random", "random"),
    ("fio", "blockalign", "align"),
    ("fio", "randseed", "seed"),
    ("fio", "offset_increment", "worker_offset"),
    ("fio", "numjobs", "workers"),
    ("fio", "iodepth", "depth"),
    ("fio", "iodepth_low", "low_water"),
    ("fio", "startdelay", "start"),
    ("fio", "ramp_time", "warmup"),
    ("fio", "ramp_size", "warmup_bytes"),
    ("vdbench", "warmup", "warmup"),
    ("fio", "runtime", "run"),
    ("vdbench", "elapsed", "run"),
    ("fio", "number_ios", "ops"),
    ("fio", "loops", "loops"),
    ("fio", "exitall", "exit_all"),
    ("fio", "end_fsync", "flush_at_end"),
    ("fio", "ioengine", "engine"),
    ("fio", "iodepth_batch_submit", "submit_batch"),
    ("fio", "iodepth_batch_complete_min", "complete_batch"),
    ("fio", "sqthread_poll", "sqpoll"),
    ("fio", "hipri", "iopoll"),
    ("fio", "cpus_allowed", "cpus"),
    ("fio", "write_iolog", "iolog"),
    ("fio", "read_iolog", "trace"),
    ("fio", "replay_scale", "trace_scale"),
];

/// Names whose whole numbers are percent.
const PERCENT: [&str; 3] = ["rwmixread", "rdpct", "percentage_random"];

/// Gives one key and its value, as another tool writes them, our name and form; nothing where it is a key of ours.
pub(crate) fn translate_one(key: &mut Key, node: &mut Node) {
    let Some(ours) = ours(&key.text) else { return };
    if let (true, Value::Integer(percent)) = (PERCENT.contains(&key.text.as_str()), &node.value) {
        node.value = Value::Text(format!("{percent}%"));
    }
    key.text = ours.into();
}

/// Our key of that name, `None` where it is none of another tool.
pub(crate) fn ours(name: &str) -> Option<&'static str> {
    SYNONYMS.iter().find(|(_, theirs, ours)| *theirs == name && theirs != ours).map(|(_, _, ours)| *ours)
}

/// What other tools call our `key`, as the reference says it: ``fio: `bs`, `blocksize`; vdbench: `xfersize` ``; empty where they
/// have no such key.
pub(crate) fn others(key: &str) -> String {
    let of = |tool: &str| {
        let names = SYNONYMS.iter().filter(|(whose, _, ours)| *whose == tool && *ours == key);
        let names: Vec<String> = names.map(|(_, theirs, _)| format!("`{theirs}`")).collect();
        if names.is_empty() { None } else { Some(format!("{tool}: {}", names.join(", "))) }
    };
    ["fio", "vdbench"].into_iter().filter_map(of).collect::<Vec<_>>().join("; ")
}

/// Gives the keys of a document their own names, in `[defaults]`, phases and workloads.
pub(crate) fn translate(root: &mut Table, mistakes: &Mistakes) {
    for (key, node) in root.iter_mut() {
        match (key.text.as_str(), &mut node.value) {
            ("defaults", Value::Table(defaults)) => keys(defaults, mistakes),
            ("phase", Value::List(phases)) => {
                for phase in phases.iter_mut().filter_map(|phase| phase.table_mut()) {
                    keys(phase, mistakes);
                    members(phase, mistakes);
                }
            }
            _ => {}
        }
    }
}

fn members(phase: &mut Table, mistakes: &Mistakes) {
    for (_, node) in phase.iter_mut().filter(|(key, _)| key.text == "workload") {
        if let Value::List(workloads) = &mut node.value {
            workloads.iter_mut().filter_map(|one| one.table_mut()).for_each(|one| keys(one, mistakes));
        }
    }
}

fn keys(table: &mut Table, mistakes: &Mistakes) {
    let written: Vec<String> = table.iter().map(|(key, _)| key.text.clone()).collect();
    let mut taken: Vec<&str> = written.iter().map(String::as_str).filter(|key| ours(key).is_none()).collect();
    for (key, node) in table.iter_mut() {
        let Some(ours) = ours(&key.text) else { continue };
        if taken.contains(&ours) {
            let message = format!("`{}` is another name of `{ours}`, which this table has already", key.text);
            mistakes.tell(&key.place, message, "leave one of them out");
        }
        taken.push(ours);
        translate_one(key, node);
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Overrides, Plan, keys};
    use super::*;

    fn plan(text: &str) -> Result<Plan, String> {
        Plan::parse("plan", text, &Overrides::default()).map_err(|errors| errors.to_string())
    }

    #[test]
    fn every_name_of_another_tool_leads_to_a_key() {
        for (tool, theirs, ours) in SYNONYMS {
            assert!(keys::all().iter().any(|doc| doc.key == ours), "{tool}'s {theirs} leads to {ours}");
            let is_ours = keys::all().iter().any(|doc| doc.key == theirs);
            assert!(!is_ours || theirs == ours, "{theirs} is a key of ours with another meaning");
        }
    }

    #[test]
    fn a_plan_in_names_of_fio_is_the_plan_in_ours() {
        let of = |keys: &str| {
            plan(&format!(
                "name = \"p\"\n[defaults]\n{keys}\n[[phase]]\nname = \"a\"\n[[phase]]\nname = \"b\"\n"
            ))
        };
        let theirs =
            "bs = \"8KiB\"\nrwmixread = 70\nnumjobs = 2\niodepth = 32\nruntime = \"5s\"\nramp_time = \"1s\"";
        let ours = "size = \"8KiB\"\nreads = \"70%\"\nworkers = 2\ndepth = 32\nrun = \"5s\"\nwarmup = \"1s\"";
        let (theirs, ours) = (of(theirs).unwrap(), of(ours).unwrap());
        assert_eq!(theirs.points(), ours.points());
        let in_workload =
            "[[phase]]\nname = \"a\"\nrun = \"1s\"\n[[phase.workload]]\nname = \"w\"\niodepth = 4\n";
        let in_workload = plan(&format!("name = \"p\"\n{in_workload}")).unwrap();
        assert_eq!(in_workload.points()[0].workloads()[0].depth, 4);
    }

    #[test]
    fn the_same_key_under_two_names_is_an_error_at_the_second() {
        let text = "name = \"p\"\n[[phase]]\nname = \"a\"\nrun = \"1s\"\ndepth = 1\niodepth = 2\n";
        let error = plan(text).unwrap_err();
        assert!(error.contains("`iodepth` is another name of `depth`"), "{error}");
    }
}
