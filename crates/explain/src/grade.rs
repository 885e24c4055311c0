//! Grades: how far the figures of a point and of a run can be relied on.
//!
//! **Invariant:** a check passes on evidence alone. Without evidence it is reported as not made, which costs the A.

use std::collections::{BTreeMap, BTreeSet};

use record::{Check, Finding, Grade, Grading, Outcome, Point, PointKind, Run, Severity};

use crate::Code;
use crate::evidence::on_nothing;
use crate::history::History;
use crate::{findings_with, proof, search, working_set};

/// A question that a grade depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum About {
    Direct,
    Cache,
    Content,
    Preconditioned,
    Steady,
    Samples,
    Client,
    Bookkeeping,
    Requests,
    ExternalIo,
    Clock,
}

/// A check, as the guide lists it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckAbout {
    /// Stable name.
    pub name: &'static str,
    /// What passes, in words.
    pub question: &'static str,
    /// Whether it decides what was measured; otherwise how exactly, or for how long it holds.
    pub main: bool,
    about: About,
}

const fn check(about: About, name: &'static str, main: bool, question: &'static str) -> CheckAbout {
    CheckAbout { name, question, main, about }
}

/// All checks, in the order of the guide.
pub const CHECKS: [CheckAbout; 11] = [
    check(About::Requests, "requests", true, "every request was issued when it was due, and completed"),
    check(About::Bookkeeping, "accounting", true, "requests, bytes, rate and latency agree"),
    check(About::Direct, "direct", true, "requests bypassed the page cache, and reached the device"),
    check(About::Cache, "cache", true, "the working set is larger than every cache of the storage"),
    check(
        About::Content,
        "content",
        true,
        "the data neither compresses nor repeats, and was written before it was read",
    ),
    check(About::Client, "generator", true, "neither the load generator nor the machine was saturated"),
    check(
        About::Preconditioned,
        "preconditioned",
        false,
        "flash was preconditioned to steady state before the workload wrote",
    ),
    check(About::Steady, "steady", false, "the rate was in steady state by SNIA's rule, and had no trend"),
    check(
        About::Samples,
        "samples",
        false,
        "enough requests and enough time were measured for the figures shown",
    ),
    check(
        About::ExternalIo,
        "external-io",
        false,
        "no external I/O on the device, and no processor time stolen",
    ),
    check(About::Clock, "cpu-clock", false, "the CPU clock did not change"),
];
const _: () = {
    let mut one = 0;
    while one < CHECKS.len() {
        let mut other = 0;
        while other < one {
            assert!(CHECKS[one].about as u8 != CHECKS[other].about as u8, "each is checked once");
            other += 1;
        }
        one += 1;
    }
};

/// Which check a finding belongs to, and the best grade that it allows as a note, a warning, or where it makes a figure
/// invalid; `None` for those that do not affect the grade.
pub(crate) fn weight(code: Code) -> Option<(About, [Grade; 3])> {
    use Grade::{A, B, C, D, F};
    let answer = match code {
        Code::Errors
        | Code::Interrupted
        | Code::NotIssued
        | Code::GaveUp
        | Code::NothingMeasured
        | Code::Lag => (About::Requests, [B, C, F]),
        Code::DataCorrupt => (About::Requests, [F, F, F]),
        Code::DataVerified => (About::Requests, [A, B, F]),
        Code::Accounting | Code::LittleLaw => (About::Bookkeeping, [B, D, F]),
        Code::FewSamples | Code::PercentilesNotModelled => (About::Samples, [A, C, F]),
        Code::ShortRun | Code::WideInterval => (About::Samples, [B, C, F]),
        Code::Stall
        | Code::Drift
        | Code::Trend
        | Code::RepeatsDiffer
        | Code::NotSteady
        | Code::CarryOver
        | Code::CacheFilling => (About::Steady, [B, C, F]),
        Code::Buffered | Code::DirectNotHonoured | Code::DirtyPages => (About::Direct, [B, D, F]),
        Code::CacheSuspected | Code::SloWriteCache => (About::Cache, [B, D, F]),
        Code::UnwrittenData | Code::CompressibleContent => (About::Content, [B, D, F]),
        Code::NotPreconditioned => (About::Preconditioned, [B, C, F]),
        Code::GeneratorSaturated | Code::HostLimit => (About::Client, [B, D, F]),
        Code::CpuSaturated => (About::Client, [A, D, F]),
        Code::UnequalPaths | Code::Straggler | Code::UnequalResponses => (About::Client, [B, C, F]),
        Code::RankClocks => (About::Client, [A, C, F]),
        Code::EngineFallback => (About::Client, [A, B, F]),
        Code::CpuQuota => (About::Client, [B, D, F]),
        // What only looks like a limit may be the storage's own.
        Code::RateLimited => (About::Client, [A, D, F]),
        Code::ExternalIo | Code::CpuSteal => (About::ExternalIo, [B, C, F]),
        Code::Throttled | Code::ClockChanged => (About::Clock, [B, C, F]),
        Code::StateNotHeld
        | Code::SettingsNotModelled
        | Code::UnusedSpace
        | Code::DriveWriteCache
        | Code::ContentCost
        | Code::DepthNotReached
        | Code::CacheSeen
        | Code::VirtualMachine
        | Code::NullTarget
        | Code::Bottleneck
        | Code::LatencyBound
        | Code::OfferedLoad
        | Code::BottleneckUncounted
        | Code::BottleneckUndetermined
        | Code::CacheHits
        | Code::AvoidableCost
        | Code::WhatIf
        | Code::CurveUnsteady
        | Code::Knee
        | Code::NoSharpKnee
        | Code::Retrograde
        | Code::Superlinear
        | Code::SloMaximum
        | Code::SloViolated
        | Code::SloHysteresis
        | Code::SloRecovery
        | Code::BelowModel
        | Code::AboveModel => return None,
    };
    debug_assert!(answer.1.is_sorted(), "{}: what is graver gives a better grade", code.name());
    Some(answer)
}

