//! The course of an array's own work over a whole run: when it began, and how fast it went beside loads and without.

use record::names::series::DONE;
use record::{Point, PointKind, Run, Series};

/// The last time that one kind of work was done, from all points of a run.
///
/// **Invariant:** there is a sample, and both time and what is done rise.
#[derive(Clone, Debug, PartialEq)]
pub struct Course<'a> {
    /// `rebuild`.
    pub work: &'a str,
    /// Whether the first sample is the beginning of the work, rather than when it was first looked at.
    pub is_from_its_beginning: bool,
    /// Seconds since the start of the run, part done.
    pub samples: Vec<(f64, f64)>,
    /// Where a load ran beside it, in order of time.
    pub beside: Vec<Stretch<'a>>,
}

/// What was done of it in some time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stretch<'a> {
    /// The point that loaded the array; empty where none did.
    pub load: &'a str,
    /// From when on, in seconds since the start of the run.
    pub from_s: f64,
    /// How long.
    pub seconds: f64,
    /// The part that was done in it.
    pub part: f64,
}

impl Stretch<'_> {
    /// How long all of the work takes at this pace, in seconds; `None` where nothing moved.
    pub fn whole_s(&self) -> Option<f64> {
        (self.part > 0.0).then(|| self.seconds / self.part)
    }
}

/// The course of each kind of work that `run` watched.
pub fn courses(run: &Run) -> Vec<Course<'_>> {
    let mut courses: Vec<Course<'_>> = Vec::new();
    for series in run.points.iter().flat_map(|point| &point.series) {
        let Some(work) = series.name.strip_suffix(DONE).filter(|_| series.unit == "share") else { continue };
        let place = courses.iter().position(|course| course.work == work).unwrap_or_else(|| {
            let (samples, beside) = (Vec::new(), Vec::new());
            courses.push(Course { work, is_from_its_beginning: false, samples, beside });
            courses.len() - 1
        });
        courses[place].samples.extend(samples(series));
    }
    courses.retain(|course| !course.samples.is_empty());
    for course in &mut courses {
        course.order();
        course.begin(&run.points);
        course.beside = run.points.iter().filter_map(|point| course.stretch_beside(point)).collect();
    }
    courses
}

/// What part of a course the gaps between its points may come to.
const BETWEEN_POINTS: f64 = 0.02;

impl<'a> Course<'a> {
    /// Whether all of it went at one pace, as far as was seen: without a load, or beside a single one.
    pub fn has_one_pace(&self) -> bool {
        self.beside.is_empty() || self.alone().is_none() && self.beside.len() == 1
    }

    /// Whether it ended with the load of `stretch`, but for what lies between two points.
    pub fn ends_with(&self, stretch: &Stretch<'_>) -> bool {
        let whole = self.whole();
        whole.from_s + whole.seconds - (stretch.from_s + stretch.seconds) <= BETWEEN_POINTS * whole.seconds
    }

    fn first(&self) -> (f64, f64) {
        self.samples[0]
    }

    /// The sample that it ends with: seconds since the start of the run, part done.
    pub fn last(&self) -> (f64, f64) {
        self.samples[self.samples.len() - 1]
    }

