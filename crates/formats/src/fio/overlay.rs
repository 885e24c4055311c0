//! `fathom run JOB.fio --set NAME=VALUE`: what a user sets of a job file in fio's own words.
//!
//! Keys of the plan that a job file becomes stay keys of it, under their names and under fio's that mean the same
//! ([`workload::plan::reference::is_key`]). What only fio has, or has with values of its own, is an option of every job.

use crate::Refusal;
use workload::plan::reference;

use super::TOOL;
use super::options;
use super::section::{Origin, Section, Setting};

/// What was set, told apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overlay {
    /// Options of fio's, for every job: `rw=randread`.
    pub options: Vec<String>,
    /// Keys of the plan.
    pub keys: Vec<String>,
}

/// Options whose whole numbers count seconds in fio, and nothing in a plan.
const SECONDS: [&str; 5] = ["runtime", "timeout", "startdelay", "ramp_time", "start_delay"];

/// Names of engines that fio alone has.
const ENGINES: [&str; 6] = ["psync", "sync", "vsync", "pvsync", "pvsync2", "libaio"];

impl Overlay {
    /// Tells `set` apart, the words behind `--set`. A refusal of `size`, which is that of a request in a plan, and that of the
    /// files in a job.
    pub fn of(set: &[String]) -> Result<Overlay, Refusal> {
        let mut overlay = Overlay::default();
        for word in set {
            let (name, value) = word.split_once('=').unwrap_or((word, ""));
            let (name, value) = (name.trim(), value.trim());
            let is_plain = !value.starts_with(['{', '[']);
            if name == "size" && is_plain {
                let what = format!(
                    "--set {word}: `size` is the request size here (fio: bs); how much is used is `span`"
                );
                return Err(Refusal::Usage { tool: TOOL, what });
            }
            match is_plain && is_fios(name, value) {
                true => overlay.options.push(format!("{name}={value}")),
                false => overlay.keys.push(word.clone()),
            }
        }
        Ok(overlay)
    }
}

/// Whether `name=value` is an option of fio's that no plan has so.
fn is_fios(name: &str, value: &str) -> bool {
    let Some(known) = options::find(name) else { return false };
    let is_number = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    match known.name {
        _ if SECONDS.contains(&name) => is_number,
        "direct" => is_number,
        "ioengine" => ENGINES.contains(&value),
        _ => !reference::is_key(name),
    }
}

/// Adds the options of `set` to every job of `sections`, behind its own.
pub(super) fn lay_over(sections: &mut [Section], set: &[String]) -> Result<(), Refusal> {
    for word in set {
        let (name, value) = word.split_once('=').unwrap_or((word, ""));
        let setting = Setting::read(name, Some(value), &Origin::Argument)?;
        let jobs = sections.iter_mut().filter(|section| !section.is_global());
        jobs.for_each(|section| section.settings.push(setting.clone()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::JOB_FILE;
    use super::*;
    use crate::JobEnvironment;

    fn told(set: &[&str]) -> Result<(Vec<String>, Vec<String>), String> {
        let set: Vec<String> = set.iter().map(|word| (*word).to_owned()).collect();
        Overlay::of(&set).map(|told| (told.options, told.keys)).map_err(|refusal| refusal.to_string())
    }

    #[test]
    fn what_only_fio_has_is_an_option_of_the_jobs_and_the_rest_a_key_of_the_plan() {
        let fios = ["runtime=2", "direct=0", "ioengine=psync", "rw=randread", "rate_iops=100"];
        assert_eq!(told(&fios).unwrap(), (fios.map(str::to_owned).to_vec(), vec![]));
        let plans = ["runtime=2s", "direct=true", "bs=8k", "iodepth=4", "phase.1.size=8KiB", "span=1GiB"];
        assert_eq!(told(&plans).unwrap(), (vec![], plans.map(str::to_owned).to_vec()));
        let sweep = "size={sweep=[\"4KiB\"]}";
        assert_eq!(told(&[sweep]).unwrap().1, [sweep]);
        let refused = told(&["size=8m"]).unwrap_err();
        assert!(refused.contains("`size` is the request size here (fio: bs); how much is used is `span`"));
    }

    #[test]
    fn options_that_are_laid_over_a_job_file_hold_for_every_job() {
        let set = ["rw=randwrite".to_owned(), "runtime=2".into()];
        let environment = JobEnvironment { set: &set, ..JobEnvironment::NONE };
        let text = "[global]\nrw=read\nsize=1m\n[a]\nruntime=9\n[b]\nrw=write\n";
        let plan = (JOB_FILE.read)("x.fio", text, &environment).unwrap().plan;
        assert_eq!(
            plan.matches("reads   = \"0%\"").count() + plan.matches("reads = \"0%\"").count(),
            2,
            "{plan}"
        );
        assert!(plan.contains("\"2s\"") && !plan.contains("\"9s\""), "{plan}");
    }
}
