//! The gate of rank 0, at which its load and those of all ranks begin together.

use std::sync::{Arc, Mutex};

use conduct::Gate;
use units::convert::narrow;
use units::{Instant, Nanos};

use crate::heard::{Orders, Shared, WAIT, locked};
use crate::link::Link;
use crate::message::Message;

/// How long after all are ready they start: the word of it must be there before, and may lie for 20 ms before it is seen.
const AHEAD: Nanos = Nanos::from_millis(40);

/// Has the others prepare with rank 0, and start when all are ready.
pub(crate) struct HeadGate {
    pub(crate) link: Arc<Link>,
    pub(crate) shared: Arc<Mutex<Shared>>,
}

impl Gate for HeadGate {
    fn prepared(&mut self) {
        let mut shared = locked(&self.shared);
        let round = shared.heard.round;
        let Some(Orders { load, shift, wrote }) = shared.heard.load.take() else { return };
        for rank in self.link.others() {
            let drives = narrow((rank + shift) % self.link.size());
            let (load, wrote) = (load.clone(), wrote.clone());
            self.link.send(rank, &Message::Load { round, load, drives, wrote });
        }
    }

    fn start(&mut self, now: &dyn Fn() -> Instant) -> Option<Instant> {
        let mut shared = locked(&self.shared);
        let round = shared.heard.round;
        loop {
            shared.listen(&self.link, WAIT, now);
            let failed = shared.heard.seen.values().any(Result::is_err);
            if shared.lost.is_some() || failed || shared.heard.is_stopping {
                self.link.send_all(&Message::Stop { round });
                return None;
            }
            if self.link.others().all(|rank| shared.heard.ready[rank]) {
                break;
            }
        }
        shared.heard.has_begun = true;
        let at = now().saturating_add(AHEAD);
        for rank in self.link.others() {
            let at_ns = shared.clocks[rank].there_ns(at.nanos());
            self.link.send(rank, &Message::Start { round, at_ns });
        }
        self.link.is_loaded(true);
        Some(at)
    }
}
