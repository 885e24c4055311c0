//! The plainest workload there is, from which others differ.

use units::{Bytes, Share};

use crate::{
    Commands, Content, Durability, EngineKind, EngineSpec, Extent, Files, FlushKind, LunLayout, OpMix,
    OpenSync, Pace, Pattern, Priorities, RequestFlags, Sequence, SizeSplit, Span, Stamp, Stop, Verify,
    Workload, Zones,
};

impl Workload {
    /// Random reads of 4 KiB by one worker, one at a time and without an end, of random content where something is
    /// written: what is meant where nothing else is said. The keys of a plan have defaults of their own.
    pub fn plain(name: impl Into<String>) -> Workload {
        let end = Durability { open: OpenSync::None, every: None, at_end: false, flush: FlushKind::Fsync };
        let engine = EngineSpec {
            kind: EngineKind::Auto,
            submit_batch: 1,
            complete_batch: 1,
            sqpoll: false,
            iopoll: false,
            cpus: Vec::new(),
            numa_node: None,
            huge_pages: false,
            io_priority: None,
            request_priority: Priorities::default(),
            flags: RequestFlags::NONE,
            write_hint: None,
            commands: Commands::default(),
        };
        Workload {
            name: name.into(),
            pattern: Pattern::Random,
            sizes: SizeSplit::one(Bytes::KIB * 4),
            mix: OpMix { reads: Share::ALL, trims: Share::NONE, flushes: Share::NONE },
            lines: Vec::new(),
            random: None,
            rewrites: Share::NONE,
            align: None,
            offset: Extent::Bytes(Bytes::ZERO),
            span: Span::Auto,
            worker_offset: None,
            workers: 1,
            hosts_on: None,
            depth: 1,
            files: Files::Shared,
            on: Vec::new(),
            luns: LunLayout::Concatenated,
            pace: Pace::Closed,
            sequence: Sequence::PLAIN,
            zones: Zones::NONE,
            stop: Stop::default(),
            durability: end,
            content: Content::Random { compress: 1.0, dedupe: 1.0 },
            seed: 1,
            direct: true,
            engine,
            verify: Verify::None,
            stamp: Stamp::Fathom,
            iolog: None,
            tree: None,
        }
    }
}
