//! Commands that a device is sent past the block layer.

use super::EngineKind;
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
    /// Reads of the range fail from then on, and no data move.
    WriteUncorrectable,
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
    WriteCommand::WriteUncorrectable => "write_uncorrectable",
    WriteCommand::Verify => "verify", WriteCommand::Compare => "compare", WriteCommand::CompareSame => "compare_same");

impl WriteCommand {
    /// Whether the device holds the data of a write once it has ended.
    pub fn stores_data(self) -> bool {
        matches!(self, WriteCommand::Write | WriteCommand::WriteAndVerify)
    }

    /// Whether the engine has it.
    pub fn is_of(self, engine: EngineKind) -> bool {
        match self {
            WriteCommand::Write
            | WriteCommand::WriteZeroes
            | WriteCommand::Verify
            | WriteCommand::Compare => engine.sends_commands(),
            WriteCommand::WriteAndVerify | WriteCommand::WriteSame | WriteCommand::CompareSame => {
                engine == EngineKind::Sg
            }
            WriteCommand::WriteUncorrectable => engine == EngineKind::Nvme,
        }
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
