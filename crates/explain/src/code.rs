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
    /// What was read is not what was written.
    DataCorrupt => "data-corrupt",
    /// What was read is what was written, as far as it could be checked.
    DataVerified => "data-verified",
    /// A workload stopped because too many requests failed.
    GaveUp => "gave-up",
    /// Nothing ended in the measured window.
    NothingMeasured => "nothing-measured",
    /// The run did not reach its end.
    Interrupted => "interrupted",
    /// Requests or bytes do not add up.
    Conservation => "conservation",
    /// Requests in flight and times in service contradict each other.
    LittleLaw => "little-law",
    /// Too few requests for a percentile.
    FewSamples => "few-samples",
    /// The model answers for rates and means alone.
    PercentilesNotModelled => "percentiles-not-modelled",
    /// The measured window is short.
    ShortRun => "short-run",
    /// The rate is not known well.
    WideInterval => "wide-interval",
    /// Requests were in flight, and none ended.
    Silence => "silence",
    /// The rate changed from the beginning of the window to its end.
    Drift => "drift",
    /// The rate rises or falls slowly.
    Trend => "trend",
    /// Repetitions of a point disagree.
    RepeatsDiffer => "repeats-differ",
    /// A figure was not steady, by the rule of SNIA.
    NotSteady => "not-steady",
    /// What ran before a point had a part in its figures.
    CarryOver => "carry-over",
    /// The page cache of this machine took part.
    Buffered => "buffered",
    /// Some of the reads were probably answered by a cache.
    CacheSuspected => "cache-suspected",
    /// Reads of growing spans show how large a cache is, or that there is none.
    CacheSeen => "cache-seen",
    /// Direct I/O was asked for, and a cache answered all the same.
    DirectNotHonoured => "direct-not-honoured",
    /// Reads where nothing had been written.
    UnwrittenData => "unwritten-data",
    /// Written data was still in memory.
    DirtyPages => "dirty-pages",
    /// Acknowledged writes may be in the drive's volatile cache only.
    DriveWriteCache => "drive-write-cache",
    /// What was written or read compresses or repeats.
    CompressibleContent => "compressible-content",
    /// A flash device was written to that had not been brought into its lasting state.
    NotPreconditioned => "not-preconditioned",
    /// The tool, not the storage, was the limit.
    ClientLimited => "client-limited",
    /// All processors of the machine were busy.
    CpuSaturated => "cpu-saturated",
    /// The hypervisor gave processor time to others.
    CpuStolen => "cpu-stolen",
    /// The processors were slowed down by heat or power.
    Throttled => "throttled",
    /// The processors changed their clock.
    ClockChanged => "clock-changed",
    /// Somebody else used the device.
    Neighbours => "neighbours",
    /// The load fell behind its own schedule.
    Lag => "lag",
    /// Requests fell due and were never issued.
    NeverIssued => "never-issued",
    /// Not the engine that was asked for or would be best.
    EngineFallback => "engine-fallback",
    /// A virtual machine asked.
    VirtualMachine => "virtual-machine",
    /// No storage was asked.
    NullTarget => "null-target",
    /// A part has nothing left.
    Limit => "limit",
    /// Requests wait for nothing but each other's answers.
    LatencyBound => "latency-bound",
    /// The limit lies where nothing is counted.
    LimitUnseen => "limit-unseen",
    /// Somebody set the limit.
    LimitImposed => "limit-imposed",
    /// The cache of a virtual array answered most reads.
    CacheAnswered => "cache-answered",
    /// The evidence does not tell what the limit is.
    LimitOpen => "limit-open",
    /// What a faster part would have brought.
    WhatIf => "what-if",
    /// Points of a sweep were not steady, so that its curve is not judged.
    CurveUnsteady => "curve-unsteady",
    /// More in flight no longer pays beyond it.
    Knee => "knee",
    /// The curve bends slowly, or not within the sweep.
    NoSharpKnee => "no-sharp-knee",
    /// More in flight makes it slower.
    Retrograde => "retrograde",
    /// More in flight gives more than in proportion.
    Superlinear => "superlinear",
    /// The highest rate that keeps the promises.
    SloEdge => "slo-edge",
    /// No rate keeps the promises.
    SloUnkept => "slo-unkept",
    /// After an overload less is kept.
    SloHysteresis => "slo-hysteresis",
    /// Whether the highest rate is that of the storage or of the write cache before it.
    SloWriteCache => "slo-write-cache",
    /// After a rate that failed the target did not come back in time.
    SloRecovery => "slo-recovery",
    /// Less than a model of the same hardware gives.
    BelowModel => "below-model",
    /// More than a model of the same hardware gives.
    AboveModel => "above-model",
}
