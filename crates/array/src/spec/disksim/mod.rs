//! Drives as DiskSim describes them, `.parv` and `.diskspecs` with the files that they take in, as a device of ours.
//!
//! Parameters that say how a bus is held, which statistics are printed, and where single defects lie have no part in a
//! device here and are passed over. Source of what the others mean: DiskSim 4.0 reference manual (CMU-PDL-08-101).

mod drive;
mod libparam;

#[cfg(test)]
mod tests;

/// A drive out of DiskSim's files.
#[derive(Clone, Debug, PartialEq)]
pub struct DiskSimDrive {
    /// What DiskSim's file calls it.
    pub name: String,
    /// The device's description, as a file of `devices/` is written.
    pub text: String,
    /// Whether a rate of the interface is stated. Where it is not, DiskSim leaves it to the host's bus, and
    /// `text` has no `link`.
    pub states_link: bool,
}

/// Why a text is no drive of DiskSim's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {what}")]
pub struct DiskSimError {
    /// The file and line, or the block.
    pub place: String,
    /// What is wrong there, and what would be right.
    pub what: String,
}

impl DiskSimError {
    fn new(place: &str, what: impl Into<String>) -> DiskSimError {
        DiskSimError { place: place.into(), what: what.into() }
    }
}

/// Whether a text is one of DiskSim's files rather than TOML.
pub fn is_disksim(text: &str) -> bool {
    let said = text.lines().map(str::trim_start).find(|line| !line.is_empty() && !line.starts_with('#'));
    said.is_some_and(|line| ["disksim_", "dm_", "source "].iter().any(|word| line.starts_with(word)))
}

/// The first drive that `text` describes. `label` is what errors call the text; `files` gives the text of a file that it
/// names, which lies beside it.
pub fn drive(
    label: &str,
    text: &str,
    files: &mut dyn FnMut(&str) -> Option<String>,
) -> Result<DiskSimDrive, DiskSimError> {
    let blocks = libparam::blocks(label, text, files)?;
    let Some(disk) = blocks.iter().find(|block| block.kind == "disksim_disk") else {
        return Err(DiskSimError::new(label, "there is no `disksim_disk` in it"));
    };
    drive::described(label, disk, &blocks, files)
}
