//! What is said no to before anything is touched: plans that do not go with their targets or with this machine.

use conduct::{WorldError, checks};
use host::SysRoot;
use host::engine::{URING_DEPTH_MAX, serves_exports, takes_commands};
use host::target::TargetKind;
use units::{Bytes, SECTOR_BYTES, Share};
use workload::files_needed;
use workload::plan::{Plan, Point, State, Task};
use workload::spec::{EngineKind, Files, Workload};

use crate::scratch_set::owns_targets;
use crate::target::Resolved;
use crate::zoned::check_zones;

/// Whether anything of `plan` changes the target of that number, from 0.
pub(crate) fn is_changed(plan: &Plan, number: usize) -> bool {
    plan.points().iter().any(|point| match &point.task {
        Task::Load(load) => {
            load.workloads.iter().any(|workload| workload.uses(number) && workload.changes_data())
        }
        Task::State(_) => point.estimate().changes_data,
    })
}

/// What trims of `plan` do to the first target that is no device; `None` where it trims none.
pub(crate) fn holes(plan: &Plan, targets: &[Resolved]) -> Option<String> {
    let is_trimmed = |number: usize| {
        plan.points().iter().any(|point| match &point.task {
            Task::Load(load) => {
                load.workloads.iter().any(|workload| workload.uses(number) && workload.discards())
            }
            Task::State(state) => matches!(state, State::Prepare(prepare) if prepare.trim),
        })
    };
    let is_file = |kind: &TargetKind| {
        matches!(kind, TargetKind::File(_) | TargetKind::NewFile(_) | TargetKind::Directory(_))
    };
    let (_, found) = targets
        .iter()
        .enumerate()
        .find(|(number, each)| is_file(&each.target.kind) && is_trimmed(*number))?;
    Some(format!(
        "{}: trims of a regular file punch holes in it (fallocate), which costs its file system, and discard nothing of the \
         device unless that is mounted with `discard`; name a block device to trim one",
        found.target.name
    ))
}

/// Says no where a target is not there: its name may be a directory's that was mistyped, or one that is not mounted.
pub(crate) fn check_there(targets: &[Resolved]) -> Result<(), WorldError> {
    let absent = targets.iter().find(|each| matches!(each.target.kind, TargetKind::NewFile(_)));
    absent.map_or(Ok(()), |each| {
        let name = &each.target.name;
        Err(WorldError::unfit(format!(
            "{name}: no such file, directory or device; check the name and the mount, or create a file \
             there with `--create`"
        )))
    })
}

/// Says no where plan and targets do not go together, before anything is touched.
pub(crate) fn check_fit(plan: &Plan, targets: &[Resolved]) -> Result<(), WorldError> {
    let unfit = |why: String| Err(WorldError::unfit(why));
    let is_null = |each: &Resolved| matches!(each.target.kind, TargetKind::Null { .. });
    if targets.is_empty() {
        return unfit("no target; name one with `--on`, such as `--on /mnt/array`".into());
    }
    if targets.iter().any(is_null) {
        checks::verifies_nothing(plan, "`null:`").or_else(unfit)?;
    }
    checks::names_targets(plan, targets.len(), "named with `--on`").or_else(unfit)?;
    if targets.len() > 1 && targets.iter().any(is_null) {
        return unfit("`null:` cannot be joined with other targets; name it alone".into());
    }
    let makes_files =
        |each: &Resolved| matches!(each.target.kind, TargetKind::Directory(_) | TargetKind::Null { .. });
    let one_directory = targets.len() == 1 && makes_files(&targets[0]);
    for workload in plan.points().iter().flat_map(Point::workloads) {
        if workload.files != Files::Shared && !one_directory && !owns_targets(workload, targets) {
            return unfit(format!(
                "workload `{}` needs {} files of its own: give one directory as target, or that many files \
                 or devices, not {}",
                workload.name,
                files_needed(workload),
                targets.iter().map(|each| each.target.name.as_str()).collect::<Vec<_>>().join(", ")
            ));
        }
        check_depth(workload, targets)?;
        check_exports(workload, targets)?;
        check_zones(plan, workload, targets)?;
        check_commands(workload, targets)?;
        let used = targets.iter().enumerate().filter(|(number, _)| workload.uses(*number));
        for each in used.map(|(_, each)| each).filter(|each| !is_null(each) && workload.direct) {
            check_direct(workload, each)?;
        }
    }
    Ok(())
}

