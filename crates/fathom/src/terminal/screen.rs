//! The full screen: rows of figures, and the rate over time in what room is left.
//!
//! **Invariant:** each row stands by itself. Where there is no room, rows that matter less are left out, and within a row
//! figures from the right; nothing is drawn over anything else.

use std::collections::BTreeMap;
use std::fmt::Write;

use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};
use ratatui::symbols::bar;
use ratatui::widgets::{Sparkline, Widget};
use stats::steady::{RANGE_MAX, SLOPE_MAX};
use units::convert::{narrow, truncated};
use units::{BytesPerSecond, Nanos, OpsPerSecond};

use crate::terminal::glance::{Glance, cut, rounded};
use crate::terminal::{has_unicode, stderr_has_colour};

/// Columns of what a row is about.
const LABEL: usize = 10;
/// Rows of the rate over time, at least: below that it says nothing.
const CHART_LEAST: usize = 3;
/// What keys do, as far as there is room.
const KEYS: [&str; 2] =
    ["Space: freeze   q: one line   Ctrl-C: end the run", "q: one line   Ctrl-C: end the run"];
/// Devices that have a row of their own.
const DEVICES: usize = 8;

/// Hosts likewise.
const HOSTS: usize = 16;

/// What the terminal can show.
#[derive(Clone, Copy, Debug)]
pub struct Look {
    pub colour: bool,
    pub unicode: bool,
}

impl Look {
    pub fn of_stderr() -> Look {
        Look { colour: stderr_has_colour(), unicode: has_unicode() }
    }

    /// A text in the letters that the terminal has.
    fn spell(self, text: &str) -> String {
        match self.unicode {
            true => text.into(),
            false => text.replace('µ', "u").replace('×', "x").replace('…', "~"),
        }
    }

    fn style(self, tone: Tone) -> Style {
        let plain = Style::new();
        match (tone, self.colour) {
            (Tone::Plain, _) => plain,
            (Tone::Title, _) => plain.add_modifier(Modifier::BOLD),
            (Tone::Faint, true) => plain.add_modifier(Modifier::DIM),
            (Tone::Wrong, true) => plain.fg(Color::Red).add_modifier(Modifier::BOLD),
            (Tone::Wrong, false) => plain.add_modifier(Modifier::BOLD),
            (Tone::Done, true) => plain.fg(Color::Cyan),
            (Tone::Faint | Tone::Done, false) => plain,
        }
    }
}

/// What a piece of a row is, from which its colour follows. Colour never says anything alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tone {
    Plain,
    Title,
    Faint,
    Wrong,
    Done,
}

struct Row {
    /// The smaller, the longer it stays when rows are left out.
    rank: usize,
    label: String,
    tone: Tone,
    /// The first is there in any case, if need be cut; others where they fit.
    parts: Vec<String>,
}

impl Row {
    fn new(rank: usize, label: &str, parts: Vec<String>) -> Row {
        debug_assert!(!parts.is_empty(), "a row has a part that stays");
        Row { rank, label: label.into(), tone: Tone::Plain, parts }
    }

    /// A row without a label.
    fn line(rank: usize, tone: Tone, text: String) -> Row {
        Row { rank, label: String::new(), tone, parts: vec![text] }
    }

    /// What of it fits into `width` columns behind its label.
    fn fitting(&self, width: usize) -> String {
        let mut text = String::new();
        for part in &self.parts {
            let gap = if text.is_empty() { "" } else { "   " };
            let long = text.chars().count() + gap.len() + part.chars().count();
            if !text.is_empty() && long > width {
                break;
            }
            text += &format!("{gap}{part}");
        }
        let fitting = cut(&text, width);
        debug_assert!(fitting.chars().count() <= width, "what fits is no wider than its room");
        fitting
    }
}

/// Draws `glance`, with `said` of what was said meanwhile, into all of `buffer`.
pub fn draw(glance: &Glance, said: &[String], look: Look, buffer: &mut Buffer) {
    let area = *buffer.area();
    let (width, height) = (usize::from(area.width), usize::from(area.height));
    let mut rows = rows(glance, said, look, width);
    let room = height.saturating_sub(1 + CHART_LEAST);
    while rows.len() > room.max(height.min(8)) {
        let least = rows.iter().enumerate().max_by_key(|(place, row)| (row.rank, *place));
        let Some((place, _)) = least else { break };
        rows.remove(place);
    }
    for (place, row) in rows.iter().take(height).enumerate() {
        draw_row(row, place, width, look, buffer);
    }
    let free = height.saturating_sub(rows.len());
    if free > CHART_LEAST {
        draw_rates(glance, rows.len(), free, look, buffer);
    }
}

