//! `fathom array loss`: how likely an array loses data.

use array::reliability::{Chance, Loss, Question, Weibull, groups, loss as chances};
use array::spec::{self, ArraySpec};
use clap::Args;
use modelled::lab::spot::rebuild_alone;
use record::Run;
use report::Stretch;
use units::Nanos;
use units::convert::truncated;

use crate::ending::Failure;
use crate::input::arrays::LIBRARY;
use crate::input::candidates;
use crate::output::{self, TextOrJson};
use crate::session::store::Store;

#[derive(Debug, Args)]
pub struct LossArgs {
    /// A name, a TOML file, or an address such as md3000?raid=6
    #[arg(add = candidates::arrays())]
    pub array: String,
    /// Duration of a rebuild, such as 12h [default: as the model rebuilds without a load]
    #[arg(long, value_name = "TIME")]
    pub rebuild: Option<Nanos>,
    /// Take the pace that the rebuild of this run had beside its load: last, last~1, a number of `fathom ls`, or the beginning of an id
    #[arg(long, value_name = "RUN", conflicts_with = "rebuild", add = candidates::runs())]
    pub run: Option<String>,
    /// Weibull characteristic life: the age that 37 % of the disks reach
    // Elerath & Pecht, IEEE Transactions on Computers 58 (2009): disks in the field.
    #[arg(long, value_name = "TIME", default_value = "461386h")]
    pub disk_life: Nanos,
    /// Weibull shape: below 1 infant mortality, 1 a constant failure rate, above 1 wear-out
    #[arg(long, value_name = "SHAPE", default_value_t = 1.12)]
    pub shape: f64,
    /// Age of the disks
    #[arg(long, value_name = "TIME", default_value = "0h")]
    pub age: Nanos,
    /// Unrecoverable read errors per bit, as in the data sheet
    #[arg(long, value_name = "PROBABILITY", default_value_t = 1e-15)]
    pub ure: f64,
    /// The period to predict
    #[arg(long, value_name = "TIME", default_value = "8766h")]
    pub over: Nanos,
    /// Simulated histories
    #[arg(long, value_name = "COUNT", default_value_t = 40_000,
        value_parser = clap::value_parser!(u32).range(1_000..=10_000_000))]
    pub histories: u32,
    /// Random seed
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    #[command(flatten)]
    pub printed: TextOrJson,
}

/// What is printed.
pub fn loss(arguments: &LossArgs, store: &Store) -> Result<String, Failure> {
    let life = life(arguments)?;
    let array = spec::array(&LIBRARY, &arguments.array)?;
    let (rebuild, source) = rebuild(arguments, store, &array)?;
    let topology = &array.topology;
    let mut text = String::new();
    let mut answers = Vec::new();
    for (number, set) in topology.sets.iter().enumerate() {
        let spec = set.geometry.spec();
        let (groups, group) = groups(spec);
        debug_assert!(groups > 0 && group.spare < group.disks, "not all disks of a group may fail");
        let question = Question {
            group,
            groups,
            life,
            age_h: hours(arguments.age),
            rebuild: Weibull::fixed(hours(rebuild)),
            unreadable: arguments.ure,
            hours: hours(arguments.over),
            seed: arguments.seed.wrapping_add(number as u64),
            histories: arguments.histories,
        };
        let answer = chances(&question);
        answers.push(serde_json::json!({
            "set": number, "level": spec.level.name(), "groups": groups, "disks_of_group": group.disks,
            "fault_tolerance": group.spare, "rebuild_h": hours(rebuild), "chances": answer,
        }));
        text += &format!(
            "{}{}: {}{}, {}\n",
            if topology.sets.len() > 1 { format!("set {number}, ") } else { String::new() },
            spec.level,
            report::counted(spec.members, "disk"),
            if groups > 1 { format!(" in {groups} groups of {}", group.disks) } else { String::new() },
            survives(group.spare, groups),
        );
        text += &of_set(&answer, &question, rebuild, arguments.over);
        text.push('\n');
    }
    if arguments.printed.is_json() {
        let all = serde_json::json!({ "array": arguments.array, "rebuild_from": source, "sets": answers,
            "disks": { "life_h": life.scale_h, "shape": life.shape, "age_h": hours(arguments.age),
                "unreadable_per_bit": arguments.ure },
            "warning": WARNING });
        return output::json(&all);
    }
    let paragraphs = [assumed(arguments), format!("Rebuild: {rebuild}, {source}. {WARNING}")];
    let lines = paragraphs.iter().flat_map(|words| report::wrap(words, 100, "", ""));
    Ok(text + &lines.collect::<Vec<_>>().join("\n") + "\n")
}

