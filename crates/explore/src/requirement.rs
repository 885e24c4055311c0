//! What is required of a design: `iops >= 20k at p99 < 5ms`, `usable >= 40TB`, `rebuild < 12h`, `price <= 20000`.

use std::str::FromStr;

use document::Wrong;
use modelled::lab::spot::State;
use record::DesignUnit;
use units::{Bytes, BytesPerSecond, Nanos, OpsPerSecond};
use workload::plan::{LatencyFigure, Slo};

use crate::design::Workload;

/// A figure of a design.
#[derive(Clone, Debug, PartialEq)]
pub enum Figure {
    /// Money, or disks where no price is given.
    Price,
    /// Watts.
    Watts,
    /// Bytes that hosts see.
    Usable,
    /// Hours of a rebuild: beside the workload of that number, or without any load.
    Rebuild(Option<usize>),
    /// The probability that data are lost within a year.
    Loss,
    /// A figure of a load.
    Load {
        /// The workload's number.
        workload: usize,
        /// How the array is meanwhile.
        state: State,
        /// Which figure.
        of: LoadFigure,
    },
}

/// A figure of a load.
#[derive(Clone, Debug, PartialEq)]
pub enum LoadFigure {
    /// The highest rate of requests a second among the depths that keep the SLO.
    Iops(Option<Slo>),
    /// The same in bytes a second.
    Throughput(Option<Slo>),
    /// The longest time among the depths, in nanoseconds.
    Latency(Slo),
}

/// What a figure must be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bound {
    /// That or more.
    AtLeast(f64),
    /// That or less.
    AtMost(f64),
    /// More than that.
    Above(f64),
    /// Less than that.
    Below(f64),
}

impl Bound {
    /// The limit.
    pub fn limit(self) -> f64 {
        match self {
            Bound::AtLeast(limit) | Bound::AtMost(limit) | Bound::Above(limit) | Bound::Below(limit) => limit,
        }
    }

    /// Whether `value` is within it.
    pub fn holds(self, value: f64) -> bool {
        match self {
            Bound::AtLeast(limit) => value >= limit,
            Bound::AtMost(limit) => value <= limit,
            Bound::Above(limit) => value > limit,
            Bound::Below(limit) => value < limit,
        }
    }
}

/// A figure and what it must be.
#[derive(Clone, Debug, PartialEq)]
pub struct Requirement {
    /// As it was written, with its workload and state before it.
    pub text: String,
    /// Of what.
    pub figure: Figure,
    /// What it must be, in base units: bytes, bytes a second, hours, nanoseconds.
    pub bound: Bound,
}

impl LoadFigure {
    /// As in a requirement, without its limit.
    fn name(&self) -> String {
        match self {
            LoadFigure::Iops(None) => "iops".into(),
            LoadFigure::Iops(Some(slo)) => format!("iops at {slo}"),
            LoadFigure::Throughput(None) => "bandwidth".into(),
            LoadFigure::Throughput(Some(slo)) => format!("bandwidth at {slo}"),
            LoadFigure::Latency(slo) => crate::evaluate::time_name(slo),
        }
    }
}

impl Figure {
    /// What it is called; `workloads` are the names of the workloads.
    pub fn name(&self, workloads: &[Workload]) -> String {
        let of = |number: &usize| workloads.get(*number).map_or("", |workload| workload.name.as_str());
        match self {
            Figure::Price => "price".into(),
            Figure::Watts => "watts".into(),
            Figure::Usable => "usable".into(),
            Figure::Rebuild(None) => "rebuild".into(),
            Figure::Rebuild(Some(workload)) => format!("rebuild beside {}", of(workload)),
            Figure::Loss => "loss".into(),
            Figure::Load { workload, state: State::Healthy, of: figure } => {
                format!("{} {}", of(workload), figure.name())
            }
            Figure::Load { workload, state, of: figure } => {
                format!("{} {} {}", of(workload), state.name(), figure.name())
            }
        }
    }

    /// A value of it as a person reads it, with its unit but for money.
    pub fn shown(&self, value: f64) -> String {
        self.unit().shown(self.base(value))
    }

    /// The same, with as many digits as tell it from `limit`.
    pub fn shown_beside(&self, value: f64, limit: f64) -> String {
        self.unit().shown_beside(self.base(value), self.base(limit))
    }

