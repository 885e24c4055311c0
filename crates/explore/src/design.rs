//! A design study as a file says it: the space, what parts cost, the workloads, and what is required.

use array::reliability::YEAR_H;
use array::spec::Source;
use document::{Errors, Fields, Key, Mistakes, Node, Read, SourceText, TextSpan, Value, Wrong, nearest};
use modelled::lab::spot::State;
use modelled::lab::{DEPTH_MOST, DEPTHS_MOST, LabPattern, LabWorkload, SIZE_MOST};
use units::{Bytes, Nanos, Share};

use crate::cost::{Bill, Parts};
use crate::exact::unlisted;
use crate::requirement::{Figure, Requirement, Said};
use crate::space::Space;

/// A design study.
#[derive(Clone, Debug, PartialEq)]
pub struct Design {
    /// Its name.
    pub name: String,
    /// What it is for, in a sentence.
    pub about: String,
    /// Every random choice follows from it.
    pub seed: u64,
    /// What is to choose from.
    pub space: Space,
    /// What the parts cost; `None` where that is not said.
    pub prices: Option<Bill>,
    /// The unit of prices.
    pub currency: String,
    /// What the parts draw, in watts; `None` where that is not said.
    pub watts: Option<Bill>,
    /// How disks die and are replaced.
    pub reliability: Reliability,
    /// What is issued.
    pub workloads: Vec<Workload>,
    /// What must hold.
    pub requirements: Vec<Requirement>,
    /// Simulated figures that differ by no more than this share count as the same.
    pub resolution: f64,
}

/// How disks die and are replaced.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reliability {
    /// Mean time to failure of a disk, in hours.
    pub mttf_h: f64,
    /// Probability that a bit cannot be read.
    pub unreadable: f64,
    /// Until a technician replaces a disk where no hot spare does, in hours.
    pub replace_h: f64,
}

/// A workload of the lab with its name and depths.
#[derive(Clone, Debug, PartialEq)]
pub struct Workload {
    /// By which requirements name it.
    pub name: String,
    /// What is issued.
    pub load: LabWorkload,
    /// Requests in flight, rising.
    pub depths: Vec<u32>,
}

impl Workload {
    /// All that a simulation of it depends on but the depth, in one line.
    pub fn key(&self) -> String {
        let LabWorkload { pattern, size, reads, span } = &self.load;
        let span = span.map_or_else(|| "all".to_owned(), Bytes::exact);
        format!("{} {} {} {span}", pattern.name(), size.exact(), reads.exact())
    }
}

/// Mean time to failure where the file does not say: as in data sheets of nearline and enterprise disks.
const MTTF_H: f64 = 1_000_000.0;
/// Unreadable bits where the file does not say, as `fathom array loss` takes them.
const UNREADABLE: f64 = 1e-15;
/// Hours until a person comes where the file does not say: the next business day.
const REPLACE_H: f64 = 24.0;
/// Resolution where the file does not say.
const RESOLUTION: f64 = 0.02;

impl Design {
    /// The study in `text`, or all of its mistakes at once, each with its line in `label`. Arrays are looked up in
    /// `library`.
    pub fn parse(label: &str, text: &str, library: &dyn Source) -> Result<Design, Errors> {
        let mistakes = Mistakes::default();
        let source = SourceText::new(label, text, 0);
        let twice = |key: &str| format!("give `{key}` once");
        let design = document::parse(&source, twice, &mistakes).and_then(|table| {
            let whole = TextSpan::new(&source, 0..0);
            read(&Fields::new("", &table, &whole, &mistakes), library)
        });
        mistakes.finish(design)
    }

    /// What a price is in.
    pub fn price_unit(&self) -> &str {
        if self.prices.is_some() { &self.currency } else { "disks" }
    }
}

