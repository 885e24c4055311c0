//! Which worker visits which of the files or directories of a tree.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use crate::text::{TextError, call, unknown, wrong};

/// The furthest that a share may be from the worker that visits it.
const FURTHEST: u32 = 1_000_000;

/// Which worker visits what. Whoever visits it, a file is that of the worker whose share it is in: its name says so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Visitors {
    /// Each its own share.
    #[default]
    Own,
    /// Each the share of the worker so many places after it.
    Shifted(u32),
    /// The first worker the shares of all; the others nothing.
    First,
    /// Each of them the shares of all.
    All,
}

impl Visitors {
    /// The workers of whom `worker` visits the shares, where there are so many.
    pub fn owners(self, worker: u32, workers: u32) -> Range<u32> {
        let workers = workers.max(1);
        assert!(worker < workers, "worker {worker} of {workers}");
        match self {
            Visitors::Own => worker..worker + 1,
            Visitors::Shifted(places) => {
                let owner = (u64::from(worker) + u64::from(places)) % u64::from(workers);
                let owner = u32::try_from(owner).expect("it is below a number of 32 bits");
                owner..owner + 1
            }
            Visitors::First if worker > 0 => 0..0,
            Visitors::First | Visitors::All => 0..workers,
        }
    }
}

impl fmt::Display for Visitors {
    /// `own`, `shifted(2)`, `first` or `all`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Visitors::Own => f.write_str("own"),
            Visitors::Shifted(places) => write!(f, "shifted({places})"),
            Visitors::First => f.write_str("first"),
            Visitors::All => f.write_str("all"),
        }
    }
}

impl FromStr for Visitors {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Visitors, TextError> {
        match call(text)? {
            ("own", None) => Ok(Visitors::Own),
            ("first", None) => Ok(Visitors::First),
            ("all", None) => Ok(Visitors::All),
            ("shifted", Some(places)) => match places.parse() {
                Ok(places @ 0..=FURTHEST) => Ok(Visitors::Shifted(places)),
                _ => wrong(
                    format!("`{places}` is not a number of workers"),
                    format!("0 to {FURTHEST}: shifted(1)"),
                ),
            },
            _ => unknown(text, "a choice of visitors", &["own", "shifted(1)", "first", "all"]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_share_has_its_visitor() {
        let of = |visitors: Visitors| (0..3).map(|worker| visitors.owners(worker, 3)).collect::<Vec<_>>();
        assert_eq!(of(Visitors::Own), [0..1, 1..2, 2..3]);
        assert_eq!(of(Visitors::Shifted(4)), [1..2, 2..3, 0..1]);
        assert_eq!(of(Visitors::First), [0..3, 0..0, 0..0]);
        assert_eq!(of(Visitors::All), [0..3, 0..3, 0..3]);
    }

    #[test]
    fn visitors_read_what_they_write() {
        for visitors in [Visitors::Own, Visitors::Shifted(2), Visitors::First, Visitors::All] {
            assert_eq!(visitors.to_string().parse(), Ok(visitors));
        }
        assert!("shifted(-1)".parse::<Visitors>().unwrap_err().to_string().contains("not a number"));
        assert!("second".parse::<Visitors>().unwrap_err().to_string().contains("visitors"));
    }
}
