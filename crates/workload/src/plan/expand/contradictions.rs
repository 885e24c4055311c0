//! What the tables of a phase, and phases of a plan, must not say together.

use document::{Mistake, TextSpan};
use units::Share;

use super::Builder;
use super::member::{Axis, Cell, Member, is_rate};
use super::naming::{check_name_key, short};
use crate::plan::keys::phase::PhaseHead;
use crate::plan::keys::workload::WORKLOAD;
use crate::plan::layers::Layers;
use crate::plan::outline::{Outline, PhaseTable};
use crate::plan::settle::PointOrder;
use crate::plan::state::State;
use crate::plan::sweep::MOST_POINTS;
use crate::plan::template::Template;
use crate::plan::text::SHARE_SLACK;
use crate::plan::{Point, Task};
use crate::spec::{Files, Workload};

/// The most workloads in all points of a phase: some tens of megabytes of specifications.
const MOST_PHASE_WORKLOADS: usize = 5 * MOST_POINTS;

impl Builder {
    /// That the points so far and these are not too many.
    pub(super) fn few_enough(&mut self, table: &PhaseTable<'_>, head: &PhaseHead, axes: &[Axis<'_>]) -> bool {
        let lengths = axes.iter().map(|axis| axis.values.len());
        let count = lengths
            .chain([head.repeat as usize, head.rounds.most as usize])
            .try_fold(1usize, usize::checked_mul);
        let sum = count.and_then(|count| count.checked_add(self.points.len()));
        let workloads = count.unwrap_or(usize::MAX).saturating_mul(table.members.len());
        if sum.is_some_and(|sum| sum <= MOST_POINTS) && workloads <= MOST_PHASE_WORKLOADS {
            return true;
        }
        let place = axes.last().map_or(&table.place, |axis| &axis.node.place);
        let message = match sum {
            Some(points) if points <= MOST_POINTS => format!(
                "the points of this phase have {workloads} workloads, and at most {MOST_PHASE_WORKLOADS} are allowed"
            ),
            Some(points) => {
                format!("with this phase the plan has {points} points, and at most {MOST_POINTS} are allowed")
            }
            None => {
                format!("the points of this phase cannot be counted, and at most {MOST_POINTS} are allowed")
            }
        };
        self.mistakes.tell(place, message, "sweep fewer keys, or over fewer values");
        false
    }

    /// That either all workloads have a share or none, and the phase has a rate to share.
    pub(super) fn shares(&mut self, layers: &Layers<'_>, phase: usize, members: &[Member<'_>]) {
        let has = members.iter().filter(|member| member.share.is_some()).count();
        if has == 0 {
            return;
        }
        let place = |index: usize| layers.of_workload(phase, index, "share").map(|found| &found.node.place);
        let sum: f64 = members.iter().filter_map(|member| member.share).map(Share::get).sum();
        let last = (0..members.len()).rev().find_map(place);
        if let Some(place) = last.filter(|_| sum > 1.0 + SHARE_SLACK) {
            let message = format!("the shares sum to {}% of the phase's rate", (sum * 1e4).round() / 1e2);
            self.mistakes.tell(place, message, "at most 100% in all");
        }
        let pace = WORKLOAD.iter().position(|entry| entry.doc.key == "pace").expect("pace is a key");
        for (index, member) in members.iter().enumerate() {
            let Some(place) = place(index) else {
                let message = format!("`{}` has no share, but others of the phase have", member.name);
                self.mistakes.tell(
                    &member.place,
                    message,
                    "give each workload of the phase a `share`, or none",
                );
                continue;
            };
            match &member.found[pace] {
                Some(found) if found.own => {
                    self.mistakes.tell(
                        place,
                        "a workload has either a share of the phase's rate or a pace of its own",
                        "keep one of them",
                    );
                }
                Some(found) if is_rate(found.node) => {}
                _ => {
                    self.mistakes.tell(
                        place,
                        "the phase has no rate of which this could be a share",
                        "write `pace = \"rate(1000/s)\"` in the phase",
                    );
                }
            }
        }
    }

    /// That `until` has a sweep to leave.
    pub(super) fn until(&mut self, layers: &Layers<'_>, phase: usize, head: &PhaseHead, axes: &[Axis<'_>]) {
        let Some((until, node)) = head.until.zip(layers.of_phase(phase, "until")) else { return };
        if head.order == PointOrder::Shuffled {
            return self.mistakes.tell(
                &node.place,
                "`until` ends a sweep in the order of its values, and `point_order` shuffles them",
                "leave one of them out",
            );
        }
        let found = axes.last().map_or(1, |axis| axis.values.len());
        // Every rule but that of the gain may hold after a single point.
        let points = until.gain.map_or(1, |gain| gain.points);
        let others = until.slo.is_some() || until.cpu.is_some() || until.errors.is_some();
        if found > points as usize || (others && found > 1) {
            return;
        }
        let message = match axes.last() {
            None => "`until` leaves a sweep early, and this phase sweeps nothing".to_string(),
            Some(axis) => format!(
                "`until` looks at {} points after the first, and the sweep of {} has only {found}",
                points, axis.label
            ),
        };
        let help = format!("sweep at least {} values, or leave `until` out", points + 1);
        self.mistakes.add(Mistake::new(&node.place, message, Some(help)).caution());
    }

    /// That the figure that has to become steady is that of one point in each round.
    pub(super) fn rounds(&mut self, layers: &Layers<'_>, phase: usize, head: &PhaseHead, axes: &[Axis<'_>]) {
        let Some((tracked, node)) = head.rounds.steady.as_ref().zip(layers.of_phase(phase, "rounds")) else {
            return;
        };
        let example = || {
            let at = |axis: &Axis<'_>| format!("{} = {:?}", axis.label, short(&axis.values[0]));
            match axes {
                [] => "leave `at` out".to_string(),
                axes => {
                    format!("for example at = {{ {} }}", axes.iter().map(at).collect::<Vec<_>>().join(", "))
                }
            }
        };
        for (key, value) in &tracked.at {
            let axis = axes.iter().find(|axis| axis.label == *key);
            let message = match axis {
                None => format!("`{key}` is not swept in this phase"),
                Some(axis) if !axis.values.iter().any(|one| short(one) == *value) => {
                    format!("`{value}` is not among the swept values of {key}")
                }
                Some(_) => continue,
            };
            self.mistakes.tell(&node.place, message, example());
        }
        let open = axes
            .iter()
            .find(|axis| axis.values.len() > 1 && !tracked.at.iter().any(|(key, _)| *key == axis.label));
        if let Some(axis) = open {
            let message =
                format!("`rounds` does not say at which {} its figure has to be steady", axis.label);
            self.mistakes.tell(&node.place, message, example());
        }
        if head.until.is_some() {
            self.mistakes.tell(
                &node.place,
                "rounds that have to become steady measure all their points",
                "leave `until` out",
            );
        }
    }

    /// That every key in a name is one.
    pub(super) fn template(
        &mut self,
        template: &Template,
        place: &TextSpan,
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

    /// That what is prepared is there: trees of files are prepared by the phases that work on them.
    pub(super) fn prepares_blocks(&mut self, outline: &Outline<'_>) {
        let workloads = || self.points.iter().flat_map(Point::workloads);
        if workloads().next().is_none() || workloads().any(|workload| workload.tree.is_none()) {
            return;
        }
        let prepares = |point: &&Point| matches!(&point.task, Task::State(State::Prepare(_)));
        let Some(phase) = self.points.iter().find(prepares).map(|point| point.phase) else { return };
        self.mistakes.tell(
            &outline.phases[phase].place,
            "`prepare` fills what workloads read and write as blocks, and those of this plan work on trees of files alone",
            "leave the phase out: a tree is made before the load that works on it",
        );
    }

    /// A word of caution where requests that bypass the page cache and requests that go through it meet in one file.
    pub(super) fn mixes(&mut self, members: &[Member<'_>], workloads: &[Workload], cell: &Cell<'_>) {
        let of = |direct: bool| {
            let blocks = members.iter().zip(workloads).filter(|(_, workload)| workload.tree.is_none());
            blocks.clone().filter(move |(_, workload)| workload.direct == direct).collect::<Vec<_>>()
        };
        let meet = |one: &Workload, other: &Workload| {
            one.files == Files::Shared && other.files == Files::Shared && (one.writes() || other.writes())
        };
        for (_, direct) in of(true) {
            let Some((member, buffered)) = of(false).into_iter().find(|(_, other)| meet(direct, other))
            else {
                continue;
            };
            let message = format!(
                "`{}` goes through the page cache and `{}` past it, in the same file: the kernel may fail such requests (EIO)",
                buffered.name, direct.name
            );
            let help = "write the same `direct` for both, or give each files of its own".to_owned();
            let place = member.place_of("direct", cell);
            return self.mistakes.add(Mistake::new(place, message, Some(help)).caution());
        }
    }
}
