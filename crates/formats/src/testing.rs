//! What the tests of every tool need.

use workload::plan::Plan;

use crate::TranslatedJob;

/// A command line as a shell would cut it.
pub fn words(line: &str) -> Vec<String> {
    line.split_whitespace().map(str::to_owned).collect()
}

/// The plan of a translated job, which must be one.
#[track_caller]
pub fn plan(job: &TranslatedJob) -> Plan {
    Plan::parse("test", &job.plan, &Default::default())
        .unwrap_or_else(|errors| panic!("{}\n{}", errors.plain(), job.plan))
}

/// That each line is refused with words about it.
#[track_caller]
pub fn refused<T>(read: impl Fn(&str) -> Result<T, crate::Refusal>, cases: &[(&str, &str)]) {
    for (line, word) in cases {
        let Err(refusal) = read(line) else { panic!("`{line}` is accepted") };
        let refusal = refusal.to_string();
        assert!(refusal.contains(word), "{line}: {refusal}");
    }
}
