//! Any specification that a plan could ask for.

use proptest::prelude::*;
use units::{Bytes, BytesPerSecond, Nanos, OpsPerSecond, Share};

use crate::plan::text::{MOST_SIZES, split_of};
use crate::spec::*;
use crate::steady::{Steady, SteadyFigure, SteadyLimit, SteadyMeasure};
use crate::tree::{FileOp, FileSizes, FilesIn, Fsync, Order, Tree, Visitors};

pub(crate) fn share() -> impl Strategy<Value = Share> {
    prop_oneof![(0u32..=100).prop_map(|p| f64::from(p) / 100.0), 0.0..=1.0f64]
        .prop_map(|part| Share::new(part).unwrap())
}

pub(crate) fn some_share() -> impl Strategy<Value = Share> {
    share().prop_filter("not nothing", |share| *share != Share::NONE)
}

fn bytes() -> impl Strategy<Value = Bytes> {
    prop_oneof![1u64..1 << 50, (0u32..40).prop_map(|bits| 1 << bits)].prop_map(Bytes::new)
}

fn zones() -> impl Strategy<Value = Vec<Zone>> {
    // Whole percents that sum to 100 on both sides, as a complete list of zones does.
    (1u32..99, 1u32..99).prop_map(|(requests, span)| {
        let zone = |requests: u32, span: u32| Zone {
            requests: Share::new(f64::from(requests) / 100.0).unwrap(),
            span: Extent::Part(Share::new(f64::from(span) / 100.0).unwrap()),
        };
        vec![zone(requests, span), zone(100 - requests, 100 - span)]
    })
}

fn absolute_zones() -> impl Strategy<Value = Vec<Zone>> {
    (1u32..50, 1u32..50, bytes(), bytes()).prop_map(|(one, other, first, second)| {
        let zone = |requests: u32, span| Zone {
            requests: Share::new(f64::from(requests) / 100.0).unwrap(),
            span: Extent::Bytes(span),
        };
        vec![zone(one, first), zone(other, second)]
    })
}

pub(crate) fn pattern() -> impl Strategy<Value = Pattern> {
    prop_oneof![
        Just(Pattern::Sequential),
        Just(Pattern::Reverse),
        Just(Pattern::Interlocked),
        (1e-6..0.999).prop_map(Pattern::Pareto),
        absolute_zones().prop_map(Pattern::Zones),
        Just(Pattern::Random),
        Just(Pattern::RandomWithRepeats),
        bytes().prop_map(Pattern::Stride),
        bytes().prop_map(Pattern::ReverseStride),
        (bytes(), bytes())
            .prop_map(|(one, other)| Pattern::Columns { step: one.max(other), width: one.min(other) }),
        (bytes(), bytes())
            .prop_map(|(one, other)| Pattern::StrideOf { step: one.max(other), run: one.min(other) }),
        (1e-6..=10.0).prop_map(Pattern::Zipf),
        some_share().prop_map(Pattern::Normal),
        some_share().prop_map(Pattern::NormalScattered),
        (proptest::collection::vec(0u64..1 << 40, 1..20), any::<bool>())
            .prop_map(|(blocks, moves)| Pattern::Sequence { blocks, moves }),
        (0.01..0.38, 2u32..1000).prop_map(|(part, parts)| Pattern::Aged {
            spare: Share::new(part).expect("within a share"),
            parts
        }),
        zones().prop_map(Pattern::Zones),
    ]
}

pub(crate) fn pace() -> impl Strategy<Value = Pace> {
    let rate = || (1e-3..=1e9).prop_map(OpsPerSecond::new);
    prop_oneof![
        Just(Pace::Closed),
        (1u64..).prop_map(|nanos| Pace::Think(Nanos::new(nanos))),
        (1u64.., 1u32..).prop_map(|(nanos, requests)| Pace::Bursts { delay: Nanos::new(nanos), requests }),
        (1u64.., 1u64..)
            .prop_map(|(delay, busy)| Pace::Spells { delay: Nanos::new(delay), busy: Nanos::new(busy) }),
        rate().prop_map(Pace::Cap),
        (1u64..1 << 50).prop_map(|bytes| Pace::CapBytes(BytesPerSecond::new(bytes as f64))),
        (rate(), spacing(), any::<bool>()).prop_map(|(rate, spacing, drops)| {
            let overflow = if drops { Overflow::Drop } else { Overflow::Queue };
            Pace::Open(Schedule { rate, spacing, overflow })
        }),
    ]
}

