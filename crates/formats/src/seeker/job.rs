//! What a command of seeker comes to: one phase of random reads.

use super::{Command, SECONDS, Seekers};
use crate::{TranslatedJob, quoted};

impl Command {
    /// The plan that does what the command asks. `seed` differs from call to call.
    pub fn translate(&self, seed: u32) -> TranslatedJob {
        let (workers, until) = match self.seekers {
            Seekers::One => ("1".into(), ""),
            Seekers::Threads(threads) => (threads.to_string(), ""),
            Seekers::UntilFlat => (
                "{ sweep = { from = 1, to = 1024, times = 2 } }".into(),
                "until   = { flat = \"iops\", within = \"5%\", points = 2 }\n",
            ),
        };
        let about = quoted(&format!("workload of `seeker {}`", self.device));
        let plan = format!(
            "name  = \"seeker\"\nabout = {about}\nseed  = {seed}\n\n\
             [[phase]]\nname    = \"{{workers}} threads\"\npattern = \"random\"\nsize    = \"512B\"\n\
             direct  = false\nengine  = \"pread\"\nspan    = \"100%\"\nworkers = {workers}\nrun     = \"{SECONDS}s\"\n{until}"
        );
        TranslatedJob { plan, targets: vec![self.device.clone()], notes: Vec::new() }
    }
}
