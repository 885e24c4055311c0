//! Requests of several kinds: which kind comes next, and what it asks.
//!
//! **Invariant:** which line, operation, size and place come next depends on seed and specification alone; each
//! line draws from streams of its own, so that a line more or less shifts nothing within the others.

use units::convert::narrow;
use units::{Bytes, Nanos, Share};

use crate::Op;
use crate::address::{Go, Step};
use crate::choice::Choice;
use crate::rng::Stream;
use crate::spec::{Line, SizeSplit};

/// One kind of requests, compiled for a worker.
#[derive(Clone, Debug, PartialEq)]
pub struct JobLine {
    /// What was asked.
    pub line: Line,
    /// Part that goes to a place that the pattern draws; `None` where no request goes on from the last.
    pub jumps: Option<Share>,
    /// After each that does, so many in all follow each other; at least 1.
    pub consecutive: u32,
    /// Those that follow go where it went; where none goes to a place that is drawn, each request of the stream is followed so.
    pub repeat_offset: bool,
    /// Offsets are multiples of this; not zero.
    pub align: Bytes,
}

/// Draws the requests of a workload with several kinds of them.
#[derive(Debug)]
pub(crate) struct Lines {
    line: Choice<u16>,
    kinds: Vec<Kind>,
    current: u16,
    /// Requests of the burst that are still to come from the current line.
    left: u32,
}

/// What a line draws from.
#[derive(Debug)]
struct Kind {
    ops: Choice<Op>,
    /// Positions in the sizes of all lines, and lengths.
    sizes: Choice<(u16, u32)>,
    jumps: Choice<bool>,
    consecutive: u32,
    repeat_offset: bool,
    /// Whether they do so although it did not jump.
    repeats_stream: bool,
    /// Requests that are still to follow the last one that jumped.
    following: u32,
    align: u64,
    burst: u32,
    delay: Nanos,
}

/// One request as drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Drawn {
    /// What.
    pub op: Op,
    /// The position of its size among all sizes.
    pub size: u16,
    /// How long.
    pub len: u32,
    /// How it is placed, where requests differ in that.
    pub step: Option<Step>,
    /// The pause before the request after this one, where a burst has ended.
    pub pause: Nanos,
}

impl Lines {
    /// The lines of a worker, whose operations come in turn where they are to be `even`. `all` are the sizes of all lines
    /// together; `stream` opens a stream by its purpose.
    pub(crate) fn new(
        lines: &[JobLine],
        all: &SizeSplit,
        even: bool,
        stream: impl Fn(&str) -> Stream,
    ) -> Option<Lines> {
        if lines.is_empty() {
            return None;
        }
        let weights: Vec<(u16, f64)> =
            (0u16..).zip(lines).map(|(index, kind)| (index, kind.line.weight)).collect();
        assert!(
            lines.iter().all(|line| line.line.burst > 0 && line.consecutive > 0),
            "a line that is drawn brings a request"
        );
        let kind = |(index, line): (usize, &JobLine)| {
            let own = |purpose: &str| stream(&format!("{purpose}{index}"));
            let jumps = line.jumps.unwrap_or(Share::ALL).get();
            Kind {
                ops: Choice::of_ops(line.line.mix, even, own("op")),
                sizes: Choice::new(&positions(&line.line.sizes, all), own("size")),
                jumps: Choice::new(&[(true, jumps), (false, 1.0 - jumps)], own("jump")),
                consecutive: line.consecutive,
                repeat_offset: line.repeat_offset,
                repeats_stream: line.repeat_offset && jumps == 0.0,
                following: 0,
                align: line.align.get(),
                burst: line.line.burst,
                delay: line.line.delay,
            }
        };
        let kinds: Vec<Kind> = lines.iter().enumerate().map(kind).collect();
        let mut lines = Lines { line: Choice::new(&weights, stream("line")), kinds, current: 0, left: 0 };
        lines.begin_burst();
        Some(lines)
    }

    /// Whether any line pauses between its bursts.
    pub(crate) fn pause(lines: &[JobLine]) -> bool {
        lines.iter().any(|kind| !kind.line.delay.is_zero())
    }

    /// The pause before the very first request.
    pub(crate) fn first_pause(&self) -> Nanos {
        self.kinds[usize::from(self.current)].delay
    }

    /// The next request.
    #[inline]
    pub(crate) fn next(&mut self) -> Drawn {
        let kind = &mut self.kinds[usize::from(self.current)];
        let op = kind.ops.next();
        let (size, len) = if op == Op::Flush { (0, 0) } else { kind.sizes.next() };
        let go = if op == Op::Flush { Go::On } else { kind.go() };
        let step = Some(Step { go, align: kind.align });
        self.left -= 1;
        let pause = if self.left == 0 { self.begin_burst() } else { Nanos::ZERO };
        Drawn { op, size, len, step, pause }
    }

    /// Draws the line of the next burst; gives the pause before it.
    #[inline]
    fn begin_burst(&mut self) -> Nanos {
        self.current = self.line.next();
        let kind = &self.kinds[usize::from(self.current)];
        self.left = kind.burst;
        kind.delay
    }
}

impl Kind {
    /// Where the next request goes.
    #[inline]
    fn go(&mut self) -> Go {
        if self.following > 0 {
            self.following -= 1;
            return if self.repeat_offset { Go::Nowhere } else { Go::On };
        }
        let jumps = self.jumps.next();
        self.following = if jumps || self.repeats_stream { self.consecutive - 1 } else { 0 };
        if jumps { Go::Elsewhere } else { Go::On }
    }
}

/// The sizes of one line by their position among all, with their weights.
fn positions(own: &SizeSplit, all: &SizeSplit) -> Vec<((u16, u32), f64)> {
    let known = |size: &Bytes| all.0.iter().position(|(known, _)| known == size);
    let entry = |(size, weight): &(Bytes, f64)| {
        let position = narrow::<u16>(known(size).expect("the sizes of all lines are the workload's"));
        let length = u32::try_from(size.get()).expect("the plan has checked that a size is below 2 GiB");
        ((position, length), *weight)
    };
    own.0.iter().map(entry).collect()
}
