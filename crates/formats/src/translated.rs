//! A tool's command or job file, translated to Fathom's own language.

/// A plan and whom it is for.
#[derive(Clone, Debug, PartialEq, Eq)]
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

/// What a plan is about: the command line that it stands for, as a string of a plan.
pub(crate) fn about(tool: &str, words: &[String]) -> String {
    quoted(&format!("workload of `{tool} {}`", words.join(" ")))
}

/// `text` as a string of a plan: in quotes, with what TOML wants escaped.
pub fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            control if control.is_control() => quoted.push_str(&format!("\\u{:04X}", u32::from(control))),
            plain => quoted.push(plain),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_toml_would_misread_is_escaped() {
        assert_eq!(quoted(r#"c:\a "b""#), r#""c:\\a \"b\"""#);
        assert_eq!(quoted("a\tb\n"), r#""a\u0009b\u000A""#);
    }
}
