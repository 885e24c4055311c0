//! Job files of other tools, as `fathom run FILE` and `fathom plan convert FILE` read them.

use crate::{JobEnvironment, Refusal, TranslatedJob};

/// One kind of job file.
#[derive(Debug)]
pub struct JobFile {
    /// The tool, as `--from` names it.
    pub tool: &'static str,
    /// What it is, in a few words.
    pub about: &'static str,
    /// Whether a file of that name with that text is one. Two kinds never claim the same file.
    pub is_one: fn(name: &str, text: &str) -> bool,
    /// Reads it; `name` is what messages call it.
    pub read: fn(name: &str, text: &str, environment: &JobEnvironment<'_>) -> Result<TranslatedJob, Refusal>,
}

/// All kinds there are.
pub fn job_files() -> &'static [JobFile] {
    const ALL: &[JobFile] = &[crate::fio::JOB_FILE, crate::iometer::JOB_FILE, crate::sqlio::JOB_FILE];
    ALL
}

/// The kind of a file of that name with that text; `None` where it is none, such as a plan of our own.
pub fn job_file(name: &str, text: &str) -> Option<&'static JobFile> {
    job_files().iter().find(|kind| (kind.is_one)(name, text))
}

/// The tool whose results `text` is, by the heading that it prints within the first lines; `None` where it is none of
/// those that have job files.
///
/// People who keep job files keep results beside them, and give one for the other.
pub fn results_of(text: &str) -> Option<&'static str> {
    const HEADING_LINES: usize = 8;
    const HEADINGS: [(&str, &str); 4] =
        [("'Test Type,", "Iometer"), ("sqlio v", "SQLIO"), ("fio-", "fio"), ("\"fio version\"", "fio")];
    let headings = text.lines().take(HEADING_LINES).map(str::trim_start);
    headings
        .flat_map(|line| HEADINGS.iter().find(|(begins, _)| line.starts_with(begins)))
        .map(|found| found.1)
        .next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_told_by_their_heading_and_job_files_are_none() {
        let of = results_of;
        assert_eq!(of("'Test Type,Test Description\n0,random reads\n"), Some("Iometer"));
        assert_eq!(of("D:\\>sqlio -kR -s30\nsqlio v1.5.SG\nusing system counter\n"), Some("SQLIO"));
        assert_eq!(of("{\n  \"fio version\" : \"fio-3.33\",\n"), Some("fio"));
        assert_eq!(of("job: (g=0): rw=read\nfio-3.33\nStarting 1 process\n"), Some("fio"));
        for job in
            ["[global]\nrw=read\n", "Version 1.1.0 \n'TEST SETUP ====\n", "c:\\test.dat 2 0x0 100\n", ""]
        {
            assert_eq!(of(job), None, "{job}");
        }
    }
}
