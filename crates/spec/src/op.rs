//! What one request asks for.

/// What one request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Op {
    /// Fetch `len` bytes.
    Read,
    /// Store `len` bytes.
    Write,
    /// Declare `len` bytes unused.
    Trim,
    /// Make what was written durable.
    Flush,
}

impl Op {
    /// All of them, in the order of their numbers.
    pub const ALL: [Op; 4] = [Op::Read, Op::Write, Op::Trim, Op::Flush];

    /// The word used in plans, records and tables.
    pub const fn name(self) -> &'static str {
        match self {
            Op::Read => "read",
            Op::Write => "write",
            Op::Trim => "trim",
            Op::Flush => "flush",
        }
    }
}
