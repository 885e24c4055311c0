//! Figures that were fitted: where they stand, what they may be, and the library with other values of them.

use std::borrow::Cow;
use std::collections::BTreeSet;

use document::{Errors, Fitted, Mistakes, Node, Table, TextSpan, Wrong};

use super::source::{Shelf, Source, SourceText};
use super::tree;

/// A figure with bounds.
#[derive(Clone, Debug)]
pub struct FittedFigure {
    /// The name of its file and its dotted key there, options included: `md3000 link.rate`.
    pub name: String,
    /// As it is written now.
    pub value: String,
    shelf: Shelf,
    file: String,
    /// Where its value stands, and that of each figure that is what it is.
    at: Vec<TextSpan>,
    unit: String,
    least: f64,
    most: f64,
    steps: Steps,
}

/// Which values there are between the bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Steps {
    /// Whatever is written.
    Any,
    /// Whole numbers: counts.
    Whole,
    /// The least of them doubled again and again: sizes.
    Doubled,
}

impl FittedFigure {
    /// The value at `part` of the way from the least to the most, 0 to 1. Equal ways are equal factors, or from 0 on
    /// equal differences.
    pub fn value_at(&self, part: f64) -> String {
        let part = part.clamp(0.0, 1.0);
        let number = match (self.least > 0.0, self.steps) {
            (true, Steps::Doubled) => self.least * ((self.most / self.least).log2() * part).round().exp2(),
            (true, _) => self.least * (self.most / self.least).powf(part),
            (false, _) => self.most * part,
        };
        let number = if self.steps == Steps::Any { round_to_four(number) } else { number.round() };
        format!("{number}{}", self.unit)
    }

    /// Whether it is the figure at `place`, or one that is what it is.
    pub fn is_at(&self, place: &TextSpan) -> bool {
        self.at.contains(place)
    }

    /// How far its value of now lies from the least to the most.
    pub fn part(&self) -> f64 {
        let number = split(&self.value).map_or(self.least, |(number, _)| number);
        let part = match self.least > 0.0 {
            true => (number / self.least).ln() / (self.most / self.least).ln(),
            false => number / self.most,
        };
        part.clamp(0.0, 1.0)
    }
}

/// Four digits: more say nothing of a figure that was fitted.
fn round_to_four(number: f64) -> f64 {
    if number == 0.0 {
        return number;
    }
    let digits = 3.0 - number.abs().log10().floor();
    let scale = 10f64.powf(digits);
    let rounded = (number * scale).round() / scale;
    // Tens to a power are not exact below one: what is written is.
    format!("{rounded:.12}").parse().unwrap_or(rounded)
}

/// Number and unit of `4.5KiB`.
fn split(text: &str) -> Option<(f64, &str)> {
    let end = text.find(|one: char| !(one.is_ascii_digit() || one == '.')).unwrap_or(text.len());
    Some((text[..end].parse().ok()?, text[end..].trim()))
}

/// Every figure of `library` that has bounds, file by file, and of the arrays `more` that it does not list. What a file
/// inherits counts in its own file alone.
pub fn fitted(library: &dyn Source, more: &BTreeSet<String>) -> Result<Vec<FittedFigure>, Errors> {
    let mistakes = Mistakes::default();
    let mut found = Vec::new();
    for shelf in [Shelf::Array, Shelf::Device] {
        let mut files = library.names(shelf);
        if shelf == Shelf::Array {
            let unlisted: Vec<String> = more.iter().filter(|name| !files.contains(name)).cloned().collect();
            files.extend(unlisted);
        }
        for file in files {
            let Some(text) = library.find(shelf, &file) else { continue };
            let Some(parsed) = tree::parse(&text.label, &text.text, &mistakes) else { continue };
            let mut walk =
                Walk { shelf, file: &file, whole: &parsed.table, mistakes: &mistakes, found: &mut found };
            walk.table("", &parsed.table);
        }
    }
    mistakes.finish(Some(found))
}

/// The way through one file.
struct Walk<'w> {
    shelf: Shelf,
    file: &'w str,
    whole: &'w Table,
    mistakes: &'w Mistakes,
    found: &'w mut Vec<FittedFigure>,
}

