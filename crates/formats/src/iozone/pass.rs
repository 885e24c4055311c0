//! The passes of IOzone's single stream, in the order in which they are made and printed.

/// One timed pass over a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "each is what IOzone calls it")]
pub enum Pass {
    Write,
    Rewrite,
    Read,
    Reread,
    RandomRead,
    RandomWrite,
    BackwardRead,
    RecordRewrite,
    StrideRead,
    Fwrite,
    Frewrite,
    Fread,
    Freread,
    Pwrite,
    Repwrite,
    Pread,
    Repread,
    Pwritev,
    Repwritev,
    Preadv,
    Repreadv,
}

/// Where a pass goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Walk {
    /// From the first record to the last.
    Forwards,
    /// From the last to the first.
    Backwards,
    /// Each record once, in no order.
    Random,
    /// The same record over and over.
    SameRecord,
    /// In steps of so many records.
    Strided,
}

/// What is fixed of a pass: the number of its test (`-i`), its name in a plan, its report of `-R`, whether it writes,
/// where it goes.
struct Traits {
    pass: Pass,
    test: u8,
    name: &'static str,
    report: &'static str,
    writes: bool,
    walk: Walk,
}

const fn traits(
    pass: Pass,
    test: u8,
    name: &'static str,
    report: &'static str,
    writes: bool,
    walk: Walk,
) -> Traits {
    Traits { pass, test, name, report, writes, walk }
}

const ALL: [Traits; 21] = [
    traits(Pass::Write, 0, "write", "Writer report", true, Walk::Forwards),
    traits(Pass::Rewrite, 0, "rewrite", "Re-writer report", true, Walk::Forwards),
    traits(Pass::Read, 1, "read", "Reader report", false, Walk::Forwards),
    traits(Pass::Reread, 1, "reread", "Re-Reader report", false, Walk::Forwards),
    traits(Pass::RandomRead, 2, "random read", "Random read report", false, Walk::Random),
    traits(Pass::RandomWrite, 2, "random write", "Random write report", true, Walk::Random),
    traits(Pass::BackwardRead, 3, "backward read", "Backward read report", false, Walk::Backwards),
    traits(Pass::RecordRewrite, 4, "record rewrite", "Record rewrite report", true, Walk::SameRecord),
    traits(Pass::StrideRead, 5, "stride read", "Stride read report", false, Walk::Strided),
    traits(Pass::Fwrite, 6, "fwrite", "Fwrite report", true, Walk::Forwards),
    traits(Pass::Frewrite, 6, "frewrite", "Re-Fwrite report", true, Walk::Forwards),
    traits(Pass::Fread, 7, "fread", "Fread report", false, Walk::Forwards),
    traits(Pass::Freread, 7, "freread", "Re-Fread report", false, Walk::Forwards),
    traits(Pass::Pwrite, 9, "pwrite", "Pwrite report", true, Walk::Forwards),
    traits(Pass::Repwrite, 9, "repwrite", "Re-Pwrite report", true, Walk::Forwards),
    traits(Pass::Pread, 10, "pread", "Pread report", false, Walk::Forwards),
    traits(Pass::Repread, 10, "repread", "Re-Pread report", false, Walk::Forwards),
    traits(Pass::Pwritev, 11, "pwritev", "Pwritev report", true, Walk::Forwards),
    traits(Pass::Repwritev, 11, "repwritev", "Re-Pwritev report", true, Walk::Forwards),
    traits(Pass::Preadv, 12, "preadv", "Preadv report", false, Walk::Forwards),
    traits(Pass::Repreadv, 12, "repreadv", "Re-Preadv report", false, Walk::Forwards),
];

/// The columns in which figures end.
const ENDS: [usize; ALL.len()] =
    [34, 44, 54, 64, 74, 84, 94, 105, 116, 126, 136, 146, 156, 166, 176, 186, 196, 206, 216, 226, 236];

const _: () = {
    let mut at = 0;
    while at < ALL.len() {
        assert!(ALL[at].pass as usize == at, "a pass stands at its own place");
        assert!(at == 0 || ENDS[at - 1] < ENDS[at], "columns follow each other");
        assert!(ALL[at].test <= super::TESTS_MAX, "a pass is of a test that can be chosen");
        at += 1;
    }
};

impl Pass {
    /// All of them, in their order.
    pub fn all() -> impl Iterator<Item = Pass> {
        ALL.iter().map(|traits| traits.pass)
    }

    /// The pass of that name in a plan.
    pub fn named(name: &str) -> Option<Pass> {
        ALL.iter().find(|traits| traits.name == name).map(|traits| traits.pass)
    }

    fn traits(self) -> &'static Traits {
        &ALL[self as usize]
    }

    /// The number of its test.
    pub fn test(self) -> u8 {
        self.traits().test
    }

    /// Its name in a plan.
    pub fn name(self) -> &'static str {
        self.traits().name
    }

    /// The heading of its report.
    pub fn report(self) -> &'static str {
        self.traits().report
    }

    /// Whether it writes; otherwise it reads.
    pub fn writes(self) -> bool {
        self.traits().writes
    }

    /// Where it goes.
    pub fn walk(self) -> Walk {
        self.traits().walk
    }

    /// Whether it begins with an empty file.
    pub fn begins_anew(self) -> bool {
        matches!(self, Pass::Write | Pass::Fwrite)
    }

    /// Whether it is the second of its kind, which `-+n` leaves out.
    pub fn is_retest(self) -> bool {
        match self {
            Pass::RandomRead | Pass::RandomWrite => false,
            _ => {
                let index = self as usize;
                index > 0 && ALL[index - 1].test == self.test()
            }
        }
    }

    /// Whether the records go through one vector call each.
    pub fn is_vectored(self) -> bool {
        matches!(self.test(), 11 | 12)
    }

    /// Whether it is made through stdio, which knows no asynchronous I/O and no mapping.
    pub fn is_stdio(self) -> bool {
        matches!(self.test(), 6 | 7)
    }

    /// The column in which its figure ends.
    pub(super) fn column_end(self) -> usize {
        ENDS[self as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_pass_is_found_by_its_name() {
        for traits in &ALL {
            assert_eq!(Pass::named(traits.name), Some(traits.pass));
        }
        let retests: Vec<_> = Pass::all().filter(|pass| pass.is_retest()).map(Pass::name).collect();
        let expected =
            ["rewrite", "reread", "frewrite", "freread", "repwrite", "repread", "repwritev", "repreadv"];
        assert_eq!(retests, expected);
    }
}
