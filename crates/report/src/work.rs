//! What the parts of a virtual array did while a phase waited for a rebuild or other background work.

use record::{Component, Point, PointKind, Run};
use units::Bytes;

use crate::figures::name_of;
use crate::style::{Look, Style};
use crate::table::{Cell, Column, Table};
use crate::words::{harmless, wrap};

/// A part that was busy for less than this is left out, unless it is a disk that something was moved on.
const SMALL: f64 = 0.005;

/// For each phase that waited for work: how busy every part was, and what was read from and written to each disk. Empty
/// where no phase says.
pub fn work(run: &Run, style: Style) -> String {
    let points = run.points.iter().filter(|point| point.kind == PointKind::State);
    points.map(|point| of_point(point, style)).filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n")
}

fn of_point(point: &Point, style: Style) -> String {
    let Some(breakdown) = &point.breakdown else { return String::new() };
    if table(&breakdown.components).rows.is_empty() {
        return String::new();
    }
    let title = format!("What the parts did: {}", harmless(&name_of(point)));
    let mut text = style.paint(Look::Title, &title) + "\n";
    for line in table(&breakdown.components).draw(style).lines {
        text += &format!("  {line}\n");
    }
    let total =
        |of: fn(&Component) -> Option<u64>| Bytes::new(breakdown.components.iter().filter_map(of).sum());
    let (read, written) = (total(|part| part.read_bytes), total(|part| part.written_bytes));
    let whole = format!("All disks: {read} read, {written} written. No warm-up is inside.");
    for line in wrap(&style.spell(&whole), style.width, "  ", "  ") {
        text += &line;
        text.push('\n');
    }
    text
}

fn table(components: &[Component]) -> Table {
    let moved = |part: &Component| part.read_bytes.unwrap_or(0) + part.written_bytes.unwrap_or(0);
    let shown = components.iter().filter(|part| part.utilisation >= SMALL || moved(part) > 0);
    let bytes = |bytes: Option<u64>| {
        bytes.map_or_else(Cell::default, |bytes| Cell::plain(Bytes::new(bytes).to_string()))
    };
    let row = |part: &Component| {
        let busy = format!("{:.1} %", 100.0 * part.utilisation);
        vec![
            Cell::plain(harmless(&part.name)),
            Cell::plain(busy),
            bytes(part.read_bytes),
            bytes(part.written_bytes),
        ]
    };
    Table {
        columns: vec![
            Column::words("part"),
            Column::figures("busy", 0),
            Column::figures("read", 0),
            Column::figures("written", 0),
        ],
        rows: shown.map(row).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::sample;
    use record::{Breakdown, BreakdownWindow};

    const STYLE: Style = Style { colour: false, unicode: true, width: 80 };

    #[test]
    fn a_rebuild_says_what_each_disk_read_and_wrote_and_how_busy_each_part_was() {
        let mut point = sample::point(0, "rebuild", Vec::new());
        point.kind = PointKind::State;
        let part = |name: &str, utilisation, moved: Option<(u64, u64)>| Component {
            name: name.into(),
            utilisation,
            read_bytes: moved.map(|(read, _)| read),
            written_bytes: moved.map(|(_, written)| written),
            ..Component::default()
        };
        let components = vec![
            part("controller 0 xor", 0.25, None),
            part("controller 0 bus", 0.001, None),
            part("disk 0", 0.9, Some((1 << 30, 0))),
            part("disk 1", 0.5, Some((0, 1 << 30))),
        ];
        let window = BreakdownWindow { from_ns: 1_000_000_000, until_ns: 61_000_000_000, warmup_ns: 0 };
        point.breakdown = Some(Breakdown { components, window: Some(window), ..Breakdown::default() });
        let run = sample::run("rebuild", vec![point]);
        let text = work(&run, STYLE);
        for words in
            ["rebuild (took 31.0 s)", "controller 0 xor", "25.0 %", "disk 1", "1 GiB read, 1 GiB written"]
        {
            assert!(text.contains(words), "no `{words}` in {text}");
        }
        assert!(!text.contains("controller 0 bus"), "{text}");
        assert_eq!(work(&sample::run("rebuild", Vec::new()), STYLE), "");
    }
}
