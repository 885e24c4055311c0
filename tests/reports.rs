//! Runs written up, from the command line.

use std::fs;
use std::io::Read;

use crate::support::User;

/// A swept load and one that is not, on a virtual queue.
const PLAN: &str = r#"
name = "queue"
about = "a queue under more and more load"

[defaults]
run    = "10s"
warmup = "1s"
span   = "1GiB"

[[phase]]
name  = "{depth} in flight"
depth = { sweep = [1, 4, 16] }

[[phase]]
name  = "steady"
depth = 2
"#;

/// Two runs of it, the second on a faster queue.
fn user() -> User {
    let user = User::with_plan(PLAN);
    user.fathom("run plan.toml --on array:queue?kind=queue-mm1").done();
    user.fathom("run plan.toml --on array:queue?kind=queue-mm4").done();
    user
}

#[test]
fn a_report_is_one_page_that_verifies_itself_and_names_one_altered_digit() {
    let user = user();
    user.fathom("report 1 2 -o report.html").done();
    let page = fs::read_to_string(user.path("report.html")).unwrap();
    for words in
        ["queue-mm1", "queue-mm4", "a queue under more and more load", "Findings", "How it was measured"]
    {
        assert!(page.contains(words), "{words} is not in the page");
    }
    // Nothing is fetched and nothing runs: the one script element is data.
    assert_eq!(page.matches("<script").count(), 1);
    assert!(!page.contains("http-equiv") && !page.contains("<link") && !page.contains("@import"));
    let told = user.fathom("report --verify report.html").done().out;
    assert!(
        told.contains("as their records give them") && told.contains("2 of 2 runs are in the library"),
        "{told}"
    );

    let place = page.rfind("</data>").unwrap();
    let digit = page[..place].rfind(|letter: char| letter.is_ascii_digit()).unwrap();
    let other = if page.as_bytes()[digit] == b'7' { "8" } else { "7" };
    fs::write(user.path("altered.html"), format!("{}{other}{}", &page[..digit], &page[digit + 1..])).unwrap();
    let altered = user.fathom("report --verify altered.html").with(6);
    assert!(altered.err.contains("number "), "{}", altered.err);
    user.fathom("report --verify plan.toml").with(2);
}

#[test]
fn the_same_runs_give_the_same_bytes() {
    let user = user();
    user.fathom("report 1 2 -o one.html -o one.xlsx -o one.csv -o one.md").done();
    user.fathom("report 1 2 -o two.html -o two.xlsx -o two.csv -o two.md").done();
    for ending in ["html", "xlsx", "csv", "md"] {
        let read = |name: &str| fs::read(user.path(&format!("{name}.{ending}"))).unwrap();
        assert!(read("one") == read("two"), "{ending}");
    }
}

#[test]
fn a_single_chart_is_a_picture_of_its_own_and_unknown_ones_are_named() {
    let user = user();
    user.fathom("report 1 --chart load -o load.svg --theme dark").done();
    let picture = fs::read_to_string(user.path("load.svg")).unwrap();
    roxmltree::Document::parse(&picture).expect("it must be XML");
    assert!(picture.contains("queue depth") && picture.contains("#14181c"), "{picture}");
    let refused = user.fathom("report 1 --chart pie -o pie.svg").with(2);
    assert!(refused.err.contains("load") && refused.err.contains("percentiles"), "{}", refused.err);
    let refused = user.fathom("report 1 -o report.docx").with(2);
    assert!(refused.err.contains(".html"), "{}", refused.err);
}

#[test]
fn charts_are_drawn_in_the_terminal_within_its_width() {
    let user = user();
    let text = user.fathom("report 1 --chart load --width 100").done().out;
    assert!(text.contains("queue depth") && text.contains("rate"), "{text}");
    let widest = text.lines().map(|line| line.chars().count()).max().unwrap_or(0);
    assert!(widest <= 100, "{widest}:\n{text}");
}