impl Walk<'_> {
    fn table(&mut self, path: &str, table: &Table) {
        for (key, node) in table.iter() {
            let path = if path.is_empty() { key.text.clone() } else { format!("{path}.{}", key.text) };
            if let Some(inner) = node.table() {
                self.table(&path, inner);
            } else if let Some(fitted) = node.basis.as_deref().and_then(|basis| basis.fitted.as_ref()) {
                let read = self.figure(&path, node, fitted, table);
                self.found.extend(self.mistakes.take(&node.place, read));
            }
        }
    }

    fn figure(
        &self,
        path: &str,
        node: &Node,
        fitted: &Fitted,
        beside: &Table,
    ) -> Result<FittedFigure, Wrong> {
        let value = node.scalar().ok_or_else(|| Wrong::said(format!("`{path}`: a list has no bounds")))?;
        let [least, most] = &fitted.bounds;
        let (Some((number, unit)), Some((least, unit_of_least)), Some((most, unit_of_most))) =
            (split(&value), split(least), split(most))
        else {
            let help = "write value and bounds as numbers with their unit";
            return Err(Wrong::new(format!("`{path}`: value and bounds are not numbers"), help));
        };
        if unit != unit_of_least || unit != unit_of_most {
            let why = format!("`{path}`: value and bounds are not in one unit");
            return Err(Wrong::new(why, format!("write all of them in {unit}")));
        }
        if !(least < most && least <= number && number <= most) {
            let why =
                format!("`{path}`: {value} does not lie within {} to {}", fitted.bounds[0], fitted.bounds[1]);
            return Err(Wrong::new(why, "write the least first, and bounds that hold the value"));
        }
        let mut at = vec![node.place.clone()];
        for name in &fitted.also {
            let same = beside.get(name).or_else(|| find(self.whole, name));
            let same = same.filter(|same| same.scalar().as_deref() == Some(value.as_str()));
            let why = || format!("`{path}`: there is no `{name}` of {value} in this file");
            at.push(same.ok_or_else(|| Wrong::new(why(), "name a figure that is the same"))?.place.clone());
        }
        Ok(FittedFigure {
            name: format!("{} {path}", self.file),
            shelf: self.shelf,
            file: self.file.to_owned(),
            at,
            steps: match unit {
                "" => Steps::Whole,
                "B" | "KiB" | "MiB" | "GiB" => Steps::Doubled,
                _ => Steps::Any,
            },
            unit: unit.to_owned(),
            value,
            least,
            most,
        })
    }
}

/// What stands at a dotted path; keys may have dots of their own.
fn find<'t>(table: &'t Table, path: &str) -> Option<&'t Node> {
    table.iter().find_map(|(key, node)| match path.strip_prefix(key.text.as_str())? {
        "" => Some(node),
        rest => find(node.table()?, rest.strip_prefix('.')?),
    })
}

/// A library in which figures have other values.
pub struct Refitted<'l> {
    library: &'l (dyn Source + Sync),
    files: Vec<(Shelf, String, SourceText<'static>)>,
}

impl<'l> Refitted<'l> {
    /// `library` with these figures of it at these values.
    pub fn new(library: &'l (dyn Source + Sync), values: &[(&FittedFigure, String)]) -> Refitted<'l> {
        let mut files: Vec<(Shelf, String, SourceText<'static>)> = Vec::new();
        for (figure, _) in values {
            let (shelf, name) = (figure.shelf, &figure.file);
            if files.iter().any(|(known, file, _)| (*known, file) == (shelf, name)) {
                continue;
            }
            let Some(found) = library.find(shelf, name) else { continue };
            let of_file = values.iter().filter(|(one, _)| (one.shelf, &one.file) == (shelf, name));
            let places = of_file.flat_map(|(one, value)| one.at.iter().map(move |place| (place, value)));
            let mut places: Vec<(&TextSpan, &String)> = places.collect();
            // From the end on, so that what is before it stays where it is.
            places.sort_by_key(|(place, _)| std::cmp::Reverse(place.range().start));
            let mut text = found.text.into_owned();
            for (place, value) in places {
                let is_text = place.text().starts_with(['"', '\'']);
                let value = if is_text { format!("\"{value}\"") } else { value.clone() };
                text.replace_range(place.range(), &value);
            }
            let label = Cow::Owned(found.label.into_owned());
            files.push((shelf, name.clone(), SourceText { label, text: Cow::Owned(text) }));
        }
        Refitted { library, files }
    }
}

impl Source for Refitted<'_> {
    fn find(&self, shelf: Shelf, name: &str) -> Option<SourceText<'_>> {
        let own = self.files.iter().find(|(known, file, _)| *known == shelf && file == name);
        own.map(|(_, _, text)| text.clone()).or_else(|| self.library.find(shelf, name))
    }

