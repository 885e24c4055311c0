//! Which workers and how many of their targets take part in each test.
//!
//! **Invariant:** a test always has more targets at work than the one before it in the same row, so rows end.
//! Source: the test series of Iometer 1.1.0 as its user's guide describes them, compared with what it does.

use units::convert::narrow;

use super::config::{Cycle, Setup, TestType};

/// How many of its targets each worker uses: by manager and worker.
pub type Active = Vec<Vec<usize>>;

/// The sets of targets that are tried one after the other. `has` says how many each worker could use.
///
/// At least one set, unless no worker has a target. Outstanding requests are cycled within each set.
pub fn sets(setup: &Setup, has: &Active) -> Vec<Active> {
    let all = || vec![has.clone()];
    let sets = match setup.test {
        TestType::Normal | TestType::CycleDepth => all(),
        TestType::CycleTargets | TestType::CycleDepthAndTargets => {
            growing(setup.targets, |count| targets_each(has, count))
        }
        TestType::CycleWorkers => growing(setup.workers, |count| first_workers(has, count)),
        TestType::IncrementTargetsParallel => growing(setup.targets, |count| {
            has.iter().map(|workers| filled(workers.iter(), narrow::<usize>(count))).collect()
        }),
        TestType::IncrementTargetsSerial => growing(setup.targets, |count| {
            let flat = filled(has.iter().flatten(), narrow::<usize>(count));
            let mut rest = flat.into_iter();
            has.iter().map(|workers| rest.by_ref().take(workers.len()).collect()).collect()
        }),
        TestType::CycleWorkersAndTargets => {
            let some_workers = growing(setup.workers, |count| first_workers(has, count));
            let rows =
                some_workers.iter().map(|some| growing(setup.targets, |count| targets_each(some, count)));
            rows.flatten().collect()
        }
    };
    debug_assert!(
        sets.iter().all(|active| active
            .iter()
            .flatten()
            .zip(has.iter().flatten())
            .all(|(own, all)| own <= all)),
        "a worker has no more targets than are its own"
    );
    sets.into_iter().filter(|active| total(active) > 0).collect()
}

/// The numbers of outstanding requests that are tried, if they are.
pub fn depths(setup: &Setup) -> Option<Vec<u64>> {
    let is_cycled = matches!(setup.test, TestType::CycleDepth | TestType::CycleDepthAndTargets);
    is_cycled.then(|| {
        let all = (0..).map(|index| setup.depth.at(index));
        // A step that does not grow has been refused; more would not fit any plan.
        all.take_while(|depth| *depth <= setup.depth.end).take(MOST_DEPTHS).collect()
    })
}

/// More than a plan can have points.
const MOST_DEPTHS: usize = 10_001;

fn total(active: &Active) -> usize {
    active.iter().flatten().sum()
}

/// Sets for more and more, as long as more targets are at work.
fn growing(cycle: Cycle, set: impl Fn(u64) -> Active) -> Vec<Active> {
    let mut sets: Vec<Active> = Vec::new();
    for index in 0.. {
        let next = set(cycle.at(index));
        if total(&next) <= sets.last().map_or(0, total) {
            return sets;
        }
        sets.push(next);
        debug_assert!(sets.is_sorted_by_key(total), "each set has more at work than the one before it");
    }
    sets
}

fn targets_each(has: &Active, count: u64) -> Active {
    let at_most = |has: &usize| (*has).min(usize::try_from(count).unwrap_or(usize::MAX));
    has.iter().map(|workers| workers.iter().map(at_most).collect()).collect()
}

/// The first so many workers of each manager that have targets at all.
fn first_workers(has: &Active, count: u64) -> Active {
    let of_manager = |workers: &Vec<usize>| {
        let mut left = count;
        let take = |has: &usize| {
            let taken = if left > 0 { *has } else { 0 };
            left -= u64::from(taken > 0);
            taken
        };
        workers.iter().map(take).collect()
    };
    has.iter().map(of_manager).collect()
}

