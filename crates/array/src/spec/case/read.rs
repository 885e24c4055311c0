//! Reads a file of cases.

use std::collections::BTreeMap;

use document::{Errors, Fields, Key, Mistakes, Node, Read, TextSpan, Wrong, nearest};
use units::{Bytes, Nanos, Share};
use workload::Op;
use workload::spec::{Durability, FlushKind, OpenSync};

use super::subject::{Activity, ActivityKind, Load, Pattern, Subject};
use super::unit::{METRICS, Metric, UNITS, Unit};
use super::{Case, CaseFile, Claim, Omitted, Score};
use crate::spec::address::Address;
use crate::spec::parts::BACKGROUND_KINDS;
use crate::spec::tree::parse_plain;

/// A plan of the file: a load, and what its cases take from it where they do not say.
struct Plan {
    load: Load,
    given: Given,
}

/// What a case, its plan or its file says about publication. The nearest wins.
#[derive(Clone, Default)]
struct Given {
    array: Option<String>,
    source: Option<String>,
    about: Option<String>,
    metric: Option<Metric>,
    unit: Option<Unit>,
    tolerance: Option<Share>,
    score: Option<Score>,
    fits: Option<Fits>,
}

impl Given {
    fn read(fields: &Fields<'_>) -> Given {
        let (score, why) = (fields.get::<bool>("score"), fields.get::<String>("why"));
        fields.check(
            &["score"],
            score != Some(false) || why.is_some(),
            "a case that does not count says `why`",
        );
        fields.check(
            &["why", "score"],
            score != Some(true) || why.is_none(),
            "a case that counts needs no `why`",
        );
        Given {
            array: fields.get("array"),
            source: fields.get("source"),
            about: fields.get("about"),
            metric: fields.choice("metric", &METRICS),
            unit: fields.choice("unit", &UNITS),
            tolerance: fields.get("tolerance"),
            score: why.map(Score::Listed).or(score.map(|_| Score::Counts)),
            fits: fields.get("fits"),
        }
    }

    fn or(self, outer: &Given) -> Given {
        Given {
            array: self.array.or_else(|| outer.array.clone()),
            source: self.source.or_else(|| outer.source.clone()),
            about: match (self.about, &outer.about) {
                (Some(mine), Some(outer)) => Some(format!("{mine} {outer}")),
                (mine, outer) => mine.or_else(|| outer.clone()),
            },
            metric: self.metric.or(outer.metric),
            unit: self.unit.or(outer.unit),
            tolerance: self.tolerance.or(outer.tolerance),
            score: self.score.or_else(|| outer.score.clone()),
            fits: self.fits.or_else(|| outer.fits.clone()),
        }
    }
}

/// Everything the cases of one file may name.
struct Book {
    plans: Vec<(String, Plan)>,
    given: Given,
}

pub(super) fn file(label: &str, text: &str) -> Result<CaseFile, Errors> {
    let mistakes = Mistakes::default();
    let file = parse_plain(label, text, &mistakes).map(|file| {
        let read = read_file(Fields::new("", &file.table, &file.at, &mistakes));
        ids_stand_once(&read.cases, &mistakes);
        read
    });
    mistakes.finish(file)
}

fn read_file(fields: Fields<'_>) -> CaseFile {
    let mut given = Given::read(&fields);
    let about = given.about.take().unwrap_or_default();
    let plans = fields.table("plan").map(|plans| read_plans(&plans)).unwrap_or_default();
    let book = Book { plans, given };
    let cases = fields.tables("case").iter().filter_map(|case| book.case(case)).collect();
    let omitted = fields.tables("omitted").iter().map(read_omitted).collect();
    fields.finish();
    CaseFile { about, cases, omitted }
}

fn ids_stand_once(cases: &[Case], mistakes: &Mistakes) {
    let mut known: BTreeMap<&str, &TextSpan> = BTreeMap::new();
    for case in cases {
        if let Some(first) = known.insert(&case.id, &case.at) {
            let message = format!("`id`: `{}` is also the id of the case at {first}", case.id);
            mistakes.wrong(&case.at, Wrong::new(message, "ids are unique"));
        }
    }
}

