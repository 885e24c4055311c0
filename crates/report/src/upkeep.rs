//! An array's own work beside the loads: how far it came, and when it will be done.

use record::Run;
use stats::forecast;
use units::Nanos;

use crate::course::{Course, Stretch, courses};
use crate::style::Style;
use crate::words::{harmless, percent, wrap};

/// For each kind of work that was watched what it came to, how fast it went beside loads and without where both were seen, and its
/// tenths.
pub(crate) fn lines(run: &Run, style: Style) -> Vec<String> {
    let mut lines = Vec::new();
    for course in courses(run) {
        let mut text = vec![harmless(course.work) + ": " + &summary(&course)];
        text.extend(paces(&course));
        let tenths = tenths(&course.samples);
        if tenths.len() > 1 {
            let since =
                if course.is_from_its_beginning { "since its beginning" } else { "since it was first seen" };
            text.push(format!("{since}: {}", tenths.join(", ")));
        }
        for (number, line) in text.iter().enumerate() {
            let first = if number == 0 { "" } else { "  " };
            lines.extend(wrap(&style.spell(line), style.width, first, "    "));
        }
    }
    lines
}

/// `37.0 % after 5 min 00 s, 7.4 % a minute beside the load; done in another 8 min 31 s (7 min 50 s to 9 min 19 s)`.
fn summary(course: &Course<'_>) -> String {
    let (whole, (at, done)) = (course.whole(), course.last());
    if whole.seconds == 0.0 {
        return format!("{} done {} after the run began", percent(done), time(at));
    }
    let is_one_pace = course.has_one_pace();
    let company = if is_one_pace && !course.beside.is_empty() { " beside the load" } else { "" };
    // Of what took a few seconds a rate per minute says nothing.
    let pace = if is_one_pace && whole.seconds >= 10.0 && whole.part > 0.0 {
        format!(", {}{company}", rate(&whole))
    } else {
        String::new()
    };
    let first = if course.is_from_its_beginning || done == whole.part {
        String::new()
    } else {
        format!("from {} to ", percent(done - whole.part))
    };
    let after = format!("{first}{} after {}{pace}", percent(done), time(whole.seconds));
    if done >= 1.0 {
        let done = if first.is_empty() { "done".into() } else { format!("{first}its end") };
        return format!("{done} in {}{pace}", time(whole.seconds));
    }
    let now = now(course);
    let Some(found) = forecast(&now) else { return after };
    let range = match found.left_range_s {
        Some(range) if range.high.is_finite() => format!(" ({} to {})", time(range.low), time(range.high)),
        Some(range) => format!(" (at least {})", time(range.low)),
        None => String::new(),
    };
    format!("{after}; done in another {}{range}", time(found.left_s))
}

/// The samples since the pace last changed: from the beginning of the last load where the course ends with it, else from its end.
fn now(course: &Course<'_>) -> Vec<(f64, f64)> {
    let from = match course.beside.last() {
        None => course.whole().from_s,
        Some(last) if course.ends_with(last) => last.from_s,
        Some(last) => last.from_s + last.seconds,
    };
    let after = course.samples.iter().copied().filter(|(at, _)| *at > from);
    [(from, stats::part_at(&course.samples, from))].into_iter().chain(after).collect()
}

/// `beside the load 0.380 % a minute, the whole would take 4 h 23 min; alone 0.817 % a minute, the whole 2 h 02 min`: where it did
/// not go at one pace.
fn paces(course: &Course<'_>) -> Option<String> {
    if course.has_one_pace() {
        return None;
    }
    let alone = course.alone();
    let pace = |stretch: &Stretch<'_>, whose: String| match stretch.whole_s() {
        Some(whole) => format!("{whose} {}, the whole would take {}", rate(stretch), time(whole)),
        None => format!("{whose} nothing in {}", time(stretch.seconds)),
    };
    let one = course.beside.len() == 1;
    let whose =
        |load: &str| if one { "beside the load".to_owned() } else { format!("beside {}", harmless(load)) };
    let beside = course.beside.iter().map(|stretch| pace(stretch, whose(stretch.load)));
    Some(beside.chain(alone.map(|alone| pace(&alone, "alone".into()))).collect::<Vec<_>>().join("; "))
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
fn rate(stretch: &Stretch<'_>) -> String {
    let percent = stretch.part / stretch.seconds * 6000.0;
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
        point.series = vec![sample::rebuilt(parts)];
        // The next point tells the last sample of the one before again.
        let mut again = point.clone();
        again.started_ns = again.ended_ns;
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
    fn the_pace_beside_the_load_and_the_pace_alone_are_printed_apart() {
        // The load of a sample ends at second 31.
        let text = lines(&run_with(&[(1, 0.0), (31, 0.01), (131, 1.0)]), STYLE).join("|");
        assert!(text.starts_with("rebuild: done in 2 min 10 s|"), "{text}");
        let paces = "|  beside the load 2.0 % a minute, the whole would take 50 min 00 s; \
                     alone 59.4 % a minute, the whole would take 101 s|";
        assert!(text.contains(paces), "{text}");
    }

    #[test]
    fn what_is_left_is_foretold_by_the_pace_that_goes_on() {
        let text = lines(&run_with(&[(1, 0.0), (31, 0.3), (41, 0.31), (51, 0.32)]), STYLE).join("|");
        assert!(text.starts_with("rebuild: 32.0 % after 50.0 s; done in another 11 min"), "{text}");
    }

    #[test]
    fn what_was_watched_from_its_middle_on_is_not_said_to_have_begun_there() {
        let text = lines(&run_with(&[(100, 0.37), (160, 0.7), (220, 1.0)]), STYLE).join("|");
        assert!(text.starts_with("rebuild: from 37.0 % to its end in 2 min 00 s, 31.5 % a minute"), "{text}");
        assert!(text.contains("|  since it was first seen: "), "{text}");
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
        assert_eq!(
            lines(&run_with(&[(10, 0.3)]), STYLE),
            ["rebuild: 30.0 % done 10.0 s after the run began"]
        );
    }
}
