//! What a served array says of itself, as text.

use serde::Serialize;
use serve::config::Status;
use serve::events::{Event, Severity};
use serve::machine::{
    BayStatus, CacheStatus, ControllerStatus, LostRange, MachineStatus, PathStatus, SetStatus, WorkStatus,
};
use units::{Bytes, BytesPerSecond, Nanos};

use crate::ending::{Ending, Failure};

pub(super) fn status_text(status: &MachineStatus) -> String {
    let MachineStatus { name, array, sets, bays, works, luns, .. } = status;
    let mut text = format!("{name}, array {array}");
    text += if status.is_volatile { ", in memory\n" } else { "\n" };
    if status.is_write_protected {
        text += "write-protected: `fathom array events` says why; free space or fix the error, then start the server again\n";
    } else if let Some(why) = &status.writes_refused {
        text += &format!("writes to the drives are refused: {why}\n");
    }
    if status.controllers.iter().all(|controller| !controller.is_online) {
        text += "no controller is online: hosts cannot reach the data, and background work waits\n";
    }
    if let Some(fault) = &status.fault {
        text += &format!("no host gets an answer: {fault}\n");
    }
    for set in sets {
        text += &format!("set {}  {:<8} {:<10} {}\n", set.set, set.level, set.state, Bytes::new(set.bytes));
        text += &set.way_back().map(|way| format!("       {way}\n")).unwrap_or_default();
    }
    text.extend(works.iter().map(work_line));
    for pass in status.passes.iter().filter(|pass| {
        matches!(pass.kind.as_str(), "verify" | "initialise") || pass.has_findings() || !pass.is_complete
    }) {
        text += &format!("{pass}\n");
    }
    if status.rate > 0 {
        let rate = BytesPerSecond::new(status.rate as f64);
        text += &format!("background work: at most {rate} of each member\n");
    }
    if let Some(share) = status.share {
        text += &format!("new background work: {:.0} % of the members' time\n", share * 100.0);
    }
    if status.controllers.len() > 1 || status.paths.iter().any(|path| !path.is_up) {
        text += &controllers(status, None);
    }
    if status.paths.iter().any(|path| !path.is_up) {
        text += &paths(status, None);
    }
    text += &status.firmware.as_ref().map(|release| format!("firmware {release}\n")).unwrap_or_default();
    text += &status.cache.as_ref().map(cache_line).unwrap_or_default();
    let sizes: Vec<String> = luns.iter().map(|&bytes| Bytes::new(bytes).to_string()).collect();
    text += &format!("LUNs  {}\n\nbay  drive     size      state\n", sizes.join(", "));
    text.extend(bays.iter().map(|bay| bay_line(bay, sets)));
    text
}

fn work_line(work: &WorkStatus) -> String {
    let slot = work.slot.map(|slot| format!(", slot {slot}")).unwrap_or_default();
    let left = work.left_s.map(|left| {
        let left = Nanos::new(units::convert::truncated((left * 10.0).round() * 1e8));
        format!(", {left} left")
    });
    let (set, kind, done, left) = (work.set, &work.kind, work.done * 100.0, left.unwrap_or_default());
    format!("set {set}{slot}: {kind} {done:.1} %{left}\n")
}

/// A drive in its bay, with its place in one of `sets`.
fn bay_line(bay: &BayStatus, sets: &[SetStatus]) -> String {
    let of_slot =
        |set: u32, slot: u16| sets.iter().find(|one| one.set == set)?.slots.get(usize::from(slot)).copied();
    let place = bay.slot.map(|(set, slot)| match of_slot(set, slot) {
        Some(Some(other)) if other != bay.bay => format!(", copy of set {set} slot {slot}"),
        _ => format!(", set {set} slot {slot}"),
    });
    let (place, size) = (place.unwrap_or_default(), Bytes::new(bay.bytes).to_string());
    match bay.status {
        Status::Empty => {
            format!("{:>3}  {:<8}  {:<8}  empty; its last drive was {}\n", bay.bay, "-", "-", bay.serial)
        }
        status => format!("{:>3}  {:<8}  {size:<8}  {}{place}\n", bay.bay, bay.serial, word(status)),
    }
}

/// How far background work is.
#[derive(Serialize)]
pub(super) struct Progress<'a> {
    /// Of the work that has most before it; 100 where there is none and all sets are whole, and only there. `None` where there is none
    /// and a set is not.
    percent: Option<f64>,
    works: &'a [WorkStatus],
    /// How each set is: one that has failed or is degraded has no work that would end that.
    sets: &'a [SetStatus],
}

impl Progress<'_> {
    pub(super) fn of(status: &MachineStatus) -> Progress<'_> {
        let done = status.works.iter().map(|work| work.done).min_by(f64::total_cmp);
        let is_whole = status.sets.iter().all(|set| set.state == "optimal");
        // What is not at its end is not called so.
        let percent = done.map(|done| (done * 100.0).min(99.99)).or(is_whole.then_some(100.0));
        Progress { percent, works: &status.works, sets: &status.sets }
    }
}

