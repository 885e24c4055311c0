//! Why a size, a duration, a rate or a share could not be read.

/// What was typed, and what would have been right.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnitError {
    /// No digits at the start.
    #[error("`{text}` is not a {what}; write a number and a unit, such as {example}")]
    NotANumber {
        /// What was typed.
        text: String,
        /// Size, duration, rate or share.
        what: &'static str,
        /// A value that would have been read.
        example: &'static str,
    },
    /// A bare number where peers differ about the unit.
    #[error("`{text}` has no unit; write a {what} such as {example}")]
    NoUnit {
        /// What was typed.
        text: String,
        /// Size, duration, rate or share.
        what: &'static str,
        /// The same number with a unit.
        example: String,
    },
    /// A unit that is not one of the kind's.
    #[error("`{unit}` in `{text}` is not a unit of {what}; use one of {known}")]
    UnknownUnit {
        /// What was typed.
        text: String,
        /// The part that was not understood.
        unit: String,
        /// Size, duration, rate or share.
        what: &'static str,
        /// The units that are.
        known: &'static str,
    },
    /// Not a whole number of the smallest unit, or too large for 64 bits.
    #[error("`{text}` is not a whole number of {smallest}, or is above 64 bits of them")]
    NotWhole {
        /// What was typed.
        text: String,
        /// Bytes or nanoseconds.
        smallest: &'static str,
    },
    /// Outside what the kind can hold.
    #[error("`{text}` is outside {range}")]
    OutOfRange {
        /// What was typed.
        text: String,
        /// The range in words.
        range: &'static str,
    },
}
