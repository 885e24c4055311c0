//! How an array is opened.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use array::sim::Topology;

/// How an array is opened.
#[derive(Clone, Debug)]
pub struct Options {
    /// Whether each record of the journal is on stable storage before members are written, so that a loss of power of
    /// the machine leaves no write hole either.
    pub is_synced: bool,
    /// Where events are appended to.
    pub log: Option<PathBuf>,
    /// Whether a spare takes over by itself when a member fails.
    pub is_automatic: bool,
    /// The room of the journal.
    pub journal: u64,
    /// Bytes of the write-back cache; 0: none. `None`: as the array has it, up to 256 MiB.
    pub cache: Option<u64>,
    /// Releases of the firmware that the model knows, with what the array is under each, and the one that is installed.
    pub firmware: (Vec<(String, Topology)>, Option<String>),
    /// Of which names are drawn that need not be hidden: the numbers of array and drives.
    pub seed: u64,
    /// What has been in the cache for so long is written to members. `None`: only for want of room.
    pub destage_after: Option<Duration>,
    /// Whether the array is opened without what only a lost memory of the write cache had.
    pub accepts_loss: bool,
    /// The start of this machine, as the kernel numbers them: an array that was not stopped before another one has lost power.
    pub boot: String,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            is_synced: false,
            log: None,
            is_automatic: true,
            journal: 96 << 20,
            cache: None,
            firmware: Default::default(),
            seed: 1,
            destage_after: Some(Duration::from_secs(5)),
            accepts_loss: false,
            boot: (fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default().trim())
                .to_owned(),
        }
    }
}