/// The table of the guide: each code that a grade depends on, its check, and the best grade that it allows as a note, a
/// warning, and where it makes a figure invalid.
pub fn weights() -> Vec<(Code, &'static str, [Grade; 3])> {
    let row = |code: &Code| {
        let (about, grades) = weight(*code)?;
        let check = CHECKS.iter().find(|check| check.about == about)?;
        Some((*code, check.name, grades))
    };
    Code::ALL.iter().filter_map(row).collect()
}

/// Puts the findings into `run`, the marks and the caches that follow from them, and the grades of its points and of
/// itself, in place of those it has.
///
/// A run without storage has findings and no grade.
pub fn judge(run: &mut Run) {
    let history = History::of(run);
    run.findings = findings_with(run, &history);
    // Caches that several targets show together belong to none of them alone.
    if let [_] = run.targets[..] {
        let seen = working_set::caches(run);
        let caches = &mut run.targets[0].caches;
        caches.retain(|cache| seen.is_empty() || cache.name != working_set::NAME);
        caches.extend(seen);
    }
    let of_storage = !on_nothing(run);
    let grades = |point: &Point| of_storage && point.kind == PointKind::Load && search::is_result(run, point);
    let found = ByPoint::of(run);
    let gradings: Vec<Option<Grading>> = run
        .points
        .iter()
        .map(|point| grades(point).then(|| of_point(run, &history, &found, point)))
        .collect();
    let limited = |finding: &&Finding| finding.code == Code::GeneratorSaturated.name();
    let limited: BTreeSet<u32> =
        run.findings.iter().filter(limited).filter_map(|finding| finding.point).collect();
    debug_assert!(
        found.points.keys().all(|index| run.points.iter().any(|point| point.index == *index)),
        "findings are about points of this run"
    );
    for (point, grading) in run.points.iter_mut().zip(gradings) {
        point.grading = grading;
        point.generator_saturated = limited.contains(&point.index);
    }
    run.grading = of_run(run);
}

/// The findings of a run by what they are about.
struct ByPoint<'a> {
    run: Vec<&'a Finding>,
    points: BTreeMap<u32, Vec<&'a Finding>>,
}

impl ByPoint<'_> {
    fn of(run: &Run) -> ByPoint<'_> {
        let mut found = ByPoint { run: Vec::new(), points: BTreeMap::new() };
        for finding in &run.findings {
            match finding.point {
                Some(point) => found.points.entry(point).or_default().push(finding),
                None => found.run.push(finding),
            }
        }
        found
    }
}

fn of_point(run: &Run, history: &History, all: &ByPoint<'_>, point: &Point) -> Grading {
    let about_phase = all.run.iter().filter(|finding| is_about_phase(run, finding, point));
    let own = all.points.get(&point.index).into_iter().flatten();
    let found: Vec<&Finding> = about_phase.chain(own).copied().collect();
    grading(
        CHECKS
            .iter()
            .filter_map(|check| answer(check, &found, || proof::of(check.about, run, history, point)))
            .collect(),
    )
}

/// Findings about the run that are about the rounds of the point's phase.
fn is_about_phase(run: &Run, finding: &Finding, point: &Point) -> bool {
    let of_rounds = [Code::NotSteady, Code::Trend].map(Code::name).contains(&finding.code.as_str());
    of_rounds && run.rounds.iter().any(|rounds| rounds.phase == point.phase)
}

