//! `fathom compare`

use std::path::PathBuf;

use array::spec;
use clap::Args;
use explain::compare::{Bound, FailOn, Group, Outcome, by, compare as compared, value_of};
use library::{Filter, Library};
use record::judgement::Culprit;
use record::{Compared, Comparison, Run, Setting, Verdict};
use units::convert::truncated;
use units::{BytesPerSecond, Nanos, OpsPerSecond, Share};

use crate::ending::{Ending, Failure};
use crate::input::arrays::LIBRARY;
use crate::input::records::read;
use crate::input::{candidates, path_value};
use crate::output::{self, CompareFormat};
use crate::session::store::Store;
use crate::terminal::{self, Appearance};
use crate::verbs::charts::Charts;
use crate::verbs::culprit;

#[derive(Debug, Args)]
pub struct CompareArgs {
    /// The runs, the first of which is the baseline: last, last~1, a number of `fathom ls`, the beginning of an id, or
    /// a JSON file of `-o`; runs joined by commas are repeats of one measurement. With --by, the runs to group
    #[arg(add = candidates::runs_or_records())]
    pub runs: Vec<String>,
    /// Group runs by the value of a key, and compare the groups: a label (--tag), a property in the record such as
    /// firmware, file-system, kernel, host or target, an option of a virtual array, a key of the plan.
    /// Without RUNS, all saved runs of one plan are grouped
    #[arg(long, value_name = "KEY", add = candidates::tag_keys(""))]
    pub by: Option<String>,
    /// With --by: the value that is the baseline [default: that of the oldest run]
    #[arg(long, value_name = "VALUE", requires = "by")]
    pub base: Option<String>,
    /// With --by: only runs of this plan [default: the plan of the latest run that has the key]
    #[arg(long, requires = "by", add = candidates::saved_plans())]
    pub plan: Option<String>,
    /// Exit 1 if a limit is broken with 95 % confidence: a change from the baseline (iops<-5%, p99>10%) or a value
    /// (p99>5ms, iops<20k) of iops, mb_per_s, mean, a percentile such as p99.9, or a search's met_per_s, of all operations of a workload together or of one (write.p99>10%). `inconclusive`: exit 1 also where the runs are too few or too noisy to decide; may be given
    /// several times
    #[arg(long, value_name = "LIMIT")]
    pub fail_on: Vec<FailOn>,
    /// Call two figures equivalent if the 95 % confidence interval of the change is within ± this
    #[arg(long, value_name = "PERCENT", default_value = "5%")]
    pub margin: Share,
    /// With two runs: simulate their plan on this virtual array with each part slower in turn, and name the part whose
    /// slowing changes the figures as they changed from the first to the second; `unknown` where none does
    #[arg(long, value_name = "ARRAY", conflicts_with = "by", add = candidates::arrays())]
    pub model: Option<String>,
    /// With three or more runs or groups: every figure, not the one-screen summary
    #[arg(long)]
    pub full: bool,
    /// Also write the comparison to this file, in the format of its extension: .txt .json .csv .md; may be given
    /// several times
    #[arg(short, long = "output", value_name = "FILE")]
    #[arg(value_parser = path_value())]
    pub outputs: Vec<PathBuf>,
    /// Format of stdout
    #[arg(long, value_enum, default_value_t = CompareFormat::Text)]
    pub format: CompareFormat,
    #[command(flatten)]
    pub charts: Charts,
    #[command(flatten)]
    pub appearance: Appearance,
}

/// Before the name of a campaign, where runs are named.
pub const CAMPAIGN: &str = "campaign:";

/// Records of a library that are looked at for a pivot, the latest.
const LOOKED_AT: u64 = 500;

