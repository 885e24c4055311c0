//! How large each file is: drawn from what the specification says.

use spec::tree::FileSizes;
use units::Bytes;

use crate::Streams;
use crate::rng::mix64;

/// The size of each file of one worker. The same file has the same size whatever is done to it.
#[derive(Clone, Debug)]
pub struct DrawnSizes {
    sizes: FileSizes,
    total: f64,
    key: u64,
}

impl DrawnSizes {
    /// What is drawn of `sizes` for each file of one worker.
    pub fn new(sizes: FileSizes, streams: Streams, worker: u32) -> DrawnSizes {
        let total = match &sizes {
            FileSizes::Split(split) => split.0.iter().map(|(_, weight)| weight).sum(),
            FileSizes::Range { .. } => 0.0,
        };
        assert!(
            match &sizes {
                FileSizes::Range { least, most } => least <= most,
                FileSizes::Split(_) => total > 0.0,
            },
            "no file has a size of {sizes:?}"
        );
        DrawnSizes { sizes, total, key: streams.key(&format!("tree/sizes/{worker}")) }
    }

    /// The size of file `index`, and which of [`FileSizes::told_apart`] it counts to.
    pub fn of(&self, index: u64) -> (Bytes, usize) {
        match &self.sizes {
            FileSizes::Range { least, most } => {
                let span = u128::from(most.get() - least.get()) + 1;
                let drawn = (u128::from(mix64(self.key ^ mix64(index))) * span) >> 64;
                (*least + Bytes::new(drawn as u64), 0)
            }
            FileSizes::Split(split) => {
                let drawn = (mix64(self.key ^ mix64(index)) >> 11) as f64 / (1u64 << 53) as f64 * self.total;
                let mut seen = 0.0;
                let last = split.0.len() - 1;
                let found = split.0.iter().position(|(_, weight)| {
                    seen += weight;
                    drawn < seen
                });
                let index = found.unwrap_or(last);
                (split.0[index].0, index)
            }
        }
    }
}
