//! What every part keeps of its past: windows, the laws they are held to, and the breakdown of a run.

use units::Nanos;

use crate::link::Link;
use crate::meter::{Meter, Metered};

use super::initiator::Initiator;
use super::outcome::Component;
use super::{LAW, Sim};

impl Sim {
    /// Begins the window of every meter.
    pub(super) fn restart_meters(&mut self) {
        let now = self.now;
        self.each_part(|_, part| part.restart_meter(now));
        self.back.disks.iter_mut().for_each(|disk| disk.device.restart_meter(now));
        self.back.restart_locks(now);
    }

    /// Ends the window of every meter, and holds every part to Little's law and the utilisation law: a breach is an
    /// error of the model.
    pub(super) fn check(&mut self) {
        let now = self.now;
        self.each_part(|_, part| part.close_meter(now));
        self.back.disks.iter_mut().for_each(|disk| disk.device.close_meter(now));
        self.back.close_locks(now);
        obeys_little(self.back.locks_meter(), &|| "stripe locks".into());
        self.each_part(|name, part| {
            obeys_little(part.meter(), name);
            is_busy_as_it_serves(part.meter(), name);
        });
        for (n, disk) in self.back.disks.iter_mut().enumerate() {
            let name = || format!("disk {n}");
            obeys_little(disk.device.meter(), &name);
            // A command meets an interface and some of the servers: the law is one of theirs.
            match disk.device.workers() {
                Some(workers) => is_busy_as_it_serves(workers, &name),
                None => is_busy_as_it_serves(disk.device.meter(), &name),
            }
        }
    }

    pub(super) fn breakdown(&mut self, elapsed: Nanos) -> Vec<Component> {
        let mut components = Vec::new();
        self.each_part(|name, part| {
            let servers = part.servers();
            components.extend(Component::of(name(), part.meter(), servers, elapsed));
        });
        for (n, disk) in self.back.disks.iter_mut().enumerate() {
            let servers = disk.device.servers();
            let component = Component::of(format!("disk {n}"), disk.device.meter(), servers, elapsed);
            components.extend(component.map(|component| match disk.device.workers() {
                Some(workers) => component.with_busy(workers, servers, elapsed),
                None => component,
            }));
        }
        components.extend(Component::of("stripe locks".into(), self.back.locks_meter(), 1, elapsed));
        components
    }

    /// Every part that work passes through, with its name: all but the disks.
    fn each_part(&mut self, mut visit: impl FnMut(&dyn Fn() -> String, &mut dyn Metered)) {
        for client in &mut self.running {
            if let Initiator::Files(files) = &mut client.job {
                visit(&|| "host 0 file system".into(), files.processors());
            }
        }
        for (n, host) in self.hosts.iter_mut().enumerate() {
            visit(&|| format!("host {n} processor"), &mut host.processor);
            for (f, file) in host.files.iter_mut().enumerate() {
                visit(&|| format!("host {n} file {f}"), file);
            }
            for (a, adapter) in host.adapters.iter().enumerate() {
                for (way, wire) in adapter.ways() {
                    visit(&|| format!("host {n} adapter {a} {way}"), &mut self.wires[wire as usize]);
                }
            }
        }
        for (n, link) in self.links.iter().enumerate() {
            for (way, wire) in link.ways() {
                visit(&|| format!("link {n} {way}"), &mut self.wires[wire as usize]);
            }
        }
        for (n, engine) in self.back.engines.iter_mut().enumerate() {
            visit(&|| format!("controller {n} processor"), &mut engine.processor);
            visit(&|| format!("controller {n} bus"), &mut engine.bus);
            visit(&|| format!("controller {n} xor"), &mut engine.xor);
        }
        for (n, node) in self.nodes.iter().enumerate() {
            for (way, wire) in node.partner.iter().flat_map(Link::ways) {
                visit(&|| format!("controller {n} mirror {way}"), &mut self.wires[wire as usize]);
            }
        }
        self.back.each_channel(visit);
    }
}

fn obeys_little(meter: &Meter, name: &dyn Fn() -> String) {
    let off = meter.little_gap().unwrap_or(0.0);
    assert!(off < LAW, "Little's law is off by {off} at {}", name());
}

fn is_busy_as_it_serves(meter: &Meter, name: &dyn Fn() -> String) {
    let off = meter.utilisation_gap().unwrap_or(0.0);
    assert!(off < LAW, "busy time is off throughput times service by {off} at {}", name());
}
