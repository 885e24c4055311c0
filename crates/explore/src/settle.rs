//! A campaign that would settle what the models are too uncertain for: the designs in question, measured with the load that
//! is in question.

use std::fmt::Write;

use modelled::lab::spot::State;
use record::Exploration;
use workload::plan::{LatencyFigure, Slo, Time};

use crate::design::Design;
use crate::requirement::{Figure, LoadFigure};

/// The plan and the campaign, as files say them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settling {
    /// The text of the plan.
    pub plan: String,
    /// The text of the campaign.
    pub campaign: String,
    /// Designs that it measures.
    pub designs: usize,
}

/// Designs that are measured at most.
const DESIGNS_MOST: usize = 8;

/// What settles the close calls of `answer`; `None` where there are none.
///
/// The campaign names its plan `plan`, a path from where it is run. Its one factor is the design, as a target, so that a real
/// array in the place of an address is one line to change; every close call is a claim with its limit.
pub fn settling(design: &Design, answer: &Exploration, plan: &str) -> Option<Settling> {
    let mut addresses: Vec<&str> = answer.front.first().map(|row| row.address.as_str()).into_iter().collect();
    for call in &answer.close_calls {
        if !addresses.contains(&call.address.as_str()) && addresses.len() < DESIGNS_MOST {
            addresses.push(&call.address);
        }
    }
    // A factor has two levels at least: a lone design is held against the next one of the front.
    let next = answer.front.iter().map(|row| row.address.as_str()).find(|next| !addresses.contains(next));
    if addresses.len() == 1 {
        addresses.extend(next);
    }
    if answer.close_calls.is_empty() || addresses.len() < 2 {
        return None;
    }
    let of = |text: &str| design.requirements.iter().find(|requirement| requirement.text == text);
    let close = answer.close_calls.iter().filter_map(|call| of(&call.requirement));
    let trials: Vec<Trial> = close.flat_map(|requirement| trials(design, &requirement.figure)).fold(
        Vec::new(),
        |mut all, trial| {
            if !all.contains(&trial) {
                all.push(trial);
            }
            all
        },
    );
    let claims = claims(design, answer);
    Some(Settling {
        plan: plan_text(design, &trials),
        campaign: campaign_text(design, answer, &addresses, plan) + &claims,
        designs: addresses.len(),
    })
}

/// What is measured of each design.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trial {
    /// A load at one depth while the array is in that state.
    Load { workload: usize, depth: u32, state: State },
    /// A rebuild without a load.
    Rebuild,
}

/// What decides `figure`: its load at every depth, in its state. A loss follows from a rebuild.
fn trials(design: &Design, figure: &Figure) -> Vec<Trial> {
    let load = |workload: usize, state: State| {
        let depths = design.workloads[workload].depths.iter();
        depths.map(|depth| Trial::Load { workload, depth: *depth, state }).collect()
    };
    match figure {
        Figure::Price | Figure::Watts | Figure::Usable => Vec::new(),
        Figure::Rebuild(None) | Figure::Loss => vec![Trial::Rebuild],
        Figure::Rebuild(Some(workload)) => load(*workload, State::Rebuilding),
        Figure::Load { workload, state, .. } => load(*workload, *state),
    }
}

/// The disk that fails, as in simulations of a search: the first of the first set.
const FAILED: u32 = 0;

/// The loads on the healthy array, then those with a disk failed, then those beside the rebuild.
fn plan_text(design: &Design, trials: &[Trial]) -> String {
    let mut text = format!(
        "# The loads whose figures are closer to a requirement than the models can tell, each in the state that it is \
         about, one\n# phase for each depth. On real arrays commands of yours fail the disk and begin the rebuild; \
         `--progress` watches it.\n\nname = {}\nseed = {}\n",
        quoted(&format!("{}-settle", design.name)),
        design.seed
    );
    let loads = |state: State| {
        let of_state = trials
            .iter()
            .filter(move |trial| matches!(trial, Trial::Load { state: own, .. } if *own == state));
        of_state.map(|trial| load_text(design, *trial)).collect::<String>()
    };
    text += &loads(State::Healthy);
    let (degraded, rebuilding) = (loads(State::Degraded), loads(State::Rebuilding));
    let rebuilds = trials.contains(&Trial::Rebuild);
    if !degraded.is_empty() || !rebuilding.is_empty() || rebuilds {
        text += &format!("\n[[phase]]\nname  = \"fail disk {FAILED}\"\nstate = \"fail disk {FAILED}\"\n");
    }
    text += &degraded;
    if !rebuilding.is_empty() {
        text += "\n[[phase]]\nname  = \"rebuild\"\nstate = \"rebuild\"\nwait  = false\n";
        text += &rebuilding;
        text += "\n[[phase]]\nname  = \"end of the rebuild\"\nstate = \"watch rebuild\"\n";
    } else if rebuilds {
        text += "\n[[phase]]\nname  = \"rebuild\"\nstate = \"rebuild\"\n";
    }
    text
}

