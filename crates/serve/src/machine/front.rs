//! Controllers, the paths to them, and which controller serves a LUN.

use std::sync::PoisonError;
use std::sync::atomic::Ordering;

use array::raid::MemberState;
use serde::{Deserialize, Serialize};
use units::convert::narrow;

use super::Machine;
use super::errors::OperateError;
use crate::events::Severity;

/// What of a topology is between hosts and caches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrontShape {
    /// Controllers.
    pub controllers: u32,
    /// Links of each of them; 0 where hosts hold the devices themselves.
    pub links: u32,
    /// Whether a controller acknowledges writes from its cache only with a partner that has a copy.
    pub is_mirrored: bool,
}

impl Default for FrontShape {
    fn default() -> FrontShape {
        FrontShape { controllers: 1, links: 0, is_mirrored: false }
    }
}

/// What of it works.
#[derive(Clone, Debug)]
pub(super) struct Front {
    controllers: Vec<bool>,
    /// Those of the first controller, then those of the second.
    links: Vec<bool>,
    /// The controller that serves each LUN.
    owners: Vec<Option<u32>>,
    /// The release of the firmware, where the model knows several.
    pub firmware: Option<String>,
}

/// A controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ControllerStatus {
    /// Its number.
    pub controller: u32,
    /// Whether it works.
    pub is_online: bool,
}

/// A path from the hosts to a controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PathStatus {
    /// Its number.
    pub path: u32,
    /// Where it leads.
    pub controller: u32,
    /// Whether it is up.
    pub is_up: bool,
}

impl Front {
    /// All of it works, and every LUN is with the controller that it belongs to.
    pub(super) fn whole(shape: &super::Shape, firmware: Option<String>) -> Front {
        let FrontShape { controllers, links, .. } = shape.front;
        assert!(controllers > 0, "an array has a controller");
        debug_assert!(
            shape.luns.iter().all(|lun| lun.owner < controllers),
            "each LUN has a controller that there is"
        );
        Front {
            controllers: vec![true; controllers as usize],
            links: vec![true; (controllers * links) as usize],
            owners: shape.luns.iter().map(|lun| Some(lun.owner)).collect(),
            firmware,
        }
    }

    fn end_of(&self, link: usize) -> usize {
        debug_assert!(link < self.links.len(), "a path that there is");
        link * self.controllers.len() / self.links.len().max(1)
    }

    /// Whether hosts reach a controller, and it works.
    fn serves(&self, controller: u32) -> bool {
        let is_linked = self.links.is_empty()
            || (self.links.iter().enumerate())
                .any(|(link, up)| *up && self.end_of(link) == controller as usize);
        self.controllers[controller as usize] && is_linked
    }

    fn owner(&self, home: u32) -> Option<u32> {
        let all = 0..narrow::<u32>(self.controllers.len());
        std::iter::once(home).chain(all.filter(|&one| one != home)).find(|&one| self.serves(one))
    }
}

impl Machine {
    /// Whether no controller works: then nothing is done to the drives.
    pub(super) fn is_dark(&self) -> bool {
        self.lock_front().controllers.iter().all(|is_online| !is_online)
    }

    /// Takes a path down, or brings it up.
    pub fn set_path(&self, path: u32, is_up: bool) -> Result<(), OperateError> {
        let mut front = self.lock_front();
        let paths = front.links.len();
        let link = front.links.get_mut(path as usize).ok_or(OperateError::NoSuchPath { path, paths })?;
        if std::mem::replace(link, is_up) == is_up {
            return Err(OperateError::AlreadySo(format!(
                "path {path}: it is {} already",
                word(is_up, "up", "down")
            )));
        }
        let controller = front.end_of(path as usize);
        let severity = if is_up { Severity::Information } else { Severity::Warning };
        self.say(
            severity,
            format!("path {path}: link {} at controller {controller}", word(is_up, "up", "down")),
        );
        if let Some(model) = self.model.get() {
            model.act(move |sim| if is_up { sim.mend_link(path) } else { sim.fail_link(path) });
        }
        self.pass_on(&mut front);
        Ok(())
    }

