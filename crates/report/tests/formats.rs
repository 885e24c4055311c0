//! Formats for programs and tickets.

use crate::fixtures::{corners, empty, errored, graded, hostile, interrupted, mixed, sweep};

fn rows(text: &str) -> Vec<Vec<String>> {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(text.as_bytes());
    reader.records().map(|row| row.unwrap().iter().map(str::to_owned).collect()).collect()
}

fn field<'a>(rows: &'a [Vec<String>], row: usize, column: &str) -> &'a str {
    let at = report::CSV_COLUMNS.iter().position(|name| *name == column).unwrap();
    &rows[row][at]
}

#[test]
fn csv_has_one_row_for_each_operation_of_each_workload() {
    let rows = rows(&report::csv(&mixed()).unwrap());
    assert_eq!(rows[0], report::CSV_COLUMNS);
    let ops: Vec<(&str, &str)> =
        (1..rows.len()).map(|row| (field(&rows, row, "workload"), field(&rows, row, "op"))).collect();
    assert_eq!(ops, [("oltp", "all"), ("oltp", "read"), ("oltp", "write"), ("backup", "read")]);
}

#[test]
fn csv_says_how_many_ranks_there_were_and_which_were_lost() {
    let mut run = mixed();
    assert_eq!(field(&rows(&report::csv(&run).unwrap()), 1, "ranks"), "", "one process has none");
    let rank = |rank: u32| record::RankResult { rank, ..record::RankResult::default() };
    let point = run.points.iter_mut().find(|point| !point.workloads.is_empty()).unwrap();
    point.ranks = (0..4).map(rank).collect();
    for lost in [1, 3] {
        point.ranks[lost].lost = Some("it showed no sign of life".into());
    }
    let rows = rows(&report::csv(&run).unwrap());
    assert_eq!((field(&rows, 1, "ranks"), field(&rows, 1, "ranks_lost")), ("4", "1 3"));
}

#[test]
fn csv_keeps_every_digit_and_leaves_blank_what_is_not_known() {
    let run = interrupted();
    let rows = rows(&report::csv(&run).unwrap());
    let summary = run.points[0].workloads[0].total().unwrap();
    assert_eq!(field(&rows, 1, "ops_per_s").parse(), Ok(summary.ops_per_s.value));
    assert_eq!(field(&rows, 1, "response_ns_mean").parse(), Ok(summary.response.as_ref().unwrap().mean_ns));
    assert_eq!(field(&rows, 1, "response_ns_p99"), "");
    assert_ne!(field(&rows, 1, "response_ns_p50"), "");
}

#[test]
fn csv_has_a_row_for_each_point_and_its_swept_values_in_one_column() {
    for (run, count) in [(corners(), 5), (sweep(), 9)] {
        let rows = rows(&report::csv(&run).unwrap());
        assert_eq!(rows.len(), 1 + count);
        assert!(rows.iter().all(|row| row.len() == report::CSV_COLUMNS.len()));
    }
    assert_eq!(field(&rows(&report::csv(&sweep()).unwrap()), 3, "swept"), "depth=4");
}

#[test]
fn csv_quotes_what_rfc_4180_wants_quoted() {
    let text = report::csv(&hostile()).unwrap();
    assert!(text.contains("\"a|b�\"\"c\"\", d *e* 数据数据数据数据\""), "{text}");
    assert!(text.ends_with("\r\n"));
    let harmless = hostile().points[0].name.replace('\n', "�");
    assert_eq!(field(&rows(&text), 1, "point_name"), harmless);
}

#[test]
fn json_is_the_record_itself() {
    for run in [corners(), mixed(), empty()] {
        assert!(record::read(&report::json(&run).unwrap()).unwrap() == run);
    }
}

#[test]
fn json_lines_are_the_run_its_points_and_its_findings() {
    let run = errored();
    let text = report::json_lines(&run).unwrap();
    let lines: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let kinds: Vec<&str> = lines.iter().map(|line| line["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["run", "point", "finding"]);
    assert!(lines.iter().all(|line| line["run_id"] == run.id.as_str()));
    let point: record::Point = serde_json::from_value(lines[1]["point"].clone()).unwrap();
    assert!(point == run.points[0]);
    assert_eq!(lines[2]["code"], "errors");
    assert_eq!(lines[2]["severity"], "invalid");
}

#[test]
fn markdown_tells_the_grade_and_what_it_follows_from() {
    let page = report::markdown(&graded());
    let (_, section) = page.split_once("#### Grade D\n\n").unwrap();
    let (section, _) = section.split_once("\n\n").unwrap();
    assert_eq!(
        section,
        "- **generator** failed (generator-saturated) at 4 KiB random read.\n\
         - **cache** was not checked: the caches of the storage are not known.\n\
         - **samples** passed, with a note (short-run).\n\
         - Passed: requests."
    );
}

#[test]
fn markdown_for_a_ticket() {
    let pages = [corners(), mixed(), errored(), hostile()].map(|run| report::markdown(&run));
    insta::assert_snapshot!(pages.join("\n----\n\n"));
}
