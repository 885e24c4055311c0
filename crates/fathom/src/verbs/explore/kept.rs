//! The answer of a study as a run that is kept: `ls` lists it, `show` and `report` draw it.

use std::collections::BTreeMap;

use explore::Design;
use library::Library;
use record::{Exploration, PlanSource, Run, Target, World};

use crate::ending::{Ending, Failure};
use crate::session::recorder;
use crate::session::store::Store;
use crate::terminal;

/// A record that has begun, of a study that is under way.
pub struct Kept {
    run: Run,
    library: Option<Library>,
}

impl Kept {
    /// The record of the study `design`, which the file `origin` says as `text`; kept where there is a library.
    pub fn begin(design: &Design, origin: String, text: String, library: Option<Library>) -> Kept {
        let plan = PlanSource {
            name: design.name.clone(),
            about: design.about.clone(),
            origin,
            text,
            overrides: Vec::new(),
        };
        let run = Run {
            targets: targets(design),
            environment: real::this_machine().environment,
            ..recorder::begun(plan, BTreeMap::new(), World::Array)
        };
        Kept { run, library }
    }

    /// Closes the record with what was `found`, which ended so, and keeps it; says where that is, unless nothing is kept.
    pub fn end(self, found: Exploration, ending: &Ending, store: &Store) -> Result<(), Failure> {
        let Some(mut library) = self.library else { return Ok(()) };
        let Ending { code, reason } = ending.clone();
        debug_assert_eq!(code == 1, found.front.is_empty(), "a study ends well where some design meets all");
        let run = Run {
            exploration: Some(found),
            ending: record::Ending { complete: true, code, reason },
            ..recorder::ended(self.run)
        };
        library.save(&run)?;
        terminal::say(&format!("Saved; show it with: {}", store.show(&run.id)));
        Ok(())
    }
}

/// The arrays of the space. No size of them is used.
fn targets(design: &Design) -> Vec<Target> {
    let arrays = design.space.factors.first().map_or(&[][..], |arrays| &arrays.levels);
    let target = |name: &String| Target {
        address: format!("array:{name}"),
        kind: "array".into(),
        path: None,
        size_bytes: 0,
        caches: Vec::new(),
        facts: BTreeMap::new(),
        validation: None,
    };
    arrays.iter().map(target).collect()
}
