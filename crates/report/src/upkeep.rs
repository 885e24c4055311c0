//! An array's own work beside the loads: how far it came, and when it will be done.

use record::names::series::DONE;
use record::{Run, Series};
use stats::forecast;
use units::Nanos;

use crate::style::Style;
use crate::words::{harmless, percent, wrap};

/// The whole course of one kind of work, from all points of a run.
struct Course<'a> {
    work: &'a str,
    /// Seconds since the start of the run, part done.
    samples: Vec<(f64, f64)>,
}

/// One line for each kind of work that was watched, and one of its tenths.
pub(crate) fn lines(run: &Run, style: Style) -> Vec<String> {
    let mut lines = Vec::new();
    for course in courses(run) {
        let mut text = vec![harmless(course.work) + ": " + &summary(&course.samples)];
        let tenths = tenths(&course.samples);
        if tenths.len() > 1 {
            text.push(format!("  since its beginning: {}", tenths.join(", ")));
        }
        for line in text {
            lines.extend(wrap(&style.spell(&line), style.width, "", "    "));
        }
    }
    lines
}

fn courses(run: &Run) -> Vec<Course<'_>> {
    let mut courses: Vec<Course<'_>> = Vec::new();
    for series in run.points.iter().flat_map(|point| &point.series) {
        let Some(work) = series.name.strip_suffix(DONE).filter(|_| series.unit == "share") else { continue };
        let known = courses.iter().position(|course| course.work == work);
        let course = match known {
            Some(known) => &mut courses[known],
            None => {
                courses.push(Course { work, samples: Vec::new() });
                courses.last_mut().expect("just pushed")
            }
        };
        course.samples.extend(samples(series));
    }
    for course in &mut courses {
        // Points tell the course from its beginning, or from the last sample of the point before.
        course.samples.sort_by(|one, other| one.0.total_cmp(&other.0));
        course.samples.dedup();
        // A second rebuild begins anew; the last is what goes on.
        let falls = |pair: &[(f64, f64)]| pair[1].1 < pair[0].1;
        if let Some(at) = course.samples.windows(2).rposition(falls) {
            course.samples.drain(..=at);
        }
    }
    courses.retain(|course| !course.samples.is_empty());
    debug_assert!(
        courses
            .iter()
            .all(|course| course.samples.is_sorted_by(|one, next| one.0 <= next.0 && one.1 <= next.1)),
        "of the last rebuild both time and what is done rise"
    );
    courses
}

fn samples(series: &Series) -> impl Iterator<Item = (f64, f64)> {
    let seconds = series.at_ns.iter().map(|at| *at as f64 / 1e9);
    seconds.zip(series.values.iter().copied()).filter(|(_, part)| part.is_finite())
}

/// `37 % after 5 min, 7.4 % a minute; done in another 8 min 31 s (7 min 50 s to 9 min 19 s)`.
fn summary(samples: &[(f64, f64)]) -> String {
    let (first, last) = (samples[0], samples[samples.len() - 1]);
    if first.0 == last.0 {
        return format!("{} done", percent(last.1));
    }
    let after = format!("{} after {}", percent(last.1), time(last.0 - first.0));
    if last.1 >= 1.0 {
        let took = last.0 - first.0;
        // Of what took a few seconds a rate per minute says nothing.
        let rate = if took < 10.0 {
            String::new()
        } else {
            format!(", {}", rate((last.1 - first.1) / took * 6000.0))
        };
        return format!("done in {}{rate}", time(took));
    }
    let Some(found) = forecast(samples) else { return after };
    let rate = rate(found.per_s * 6000.0);
    let range = match found.left_range_s {
        Some(range) if range.high.is_finite() => format!(" ({} to {})", time(range.low), time(range.high)),
        Some(range) => format!(" (at least {})", time(range.low)),
        None => String::new(),
    };
    format!("{after}, {rate}; done in another {}{range}", time(found.left_s))
}

/// `10 % 25 s, 20 % 51 s`: when each tenth was seen to be done.
fn tenths(samples: &[(f64, f64)]) -> Vec<String> {
    let begun = samples[0].0;
    let seen = |tenth: u32| {
        let at = samples.iter().find(|(_, part)| *part >= f64::from(tenth) / 10.0 - 1e-9)?;
        (samples[0].1 < f64::from(tenth) / 10.0).then(|| format!("{} % {}", tenth * 10, time(at.0 - begun)))
    };
    (1..=10).filter_map(seen).collect()
}

/// Three digits or so, whether it takes seconds or a week.
fn rate(percent: f64) -> String {
    match percent {
        0.0..0.995 => format!("{percent:.3} % a minute"),
        0.995..99.5 => format!("{percent:.1} % a minute"),
        _ => format!("{percent:.0} % a minute"),
    }
}

fn time(seconds: f64) -> String {
    Nanos::from_secs_f64(seconds.max(0.0)).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::sample;

    fn run_with(parts: &[(u64, f64)]) -> Run {
        let mut point = sample::point(0, "rebuilding", Vec::new());
        point.series = vec![Series {
            name: "rebuild done".into(),
            unit: "share".into(),
            workload: None,
            source: "/proc/mdstat, md0".into(),
            from_ns: None,
            at_ns: parts.iter().map(|(second, _)| second * 1_000_000_000).collect(),
            values: parts.iter().map(|(_, part)| *part).collect(),
            absent: None,
        }];
        // The next point tells the last sample of the one before again.
        let again = point.clone();
        sample::run("rebuild", vec![point, again])
    }

    const STYLE: Style = Style { colour: false, unicode: true, width: 200 };

    #[test]
    fn a_course_says_how_far_it_is_and_when_it_will_be_done() {
        let parts: Vec<(u64, f64)> = (0..=20).map(|n| (100 + n * 6, n as f64 * 0.02)).collect();
        let lines = lines(&run_with(&parts), STYLE);
        let text = lines.join("|");
        assert!(text.starts_with("rebuild: 40.0 % after 2 min"), "{text}");
        assert!(text.contains("20.0 % a minute; done in another 3 min"), "{text}");
        assert!(text.contains("10 % 30.0 s, 20 % 60.0 s"), "{text}");
    }

    #[test]
    fn a_course_that_is_done_says_how_long_it_took() {
        let text = lines(&run_with(&[(10, 0.0), (20, 0.5), (30, 1.0)]), STYLE).join("|");
        assert!(text.starts_with("rebuild: done in 20.0 s, 300 % a minute"), "{text}");
    }

    #[test]
    fn what_was_done_at_once_has_no_rate_of_a_minute() {
        let mut run = run_with(&[(0, 0.0), (1, 0.97), (2, 1.0)]);
        for point in &mut run.points {
            point.series[0].at_ns = vec![0, 230_000_000, 237_000_000];
        }
        assert!(
            lines(&run, STYLE).join("|").starts_with("rebuild: done in 237 ms|"),
            "{:?}",
            lines(&run, STYLE)
        );
    }

    #[test]
    fn runs_without_such_work_have_no_lines() {
        assert!(lines(&sample::run("quick", Vec::new()), STYLE).is_empty());
        assert_eq!(lines(&run_with(&[(10, 0.3)]), STYLE), ["rebuild: 30.0 % done"]);
    }
}