pub fn compare(arguments: &CompareArgs, store: &Store) -> Result<Ending, Failure> {
    arguments.outputs.iter().try_for_each(|path| output::check_comparison(path))?;
    arguments.model.as_deref().map_or(Ok(()), culprit::check)?;
    let (mut comparison, runs) = match &arguments.by {
        None => one_by_one(&arguments.runs, arguments.margin.get(), store)?,
        Some(key) => (pivot(arguments, key, store)?, Vec::new()),
    };
    if let Some(model) = &arguments.model {
        comparison.culprit = Some(traced(model, &comparison, &runs)?);
    }
    deliver(&comparison, arguments.format, &arguments.outputs, &arguments.appearance, arguments.full)?;
    // Of sides that are several runs, and of groups, no chart would show what the figures are of.
    let is_shown = arguments.format == CompareFormat::Text && arguments.charts.are_wanted();
    if is_shown && !runs.is_empty() && runs.iter().all(|side| side.len() == 1) {
        let evidence = writeup::evidence(runs.concat(), Some(comparison.clone()), None);
        output::print(&arguments.charts.below(&evidence, &arguments.appearance))?;
    }
    judge(&comparison, &arguments.fail_on)
}

/// The part of `model` with whose change the figures of the second side came about.
fn traced(model: &str, comparison: &Comparison, sides: &[Vec<Run>]) -> Result<Culprit, Failure> {
    let [base, runs] = sides else {
        return Err(Failure::Usage(format!(
            "--model {model}: the slower part is looked for between two runs, such as `fathom compare last~1 last`; {} \
             were named",
            sides.len()
        )));
    };
    let unknown =
        |why: String| Culprit { model: model.into(), part: None, why, figures: 0, suspects: Vec::new() };
    Ok(match (comparison.doubted(), comparison.is_worse()) {
        (Some(doubted), _) => unknown(format!("the runs are not comparable. {doubted}")),
        (None, false) => unknown(format!(
            "no figure of B is worse than that of A by more than the ± {:.0} % that counts as equal, with statistical significance",
            100.0 * comparison.margin
        )),
        (None, true) => {
            let (base, runs): (Vec<&Run>, Vec<&Run>) = (base.iter().collect(), runs.iter().collect());
            culprit::named(model, &base, &runs, &comparison.settings)
        }
    })
}

/// Gives an array's option that an address leaves out the value that the array then has; what is the same after all is none that
/// differs.
fn options_in_full(settings: &mut Vec<Setting>, sides: &[Vec<Run>]) {
    let value = |runs: &[Run], option: &str| {
        let address = runs.first()?.targets.first()?.address.strip_prefix("array:")?;
        let name = address.split_once('?').map_or(address, |(name, _)| name);
        let file = spec::array_file(&LIBRARY, name).ok()?;
        let declared = file.options.iter().find(|one| one.name == option);
        let default = declared.and_then(|one| one.default.clone());
        let key = declared.and_then(|one| one.changes.first()).map_or(option, String::as_str);
        default.or_else(|| file.figures.iter().find(|one| one.key == key).map(|one| one.value.clone()))
    };
    for setting in settings.iter_mut() {
        let Some(option) = setting.key.strip_prefix(Setting::OPTION) else { continue };
        let open = setting.values.iter_mut().zip(sides).filter(|(value, _)| value.is_none());
        open.for_each(|(own, runs)| *own = value(runs, option).or_else(|| Some(culprit::BY_DEFAULT.into())));
    }
    debug_assert!(
        settings.iter().all(|one| one.values.len() == sides.len()),
        "a setting has a value of each side"
    );
    settings.retain(|one| one.option().is_none() || one.values.windows(2).any(|two| two[0] != two[1]));
}

/// Writes the comparison to stdout and to each of `files`.
pub fn deliver(
    comparison: &Comparison,
    format: CompareFormat,
    files: &[PathBuf],
    appearance: &Appearance,
    full: bool,
) -> Result<(), Failure> {
    let text = output::rendered_comparison(comparison, format, terminal::style(appearance), full)?;
    output::print(&text)?;
    files.iter().try_for_each(|path| output::write_comparison(comparison, path, appearance))
}

