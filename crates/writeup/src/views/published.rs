//! Published figures beside those of the virtual arrays: what agrees, by how much, and what was fitted.

use campaign::{HeldFigure, Published};
use chart::{Axis, Chart, Dot, Dots, Line, Mark, Plot, Row, Scale, Unit};
use record::{ClaimKind, WorkCourse, level_name};

use crate::document::{Block, Cell, Column, Figure, Section, Sentence, Table};
use crate::number::{Number, Source};

/// So many figures of one load have a chart of their own.
const OWN_CHART: usize = 3;
/// Beyond this factor between the largest and the smallest figure of a chart its axis is logarithmic.
const WIDE: f64 = 12.0;

/// What the marks are: of a model, and of storage that was measured.
const MODEL: [&str; 4] = ["published", "model, foretold", "model, fitted to it", "model, does not count"];
const MEASURED: [&str; 2] = ["published", "measured"];

/// One group, and its place among the records.
#[derive(Clone, Copy)]
pub(crate) struct Group<'a> {
    /// What it says.
    pub of: &'a Published,
    /// Which of the records, and where in it.
    pub place: (usize, usize),
}

impl<'a> Group<'a> {
    /// Its figures and what else was said of the array.
    pub fn section(self) -> Section {
        let of_kind = |is_figure: bool| {
            let all = self.of.figures.iter().enumerate();
            all.filter(move |(_, one)| (one.case.kind == ClaimKind::Figure) == is_figure).collect::<Vec<_>>()
        };
        let (figures, statements) = (of_kind(true), of_kind(false));
        let mut blocks = Vec::new();
        if !figures.is_empty() {
            blocks.push(Block::Figure(self.figure(&figures)));
        }
        blocks.extend(self.courses_figure().map(Block::Figure));
        if !statements.is_empty() {
            blocks.push(Block::Text(self.statements_reading()));
            blocks.push(Block::Table(self.statements(&statements)));
        }
        blocks.extend(self.unanswered().map(Block::Text));
        let what = if statements.len() > figures.len() { "statements" } else { "figures" };
        Section { heading: format!("Published {what}: {}", self.name()), blocks }
    }

    /// Whether real storage was measured, and no model asked.
    fn is_measured(self) -> bool {
        self.of.figures.iter().any(|figure| !figure.case.point.is_empty())
    }

