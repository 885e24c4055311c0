//! Whose data a task reads with `-Z`: drawn by the numbers that `rand` of the C library gives, so that tasks read what they would
//! read there.

use super::options::Shape;

/// Which task's data each task reads in repetition `iteration`; `None` where each reads its own.
pub(super) fn readers(shape: &Shape, iteration: u32) -> Option<Vec<u32>> {
    let tasks = shape.tasks;
    let seed = match shape.reorder_seed {
        seed @ ..0 => seed.unsigned_abs().wrapping_add(iteration),
        seed => seed.unsigned_abs(),
    };
    match shape.random_reorders {
        0 => None,
        1 => Some(
            (0..tasks).map(|task| (task + Rand::new(task.wrapping_add(seed)).below(tasks)) % tasks).collect(),
        ),
        _ => {
            let (mut order, mut rand) = ((0..tasks).collect::<Vec<u32>>(), Rand::new(seed));
            for task in 0..tasks {
                let other = task + rand.below(tasks - task);
                order.swap(task as usize, other as usize);
            }
            debug_assert!(
                (0..tasks).all(|task| order.contains(&task)),
                "each task reads what another one wrote"
            );
            Some(order)
        }
    }
}

/// `rand` of glibc after `srand`: each number is the sum of those 31 and 3 before it.
struct Rand {
    past: [u32; 31],
    next: usize,
}

impl Rand {
    fn new(seed: u32) -> Rand {
        let mut past = [0; 31];
        let mut word = i64::from(seed.max(1).cast_signed());
        for each in &mut past {
            *each = u32::try_from(word.rem_euclid(1 << 32)).expect("it is below 2^32");
            // As there, what is negative is brought back by the modulus.
            word = (16_807 * word) % 2_147_483_647;
            if word < 0 {
                word += 2_147_483_647;
            }
        }
        let mut rand = Rand { past, next: 3 };
        for _ in 0..310 {
            rand.draw();
        }
        rand
    }

    fn draw(&mut self) -> u32 {
        let drawn = self.past[self.next].wrapping_add(self.past[(self.next + 28) % 31]);
        self.past[self.next] = drawn;
        self.next = (self.next + 1) % 31;
        drawn >> 1
    }

    fn below(&mut self, bound: u32) -> u32 {
        self.draw() % bound.max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_c_library() {
        let drawn = |seed: u32| {
            let mut rand = Rand::new(seed);
            [rand.draw(), rand.draw(), rand.draw()]
        };
        assert_eq!(drawn(1), [1_804_289_383, 846_930_886, 1_681_692_777]);
        assert_eq!(drawn(0), drawn(1), "as srand(0)");
        assert_eq!(drawn(42), [71_876_166, 708_592_740, 1_483_128_881]);
        assert_eq!(drawn(3_000_000_000), [2_058_147_116, 854_483_408, 922_419_988]);
    }

    #[test]
    fn tasks_read_what_they_read_in_ior() {
        let of = |random_reorders, reorder_seed, iteration| {
            let command = super::super::options::Command::new(&[]);
            readers(&Shape { tasks: 8, random_reorders, reorder_seed, ..command.shape }, iteration)
        };
        assert_eq!(of(0, 3, 0), None);
        assert_eq!(of(1, 5, 7).unwrap(), [3, 6, 7, 3, 7, 4, 5, 7], "each draws for itself");
        assert_eq!(of(2, 3, 7).unwrap(), [2, 6, 0, 3, 5, 1, 4, 7], "each is read once");
        assert_eq!(of(2, -2, 1), of(2, 3, 0), "a negative seed moves on with the repetitions");
    }
}
