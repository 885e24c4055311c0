//! System V semaphores at which processes wait for each other, as copies of Bonnie++ do before each test.
//!
//! **Invariant:** a wait ends when all have come, when the semaphores are removed, or when somebody says stop.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

use units::convert::narrow;

use crate::answered;

/// A set of semaphores that other processes know by the same key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Semaphores {
    id: i32,
}

/// Between two looks at whether somebody says stop.
const LOOK: libc::timespec = libc::timespec { tv_sec: 0, tv_nsec: 200_000_000 };

/// Everybody may come: the copies need not belong to one user. As the original makes them.
const MODE: i32 = 0o666;

impl Semaphores {
    /// Makes `number` of them, or takes those that are there, and lets each wait for `copies`.
    pub fn create(key: i32, number: i32, copies: i32) -> io::Result<Semaphores> {
        let semaphores = get(key, number, libc::IPC_CREAT | MODE)?;
        for index in 0..number {
            // SAFETY: SETVAL reads one number and writes to nothing of ours.
            answered(unsafe { libc::semctl(semaphores.id, index, libc::SETVAL, copies) })?;
        }
        Ok(semaphores)
    }

    /// Those that are there. An error of the kind `NotFound` where nobody has made them.
    pub fn open(key: i32, number: i32) -> io::Result<Semaphores> {
        get(key, number, MODE)
    }

    /// No more semaphores; whoever waits is woken with an error.
    pub fn remove(self) -> io::Result<()> {
        // SAFETY: IPC_RMID reads and writes nothing of ours.
        answered(unsafe { libc::semctl(self.id, 0, libc::IPC_RMID) }).map(drop)
    }

    /// Comes to semaphore `index` and waits until all have come. Returns whether they have; `false` means `stop`.
    ///
    /// Who comes after all have come does not wait.
    pub fn meet(self, index: u16, stop: &AtomicBool) -> io::Result<bool> {
        match self.operate(index, -1, libc::IPC_NOWAIT) {
            // It is zero already.
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(true),
            come => come?,
        }
        loop {
            match self.operate(index, 0, 0) {
                Ok(()) => return Ok(true),
                Err(_) if stop.load(Ordering::Relaxed) => return Ok(false),
                Err(error)
                    if [io::ErrorKind::WouldBlock, io::ErrorKind::Interrupted].contains(&error.kind()) => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// One operation; waits for [`LOOK`] at most.
    fn operate(self, index: u16, by: i16, flags: i32) -> io::Result<()> {
        let mut operation = libc::sembuf { sem_num: index, sem_op: by, sem_flg: narrow::<i16>(flags) };
        let longest = LOOK;
        let call = libc::SYS_semtimedop;
        // SAFETY: one operation and a time, both alive during the call.
        answered(unsafe { libc::syscall(call, self.id, &raw mut operation, 1usize, &raw const longest) })
            .map(drop)
    }
}

fn get(key: i32, number: i32, flags: i32) -> io::Result<Semaphores> {
    // SAFETY: takes and returns numbers only.
    answered(unsafe { libc::semget(key, number, flags) }).map(|id| Semaphores { id })
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU32;

    use super::*;

    /// Removed also where a test fails.
    struct Made(Semaphores);

    impl Drop for Made {
        fn drop(&mut self) {
            let _gone = self.0.remove();
        }
    }

    /// A key of this process and test.
    fn key(test: i32) -> i32 {
        0x4646_0000 | (narrow::<i32>(std::process::id()) & 0xfff) << 4 | test
    }

    #[test]
    fn nobody_goes_on_before_all_have_come() {
        let made = Made(Semaphores::create(key(1), 2, 3).unwrap());
        assert_eq!(Semaphores::open(key(1), 2).unwrap(), made.0);
        let (come, stop) = (AtomicU32::new(0), AtomicBool::new(false));
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    for index in 0..2 {
                        come.fetch_add(1, Ordering::SeqCst);
                        assert!(made.0.meet(index, &stop).unwrap());
                        assert!(come.load(Ordering::SeqCst) >= 3 * (u32::from(index) + 1));
                    }
                });
            }
        });
        assert!(made.0.meet(0, &stop).unwrap(), "who comes late does not wait");
    }

    #[test]
    fn a_wait_ends_when_it_is_stopped_or_the_semaphores_are_gone() {
        let made = Made(Semaphores::create(key(2), 1, 2).unwrap());
        assert!(!made.0.meet(0, &AtomicBool::new(true)).unwrap());
        made.0.remove().unwrap();
        assert!(made.0.meet(0, &AtomicBool::new(false)).is_err());
        assert_eq!(Semaphores::open(key(2), 1).unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