    /// Who has the answers.
    fn who(self) -> &'static str {
        if self.is_measured() { "measured" } else { "model" }
    }

    /// What its figures are of.
    fn name(self) -> &'a str {
        let name = self.of.group.rsplit('/').next().unwrap_or_default();
        name.strip_suffix(".toml").unwrap_or(name)
    }

    /// `Of 10 published figures of md3000, 8 are within 10 % of the model and 10 within 25 %`
    fn agreement(self) -> Option<Sentence> {
        let of = format!(" of {}", self.name());
        agreement(&[self], &of)
    }

    fn number(self, path: &str, value: f64, unit: Unit) -> Number {
        let (record, group) = self.place;
        Number { value, unit, source: Source::At(record, format!("/published/{group}/{path}")) }
    }

    fn count(self, path: &str, many: u32) -> Number {
        self.number(path, many.into(), Unit::Count)
    }

    fn of_figure(self, place: usize, key: &str, value: f64) -> Number {
        let unit = unit(&self.of.figures[place].metric);
        self.number(&format!("figures/{place}/{key}"), value, unit)
    }

    fn published(self, place: usize) -> Number {
        self.of_figure(place, "published", self.of.figures[place].published)
    }

    fn answer(self, place: usize) -> Option<(Number, Option<(Number, Number)>)> {
        let figure = &self.of.figures[place];
        let at = |key: &str, value| self.of_figure(place, key, value);
        let ends = figure.low.zip(figure.high).map(|(low, high)| (at("low", low), at("high", high)));
        // An interval that rounds to its figure tells nothing.
        let ends = ends.filter(|(low, high)| low.text() != high.text());
        Some((at("answer", figure.answer?), ends))
    }

    fn ratio(self, place: usize) -> Option<Number> {
        Some(super::ratio(&self.answer(place)?.0, &self.published(place), Unit::Ratio))
    }

    fn reading(self) -> Sentence {
        let Published { all, fitted, foretold, listed, .. } = self.of;
        let Some(agreement) = self.agreement() else {
            return Sentence::of("None of these figures counts: the table says why.");
        };
        let mut sentence = agreement;
        if let Some(median) = all.median {
            sentence =
                sentence.words("; median error ").number(self.number("all/median", median, Unit::Share));
        }
        sentence = sentence.words(".");
        let worst = all.worst.and_then(|place| usize::try_from(place).ok());
        if let Some((place, ratio)) = worst.and_then(|place| Some((place, self.ratio(place)?))) {
            let figure = &self.of.figures[place];
            sentence = sentence
                .words(format!(" The furthest off is {} ({}): ", figure.id, figure.case.load))
                .number(ratio)
                .words(" what was published.");
        }
        if fitted.figures > 0 && !self.is_measured() {
            sentence = sentence
                .words(" The model was fitted with ")
                .number(self.count("fitted/figures", fitted.figures))
                .words(" of them");
            sentence = match foretold.figures {
                0 => sentence.words(", and foretold none."),
                _ => sentence
                    .words("; of the ")
                    .number(self.count("foretold/figures", foretold.figures))
                    .words(" that it foretold, ")
                    .number(self.count("foretold/within_25", foretold.within_25))
                    .words(if foretold.within_25 == 1 { " is within 25 %." } else { " are within 25 %." }),
            };
        }
        if *listed > 0 {
            let verb = if *listed == 1 { "is" } else { "are" };
            sentence = sentence.words(" ").number(self.count("listed", *listed)).words(format!(
                " more {verb} shown and do{} not count.",
                if *listed == 1 { "es" } else { "" }
            ));
        }
        sentence
    }

    fn figure(self, figures: &[(usize, &'a HeldFigure)]) -> Figure {
        let rounds = match self.of.rounds {
            1 => "one round".to_owned(),
            rounds => format!("mean of {rounds} rounds, each with addresses of its own"),
        };
        let who = self.who();
        Figure {
            kind: "published",
            reading: self.reading(),
            subtitle: format!(
                "Source: {}. {}: {rounds}. Behind each row: {who} over published",
                self.of.sources.join("; "),
                capital(who)
            ),
            panels: self.panels(figures),
            small: false,
            details: Vec::new(),
            table: self.table(figures),
        }
    }

    /// A chart for each load that several figures are of, and one for each unit of the others.
    fn panels(self, figures: &[(usize, &'a HeldFigure)]) -> Vec<(String, Chart)> {
        let many = |figure: &HeldFigure| {
            let same = |other: &&(usize, &HeldFigure)| {
                (&other.1.metric, &other.1.case.load) == (&figure.metric, &figure.case.load)
            };
            figures.iter().filter(same).count() >= OWN_CHART
        };
        /// Its title, whether its load is its own, and its rows.
        type Panel<'a> = (String, bool, Vec<(usize, &'a HeldFigure)>);
        let mut panels: Vec<Panel<'a>> = Vec::new();
        for one in figures {
            let own = many(one.1);
            let title = match own {
                true => format!("{}: {}", capital(&one.1.case.load), measure(&one.1.metric)),
                false => capital(measure(&one.1.metric)),
            };
            match panels.iter_mut().find(|(known, ..)| *known == title) {
                Some((.., rows)) => rows.push(*one),
                None => panels.push((title, own, vec![*one])),
            }
        }
        let drawn = panels.into_iter().map(|(title, own, rows)| {
            let chart = Chart::Dots(self.dots(&rows, own));
            (title, chart)
        });
        drawn.collect()
    }

    fn dots(self, figures: &[(usize, &HeldFigure)], is_by_array: bool) -> Dots {
        let row = |(place, figure): &(usize, &HeldFigure)| {
            let scaled = |value: f64| if figure.metric == "time" { value / 1e9 } else { value };
            let mut dots = vec![Dot { series: 0, value: scaled(figure.published), band: None }];
            dots.extend(figure.answer.map(scaled).map(|value| Dot {
                series: if self.is_measured() { 1 } else { series(figure) },
                value,
                band: figure.low.map(scaled).zip(figure.high.map(scaled)),
            }));
            Row {
                name: match is_by_array {
                    true => format!("{} {}", figure.id, self.configurations(figure)),
                    false => format!("{} {}", figure.id, figure.case.load),
                },
                dots,
                missing: String::new(),
                together: self.ratio(*place).map_or("no answer".into(), |ratio| ratio.text()),
            }
        };
        let series: &[&str] = if self.is_measured() { &MEASURED } else { &MODEL };
        let first = figures.first().map_or("", |(_, figure)| figure.metric.as_str());
        let values = || figures.iter().map(|(_, figure)| figure.published);
        let (low, high) = (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max));
        let scale = match unit(first) {
            Unit::Ratio => Scale::Log2,
            _ if high > low * WIDE => Scale::Log10,
            _ => Scale::Linear,
        };
        Dots {
            // Times of hours have ticks of hours.
            axis: Axis::new(measure(first), if first == "time" { Unit::Seconds } else { unit(first) }, scale),
            series: series.iter().map(|name| (*name).to_owned()).collect(),
            rows: figures.iter().map(row).collect(),
            neutral: (unit(first) == Unit::Ratio).then_some(1.0),
        }
    }

    /// The configurations of a figure; without the name of the array where all figures of the group are of one.
    fn configurations(self, figure: &HeldFigure) -> String {
        let words = configurations(figure);
        match self.only_array() {
            Some(array) => words.replace(&format!("{array}: "), ""),
            None => words,
        }
    }

    fn only_array(self) -> Option<&'a str> {
        let name = |address: &'a String| address.split('?').next().unwrap_or_default();
        let mut names = self.of.figures.iter().flat_map(|figure| &figure.case.arrays).map(name);
        let first = names.next()?;
        names.all(|name| name == first).then_some(first)
    }

    fn table(self, figures: &[(usize, &HeldFigure)]) -> Table {
        let ratio = format!("{} / published", self.who());
        let columns =
            ["figure", "what", "configuration", "of", "published", self.who(), &ratio, "is", "source"];
        let row = |(place, figure): &(usize, &HeldFigure)| {
            vec![
                Cell::words(&figure.id),
                Cell::words(&figure.case.load),
                Cell::words(configurations(figure)),
                Cell::words(measure(&figure.metric)),
                Cell::number(Some(self.published(*place))),
                self.answer(*place)
                    .map_or(Cell::Empty, |(number, ends)| Cell::Number(number, ends.map(Box::new))),
                Cell::number(self.ratio(*place)),
                Cell::words(if self.is_measured() { "measured".into() } else { standing(figure) }),
                Cell::words(&figure.by),
            ]
        };
        Table {
            title: format!("published figures: {}", self.name()),
            columns: columns.map(Column::words).to_vec(),
            rows: figures.iter().map(row).collect(),
        }
    }

    /// Percent against time of work of the array's own, a chart for each kind, with the published times on the lines.
    fn courses_figure(self) -> Option<Figure> {
        let figures = self.of.figures.iter().enumerate();
        let all: Vec<Course<'_>> = figures
            .flat_map(|(place, figure)| {
                let own = figure.case.courses.iter().enumerate();
                own.map(move |(at, of)| Course { place, at, of, figure })
            })
            .collect();
        // Several figures are of one course: of the first there is a line, of all of them a mark.
        let mut lines: Vec<Course<'_>> = Vec::new();
        for course in &all {
            if !lines.iter().any(|known| known.is_like(course)) {
                lines.push(*course);
            }
        }
        let longest = lines
            .iter()
            .filter_map(|course| course.end(self))
            .max_by(|one, other| one.1.value.total_cmp(&other.1.value))?;
        let mut families: Vec<&str> = Vec::new();
        for course in &lines {
            if !families.contains(&course.family()) {
                families.push(course.family());
            }
        }
        let panel = |family: &&str| {
            let own: Vec<Course<'_>> =
                lines.iter().filter(|course| course.family() == *family).copied().collect();
            (capital(family), Chart::Plot(self.plot(&own, &all)))
        };
        let (course, number) = longest;
        Some(Figure {
            kind: "courses",
            reading: Sentence::of(format!(
                "The longest work is the {} on {}: ",
                course.of.work,
                configuration(&course.of.array)
            ))
            .number(number)
            .words(" without a load."),
            subtitle: "What is done of the work against time, without a load; marks are published times"
                .into(),
            panels: families.iter().map(panel).collect(),
            small: families.len() > 1,
            details: Vec::new(),
            table: self.courses_table(&lines),
        })
    }

    /// A line for each of `own`, and a mark for each published time among `all` that is of one of them.
    fn plot(self, own: &[Course<'_>], all: &[Course<'_>]) -> Plot {
        let is_of_several = own.iter().any(|course| course.of.work != own[0].of.work);
        let line = |(hue, course): (usize, &Course<'_>)| {
            let done = (1..).map(|percent| f64::from(percent) / 100.0);
            let marks = course.of.at_ns.iter().zip(done).map(|(at_ns, done)| Mark {
                x: *at_ns as f64 / 1e9,
                y: Some(done),
                ..Mark::default()
            });
            let zero = Mark { y: Some(0.0), ..Mark::default() };
            Line {
                name: match (is_of_several, self.short(&course.of.array)) {
                    (false, array) => array,
                    (true, array) => format!("{}, {array}", course.of.work),
                },
                hue,
                points: std::iter::once(zero).chain(marks).collect(),
                ..Line::default()
            }
        };
        let mut lines: Vec<Line> = own.iter().enumerate().map(line).collect();
        let of_these = all.iter().filter(|other| own.iter().any(|course| other.is_like(course)));
        // A gap behind each mark: nothing is published between them.
        let gapped = |mark: Mark| {
            let gap = Mark { y: None, ..mark.clone() };
            [mark, gap]
        };
        let published: Vec<Mark> = of_these.filter_map(Course::mark).flat_map(gapped).collect();
        if !published.is_empty() {
            let hue = lines.len();
            lines.push(Line {
                name: "published".into(),
                hue,
                marked: true,
                points: published,
                ..Line::default()
            });
        }
        Plot {
            x: Axis::new("time", Unit::Seconds, Scale::Linear),
            y: Axis { range: Some((0.0, 1.0)), ..Axis::new("done", Unit::Share, Scale::Linear) },
            lines,
            rules: Vec::new(),
        }
    }

    /// A configuration, without the name of the array where all are of one.
    fn short(self, address: &str) -> String {
        let words = configuration(address);
        match self.only_array() {
            Some(array) if words != array => words.replacen(&format!("{array}: "), "", 1),
            _ => words,
        }
    }

    /// When each tenth of the work is done.
    fn courses_table(self, courses: &[Course<'_>]) -> Table {
        let tenths = (1..=10).map(|tenth| Column::numbers(format!("{} %", tenth * 10), Unit::Nanos));
        let row = |course: &Course<'_>| {
            let words = [Cell::words(&course.of.work), Cell::words(configuration(&course.of.array))];
            let times = (1..=10).map(|tenth| Cell::number(course.at(self, tenth * 10)));
            words.into_iter().chain(times).collect()
        };
        Table {
            title: format!("courses of work: {}", self.name()),
            columns: [Column::words("work"), Column::words("configuration")]
                .into_iter()
                .chain(tenths)
                .collect(),
            rows: courses.iter().map(row).collect(),
        }
    }

    fn statements_reading(self) -> Sentence {
        let Published { statements, held, inconclusive, .. } = self.of;
        if *statements == 0 {
            return Sentence::of("Bounds that were published; none counts.");
        }
        let verb = if *held == 1 { "holds" } else { "hold" };
        let held = Sentence::of("Of ")
            .number(self.count("statements", *statements))
            .words(" published bounds, orders and equalities ")
            .number(self.count("held", *held))
            .words(format!(" {verb} in the model"));
        if *inconclusive == 0 {
            return held.words(".");
        }
        let verb = if *inconclusive == 1 { "is" } else { "are" };
        held.words("; ")
            .number(self.count("inconclusive", *inconclusive))
            .words(format!(" {verb} inconclusive: the interval has both sides of the bound."))
    }

    fn statements(self, statements: &[(usize, &HeldFigure)]) -> Table {
        let columns = ["what was said", "what", "claim", "published", "model", "holds"];
        let row = |(place, figure): &(usize, &HeldFigure)| {
            let said = if figure.case.about.is_empty() { &figure.id } else { &figure.case.about };
            vec![
                Cell::words(said),
                Cell::words(format!("{}: {}", figure.case.load, configurations(figure))),
                Cell::words(claimed(figure)),
                Cell::number(has_value(figure).then(|| self.published(*place))),
                self.answer(*place)
                    .map_or(Cell::Empty, |(number, ends)| Cell::Number(number, ends.map(Box::new))),
                Cell::words(holds(figure)),
            ]
        };
        Table {
            title: format!("published statements: {}", self.name()),
            columns: columns.map(Column::words).to_vec(),
            rows: statements.iter().map(row).collect(),
        }
    }

    /// Why some have no answer.
    fn unanswered(self) -> Option<Sentence> {
        let own = self.of.figures.iter().filter(|figure| figure.answer.is_none());
        let told: Vec<String> = own.map(|figure| format!("{}: {}", figure.id, figure.case.failure)).collect();
        (!told.is_empty()).then(|| Sentence::of(format!("No answer: {}.", told.join("; "))))
    }
}

