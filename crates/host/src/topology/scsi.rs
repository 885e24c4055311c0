//! SCSI hosts and what leads to them: SATA links, SAS ports, Fibre Channel, iSCSI sessions.

use super::component::{Ceiling, Limit, PathComponent, leading_number, shown, yes_no};
use super::fabric::{Step, chain};
use super::queue::of_file;
use super::{Reader, bus, network};
use crate::sysroot::{SysRoot, names, text};
use crate::target::remote;

/// A host adapter or what poses as one.
pub(super) fn host(reader: &mut Reader<'_>, name: &str, rest: &[Step]) -> PathComponent {
    let folder = reader.root.sys.join("class/scsi_host").join(name);
    let driver = text(&folder.join("proc_name")).unwrap_or_else(|| "unknown driver".into());
    let channel = reader.root.sys.join("class/fc_host").join(name);
    let kind = if channel.is_dir() { "Fibre Channel host" } else { "SCSI host" };
    reader.once(name, format!("{kind}, {driver}"), |reader, part| {
        let can_queue = folder.join("can_queue");
        let part =
            part.maybe(of_file(reader.root, &can_queue, Limit::InFlight, 1.0, "can_queue of the host"));
        let part = match channel.is_dir() {
            true => part
                .fact("port", text(&channel.join("port_name")))
                .fact("state", text(&channel.join("port_state")))
                .ceiling(fibre(reader.root, name)),
            false => part,
        };
        part.on(chain(reader, rest))
    })
}

/// 106.25 MB/s for each nominal Gb/s at every generation, by the choice of line rates (FC-PI: 4.25 GBd with
/// 8b/10b, 14.025 GBd with 64b/66b and so on), of which a frame of 2048 bytes needs 2108 with heads and gap (FC-FS-3).
fn fibre(root: &SysRoot, host: &str) -> Result<Ceiling, String> {
    let path = root.sys.join("class/fc_host").join(host).join("speed");
    let gigabits = leading_number(&path)
        .ok_or_else(|| format!("speed: {} does not report it; the link may be down", shown(root, &path)))?;
    Ok(Ceiling {
        limit: Limit::Bandwidth,
        value: gigabits * 106.25e6 * 2048.0 / 2108.0,
        each_way: true,
        basis: format!("{gigabits} Gb/s, less coding and framing (2048-byte frames)"),
        source: shown(root, &path),
    })
}

/// The far port of a Fibre Channel path.
pub(super) fn remote_port(reader: &mut Reader<'_>, name: &str, rest: &[Step]) -> PathComponent {
    let folder = reader.root.sys.join("class/fc_remote_ports").join(name);
    reader.once(name, "Fibre Channel remote port", |reader, part| {
        let part = part
            .fact("port", text(&folder.join("port_name")))
            .fact("state", text(&folder.join("port_state")));
        part.on(chain(reader, rest))
    })
}

/// A SATA port: 8b/10b, one direction at a time for data.
pub(super) fn ata(reader: &mut Reader<'_>, step: &Step, rest: &[Step]) -> PathComponent {
    let number = step.name.trim_start_matches("ata").to_owned();
    reader.once(&step.name, "SATA link", |reader, part| {
        let own = step.path.join(format!("link{number}/ata_link/link{number}/sata_spd"));
        let class = reader.root.sys.join(format!("class/ata_link/link{number}/sata_spd"));
        let path = if own.exists() { own } else { class };
        let source = shown(reader.root, &path);
        let found = leading_number(&path).map(|gigabits| Ceiling {
            limit: Limit::Bandwidth,
            value: gigabits * 1e9 * 0.8 / 8.0,
            each_way: false,
            basis: format!("{gigabits} Gb/s, 8b/10b, one way at a time"),
            source: source.clone(),
        });
        let part = part.ceiling(found.ok_or_else(|| format!("speed: {source} does not report it")));
        part.on(chain(reader, rest))
    })
}

/// A SAS port: its phys together.
///
/// 8b/10b up to 12 Gb/s (SPL-3), of 22.5 Gb/s 128 of 150 bits (SPL-4).
pub(super) fn sas_port(reader: &mut Reader<'_>, step: &Step, rest: &[Step]) -> PathComponent {
    reader.once(&step.name, "SAS port", |reader, part| {
        let part = part.ceiling(lanes(reader.root, step));
        part.on(chain(reader, rest))
    })
}

fn lanes(root: &SysRoot, step: &Step) -> Result<Ceiling, String> {
    let phys: Vec<String> = names(&step.path).into_iter().filter(|name| name.starts_with("phy-")).collect();
    if phys.is_empty() {
        return Err(format!("lanes: {} lists no phy", shown(root, &step.path)));
    }
    let class = root.sys.join("class/sas_phy");
    let rates: Vec<f64> =
        phys.iter().filter_map(|phy| leading_number(&class.join(phy).join("negotiated_linkrate"))).collect();
    let (Some(rate), true) = (rates.iter().copied().reduce(f64::min), rates.len() == phys.len()) else {
        return Err(format!(
            "lanes: {} of {} phys have negotiated no rate",
            phys.len() - rates.len(),
            phys.len()
        ));
    };
    let (share, coding) = if rate <= 12.0 { (0.8, "8b/10b") } else { (128.0 / 150.0, "128b/150b") };
    Ok(Ceiling {
        limit: Limit::Bandwidth,
        value: rates.iter().sum::<f64>() * 1e9 * share / 8.0,
        each_way: true,
        basis: format!("{} of {rate} Gb/s, {coding}", bus::several(rates.len() as f64)),
        source: format!("/sys/class/sas_phy/{}/negotiated_linkrate", phys[0]),
    })
}

/// An expander between drives and the host.
pub(super) fn expander(reader: &mut Reader<'_>, name: &str, rest: &[Step]) -> PathComponent {
    let folder = reader.root.sys.join("class/sas_expander").join(name);
    reader.once(name, "SAS expander", |reader, part| {
        let part = part
            .fact("vendor", text(&folder.join("vendor_id")))
            .fact("product", text(&folder.join("product_id")));
        part.on(chain(reader, rest))
    })
}

/// An iSCSI session: a TCP connection to a target, over an interface (`drivers/scsi/scsi_transport_iscsi.c`).
pub(super) fn session(reader: &mut Reader<'_>, name: &str) -> PathComponent {
    let folder = reader.root.sys.join("class/iscsi_session").join(name);
    reader.once(name, "iSCSI session", |reader, part| {
        let remote = remote::of_session(reader.root, name);
        let burst = folder.join("max_burst_len");
        let part = part
            .fact("target", remote.share.clone())
            .fact("address", remote.address.clone())
            .fact("immediate data", text(&folder.join("immediate_data")).map(|flag| yes_no(flag == "1")))
            .fact("first burst", text(&folder.join("first_burst_len")))
            .maybe(of_file(
                reader.root,
                &burst,
                Limit::RequestSize,
                1.0,
                "max_burst_len; longer transfers take several turns",
            ));
        part.on(network::far_end(reader, &remote))
    })
}
