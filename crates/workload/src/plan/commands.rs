//! What a workload whose engine sends a device commands must not ask for, nor any other of such commands.

use super::check::{Fault, fault};
use crate::spec::{Commands, FlushKind, OpenSync, Verify, Workload, WriteCommand};

/// Everything contradictory about the commands of `workload`.
pub(super) fn faults(workload: &Workload, faults: &mut Vec<Fault>) {
    let (kind, commands) = (workload.engine.kind, workload.engine.commands);
    if !kind.sends_commands() {
        let Commands { write, read_fua, write_fua } = commands;
        let asked = [
            ("write_command", write != WriteCommand::Write),
            ("read_fua", read_fua),
            ("write_fua", write_fua),
        ];
        for (key, _) in asked.into_iter().filter(|(_, is_asked)| *is_asked) {
            let message = format!("the engine {kind} sends no commands of its own");
            faults.push(fault(
                key,
                message,
                "write `engine = \"sg\"` or `engine = \"nvme\"`, or leave it out",
            ));
        }
        return;
    }
    let mut unfit = |key, message: String, help: &str| faults.push(fault(key, message, help));
    if !workload.direct {
        let message = format!("the commands of the engine {kind} never meet the page cache");
        unfit("direct", message, "write `direct = true`");
    }
    if workload.durability.open != OpenSync::None {
        unfit(
            "sync",
            format!("the engine {kind} makes no system call that would heed it"),
            "write `write_fua = true`",
        );
    }
    if workload.durability.flush == FlushKind::SyncFileRange {
        unfit("flush", "a device has no page cache that would set out".into(), "write `flush = \"fsync\"`");
    }
    if workload.engine.write_hint.is_some() {
        unfit("write_hint", format!("the commands of the engine {kind} carry none"), "leave it out");
    }
    let write = commands.write;
    if !write.is_of(kind) {
        let message = format!("the engine {kind} has no command `{write}`");
        unfit("write_command", message, "leave it out, or write another one");
    }
    if workload.verify != Verify::None && workload.writes() && !write.stores_data() {
        let message =
            format!("after `write_command = \"{write}\"` a device does not hold the data of the write");
        unfit("verify", message, "leave it out, or write `write_command = \"write\"`");
    }
    if commands.write_fua && write != WriteCommand::Write {
        let message = format!("it goes with plain writes, not with `write_command = \"{write}\"`");
        unfit("write_fua", message, "leave it out, or write `write_command = \"write\"`");
    }
}
