//! The machine that a world runs on.

use record::Environment;
use workload::room::Room;

/// What a world is told of the machine that runs it. The default has no limits and no name.
#[derive(Clone, Debug, Default)]
pub struct Machine {
    /// As records keep it.
    pub environment: Environment,
    /// What this process may still take of it.
    pub room: Room,
}
