//! What a command line comes to as a plan.

use units::{Bytes, Nanos};

use super::options::{Command, Large, Simulated};
use super::points::{Grid, Load};
use super::{TOOL, WARMING};
use crate::plan::{Keys, Percent, PlanText};
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
        let mut plan = PlanText::new("orion", &about(TOOL, &self.words), Some(seed.into()));
        plan.defaults(
            Keys::default()
                .with("pattern", "random(repeats)")
                .with("span", "100%")
                .with("reads", Percent((100 - self.write).into()))
                .with("run", Nanos::from_secs(self.seconds.into()))
                .maybe("luns", self.layout(luns)?),
        );
        match self.large {
            Large::Random => self.random(grid, &mut plan),
            Large::Sequential => self.sequential(grid, &mut plan),
        }
        let mut notes = self.notes.clone();
        if self.write > 0 {
            let names: Vec<&str> = luns.iter().map(|lun| lun.name.as_str()).collect();
            notes.push(format!("writes destroy what is on {}", names.join(", ")));
        }
        Ok(TranslatedJob {
            plan: plan.text(),
            targets: luns.iter().map(|lun| lun.name.clone()).collect(),
            notes,
        })
    }

    fn layout(&self, luns: &[Lun]) -> Result<Option<String>, Refusal> {
        let Simulated::Raid0 { stripe_kib } = self.array else { return Ok(None) };
        if luns.len() == 1 && !luns[0].name.starts_with("array:") {
            return Ok(None);
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
        Ok(Some(format!("striped({stripe_kib}KiB)")))
    }

    /// A phase for the first row, one for the first column, and one for everything else.
    fn random(&self, grid: &Grid, plan: &mut PlanText) {
        let is_alone = |load: &&Load| load.small == 0 || load.large == 0;
        let large: Vec<u32> =
            grid.points.iter().filter(|load| load.small == 0).map(|load| load.large).collect();
        self.small_alone(grid, plan);
        if !large.is_empty() {
            plan.phase(Keys::named("small 0, large {large.depth}"));
            plan.workload(self.large_random(&large));
        }
        if grid.points.iter().any(|load| !is_alone(&load)) {
            let not_none = |loads: Vec<u32>| loads.into_iter().filter(|load| *load > 0).collect::<Vec<_>>();
            plan.phase(Keys::named("small {small.depth}, large {large.depth}"));
            plan.workload(self.small(&not_none(grid.small())));
            plan.workload(self.large_random(&not_none(grid.large())));
        }
    }

    /// A phase for the first row, and for every other data point one that warms caches and one that is measured.
    fn sequential(&self, grid: &Grid, plan: &mut PlanText) {
        self.small_alone(grid, plan);
        for Load { small, large } in grid.points.iter().filter(|load| load.large > 0) {
            if self.warms() {
                self.warming(&format!("{WARMING} for small {small}, large {large}"), plan);
            }
            plan.phase(Keys::named(&format!("small {small}, large {large}")));
            if *small > 0 {
                plan.workload(self.small(&[*small]));
            }
            self.streams(*large, plan);
        }
    }

    fn small_alone(&self, grid: &Grid, plan: &mut PlanText) {
        let small: Vec<u32> =
            grid.points.iter().filter(|load| load.large == 0).map(|load| load.small).collect();
        if !small.is_empty() {
            plan.phase(Keys::named("small {small.depth}, large 0"));
            plan.workload(self.small(&small));
        }
    }

    fn small(&self, depths: &[u32]) -> Keys {
        let keys = Keys::named("small").with("size", Bytes::new(self.small_kib << 10));
        keys.with("depth", depths).with("headline", "iops")
    }

    fn large_random(&self, depths: &[u32]) -> Keys {
        let keys = Keys::named("large").with("size", Bytes::new(self.large_kib << 10));
        keys.with("depth", depths).with("headline", "mb_per_s")
    }

    /// Whole streams read or write. Each has a part of its own of the LUNs, and passes through it again and again.
    fn streams(&self, streams: u32, plan: &mut PlanText) {
        let writing = (u64::from(streams) * u64::from(self.write) + 50) / 100;
        assert!(streams > 0 && writing <= u64::from(streams), "some of the streams write");
        let reading = u64::from(streams) - writing;
        let mut some = |name: &str, count: u64, before: u64, reads: u32| {
            let is_part = count != u64::from(streams);
            let part = |of: u64| is_part.then(|| format!("{of}/{streams}"));
            plan.workload(
                Keys::named(name)
                    .with("pattern", "sequential")
                    .with("size", Bytes::new(self.large_kib << 10))
                    .with("reads", Percent(reads))
                    .with("workers", count)
                    .with("depth", self.stream_ios)
                    .maybe("offset", part(before))
                    .maybe("span", part(count))
                    .with("headline", "mb_per_s"),
            );
        };
        match (reading, writing) {
            (_, 0) => some("large", reading, 0, 100),
            (0, _) => some("large", writing, 0, 0),
            _ => {
                some("large reads", reading, 0, 100);
                some("large writes", writing, reading, 0);
            }
        }
    }

    fn warming(&self, name: &str, plan: &mut PlanText) {
        let run = if self.cache_mib.is_some() { "none" } else { "2m" };
        plan.phase(Keys::named(name).with("run", run));
        let keys = Keys::named(WARMING).with("size", Bytes::new(self.large_kib << 10));
        let bytes = self.cache_mib.map(|mib| Bytes::new(mib << 20));
        plan.workload(keys.with("depth", self.stream_ios).maybe("bytes", bytes));
    }
}
