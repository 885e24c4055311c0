//! The runs of a library on a terminal.

use record::{Entry, LackKind};
use units::{BytesPerSecond, OpsPerSecond};

use unicode_width::UnicodeWidthStr;

use crate::ReportError;
use crate::grade;
use crate::style::{Look, Style};
use crate::table::{Cell, Column, Table};
use crate::words::{counted, cut, cut_within, harmless};

/// An array with an object for each of `entries`, in their order: what a run's line shows, in base units, with `state` as
/// it is shown. `number` and `id` name the run to the other verbs.
pub fn list_json(entries: &[Entry]) -> Result<String, ReportError> {
    let objects: Vec<serde_json::Value> = entries
        .iter()
        .map(|entry| {
            serde_json::json!({
                "number": entry.number,
                "id": entry.id,
                "started": entry.started,
                "ended": entry.ended,
                "plan": entry.plan,
                "targets": entry.targets,
                "world": entry.world,
                "hostname": entry.hostname,
                "tags": entry.tags,
                "points": entry.points,
                "peak_ops_per_s": entry.peak_ops_per_s,
                "peak_bytes_per_s": entry.peak_bytes_per_s,
                "grade": entry.grade,
                "warnings": entry.warnings,
                "invalid": entry.invalid,
                "complete": entry.complete,
                "code": entry.code,
                "reason": entry.reason,
            })
        })
        .collect();
    serde_json::to_string_pretty(&objects).map(|text| text + "\n").map_err(|error| ReportError::Unwritable {
        id: "list".into(),
        format: "JSON",
        why: error.to_string(),
    })
}

/// A line for each of `entries`, in their order, under a line of titles. Ends with a line end.
///
/// An empty list gives one sentence. Where there is no room, columns are left out in this order: labels, host,
/// points, MB/s, IOPS, id, time.
pub fn list(entries: &[Entry], style: Style) -> String {
    if entries.is_empty() {
        return "No run is kept yet, or none that matches.\n".into();
    }
    let columns = vec![
        Column { title: "#".into(), words: false, dispensable: 0 },
        Column { dispensable: 1, ..Column::words("started (UTC)") },
        Column::words("plan"),
        Column { dispensable: 2, ..Column::words("target") },
        Column::figures("points", 6),
        Column { dispensable: 2, ..Column::words("grade") },
        Column::figures("best IOPS", 4),
        Column::figures("best MB/s", 5),
        Column { dispensable: 3, ..Column::words("state") },
        Column { dispensable: 7, ..Column::words("host") },
        Column { dispensable: 8, ..Column::words("labels") },
        Column { dispensable: 9, ..Column::words("id") },
    ];
    // A long path must not push out every figure.
    let target_width = (style.width / 5).max(TARGET_MIN);
    let rows = entries.iter().map(|entry| row(entry, target_width, style)).collect();
    let table = Table { columns, rows };
    table.draw(style).lines.join("\n") + "\n"
}

/// A target is cut no shorter than this.
const TARGET_MIN: usize = 14;

fn row(entry: &Entry, target_width: usize, style: Style) -> Vec<Cell> {
    let targets: Vec<String> =
        entry.targets.iter().map(|target| harmless(target.trim_start_matches("/dev/disk/by-id/"))).collect();
    let targets = if is_published(entry) { "virtual arrays".into() } else { targets.join(", ") };
    let tags: Vec<String> = entry.tags.iter().map(|(key, value)| format!("{key}={value}")).collect();
    let (look, state) = state(entry);
    let peak_mb = entry.peak_bytes_per_s.map(|rate| BytesPerSecond::new(rate).to_string());
    vec![
        Cell::plain(entry.number.to_string()),
        Cell::plain(harmless(&entry.started).replace('T', " ").trim_end_matches('Z')),
        Cell::plain(harmless(&entry.plan)),
        Cell::plain(named_within(&targets, target_width, style.ellipsis())),
        Cell::plain(entry.points.to_string()),
        entry.grade.map_or_else(Cell::default, |grade| Cell::of(grade::look(grade), grade.to_string())),
        Cell::plain(entry.peak_ops_per_s.map(|rate| OpsPerSecond::new(rate).to_string()).unwrap_or_default()),
        Cell::plain(peak_mb.map(|rate| rate.trim_end_matches(" MB/s").to_owned()).unwrap_or_default()),
        Cell::of(look, state),
        Cell::plain(harmless(&entry.hostname)),
        Cell::plain(harmless(&tags.join(", "))),
        Cell::of(Look::Faint, harmless(&entry.id)),
    ]
}

