//! Work the array gives itself: initialise, clone, rebuild, verify, scrub.

use units::{Bytes, BytesPerSecond, Nanos, Share};

/// The figures of one kind of background work.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BackgroundParams {
    /// What it does.
    pub kind: BackgroundKind,
    /// Bytes per member that one unit of work covers.
    pub unit: Bytes,
    /// Units under way at once.
    pub window: u32,
    /// How it shares the members with hosts.
    pub policy: BackgroundPolicy,
    /// What happens before the first unit, as a share of the whole work's idle time.
    pub startup: Share,
    /// Most bytes a second to and from one member, whatever the load; `None`: no limit. The processor's or the
    /// firmware's: what is written and read back passes it twice.
    pub member_limit: Option<BytesPerSecond>,
}

/// What background work does to a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BackgroundKind {
    /// Makes parity true: writes every member, offline.
    Initialise,
    /// The same while hosts use the set: reads data, writes parity.
    InitialiseOnline,
    /// Reads back what initialise wrote, too.
    InitialiseVerify,
    /// Copies one member to a spare.
    Clone,
    /// Fills a spare from the surviving members.
    Rebuild,
    /// Reads every member and compares parity.
    Verify,
    /// Reads every member.
    Scrub,
}

/// How background work shares the members with hosts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BackgroundPolicy {
    /// Straight into the members' queues, in order of arrival: nobody decides above the drive.
    Fifo,
    /// The same, as many units at once as that share of a drive's tags, which the drive serves in the order they came
    /// (ordered tags): the share says how much a host's command finds in front of it, and not what of the time it gets.
    /// In place of the window.
    Tags(Share),
    /// Only when no host request waits at the member.
    Idle,
    /// At most that rate per member.
    Rate(BytesPerSecond),
    /// That share of a member's time while both wait.
    Share(Share),
    /// Linux md: below `min` unrestrained, between `min` and `max` only while hosts are quiet, never above `max`.
    Md {
        /// Per member.
        min: BytesPerSecond,
        /// Per member.
        max: BytesPerSecond,
    },
    /// A pause after each unit.
    Delay(Nanos),
}

impl BackgroundParams {
    /// The same at another rate: a share of what the array takes its rate to be a share of.
    pub fn at(self, share: Share) -> BackgroundParams {
        let policy = match self.policy {
            BackgroundPolicy::Tags(_) => BackgroundPolicy::Tags(share),
            _ => BackgroundPolicy::Share(share),
        };
        BackgroundParams { policy, ..self }
    }
}
