//! `--trigger`: a command that is run beside the jobs, once, when a file is there or the time is over.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::Scope;

use formats::fio::Trigger;
use host::clock::Clock;
use units::Nanos;

/// How often it is looked for the file, as often as fio does.
const LOOK_AGAIN: Nanos = Nanos::from_millis(250);

/// Waits beside the jobs for what `trigger` says, until `is_over`; what went wrong with the command is told at the end.
pub fn watch<'s>(
    scope: &'s Scope<'s, '_>,
    trigger: &'s Trigger,
    is_over: &'s AtomicBool,
) -> Option<std::thread::ScopedJoinHandle<'s, Option<String>>> {
    trigger.is_armed().then(|| scope.spawn(|| wait(trigger, is_over)))
}

fn wait(trigger: &Trigger, is_over: &AtomicBool) -> Option<String> {
    let clock = Clock::start();
    let begun = clock.now();
    while !is_over.load(Ordering::Relaxed) {
        let has_waited =
            trigger.after_ns.is_some_and(|after| clock.now().saturating_since(begun).get() >= after);
        if has_waited || has_come(trigger) {
            let command = trigger.command.as_deref()?;
            return host::command::run(command, &[])
                .err()
                .map(|error| format!("--trigger `{command}`: {error}"));
        }
        clock.sleep_until(clock.now() + LOOK_AGAIN);
    }
    None
}

/// Whether the file is there; then it is removed.
fn has_come(trigger: &Trigger) -> bool {
    trigger.file.as_deref().is_some_and(|file| std::fs::remove_file(units::name::path(file)).is_ok())
}
