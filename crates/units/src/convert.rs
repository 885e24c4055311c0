//! Conversions between numbers that say so where something would be lost.
//!
//! `as` is written only where nothing can be lost: to a wider type, or to floating point. The linter refuses the rest.

/// The same number as a narrower type.
///
/// # Panics
///
/// Where the number does not fit, at the caller's place: an invariant of the caller is broken, and a number that was
/// wrapped around would be measured, stored or written to a device in place of the right one.
#[inline]
#[track_caller]
#[must_use]
pub fn narrow<To>(number: impl TryInto<To>) -> To {
    match number.try_into() {
        Ok(same) => same,
        Err(_) => does_not_fit(std::any::type_name::<To>()),
    }
}

#[cold]
#[inline(never)]
#[track_caller]
fn does_not_fit(name: &str) -> ! {
    panic!("a number does not fit into {name}")
}

/// Whole numbers that a floating-point number is cut to.
pub trait Truncated {
    /// The whole part of `number`; the nearest that the type holds where it is beyond, 0 of what is not a number.
    fn truncated(number: f64) -> Self;
}

macro_rules! truncated {
    ($($type:ty)*) => {
        $(impl Truncated for $type {
            #[inline]
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates, as promised")]
            fn truncated(number: f64) -> $type {
                number as $type
            }
        })*
    };
}

truncated!(u8 u16 u32 u64 usize i32 i64);

/// The whole part of `number`, which must be rounded before where rounding is meant; the nearest that the type holds
/// where it is beyond, 0 of what is not a number.
#[inline]
#[must_use]
pub fn truncated<To: Truncated>(number: f64) -> To {
    To::truncated(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_fits_stays_the_same() {
        assert_eq!(narrow::<u8>(255_u64), 255);
        assert_eq!(narrow::<i16>(-32_768_i64), -32_768);
        assert_eq!(narrow::<usize>(u64::MAX), usize::MAX);
    }

    #[test]
    #[should_panic(expected = "a number does not fit into u8")]
    fn a_number_that_does_not_fit_is_no_other_number() {
        let _: u8 = narrow(256_u64);
    }

    #[test]
    #[should_panic(expected = "a number does not fit into u64")]
    fn a_number_below_zero_does_not_become_a_large_one() {
        let _: u64 = narrow(-1_i64);
    }

    #[test]
    fn floating_point_is_cut_and_stops_at_the_ends() {
        assert_eq!(
            [truncated::<u64>(2.9), truncated(-1.0), truncated(f64::NAN), truncated(1e30)],
            [2, 0, 0, u64::MAX]
        );
        assert_eq!([truncated::<i32>(-2.9), truncated(1e30), truncated(-1e30)], [-2, i32::MAX, i32::MIN]);
    }
}