    /// Takes a controller offline, or brings it back.
    pub fn set_controller(&self, controller: u32, is_online: bool) -> Result<(), OperateError> {
        {
            let front = self.lock_front();
            let controllers = front.controllers.len();
            let now = front.controllers.get(controller as usize);
            let now = *now.ok_or(OperateError::NoSuchController { controller, controllers })?;
            if now == is_online {
                let text =
                    format!("controller {controller}: it is {} already", word(now, "online", "offline"));
                return Err(OperateError::AlreadySo(text));
            }
        }
        let severity = if is_online { Severity::Information } else { Severity::Critical };
        self.say(severity, format!("controller {controller}: {}", word(is_online, "online", "offline")));
        if !is_online {
            // What its partner has a copy of is written by that; what nobody has a copy of it writes before it goes.
            self.partner_lost();
        }
        let mut front = self.lock_front();
        front.controllers[controller as usize] = is_online;
        if let Some(model) = self.model.get() {
            model.act(move |sim| match is_online {
                true => sim.mend_controller(controller),
                false => sim.fail_controller(controller),
            });
        }
        self.pass_on(&mut front);
        let is_whole = front.controllers.iter().all(|online| *online);
        drop(front);
        if is_whole {
            self.partner_back();
        }
        Ok(())
    }

    /// Has each LUN be with the controller that can serve it: the one that it belongs to, where that can.
    fn pass_on(&self, front: &mut Front) {
        for (number, lun) in self.shape.luns.iter().enumerate() {
            let (was, now) = (front.owners[number], front.owner(lun.owner));
            front.owners[number] = now;
            match (was, now) {
                (was, now) if was == now => {}
                (_, Some(now)) if now == lun.owner => {
                    self.say(
                        Severity::Information,
                        format!("lun{number}: back on its preferred controller {now}"),
                    );
                }
                (_, Some(now)) => {
                    self.say(
                        Severity::Warning,
                        format!("lun{number}: not on its preferred controller; owner is {now}"),
                    );
                }
                (_, None) => {
                    self.say(Severity::Critical, format!("lun{number}: no path to a controller is left"));
                }
            }
        }
        // With a model it is the host of the model that notices, after its time-out.
        let is_cut = front.owners.iter().any(Option::is_none) && self.model.get().is_none();
        self.is_cut.store(is_cut, Ordering::Release);
    }

    /// Whether hosts reach a LUN, where no model decides that.
    #[inline]
    pub(super) fn is_reached(&self, lun: u32) -> bool {
        !self.is_cut.load(Ordering::Acquire) || self.lock_front().owners[lun as usize].is_some()
    }

    /// Controllers, paths, owners of the LUNs, and the firmware.
    pub(super) fn front_status(
        &self,
    ) -> (Vec<ControllerStatus>, Vec<PathStatus>, Vec<Option<u32>>, Option<String>) {
        let front = self.lock_front();
        let controllers = (0_u32..).zip(&front.controllers);
        let controllers =
            controllers.map(|(controller, &is_online)| ControllerStatus { controller, is_online }).collect();
        let paths = (0_u32..).zip(&front.links).map(|(path, &is_up)| PathStatus {
            path,
            controller: narrow::<u32>(front.end_of(path as usize)),
            is_up,
        });
        (controllers, paths.collect(), front.owners.clone(), front.firmware.clone())
    }

    /// The release of the firmware becomes another one of those that the model knows.
    pub fn set_firmware(&self, release: &str) -> Result<(), OperateError> {
        let known: Vec<&str> = self.firmware.iter().map(|(name, _)| name.as_str()).collect();
        let Some((_, topology)) = self.firmware.iter().find(|(name, _)| name == release) else {
            let there = if known.is_empty() {
                "none: its description has no releases".into()
            } else {
                known.join(", ")
            };
            return Err(OperateError::NoSuchFirmware { release: release.to_owned(), there });
        };
        if self.is_busy() {
            return Err(OperateError::AlreadySo(
                "background work is under way; firmware is installed when the sets are at rest".into(),
            ));
        }
        let mut front = self.lock_front();
        if front.firmware.as_deref() == Some(release) {
            return Err(OperateError::AlreadySo(format!("firmware {release} is installed already")));
        }
        if front.controllers.contains(&false) || front.links.contains(&false) {
            return Err(OperateError::AlreadySo(
                "a controller or a path is down; firmware is installed when all of them work".into(),
            ));
        }
        let before = front.firmware.replace(release.to_owned()).unwrap_or_default();
        self.say(
            Severity::Information,
            format!("firmware {release} installed in place of {before}; controllers restarted"),
        );
        if let Some(model) = self.model.get() {
            let lost = self.slots_that(|state| state != MemberState::Optimal);
            let restarted = model.restart(topology, &lost);
            restarted.map_err(|why| OperateError::AlreadySo(format!("firmware {release}: {why}")))?;
        }
        Ok(())
    }

    fn lock_front(&self) -> std::sync::MutexGuard<'_, Front> {
        self.front.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn word(is: bool, yes: &'static str, no: &'static str) -> &'static str {
    if is { yes } else { no }
}
