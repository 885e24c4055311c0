//! What every part keeps of its past: windows, the laws they are held to, and the breakdown of a run.

use std::collections::{BTreeMap, BTreeSet};

use units::convert::narrow;
use units::{Nanos, Sectors};

use crate::device::SlcUse;
use crate::meter::{Meter, Metered};
use crate::raid::DiskRole;

use super::Sim;
use super::courses::Courses;
use super::outcome::{Component, HostTraffic, LunQueues};

/// How far a part may be off Little's law and the utilisation law after a run.
const LAW: f64 = 0.01;

impl Sim {
    /// Begins the window of every meter.
    pub(super) fn restart_meters(&mut self) {
        let now = self.now();
        self.each_part(|_, part| part.restart_meter(now));
        for disk in &mut self.array.back.disks {
            disk.device.restart_meter(now);
            disk.moved = [Sectors(0); 2];
        }
        self.array.back.restart_locks(now);
        for host in &mut self.hosts.each {
            host.restart_queues(now);
            host.threads().for_each(|thread| thread.restart(now));
        }
    }

    /// The same within a run, whose `courses` go on.
    pub(super) fn meter_anew(&mut self, courses: &mut Courses) {
        self.keep_busy(courses);
        self.restart_meters();
    }

    /// Ends the window of every meter, and holds every part to Little's law and the utilisation law: a breach is an
    /// error of the model.
    pub(super) fn check(&mut self) {
        let now = self.now();
        self.each_part(|_, part| part.close_meter(now));
        self.array.back.disks.iter_mut().for_each(|disk| disk.device.close_meter(now));
        for (n, host) in self.hosts.each.iter_mut().enumerate() {
            for thread in host.threads() {
                thread.close(now, std::iter::empty());
                let name = || format!("a thread of host {n}");
                obeys_little(thread, &name);
                is_busy_as_it_serves(thread, &name);
            }
        }
        self.array.back.close_locks(now);
        obeys_little(self.array.back.locks_meter(), &|| "stripe locks".into());
        self.each_part(|name, part| {
            obeys_little(part.meter(), name);
            is_busy_as_it_serves(part.meter(), name);
        });
        for (n, disk) in self.array.back.disks.iter_mut().enumerate() {
            let name = || format!("disk {n}");
            obeys_little(disk.device.meter(), &name);
            // A command meets an interface and some of the servers: the law is one of theirs.
            match disk.device.workers() {
                Some(workers) => is_busy_as_it_serves(workers, &name),
                None => is_busy_as_it_serves(disk.device.meter(), &name),
            }
        }
    }

    /// Every part of a kind that anything came to in the `elapsed` time until now.
    pub(super) fn breakdown(&mut self, elapsed: Nanos) -> Vec<Component> {
        let mut components = Vec::new();
        self.each_part(|name, part| {
            let servers = part.servers();
            components.push(Component::of(name(), part.meter(), servers, elapsed));
        });
        for (n, host) in self.hosts.each.iter().enumerate() {
            let busiest = host.busiest_thread();
            components.extend(
                busiest.map(|meter| Component::of(format!("host {n} busiest thread"), meter, 1, elapsed)),
            );
        }
        self.disks_of(elapsed, &mut components);
        components.push(Component::of("stripe locks".into(), self.array.back.locks_meter(), 1, elapsed));
        Component::keep_met(&mut components);
        components
    }

    /// Adds the disks, but for those that are in no set and no spare, and that nothing came to.
    fn disks_of(&mut self, elapsed: Nanos, components: &mut Vec<Component>) {
        let (now, roles, models) = (self.now(), self.roles(), self.models());
        let in_use: BTreeSet<u32> = self.array.back.sets.iter().flat_map(|set| &set.disks).copied().collect();
        for (n, disk) in self.array.back.disks.iter_mut().enumerate() {
            let servers = disk.device.servers();
            let component = Component::of(format!("disk {n}"), disk.device.meter(), servers, elapsed);
            if component.visits.is_empty() && !in_use.contains(&narrow::<u32>(n)) {
                continue;
            }
            let busiest = disk.device.busiest(now);
            let component = match (busiest, disk.device.workers()) {
                (Some(part), _) => component.with_busy(part.busy, part.servers, elapsed),
                (None, Some(workers)) => component.with_busy(Nanos::new(workers.busy_ns()), servers, elapsed),
                (None, None) => component,
            };
            components.push(Component {
                moved: Some(disk.moved.map(|sectors| sectors.bytes())),
                role: roles.get(&n).copied(),
                model: models.get(n).copied(),
                chooses_among: disk.device.chooses_among(),
                busiest: busiest.map(|part| part.name),
                ..component
            });
        }
    }

