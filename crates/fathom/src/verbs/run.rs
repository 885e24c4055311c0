//! `fathom run`

use clap::Args;
use record::Run;

use crate::ending::{Ending, Failure};
use crate::input::arrays;
use crate::input::plans::Planned;
use crate::session::recorder::Recorded;
use crate::session::store::Store;
use crate::session::{dry_run, ranks};
use crate::verbs::against::{self, AgainstArgs};
use crate::verbs::judging::{Judging, JudgingArgs};
use crate::verbs::measure::RunArgs;

#[derive(Debug, Args)]
pub struct MeasureArgs {
    #[command(flatten)]
    pub run: RunArgs,
    #[command(flatten)]
    pub against: AgainstArgs,
    #[command(flatten)]
    pub judging: JudgingArgs,
    /// On a virtual array: record the latency breakdown of each request (time in queue, cache, link, disk) for `fathom
    /// explain`. The simulation runs slower
    #[arg(long, conflicts_with = "against")]
    pub breakdown: bool,
}

pub fn run(arguments: &MeasureArgs, store: &Store) -> Result<Ending, Failure> {
    let (run, judging) = (&arguments.run, &arguments.judging);
    if let Some(ending) = over_ranks(arguments)? {
        return Ok(ending);
    }
    if let Some(second) = &arguments.against.against {
        if judging.is_used() {
            return Err(Failure::Usage(
                "--against compares two targets; --runs, --junit, --annotations and --series are for one"
                    .into(),
            ));
        }
        return against::run(run, &arguments.against, second, store);
    }
    run.check_outputs()?;
    judging.check()?;
    let (planned, options) = run.read()?;
    if arguments.breakdown && arrays::address(&options.targets)?.is_none() {
        return Err(Failure::Usage(
            "--breakdown needs a virtual array, because real storage does not show where a request spends \
             its time; choose one with `--on array:NAME`"
                .into(),
        ));
    }
    if run.dry_run {
        return dry_run::run(&planned.plan, &options, planned.plan.summary());
    }
    let asked = Judging::of(&planned.plan, judging, store)?;
    let mut earlier: Vec<Run> = Vec::new();
    let mut worst = Ending::done();
    loop {
        let count = earlier.len() + 1;
        let (runs, confirm) = (usize::from(judging.runs), usize::from(judging.confirm));
        let may_confirm = count < runs + confirm;
        debug_assert!(
            count <= runs + confirm,
            "no more runs are measured than `--runs` and `--confirm` have"
        );
        let judge = asked.as_ref().map(|asked| asked.judge(earlier.clone(), may_confirm));
        let recorded = measured(arguments, planned.clone(), &options, judge, store)?;
        let is_whole = recorded.run.ending.complete && matches!(recorded.run.ending.code, 0 | 1);
        let is_suspect = may_confirm && Judging::needs_confirming(&recorded.run);
        if is_whole && !recorded.is_refused && (count < runs || is_suspect) {
            run.say_where(&recorded, store);
            if recorded.run.ending.code != 0 {
                worst = Ending { code: recorded.run.ending.code, reason: recorded.run.ending.reason.clone() };
            } else if count >= runs {
                crate::terminal::say_sentence(&recorded.run.ending.reason);
            }
            earlier.push(recorded.run);
            continue;
        }
        let measured = recorded.run.clone();
        let is_refused = recorded.is_refused;
        let ending = run.end(recorded, store)?;
        if !is_refused {
            judging.deliver(&measured)?;
            Judging::say(&measured);
        }
        return Ok(if ending.code == 0 { worst } else { ending });
    }
}

/// How a rank other than 0 ended; `None` where this is none. An error where an option is for one process.
fn over_ranks(arguments: &MeasureArgs) -> Result<Option<Ending>, Failure> {
    if !ranks::is_first() && arguments.run.dry_run {
        return Ok(Some(Ending::done()));
    }
    if ranks::are_several() && arguments.against.against.is_some() {
        return Err(ranks::for_one_process(
            "--against measures two targets interleaved in one process; run the plan on each with `mpirun`, and compare the \
             records with `fathom compare`",
        ));
    }
    Ok(arguments.run.serve())
}

/// The plan carried out once.
fn measured(
    arguments: &MeasureArgs,
    planned: Planned,
    options: &real::RealOptions,
    judge: Option<crate::session::recorder::Judge>,
    store: &Store,
) -> Result<Recorded, Failure> {
    let run = &arguments.run;
    let (mut session, mut progress) = run.open(planned, options, store)?;
    if arguments.breakdown {
        session.keep_breakdown();
    }
    if let Some(judge) = judge {
        session.judged_by(judge);
    }
    let recorded = session.measure(&mut |event| run.watch(&mut progress, event));
    progress.finish();
    Ok(recorded)
}
