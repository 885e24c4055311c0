//! From tables to points: every sweep unrolled, every default filled in, every contradiction found.

mod contradictions;
mod member;
mod naming;
mod states;

use std::sync::OnceLock;

use document::{Errors, Mistake, Mistakes, Node, SourceText, Table, TextSpan, argument, parse};

use self::member::{Cell, Member, axes, members, part_of};
use self::naming::{name, set_by, short};
use self::states::state;
use crate::plan::check::faults;
use crate::plan::keys::draft::Draft;
use crate::plan::keys::phase::{Head, PHASE, PLAN, PhaseHead};
use crate::plan::keys::workload::{MEMBER, WORKLOAD};
use crate::plan::keys::{self, Entry};
use crate::plan::layers::{Layers, overrides, pair};
use crate::plan::outline::{self, Outline, PhaseTable, outline};
use crate::plan::rounds::{ROUND, Rounds};
use crate::plan::settle::{PointOrder, Settle};
use crate::plan::state::StateWord;
use crate::plan::suggest::sentence;
use crate::plan::synonyms;
use crate::plan::template::Template;
use crate::plan::vars;
use crate::plan::{Load, Metric, Objective, Overrides, Phase, Plan, Point, Promised, Task};
use crate::rng::Streams;
use crate::spec::{Workload, title_with_set};

/// The plan in `text`; see [`Plan::parse`].
pub(crate) fn plan(label: &str, text: &str, changes: &Overrides) -> Result<Plan, Errors> {
    let mistakes = Mistakes::default();
    let source = SourceText::new(label, text, 0);
    let Some(mut root) = parse(&source, outline::once, &mistakes) else { return mistakes.finish(None) };
    vars::fill(&mut root, &changes.set, &mistakes);
    mistakes.stop()?;
    synonyms::translate(&mut root, &mistakes);
    mistakes.stop()?;
    let outline = outline(&root, &TextSpan::new(&source, 0..0), &mistakes);
    let set = overrides(&changes.set, &outline, &mistakes);
    let tags = tags(&root, changes, &mistakes);
    mistakes.stop()?;
    let layers = Layers::new(&outline, &set);
    let head = head(&layers);
    let of_plan = head.objectives.iter().map(|(objective, line)| promised(objective, None, *line));
    let objectives = of_plan.collect();
    let mut builder = Builder { points: Vec::new(), groups: 0, seed: head.seed, objectives, mistakes };
    let mut phases = Vec::new();
    for index in 0..outline.phases.len() {
        let phase = builder.phase(&outline, &layers, index);
        phases.push(phase);
    }
    builder.prepares_blocks(&outline);
    let Builder { points, objectives, mistakes, .. } = builder;
    let cautions = mistakes.into_result()?;
    let end = phases.iter().fold(0, |end, phase: &Phase| {
        assert_eq!(phase.points.start, end, "phases follow one another without a gap");
        phase.points.end
    });
    assert_eq!(end, points.len(), "every point is of a phase");
    assert!(
        points.iter().enumerate().all(|(index, point)| point.index == index),
        "points know their numbers"
    );
    let name = if head.name.is_empty() { stem(label) } else { head.name.clone() };
    let text = text.to_string();
    let Head { about, seed, targets, baseline, tolerance, model, .. } = head;
    Ok(Plan {
        name,
        about,
        tags,
        seed,
        targets,
        objectives,
        baseline,
        tolerance,
        model,
        phases,
        text,
        cautions,
        points,
    })
}

fn promised(objective: &Objective, phase: Option<usize>, line: usize) -> Promised {
    Promised { objective: objective.clone(), phase, line }
}

/// `plans/oltp.toml` gives `oltp`.
fn stem(label: &str) -> String {
    let file = label.rsplit(['/', '\\']).next().unwrap_or(label);
    file.strip_suffix(".toml").unwrap_or(file).to_string()
}

fn head(layers: &Layers<'_>) -> Head {
    let mut head = Head::default();
    fill(PLAN, &mut head);
    for entry in PLAN {
        if let Some(node) = layers.of_plan(entry.doc.key) {
            read_known(entry, &mut head, node);
        }
    }
    head
}

fn tags(root: &Table, changes: &Overrides, mistakes: &Mistakes) -> Vec<(String, String)> {
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
    let read = entry.read(into, node);
    debug_assert!(read.is_ok(), "{}: {read:?}", entry.doc.key);
}

