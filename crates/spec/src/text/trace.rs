//! The texts of how a trace is asked again.

use std::fmt::{self, Display};
use std::str::FromStr;

use super::{TextError, listed, wrong};
use crate::Op;

/// How many times faster or slower; 0.001 to 1000.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Factor(pub f64);

/// Operations; none of them is `none`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpList(pub Vec<Op>);

/// An operation that moves or gives up data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataOp(pub Op);

impl FromStr for DataOp {
    type Err = TextError;

    fn from_str(text: &str) -> Result<DataOp, TextError> {
        match [Op::Read, Op::Write, Op::Trim].into_iter().find(|op| op.name() == text.trim()) {
            Some(op) => Ok(DataOp(op)),
            None => {
                wrong(format!("`{text}` is not an operation that moves data"), "read, write, trim or none")
            }
        }
    }
}

impl Display for Factor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for Factor {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Factor, TextError> {
        match text.trim().parse::<f64>() {
            Ok(factor) if (0.001..=1000.0).contains(&factor) => Ok(Factor(factor)),
            _ => wrong(format!("`{text}` is not a factor"), "a number from 0.001 to 1000, such as 2 or 0.5"),
        }
    }
}

impl Display for OpList {
    /// `write, trim`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0[..] {
            [] => f.write_str("none"),
            _ => f.write_str(&listed(&self.0, |op| op.name().to_owned())),
        }
    }
}

impl FromStr for OpList {
    type Err = TextError;

    fn from_str(text: &str) -> Result<OpList, TextError> {
        if text.trim() == "none" {
            return Ok(OpList(Vec::new()));
        }
        let mut ops = Vec::new();
        for word in text.split(',').map(str::trim) {
            match Op::ALL.iter().find(|op| op.name() == word) {
                Some(op) if !ops.contains(op) => ops.push(*op),
                Some(_) => {}
                None => {
                    return wrong(
                        format!("`{word}` is not an operation"),
                        "a list of read, write, trim and flush, or none",
                    );
                }
            }
        }
        Ok(OpList(ops))
    }
}