fn read_omitted(fields: &Fields<'_>) -> Omitted {
    let omitted = Omitted { ids: fields.need("ids"), why: fields.need("why") };
    fields.finish();
    omitted
}

fn at_least_one(fields: &Fields<'_>, key: &'static str) -> u32 {
    let count = fields.or(key, 1);
    fields.check(&[key], count > 0, "give at least 1");
    count
}

fn read_plans(plans: &Fields<'_>) -> Vec<(String, Plan)> {
    let one = |(key, node): (&Key, &Node)| {
        let table = node.table();
        plans.check(&[&key.text], table.is_some(), "a plan is a table");
        let fields = Fields::new(format!("plan.{}", key.text), table?, &key.place, plans.mistakes());
        Some((key.text.clone(), read_plan(&key.text, &fields)))
    };
    plans.all().filter_map(one).collect()
}

fn read_plan(name: &str, fields: &Fields<'_>) -> Plan {
    let patterns = [("sequential", Pattern::Sequential), ("random", Pattern::Random)];
    let size: Bytes = fields.need("size");
    let whole = !size.is_zero() && size.is_multiple_of(Bytes::new(units::SECTOR_BYTES));
    fields.check(&["size"], whole, "a request is a whole number of 512-byte sectors");
    let (span, span_share): (Option<Bytes>, Option<Share>) = (fields.get("span"), fields.get("span_share"));
    let one = span.is_none() || span_share.is_none();
    fields.check(&["span"], one, "give `span` or `span_share`, not both");
    let room = span.is_none_or(|span| span >= size) && span_share.is_none_or(|share| share.get() > 0.0);
    fields.check(&["span", "size"], room, "the span holds at least one request");
    let load = Load {
        name: name.to_string(),
        pattern: fields.need_choice("pattern", &patterns).unwrap_or(Pattern::Random),
        size,
        reads: fields.or("reads", Share::ALL),
        of: fields.choice("of", &[("reads", Op::Read), ("writes", Op::Write)]),
        workers: at_least_one(fields, "workers"),
        depth: at_least_one(fields, "depth"),
        direct: fields.or("direct", true),
        durability: read_durability(fields),
        span,
        span_share,
        luns: at_least_one(fields, "luns"),
        offset: fields.or("offset", Bytes::ZERO),
        align: fields.get("align"),
        held: fields.or("held", Share::NONE),
        fills: fields.or("fills", false),
        warmup: fields.or("warmup", Nanos::from_secs_f64(5.0)),
        run: fields.or("run", Nanos::from_secs_f64(20.0)),
    };
    let given = Given::read(fields);
    fields.finish();
    Plan { load, given }
}

/// As the plan language has it: `sync`, `flush_every`, and `flush` for what a flush is.
fn read_durability(fields: &Fields<'_>) -> Durability {
    let opens = [("none", OpenSync::None), ("dsync", OpenSync::Dsync), ("sync", OpenSync::Sync)];
    let flushes = [("fsync", FlushKind::Fsync), ("fdatasync", FlushKind::Fdatasync)];
    let every: Option<u32> = fields.get("flush_every");
    fields.check(&["flush_every"], every != Some(0), "give at least 1");
    let flush = fields.choice("flush", &flushes);
    fields.check(&["flush", "flush_every"], flush.is_none() || every.is_some(), "say `flush_every` as well");
    Durability {
        open: fields.choice("sync", &opens).unwrap_or(OpenSync::None),
        every,
        at_end: false,
        flush: flush.unwrap_or(FlushKind::Fdatasync),
    }
}

impl Book {
    /// The plan called `name`; `None`, and a mistake, where there is none.
    fn plan(&self, name: &str, fields: &Fields<'_>) -> Option<&Plan> {
        let names = || self.plans.iter().map(|(name, _)| name.as_str());
        let found = self.plans.iter().find(|(known, _)| known == name).map(|(_, plan)| plan);
        if found.is_none() {
            let near = nearest(name, names()).map(|near| format!("did you mean `{near}`? The"));
            let known = names().collect::<Vec<_>>().join(", ");
            let near = near.unwrap_or_else(|| "the".into());
            fields.wrong("plan", format!("there is no plan `{name}`; {near} file has {known}"));
        }
        found
    }

