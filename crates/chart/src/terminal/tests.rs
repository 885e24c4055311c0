use super::*;
use crate::axis::Axis;
use crate::dots::{Dot, Row};
use crate::plot::Mark;
use crate::{Chart, Scale, Unit};

fn plot() -> Plot {
    let points = [(1.0, 100.0), (2.0, 200.0), (4.0, 300.0)];
    let points = points.map(|(x, y)| Mark { x, y: Some(y), ..Mark::default() });
    Plot {
        x: Axis::new("queue depth", Unit::Count, Scale::Log2),
        y: Axis::new("rate", Unit::PerSecond, Scale::Linear),
        lines: vec![Line { marked: true, points: points.into(), ..Line::default() }],
        rules: Vec::new(),
    }
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    let charts = [Chart::Plot(plot())];
    for chart in charts {
        for (width, unicode) in [(40, true), (80, true), (80, false), (200, true)] {
            let text = chart.text(width, unicode);
            let widest = text.lines().map(|line| line.chars().count()).max().unwrap_or(0);
            assert!(widest <= width, "{widest} > {width}:\n{text}");
            assert!(unicode || text.is_ascii() || text.contains('\u{a0}'), "{text}");
        }
    }
}

#[test]
fn a_name_that_is_cut_says_so() {
    let mut plot = plot();
    plot.rules = vec![Rule::Level(250.0, "controller processor at 100 % utilization".into())];
    for (unicode, end) in [(true, "…"), (false, "..")] {
        let text = plot.text(100, 8, unicode);
        assert!(text.lines().any(|line| line.contains("controller") && line.ends_with(end)), "{text}");
    }
    plot.rules = vec![Rule::Level(250.0, "disk 100 % busy: 2,424".into())];
    assert!(plot.text(100, 8, true).contains("disk 100 % busy: 2,424"));
}

#[test]
fn points_of_a_line_rise_from_left_to_right() {
    let text = plot().text(60, 14, false);
    let places: Vec<(usize, usize)> = text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.contains("rate") && !line.contains("queue"))
        .filter_map(|(row, line)| Some((row, line.find('o')?)))
        .collect();
    let [high, middle, low] = places[..] else { panic!("{text}") };
    assert!(high.1 > middle.1 && middle.1 > low.1 && high.0 < middle.0, "{text}");
    assert!(text.contains("queue depth") && text.contains(" 300+"), "{text}");
}

#[test]
fn several_lines_are_named_at_their_ends_and_below_where_there_is_no_room() {
    let mut plot = plot();
    let shift = |line: &Line, by: f64, name: &str| Line {
        name: name.into(),
        points: line.points.iter().map(|mark| Mark { y: mark.y.map(|y| y + by), ..mark.clone() }).collect(),
        ..line.clone()
    };
    let first = plot.lines[0].clone();
    plot.lines = vec![shift(&first, 0.0, "RAID 5"), shift(&first, 1.0, "RAID 10")];
    plot.rules = vec![Rule::Limit(150.0, "limit".into())];
    for unicode in [true, false] {
        let wide = plot.text(80, 8, unicode);
        let ends = |name: &str| wide.lines().position(|line| line.ends_with(name)).unwrap();
        assert!(ends("o RAID 5") != ends("x RAID 10") && ends("limit") > ends("o RAID 5"), "{wide}");
        assert_eq!(wide.lines().count(), 8 + 4, "{wide}");
    }
    let narrow = plot.text(40, 8, true);
    assert!(narrow.lines().last().unwrap().contains("o RAID 5"), "{narrow}");
    let tiny = plot.text(80, 1, true);
    assert_eq!(tiny.lines().count(), 1 + 4 + 1, "{tiny}");
}

#[test]
fn names_are_moved_apart_and_stay_within_the_plot() {
    let mut names: Vec<(usize, String)> = [3, 3, 3, 0].map(|row| (row, String::new())).into();
    spread(&mut names, 4);
    assert_eq!(names.iter().map(|(row, _)| *row).collect::<Vec<_>>(), [0, 1, 2, 3]);
    let mut names: Vec<(usize, String)> = [2, 2].map(|row| (row, String::new())).into();
    spread(&mut names, 9);
    assert_eq!(names.iter().map(|(row, _)| *row).collect::<Vec<_>>(), [2, 3]);
}

#[test]
fn a_dot_of_braille_is_the_bit_that_unicode_gives_it() {
    let bits: Vec<u8> = (0..8).map(|index| dot(index / 4, index % 4)).collect();
    assert_eq!(bits, [1, 2, 4, 64, 8, 16, 32, 128]);
}

#[test]
fn lines_whose_names_begin_alike_have_whole_names_and_their_letters_in_the_plot() {
    let mut plot = plot();
    let line = |name: &str, by: f64| Line {
        name: name.into(),
        points: plot.lines[0]
            .points
            .iter()
            .map(|mark| Mark { y: mark.y.map(|y| y * by), ..mark.clone() })
            .collect(),
        ..Line::default()
    };
    let names = ["RAID 10, disks 8, state healthy", "RAID 10, disks 8, state rebuilding"];
    plot.lines = vec![line(names[0], 1.0), line(names[1], 0.5)];
    let text = plot.text(80, 10, true);
    for (letter, name) in LETTERS.into_iter().zip(names) {
        let rows = text.lines().filter(|row| row.contains(['│', '┤']));
        assert!(rows.filter(|row| row.contains(letter)).count() >= 1, "{letter}: {text}");
        assert!(text.contains(&format!("{letter} {name}")), "{name}: {text}");
    }
}

/// Two rows with long names that differ at their ends, a claim where the first figure is.
fn rows() -> Dots {
    let row = |name: &str, values: &[f64]| Row {
        name: name.into(),
        dots: (0..).zip(values).map(|(series, value)| Dot { series, value: *value, band: None }).collect(),
        missing: String::new(),
        together: "1,106: 31 % of 3,600".into(),
    };
    Dots {
        axis: Axis::new("rate", Unit::PerSecond, Scale::Linear),
        series: vec!["vendor".into(), "measured".into()],
        rows: vec![
            row("RAID 10, disks 8, state healthy, p99", &[1000.0, 1001.0]),
            row("RAID 10, disks 8, state rebuilding, IOPS", &[500.0, 1500.0]),
        ],
        neutral: None,
        most: None,
    }
}

#[test]
fn the_whole_name_of_a_row_is_there_however_long() {
    for width in [60, 80, 120] {
        let text = rows().text(width, true);
        assert!(text.lines().all(|line| line.chars().count() <= width), "{text}");
        for row in rows().rows {
            assert!(text.contains(&row.name), "{width}: {text}");
        }
    }
}

#[test]
fn two_marks_of_a_row_in_one_place_stand_beside_each_other() {
    let text = rows().text(120, true);
    let first = text.lines().find(|line| line.contains("p99")).unwrap_or_default();
    assert!(first.contains("●■") || first.contains("■●"), "{text}");
}

#[test]
fn a_mark_beyond_the_axis_hides_none_that_is_near_its_end() {
    let mut beyond = rows();
    beyond.rows.truncate(1);
    for measured in [960.0, 990.0, 1000.0] {
        beyond.rows[0].dots[0].value = 90_000.0;
        beyond.rows[0].dots[1].value = measured;
        beyond.most = Some(1000.0);
        let text = beyond.text(80, true);
        let marks = text.lines().rfind(|line| line.contains('▸') && !line.contains("beyond"));
        assert!(marks.is_some_and(|line| line.contains('●') && line.contains('■')), "{text}");
    }
}
