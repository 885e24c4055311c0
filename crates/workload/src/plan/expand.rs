//! From tables to points: every sweep unrolled, every default filled in, every contradiction found.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use units::{OpsPerSecond, Share};

use super::check::faults;
use super::error::{Mistakes, PlanError, PlanErrors, Wrong};
use super::keys::phase::{Head, PHASE, PLAN, PhaseHead};
use super::keys::state::{PREPARE_SHARES, STATE, StateDraft};
use super::keys::workload::{Draft, MEMBER, WORKLOAD};
use super::keys::{self, Entry};
use super::layers::{Found, Layers, overrides, pair};
use super::outline::{Outline, PhaseTable, outline};
use super::source::{Place, SourceText};
use super::state::{Background, Prepare, State, StateWord};
use super::suggest::sentence;
use super::sweep::{self, MOST_POINTS};
use super::template::Template;
use super::text::SHARE_SLACK;
use super::tree::{self, Node, Table, argument};
use super::{Load, Metric, Overrides, Phase, Plan, Point, Task};
use crate::spec::{Pace, Workload};

/// The plan in `text`; see [`Plan::parse`].
pub(crate) fn plan(label: &str, text: &str, changes: &Overrides) -> Result<Plan, PlanErrors> {
    let mut mistakes = Mistakes::default();
    let source = SourceText::new(label, text, 0);
    let root = tree::document(&source, &mut mistakes);
    stop_at(&mut mistakes)?;
    let outline = outline(&root, &Place::new(&source, 0..0), &mut mistakes);
    let set = overrides(&changes.set, &outline, &mut mistakes);
    let tags = tags(&root, changes, &mut mistakes);
    stop_at(&mut mistakes)?;
    let layers = Layers::new(&outline, &set);
    let head = head(&layers);
    let mut builder = Builder { points: Vec::new(), groups: 0, seed: head.seed, mistakes };
    let mut phases = Vec::new();
    for index in 0..outline.phases.len() {
        let phase = builder.phase(&outline, &layers, index);
        phases.push(phase);
    }
    let Builder { points, mistakes, .. } = builder;
    let cautions = mistakes.into_result()?;
    let name = if head.name.is_empty() { stem(label) } else { head.name };
    let (about, seed, text) = (head.about, head.seed, text.to_string());
    Ok(Plan { name, about, tags, seed, phases, text, cautions, points })
}

/// Fails if there is a mistake already: what follows would only repeat it in other words.
fn stop_at(mistakes: &mut Mistakes) -> Result<(), PlanErrors> {
    if mistakes.none() { Ok(()) } else { std::mem::take(mistakes).into_result().map(|_| ()) }
}

/// `plans/oltp.toml` gives `oltp`.
fn stem(label: &str) -> String {
    let file = label.rsplit(['/', '\\']).next().unwrap_or(label);
    file.strip_suffix(".toml").unwrap_or(file).to_string()
}

fn head(layers: &Layers<'_>) -> Head {
    let mut head = Head::default();
    fill(&PLAN, &mut head);
    for entry in &PLAN {
        if let Some(node) = layers.of_plan(entry.doc.key) {
            read_known(entry, &mut head, node);
        }
    }
    head
}

fn tags(root: &Table, changes: &Overrides, mistakes: &mut Mistakes) -> Vec<(String, String)> {
    let table = root.get("tags").and_then(Node::table);
    let written = table.into_iter().flat_map(Table::iter);
    let mut tags: Vec<(String, String)> =
        written.filter_map(|(key, node)| Some((key.text.clone(), node.scalar()?))).collect();
    for (index, text) in changes.tags.iter().enumerate() {
        let source = SourceText::new("--tag", text, 1 + changes.set.len() + index);
        let Some((key, _)) = pair(&source, mistakes) else { continue };
        // A tag is the user's own words: no part of it is TOML.
        let value = text.split_once('=').map_or("", |(_, value)| value).trim().to_string();
        tags.retain(|(known, _)| *known != key.text);
        tags.push((key.text, value));
    }
    tags
}