/// The comparison of `sides`, and the runs of each.
fn one_by_one(sides: &[String], margin: f64, store: &Store) -> Result<(Comparison, Vec<Vec<Run>>), Failure> {
    if sides.len() < 2 {
        return Err(Failure::Usage(
            "a comparison needs two runs, such as `fathom compare last~1 last`, or --by KEY".into(),
        ));
    }
    let mut shelf = Shelf::new(store);
    let mut runs = sides.iter().map(|side| shelf.side(side)).collect::<Result<Vec<_>, _>>()?;
    let left_out = {
        let of_campaigns = sides.iter().zip(&mut runs).filter(|(side, _)| side.starts_with(CAMPAIGN));
        counted_only(of_campaigns.map(|(_, runs)| runs))
    };
    let groups: Vec<Group<'_>> = runs
        .iter()
        .enumerate()
        .map(|(index, runs)| Group { name: letter(index), runs: runs.iter().collect() })
        .collect();
    let mut comparison = compared(None, &groups, margin);
    options_in_full(&mut comparison.settings, &runs);
    comparison.notes.extend(left_out);
    Ok((comparison, runs))
}

/// Leaves out of `sides` the runs that count for no cell of their campaign, and says how many.
fn counted_only<'s>(sides: impl Iterator<Item = &'s mut Vec<Run>>) -> Option<String> {
    let mut left_out: usize = 0;
    for runs in sides {
        let all = runs.len();
        runs.retain(|run| run.lack().is_none());
        left_out += all - runs.len();
    }
    let runs = report::counted(left_out, "run");
    let are = if left_out == 1 { "is" } else { "are" };
    (left_out > 0).then(|| {
        format!("{runs} of a campaign {are} left out: void, skipped or failed; `fathom report campaign:NAME` says why.")
    })
}

/// `A`, `B`, …, `Z`, `side 27`.
pub fn letter(index: usize) -> String {
    let letter = u8::try_from(index).ok().filter(|index| *index < 26).map(|index| char::from(b'A' + index));
    letter.map_or_else(|| format!("side {}", index + 1), String::from)
}

fn pivot(arguments: &CompareArgs, key: &str, store: &Store) -> Result<Comparison, Failure> {
    let mut shelf = Shelf::new(store);
    let mut runs: Vec<Run> = Vec::new();
    if arguments.runs.is_empty() {
        runs = shelf.latest(arguments.plan.clone())?;
        runs.retain(|run| value_of(run, key).is_some());
        if let Some(plan) = runs.first().map(|latest| latest.plan.name.clone()) {
            runs.retain(|run| run.plan.name == plan);
        }
        runs.reverse();
    } else {
        for side in &arguments.runs {
            runs.extend(shelf.side(side)?);
        }
        runs.retain(|run| arguments.plan.as_ref().is_none_or(|plan| *plan == run.plan.name));
    }
    let left_out = counted_only(std::iter::once(&mut runs));
    // Those of the same second stay in the order in which they were kept.
    runs.sort_by(|one, other| one.started.cmp(&other.started));
    let mut groups = by(key, &runs);
    assert!(groups.iter().all(|group| !group.runs.is_empty()), "a group is of runs that have its value");
    // Runs of a campaign come in an order that chance has drawn; its file has an order of levels.
    let place = |group: &Group<'_>| level_place(group.runs[0], key);
    if groups.iter().all(|group| place(group).is_some()) {
        groups.sort_by_key(place);
    }
    if let Some(base) = &arguments.base {
        let place = groups.iter().position(|group| group.name == *base);
        let place = place.ok_or_else(|| {
            let known = names(&groups);
            Failure::Usage(format!("--base {base}: no run has this value of `{key}`; there is {known}"))
        })?;
        groups[..=place].rotate_right(1);
    }
    if groups.len() < 2 {
        let found = match &groups[..] {
            [] => "none".to_owned(),
            [only, ..] => format!("only {key}={}", only.name),
        };
        return Err(Failure::Usage(format!(
            "--by {key}: two values are needed, and there is {found}; label runs with --tag {key}=VALUE, or name a \
             fact of `fathom show --format json`"
        )));
    }
    let mut comparison = compared(Some(key), &groups, arguments.margin.get());
    comparison.notes.extend(left_out);
    Ok(comparison)
}

/// Which level of the factor `key` a cell of a campaign has, in the order of the file.
fn level_place(run: &Run, key: &str) -> Option<u32> {
    let levels = &run.cell.as_ref()?.levels;
    levels.iter().find(|level| level.factor == key).map(|level| level.place)
}

