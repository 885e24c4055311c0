//! What one request asks for.

use crate::tree::FileOp;

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

// A packed request names its operation by its place.
const _: () = {
    let mut at = 0;
    while at < Op::ALL.len() {
        assert!(Op::ALL[at] as usize == at, "an operation stands in the place of another");
        at += 1;
    }
};

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

/// What a request did: something to blocks, or something to a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Action {
    /// To blocks.
    Block(Op),
    /// To a file or directory.
    File(FileOp),
}

impl Action {
    /// The word used in records and tables.
    pub const fn name(self) -> &'static str {
        match self {
            Action::Block(op) => op.name(),
            Action::File(op) => op.name(),
        }
    }
}

impl PartialEq<Op> for Action {
    fn eq(&self, op: &Op) -> bool {
        *self == Action::Block(*op)
    }
}

impl From<Op> for Action {
    fn from(op: Op) -> Action {
        Action::Block(op)
    }
}