/// A workload of which only the name is missing.
fn defaults() -> Draft {
    static DEFAULTS: OnceLock<Draft> = OnceLock::new();
    let make = || {
        let mut draft = Draft::default();
        fill(WORKLOAD, &mut draft);
        fill(MEMBER, &mut draft);
        draft
    };
    DEFAULTS.get_or_init(make).clone()
}

/// The workload with these texts; see [`super::from_texts`].
pub(crate) fn from_texts<'a>(
    name: &str,
    texts: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Result<Workload, Errors> {
    let mistakes = Mistakes::default();
    let mut draft = defaults();
    draft.spec.name = name.to_string();
    for (index, (key, text)) in texts.into_iter().enumerate() {
        let source = SourceText::new(key, text, index);
        let node = argument(&source, 0..text.len());
        match keys::find(WORKLOAD, key) {
            Some(entry) => drop(mistakes.take(&node.place, entry.read(&mut draft, &node))),
            None => {
                let help = sentence(key, WORKLOAD.iter().map(|entry| entry.doc.key));
                mistakes.add(Mistake::new(&node.place, format!("`{key}` is not a key of a workload"), help));
            }
        }
    }
    let workload = draft.finish();
    let place = TextSpan::new(&SourceText::new(name, "", 0), 0..0);
    let workload = mistakes.take(&place, workload.map_err(|(_, wrong)| wrong));
    mistakes.into_result()?;
    Ok(workload.expect("without a mistake there is a workload"))
}

/// The points so far.
struct Builder {
    points: Vec<Point>,
    groups: usize,
    seed: u64,
    objectives: Vec<Promised>,
    mistakes: Mistakes,
}

impl Builder {
    fn phase(&mut self, outline: &Outline<'_>, layers: &Layers<'_>, index: usize) -> Phase {
        let table = &outline.phases[index];
        let first = self.points.len();
        let head = phase_head(layers, index, table);
        let name = head.name.clone().unwrap_or_else(|| table.name.clone());
        let about = head.about.clone();
        if let Some(word) = table.state {
            let shown = head.name.unwrap_or_else(|| word.to_string());
            self.state(layers, index, table, word, shown);
            let points = first..self.points.len();
            return Phase {
                name,
                about,
                repeat: 1,
                until: None,
                rounds: Rounds::default(),
                settle: Settle::None,
                order: PointOrder::AsWritten,
                swept: Vec::new(),
                points,
            };
        }
        let swept = self.load(layers, index, table, &head);
        let own = head.objectives.iter().map(|(objective, line)| promised(objective, Some(index), *line));
        self.objectives.extend(own);
        if head.order == PointOrder::Shuffled {
            self.shuffle(first);
        }
        let PhaseHead { repeat, until, rounds, settle, order, .. } = head;
        let points = first..self.points.len();
        Phase { name, about, repeat, until, rounds, settle, order, swept, points }
    }

    /// Brings the points from `first` on into an order that follows from the seed: a pass over all of them for each
    /// repeat, in each round. What they issue stays what it was.
    fn shuffle(&mut self, first: usize) {
        let streams = Streams::new(self.seed);
        let key = |point: &Point| streams.key(&format!("plan/order/{}", point.index));
        self.points[first..].sort_by_cached_key(|point| (point.round, point.repeat, key(point)));
        for (index, point) in self.points.iter_mut().enumerate().skip(first) {
            point.index = index;
        }
    }

