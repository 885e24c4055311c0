//! The ring as an engine: requests in, completions out.

use std::sync::Arc;
use std::time::Duration;

use io_uring::EnterFlags;
use io_uring::cqueue;
use io_uring::squeue::EntryMarker;
use io_uring::types::{SubmitArgs, Timespec};
use units::convert::narrow;
use units::{Instant, Nanos};
use workload::{Completion, Request};

use super::Uring;
use super::entry::{Asks, parts, user_data};
use crate::engine::{Engine, EngineError, HasPayload, OpenFiles, Payload, Wait};

impl<A: Asks> Uring<'_, A> {
    /// Hands over what is queued, takes what has ended, and waits for `want` completions, or for `left` to pass.
    fn enter(&mut self, want: u32, left: Option<Nanos>) -> Result<(), EngineError> {
        debug_assert!(
            want <= self.lent.in_flight,
            "no more completions can be waited for than requests are in flight"
        );
        self.queue.sync();
        let result = match left {
            // A thread of the kernel takes requests up, and must be woken only when it sleeps.
            None if self.options.sqpoll => self.submitter.submit_and_wait(want as usize),
            // Deferred completions appear only to who asks for events, also where none is waited for.
            None => {
                let queued = narrow::<u32>(self.queue.len());
                // SAFETY: no argument is passed beside the flag.
                unsafe {
                    self.submitter.enter::<libc::sigset_t>(queued, want, EnterFlags::GETEVENTS.bits(), None)
                }
            }
            Some(left) => {
                let timeout = Timespec::from(Duration::from_nanos(left.get()));
                self.submitter.submit_with_args(want as usize, &SubmitArgs::new().timespec(&timeout))
            }
        };
        // Publishes nothing new, but sees what the kernel took: its entries are free again.
        self.queue.sync();
        self.completions.sync();
        match result {
            Ok(_) => Ok(()),
            // The time passed, a signal came, or the completion ring is full: reap and be asked again.
            Err(error)
                if matches!(
                    error.raw_os_error(),
                    Some(libc::ETIME | libc::EINTR | libc::EBUSY | libc::EAGAIN)
                ) =>
            {
                Ok(())
            }
            Err(source) => Err(EngineError::System { call: "io_uring_enter", source }),
        }
    }

    /// Waits for `want` completions, but not past `due`.
    fn enter_until(&mut self, due: Instant, want: u32) -> Result<(), EngineError> {
        /// Below this a timer in the kernel would end late: look again and again instead.
        const SPIN: Nanos = Nanos::from_micros(60);
        self.enter(0, None)?;
        while self.completions.len() < want as usize {
            let left = due.saturating_since(self.clock.now());
            if left.is_zero() {
                return Ok(());
            }
            let timer = left.saturating_sub(SPIN);
            if timer.is_zero() {
                // No system call where a thread of the kernel takes requests up.
                self.enter(0, None)?;
            } else {
                self.enter(want, Some(timer))?;
            }
        }
        Ok(())
    }

    #[inline]
    fn reap(&mut self, done: &mut impl FnMut(Completion)) -> Instant {
        let finished_at = self.clock.now();
        let mut wrote = false;
        for ended in self.apart.drain(..) {
            self.lent.in_flight -= 1;
            done(ended);
        }
        for entry in &mut self.completions {
            let entry: cqueue::Entry = entry.into();
            debug_assert!(self.lent.in_flight > 0, "a request must end once");
            let (token, is_write, is_trim, len) = parts(entry.user_data());
            debug_assert!((token.0 as usize) < self.lent.payload.depth(), "the job must have the slot");
            let outcome = A::outcome(entry.result(), is_trim, len);
            self.lent.in_flight -= 1;
            done(Completion { token, outcome, finished_at });
            if is_write {
                self.lent.payload.refill(token.0 as usize);
                wrote = true;
            }
        }
        if wrote { self.clock.now() } else { finished_at }
    }

    /// Carries out what a ring has no entry for. What was submitted before goes ahead of it.
    #[cold]
    fn at_once(&mut self, request: &Request) -> Result<(), EngineError> {
        self.enter(0, None)?;
        let outcome = A::execute(request, &self.files.0[usize::from(request.file)]);
        self.apart.push(Completion { token: request.token, outcome, finished_at: self.clock.now() });
        self.lent.in_flight += 1;
        Ok(())
    }
}

impl<A: Asks> HasPayload for Uring<'_, A> {
    fn payload(&mut self) -> &mut Payload {
        &mut self.lent.payload
    }
}

impl<A: Asks> Engine for Uring<'_, A> {
    fn reopen(&mut self, files: Arc<OpenFiles>) -> Result<(), EngineError> {
        debug_assert_eq!(self.lent.in_flight, 0, "nothing may be in flight in files that are exchanged");
        assert_eq!(files.0.len(), self.files.0.len(), "they must be the same files");
        self.submitter
            .register_files_update(0, &files.raw_fds())
            .map_err(|source| EngineError::System { call: "io_uring_register (files)", source })?;
        self.files = files;
        Ok(())
    }

    fn submit(&mut self, requests: &[Request]) -> Result<(), EngineError> {
        for request in requests {
            let open = &self.files.0[usize::from(request.file)];
            if A::is_apart(request, open) {
                self.at_once(request)?;
                continue;
            }
            let mut entry = self.asks.entry(request, open, &self.lent.payload, self.fixed_buffers);
            entry.set_user_data(user_data(request));
            // SAFETY: the entry's buffer is a piece of the payload that belongs to this request until it
            // completes, and its file is registered; both outlive the ring's use of them.
            let pushed = unsafe { self.queue.push(&entry) };
            assert!(pushed.is_ok(), "the ring has at least `depth` entries and a slot is used once");
            self.lent.in_flight += 1;
            debug_assert!(
                self.lent.in_flight as usize <= self.lent.payload.depth(),
                "no more may be in flight than there are slots",
            );
        }
        Ok(())
    }

    fn wait(&mut self, wait: Wait, done: &mut impl FnMut(Completion)) -> Result<Instant, EngineError> {
        let least = |least: u32, in_flight: u32| least.min(in_flight);
        match wait {
            Wait::Until(due, _) if self.lent.in_flight == 0 => self.clock.sleep_until(due),
            // Some have ended: they are not to wait for others.
            Wait::For(_) | Wait::Until(..) if !self.apart.is_empty() => self.enter(0, None)?,
            Wait::For(count) => self.enter(least(count, self.lent.in_flight), None)?,
            Wait::Until(due, count) => self.enter_until(due, least(count, self.lent.in_flight))?,
            Wait::No => self.enter(0, None)?,
        }
        Ok(self.reap(done))
    }
}

impl<A: Asks> Drop for Uring<'_, A> {
    /// Waits for what is in flight; where that fails, the buffers are never given back.
    fn drop(&mut self) {
        while self.lent.in_flight > 0 && self.enter(1, None).is_ok() {
            self.reap(&mut |_| ());
        }
    }
}
