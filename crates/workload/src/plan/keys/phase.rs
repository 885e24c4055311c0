//! The keys of a plan and of a phase.

use document::{Node, Value, Wrong};
use units::Share;

use super::{Entry, KeyDoc, KeyValue, Level};
use crate::plan::baseline::Baseline;
use crate::plan::metric::Until;
use crate::plan::rounds::Rounds;
use crate::plan::settle::{PointOrder, Settle};
use crate::plan::slo::Objective;

/// What the top of the file says.
#[derive(Clone, Debug, Default)]
pub(crate) struct Head {
    /// Name of the plan.
    pub name: String,
    /// What it is for.
    pub about: String,
    /// Where every random choice comes from.
    pub seed: u64,
    /// Where it runs unless the command line says.
    pub targets: Vec<String>,
    /// What has to hold, with its line.
    pub objectives: Vec<(Objective, usize)>,
    /// What it is held against.
    pub baseline: Option<Baseline>,
    /// How much worse a figure may be.
    pub tolerance: Share,
    /// A model of the array that is measured.
    pub model: Option<String>,
}

/// What a phase says apart from its workloads.
#[derive(Clone, Debug, Default)]
pub(crate) struct PhaseHead {
    /// With `{key}` still in it.
    pub name: Option<String>,
    /// What it is for.
    pub about: String,
    /// Number of measurements of each point.
    pub repeat: u32,
    /// When to leave the innermost sweep.
    pub until: Option<Until>,
    /// How often it is gone through.
    pub rounds: Rounds,
    /// What stands before each of its loads that follows another.
    pub settle: Settle,
    /// In which order its points are measured.
    pub order: PointOrder,
    /// What has to hold in it, with its line.
    pub objectives: Vec<(Objective, usize)>,
}