fn spacing() -> impl Strategy<Value = Spacing> {
    let pause = || (1u64..).prop_map(Nanos::new);
    prop_oneof![
        Just(Spacing::Even),
        Just(Spacing::Poisson),
        (pause(), pause()).prop_map(|(on, off)| Spacing::OnOff { on, off }),
    ]
}

pub(crate) fn extent() -> impl Strategy<Value = Extent> {
    prop_oneof![bytes().prop_map(Extent::Bytes), some_share().prop_map(Extent::Part)]
}

pub(crate) fn split() -> impl Strategy<Value = SizeSplit> {
    proptest::collection::btree_map(1u32..=i32::MAX as u32, 1e-3..1e9f64, 1..=MOST_SIZES).prop_map(|map| {
        split_of(map.into_iter().map(|(size, weight)| (Bytes::new(size.into()), weight)).collect()).unwrap()
    })
}

fn files() -> impl Strategy<Value = Files> {
    let count = || 1u32..=65_535;
    prop_oneof![
        Just(Files::Shared),
        count().prop_map(Files::PerWorker),
        count().prop_map(Files::WorkersPerFile),
    ]
}

fn span() -> impl Strategy<Value = Span> {
    prop_oneof![Just(Span::Auto), extent().prop_map(Span::Of)]
}

fn mix() -> impl Strategy<Value = OpMix> {
    (0u32..=100, 0u32..=100, 0u32..=100).prop_map(|(reads, trims, flushes)| {
        let part = |percent: u32| Share::new(f64::from(percent) / 100.0).unwrap();
        let trims = trims % (101 - reads);
        let flushes = flushes % (101 - reads - trims);
        OpMix { reads: part(reads), trims: part(trims), flushes: part(flushes) }
    })
}

fn line() -> impl Strategy<Value = Line> {
    let sizes = proptest::collection::btree_map(1u64..=i32::MAX as u64, 1e-3..1e9f64, 1..4).prop_map(|map| {
        split_of(map.into_iter().map(|(size, weight)| (Bytes::new(size), weight)).collect()).unwrap()
    });
    let place = (proptest::option::of(share()), proptest::option::of(bytes()));
    (1e-3..1e9f64, sizes, mix(), place, 1u32.., any::<u64>()).prop_map(
        |(weight, sizes, mix, (random, align), burst, delay)| {
            let delay = Nanos::new(delay);
            Line { weight, sizes, mix, random, align, burst, delay }
        },
    )
}

/// Lines with what the workload says of them: its own `random`, their sizes and operations together.
fn lines() -> impl Strategy<Value = (Vec<Line>, Option<Share>, Option<(SizeSplit, OpMix)>)> {
    let random = proptest::option::of(share());
    (proptest::collection::vec(line(), 0..12), random).prop_map(|(mut lines, random)| {
        lines.iter_mut().for_each(|line| line.random = line.random.or(random));
        let sum = (!lines.is_empty()).then(|| {
            let sizes = crate::plan::keys::lines::sizes(&lines).unwrap();
            (sizes, OpMix::sum(lines.iter().map(|line| (line.requests(), &line.mix))))
        });
        (lines, random, sum)
    })
}

fn stop() -> impl Strategy<Value = Stop> {
    let time = || any::<u64>().prop_map(Nanos::new);
    let ops = proptest::option::of(1u64..);
    let lengths = (time(), time(), proptest::option::of(time()), time());
    let passes = proptest::option::of(1u32..);
    (lengths, ops, proptest::option::of(bytes()), passes, proptest::option::of(steady())).prop_map(
        |((start, warmup, run, cooldown), ops, bytes, passes, steady)| Stop {
            start,
            warmup,
            warmup_bytes: None,
            run,
            wear_out: false,
            cooldown,
            ops,
            ops_after_warmup: ops.is_some_and(|ops| ops % 5 == 1),
            bytes,
            loops: passes,
            exit_all: ops.is_some_and(|ops| ops % 2 == 1),
            with_others: ops.is_some_and(|ops| ops % 3 == 1),
            steady,
        },
    )
}