    /// All of it that was seen.
    pub fn whole(&self) -> Stretch<'static> {
        let ((from, before), (until, after)) = (self.first(), self.last());
        Stretch { load: "", from_s: from, seconds: until - from, part: after - before }
    }

    /// What was done while no load ran beside it, taken together; `None` where that is no more than what lies between two points.
    pub fn alone(&self) -> Option<Stretch<'static>> {
        let whole = self.whole();
        let (seconds, part) = self.beside.iter().fold((whole.seconds, whole.part), |left, beside| {
            (left.0 - beside.seconds, left.1 - beside.part)
        });
        (seconds > BETWEEN_POINTS * whole.seconds && part > 0.0).then_some(Stretch { seconds, part, ..whole })
    }

    /// Brings the samples of all points in order of time, each once. Where what is done falls, another rebuild began: only the
    /// last one stays.
    fn order(&mut self) {
        self.samples.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.total_cmp(&other.1)));
        self.samples.dedup();
        let falls = |pair: &[(f64, f64)]| pair[1].1 < pair[0].1;
        if let Some(at) = self.samples.windows(2).rposition(falls) {
            self.samples.drain(..=at);
        }
        debug_assert!(
            self.samples.is_sorted_by(|one, next| one.0 <= next.0 && one.1 <= next.1),
            "of the last rebuild both time and what is done rise"
        );
    }

    /// Nothing was done when the plan had it begin, which a first sample may be long after.
    fn begin(&mut self, points: &[Point]) {
        let begins = |point: &&Point| {
            point.kind == PointKind::State && point.state.get("state").is_some_and(|state| state == self.work)
        };
        let Some(begun) = points.iter().rev().find(begins) else { return };
        let begun_s = seconds(begun.started_ns);
        if begun_s <= self.first().0 {
            self.is_from_its_beginning = true;
            if self.first() != (begun_s, 0.0) {
                self.samples.insert(0, (begun_s, 0.0));
            }
        }
    }

    /// What was done while the load of `point` ran; `None` where none of the course lies in it.
    fn stretch_beside(&self, point: &'a Point) -> Option<Stretch<'a>> {
        let from_s = seconds(point.started_ns).max(self.first().0);
        let until_s = seconds(point.ended_ns).min(self.last().0);
        let done = |at| stats::part_at(&self.samples, at);
        (point.kind == PointKind::Load && until_s > from_s).then(|| Stretch {
            load: &point.name,
            from_s,
            seconds: until_s - from_s,
            part: done(until_s) - done(from_s),
        })
    }
}

fn samples(series: &Series) -> impl Iterator<Item = (f64, f64)> {
    let at = series.at_ns.iter().map(|at| seconds(*at));
    at.zip(series.values.iter().copied()).filter(|(_, part)| part.is_finite())
}

fn seconds(at_ns: u64) -> f64 {
    at_ns as f64 / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::sample;

    /// A rebuild that a state begins at second 10, beside a load until second 110, and what was seen of it.
    fn run(seen: &[(u64, f64)]) -> Run {
        let mut begun = Point::before(0, "rebuild", PointKind::State, "");
        begun.state.insert("state".into(), "rebuild".into());
        (begun.started_ns, begun.ended_ns) = (10_000_000_000, 10_000_000_000);
        let mut load = sample::point(1, "beside", Vec::new());
        (load.started_ns, load.ended_ns) = (10_000_000_000, 110_000_000_000);
        load.series = vec![sample::rebuilt(seen)];
        sample::run("rebuild", vec![begun, load])
    }

    #[test]
    fn a_course_counts_from_the_state_that_began_it_and_not_from_what_was_seen_first() {
        let run = run(&[(60, 0.1), (110, 0.2), (160, 0.6), (210, 1.0)]);
        let found = courses(&run);
        let course = &found[0];
        assert!(course.is_from_its_beginning);
        assert_eq!(course.whole(), Stretch { load: "", from_s: 10.0, seconds: 200.0, part: 1.0 });
    }

    #[test]
    fn the_pace_beside_a_load_is_apart_from_that_without_one() {
        let run = run(&[(60, 0.1), (110, 0.2), (160, 0.6), (210, 1.0)]);
        let found = courses(&run);
        let beside = found[0].beside[0];
        assert_eq!((beside.load, beside.seconds, beside.part), ("beside", 100.0, 0.2));
        assert_eq!(beside.whole_s(), Some(500.0));
        assert_eq!(found[0].alone().and_then(|alone| alone.whole_s()), Some(125.0));
    }

    #[test]
    fn a_course_beside_a_load_alone_has_no_pace_without_one() {
        let run = run(&[(60, 0.1), (110, 0.2)]);
        assert_eq!(courses(&run)[0].alone(), None);
    }
}
