//! How likely a set loses data before its disks are rebuilt, and over a time: a Monte Carlo of disks that die.
//!
//! Disks live and are rebuilt by Weibull laws. Data are lost when more disks of a group are gone at once than it can
//! do without, and when a rebuild of a group that can do without none more meets a sector that cannot be read.
//!
//! Losses are rare, so that disks die faster in the model than they should (importance sampling): before the first
//! death so fast that one is likely, and while disks are gone so fast that the next is. Each history carries the weight
//! by which it was made likelier, so that the mean stays what it is: a hazard that is `c` times the real one gives a
//! history the weight `exp((c - 1) Λ) / c^deaths`, Λ being the real hazard that it went through. Unreadable sectors are
//! not drawn but counted with their probability.
//! Source: Heidelberger, *Fast simulation of rare events in queueing and reliability models*, ACM TOMACS 5 (1995),
//! failure biasing and forcing; Elerath & Pecht, *A highly accurate method for assessing reliability of RAID*, IEEE
//! Transactions on Computers 58 (2009), for what is modelled.
//!
//! **Invariant:** no world and no clock: figures in, figures out, the same for a seed.

mod closed_form;

pub use closed_form::{loss_in_a_year, mean_time_to_loss_h};

use units::Bytes;
use units::convert::narrow;

use crate::raid::{Level, SetSpec};
use crate::streams::Stream;

/// Hours of a year.
pub const YEAR_H: f64 = 8_766.0;

/// A Weibull law, in hours: nothing ends before `least`, and 63 % have ended `scale` later.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weibull {
    /// Location.
    pub least_h: f64,
    /// Characteristic life. Zero: all end at `least_h`.
    pub scale_h: f64,
    /// Below 1 the young die, at 1 age does not matter, above 1 the old die.
    pub shape: f64,
}

impl Weibull {
    /// Always the same time.
    pub fn fixed(hours: f64) -> Weibull {
        Weibull { least_h: hours, scale_h: 0.0, shape: 1.0 }
    }

    /// Without memory, of that mean.
    pub fn exponential(mean_h: f64) -> Weibull {
        Weibull { least_h: 0.0, scale_h: mean_h, shape: 1.0 }
    }

    /// The hazard gone through by age `hours`: minus the logarithm of the part that survives it.
    fn hazard(&self, hours: f64) -> f64 {
        let over = (hours - self.least_h).max(0.0);
        if self.scale_h > 0.0 { (over / self.scale_h).powf(self.shape) } else { 0.0 }
    }

    /// The age at which that hazard has been gone through.
    fn age(&self, hazard: f64) -> f64 {
        self.least_h + self.scale_h * hazard.powf(1.0 / self.shape)
    }

    fn draw(&self, draws: &mut Stream) -> f64 {
        self.age(draws.exponential(1.0))
    }
}

/// Disks that stand in for each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Group {
    /// How many.
    pub disks: u32,
    /// How many of them may be gone.
    pub spare: u32,
    /// Bytes that a rebuild reads when none more may be gone.
    pub reads: Bytes,
}

/// What is asked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Question {
    /// What all groups are like.
    pub group: Group,
    /// How many there are, all alike.
    pub groups: u32,
    /// How long a disk lives.
    pub life: Weibull,
    /// How old the disks are at the beginning, in hours.
    pub age_h: f64,
    /// From a death until the disk's data are on another.
    pub rebuild: Weibull,
    /// Probability that a bit cannot be read.
    pub unreadable: f64,
    /// The time asked about, in hours.
    pub hours: f64,
    /// Where random numbers come from.
    pub seed: u64,
    /// How many lives of the array were drawn.
    pub histories: u32,
}

/// A probability and its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Chance {
    /// The mean of all histories.
    pub value: f64,
    /// Its lower end.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
}

/// What comes of it.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Loss {
    /// That data are lost before a first death has been rebuilt.
    pub in_window: Chance,
    /// That the group is lost by then: more disks die than it can do without, whatever could be read.
    pub disks_in_window: Chance,
    /// That a sector is: as many disks die as the group can do without, and the rebuild meets one that cannot be read.
    pub sector_in_window: Chance,
    /// That data are lost within the time asked about.
    pub over_time: Chance,
    /// That a rebuild which can do without no more disks meets a sector that cannot be read.
    pub unreadable_in_rebuild: f64,
    /// Deaths in the time asked about, of all disks.
    pub deaths: f64,
}