fn steady() -> impl Strategy<Value = Steady> {
    let figure =
        prop_oneof![Just(SteadyFigure::Iops), Just(SteadyFigure::Throughput), Just(SteadyFigure::Latency)];
    let measure = prop_oneof![Just(SteadyMeasure::Deviation), Just(SteadyMeasure::Slope)];
    // Percents that have an exact text, and values that have one in every unit.
    let limit = prop_oneof![
        (1u32..=8).prop_map(|eighths| SteadyLimit::Part(f64::from(eighths) / 8.0)),
        (1u32..).prop_map(|value| SteadyLimit::Value(f64::from(value))),
    ];
    (figure, measure, limit, 2u32..=86_400, any::<u32>()).prop_map(
        |(figure, measure, limit, over_s, after_s)| Steady { figure, measure, limit, over_s, after_s },
    )
}

fn sequence() -> impl Strategy<Value = Sequence> {
    let count = || proptest::option::of(1u32..);
    (1u32.., any::<bool>(), proptest::option::of(0u32..=65_535), count(), count()).prop_map(
        |(consecutive, repeat_offset, low_water, flow, read_back)| Sequence {
            reopen_every: read_back,
            reopen_cold: repeat_offset,
            reread: read_back.is_some_and(|every| every % 2 == 0),
            consecutive,
            repeat_offset,
            even_mix: read_back.is_none(),
            low_water,
            flow,
            read_back,
        },
    )
}

/// Zones of which some keys are asked, by a number.
fn zones_from(seed: u64) -> Zones {
    let asked = |bit: u32| seed >> bit & 1 == 1;
    let bytes = |bit: u32| asked(bit).then(|| Bytes::new((seed >> 20 | 1) % (1 << 40)));
    let count = |bit: u32| asked(bit).then(|| (seed >> 32) as u32 % 4096 + 1);
    let share = |bit: u32| asked(bit).then(|| Share::new((seed % 101) as f64 / 100.0).unwrap());
    Zones {
        size: if asked(8) { Some(ZoneSize::OfDevice) } else { bytes(0).map(ZoneSize::Of) },
        capacity: bytes(1),
        skip: bytes(2),
        open: count(3),
        open_of_worker: count(4),
        reads_beyond: asked(5),
        resets: share(6),
        resets_above: share(7),
    }
}

fn durability() -> impl Strategy<Value = Durability> {
    let open = prop_oneof![Just(OpenSync::None), Just(OpenSync::Dsync), Just(OpenSync::Sync)];
    let flush =
        prop_oneof![Just(FlushKind::Fsync), Just(FlushKind::Fdatasync), Just(FlushKind::SyncFileRange)];
    (open, proptest::option::of(1u32..), any::<bool>(), flush)
        .prop_map(|(open, every, at_end, flush)| Durability { open, every, at_end, flush })
}

fn content() -> impl Strategy<Value = Content> {
    let ratio = || 1.0..=1000.0f64;
    let random = (ratio(), ratio()).prop_map(|(compress, dedupe)| Content::Random { compress, dedupe });
    let pattern = proptest::collection::vec(any::<u8>(), 1..=64).prop_map(Content::Pattern);
    prop_oneof![Just(Content::Zeros), Just(Content::Reused), random, pattern]
}

fn engine() -> impl Strategy<Value = EngineSpec> {
    let kind = prop_oneof![
        Just(EngineKind::Auto),
        Just(EngineKind::IoUring),
        Just(EngineKind::Pread),
        Just(EngineKind::Preadv2),
        Just(EngineKind::Mmap),
        Just(EngineKind::Stdio),
        Just(EngineKind::Null),
    ];
    let cpus = proptest::collection::vec(0u32..300, 0..20);
    let node = proptest::option::of(0u32..=1023);
    let batches = [1u32..=4096, 1u32..=4096];
    (kind, batches, any::<[bool; 3]>(), cpus, node).prop_map(
        |(kind, [submit_batch, complete_batch], [sqpoll, iopoll, huge_pages], cpus, numa_node)| EngineSpec {
            kind,
            submit_batch,
            complete_batch,
            sqpoll,
            iopoll,
            cpus,
            numa_node,
            huge_pages,
            ..Workload::plain("engine").engine
        },
    )
}