/// Sets every key to its default.
fn fill<T>(entries: &'static [Entry<T>], into: &mut T) {
    for entry in entries.iter().filter(|entry| !entry.doc.default.is_empty()) {
        let source = SourceText::new("default", entry.doc.default, 0);
        read_known(entry, into, &argument(&source, 0..entry.doc.default.len()));
    }
}

/// Reads a value that is known to be readable: defaults by a test, typed values by the outline.
fn read_known<T>(entry: &Entry<T>, into: &mut T, node: &Node) {
    let read = (entry.read)(into, node);
    debug_assert!(read.is_ok(), "{}: {read:?}", entry.doc.key);
}

/// A workload of which only the name is missing.
fn defaults() -> Draft {
    static DEFAULTS: OnceLock<Draft> = OnceLock::new();
    let make = || {
        let mut draft = Draft::blank();
        fill(&WORKLOAD, &mut draft);
        fill(&MEMBER, &mut draft);
        draft
    };
    DEFAULTS.get_or_init(make).clone()
}

/// The workload with these texts; see [`super::from_texts`].
pub(crate) fn from_texts<'a>(
    name: &str,
    texts: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Result<Workload, PlanErrors> {
    let mut mistakes = Mistakes::default();
    let mut draft = defaults();
    draft.spec.name = name.to_string();
    for (index, (key, text)) in texts.into_iter().enumerate() {
        let source = SourceText::new(key, text, index);
        let node = argument(&source, 0..text.len());
        match keys::find(&WORKLOAD, key) {
            Some(entry) => drop(mistakes.take(&node.place, (entry.read)(&mut draft, &node))),
            None => {
                let help = sentence(key, WORKLOAD.iter().map(|entry| entry.doc.key));
                mistakes.add(PlanError::new(
                    &node.place,
                    format!("`{key}` is not a key of a workload"),
                    help,
                ));
            }
        }
    }
    let workload = draft.finish();
    let place = Place::new(&SourceText::new(name, "", 0), 0..0);
    let workload = mistakes.take(&place, workload.map_err(|(_, wrong)| wrong));
    mistakes.into_result()?;
    Ok(workload.expect("without a mistake there is a workload"))
}

/// The points so far.
struct Builder {
    points: Vec<Point>,
    groups: usize,
    seed: u64,
    mistakes: Mistakes,
}

/// One workload of a phase and the values that hold for it, in the order of the entries.
struct Member<'a> {
    name: String,
    place: Place,
    found: Vec<Option<Found<'a>>>,
    headline: Metric,
    share: Option<Share>,
}

/// One sweep.
struct Axis<'a> {
    /// `workers`, or `oltp.workers` where it is said for one workload of several.
    label: String,
    /// The value that is swept; a sweep of a phase is one axis for all its workloads.
    node: &'a Node,
    values: Vec<Node>,
    order: (usize, usize),
}

/// Which value each axis has at one point.
struct Cell<'a> {
    axes: &'a [Axis<'a>],
    at: Vec<usize>,
}

impl Cell<'_> {
    /// The value of `node` at this point: itself unless it is swept.
    fn value<'n>(&'n self, node: &'n Node) -> &'n Node {
        let axis = self.axes.iter().position(|axis| std::ptr::eq(axis.node, node));
        axis.map_or(node, |axis| &self.axes[axis].values[self.at[axis]])
    }

    /// To the next point, the last axis fastest; false after the last.
    fn advance(&mut self) -> bool {
        for axis in (0..self.at.len()).rev() {
            self.at[axis] += 1;
            if self.at[axis] < self.axes[axis].values.len() {
                return true;
            }
            self.at[axis] = 0;
        }
        false
    }

    /// Whether the innermost sweep begins here: a new curve.
    fn begins_curve(&self) -> bool {
        self.at.last().is_none_or(|at| *at == 0)
    }
}

impl Builder {
    fn phase(&mut self, outline: &Outline<'_>, layers: &Layers<'_>, index: usize) -> Phase {
        let table = &outline.phases[index];
        let first = self.points.len();
        let head = phase_head(layers, index, table);
        let (name, about) = (table.name.clone(), head.about.clone());
        if let Some(word) = table.state {
            self.state(layers, index, table, word);
            let points = first..self.points.len();
            return Phase { name, about, repeat: 1, until: None, swept: Vec::new(), points };
        }
        let swept = self.load(layers, index, table, &head);
        let points = first..self.points.len();
        Phase { name, about, repeat: head.repeat, until: head.until, swept, points }
    }

