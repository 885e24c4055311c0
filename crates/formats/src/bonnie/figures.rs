//! The twelve figures of a test, from the points of a record.

use record::{Op, Point, WorkloadResult};
use units::Share;
use units::convert::truncated;
use workload::spec::{EngineKind, Pattern};
use workload::tree::{FileOp, Order};

/// One test, in the order in which they are carried out and printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Test {
    /// Writing a character at a time.
    Putc,
    /// Writing blocks.
    Write,
    /// Reading blocks and writing each back.
    Rewrite,
    /// Reading a character at a time.
    Getc,
    /// Reading blocks.
    Read,
    /// Blocks anywhere, every tenth of them written back.
    Seeks,
    /// Making files, in the order of their names.
    Create,
    /// Asking for them, and reading what they hold.
    Stat,
    /// Removing them.
    Delete,
    /// The same, their names being random.
    RandomCreate,
    /// Likewise.
    RandomStat,
    /// Likewise.
    RandomDelete,
}

/// All of them in their order, and what phases of an order are called.
pub(super) const TESTS: [(Test, &str); 12] = [
    (Test::Putc, "write characters"),
    (Test::Write, "write blocks"),
    (Test::Rewrite, "rewrite"),
    (Test::Getc, "read characters"),
    (Test::Read, "read blocks"),
    (Test::Seeks, "seeks"),
    (Test::Create, "create"),
    (Test::Stat, "stat"),
    (Test::Delete, "delete"),
    (Test::RandomCreate, "create in random order"),
    (Test::RandomStat, "stat in random order"),
    (Test::RandomDelete, "delete in random order"),
];

stand_in_place!(TESTS, 0, "a test stands at its own place");
const _: () =
    assert!(super::SEMAPHORES.1.cast_unsigned() as usize == TESTS.len(), "each test has a semaphore");

impl Test {
    /// The name of its phase.
    pub const fn phase(self) -> &'static str {
        TESTS[self as usize].1
    }

    /// The test of a phase of that name; `None` for what comes between tests.
    pub fn of_phase(name: &str) -> Option<Test> {
        TESTS.into_iter().find(|(_, phase)| *phase == name).map(|(test, _)| test)
    }

    /// Whether KiB are counted, not requests.
    pub(super) const fn counts_bytes(self) -> bool {
        (self as usize) < Test::Seeks as usize
    }

    /// What `point` measured, if it is one of the tests: by what was asked, whatever it is called.
    fn of(workload: &WorkloadResult) -> Option<Test> {
        let asked = &workload.spec;
        let ops = |op: Op| -> u64 {
            workload.classes.iter().filter(|class| class.op == op).map(|class| class.ops).sum()
        };
        if let Some(tree) = &asked.tree {
            let test = match tree.op {
                FileOp::Create => Test::Create,
                FileOp::Stat | FileOp::Read => Test::Stat,
                FileOp::Delete => Test::Delete,
                _ => return None,
            };
            let later = if tree.order == Order::Random { 3 } else { 0 };
            return TESTS.get(test as usize + later).map(|(test, _)| *test);
        }
        let (reads, writes) = (ops(Op::Read), ops(Op::Write));
        let is_characters = asked.engine.kind == EngineKind::Stdio
            || workload.classes.iter().any(|class| class.size_bytes == 1);
        match (&asked.pattern, reads > 0, writes > 0) {
            (Pattern::Sequential, false, true) if is_characters => Some(Test::Putc),
            (Pattern::Sequential, true, false) if is_characters => Some(Test::Getc),
            (Pattern::Sequential, false, true) => Some(Test::Write),
            (Pattern::Sequential, true, false) => Some(Test::Read),
            (Pattern::Sequential, true, true) if asked.rewrites == Share::ALL => Some(Test::Rewrite),
            (pattern, true, _) if is_random(pattern) && asked.mix.reads == Share::ALL => Some(Test::Seeks),
            _ => None,
        }
    }
}

