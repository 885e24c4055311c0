//! From a description with every choice made to the parts of a simulation.

use crate::spec::ArraySpec;

use super::topology::{LunPlacement, SetTopology, Topology};

impl From<&ArraySpec> for Topology {
    fn from(spec: &ArraySpec) -> Topology {
        let layout = &spec.layout;
        let sets = layout.sets.iter();
        let luns = layout.luns.iter();
        Topology {
            hosts: spec.hosts,
            host: spec.host.clone(),
            links: spec.links,
            link: (spec.links > 0).then_some(spec.link),
            adapter: spec.adapter.filter(|_| spec.adapters > 0).map(|link| (spec.adapters, link)),
            protocol: spec.protocol.clone(),
            controllers: spec.controllers,
            controller: spec.controller.clone(),
            channel: spec.channel.filter(|_| spec.channels > 0).map(|link| (spec.channels, link)),
            models: layout.models.iter().map(|model| model.params.clone()).collect(),
            disks: layout.disks.clone(),
            sets: sets
                .map(|set| SetTopology { members: set.members.clone(), geometry: set.geometry.clone() })
                .collect(),
            spares: layout.spares.clone(),
            failed: layout.failed.clone(),
            luns: luns
                .map(|lun| LunPlacement { set: lun.set, start: lun.start, size: lun.size, owner: lun.owner })
                .collect(),
            background: spec.background.clone(),
        }
    }
}
