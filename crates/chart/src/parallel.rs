//! Things of many figures: an axis for each figure, side by side, and a line for each thing through all of them.

use crate::axis::{Axis, Laid, Scale};
use crate::hue;
use crate::label::{broken, cut_within, width};
use crate::svg::{Anchor, Canvas, TYPE};

/// Lines over axes side by side.
#[derive(Clone, Debug, PartialEq)]
pub struct Parallel {
    /// In the order in which lines go through them.
    pub axes: Vec<Scope>,
    /// What is drawn, the most important first: it lies over all others, and is the thickest.
    pub lines: Vec<Thread>,
}

/// One axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Scope {
    /// Its name, unit and scale; its range is that of its values.
    pub axis: Axis,
    /// What lies at 0, 1, 2 …, where those are places of words and no numbers; empty otherwise.
    pub words: Vec<String>,
    /// Hues of the words, where lines have the hue of theirs; empty otherwise.
    pub hues: Vec<usize>,
    /// Whether less is better, so that it runs the other way: on all axes of figures what is better lies at the same end.
    pub is_turned: bool,
}

/// One thing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Thread {
    /// What it is; told where the pointer rests.
    pub name: String,
    /// Which hue.
    pub hue: usize,
    /// Its value on each axis; absent where it has none: a gap.
    pub values: Vec<Option<f64>>,
}

/// Pixels for each axis below which they lie below each other.
const UPRIGHT: f64 = 104.0;
/// How high upright axes are.
const HEIGHT: f64 = 260.0;
/// From one lying axis to the next.
const LANE: f64 = 58.0;
/// From one line of a name to the next.
const LINE: f64 = 14.0;
/// At both ends of axes.
const EDGE: f64 = 10.0;

/// An axis in its place.
struct Placed<'a> {
    scope: &'a Scope,
    laid: Laid,
    /// Across: to the right of upright axes, downwards of lying ones.
    across: f64,
}

impl Scope {
    /// An axis of numbers; where less is better it `is_turned`.
    pub fn of(axis: Axis, is_turned: bool) -> Scope {
        Scope { axis, words: Vec::new(), hues: Vec::new(), is_turned }
    }

    /// An axis of words, with hues for them where lines have those.
    pub fn of_words(name: impl Into<String>, words: Vec<String>, hues: Vec<usize>) -> Scope {
        let axis = Axis::new(name, crate::Unit::Count, Scale::Linear);
        Scope { axis, words, hues, is_turned: false }
    }

    /// It over `values` from `start`, where what is worse lies, to `end`.
    fn laid(&self, values: impl Iterator<Item = f64>, start: f64, end: f64) -> Laid {
        let (start, end) = if self.is_turned { (end, start) } else { (start, end) };
        match self.words.len() {
            0 => self.axis.laid(values, start, end),
            count => {
                // From zero on, with half a step of room at both ends.
                let step = (end - start) / (count as f64 + 0.04 * (count as f64 - 0.5));
                let axis = Axis { range: Some((0.0, count as f64 - 0.5)), ..self.axis.clone() };
                axis.laid(std::iter::empty(), start + step / 2.0, end)
            }
        }
    }

    /// What is written beside it: where, in which class, and what.
    fn told(&self, laid: &Laid, room: f64) -> Vec<(f64, String, String)> {
        if self.words.is_empty() {
            let ticks = laid.ticks(room).into_iter();
            return ticks
                .filter_map(|(value, text)| Some((laid.at(value)?, "faint over".to_owned(), text)))
                .collect();
        }
        let class = |place: usize| self.hues.get(place).map_or("over".to_owned(), |own| hue(*own) + " over");
        let told =
            |(place, word): (usize, &String)| Some((laid.at(place as f64)?, class(place), word.clone()));
        self.words.iter().enumerate().filter_map(told).collect()
    }

    /// `value` in words.
    fn written(&self, value: f64) -> String {
        let word = self.words.get(units::convert::truncated::<usize>(value.max(0.0)));
        word.cloned().unwrap_or_else(|| self.axis.unit.written(value))
    }
}

