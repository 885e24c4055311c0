//! The keys of the access pattern.

use units::Bytes;

use super::read_sizes;
use crate::plan::keys::draft::Draft;
use crate::plan::keys::{Entry, Kind, Section, lines};
use crate::plan::text::{LineList, PATTERNS, share_text};
use crate::plan::tree::Value;

const SECTION: Section = Section("Access pattern");

pub(super) const ENTRIES: [Entry<Draft>; 12] = [
    Entry {
        doc: SECTION.key(
            "pattern",
            Kind::Choice(&PATTERNS),
            "random",
            [
                "The address of the next request.",
                "`sequential` and `reverse`: each worker reads or writes its own share of the span from end to end, and starts again. `stride(1MiB)` does so in steps of that size from start to start, `reverse(1MiB)` \
                 downwards; `stride(1GiB, 64MiB)` covers the first 64 MiB of each GiB, `columns(128KiB, \
                 32KiB)` takes one request of every 128 KiB, then the one beside each, until 32 KiB of each are covered. `random` visits each block once before any repeats, as fio does with its random map; `random(repeats)` draws independently (fio: `norandommap`), from all offsets that `align` allows. `zipf(1.2)`: the block of rank r is accessed in proportion to 1/r^1.2; ranks are scattered over the span. `pareto(0.2)`: four fifths of the requests go to a fifth of the blocks, and so on within that fifth; blocks are scattered too. \
                 `normal(10%)` is bell-shaped about the middle, with a standard deviation of that part of the span; \
                 `normal(10%, scattered)` scatters its blocks. `hot(50% in 5%, 30% in 15%)` sends half of the requests \
                 to the first 5% of the span, 30% to the next 15%, and the rest to the rest; a zone may be a size, as \
                 in `hot(50% in 10GiB)`. `sequential(interlocked)` is one stream for all workers, who take its \
                 requests in turn. `trace` replays a recorded trace, see `trace`; workers take its requests in turn.",
                "pattern = \"hot(90% in 10%)\"",
            ],
        ),
        read: |d, n| n.read("random").map(|pattern| d.spec.pattern = pattern),
        write: |d| d.spec.pattern.to_string(),
    },
    Entry {
        doc: SECTION.key(
            "size",
            Kind::Sizes,
            "4KiB",
            [
                "Block size: bytes of one request.",
                "One size, or up to 64 with their weights, which need not sum to 100. Each is drawn independently.",
                "size = { \"4KiB\" = 60, \"64KiB\" = 40 }",
            ],
        ),
        read: |d, n| read_sizes(n).map(|sizes| d.spec.sizes = sizes),
        write: |d| d.spec.sizes.to_string(),
    },
    Entry {
        doc: SECTION.key(
            "reads",
            Kind::Share,
            "rest",
            [
                "Share of requests that read.",
                "What is neither read, trim nor flush is a write. Left out (`rest`), nothing is written: all that is \
             neither trim nor flush reads, so that a plan changes data only where it says so.",
                "reads = \"2/3\"",
            ],
        ),
        read: |d, n| match &n.value {
            Value::Text(text) if text == "rest" => {
                d.reads = None;
                Ok(())
            }
            _ => n.read("70%").map(|share| d.reads = Some(share)),
        },
        write: |d| d.reads.map_or("rest".into(), share_text),
    },
    Entry {
        doc: SECTION.key(
            "trims",
            Kind::Share,
            "0%",
            [
                "Share of requests that trim.",
                "Also called discard, unmap or deallocate. The data there is lost.",
                "trims = \"10%\"",
            ],
        ),
        read: |d, n| n.read("10%").map(|share| d.spec.mix.trims = share),
        write: |d| share_text(d.spec.mix.trims),
    },
    Entry {
        doc: SECTION.key(
            "flushes",
            Kind::Share,
            "0%",
            [
                "Share of requests that flush.",
                "`flush` says by which call. See `flush_every` for a flush after every so many writes.",
                "flushes = \"1%\"",
            ],
        ),
        read: |d, n| n.read("1%").map(|share| d.spec.mix.flushes = share),
        write: |d| share_text(d.spec.mix.flushes),
    },
    Entry {
        doc: SECTION.key(
            "random",
            Kind::Share,
            "auto",
            [
                "Share of requests whose address follows the pattern.",
                "The others continue where the last request of the same worker ended, and from the start of the span after its end. `auto` leaves it to the pattern: all of them for a random one, none for `sequential`. With `sequential` and a share, that share goes to independently drawn blocks of the span.",
                "random = \"70%\"",
            ],
        ),
        read: |d, n| match &n.value {
            Value::Text(text) if text == "auto" => {
                d.spec.random = None;
                Ok(())
            }
            _ => n.read("70%").map(|share| d.spec.random = Some(share)),
        },
        write: |d| d.spec.random.map_or("auto".into(), share_text),
    },
    Entry {
        doc: SECTION.key(
            "consecutive",
            Kind::Count,
            "1",
            [
                "Requests in a sequential run from each address that the pattern draws.",
                "For random patterns: 8 is one request to a drawn address and seven that continue where it ended (fio: `rw=randread:8`). With `random`, its share goes to drawn addresses, and each of these starts a run.",
                "consecutive = 8",
            ],
        ),
        read: |d, n| n.count32(1..=u32::MAX).map(|count| d.spec.sequence.consecutive = count),
        write: |d| d.spec.sequence.consecutive.to_string(),
    },
    Entry {
        doc: SECTION.key(
            "repeat_offset",
            Kind::Switch,
            "false",
            [
                "The requests of a run repeat the drawn address instead of continuing from it.",
                "A repeated address is mostly in a cache by then: with `consecutive = 2` every second request repeats the one before. fio: `rw_sequencer=identical`.",
                "repeat_offset = true",
            ],
        ),
        read: |d, n| n.switch().map(|on| d.spec.sequence.repeat_offset = on),
        write: |d| d.spec.sequence.repeat_offset.to_string(),
    },
    Entry {
        doc: SECTION.key(
            "mix",
            Kind::Lines,
            "none",
            [
                "Requests of several kinds, as the lines of an access specification.",
                "Each line has a `share`, its weight among the lines, which need not sum to 100, and may have its \
                 own `size`, `reads`, `trims`, `flushes`, `random` and `align`; what it does not say holds from \
                 the workload. Each request draws a line. `burst = 8` lets so many requests follow from the line \
                 once it is drawn, and `delay = \"5ms\"` waits so long before them, counted from when the worker \
                 has a free slot; a line with a burst is drawn by its share among the bursts. At most 100 lines \
                 and 64 different sizes.",
                "mix = [{ share = 60, size = \"4KiB\", reads = \"80%\" }, { share = 40, size = \"64KiB\", reads = \"0%\", random = \"0%\" }]",
            ],
        ),
        read: |d, n| lines::read(n).map(|lines| d.lines = lines),
        write: |d| LineList(d.spec.lines.clone()).to_string(),
    },
    Entry {
        doc: SECTION.key(
            "rewrites",
            Kind::Share,
            "0%",
            [
                "Share of reads, or of trims where nothing is read, that is followed by a write of the same block.",
                "The write begins when the read or trim has ended, in its place among the requests in flight, and \
                 counts as a request of its own. They are spread evenly: of `10%` every tenth read of a worker is \
                 followed. `100%` is what Bonnie++ calls a rewrite. One that fails is not followed.",
                "rewrites = \"10%\"",
            ],
        ),
        read: |d, n| n.read("10%").map(|share| d.spec.rewrites = share),
        write: |d| share_text(d.spec.rewrites),
    },
    Entry {
        doc: SECTION.key(
            "align",
            Kind::Size,
            "auto",
            [
                "Every offset is a multiple of this.",
                "`auto` is the smallest size of the workload, counted from `offset` where that is a size. Direct I/O needs at least the block size of the device.",
                "align = \"4KiB\"",
            ],
        ),
        read: |d, n| match &n.value {
            Value::Text(text) if text == "auto" => {
                d.spec.align = None;
                Ok(())
            }
            _ => n.read("4KiB").map(|align| d.spec.align = Some(align)),
        },
        write: |d| d.spec.align.map_or("auto".into(), Bytes::exact),
    },
    Entry {
        doc: SECTION.key(
            "seed",
            Kind::Count,
            "auto",
            [
                "Every random choice follows from this, the name of the workload and the number of the worker.",
                "`auto` is the plan's own `seed` plus the number of the point, so that no two points access the same addresses, which a cache would then already hold. A number makes points repeat one another.",
                "seed = 7",
            ],
        ),
        read: |d, n| match &n.value {
            Value::Text(text) if text == "auto" => Ok(()),
            _ => n.count(0..=u64::MAX).map(|seed| d.spec.seed = seed),
        },
        write: |d| d.spec.seed.to_string(),
    },
];
