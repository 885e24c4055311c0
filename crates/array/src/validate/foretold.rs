//! How far the shipped models were from published figures that they were not fitted to:
//! `validation/scores/foretold.toml`, which `fathom validate --save-scores` writes.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use document::{Fields, Mistakes, SourceText, TextSpan};
use units::Share;

use super::{Judged, Score, Scores};
use crate::device::DeviceParams;
use crate::spec::{Address, ArraySpec, Shelf, Shipped, Source};

/// The shipped file.
const SHIPPED: (&str, &str) = (
    "validation/scores/foretold.toml",
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../validation/scores/foretold.toml")),
);

/// With fewer figures a median says little of an array: that of all arrays is given in its place.
const FEW: u32 = 5;

/// How far models were from published figures that they were not fitted to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Foretold {
    /// Published figures of the array itself; there may be none.
    pub own_figures: u32,
    /// Whether the errors are those of the array's own figures, which are five at least; else those of all arrays.
    pub is_own: bool,
    /// The figures that the errors are of.
    pub figures: u32,
    /// The median of the absolute errors.
    pub median_error: Share,
    /// The part of the figures that the model came within a quarter of.
    pub within_25: Share,
}

/// How far the model `spec` was, or those of all arrays, from published figures.
///
/// `None` for an array that does not come from the shipped library as it is, for one of queues, which is exact, and for one
/// that was fitted to a measurement, which says itself how well.
pub fn foretold(library: &dyn Source, address: &Address, spec: &ArraySpec) -> Option<Foretold> {
    let is_shipped = |shelf, name: &str| Shipped.find(shelf, name) == library.find(shelf, name);
    let is_modelled =
        |device: &DeviceParams| !matches!(device, DeviceParams::Queue(_) | DeviceParams::Fitted(_));
    let is_known = is_shipped(Shelf::Array, &address.name)
        && spec.models.iter().all(|model| is_shipped(Shelf::Device, model))
        && spec.topology.models.iter().all(is_modelled);
    is_known.then(|| of(&address.name))
}

/// The median error of all shipped models, a part of the figure: a verdict on a design that has not been measured is no surer
/// than that.
pub fn median_error() -> f64 {
    SCORES.all.median_error.get()
}

fn of(array: &str) -> Foretold {
    let own = SCORES.arrays.get(array);
    let own_figures = own.map_or(0, |own| own.figures);
    let enough = own.filter(|own| own.figures >= FEW);
    let of = enough.unwrap_or(&SCORES.all);
    Foretold {
        own_figures,
        is_own: enough.is_some(),
        figures: of.figures,
        median_error: of.median_error,
        within_25: of.within_25,
    }
}

/// One line of the file.
#[derive(Clone, Copy, Default)]
struct Line {
    figures: u32,
    median_error: Share,
    within_25: Share,
}

struct File {
    all: Line,
    arrays: BTreeMap<String, Line>,
}

static SCORES: LazyLock<File> = LazyLock::new(|| {
    let mistakes = Mistakes::default();
    let source = SourceText::new(SHIPPED.0, SHIPPED.1, 0);
    let table = document::parse(&source, |key| format!("keep one `{key}`"), &mistakes);
    let read = table.map(|table| {
        let file = Fields::new("", &table, &TextSpan::new(&source, 0..0), &mistakes);
        let all = file.need_table("all").map(line).unwrap_or_default();
        let arrays = file.tables("array").into_iter().map(|array| (array.need("name"), line(array)));
        let read = File { all, arrays: arrays.collect() };
        file.finish();
        read
    });
    mistakes.finish(read).unwrap_or_else(|errors| panic!("a test reads the shipped scores: {errors}"))
});

fn line(fields: Fields<'_>) -> Line {
    let line = Line {
        figures: fields.count("figures", None, u32::MAX),
        median_error: fields.need("median_error"),
        within_25: fields.need("within_25"),
    };
    fields.finish();
    line
}

