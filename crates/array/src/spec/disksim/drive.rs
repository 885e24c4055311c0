//! From DiskSim's parameters to a device's description.

use std::fmt::Write;

use units::convert::truncated;

use super::libparam::{Block, Value};
use super::{DiskSimDrive, DiskSimError};

const SECTOR: f64 = units::SECTOR_BYTES as f64;

/// `disk` as a description. `blocks` are all of its file: buses and controllers among them bound the interface.
pub(super) fn described(
    label: &str,
    disk: &Block,
    blocks: &[Block],
    files: &mut dyn FnMut(&str) -> Option<String>,
) -> Result<DiskSimDrive, DiskSimError> {
    let mut out =
        Description { of: disk, scale: number(disk, "Time scale for overheads", 1.0)?, text: String::new() };
    let lacks =
        |of: &Block, key: &str| DiskSimError::new(&of.place(key), format!("{} has no `{key}`", of.kind));
    let model = disk.block("Model").ok_or_else(|| lacks(disk, "Model"))?;
    let mechanics = model.block("Mechanical Model");
    let mechanics = mechanics.ok_or_else(|| lacks(model, "Mechanical Model"))?;
    let layout = model.block("Layout Model");
    let layout = layout.ok_or_else(|| lacks(model, "Layout Model"))?;
    let name: String = disk.name.chars().filter(|c| c.is_alphanumeric() || "_-.".contains(*c)).collect();
    let sectors = needed(model, "Block count")?;
    let cylinders = needed(model, "Number of cylinders")?;
    out.line("name", format_args!("\"{name}\""));
    out.line("about", format_args!("\"{name}: read from DiskSim's description\""));
    out.line("kind", format_args!("\"rotating\""));
    out.line("source", format_args!("\"DiskSim's parameters\""));
    out.line("capacity", format_args!("\"{:.0}B\"", sectors * SECTOR));
    out.line("rpm", needed(mechanics, "Rotation speed (in rpms)")?);
    out.line("surfaces", needed(model, "Number of data surfaces")?);
    out.line("cylinders", cylinders);
    seek(&mut out, label, mechanics, cylinders, files)?;
    out.time("write_settle", number(mechanics, "Add. write settling delay", 0.0)?);
    out.time("head_switch", number(mechanics, "Head switch time", 0.0)?);
    let sector_ms = sector_ms(disk, blocks)?;
    if sector_ms > 0.0 {
        out.line("link", format_args!("\"{:.0}B/s\"", SECTOR * 1e3 / sector_ms));
    }
    out.line("zones", zones(label, layout, cylinders)?);
    overheads(&mut out)?;
    buffer(&mut out)?;
    queue(&mut out)?;
    Ok(DiskSimDrive { name, text: out.text, states_link: sector_ms > 0.0 })
}

/// The text as it grows.
struct Description<'d> {
    of: &'d Block,
    scale: f64,
    text: String,
}

impl Description<'_> {
    fn line(&mut self, key: &str, value: impl std::fmt::Display) {
        let _written = writeln!(self.text, "{key} = {value}");
    }

    fn time(&mut self, key: &str, ms: f64) {
        self.line(key, format_args!("\"{}\"", Ms(ms)));
    }

    /// An overhead in milliseconds, by its name there.
    fn overhead(&self, key: &str) -> Result<f64, DiskSimError> {
        Ok(number(self.of, key, 0.0)? * self.scale)
    }

    fn is_set(&self, key: &str) -> Result<bool, DiskSimError> {
        Ok(number(self.of, key, 0.0)? > 0.0)
    }
}

/// Milliseconds, to the nanosecond.
struct Ms(f64);

impl std::fmt::Display for Ms {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:.0}ns", self.0 * 1e6)
    }
}

fn number(block: &Block, key: &str, otherwise: f64) -> Result<f64, DiskSimError> {
    Ok(block.number(key)?.unwrap_or(otherwise))
}

