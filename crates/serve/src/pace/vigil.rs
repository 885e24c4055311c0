//! How much of a wait is spent awake.

use std::time::Duration;

/// How long a thread may wait for a time awake: a processor that sleeps takes 50 to 150 µs until it is at work again, and an answer
/// would be that late.
pub(super) struct Vigil {
    /// What has been earned and is not spent.
    credit: Duration,
    earned_at: Duration,
}

impl Vigil {
    /// What a wake-up takes where the processor slept in a virtual machine, and a little more.
    const LONGEST: Duration = Duration::from_micros(200);
    /// One part of so many of the time by the clock may be spent awake.
    const PARTS: u32 = 10;
    /// What can be saved: so much for times when many answers are due.
    const MOST: Duration = Duration::from_millis(10);

    /// With nothing earned yet.
    pub fn new(now: Duration) -> Vigil {
        Vigil { credit: Duration::ZERO, earned_at: now }
    }

    /// How much of a wait of that length may be spent awake: the whole of a short one, [`Vigil::LONGEST`] at most, and no more than has
    /// been earned by `now`.
    pub fn allowed(&mut self, wait: Duration, now: Duration) -> Duration {
        let earned = now.saturating_sub(self.earned_at) / Vigil::PARTS;
        self.credit = (self.credit + earned).min(Vigil::MOST);
        self.earned_at = now;
        wait.min(Vigil::LONGEST).min(self.credit)
    }

    /// So much has been spent, which may be more than was allowed where the thread was held up.
    pub fn spend(&mut self, time: Duration) {
        self.credit = self.credit.saturating_sub(time);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::Vigil;

    #[test]
    fn a_tenth_of_the_time_at_most_is_waited_for_awake() {
        let [micro, milli] = [Duration::from_micros(1), Duration::from_millis(1)];
        let mut vigil = Vigil::new(Duration::ZERO);
        assert_eq!(vigil.allowed(milli, Duration::ZERO), Duration::ZERO, "nothing is earned yet");
        assert_eq!(vigil.allowed(5 * milli, milli), 100 * micro);
        let mut awake = Duration::ZERO;
        for step in 1..=10_000_u32 {
            let now = milli + step * 100 * micro;
            let spent = vigil.allowed(100 * micro, now);
            vigil.spend(spent);
            awake += spent;
        }
        assert!(awake <= 101 * milli && awake >= 99 * milli, "{awake:?} of a second");
        assert_eq!(vigil.allowed(Duration::from_secs(5), Duration::from_secs(100)), Vigil::LONGEST);
        assert_eq!(
            vigil.allowed(30 * micro, Duration::from_secs(101)),
            30 * micro,
            "a short wait is spent awake"
        );
    }
}