/// The text of such a file for `judged`.
pub fn written(judged: &[Judged<'_>]) -> String {
    let mut arrays: BTreeMap<String, Vec<Judged<'_>>> = BTreeMap::new();
    for one in judged {
        arrays.entry(array_of(one)).or_default().push(*one);
    }
    let scores = |judged: &[Judged<'_>]| Scores::of(judged).foretold;
    let mut text =
        "# How far the shipped models were from published figures that they were not fitted to. Written by\n\
                    #   fathom validate --save-scores validation/scores/foretold.toml\n"
            .to_owned();
    text += &format!("\n[all]\n{}", lines(&scores(judged)));
    for (name, own) in arrays.iter().map(|(name, own)| (name, scores(own))).filter(|(_, own)| own.figures > 0)
    {
        text += &format!("\n[[array]]\nname = \"{name}\"\n{}", lines(&own));
    }
    text
}

fn lines(score: &Score) -> String {
    // Half of them without an answer are further off than any share.
    let median = score.median_error.map_or(1.0, |error| error.min(1.0)) * 100.0;
    let within = score.within_25.map_or(0.0, Share::get) * 100.0;
    let figures = score.figures;
    format!("figures = {figures}\nmedian_error = \"{median:.1}%\"\nwithin_25 = \"{within:.1}%\"\n")
}

/// The name of the array that a case is about, of the first where there are several.
fn array_of(judged: &Judged<'_>) -> String {
    let subjects = judged.case.claim.subjects();
    let address = subjects.first().and_then(|subject| Address::parse(&subject.array).ok());
    address.map(|address| address.name).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::case::{Claim, Score as Counting, cases, shipped};
    use crate::spec::{SourceText as Text, array};

    #[test]
    fn the_shipped_scores_are_of_every_figure_that_counts_and_was_not_fitted() {
        let mut counts: BTreeMap<String, u32> = BTreeMap::new();
        for (_, label, text) in shipped() {
            let file = cases(label, text).unwrap();
            let is_figure = |claim: &Claim| matches!(claim, Claim::Absolute { .. } | Claim::Ratio { .. });
            let counting = file.cases.iter().filter(|case| {
                is_figure(&case.claim) && case.score == Counting::Counts && case.fits.is_empty()
            });
            for case in counting {
                let address = Address::parse(&case.claim.subjects()[0].array).unwrap();
                *counts.entry(address.name).or_default() += 1;
            }
        }
        let written: BTreeMap<String, u32> =
            SCORES.arrays.iter().map(|(name, line)| (name.clone(), line.figures)).collect();
        assert_eq!(written, counts, "write them anew: fathom validate --save-scores {}", SHIPPED.0);
        assert_eq!(SCORES.all.figures, counts.values().sum::<u32>());
    }

    #[test]
    fn an_array_of_few_figures_has_the_error_of_all_arrays_and_says_how_many_are_its_own() {
        for (name, line) in &SCORES.arrays {
            let found = of(name);
            let expected = if line.figures >= FEW { line } else { &SCORES.all };
            assert_eq!(
                (found.own_figures, found.is_own, found.figures, found.median_error, found.within_25),
                (
                    line.figures,
                    line.figures >= FEW,
                    expected.figures,
                    expected.median_error,
                    expected.within_25
                ),
                "{name}"
            );
        }
        let none = of("no such array");
        assert_eq!((none.own_figures, none.is_own, none.figures), (0, false, SCORES.all.figures));
    }

    /// A user's folder, with one array that has the name of a shipped one.
    struct Own;

    impl Source for Own {
        fn find(&self, shelf: Shelf, name: &str) -> Option<Text<'_>> {
            let found = Shipped.find(shelf, name)?;
            let changed = (shelf, name) == (Shelf::Array, "md3000");
            Some(if changed {
                Text { text: (found.text.into_owned() + "\n").into(), ..found }
            } else {
                found
            })
        }

        fn names(&self, shelf: Shelf) -> Vec<String> {
            Shipped.names(shelf)
        }
    }

    #[test]
    fn only_a_shipped_model_of_drives_has_an_error() {
        let known = |library: &dyn Source, address: &str| {
            let spec = array(library, address).unwrap();
            foretold(library, &Address::parse(address).unwrap(), &spec).is_some()
        };
        assert!(known(&Shipped, "md3000?raid=10"));
        assert!(!known(&Own, "md3000?raid=10"), "of another description nothing is known");
        assert!(known(&Own, "px6-300d"));
        assert!(!known(&Shipped, "queue?kind=queue-mm1"), "a queue is exact");
    }
}