/// How long disks live.
fn life(arguments: &LossArgs) -> Result<Weibull, Failure> {
    let life = Weibull { least_h: 0.0, scale_h: hours(arguments.disk_life), shape: arguments.shape };
    let is_sound = life.scale_h > 0.0
        && life.shape.is_finite()
        && (0.1..=10.0).contains(&life.shape)
        && (0.0..1e-6).contains(&arguments.ure)
        && !arguments.over.is_zero();
    is_sound.then_some(life).ok_or_else(|| {
        let what = "--disk-life and --over are times above zero, --shape lies between 0.1 and 10, and --ure is a probability \
                    below 1e-6";
        Failure::Usage(what.into())
    })
}

/// What moves the answer, and is the user's to say.
fn assumed(arguments: &LossArgs) -> String {
    let LossArgs { disk_life, shape, age, ure, .. } = arguments;
    let unreadable = match *ure > 0.0 {
        true => format!("one unreadable error in {} bits", format!("{:.1e}", 1.0 / ure).replace(".0e", "e")),
        false => "no unreadable errors".into(),
    };
    let (life, age) = (hours(*disk_life), hours(*age));
    format!("Disks: 37 % reach {life:.0} h, shape {shape}, age {age:.0} h; {unreadable}.")
}

/// What a model of independent disks leaves out.
const WARNING: &str = "Assumptions: disks fail independently of each other, one at a time and for good, and spares start \
    at once. Disks of one batch, heat, shocks, firmware, controllers, power and people are not modelled and lose \
    more data than this: a lower bound, good for comparing arrays. Keep a backup.";

fn survives(spare: u32, groups: u32) -> String {
    match spare {
        0 => "survives no failed disk".into(),
        spare => format!(
            "survives {}{}",
            report::counted(spare, "failed disk"),
            if groups > 1 { " of each group" } else { "" }
        ),
    }
}

/// The figures of a set in a column, that of the whole period first.
fn of_set(answer: &Loss, question: &Question, rebuild: Nanos, over: Nanos) -> String {
    let line = |figure: String, of: String| format!("  {figure:>9}  {of}\n");
    let mut text = line(
        chance(answer.over_time.value),
        format!("loss of data within {over}{}", interval(answer.over_time)),
    );
    if question.group.spare > 0 {
        text += &line(
            chance(answer.in_window.value),
            format!(
                "loss of data between a disk's failure and the end of its rebuild{}",
                interval(answer.in_window)
            ),
        );
        let next = match question.group.spare {
            1 => "a second disk",
            2 => "a third disk",
            _ => "a disk more than it survives",
        };
        text += &line(
            chance(answer.disks_in_window.value),
            format!("  {next}: the array is lost{}", interval(answer.disks_in_window)),
        );
        let when = if question.group.spare > 1 { ", with no more disk to spare," } else { "" };
        text += &line(
            chance(answer.sector_in_window.value),
            format!(
                "  an unreadable sector: what it held is lost, of the {} that a rebuild{when} reads from the disks left",
                question.group.reads
            ),
        );
        text += &line(rebuild.to_string(), "a rebuild".into());
    }
    text + &line(format!("{:.3}", answer.deaths), format!("failed disks expected within {over}"))
}

