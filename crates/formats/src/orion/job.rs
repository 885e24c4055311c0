//! What a command line comes to as a plan.

use super::options::{Command, Large, Simulated};
use super::points::{Grid, Load};
use super::{TOOL, WARMING};
use crate::translated::about;
use crate::{Refusal, TranslatedJob};

/// One line of a `.lun` file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lun {
    /// Its line, from 1.
    pub line: usize,
    /// A file, a device, or a virtual array.
    pub name: String,
}

/// The LUNs that the `.lun` file called `file` lists: one on each line, nothing else.
pub fn luns(file: &str, text: &str) -> Result<Vec<Lun>, Refusal> {
    let mut luns = Vec::new();
    for (line, name) in (1..).zip(text.lines().map(str::trim)) {
        let wrong = |what: String| Err(Refusal::line(file, line, what));
        match name {
            "" => continue,
            name if name.starts_with('#') => {
                return wrong("a list of LUNs has no comments; one file or device on each line".into());
            }
            name if name.starts_with("\\\\") => {
                return wrong(format!(
                    "{name} is a device of Windows; name a file or a device such as /dev/sdb"
                ));
            }
            name if name.chars().any(char::is_control) => return wrong("this cannot name a file".into()),
            name => luns.push(Lun { line, name: name.into() }),
        }
    }
    match luns.is_empty() {
        false => Ok(luns),
        true => Err(Refusal::line(file, 1, "no LUN is listed")),
    }
}

impl Command {
    /// The plan that does what the command asks. `seed` differs from call to call.
    pub fn translate(&self, luns: &[Lun], grid: &Grid, seed: u32) -> Result<TranslatedJob, Refusal> {
        let mut plan = format!(
            "name  = \"orion\"\nabout = {}\nseed  = {seed}\n\n[defaults]\npattern = \"random(repeats)\"\n\
             span    = \"100%\"\nreads   = \"{}%\"\nrun     = \"{}s\"\n",
            about(TOOL, &self.words),
            100 - self.write,
            self.seconds,
        );
        plan += &self.layout(luns)?;
        match self.large {
            Large::Random => plan += &self.random(grid),
            Large::Sequential => plan += &self.sequential(grid),
        }
        let mut notes = self.notes.clone();
        if self.write > 0 {
            let names: Vec<&str> = luns.iter().map(|lun| lun.name.as_str()).collect();
            notes.push(format!("writes destroy what is on {}", names.join(", ")));
        }
        Ok(TranslatedJob { plan, targets: luns.iter().map(|lun| lun.name.clone()).collect(), notes })
    }

    fn layout(&self, luns: &[Lun]) -> Result<String, Refusal> {
        let Simulated::Raid0 { stripe_kib } = self.array else { return Ok(String::new()) };
        if luns.len() == 1 && !luns[0].name.starts_with("array:") {
            return Ok(String::new());
        }
        for (option, kib) in [("-size_small", self.small_kib), ("-size_large", self.large_kib)] {
            if !stripe_kib.is_multiple_of(kib) {
                let what = format!(
                    "`-stripe {stripe_kib}` with `{option} {kib}`: each request lies within one stripe here, so make \
                     the stripe a multiple of both sizes"
                );
                return Err(Refusal::usage(TOOL, what));
            }
        }
        Ok(format!("luns    = \"striped({stripe_kib}KiB)\"\n"))
    }

    /// A phase for the first row, one for the first column, and one for everything else.
    fn random(&self, grid: &Grid) -> String {
        let is_alone = |load: &&Load| load.small == 0 || load.large == 0;
        let small: Vec<u32> =
            grid.points.iter().filter(|load| load.large == 0).map(|load| load.small).collect();
        let large: Vec<u32> =
            grid.points.iter().filter(|load| load.small == 0).map(|load| load.large).collect();
        let mut plan = String::new();
        if !small.is_empty() {
            plan += "\n[[phase]]\nname = \"small {small.depth}, large 0\"\n";
            plan += &self.small(&swept(&small));
        }
        if !large.is_empty() {
            plan += "\n[[phase]]\nname = \"small 0, large {large.depth}\"\n";
            plan += &self.large_random(&swept(&large));
        }
        if grid.points.iter().any(|load| !is_alone(&load)) {
            let not_none = |loads: Vec<u32>| loads.into_iter().filter(|load| *load > 0).collect::<Vec<_>>();
            plan += "\n[[phase]]\nname = \"small {small.depth}, large {large.depth}\"\n";
            plan += &self.small(&swept(&not_none(grid.small())));
            plan += &self.large_random(&swept(&not_none(grid.large())));
        }
        plan
    }

