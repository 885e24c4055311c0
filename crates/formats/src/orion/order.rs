//! What a command line comes to as a plan.

use super::options::{Command, Large, Simulated};
use super::points::{Grid, Load};
use super::{TOOL, WARMING};
use crate::{Refusal, TranslatedJob, quoted};

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
        let wrong = |what: String| Err(Refusal::Line { file: file.into(), line, what });
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
            name if name.chars().any(char::is_control) => return wrong("this is no name of a file".into()),
            name => luns.push(Lun { line, name: name.into() }),
        }
    }
    match luns.is_empty() {
        false => Ok(luns),
        true => Err(Refusal::Line { file: file.into(), line: 1, what: "no LUN is listed".into() }),
    }
}

impl Command {
    /// The plan that does what the command asks. `seed` differs from call to call.
    pub fn translate(&self, luns: &[Lun], grid: &Grid, seed: u32) -> Result<TranslatedJob, Refusal> {
        let mut plan = format!(
            "name  = \"orion\"\nabout = {}\nseed  = {seed}\n\n[defaults]\npattern = \"random(repeats)\"\n\
             span    = \"100%\"\nreads   = \"{}%\"\nrun     = \"{}s\"\n",
            quoted(&format!("what `orion {}` asks for", self.words.join(" "))),
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
                return Err(Refusal::Usage { tool: TOOL, what });
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use workload::plan::{Plan, Task};
    use workload::spec::Pattern;

    use super::*;
    use units::convert::narrow;

    fn command(line: &str) -> Command {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        Command::parse(&words).unwrap_or_else(|refusal| panic!("{line}: {refusal}"))
    }

    fn plan(line: &str, names: &[&str]) -> Plan {
        let command = command(line);
        let luns: Vec<Lun> = names.iter().map(|name| Lun { line: 1, name: (*name).into() }).collect();
        let grid = command.grid(narrow::<u32>(luns.len())).unwrap();
        let order = command.translate(&luns, &grid, 7).unwrap();
        Plan::parse("orion", &order.plan, &Default::default())
            .unwrap_or_else(|errors| panic!("{line}: {}\n{}", errors.plain(), order.plan))
    }

    /// For each measured point, (small in flight, large in flight or streams).
    fn loads(plan: &Plan) -> Vec<(u32, u32)> {
        let of = |point: &workload::plan::Point| {
            let Task::Load(load) = &point.task else { panic!("every phase is a load") };
            let sum = |kind: &str| {
                let some = load.workloads.iter().filter(|workload| workload.name.starts_with(kind));
                some.map(|one| {
                    if one.pattern == Pattern::Sequential { one.workers } else { one.workers * one.depth }
                })
                .sum::<u32>()
            };
            (sum("small"), sum("large"))
        };
        plan.points().iter().map(of).filter(|load| *load != (0, 0)).collect()
    }

    #[test]
    fn a_plan_has_exactly_the_data_points() {
        for line in [
            "-run simple -num_disks 8",
            "-run normal -num_disks 2",
            "-run oltp -num_disks 3 -write 30",
            "-run dss",
            "-run advanced -matrix point -num_small 7 -num_large 2 -size_small 4",
            "-run advanced -matrix col -num_small 3 -num_disks 2",
            "-run advanced -matrix row -num_large 4",
            "-run advanced -matrix max -num_small 5 -num_large 3",
            "-run advanced -type seq -num_disks 4 -matrix detailed",
            "-run advanced -type seq -num_disks 4 -cache_size 0 -write 50",
            "-run advanced -type seq -num_disks 4 -cache_size 64 -write 25",
        ] {
            let asked = command(line).grid(1).unwrap();
            let expected: Vec<(u32, u32)> =
                asked.points.iter().map(|load| (load.small, load.large)).collect();
            let mut found = loads(&plan(line, &["disk"]));
            let mut sorted = expected.clone();
            found.sort_unstable();
            sorted.sort_unstable();
            assert_eq!(found, sorted, "{line}");
        }
    }

    #[test]
    fn of_four_streams_a_quarter_writes_one() {
        let plan = plan(
            "-run advanced -type seq -matrix point -num_small 2 -num_large 4 -write 25 -cache_size 64",
            &["d"],
        );
        let points = plan.points();
        assert_eq!(points.len(), 2);
        let warming = &points[0].workloads()[0];
        assert_eq!((warming.stop.run, warming.stop.bytes), (None, Some(units::Bytes::new(64 << 20))));
        let of: Vec<(&str, u32, u32)> =
            points[1].workloads().iter().map(|one| (one.name.as_str(), one.workers, one.depth)).collect();
        assert_eq!(of, [("small", 1, 2), ("large reads", 3, 4), ("large writes", 1, 4)]);
        let writes = &points[1].workloads()[2];
        assert_eq!(writes.offset.to_string(), "75%");
    }

    #[test]
    fn two_minutes_of_random_requests_go_before_a_stream_unless_something_else_is_said() {
        let plan =
            plan("-run advanced -type seq -matrix point -num_small 0 -num_large 1 -duration 5", &["d"]);
        let times: Vec<u64> =
            plan.points().iter().map(|point| point.estimate().time.get() / 1_000_000_000).collect();
        assert_eq!(times, [120, 5]);
    }

    #[test]
    fn stripes_are_for_several_luns_and_hold_whole_requests() {
        let luns = [Lun { line: 1, name: "a".into() }, Lun { line: 2, name: "b".into() }];
        let order = |line: &str, luns: &[Lun]| {
            let command = command(line);
            let grid = command.grid(1).unwrap();
            command.translate(luns, &grid, 1)
        };
        let simple = "-run simple -simulate raid0";
        assert!(order(simple, &luns).unwrap().plan.contains("striped(1024KiB)"));
        assert!(!order(simple, &luns[..1]).unwrap().plan.contains("striped"));
        let refusal = order("-run simple -simulate raid0 -stripe 64", &luns).unwrap_err().to_string();
        assert!(refusal.contains("-stripe 64") && refusal.contains("-size_large 1024"), "{refusal}");
    }

    #[test]
    fn a_list_of_luns_is_read_line_by_line() {
        let names = |text: &str| {
            luns("t.lun", text)
                .map(|luns| luns.into_iter().map(|lun| (lun.line, lun.name)).collect::<Vec<_>>())
        };
        assert_eq!(
            names("/dev/sda\r\n\n  array:md3000?luns=2 \n"),
            Ok(vec![(1, "/dev/sda".into()), (3, "array:md3000?luns=2".into())])
        );
        let message = |text: &str| names(text).unwrap_err().to_string();
        assert!(message("a\n# b\n").starts_with("t.lun:2: "));
        assert!(message("\\\\.\\E:\n").contains("Windows"));
        assert!(message("\n\n").contains("no LUN"));
    }

    proptest! {
        #[test]
        fn no_words_make_it_panic(
            words in proptest::collection::vec(
                prop_oneof![
                    Just("-run".to_owned()), Just("advanced".to_owned()), Just("oltp".to_owned()),
                    Just("-type".to_owned()), Just("seq".to_owned()), Just("-matrix".to_owned()),
                    "(basic|detailed|point|col|row|max)", "-num_(disks|small|large)", "-(write|stripe|duration|cache_size)",
                    "[0-9]{1,6}", "[ -~]{0,6}",
                ], 0..10),
            text in "[ -~\n]{0,40}",
        ) {
            let _ = luns("t.lun", &text);
            if let Ok(command) = Command::parse(&words)
                && let Ok(grid) = command.grid(1)
                && grid.points.len() < 200
            {
                let lun = Lun { line: 1, name: "disk".into() };
                let order = command.translate(std::slice::from_ref(&lun), &grid, 1).unwrap();
                let plan = Plan::parse("orion", &order.plan, &Default::default());
                let plan = plan.unwrap_or_else(|errors| panic!("{}\n{}", errors.plain(), order.plan));
                prop_assert_eq!(loads(&plan).len(), grid.points.len());
            }
        }
    }
}