/// A target in at most `width` columns: of a virtual array with options its name is cut first, as runs of one array differ in
/// these; of all else the middle.
fn named_within(target: &str, width: usize, ellipsis: &str) -> String {
    let Some((name, options)) = target.split_once('?').filter(|_| target.width() > width) else {
        return cut_within(target, width, ellipsis);
    };
    let options = format!("?{options}");
    let room = width.saturating_sub(options.width()).max(NAME_MIN);
    let name = cut(name, room, ellipsis);
    let options = cut_within(&options, width.saturating_sub(name.width()), ellipsis);
    name + &options
}

/// The name of an array before its options is cut no shorter than this.
const NAME_MIN: usize = 4;

/// The worst that is to be said of a run, in a word or two: `good`, `3 warnings`, `interrupted`.
pub fn state_words(entry: &Entry) -> String {
    state(entry).1
}

/// What became of a cell of a campaign that was not measured; `None` of every other run.
fn lack(entry: &Entry) -> Option<LackKind> {
    let is_nothing = entry.points == 0 && !entry.complete && entry.tags.contains_key("campaign");
    let (word, _) = entry.reason.split_once(": ").filter(|_| is_nothing)?;
    [LackKind::Void, LackKind::Skipped, LackKind::Aborted].into_iter().find(|kind| kind.word() == word)
}

/// Whether it holds published figures beside those of models: nothing was measured, on no target.
pub fn is_published(entry: &Entry) -> bool {
    entry.targets.is_empty() && entry.points == 0 && entry.complete
}

fn state(entry: &Entry) -> (Look, String) {
    if let Some(kind) = lack(entry) {
        return (Look::Warning, kind.word().to_owned());
    }

    match entry {
        // Under way, or its program was killed: the library cannot tell one from the other.
        Entry { ended: None, .. } => (Look::Warning, "not ended".into()),
        Entry { code: 130 | 143, .. } => (Look::Warning, "interrupted".into()),
        Entry { code: 5, .. } => (Look::Wrong, "I/O errors".into()),
        Entry { code: 6, .. } => (Look::Wrong, "data damaged".into()),
        Entry { complete: false, code, .. } => (Look::Wrong, format!("cut short ({code})")),
        Entry { code: 1.., .. } => (Look::Wrong, format!("exit code {}", entry.code)),
        Entry { invalid: 1.., .. } => (Look::Wrong, format!("{} invalid", entry.invalid)),
        Entry { warnings: 1.., .. } => (Look::Warning, counted(entry.warnings, "warning")),
        _ if is_published(entry) => (Look::Faint, "published".into()),
        _ => (Look::Plain, "good".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_target_the_part_is_kept_in_which_runs_differ() {
        let of = |target: &str, width| named_within(target, width, "…");
        assert_eq!(of("array:s3500-raid-8?disks=5", 26), "array:s3500-raid-8?disks=5");
        assert_eq!(of("array:s3500-raid-8?disks=5", 16), "array:s…?disks=5");
        assert_eq!(of("array:s3500-raid-8?controller.cache=1GiB", 16), "arr…?contr…=1GiB");
        assert_eq!(of("nvme-Acme_P5_960GB_AC5-00042", 16), "nvme-Acm…5-00042");
        for width in 6..20 {
            let cut = of("array:s3500-raid-8?controller.cache=1GiB", width);
            assert!(cut.width() <= width, "{width}: {cut}");
        }
    }
}
