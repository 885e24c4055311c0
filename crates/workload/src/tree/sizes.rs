//! How large files are: a size, a range, or a split by weight.

use units::Bytes;

use crate::Streams;
use crate::rng::mix64;
use crate::spec::SizeSplit;

/// How large files are.
#[derive(Clone, Debug, PartialEq)]
pub enum FileSizes {
    /// Any number of bytes between the two, ends included, each as likely as the others.
    Range {
        /// The smallest.
        least: Bytes,
        /// The largest.
        most: Bytes,
    },
    /// A few sizes and their weights.
    Split(SizeSplit),
}

impl FileSizes {
    /// One size always. Files may be empty.
    pub const fn one(size: Bytes) -> FileSizes {
        FileSizes::Range { least: size, most: size }
    }

    /// The largest.
    pub fn largest(&self) -> Bytes {
        match self {
            FileSizes::Range { most, .. } => *most,
            FileSizes::Split(split) => split.largest(),
        }
    }

    /// The mean.
    pub fn mean(&self) -> f64 {
        match self {
            FileSizes::Range { least, most } => (least.as_f64() + most.as_f64()) / 2.0,
            FileSizes::Split(split) => {
                let total: f64 = split.0.iter().map(|(_, weight)| weight).sum();
                split.0.iter().map(|(size, weight)| size.as_f64() * weight / total).sum()
            }
        }
    }

    /// The sizes that are told apart in a record: each of a few, or zero where they vary.
    pub fn told_apart(&self) -> Vec<Bytes> {
        match self {
            FileSizes::Range { least, most } if least == most => vec![*least],
            FileSizes::Range { .. } => vec![Bytes::ZERO],
            FileSizes::Split(split) => split.0.iter().map(|(size, _)| *size).collect(),
        }
    }

    /// What is drawn for each file of one worker.
    pub fn draw(&self, streams: Streams, worker: u32) -> DrawnSizes {
        let total = match self {
            FileSizes::Split(split) => split.0.iter().map(|(_, weight)| weight).sum(),
            FileSizes::Range { .. } => 0.0,
        };
        DrawnSizes { sizes: self.clone(), total, key: streams.key(&format!("tree/sizes/{worker}")) }
    }
}

/// The size of each file of one worker. The same file has the same size whatever is done to it.
#[derive(Clone, Debug)]
pub struct DrawnSizes {
    sizes: FileSizes,
    total: f64,
    key: u64,
}

impl DrawnSizes {
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
