//! What makes the figures of a report doubtful, each once with its places.

use record::{Point, Severity};

use crate::document::Warning;
use crate::views::Subject;

/// Places of a finding of a campaign that are named.
const PLACES: usize = 5;

/// The finding of a run that was ended before all of its points.
const INTERRUPTED: &str = "interrupted";

/// Findings of all runs, equal sentences once, the most severe first.
pub(crate) fn warnings(subject: &Subject<'_>) -> Vec<Warning> {
    let mut warnings: Vec<Warning> = Vec::new();
    for (run, label) in subject.runs.iter().zip(subject.labels) {
        for finding in &run.findings {
            let point = finding.point.and_then(|index| run.point(index));
            let place = place(subject, label, point);
            match warnings.iter_mut().find(|known| {
                // Of the many runs of a campaign one sentence stands for all of its kind.
                known.code == finding.code
                    && (subject.campaign.is_some() || known.sentence == finding.sentence)
            }) {
                Some(known) => known.places.push(place),
                None => warnings.push(Warning {
                    code: finding.code.clone(),
                    severity: finding.severity,
                    sentence: finding.sentence.clone(),
                    // The last run is another one by the time that this is read.
                    remedy: finding
                        .remedy
                        .replace("fathom explain last", &format!("fathom explain {}", run.id)),
                    places: vec![place],
                }),
            }
        }
        // Runs of a campaign that lack are named with their reason beside its effects.
        let is_told = subject.campaign.is_some() && run.lack().is_some();
        let is_found = run.findings.iter().any(|finding| finding.code == INTERRUPTED);
        if !run.ending.complete && !is_told && !is_found {
            warnings.push(Warning {
                code: "incomplete".into(),
                severity: Severity::Warning,
                sentence: format!("Not every point was measured: {}.", run.ending.reason),
                remedy: String::new(),
                places: vec![label.clone()],
            });
        }
    }
    warnings.sort_by_key(|warning| std::cmp::Reverse(warning.severity));
    for warning in &mut warnings {
        warning.places.retain(|place| !place.is_empty());
        let more = warning.places.len().saturating_sub(PLACES);
        if subject.campaign.is_some() && more > 0 {
            warning.places.truncate(PLACES);
            warning.places.push(format!("{more} more"));
        }
    }
    warnings
}

fn place(subject: &Subject<'_>, label: &str, point: Option<&Point>) -> String {
    let point = point.map_or("", |point| point.name.as_str());
    match (subject.labels.len(), point) {
        (1, point) => point.to_owned(),
        (_, "") => label.to_owned(),
        (_, point) => format!("{label}, {point}"),
    }
}