/// How far the figures of all `groups` agree, together; `None` where none counts.
pub(crate) fn agreement(groups: &[Group<'_>], of: &str) -> Option<Sentence> {
    let sum = |path: &str, many: fn(&Published) -> u32| {
        let parts: Vec<Number> = groups.iter().map(|group| group.count(path, many(group.of))).collect();
        let value = parts.iter().map(|part| part.value).sum();
        let mut sources: Vec<Source> = parts.into_iter().map(|part| part.source).collect();
        let source = if sources.len() == 1 { sources.pop()? } else { Source::Sum(sources) };
        Some(Number { value, unit: Unit::Count, source })
    };
    let figures = sum("all/figures", |group| group.all.figures)?;
    let within_10 = sum("all/within_10", |group| group.all.within_10)?;
    let within_25 = sum("all/within_25", |group| group.all.within_25)?;
    if figures.value == 0.0 {
        return None;
    }
    let plural = if figures.value == 1.0 { "figure" } else { "figures" };
    let verb = if within_10.value == 1.0 { "is" } else { "are" };
    let what = if groups.iter().any(|group| group.is_measured()) { "what was measured" } else { "the model" };
    Some(
        Sentence::of("Of ")
            .number(figures)
            .words(format!(" published {plural}{of}, "))
            .number(within_10)
            .words(format!(" {verb} within 10 % of {what} and "))
            .number(within_25)
            .words(" within 25 %"),
    )
}

/// Work of an array's own, by its place among the figures and within one.
#[derive(Clone, Copy)]
struct Course<'a> {
    place: usize,
    at: usize,
    of: &'a WorkCourse,
    figure: &'a HeldFigure,
}

