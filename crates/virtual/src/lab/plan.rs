//! The plan of one depth, as anybody could run it.

use units::{Bytes, Nanos};
use workload::plan::{Overrides, Plan};

use super::{LabError, LabWorkload, Setting};

/// How long a depth is simulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// Until so many requests have ended, all of them counted.
    Requests(u64),
    /// For a time, after a warm-up.
    Time {
        /// Load that is not counted.
        warmup: Nanos,
        /// The measured window.
        run: Nanos,
    },
}

/// The plan of one depth: the disks fail, then the load runs.
///
/// `fathom run` of this text on the setting's array gives the figures of the lab.
pub fn depth(setting: &Setting, depth: u32, length: Length) -> String {
    let mut text = format!("name = \"lab\"\nseed = {}\n\n", setting.seed);
    for disk in &setting.fail {
        text += &format!("[[phase]]\nstate = \"fail disk {disk}\"\n\n");
    }
    text + &load(&setting.workload, depth, length)
}

/// The phase of the load alone.
fn load(workload: &LabWorkload, depth: u32, length: Length) -> String {
    let LabWorkload { pattern, size, reads, span } = workload;
    let span = span.map_or_else(|| "auto".into(), Bytes::exact);
    let length = match length {
        Length::Requests(count) => format!("ops = {count}\n"),
        Length::Time { warmup, run } => {
            format!("warmup = \"{}\"\nrun = \"{}\"\n", warmup.exact(), run.exact())
        }
    };
    format!(
        "[[phase]]\nname = \"{{depth}} in flight\"\ndirect = true\npattern = \"{}\"\nsize = \"{}\"\nreads = \"{}\"\n\
         span = \"{span}\"\ndepth = {{ sweep = [{depth}] }}\n{length}",
        pattern.name(),
        size.exact(),
        reads.exact()
    )
}

/// `text` as a plan.
pub(super) fn parse(text: &str) -> Result<Plan, LabError> {
    Ok(Plan::parse("lab", text, &Overrides::default())?)
}