/// What stands behind a probability: how many arrays it is one of, and its interval where that is not the same figure.
fn interval(found: Chance) -> String {
    debug_assert!((0.0..=1.0).contains(&found.value), "a chance is a probability");
    debug_assert!(found.low <= found.value && found.value <= found.high, "a chance lies in its interval");
    let one_in =
        if found.value > 0.0 { format!(": one array in {:.0}", 1.0 / found.value) } else { String::new() };
    let (low, high) = (chance(found.low), chance(found.high));
    if low == high { one_in } else { format!("{one_in} (95 %: {low} to {high})") }
}

/// In per cent, to two digits where it is small: `1.52 %`, `0.017 %`, `0.00002 %`.
fn chance(value: f64) -> String {
    let percent = 100.0 * value;
    // Further down than any history is drawn the zeros would only be counted wrong.
    if percent <= 0.0 {
        return "0 %".into();
    }
    if percent < 1e-9 {
        return "< 0.000000001 %".into();
    }
    debug_assert!(percent <= 100.0, "no more than all arrays are lost");
    let digits = truncated::<usize>((1.0 - percent.log10().floor()).max(2.0));
    let text = format!("{percent:.digits$}");
    format!("{} %", if digits > 2 { text.trim_end_matches('0') } else { &text })
}

fn hours(time: Nanos) -> f64 {
    time.as_secs_f64() / 3_600.0
}

/// How long a rebuild takes, and who says so.
fn rebuild(arguments: &LossArgs, store: &Store, array: &ArraySpec) -> Result<(Nanos, String), Failure> {
    match (&arguments.run, arguments.rebuild) {
        (Some(name), _) => {
            let run = store.open()?.get(name.as_str())?;
            rebuild_of(&run).ok_or_else(|| {
                Failure::Usage(format!(
                    "run {} saw no rebuild, or less than 1 % of one; say how long it takes with --rebuild",
                    run.id
                ))
            })
        }
        (None, Some(time)) if !time.is_zero() => Ok((time, "as you say".into())),
        (None, Some(_)) => Err(Failure::Usage("--rebuild takes a time above zero, such as 12h".into())),
        (None, None) => rebuild_of_model(arguments, array),
    }
}

/// How long the model takes without a load. Any time will do where nothing can be rebuilt: the first failure loses data.
fn rebuild_of_model(arguments: &LossArgs, array: &ArraySpec) -> Result<(Nanos, String), Failure> {
    let survives = |spec| groups(spec).1.spare > 0;
    if !array.topology.sets.iter().any(|set| survives(set.geometry.spec())) {
        return Ok((Nanos::from_secs(3_600), "which loses nothing more where no failure is survived".into()));
    }
    let took_s = rebuild_alone(&arguments.array, array, arguments.seed).map_err(|error| {
        Failure::Usage(format!("the model's rebuild: {error}; say how long it takes with --rebuild"))
    })?;
    let source =
        "as the model takes without a load; beside one it takes longer: give that with --rebuild or --run";
    Ok((Nanos::new(truncated((took_s * 1e9).round())), source.into()))
}

/// How long the last rebuild of `run` takes at the pace that it had beside the load, the slowest of several, and in words whose pace
/// that is; without a load at its own pace. `None` where less than 1 % of it was seen.
fn rebuild_of(run: &Run) -> Option<(Nanos, String)> {
    let course = report::courses(run).into_iter().find(|course| course.work == "rebuild")?;
    let whole_s = |stretch: &Stretch<'_>| stretch.whole_s().filter(|_| stretch.part >= LEAST_SEEN);
    let beside = course.beside.iter().filter_map(|stretch| Some((whole_s(stretch)?, stretch)));
    let slowest = beside.max_by(|one, other| one.0.total_cmp(&other.0));
    let alone = || course.alone().and_then(|stretch| Some((whole_s(&stretch)?, stretch)));
    let (took_s, stretch) = slowest.map(|(took, stretch)| (took, *stretch)).or_else(alone)?;
    let company = match stretch.load {
        "" => "without a load: beside one it takes longer".to_owned(),
        load => format!("beside its load `{load}`"),
    };
    debug_assert!(took_s > 0.0 && stretch.part >= LEAST_SEEN, "a pace is of what was seen");
    let source = format!(
        "at the pace of run {} {company} ({:.1} % in {})",
        run.id,
        100.0 * stretch.part,
        Nanos::from_secs_f64(stretch.seconds)
    );
    Some((Nanos::from_secs_f64(took_s), source))
}

