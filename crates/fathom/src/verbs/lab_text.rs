//! `fathom array lab`: the load curve of a virtual array, its bottleneck and its latency breakdown on one screen.

use chart::{Axis, Chart, Line, Mark, Plot, Rule, Scale, Unit};
use clap::Args;
use modelled::lab::{Effort, LabPattern, LabWorkload, first_seed};
use report::{Style, distinct};
use units::{Bytes, BytesPerSecond, Nanos, OpsPerSecond, Share};

use crate::ending::Failure;
use crate::input::arrays::LIBRARY;
use crate::input::candidates;
use crate::output::{self, TextOrJson, TreeFormat};
use crate::terminal::{self, Appearance};
use crate::verbs::lab::{self, Answer, LabRefusal, LabRequest, usual_depths};
use crate::verbs::lab_rebuild::{RebuildRequest, rebuild_answer, usual_depth};

#[derive(Debug, Args)]
pub struct LabArgs {
    /// A name, a TOML file, or an address such as md3000?raid=10&luns=2
    #[arg(add = candidates::arrays())]
    pub array: String,
    /// The access pattern: random or sequential
    #[arg(long, default_value = "random", value_parser = pattern)]
    pub pattern: LabPattern,
    /// The block size
    #[arg(long, default_value = "8KiB")]
    pub size: Bytes,
    /// The share of reads; all else writes
    #[arg(long, default_value = "70%")]
    pub reads: Share,
    /// The working-set size on each LUN [default: all of it]
    #[arg(long, value_name = "SIZE")]
    pub span: Option<Bytes>,
    /// Queue depths, rising
    #[arg(long, value_name = "DEPTH,…", value_delimiter = ',', default_values_t = usual_depths())]
    pub depths: Vec<u32>,
    /// Disks that have failed, by number from 0; may be given several times
    #[arg(long, value_name = "DISK")]
    pub fail: Vec<u32>,
    /// Instead: what a rebuild of this disk costs the load, and how long it takes
    #[arg(long, value_name = "DISK", conflicts_with_all = ["fail", "depths"])]
    pub rebuild: Option<u32>,
    /// Random seed
    #[arg(long, default_value_t = first_seed())]
    pub seed: u64,
    #[command(flatten)]
    pub printed: TextOrJson,
    #[command(flatten)]
    pub appearance: Appearance,
}

fn pattern(text: &str) -> Result<LabPattern, String> {
    let known = [LabPattern::Random, LabPattern::Sequential];
    let found = known.into_iter().find(|pattern| pattern.name() == text);
    found.ok_or_else(|| "expected random or sequential".into())
}

/// The answer as text or JSON.
pub fn lab(arguments: &LabArgs) -> Result<String, Failure> {
    let LabArgs { pattern, size, reads, span, seed, .. } = *arguments;
    let workload = LabWorkload { pattern, size, reads, span };
    let style = terminal::style(&arguments.appearance);
    let array = arguments.array.clone();
    if let Some(fail) = arguments.rebuild {
        let ask = RebuildRequest { array, workload, fail, depth: usual_depth(), seed };
        let answer = rebuild_answer(&ask, &LIBRARY).map_err(refused)?;
        return match arguments.printed.wanted() {
            TreeFormat::Text => Ok(lines(&answer.answer, style)),
            TreeFormat::Json => output::json(&answer),
        };
    }
    let (depths, fail) = (arguments.depths.clone(), arguments.fail.clone());
    let ask = LabRequest { array, workload, depths, fail, seed, effort: Effort::Full };
    let answer = lab::answer(&ask, &LIBRARY).map_err(refused)?;
    match arguments.printed.wanted() {
        TreeFormat::Text => Ok(text(&answer, pattern, style)),
        TreeFormat::Json => output::json(&answer),
    }
}

fn refused(error: modelled::lab::LabError) -> Failure {
    let LabRefusal { error, help } = error.into();
    Failure::Usage(help.map_or(error.clone(), |help| format!("{error}; {help}")))
}

fn lines(text: &str, style: Style) -> String {
    report::wrap(text, style.width, "", "").join("\n") + "\n"
}

/// Answer, curve, table, breakdown, limit, published figures, warnings.
fn text(answer: &Answer, pattern: LabPattern, style: Style) -> String {
    let mut text = lines(&answer.answer, style) + "\n";
    if answer.points.len() > 1 {
        text += &curve(answer, pattern).text(style.width.min(80), style.unicode);
        text.push('\n');
    }
    text += &table(answer);
    text += &format!("\n{}", breakdown(answer));
    text += &format!("\n{}", lines(&answer.reading, style));
    for published in &answer.published {
        let figure = &published.figure;
        let value = figure
            .iops
            .map(|iops| format!("{} IOPS", OpsPerSecond::new(iops)))
            .or_else(|| figure.mb_s.map(|mb| BytesPerSecond::new(mb * 1e6).to_string()))
            .or_else(|| figure.latency_us.map(|us| time(us).to_string()))
            .unwrap_or_default();
        let told = format!(
            "published: {value} at queue depth {}: {} ({})",
            figure.depth, figure.source, figure.label
        );
        text += &lines(&told, style);
    }
    for warning in &answer.warnings {
        let depths: Vec<String> = warning.depths.iter().map(u32::to_string).collect();
        let at =
            if depths.is_empty() { String::new() } else { format!(" at queue depth {}", depths.join(", ")) };
        text += &lines(&format!("! {}{at}: {}", warning.code, warning.sentence), style);
    }
    text
}

