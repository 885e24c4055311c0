//! Steps that follow each other on one disk, as one command.
//!
//! A large request or a unit of background work visits the same disk row after row; controllers and the block layer
//! join such neighbours before the disk sees them.
//!
//! **Invariant:** the commands cover exactly the sectors of the steps, in the order of the first step of each.

use units::convert::narrow;
use units::{Lba, Sectors};

use super::plan::Step;

/// One command to one disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MergedCommand {
    /// The disk.
    pub member: u16,
    /// First sector.
    pub lba: Lba,
    /// How many.
    pub sectors: Sectors,
}

/// Joins steps into commands. Reused, it allocates nothing.
#[derive(Clone, Debug, Default)]
pub struct Merger {
    commands: Vec<MergedCommand>,
    /// For each disk, one more than the number of its last command; 0 for none.
    last: Vec<u32>,
}

impl Merger {
    /// An empty one.
    pub fn new() -> Merger {
        Merger::default()
    }

    /// The commands that do what `steps`, all reads or all writes of one plan, ask for.
    ///
    /// A step joins the last command of its disk where it starts at its end and the two are no longer than `limit`.
    /// The answer stands until the next call.
    pub fn merge(&mut self, steps: &[Step], limit: Sectors) -> &[MergedCommand] {
        self.commands.clear();
        self.last.clear();
        for step in steps {
            let member = usize::from(step.member);
            if member >= self.last.len() {
                self.last.resize(member + 1, 0);
            }
            let open = (self.last[member] as usize).checked_sub(1).map(|at| &mut self.commands[at]);
            match open {
                Some(open) if open.lba + open.sectors == step.lba && open.sectors + step.sectors <= limit => {
                    open.sectors = open.sectors + step.sectors;
                }
                _ => {
                    self.commands.push(MergedCommand {
                        member: step.member,
                        lba: step.lba,
                        sectors: step.sectors,
                    });
                    self.last[member] = narrow::<u32>(self.commands.len());
                }
            }
        }
        debug_assert_eq!(
            self.commands.iter().map(|command| command.sectors.0).sum::<u64>(),
            steps.iter().map(|step| step.sectors.0).sum::<u64>(),
            "the commands must cover exactly the sectors of the steps",
        );
        &self.commands
    }
}