impl<'a> Course<'a> {
    fn is_like(&self, other: &Course<'_>) -> bool {
        self.of.work == other.of.work && self.of.at_ns == other.of.at_ns
    }

    /// Kinds of work that lie beside each other in a chart.
    fn family(&self) -> &'a str {
        if self.of.work.contains("initialisation") { "initialisation" } else { &self.of.work }
    }

    /// When so many percent are done.
    fn at(&self, group: Group<'_>, percent: usize) -> Option<Number> {
        let index = percent.checked_sub(1)?;
        let at_ns = *self.of.at_ns.get(index)?;
        let path = format!("figures/{}/case/courses/{}/at_ns/{index}", self.place, self.at);
        Some(group.number(&path, at_ns as f64, Unit::Nanos))
    }

    fn end(self, group: Group<'_>) -> Option<(Course<'a>, Number)> {
        Some((self, self.at(group, self.of.at_ns.len())?))
    }

    /// The published time, where the figure is one from the beginning of the work.
    fn mark(&self) -> Option<Mark> {
        let is_time = self.figure.metric == "time" && self.figure.case.kind == ClaimKind::Figure;
        is_time.then(|| Mark {
            x: self.figure.published / 1e9,
            y: Some(f64::from(self.of.to_percent) / 100.0),
            ..Mark::default()
        })
    }
}

