//! Who measures cells on virtual arrays: the threads of this process, or all ranks of `mpirun`, each one cell at a time.

use campaign::Turn;
use cluster::{Pieces, WorkItems};
use record::Run;
use serde::{Deserialize, Serialize};

use super::CampaignArgs;
use super::course::measured;
use super::subject::Subject;
use crate::ending::{Ending, Failure};
use crate::session::ranks;
use crate::session::recorder::Recorded;
use crate::terminal::Display;

/// A cell that was measured before its turn, and is in no library yet.
pub enum Ahead {
    /// By this process, or as another rank told it.
    Ended(Box<Result<Recorded, Failure>>),
    /// Another rank could not.
    Failed(Ending),
}

impl Ahead {
    /// Measures the cell of `turn`.
    pub fn of(subject: &Subject, arguments: &CampaignArgs, turn: &Turn) -> Ahead {
        let request = subject.request(turn, &arguments.change.tags);
        Ahead::Ended(Box::new(request.and_then(|request| {
            measured(request, Vec::new(), subject.proof_of(turn), arguments, None, Display::None)
        })))
    }
}

/// What a rank tells of a cell that it was asked for.
#[derive(Serialize, Deserialize)]
enum Answer {
    Ended { run: Box<Run>, is_refused: bool },
    Failed { code: u8, reason: String },
}

impl Answer {
    fn of(subject: &Subject, arguments: &CampaignArgs, cell: &str) -> Answer {
        let failed = |failure: Failure| {
            let Ending { code, reason } = failure.ending();
            Answer::Failed { code, reason }
        };
        let Some(turn) = subject.schedule().into_iter().find(|turn| subject.label(turn) == cell) else {
            return failed(Failure::Usage(format!(
                "a rank has no cell `{cell}` in the campaign; give all ranks the same file and options"
            )));
        };
        let recorded = match Ahead::of(subject, arguments, &turn) {
            Ahead::Ended(recorded) => *recorded,
            Ahead::Failed(Ending { code, reason }) => return Answer::Failed { code, reason },
        };
        recorded.map_or_else(failed, |Recorded { run, is_refused, .. }| Answer::Ended {
            run: Box::new(run),
            is_refused,
        })
    }

    fn ahead(self) -> Ahead {
        match self {
            Answer::Ended { run, is_refused } => {
                Ahead::Ended(Box::new(Ok(Recorded { run: *run, lost: None, is_refused })))
            }
            Answer::Failed { code, reason } => Ahead::Failed(Ending { code, reason }),
        }
    }
}

/// Why ranks cannot share the cells of `subject`, whose targets are virtual arrays, and what to do instead.
pub fn can_share(subject: &Subject, arguments: &CampaignArgs) -> Result<(), String> {
    let why = if !subject.is_apart() {
        "between the cells of this campaign, which are on virtual arrays, a command or a person changes something (`set`, `ask`, \
         `check`), so that they come one after the other; run it without `mpirun`, or have an option of the array or a key of the \
         plan make the change"
    } else if arguments.metrics.are_wanted() {
        "live metrics are of one cell at a time, and each rank measures another cell; leave `--metrics` and `--metrics-to` out, \
         or run the campaign without `mpirun`"
    } else if arguments.file_per_rank || arguments.hosts_config.is_some() {
        "--file-per-rank and --hosts-config are for real targets, and this campaign is measured on virtual arrays; leave them out"
    } else {
        return Ok(());
    };
    Err(why.into())
}

/// What all ranks must know alike.
fn about(subject: &Subject, arguments: &CampaignArgs) -> String {
    format!("{} {:?} {:?}", subject.key, subject.toml, arguments.change.tags)
}

/// On a rank other than 0 measures the cells that rank 0 names, until it has all. `None` on rank 0.
pub fn serve(subject: &Subject, arguments: &CampaignArgs) -> Option<Ending> {
    let work = |cell: &str| serde_json::to_string(&Answer::of(subject, arguments, cell)).unwrap_or_default();
    ranks::run_work_items(&about(subject, arguments), &work)
}

/// Those who measure.
pub struct Workers<'a> {
    subject: &'a Subject,
    arguments: &'a CampaignArgs,
    others: Option<WorkItems>,
}

impl<'a> Workers<'a> {
    /// All ranks that were given the same campaign, where its cells are virtual arrays; this process alone otherwise.
    pub fn open(subject: &'a Subject, arguments: &'a CampaignArgs) -> Result<Workers<'a>, Failure> {
        let others = match subject.is_virtual() {
            true => ranks::work_items(&about(subject, arguments), Pieces::Long)?,
            false => None,
        };
        Ok(Workers { subject, arguments, others })
    }

    /// Has the ranks measure `turns`, each cell by one of them, and hands them on in their order, as long as `take` wants more.
    /// `None` where there are no other ranks; how the campaign ends where one of them has gone.
    pub fn measure(
        &self,
        turns: &[Turn],
        take: &mut dyn FnMut(usize, Ahead) -> bool,
    ) -> Option<Result<(), Ending>> {
        let cells: Vec<String> = turns.iter().map(|turn| self.subject.label(turn)).collect();
        let here = |at: usize| Ahead::of(self.subject, self.arguments, &turns[at]);
        let read = |text: &str| serde_json::from_str(text).ok().map(Answer::ahead);
        let done = self.others.as_ref()?.execute(&cells, &here, &read, take);
        Some(done.map_err(|lost| Ending {
            code: 7,
            reason: format!(
                "{lost}; the cells before are kept, and the next start measures those that are missing"
            ),
        }))
    }
}