fn time(us: f64) -> Nanos {
    Nanos::from_secs_f64(us / 1e6)
}

fn curve(answer: &Answer, pattern: LabPattern) -> Chart {
    let mark = |point: &lab::CurvePoint| {
        let (y, band) = match pattern {
            LabPattern::Random => (point.iops, point.low.zip(point.high)),
            LabPattern::Sequential => (point.mb_s * 1e6, None),
        };
        Mark { x: f64::from(point.depth), y: Some(y), band, label: String::new() }
    };
    let unit = match pattern {
        LabPattern::Random => Unit::PerSecond,
        LabPattern::Sequential => Unit::BytesPerSecond,
    };
    let points = answer.points.iter().map(mark).collect();
    Chart::Plot(Plot {
        x: Axis::new("queue depth", Unit::Count, Scale::Log2),
        y: Axis::new(unit.at_axis(), unit, Scale::Linear),
        lines: vec![Line { marked: true, points, ..Line::default() }],
        rules: answer.knee.map(|knee| Rule::Event(f64::from(knee), "knee".into())).into_iter().collect(),
    })
}

fn table(answer: &Answer) -> String {
    let mut text = format!(
        "{:>5} {:>10} {:>8} {:>11} {:>9} {:>9} {:>9}\n",
        "depth", "IOPS", "95 % CI", "MB/s", "mean", "p50", "p99"
    );
    for point in &answer.points {
        let half = point.low.zip(point.high).map(|(low, high)| (high - low) / 2.0 / point.iops * 100.0);
        let time = |us: Option<f64>| us.map_or_else(String::new, |us| time(us).to_string());
        text += &format!(
            "{:>5} {:>10} {:>8} {:>11} {:>9} {:>9} {:>9}\n",
            point.depth,
            OpsPerSecond::new(point.iops).to_string(),
            half.map_or_else(String::new, |half| format!("±{half:.1} %")),
            BytesPerSecond::new(point.mb_s * 1e6).to_string().trim_end_matches(" MB/s"),
            time(point.mean_us),
            time(point.p50_us),
            time(point.p99_us),
        );
    }
    text
}

/// Each part's share of the mean response time at the lightest load, at the knee and at the deepest queue.
fn breakdown(answer: &Answer) -> String {
    let depth_of = |place: Option<usize>| place.and_then(|place| answer.breakdown.get(place));
    let knee = answer.breakdown.iter().position(|one| Some(one.depth) == answer.knee);
    let mut columns: Vec<_> =
        [depth_of(Some(0)), depth_of(knee), answer.breakdown.last()].into_iter().flatten().collect();
    columns.dedup_by_key(|column| column.depth);
    debug_assert!(
        columns.windows(2).all(|two| two[0].depth < two[1].depth),
        "the lightest load, the knee and the deepest queue have rising depths"
    );
    let parts = columns.iter().flat_map(|column| &column.parts).map(|part| part.part.as_str());
    let parts = distinct(parts);
    let widest = parts.iter().map(|part| part.len()).max().unwrap_or(0).max(17);
    let heads: String =
        columns.iter().map(|column| format!(" {:>22}", format!("at depth {}", column.depth))).collect();
    let mut text = format!("{:widest$}{heads}\n", "latency breakdown");
    // Of disks with an arm that part is what a command waits for others; their service has rows of its own.
    let is_queue = |name: &str| {
        let own = columns.iter().flat_map(|column| &column.parts).filter(|part| part.part == name);
        name == "disk" && parts.contains(&"disk seek") && own.map(|part| part.service_us).sum::<f64>() == 0.0
    };
    for name in &parts {
        let cell = |column: &&&lab::DepthBreakdown| {
            let total: f64 = column.parts.iter().map(|part| part.waiting_us + part.service_us).sum();
            let own = column.parts.iter().find(|part| part.part == *name);
            let us = own.map_or(0.0, |part| part.waiting_us + part.service_us);
            format!(" {:>22}", format!("{} {:>5.1} %", time(us), us / total * 100.0))
        };
        let title = if is_queue(name) { "disk queue" } else { name };
        text +=
            &format!("{title:widest$}{}\n", columns.iter().map(|column| cell(&column)).collect::<String>());
    }
    text
}
