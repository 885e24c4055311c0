//! The run record: the only shape in which results are stored, exchanged and read back.
//!
//! Base units only, each in its key: `_ns`, `_bytes`, `_per_s`; shares are 0 to 1. Readers ignore keys they do
//! not know; a key is only added within a version, never changed or removed.
//!
//! **Invariant:** a record does not say how it was measured but in words, and nothing here can draw it.

mod campaign;
mod comparison;
mod entry;
mod exploration;
mod finding;
mod grade;
mod histogram;
pub mod judgement;
mod metric;
mod model_comparison;
pub mod names;
mod path;
mod phase;
mod point;
pub mod response_map;
mod run;
#[cfg(any(test, feature = "sample"))]
pub mod sample;
mod search;
mod steady;
mod summary;
mod upgrade;
mod what_if;
mod words;

pub use campaign::{
    CampaignCell, CellLack, ClaimKind, FactorLevel, FigureClaim, LackKind, PublishedCase, StateProof,
    WorkCourse, level_name,
};
pub use comparison::{Basis, Compared, Comparison, RUN_TO_RUN, Setting, Side, Unmatched, Verdict, doubted};
pub use entry::{Entry, peaks, peaks_of_search};
pub use exploration::{
    Chance, CheaperDesign, CloseCall, DesignCounts, DesignFigure, DesignMargins, DesignReliability,
    DesignUnit, Exploration, FrontDesign, NeighbourDesign, RequirementCost,
};
pub use finding::{Finding, Severity};
pub use grade::{Check, Grade, Grading, Outcome};
pub use histogram::Histogram;
pub use metric::{Estimate, Metric, quantile_name};
pub use model_comparison::{Fitted, ModelComparison};
pub use path::{Ceiling, PathPart};
pub use phase::{is_named, phase_title};
pub use point::ranks;
pub use point::{
    Breakdown, BreakdownWindow, Class, ClassShare, Component, CpuUse, DeviceCounters, DeviceWaits,
    DeviceZones, DiskRole, Edges, EngineUsed, ErrorSample, HostTraffic, LunQueues, OpTotal, PartShare, Point,
    PointKind, RankClock, RankResult, ResponseShare, Series, Settled, Shares, Silence, SlcFill, TaskCounts,
    Together, Verified, WorkerResult, WorkloadResult, WriteCacheFill,
};
pub use response_map::ResponseMap;
pub use run::{
    Cache, DisplayCost, Ending, Environment, PlanSource, ReadError, Run, SCHEMA_VERSION, Target, Tool,
    Validation, World, read, read_point, schema, version,
};
pub use search::{Depths, Recovery, Rung, Search, WriteCache};
pub use steady::{Rounds, Window};
pub use summary::{
    ClassSecond, Figure, LATENCY_QUANTILES, LatencySummary, OpSummary, QuantileFigure, summarise,
};
pub use upgrade::point as upgrade_point;
pub use what_if::{Effect, Trial, WhatIf};
pub use words::{Behalf, Engine, Op, Ops};
