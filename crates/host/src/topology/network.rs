//! Storage that is somewhere else: interfaces, bonds, and the far end.

use std::path::Path;

use super::Reader;
use super::component::{Ceiling, Limit, PathComponent, leading_number, shown};
use super::fabric::{chain, own_and_above};
use super::queue::of_file;
use crate::each_once;
use crate::sysroot::{SysRoot, names, number, text};
use crate::target::Mount;
use crate::target::remote::{Remote, interfaces_to};

/// A network file system: what its mount options bound, and the way to the server.
///
/// Source of the options: `nfs(5)`; of the slots `Documentation/admin-guide/kernel-parameters.txt`,
/// `sunrpc.tcp_max_slot_table_entries`.
pub(super) fn file_system(
    reader: &mut Reader<'_>,
    mut part: PathComponent,
    mount: &Mount,
    remote: &Remote,
) -> PathComponent {
    part.series = mount.fs_type.starts_with("nfs").then(|| format!("nfs.{}", part.name));
    for name in ["vers", "proto", "nconnect"] {
        part = part.fact(name, mount.option(name));
    }
    for name in ["rsize", "wsize"] {
        let size = mount.option(name).and_then(|size| size.parse::<u32>().ok()).filter(|size| *size > 0);
        part = part.maybe(size.map(|size| Ceiling {
            limit: Limit::RequestSize,
            value: f64::from(size),
            each_way: false,
            basis: format!("mount option {name}"),
            source: "/proc/self/mountinfo".into(),
        }));
    }
    if mount.fs_type.starts_with("nfs") {
        let slots = reader.root.proc.join("sys/sunrpc/tcp_max_slot_table_entries");
        part = part.maybe(of_file(reader.root, &slots, Limit::InFlight, 1.0, "slots of one connection"));
    }
    part.on(far_end(reader, remote))
}

/// The interfaces that lead to `remote`, and the far end itself.
pub(super) fn far_end(reader: &mut Reader<'_>, remote: &Remote) -> Vec<PathComponent> {
    let address = remote.address.as_deref();
    let interfaces = interfaces_to(reader.root, address);
    let mut below: Vec<PathComponent> = interfaces.iter().map(|name| interface(reader, name)).collect();
    let name = remote.share.clone().or_else(|| remote.address.clone()).unwrap_or_else(|| "far end".into());
    let server =
        reader.once(format!("server {name}"), format!("far end, {}", remote.protocol), |_, mut part| {
            part = part.fact("address", address);
            if interfaces.len() != 1 {
                part.unknown.push(format!(
                    "the interface that leads to it: the routing table names none, and there are {}",
                    interfaces.len()
                ));
            }
            part.unknown.push("what is behind it cannot be seen here; --parts can name it".into());
            part
        });
    below.push(server);
    below
}

/// An interface, those below it (members of a bond, the base of a VLAN), and its way to the processor.
fn interface(reader: &mut Reader<'_>, name: &str) -> PathComponent {
    let folder = reader.root.sys.join("class/net").join(name);
    let kind = match (folder.join("bonding").is_dir(), number(&folder.join("type"))) {
        (true, _) => "bond",
        (_, Some(772)) => "loopback",
        (_, Some(32)) => "InfiniBand interface",
        _ if folder.join("bridge").is_dir() => "bridge",
        _ => "network interface",
    };
    reader.once(name, kind, |reader, mut part| {
        part.series = Some(format!("net.{name}"));
        part = part
            .fact("mode", text(&folder.join("bonding/mode")))
            .fact("mtu", text(&folder.join("mtu")))
            .fact("state", text(&folder.join("operstate")))
            .fact("duplex", text(&folder.join("duplex")))
            .ceiling(wire(reader.root, &folder));
        let below = lower(&folder);
        let mut parts: Vec<PathComponent> = below.iter().map(|name| interface(reader, name)).collect();
        if let Ok(device) = std::fs::canonicalize(folder.join("device")) {
            let steps = own_and_above(reader.root, &device);
            parts.extend(chain(reader, &steps));
        }
        part.on(parts)
    })
}

/// An interface and all below it, as the members of a bond; each once.
pub(crate) fn with_lower(root: &SysRoot, name: &str) -> Vec<String> {
    let mut all = vec![name.to_owned()];
    let mut at = 0;
    while let Some(name) = all.get(at) {
        let below = lower(&root.sys.join("class/net").join(name));
        all = each_once(all.into_iter().chain(below), String::clone);
        at += 1;
    }
    all
}

/// Members of a bond in its own order, otherwise the interfaces that sysfs links as lower.
fn lower(folder: &Path) -> Vec<String> {
    match text(&folder.join("bonding/slaves")) {
        Some(slaves) => slaves.split_whitespace().map(str::to_owned).collect(),
        None => {
            names(folder).iter().filter_map(|name| name.strip_prefix("lower_").map(str::to_owned)).collect()
        }
    }
}

/// What TCP carries: of each packet 52 bytes are heads of IPv4 and TCP with time stamps, and 38 are the frame's head,
/// check sum, preamble and gap (RFC 791, RFC 9293, RFC 7323; IEEE 802.3).
fn wire(root: &SysRoot, folder: &Path) -> Result<Ceiling, String> {
    let path = folder.join("speed");
    let megabits = leading_number(&path).ok_or_else(|| {
        format!(
            "speed: {} does not report it, as virtual interfaces and links that are down do not",
            shown(root, &path)
        )
    })?;
    let mtu = number(&folder.join("mtu")).filter(|mtu| (576..=1 << 20).contains(mtu)).unwrap_or(1500) as f64;
    Ok(Ceiling {
        limit: Limit::Bandwidth,
        value: megabits * 1e6 / 8.0 * (mtu - 52.0) / (mtu + 38.0),
        each_way: text(&folder.join("duplex")).is_none_or(|duplex| duplex != "half"),
        basis: format!("{megabits} Mb/s, TCP payload at an MTU of {mtu}"),
        source: shown(root, &path),
    })
}