fn needed(block: &Block, key: &str) -> Result<f64, DiskSimError> {
    let found = block.number(key)?.filter(|number| *number > 0.0);
    found.ok_or_else(|| {
        DiskSimError::new(&block.place(key), format!("{} needs `{key}`, above zero", block.kind))
    })
}

/// Milliseconds that a sector takes over the slowest of interface, buses and controllers; zero where none says.
fn sector_ms(disk: &Block, blocks: &[Block]) -> Result<f64, DiskSimError> {
    let mut slowest = number(disk, "Bulk sector transfer time", 0.0)?;
    for block in blocks {
        let key = match block.kind.as_str() {
            "disksim_bus" => "Read block transfer time",
            "disksim_ctlr" => "Bulk sector transfer time",
            _ => continue,
        };
        slowest = slowest.max(number(block, key, 0.0)?);
    }
    Ok(slowest)
}

fn seek(
    out: &mut Description<'_>,
    label: &str,
    mechanics: &Block,
    cylinders: f64,
    files: &mut dyn FnMut(&str) -> Option<String>,
) -> Result<(), DiskSimError> {
    let wrong = |what: String| DiskSimError::new(label, what);
    let access = mechanics.word("Access time type").unwrap_or("trackSwitchPlusRotation");
    if access != "trackSwitchPlusRotation" {
        return Err(wrong(format!(
            "`Access time type = {access}` has no turning disk; trackSwitchPlusRotation has"
        )));
    }
    let last = truncated::<u32>((cylinders - 1.0).max(2.0));
    let list = |key: &str| -> Vec<f64> {
        let word = |value: &Value| if let Value::Word(word) = value { word.parse().ok() } else { None };
        mechanics.list(key).iter().filter_map(word).filter(|number: &f64| number.is_finite()).collect()
    };
    let points = match mechanics.word("Seek type").unwrap_or_default() {
        "extracted" => {
            let file = mechanics.word("Full seek curve").unwrap_or_default();
            let text = files(file).ok_or_else(|| {
                wrong(format!("`Full seek curve = {file}`: there is no such file beside this one"))
            })?;
            measured(&text)
        }
        kind @ ("hpl" | "hplplus10") => {
            let hpl = list("HPL seek equation values");
            let [cutoff, root_at, root, line_at, line, one] = hpl[..] else {
                return Err(wrong("`HPL seek equation values` are six numbers".into()));
            };
            let ten = if kind == "hplplus10" { list("First ten seek times") } else { vec![one] };
            let at = |distance: u32| match ten.get(distance as usize - 1) {
                Some(&time) if time >= 0.0 => time,
                _ if f64::from(distance) < cutoff => root_at + root * f64::from(distance).sqrt(),
                _ => line_at + line * f64::from(distance),
            };
            sampled(last, truncated::<u32>(cutoff.clamp(1.0, f64::from(last)))).map(|d| (d, at(d))).collect()
        }
        "linear" | "curve" => {
            out.time("seek_track", needed(mechanics, "Single cylinder seek time")?);
            out.time("seek_average", needed(mechanics, "Average seek time")?);
            out.time("seek_full", needed(mechanics, "Full strobe seek time")?);
            return Ok(());
        }
        "constant" => {
            let time = needed(mechanics, "Constant seek time")?;
            vec![(1, time), (last, time)]
        }
        other => {
            let known = "extracted, hpl, hplplus10, linear, curve and constant";
            return Err(wrong(format!("`Seek type = {other}` is not known; {known} are")));
        }
    };
    if points.len() < 2 {
        return Err(wrong("the seek curve has fewer than two points".into()));
    }
    let points: Vec<String> =
        points.iter().map(|(distance, ms)| format!("[{distance}, \"{}\"]", Ms(*ms))).collect();
    out.line("seek_curve", format_args!("[{}]", points.join(", ")));
    Ok(())
}