/// So many targets, one worker filled after the other.
fn filled<'a>(workers: impl Iterator<Item = &'a usize>, count: usize) -> Vec<usize> {
    let mut left = count;
    let take = |has: &usize| {
        let taken = left.min(*has);
        left -= taken;
        taken
    };
    workers.map(take).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cycle(start: u64, step: u64, exponential: bool) -> Cycle {
        Cycle { start, end: 32, step, exponential }
    }

    fn of(test: TestType, workers: Cycle, targets: Cycle, has: &[&[usize]]) -> Vec<Active> {
        let setup = Setup { test, workers, targets, ..Setup::default() };
        sets(&setup, &has.iter().map(|workers| workers.to_vec()).collect())
    }

    const ONE: Cycle = Cycle { start: 1, end: 32, step: 1, exponential: false };

    #[test]
    fn targets_are_added_to_all_workers_until_all_are_at_work() {
        let sets = of(TestType::CycleTargets, ONE, cycle(1, 2, true), &[&[5, 2]]);
        assert_eq!(sets, [[[1, 1]], [[2, 2]], [[4, 2]], [[5, 2]]]);
        let sets = of(TestType::CycleTargets, ONE, cycle(2, 5, false), &[&[8]]);
        assert_eq!(sets, [[[2]], [[7]], [[8]]]);
    }

    #[test]
    fn a_step_of_nothing_is_one_test() {
        assert_eq!(of(TestType::CycleTargets, ONE, cycle(2, 0, false), &[&[8]]), [[[2]]]);
        assert_eq!(of(TestType::CycleTargets, ONE, cycle(2, 1, true), &[&[4]]), [[[2]], [[3]], [[4]]]);
    }

    #[test]
    fn workers_are_added_to_each_manager_and_idle_ones_do_not_count() {
        let sets = of(TestType::CycleWorkers, ONE, ONE, &[&[1, 0, 2], &[3]]);
        assert_eq!(sets, [vec![vec![1, 0, 0], vec![3]], vec![vec![1, 0, 2], vec![3]]]);
    }

    #[test]
    fn targets_fill_one_worker_after_the_other() {
        let parallel = of(TestType::IncrementTargetsParallel, ONE, ONE, &[&[1, 2], &[1, 1]]);
        assert_eq!(parallel, [[[1, 0], [1, 0]], [[1, 1], [1, 1]], [[1, 2], [1, 1]]]);
        let serial = of(TestType::IncrementTargetsSerial, ONE, ONE, &[&[1, 1], &[1, 1]]);
        assert_eq!(serial, [[[1, 0], [0, 0]], [[1, 1], [0, 0]], [[1, 1], [1, 0]], [[1, 1], [1, 1]]]);
    }

    #[test]
    fn workers_and_targets_nest() {
        let sets = of(TestType::CycleWorkersAndTargets, ONE, ONE, &[&[2, 2]]);
        assert_eq!(sets, [[[1, 0]], [[2, 0]], [[1, 1]], [[2, 2]]]);
    }

    #[test]
    fn depths_are_those_up_to_the_end() {
        let of = |start, end, step, exponential| {
            let depth = Cycle { start, end, step, exponential };
            depths(&Setup { depth, test: TestType::CycleDepth, ..Setup::default() })
        };
        assert_eq!(of(1, 32, 2, true), Some(vec![1, 2, 4, 8, 16, 32]));
        assert_eq!(of(1, 12, 5, false), Some(vec![1, 6, 11]));
        assert_eq!(depths(&Setup::default()), None);
    }

    proptest::proptest! {
        #[test]
        fn rows_end_and_end_with_what_can_be_reached(
            has in proptest::collection::vec(proptest::collection::vec(0usize..5, 0..4), 0..4),
            start in 0u64..4, step in 0u64..4, exponential: bool, test in 0usize..8,
        ) {
            let step = Cycle { start, end: 32, step, exponential };
            let setup = Setup { workers: step, targets: step, test: TestType::ALL[test].1, ..Setup::default() };
            for set in sets(&setup, &has) {
                let within = set.iter().flatten().zip(has.iter().flatten()).all(|(used, has)| used <= has);
                proptest::prop_assert!(within && total(&set) > 0);
            }
        }
    }
}
