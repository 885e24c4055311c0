//! Whether a run is good enough: its plan's objectives and baseline, reruns that confirm, and what a build server reads.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, ValueEnum};
use explain::compare::{About, ComparisonInput, FALSE_ALARMS, Promise, gate, objectives};
use record::judgement::{Gate, Judgement, Verdict};
use record::{Metric, Ops, Run};
use workload::plan::{Baseline, LatencyFigure, Objective, Plan, Promised, Rate, Slo, Time};

use crate::ending::{Ending, Failure};
use crate::input::path_value;
use crate::output;
use crate::session::recorder::Judge;
use crate::session::store::Store;
use crate::terminal;
use crate::verbs::compare::Shelf;
use crate::verbs::culprit;

/// Heading of these options.
const JUDGING: &str = "SLOs and baseline";

/// Runs of a baseline that are taken, the newest.
const BASELINE_MOST: usize = 20;

/// Runs of the library of which the noise is learnt where the baseline is one run, the newest.
const EQUAL_MOST: usize = 40;

/// What an inconclusive verdict does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Inconclusive {
    /// Exit 0, and say so
    Pass,
    /// Exit 1
    Fail,
}

// No doc comment: clap would take it for the help of the verb.
#[derive(Debug, Args)]
pub struct JudgingArgs {
    /// Exit code of an inconclusive SLO or baseline: pass (0) or fail (1)
    #[arg(long, value_enum, value_name = "pass|fail", default_value_t = Inconclusive::Pass, hide_possible_values = true)]
    #[arg(help_heading = JUDGING)]
    pub inconclusive: Inconclusive,
    /// Rerun the plan RUNS times to confirm a slowdown before failing; 0 to 10
    #[arg(long, value_name = "RUNS", default_value_t = 1, help_heading = JUDGING)]
    #[arg(value_parser = clap::value_parser!(u8).range(0..=10))]
    pub confirm: u8,
    /// Run the plan COUNT times, each saved as a run of its own; five make a good baseline
    #[arg(long, value_name = "COUNT", default_value_t = 1, help_heading = JUDGING)]
    #[arg(value_parser = clap::value_parser!(u8).range(1..=100))]
    pub runs: u8,
    /// Write the verdicts as JUnit XML
    #[arg(long, value_name = "FILE", help_heading = JUDGING)]
    #[arg(value_parser = path_value())]
    pub junit: Option<PathBuf>,
    /// Print violations on stderr as GitHub Actions annotations: ::error file=PLAN,line=LINE::...
    #[arg(long, help_heading = JUDGING)]
    pub annotations: bool,
    /// Write per-second CSV: rates, latencies, CPU, devices
    #[arg(long, value_name = "FILE", help_heading = JUDGING)]
    #[arg(value_parser = path_value())]
    pub series: Option<PathBuf>,
}

impl JudgingArgs {
    /// Whether anything but a single run is asked for that only a judged run has.
    pub fn is_used(&self) -> bool {
        self.runs > 1 || self.junit.is_some() || self.annotations || self.series.is_some()
    }

    /// That its files can be written, as far as can be told before there is anything.
    pub fn check(&self) -> Result<(), Failure> {
        [&self.junit, &self.series].into_iter().flatten().try_for_each(|path| output::check_folder(path))
    }

    fn fails_open(&self) -> bool {
        self.inconclusive == Inconclusive::Fail
    }

    /// Writes what build servers read of `run`.
    pub fn deliver(&self, run: &Run) -> Result<(), Failure> {
        let write = |path: &Path, text: &str| output::write_whole(path, text);
        if let Some(path) = &self.junit {
            write(path, &report::junit(run, self.fails_open()))?;
        }
        if let Some(path) = &self.series {
            write(path, &report::seconds_csv(run)?)?;
        }
        if self.annotations {
            terminal::say_exactly(&report::annotations(run, self.fails_open()));
        }
        Ok(())
    }
}

