//! Published figures in a campaign: virtual arrays are asked for them as `fathom validate` does, once in each block, and
//! the answers are kept beside what was published, as runs of the campaign.

use std::collections::BTreeMap;
use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};

use array::spec::case::{
    Activity, ActivityKind, Case, CaseFile, Claim, Load, Metric, Pattern, Score, Subject as Configuration,
    cases, shipped,
};
use array::validate::{CaseResult, Ruling, progress};
use array::{background::BackgroundKind, spec::Address};
use campaign::TurnKey;
use record::{CampaignCell, ClaimKind, FigureClaim, PlanSource, PublishedCase, Run, WorkCourse, World};
use units::convert::truncated;
use units::{Nanos, Share};
use workload::plan::Overrides;
use workload::spec::{FlushKind, OpenSync};

use super::CampaignArgs;
use super::kept::Kept;
use super::subject::{self, Request, Subject};
use crate::ending::Failure;
use crate::input::arrays::LIBRARY;
use crate::input::plans;
use crate::session::recorder;
use crate::session::signals::Signals;
use crate::session::store::Store;
use crate::verbs::validate;

/// Published figures that a campaign names.
pub struct Group {
    /// As the campaign names it: `md3000`, or of one array alone `behaviours/md3000`.
    pub name: String,
    /// The file that it is in.
    pub text: String,
    about: String,
    cases: Vec<Case>,
}

/// A group in a block.
pub struct BlockGroup<'a> {
    block: u32,
    group: &'a Group,
}

impl BlockGroup<'_> {
    /// `block 2: md3000`
    pub fn label(&self) -> String {
        format!("block {}: {}", self.block, self.group.name)
    }

    /// What real storage is to be measured for it: the loads of the group, with what was published as claims.
    pub fn request(&self, subject: &Subject, tags: &[String]) -> Result<Request, Failure> {
        // What the campaign changes in its plans is not what was published.
        let set = vec![subject.seed(self.block)];
        let own = [format!("campaign={}", subject.campaign.name), format!("published={}", self.group.name)];
        let overrides = Overrides { set, tags: [tags, &own].concat() };
        let planned = plans::parse(&self.group.origin(), &self.group.plan(), overrides)?;
        let cell = self.cell(subject, self.group.claims());
        Ok(Request { planned, targets: subject.campaign.targets.clone(), cell, proofs: Vec::new() })
    }

    /// A cell at no level of any factor.
    fn cell(&self, subject: &Subject, claims: Vec<FigureClaim>) -> CampaignCell {
        CampaignCell {
            campaign: subject.campaign.name.clone(),
            key: subject.key.clone(),
            block: self.block,
            turn: 0,
            levels: Vec::new(),
            claims,
            proofs: Vec::new(),
            toml: subject.toml.clone(),
            runs: 0,
            blocks: subject.campaign.repeats,
            lack: None,
        }
    }
}

impl Group {
    /// The cases `name` of the campaign `file`: a file of the library, or one beside the campaign, and of it all cases or
    /// those of one array.
    pub fn read(file: &str, name: &str) -> Result<Group, Failure> {
        let (source, array) = parted(name);
        let (label, text) = text(file, source)?;
        let CaseFile { about, cases, .. } = cases(&label, &text)?;
        let known = cases.len();
        let cases: Vec<Case> =
            cases.into_iter().filter(|case| array.is_none_or(|array| is_of(case, array))).collect();
        if cases.is_empty() {
            let of = array.map(|array| format!(" of the array `{array}`")).unwrap_or_default();
            return Err(Failure::Usage(format!(
                "published = \"{name}\": {label} has {known} cases, none{of}"
            )));
        }
        Ok(Group { name: name.to_owned(), text, about, cases })
    }

    /// What the plan of its runs is called.
    pub fn origin(&self) -> String {
        format!("published:{}", self.name)
    }

