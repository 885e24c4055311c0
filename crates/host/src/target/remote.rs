//! Whether the storage is somewhere else, and where.

use std::path::Path;

use crate::sysroot::{SysRoot, is_numbered, names, text};
use crate::target::device::Device;
use crate::target::mounts::Mount;

/// Storage reached over a network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remote {
    /// As `nfs4`, `cifs`, `iscsi`, `nvme-tcp`.
    pub protocol: String,
    /// What is served: `server:/export`, a target's name; `None` where not known.
    pub share: Option<String>,
    /// The address it is reached at, without a port; `None` where not known.
    pub address: Option<String>,
}

/// Types of file system whose data lies on another machine.
const NETWORK: [&str; 16] = [
    "nfs",
    "nfs4",
    "cifs",
    "smb3",
    "ceph",
    "lustre",
    "9p",
    "virtiofs",
    "afs",
    "gpfs",
    "beegfs",
    "glusterfs",
    "fuse.glusterfs",
    "fuse.sshfs",
    "fuse.ceph",
    "fuse.rclone",
];

/// The server of a network file system; `None` for a local one.
pub fn of_mount(mount: &Mount) -> Option<Remote> {
    NETWORK.contains(&mount.fs_type.as_str()).then(|| Remote {
        protocol: mount.fs_type.clone(),
        share: Some(mount.source.clone()),
        address: mount.option("addr").map(str::to_owned).or_else(|| server_of(&mount.source)),
    })
}

/// The far end of a network block device; `None` for a local one.
pub fn of_device(root: &SysRoot, device: &Device) -> Option<Remote> {
    if device.name.starts_with("nbd") {
        return Some(Remote { protocol: "nbd".into(), share: None, address: None });
    }
    if device.name.starts_with("rbd") {
        let share = text(&device.folder.join("device/name"));
        return Some(Remote { protocol: "rbd".into(), share, address: None });
    }
    iscsi(root, device).or_else(|| of_controller(&device.folder.join("device")))
}

/// The host part of `server:/export`, `[fe80::1]:/export` and `//server/share`.
fn server_of(source: &str) -> Option<String> {
    let server = match source.strip_prefix("//") {
        Some(rest) => rest.split('/').next()?,
        None => source.split_once(":/")?.0,
    };
    let server = server.trim_matches(['[', ']']);
    (!server.is_empty()).then(|| server.to_owned())
}

/// A disk of an iSCSI session has `sessionN` in its sysfs path; the connection of that number has the address
/// (`drivers/scsi/scsi_transport_iscsi.c`).
fn iscsi(root: &SysRoot, device: &Device) -> Option<Remote> {
    let mut parts = device.folder.iter().filter_map(|part| part.to_str());
    parts.find(|part| is_numbered(part, "session")).map(|session| of_session(root, session))
}

/// The target of an iSCSI session.
pub(crate) fn of_session(root: &SysRoot, session: &str) -> Remote {
    let share = text(&root.sys.join("class/iscsi_session").join(session).join("targetname"));
    let connections = root.sys.join("class/iscsi_connection");
    let prefix = format!("connection{}:", session.trim_start_matches("session"));
    let connection = names(&connections).into_iter().find(|name| name.starts_with(&prefix));
    let address = connection.and_then(|name| {
        let folder = connections.join(name);
        text(&folder.join("address")).or_else(|| text(&folder.join("persistent_address")))
    });
    Remote { protocol: "iscsi".into(), share, address }
}

/// The far end of an NVMe controller over fabrics; `None` of one whose transport is the bus. Its address reads
/// `traddr=10.0.0.5,trsvcid=4420` (`drivers/nvme/host/fabrics.c`).
pub(crate) fn of_controller(folder: &Path) -> Option<Remote> {
    let transport = text(&folder.join("transport"))?;
    if !matches!(transport.as_str(), "tcp" | "rdma" | "fc") {
        return None;
    }
    let share = text(&folder.join("subsysnqn"));
    let address = text(&folder.join("address")).unwrap_or_default();
    let address = address.split(',').find_map(|part| part.trim().strip_prefix("traddr=")).map(str::to_owned);
    Some(Remote { protocol: format!("nvme-{transport}"), share, address })
}