fn draw_row(row: &Row, place: usize, width: usize, look: Look, buffer: &mut Buffer) {
    let y: u16 = narrow(place);
    let mut from = 0;
    if !row.label.is_empty() {
        let label = look.spell(&cut(&row.label, LABEL - 1));
        buffer.set_stringn(0, y, label, LABEL - 1, look.style(Tone::Faint));
        from = LABEL;
    }
    if from < width {
        let text = look.spell(&row.fitting(width - from));
        buffer.set_stringn(narrow(from), y, text, width - from, look.style(row.tone));
    }
}

/// All rows in their order, the most that there may be.
fn rows(glance: &Glance, said: &[String], look: Look, width: usize) -> Vec<Row> {
    let head_room = |keys: &str| width.saturating_sub(keys.len() + 2);
    let head = match KEYS.into_iter().find(|keys| glance.head.chars().count() <= head_room(keys)) {
        Some(keys) => format!("{:room$}  {keys}", glance.head, room = head_room(keys)),
        None => glance.head.clone(),
    };
    let mut rows = vec![
        Row::line(4, Tone::Faint, head),
        Row::line(0, Tone::Title, glance.title.clone()),
        progress(glance, look, width),
    ];
    if let Some(waiting) = &glance.waiting {
        rows.push(Row::line(0, Tone::Wrong, waiting.clone()));
    }
    if glance.is_frozen {
        rows.push(Row::line(0, Tone::Title, "frozen; the run continues; Space: unfreeze".into()));
    }
    if glance.doing != "load" {
        rows.push(Row::new(1, "now", vec![glance.rates()]));
    } else {
        rows.extend(figures(glance));
    }
    let hosts = glance.hosts.iter().map(|host| Row::new(2, &host.name, host.parts()));
    rows.extend(hosts.take(HOSTS));
    rows.extend(glance.times.map(|(virtual_time, ours)| times(virtual_time, ours)));
    rows.extend(steadiness(glance));
    rows.extend(processors(glance));
    rows.extend(devices(glance));
    rows.extend(said.iter().rev().take(3).rev().map(|line| Row::new(6, "said", vec![line.clone()])));
    rows
}

/// How far the point is, and what is left.
fn progress(glance: &Glance, look: Look, width: usize) -> Row {
    let Some(done) = glance.done else { return Row::new(0, "left", vec![glance.left.clone()]) };
    let share = format!("{:3.0} %", done.clamp(0.0, 1.0) * 100.0);
    let room = width.saturating_sub(share.len() + glance.left.chars().count() + 4).min(40);
    if room < 8 {
        return Row::line(0, Tone::Plain, format!("{} {}", share.trim_start(), glance.left));
    }
    let full: usize = truncated::<usize>((done.clamp(0.0, 1.0) * room as f64).round());
    debug_assert!(full <= room, "a bar is no longer than its room");
    let (on, off) = if look.unicode { ("█", "░") } else { ("#", ".") };
    let bar = on.repeat(full) + &off.repeat(room - full);
    Row::line(0, Tone::Done, format!("{bar} {share}  {}", glance.left))
}

/// Rate and response times of the last second, and what is on its way.
fn figures(glance: &Glance) -> Vec<Row> {
    let rate = vec![
        format!("{} IOPS", OpsPerSecond::new(glance.ops)),
        BytesPerSecond::new(glance.bytes).to_string(),
    ];
    let mut rows = vec![Row::new(0, "rate", rate)];
    if let Some(seen) = &glance.responses {
        let times =
            vec![format!("p99 {}", seen.p99), format!("p50 {}", seen.p50), format!("max {}", seen.longest)];
        rows.push(Row::new(1, "response", times));
    }
    let mut queue = vec![format!("{} in flight", glance.in_flight)];
    let lag = glance.responses.and_then(|seen| seen.lag);
    queue.extend(lag.map(|lag| format!("lag {lag}")));
    let (tone, errors) = match glance.errors {
        0 => (Tone::Plain, "no errors".into()),
        1 => (Tone::Wrong, "1 error".into()),
        many => (Tone::Wrong, format!("{many} errors")),
    };
    queue.push(errors);
    rows.push(Row { tone, ..Row::new(1, "queue", queue) });
    rows
}

