//! System calls that a signal interrupted.

use rustix::io::Errno;

/// The result of `call`, repeated while a signal interrupts it (`EINTR`, signal(7)); other errors are returned.
#[inline]
pub fn again<T>(mut call: impl FnMut() -> Result<T, Errno>) -> Result<T, Errno> {
    loop {
        match call() {
            Err(Errno::INTR) => {}
            other => return other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_that_a_signal_interrupted_is_made_again_and_any_other_failure_is_told() {
        let mut answers = vec![Ok(7), Err(Errno::INTR), Err(Errno::INTR)];
        assert_eq!(again(|| answers.pop().unwrap()), Ok(7));
        assert_eq!(answers, []);
        let mut calls = 0;
        let failing = || -> Result<(), Errno> {
            calls += 1;
            Err(Errno::IO)
        };
        assert_eq!(again(failing), Err(Errno::IO));
        assert_eq!(calls, 1);
    }
}
