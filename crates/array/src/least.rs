//! The first of the least numbers.

/// The place of the least of `numbers`; of equal ones the first. `None` of no numbers.
///
/// Without a branch: of times that are as good as drawn no processor foresees which is less than all before it.
#[inline]
pub fn first_of_least(numbers: impl Iterator<Item = u64>) -> Option<usize> {
    let (mut least, mut at, mut count) = (u64::MAX, 0, 0);
    for number in numbers {
        at = if number < least { count } else { at };
        least = least.min(number);
        count += 1;
    }
    (count > 0).then_some(at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_is_the_least_by_its_place(numbers in proptest::collection::vec(prop_oneof![0u64..5, Just(u64::MAX)], 0..20)) {
            let expected = (0..numbers.len()).min_by_key(|&at| numbers[at]);
            prop_assert_eq!(first_of_least(numbers.into_iter()), expected);
        }
    }
}