/// Whether it holds, in words.
fn holds(figure: &HeldFigure) -> String {
    let word = figure.holds.map_or("inconclusive", |holds| if holds { "yes" } else { "no" });
    if figure.counts() { word.into() } else { format!("{word}; does not count") }
}

/// Which mark the model's answer has.
fn series(figure: &HeldFigure) -> usize {
    match (figure.counts(), figure.case.fits.is_empty()) {
        (false, _) => 3,
        (true, true) => 1,
        (true, false) => 2,
    }
}

/// How the model came to its answer, and whether it counts.
fn standing(figure: &HeldFigure) -> String {
    match (figure.counts(), figure.case.fits.as_str()) {
        (false, _) => format!("does not count: {}", figure.case.listed),
        (true, "") => "foretold".into(),
        (true, fits) => format!("fitted: {fits}"),
    }
}

/// Whether a statement has a value of its own, and is not an order or an equality alone.
fn has_value(figure: &HeldFigure) -> bool {
    match figure.case.kind {
        ClaimKind::Order => figure.published > 1.0,
        ClaimKind::Equal => false,
        _ => true,
    }
}

/// `at most, MB/s`
fn claimed(figure: &HeldFigure) -> String {
    match figure.metric.as_str() {
        "iops" | "mb_per_s" | "work_rate" => format!("{}, {}", relation(figure), measure(&figure.metric)),
        _ => relation(figure).to_owned(),
    }
}