fn times(virtual_time: Nanos, ours: Nanos) -> Row {
    let pace = virtual_time.as_secs_f64() / ours.as_secs_f64().max(1e-9);
    let pace = if pace < 10.0 { format!("{pace:.1}") } else { format!("{pace:.0}") };
    Row::new(2, "virtual", vec![format!("{virtual_time} in {ours}"), format!("{pace} × real time")])
}

/// The excursions that SNIA's rule of steady state looks at.
fn steadiness(glance: &Glance) -> Option<Row> {
    let steady = glance.steady()?;
    debug_assert!(steady.mean > 0.0, "a share of the mean is of one that is there");
    let of_mean = |value: f64| value / steady.mean * 100.0;
    let verdict = if steady.reached() { "yes" } else { "no" };
    let (range, slope) = (of_mean(steady.range), of_mean(steady.excursion));
    Some(Row::new(
        3,
        "steady",
        vec![
            verdict.into(),
            format!("range {range:.1} % (limit {:.0} %)", RANGE_MAX * 100.0),
            format!("slope {slope:.1} % (limit {:.0} %)", SLOPE_MAX * 100.0),
        ],
    ))
}

fn processors(glance: &Glance) -> Option<Row> {
    let share = |name: &str| glance.value(name).map(|share| format!("{:.0} %", share * 100.0));
    let mut parts = vec![format!("user {}", share("cpu.user")?)];
    parts.extend(share("cpu.system").map(|share| format!("system {share}")));
    let workers = glance.watched("thread");
    let busiest = workers.values().filter_map(|of| of.get("cpu").copied()).reduce(f64::max);
    parts.extend(busiest.map(|share| format!("busiest worker {:.0} %", share * 100.0)));
    parts.extend(share("cpu.iowait").map(|share| format!("iowait {share}")));
    Some(Row::new(2, "CPU", parts))
}

/// Each device and interface beneath the target, by the kernel's counters.
fn devices(glance: &Glance) -> Vec<Row> {
    let disks = glance.watched("disk").into_iter().map(|(name, of)| (name.to_owned(), disk(&of)));
    let links = glance.watched("net").into_iter().map(|(name, of)| (name.to_owned(), link(&of)));
    let all = disks.chain(links).filter(|(_, parts)| !parts.is_empty()).take(DEVICES);
    all.enumerate().map(|(place, (name, parts))| Row::new(5 + place, &name, parts)).collect()
}

fn disk(of: &BTreeMap<&str, f64>) -> Vec<String> {
    let sum = |first: &str, second: &str| Some(of.get(first)? + of.get(second)?);
    let mut parts = Vec::new();
    parts.extend(
        sum("reads_per_s", "writes_per_s").map(|rate| format!("{} requests/s", OpsPerSecond::new(rate))),
    );
    let bytes = sum("read_bytes_per_s", "write_bytes_per_s");
    parts.extend(bytes.map(|rate| BytesPerSecond::new(rate).to_string()));
    parts.extend(of.get("busy").map(|share| format!("busy {:.0} %", share * 100.0)));
    parts.extend(of.get("queue_mean").map(|queue| format!("queue {queue:.1}")));
    parts
}

fn link(of: &BTreeMap<&str, f64>) -> Vec<String> {
    let rate =
        |what: &str, name: &str| of.get(name).map(|rate| format!("{what} {}", BytesPerSecond::new(*rate)));
    let both = [rate("in", "received_bytes_per_s"), rate("out", "sent_bytes_per_s")];
    both.into_iter().flatten().collect()
}