keys! {
    /// Keys at the top of the file.
    PLAN: Head, Plan;

    "The plan":
    name (Text, "", "oltp") [|h, n| a_name(n).map(|text| h.name = text.into())]
        "Name of the plan."
        "Default: the name of the file."
    about (Text, "", "8 KiB random, two reads to a write")
        [|h, n| a_purpose(n).map(|text| h.about = text.into())]
        "Purpose of the plan, in a sentence."
        "Shown by `fathom plan list`."
    seed (Count(0, u64::MAX), "1", 42) [seed]
        "Random seed of the plan."
        "The same seed and plan give the same requests on every machine. Point i of the plan, \
         counted from 0, uses seed + i."

    "Judgement":
    target (Text, "", "array:md3000?raid=5") [|h, n| texts(n).map(|found| h.targets = found)]
        "Targets of the plan where `--on` names none."
        "A text, or a list of texts, as `--on` takes them. Nothing is created, and no consent follows from it: data is \
         destroyed only on `--destroy`, typed for that run."
    slo (Text, "", (r#"slo = ["p99 < 5ms", "iops > 20k"]"#)) [|h, n| objectives(n).map(|found| h.objectives = found)]
        "Objectives that each load of the plan has to meet; `fathom run` exits 1 where one is violated."
        "A text, or a list of texts: `p99 < 5ms`, `service p99.9 < 10ms`, `read.mean < 800us`, `errors < 0.1%`, \
         `iops > 20k`, `mb_per_s > 500MB/s`, `write.iops > 5k`. Judged with the 95% interval of the figure: violated \
         where the whole interval is beyond the limit, met where it is within, else inconclusive \
         (`--inconclusive`). A phase may have objectives of its own besides."
    baseline (Text, "none", "tag:release") [baseline]
        "Runs of this plan that the run must not be worse than; `fathom run` exits 1 where it is."
        "`tag:KEY` is all runs with the newest value of that label, `tag:KEY=VALUE` those with this value, else a run as \
         in `fathom show`, or a record's file. What is judged is IOPS, and the mean response time where the rate is \
         given, and the figure of `metric`. A violation counts once a second run confirms it (`--confirm`)."
    tolerance (Share, "5%", "5%") [tolerance]
        "How much worse than the baseline a figure may be."
        "Worse by more than that with 99% confidence is a violation. The result says with which probability a run that is not worse fails, \
         and which slowdown is found nine times of ten."
    model (Text, "none", "array:md3000?raid=5") [|h, n| a_name(n).map(|text| h.model = (text != "none").then(|| text.into()))]
        "Model of the measured array; where the run is worse than the baseline it names the part that became slower."
        "An address of a virtual array, as `--on` takes it. The points of the plan are simulated with each part slower in \
         turn. The part whose pattern of changes is the measured one is named; `unknown` where none is, or several are."
}

keys! {
    /// Keys of a phase that are not its workloads'.
    PHASE: PhaseHead, Phase;

    "Phases":
    name @ PhaseOnly (Text, "", "8k x{workers}") [|h, n| a_name(n).map(|text| h.name = Some(text.into()))]
        "Name of the phase; `{key}` is replaced by its value."
        "`{workers}` becomes the value of `workers`, `{oltp.workers}` that of one workload of several; `{{` \
         is a brace. What is swept and not named is added at the end. Left out, it is `phase 1` and so on."
    about @ PhaseOnly (Text, "", "what the front end can do")
        [|h, n| a_purpose(n).map(|text| h.about = text.into())]
        "Purpose of the phase, in a sentence."
        ""
    repeat (Count(1, 1000), "1", 3) [repeat]
        "Number of measurements of each point."
        "1 to 1000, one after the other. From three on, their spread shows how much a single measurement \
         varies."
    until (Table, "none", { flat = "throughput", within = "3%", points = 3 })
        [|h, n| Until::read(n).map(|until| h.until = until)]
        "Ends the innermost sweep once more load gains nothing, or is too much."
        "`flat` is `throughput` or `iops`. The sweep ends when none of its last `points` points (3) is more \
         than `within` (3%) above the best point before them. Repeats of a point count as one, by their \
         mean. `slo = \"p99<5ms\"` ends it after the first point that violates an SLO (written as for \
         `fathom search`), `cpu = \"90%\"` where the processors are so busy, `errors = \"1%\"` where more \
         than \
         that part of the requests fails. Several may be given."
    rounds (Table, "1", { most = 25, steady = "iops" })
        [|h, n| Rounds::read(n).map(|rounds| h.rounds = rounds)]
        "Number of passes over the phase, each with all its sweeps and repeats."
        "A number, or a table whose `steady` names a figure: the rounds end when that is steady, after five \
         of them at the earliest and after `most` (25) at the latest. `at` says of which point, by the \
         values of its swept keys as they are written: `at = { size = \"4KiB\", reads = \"0%\" }`. Steady \
         is what SNIA's PTS calls so: over five rounds the figure stays within 20% of its mean from end to \
         end, and the line fitted through it rises or falls by no more than 10% of that. `round` is among \
         the swept values of the points."
    settle (Choice(&["auto", "none", "60s"]), "auto", "60s") [settle]
        "Rest between loads, so that no point starts with the caches that the last one left."
        "`auto` on a virtual array: in virtual time, until every write-back cache is clean, and then its \
         read caches are emptied, so that a point gives the same figures alone and in its sweep. On real \
         storage, after a load that writes: a flush, and 2s without I/O; reads leave nothing to wait for, \
         and caches that no flush empties stay as they are (see the finding `carry-over`). A duration \
         flushes and then waits for so long: give one where an array takes longer to empty its write cache. \
         `none` continues at once. The result says what was done before each point and for how long. There \
         is no rest before the first load, next to a state of the plan, and on `null:`."
    slo @ PhaseOnly (Text, "", "p99 < 5ms") [|h, n| objectives(n).map(|found| h.objectives = found)]
        "Objectives that each load of this phase has to meet, besides those of the plan."
        "As at the top of the plan."
    point_order (Choice(&["as-written", "shuffled"]), "as-written", "shuffled") [order]
        "Order in which the points of the phase are measured."
        "`as-written`: the last swept key fastest, repeats one after the other. `shuffled`: an order that \
         follows from `seed`, so that what drifts slowly does not look like an effect of the swept key; \
         each repeat is a pass over all points, in an order of its own, and rounds stay one after the \
         other. Each point uses the seed that it has as written. `until` needs the order as written."
}

/// A text that can stand in a table: not empty, and on one line.
pub(crate) fn a_name(node: &Node) -> Result<&str, Wrong> {
    match node.text("\"oltp\"")? {
        text if text.trim().is_empty() => {
            Err(Wrong::new("a name needs at least one letter", "or leave it out"))
        }
        text if text.contains(char::is_control) => {
            Err(Wrong::new("a name is one line", "write it without line breaks and tabs"))
        }
        text => Ok(text),
    }
}

/// A text that says what something is for.
pub(crate) fn a_purpose(node: &Node) -> Result<&str, Wrong> {
    node.text("\"what it is for\"")
}

/// A text, or each of a list.
fn each<T>(node: &Node, read: impl Fn(&Node) -> Result<T, Wrong>) -> Result<Vec<T>, Wrong> {
    match &node.value {
        Value::List(items) => {
            items.iter().map(|item| read(item).map_err(|wrong| wrong.at(&item.place))).collect()
        }
        _ => read(node).map(|one| vec![one]),
    }
}

fn texts(node: &Node) -> Result<Vec<String>, Wrong> {
    each(node, |one| a_name(one).map(str::to_owned))
}

fn objectives(node: &Node) -> Result<Vec<(Objective, usize)>, Wrong> {
    each(node, |one| Ok((one.read::<Objective>("p99 < 5ms")?, one.place.line())))
}