fn file_sizes() -> impl Strategy<Value = FileSizes> {
    let range = (0u64..=1 << 30, 0u64..=1 << 30).prop_map(|(one, other)| FileSizes::Range {
        least: Bytes::new(one.min(other)),
        most: Bytes::new(one.max(other)),
    });
    let smaller = |(size, weight): &(Bytes, f64)| (Bytes::new(size.get() / 2), *weight);
    let split = split().prop_filter_map("files are at most 1 GiB and no size stands twice", move |split| {
        split_of(split.0.iter().map(smaller).collect())
            .ok()
            .and_then(|split| FileSizes::Split(split).checked().ok())
    });
    prop_oneof![range, split]
}

/// Any tree of files, not all of which are small enough to be made.
pub(crate) fn tree() -> impl Strategy<Value = Tree> {
    let op = proptest::sample::select(&FileOp::ALL[..]);
    let order = prop_oneof![Just(Order::Sequential), Just(Order::Random)];
    let fsync = prop_oneof![Just(Fsync::None), Just(Fsync::Each), Just(Fsync::End)];
    let files_in = prop_oneof![Just(FilesIn::Leaves), Just(FilesIn::All)];
    let shape = (0u32..=20, 1u32..=1_000_000, files_in, any::<bool>());
    let visitors = prop_oneof![
        Just(Visitors::Own),
        Just(Visitors::First),
        Just(Visitors::All),
        (0u32..=1_000_000).prop_map(Visitors::Shifted)
    ];
    let how = (order, fsync, visitors, any::<bool>());
    (op, 1u64..=1_000_000_000, file_sizes(), shape, how).prop_map(
        |(op, count, sizes, (levels, fanout, files_in, unique_dirs), (order, fsync, visitors, direct))| {
            Tree { op, count, sizes, levels, fanout, files_in, unique_dirs, visitors, order, fsync, direct }
        },
    )
}

/// Any workload whose keys do not contradict one another.
pub(crate) fn workload() -> impl Strategy<Value = Workload> {
    let own = proptest::option::of(bytes());
    let what = (pattern(), split(), mix(), proptest::option::of(bytes()), extent(), span(), own);
    let load = (1u32..=65_536, 1u32..=65_536, files(), pace(), any::<u64>(), any::<bool>(), share());
    let luns = prop_oneof![Just(LunLayout::Concatenated), bytes().prop_map(LunLayout::Striped)];
    let luns = (proptest::collection::vec(1u32..300, 0..5), luns);
    let tree = proptest::option::of(tree());
    let verify =
        prop_oneof![Just(Verify::None), Just(Verify::Written), Just(Verify::All), Just(Verify::Content)];
    let content = (content(), verify, sequence());
    (what, lines(), load, luns, stop(), durability(), content, engine(), tree).prop_map(
        |(what, (lines, random, sum), load, luns, stop, durability, content, engine, tree)| {
            let (pattern, sizes, mix, align, offset, span, worker_offset) = what;
            let (sizes, mix) = sum.unwrap_or((sizes, mix));
            let (workers, depth, files, pace, seed, direct, rewrites) = load;
            let (on, luns) = luns;
            let (content, verify, sequence) = content;
            let name = "any".to_string();
            Workload {
                name,
                pattern,
                sizes,
                mix,
                lines,
                random,
                rewrites,
                align,
                offset,
                span,
                worker_offset,
                workers,
                hosts_on: None,
                depth,
                files,
                on,
                luns,
                pace,
                sequence,
                zones: zones_from(seed),
                stop,
                durability,
                content,
                verify,
                stamp: match HeaderKind::ALL.get((seed % 20) as usize) {
                    Some((kind, ..)) => Stamp::Fio(Header { kind: *kind, every: None, at: Bytes::ZERO }),
                    None => Stamp::Fathom,
                },
                seed,
                direct: direct && tree.is_none(),
                iolog: None,
                engine,
                tree,
            }
        },
    )
}
