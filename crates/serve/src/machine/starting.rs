//! What the log says of a start.

use array::raid::MemberState;
use units::convert::narrow;

use super::Machine;
use super::bays::has_failed;
use super::open::number;
use crate::config::Config;
use crate::events::{EventLog, Severity};
use crate::nvram::Past;

impl Machine {
    /// Each start says which sets are without redundancy, or lost: whoever reads the log from there must not take them for whole.
    pub(super) fn tell_what_is_lost(&self) {
        for (number, set) in (0_u32..).zip(&self.sets) {
            let state = set.state();
            let slots = 0..narrow::<u16>(set.geometry().spec().members);
            let lost: Vec<String> = slots
                .filter(|&slot| state.health.state(slot) == MemberState::Failed)
                .map(|slot| slot.to_string())
                .collect();
            if lost.is_empty() {
                continue;
            }
            let (severity, word) = match has_failed(set.geometry(), &state.health) {
                true => (Severity::Critical, "failed"),
                false => (Severity::Warning, "degraded"),
            };
            let level = set.geometry().spec().level;
            self.say(
                severity,
                format!("set {number} ({level}): {word}; no disk in slot {}", lost.join(", ")),
            );
        }
    }
}

/// How the array was stopped, as far as it is known, and what a start resets.
pub(super) fn tell_start(
    events: &EventLog,
    config: &Config,
    is_remembered: bool,
    past: &Past,
    has_lost_power: bool,
) {
    let began = match is_remembered {
        true if past.is_clean => "started",
        true => "started after an unclean stop",
        false => "started without its memory",
    };
    events.add(Severity::Information, format!("array {} ({}) {began}", number(&config.array), config.name));
    events.add(
        Severity::Information,
        "controllers online, paths up, background work without a limit, as after every start".into(),
    );
    if !is_remembered {
        events.add(
            Severity::Critical,
            "controller.nvram is missing, damaged, or older than the drives: what was being written at the end is not known; whole sets are \
             verified and repaired, and drives that were away are rebuilt whole"
                .into(),
        );
    } else if has_lost_power {
        events.add(
            Severity::Warning,
            "the machine has been started since, and the journal was not synced: parity of what was being written may be wrong; whole \
             sets are verified and repaired (`--sync-journal` does without)"
                .into(),
        );
    }
}