/// What a run of one plan is judged by.
#[derive(Clone)]
pub struct Judging {
    promises: Vec<Promise>,
    baseline: Option<Arc<BaselineRuns>>,
    tolerance: f64,
    /// A model of the array that is measured.
    model: Option<String>,
    fails_open: bool,
}

struct BaselineRuns {
    named: Baseline,
    runs: Vec<Run>,
    /// Runs of the plan that are equal to each other: they show the noise where the baseline is one run.
    equal: Vec<Vec<Run>>,
}

impl Judging {
    /// What `plan` asks for, with the runs of its baseline; none where it asks for nothing.
    pub fn of(plan: &Plan, arguments: &JudgingArgs, store: &Store) -> Result<Option<Judging>, Failure> {
        if plan.objectives.is_empty() && plan.baseline.is_none() {
            return Ok(None);
        }
        let baseline = plan.baseline.as_ref().map(|named| {
            let mut shelf = Shelf::new(store);
            let runs = match named {
                Baseline::Run(name) => shelf.side(name)?,
                Baseline::Tag { key, value } => {
                    shelf.labelled(&plan.name, (key, value.as_deref()), BASELINE_MOST)?
                }
            };
            // Two runs of the baseline show the noise themselves.
            let equal = if runs.len() == 1 { shelf.equal(&runs[0], EQUAL_MOST)? } else { Vec::new() };
            Ok::<_, Failure>(Arc::new(BaselineRuns { named: named.clone(), runs, equal }))
        });
        plan.model.as_deref().map_or(Ok(()), culprit::check)?;
        Ok(Some(Judging {
            promises: plan.objectives.iter().map(|one| promise(plan, one)).collect(),
            baseline: baseline.transpose()?,
            tolerance: plan.tolerance.get(),
            model: plan.model.clone(),
            fails_open: arguments.fails_open(),
        }))
    }

    /// Judges a run that follows `earlier` ones of the same plan, which count with it against the baseline. `may_confirm`
    /// says that another run is measured where it seems worse.
    pub fn judge(&self, earlier: Vec<Run>, may_confirm: bool) -> Judge {
        let own = self.clone();
        Box::new(move |run| {
            let judgement = own.judgement(&earlier, run, may_confirm);
            let ending = own.ending(&judgement, may_confirm);
            run.judgement = Some(judgement);
            ending
        })
    }

    fn judgement(&self, earlier: &[Run], run: &Run, may_confirm: bool) -> Judgement {
        let objectives = objectives(run, &self.promises);
        let gate = self.baseline.as_ref().map(|baseline| self.gate(baseline, earlier, run, may_confirm));
        let verdicts = objectives.iter().map(|row| row.verdict);
        let verdict = verdicts.chain(gate.as_ref().map(|gate| gate.verdict)).max().unwrap_or(Verdict::Met);
        debug_assert_eq!(gate.is_some(), self.baseline.is_some(), "what has a baseline is compared with it");
        Judgement { verdict, objectives, gate }
    }

    fn gate(&self, baseline: &BaselineRuns, earlier: &[Run], run: &Run, may_confirm: bool) -> Gate {
        let (base, runs): (Vec<&Run>, Vec<&Run>) =
            (baseline.runs.iter().collect(), earlier.iter().chain([run]).collect());
        let mut found = gate(&ComparisonInput {
            baseline: baseline.named.to_string(),
            base: base.clone(),
            runs: runs.clone(),
            equal: baseline.equal.iter().map(|group| group.iter().collect()).collect(),
            tolerance: self.tolerance,
            false_alarms: FALSE_ALARMS,
        });
        if let (Baseline::Tag { key, .. }, true) = (&baseline.named, baseline.runs.is_empty()) {
            found.notes = vec![format!(
                "No run of plan {} has the label; measure one with `--tag {key}=VALUE --runs 5`.",
                run.plan.name
            )];
        }
        // What may yet turn out to be chance has no cause.
        if let (Some(model), Verdict::Violated, false) = (&self.model, found.verdict, may_confirm) {
            found.culprit = Some(culprit::named(model, &base, &runs, &[]));
        }
        found
    }