/// The rate over time in the last `free` rows from `top` on: a title, and a bar for each second.
fn draw_rates(glance: &Glance, top: usize, free: usize, look: Look, buffer: &mut Buffer) {
    let width = buffer.area().width;
    assert!(free > CHART_LEAST, "a chart has room for its title and its bars");
    debug_assert!(top + free <= usize::from(buffer.area().height), "it is drawn within the screen");
    let shown = glance.rates.len().min(usize::from(width));
    if shown == 0 {
        return;
    }
    let newest: Vec<f64> = glance.rates.iter().skip(glance.rates.len() - shown).copied().collect();
    let highest = newest.iter().copied().fold(0.0, f64::max);
    let covers = glance.rates_cover.get() / glance.rates.len() as u64 * shown as u64;
    let covers = rounded(Nanos::new(covers));
    let title = format!("IOPS, last {covers}, 0 to {}", OpsPerSecond::new(highest));
    let title = look.spell(&cut(&title, usize::from(width)));
    // One row stays free above it, where there is room to spare.
    let gap = usize::from(free > CHART_LEAST + 2);
    let y: u16 = narrow(top + gap);
    buffer.set_stringn(0, y, title, usize::from(width), look.style(Tone::Faint));
    debug_assert!(gap + 1 < free, "bars have a row below their title");
    let below: u16 = narrow(free - gap - 1);
    let data: Vec<u64> = newest.iter().map(|rate| truncated::<u64>(*rate)).collect();
    let set = if look.unicode { bar::NINE_LEVELS } else { ASCII_BARS };
    let chart = Sparkline::default().data(data).max(truncated::<u64>(highest).max(1)).bar_set(set);
    chart.style(look.style(Tone::Done)).render(Rect::new(0, y + 1, width, below), buffer);
}

/// Bars where there are no blocks.
const ASCII_BARS: bar::Set<'static> = bar::Set {
    full: "#",
    seven_eighths: "#",
    three_quarters: "#",
    five_eighths: "=",
    half: "=",
    three_eighths: "-",
    one_quarter: ".",
    one_eighth: ".",
    empty: " ",
};

/// What makes a terminal that shows `before` show `now`.
pub fn changes(before: &Buffer, now: &Buffer) -> String {
    written(before.diff(now))
}

/// What makes any terminal show `now`.
pub fn whole(now: &Buffer) -> String {
    format!("\x1b[0m\x1b[2J{}", written(Buffer::empty(*now.area()).diff(now)))
}

fn written(cells: Vec<(u16, u16, &Cell)>) -> String {
    let (mut text, mut at, mut style) = (String::new(), None, None);
    for (x, y, cell) in cells {
        // Writing into a text does not fail.
        if at != Some((x, y)) {
            let _ok = write!(text, "\x1b[{};{}H", y + 1, x + 1);
        }
        if style != Some(cell.style()) {
            text += &codes(cell);
            style = Some(cell.style());
        }
        text += cell.symbol();
        at = Some((x + 1, y));
    }
    text
}

/// The escape sequence of a cell's look.
fn codes(cell: &Cell) -> String {
    let mut codes = String::from("\x1b[0");
    for (modifier, code) in [(Modifier::BOLD, ";1"), (Modifier::DIM, ";2")] {
        if cell.modifier.contains(modifier) {
            codes += code;
        }
    }
    codes += match cell.fg {
        Color::Red => ";31",
        Color::Cyan => ";36",
        _ => "",
    };
    codes + "m"
}

#[cfg(test)]
mod tests {
    use conduct::Responses;
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    use super::*;

    fn busy() -> Glance {
        let beside = [
            ("cpu.user", 0.123),
            ("cpu.system", 0.304),
            ("cpu.iowait", 0.05),
            ("thread.worker 0.cpu", 0.97),
            ("thread.worker 1.cpu", 0.55),
            ("disk.sda.reads_per_s", 9_500.0),
            ("disk.sda.writes_per_s", 9_525.0),
            ("disk.sda.read_bytes_per_s", 38.9e6),
            ("disk.sda.write_bytes_per_s", 39.0e6),
            ("disk.sda.busy", 0.98),
            ("disk.sda.queue_mean", 31.2),
            ("disk.sdb.reads_per_s", 12.0),
            ("disk.sdb.writes_per_s", 0.0),
            ("disk.sdb.read_bytes_per_s", 49_152.0),
            ("disk.sdb.write_bytes_per_s", 0.0),
            ("net.eth0.received_bytes_per_s", 112e6),
            ("net.eth0.sent_bytes_per_s", 1.2e6),
        ];
        let mut glance = Glance {
            head: "oltp on /mnt/array".into(),
            title: "[3/5] 4 KiB random, 70 % reads, 32 in flight".into(),
            doing: "load",
            left: "point 14 s, run 38 s left".into(),
            done: Some(0.53),
            ops: 19_025.4,
            bytes: 77.9e6,
            responses: Some(Responses {
                p50: Nanos::from_micros(51),
                p99: Nanos::from_micros(75),
                longest: Nanos::from_micros(4_270),
                lag: Some(Nanos::from_micros(12)),
            }),
            in_flight: 32,
            errors: 2,
            beside: beside.map(|(name, value)| (name.to_owned(), value)).into(),
            ..Glance::default()
        };
        for second in 0..120_u32 {
            let rate = 15_000.0 + 5_000.0 * (f64::from(second) / 9.0).sin();
            glance.add_rate(if second == 100 { 0.0 } else { rate }, Nanos::from_secs(1));
        }
        glance
    }

