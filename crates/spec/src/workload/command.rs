//! Commands that a device is sent past the block layer.

use crate::words;

/// The command that a write is sent as.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WriteCommand {
    /// The device stores the data.
    #[default]
    Write,
    /// It stores the data and reads its medium to see whether they can be read.
    WriteAndVerify,
    /// It stores the first block of the data in every block of the range.
    WriteSame,
    /// It stores zeros, and no data move.
    WriteZeroes,
    /// It reads its medium, and no data move.
    Verify,
    /// It compares its medium with the data.
    Compare,
    /// It compares every block of the range with the first block of the data.
    CompareSame,
}

words!(WriteCommand, "a command of writes",
    WriteCommand::Write => "write", WriteCommand::WriteAndVerify => "write_and_verify",
    WriteCommand::WriteSame => "write_same", WriteCommand::WriteZeroes => "write_zeroes",
    WriteCommand::Verify => "verify", WriteCommand::Compare => "compare", WriteCommand::CompareSame => "compare_same");

impl WriteCommand {
    /// Whether the device holds the data of a write once it has ended.
    pub fn stores_data(self) -> bool {
        matches!(self, WriteCommand::Write | WriteCommand::WriteAndVerify)
    }
}

/// What an engine that sends commands sends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Commands {
    /// In place of a write.
    pub write: WriteCommand,
    /// A read passes by the cache of the device (force unit access).
    pub read_fua: bool,
    /// A write is on the medium when it ends (force unit access).
    pub write_fua: bool,
}