impl Parallel {
    fn values(&self, axis: usize) -> impl Iterator<Item = f64> + '_ {
        self.lines.iter().filter_map(move |line| line.values.get(axis).copied().flatten())
    }

    /// The axes from `start` to `end` along, `first` and by `step` across.
    fn placed(&self, (start, end): (f64, f64), first: f64, step: f64) -> Vec<Placed<'_>> {
        let place = |(number, scope): (usize, &'_ Scope)| Placed {
            laid: scope.laid(self.values(number), start, end),
            across: first + step * number as f64,
            scope: &self.axes[number],
        };
        self.axes.iter().enumerate().map(place).collect()
    }

    pub(crate) fn svg(&self, width: f64, described: &str) -> String {
        match width >= UPRIGHT * self.axes.len() as f64 {
            true => self.upright(width, described),
            false => self.lying(width, described),
        }
    }

    fn upright(&self, width: f64, described: &str) -> String {
        let count = self.axes.len().max(1) as f64;
        let (step, room) = (width / count, width / count - 12.0);
        let names: Vec<Vec<String>> =
            self.axes.iter().map(|scope| broken(&scope.axis.title(), room, TYPE)).collect();
        let top = names.iter().map(Vec::len).max().unwrap_or(0) as f64 * LINE + 14.0;
        let mut canvas = Canvas::new(width, top + HEIGHT + EDGE);
        // Beside an axis its ticks have room to the right.
        let axes = self.placed((top + HEIGHT, top), 8.0, step);
        for (placed, name) in axes.iter().zip(&names) {
            for (line, words) in (0..).zip(name) {
                let y = 12.0 + LINE * f64::from(line);
                canvas.text((placed.across - 4.0, y), Anchor::Start, "faint", words);
            }
            canvas.line((placed.across, top), (placed.across, top + HEIGHT), "axis");
        }
        self.draw(&mut canvas, &axes, |across, along| (across, along));
        for placed in &axes {
            for (y, class, text) in placed.scope.told(&placed.laid, 44.0) {
                let text = cut_within(&text, room - 10.0, TYPE);
                canvas.line((placed.across - 3.0, y), (placed.across + 3.0, y), "axis");
                canvas.text((placed.across + 7.0, y + 4.0), Anchor::Start, &class, &text);
            }
        }
        canvas.done(described)
    }

    fn lying(&self, width: f64, described: &str) -> String {
        let count = self.axes.len() as f64;
        let mut canvas = Canvas::new(width, (LANE * count).max(LANE));
        let axes = self.placed((EDGE, width - EDGE), 30.0, LANE);
        for placed in &axes {
            let name = cut_within(&placed.scope.axis.title(), width, TYPE);
            canvas.text((0.0, placed.across - 14.0), Anchor::Start, "faint over", &name);
            canvas.line((EDGE, placed.across), (width - EDGE, placed.across), "axis");
        }
        self.draw(&mut canvas, &axes, |across, along| (along, across));
        for placed in &axes {
            placed.ticks_below(&mut canvas, width);
        }
        canvas.done(described)
    }

    /// The lines, the most important last. `at` has the place of what is so far across and along.
    fn draw(&self, canvas: &mut Canvas, axes: &[Placed<'_>], at: impl Fn(f64, f64) -> (f64, f64)) {
        for (number, line) in self.lines.iter().enumerate().rev() {
            let place =
                |placed: &Placed<'_>, value: Option<f64>| Some(at(placed.across, placed.laid.at(value?)?));
            let places: Vec<Option<(f64, f64)>> =
                axes.iter().zip(&line.values).map(|(placed, value)| place(placed, *value)).collect();
            let class = hue(line.hue);
            canvas.told(&self.told(line), |canvas| {
                for stretch in places.split(Option::is_none).filter(|stretch| !stretch.is_empty()) {
                    let way: Vec<(f64, f64)> = stretch.iter().copied().flatten().collect();
                    line.draw(canvas, &way, &class, number == 0);
                }
            });
        }
    }

    /// What is said of a line on which the pointer rests.
    fn told(&self, line: &Thread) -> String {
        let figures = self.axes.iter().zip(&line.values).filter(|(scope, _)| scope.words.is_empty());
        let told = figures
            .filter_map(|(scope, value)| Some(format!("{} {}", scope.axis.name, scope.written((*value)?))));
        format!("{}: {}", line.name, told.collect::<Vec<_>>().join(", "))
    }

    /// In characters: a row for each axis with the letter of each line where it lies, the worst at the left, and below
    /// them whose letters they are.
    pub(crate) fn text(&self, columns: usize, unicode: bool) -> String {
        let letters = || ('a'..='z').chain('A'..='Z');
        let names = self.axes.iter().map(|scope| scope.axis.title().chars().count()).max().unwrap_or(0);
        let names = names.min(columns / 3);
        let wide = columns.saturating_sub(names + 2).clamp(10, 80);
        let mut text = String::new();
        for (number, scope) in self.axes.iter().enumerate() {
            let laid = scope.laid(self.values(number), 0.0, 1.0);
            let mut row = vec![if unicode { '·' } else { '.' }; wide];
            // The most important last, so that its letter stays.
            for (letter, line) in letters().zip(&self.lines).collect::<Vec<_>>().into_iter().rev() {
                let at = line.values.get(number).copied().flatten().and_then(|value| laid.at(value));
                let column = at.map(|part| units::convert::truncated::<usize>(part * (wide as f64 - 1.0)));
                column.and_then(|column| row.get_mut(column)).into_iter().for_each(|place| *place = letter);
            }
            let name: String = scope.axis.title().chars().take(names).collect();
            text += &format!("{name:<names$}  {}\n", row.into_iter().collect::<String>());
        }
        for (letter, line) in letters().zip(&self.lines) {
            let name: String = line.name.chars().take(columns.saturating_sub(2)).collect();
            text += &format!("{letter} {name}\n");
        }
        text
    }
}

