//! What the command line says about real storage.

use std::path::PathBuf;

use host::restore::Journal;
use host::safety::Consent;
use units::Bytes;

use crate::plain_set::PlainFile;
use crate::upkeep::UpkeepOptions;

/// What the command line says about real targets.
#[derive(Clone, Debug, Default)]
pub struct RealOptions {
    /// Paths and devices, in order.
    pub targets: Vec<String>,
    /// What may be destroyed.
    pub consents: Vec<Consent>,
    /// Let scratch files stay.
    pub keep: bool,
    /// The size of scratch files together, in place of `auto`.
    pub scratch: Option<Bytes>,
    /// A target that is not there may be made as a file.
    pub create: bool,
    /// For tools that make files of their own: how each target that is a file is treated. Empty where new files are
    /// scratch files.
    pub plain: Vec<PlainFile>,
    /// Numbers of plain files, from 0, that other processes of the same run write: those look for room for them.
    pub plain_of_others: Vec<usize>,
    /// How a real array is broken, mended and watched.
    pub upkeep: UpkeepOptions,
    /// Another world that is open at the same time.
    pub beside: Beside,
    /// Look at what a file or device holds before it is first read from: sixty blocks of it.
    pub looks_inside: bool,
    /// The directory in which it is kept what was written where, for a later run that verifies; `None` for as long as the
    /// run lasts.
    pub verify_state: Option<PathBuf>,
    /// Where it is noted what is to be put back.
    pub journal: Journal,
}

/// Another world of this program on the same file system, whose scratch files are there as well.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Beside {
    /// Its scratch files in the same directory: numbers that are taken.
    pub taken: usize,
    /// Whether what is free is shared with it, half and half.
    pub shares_free: bool,
}
