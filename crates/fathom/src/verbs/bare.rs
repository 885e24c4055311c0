//! Points of a virtual array as a record of their own, for `explain` to judge.

use record::{Ending, Environment, PlanSource, Point, Run, Tool, World};

/// A record that holds these points of a virtual array and nothing else.
pub fn run_of(points: Vec<Point>) -> Run {
    let nothing = String::new;
    Run {
        schema_version: record::SCHEMA_VERSION,
        id: nothing(),
        tool: Tool { name: "fathom".into(), version: env!("CARGO_PKG_VERSION").into() },
        started: nothing(),
        ended: None,
        command: Vec::new(),
        tags: Default::default(),
        cell: None,
        plan: PlanSource {
            name: nothing(),
            about: nothing(),
            origin: nothing(),
            text: nothing(),
            overrides: Vec::new(),
        },
        world: World::Array,
        targets: Vec::new(),
        path: Vec::new(),
        environment: Environment::default(),
        consents: Vec::new(),
        search: None,
        exploration: None,
        rounds: Vec::new(),
        points,
        findings: Vec::new(),
        grading: None,
        judgement: None,
        display: None,
        ending: Ending { complete: true, code: 0, reason: nothing() },
    }
}
