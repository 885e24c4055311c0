//! What is said no to before anything is touched: plans that do not go with their targets or with this machine.

use host::SysRoot;
use host::engine::URING_DEPTH_MAX;
use host::target::Place;
use units::{Bytes, SECTOR_BYTES};
use workload::plan::{Plan, Point, Task};
use workload::room::Need;
use workload::spec::{EngineKind, Files, Workload};
use workload::{compile, files_needed};

use crate::world::WorldError;

use super::Resolved;
use super::scratch_set::owns_targets;
use super::verify;

/// Whether anything of `plan` changes the target of that number, from 0.
pub(super) fn is_changed(plan: &Plan, number: usize) -> bool {
    plan.points().iter().any(|point| match &point.task {
        Task::Load(load) => {
            load.workloads.iter().any(|workload| workload.uses(number) && workload.changes_data())
        }
        Task::State(_) => point.estimate().changes_data,
    })
}

/// Says no where a workload names a target that there is not.
pub(crate) fn check_on(plan: &Plan, targets: usize, what: &str) -> Result<(), String> {
    for workload in plan.points().iter().flat_map(Point::workloads) {
        if let Some(number) = workload.on.iter().find(|number| **number as usize > targets) {
            return Err(format!(
                "workload `{}` is `on` target {number}, and there are {targets} {what}",
                workload.name
            ));
        }
    }
    Ok(())
}

/// Says no to a workload, or to a request of its trace, that has no place on files of those lengths, before anything is
/// touched: a later phase that cannot be would be found out after hours.
pub(crate) fn check_room(plan: &Plan, lengths: impl Fn(&Workload) -> Vec<Bytes>) -> Result<(), WorldError> {
    let mut before: Option<&Workload> = None;
    let of_points =
        plan.points().iter().flat_map(|point| point.workloads().iter().map(move |each| (point, each)));
    for (point, workload) in of_points.filter(|(_, each)| each.tree.is_none()) {
        // Rounds and repetitions ask the same again.
        if before.is_none_or(|before| *before != *workload) {
            let no_room = |why| WorldError::NoRoom { point: point.name.clone(), why };
            compile(workload, &lengths(workload)).map_err(no_room)?;
        }
        before = Some(workload);
    }
    Ok(())
}

/// What the point that needs most of this machine needs of it, where there is room for that.
pub(crate) fn check_need(
    plan: &Plan,
    need: impl Fn(&Workload) -> Result<Need, WorldError>,
) -> Result<Need, WorldError> {
    let room = host::room::read(&SysRoot::real());
    let mut most = Need::default();
    for point in plan.points() {
        let all = point.workloads().iter().map(&need);
        let together = all.reduce(|sum, one| Ok(sum?.and(one?))).transpose()?.unwrap_or_default();
        room.check(together).map_err(|why| WorldError::NoRoomHere { point: point.name.clone(), why })?;
        most = most.max(together);
    }
    Ok(most)
}

/// Says no where a target is not there: its name may be a directory's that was mistyped, or one that is not mounted.
pub(super) fn check_there(targets: &[Resolved]) -> Result<(), WorldError> {
    let absent = targets.iter().find(|each| matches!(each.target.place, Place::NewFile(_)));
    absent.map_or(Ok(()), |each| {
        let name = &each.target.name;
        Err(WorldError::Unfit(format!(
            "{name}: there is no such file, directory or device; check the name and whether it is mounted, or let a \
             file be made there with `--create`"
        )))
    })
}

/// Says no where plan and targets do not go together, before anything is touched.
pub(super) fn check_fit(plan: &Plan, targets: &[Resolved]) -> Result<(), WorldError> {
    let unfit = |why: String| Err(WorldError::Unfit(why));
    let is_null = |each: &Resolved| matches!(each.target.place, Place::Null { .. });
    if targets.is_empty() {
        return unfit("no target; name one with `--on`, such as `--on /mnt/array`".into());
    }
    if targets.iter().any(is_null) {
        verify::refuse(plan, "`null:`").or_else(unfit)?;
    }
    check_on(plan, targets.len(), "named with `--on`").or_else(unfit)?;
    if targets.len() > 1 && targets.iter().any(is_null) {
        return unfit("`null:` cannot be joined with other targets; name it alone".into());
    }
    let makes_files = |each: &Resolved| matches!(each.target.place, Place::Directory(_) | Place::Null { .. });
    let one_directory = targets.len() == 1 && makes_files(&targets[0]);
    for workload in plan.points().iter().flat_map(Point::workloads) {
        if workload.files != Files::Shared && !one_directory && !owns_targets(workload, targets) {
            return unfit(format!(
                "workload `{}` wants {} files of its own; that takes one directory as target, or so many files or \
                 devices that it is `on`, not {}",
                workload.name,
                files_needed(workload),
                targets.iter().map(|each| each.target.name.as_str()).collect::<Vec<_>>().join(", ")
            ));
        }
        check_depth(workload, targets)?;
        let used = targets.iter().enumerate().filter(|(number, _)| workload.uses(*number));
        for each in used.map(|(_, each)| each).filter(|each| !is_null(each) && workload.direct) {
            check_direct(workload, each)?;
        }
    }
    Ok(())
}

/// Says no to more requests of one worker than a ring holds.
fn check_depth(workload: &Workload, targets: &[Resolved]) -> Result<(), WorldError> {
    let takes_ring = matches!(workload.engine.kind, EngineKind::Auto | EngineKind::IoUring)
        && workload.tree.is_none()
        && !targets.iter().any(|each| matches!(each.target.place, Place::Null { .. }));
    if !takes_ring || workload.depth <= URING_DEPTH_MAX {
        return Ok(());
    }
    Err(WorldError::Unfit(format!(
        "workload `{}`: io_uring holds {URING_DEPTH_MAX} requests of a worker, not {}; write `depth = \
         {URING_DEPTH_MAX}` or less, and use more `workers`",
        workload.name, workload.depth
    )))
}

fn check_direct(workload: &Workload, each: &Resolved) -> Result<(), WorldError> {
    let name = &each.target.name;
    let Some(direct) = &each.facts.direct else { return Ok(()) };
    let Some(unit) = direct.offset() else {
        return Err(WorldError::Unfit(format!(
            "{name}: its file system has no direct I/O; run with `--set direct=false` and read the warning"
        )));
    };
    let sizes = workload.sizes.0.iter().map(|(size, _)| *size);
    let aligns = workload.lines.iter().filter_map(|line| line.align).chain([workload.alignment()]);
    // What no device could take is told later with the line of the trace.
    let is_told_later =
        |size: &Bytes| workload.replay().is_some() && !size.is_multiple_of(Bytes::new(SECTOR_BYTES));
    match sizes.chain(aligns).find(|size| !size.is_multiple_of(unit) && !is_told_later(size)) {
        None => Ok(()),
        Some(size) => Err(WorldError::Unfit(format!(
            "{name}: direct I/O needs multiples of {unit}, workload `{}` asks for {size}; \
             use a multiple, or `--set direct=false`",
            workload.name
        ))),
    }
}
