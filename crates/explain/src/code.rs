//! The names of findings.

/// Declares the codes once: name in Rust, stable name in records and the guide, first sentence of the guide.
macro_rules! codes {
    ($($(#[doc = $doc:literal])+ $code:ident => $name:literal,)+) => {
        /// Which finding. Its name never changes, and is a heading of the guide's page on findings.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code {
            $($(#[doc = $doc])+ $code,)+
        }

        impl Code {
            /// All of them, in the order of the guide.
            pub const ALL: &[Code] = &[$(Code::$code,)+];

            /// As records write it: `cache-suspected`.
            pub fn name(self) -> &'static str {
                match self {
                    $(Code::$code => $name,)+
                }
            }

            /// The one of that name.
            pub fn named(name: &str) -> Option<Code> {
                Code::ALL.iter().copied().find(|code| code.name() == name)
            }
        }
    };
}

codes! {
    /// Requests failed.
    Errors => "errors",
    /// Data read differs from the data written.
    DataCorrupt => "data-corrupt",
    /// Data read was verified against written data.
    DataVerified => "data-verified",
    /// A workload stopped because too many requests failed.
    GaveUp => "gave-up",
    /// No request completed in the measured window.
    NothingMeasured => "nothing-measured",
    /// The run was cut short.
    Interrupted => "interrupted",
    /// The target was not in the state that its cell of a campaign is about.
    StateNotHeld => "state-not-held",
    /// Requests or bytes do not add up.
    Accounting => "accounting",
    /// Requests in flight and service times contradict each other.
    LittleLaw => "little-law",
    /// Too few requests for a percentile.
    FewSamples => "few-samples",
    /// The model gives rates and means alone.
    PercentilesNotModelled => "percentiles-not-modelled",
    /// The measured window is short.
    ShortRun => "short-run",
    /// The 95 % CI of the rate is wide.
    WideInterval => "wide-interval",
    /// Requests were in flight, and none completed.
    Stall => "stall",
    /// The rate changed from the beginning of the window to its end.
    Drift => "drift",
    /// The rate rises or falls slowly.
    Trend => "trend",
    /// Repetitions of a point disagree.
    RepeatsDiffer => "repeats-differ",
    /// A figure was not in steady state, by the rule of SNIA.
    NotSteady => "not-steady",
    /// Writes went into free room of a write cache, at a rate that is not sustained.
    CacheFilling => "cache-filling",
    /// Load before a point affected its figures.
    CarryOver => "carry-over",
    /// Buffered I/O: the page cache of this machine was measured too.
    Buffered => "buffered",
    /// A cache probably served some of the reads.
    CacheSuspected => "cache-suspected",
    /// Reads over growing working sets show how large a cache is, or that there is none.
    CacheSeen => "cache-seen",
    /// Direct I/O was requested, and a cache served requests all the same.
    DirectNotHonoured => "direct-not-honoured",
    /// Reads where nothing had been written.
    UnwrittenData => "unwritten-data",
    /// Written data was still in the page cache.
    DirtyPages => "dirty-pages",
    /// Acknowledged writes may be in the drive's volatile cache only.
    DriveWriteCache => "drive-write-cache",
    /// The data written or read compresses or repeats.
    CompressibleContent => "compressible-content",
    /// Flash was not preconditioned before it was written to.
    NotPreconditioned => "not-preconditioned",
    /// The load generator was saturated.
    GeneratorSaturated => "generator-saturated",
    /// Making the content of writes took much of the workers' time.
    ContentCost => "content-cost",
    /// All processors of the machine were saturated.
    CpuSaturated => "cpu-saturated",
    /// A host of several had no idle processors.
    HostLimit => "host-limit",
    /// A host of several reached the storage slower than the others.
    UnequalPaths => "unequal-paths",
    /// A rank did less than the others of its host.
    Straggler => "straggler",
    /// A host, or a rank, answered slower than the others, or not at all for a while.
    UnequalResponses => "unequal-responses",
    /// Ranks may not have started together, as far as their clocks are known.
    RankClocks => "rank-clocks",
    /// The hypervisor ran other guests on the processors.
    CpuSteal => "cpu-steal",
    /// The quota of the control group stopped the load generator.
    CpuQuota => "cpu-quota",
    /// The processors were throttled because of heat or power.
    Throttled => "throttled",
    /// The processors changed their clock.
    ClockChanged => "clock-changed",
    /// External I/O on the device.
    ExternalIo => "external-io",
    /// The load fell behind its own schedule.
    Lag => "lag",
    /// Far fewer requests were in flight than the queue depth.
    DepthNotReached => "depth-not-reached",
    /// Requests were due and never issued.
    NotIssued => "not-issued",
    /// Not the requested, or not the best, I/O engine.
    EngineFallback => "engine-fallback",
    /// A setting of a block device had no effect on a virtual array.
    SettingsNotModelled => "settings-not-modelled",
    /// A set leaves a part of its larger disks unused.
    UnusedSpace => "unused-space",
    /// The load generator ran in a virtual machine.
    VirtualMachine => "virtual-machine",
    /// No storage was measured.
    NullTarget => "null-target",
    /// A part is the bottleneck.
    Bottleneck => "bottleneck",
    /// No part is saturated: the rate is queue depth / latency.
    LatencyBound => "latency-bound",
    /// The plan's schedule bounds the rate, and the target keeps up.
    OfferedLoad => "offered-load",
    /// The bottleneck is in a part without counters.
    BottleneckUncounted => "bottleneck-uncounted",
    /// A configured rate limit bounds the rate.
    RateLimited => "rate-limited",
    /// The cache of a virtual array served most reads.
    CacheHits => "cache-hits",
    /// The evidence does not identify the bottleneck.
    BottleneckUndetermined => "bottleneck-undetermined",
    /// A setting, or work beside the load, costs what it need not.
    AvoidableCost => "avoidable-cost",
    /// What a faster part gains.
    WhatIf => "what-if",
    /// Points of a sweep were not in steady state, so that its curve is not judged.
    CurveUnsteady => "curve-unsteady",
    /// A higher queue depth mostly adds latency beyond it.
    Knee => "knee",
    /// The curve bends slowly, or not within the sweep.
    NoSharpKnee => "no-sharp-knee",
    /// A higher load lowers the rate.
    Retrograde => "retrograde",
    /// The rate grows faster than the load.
    Superlinear => "superlinear",
    /// The maximum sustained rate within the SLO.
    SloMaximum => "slo-maximum",
    /// No rate meets the SLO.
    SloViolated => "slo-violated",
    /// After an overload only a lower rate meets the SLO.
    SloHysteresis => "slo-hysteresis",
    /// Whether the maximum sustained rate is that of the storage or of a write cache.
    SloWriteCache => "slo-write-cache",
    /// After a failed rate the target did not recover in time.
    SloRecovery => "slo-recovery",
    /// Less than a model of the same hardware gives.
    BelowModel => "below-model",
    /// More than a model of the same hardware gives.
    AboveModel => "above-model",
}