fn read(fields: &Fields<'_>, library: &dyn Source) -> Option<Design> {
    let (name, about) = (fields.need("name"), fields.or("about", String::new()));
    let seed: u32 = fields.or("seed", 1);
    let resolution = fields.get::<Share>("resolution").map_or(RESOLUTION, Share::get);
    fields.check(&["resolution"], (0.0..=0.5).contains(&resolution), "give 0% to 50%");
    let space = fields.need_table("space").and_then(|table| Space::read(&table, library));
    let mut currency = String::new();
    let prices = fields.table("prices").map(|table| {
        currency = table.or("currency", String::new());
        let bill = Bill::read(&table);
        table.finish();
        bill
    });
    let watts = fields.table("watts").map(|table| {
        let bill = Bill::read(&table);
        table.finish();
        bill
    });
    let reliability = fields
        .table("reliability")
        .map_or(Reliability { mttf_h: MTTF_H, unreadable: UNREADABLE, replace_h: REPLACE_H }, |table| {
            read_reliability(&table)
        });
    let workloads: Vec<Workload> = fields.tables("workload").iter().map(read_workload).collect();
    let requirements: Vec<Requirement> =
        fields.tables("requirement").iter().flat_map(|table| read_requirement(table, &workloads)).collect();
    fields.finish();
    for (at, workload) in workloads.iter().enumerate() {
        let is_new = workloads[..at].iter().all(|other| other.name != workload.name);
        fields.check(&["workload"], is_new, format!("two workloads are called `{}`", workload.name));
    }
    let lacks = |figure: &Figure| requirements.iter().any(|requirement| requirement.figure == *figure);
    let why = "a requirement is about watts; say in `[watts]` what the parts draw";
    fields.check(&["requirement"], watts.is_some() || !lacks(&Figure::Watts), why);
    let space = space?;
    for (table, bill) in [("prices", &prices), ("watts", &watts)] {
        if let Some(bill) = bill {
            check_bill(fields, table, bill, &space);
            check_kinds(fields, table, &space);
            check_models(fields, table, bill, &space, library);
        }
    }
    let (seed, currency) =
        (u64::from(seed), if currency.is_empty() { "units of money".into() } else { currency });
    Some(Design {
        name,
        about,
        seed,
        space,
        prices,
        currency,
        watts,
        reliability,
        workloads,
        requirements,
        resolution,
    })
}

/// Names in a bill that nothing has: the amount of one that is misspelt would not be counted.
fn check_bill(fields: &Fields<'_>, table: &str, bill: &Bill, space: &Space) {
    for (name, level) in bill.named_levels() {
        let factor = space.factors.iter().find(|factor| factor.name == *name);
        match factor {
            None => {
                let known = space.factors.iter().map(|factor| factor.name.as_str());
                let help = nearest(name, known).map_or_else(
                    || "name one of `[space]`".to_owned(),
                    |near| format!("did you mean `{near}`?"),
                );
                fields.wrong(table, format!("level: `{name}` is no factor; {help}"));
            }
            Some(factor) if !factor.levels.contains(level) => {
                let levels = factor.levels.join(", ");
                fields.wrong(table, format!("level: `{name}` has no level {level}; one of {levels}"));
            }
            Some(_) => {}
        }
    }
    let Some(named) = bill.named_arrays() else { return };
    let named: Vec<&String> = named.collect();
    let levels = &space.factors[0].levels;
    let bare = |name: &str| name.strip_prefix("array:").unwrap_or(name).to_owned();
    for name in named.iter().filter(|name| !levels.iter().any(|level| bare(level) == ***name)) {
        let levels = levels.join(", ");
        fields.wrong(table, format!("`{name}` is not among the arrays of the space; one of {levels}"));
    }
    for level in levels.iter().filter(|level| !named.contains(&&bare(level))) {
        fields.wrong(table, unlisted("array", &bare(level)));
    }
}

/// Kinds of parts of which a bill says nothing: disks, and arrays where there are several to choose from.
fn check_kinds(fields: &Fields<'_>, table: &str, space: &Space) {
    let Some(bill) = fields.all().find(|(key, _)| key.text == table).and_then(|(_, node)| node.table())
    else {
        return;
    };
    let lacks = |kind: &str| bill.get(kind).is_none();
    if lacks("disk") {
        fields.wrong(table, "`disk` is missing; add `disk = 100`, or `disk = 0` if disks add nothing");
    }
    if lacks("array") && space.factors[0].levels.len() > 1 {
        let first = space.factors[0].levels[0].trim_start_matches("array:");
        let why = format!(
            "`array` is missing; add `array = {{ \"{first}\" = 100, … }}`, with 0 for those that add nothing"
        );
        fields.wrong(table, why);
    }
}