/// What came of `check`; `None` where it does not apply.
fn answer(check: &CheckAbout, found: &[&Finding], proof: impl FnOnce() -> proof::Proof) -> Option<Check> {
    let weighed: Vec<(&str, Grade)> = found
        .iter()
        .filter_map(|finding| {
            let (about, grades) = weight(Code::named(&finding.code)?)?;
            let grade = match finding.severity {
                Severity::Note => grades[0],
                Severity::Warning => grades[1],
                Severity::Invalid => grades[2],
            };
            (about == check.about).then_some((finding.code.as_str(), grade))
        })
        .collect();
    let worst = weighed.iter().map(|(_, grade)| *grade).max().unwrap_or(Grade::A);
    let mut codes: Vec<String> = weighed.iter().map(|(code, _)| (*code).to_owned()).collect();
    codes.dedup();
    let (outcome, grade, why) = match worst {
        Grade::A | Grade::B => match proof() {
            proof::Proof::DoesNotApply if codes.is_empty() => return None,
            proof::Proof::Missing(why) => (Outcome::NotChecked, Grade::B, why),
            proof::Proof::Seen | proof::Proof::DoesNotApply => (Outcome::Passed, worst, String::new()),
        },
        worse => (Outcome::Failed, worse, String::new()),
    };
    Some(Check { name: check.name.into(), outcome, grade, codes, why, points: Vec::new() })
}

fn is_main(check: &Check) -> bool {
    CHECKS.iter().any(|about| about.main && about.name == check.name)
}

/// The worst that any check allows; C where two of the main ones could not be made, E where two of them failed.
fn grading(checks: Vec<Check>) -> Grading {
    let worst = checks.iter().map(|check| check.grade).max().unwrap_or(Grade::A);
    let main =
        |outcome: Outcome| checks.iter().filter(|check| is_main(check) && check.outcome == outcome).count();
    let in_doubt = checks.iter().filter(|check| is_main(check) && check.grade == Grade::D).count();
    let grade = match worst {
        Grade::D if in_doubt >= 2 => Grade::E,
        Grade::A | Grade::B if main(Outcome::NotChecked) >= 2 => Grade::C,
        worst => worst,
    };
    debug_assert!(grade >= worst, "no grade is better than a check allows");
    Grading { grade, checks }
}

/// The worst of the points, and what was found of the run as a whole; `None` without a graded point.
fn of_run(run: &Run) -> Option<Grading> {
    let graded: Vec<(&Point, &Grading)> =
        run.points.iter().filter_map(|point| Some((point, point.grading.as_ref()?))).collect();
    let of_points = graded.iter().map(|(_, grading)| grading.grade).max()?;
    let about_run: Vec<&Finding> = run.findings.iter().filter(|finding| finding.point.is_none()).collect();
    let merge = |check: &CheckAbout| {
        let same = graded.iter().filter_map(|(point, grading)| {
            let own = grading.checks.iter().find(|own| own.name == check.name)?;
            Some((point.name.as_str(), own))
        });
        let of_run = answer(check, &about_run, || proof::Proof::DoesNotApply);
        merged(&same.collect::<Vec<_>>(), of_run)
    };
    let checks: Vec<Check> = CHECKS.iter().filter_map(merge).collect();
    let worst = checks.iter().map(|check| check.grade).max().unwrap_or(Grade::A);
    Some(Grading { grade: of_points.max(worst), checks })
}

