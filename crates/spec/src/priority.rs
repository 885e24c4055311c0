//! I/O priorities, as of ioprio_set(2), and which part of the requests has which.

use std::fmt;
use std::str::FromStr;

use units::{Bytes, Share};

use crate::Op;
use crate::text::{SHARE_SLACK, TextError, share_text, unit};
use crate::words;

/// The class of an I/O priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PriorityClass {
    /// Before all others.
    RealTime,
    /// What is usual.
    BestEffort,
    /// When nobody else asks.
    Idle,
}

words!(PriorityClass, "a class of priorities",
    PriorityClass::RealTime => "rt", PriorityClass::BestEffort => "be", PriorityClass::Idle => "idle");

/// The largest level, the least of its class.
pub const LEAST_LEVEL: u8 = 7;
/// The largest hint that the kernel has room for.
pub const MOST_HINT: u16 = 1023;

/// An I/O priority: `rt/0`, `be/4/1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IoPriority {
    /// Its class.
    pub class: PriorityClass,
    /// Within the class, from 0, the highest, to [`LEAST_LEVEL`].
    pub level: u8,
    /// Hint to the device, such as the number of a command duration limit; 0 for none.
    pub hint: u16,
}

impl IoPriority {
    /// As the kernel takes it: the class in its upper three bits, then the hint, then the level.
    ///
    /// Source: include/uapi/linux/ioprio.h.
    pub fn bits(self) -> u16 {
        debug_assert!(self.level <= LEAST_LEVEL && self.hint <= MOST_HINT, "{self} has no room");
        let class = match self.class {
            PriorityClass::RealTime => 1,
            PriorityClass::BestEffort => 2,
            PriorityClass::Idle => 3,
        };
        (class << 13) | (self.hint << 3) | u16::from(self.level)
    }
}

impl fmt::Display for IoPriority {
    /// The text that `FromStr` reads back.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.class, self.level)?;
        if self.hint > 0 { write!(f, "/{}", self.hint) } else { Ok(()) }
    }
}

impl FromStr for IoPriority {
    type Err = TextError;

    fn from_str(text: &str) -> Result<IoPriority, TextError> {
        let mut parts = text.trim().splitn(3, '/');
        let class = parts.next().unwrap_or_default().parse()?;
        let mut figure = |most: u16| match parts.next() {
            None => Ok(0),
            Some(part) => part.parse::<u16>().ok().filter(|figure| *figure <= most).ok_or_else(|| odd(text)),
        };
        let level = figure(u16::from(LEAST_LEVEL))?;
        Ok(IoPriority { class, level: u8::try_from(level).unwrap_or(LEAST_LEVEL), hint: figure(MOST_HINT)? })
    }
}

fn odd(text: &str) -> TextError {
    TextError {
        message: format!("`{text}` is not an I/O priority"),
        help: "a class and a level from 0, the highest, to 7: `rt/0`, `be/4`, `idle`".into(),
    }
}

/// Which requests have a priority of their own.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PriorityRule {
    /// So many of those that are meant.
    pub share: Share,
    /// Those that read, or those that write; both without it.
    pub op: Option<Op>,
    /// Those of that size; all without it.
    pub size: Option<Bytes>,
    /// What they have.
    pub priority: IoPriority,
}

impl PriorityRule {
    /// Whether a request of `len` bytes is one of those that are meant.
    pub fn is_for(&self, op: Op, len: u32) -> bool {
        matches!(op, Op::Read | Op::Write)
            && self.op.is_none_or(|its| its == op)
            && self.size.is_none_or(|size| size.get() == u64::from(len))
    }

    /// Whether all requests that `other` means are meant.
    fn holds(&self, other: &PriorityRule) -> bool {
        (self.op.is_none() || self.op == other.op) && (self.size.is_none() || self.size == other.size)
    }
}

impl fmt::Display for PriorityRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", share_text(self.share))?;
        if let Some(op) = self.op {
            write!(f, " of {op}s", op = op.name())?;
        }
        if let Some(size) = self.size {
            write!(f, " of {}", size.exact())?;
        }
        write!(f, " {}", self.priority)
    }
}

impl FromStr for PriorityRule {
    type Err = TextError;