/// Designs of an array that are tried for one that can be built.
const TRIED_MOST: usize = 256;

/// Models that a design takes and that a table of them does not name. Looked at are one design of each array and all that differ
/// from it in one factor; what takes another model only where several differ is found as the designs are built.
fn check_models(fields: &Fields<'_>, table: &str, bill: &Bill, space: &Space, library: &dyn Source) {
    let mut said: Vec<String> = Vec::new();
    let mut check = |number: u64| {
        let Ok(spec) = array::spec::array(library, &space.address(number)) else { return false };
        let parts = Parts::of(space.array(number), &spec);
        if let Some(model) = bill.unlisted(&parts)
            && !said.iter().any(|own| own == model)
        {
            fields.wrong(table, unlisted("disk", model));
            said.push(model.to_owned());
        }
        true
    };
    for array in 0..space.factors[0].levels.len() {
        let mut levels = vec![None; space.factors.len()];
        levels[0] = Some(array);
        let first = space.number(&levels);
        let own = |number: &u64| *number < space.count() && space.levels(*number)[0] == Some(array);
        let Some(built) = (first..).take(TRIED_MOST).take_while(own).find(|number| check(*number)) else {
            continue;
        };
        space.neighbours(built).into_iter().for_each(|(_, number)| {
            check(number);
        });
    }
}

fn read_reliability(fields: &Fields<'_>) -> Reliability {
    let hours = |time: Nanos| time.as_secs_f64() / 3_600.0;
    let afr = fields.get::<Share>("afr").map(Share::get);
    let life = fields.get::<Nanos>("mttf").map(hours);
    let unreadable = fields.or("ure", UNREADABLE);
    let replace_h = fields.get::<Nanos>("replace").map_or(REPLACE_H, hours);
    fields.check(&["afr"], afr.is_none() || life.is_none(), "give one of `afr` and `mttf`");
    fields.check(&["afr"], afr.is_none_or(|afr| afr > 0.0 && afr < 1.0), "give a rate such as \"1%\"");
    fields.check(&["mttf"], life.is_none_or(|life| life > 0.0), "give a time such as \"1000000h\"");
    fields.check(
        &["ure"],
        (0.0..1e-6).contains(&unreadable),
        "give the probability of a bit, below 1e-6, such as 1e-15",
    );
    fields.finish();
    // The rate of a year is that of disks that die without memory: 1 - exp(-year / mean).
    let of_rate = afr.filter(|afr| *afr > 0.0 && *afr < 1.0).map(|afr| YEAR_H / -(-afr).ln_1p());
    Reliability { mttf_h: life.or(of_rate).unwrap_or(MTTF_H), unreadable, replace_h }
}

fn read_workload(fields: &Fields<'_>) -> Workload {
    let patterns = [("random", LabPattern::Random), ("sequential", LabPattern::Sequential)];
    let size = fields.get("size").unwrap_or(Bytes::new(4 << 10));
    let whole = !size.is_zero() && size <= SIZE_MOST && size.is_multiple_of(Bytes::new(units::SECTOR_BYTES));
    fields.check(&["size"], whole, format!("give a multiple of 512 B up to {SIZE_MOST}"));
    let span = fields.all().any(|(key, node)| key.text == "span" && !node.is("all"));
    let workload = Workload {
        name: fields.need("name"),
        load: LabWorkload {
            pattern: fields.one_of("pattern", LabPattern::Random, &patterns),
            size,
            reads: fields.or("reads", Share::ALL),
            span: if span { fields.get("span") } else { fields.get::<String>("span").and(None) },
        },
        depths: depths(fields),
    };
    fields.finish();
    workload
}