    /// A phase for the first row, and for every other data point one that warms caches and one that is measured.
    fn sequential(&self, grid: &Grid) -> String {
        let small: Vec<u32> =
            grid.points.iter().filter(|load| load.large == 0).map(|load| load.small).collect();
        let mut plan = String::new();
        if !small.is_empty() {
            plan += "\n[[phase]]\nname = \"small {small.depth}, large 0\"\n";
            plan += &self.small(&swept(&small));
        }
        for Load { small, large } in grid.points.iter().filter(|load| load.large > 0) {
            if self.warms() {
                plan += &format!("\n[[phase]]\nname = \"{WARMING} for small {small}, large {large}\"\n");
                plan += &self.warming();
            }
            plan += &format!("\n[[phase]]\nname = \"small {small}, large {large}\"\n");
            if *small > 0 {
                plan += &self.small(&small.to_string());
            }
            plan += &self.streams(*large);
        }
        plan
    }

    fn small(&self, depth: &str) -> String {
        let size = self.small_kib;
        format!(
            "\n[[phase.workload]]\nname     = \"small\"\nsize     = \"{size}KiB\"\ndepth    = {depth}\nheadline = \"iops\"\n"
        )
    }

    fn large_random(&self, depth: &str) -> String {
        let size = self.large_kib;
        format!(
            "\n[[phase.workload]]\nname     = \"large\"\nsize     = \"{size}KiB\"\ndepth    = {depth}\n\
             headline = \"mb_per_s\"\n"
        )
    }

    /// Whole streams read or write. Each has a part of its own of the LUNs, and passes through it again and again.
    fn streams(&self, streams: u32) -> String {
        let writing = (u64::from(streams) * u64::from(self.write) + 50) / 100;
        let reading = u64::from(streams) - writing;
        let some = |name: &str, count: u64, before: u64, reads: u32| {
            let part = match count == u64::from(streams) {
                true => String::new(),
                false => format!("offset   = \"{before}/{streams}\"\nspan     = \"{count}/{streams}\"\n"),
            };
            format!(
                "\n[[phase.workload]]\nname     = \"{name}\"\npattern  = \"sequential\"\nsize     = \"{}KiB\"\n\
                 reads    = \"{reads}%\"\nworkers  = {count}\ndepth    = {}\n{part}headline = \"mb_per_s\"\n",
                self.large_kib, self.stream_ios
            )
        };
        match (reading, writing) {
            (_, 0) => some("large", reading, 0, 100),
            (0, _) => some("large", writing, 0, 0),
            _ => some("large reads", reading, 0, 100) + &some("large writes", writing, reading, 0),
        }
    }

    fn warming(&self) -> String {
        let until = match self.cache_mib {
            Some(mib) => format!("run      = \"none\"\nbytes    = \"{mib}MiB\"\n"),
            None => "run      = \"2m\"\n".into(),
        };
        // `run` stands in the phase, so before its workload.
        let (run, rest) = until.split_once('\n').expect("each begins with a line of its own");
        format!(
            "{run}\n\n[[phase.workload]]\nname     = \"{WARMING}\"\nsize     = \"{}KiB\"\ndepth    = {}\n{rest}",
            self.large_kib, self.stream_ios
        )
    }
}

fn swept(loads: &[u32]) -> String {
    match loads {
        [one] => one.to_string(),
        several => {
            let loads: Vec<String> = several.iter().map(u32::to_string).collect();
            format!("{{ sweep = [{}] }}", loads.join(", "))
        }
    }
}