impl Placed<'_> {
    /// Ticks below a lying axis, those that have room.
    fn ticks_below(&self, canvas: &mut Canvas, within: f64) {
        let mut told = self.scope.told(&self.laid, 78.0);
        told.sort_by(|one, other| one.0.total_cmp(&other.0));
        let mut free = 0.0;
        for (x, class, text) in told {
            canvas.line((x, self.across - 3.0), (x, self.across + 3.0), "axis");
            let wide = width(&text, TYPE);
            let from = (x - wide / 2.0).clamp(0.0, (within - wide).max(0.0));
            if from >= free {
                canvas.text((from, self.across + 16.0), Anchor::Start, &class, &text);
                free = from + wide + 6.0;
            }
        }
    }
}

impl Thread {
    fn draw(&self, canvas: &mut Canvas, way: &[(f64, f64)], class: &str, is_first: bool) {
        let weight = if is_first { 3.0 } else { 1.2 };
        for pair in way.windows(2) {
            canvas.stroke(pair[0], pair[1], weight, &format!("l {class}"));
        }
        for place in way.iter().filter(|_| is_first || way.len() == 1) {
            canvas.mark(*place, 0, class);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Unit;

    fn parallel() -> Parallel {
        let line = |name: &str, hue: usize, values: [f64; 3]| Thread {
            name: name.into(),
            hue,
            values: values.map(Some).to_vec(),
        };
        Parallel {
            axes: vec![
                Scope::of_words("raid", vec!["5".into(), "10".into()], vec![0, 1]),
                Scope::of(Axis::new("price", Unit::Count, Scale::Log10), true),
                Scope::of(Axis::new("vm rate", Unit::PerSecond, Scale::Log10), false),
            ],
            lines: vec![line("raid=5", 0, [0.0, 1_040.0, 240.0]), line("raid=10", 1, [1.0, 1_260.0, 470.0])],
        }
    }

    /// Both ends of the lines of a hue.
    fn ends(drawing: &str, hue: &str) -> Vec<[f64; 4]> {
        let read = roxmltree::Document::parse(drawing).expect("it must be XML");
        let is_of = |node: &roxmltree::Node<'_, '_>| {
            node.has_tag_name("line") && node.attribute("class").is_some_and(|class| class.contains(hue))
        };
        let number = |node: &roxmltree::Node<'_, '_>, name: &str| {
            node.attribute(name).and_then(|text| text.parse::<f64>().ok()).expect("a number")
        };
        let of = |node: roxmltree::Node<'_, '_>| ["x1", "y1", "x2", "y2"].map(|name| number(&node, name));
        read.descendants().filter(is_of).map(of).collect()
    }

    #[test]
    fn what_is_better_lies_at_the_same_end_of_every_axis_of_figures() {
        let drawing = parallel().svg(760.0, "designs");
        let (cheap, quick) = (ends(&drawing, "h0"), ends(&drawing, "h1"));
        assert_eq!((cheap.len(), quick.len()), (2, 2), "{drawing}");
        assert!(cheap[0][3] < quick[0][3], "less money is higher up: {drawing}");
        assert!(quick[1][3] < cheap[1][3], "and so is the higher rate: {drawing}");
    }

    #[test]
    fn axes_lie_below_each_other_where_the_page_is_narrow_and_a_gap_stays_one() {
        let mut parallel = parallel();
        let lying = ends(&parallel.svg(300.0, "designs"), "h0");
        assert!(lying[0][1] < lying[0][3] && lying[1][1] < lying[1][3], "downwards: {lying:?}");
        parallel.lines[0].values[1] = None;
        for width in [300.0, 760.0] {
            assert!(ends(&parallel.svg(width, "designs"), "h0").is_empty(), "no line over a gap");
        }
    }

    #[test]
    fn in_characters_each_line_has_a_letter_on_each_axis() {
        let text = parallel().text(60, false);
        let row = |name: &str| text.lines().find(|line| line.starts_with(name)).expect("it has one");
        assert!(row("price").find('b') < row("price").rfind('a'), "less money is better: {text}");
        assert!(text.contains("a raid=5") && text.lines().all(|line| line.chars().count() <= 60), "{text}");
        let empty = Parallel { axes: Vec::new(), lines: Vec::new() };
        assert!(empty.svg(300.0, "nothing").starts_with("<svg") && empty.text(60, true).is_empty());
    }
}