fn relation(figure: &HeldFigure) -> &'static str {
    match figure.case.kind {
        ClaimKind::Figure => "the same",
        ClaimKind::Least => "at least",
        ClaimKind::Most => "at most",
        ClaimKind::Order if has_value(figure) => "first over next, at least",
        ClaimKind::Order => "first over next, above 1",
        ClaimKind::Equal => "largest over smallest, near 1",
    }
}

/// `RAID 10, disks 6, protocol iscsi`, of several `… against …`.
fn configurations(figure: &HeldFigure) -> String {
    let mut all: Vec<String> = Vec::new();
    for array in &figure.case.arrays {
        let words = configuration(array);
        if !all.contains(&words) {
            all.push(words);
        }
    }
    all.join(" against ")
}

/// The options of an address as people say them; the array where it has none.
fn configuration(address: &str) -> String {
    let Some((name, options)) = address.split_once('?') else { return address.to_owned() };
    let words = options.split('&').map(|option| match option.split_once('=') {
        Some(("protocol", level)) => level.to_owned(),
        Some((option, level)) => level_name(option, level),
        None => option.to_owned(),
    });
    format!("{name}: {}", words.collect::<Vec<_>>().join(", "))
}

/// What a figure is of, as at an axis.
fn measure(metric: &str) -> &'static str {
    match metric {
        "iops" => "IOPS",
        "mb_per_s" => "MB/s",
        "work_rate" => "rate of a member",
        "mean" => "mean latency",
        "p50" => "p50 latency",
        "p99" => "p99 latency",
        "time" => "time",
        "share" => "share",
        "count" => "count",
        _ => "ratio",
    }
}

fn unit(metric: &str) -> Unit {
    match metric {
        "iops" => Unit::PerSecond,
        "mb_per_s" | "work_rate" => Unit::BytesPerSecond,
        "mean" | "p50" | "p99" | "time" => Unit::Nanos,
        "share" => Unit::Share,
        "count" => Unit::Count,
        _ => Unit::Ratio,
    }
}

fn capital(words: &str) -> String {
    super::corners::capital(words)
}