/// The part of a rebuild that has a pace.
const LEAST_SEEN: f64 = 0.01;

#[cfg(test)]
mod tests {
    use super::*;
    use record::sample::{self, Stream};

    fn run(values: &[(u64, f64)]) -> Run {
        let stream = Stream { op: "read", size_bytes: 4096, per_s: 1_000, median_ns: 1_000_000, spread: 0.1 };
        let mut point = sample::point(0, "beside", vec![sample::workload("main", &[stream])]);
        point.series = vec![sample::rebuilt(values)];
        sample::run("rebuild", vec![point])
    }

    #[test]
    fn a_rebuild_takes_as_long_as_at_its_pace_beside_the_load_of_the_run() {
        // The load of a sample ends at second 31; what comes later has the array to itself.
        let (took, source) = rebuild_of(&run(&[(1, 0.0), (31, 0.3), (81, 1.0)])).unwrap();
        assert_eq!(took, Nanos::from_secs(100));
        assert!(source.contains("beside its load `beside` (30.0 % in 30.0 s)"), "{source}");
    }

    #[test]
    fn without_a_load_a_rebuild_takes_what_the_run_saw_drawn_out_to_its_beginning() {
        let (took, source) = rebuild_of(&run(&[(110, 0.01), (600, 0.5), (1_100, 1.0)])).unwrap();
        assert_eq!(took, Nanos::from_secs(1_000));
        assert!(source.contains("without a load"), "{source}");
        let twice = run(&[(100, 0.0), (150, 1.0), (200, 0.0), (500, 1.0)]);
        assert_eq!(rebuild_of(&twice).unwrap().0, Nanos::from_secs(300));
    }

    #[test]
    fn a_lost_array_and_a_lost_sector_are_told_apart_with_what_is_assumed_of_the_disks() {
        use clap::Parser;
        #[derive(clap::Parser)]
        struct Line {
            #[command(flatten)]
            loss: LossArgs,
        }
        let told = |line: &str| {
            let line = Line::try_parse_from(line.split(' ')).unwrap();
            loss(&line.loss, &Store::default()).unwrap()
        };
        let five = told("loss md3000?raid=5 --rebuild 12h --histories 2000");
        let of = |told: &str, what: &str| {
            let line =
                told.lines().find(|line| line.contains(what)).unwrap_or_else(|| panic!("{what}: {told}"));
            line.trim().split(' ').next().unwrap().parse::<f64>().unwrap()
        };
        let (array, sector) =
            (of(&five, "a second disk: the array is lost"), of(&five, "an unreadable sector: "));
        assert!(array < sector / 5.0 && (sector - 1.52).abs() < 0.05, "{five}");
        assert!(
            five.contains(
                "Disks: 37 % reach 461386 h, shape 1.12, age 0 h; one unreadable error in 1e15 bits."
            ),
            "{five}"
        );
        let six = told("loss md3000?raid=6 --rebuild 12h --histories 2000 --ure 0 --age 8766h");
        assert!(of(&six, "a third disk: the array is lost") < array, "{six}");
        assert_eq!(of(&six, "an unreadable sector: "), 0.0);
        assert!(six.contains("age 8766 h; no unreadable errors."), "{six}");
    }

    #[test]
    fn chances_are_in_per_cent_however_small() {
        let texts = [0.0152, 0.001_8, 1.66e-4, 2.0e-7, 1e-14, 0.0, 1.0].map(chance);
        assert_eq!(texts, ["1.52 %", "0.18 %", "0.017 %", "0.00002 %", "< 0.000000001 %", "0 %", "100.00 %"]);
    }

    #[test]
    fn a_rebuild_of_which_next_to_nothing_was_seen_has_no_duration() {
        assert_eq!(rebuild_of(&run(&[(110, 0.0), (600, 0.005)])), None);
        assert_eq!(rebuild_of(&run(&[(110, 0.5)])), None);
    }
}