/// Whether each request goes to any place of the span.
pub(super) fn is_random(pattern: &Pattern) -> bool {
    matches!(pattern, Pattern::Random | Pattern::RandomWithRepeats)
}

/// A rate with the processor time that it took.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figure {
    /// KiB or requests a second.
    pub per_second: f64,
    /// How long it took.
    pub seconds: f64,
    /// Processor time of its point; `None` where nobody knows, as on a virtual array.
    pub cpu_s: Option<f64>,
    /// The longest request.
    pub longest_ns: u64,
    /// Bytes of a request; 0 for files.
    pub request: u64,
    /// KiB or requests in all.
    pub amount: f64,
}

impl Figure {
    /// What takes less than half a second is too fast to be told, as in the original.
    pub(super) fn is_told(&self) -> bool {
        self.seconds >= 0.5
    }

    /// Whole per cent, more than 100 on several processors.
    pub(super) fn cpu_percent(&self) -> Option<u64> {
        self.cpu_s.map(|cpu| truncated::<u64>(cpu / self.seconds * 100.0))
    }

    fn of(test: Test, point: &Point, workload: &WorkloadResult) -> Option<Figure> {
        let counted = match test {
            Test::Putc | Test::Write => Op::Write,
            // A block that is read and written back counts once.
            Test::Rewrite | Test::Getc | Test::Read | Test::Seeks => Op::Read,
            _ => workload.spec.tree.as_ref()?.op.into(),
        };
        let classes = || workload.classes.iter().filter(move |class| class.op == counted);
        let amount = match test.counts_bytes() {
            true => classes().map(|class| class.bytes).sum::<u64>() as f64 / 1024.0,
            false => classes().map(|class| class.ops).sum::<u64>() as f64,
        };
        let seconds = workload.measured_ns as f64 / 1e9;
        let asked = workload.classes.iter().filter(|class| !matches!(class.op, Op::Flush | Op::Sync));
        let figure = Figure {
            per_second: amount / seconds,
            seconds,
            cpu_s: point.cpu.map(record::CpuUse::total_s),
            longest_ns: asked.filter_map(|class| class.response.max_ns).max()?,
            request: classes().map(|class| class.size_bytes).max()?,
            amount,
        };
        (amount > 0.0 && seconds > 0.0).then_some(figure)
    }
}

/// All figures that there are.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figures([Option<Figure>; 12]);

impl Figures {
    /// Of the first point for each test. Points of several workloads are none.
    pub fn of<'a>(points: impl IntoIterator<Item = &'a Point>) -> Figures {
        let mut figures = Figures::default();
        for point in points {
            let [workload] = point.workloads.as_slice() else { continue };
            let Some(test) = Test::of(workload) else { continue };
            let place = &mut figures.0[test as usize];
            if place.is_none() {
                *place = Figure::of(test, point, workload);
            }
        }
        figures
    }

    /// Of one test.
    pub fn get(&self, test: Test) -> Option<&Figure> {
        self.0[test as usize].as_ref()
    }

    /// Of the large file, with their tests.
    pub(super) fn blocks(&self) -> impl Iterator<Item = (Test, Option<&Figure>)> {
        self.all().take(6)
    }

    /// Of small files, with their tests.
    pub(super) fn files(&self) -> impl Iterator<Item = (Test, Option<&Figure>)> {
        self.all().skip(6)
    }

    fn all(&self) -> impl Iterator<Item = (Test, Option<&Figure>)> {
        TESTS.into_iter().zip(&self.0).map(|((test, _), figure)| (test, figure.as_ref()))
    }

    /// Whether there is none of the large file, and none of small files.
    pub(super) fn are_missing(&self) -> (bool, bool) {
        (self.0[..6].iter().all(Option::is_none), self.0[6..].iter().all(Option::is_none))
    }
}

#[cfg(test)]
impl Figures {
    /// For tests: given figures.
    pub(super) fn with(figures: [Option<Figure>; 12]) -> Figures {
        Figures(figures)
    }
}