/// The worst outcome of one check, with the points that had it. Among equal grades a failure is worse than a check that
/// was not made, and that is worse than one that passed.
fn merged(of_points: &[(&str, &Check)], of_run: Option<Check>) -> Option<Check> {
    let rank =
        |check: &Check| (check.grade, check.outcome == Outcome::Failed, check.outcome == Outcome::NotChecked);
    let worst = of_points.iter().map(|(_, check)| *check).max_by_key(|check| rank(check));
    let Some(worst) = worst else { return of_run };
    if let Some(of_run) = of_run.filter(|of_run| rank(of_run) >= rank(worst)) {
        return Some(of_run);
    }
    let worst_of = of_points.iter().filter(|(_, check)| rank(check) == rank(worst)).map(|(name, _)| *name);
    let mut known = BTreeSet::new();
    let points: Vec<String> = worst_of.filter(|name| known.insert(*name)).map(str::to_owned).collect();
    debug_assert!(!points.is_empty(), "it came out so somewhere");
    Some(Check { points, ..worst.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, outcome: Outcome, grade: Grade) -> Check {
        Check { name: name.into(), outcome, grade, codes: Vec::new(), why: String::new(), points: Vec::new() }
    }

    #[test]
    fn a_cache_that_an_earlier_run_saw_is_kept_where_this_one_did_not_look() {
        let cache = |name: &str| record::Cache { name: name.into(), size_bytes: 1 << 30 };
        let mut run = record::sample::run("quick", Vec::new());
        run.targets[0].caches = vec![cache(working_set::NAME), cache("controller")];
        judge(&mut run);
        assert_eq!(run.targets[0].caches, [cache(working_set::NAME), cache("controller")]);
    }

    #[test]
    fn six_of_the_checks_are_main_ones() {
        let main: Vec<&str> = CHECKS
            .iter()
            .map(|about| about.name)
            .filter(|name| is_main(&check(name, Outcome::Passed, Grade::A)))
            .collect();
        assert_eq!(main, ["requests", "accounting", "direct", "cache", "content", "generator"]);
        assert!(!is_main(&check("", Outcome::Passed, Grade::A)));
    }

    #[test]
    fn a_grade_is_the_worst_and_two_main_checks_in_doubt_cost_one_more() {
        let of = |checks: &[(&str, Outcome, Grade)]| {
            grading(checks.iter().map(|(name, outcome, grade)| check(name, *outcome, *grade)).collect()).grade
        };
        let (unmade, failed) = (Outcome::NotChecked, Outcome::Failed);
        assert_eq!(of(&[]), Grade::A);
        assert_eq!(
            of(&[("cache", Outcome::Passed, Grade::A), ("clock", Outcome::Passed, Grade::B)]),
            Grade::B
        );
        assert_eq!(of(&[("cache", unmade, Grade::B), ("clock", unmade, Grade::B)]), Grade::B);
        assert_eq!(of(&[("cache", unmade, Grade::B), ("content", unmade, Grade::B)]), Grade::C);
        assert_eq!(of(&[("cache", Outcome::Passed, Grade::B), ("content", unmade, Grade::B)]), Grade::B);
        assert_eq!(of(&[("cache", failed, Grade::D), ("clock", failed, Grade::D)]), Grade::D);
        assert_eq!(of(&[("cache", failed, Grade::D), ("content", failed, Grade::C)]), Grade::D);
        assert_eq!(of(&[("cache", failed, Grade::D), ("content", failed, Grade::D)]), Grade::E);
        assert_eq!(
            of(&[("cache", failed, Grade::D), ("content", failed, Grade::D), ("direct", failed, Grade::F)]),
            Grade::F
        );
    }

    #[test]
    fn among_equal_grades_a_failure_is_worse_than_a_check_that_was_not_made() {
        let passed = check("cache", Outcome::Passed, Grade::B);
        let (unmade, failed) =
            (check("cache", Outcome::NotChecked, Grade::B), check("cache", Outcome::Failed, Grade::B));
        let points = [("a", &passed), ("b", &failed), ("c", &unmade), ("b", &failed), ("d", &failed)];
        let told = merged(&points, Some(unmade.clone())).expect("there are points");
        assert_eq!((told.outcome, told.points), (Outcome::Failed, vec!["b".to_owned(), "d".to_owned()]));
        let told = merged(&points[..1], Some(unmade.clone())).expect("there are points");
        assert_eq!((told.outcome, told.points.len()), (Outcome::NotChecked, 0));
        assert_eq!(
            merged(&points[..1], Some(passed.clone())).map(|told| told.points.len()),
            Some(0),
            "the run's own"
        );
        assert_eq!(merged(&[], Some(failed.clone())), Some(failed));
        assert_eq!(merged(&[], None), None);
    }

    #[test]
    fn findings_of_rounds_are_about_the_points_of_their_phase_alone() {
        let mut run = record::sample::run("p", vec![record::sample::point(0, "a", Vec::new())]);
        run.rounds = vec![record::Rounds {
            phase: "a".into(),
            figure: "iops".into(),
            at: BTreeMap::new(),
            values: Vec::new(),
            most: 25,
            steady: false,
            window: None,
        }];
        run.points[0].phase = "a".into();
        let of = |run: &Run, code: Code| {
            let finding = crate::draft::Draft::new(code, Severity::Warning, "It is.").about_run();
            is_about_phase(run, &finding, &run.points[0])
        };
        assert!(of(&run, Code::NotSteady) && of(&run, Code::Trend));
        assert!(!of(&run, Code::Errors), "it is of no rounds");
        run.points[0].phase = "b".into();
        assert!(!of(&run, Code::NotSteady));
    }

    #[test]
    fn a_check_that_does_not_apply_passes_where_a_note_was_found() {
        let about = CHECKS.iter().find(|check| check.name == "preconditioned").expect("it is one");
        let code =
            Code::ALL.iter().copied().find(|code| weight(*code).is_some_and(|(of, _)| of == about.about));
        let finding =
            crate::draft::Draft::new(code.expect("one weighs"), Severity::Note, "It is.").about_run();
        assert_eq!(answer(about, &[], || proof::Proof::DoesNotApply), None);
        let passed = answer(about, &[&finding], || proof::Proof::DoesNotApply);
        assert_eq!(passed.map(|check| check.outcome), Some(Outcome::Passed));
    }
}