fn names(groups: &[Group<'_>]) -> String {
    groups.iter().map(|group| group.name.as_str()).collect::<Vec<_>>().join(", ")
}

/// Where runs come from: files, and a library that is opened when it is first needed.
pub struct Shelf<'a> {
    store: &'a Store,
    library: Option<Library>,
    /// Whether a word may name a file.
    has_files: bool,
}

/// The runs of a campaign as its latest file asks for them, in the order in which they were measured.
#[derive(Default)]
pub struct CampaignRuns {
    /// Of each cell and block the last that counts.
    pub held: Vec<Run>,
    /// The last of each cell and block of which none counts, with its reason.
    pub lacking: Vec<Run>,
}

impl<'a> Shelf<'a> {
    /// The runs of `store`, which is not opened yet.
    pub fn new(store: &'a Store) -> Shelf<'a> {
        Shelf { store, library: None, has_files: true }
    }

    /// The same, without records in files.
    pub fn without_files(store: &'a Store) -> Shelf<'a> {
        Shelf { has_files: false, ..Shelf::new(store) }
    }

    fn library(&mut self) -> Result<&Library, Failure> {
        if self.library.is_none() {
            self.library = Some(self.store.open()?);
        }
        self.library.as_ref().ok_or_else(|| Failure::Usage("the library could not be opened".into()))
    }

    /// The runs that one word names, apart by commas; a file's name may have some itself.
    pub fn side(&mut self, word: &str) -> Result<Vec<Run>, Failure> {
        if self.has_files && units::name::path(word).is_file() {
            return Ok(vec![read(word)?]);
        }
        if let Some(name) = word.strip_prefix(CAMPAIGN) {
            return self.campaign(name);
        }
        word.split(',').filter(|name| !name.trim().is_empty()).map(|name| self.run(name.trim())).collect()
    }

    fn campaign(&mut self, name: &str) -> Result<Vec<Run>, Failure> {
        let CampaignRuns { held, lacking } = self.campaign_runs(name)?;
        let lack = lacking.first().and_then(Run::lack);
        match lack.filter(|_| held.is_empty()) {
            // What lacks is named after what is there.
            _ if !held.is_empty() => Ok([held, lacking].concat()),
            None => Err(Failure::Usage(format!(
                "campaign:{name}: the library has no run of a campaign of this name"
            ))),
            Some(lack) => Err(Failure::Usage(format!(
                "campaign:{name}: no run counts yet: {} {}, {}",
                lacking.len(),
                lack.kind.word(),
                lack.why
            ))),
        }
    }

    /// The runs of the campaign `name`: none where there is no such.
    pub fn campaign_runs(&mut self, name: &str) -> Result<CampaignRuns, Failure> {
        let library = self.library()?;
        let tags = vec![("campaign".to_owned(), Some(name.to_owned()))];
        let mut runs = CampaignRuns::default();
        for entry in library
            .list(&Filter { tags, ..Filter::default() })?
            .iter()
            .filter(|entry| entry.complete || entry.points == 0)
        {
            let run = library.get(entry.id.as_str())?;
            let Some(cell) = &run.cell else { continue };
            let newest = runs.held.first().and_then(|first| first.cell.as_ref());
            let is_known = |own: &Run| is_same_turn(own, &run);
            if newest.is_some_and(|own| own.key != cell.key) || runs.held.iter().any(is_known) {
                continue;
            }
            if run.counts() {
                runs.held.push(run);
            } else if run.lack().is_some() && !runs.lacking.iter().any(is_known) {
                runs.lacking.push(run);
            }
        }
        let CampaignRuns { held, lacking } = &mut runs;
        let key = held.first().and_then(|first| first.cell.as_ref()).map(|cell| &cell.key);
        lacking.retain(|own| {
            key.is_none_or(|key| own.cell.as_ref().is_some_and(|cell| cell.key == *key))
                && !held.iter().any(|other| is_same_turn(other, own))
        });
        debug_assert!(held.iter().all(Run::counts), "what is held counts");
        held.reverse();
        lacking.reverse();
        Ok(runs)
    }

    fn run(&mut self, name: &str) -> Result<Run, Failure> {
        if self.has_files && units::name::path(name).is_file() {
            return read(name);
        }
        Ok(self.library()?.get(name)?)
    }

    /// The newest runs of `plan` with the label `key`: those with `value`, or with the value of the newest; `most` of them,
    /// the oldest first. Runs that were cut short, and invalid or failed ones, are left out.
    pub fn labelled(
        &mut self,
        plan: &str,
        (key, value): (&str, Option<&str>),
        most: usize,
    ) -> Result<Vec<Run>, Failure> {
        let library = self.library()?;
        let tags = vec![(key.to_owned(), value.map(str::to_owned))];
        let filter =
            Filter { plan: Some(plan.to_owned()), tags, limit: Some(LOOKED_AT), ..Filter::default() };
        let entries = library.list(&filter)?;
        // A run that missed an objective was measured well.
        let mut sound = entries.iter().filter(|entry| entry.complete && entry.code <= 1).peekable();
        let wanted = sound.peek().and_then(|newest| newest.tags.get(key).cloned());
        let same = sound.filter(|entry| entry.tags.get(key) == wanted.as_ref()).take(most);
        let mut runs =
            same.map(|entry| Ok(library.get(entry.id.as_str())?)).collect::<Result<Vec<_>, Failure>>()?;
        runs.reverse();
        Ok(runs)
    }

    /// The newest runs of the library that have a run equal to them beside `like` in plan, targets and labels, grouped by
    /// these: of the same plan and targets as `like`, sound and whole, `most` of them. The seed may differ.
    pub fn equal(&mut self, like: &Run, most: usize) -> Result<Vec<Vec<Run>>, Failure> {
        let library = self.library()?;
        let filter =
            Filter { plan: Some(like.plan.name.clone()), limit: Some(LOOKED_AT), ..Filter::default() };
        let entries = library.list(&filter)?;
        let sound = entries.iter().filter(|entry| entry.complete && entry.code <= 1).take(most);
        let mut groups: Vec<Vec<Run>> = Vec::new();
        for entry in sound {
            let run = library.get(entry.id.as_str())?;
            if !is_same_load(&run, like) || run.id == like.id {
                continue;
            }
            match groups.iter_mut().find(|group| group[0].tags == run.tags) {
                Some(group) => group.push(run),
                None => groups.push(vec![run]),
            }
        }
        debug_assert!(
            groups.iter().map(Vec::len).sum::<usize>() <= most,
            "no more runs are read than may be"
        );
        groups.retain(|group| group.len() > 1);
        Ok(groups)
    }

    /// The latest runs, of one plan if one is named, the newest first.
    fn latest(&mut self, plan: Option<String>) -> Result<Vec<Run>, Failure> {
        let library = self.library()?;
        let entries = library.list(&Filter { plan, limit: Some(LOOKED_AT), ..Filter::default() })?;
        entries.iter().map(|entry| Ok(library.get(entry.id.as_str())?)).collect()
    }
}

/// Whether both asked the same of the same targets, but for the seed.
fn is_same_load(one: &Run, other: &Run) -> bool {
    let targets = |run: &Run| run.targets.iter().map(|target| target.address.clone()).collect::<Vec<_>>();
    let set = |run: &Run| {
        let judged = ["seed", "baseline", "tolerance", "slo", "model"];
        let mut set = run.plan.overrides.clone();
        set.retain(|text| text.split_once('=').is_none_or(|(key, _)| !judged.contains(&key.trim())));
        set
    };
    one.plan.text == other.plan.text && set(one) == set(other) && targets(one) == targets(other)
}

/// Whether both are of the same cell, block and plan of one campaign.
fn is_same_turn(one: &Run, other: &Run) -> bool {
    let turn = |run: &Run| run.cell.as_ref().map(|cell| (cell.block, cell.places(), cell.key.clone()));
    one.plan.name == other.plan.name && turn(one) == turn(other)
}

/// The ending by the limits: 1 where one is broken with 95 % confidence, or cannot be decided and `inconclusive` is given.
/// Says of which nobody can tell.
pub fn judge(comparison: &Comparison, wanted: &[FailOn]) -> Result<Ending, Failure> {
    let (mut failed, mut undecided) = (Vec::new(), Vec::new());
    let limits: Vec<_> = wanted
        .iter()
        .filter_map(|one| match one {
            FailOn::Limit(limit) => Some(limit),
            FailOn::Inconclusive => None,
        })
        .collect();
    for limit in &limits {
        let judged = limit.judge(comparison);
        if judged.is_empty() {
            return Err(Failure::Usage(format!(
                "--fail-on {limit}: no point of two runs has the figure {}",
                limit.metric
            )));
        }
        for (row, outcome) in judged {
            let what = match limit.bound {
                Bound::Change(_) => told(comparison, row),
                Bound::Figure { .. } => figure_told(comparison, row),
            };
            match outcome {
                Outcome::Kept => {}
                Outcome::Broken => failed.push(format!("{what} breaks {limit}")),
                Outcome::Undecided => undecided.push(format!("{limit} is undecided: {what}")),
            }
        }
    }
    if limits.is_empty() && !wanted.is_empty() {
        // What differs between sides of which one is no measurement of what it seems to be is not decided.
        let is_open = |row: &&Compared| match row.verdict {
            Verdict::Inconclusive => true,
            Verdict::Better | Verdict::Worse => comparison.is_doubted(row),
            Verdict::Equivalent | Verdict::Offered => false,
        };
        debug_assert!(
            comparison.rows.iter().all(|row| (row.side as usize) < comparison.sides.len()),
            "a row is of one of the sides"
        );
        let open = comparison.rows.iter().filter(|row| row.total).filter(is_open);
        undecided.extend(open.map(|row| format!("inconclusive: {}", told(comparison, row))));
        if comparison.rows.is_empty() {
            undecided.push("inconclusive: the runs have no point in common".into());
        }
    }
    if wanted.contains(&FailOn::Inconclusive) {
        failed.append(&mut undecided);
    }
    undecided.iter().for_each(|each| terminal::say_sentence(each));
    match failed.first() {
        None => Ok(Ending::done()),
        Some(first) => {
            failed.iter().skip(1).for_each(|each| terminal::say_sentence(each));
            Ok(Ending { code: 1, reason: first.clone() })
        }
    }
}

/// Which figure, by how much it changed, and how sure that is.
fn told(comparison: &Comparison, row: &Compared) -> String {
    let range = match (row.low, row.high) {
        (Some(low), Some(high)) => format!("{} to {}", changed(low), changed(high)),
        _ => "no 95 % CI".into(),
    };
    let side = comparison.sides.get(row.side as usize).map_or("", |side| &side.name);
    format!("{} of {} on {side}: {} ({range})", row.metric, row.cell, changed(row.ratio))
}

/// Which figure, what it is, and how sure that is.
fn figure_told(comparison: &Comparison, row: &Compared) -> String {
    let shown = |value: f64| match row.unit.as_str() {
        "ns" => Nanos::new(truncated(value)).to_string(),
        "bytes_per_s" => BytesPerSecond::new(value).to_string(),
        _ => OpsPerSecond::new(value).to_string(),
    };
    let range = match (row.value_low, row.value_high) {
        (Some(low), Some(high)) => format!("95 % CI {} to {}", shown(low), shown(high)),
        (Some(low), None) => format!("95 % lower bound {}", shown(low)),
        (None, Some(high)) => format!("95 % upper bound {}", shown(high)),
        (None, None) => "no 95 % CI: measure longer".into(),
    };
    let side = comparison.sides.get(row.side as usize).map_or("", |side| &side.name);
    format!("{} of {} on {side}: {} ({range})", row.metric, row.cell, shown(row.value))
}

/// `+12.3 %`; from twice as much on `2.5 times`.
fn changed(ratio: f64) -> String {
    if ratio >= 2.0 { format!("{ratio:.1} times") } else { format!("{:+.1} %", (ratio - 1.0) * 100.0) }
}
