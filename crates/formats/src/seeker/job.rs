//! What a command of seeker comes to: one phase of random reads.

use units::{Bytes, Nanos};

use super::{Command, SECONDS, Seekers};
use crate::TranslatedJob;
use crate::plan::{Keys, PlanText, Toml};

impl Command {
    /// The plan that does what the command asks. `seed` differs from call to call.
    pub fn translate(&self, seed: u32) -> TranslatedJob {
        let about = format!("workload of `seeker {}`", self.device);
        let mut plan = PlanText::new("seeker", &about, Some(seed.into()));
        let toml = |text: &str| Toml(text.into());
        let keys = Keys::named("{workers} threads")
            .with("pattern", "random")
            .with("size", Bytes::new(512))
            .with("direct", false)
            .with("engine", "pread")
            .with("span", "100%")
            .with("run", Nanos::from_secs(SECONDS));
        plan.phase(match self.seekers {
            Seekers::One => keys.with("workers", 1u32),
            Seekers::Threads(threads) => keys.with("workers", threads),
            Seekers::UntilFlat => keys
                .with("workers", toml("{ sweep = { from = 1, to = 1024, times = 2 } }"))
                .with("until", toml("{ flat = \"iops\", within = \"5%\", points = 2 }")),
        });
        TranslatedJob { plan: plan.text(), targets: vec![self.device.clone()], notes: Vec::new() }
    }
}
