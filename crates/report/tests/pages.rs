//! Text at the widths of a phone, a terminal and a wide screen.

use record::{Entry, Point, Run};
use report::Style;
use units::convert::narrow;

use crate::fixtures::{corners, empty, errored, graded, hostile, interrupted, mixed, sweep};

fn at(width: usize) -> Style {
    Style { colour: false, unicode: true, width }
}

/// The page at three widths, each after a line that shows the width.
fn pages(run: &Run) -> String {
    let page = |width: usize| format!("{}\n{}", "=".repeat(width), report::text(run, at(width)));
    [60, 80, 140].map(page).join("\n")
}

#[test]
fn corners_on_a_terminal() {
    insta::assert_snapshot!(pages(&corners()));
}

#[test]
fn a_sweep_on_a_terminal() {
    insta::assert_snapshot!(pages(&sweep()));
}

#[test]
fn a_mix_on_a_terminal() {
    insta::assert_snapshot!(pages(&mixed()));
}

#[test]
fn errors_on_a_terminal() {
    insta::assert_snapshot!(pages(&errored()));
}

#[test]
fn an_interrupted_run_on_a_terminal() {
    insta::assert_snapshot!(pages(&interrupted()));
}

#[test]
fn an_empty_run_on_a_terminal() {
    insta::assert_snapshot!(pages(&empty()));
}

#[test]
fn a_graded_run_on_a_terminal() {
    insta::assert_snapshot!(pages(&graded()));
}

#[test]
fn a_page_in_colour() {
    insta::assert_snapshot!(
        report::text(&corners(), Style { colour: true, ..at(100) }).replace('\x1b', "<ESC>")
    );
}

#[test]
fn a_page_in_ascii_has_nothing_else() {
    let page = report::text(&sweep(), Style { unicode: false, ..at(80) });
    assert!(page.is_ascii(), "{page}");
    insta::assert_snapshot!(page);
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    for run in [corners(), sweep(), mixed(), errored(), interrupted(), empty(), hostile()] {
        for width in [60, 66, 72, 80, 100, 120, 140, 200] {
            for unicode in [true, false] {
                let page = report::text(&run, Style { unicode, ..at(width) });
                for line in page.lines() {
                    let wide = unicode_width::UnicodeWidthStr::width(line);
                    assert!(wide <= width, "{wide} columns of {width}: {line}");
                }
            }
        }
    }
}

#[test]
fn no_text_of_a_user_reaches_the_terminal_as_a_command() {
    let page = report::text(&hostile(), at(80));
    assert!(!page.contains('\x1b'), "{page}");
}

#[test]
fn a_list_of_runs() {
    let entry = |number: i64, run: &Run| Entry { number, ..Entry::of(run, 0) };
    let mut warned = sweep();
    warned.findings.truncate(1);
    let runs = [corners(), warned, mixed(), errored(), interrupted(), empty()];
    let mut entries: Vec<Entry> =
        runs.iter().enumerate().map(|(index, run)| entry(120 - narrow::<i64>(index), run)).collect();
    entries[2].targets = vec!["/dev/disk/by-id/nvme-Acme_P5_960GB_AC5-00042".into(), "/dev/sdb".into()];
    let page = |width: usize| format!("{}\n{}", "=".repeat(width), report::list(&entries, at(width)));
    insta::assert_snapshot!([60, 80, 140].map(page).join("\n"));
}

#[test]
fn an_empty_list_is_a_sentence() {
    assert_eq!(report::list(&[], at(80)).lines().count(), 1);
}

#[test]
fn a_first_look_has_three_findings_at_most_and_says_how_to_see_the_others() {
    let run = graded();
    let page = report::brief(&run, at(100), "fathom show 7 --full");
    let all = report::text(&run, at(100));
    let findings = |page: &str| {
        let marks = ["  ! ", "  X ", "  - "];
        page.lines()
            .skip_while(|line| *line != "Warnings")
            .filter(|line| marks.iter().any(|mark| line.starts_with(mark)))
            .count()
    };
    assert!(findings(&page) <= 3 && findings(&page) <= findings(&all), "{page}");
    assert!(page.contains("fathom show 7 --full"), "{page}");
    assert_eq!(page.lines().filter(|line| line.starts_with("Grade ")).count(), 1, "{page}");
}

#[test]
fn a_first_look_names_three_errors_in_all_however_many_points_failed() {
    let mut run = errored();
    let point = run.points[0].clone();
    run.points = (0..20).map(|index| Point { index, ..point.clone() }).collect();
    let errors =
        |page: &str| page.lines().filter(|line| line.contains("EIO (5)") && line.contains("B at")).count();
    assert_eq!(errors(&report::brief(&run, at(140), "REST")), 3);
    assert_eq!(errors(&report::text(&run, at(140))), 60);
    assert!(report::brief(&run, at(140), "REST").contains(" more elsewhere"));
}