    fn shown(glance: &Glance, said: &[String], look: Look, columns: u16, rows: u16) -> String {
        let mut terminal = Terminal::new(TestBackend::new(columns, rows)).unwrap();
        terminal.draw(|frame| draw(glance, said, look, frame.buffer_mut())).unwrap();
        terminal.backend().to_string()
    }

    const UNICODE: Look = Look { colour: false, unicode: true };
    const ASCII: Look = Look { colour: false, unicode: false };

    #[test]
    fn the_screen_of_a_busy_run_at_the_sizes_that_people_have() {
        let said = ["fathom: the clock steps".to_owned()];
        insta::assert_snapshot!("busy_80x24", shown(&busy(), &said, UNICODE, 80, 24));
        insta::assert_snapshot!("busy_40x12", shown(&busy(), &said, UNICODE, 40, 12));
        insta::assert_snapshot!("busy_132x43", shown(&busy(), &said, UNICODE, 132, 43));
        insta::assert_snapshot!("busy_80x24_ascii", shown(&busy(), &said, ASCII, 80, 24));
    }

    #[test]
    fn the_screen_of_a_virtual_array_tells_both_times_and_that_of_laying_out_no_rates() {
        let (simulated, ours) = (Nanos::from_secs(125), Nanos::from_millis(2_400));
        let modelled = Glance { beside: Vec::new(), errors: 0, times: Some((simulated, ours)), ..busy() };
        insta::assert_snapshot!("virtual_80x24", shown(&modelled, &[], UNICODE, 80, 24));
        let laying = Glance {
            title: "[1/5] 4 KiB random".into(),
            doing: "lay out",
            done: Some(0.25),
            bytes: 412e6,
            left: "12 s left at this rate".into(),
            waiting: Some("waiting for storage since 4 s".into()),
            ..Glance::default()
        };
        insta::assert_snapshot!("laying_out_60x16", shown(&laying, &[], UNICODE, 60, 16));
    }

    #[test]
    fn any_size_is_drawn_within_itself_and_the_figures_stay_longest() {
        for (columns, rows) in [(1, 1), (5, 3), (12, 2), (20, 6), (39, 9), (300, 100)] {
            let text = shown(&busy(), &[], UNICODE, columns, rows);
            assert_eq!(text.lines().count(), usize::from(rows), "{columns}x{rows}");
        }
        let small = shown(&busy(), &[], UNICODE, 40, 6);
        assert!(small.contains("19,025 IOPS") && small.contains("[3/5]"), "{small}");
        assert!(shown(&busy(), &[], ASCII, 80, 24).is_ascii());
    }

    #[test]
    fn only_what_has_changed_is_written_and_a_new_size_writes_all() {
        let area = Rect::new(0, 0, 10, 2);
        let (mut before, mut now) = (Buffer::empty(area), Buffer::empty(area));
        before.set_string(0, 0, "1,000", Style::new());
        now.set_string(0, 0, "1,005", Style::new().fg(Color::Red));
        assert!(whole(&now).contains("\x1b[1;1H\x1b[0;31m1,005"), "{:?}", whole(&now));
        now.set_style(area, Style::reset());
        assert_eq!(changes(&before, &before), "");
        before.set_style(area, Style::reset());
        assert_eq!(changes(&before, &now), "\x1b[1;5H\x1b[0m5");
    }
}
