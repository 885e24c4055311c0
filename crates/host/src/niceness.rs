//! How much this process leaves to others.

use std::io;

/// Adds `by` to the niceness of the calling thread and of those that it starts from now on; what it is then. A negative one
/// needs CAP_SYS_NICE. Source: nice(2), sched(7), which has a niceness for each thread.
pub fn be_nicer(by: i32) -> io::Result<i32> {
    Ok(rustix::process::nice(by)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_is_nicer_starts_nicer_threads_and_no_other_notices() {
        let before = be_nicer(0).expect("a niceness can be read");
        let (own, of_child) = std::thread::spawn(|| {
            let own = be_nicer(1).expect("anybody may be nicer");
            (
                own,
                std::thread::spawn(|| be_nicer(0).expect("a niceness can be read")).join().expect("it ends"),
            )
        })
        .join()
        .expect("it ends");
        assert_eq!((own, of_child), ((before + 1).min(19), (before + 1).min(19)));
        assert_eq!(be_nicer(0).expect("a niceness can be read"), before);
    }
}
