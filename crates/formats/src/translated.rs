//! A tool's command or job file, translated to Fathom's own language.

/// A plan and whom it is for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TranslatedJob {
    /// A plan in Fathom's language; [`workload::plan`] reads it.
    ///
    /// [`workload::plan`]: https://docs.rs/fathom-workload
    pub plan: String,
    /// What was named as target, in order; a plan's `on` counts them from 1.
    pub targets: Vec<String>,
    /// What was understood but changes nothing, or changes less than the user may expect. For stderr.
    pub notes: Vec<String>,
}

/// What a plan is about: the command line that it stands for.
pub(crate) fn about(tool: &str, words: &[String]) -> String {
    format!("workload of `{tool} {}`", words.join(" "))
}