/// The groups of a set, all alike: how many, and one of them.
///
/// A RAID 1E is taken for a group that any second death ends, which is right for three members and too strict for more,
/// where only neighbours hold each other's data.
pub fn groups(spec: &SetSpec) -> (u32, Group) {
    let members = spec.members.max(1);
    let nested = spec.groups.max(1);
    let (groups, disks) = match spec.level {
        Level::Jbod | Level::Raid0 => (members, 1),
        Level::Raid10 => (members / 2, 2),
        Level::Raid50 | Level::Raid60 => (nested, members / nested),
        Level::Raid1 | Level::Raid1E | Level::Raid5 | Level::Raid6 => (1, members),
    };
    let spare = if spec.level == Level::Raid10 { 1 } else { spec.level.survives(disks).min(disks - 1) };
    let read = if spec.level == Level::Raid1E { 1 } else { disks - spare };
    (groups, Group { disks, spare, reads: spec.member_size.bytes() * u64::from(read) })
}

/// The probability that a read of `bytes` meets a bit that cannot be read, each with probability `unreadable`.
pub fn meets_unreadable(bytes: Bytes, unreadable: f64) -> f64 {
    -(-bytes.as_f64() * 8.0 * unreadable).exp_m1()
}

/// The answer to `question`.
pub fn loss(question: &Question) -> Loss {
    let mut draws = Stream::open(question.seed, "reliability");
    let Question { group, groups, life, age_h, hours, .. } = *question;
    let of_one = life.hazard(age_h + hours) - life.hazard(age_h);
    let deaths = f64::from(groups) * f64::from(group.disks) * of_one;
    let each = f64::from(group.disks) * of_one;
    let window = mean_of(question.histories, || History::begin(question, true, each).run(&mut draws));
    let time = mean_of(question.histories, || History::begin(question, false, each).run(&mut draws));
    // Of deaths alone, in a group that can do without so many.
    let mut of_deaths = |spare: u32| {
        let readable = Question { unreadable: 0.0, group: Group { spare, ..group }, ..*question };
        mean_of(question.histories, || History::begin(&readable, true, each).run(&mut draws))
    };
    let meets = if group.spare > 0 { meets_unreadable(group.reads, question.unreadable) } else { 0.0 };
    let last = of_deaths(group.spare.saturating_sub(1));
    Loss {
        in_window: window,
        disks_in_window: of_deaths(group.spare),
        sector_in_window: Chance {
            value: last.value * meets,
            low: last.low * meets,
            high: last.high * meets,
        },
        over_time: of_any(time, groups),
        unreadable_in_rebuild: meets,
        deaths,
    }
}

/// That one of `groups` independent groups has what one has with that probability.
fn of_any(one: Chance, groups: u32) -> Chance {
    let any = |chance: f64| -(f64::from(groups) * (-chance.min(1.0)).ln_1p()).exp_m1();
    Chance { value: any(one.value), low: any(one.low), high: any(one.high) }
}

/// The mean of so many histories with its interval by the normal law, which sums of so many follow.
fn mean_of(histories: u32, mut history: impl FnMut() -> f64) -> Chance {
    let (mut sum, mut squares) = (0.0, 0.0);
    for _ in 0..histories.max(2) {
        let lost = history();
        sum += lost;
        squares += lost * lost;
    }
    let n = f64::from(histories.max(2));
    let value = sum / n;
    let deviation = ((squares / n - value * value).max(0.0) / (n - 1.0)).sqrt();
    let beyond = 1.96 * deviation;
    Chance { value: value.min(1.0), low: (value - beyond).max(0.0), high: (value + beyond).min(1.0) }
}

/// Deaths that a history is made to expect, with all disks there.
const FORCED: f64 = 1.0;
/// Deaths that it is made to expect while disks are gone: half of the histories see one.
const BIASED: f64 = 0.7;

