//! `fathom doctor TARGET --caches`: how large the caches below are, from what reads of growing spans take.

use std::fmt::Write;

use real::{Look, LookKind, RealOptions};
use units::Bytes;
use units::convert::truncated;
use workload::plan::{Overrides, Plan};

use crate::ending::{Ending, Failure};
use crate::input::plans::Planned;
use crate::output::{self, TreeFormat};
use crate::session::recorder::CACHES_PLAN as PLAN;
use crate::session::store::Store;
use crate::session::{self, final_ending};
use crate::terminal::{self, Appearance, Display};

/// Looked at from here on: less than any cache worth knowing.
const LEAST: Bytes = Bytes::MIB;
/// And to here, unless something else is asked for: an array's memory, and half a minute of a fast device.
const MOST: Bytes = Bytes::new(4 << 30);

/// How a span is brought into the caches.
const FILL: Bytes = Bytes::new(64 << 10);

/// Finds the caches of `target` with working sets up to `most`, and prints them.
pub fn caches(
    target: &str,
    most: Option<Bytes>,
    format: TreeFormat,
    appearance: &Appearance,
    store: &Store,
) -> Result<Ending, Failure> {
    let text = plan(largest(target, most.unwrap_or(MOST))?);
    let plan = Plan::parse(PLAN, &text, &Overrides::default()).map_err(Failure::Plan)?;
    let planned = Planned { plan, origin: "fathom doctor".into(), overrides: Overrides::default() };
    let options = RealOptions { targets: vec![target.into()], ..RealOptions::default() };
    let (session, mut progress) =
        session::open(planned, &options, store.open_to_save(false)?, Display::Auto)?;
    let recorded = session.measure(&mut |event| progress.show(event));
    progress.finish();
    let text = match format {
        TreeFormat::Text => report::spans(&recorded.run, terminal::style(appearance)),
        TreeFormat::Json => output::json(&recorded.run.targets.first().map(|target| &target.caches))?,
    };
    output::print(&text)?;
    Ok(final_ending(recorded))
}

/// The largest span: as asked for, and no more than there is.
fn largest(target: &str, asked: Bytes) -> Result<Bytes, Failure> {
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
        debug_assert!(fill > 0 && span.get() % FILL.get() == 0, "a span is filled by whole requests");
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