    /// That `text` is that of the plan of one of its runs.
    pub fn is_text(&self, text: &str) -> bool {
        text == self.text || text == self.plan()
    }

    /// Figures that real storage can be measured for: those of one load, without work of the array's own.
    fn measurable(&self) -> impl Iterator<Item = (&Case, &Load)> {
        self.cases.iter().filter_map(|case| {
            let Claim::Absolute { subject, .. } = &case.claim else { return None };
            let is_load = matches!(
                case.metric,
                Metric::Iops
                    | Metric::Throughput
                    | Metric::LatencyMean
                    | Metric::LatencyP50
                    | Metric::LatencyP99
            );
            let [load] = &subject.loads[..] else { return None };
            // What the memory of an array holds before cannot be asked for.
            let is_plain = subject.occasion.is_none() && load.held.get() == 0.0;
            (is_load && is_plain).then_some((case, load))
        })
    }

    /// Its loads as a plan, each once. A LUN of the source is a group of workers more on the one target.
    fn plan(&self) -> String {
        let mut text = format!("name = {:?}\nabout = {:?}\n", self.plan_name(), self.about);
        let mut known: Vec<&str> = Vec::new();
        for (case, load) in self.measurable() {
            if known.contains(&load.name.as_str()) {
                continue;
            }
            known.push(&load.name);
            let pattern = match load.pattern {
                Pattern::Sequential => "sequential",
                Pattern::Random => "random(repeats)",
            };
            let span = match (load.span, load.span_share) {
                (Some(span), _) => format!("span = \"{span}\"\n"),
                (None, Some(share)) => format!("span = \"{share}\"\n"),
                (None, None) => String::new(),
            };
            let durability = durability(load);
            let align = load.align.map_or(String::new(), |align| format!("align = \"{align}\"\n"));
            text += &format!(
                "\n[[phase]]\nname = {:?}\nheadline = \"{}\"\npattern = \"{pattern}\"\nsize = \"{}\"\nreads = \"{}\"\n\
                 workers = {}\ndepth = {}\ndirect = {}\n{durability}{span}{align}offset = \"{}\"\nwarmup = \"{}\"\nrun = \"{}\"\n",
                load.name,
                metric(case).0,
                load.size,
                load.reads,
                load.workers * load.luns,
                load.depth,
                load.direct,
                load.offset,
                load.warmup,
                load.run
            );
        }
        text
    }

    fn plan_name(&self) -> String {
        format!("published figures: {}", self.name)
    }

    /// Its measurable figures as claims of the points of its plan.
    fn claims(&self) -> Vec<FigureClaim> {
        let claim = |(case, load): (&Case, &Load)| {
            let mut claim = claim(&self.name, case, None, Vec::new());
            claim.case.iter_mut().for_each(|own| own.point.clone_from(&load.name));
            claim
        };
        self.measurable().map(claim).collect()
    }

    fn key(&self, block: u32) -> TurnKey {
        TurnKey { block, levels: Vec::new(), plan: self.origin() }
    }
}

/// `behaviours/md3000`: the file, and of which array.
fn parted(name: &str) -> (&str, Option<&str>) {
    let (source, array) = match name.split_once(".toml/") {
        Some((source, array)) => (&name[..source.len() + ".toml".len()], Some(array)),
        None if name.ends_with(".toml") => (name, None),
        None => name.split_once('/').map_or((name, None), |(source, array)| (source, Some(array))),
    };
    debug_assert!(name.starts_with(source), "a name begins with its file");
    (source, array.filter(|array| !array.is_empty()))
}

