//! The order in which worlds are asked, by worlds that do nothing but note it.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should say where")]

use std::cell::RefCell;
use std::rc::Rc;

use conduct::{Event, Listener, Live, MeasuredLoad, MeasuredState, World, WorldError};
use units::{Instant, Nanos};
use workload::plan::{Load, Overrides, Plan, Settle, State};

/// A world that notes what it is asked, and fails at the load of that number.
struct Noting {
    name: &'static str,
    noted: Rc<RefCell<Vec<String>>>,
    now: Instant,
    loads: u32,
    fails_at: u32,
}

impl Noting {
    fn new(name: &'static str, noted: &Rc<RefCell<Vec<String>>>) -> Noting {
        Noting { name, noted: noted.clone(), now: Instant::default(), loads: 0, fails_at: u32::MAX }
    }

    fn pass(&mut self, what: &str) -> (Instant, Instant) {
        self.noted.borrow_mut().push(format!("{}{what}", self.name));
        let started = self.now;
        self.now = started.saturating_add(Nanos::from_secs(1));
        (started, self.now)
    }
}

impl World for Noting {
    fn kind(&self) -> record::World {
        record::World::Array
    }

    fn environment(&self) -> record::Environment {
        record::Environment::default()
    }

    fn targets(&self) -> Vec<record::Target> {
        Vec::new()
    }

    fn now(&self) -> Instant {
        self.now
    }

    fn keep_seconds(&mut self) {}

    fn tell(&mut self, _: Box<dyn Listener>) {}

    fn load(&mut self, _: &Load, _: &mut dyn FnMut(Live)) -> Result<MeasuredLoad, WorldError> {
        self.loads += 1;
        if self.loads == self.fails_at {
            return Err(WorldError::failed("the load")(std::io::ErrorKind::TimedOut.into()));
        }
        let (started, ended) = self.pass(&self.loads.to_string());
        Ok(MeasuredLoad {
            started,
            ended,
            workloads: Vec::new(),
            series: Vec::new(),
            cpu: None,
            devices: Vec::new(),
            breakdown: None,
            ranks: Vec::new(),
        })
    }

    fn settle(
        &mut self,
        _: Settle,
        wrote: bool,
        _: &mut dyn FnMut(Live),
    ) -> Result<Option<record::Settled>, WorldError> {
        self.pass(if wrote { " rests after writes" } else { " rests" });
        Ok(None)
    }

    fn state(&mut self, _: &State, _: &mut dyn FnMut(Live)) -> Result<MeasuredState, WorldError> {
        let (started, ended) = self.pass(" state");
        Ok(MeasuredState { started, ended, series: Vec::new(), breakdown: None, complete: true })
    }

    fn is_stopped(&self) -> bool {
        false
    }
}

fn plan(text: &str) -> Plan {
    Plan::parse("test.toml", text, &Overrides::default()).unwrap()
}

const THREE: &str = "[defaults]\nrun = '1s'\nsettle = 'none'\n[[phase]]\nname = '1'\n[[phase]]\nname = '2'\n\
     [[phase]]\nname = '3'\n";

#[test]
fn the_world_that_was_second_at_one_point_is_first_at_the_next() {
    let noted = Rc::default();
    let (mut a, mut b) = (Noting::new("a", &noted), Noting::new("b", &noted));
    let mut sides = Vec::new();
    let outcomes = conduct::run_interleaved(&plan(THREE), [&mut a, &mut b], &mut |side, event| {
        if matches!(event, Event::PointEnded { .. }) {
            sides.push(side);
        }
    });
    assert!(outcomes.iter().all(|outcome| outcome.complete && outcome.points.len() == 3));
    assert_eq!(*noted.borrow(), ["a1", "b1", "b2", "a2", "a3", "b3"]);
    assert_eq!(sides, [0, 1, 1, 0, 0, 1]);
}

#[test]
fn a_failure_ends_the_plan_and_keeps_the_points_before_and_ends_it_in_the_other_world_too() {
    let noted = Rc::default();
    let mut a = Noting { fails_at: 3, ..Noting::new("a", &noted) };
    let alone = conduct::run(&plan(THREE), &mut a, &mut |_| ());
    assert_eq!((alone.points.len(), alone.complete), (2, false));
    let error = alone.error.unwrap();
    assert_eq!((error.exit_code(), error.to_string()), (5, "the load: timed out".into()));
    let (mut a, mut b) = (Noting { fails_at: 2, ..Noting::new("a", &noted) }, Noting::new("b", &noted));
    let [here, there] = conduct::run_interleaved(&plan(THREE), [&mut a, &mut b], &mut |_, _| ());
    assert_eq!((here.points.len(), there.points.len()), (1, 2));
    assert!(here.error.is_some() && there.error.is_none() && !there.complete);
}

#[test]
fn a_target_rests_between_two_loads_and_not_before_the_first_nor_beside_a_state() {
    let noted = Rc::default();
    let text = "[defaults]\nrun = '1s'\n[[phase]]\nname = '1'\nreads = '0%'\n[[phase]]\nname = '2'\n\
                [[phase]]\nstate = 'idle'\nrun = '1s'\n[[phase]]\nname = '3'\n";
    conduct::run(&plan(text), &mut Noting::new("a", &noted), &mut |_| ());
    assert_eq!(*noted.borrow(), ["a1", "a rests after writes", "a2", "a state", "a3"]);
}
