//! How large files are: a size, a range, or a split by weight.

use units::Bytes;

use crate::SizeSplit;

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
            FileSizes::Range { least, most } => {
                debug_assert!(least <= most, "sizes from {least} down to {most}");
                (least.as_f64() + most.as_f64()) / 2.0
            }
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
}