/// What the points of a load are called, up to their depth.
fn point(design: &Design, workload: usize, state: State) -> String {
    format!("{}, {}, ", design.workloads[workload].name, state.name())
}

fn load_text(design: &Design, trial: Trial) -> String {
    let Trial::Load { workload, depth, state } = trial else { return String::new() };
    let modelled::lab::LabWorkload { pattern, size, reads, span } = &design.workloads[workload].load;
    let span = span.map_or_else(|| "auto".to_owned(), units::Bytes::exact);
    format!(
        "\n[[phase]]\nname    = {}\ndirect  = true\npattern = \"{}\"\nsize    = \"{}\"\nreads   = \"{}\"\nspan    = \
         \"{span}\"\ndepth   = {depth}\nwarmup  = \"1m\"\nrun     = \"1m\"\n",
        quoted(&format!("{}{depth} in flight", point(design, workload, state))),
        pattern.name(),
        size.exact(),
        reads.exact(),
    )
}

/// The limits of the close calls, as claims about the points of their loads: a rate, and the time at which it counts.
fn claims(design: &Design, answer: &Exploration) -> String {
    let mut texts: Vec<String> = Vec::new();
    for requirement in &design.requirements {
        let is_close = answer.close_calls.iter().any(|call| call.requirement == requirement.text);
        let Figure::Load { workload, state, of } = &requirement.figure else { continue };
        if !is_close {
            continue;
        }
        let limit = requirement.bound.limit();
        let (rate, slo) = match of {
            LoadFigure::Iops(slo) => (Some(format!("iops  = \"{limit}/s\"")), slo.as_ref()),
            LoadFigure::Throughput(slo) => (Some(format!("throughput = \"{limit}B/s\"")), slo.as_ref()),
            LoadFigure::Latency(slo) => (None, Some(slo)),
        };
        for claimed in rate.into_iter().chain(slo.and_then(time_claimed)) {
            let point = quoted(&point(design, *workload, *state));
            let text = format!("\n[[claim]]\nby    = \"requirement\"\npoint = {point}\n{claimed}\n");
            if !texts.contains(&text) {
                texts.push(text);
            }
        }
    }
    texts.concat()
}

/// The limit of `slo` as a claim says it; `None` where claims have no such figure.
fn time_claimed(slo: &Slo) -> Option<String> {
    let Slo::Latency { of: None, time: Time::Response, figure, .. } = slo else { return None };
    let name = match figure {
        LatencyFigure::Mean => "mean",
        LatencyFigure::Quantile(share) if share.get() == 0.99 => "p99",
        LatencyFigure::Quantile(share) if share.get() == 0.5 => "p50",
        LatencyFigure::Quantile(_) => return None,
    };
    Some(format!("{name}  = \"{}\"", slo.below()?.exact()))
}

fn campaign_text(design: &Design, answer: &Exploration, addresses: &[&str], plan: &str) -> String {
    let mut text = String::from(
        "# The designs that a close call is about, with the load that decides it in the state that it is about. A rate counts \
         at the\n# depths that keep the time behind `at`: the claims have both limits. A rebuild's length is that of its state: \
         `fathom show`.\n# On real arrays: put targets in the place of the addresses, or give the factor `ask`, the words by which \
         a person changes the\n# array.\n#\n# Close calls:\n",
    );
    for call in &answer.close_calls {
        let side = if call.ahead >= 0.0 { "inside" } else { "outside" };
        let off = call.ahead.abs() * 100.0;
        let _written = writeln!(text, "#   {}: {off:.1} % {side}, {}", call.requirement, call.address);
    }
    let levels: Vec<String> =
        addresses.iter().map(|address| quoted(address.strip_prefix("array:").unwrap_or(address))).collect();
    let _written = write!(
        text,
        "\nname    = {}\nabout   = {}\nplans   = {}\nrepeats = 3\nseed    = {}\n\n[factors.design]\non     = \
         \"array:{{level}}\"\nlevels = [\n    {},\n]\n",
        quoted(&format!("{}-settle", design.name)),
        quoted(&format!("What the models of {} are too uncertain for", design.name)),
        quoted(plan),
        design.seed,
        levels.join(",\n    "),
    );
    text
}

/// As TOML has a text.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
