//! This machine, as worlds are told of it.

use conduct::Machine;
use host::SysRoot;
use host::environment::Environment;

use crate::describe;

/// This machine as it is now: for a world that cannot look by itself.
pub fn this_machine() -> Machine {
    let root = SysRoot::real();
    Machine { environment: describe::environment(&Environment::read(&root)), room: host::room::read(&root) }
}

/// Cycles a second of the fastest processor of this machine at the moment; `None` where the system does not say.
pub fn cpu_hz() -> Option<u64> {
    host::environment::cpu_hz(&SysRoot::real())
}
