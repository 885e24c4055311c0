//! Whether the ranks ask for the same addresses: the span of a workload may follow from how large its target is, and hosts may
//! have targets of different size.

use units::Bytes;
use workload::plan::{Plan, Point};
use workload::spec::{Extent, Files, Span, Workload};
use workload::{compile, files_needed};

use crate::error::Refused;
use crate::message::Hello;

/// Why `plan` cannot be shared, where a workload would use other addresses on one rank than on rank 0: the parts of its workers
/// would overlap and leave gaps.
pub(crate) fn same_addresses(plan: &Plan, hellos: &[Hello]) -> Result<(), Refused> {
    let Some((first, others)) = hellos.split_first() else { return Ok(()) };
    for (rank, other) in (1..).zip(others).filter(|(_, other)| other.lengths != first.lengths) {
        for point in plan.points() {
            let of_blocks = point.workloads().iter().filter(|workload| workload.tree.is_none());
            if let Some(workload) = of_blocks.into_iter().find(|each| differs(each, first, other)) {
                return Err(refused(point, workload, first, (rank, other)));
            }
        }
    }
    Ok(())
}

/// Whether the workers of `workload` have other addresses on targets as large as those of `one` than of `other`. Not known, and
/// so not said, of targets that are made for the run.
fn differs(workload: &Workload, one: &Hello, other: &Hello) -> bool {
    match (lengths(workload, one), lengths(workload, other)) {
        (Some(one), Some(other)) if one != other => {
            compile(workload, &one).ok() != compile(workload, &other).ok()
        }
        _ => false,
    }
}

/// The lengths of the files of `workload`, in the order of its file numbers; `None` where one is made for the run.
fn lengths(workload: &Workload, of: &Hello) -> Option<Vec<Bytes>> {
    let used = of.lengths.iter().enumerate().filter(|(number, _)| workload.uses(*number));
    let used: Vec<Bytes> = used.map(|(_, length)| length.map(Bytes::new)).collect::<Option<_>>()?;
    let fits = workload.files == Files::Shared || used.len() as u64 == files_needed(workload);
    (fits && !used.is_empty()).then_some(used)
}

fn refused(point: &Point, workload: &Workload, first: &Hello, (rank, other): (usize, &Hello)) -> Refused {
    let used = |of: &Hello| {
        let known = of.targets.iter().zip(&of.lengths).enumerate();
        let known = known.filter(|(number, _)| workload.uses(*number));
        known
            .filter_map(|(_, (name, length))| Some((name.clone(), Bytes::new((*length)?))))
            .collect::<Vec<_>>()
    };
    let (one, another) = (used(first), used(other));
    let told = |targets: &[(String, Bytes)]| {
        let told = targets.iter().map(|(name, length)| format!("{name} of {}", length.exact()));
        told.collect::<Vec<_>>().join(", ")
    };
    let remedy = match span_of_both(workload, first, other) {
        Some(span) => format!(", or say how much of each is used, `--set span={}` or less", span.exact()),
        None => String::new(),
    };
    let why = format!(
        "the ranks have targets of different size: rank 0 on {} has {}, rank {rank} on {} has {}, so that point `{}` \
         would not use the same addresses of both; give targets of one size on all hosts{remedy}",
        first.host,
        told(&one),
        other.host,
        told(&another),
        point.name
    );
    Refused { code: 2, why }
}

/// The most of two targets that makes their addresses the same, where that helps.
fn span_of_both(workload: &Workload, one: &Hello, other: &Hello) -> Option<Bytes> {
    let (one, other) = (lengths(workload, one)?, lengths(workload, other)?);
    let Extent::Bytes(offset) = workload.offset else { return None };
    let least = one.iter().chain(&other).min()?.saturating_sub(offset);
    let with = Workload { span: Span::Of(Extent::Bytes(least)), ..workload.clone() };
    (compile(&with, &one).ok()? == compile(&with, &other).ok()?).then_some(least)
}
