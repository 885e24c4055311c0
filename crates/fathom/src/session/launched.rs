//! What the launcher of this process says of ranks, before any of them has joined the others.

/// How many ranks the launcher of this process has started; `None` without one.
pub fn size() -> Option<usize> {
    let names = ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE"];
    names.iter().find_map(|name| std::env::var(name).ok()?.parse().ok())
}

/// The same, where there are several.
pub fn launched() -> Option<usize> {
    size().filter(|size| *size > 1)
}

/// Whether a launcher has started this process as one of several.
pub fn are_several() -> bool {
    launched().is_some()
}

/// Which rank the launcher says that this process is.
pub fn number() -> usize {
    let names = ["OMPI_COMM_WORLD_RANK", "PMI_RANK"];
    names.iter().find_map(|name| std::env::var(name).ok()?.parse().ok()).unwrap_or(0)
}

/// Whether this process speaks for all that were started with it, before it has joined them.
pub fn is_first() -> bool {
    launched().is_none() || number() == 0
}

/// How a process that was interrupted says so. A launcher interrupts all ranks where one has gone, and says to none which.
pub fn interrupted() -> &'static str {
    if are_several() { "interrupted (by the launcher, if a rank has gone)" } else { "interrupted" }
}