    /// The model of each disk, by the number of the first that is like it: several entries of a description may be one model.
    fn models(&self) -> Vec<u32> {
        let models = &self.topology.models;
        let first = |model: u32| {
            let own = models.get(model as usize);
            own.and_then(|own| models.iter().position(|other| other == own)).map_or(model, narrow::<u32>)
        };
        self.topology.disks.iter().map(|model| first(*model)).collect()
    }

    /// The disks that are no whole member of a set, by number. A spare of several sets is what the first that has taken it says.
    fn roles(&self) -> BTreeMap<usize, DiskRole> {
        let mut roles: BTreeMap<usize, DiskRole> = BTreeMap::new();
        let mut members = BTreeSet::new();
        for set in &self.array.back.sets {
            for (member, disk) in (0..).zip(&set.disks) {
                let disk = *disk as usize;
                match set.health.role(member) {
                    None => drop(members.insert(disk)),
                    Some(DiskRole::Spare) => drop(roles.entry(disk).or_insert(DiskRole::Spare)),
                    Some(role) => drop(roles.insert(disk, role)),
                }
            }
        }
        roles.retain(|disk, _| !members.contains(disk));
        roles
    }

    /// What the LUNs of all hosts had outstanding, and what waited for that, in the `elapsed` time until now.
    pub(super) fn lun_queues(&mut self, elapsed: Nanos) -> LunQueues {
        let now = self.now();
        let each = self.hosts.each.iter_mut().map(|host| host.lun_queues(now, elapsed));
        each.reduce(|sum, one| LunQueues {
            queues: sum.queues + one.queues,
            mean_outstanding: sum.mean_outstanding + one.mean_outstanding,
            mean_waiting: sum.mean_waiting + one.mean_waiting,
            ..sum
        })
        .unwrap_or_default()
    }

    /// What jobs asked of all hosts since their meters began.
    pub(super) fn host_traffic(&self) -> HostTraffic {
        self.hosts.each.iter().map(|host| host.traffic).fold(HostTraffic::default(), HostTraffic::and)
    }

    /// What the drives of all sets programmed with one bit a cell since their meters began; `None` where none does.
    pub(super) fn slc(&self) -> Option<SlcUse> {
        let back = &self.array.back;
        let members = back.sets.iter().flat_map(|set| &set.disks);
        let each = members.filter_map(|disk| back.disks.get(*disk as usize)?.device.slc());
        each.reduce(SlcUse::and)
    }

    /// Every part that work passes through, with its name: all but the disks.
    pub(super) fn each_part(&mut self, mut visit: impl FnMut(&dyn Fn() -> String, &mut dyn Metered)) {
        for files in self.clients.file_systems() {
            visit(&|| "host 0 file system".into(), files.processors());
        }
        for (n, host) in self.hosts.each.iter_mut().enumerate() {
            visit(&|| format!("host {n} processor"), &mut host.processor);
            for (f, file) in host.files.iter_mut().enumerate() {
                visit(&|| format!("host {n} file {f}"), file);
            }
            self.traffic.network.each_adapter(n, &mut visit);
        }
        self.traffic.network.each_link(&mut visit);
        for (n, engine) in self.array.back.engines.iter_mut().enumerate() {
            visit(&|| format!("controller {n} processor"), &mut engine.processor);
            visit(&|| format!("controller {n} bus"), &mut engine.bus);
            visit(&|| format!("controller {n} xor"), &mut engine.xor);
        }
        self.traffic.network.each_partner(&mut visit);
        self.array.back.each_channel(visit);
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