    fn case(&self, fields: &Fields<'_>) -> Option<Case> {
        let id: String = fields.need("id");
        let mut given = Given::read(fields);
        let subject = self.subject(fields, &mut given);
        let given = given.or(&self.given);
        let claim = self.claim(fields, &given, subject);
        let metric = given.metric.or_else(|| fields.need_choice("metric", &METRICS));
        let unit = metric.map(|metric| given.unit.unwrap_or(metric.units()[0]));
        let source = given.source.unwrap_or_else(|| fields.need("source"));
        let tolerance = given.tolerance.unwrap_or_else(|| fields.need("tolerance"));
        let without = |claim: &Claim| claim.subjects().iter().any(|one| one.within.is_none());
        if metric == Some(Metric::ShareWithin) && claim.as_ref().is_some_and(without) {
            let _: Nanos = fields.need("within");
        }
        fields.finish();
        let (metric, unit) = (metric?, unit?);
        let known = metric.units().iter().map(|unit| unit.name()).collect::<Vec<_>>().join(", ");
        let why = format!("{} is published in {known}, not in {}", metric.name(), unit.name());
        fields.check(&["unit"], metric.units().contains(&unit), why);
        Some(Case {
            id,
            at: fields.at().clone(),
            about: given.about.unwrap_or_default(),
            source,
            claim: claim?,
            metric,
            unit,
            tolerance,
            score: given.score.unwrap_or(Score::Counts),
            fits: given.fits.unwrap_or_default().0,
        })
    }

    /// What `fields` itself runs, if it names anything; what its plans say about publication goes into `given`.
    fn subject(&self, fields: &Fields<'_>, given: &mut Given) -> Option<Subject> {
        let names = fields.or("plan", Names::default()).0;
        let mut loads = Vec::with_capacity(names.len());
        for plan in names.iter().filter_map(|name| self.plan(name, fields)) {
            *given = std::mem::take(given).or(&plan.given);
            loads.push(plan.load.clone());
        }
        let occasion = fields.table("phase").map(|phase| read_occasion(&phase));
        let within = fields.get("within");
        if !fields.says("plan") && !fields.says("phase") {
            return None;
        }
        let array = given.array.clone().or_else(|| self.given.array.clone()).unwrap_or_default();
        if let Some(error) = Address::parse(&array).err().filter(|_| !array.is_empty()) {
            let key = if fields.says("array") { "array" } else { "plan" };
            error.iter().for_each(|error| fields.wrong(key, error.said()));
        }
        Some(Subject { array, loads, occasion, within })
    }

    /// A configuration of a list or of `against`: what it does not say is as in the case.
    fn other(&self, fields: &Fields<'_>, case: &Given, like: Option<&Subject>) -> Subject {
        let mut given = Given { array: fields.get("array"), ..Given::default() }.or(case);
        let mine = self.subject(fields, &mut given);
        let nothing = || Subject { array: String::new(), loads: Vec::new(), occasion: None, within: None };
        let (mine, like) = (mine.unwrap_or_else(nothing), like.cloned().unwrap_or_else(nothing));
        let says = |key: &str| fields.says(key);
        let subject = Subject {
            array: given.array.unwrap_or_default(),
            loads: if says("plan") { mine.loads } else { like.loads },
            occasion: if says("phase") { mine.occasion } else { like.occasion },
            within: mine.within.or(like.within),
        };
        let asks = says("plan") || says("phase") || !subject.loads.is_empty() || subject.occasion.is_some();
        if !asks {
            let _: String = fields.need("plan");
        }
        fields.check(&["id", "plan"], !subject.array.is_empty(), MISSING_ARRAY);
        fields.finish();
        subject
    }

