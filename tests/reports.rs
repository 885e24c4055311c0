//! Runs written up, from the command line.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Write};
use std::process::Command;

use crate::support::{User, has_large};

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

    user.fathom("report 1 -o none/x.html").with(2).saying(&["none/x.html: there is no directory none"]);

    let elsewhere = user.fathom("report --verify report.html --store none.sqlite").done();
    assert!(!user.path("none.sqlite").exists(), "verifying makes no library: {}", elsewhere.out);

    let place = page.rfind("</data>").unwrap();
    let digit = page[..place].rfind(|letter: char| letter.is_ascii_digit()).unwrap();
    let other = if page.as_bytes()[digit] == b'7' { "8" } else { "7" };
    fs::write(user.path("altered.html"), format!("{}{other}{}", &page[..digit], &page[digit + 1..])).unwrap();
    let altered = user.fathom("report --verify altered.html").with(6);
    assert!(altered.err.contains("number "), "{}", altered.err);
    user.fathom("report --verify plan.toml").with(2);
}

#[test]
fn the_answer_of_a_run_that_was_cut_off_begins_with_that() {
    let user = User::with_plan(PLAN);
    user.fathom("run plan.toml --on array:queue?kind=queue-mm1 -o whole.json").done();
    let text = fs::read_to_string(user.path("whole.json")).unwrap();
    let mut record: serde_json::Value = serde_json::from_str(&text).unwrap();
    record["ending"] = serde_json::json!({ "complete": false, "code": 143, "reason": "interrupted" });
    fs::write(user.path("cut.json"), record.to_string()).unwrap();
    for (file, begins) in [("cut", "Incomplete: interrupted. Up to "), ("whole", "Up to ")] {
        user.fathom(&format!("report {file}.json -o {file}.md")).done();
        let page = fs::read_to_string(user.path(&format!("{file}.md"))).unwrap();
        assert!(
            page.lines().any(|line| line.trim_start_matches(['*', '>', ' ']).starts_with(begins)),
            "{page}"
        );
    }
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

/// Every sheet of a workbook by its number in the file, and how many charts there are.
fn sheets(path: &std::path::Path) -> (BTreeMap<String, String>, usize) {
    let mut archive = zip::ZipArchive::new(fs::File::open(path).unwrap()).expect("a workbook is an archive");
    let names: Vec<String> = archive.file_names().map(|name| name.unwrap().into_owned()).collect();
    let charts = names.iter().filter(|name| name.starts_with("xl/charts/chart")).count();
    let sheets = names.into_iter().filter(|name| name.starts_with("xl/worksheets/sheet"));
    let mut read = |name: String| {
        let mut text = String::new();
        archive.by_name(&name).unwrap().read_to_string(&mut text).unwrap();
        (name, text)
    };
    (sheets.map(&mut read).collect(), charts)
}

/// Numbers of the cells of a sheet by their places; `formulas` alone, or what is written there.
fn numbers(sheet: &str, formulas: bool) -> BTreeMap<String, f64> {
    let sheet = roxmltree::Document::parse(sheet).unwrap();
    let cells = sheet.descendants().filter(|node| node.has_tag_name("c") && node.attribute("t") != Some("s"));
    let number = |cell: roxmltree::Node<'_, '_>| {
        let child = |name: &str| cell.children().find(|node| node.has_tag_name(name));
        if child("f").is_some() != formulas {
            return None;
        }
        Some((cell.attribute("r")?.to_owned(), child("v")?.text()?.parse().ok()?))
    };
    cells.filter_map(number).collect()
}

/// Words that the cells of a workbook share, by their numbers.
fn shared_words(path: &std::path::Path) -> Vec<String> {
    let mut archive = zip::ZipArchive::new(fs::File::open(path).unwrap()).unwrap();
    let mut text = String::new();
    archive.by_name("xl/sharedStrings.xml").unwrap().read_to_string(&mut text).unwrap();
    let words = roxmltree::Document::parse(&text).unwrap();
    let each = words.descendants().filter(|node| node.has_tag_name("si"));
    let text = |node: roxmltree::Node<'_, '_>| {
        node.descendants().filter(|part| part.is_text()).filter_map(|part| part.text()).collect()
    };
    each.map(text).collect()
}

/// Words of the cells of one column of a sheet by their places.
fn words_of(sheet: &str, column: char, words: &[String]) -> BTreeMap<String, String> {
    let sheet = roxmltree::Document::parse(sheet).unwrap();
    let cells = sheet.descendants().filter(|node| node.has_tag_name("c") && node.attribute("t") == Some("s"));
    let word = |cell: roxmltree::Node<'_, '_>| {
        let place = cell.attribute("r").filter(|place| place.starts_with(column))?;
        let number: usize = cell.children().find(|node| node.has_tag_name("v"))?.text()?.parse().ok()?;
        Some((place.to_owned(), words.get(number)?.clone()))
    };
    cells.filter_map(word).collect()
}

/// The workbook at `from` without what its formulas come to, at `to`.
fn without_results(from: &std::path::Path, to: &std::path::Path) {
    let mut archive = zip::ZipArchive::new(fs::File::open(from).unwrap()).unwrap();
    let mut written = zip::ZipWriter::new(fs::File::create(to).unwrap());
    for index in 0..archive.len() {
        let mut file = archive.by_index(index).unwrap();
        let name = file.name().unwrap().into_owned();
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).unwrap();
        if name.starts_with("xl/worksheets/sheet") {
            let text = String::from_utf8(bytes).unwrap();
            let mut parts = text.split("</f><v>");
            let mut bare = parts.next().unwrap_or_default().to_owned();
            for part in parts {
                bare += "</f>";
                bare += part.split_once("</v>").expect("a result ends").1;
            }
            bytes = bare.into_bytes();
        }
        written.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
        written.write_all(&bytes).unwrap();
    }
    written.finish().unwrap();
}

