//! Who carries simulations out: the threads of this process, or whatever else is given.

use conduct::in_order;
use modelled::lab::spot::State;

use crate::evaluate::{AGAIN, Depth, Outcome, Task};

/// One simulation that is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkItem {
    /// Short or long.
    pub depth: Depth,
    /// What is simulated.
    pub task: Task,
    /// The number of a design that needs it.
    pub number: u64,
}

/// Carries simulations out, in whichever order and wherever.
pub trait Workers: Sync {
    /// Carries all of `work_items` out; `here` does one in this process. `take` gets the outcomes in the order of the items,
    /// and says whether more are wanted.
    fn execute(
        &self,
        work_items: &[WorkItem],
        here: &(dyn Fn(usize) -> Outcome + Sync),
        take: &mut dyn FnMut(usize, Outcome) -> bool,
    );
}

/// So many threads of this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Local(pub usize);

impl Workers for Local {
    fn execute(
        &self,
        work_items: &[WorkItem],
        here: &(dyn Fn(usize) -> Outcome + Sync),
        mut take: &mut dyn FnMut(usize, Outcome) -> bool,
    ) {
        in_order(work_items.len(), self.0, here, &mut take);
    }
}

const STATES: [State; 3] = [State::Healthy, State::Degraded, State::Rebuilding];

impl WorkItem {
    /// It in words, for another process: `fine 12 load 3f 0 16 degraded`.
    pub fn text(&self) -> String {
        let (depth, number) = (self.depth.name(), self.number);
        match self.task {
            Task::Rebuild { key } => format!("{depth} {number} rebuild {key:x}"),
            Task::Load { key, workload, depth: in_flight, state } => {
                format!("{depth} {number} load {key:x} {workload} {in_flight} {}", state.name())
            }
        }
    }

    /// What [`WorkItem::text`] wrote; `None` for any other text.
    pub fn parse(text: &str) -> Option<WorkItem> {
        let words: Vec<&str> = text.split(' ').collect();
        let (&[depth, number, kind, key], rest) = words.split_first_chunk::<4>()?;
        let depths = [Depth::Coarse, Depth::Fine].into_iter().chain(AGAIN);
        let depth = depths.into_iter().find(|known| known.name() == depth)?;
        let key = u64::from_str_radix(key, 16).ok()?;
        let task = match (kind, rest) {
            ("rebuild", []) => Task::Rebuild { key },
            ("load", [workload, in_flight, state]) => Task::Load {
                key,
                workload: workload.parse().ok()?,
                depth: in_flight.parse().ok()?,
                state: STATES.into_iter().find(|known| known.name() == *state)?,
            },
            _ => return None,
        };
        Some(WorkItem { depth, task, number: number.parse().ok()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_work_item_is_read_back_as_it_was_written_and_nothing_else_is_one() {
        let tasks = STATES.map(|state| Task::Load { key: u64::MAX, workload: 1, depth: 16, state });
        for task in tasks.into_iter().chain([Task::Rebuild { key: 0 }]) {
            for depth in [Depth::Coarse, Depth::Fine].into_iter().chain(AGAIN) {
                let item = WorkItem { depth, task, number: 103_679 };
                assert_eq!(WorkItem::parse(&item.text()), Some(item));
            }
        }
        for wrong in [
            "",
            "fine",
            "fine 1 rebuild x",
            "fine 1 load 3f 0 16",
            "fine 1 load 3f 0 16 asleep",
            "rough 1 rebuild 0",
        ] {
            assert_eq!(WorkItem::parse(wrong), None, "{wrong}");
        }
    }
}
