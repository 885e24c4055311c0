//! Each refusal, on made-up machines. The same on real loop devices is in `tests/devices.rs`.

mod consent;
mod contents;
mod file;
mod permit;
mod usage;

use super::*;
use crate::fixture::Fixture;

/// A machine with a root disk `vda`, and a spare disk `sda` with serial number `S1`, whose node is empty.
fn machine() -> Fixture {
    let machine = Fixture::new();
    machine.disk("vda", "254:0", 4096);
    machine.node("vda");
    machine.mount("254:0", "/", "ext4", "/dev/vda");
    spare(&machine, "sda", "8:0", "S1");
    machine
}

fn spare(machine: &Fixture, name: &str, devno: &str, serial: &str) {
    machine.disk(name, devno, 4096);
    machine.node(name);
    machine.write(&format!("sys/block/{name}/device/model"), "SPARE 2T\n");
    machine.write(&format!("sys/block/{name}/serial"), &format!("{serial}\n"));
}

/// Two partitions on `sda`.
fn split(machine: &Fixture) {
    for (name, devno, number) in [("sda1", "8:1", 1), ("sda2", "8:2", 2)] {
        machine.partition("sda", name, devno, number);
        machine.node(name);
    }
}

fn block(machine: &Fixture, name: &str) -> Target {
    let devno = crate::target::device::devno_of_name(&machine.root(), name).expect("the fixture has it");
    let node = machine.root().node(name);
    Target { name: node.display().to_string(), kind: TargetKind::Block { node, devno } }
}

/// The reasons against `name`, with the consent that fits.
fn against(machine: &Fixture, name: &str) -> Vec<Reason> {
    let target = block(machine, name);
    let judgement = judge(&machine.root(), &target, None);
    let consent = judgement.consents.first().map(|text| Consent::parse(text).expect("it was proposed"));
    judge(&machine.root(), &target, consent.as_ref()).reasons
}

/// What a node of 2 MiB holds that has only these bytes.
fn holding(at: usize, bytes: &[u8]) -> Vec<u8> {
    let mut content = vec![0; 2 << 20];
    content[at..][..bytes.len()].copy_from_slice(bytes);
    content
}

fn named(name: &str) -> Consent {
    Consent::parse(name).expect("it is a name")
}

fn dev(machine: &Fixture, name: &str) -> String {
    machine.root().node(name).display().to_string()
}

/// The refusal must be of this kind only, so that no other check hides the one that is tested.
fn only(reasons: &[Reason], fits: impl Fn(&Reason) -> bool) {
    assert!(!reasons.is_empty(), "nothing was refused");
    assert!(reasons.iter().all(fits), "{reasons:?}");
}

/// A file of a user's, and what speaks against writing to it under its own name.
struct Own {
    _folder: tempfile::TempDir,
    path: std::path::PathBuf,
}

impl Own {
    fn of(content: &[u8]) -> Own {
        let folder = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).expect("the test has a folder");
        let path = std::fs::canonicalize(folder.path()).expect("it is there").join("file");
        std::fs::write(&path, content).expect("the folder is ours");
        Own { _folder: folder, path }
    }

    fn against(&self) -> Vec<Reason> {
        let target = Target { name: "file".into(), kind: TargetKind::File(self.path.clone()) };
        let text = self.path.display().to_string();
        judge(&SysRoot::real(), &target, Some(&named(&text))).reasons
    }
}
