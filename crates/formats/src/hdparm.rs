//! hdparm 9.65: the timings `-t` and `-T`, with `--direct` and `--offset`.
//!
//! Where the original stops a moment after two or three seconds, the time here is exactly that, and a read that is
//! still under way then is not counted. A device that ends sooner is read once, and the time is what that took.

use record::{Point, Run, WorkloadResult};

use crate::{NoFigures, Order, Output, Refusal, quoted};

const TOOL: &str = "hdparm";

/// Each read, and the part that is read again and again by `-T`.
const READ: u64 = 2 << 20;

/// As many reads at most of a file, whose size the original does not ask for.
const MOST_OF_A_FILE: u64 = 1024;

/// The phase whose figures are those of `-T`.
pub const CACHED: &str = "cached reads";
/// The phase whose figures are those of `-t`.
pub const DISK: &str = "disk reads";

/// Everything else that hdparm 9.65 does, by its letters.
const LETTERS: &str = "aAbBcCdDEfFghHiIJkKLmMnNpPqQrRsSuUvVwWxXyYzZ";

const LONG: &[&str] = &[
    "--direct",
    "--offset",
    "--Istdin",
    "--Istdout",
    "--dco-freeze",
    "--dco-identify",
    "--dco-restore",
    "--drq-hsm-error",
    "--fallocate",
    "--fibmap",
    "--fwdownload",
    "--idle-immediate",
    "--idle-unload",
    "--make-bad-sector",
    "--prefer-ata12",
    "--read-sector",
    "--repair-sector",
    "--sanitize-status",
    "--security-erase",
    "--security-help",
    "--set-sector-size",
    "--trim-sector-ranges",
    "--verbose",
    "--write-sector",
    "--yes-i-know-what-i-am-doing",
];

/// A command line of hdparm.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Command {
    /// `-T`: reads from memory. Comes first whatever the order of the options.
    pub cached: bool,
    /// `-t`: reads from the device.
    pub disk: bool,
    /// `--direct`.
    pub direct: bool,
    /// `--offset`: where `-t` begins.
    pub offset_gib: u64,
    /// One after the other.
    pub devices: Vec<String>,
    /// What was understood but changes nothing.
    pub notes: Vec<String>,
}

impl Command {
    /// Reads the arguments after the tool's name.
    pub fn parse(arguments: &[String]) -> Result<Command, Refusal> {
        let mut command = Command::default();
        let mut words = arguments.iter();
        while let Some(word) = words.next() {
            if let Some(long) = word.strip_prefix("--") {
                let (name, value) = long.split_once('=').map_or((long, None), |(n, v)| (n, Some(v)));
                match name {
                    "direct" if value.is_none() => command.direct = true,
                    "offset" => {
                        let value = value.or_else(|| words.next().map(String::as_str));
                        command.offset_gib = offset(value.unwrap_or_default())?;
                    }
                    _ => return Err(unserved_or_unknown(&format!("--{name}"))),
                }
            } else if let Some(letters) = word.strip_prefix('-').filter(|letters| !letters.is_empty()) {
                letters.chars().try_for_each(|letter| command.letter(letter))?;
            } else {
                command.devices.push(word.clone());
            }
        }
        let usage = |what: &str| Err(Refusal::Usage { tool: TOOL, what: what.into() });
        match &command {
            Command { cached: false, disk: false, .. } => {
                usage("nothing to time; say `-t` for reads of the device, `-T` for reads of memory, or both")
            }
            Command { devices, .. } if devices.is_empty() => usage("name a device, such as /dev/sda"),
            _ => Ok(command),
        }
    }

    fn letter(&mut self, letter: char) -> Result<(), Refusal> {
        match letter {
            't' => self.disk = true,
            'T' => self.cached = true,
            'f' => self.notes.push("`-f`: the page cache is emptied after each timing in any case".into()),
            'a' => {
                let why = "settings of a device are not read or changed here; the plan `read-ahead` sets read-ahead, \
                           measures and puts it back";
                return Err(Refusal::Unserved { tool: TOOL, option: "-a".into(), why: why.into() });
            }
            _ => return Err(unserved_or_unknown(&format!("-{letter}"))),
        }
        Ok(())
    }

