//! Puts a run together while it goes on, and keeps it after each point: what was measured is never lost.

use std::hash::{BuildHasher, Hasher, RandomState};

use conduct::World;
use jiff::{Timestamp, Unit};
use library::Library;
use record::{Ending, PlanSource, Point, Run, SCHEMA_VERSION, Tool};
use workload::plan::{Overrides, Plan};

use crate::ending::Failure;

/// A run that goes on.
pub struct Recorder {
    run: Run,
    library: Option<Library>,
}

impl Recorder {
    /// A record without points yet.
    pub fn start(
        plan: &Plan,
        origin: &str,
        overrides: &Overrides,
        world: &dyn World,
        consents: Vec<String>,
        library: Option<Library>,
    ) -> Recorder {
        let started = now();
        let run = Run {
            schema_version: SCHEMA_VERSION,
            id: format!("{}-{:04x}", started.strftime("%Y%m%d-%H%M%S"), salt()),
            tool: Tool { name: "fathom".into(), version: env!("CARGO_PKG_VERSION").into() },
            started: started.to_string(),
            ended: None,
            command: std::env::args().collect(),
            tags: plan.tags.iter().cloned().collect(),
            plan: PlanSource {
                name: plan.name.clone(),
                about: plan.about.clone(),
                origin: origin.into(),
                text: plan.text.clone(),
                overrides: overrides.set.clone(),
            },
            world: world.kind(),
            targets: world.targets(),
            environment: world.environment(),
            consents,
            points: Vec::new(),
            findings: Vec::new(),
            ending: Ending {
                complete: false,
                code: 130,
                reason: "still running, or ended without a word".into(),
            },
        };
        Recorder { run, library }
    }

    /// Adds a point and keeps the run so far.
    pub fn add(&mut self, point: &Point) -> Result<(), Failure> {
        self.run.points.push(point.clone());
        self.keep()
    }

    /// What is known of the targets once scratch files are laid out.
    pub fn set_targets(&mut self, targets: Vec<record::Target>) {
        self.run.targets = targets;
    }

    /// Closes the record: findings, the end, and the last save.
    pub fn finish(mut self, ending: Ending) -> Result<Run, Failure> {
        self.run.ended = Some(now().to_string());
        self.run.ending = ending;
        self.run.findings = explain::findings(&self.run);
        self.keep()?;
        Ok(self.run)
    }

    fn keep(&mut self) -> Result<(), Failure> {
        if let Some(library) = &mut self.library {
            library.save(&self.run)?;
        }
        Ok(())
    }
}

fn now() -> Timestamp {
    let now = Timestamp::now();
    now.round(Unit::Second).unwrap_or(now)
}

/// Tells runs of the same second apart.
fn salt() -> u16 {
    RandomState::new().build_hasher().finish() as u16
}