/// Distances that show a smooth curve well: all short ones, then each a twentieth further, and both sides of a bend.
fn sampled(last: u32, bend: u32) -> impl Iterator<Item = u32> {
    let steps =
        std::iter::successors(Some(1u32), |d| Some(d + (d / 20).max(1))).take_while(move |d| *d < last);
    let mut all: Vec<u32> = steps.chain([bend.saturating_sub(1).max(1), bend, last]).collect();
    all.sort_unstable();
    all.dedup();
    all.into_iter()
}

/// A measured curve: lines of distance and milliseconds, rising in distance.
fn measured(text: &str) -> Vec<(u32, f64)> {
    let point = |line: &str| {
        let (distance, time) =
            line.split_once(',').or_else(|| line.trim().split_once(char::is_whitespace))?;
        let ms: f64 = time.trim().parse().ok()?;
        Some((distance.trim().parse().ok()?, ms))
            .filter(|(distance, ms)| *distance > 0 && (0.0..1e6).contains(ms))
    };
    let mut points: Vec<(u32, f64)> = text.lines().filter_map(point).collect();
    points.sort_by_key(|(distance, _)| *distance);
    points.dedup_by_key(|(distance, _)| *distance);
    points
}

fn zones(label: &str, layout: &Block, cylinders: f64) -> Result<String, DiskSimError> {
    let zones: Vec<&Block> = layout
        .list("Zones")
        .iter()
        .filter_map(|value| match value {
            Value::Block(zone) => Some(zone),
            _ => None,
        })
        .collect();
    if zones.is_empty() {
        let what =
            format!("`{}` has no `Zones`; the layouts dm_layout_g1 and dm_layout_g2 have", layout.kind);
        return Err(DiskSimError::new(label, what));
    }
    let first = |zone: &Block| number(zone, "First cylinder number", 0.0);
    let mut texts = Vec::with_capacity(zones.len());
    for (index, zone) in zones.iter().enumerate() {
        let end = zones.get(index + 1).map_or(Ok(cylinders), |next| first(next))?;
        let count = end - first(zone)?;
        if count < 1.0 {
            return Err(DiskSimError::new(
                label,
                format!("zone {index} has no cylinders, or zones do not ascend"),
            ));
        }
        let per_track = needed(zone, "Blocks per track")?;
        let units = zone.word("Skew units").or_else(|| layout.word("Skew units")).unwrap_or("sectors");
        let in_sectors = if units == "revolutions" { per_track } else { 1.0 };
        texts.push(format!(
            "  {{ cylinders = {count:.0}, sectors = {per_track:.0}, track_skew = {}, cylinder_skew = {} }},",
            number(zone, "Skew for track switch", 0.0)? * in_sectors,
            number(zone, "Skew for cylinder switch", 0.0)? * in_sectors,
        ));
    }
    Ok(format!("[\n{}\n]", texts.join("\n")))
}

fn overheads(out: &mut Description<'_>) -> Result<(), DiskSimError> {
    let each = out.overhead("Per-request overhead time")?;
    out.text += "\n[overheads]\n";
    for (key, name) in [
        ("read_hit", "Read hit"),
        ("read_miss", "Read miss"),
        ("write_hit", "Write hit"),
        ("write_miss", "Write miss"),
    ] {
        let after_read = Ms(each + out.overhead(&format!("{name} over. after read"))?);
        let after_write = Ms(each + out.overhead(&format!("{name} over. after write"))?);
        out.line(key, format_args!("[\"{after_read}\", \"{after_write}\"]"));
    }
    for (key, name) in [
        ("read_completion", "Read completion overhead"),
        ("write_completion", "Write completion overhead"),
        ("data", "Data preparation overhead"),
        ("reselect", "First reselect overhead"),
        ("least_write_seek", "Minimum seek delay"),
    ] {
        out.time(key, out.overhead(name)?);
    }
    if out.is_set("Extra write disconnect")? {
        let command = Ms(each + out.overhead("Extradisc command overhead")?);
        let seek = Ms(out.overhead("Extradisc seek delta")?);
        let data = Ms(out.overhead("Extradisc disconnect overhead")?
            + out.overhead("Extradisc inter-disconnect delay")?
            + out.overhead("First reselect overhead")?);
        let reselect = Ms(out.overhead("Other reselect overhead")?);
        out.line(
            "detached_write",
            format_args!(
                "{{ command = \"{command}\", seek = \"{seek}\", data = \"{data}\", reselect = \"{reselect}\" }}"
            ),
        );
    }
    Ok(())
}

