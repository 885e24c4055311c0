//! PCI Express and USB: what a lane and a plug carry.

use std::path::Path;

use super::Reader;
use super::component::{Ceiling, Limit, PathComponent, leading_number, shown};
use super::fabric::{Step, chain};
use crate::sysroot::{SysRoot, is_numbered, text};

/// Whether the folder of a disk lies behind SATA or SAS, where a device that says it rotates does.
pub(super) fn is_of_drives(folder: &Path) -> bool {
    let mut names = folder.iter().filter_map(|name| name.to_str());
    names.any(|name| is_numbered(name, "ata") || name.starts_with("end_device-"))
}

/// `0000:3b:00.0`.
pub(super) fn is_pci_address(name: &str) -> bool {
    let hex =
        |text: &str, least: usize| text.len() >= least && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let mut parts = name.split(':');
    let (Some(domain), Some(bus), Some(slot), None) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return false;
    };
    let Some((device, function)) = slot.split_once('.') else { return false };
    hex(domain, 4) && hex(bus, 2) && hex(device, 2) && hex(function, 1)
}

/// A function, and above it only links that carry less: the slowest of them bounds all.
pub(super) fn pci(reader: &mut Reader<'_>, step: &Step, rest: &[Step]) -> PathComponent {
    reader.once(format!("pci {}", step.name), "PCI function", |reader, mut part| {
        let link = link(reader.root, &step.path);
        if link.is_ok() {
            part.kind = "PCIe link".into();
        }
        let own = link.as_ref().map_or(f64::INFINITY, |ceiling| ceiling.value);
        let part = part
            .fact("could do", could_do(&step.path))
            .fact("numa node", text(&step.path.join("numa_node")).filter(|node| node != "-1"))
            .ceiling(link);
        let narrower = rest.iter().position(|step| {
            is_pci_address(&step.name)
                && self::link(reader.root, &step.path).is_ok_and(|ceiling| ceiling.value < own)
        });
        let below = match narrower {
            Some(at) if own.is_finite() => vec![pci(reader, &rest[at], &rest[at + 1..])],
            _ => Vec::new(),
        };
        part.on(below)
    })
}

/// Lanes times transfers, less the coding: 8b/10b up to 5 GT/s, 128b/130b up to 32 GT/s (PCI Express base
/// specification 3.0 and 5.0), and of 64 GT/s the 242 of 256 bytes of a flit that are no code (6.0).
fn link(root: &SysRoot, folder: &Path) -> Result<Ceiling, String> {
    let path = folder.join("current_link_speed");
    let rate = leading_number(&path);
    let lanes = leading_number(&folder.join("current_link_width"));
    let Some((rate, lanes)) = rate.zip(lanes) else {
        return Err(format!(
            "link: {} reports no speed and width, as on-chip and virtual devices do not",
            shown(root, folder)
        ));
    };
    let (share, coding) = match rate {
        ..=5.0 => (0.8, "8b/10b"),
        ..=32.0 => (128.0 / 130.0, "128b/130b"),
        _ => (242.0 / 256.0, "flits"),
    };
    Ok(Ceiling {
        limit: Limit::Bandwidth,
        value: lanes * rate * 1e9 * share / 8.0,
        each_way: true,
        basis: format!("{} of {rate} GT/s, {coding}, before packet headers", several(lanes)),
        source: shown(root, &path),
    })
}

/// `1 lane`, `4 lanes`.
pub(super) fn several(lanes: f64) -> String {
    format!("{lanes} lane{}", if lanes == 1.0 { "" } else { "s" })
}

/// What the device could do in a better slot; `None` where it does that.
fn could_do(folder: &Path) -> Option<String> {
    let value = |name: &str| leading_number(&folder.join(name));
    let (rate, lanes) = (value("max_link_speed")?, value("max_link_width")?);
    let less = value("current_link_speed")? < rate || value("current_link_width")? < lanes;
    less.then(|| format!("{} of {rate} GT/s", several(lanes)))
}

/// `1-1.4` with a speed.
pub(super) fn is_usb(step: &Step) -> bool {
    step.path.join("busnum").exists() && step.name.split_once('-').is_some()
}

/// Bulk transfers: at 480 Mb/s at most 13 packets of 512 bytes in each of 8000 microframes (USB 2.0, chapter 5);
/// 8b/10b at 5 Gb/s, 128b/132b beyond (USB 3.2).
pub(super) fn usb(reader: &mut Reader<'_>, step: &Step, rest: &[Step]) -> PathComponent {
    reader.once(format!("usb {}", step.name), "USB", |reader, part| {
        let path = step.path.join("speed");
        let source = shown(reader.root, &path);
        let found = leading_number(&path).map(|megabits| {
            let (value, coding) = match megabits {
                ..=12.0 => (megabits * 1e6 / 8.0, "before packet heads"),
                ..=480.0 => (13.0 * 512.0 * 8000.0, "13 packets of 512 bytes in each microframe"),
                ..=5000.0 => (megabits * 1e6 * 0.8 / 8.0, "8b/10b"),
                _ => (megabits * 1e6 * 128.0 / 132.0 / 8.0, "128b/132b"),
            };
            let basis = format!("{megabits} Mb/s, {coding}");
            Ceiling {
                limit: Limit::Bandwidth,
                value,
                each_way: megabits > 480.0,
                basis,
                source: source.clone(),
            }
        });
        let part = part.ceiling(found.ok_or_else(|| format!("speed: {source} does not report it")));
        part.on(chain(reader, rest))
    })
}