/// Says no to more requests of one worker than a ring holds.
fn check_depth(workload: &Workload, targets: &[Resolved]) -> Result<(), WorldError> {
    let takes_ring =
        matches!(workload.engine.kind, EngineKind::Auto | EngineKind::IoUring | EngineKind::Nvme)
            && workload.tree.is_none()
            && !targets
                .iter()
                .any(|each| matches!(each.target.kind, TargetKind::Null { .. } | TargetKind::Nbd(_)));
    if !takes_ring || workload.depth <= URING_DEPTH_MAX {
        return Ok(());
    }
    Err(WorldError::unfit(format!(
        "workload `{}`: io_uring allows a queue depth of {URING_DEPTH_MAX} for each worker, not {}; write \
         `depth = \
         {URING_DEPTH_MAX}` or less, and use more `workers`",
        workload.name, workload.depth
    )))
}

/// Says no to what no export of an NBD server can do.
fn check_exports(workload: &Workload, targets: &[Resolved]) -> Result<(), WorldError> {
    let is_export = |each: &&Resolved| matches!(each.target.kind, TargetKind::Nbd(_));
    let used = targets.iter().enumerate().filter(|(number, _)| workload.uses(*number));
    if !used.map(|(_, each)| each).any(|each| is_export(&each)) {
        return Ok(());
    }
    serves_exports(workload)
        .map_err(|error| WorldError::unfit(format!("workload `{}`: {error}", workload.name)))
}

/// Says no to commands for what takes none, and for parts of a logical block.
fn check_commands(workload: &Workload, targets: &[Resolved]) -> Result<(), WorldError> {
    let kind = workload.engine.kind;
    let used = targets.iter().enumerate().filter(|(number, _)| workload.uses(*number));
    let asked =
        used.map(|(_, each)| each).filter(|each| !matches!(each.target.kind, TargetKind::Null { .. }));
    for each in asked.filter(|_| kind.sends_commands() && workload.tree.is_none()) {
        let name = &each.target.name;
        let unfit = |why: String| {
            Err(WorldError::unfit(format!(
                "{name}: workload `{}` has `engine = \"{kind}\"`: {why}",
                workload.name
            )))
        };
        let device =
            each.facts.devices.first().filter(|_| matches!(each.target.kind, TargetKind::Block { .. }));
        let Some(device) = device else {
            return unfit("it is no block device; commands go to a whole one".into());
        };
        let largest = if workload.mix.trims == Share::ALL { Bytes::ZERO } else { workload.sizes.largest() };
        takes_commands(&SysRoot::real(), kind, device, largest).or_else(unfit)?;
        if let Some(size) = odd(workload, device.logical_block) {
            return unfit(format!(
                "commands count in logical blocks of {}, and there are requests of {size}; use a multiple",
                device.logical_block
            ));
        }
    }
    Ok(())
}

fn check_direct(workload: &Workload, each: &Resolved) -> Result<(), WorldError> {
    let name = &each.target.name;
    let Some(direct) = &each.facts.direct else { return Ok(()) };
    let Some(unit) = direct.offset() else {
        return Err(WorldError::unfit(format!(
            "{name}: its file system does not support direct I/O; with `--set direct=false` the page cache \
             is measured too"
        )));
    };
    match odd(workload, unit) {
        None => Ok(()),
        Some(size) => Err(WorldError::unfit(format!(
            "{name}: direct I/O needs multiples of {unit}, workload `{}` has requests of {size}; \
             use a multiple, or `--set direct=false`",
            workload.name
        ))),
    }
}

/// A size or an alignment of `workload` that is no multiple of `unit`.
fn odd(workload: &Workload, unit: Bytes) -> Option<Bytes> {
    let sizes = workload.sizes.0.iter().map(|(size, _)| *size);
    let aligns = workload.lines.iter().filter_map(|line| line.align).chain([workload.alignment()]);
    // What no device could take is told later with the line of the trace.
    let is_told_later =
        |size: &Bytes| workload.replay().is_some() && !size.is_multiple_of(Bytes::new(SECTOR_BYTES));
    sizes.chain(aligns).find(|size| !size.is_multiple_of(unit) && !is_told_later(size))
}