    /// What its numbers are in a record.
    pub fn unit(&self) -> DesignUnit {
        match self {
            Figure::Price => DesignUnit::Price,
            Figure::Watts => DesignUnit::Watts,
            Figure::Usable => DesignUnit::Bytes,
            Figure::Rebuild(_) => DesignUnit::Seconds,
            Figure::Loss => DesignUnit::PerYear,
            Figure::Load { of: LoadFigure::Iops(_), .. } => DesignUnit::PerSecond,
            Figure::Load { of: LoadFigure::Throughput(_), .. } => DesignUnit::BytesPerSecond,
            Figure::Load { of: LoadFigure::Latency(_), .. } => DesignUnit::Nanos,
        }
    }

    /// A value of it in the base unit of a record, where hours are seconds.
    pub fn base(&self, value: f64) -> f64 {
        match self {
            Figure::Rebuild(_) => value * 3_600.0,
            _ => value,
        }
    }

    /// Whether more of it is better.
    pub fn more_is_better(&self) -> bool {
        match self {
            Figure::Usable => true,
            Figure::Load { of, .. } => !matches!(of, LoadFigure::Latency(_)),
            Figure::Price | Figure::Watts | Figure::Rebuild(_) | Figure::Loss => false,
        }
    }

    /// Whether it comes from a simulation.
    pub fn is_simulated(&self) -> bool {
        matches!(self, Figure::Rebuild(_) | Figure::Loss | Figure::Load { .. })
    }
}

/// What a requirement says before it is known about which workload.
#[derive(Clone, Debug, PartialEq)]
pub enum Said {
    /// About the design itself.
    Design(Figure, Bound),
    /// About its rebuild.
    Rebuild(Bound),
    /// About a load.
    Load(LoadFigure, Bound),
}

const EXAMPLES: &str = "write for example iops >= 20k at p99 < 5ms, bandwidth >= 800MB/s, p99 < 10ms, usable >= 40TB, \
    rebuild < 12h, loss < 1e-6, price <= 20000 or watts <= 400";

impl FromStr for Said {
    type Err = Wrong;