/// What errors call the cases `source`, and their text.
fn text(file: &str, source: &str) -> Result<(String, String), Failure> {
    if let Some((_, label, text)) = shipped().iter().find(|(name, ..)| *name == source) {
        return Ok(((*label).to_owned(), (*text).to_owned()));
    }
    if !source.ends_with(".toml") {
        let known = shipped().iter().map(|(name, ..)| *name);
        let near = document::nearest(source, known.clone());
        let help = near.map_or_else(
            || format!("there are {}", known.collect::<Vec<_>>().join(", ")),
            |near| format!("did you mean `{near}`?"),
        );
        return Err(Failure::Usage(format!("published = \"{source}\": there are no such figures; {help}")));
    }
    let path = subject::beside(file, source);
    let text = fs::read_to_string(units::name::path(&path))
        .map_err(|error| Failure::Usage(format!("{path}: the cases cannot be read: {error}")))?;
    Ok((path, text))
}

/// Whether the first configuration of `case` is one of `array`.
fn is_of(case: &Case, array: &str) -> bool {
    let subjects = case.claim.subjects();
    let first = subjects.first().and_then(|subject| Address::parse(&subject.array).ok());
    first.is_some_and(|address| address.name == array)
}

/// Every group in every block; on real storage those that it can be measured for.
pub fn all(subject: &Subject) -> Vec<BlockGroup<'_>> {
    let is_asked = |group: &&Group| subject.is_virtual() || group.measurable().next().is_some();
    let groups: Vec<&Group> = subject.published.iter().filter(is_asked).collect();
    let blocks = 1..=subject.campaign.repeats;
    blocks
        .flat_map(|block| groups.clone().into_iter().map(move |group| BlockGroup { block, group }))
        .collect()
}

/// Those that are left.
pub fn left<'a>(subject: &'a Subject, kept: &Kept) -> Vec<BlockGroup<'a>> {
    all(subject).into_iter().filter(|asked| !kept.done.contains(&asked.group.key(asked.block))).collect()
}

/// Asks the virtual arrays for one of them, and keeps what they answer; `None` where a signal ends it.
pub fn ask(
    subject: &Subject,
    asked: &BlockGroup<'_>,
    arguments: &CampaignArgs,
    store: &Store,
) -> Result<Option<()>, Failure> {
    let signals = Signals::listen()?;
    let Some(run) = answered(subject, asked, &arguments.change.tags, &signals.stop()) else {
        return Ok(None);
    };
    if let Some(mut library) = store.open_to_save(false)? {
        library.save(&run)?;
    }
    Ok(Some(()))
}

/// The run of a group in a block; `None` where it was interrupted.
fn answered(subject: &Subject, asked: &BlockGroup<'_>, tags: &[String], stop: &AtomicBool) -> Option<Run> {
    let BlockGroup { block, group } = asked;
    debug_assert!(*block > 0, "blocks are counted from 1");
    let plan = PlanSource {
        name: group.plan_name(),
        about: group.about.clone(),
        origin: group.origin(),
        text: group.text.clone(),
        overrides: Vec::new(),
    };
    let given = tags.iter().filter_map(|tag| tag.split_once('='));
    let own = [("campaign", subject.campaign.name.as_str()), ("published", &group.name)];
    let tags: BTreeMap<String, String> =
        given.chain(own).map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
    let run = recorder::begun(plan, tags, World::Array);
    let chosen: Vec<&Case> = group.cases.iter().collect();
    // The first block asks as `fathom validate` does; each block draws other addresses.
    let seed = subject.campaign.seed + u64::from(*block) - 1;
    let verdicts = validate::results(&chosen, seed, stop, &mut |_, _| ());
    if stop.load(Ordering::Relaxed) {
        return None;
    }
    debug_assert_eq!(verdicts.len(), chosen.len(), "unless interrupted, each case has its result");
    let claims = group.cases.iter().zip(&verdicts).map(|(case, verdict)| {
        // Without a load work goes on alike whatever the seed: one block tells its course.
        let courses = if *block == 1 { courses(case, seed) } else { Vec::new() };
        claim(&group.name, case, Some(verdict), courses)
    });
    let cell = asked.cell(subject, claims.collect());
    let environment = real::this_machine().environment;
    Some(recorder::ended(Run { cell: Some(cell), environment, ..run }))
}