#[test]
fn numbers_of_a_workbook_are_formulas_over_its_data() {
    let user = user();
    user.fathom("report 1 2 -o result.xlsx").done();
    let file = fs::File::open(user.path("result.xlsx")).unwrap();
    let mut archive = zip::ZipArchive::new(file).expect("a workbook is an archive");
    let names: Vec<String> = archive.file_names().map(|name| name.unwrap().into_owned()).collect();
    assert!(names.iter().any(|name| name.starts_with("xl/charts/chart")), "{names:?}");
    let mut text = String::new();
    archive.by_name("xl/worksheets/sheet2.xml").unwrap().read_to_string(&mut text).unwrap();
    let sheet = roxmltree::Document::parse(&text).unwrap();
    let formulas = sheet.descendants().filter(|node| node.has_tag_name("f")).filter_map(|node| node.text());
    assert!(formulas.clone().count() > 2 && formulas.clone().any(|formula| formula.contains("Data!$D$")));
    assert!(text.contains("<pane "), "heads stay in view");
}

#[test]
fn a_run_and_a_comparison_draw_the_chart_that_answers_below_their_figures() {
    let user = user();
    for line in ["show 1", "compare 1 2"] {
        let plain = user.fathom(&format!("{line} --width 90")).done().out;
        let drawn = user.fathom(&format!("{line} --width 90 --chart")).done().out;
        let below =
            drawn.strip_prefix(&plain).unwrap_or_else(|| panic!("{line}: the figures changed:\n{drawn}"));
        assert!(
            below.contains("queue depth") && below.contains("rate, IOPS") && below.contains('└'),
            "{line}: {below}"
        );
        assert!(below.lines().all(|line| line.chars().count() <= 90), "{below}");
        assert_eq!(user.fathom(&format!("{line} --width 90 --no-chart")).done().out, plain, "{line}");
        user.fathom(&format!("{line} --chart --no-chart")).with(2);
    }
    // Two runs are two lines, each named.
    let both = user.fathom("compare 1 2 --width 90 --chart").done().out;
    assert!(both.contains("o kind queue-mm1") && both.contains("x kind queue-mm4"), "{both}");
}

#[test]
fn latency_over_time_is_a_heat_map_whose_every_number_is_verified() {
    let user = user();
    let record = user.fathom("show 1 --format json").done().json();
    let map = &record["points"][3]["workloads"][0]["responses_over_time"];
    let stretches = map["stretches"].as_array().unwrap();
    assert_eq!((stretches.len(), map["each_ns"].as_u64()), (10, Some(1_000_000_000)));
    let counted: u64 =
        stretches.iter().flat_map(|own| own.as_array().unwrap()).map(|cell| cell[1].as_u64().unwrap()).sum();
    assert_eq!(Some(counted), record["points"][3]["workloads"][0]["classes"][0]["ops"].as_u64());

    user.fathom("report 1 -o report.html -o map.svg --chart heatmap").done();
    let picture = fs::read_to_string(user.path("map.svg")).unwrap();
    assert!(picture.contains(">latency<") && picture.contains("requests in 1.00 s"), "{picture}");
    let page = fs::read_to_string(user.path("report.html")).unwrap();
    let place = page.find("/responses_over_time/stretches/").expect("the table behind the chart has numbers");
    let digit = place + page[place..].find('>').unwrap() + 1;
    assert!(page.as_bytes()[digit].is_ascii_digit());
    let other = if page.as_bytes()[digit] == b'7' { "8" } else { "7" };
    fs::write(user.path("altered.html"), format!("{}{other}{}", &page[..digit], &page[digit + 1..])).unwrap();
    user.fathom("report --verify report.html").done();
    let altered = user.fathom("report --verify altered.html").with(6);
    assert!(altered.err.contains("responses_over_time"), "{}", altered.err);
    let text = user.fathom("report 1 --chart heatmap --width 90").done().out;
    assert!(text.contains("latency") && text.contains('█'), "{text}");
}

#[test]
fn parquet_is_written_where_it_was_built_in_and_told_of_otherwise() {
    let user = user();
    if cfg!(feature = "parquet") {
        user.fathom("report 1 -o report.parquet").done();
        let bytes = fs::read(user.path("report.parquet")).unwrap();
        assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"));
    } else {
        user.fathom("report 1 -o report.parquet").with(2).saying(&["--features parquet", ".csv"]);
    }
}
