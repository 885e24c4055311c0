//! Outputs of other tools that any record can be written in.

use record::Run;

/// One output format of one tool.
#[derive(Debug)]
pub struct Output {
    /// Its name for `--format`: `fio`, `seeker`.
    pub name: &'static str,
    /// What a file of it ends in, without the first dot: `fio.json`. One of them is asked for by `-o FILE`.
    pub ending: &'static str,
    /// What it is, in a few words.
    pub about: &'static str,
    /// Writes it.
    pub write: fn(&Run) -> Result<String, NoFigures>,
}

/// Why a record cannot be written in a tool's format: the tool measures what the record does not have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{format}: {why}")]
pub struct NoFigures {
    /// The format's name.
    pub format: &'static str,
    /// What is missing, and which plan would have it.
    pub why: String,
}

impl NoFigures {
    /// Nothing where all is there; the refusal to write `format` where figures are `missing`.
    pub(crate) fn when(missing: bool, format: &'static str, why: &str) -> Result<(), NoFigures> {
        match missing {
            true => Err(NoFigures { format, why: why.into() }),
            false => Ok(()),
        }
    }
}

/// All of them, by name.
pub fn outputs() -> &'static [Output] {
    const ALL: &[Output] = &[
        crate::bonnie::CSV_200,
        crate::bonnie::TEXT_200,
        crate::bonnie::CSV_103,
        crate::bonnie::TEXT_103,
        crate::dd::OUTPUT,
        crate::diskspd::OUTPUT,
        crate::diskspd::OUTPUT_XML,
        crate::fio::JSON,
        crate::fio::TERSE,
        crate::fio::TEXT,
        crate::hdparm::OUTPUT,
        crate::iometer::OLD_OUTPUT,
        crate::iometer::OUTPUT,
        crate::ior::TEXT,
        crate::ior::JSON,
        crate::ior::CSV,
        crate::mdtest::TEXT,
        crate::orion::SUMMARY,
        crate::orion::MBPS,
        crate::orion::IOPS,
        crate::orion::LATENCIES,
        crate::orion::HISTOGRAMS,
        crate::iozone::OUTPUT,
        crate::iozone::EXCEL,
        crate::seeker::OUTPUT,
        crate::sqlio::OUTPUT,
    ];
    ALL
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_endings_are_unique() {
        for (index, output) in outputs().iter().enumerate() {
            for other in &outputs()[..index] {
                assert_ne!(output.name, other.name);
                assert_ne!(output.ending, other.ending);
            }
        }
    }
}
