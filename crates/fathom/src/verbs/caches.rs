//! `fathom doctor TARGET --caches`: how large the caches below are, from what reads of growing spans take.

use std::fmt::Write;
use std::path::PathBuf;

use real::{Look, LookKind, RealOptions};
use units::Bytes;
use units::convert::truncated;
use workload::plan::{Overrides, Plan};

use crate::cli::{DoctorArgs, TreeFormat};
use crate::ending::{Ending, Failure};
use crate::progress::Progress;
use crate::session::{Planned, Session, final_ending};
use crate::terminal;
use crate::verbs::keep;

/// The name of the plan, by which later runs on the same target find what was seen.
pub const PLAN: &str = "caches";

/// Looked at from here on: less than any cache worth knowing.
const LEAST: Bytes = Bytes::MIB;
/// And to here, unless something else is asked for: an array's memory, and half a minute of a fast device.
const MOST: Bytes = Bytes::new(4 << 30);

/// How a span is brought into the caches.
const FILL: Bytes = Bytes::new(64 << 10);

pub fn caches(arguments: &DoctorArgs, target: &str, store: &Option<PathBuf>) -> Result<Ending, Failure> {
    let most = most(arguments, target)?;
    let text = plan(most);
    let plan = Plan::parse(PLAN, &text, &Overrides::default()).map_err(Failure::Plan)?;
    let planned = Planned { plan, origin: "fathom doctor".into(), overrides: Overrides::default() };
    let options = RealOptions { targets: vec![target.into()], ..RealOptions::default() };
    let mut progress = Progress::new(false);
    let session = Session::open(planned, &options, Some(keep::open_to_save(store)?))?;
    progress.of_world(session.kind());
    let recorded = session.measure(&mut |event| progress.show(event));
    progress.finish();
    let text = match arguments.format {
        TreeFormat::Text => report::spans(&recorded.run, terminal::style(&arguments.look)),
        TreeFormat::Json => {
            let caches = recorded.run.targets.first().map(|target| &target.caches);
            let json = serde_json::to_string_pretty(&caches);
            json.map_err(|source| Failure::System { what: "writing JSON".into(), source: source.into() })?
                + "\n"
        }
    };
    terminal::print(&text).map_err(|source| Failure::System { what: "writing to stdout".into(), source })?;
    Ok(final_ending(recorded))
}

/// The largest span: as asked for, and no more than there is.
fn most(arguments: &DoctorArgs, target: &str) -> Result<Bytes, Failure> {
    let asked = arguments.most.unwrap_or(MOST);
    if target.starts_with("array:") {
        return enough(asked);
    }
    let look = Look::at(target)?;
    match look.kind {
        LookKind::Device | LookKind::File => enough(asked.min(look.size.round_down(FILL))),
        // What is not there is told when it is opened.
        LookKind::NewFile | LookKind::Directory => enough(asked),
    }
}

/// Seven spans, half an octave apart, show a step.
fn enough(most: Bytes) -> Result<Bytes, Failure> {
    if most >= LEAST * 8 {
        return Ok(most);
    }
    let need = LEAST * 8;
    Err(Failure::Usage(format!(
        "caches show over spans up to {need} or more; there is no room for more than {most}"
    )))
}

/// The plan: each span is read once in random order, so that what can hold it does; then reads of it are measured one
/// at a time. Half an octave lies between spans.
fn plan(most: Bytes) -> String {
    let mut text = format!(
        "name = \"{PLAN}\"\nabout = \"Random reads, one at a time, over spans of growing size\"\n\n\
         [defaults]\npattern = \"random\"\nwarmup = \"0s\"\nsettle = \"none\"\n"
    );
    for span in spans(most) {
        let fill = span.get() / FILL.get();
        // Writing to a text does not fail.
        let _ = write!(
            text,
            "\n[[phase]]\nname = \"fill {span}\"\nspan = \"{exact}\"\nsize = \"64KiB\"\ndepth = 8\nops = {fill}\nrun = \
             \"20s\"\n\n[[phase]]\nname = \"{span}\"\nspan = \"{exact}\"\nsize = \"4KiB\"\nops = 3000\nrun = \"3s\"\n",
            exact = span.exact()
        );
    }
    text
}

fn spans(most: Bytes) -> Vec<Bytes> {
    let span =
        |half: u32| Bytes::new(truncated(LEAST.as_f64() * (f64::from(half) / 2.0).exp2())).round_down(FILL);
    (0..).map(span).take_while(|span| *span <= most).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plan_can_be_carried_out_and_reads_alone() {
        let plan = Plan::parse(PLAN, &plan(MOST), &Overrides::default()).expect("it is a plan");
        assert_eq!(plan.points().len(), 2 * 25);
        assert!(!plan.estimate().changes_data);
    }
}