fn buffer(out: &mut Description<'_>) -> Result<(), DiskSimError> {
    let of = out.of;
    let segments = number(of, "Number of buffer segments", 0.0)?;
    if !out.is_set("Enable caching in buffer")? || segments < 1.0 {
        return Ok(());
    }
    let segment = needed(of, "Segment size (in blks)")?;
    let level = number(of, "Buffer continuous read", 0.0)?;
    let keeps_read = !out.is_set("Read-ahead over requested")?;
    let reads = ["none", "track", "cylinder", "segment", if keeps_read { "stream" } else { "next-track" }];
    let continuous = reads.get(truncated::<usize>(level)).ok_or_else(|| {
        DiskSimError::new(
            &of.place("Buffer continuous read"),
            format!("`Buffer continuous read = {level}` lies beyond 4"),
        )
    })?;
    // Zero sets no bound.
    let most =
        Some(number(of, "Maximum read-ahead (blks)", 0.0)?).filter(|most| *most > 0.0).unwrap_or(segment);
    out.text += "\n[buffer]\n";
    out.line("size", format_args!("\"{:.0}B\"", segments * segment * SECTOR));
    out.line("segments", segments);
    out.line("continuous_read", format_args!("\"{continuous}\""));
    out.line("read_ahead", format_args!("\"{:.0}B\"", most * SECTOR));
    let least = number(of, "Minimum read-ahead (blks)", 0.0)?;
    out.line("read_ahead_least", format_args!("\"{:.0}B\"", least * SECTOR));
    out.line("keeps_read", keeps_read);
    for (key, name) in [
        ("tops_up", "Read-ahead on idle hit"),
        ("almost_hits", "Allow almost read hits"),
        ("hits_on_written", "Allow read hits on write data"),
        ("free_blocks", "Read any free blocks"),
        ("read_on_arrival", "Immediate buffer read"),
        ("write_on_arrival", "Immediate buffer write"),
        ("separate_write", "Use separate write segment"),
    ] {
        out.line(key, out.is_set(name)?);
    }
    for (key, name) in
        [("forward_after", "High (read) water mark"), ("write_after", "Low (write) water mark")]
    {
        out.line(key, format_args!("\"{}\"", number(of, name, 0.0)?.clamp(0.0, 1.0)));
    }
    let levels = ["false", "\"appending\"", "true"];
    let level = number(of, "Fast write level", 0.0)?;
    let fast = levels.get(truncated::<usize>(level)).copied().unwrap_or("true");
    out.line("write_back", fast);
    out.line("write_segments", number(of, "Maximum number of write segments", 1.0)?.max(1.0));
    Ok(())
}

/// Policies of DiskSim's queues, by number: 1 first come; 2, 3, 5, 6 elevators; 4, 7 the nearest; from 8 on by position.
fn queue(out: &mut Description<'_>) -> Result<(), DiskSimError> {
    let window = number(out.of, "Max queue length", 1.0)?.max(1.0);
    let policy =
        out.of.block("Scheduler").map_or(Ok(1.0), |queue| number(queue, "Scheduling policy", 1.0))?;
    let order = match truncated::<u32>(policy.clamp(0.0, 99.0)) {
        0 | 1 => "fcfs",
        2 | 3 | 5 | 6 => "c-look",
        4 | 7 => "sstf",
        _ => "sptf",
    };
    out.text += "\n[queue]\n";
    out.line("order", format_args!("\"{order}\""));
    if matches!(order, "sstf" | "sptf") {
        // Its schedulers know no limit.
        out.line("age_limit", "\"none\"");
    }
    out.line("window", window);
    out.line("overlap", window > 1.0);
    Ok(())
}
