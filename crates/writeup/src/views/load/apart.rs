//! How far the latencies of lines beside each other are apart.

use record::Metric;

use super::{Panel, Panels};
use crate::document::Sentence;
use crate::measured;
use crate::number::Number;

/// Of lines beside each other, the shortest and the longest latency at the highest load that all of them have; of several panels
/// in the one where these are furthest apart.
pub(super) fn latencies(panels: &Panels<'_, '_>, metric: Metric, key: &str) -> Option<Sentence> {
    let of_panel = |(title, lines): &Panel<'_, '_>| {
        let (_, _, first) = lines.first().filter(|_| lines.len() > 1)?;
        let at = |text: &str| -> Option<Vec<(String, Number)>> {
            let own = lines.iter().map(|(name, _, line)| {
                let step = line.points.iter().find(|step| step.text == text)?;
                Some((name.clone(), step.median.figure(metric)?.0))
            });
            own.collect()
        };
        let steps = first.points.iter().rev();
        let (text, mut all) =
            steps.map(|step| step.text).find_map(|text| Some((text.to_owned(), at(text)?)))?;
        all.sort_by(|one, other| one.1.value.total_cmp(&other.1.value));
        let (low, high) = (all.first()?.clone(), all.last()?.clone());
        Some((high.1.value / low.1.value, title.clone(), text, low, high))
    };
    let all = panels.panels.iter().filter_map(of_panel);
    let (_, title, text, low, high) = all.max_by(|one, other| one.0.total_cmp(&other.0))?;
    let title = if title.is_empty() { title } else { format!("{title}, ") };
    Some(
        Sentence::of(format!("{title}{key} {text}: {} is ", measured::name(metric)))
            .number(low.1)
            .words(format!(" with {} and ", low.0))
            .number(high.1)
            .words(format!(" with {}.", high.0)),
    )
}
