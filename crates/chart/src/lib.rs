//! Charts: what is to be drawn as plain data, and its drawing as SVG or as characters of a terminal.
//!
//! A chart says nothing about where its numbers come from, and holds no colour and no size: those are given when it is
//! drawn. Colours are classes (`h0` to `h5`), for which [`style`] has a light and a dark palette; lines differ by their
//! markers and dashes as well.
//!
//! **Invariant:** what is missing is drawn as missing: a gap, an empty cell; never a line from one side to the other.

mod axis;
mod bars;
mod density;
mod dots;
mod heat;
mod label;
mod parallel;
mod plot;
mod ramp;
mod stack;
mod surface;
mod svg;
mod terminal;
mod theme;
mod unit;

pub use axis::{Axis, Scale};
pub use bars::{Bar, Bars, Segment};
pub use density::{Density, Patch};
pub use dots::{Dot, Dots, Row};
pub use heat::Heat;
pub use parallel::{Parallel, Scope, Thread};
pub use plot::{Line, Mark, Plot, Rule};
pub use stack::Stack;
pub use surface::Surface;
pub use theme::{Theme, hue_on_white, style};
pub use unit::Unit;
pub use units::name::xml as escaped;

/// The hues that readers who confuse colours tell apart; beyond them lines are grey.
pub const HUES: usize = 6;

/// A drawing is no narrower, in pixels.
const NARROWEST: f64 = 240.0;

/// Rows of characters of lines over two axes.
const ROWS: usize = 14;

/// What is to be drawn.
#[derive(Clone, Debug, PartialEq)]
pub enum Chart {
    /// Lines over two axes.
    Plot(Plot),
    /// Values on one axis, row by row.
    Dots(Dots),
    /// Values of two keys as colours.
    Heat(Heat),
    /// Bars that add up.
    Bars(Bars),
    /// Values of two keys as heights.
    Surface(Surface),
    /// Counts over two axes as colours.
    Density(Density),
    /// Lines over several axes upwards and one to the right.
    Stack(Stack),
    /// Lines through axes side by side.
    Parallel(Parallel),
}

impl Chart {
    /// Its drawing, `width` pixels wide, as one `<svg>` element without a style of its own; `described` is what those
    /// who do not see it are told.
    ///
    /// It is at least 240 wide, and as high as what it holds asks for.
    pub fn svg(&self, width: f64, described: &str) -> String {
        let width = width.max(NARROWEST);
        match self {
            Chart::Plot(plot) => plot.svg(width, described),
            Chart::Dots(dots) => dots.svg(width, described),
            Chart::Heat(heat) => heat.svg(width, described),
            Chart::Bars(bars) => bars.svg(width, described),
            Chart::Surface(surface) => surface.svg(width, described),
            Chart::Density(density) => density.svg(width, described),
            Chart::Stack(stack) => stack.svg(width, described),
            Chart::Parallel(parallel) => parallel.svg(width, described),
        }
    }

    /// Its drawing in characters, at most `width` columns wide; ASCII alone unless `unicode`.
    pub fn text(&self, width: usize, unicode: bool) -> String {
        self.text_within(width, ROWS, unicode)
    }

    /// The same; lines over two axes are `rows` high, without what is written below and above them. Other charts have a
    /// row for each thing that they show.
    pub fn text_within(&self, width: usize, rows: usize, unicode: bool) -> String {
        let width = width.max(40);
        match self {
            Chart::Plot(plot) => plot.text(width, rows.max(1), unicode),
            Chart::Dots(dots) => dots.text(width, unicode),
            Chart::Heat(heat) => heat.text(width, unicode),
            Chart::Bars(bars) => bars.text(width, unicode),
            Chart::Surface(surface) => surface.as_heat().text(width, unicode),
            Chart::Density(density) => density.text(width, rows.max(1), unicode),
            Chart::Stack(stack) => stack.text(width, rows.max(1), unicode),
            Chart::Parallel(parallel) => parallel.text(width, unicode),
        }
    }

    /// A file of its own: the drawing with `title` and `subtitle` above it and the colours of `theme` in it.
    pub fn file(&self, width: f64, title: &str, subtitle: &str, theme: Theme) -> String {
        file(&[(String::new(), self)], (width, 1), (title, subtitle), theme)
    }
}

/// Charts as one file of its own, `width` pixels wide: each with its heading, if it has one, `columns` beside each other,
/// below a title and a subtitle, which go on in the next line where one is too short; the colours of `theme` are in it.
///
/// A panel that would be narrower than 240 pixels is none: there are as many columns as fit.
pub fn file(
    panels: &[(String, &Chart)],
    (width, columns): (f64, usize),
    (title, subtitle): (&str, &str),
    theme: Theme,
) -> String {
    let fits = |columns: &usize| svg::panel_width(width, *columns) >= NARROWEST;
    let columns = (1..=columns.min(panels.len()).max(1)).rev().find(fits).unwrap_or(1);
    let each = svg::panel_width(width, columns);
    let described =
        |heading: &str| if heading.is_empty() { title.to_owned() } else { format!("{heading}. {title}") };
    let drawn: Vec<(String, String)> = panels
        .iter()
        .map(|(heading, chart)| (heading.clone(), chart.svg(each, &described(heading))))
        .collect();
    svg::framed(&drawn, (width, columns), (title, subtitle), theme)
}

/// The class of hue `index`; grey beyond [`HUES`].
pub(crate) fn hue(index: usize) -> String {
    if index < HUES { format!("h{index}") } else { "hx".to_owned() }
}