    fn state(&mut self, layers: &Layers<'_>, index: usize, table: &PhaseTable<'_>, word: StateWord) {
        let state = match state(layers, index, word) {
            Ok(state) => state,
            Err((key, wrong)) => {
                let node = layers.of_state(index, key, true);
                return self.mistakes.wrong(node.map_or(&table.place, |node| &node.place), wrong);
            }
        };
        let name = if table.table.get("name").is_some() { table.name.clone() } else { word.to_string() };
        self.groups += 1;
        let (index, phase, group) = (self.points.len(), index, self.groups - 1);
        let task = Task::State(state);
        self.points.push(Point { index, phase, name, swept: Vec::new(), repeat: 1, group, task });
    }

    /// Adds the points of a load; gives the labels of its sweeps.
    fn load(
        &mut self,
        layers: &Layers<'_>,
        phase: usize,
        table: &PhaseTable<'_>,
        head: &PhaseHead,
    ) -> Vec<String> {
        let members = members(layers, phase, table);
        let axes = axes(&members);
        let labels: Vec<String> = axes.iter().map(|axis| axis.label.clone()).collect();
        self.shares(layers, phase, &members);
        self.until(layers, phase, head, &axes);
        let name_place = layers.of_phase(phase, "name").map_or(&table.place, |node| &node.place);
        let read = Template::read(head.name.as_deref().unwrap_or(&table.name));
        let Some(template) = self.mistakes.take(name_place, read) else { return labels };
        if !self.template(&template, name_place, &members, &axes) || !self.few_enough(table, head, &axes) {
            return labels;
        }
        let mut cell = Cell { axes: &axes, at: vec![0; axes.len()] };
        loop {
            if cell.begins_curve() {
                self.groups += 1;
            }
            self.cell(phase, head, &members, &cell, &template);
            if !cell.advance() {
                return labels;
            }
        }
    }

    /// All repeats of one combination of values.
    fn cell(
        &mut self,
        phase: usize,
        head: &PhaseHead,
        members: &[Member<'_>],
        cell: &Cell<'_>,
        template: &Template,
    ) {
        let mut workloads = Vec::with_capacity(members.len());
        for member in members {
            let Some(workload) = self.workload(member, cell) else { return };
            workloads.push(workload);
        }
        let swept = cell.axes.iter().zip(&cell.at);
        let swept: Vec<(String, String)> =
            swept.map(|(axis, at)| (axis.label.clone(), short(&axis.values[*at]))).collect();
        let name = name(template, members, cell, &workloads, &swept);
        let headlines: Vec<Metric> = members.iter().map(|member| member.headline).collect();
        for repeat in 1..=head.repeat {
            let index = self.points.len();
            let mut workloads = workloads.clone();
            for (workload, member) in workloads.iter_mut().zip(members) {
                if !member.has_seed(cell) {
                    workload.seed = self.seed.wrapping_add(index as u64);
                }
            }
            let load = Load { workloads, headlines: headlines.clone(), until: head.until };
            let (name, swept) = (name.clone(), swept.clone());
            let (group, task) = (self.groups - 1, Task::Load(load));
            self.points.push(Point { index, phase, name, swept, repeat, group, task });
        }
    }

    /// The workload of a member at one point, unless it contradicts itself.
    fn workload(&mut self, member: &Member<'_>, cell: &Cell<'_>) -> Option<Workload> {
        let mut draft = defaults();
        draft.spec.name = member.name.clone();
        for (entry, found) in WORKLOAD.iter().zip(&member.found) {
            if let Some(found) = found {
                read_known(entry, &mut draft, cell.value(found.node));
            }
        }
        let mut workload = match draft.finish() {
            Ok(workload) => workload,
            Err((key, wrong)) => {
                self.mistakes.wrong(member.place_of(key, cell), wrong);
                return None;
            }
        };
        if let Some(share) = member.share {
            workload.pace = part_of(workload.pace, share);
        }
        for fault in faults(&workload) {
            let mistake = PlanError::new(member.place_of(fault.key, cell), fault.message, Some(fault.help));
            self.mistakes.add(if fault.caution { mistake.caution() } else { mistake });
        }
        Some(workload)
    }

    /// That the points so far and these are not too many.
    fn few_enough(&mut self, table: &PhaseTable<'_>, head: &PhaseHead, axes: &[Axis<'_>]) -> bool {
        let lengths = axes.iter().map(|axis| axis.values.len());
        let count = lengths.chain([head.repeat as usize]).try_fold(1usize, usize::checked_mul);
        let sum = count.and_then(|count| count.checked_add(self.points.len()));
        if sum.is_some_and(|sum| sum <= MOST_POINTS) {
            return true;
        }
        let place = axes.last().map_or(&table.place, |axis| &axis.node.place);
        let many = sum.map_or("more than can be counted".into(), |sum| sum.to_string());
        let message =
            format!("with this phase the plan has {many} points, and at most {MOST_POINTS} are allowed");
        let help = "sweep fewer keys, or over fewer values".to_string();
        self.mistakes.add(PlanError::new(place, message, Some(help)));
        false
    }

