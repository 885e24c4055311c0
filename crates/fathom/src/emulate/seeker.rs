//! `fathom as seeker DEVICE [THREADS|auto]`

use conduct::Event;
use formats::seeker::{Command, Figures, SECONDS};
use units::Nanos;

use super::{Context, Scratch};
use crate::ending::{Ending, Failure};
use crate::output::print;

pub fn run(context: &Context<'_>, arguments: &[String]) -> Result<Ending, Failure> {
    let command = Command::parse(arguments)?;
    let session = context.open("seeker", &command.translate(context.seed()), Scratch::default())?;
    let size_bytes = session.targets().iter().map(|target| target.size_bytes).sum();
    print(&command.banner(size_bytes))?;
    let mut dots = Dots::default();
    let mut lost = Ok(());
    let recorded = session.measure(&mut |event| {
        let text = match event {
            Event::PointStarted { name, .. } => {
                dots = Dots::default();
                command.heading(name)
            }
            Event::Live { live, .. } => dots.until(live.now.saturating_since(live.started)),
            Event::PointEnded { point } => {
                let figures = Figures::of(point, size_bytes).map(|figures| command.result(figures));
                dots.until(Nanos::from_secs(SECONDS)) + &figures.unwrap_or_default()
            }
            Event::SweepEnded { .. } | Event::Aside { .. } | Event::RateDecided { .. } => String::new(),
        };
        if lost.is_ok() {
            lost = print(&text);
        }
    });
    lost?;
    Ok(context.end(recorded))
}

/// The dots that have been printed: one for each second.
#[derive(Default)]
struct Dots(u64);

impl Dots {
    fn until(&mut self, elapsed: Nanos) -> String {
        let due = (elapsed.get() / 1_000_000_000).min(SECONDS);
        let new = due.saturating_sub(self.0);
        self.0 += new;
        ".".repeat(new as usize)
    }
}