    fn from_str(text: &str) -> Result<Said, Wrong> {
        let wrong = |why: &str| Wrong::new(format!("`{text}` is not a requirement: {why}"), EXAMPLES);
        let at = text.find(['<', '>']).ok_or_else(|| wrong("it has neither `<` nor `>`"))?;
        let (name, rest) = text.split_at(at);
        let (is_least, rest) = (rest.starts_with('>'), &rest[1..]);
        let or_equal = rest.strip_prefix('=');
        let bound = match (is_least, or_equal.is_some()) {
            (true, true) => Bound::AtLeast,
            (true, false) => Bound::Above,
            (false, true) => Bound::AtMost,
            (false, false) => Bound::Below,
        };
        let rest = or_equal.unwrap_or(rest);
        let (limit, slo) = match rest.split_once(" at ") {
            Some((limit, slo)) => (limit.trim(), Some(slo)),
            None => (rest.trim(), None),
        };
        let name = name.trim();
        let wants_least = matches!(name, "iops" | "bandwidth" | "throughput" | "usable");
        if wants_least != is_least {
            let sign = if wants_least { ">=" } else { "<" };
            return Err(wrong(&format!("{name} is bounded with `{sign}`")));
        }
        let slo = slo.map(|slo| slo.parse::<Slo>().map_err(|error| wrong(&error.to_string()))).transpose()?;
        let timed = |slo: &Slo| matches!(slo, Slo::Latency { .. });
        if slo.as_ref().is_some_and(|slo| !timed(slo)) {
            return Err(wrong("what stands behind `at` is about a time"));
        }
        if slo.is_some() && !matches!(name, "iops" | "bandwidth" | "throughput") {
            return Err(wrong("only iops and bandwidth are taken `at` a time"));
        }
        let beyond = |slo: &Slo| match slo {
            Slo::Latency { figure: LatencyFigure::Quantile(share), .. } => share.get() > 0.99,
            _ => false,
        };
        let too_rare =
            "short simulations see too few requests beyond p99; try `fathom search` on the design found";
        if slo.as_ref().is_some_and(beyond) {
            return Err(wrong(too_rare));
        }
        let number = |text: &str| {
            let number = text.replace('_', "").parse::<f64>().ok();
            number.filter(|number| number.is_finite() && *number >= 0.0)
        };
        let plain = |unit: &str| {
            let text = limit.strip_suffix(unit).unwrap_or(limit).trim();
            let percent = text.strip_suffix('%').filter(|_| name == "loss");
            percent
                .map_or_else(|| number(text), |percent| Some(number(percent.trim())? / 100.0))
                .ok_or_else(|| wrong(&format!("`{limit}` is not a number from 0 on")))
        };
        let unit = |error: units::UnitError| wrong(&error.to_string());
        Ok(match name {
            "iops" => {
                let limit = if limit.contains('/') { limit.to_owned() } else { format!("{limit}/s") };
                let limit: OpsPerSecond = limit.parse().map_err(unit)?;
                Said::Load(LoadFigure::Iops(slo), bound(limit.get()))
            }
            "bandwidth" | "throughput" => {
                let limit: BytesPerSecond = limit.parse().map_err(unit)?;
                Said::Load(LoadFigure::Throughput(slo), bound(limit.get()))
            }
            "usable" => {
                let limit: Bytes = limit.parse().map_err(unit)?;
                Said::Design(Figure::Usable, bound(limit.as_f64()))
            }
            "rebuild" => {
                let limit: Nanos = limit.parse().map_err(unit)?;
                Said::Rebuild(bound(limit.as_secs_f64() / 3_600.0))
            }
            "loss" => Said::Design(Figure::Loss, bound(plain("per year")?)),
            "price" => Said::Design(Figure::Price, bound(plain("")?)),
            "watts" => Said::Design(Figure::Watts, bound(plain("W")?)),
            _ => {
                let slo: Slo = text.parse().map_err(|_| wrong("its figure is not known"))?;
                if beyond(&slo) {
                    return Err(wrong(too_rare));
                }
                match slo.below() {
                    Some(below) => Said::Load(LoadFigure::Latency(slo), bound(below.get() as f64)),
                    None => return Err(wrong("virtual arrays fail no request, so errors say nothing")),
                }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str) -> Said {
        text.parse().unwrap_or_else(|wrong: Wrong| panic!("{text}: {}", wrong.message))
    }

    #[test]
    fn requirements_are_read_with_their_units() {
        let Said::Load(LoadFigure::Iops(Some(slo)), Bound::AtLeast(limit)) = said("iops >= 20k at p99 < 5ms")
        else {
            panic!("a rate at a time");
        };
        assert_eq!((limit, slo.to_string().as_str()), (20_000.0, "p99<5ms"));
        assert_eq!(said("bandwidth>=800MB/s"), Said::Load(LoadFigure::Throughput(None), Bound::AtLeast(8e8)));
        assert_eq!(said("usable >= 40TB"), Said::Design(Figure::Usable, Bound::AtLeast(4e13)));
        assert_eq!(said("rebuild < 12h"), Said::Rebuild(Bound::Below(12.0)));
        assert_eq!(said("loss < 1e-6 per year"), Said::Design(Figure::Loss, Bound::Below(1e-6)));
        assert_eq!(said("loss < 1%"), Said::Design(Figure::Loss, Bound::Below(0.01)));
        assert_eq!(said("price <= 20_000"), Said::Design(Figure::Price, Bound::AtMost(2e4)));
        assert_eq!(said("watts <= 400W"), Said::Design(Figure::Watts, Bound::AtMost(400.0)));
        assert!(matches!(said("read.p95 < 5ms"), Said::Load(LoadFigure::Latency(_), Bound::Below(5e6))));
    }

    #[test]
    fn a_limit_itself_is_within_a_bound_with_an_equals_sign_alone() {
        let holds = |text: &str, value: f64| match said(text) {
            Said::Design(_, bound) | Said::Rebuild(bound) | Said::Load(_, bound) => bound.holds(value),
        };
        assert!(holds("price <= 420", 420.0) && !holds("price < 420", 420.0) && holds("price < 420", 419.0));
        assert!(holds("iops >= 150", 150.0) && !holds("iops > 150", 150.0) && holds("iops > 150", 151.0));
    }

    #[test]
    fn what_is_no_requirement_says_why() {
        let why = |text: &str| text.parse::<Said>().expect_err(text).message;
        assert!(why("fast").contains("neither"));
        assert!(why("iops < 5k").contains(">="));
        assert!(why("price >= 5").contains("`<`"));
        assert!(why("usable >= 40").contains("unit"));
        assert!(why("errors < 1%").contains("say nothing"));
        assert!(why("usable >= 40TB at p99 < 5ms").contains("only iops"));
        assert!(why("iops >= 5k at errors < 1%").contains("a time"));
        assert!(why("loss < never").contains("not a number"));
        assert!(why("p99.9 < 5ms").contains("beyond p99"));
        assert!(why("speed < 5ms").contains("not known"));
    }
}