#[test]
fn a_spreadsheet_program_computes_every_number_of_a_workbook_as_the_record_has_it_and_draws_its_charts() {
    let user = User::new();
    user.fathom("run rebuild --on array:md3000?raid=5 --set run=600s --set warmup=1s").done();
    let record = user.fathom("show 1 --format json").done().json();
    user.fathom("report 1 -o whole.xlsx").done();
    let (ours, charts) = sheets(&user.path("whole.xlsx"));
    let data = ours.values().find(|sheet| !sheet.contains("<f>")).expect("raw figures have no formulas");
    let raw = numbers(data, false);
    assert!(raw.len() > 500 && charts > 5, "{} raw figures, {charts} charts", raw.len());

    // Each raw figure is what the record has at the place that stands beside it.
    let words = shared_words(&user.path("whole.xlsx"));
    let pointers = words_of(data, 'C', &words);
    let held = raw.iter().filter_map(|(cell, value)| {
        let at = pointers.get(&cell.replace('D', "C"))?;
        Some((at, *value, record.pointer(at)?.as_f64()?))
    });
    let held: Vec<_> = held.collect();
    for (at, value, recorded) in &held {
        assert!((value - recorded).abs() <= 1e-9 * recorded.abs(), "{at}: {value}, the record {recorded}");
    }
    assert!(held.len() > 500, "{} of {} raw figures", held.len(), raw.len());

    if !has_large("soffice") {
        return;
    }
    without_results(&user.path("whole.xlsx"), &user.path("bare.xlsx"));
    let profile = format!("-env:UserInstallation=file://{}", user.path("office").display());
    let mut office = Command::new("soffice");
    office.args([
        profile.as_str(),
        "--headless",
        "--convert-to",
        "xlsx",
        "--outdir",
        "computed",
        "bare.xlsx",
    ]);
    let done = office.current_dir(user.path("")).env("HOME", user.path("")).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let (theirs, drawn) = sheets(&user.path("computed/bare.xlsx"));
    assert_eq!((theirs.len(), drawn), (ours.len(), charts), "every sheet, every chart");
    let mut compared = 0;
    for (name, sheet) in &ours {
        let computed = numbers(&theirs[name], true);
        for (cell, value) in numbers(sheet, true) {
            let other = computed.get(&cell).unwrap_or_else(|| panic!("{name} {cell} came to no number"));
            assert!(
                (other - value).abs() <= 1e-9 * value.abs(),
                "{name} {cell}: {other}, the record {value}"
            );
            compared += 1;
        }
    }
    assert!(compared > 500, "{compared} formulas");
}

/// A chart of a workbook.
#[derive(Debug)]
struct Drawn {
    title: String,
    /// The cells that each series plots.
    series: Vec<String>,
    /// In pixels, for each bar of the first series.
    room: usize,
    /// Where an axis is made to end.
    ends: Vec<String>,
    is_logarithmic: bool,
}

/// Charts of a workbook, in the order of their drawings, of which each has one.
fn charts_of(path: &std::path::Path) -> Vec<Drawn> {
    let mut archive = zip::ZipArchive::new(fs::File::open(path).unwrap()).unwrap();
    let mut read = |name: String| {
        let mut text = String::new();
        let mut file = archive.by_name(&name).ok()?;
        file.read_to_string(&mut text).ok().map(|_| text)
    };
    let mut all = Vec::new();
    for number in 1.. {
        let Some(drawing) = read(format!("xl/drawings/drawing{number}.xml")) else { break };
        let drawing = roxmltree::Document::parse(&drawing).unwrap();
        let charts = read(format!("xl/drawings/_rels/drawing{number}.xml.rels")).unwrap();
        let charts = roxmltree::Document::parse(&charts).unwrap();
        let target = charts.descendants().find_map(|node| node.attribute("Target")).unwrap();
        let chart = read(target.replace("../", "xl/")).unwrap();
        all.push(drawn(&drawing, &roxmltree::Document::parse(&chart).unwrap()));
    }
    all
}

