//! A campaign that would settle what the models are too uncertain for: the designs in question, measured with the load that
//! is in question.

use std::fmt::Write;

use record::Exploration;

use crate::design::Design;
use crate::requirement::Figure;

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
    let mut loads: Vec<usize> = Vec::new();
    for requirement in answer.close_calls.iter().filter_map(|call| of(&call.requirement)) {
        let load = match &requirement.figure {
            Figure::Load { workload, .. } | Figure::Rebuild(Some(workload)) => Some(*workload),
            _ => None,
        };
        loads.extend(load.filter(|load| !loads.contains(load)));
    }
    if loads.is_empty() {
        loads.extend((!design.workloads.is_empty()).then_some(0));
    }
    if loads.is_empty() {
        return None;
    }
    loads.sort_unstable();
    Some(Settling {
        plan: plan_text(design, &loads),
        campaign: campaign_text(design, answer, &addresses, plan),
        designs: addresses.len(),
    })
}

fn plan_text(design: &Design, loads: &[usize]) -> String {
    let mut text = format!(
        "# The loads whose figures are closer to a requirement than the models can tell.\n\nname = {}\nseed = {}\n",
        quoted(&format!("{}-settle", design.name)),
        design.seed
    );
    for load in loads {
        let workload = &design.workloads[*load];
        let modelled::lab::LabWorkload { pattern, size, reads, span } = &workload.load;
        let depths: Vec<String> = workload.depths.iter().map(u32::to_string).collect();
        let span = span.map_or_else(|| "auto".to_owned(), units::Bytes::exact);
        // A String takes everything.
        let _written = write!(
            text,
            "\n[[phase]]\nname    = {}\ndirect  = true\npattern = \"{}\"\nsize    = \"{}\"\nreads   = \"{}\"\nspan    = \
             \"{span}\"\ndepth   = {{ sweep = [{}] }}\nwarmup  = \"1m\"\nrun     = \"1m\"\n",
            quoted(&format!("{}, {{depth}} in flight", workload.name)),
            pattern.name(),
            size.exact(),
            reads.exact(),
            depths.join(", "),
        );
    }
    text
}

fn campaign_text(design: &Design, answer: &Exploration, addresses: &[&str], plan: &str) -> String {
    let mut text = String::from(
        "# The designs that a close call is about, with the load that decides it. On real arrays: put targets in the place \
         of the\n# addresses, or give the factor `ask`, the words by which a person changes the array.\n#\n# Close calls:\n",
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