    /// That either all workloads have a share or none, and the phase has a rate to share.
    fn shares(&mut self, layers: &Layers<'_>, phase: usize, members: &[Member<'_>]) {
        let has = members.iter().filter(|member| member.share.is_some()).count();
        if has == 0 {
            return;
        }
        let place = |index: usize| layers.of_workload(phase, index, "share").map(|found| &found.node.place);
        let sum: f64 = members.iter().filter_map(|member| member.share).map(Share::get).sum();
        let last = (0..members.len()).rev().find_map(place);
        if let Some(place) = last.filter(|_| sum > 1.0 + SHARE_SLACK) {
            let message = format!("the shares are {}% of the phase's rate", (sum * 1e4).round() / 1e2);
            self.mistakes.add(PlanError::new(place, message, Some("at most 100% in all".into())));
        }
        let pace = WORKLOAD.iter().position(|entry| entry.doc.key == "pace").expect("pace is a key");
        for (index, member) in members.iter().enumerate() {
            let Some(place) = place(index) else {
                let message = format!("`{}` has no share, but others of the phase have", member.name);
                let help = "give each workload of the phase a `share`, or none".to_string();
                self.mistakes.add(PlanError::new(&member.place, message, Some(help)));
                continue;
            };
            match &member.found[pace] {
                Some(found) if found.own => {
                    let help = "keep one of them".to_string();
                    let message = "a workload has either a share of the phase's rate or a pace of its own";
                    self.mistakes.add(PlanError::new(place, message, Some(help)));
                }
                Some(found) if is_rate(found.node) => {}
                _ => {
                    let message = "the phase has no rate of which this could be a share";
                    let help = "write `pace = \"rate(1000/s)\"` in the phase".to_string();
                    self.mistakes.add(PlanError::new(place, message, Some(help)));
                }
            }
        }
    }

    /// That `until` has a sweep to leave.
    fn until(&mut self, layers: &Layers<'_>, phase: usize, head: &PhaseHead, axes: &[Axis<'_>]) {
        let Some((until, node)) = head.until.zip(layers.of_phase(phase, "until")) else { return };
        let found = axes.last().map_or(1, |axis| axis.values.len());
        if found > until.points as usize {
            return;
        }
        let message = match axes.last() {
            None => "`until` leaves a sweep early, and this phase sweeps nothing".to_string(),
            Some(axis) => format!(
                "`until` looks at {} points after the first, and the sweep of {} has only {found}",
                until.points, axis.label
            ),
        };
        let help = format!("sweep at least {} values, or leave `until` out", until.points + 1);
        self.mistakes.add(PlanError::new(&node.place, message, Some(help)).caution());
    }

    /// That every key in a name is one.
    fn template(
        &mut self,
        template: &Template,
        place: &Place,
        members: &[Member<'_>],
        axes: &[Axis<'_>],
    ) -> bool {
        let mut good = true;
        for key in template.keys() {
            if let Err(wrong) = check_name_key(key, members, axes) {
                self.mistakes.wrong(place, wrong);
                good = false;
            }
        }
        good
    }
}

impl Member<'_> {
    /// Where `key` is said for this workload, or else the workload's own heading.
    fn place_of<'n>(&'n self, key: &str, cell: &'n Cell<'_>) -> &'n Place {
        let index = WORKLOAD.iter().position(|entry| entry.doc.key == key);
        let found = index.and_then(|index| self.found[index].as_ref());
        found.map_or(&self.place, |found| &cell.value(found.node).place)
    }

    /// Whether its seed is said as a number.
    fn has_seed(&self, cell: &Cell<'_>) -> bool {
        let index = WORKLOAD.iter().position(|entry| entry.doc.key == "seed").expect("seed is a key");
        let found = self.found[index].as_ref();
        found.is_some_and(|found| cell.value(found.node).scalar().as_deref() != Some("auto"))
    }
}

