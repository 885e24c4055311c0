//! The tests of IOzone's throughput mode, in their order.

use super::pass::Walk;

/// One test of several children, each with a file of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Test {
    /// What `-i` takes for it.
    pub number: u8,
    /// As it stands in the lines of results.
    pub label: &'static str,
    /// As it stands in the report of `-R`, 16 characters wide.
    pub row: &'static str,
    /// What the children do.
    pub does: Does,
    /// Where they go.
    pub walk: Walk,
    /// Counts are two characters wide in its lines.
    wide: bool,
    /// Between the label and the equals sign.
    tabs: &'static str,
}

/// What the children of a test do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Does {
    /// They write a file that is new.
    WriteAnew,
    /// They write what is there.
    Rewrite,
    /// They read.
    Read,
    /// Some read, the others write.
    Both,
}

const fn test(
    number: u8,
    label: &'static str,
    row: &'static str,
    does: Does,
    walk: Walk,
    (wide, tabs): (bool, &'static str),
) -> Test {
    Test { number, label, row, does, walk, wide, tabs }
}

const ONE: (bool, &str) = (false, "\t");
const WIDE: (bool, &str) = (true, "\t");
const WIDE_SHORT: (bool, &str) = (true, "\t\t");

/// All of them.
pub const TESTS: [Test; 13] = [
    test(0, "initial writers", "  Initial write ", Does::WriteAnew, Walk::Forwards, WIDE),
    test(0, "rewriters", "        Rewrite ", Does::Rewrite, Walk::Forwards, WIDE),
    test(1, "readers", "           Read ", Does::Read, Walk::Forwards, WIDE_SHORT),
    test(1, "re-readers", "        Re-read ", Does::Read, Walk::Forwards, ONE),
    test(3, "reverse readers", "   Reverse Read ", Does::Read, Walk::Backwards, ONE),
    test(5, "stride readers", "    Stride read ", Does::Read, Walk::Strided, ONE),
    test(2, "random readers", "    Random read ", Does::Read, Walk::Random, ONE),
    test(8, "mixed workload", " Mixed workload ", Does::Both, Walk::Random, ONE),
    test(2, "random writers", "   Random write ", Does::Rewrite, Walk::Random, ONE),
    test(9, "pwrite writers", "         Pwrite ", Does::Rewrite, Walk::Forwards, ONE),
    test(10, "pread readers", "          Pread ", Does::Read, Walk::Forwards, ONE),
    test(6, "fwriters", "         Fwrite ", Does::WriteAnew, Walk::Forwards, WIDE_SHORT),
    test(7, "freaders", "          Fread ", Does::Read, Walk::Forwards, WIDE_SHORT),
];

impl Test {
    /// `Children see throughput for  2 initial writers`, for any beginning, with what goes before the equals sign.
    pub(super) fn line(&self, who: &str, children: u32) -> String {
        let Test { label, tabs, .. } = self;
        match self.wide {
            true => format!("\t{who} throughput for {children:2} {label} {tabs}"),
            false => format!("\t{who} throughput for {children} {label} {tabs}"),
        }
    }

    /// Whether it is a second one, which `-+n` leaves out.
    pub fn is_retest(&self) -> bool {
        matches!(self.label, "rewriters" | "re-readers")
    }

    /// Whether its children write their files from the first byte to the last, so that these need not be there.
    pub fn writes_all(&self) -> bool {
        self.does == Does::WriteAnew || self.number == 9
    }

    /// Whether it goes through stdio, which knows no asynchronous I/O and no mapping.
    pub fn is_stdio(&self) -> bool {
        matches!(self.number, 6 | 7)
    }

    /// The name of the phase that makes it.
    pub(super) fn phase_name(&self, children: u32) -> String {
        format!("{children} {}", self.label)
    }

    /// The test and its children by the name of the phase.
    pub(super) fn named(phase: &str) -> Option<(u32, &'static Test)> {
        let (children, label) = phase.split_once(' ')?;
        Some((children.parse().ok()?, TESTS.iter().find(|test| test.label == label)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_sixteen_wide_and_names_lead_back() {
        for test in &TESTS {
            assert_eq!(test.row.len(), 16, "{}", test.label);
            assert_eq!(Test::named(&test.phase_name(12)), Some((12, test)));
        }
        assert_eq!(TESTS[2].line("Children see", 2), "\tChildren see throughput for  2 readers \t\t");
        assert_eq!(TESTS[3].line("Parent sees", 2), "\tParent sees throughput for 2 re-readers \t");
    }
}
