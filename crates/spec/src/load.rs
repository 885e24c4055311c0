//! Which keys of a workload say what is asked.

/// Keys that say how long it is asked, by which means of the system, and what is kept of it: two measurements that differ in
/// these alone ask for the same.
const AROUND: [&str; 28] = [
    "seed",
    "start",
    "warmup",
    "warmup_bytes",
    "run",
    "wear_out",
    "cooldown",
    "ops",
    "ops_after_warmup",
    "bytes",
    "loops",
    "exit_all",
    "end_with_others",
    "steady",
    "stamp",
    "verify",
    "engine",
    "submit_batch",
    "complete_batch",
    "sqpoll",
    "iopoll",
    "cpus",
    "numa",
    "huge_pages",
    "iolog",
    "on",
    "luns",
    "headline",
];

/// Whether `key` of a workload says what is asked: a rate at one value of it is no rate at another.
pub fn is_of_load(key: &str) -> bool {
    !AROUND.contains(&key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_is_told_from_how_long_it_is_and_by_which_engine() {
        for key in ["pattern", "size", "reads", "depth", "workers", "pace", "span", "direct", "sync"] {
            assert!(is_of_load(key), "{key}");
        }
        for key in ["seed", "run", "warmup", "engine", "cpus", "iolog"] {
            assert!(!is_of_load(key), "{key}");
        }
    }
}
