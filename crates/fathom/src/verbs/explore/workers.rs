//! Who simulates: the threads of this process, or all ranks of `mpirun`, each one simulation at a time.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use cluster::{Pieces, WorkItems};
use conduct::WorldError;
use explore::evaluate::Evaluator;
use explore::{Design, Local, Outcome, WorkItem};

use crate::ending::{Ending, Failure};
use crate::input::arrays::LIBRARY;
use crate::session::ranks;

/// Those who simulate.
pub struct Workers {
    others: Option<WorkItems>,
    threads: usize,
    /// Who has gone.
    lost: Mutex<Option<String>>,
}

impl Workers {
    /// All ranks that were given the same study, of that text, or so many threads where there is one process.
    pub fn open(study: &str, threads: usize) -> Result<Workers, Failure> {
        Ok(Workers { others: ranks::work_items(study, Pieces::Short)?, threads, lost: Mutex::new(None) })
    }

    /// An error where a rank has gone, and the study was stopped for it.
    pub fn is_whole(&self) -> Result<(), Failure> {
        match self.lost.lock().unwrap_or_else(PoisonError::into_inner).clone() {
            None => Ok(()),
            Some(why) => Err(WorldError::Lost(format!(
                "{why}; what was simulated is in the checkpoint, and the same command continues from there"
            ))
            .into()),
        }
    }
}

impl explore::Workers for Workers {
    fn execute(
        &self,
        work_items: &[WorkItem],
        here: &(dyn Fn(usize) -> Outcome + Sync),
        take: &mut dyn FnMut(usize, Outcome) -> bool,
    ) {
        let Some(others) = &self.others else { return Local(self.threads).execute(work_items, here, take) };
        let texts: Vec<String> = work_items.iter().map(WorkItem::text).collect();
        let read = |text: &str| serde_json::from_str(text).ok();
        if let Err(error) = others.execute(&texts, here, &read, take) {
            *self.lost.lock().unwrap_or_else(PoisonError::into_inner) = Some(error.to_string());
        }
    }
}

/// On a rank other than 0 simulates what rank 0 asks for, until it has its answer. `None` on rank 0 and in one process.
pub fn serve(study: &str, design: &Design) -> Option<Ending> {
    let (known, workers) = (BTreeMap::new(), Local(1));
    let evaluator = Evaluator::new(design, &LIBRARY, &workers, &known);
    let work = |text: &str| {
        let outcome = WorkItem::parse(text).map(|item| evaluator.execute(&item));
        outcome.and_then(|outcome| serde_json::to_string(&outcome).ok()).unwrap_or_default()
    };
    ranks::run_work_items(study, &work)
}