/// One history of one group.
struct History<'q> {
    question: &'q Question,
    /// Birth of each working disk, or the end of its rebuild.
    disks: Vec<Disk>,
    now: f64,
    until: f64,
    /// Whether only the first rebuild is looked at.
    window: bool,
    /// Deaths that are to be expected while disks are gone.
    biased: f64,
    weight: f64,
    lost: f64,
}

#[derive(Clone, Copy, Debug)]
enum Disk {
    Born(f64),
    Gone(f64),
}

impl<'q> History<'q> {
    /// `each`: deaths of one group that are to be expected over the time asked about. The more of them, the less each
    /// rebuild is biased, so that the weights of a long history stay near one.
    fn begin(question: &'q Question, window: bool, each: f64) -> History<'q> {
        History {
            question,
            disks: vec![Disk::Born(-question.age_h); question.group.disks as usize],
            now: 0.0,
            until: if window { f64::INFINITY } else { question.hours },
            window,
            biased: if window { BIASED } else { BIASED / each.max(1.0) },
            weight: 1.0,
            lost: 0.0,
        }
    }

    /// The weight of what was lost.
    fn run(mut self, draws: &mut Stream) -> f64 {
        if self.window && !self.die(0, draws) {
            return self.lost;
        }
        while self.now < self.until {
            let edge = self.next_rebuilt().min(self.until);
            match self.next_death(edge, draws) {
                Some(disk) => {
                    if !self.die(disk, draws) {
                        break;
                    }
                }
                None => self.pass(edge),
            }
        }
        self.lost
    }

    fn next_rebuilt(&self) -> f64 {
        let gone = self.disks.iter().filter_map(|disk| match disk {
            Disk::Gone(until) => Some(*until),
            Disk::Born(_) => None,
        });
        gone.fold(f64::INFINITY, f64::min)
    }

    /// Real hazard that all working disks go through until `at`.
    fn hazard_until(&self, at: f64) -> f64 {
        let life = &self.question.life;
        let of = |disk: &Disk| match disk {
            Disk::Born(born) => life.hazard(at - born) - life.hazard(self.now - born),
            Disk::Gone(_) => 0.0,
        };
        self.disks.iter().map(of).sum()
    }

    /// The disk that dies next, now being its death; `None` where none dies before `edge`, now being the edge.
    fn next_death(&mut self, edge: f64, draws: &mut Stream) -> Option<usize> {
        let any_gone = self.disks.iter().any(|disk| matches!(disk, Disk::Gone(_)));
        let wanted = if any_gone { self.biased } else { FORCED };
        let whole = self.hazard_until(edge);
        let factor = if whole > 0.0 { (wanted / whole).max(1.0) } else { 1.0 };
        let life = self.question.life;
        let mut first: Option<(usize, f64)> = None;
        for (index, disk) in self.disks.iter().enumerate() {
            let Disk::Born(born) = *disk else { continue };
            let hazard = life.hazard(self.now - born) + draws.exponential(1.0) / factor;
            let dies = born + life.age(hazard);
            if first.is_none_or(|(_, earliest)| dies < earliest) {
                first = Some((index, dies));
            }
        }
        let death = first.filter(|(_, dies)| *dies < edge);
        let at = death.map_or(edge, |(_, dies)| dies.max(self.now));
        self.weight *= ((factor - 1.0) * self.hazard_until(at)).exp();
        if death.is_some() {
            self.weight /= factor;
        }
        self.now = at;
        death.map(|(index, _)| index)
    }

    /// A disk dies now. Whether there still is something to lose.
    fn die(&mut self, disk: usize, draws: &mut Stream) -> bool {
        let Question { group, rebuild, unreadable, .. } = *self.question;
        let gone = 1 + narrow::<u32>(self.disks.iter().filter(|disk| matches!(disk, Disk::Gone(_))).count());
        if gone > group.spare {
            self.lost += self.weight;
            return false;
        }
        let rebuilt = self.now + rebuild.draw(draws);
        self.disks[disk] = Disk::Gone(rebuilt);
        if gone == group.spare {
            let meets = meets_unreadable(group.reads, unreadable);
            self.lost += self.weight * meets;
            self.weight *= 1.0 - meets;
        }
        if self.window && self.until.is_infinite() {
            self.until = rebuilt;
        }
        true
    }

    /// Nothing died until `edge`: what is rebuilt by then is there, as new.
    fn pass(&mut self, edge: f64) {
        for disk in &mut self.disks {
            if matches!(disk, Disk::Gone(until) if *until <= edge) {
                *disk = Disk::Born(edge);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::raid::SetSpec;
    use units::Sectors;

    fn question(disks: u32, spare: u32, mttf_h: f64, mttr_h: f64) -> Question {
        Question {
            group: Group { disks, spare, reads: Bytes::ZERO },
            groups: 1,
            life: Weibull::exponential(mttf_h),
            age_h: 0.0,
            rebuild: Weibull::exponential(mttr_h),
            unreadable: 0.0,
            hours: YEAR_H,
            seed: 3,
            histories: 40_000,
        }
    }

    /// The probability that the Markov chain of a group has lost data by `hours`: deaths at λ each, rebuilds at μ each,
    /// side by side; the equations of its states by Runge and Kutta's method of the fourth order.
    fn markov(disks: u32, spare: u32, mttf_h: f64, mttr_h: f64, hours: f64) -> f64 {
        let states = spare as usize + 1;
        let rate = |state: &[f64]| -> Vec<f64> {
            let mut change = vec![0.0; states];
            for gone in 0..states {
                let dies = f64::from(disks - narrow::<u32>(gone)) / mttf_h * state[gone];
                let rebuilt = gone as f64 / mttr_h * state[gone];
                change[gone] -= dies + rebuilt;
                if gone + 1 < states {
                    change[gone + 1] += dies;
                }
                if gone > 0 {
                    change[gone - 1] += rebuilt;
                }
            }
            change
        };
        // What is lost is integrated by itself: one minus the rest would lose its digits.
        let lost_rate = |state: &[f64]| f64::from(disks - spare) / mttf_h * state[states - 1];
        let step = mttr_h / 20.0;
        let (mut state, mut lost, mut at) = (vec![0.0; states], 0.0, 0.0);
        state[0] = 1.0;
        let moved = |state: &[f64], change: &[f64], by: f64| -> Vec<f64> {
            state.iter().zip(change).map(|(one, rate)| one + rate * by).collect()
        };
        while at < hours {
            let step = step.min(hours - at);
            let k1 = rate(&state);
            let s2 = moved(&state, &k1, step / 2.0);
            let k2 = rate(&s2);
            let s3 = moved(&state, &k2, step / 2.0);
            let k3 = rate(&s3);
            let s4 = moved(&state, &k3, step);
            let k4 = rate(&s4);
            let sum = lost_rate(&state) + 2.0 * lost_rate(&s2) + 2.0 * lost_rate(&s3) + lost_rate(&s4);
            lost += step / 6.0 * sum;
            for index in 0..states {
                state[index] += step / 6.0 * (k1[index] + 2.0 * k2[index] + 2.0 * k3[index] + k4[index]);
            }
            at += step;
        }
        lost
    }

    /// Three times as far from the value as the end of its 95 % interval: missed once in 10^8 tests.
    fn holds(chance: Chance, truth: f64) {
        let reach = 3.0 * (chance.high - chance.value);
        assert!((chance.value - truth).abs() < reach, "{chance:?} of {truth}");
        assert!(reach < 0.2 * truth, "{chance:?} says little of {truth}");
    }

    #[test]
    fn the_exact_markov_chains_of_raid_10_5_and_6_are_met_down_to_one_in_ten_thousand_million() {
        for (disks, spare, mttf_h, mttr_h) in
            [(2, 1, 5e5, 12.0), (8, 1, 2e5, 24.0), (8, 2, 4e5, 12.0), (14, 2, 1e5, 48.0), (6, 2, 1e6, 4.0)]
        {
            let found = loss(&question(disks, spare, mttf_h, mttr_h)).over_time;
            holds(found, markov(disks, spare, mttf_h, mttr_h, YEAR_H));
        }
    }

    #[test]
    fn disks_that_often_die_are_counted_as_well() {
        let question = Question { hours: 10.0 * YEAR_H, ..question(12, 1, 3e4, 50.0) };
        holds(loss(&question).over_time, markov(12, 1, 3e4, 50.0, 10.0 * YEAR_H));
    }

    #[test]
    fn ten_years_of_a_group_of_eight_are_those_of_elerath_and_pecht() {
        // MTTDL of 36,162 years from 461,386 h and 12 h: 0.277 of a thousand groups in ten years.
        let question = Question { hours: 87_600.0, ..question(8, 1, 461_386.0, 12.0) };
        let found = loss(&question).over_time;
        assert!((found.value * 1_000.0 / 0.277 - 1.0).abs() < 0.02, "{found:?}");
    }

    #[test]
    fn a_window_is_the_deaths_of_the_others_in_it_and_the_sectors_that_cannot_be_read() {
        let life = Weibull { least_h: 0.0, scale_h: 461_386.0, shape: 1.12 };
        let (age, hours) = (3.0 * YEAR_H, 30.0);
        let reads = Bytes::new(10_000_000_000_000);
        let asked = Question {
            group: Group { disks: 6, spare: 1, reads },
            life,
            age_h: age,
            rebuild: Weibull::fixed(hours),
            unreadable: 1e-14,
            ..question(6, 1, 1.0, 1.0)
        };
        // Ten terabytes at one bit in 10^14: 55 %.
        assert!((meets_unreadable(reads, 1e-14) - 0.5507).abs() < 1e-4);
        let others = 5.0 * (life.hazard(age + hours) - life.hazard(age));
        let truth = 1.0 - (1.0 - meets_unreadable(reads, 1e-14)) * (-others).exp();
        let found = loss(&asked);
        assert!((found.in_window.value / truth - 1.0).abs() < 1e-3, "{found:?} of {truth}");
        // Each by itself: the group is lost as often whatever can be read of it.
        holds(found.disks_in_window, -(-others).exp_m1());
        assert!((found.sector_in_window.value / meets_unreadable(reads, 1e-14) - 1.0).abs() < 1e-9);
        let without = loss(&Question { unreadable: 0.0, ..asked });
        holds(without.in_window, -(-others).exp_m1());
        assert!(without.sector_in_window.value.abs() < f64::MIN_POSITIVE);
        // Of two that may die the second has to, before a sector is missed.
        let two = loss(&Question { group: Group { spare: 2, ..asked.group }, ..asked });
        holds(two.sector_in_window, -(-others).exp_m1() * meets_unreadable(reads, 1e-14));
    }

    #[test]
    fn older_disks_lose_more_where_age_kills_and_less_where_youth_does() {
        let at = |shape: f64, age_h: f64| {
            let life = Weibull { least_h: 0.0, scale_h: 4e5, shape };
            loss(&Question { life, age_h, ..question(8, 1, 1.0, 24.0) }).over_time.value
        };
        assert!(at(1.5, 5.0 * YEAR_H) > 2.0 * at(1.5, 0.0));
        assert!(at(0.8, 5.0 * YEAR_H) < at(0.8, 0.0));
    }

    #[test]
    fn groups_follow_the_level() {
        let of = |level, members| {
            let (groups, group) = groups(&SetSpec::new(level, members, Sectors(128), Sectors(1 << 30)));
            (groups, group.disks, group.spare, group.reads.get() >> 39)
        };
        assert_eq!(of(Level::Raid0, 4), (4, 1, 0, 1));
        assert_eq!(of(Level::Raid10, 8), (4, 2, 1, 1));
        assert_eq!(of(Level::Raid5, 6), (1, 6, 1, 5));
        assert_eq!(of(Level::Raid60, 12), (2, 6, 2, 4));
        assert_eq!(of(Level::Raid1, 3), (1, 3, 2, 1));
    }

    #[test]
    fn a_seed_gives_the_same_answer_again() {
        let asked = Question { histories: 1_000, ..question(8, 2, 4e5, 12.0) };
        assert_eq!(loss(&asked), loss(&asked));
        assert_ne!(loss(&asked), loss(&Question { seed: 4, ..asked }));
    }
}
