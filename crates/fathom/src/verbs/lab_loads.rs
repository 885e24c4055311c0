//! Which loads of an array have published figures, as the knobs of the lab are set for them.

use std::collections::BTreeMap;

use array::spec::Address;
use modelled::lab::knobs::{ArrayKnobs, Knob, KnobTakes};
use modelled::lab::{LabWorkload, published};
use serde::Serialize;
use units::{Bytes, Share};

/// An array with its knobs, and the loads of which figures are published.
#[derive(Debug, Serialize)]
pub struct LabArray {
    #[serde(flatten)]
    knobs: ArrayKnobs,
    published: Vec<PublishedLoad>,
}

/// A load of which figures are published.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PublishedLoad {
    /// Options of the array and keys of the workload, with their values, where they are not the default.
    set: BTreeMap<String, String>,
    /// Disks that have failed.
    fail: Vec<u32>,
    /// The numbers of the figures in their source.
    labels: Vec<String>,
}

/// `arrays` with their loads, whose values their knobs offer; sizes as they were published.
pub fn with_loads(arrays: Vec<ArrayKnobs>) -> Vec<LabArray> {
    let mut loads = loads();
    arrays
        .into_iter()
        .map(|mut knobs| {
            let published = loads.remove(&knobs.array).unwrap_or_default().into_iter();
            let is_knob = |key: &String| knobs.knobs.iter().any(|knob| knob.key == *key);
            let published: Vec<PublishedLoad> =
                published.filter(|load| load.set.keys().all(is_knob)).collect();
            knobs.knobs.iter_mut().for_each(|knob| offer(knob, &published));
            LabArray { knobs, published }
        })
        .collect()
}

/// The loads of each array by its name, each load once, in the order of the files.
fn loads() -> BTreeMap<String, Vec<PublishedLoad>> {
    let mut all: BTreeMap<String, Vec<PublishedLoad>> = BTreeMap::new();
    for (address, fail, workload, label) in published::all() {
        let Ok(Address { name, settings, .. }) = Address::parse(&address) else { continue };
        let set = settings.into_iter().chain(keys(&workload)).collect();
        let own = all.entry(name).or_default();
        match own.iter_mut().find(|known| known.set == set && known.fail == fail) {
            Some(known) => known.labels.push(label),
            None => own.push(PublishedLoad { set, fail, labels: vec![label] }),
        }
    }
    all
}

fn keys(workload: &LabWorkload) -> [(String, String); 4] {
    let span = workload.span.map_or_else(|| "all".into(), size_text);
    [
        ("pattern".into(), workload.pattern.name().into()),
        ("size".into(), workload.size.exact()),
        ("span".into(), span),
        ("reads".into(), reads_text(workload.reads)),
    ]
}

/// Has a choice name sizes as a person does, and offer what is published.
fn offer(knob: &mut Knob, published: &[PublishedLoad]) {
    let KnobTakes::Choice { values } = &mut knob.takes else { return };
    if knob.key == "span" {
        let named = |value: &String| value.parse().map_or_else(|_| value.clone(), size_text);
        *values = values.iter().map(named).collect();
        debug_assert!(!values.is_empty(), "a choice has something to choose");
    }
    for value in published.iter().filter_map(|load| load.set.get(&knob.key)) {
        if !values.contains(value) {
            values.push(value.clone());
        }
    }
}

/// A share as it is typed: `70%`, `2/3`, otherwise a part of one.
fn reads_text(share: Share) -> String {
    let whole = |times: f64| {
        let number = share.get() * times;
        ((number - number.round()).abs() < 1e-9).then_some(number.round())
    };
    match (whole(100.0), whole(3.0)) {
        (Some(percent), _) => format!("{percent}%"),
        (None, Some(thirds)) => format!("{thirds}/3"),
        (None, None) => share.get().to_string(),
    }
}

/// A size in the fewest letters: `2GB` and not `1953125KiB`, `64KiB` and not `65536B`.
fn size_text(size: Bytes) -> String {
    let binary = size.exact();
    let units = [(1_000_000_000_000, "TB"), (1_000_000_000, "GB"), (1_000_000, "MB")];
    let unit = units.into_iter().find(|(scale, _)| !size.is_zero() && size.get().is_multiple_of(*scale));
    let decimal = unit.map(|(scale, unit)| format!("{}{unit}", size.get() / scale));
    let text = decimal.filter(|text| text.len() < binary.len()).unwrap_or(binary);
    debug_assert_eq!(text.parse(), Ok(size), "a size reads back to the same");
    text
}

#[cfg(test)]
mod tests {
    use array::spec::Shipped;
    use modelled::lab::knobs;

    use super::*;

    fn arrays() -> Vec<LabArray> {
        with_loads(knobs::arrays(&Shipped).expect("the library is sound"))
    }

    #[test]
    fn what_a_load_with_published_figures_sets_is_offered_by_the_knobs_of_its_array() {
        let arrays = arrays();
        let loads: usize = arrays.iter().map(|array| array.published.len()).sum();
        assert!(loads > 20, "{loads}");
        for LabArray { knobs, published } in &arrays {
            for (key, value) in published.iter().flat_map(|load| &load.set) {
                let knob = knobs.knobs.iter().find(|knob| knob.key == *key).expect("it is a knob");
                let KnobTakes::Choice { values } = &knob.takes else { continue };
                assert!(values.contains(value), "{}: {key}={value}", knobs.array);
            }
        }
    }

    #[test]
    fn a_size_is_written_as_it_was_published_and_a_share_as_it_is_typed() {
        assert_eq!(size_text(Bytes::new(2_000_000_000)), "2GB");
        assert_eq!(size_text(Bytes::new(65_536)), "64KiB");
        assert_eq!(size_text(Bytes::new(512_000_000)), "512MB");
        let share = |text: &str| text.parse().map(reads_text).ok();
        assert_eq!(share("2/3").as_deref(), Some("2/3"));
        assert_eq!(share("70%").as_deref(), Some("70%"));
    }
}