    fn from_str(text: &str) -> Result<PriorityRule, TextError> {
        let wrong = || TextError {
            message: format!("`{}` does not say which requests have which priority", text.trim()),
            help: "a share, which of them, and a priority: `20% rt/0`, `25% of reads of 64KiB be/1`".into(),
        };
        let words: Vec<&str> = text.split_whitespace().collect();
        let [share, of @ .., priority] = &words[..] else { return Err(wrong()) };
        let mut rule =
            PriorityRule { share: unit(share)?, op: None, size: None, priority: priority.parse()? };
        let mut of = of;
        if let ["of", what @ ("reads" | "writes"), rest @ ..] = of {
            rule.op = Some(if *what == "reads" { Op::Read } else { Op::Write });
            of = rest;
        }
        if let ["of", size, rest @ ..] = of {
            rule.size = Some(unit(size)?);
            of = rest;
        }
        if of.is_empty() { Ok(rule) } else { Err(wrong()) }
    }
}

/// The rules of a workload, which are at most all requests of every kind; none is `none`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Priorities(pub Vec<PriorityRule>);

impl fmt::Display for Priorities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("none");
        }
        f.write_str(&self.0.iter().map(PriorityRule::to_string).collect::<Vec<_>>().join(", "))
    }
}

impl FromStr for Priorities {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Priorities, TextError> {
        if text.trim() == "none" {
            return Ok(Priorities::default());
        }
        let rules: Vec<PriorityRule> = text.split(',').map(str::parse).collect::<Result<_, _>>()?;
        let sum = |rule: &PriorityRule| {
            rules.iter().filter(|other| other.holds(rule)).map(|other| other.share.get()).sum::<f64>()
        };
        match rules.iter().find(|rule| sum(rule) > 1.0 + SHARE_SLACK) {
            None => Ok(Priorities(rules)),
            Some(rule) => Err(TextError {
                message: format!("more than all of the requests of `{rule}` have a priority"),
                help: "shares of the same requests sum to 100% at most".into(),
            }),
        }
    }
}

/// How long the data of writes is said to live, as of fcntl(2), F_SET_RW_HINT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteHint {
    /// Not long.
    Short,
    /// Longer.
    Medium,
    /// Longer still.
    Long,
    /// For ever.
    Extreme,
}

words!(WriteHint, "a lifetime of written data",
    WriteHint::Short => "short", WriteHint::Medium => "medium", WriteHint::Long => "long",
    WriteHint::Extreme => "extreme");

/// What the kernel is told of each request, as flags of preadv2(2).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RequestFlags {
    /// A write is not torn, whatever fails (RWF_ATOMIC).
    pub atomic: bool,
    /// What would wait fails at once (RWF_NOWAIT).
    pub nowait: bool,
    /// The page cache keeps nothing of it (RWF_DONTCACHE).
    pub uncached: bool,
    /// The part of the reads and writes whose completion the caller polls for (RWF_HIPRI).
    pub polled: Share,
}

impl RequestFlags {
    /// None of them.
    pub const NONE: RequestFlags =
        RequestFlags { atomic: false, nowait: false, uncached: false, polled: Share::NONE };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_priority_is_what_the_kernel_takes() {
        let bits = |text: &str| text.parse::<IoPriority>().unwrap().bits();
        assert_eq!(bits("rt/0"), 0x2000);
        assert_eq!(bits("be/4"), 0x4004);
        assert_eq!(bits("idle"), 0x6000);
        assert_eq!(bits("be/0/3"), 0x4000 | 3 << 3);
        for text in ["", "rt/8", "be/x", "high", "be/0/1024"] {
            assert!(text.parse::<IoPriority>().is_err(), "{text}");
        }
    }

    #[test]
    fn rules_read_back_and_mean_some_requests() {
        let text = "25% of reads of 64KiB rt/1, 75% of reads of 64KiB idle/2, 10% of writes be/0/1";
        let rules: Priorities = text.parse().unwrap();
        assert_eq!(rules.to_string(), text);
        assert!(rules.0[0].is_for(Op::Read, 65_536) && !rules.0[0].is_for(Op::Read, 4096));
        assert!(rules.0[2].is_for(Op::Write, 4096) && !rules.0[2].is_for(Op::Flush, 0));
        assert_eq!("none".parse(), Ok(Priorities::default()));
        assert!("60% rt/0, 50% of reads idle".parse::<Priorities>().is_err(), "110 % of the reads");
        assert!("rt/0".parse::<Priorities>().is_err());
    }
}
