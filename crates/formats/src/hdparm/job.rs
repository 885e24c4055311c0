//! What a command of hdparm comes to: a phase for each timing, with the pauses and flushes between them.

use super::{CACHED, Command, DISK, TOOL};
use crate::{Refusal, TranslatedJob, quoted};

/// Each read, and the part that is read again and again by `-T`.
pub(super) const READ: u64 = 2 << 20;

/// As many reads at most of a file, whose size the original does not ask for.
const MOST_OF_A_FILE: u64 = 1024;

impl Command {
    /// The plan that does on `device`, of `size` bytes, what the command asks for.
    pub fn translate(&self, device: &str, size: u64, is_file: bool) -> Result<TranslatedJob, Refusal> {
        let offset = self.offset_gib.saturating_mul(1 << 30);
        let most = if is_file { MOST_OF_A_FILE } else { u64::MAX };
        let reads = (size.saturating_sub(if self.disk { offset } else { 0 }) / READ).min(most);
        if reads == 0 {
            return Err(Refusal::usage(TOOL, format!("{device}: read() hit EOF - device too small")));
        }
        let about = quoted(&format!("what `hdparm` times on {device}"));
        let mut plan = format!(
            "name  = \"hdparm\"\nabout = {about}\n\n[defaults]\npattern = \"sequential\"\nengine  = \"pread\"\n\
             size    = \"2MiB\"\nreads   = \"100%\"\ndirect  = {}\n",
            self.direct
        );
        if self.cached {
            plan += &idle(3);
            plan += "\n[[phase]]\nname = \"prime\"\nspan = \"2MiB\"\nops  = 1\n";
            plan += FLUSH;
            plan += &idle(1);
            plan += &format!("\n[[phase]]\nname = \"{CACHED}\"\nspan = \"2MiB\"\nrun  = \"2s\"\n");
            plan += FLUSH;
            plan += &idle(1);
        }
        if self.disk {
            plan += &idle(3);
            plan += &format!(
                "\n[[phase]]\nname   = \"{DISK}\"\noffset = \"{offset}B\"\nspan   = \"{}B\"\nops    = {reads}\nrun    = \"3s\"\n",
                reads * READ
            );
            plan += FLUSH;
        }
        Ok(TranslatedJob { plan, targets: vec![device.into()], notes: self.notes.clone() })
    }
}

const FLUSH: &str = "\n[[phase]]\nstate = \"prepare\"\nfill  = 0\n";

fn idle(seconds: u32) -> String {
    format!("\n[[phase]]\nstate = \"idle\"\nrun   = \"{seconds}s\"\n")
}