    /// What a case claims; `None`, and a mistake, where it says too little or too much.
    fn claim(&self, fields: &Fields<'_>, given: &Given, subject: Option<Subject>) -> Option<Claim> {
        let value: Option<f64> = fields.get("value");
        let (least, most): (Option<f64>, Option<f64>) = (fields.get("least"), fields.get("most"));
        let other = |one: Fields<'_>| self.other(&one, given, subject.as_ref());
        let list = |key: &'static str| -> Option<Vec<Subject>> {
            let all: Vec<Subject> = fields.tables(key).into_iter().map(other).collect();
            fields.check(&[key], all.len() != 1, "give at least two configurations");
            (!all.is_empty()).then_some(all)
        };
        let (order, equal) = (list("order"), list("equal"));
        let against = fields.table("against").map(other);
        let factor: Option<f64> = fields.get("factor");
        let sound = value.or(least).or(most).is_none_or(|number| number.is_finite() && number >= 0.0);
        fields.check(&["value"], sound, "a published value is a number from 0 on");
        let complete = || {
            let complete = subject.clone().filter(|subject| !subject.array.is_empty());
            fields.check(&["id", "array", "plan", "phase"], complete.is_some(), MISSING_ARRAY);
            complete
        };
        let of_one = || Some((complete()?, against.clone()));
        match (value, order, equal, least.is_some() || most.is_some()) {
            (Some(value), None, None, false) => of_one().map(|(subject, against)| match against {
                None => Claim::Absolute { subject, value },
                Some(against) => Claim::Ratio { subject, against, value },
            }),
            (None, None, None, true) => {
                of_one().map(|(subject, against)| Claim::Bound { subject, against, least, most })
            }
            (None, Some(subjects), None, false) if against.is_none() => {
                Some(Claim::Ordering { subjects, factor: factor.unwrap_or(1.0) })
            }
            (None, None, Some(subjects), false) if against.is_none() => Some(Claim::Equal { subjects }),
            _ => {
                fields.check(&["id", "value", "least", "most", "order", "equal", "against"], false, A_CLAIM);
                None
            }
        }
    }
}

const MISSING_ARRAY: &str = "say which `array` is run, and which `plan` or `phase`";
const A_CLAIM: &str =
    "a case has `value`, or `value` and `against`, or `least` and `most`, or `order`, or `equal`";

fn read_occasion(fields: &Fields<'_>) -> Activity {
    let works = BACKGROUND_KINDS.iter().map(|(name, kind)| (*name, ActivityKind::Background(*kind)));
    let more = [("degraded", ActivityKind::Degraded), ("path-lost", ActivityKind::PathLost)];
    let works: Vec<(&str, ActivityKind)> = works.chain(more).collect();
    let occasion = Activity {
        work: fields.need_choice("work", &works).unwrap_or(ActivityKind::Degraded),
        disk: fields.or("disk", 0),
        from: fields.or("from", Share::NONE),
        to: fields.or("to", Share::ALL),
    };
    fields.check(&["to", "from"], occasion.from.get() < occasion.to.get(), "it lies above `from`");
    fields.finish();
    occasion
}

/// Figures of the library as `FILE KEY`; where the file is left out it is that of the one before.
#[derive(Clone, Default)]
struct Fits(Vec<String>);

impl Read for Fits {
    const WANT: &'static str = "figures of the library: \"FILE KEY, KEY\", or a list of such";
    fn read(node: &Node) -> Result<Self, Wrong> {
        let texts: Vec<String> = document::one_or_more(node)?;
        let mut before = None;
        let mut names = Vec::new();
        for name in texts.iter().flat_map(|text| text.split(',')).map(str::trim) {
            let (own, key) = name.split_once(' ').map_or((None, name), |(file, key)| (Some(file), key));
            before = own.or(before);
            let Some(file) = before.filter(|_| !key.is_empty() && !key.contains(' ')) else {
                let message = format!("`{name}` names no figure of the library");
                return Err(Wrong::new(message, "write FILE KEY, as in \"md3000 link.rate\"").at(&node.place));
            };
            names.push(format!("{file} {key}"));
        }
        Ok(Fits(names))
    }
}

/// One name, or a list of them.
#[derive(Default)]
struct Names(Vec<String>);

impl Read for Names {
    const WANT: &'static str = "the name of a plan, or a list of names";
    fn read(node: &Node) -> Result<Self, Wrong> {
        document::one_or_more(node).map(Names)
    }
}
