//! What every world says no to before anything is touched: plans that do not go with its targets, or with the machine
//! that runs it.

use std::error::Error;

use workload::plan::{Plan, Point};
use workload::room::{Need, Room};
use workload::spec::{Verify, Workload};
use workload::{CompileError, JobSpec};

use crate::world::WorldError;

/// Says no where a workload names a target that there is not.
pub fn names_targets(plan: &Plan, targets: usize, what: &str) -> Result<(), String> {
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

/// Says no to a workload, or to a request of its trace, that does not compile for its files, before anything is
/// touched: a later phase that cannot be would be found out after hours.
pub fn fits_lengths(
    plan: &Plan,
    compile: impl Fn(&Workload) -> Result<Vec<JobSpec>, CompileError>,
) -> Result<(), WorldError> {
    let mut before: Option<&Workload> = None;
    let of_points =
        plan.points().iter().flat_map(|point| point.workloads().iter().map(move |each| (point, each)));
    for (point, workload) in of_points.filter(|(_, each)| each.tree.is_none()) {
        // Rounds and repetitions ask the same again.
        if before.is_none_or(|before| *before != *workload) {
            compile(workload).map_err(|why| at(point, &why))?;
        }
        before = Some(workload);
    }
    Ok(())
}

/// What the point that needs most of this machine needs of it, where there is room for that.
pub fn fits_machine(
    plan: &Plan,
    room: &Room,
    need: impl Fn(&Workload) -> Result<Need, WorldError>,
) -> Result<Need, WorldError> {
    let mut most = Need::default();
    for point in plan.points() {
        let all = point.workloads().iter().map(&need);
        let together = all.reduce(|sum, one| Ok(sum?.and(one?))).transpose()?.unwrap_or_default();
        room.check(together).map_err(|why| at(point, &why))?;
        most = most.max(together);
    }
    Ok(most)
}

fn at(point: &Point, why: &dyn Error) -> WorldError {
    WorldError::unfit(format!("point `{}`: {why}", point.name))
}

/// The workloads of `plan` that verify what they read.
pub fn verifying(plan: &Plan) -> impl Iterator<Item = &Workload> {
    let workloads = plan.points().iter().flat_map(Point::workloads);
    workloads.filter(|workload| workload.verify != Verify::None)
}

/// Says no where anything is verified, or files are allocated or cut, on what holds no data.
pub fn verifies_nothing(plan: &Plan, what: &str) -> Result<(), String> {
    let mut workloads = plan.points().iter().flat_map(Point::workloads);
    if let Some(workload) = workloads.find(|workload| workload.engine.kind.moves_no_data()) {
        let (name, engine) = (&workload.name, workload.engine.kind);
        return Err(format!(
            "workload `{name}` has the engine {engine}, which changes files, and {what} has none; run it on files"
        ));
    }
    match verifying(plan).next() {
        None => Ok(()),
        Some(workload) => Err(format!(
            "workload `{}` verifies reads, and {what} stores no data; run it on files or devices, or with \
             `--set verify=none`",
            workload.name
        )),
    }
}
