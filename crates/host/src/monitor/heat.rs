//! Clock frequency, temperature and throttling, where the machine tells. Virtual machines do not.

use std::path::{Path, PathBuf};

use units::Instant;

use super::series::{Last, Sampler, Sink, Slot, grown};
use crate::sysroot::{DevNo, SysRoot, is_numbered, names, number};

pub(super) struct Heat {
    frequencies: Vec<PathBuf>,
    mean: Option<Slot>,
    lowest: Option<Slot>,
    temperatures: Vec<(PathBuf, Slot)>,
    throttles: Vec<PathBuf>,
    throttled: Option<Slot>,
    last: Last<u64>,
}

impl Heat {
    pub(super) fn start(root: &SysRoot, devices: &[DevNo], out: &mut Sink) -> Option<Heat> {
        let folder = root.sys.join("devices/system/cpu");
        let frequencies = of_each_cpu(&folder, "cpufreq/scaling_cur_freq");
        let throttles = of_each_cpu(&folder, "thermal_throttle/core_throttle_count");
        if frequencies.is_empty() {
            out.miss("cpu.frequency", "no cpufreq in sysfs, as in most virtual machines");
        }
        let source = "/sys/devices/system/cpu/cpu*/cpufreq/scaling_cur_freq";
        let mut frequency = |name| (!frequencies.is_empty()).then(|| out.open(name, "hz", source));
        let (mean, lowest) = (frequency("cpu.frequency.mean"), frequency("cpu.frequency.lowest"));
        let temperatures = temperatures(root, devices, out);
        if temperatures.is_empty() {
            out.miss("temperature", "no thermal zone and no sensor of the devices in sysfs");
        }
        if throttles.is_empty() {
            out.miss("cpu.throttled", "no thermal_throttle in sysfs");
        }
        let source = "/sys/devices/system/cpu/cpu*/thermal_throttle/core_throttle_count";
        let throttled = (!throttles.is_empty()).then(|| out.open("cpu.throttled", "events", source));
        let heat =
            Heat { frequencies, mean, lowest, temperatures, throttles, throttled, last: Last::default() };
        (heat.mean.is_some() || heat.throttled.is_some() || !heat.temperatures.is_empty()).then_some(heat)
    }
}

impl Sampler for Heat {
    fn sample(&mut self, now: Instant, out: &mut Sink) {
        // cpufreq counts in kHz (`Documentation/admin-guide/pm/cpufreq.rst`).
        let hertz: Vec<f64> =
            self.frequencies.iter().filter_map(|path| number(path)).map(|khz| khz as f64 * 1e3).collect();
        if let (Some(mean), Some(lowest), false) = (self.mean, self.lowest, hertz.is_empty()) {
            out.push(mean, now, hertz.iter().sum::<f64>() / hertz.len() as f64);
            out.push(lowest, now, hertz.iter().copied().fold(f64::INFINITY, f64::min));
        }
        for (path, slot) in &self.temperatures {
            if let Some(celsius) = celsius(path) {
                out.push(*slot, now, celsius);
            }
        }
        if let Some(slot) = self.throttled {
            let after = self.throttles.iter().filter_map(|path| number(path)).sum();
            if let Some((before, _)) = self.last.replace(now, after) {
                out.push(slot, now, grown(before, after));
            }
        }
    }
}

fn of_each_cpu(folder: &Path, file: &str) -> Vec<PathBuf> {
    let cpus = names(folder).into_iter().filter(|name| is_numbered(name, "cpu"));
    cpus.map(|cpu| folder.join(cpu).join(file)).filter(|path| path.exists()).collect()
}

/// The machine's thermal zones and the sensors of the devices watched, those that answer.
fn temperatures(root: &SysRoot, devices: &[DevNo], out: &mut Sink) -> Vec<(PathBuf, Slot)> {
    let zones = root.sys.join("class/thermal");
    let zone_files = names(&zones)
        .into_iter()
        .filter(|name| name.starts_with("thermal_zone"))
        .map(|name| (format!("temperature.{name}"), zones.join(name).join("temp")));
    let device_files = devices.iter().filter_map(|devno| {
        let folder = root.block_folder(*devno)?;
        let name = folder.file_name()?.to_str()?.to_owned();
        Some((format!("temperature.{name}"), sensor(&folder.join("device"))?))
    });
    let answering: Vec<(String, PathBuf)> =
        zone_files.chain(device_files).filter(|(_, path)| celsius(path).is_some()).collect();
    answering
        .into_iter()
        .map(|(name, path)| {
            let slot = out.open(name, "celsius", &path.display().to_string());
            (path, slot)
        })
        .collect()
}

/// Drives show their sensor below the device, either as `hwmonN` or as `hwmon/hwmonN`
/// (`Documentation/hwmon/drivetemp.rst`).
fn sensor(device: &Path) -> Option<PathBuf> {
    [device.to_owned(), device.join("hwmon")].iter().find_map(|folder| {
        let hwmon = names(folder).into_iter().find(|name| name.starts_with("hwmon") && name != "hwmon")?;
        Some(folder.join(hwmon).join("temp1_input")).filter(|path| path.exists())
    })
}

/// sysfs gives thousandths of a degree, below zero too.
fn celsius(path: &Path) -> Option<f64> {
    crate::sysroot::text(path)?.parse::<f64>().ok().map(|milli| milli / 1000.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;

    #[test]
    fn frequency_temperature_and_throttling_are_read_where_they_are() {
        let machine = Fixture::new();
        let disk = machine.disk("nvme0n1", "259:0", 8);
        for (cpu, khz) in [("cpu0", "3000000"), ("cpu1", "1000000")] {
            machine.write(&format!("sys/devices/system/cpu/{cpu}/cpufreq/scaling_cur_freq"), khz);
            machine.write(&format!("sys/devices/system/cpu/{cpu}/thermal_throttle/core_throttle_count"), "2");
        }
        machine.write("sys/devices/system/cpu/cpuidle/x", "");
        machine.write("sys/class/thermal/thermal_zone0/temp", "45500\n");
        machine.write("sys/block/nvme0n1/device/hwmon3/temp1_input", "-1000\n");
        let mut out = Sink::default();
        let mut heat = Heat::start(&machine.root(), &[disk], &mut out).expect("there is something");
        heat.sample(Instant::START, &mut out);
        machine.write("sys/devices/system/cpu/cpu1/thermal_throttle/core_throttle_count", "5");
        heat.sample(Instant::from_nanos(1), &mut out);
        for (name, value) in [
            ("cpu.frequency.mean", 2e9),
            ("cpu.frequency.lowest", 1e9),
            ("temperature.thermal_zone0", 45.5),
            ("temperature.nvme0n1", -1.0),
            ("cpu.throttled", 3.0),
        ] {
            assert_eq!(out.last(name), Some(value), "{name}");
        }
        assert!(out.absent.is_empty() && out.series.len() == 5);
    }
}