fn phase_head(layers: &Layers<'_>, phase: usize, table: &PhaseTable<'_>) -> PhaseHead {
    let mut head = PhaseHead::default();
    fill(&PHASE, &mut head);
    for entry in &PHASE {
        let is_name = entry.doc.key == "name" || entry.doc.key == "about";
        if let Some(node) = layers.of_phase(phase, entry.doc.key).filter(|_| is_name || table.state.is_none())
        {
            read_known(entry, &mut head, node);
        }
    }
    head
}

fn members<'a>(layers: &Layers<'a>, phase: usize, table: &PhaseTable<'a>) -> Vec<Member<'a>> {
    let member = |index: usize| {
        let mut draft = defaults();
        for entry in &MEMBER {
            if let Some(found) = layers.of_workload(phase, index, entry.doc.key) {
                read_known(entry, &mut draft, found.node);
            }
        }
        let found = WORKLOAD.iter().map(|entry| layers.of_workload(phase, index, entry.doc.key)).collect();
        let (name, place) = (table.members[index].name.clone(), table.members[index].place.clone());
        Member { name, place, found, headline: draft.headline, share: draft.share }
    };
    (0..table.members.len()).map(member).collect()
}

fn axes<'a>(members: &[Member<'a>]) -> Vec<Axis<'a>> {
    let mut axes: Vec<Axis<'a>> = Vec::new();
    for member in members {
        for (entry, found) in WORKLOAD.iter().zip(&member.found) {
            let Some(found) = found else { continue };
            let Ok(Some(values)) = sweep::values(found.node, entry.doc.kind) else { continue };
            if axes.iter().any(|axis| std::ptr::eq(axis.node, found.node)) {
                continue;
            }
            let key = entry.doc.key;
            let label = if found.own { format!("{}.{key}", member.name) } else { key.to_string() };
            axes.push(Axis { label, node: found.node, values, order: found.order });
        }
    }
    axes.sort_by_key(|axis| axis.order);
    axes
}

fn is_rate(node: &Node) -> bool {
    match sweep::values(node, keys::Kind::Text) {
        Ok(Some(values)) => values.iter().all(is_rate),
        _ => matches!(node.read::<Pace>("rate(500/s)"), Ok(Pace::Even(_) | Pace::Poisson(_))),
    }
}

fn part_of(pace: Pace, share: Share) -> Pace {
    let part = |rate: OpsPerSecond| OpsPerSecond::new(rate.get() * share.get());
    match pace {
        Pace::Even(rate) => Pace::Even(part(rate)),
        Pace::Poisson(rate) => Pace::Poisson(part(rate)),
        Pace::Closed | Pace::Think(_) => pace,
    }
}

fn state(layers: &Layers<'_>, phase: usize, word: StateWord) -> Result<State, (&'static str, Wrong)> {
    let mut draft = StateDraft::blank();
    fill(&STATE, &mut draft);
    for entry in &STATE {
        if let Some(node) = layers.of_state(phase, entry.doc.key, false) {
            read_known(entry, &mut draft, node);
        }
    }
    Ok(match word {
        StateWord::Idle => State::Idle(draft.run.unwrap_or_default()),
        StateWord::FailDisk(disk) => State::FailDisk(disk),
        StateWord::Background(work) => {
            State::Background(Background { work, rate: draft.rate, wait: draft.wait })
        }
        StateWord::Prepare => State::Prepare(prepare(layers, phase, &draft)?),
    })
}

