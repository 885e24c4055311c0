//! Reads a file of cases.

use units::{Bytes, Nanos, Share};

use super::subject::{Activity, ActivityKind, Load, Pattern, Subject};
use super::unit::{METRICS, Metric, UNITS, Unit};
use super::{Case, CaseFile, Claim, Omitted, Score};
use crate::spec::address::Address;
use crate::spec::error::{Fault, SpecError, nearest};
use crate::spec::fields::Fields;
use crate::spec::parts::BACKGROUND_KINDS;
use crate::spec::tree::{Node, parse_plain};

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
    fits: Option<String>,
}

impl Given {
    fn read(fields: &Fields<'_>) -> Result<Given, SpecError> {
        let optional = |key, choices| match fields.get::<String>(key)? {
            Some(_) => fields.one_of(key, None, choices).map(Some),
            None => Ok(None),
        };
        let metric = optional("metric", &METRICS)?;
        let unit = match fields.get::<String>("unit")? {
            Some(_) => Some(fields.one_of("unit", None, &UNITS)?),
            None => None,
        };
        let why = fields.get::<String>("why")?;
        let score = match (fields.get::<bool>("score")?, why) {
            (Some(true), None) => Some(Score::Counts),
            (Some(false), Some(why)) | (None, Some(why)) => Some(Score::Listed(why)),
            (Some(false), None) => return Err(fields.wrong("score", "a case that does not count says `why`")),
            (Some(true), Some(_)) => return Err(fields.wrong("why", "a case that counts needs no `why`")),
            (None, None) => None,
        };
        Ok(Given {
            array: fields.get("array")?,
            source: fields.get("source")?,
            about: fields.get("about")?,
            metric,
            unit,
            tolerance: fields.get("tolerance")?,
            score,
            fits: fields.get("fits")?,
        })
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

pub(super) fn file(label: &str, text: &str) -> Result<CaseFile, SpecError> {
    let root = parse_plain(label, text)?;
    let fields = Fields::new("", &root);
    let mut given = Given::read(&fields)?;
    let about = given.about.take().unwrap_or_default();
    let mut book = Book { plans: Vec::new(), given };
    if let Some(plans) = fields.table("plan")? {
        for (name, node) in plans.all() {
            let Node::Table(table) = node else { return Err(plans.wrong(name, "a plan is a table")) };
            let plan = read_plan(name, Fields::new(format!("plan.{name}"), table))?;
            book.plans.push((name.to_string(), plan));
        }
    }
    let cases =
        fields.tables("case")?.into_iter().map(|case| book.case(case)).collect::<Result<Vec<_>, _>>()?;
    let omitted = fields.tables("omitted")?.into_iter().map(read_omitted).collect::<Result<_, _>>()?;
    fields.finish()?;
    let mut ids: Vec<&Case> = cases.iter().collect();
    ids.sort_by(|a, b| a.id.cmp(&b.id).then(a.at.cmp(&b.at)));
    if let Some(pair) = ids.windows(2).find(|pair| pair[0].id == pair[1].id) {
        let why = format!("`{}` is also the id of the case at {}; ids are unique", pair[1].id, pair[0].at);
        return Err(SpecError::at(pair[1].at.clone(), Fault::Value { key: "id".into(), why }));
    }
    Ok(CaseFile { about, cases, omitted })
}

fn read_omitted(fields: Fields<'_>) -> Result<Omitted, SpecError> {
    let omitted = Omitted { ids: fields.need("ids")?, why: fields.need("why")? };
    fields.finish()?;
    Ok(omitted)
}

fn at_least_one(fields: &Fields<'_>, key: &'static str) -> Result<u32, SpecError> {
    match fields.or(key, 1)? {
        0 => Err(fields.wrong(key, "give at least 1")),
        count => Ok(count),
    }
}

fn read_plan(name: &str, fields: Fields<'_>) -> Result<Plan, SpecError> {
    let patterns = [("sequential", Pattern::Sequential), ("random", Pattern::Random)];
    let size: Bytes = fields.need("size")?;
    if size.is_zero() || !size.is_multiple_of(Bytes::new(units::SECTOR_BYTES)) {
        return Err(fields.wrong("size", "a request is a whole number of 512-byte sectors"));
    }
    let span: Option<Bytes> = fields.get("span")?;
    let span_share: Option<Share> = fields.get("span_share")?;
    if span.is_some() && span_share.is_some() {
        return Err(fields.wrong("span", "give `span` or `span_share`, not both"));
    }
    if span.is_some_and(|span| span < size) || span_share.is_some_and(|share| share.get() <= 0.0) {
        return Err(fields.wrong("span", "the span holds at least one request"));
    }
    let load = Load {
        name: name.to_string(),
        pattern: fields.one_of("pattern", None, &patterns)?,
        size,
        reads: fields.or("reads", Share::ALL)?,
        workers: at_least_one(&fields, "workers")?,
        depth: at_least_one(&fields, "depth")?,
        direct: fields.or("direct", true)?,
        span,
        span_share,
        luns: at_least_one(&fields, "luns")?,
        offset: fields.or("offset", Bytes::ZERO)?,
        warmup: fields.or("warmup", Nanos::from_secs_f64(5.0))?,
        run: fields.or("run", Nanos::from_secs_f64(20.0))?,
    };
    let given = Given::read(&fields)?;
    fields.finish()?;
    Ok(Plan { load, given })
}

impl Book {
    fn plan(&self, name: &str, fields: &Fields<'_>) -> Result<&Plan, SpecError> {
        let names = || self.plans.iter().map(|(name, _)| name.as_str());
        self.plans.iter().find(|(known, _)| known == name).map(|(_, plan)| plan).ok_or_else(|| {
            let meant =
                nearest(name, names()).map(|name| format!("; did you mean `{name}`?")).unwrap_or_default();
            let known = names().collect::<Vec<_>>().join(", ");
            fields.wrong("plan", format!("there is no plan `{name}`{meant} The file has {known}"))
        })
    }

    fn case(&self, fields: Fields<'_>) -> Result<Case, SpecError> {
        let at = fields.at().clone();
        let id: String = fields.need("id")?;
        let mut given = Given::read(&fields)?;
        let subject = self.subject(&fields, &mut given)?;
        let given = given.or(&self.given);
        let complete = |subject: Option<Subject>| match subject {
            Some(Subject { array, .. }) if array.is_empty() => Err(missing_array(&fields)),
            Some(subject) => Ok(subject),
            None => Err(missing_array(&fields)),
        };
        let claim = self.claim(&fields, &given, subject, complete)?;
        let metric = match given.metric {
            Some(metric) => metric,
            None => fields.one_of("metric", None, &METRICS)?,
        };
        let unit = given.unit.unwrap_or(metric.units()[0]);
        if !metric.units().contains(&unit) {
            let known = metric.units().iter().map(|unit| unit.name()).collect::<Vec<_>>().join(", ");
            let why = format!("{} is published in {known}, not in {}", metric.name(), unit.name());
            return Err(fields.wrong("unit", why));
        }
        let case = Case {
            id,
            at,
            about: given.about.unwrap_or_default(),
            source: given.source.map_or_else(|| fields.need("source"), Ok)?,
            claim,
            metric,
            unit,
            tolerance: given.tolerance.map_or_else(|| fields.need("tolerance"), Ok)?,
            score: given.score.unwrap_or(Score::Counts),
            fits: given.fits,
        };
        if case.metric == Metric::ShareWithin && case.claim.subjects().iter().any(|one| one.within.is_none())
        {
            return Err(fields
                .need::<Nanos>("within")
                .err()
                .unwrap_or_else(|| fields.wrong("within", "say the limit")));
        }
        fields.finish()?;
        Ok(case)
    }

    /// What `fields` itself runs, if it names anything; what its plans say about publication goes into `given`.
    fn subject(&self, fields: &Fields<'_>, given: &mut Given) -> Result<Option<Subject>, SpecError> {
        let names: Vec<String> = match fields.get::<Names>("plan")? {
            Some(Names(names)) => names,
            None => Vec::new(),
        };
        let mut loads = Vec::with_capacity(names.len());
        for name in &names {
            let plan = self.plan(name, fields)?;
            *given = std::mem::take(given).or(&plan.given);
            loads.push(plan.load.clone());
        }
        let occasion = fields.table("phase")?.map(read_occasion).transpose()?;
        let within = fields.get("within")?;
        if loads.is_empty() && occasion.is_none() {
            return Ok(None);
        }
        let array = given.array.clone().or_else(|| self.given.array.clone()).unwrap_or_default();
        if !array.is_empty() {
            let key = if fields.all().any(|(name, _)| name == "array") { "array" } else { "plan" };
            Address::parse(&array).map_err(|error| fields.wrong(key, error.fault.to_string()))?;
        }
        Ok(Some(Subject { array, loads, occasion, within }))
    }

    /// A configuration of a list or of `against`: what it does not say is as in the case.
    fn other(&self, fields: Fields<'_>, case: &Given, like: Option<&Subject>) -> Result<Subject, SpecError> {
        let mut given = Given { array: fields.get("array")?, ..Given::default() }.or(case);
        let mine = self.subject(&fields, &mut given)?;
        let says = |key: &str| fields.all().any(|(name, _)| name == key);
        let like = like.cloned().unwrap_or_else(|| Subject {
            array: String::new(),
            loads: Vec::new(),
            occasion: None,
            within: None,
        });
        let mine =
            mine.unwrap_or(Subject { loads: Vec::new(), occasion: None, within: None, ..like.clone() });
        let subject = Subject {
            array: given.array.clone().unwrap_or_default(),
            loads: if says("plan") { mine.loads } else { like.loads },
            occasion: if says("phase") { mine.occasion } else { like.occasion },
            within: mine.within.or(like.within),
        };
        if subject.loads.is_empty() && subject.occasion.is_none() {
            return Err(fields.need::<String>("plan").err().unwrap_or_else(|| missing_array(&fields)));
        }
        if subject.array.is_empty() {
            return Err(missing_array(&fields));
        }
        fields.finish()?;
        Ok(subject)
    }

    fn claim(
        &self,
        fields: &Fields<'_>,
        given: &Given,
        subject: Option<Subject>,
        complete: impl Fn(Option<Subject>) -> Result<Subject, SpecError>,
    ) -> Result<Claim, SpecError> {
        let value: Option<f64> = fields.get("value")?;
        let (least, most): (Option<f64>, Option<f64>) = (fields.get("least")?, fields.get("most")?);
        let list = |key: &'static str| -> Result<Option<Vec<Subject>>, SpecError> {
            let tables = fields.tables(key)?;
            if tables.is_empty() {
                return Ok(None);
            }
            let many = tables.len() > 1;
            let all = tables
                .into_iter()
                .map(|one| self.other(one, given, subject.as_ref()))
                .collect::<Result<_, _>>()?;
            if many { Ok(Some(all)) } else { Err(fields.wrong(key, "give at least two configurations")) }
        };
        let (order, equal) = (list("order")?, list("equal")?);
        let against =
            fields.table("against")?.map(|one| self.other(one, given, subject.as_ref())).transpose()?;
        let factor: Option<f64> = fields.get("factor")?;
        if value.or(least).or(most).is_some_and(|number| !number.is_finite() || number < 0.0) {
            return Err(fields.wrong("value", "a published value is a number from 0 on"));
        }
        match (value, order, equal, against, least.is_some() || most.is_some()) {
            (Some(value), None, None, None, false) => {
                Ok(Claim::Absolute { subject: complete(subject)?, value })
            }
            (Some(value), None, None, Some(against), false) => {
                Ok(Claim::Ratio { subject: complete(subject)?, against, value })
            }
            (None, Some(subjects), None, None, false) => {
                Ok(Claim::Ordering { subjects, factor: factor.unwrap_or(1.0) })
            }
            (None, None, Some(subjects), None, false) => Ok(Claim::Equal { subjects }),
            (None, None, None, against, true) => {
                Ok(Claim::Bound { subject: complete(subject)?, against, least, most })
            }
            _ => Err(fields.wrong(
                "id",
                "a case has `value`, or `value` and `against`, or `least` and `most`, or `order`, or `equal`",
            )),
        }
    }
}

fn missing_array(fields: &Fields<'_>) -> SpecError {
    fields.wrong("id", "say which `array` is run, and which `plan` or `phase`")
}

fn read_occasion(fields: Fields<'_>) -> Result<Activity, SpecError> {
    let mut works: Vec<(&str, ActivityKind)> =
        BACKGROUND_KINDS.iter().map(|(name, kind)| (*name, ActivityKind::Background(*kind))).collect();
    works.push(("degraded", ActivityKind::Degraded));
    works.push(("path-lost", ActivityKind::PathLost));
    let occasion = Activity {
        work: fields.one_of("work", None, &works)?,
        disk: fields.or("disk", 0)?,
        from: fields.or("from", Share::NONE)?,
        to: fields.or("to", Share::ALL)?,
    };
    if occasion.from.get() >= occasion.to.get() {
        return Err(fields.wrong("to", "it lies above `from`"));
    }
    fields.finish()?;
    Ok(occasion)
}

/// One name, or a list of them.
struct Names(Vec<String>);

impl crate::spec::fields::Read for Names {
    const WANT: &'static str = "the name of a plan, or a list of names";
    fn read(what: &crate::spec::tree::Scalar) -> Result<Self, String> {
        match what {
            crate::spec::tree::Scalar::Text(name) => Ok(Names(vec![name.clone()])),
            list => Vec::<String>::read(list).map(Names),
        }
    }
}