/// The figure with its answer, in base units.
fn claim(group: &str, case: &Case, verdict: Option<&CaseResult>, courses: Vec<WorkCourse>) -> FigureClaim {
    let (metric, scale) = metric(case);
    let published = published(case, verdict);
    debug_assert!(scale > 0.0, "a unit is a multiple of its base unit");
    FigureClaim {
        by: case.source.clone(),
        point: case.id.clone(),
        metric: metric.into(),
        value: published * scale,
        reads: None,
        case: Some(PublishedCase {
            group: group.into(),
            kind: kind(&case.claim, published),
            arrays: case.claim.subjects().iter().map(|subject| subject.array.clone()).collect(),
            load: loads(&case.claim),
            about: case.about.clone(),
            tolerance: case.tolerance.get(),
            fits: case.fits.join(", "),
            listed: match &case.score {
                Score::Counts => String::new(),
                Score::Listed(why) => why.clone(),
            },
            point: String::new(),
            modelled: verdict.and_then(|verdict| Some(verdict.value? * scale)),
            failure: match verdict.map(|verdict| &verdict.ruling) {
                Some(Ruling::Impossible(why)) => why.clone(),
                _ => String::new(),
            },
            courses,
        }),
    }
}

/// How the work goes on whose time the case is about, on each of its configurations.
fn courses(case: &Case, seed: u64) -> Vec<WorkCourse> {
    if case.metric != Metric::Time {
        return Vec::new();
    }
    let course = |subject: &&Configuration| {
        let (percents, activity) = (progress(&LIBRARY, subject, seed).ok()??, subject.occasion?);
        let ActivityKind::Background(kind) = activity.work else { return None };
        Some(WorkCourse {
            work: of_kind(kind).into(),
            array: subject.array.clone(),
            to_percent: truncated((activity.to.get() * 100.0).round()),
            at_ns: percents.into_iter().map(Nanos::get).collect(),
        })
    };
    case.claim.subjects().iter().filter_map(course).collect()
}

/// What was published; of a bound the limit that is nearest to being crossed.
fn published(case: &Case, verdict: Option<&CaseResult>) -> f64 {
    match &case.claim {
        Claim::Absolute { value, .. } | Claim::Ratio { value, .. } => *value,
        Claim::Bound { least, most, .. } => {
            verdict.and_then(|verdict| verdict.published).or(*least).or(*most).unwrap_or_default()
        }
        Claim::Ordering { factor, .. } => *factor,
        Claim::Equal { .. } => 1.0,
    }
}

fn kind(claim: &Claim, published: f64) -> ClaimKind {
    match claim {
        Claim::Absolute { .. } | Claim::Ratio { .. } => ClaimKind::Figure,
        Claim::Bound { least, .. } if *least == Some(published) => ClaimKind::Least,
        Claim::Bound { .. } => ClaimKind::Most,
        Claim::Ordering { .. } => ClaimKind::Order,
        Claim::Equal { .. } => ClaimKind::Equal,
    }
}

/// The name of what is compared, and what one of its published unit is in base units.
fn metric(case: &Case) -> (&'static str, f64) {
    let is_ratio = match &case.claim {
        Claim::Absolute { .. } => false,
        Claim::Bound { against, .. } => against.is_some(),
        Claim::Ratio { .. } | Claim::Ordering { .. } | Claim::Equal { .. } => true,
    };
    if is_ratio {
        return ("ratio", 1.0);
    }
    let scale = case.unit.scale();
    match case.metric {
        Metric::Iops => ("iops", scale),
        Metric::Throughput => ("mb_per_s", scale),
        Metric::LatencyMean => ("mean", scale * 1e9),
        Metric::LatencyP50 => ("p50", scale * 1e9),
        Metric::LatencyP99 => ("p99", scale * 1e9),
        Metric::ShareWithin => ("share", scale),
        Metric::Time => ("time", scale * 1e9),
        Metric::WorkRate => ("work_rate", scale),
        Metric::Knee => ("count", scale),
    }
}

