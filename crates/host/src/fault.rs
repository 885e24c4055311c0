//! Mistakes on demand, by which tests see what becomes of a run that meets one. Release builds have none of it.
//!
//! `FATHOM_FAULT="panic worker 100"` has the hundredth call of [`here`] with `worker` panic; `abort` ends the process.

/// A place where a fault may be asked for.
#[cfg(debug_assertions)]
pub fn here(place: &str) {
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicU64, Ordering};

    static WANTED: OnceLock<Option<(String, String, u64)>> = OnceLock::new();
    static CALLS: AtomicU64 = AtomicU64::new(0);
    let wanted = WANTED.get_or_init(|| {
        let text = std::env::var("FATHOM_FAULT").ok()?;
        let mut words = text.split(' ').map(str::to_owned);
        Some((words.next()?, words.next()?, words.next()?.parse().ok()?))
    });
    let Some((kind, _, call)) = wanted.as_ref().filter(|(_, wanted, _)| wanted == place) else { return };
    if CALLS.fetch_add(1, Ordering::Relaxed) + 1 == *call {
        match kind.as_str() {
            "abort" => std::process::abort(),
            _ => panic!("a fault was injected at {place}"),
        }
    }
}

/// A place where a fault may be asked for: not of a release build.
#[cfg(not(debug_assertions))]
#[inline(always)]
pub fn here(_place: &str) {}