fn drawn(drawing: &roxmltree::Document<'_>, chart: &roxmltree::Document<'_>) -> Drawn {
    let of = |tag: &'static str| chart.descendants().filter(move |node| node.tag_name().name() == tag);
    let title =
        of("title").next().and_then(|title| title.descendants().find(|node| node.tag_name().name() == "t"));
    // Those of points over points are called otherwise.
    let values = of("val")
        .chain(of("yVal"))
        .flat_map(|node| node.descendants().filter(|one| one.tag_name().name() == "f"));
    let series: Vec<String> = values.filter_map(|node| node.text().map(str::to_owned)).collect();
    let numbers =
        |text: &str| -> Vec<usize> { text.rsplit('$').filter_map(|part| part.parse().ok()).collect() };
    let ends: Vec<usize> = series
        .first()
        .into_iter()
        .flat_map(|text| text.split(':').filter_map(|end| numbers(end).first().copied()).collect::<Vec<_>>())
        .collect();
    let rows = ends.last().zip(ends.first()).map_or(1, |(last, first)| last - first + 1);
    let row = |tag: &str| {
        let place = drawing.descendants().find(|node| node.tag_name().name() == tag);
        let row = place.and_then(|node| node.descendants().find(|one| one.tag_name().name() == "row"));
        row.and_then(|node| node.text()?.parse::<usize>().ok()).unwrap_or_default()
    };
    // A row has twenty pixels.
    Drawn {
        title: title.and_then(|node| node.text()).unwrap_or_default().to_owned(),
        room: (row("to") - row("from")) * 20 / (rows * series.len().clamp(1, 3)),
        ends: of("max").filter_map(|node| node.attribute("val").map(str::to_owned)).collect(),
        is_logarithmic: of("logBase").next().is_some(),
        series,
    }
}

#[test]
fn charts_of_a_workbook_have_room_for_the_name_of_every_bar_and_plot_what_their_sheet_has() {
    let user = user();
    user.write(
        "campaign.toml",
        "name = \"queues\"\non = \"array:queue\"\nplans = \"quick\"\nrepeats = 2\nset = { run = \"1s\", warmup = \"0s\" }\n\
         [factors]\nkind = [\"queue-mm1\", \"queue-mm4\"]\ndepth = [1, 8]\n\
         [[claim]]\nby = \"vendor\"\npoint = \"4 KiB random write\"\niops = \"90M/s\"\n\
         [[claim]]\nby = \"vendor\"\npoint = \"4 KiB random read\"\nmean = \"1ms\"\n",
    );
    user.fathom("campaign campaign.toml -q").done();
    user.fathom("report campaign:queues -o campaign.xlsx").done();
    user.fathom("report 1 2 -o compared.xlsx").done();
    let (campaign, compared) =
        (charts_of(&user.path("campaign.xlsx")), charts_of(&user.path("compared.xlsx")));
    for (charts, kind, has_bars) in [
        (&campaign, "The figure over that at the first level", true),
        (&campaign, "the 95 % interval of the mean over the blocks", true),
        (&compared, "Rate against", false),
        (&compared, "latency against the rate", false),
    ] {
        let own: Vec<&Drawn> = charts.iter().filter(|chart| chart.title.contains(kind)).collect();
        assert!(!own.is_empty(), "no `{kind}`: {charts:#?}");
        for chart in own {
            assert!(!chart.series.is_empty() && (!has_bars || chart.room >= 30), "{chart:#?}");
        }
    }
    // What is claimed of one point lies far beyond what it measured, and no axis ends before it.
    let far: Vec<&Drawn> = campaign.iter().filter(|chart| chart.is_logarithmic).collect();
    assert!(matches!(far[..], [chart] if chart.ends.is_empty() && chart.title.contains("write")), "{far:#?}");
    // A time below a head that has no unit has its own.
    let mut archive = zip::ZipArchive::new(fs::File::open(user.path("campaign.xlsx")).unwrap()).unwrap();
    let mut styles = String::new();
    archive.by_name("xl/styles.xml").unwrap().read_to_string(&mut styles).unwrap();
    assert!(styles.contains("0.000&quot; ms&quot;"), "{styles}");
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