/// The figure; nothing where there is none, as [`in_vain`] says.
pub(super) fn progress_text(status: &MachineStatus) -> String {
    match Progress::of(status).percent {
        None => String::new(),
        Some(100.0) => "100 %\n".into(),
        Some(percent) => format!("{percent:.2} %\n"),
    }
}

/// Whether waiting for the end of background work is in vain: none is under way, and sets are degraded or have failed.
pub(super) fn in_vain(status: &MachineStatus) -> Ending {
    if Progress::of(status).percent.is_some() {
        return Ending::done();
    }
    let of_set = |set: &SetStatus| match set.way_back() {
        Some(way_back) => format!("set {} ({}) has failed: {way_back}", set.set, set.level),
        None => format!("set {} is {}", set.set, set.state),
    };
    let lacking = status.sets.iter().filter(|set| set.state != "optimal");
    let sets: Vec<String> = lacking.map(of_set).collect();
    Ending { code: 1, reason: format!("no work under way; {}", sets.join("; ")) }
}

pub(super) fn paths_text(status: &MachineStatus, only: Option<u32>) -> Result<String, Failure> {
    there("path", only, status.paths.len())?;
    Ok(paths(status, only))
}

fn paths(status: &MachineStatus, only: Option<u32>) -> String {
    if status.paths.is_empty() {
        return "the hosts hold the drives themselves: no paths\n".into();
    }
    let line = |path: &PathStatus| {
        let state = if path.is_up { "up" } else { "down" };
        format!("path {}  controller {}  {state}\n", path.path, path.controller)
    };
    status.paths.iter().filter(|path| only.is_none_or(|only| path.path == only)).map(line).collect()
}

pub(super) fn controllers_text(status: &MachineStatus, only: Option<u32>) -> Result<String, Failure> {
    there("controller", only, status.controllers.len())?;
    Ok(controllers(status, only))
}

fn controllers(status: &MachineStatus, only: Option<u32>) -> String {
    let line = |one: &ControllerStatus| {
        let owned = status.owners.iter().enumerate().filter(|(_, owner)| **owner == Some(one.controller));
        let owned: Vec<String> = owned.map(|(lun, _)| format!("lun{lun}")).collect();
        let state = if one.is_online { "online" } else { "offline" };
        format!("controller {}  {state:<7}  {}\n", one.controller, owned.join(", "))
    };
    let cut = status.owners.iter().enumerate().filter(|(_, owner)| owner.is_none() && only.is_none());
    let cut = cut.map(|(lun, _)| format!("lun{lun}  no path to a working controller\n"));
    let wanted = status.controllers.iter().filter(|one| only.is_none_or(|only| one.controller == only));
    wanted.map(line).chain(cut).collect()
}

/// Whether the array has that one of them.
fn there(what: &str, wanted: Option<u32>, count: usize) -> Result<(), Failure> {
    match wanted.filter(|&wanted| wanted as usize >= count) {
        Some(wanted) => {
            Err(Failure::Usage(format!("{what} {wanted}: the array has {count}, numbered from 0")))
        }
        None => Ok(()),
    }
}

pub(super) fn firmware_text(status: &MachineStatus) -> String {
    match &status.firmware {
        Some(release) => format!("firmware {release}; releases: {}\n", status.releases.join(", ")),
        None => "the description of the array has no releases of firmware\n".into(),
    }
}

pub(super) fn cache_text(cache: &CacheStatus) -> String {
    let mut text = cache_line(cache);
    for LostRange { lun, offset, bytes } in &cache.lost {
        text += &format!("lun{lun}  lost: {} from byte {offset} on\n", Bytes::new(*bytes));
    }
    text
}

fn cache_line(cache: &CacheStatus) -> String {
    let CacheStatus { bytes, dirty_bytes, is_write_back, has_battery, is_forced, lost } = cache;
    if *bytes == 0 && *dirty_bytes == 0 && lost.is_empty() {
        return "write cache  none, write-through\n".into();
    }
    let mode = match (is_write_back, is_forced) {
        (false, _) => "write-through",
        (true, false) => "write-back",
        (true, true) => "write-back, forced",
    };
    let battery = if *has_battery { "battery good" } else { "battery dead" };
    let (size, dirty) = (Bytes::new(*bytes), Bytes::new(*dirty_bytes));
    let lost: Bytes = lost.iter().map(|range| Bytes::new(range.bytes)).sum();
    let lost = if lost == Bytes::ZERO { String::new() } else { format!(", {lost} lost") };
    format!("write cache  {size}, {mode}, {battery}, {dirty} not on the drives{lost}\n")
}

fn word(status: Status) -> &'static str {
    match status {
        Status::InUse => "in use",
        Status::Spare => "hot spare",
        Status::Unassigned => "unassigned",
        Status::Failed => "failed",
        Status::Empty => "empty",
        Status::Foreign => "foreign: refused until it is cleared",
        Status::Stale => "out of date: refused until it is cleared",
    }
}

pub(super) fn event_line(event: &Event) -> String {
    let severity = match event.severity {
        Severity::Information => "information",
        Severity::Warning => "warning",
        Severity::Critical => "critical",
    };
    format!("{:>5}  {:>10.3} s  {severity:<11}  {}\n", event.number, event.at_s, event.text)
}