    /// The plan that does on `device`, of `size` bytes, what the command asks for.
    pub fn order(&self, device: &str, size: u64, is_file: bool) -> Result<Order, Refusal> {
        let offset = self.offset_gib.saturating_mul(1 << 30);
        let most = if is_file { MOST_OF_A_FILE } else { u64::MAX };
        let reads = (size.saturating_sub(if self.disk { offset } else { 0 }) / READ).min(most);
        if reads == 0 {
            let what = format!("{device}: read() hit EOF - device too small");
            return Err(Refusal::Usage { tool: TOOL, what });
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
        Ok(Order { plan, targets: vec![device.into()], notes: self.notes.clone() })
    }

    /// What is printed before the reads of the phase called `name`; nothing for other phases.
    pub fn label(&self, name: &str) -> String {
        match name {
            CACHED => label(true, self.direct, 0),
            DISK => label(false, self.direct, self.offset_gib),
            _ => String::new(),
        }
    }
}

/// What hdparm prints before a device's timings.
pub fn heading(device: &str) -> String {
    format!("\n{device}:\n")
}

/// The rest of the line after its label, from the record's reads and time.
pub fn figures(point: &Point) -> String {
    let classes = point.workloads.iter().flat_map(|workload| &workload.classes);
    let bytes: u64 = classes.map(|class| class.bytes).sum();
    let measured_ns = point.workloads.iter().map(|workload| workload.measured_ns).max().unwrap_or(0);
    let (mib, seconds) = (bytes >> 20, measured_ns as f64 / 1e9);
    let rate = if seconds > 0.0 { mib as f64 / seconds } else { 0.0 };
    match rate > 1.0 {
        true => format!("{mib:3} MB in {seconds:5.2} seconds = {rate:6.2} MB/sec\n"),
        false => format!("{mib:3} MB in {seconds:5.2} seconds = {:6.2} kB/sec\n", rate * 1024.0),
    }
}

fn label(cached: bool, direct: bool, offset_gib: u64) -> String {
    match (cached, direct) {
        (true, false) => " Timing cached reads:   ".into(),
        (true, true) => " Timing O_DIRECT cached reads:   ".into(),
        (false, direct) => {
            let how = if direct { "O_DIRECT" } else { "buffered" };
            let offset = match offset_gib {
                0 => String::new(),
                gib => format!(" (offset {gib} GB)"),
            };
            format!(" Timing {how} disk reads{offset}: ")
        }
    }
}

const FLUSH: &str = "\n[[phase]]\nstate = \"prepare\"\nfill  = 0\n";

fn idle(seconds: u32) -> String {
    format!("\n[[phase]]\nstate = \"idle\"\nrun   = \"{seconds}s\"\n")
}

fn offset(value: &str) -> Result<u64, Refusal> {
    // No device has more than 2^63 bytes.
    value.parse().ok().filter(|gib| *gib < 1 << 33).ok_or_else(|| Refusal::Value {
        tool: TOOL,
        option: "--offset".into(),
        value: value.into(),
        want: "a whole number of GiB".into(),
    })
}

fn unserved_or_unknown(option: &str) -> Refusal {
    let is_letter =
        option.strip_prefix('-').is_some_and(|letter| letter.len() == 1 && LETTERS.contains(letter));
    if is_letter || LONG.contains(&option) {
        let why = "only the timings are: -t, -T, --direct and --offset N";
        return Refusal::Unserved { tool: TOOL, option: option.into(), why: why.into() };
    }
    Refusal::unknown(TOOL, option, LONG)
}

/// hdparm's output of any run that reads a stream in pieces of 2 MiB.
pub const OUTPUT: Output = Output {
    name: "hdparm",
    ending: "hdparm.txt",
    about: "timings of streams of 2 MiB reads, as hdparm -tT prints them",
    write: text,
};

fn text(run: &Run) -> Result<String, NoFigures> {
    let lines: String = run.points.iter().filter_map(line).collect();
    let names: Vec<&str> = run.targets.iter().map(|target| target.address.as_str()).collect();
    match lines.is_empty() {
        true => Err(NoFigures {
            format: "hdparm",
            why: "no point reads one stream in pieces of 2 MiB; `fathom run hdparm` has such points".into(),
        }),
        false => Ok(heading(&names.join(" ")) + &lines),
    }
}

/// The line of a point, if hdparm could have measured it. Single reads that prime a cache are none.
fn line(point: &Point) -> Option<String> {
    let [workload] = &point.workloads[..] else { return None };
    let says = |key: &str, value: &str| workload.spec.get(key).is_some_and(|found| found == value);
    let is_stream = says("pattern", "sequential") && says("workers", "1") && says("depth", "1");
    let [class] = &workload.classes[..] else { return None };
    if !is_stream || class.op != "read" || class.size_bytes != READ || class.ops < 2 {
        return None;
    }
    let cached = workload.span_bytes == Some(READ);
    let label = label(cached, says("direct", "true"), if cached { 0 } else { offset_of(workload) });
    Some(label + &figures(point))
}

fn offset_of(workload: &WorkloadResult) -> u64 {
    let offset = workload.spec.get("offset").and_then(|text| text.parse::<units::Bytes>().ok());
    offset.map_or(0, |bytes| bytes.get() >> 30)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parse(line: &str) -> Result<Command, Refusal> {
        Command::parse(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn letters_may_stand_together_and_options_anywhere() {
        let command = parse("-tT /dev/sda --direct --offset 10 /dev/sdb").unwrap();
        assert!(command.cached && command.disk && command.direct);
        assert_eq!((command.offset_gib, command.devices.len()), (10, 2));
        assert_eq!(parse("-t --offset=3 x").unwrap().offset_gib, 3);
        for wrong in ["", "-t", "/dev/sda", "--direct /dev/sda", "-t --offset ten x", "-t --offset"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_is_not_a_timing_is_refused_by_name() {
        for (line, word) in [
            ("-i /dev/sda", "`-i` is not served"),
            ("-a256 /dev/sda", "read-ahead"),
            ("--security-erase x /dev/sda", "`--security-erase` is not served"),
            ("-t --drect /dev/sda", "did you mean `--direct`"),
            ("-t\u{e4} /dev/sda", "-\u{e4}"),
        ] {
            let refusal = parse(line).unwrap_err().to_string();
            assert!(refusal.contains(word), "{line}: {refusal}");
        }
    }

    #[test]
    fn every_order_is_a_plan_with_the_timings_in_it() {
        for (line, names) in [
            ("-t x", vec![DISK]),
            ("-T --direct x", vec!["prime", CACHED]),
            ("-tT --offset 2 x", vec!["prime", CACHED, DISK]),
        ] {
            let order = parse(line).unwrap().order("x", 100 << 30, false).unwrap();
            let plan = workload::plan::Plan::parse("hdparm", &order.plan, &Default::default())
                .unwrap_or_else(|errors| panic!("{}\n{}", errors.plain(), order.plan));
            assert!(!plan.estimate().changes_data);
            let loads = plan.points().iter().filter(|point| !point.workloads().is_empty());
            assert_eq!(loads.map(|point| point.name.as_str()).collect::<Vec<_>>(), names);
        }
        assert!(parse("-t --offset 100 x").unwrap().order("x", 100 << 30, false).is_err());
        assert!(parse("-T x").unwrap().order("x", 1 << 20, true).is_err());
    }

    #[test]
    fn labels_are_those_of_the_original() {
        assert_eq!(label(true, false, 0), " Timing cached reads:   ");
        assert_eq!(label(true, true, 0), " Timing O_DIRECT cached reads:   ");
        assert_eq!(label(false, false, 0), " Timing buffered disk reads: ");
        assert_eq!(label(false, true, 10), " Timing O_DIRECT disk reads (offset 10 GB): ");
    }

    proptest! {
        #[test]
        fn no_words_make_it_panic(words in proptest::collection::vec("-{0,2}[ -~]{0,9}", 0..5)) {
            if let Ok(command) = Command::parse(&words) {
                let _ = command.order("x", u64::MAX, false);
            }
        }
    }
}