/// The load of each configuration in words, each once.
fn loads(claim: &Claim) -> String {
    report::distinct(claim.subjects().into_iter().map(words)).join(" against ")
}

/// `sequential read 1 MiB beside a rebuild`
fn words(subject: &Configuration) -> String {
    let loads: Vec<String> = subject.loads.iter().map(load).collect();
    let loads = loads.join(" and ");
    match &subject.occasion {
        None => loads,
        Some(activity) if loads.is_empty() => work(activity),
        Some(activity) => format!("{loads} {}", meanwhile(activity)),
    }
}

/// `random 8 KiB, 67 % reads, 4 × 16 deep, 2 LUNs`
fn load(load: &Load) -> String {
    let pattern = match load.pattern {
        Pattern::Sequential => "sequential",
        Pattern::Random => "random",
    };
    let size = load.size;
    let mut words = match load.reads {
        reads if reads == Share::ALL => format!("{pattern} read {size}"),
        reads if reads == Share::NONE => format!("{pattern} write {size}"),
        reads => format!("{pattern} {size}, {:.0} % reads", reads.get() * 100.0),
    };
    words += &match (load.workers, load.depth) {
        (1, 1) => String::new(),
        (1, depth) => format!(", depth {depth}"),
        (workers, 1) => format!(", {workers} workers"),
        (workers, depth) => format!(", {workers} workers × depth {depth}"),
    };
    if load.luns > 1 {
        words += &format!(", {} LUNs", load.luns);
    }
    if !load.direct {
        words += ", buffered";
    }
    words += match load.durability.open {
        OpenSync::None => "",
        OpenSync::Dsync => ", O_DSYNC",
        OpenSync::Sync => ", O_SYNC",
    };
    words += &match load.durability.every {
        None => String::new(),
        Some(1) => ", each flushed".into(),
        Some(every) => format!(", a flush after {every} writes"),
    };
    words
}

/// The keys of a phase that make its writes last; none where nothing does.
fn durability(load: &Load) -> String {
    let open = match load.durability.open {
        OpenSync::None => "",
        OpenSync::Dsync => "sync = \"dsync\"\n",
        OpenSync::Sync => "sync = \"sync\"\n",
    };
    let flush = if load.durability.flush == FlushKind::Fsync { "flush = \"fsync\"\n" } else { "" };
    let every =
        load.durability.every.map_or(String::new(), |every| format!("flush_every = {every}\n{flush}"));
    format!("{open}{every}")
}

/// `rebuild, 0 to 10 %`
fn work(activity: &Activity) -> String {
    let name = match activity.work {
        ActivityKind::Background(kind) => of_kind(kind),
        ActivityKind::Degraded => "degraded",
        ActivityKind::PathLost => "a lost path",
    };
    match (activity.from, activity.to) {
        (from, to) if from == Share::NONE && to == Share::ALL => name.to_owned(),
        (from, to) => format!("{name}, {:.0} to {:.0} %", from.get() * 100.0, to.get() * 100.0),
    }
}

fn meanwhile(activity: &Activity) -> String {
    match activity.work {
        ActivityKind::Background(_) => format!("beside {}", work(activity)),
        ActivityKind::Degraded => "on a degraded set".into(),
        ActivityKind::PathLost => "with a path lost".into(),
    }
}

fn of_kind(kind: BackgroundKind) -> &'static str {
    match kind {
        BackgroundKind::Initialise => "initialisation",
        BackgroundKind::InitialiseOnline => "online initialisation",
        BackgroundKind::InitialiseVerify => "initialisation with verification",
        BackgroundKind::Clone => "clone",
        BackgroundKind::Rebuild => "rebuild",
        BackgroundKind::Verify => "verification",
        BackgroundKind::Scrub => "scrub",
    }
}
