//! The options that hold for one job: its own, and of those before it the global ones.

use crate::Refusal;

use super::section::{Section, Setting};
use super::value::{self, Amount, Bare, KbBase};

/// All settings of a job, later ones before earlier ones of the same name.
#[derive(Clone, Debug)]
pub(super) struct Options {
    settings: Vec<Setting>,
    /// So many of them hold for all jobs.
    globals: usize,
    pub base: KbBase,
}

impl Options {
    /// The options of `section` after the `globals` before it.
    pub(super) fn of(globals: &[Setting], section: &Section) -> Result<Options, Refusal> {
        let settings: Vec<Setting> = globals.iter().chain(&section.settings).cloned().collect();
        let mut options = Options { settings, globals: globals.len(), base: KbBase::Binary };
        if let Some(base) = options.get("kb_base") {
            options.base = match base.value.as_str() {
                "1024" => KbBase::Binary,
                "1000" => KbBase::Decimal,
                _ => return Err(base.wrong("1024 or 1000")),
            };
        }
        options.count_zones()?;
        Ok(options)
    }

    /// Writes sizes in zones, such as `8z`, in bytes.
    fn count_zones(&mut self) -> Result<(), Refusal> {
        const MAY: [&str; 5] = ["size", "io_size", "offset", "offset_increment", "zoneskip"];
        let zone = self.size("zonesize")?.unwrap_or(0);
        for setting in self.settings.iter_mut().filter(|setting| MAY.contains(&setting.known.name)) {
            let Some(count) = setting.value.strip_suffix(['z', 'Z']) else { continue };
            let bytes = count.trim().parse::<u64>().ok().and_then(|count| count.checked_mul(zone));
            match bytes.filter(|_| zone > 0) {
                Some(bytes) => setting.value = bytes.to_string(),
                None => {
                    return Err(setting.wrong("zones are counted where zonesize= says how large they are"));
                }
            }
        }
        Ok(())
    }

    /// Every option once, in the order in which they were said last.
    pub(super) fn all(&self) -> impl Iterator<Item = &Setting> {
        last(&self.settings)
    }

    /// Names and values of what holds for all jobs, each name once, as it was said last.
    pub(super) fn of_all(&self) -> Vec<(String, String)> {
        said(&self.settings[..self.globals])
    }

    /// The same of what this job alone says.
    pub(super) fn own(&self) -> Vec<(String, String)> {
        said(&self.settings[self.globals..])
    }

    /// What this job says itself, whatever holds for all jobs.
    pub(super) fn own_text(&self, name: &str) -> Option<&str> {
        let own = self.settings[self.globals..].iter().rev();
        own.into_iter().find(|setting| setting.known.name == name).map(|setting| setting.value.as_str())
    }

    /// The setting that holds.
    pub(super) fn get(&self, name: &str) -> Option<&Setting> {
        self.settings.iter().rev().find(|setting| setting.known.name == name)
    }

    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.get(name).map(|setting| setting.value.as_str())
    }

    /// Yes or no; `None` where nothing was said.
    pub(super) fn flag(&self, name: &str) -> Result<Option<bool>, Refusal> {
        self.get(name)
            .map(|setting| match setting.value.as_str() {
                "" | "1" | "true" => Ok(true),
                "0" | "false" => Ok(false),
                _ => Err(setting.wrong("0 or 1")),
            })
            .transpose()
    }

    /// A whole number.
    pub(super) fn count(&self, name: &str) -> Result<Option<u64>, Refusal> {
        self.read(name, value::count)
    }

    /// A whole number that fits 32 bits.
    pub(super) fn count32(&self, name: &str) -> Result<Option<u32>, Refusal> {
        self.read(name, |text| {
            u32::try_from(value::count(text)?).map_err(|_| format!("`{text}` is too large"))
        })
    }

    pub(super) fn size(&self, name: &str) -> Result<Option<u64>, Refusal> {
        self.read(name, |text| self.base.size(text))
    }

    /// A size or a part.
    pub(super) fn amount(&self, name: &str) -> Result<Option<Amount>, Refusal> {
        self.read(name, |text| self.base.amount(text))
    }

    /// In percent.
    pub(super) fn share(&self, name: &str) -> Result<Option<f64>, Refusal> {
        self.read(name, value::share)
    }

    /// Nanoseconds.
    pub(super) fn time_ns(&self, name: &str, bare: Bare) -> Result<Option<u64>, Refusal> {
        self.read(name, |text| value::time_ns(text, bare))
    }

    /// What `reader` makes of the value; its words are the refusal of it.
    pub(super) fn read<T>(
        &self,
        name: &str,
        reader: impl Fn(&str) -> Result<T, String>,
    ) -> Result<Option<T>, Refusal> {
        self.get(name).map(|setting| reader(&setting.value).map_err(|want| setting.wrong(want))).transpose()
    }

    /// What `reader` makes of each of three values: of reads, writes and trims.
    pub(super) fn three<T>(
        &self,
        name: &str,
        reader: impl Fn(&str) -> Result<T, String>,
    ) -> Result<[Option<T>; 3], Refusal> {
        let Some(setting) = self.get(name) else { return Ok([None, None, None]) };
        let read = |text: Option<String>| {
            text.map(|text| reader(&text).map_err(|want| setting.wrong(want))).transpose()
        };
        // Of these a range is a list.
        let [reads, writes, trims] = match name {
            "bs" | "ba" => value::three(&value::listed(&setting.value)),
            _ => value::three(&setting.value),
        };
        Ok([read(reads)?, read(writes)?, read(trims)?])
    }
}

/// Each name once, as it was said last.
fn last(settings: &[Setting]) -> impl Iterator<Item = &Setting> {
    let is_last = |(at, setting): &(usize, &Setting)| {
        settings[at + 1..].iter().all(|later| later.known.name != setting.known.name)
    };
    settings.iter().enumerate().filter(is_last).map(|(_, setting)| setting)
}

fn said(settings: &[Setting]) -> Vec<(String, String)> {
    last(settings).map(|setting| (setting.known.name.to_owned(), setting.value.clone())).collect()
}