    fn names(&self, shelf: Shelf) -> Vec<String> {
        self.library.names(shelf)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::{Shipped, array};

    /// A file `x` over the shipped ones.
    struct One(&'static str);

    impl Source for One {
        fn find(&self, shelf: Shelf, name: &str) -> Option<SourceText<'_>> {
            if (shelf, name) == (Shelf::Array, "x") {
                return Some(SourceText { label: "x.toml".into(), text: self.0.into() });
            }
            Shipped.find(shelf, name)
        }

        fn names(&self, shelf: Shelf) -> Vec<String> {
            match shelf {
                Shelf::Array => vec!["x".into()],
                Shelf::Device => Vec::new(),
            }
        }
    }

    const X: &str = r#"
name = "x"
inherits = "md3000"
[link]
rate = { value = "290MB/s", bounds = ["145MB/s", "580MB/s"], source = "fit" }
[controller]
read_command  = { value = "20us", bounds = ["10us", "40us"], also = ["write_command"], source = "fit" }
write_command = "20us"
[cache]
line = { value = "16KiB", bounds = ["4KiB", "64KiB"], source = "fit" }
"#;

    #[test]
    fn a_refitted_library_has_the_other_values_and_what_is_the_same_follows() {
        let one = One(X);
        let found = fitted(&one, &BTreeSet::new()).expect("bounds are sound");
        let names: Vec<&str> = found.iter().map(|figure| figure.name.as_str()).collect();
        assert_eq!(names, ["x link.rate", "x controller.read_command", "x cache.line"]);
        let values: Vec<(&FittedFigure, String)> =
            found.iter().map(|figure| (figure, figure.value_at(1.0))).collect();
        let changed = Refitted::new(&one, &values);
        let spec = array(&changed, "x").expect("it is an array");
        let value =
            |key: &str| spec.figures.iter().find(|figure| figure.key == key).map(|one| one.value.as_str());
        assert_eq!(value("link.rate"), Some("580MB/s"));
        assert_eq!(
            (value("controller.read_command"), value("controller.write_command")),
            (Some("40us"), Some("40us"))
        );
        assert_eq!(value("cache.line"), Some("64KiB"));
        assert_eq!(
            array(&one, "x").expect("as before").topology,
            array(&Refitted::new(&one, &[]), "x").expect("x").topology
        );
    }

    #[test]
    fn equal_ways_are_equal_factors_and_sizes_double() {
        let one = One(X);
        let found = fitted(&one, &BTreeSet::new()).expect("bounds are sound");
        assert_eq!([0.0, 0.5, 1.0].map(|part| found[0].value_at(part)), ["145MB/s", "290MB/s", "580MB/s"]);
        assert!((found[0].part() - 0.5).abs() < 1e-9);
        assert_eq!(
            [0.0, 0.3, 0.5, 0.9].map(|part| found[2].value_at(part)),
            ["4KiB", "8KiB", "16KiB", "64KiB"]
        );
    }

    #[test]
    fn bounds_that_do_not_hold_the_value_or_speak_of_another_unit_are_told() {
        let told =
            |text: &'static str| fitted(&One(text), &BTreeSet::new()).expect_err("it is wrong").to_string();
        assert!(
            told("[link]\nrate = { value = \"9MB/s\", bounds = [\"1MB/s\", \"3MB/s\"] }").contains("9MB/s")
        );
        assert!(
            told("[link]\nrate = { value = \"2MB/s\", bounds = [\"1MB/s\", \"3GB/s\"] }")
                .contains("one unit")
        );
        assert!(told("[link]\nrate = { value = 2, bounds = [1, 3], also = [\"lanes\"] }").contains("lanes"));
    }
}