    fn state(
        &mut self,
        layers: &Layers<'_>,
        index: usize,
        table: &PhaseTable<'_>,
        word: StateWord,
        name: String,
    ) {
        let state = match state(layers, index, word) {
            Ok(state) => state,
            Err((key, wrong)) => {
                let node = layers.of_state(index, key, true);
                return self.mistakes.wrong(node.map_or(&table.place, |node| &node.place), wrong);
            }
        };
        self.groups += 1;
        let (index, phase, group) = (self.points.len(), index, self.groups - 1);
        let task = Task::State(state);
        let (swept, set) = (Vec::new(), Vec::new());
        self.points.push(Point { index, phase, name, set, swept, repeat: 1, round: 1, group, task });
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
        let rounds = (head.rounds.most > 1).then(|| ROUND.to_string());
        let labels: Vec<String> =
            rounds.into_iter().chain(axes.iter().map(|axis| axis.label.clone())).collect();
        self.shares(layers, phase, &members);
        self.until(layers, phase, head, &axes);
        self.rounds(layers, phase, head, &axes);
        let name_place = layers.of_phase(phase, "name").map_or(&table.place, |node| &node.place);
        let read = Template::read(head.name.as_deref().unwrap_or(&table.name));
        let Some(template) = self.mistakes.take(name_place, read) else { return labels };
        if !self.template(&template, name_place, &members, &axes) || !self.few_enough(table, head, &axes) {
            return labels;
        }
        for round in 1..=head.rounds.most {
            let mut cell = Cell { axes: &axes, at: vec![0; axes.len()] };
            loop {
                if cell.begins_curve() {
                    self.groups += 1;
                }
                self.cell((phase, round), head, &members, &cell, &template);
                if !cell.advance() {
                    break;
                }
            }
        }
        labels
    }

    /// All repeats of one combination of values.
    fn cell(
        &mut self,
        (phase, round): (usize, u32),
        head: &PhaseHead,
        members: &[Member<'_>],
        cell: &Cell<'_>,
        template: &Template,
    ) {
        assert!(!members.is_empty(), "a phase with load has a workload");
        let mut workloads = Vec::with_capacity(members.len());
        for member in members {
            let Some(workload) = self.workload(member, cell) else { return };
            workloads.push(workload);
        }
        let of_files = workloads.iter().filter(|workload| workload.tree.is_some()).count();
        if of_files > 0 && of_files < workloads.len() {
            let mixed = members.iter().zip(&workloads).find(|(_, workload)| workload.tree.is_some());
            let (member, _) = mixed.expect("one is of files");
            return self.mistakes.tell(
                member.place_of("tree", cell),
                "files and blocks are in one phase",
                "give each a phase of its own",
            );
        }
        let twice = members.iter().zip(&workloads).enumerate().find(|(index, (_, workload))| {
            workload.iolog.is_some() && workloads[..*index].iter().any(|other| other.iolog == workload.iolog)
        });
        if let Some((_, (member, _))) = twice {
            return self.mistakes.tell(
                member.place_of("iolog", cell),
                "another workload that runs beside it writes the same log",
                "give each workload a log of its own",
            );
        }
        self.mixes(members, &workloads, cell);
        let number = (head.rounds.most > 1).then(|| (ROUND.to_string(), round.to_string()));
        let swept = cell.axes.iter().zip(&cell.at);
        let swept = swept.map(|(axis, at)| (axis.label.clone(), short(&axis.values[*at])));
        let swept: Vec<(String, String)> = number.into_iter().chain(swept).collect();
        let name = name(template, members, cell, &workloads, &swept);
        let set = set_by(template, members, cell, &workloads);
        let name = title_with_set(name, &set);
        let headlines: Vec<Metric> = members.iter().map(|member| member.headline).collect();
        for repeat in 1..=head.repeat {
            let index = self.points.len();
            let mut workloads = workloads.clone();
            for (workload, member) in workloads.iter_mut().zip(members) {
                if !member.has_seed(cell) {
                    // The files of a tree are the same in every phase that asks for them.
                    let own = if workload.tree.is_some() { 0 } else { index as u64 };
                    workload.seed = self.seed.wrapping_add(own);
                }
            }
            let load = Load { workloads, headlines: headlines.clone(), until: head.until };
            let (name, set, swept) = (name.clone(), set.clone(), swept.clone());
            let (group, task) = (self.groups - 1, Task::Load(load));
            self.points.push(Point { index, phase, name, set, swept, repeat, round, group, task });
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
            let mistake = Mistake::new(member.place_of(fault.key, cell), fault.message, Some(fault.help));
            self.mistakes.add(if fault.caution { mistake.caution() } else { mistake });
        }
        Some(workload)
    }
}

fn phase_head(layers: &Layers<'_>, phase: usize, table: &PhaseTable<'_>) -> PhaseHead {
    let mut head = PhaseHead::default();
    fill(PHASE, &mut head);
    for entry in PHASE {
        let is_name = entry.doc.key == "name" || entry.doc.key == "about";
        if let Some(node) = layers.of_phase(phase, entry.doc.key).filter(|_| is_name || table.state.is_none())
        {
            read_known(entry, &mut head, node);
        }
    }
    head
}
