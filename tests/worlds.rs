//! Plans that run in both worlds: what depends on the plan alone is the same in each.

use std::sync::Arc;

use conduct::{Outcome, World};
use modelled::ModelledWorld;
use real::{RealOptions, RealWorld};
use workload::plan::{Overrides, Plan};

/// Both worlds have this much to address.
const SPAN: &str = "1GiB";

fn plan(text: &str) -> Plan {
    Plan::parse("test.toml", text, &Overrides::default()).unwrap()
}

fn null(plan: &Plan) -> RealWorld {
    let options = RealOptions { targets: vec!["null:4GiB".into()], ..RealOptions::default() };
    RealWorld::open(plan, &options, Arc::default()).unwrap()
}

fn array(plan: &Plan) -> ModelledWorld {
    ModelledWorld::shipped(plan, "array:md3000?raid=10", Arc::default()).unwrap()
}

fn measured(plan: &Plan, world: &mut dyn World) -> Outcome {
    let outcome = conduct::run(plan, world, &mut |_| ());
    assert!(outcome.error.is_none(), "{:?}", outcome.error);
    outcome
}

#[test]
fn both_worlds_are_asked_for_the_same_stream() {
    let plan = mixed();
    let digests = |outcome: &Outcome| outcome.points[0].workloads[0].digests.clone();
    let (real, modelled) = (measured(&plan, &mut null(&plan)), measured(&plan, &mut array(&plan)));
    assert_eq!(digests(&real), digests(&modelled));
    assert_eq!(digests(&real).len(), 3);
}

fn mixed() -> Plan {
    plan(&format!(
        "[[phase]]\nname = 'mix'\npattern = 'random'\nsize = {{ '4KiB' = 60, '64KiB' = 40 }}\nreads = '70%'\n\
         depth = 8\nworkers = 3\nspan = '{SPAN}'\nops = 3000\nrun = '1h'\n"
    ))
}

#[test]
fn every_request_is_settled_once_in_both_worlds() {
    let plan = mixed();
    for outcome in [measured(&plan, &mut null(&plan)), measured(&plan, &mut array(&plan))] {
        let workload = &outcome.points[0].workloads[0];
        assert_eq!((workload.planned, workload.completed, workload.errors), (3000, 3000, 0));
        let ops: u64 = workload.classes.iter().map(|class| class.ops).sum();
        assert_eq!(ops, 3000);
        assert_eq!(workload.workers.iter().map(|worker| worker.ops).sum::<u64>(), 3000);
    }
}

#[test]
fn both_worlds_are_asked_for_the_same_names_and_answer_each_once() {
    let plan = of_files();
    let directory = tempfile::tempdir().unwrap();
    let targets = vec![directory.path().display().to_string()];
    let options = RealOptions { targets, ..RealOptions::default() };
    let mut world = RealWorld::open(&plan, &options, Arc::default()).unwrap();
    let (real, modelled) = (measured(&plan, &mut world), measured(&plan, &mut array(&plan)));
    drop(world);
    assert_eq!((real.points.len(), modelled.points.len()), (12, 12));
    for (real, modelled) in real.points.iter().zip(&modelled.points) {
        let (real, modelled) = (&real.workloads[0], &modelled.workloads[0]);
        assert_eq!(real.digests, modelled.digests, "{:?}", real.spec.tree);
        for workload in [real, modelled] {
            assert_eq!((workload.planned, workload.errors), (workload.completed, 0));
            let (ops, bytes) = (|class: &record::Class| class.ops, |class: &record::Class| class.bytes);
            assert_eq!(workload.classes.iter().map(ops).sum::<u64>(), workload.planned);
            assert_eq!(
                workload.classes.iter().map(bytes).sum::<u64>(),
                real.classes.iter().map(bytes).sum::<u64>()
            );
        }
    }
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0, "nothing is left");
}

/// All that may be done to files, one after the other, by three workers that meet in their directories.
fn of_files() -> Plan {
    let ops = [
        "mkdir", "create", "write", "stat", "open", "read", "link", "symlink", "rename", "readdir", "delete",
        "rmdir",
    ];
    let phase = |op: &str| format!("[[phase]]\nname = '{op}'\ntree = '{op}'\n");
    let phases: String = ops.into_iter().map(phase).collect();
    plan(&format!(
        "[defaults]\ncount = 60\nfile_size = '0B..9KiB'\nlevels = 2\nfanout = 3\nfiles_in = 'all'\nworkers = 3\n\
         order = 'random'\nfsync = 'each'\n{phases}"
    ))
}