fn prepare(layers: &Layers<'_>, phase: usize, draft: &StateDraft) -> Result<Prepare, (&'static str, Wrong)> {
    let mut shared = defaults();
    for key in PREPARE_SHARES {
        let entry = keys::find(&WORKLOAD, key).expect("what prepare shares are keys of a workload");
        let Some(node) = layers.of_state(phase, key, true) else { continue };
        if let Ok(Some(_)) = sweep::values(node, entry.doc.kind) {
            let help = format!("write in this phase which `{key}` is prepared");
            return Err((key, Wrong::new(format!("`{key}` is swept, and is prepared only once"), help)));
        }
        read_known(entry, &mut shared, node);
    }
    let workload = shared.finish()?;
    Ok(Prepare {
        offset: workload.offset,
        span: workload.span,
        trim: draft.trim,
        fill: draft.fill,
        content: workload.content,
        drop_caches: draft.drop_caches,
        read_ahead: draft.read_ahead,
    })
}

// Names -----------------------------------------------------------------------------------------------

/// A value as it stands in a name: as typed.
fn short(node: &Node) -> String {
    node.scalar().unwrap_or_else(|| {
        let table = node.table().map(|table| {
            let entry = |(key, weight): (&tree::Key, &Node)| {
                format!("{}:{}", key.text, weight.scalar().unwrap_or_default())
            };
            table.iter().map(entry).collect::<Vec<_>>().join("+")
        });
        table.unwrap_or_default()
    })
}

/// The members a key in a name speaks of, and the key itself without the member's name.
fn speaks_of<'m, 'a, 'k>(key: &'k str, members: &'m [Member<'a>]) -> (Vec<&'m Member<'a>>, &'k str) {
    for member in members {
        if let Some(rest) = key.strip_prefix(member.name.as_str()).and_then(|rest| rest.strip_prefix('.')) {
            return (vec![member], rest);
        }
    }
    (members.iter().collect(), key)
}

fn check_name_key(key: &str, members: &[Member<'_>], axes: &[Axis<'_>]) -> Result<(), Wrong> {
    let (meant, bare) = speaks_of(key, members);
    let Some(index) = WORKLOAD.iter().position(|entry| entry.doc.key == bare) else {
        let known = WORKLOAD.iter().map(|entry| entry.doc.key);
        let labels = axes.iter().map(|axis| axis.label.as_str());
        let help =
            sentence(bare, known.chain(labels)).unwrap_or_else(|| "fill in a key of a workload".into());
        return Err(Wrong::new(format!("the name fills in `{key}`, which is not a key of a workload"), help));
    };
    let nodes: BTreeSet<Option<usize>> = meant
        .iter()
        .map(|member| member.found[index].as_ref().map(|found| std::ptr::from_ref(found.node) as usize))
        .collect();
    if nodes.len() > 1 {
        let choices: Vec<String> = meant.iter().map(|member| format!("{{{}.{bare}}}", member.name)).collect();
        let message = format!("the workloads of the phase have their own `{bare}`");
        return Err(Wrong::new(message, format!("say which is meant: {}", choices.join(" or "))));
    }
    Ok(())
}

fn name(
    template: &Template,
    members: &[Member<'_>],
    cell: &Cell<'_>,
    workloads: &[Workload],
    swept: &[(String, String)],
) -> String {
    let value = |key: &str| {
        let (meant, bare) = speaks_of(key, members);
        let member = meant.first()?;
        let index = WORKLOAD.iter().position(|entry| entry.doc.key == bare)?;
        match &member.found[index] {
            Some(found) => Some(short(cell.value(found.node))),
            None => {
                let number = members.iter().position(|one| std::ptr::eq(one, *member))?;
                Some((WORKLOAD[index].write)(&Draft::of(&workloads[number])))
            }
        }
    };
    let mut name = template.fill(|key| value(key).unwrap_or_default());
    let named: Vec<&str> = template.keys().collect();
    for (label, value) in swept {
        let in_name = |key: &&str| *key == label || label.ends_with(&format!(".{key}"));
        if !named.iter().any(in_name) {
            name += &format!(" {label}={value}");
        }
    }
    name
}