    fn ending(&self, judgement: &Judgement, may_confirm: bool) -> Ending {
        let complaints = report::complaints(judgement);
        debug_assert!(
            judgement.verdict != Verdict::Met || complaints.is_empty(),
            "what is met leaves nothing to complain of"
        );
        let is_suspect = |gate: &Gate| gate.verdict == Verdict::Violated && may_confirm;
        let of_objectives = judgement.objectives.iter().map(|row| row.verdict).max().unwrap_or(Verdict::Met);
        if judgement.gate.as_ref().is_some_and(is_suspect) && of_objectives != Verdict::Violated {
            let reason = "slower than the baseline; measured again to confirm it".into();
            return Ending { code: 0, reason };
        }
        let fails = |verdict: Verdict| verdict == Verdict::Violated || self.fails_open;
        match complaints.iter().find(|(verdict, ..)| fails(*verdict)) {
            Some((_, _, what)) => Ending { code: 1, reason: what.clone() },
            None => Ending::done(),
        }
    }

    /// Whether `run` seems worse than its baseline and no other run has shown that yet.
    pub fn needs_confirming(run: &Run) -> bool {
        let gate = run.judgement.as_ref().and_then(|judgement| judgement.gate.as_ref());
        gate.is_some_and(|gate| gate.verdict == Verdict::Violated)
    }

    /// Says on stderr what the ending does not: the other violation or inconclusive verdict, or how many there are, as
    /// each has its line below the figures.
    pub fn say(run: &Run) {
        let complaints: Vec<_> = run.judgement.iter().flat_map(report::complaints).collect();
        let is_said = complaints.iter().any(|(_, _, what)| *what == run.ending.reason);
        let unsaid: Vec<_> =
            complaints.into_iter().filter(|(_, _, what)| *what != run.ending.reason).collect();
        match unsaid.as_slice() {
            [] => {}
            [(_, _, what)] => terminal::say_sentence(what),
            [(_, _, first), rest @ ..] if !is_said => {
                terminal::say_sentence(&format!("{first}; and {} more", rest.len()));
            }
            several => {
                let violated = several.iter().filter(|(verdict, ..)| *verdict == Verdict::Violated).count();
                debug_assert!(several.len() > 1, "one alone has its own words");
                let counts = [(violated, "violated"), (several.len() - violated, "inconclusive")];
                let told = counts.iter().filter(|(count, _)| *count > 0);
                let told: Vec<String> = told.map(|(count, word)| format!("{count} {word}")).collect();
                terminal::say_sentence(&format!("besides, {}", told.join(" and ")));
            }
        }
    }
}

fn promise(plan: &Plan, promised: &Promised) -> Promise {
    let ops = |of: Option<workload::Op>| of.map_or(Ops::All, |of| record::Op::from(of).into());
    let about = match &promised.objective {
        Objective::Keep(Slo::Errors { below }) => About::Errors { below: below.get() },
        Objective::Keep(Slo::Latency { of, time, figure, below }) => About::Time {
            op: ops(*of),
            metric: match figure {
                LatencyFigure::Mean => Metric::Mean,
                LatencyFigure::Quantile(share) => Metric::Quantile(share.get()),
            },
            of_service: *time == Time::Service,
            below_ns: below.get() as f64,
        },
        Objective::Reach { of, above: Rate::Iops(rate), .. } => {
            About::Rate { op: ops(*of), metric: Metric::Iops, above: rate.get() }
        }
        Objective::Reach { of, above: Rate::Throughput(rate), .. } => {
            About::Rate { op: ops(*of), metric: Metric::Throughput, above: rate.get() }
        }
    };
    Promise {
        text: promised.objective.to_string(),
        line: u32::try_from(promised.line).unwrap_or(u32::MAX),
        phase: promised.phase.and_then(|phase| plan.phases.get(phase)).map(|phase| phase.name.clone()),
        about,
    }
}