/// One depth or a list of them.
fn depths(fields: &Fields<'_>) -> Vec<u32> {
    let is_list = |(key, node): (&Key, &Node)| key.text == "depth" && matches!(node.value, Value::List(_));
    let depths: Vec<u32> = match fields.all().any(is_list) {
        true => fields.or("depth", Vec::new()),
        false => vec![fields.or("depth", 1)],
    };
    let sound = !depths.is_empty()
        && depths.len() <= DEPTHS_MOST
        && depths.iter().all(|depth| (1..=DEPTH_MOST).contains(depth))
        && depths.is_sorted_by(|one, next| one < next);
    let why = format!("give up to {DEPTHS_MOST} depths from 1 to {DEPTH_MOST}, rising, each once");
    fields.check(&["depth"], sound, why);
    depths
}

/// What `meet` says: one requirement or several of one workload in one state.
fn read_requirement(fields: &Fields<'_>, workloads: &[Workload]) -> Vec<Requirement> {
    let states = [State::Healthy, State::Degraded, State::Rebuilding].map(|state| (state.name(), state));
    let meet = fields.need_some::<Meet>("meet").unwrap_or_default().0;
    let state = fields.choice("state", &states);
    let named = fields.get::<String>("workload");
    let number = match &named {
        Some(name) => {
            let found = workloads.iter().position(|workload| workload.name == *name);
            if found.is_none() {
                let known = workloads.iter().map(|workload| workload.name.as_str());
                let near = nearest(name, known.clone()).map(|near| format!("did you mean `{near}`?"));
                let all = known.collect::<Vec<_>>().join(", ");
                let help = near.unwrap_or_else(|| format!("one of {all}"));
                fields.wrong("workload", format!("there is no workload `{name}`; {help}"));
            }
            found
        }
        None => Some(0).filter(|_| workloads.len() == 1),
    };
    fields.finish();
    let one = |(text, said): (String, Said)| {
        let (figure, bound, text) = match said {
            Said::Design(figure, bound) => {
                let plain = named.is_none() && state.is_none();
                fields.check(&["meet"], plain, "this is about the design; leave `workload` and `state` out");
                (figure, bound, text)
            }
            Said::Rebuild(bound) => {
                fields.check(&["state"], state.is_none(), "a rebuild is its own state; leave `state` out");
                let beside = named.as_ref().and(number);
                let text = beside.map_or(text.clone(), |of| format!("{}: {text}", workloads[of].name));
                (Figure::Rebuild(beside), bound, text)
            }
            Said::Load(of, bound) => {
                let Some(workload) = number else {
                    let why = match workloads {
                        [] => "this is about a load; give a `[[workload]]`",
                        _ => "there are several workloads; say which one with `workload`",
                    };
                    fields.check(&["meet"], named.is_some(), why);
                    return None;
                };
                let state = state.unwrap_or(State::Healthy);
                let name = &workloads[workload].name;
                let text = match state {
                    State::Healthy => format!("{name}: {text}"),
                    _ => format!("{name}, {}: {text}", state.name()),
                };
                (Figure::Load { workload, state, of }, bound, text)
            }
        };
        Some(Requirement { text, figure, bound })
    };
    meet.into_iter().filter_map(one).collect()
}

/// One requirement or a list of them, each with its text.
#[derive(Default)]
struct Meet(Vec<(String, Said)>);

impl Read for Meet {
    const WANT: &'static str = "a requirement such as \"iops >= 20k at p99 < 5ms\", or a list of them";

    fn read(node: &Node) -> Result<Meet, Wrong> {
        let one = |node: &Node| match &node.value {
            Value::Text(text) => {
                text.parse().map(|said| (text.clone(), said)).map_err(|wrong: Wrong| wrong.at(&node.place))
            }
            _ => Err(Self::not(node).at(&node.place)),
        };
        match &node.value {
            Value::List(nodes) if nodes.is_empty() => Err(Self::not(node).at(&node.place)),
            Value::List(nodes) => nodes.iter().map(one).collect::<Result<_, _>>().map(Meet),
            _ => one(node).map(|only| Meet(vec![only])),
        }
    }
}