/// The network interfaces that lead to `address`, sorted: the one the routing table names for an IPv4 address,
/// otherwise all but the loopback.
pub fn interfaces_to(root: &SysRoot, address: Option<&str>) -> Vec<String> {
    let routed = address.and_then(|address| address.parse().ok()).and_then(|ip| route(root, ip));
    match routed {
        Some(interface) => vec![interface],
        None => names(&root.sys.join("class/net")).into_iter().filter(|name| name != "lo").collect(),
    }
}

/// The interface of the most specific route in `/proc/net/route`, whose addresses are hexadecimal in the host's
/// byte order (`net/ipv4/fib_trie.c`).
fn route(root: &SysRoot, ip: std::net::Ipv4Addr) -> Option<String> {
    let table = std::fs::read_to_string(root.proc.join("net/route")).unwrap_or_default();
    let ip = u32::from_ne_bytes(ip.octets());
    let lines = table.lines().skip(1).filter_map(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let hex = |at: usize| u32::from_str_radix(fields.get(at)?, 16).ok();
        Some((fields.first()?.to_string(), hex(1)?, hex(7)?))
    });
    let fitting = lines.filter(|(_, destination, mask)| ip & mask == *destination);
    fitting.max_by_key(|(_, _, mask)| mask.count_ones()).map(|(interface, ..)| interface)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;
    use crate::target::mounts::mounts;

    #[test]
    fn an_nfs_mount_tells_its_server() {
        let machine = Fixture::new();
        machine.append("proc/self/mountinfo", "1 1 0:9 / /a rw - nfs4 filer:/vol rw,addr=10.0.0.7\n");
        machine.append("proc/self/mountinfo", "2 1 0:10 / /b rw - cifs //nas/share rw,vers=3\n");
        machine.append("proc/self/mountinfo", "3 1 8:1 / /c rw - ext4 /dev/sda1 rw\n");
        let mounts = mounts(&machine.root());
        let address = |at: usize| of_mount(&mounts[at]).and_then(|remote| remote.address);
        assert_eq!(address(0).as_deref(), Some("10.0.0.7"));
        assert_eq!(address(1).as_deref(), Some("nas"));
        assert_eq!(of_mount(&mounts[2]), None);
        assert_eq!(server_of("[fe80::1]:/x").as_deref(), Some("fe80::1"));
    }

    #[test]
    fn an_nvme_namespace_over_tcp_tells_its_address() {
        let machine = Fixture::new();
        let devno = machine.disk("nvme0n1", "259:0", 8);
        machine.write("sys/block/nvme0n1/device/transport", "tcp\n");
        machine.write("sys/block/nvme0n1/device/address", "traddr=10.1.1.5,trsvcid=4420\n");
        let device = Device::read(&machine.root(), devno).expect("the fixture has it");
        let remote = of_device(&machine.root(), &device).expect("it is over TCP");
        assert_eq!((remote.protocol.as_str(), remote.address.as_deref()), ("nvme-tcp", Some("10.1.1.5")));
        machine.write("sys/block/nvme0n1/device/transport", "pcie\n");
        assert_eq!(of_device(&machine.root(), &device), None);
    }

    #[test]
    fn the_most_specific_route_names_the_interface() {
        let machine = Fixture::new();
        let hex = |ip: [u8; 4]| format!("{:08X}", u32::from_ne_bytes(ip));
        let line = |name: &str, to: [u8; 4], mask: [u8; 4]| {
            format!("{name}\t{}\t00000000\t0001\t0\t0\t0\t{}\t0\t0\t0\n", hex(to), hex(mask))
        };
        machine.append(
            "proc/net/route",
            "Iface Destination Gateway Flags RefCnt Use Metric Mask MTU Window IRTT\n",
        );
        machine.append("proc/net/route", &line("eth0", [0; 4], [0; 4]));
        machine.append("proc/net/route", &line("eth1", [10, 0, 0, 0], [255, 0, 0, 0]));
        for name in ["lo", "eth0", "eth1"] {
            machine.write(&format!("sys/class/net/{name}/mtu"), "1500");
        }
        let root = machine.root();
        assert_eq!(interfaces_to(&root, Some("10.0.0.7")), ["eth1"]);
        assert_eq!(interfaces_to(&root, Some("192.168.0.1")), ["eth0"]);
        assert_eq!(interfaces_to(&root, Some("nas")), ["eth0", "eth1"]);
    }
}
