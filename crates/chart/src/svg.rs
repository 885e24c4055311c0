//! Elements of SVG, written one after the other.

use std::fmt::Write;

use units::name::xml as escaped;

use crate::theme::{Theme, style};

/// Sizes of type in pixels: ticks and labels, and names of axes.
pub(crate) const TYPE: f64 = 12.0;

/// Where a text ends that is written at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Anchor {
    /// It begins there.
    Start,
    /// Its middle is there.
    Middle,
    /// It ends there.
    End,
}

/// A rectangle by its place and its size.
pub(crate) type Rectangle = ((f64, f64), (f64, f64));

/// Beside a drawing that is a file of its own: what it has at its edges is not cut there.
pub(crate) const MARGIN: f64 = 12.0;

/// The class of reference lines, such as a ceiling or a knee: they are dotted.
const THIN: &str = " thin";

/// The shapes of series, so that they differ without their colours.
const SHAPES: usize = 6;

/// A drawing that grows.
pub(crate) struct Canvas {
    width: f64,
    height: f64,
    body: String,
    /// Labels of points: from where to where, and how high.
    labels: Vec<(f64, f64, f64)>,
    marks: Vec<(f64, f64)>,
}

impl Canvas {
    pub fn new(width: f64, height: f64) -> Canvas {
        assert!(width > 0.0 && height > 0.0, "a drawing must have a size: {width} by {height}");
        Canvas { width, height, body: String::new(), labels: Vec::new(), marks: Vec::new() }
    }

    pub fn line(&mut self, (x1, y1): (f64, f64), (x2, y2): (f64, f64), class: &str) {
        let (x1, y1, x2, y2) = (number(x1), number(y1), number(x2), number(y2));
        // Not by the style alone: a file of its own has none of a page's.
        let dash = if class.ends_with(THIN) { r#" stroke-dasharray="2 3""# } else { "" };
        self.put(format_args!(r#"<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}"{dash} class="{class}"/>"#));
    }

    /// The same, so many pixels thick, whatever lines of its class are on a page.
    pub fn stroke(&mut self, (x1, y1): (f64, f64), (x2, y2): (f64, f64), weight: f64, class: &str) {
        let (x1, y1, x2, y2) = (number(x1), number(y1), number(x2), number(y2));
        let weight = number(weight);
        self.put(format_args!(
            r#"<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" style="stroke-width:{weight}" stroke-linecap="round" class="{class}"/>"#
        ));
    }

    pub fn text(&mut self, (x, y): (f64, f64), anchor: Anchor, class: &str, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => r#" text-anchor="middle""#,
            Anchor::End => r#" text-anchor="end""#,
        };
        let class = if class.is_empty() { String::new() } else { format!(r#" class="{class}""#) };
        let (x, y, text) = (number(x), number(y), escaped(text));
        self.put(format_args!(r#"<text x="{x}" y="{y}"{anchor}{class}>{text}</text>"#));
    }

    /// A text that goes upwards and ends at a place.
    pub fn upright(&mut self, (x, y): (f64, f64), class: &str, text: &str) {
        let (x, y, text) = (number(x), number(y), escaped(text));
        self.put(format_args!(
            r#"<text transform="translate({x} {y}) rotate(-90)" text-anchor="end" class="{class}">{text}</text>"#
        ));
    }

    /// Keeps the mark at a place free of labels.
    pub fn keep_free(&mut self, (x, y): (f64, f64)) {
        self.marks.push((x, y));
    }

    /// The label of a point, at the first of `places` where it lies neither on a mark nor on another label; nowhere where it would
    /// at all of them.
    pub fn label(&mut self, places: &[(f64, f64)], text: &str) {
        let wide = crate::label::width(text, TYPE);
        let is_free = |(x, y): &&(f64, f64)| {
            let on_label = |(from, to, other_y): &(f64, f64, f64)| {
                *from < x + wide + 4.0 && *x < to + 4.0 && (other_y - y).abs() < TYPE
            };
            let on_mark = |(mark_x, mark_y): &(f64, f64)| {
                (x - 3.0..x + wide + 3.0).contains(mark_x) && (y - TYPE..y + 2.0).contains(mark_y)
            };
            *x >= 0.0 && !self.labels.iter().any(on_label) && !self.marks.iter().any(on_mark)
        };
        let Some((x, y)) = places.iter().find(is_free).copied() else { return };
        self.labels.push((x, x + wide, y));
        self.text((x, y), Anchor::Start, "faint over", text);
    }

    pub fn rect(&mut self, (x, y): (f64, f64), (width, height): (f64, f64), class: &str) {
        let (x, y, width, height) = (number(x), number(y), number(width.max(0.0)), number(height.max(0.0)));
        self.put(format_args!(
            r#"<rect x="{x}" y="{y}" width="{width}" height="{height}" class="{class}"/>"#
        ));
    }

    /// A rectangle of one colour, which both themes have.
    pub fn cell(&mut self, (x, y): (f64, f64), (width, height): (f64, f64), colour: &str) {
        let (x, y, width, height) = (number(x), number(y), number(width), number(height));
        self.put(format_args!(
            r#"<rect x="{x}" y="{y}" width="{width}" height="{height}" fill="{colour}"/>"#
        ));
    }

    /// Rectangles of one colour, each by its place and its size; many of them take little. Their edges are those of pixels,
    /// and those of neighbours are written as the same numbers, so that no paper shines through between two of them.
    pub fn cells(&mut self, all: &[Rectangle], colour: &str) {
        let mut way = String::new();
        for ((x, y), (width, height)) in all {
            let (right, bottom) = (number(x + width), number(y + height));
            let (x, y) = (number(*x), number(*y));
            // Writing to a string cannot fail.
            let _ = write!(way, "M{x} {y}H{right}V{bottom}H{x}z");
        }
        self.put(format_args!(r#"<path d="{way}" fill="{colour}" shape-rendering="crispEdges"/>"#));
    }

    /// A text of one colour, as on a cell.
    pub fn text_on(&mut self, (x, y): (f64, f64), size: f64, dark: bool, text: &str) {
        let colour = if dark { "#111" } else { "#fff" };
        let size = if size == TYPE { String::new() } else { format!(";font-size:{}px", number(size)) };
        let (x, y, text) = (number(x), number(y), escaped(text));
        self.put(format_args!(
            r#"<text x="{x}" y="{y}" text-anchor="middle" style="fill:{colour}{size}">{text}</text>"#
        ));
    }

    /// A line through all of `points`.
    pub fn path(&mut self, points: &[(f64, f64)], dash: &str, class: &str) {
        let dash = if dash.is_empty() { String::new() } else { format!(r#" stroke-dasharray="{dash}""#) };
        let way = way(points);
        self.put(format_args!(
            r#"<path d="{way}" fill="none" stroke-width="2" stroke-linejoin="round"{dash} class="{class}"/>"#
        ));
    }

    /// A filled shape, `opacity` strong.
    pub fn area(&mut self, points: &[(f64, f64)], opacity: f64, class: &str) {
        let (way, opacity) = (way(points), number(opacity));
        self.put(format_args!(r#"<path d="{way}Z" fill-opacity="{opacity}" class="{class}"/>"#));
    }

    /// A filled shape of one colour with a thin edge.
    pub fn facet(&mut self, points: &[(f64, f64)], colour: &str) {
        let way = way(points);
        self.put(format_args!(r#"<path d="{way}Z" fill="{colour}" class="grid" stroke-width="0.5"/>"#));
    }

    /// The mark of series `index`: a shape of its own, filled for the first of a hue.
    pub fn mark(&mut self, (x, y): (f64, f64), index: usize, class: &str) {
        let size = 3.6;
        let points: &[(f64, f64)] = match index % SHAPES {
            0 => {
                let (x, y) = (number(x), number(y));
                self.put(format_args!(r#"<circle cx="{x}" cy="{y}" r="3.5" class="f {class}"/>"#));
                return;
            }
            1 => &[(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)],
            2 => &[(0.0, -1.3), (1.2, 0.9), (-1.2, 0.9)],
            3 => &[(0.0, -1.4), (1.2, 0.0), (0.0, 1.4), (-1.2, 0.0)],
            4 => &[(0.0, 1.3), (1.2, -0.9), (-1.2, -0.9)],
            _ => &[(-1.3, -0.5), (1.3, -0.5), (1.3, 0.5), (-1.3, 0.5)],
        };
        let points: Vec<(f64, f64)> = points.iter().map(|(dx, dy)| (x + dx * size, y + dy * size)).collect();
        self.area(&points, 1.0, &format!("f {class}"));
    }

    /// The mark of what lies to the right of the end of an axis: an arrow that points there.
    pub fn beyond(&mut self, (x, y): (f64, f64), class: &str) {
        self.line((x - 9.0, y), (x, y), &format!("l {class} thick"));
        self.area(&[(x - 1.0, y - 4.5), (x + 6.0, y), (x - 1.0, y + 4.5)], 1.0, &format!("f {class}"));
    }

    /// What a pointer that rests on the elements drawn by `draw` is told.
    pub fn told(&mut self, what: &str, draw: impl FnOnce(&mut Canvas)) {
        let what = escaped(what);
        self.put(format_args!("<g><title>{what}</title>"));
        draw(self);
        self.put(format_args!("</g>"));
    }

    /// The whole, told as `described`.
    pub fn done(self, described: &str) -> String {
        let (width, height, described) = (number(self.width), number(self.height), escaped(described));
        format!(
            r#"<svg xmlns="http://www.w3.org/2000/svg" class="chart" role="img" viewBox="0 0 {width} {height}" width="{width}" height="{height}" font-family="system-ui,-apple-system,'Segoe UI',Roboto,'Liberation Sans',Arial,sans-serif" font-size="{TYPE}"><title>{described}</title>{}</svg>"#,
            self.body
        )
    }

    fn put(&mut self, element: std::fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = self.body.write_fmt(element);
    }
}

fn way(points: &[(f64, f64)]) -> String {
    let mut way = String::new();
    for (index, (x, y)) in points.iter().enumerate() {
        let letter = if index == 0 { 'M' } else { 'L' };
        let _ = write!(way, "{letter}{} {}", number(*x), number(*y));
    }
    way
}

/// A tenth of a pixel is finer than any screen.
fn number(value: f64) -> String {
    assert!(value.is_finite(), "a place on a drawing must be a number");
    let text = format!("{value:.1}");
    match text.strip_suffix(".0") {
        Some("-0") => "0".into(),
        Some(whole) => whole.into(),
        None => text,
    }
}

/// How much wider bold letters are.
const BOLD: f64 = 1.15;
/// Between panels beside and below each other.
const GAP: f64 = 20.0;
/// Type of a title, of what stands below it, and of the headings of panels; and the lines of each.
const TITLE: (f64, f64) = (17.0, 22.0);
const SMALLER: (f64, f64) = (13.0, 17.0);

/// Lines of text below each other, that grow.
struct Lines {
    body: String,
    /// Where the last one stands.
    y: f64,
}

impl Lines {
    /// `text` from `x` on, `room` wide, its first line `first` below what is there.
    fn put(&mut self, text: &str, (x, room): (f64, f64), first: f64, (size, line): (f64, f64), style: &str) {
        for (index, words) in crate::label::broken(text, room, size).iter().enumerate() {
            self.y += if index == 0 { first } else { line };
            let (x, y, words) = (number(x), number(self.y), escaped(words));
            // Writing to a string cannot fail.
            let _ = write!(
                self.body,
                r#"<text x="{x}" y="{y}" font-size="{}" {style}>{words}</text>"#,
                number(size)
            );
        }
    }
}

/// What a drawing is high.
fn height_of(drawing: &str) -> f64 {
    let found = drawing.split_once(r#" height=""#).and_then(|(_, rest)| rest.split_once('"'));
    found.and_then(|(value, _)| value.parse::<f64>().ok()).unwrap_or(0.0)
}

/// How wide each of `columns` panels beside each other is in a file `width` wide.
pub(crate) fn panel_width(width: f64, columns: usize) -> f64 {
    let columns = columns.max(1) as f64;
    (width - 2.0 * MARGIN - GAP * (columns - 1.0)) / columns
}

/// Drawings, each with its heading, `columns` beside each other, as a file of its own: a title and a subtitle above them in
/// as many lines as they take, the colours of `theme` in it.
pub(crate) fn framed(
    panels: &[(String, String)],
    (width, columns): (f64, usize),
    (title, subtitle): (&str, &str),
    theme: Theme,
) -> String {
    let room = width - 2.0 * MARGIN;
    let mut lines = Lines { body: String::new(), y: 4.0 };
    lines.put(title, (MARGIN, room / BOLD), TITLE.1, TITLE, r#"font-weight="600""#);
    lines.put(subtitle, (MARGIN, room), 20.0, SMALLER, r#"class="faint""#);
    let each = panel_width(width, columns);
    let mut top = lines.y + 12.0;
    for (row, beside) in panels.chunks(columns.max(1)).enumerate() {
        let start = if row > 0 { top + GAP } else { top };
        let left = |column: usize| MARGIN + column as f64 * (each + GAP);
        let mut headed = start;
        for (column, (heading, _)) in
            beside.iter().enumerate().filter(|(_, (heading, _))| !heading.is_empty())
        {
            lines.y = start;
            lines.put(heading, (left(column), each / BOLD), SMALLER.1, SMALLER, r#"font-weight="600""#);
            headed = headed.max(lines.y + 8.0);
        }
        top = headed;
        for (column, (_, drawing)) in beside.iter().enumerate() {
            let (x, y) = (number(left(column)), number(headed));
            // Writing to a string cannot fail.
            let _ = write!(lines.body, r#"<g transform="translate({x} {y})">{drawing}</g>"#);
            top = top.max(headed + height_of(drawing));
        }
    }
    let (paper, rules, body) = (theme.palette().paper, style(theme, ""), lines.body);
    format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" class="chart" viewBox="0 0 {w} {h}" width="{w}" height="{h}" font-family="system-ui,'Liberation Sans',Arial,sans-serif"><style>{rules}</style><rect width="{w}" height="{h}" fill="{paper}"/>{body}</svg>
"#,
        w = number(width),
        h = number(top + 8.0),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_text_stays_text() {
        let mut canvas = Canvas::new(100.0, 50.0);
        canvas.text((1.0, 2.0), Anchor::Start, "", "</text><script>\u{1b}[31m\"&");
        let drawing = canvas.done("<b>");
        let read = roxmltree::Document::parse(&drawing).expect("it must be XML");
        let texts: Vec<&str> =
            read.descendants().filter(|node| node.is_text()).filter_map(|node| node.text()).collect();
        assert_eq!(texts, ["<b>", "</text><script>[31m\"&"]);
    }

    #[test]
    fn numbers_are_written_to_a_tenth_of_a_pixel() {
        assert_eq!([number(1.0), number(-0.01), number(2.34)], ["1", "0", "2.3"]);
    }

    #[test]
    fn a_file_of_its_own_holds_its_size_its_title_and_its_colours() {
        let drawing = Canvas::new(300.0, 100.0).done("x");
        let file = framed(&[(String::new(), drawing)], (324.0, 1), ("Title & more", "IOPS"), Theme::Dark);
        let read = roxmltree::Document::parse(&file).expect("it must be XML");
        assert_eq!(read.root_element().attribute("height"), Some("166"));
        assert_eq!(read.root_element().attribute("width"), Some("324"), "with a margin at both sides");
        assert!(file.contains("translate(12 58)"), "{file}");
        assert!(file.contains("Title &amp; more") && file.contains("#14181c"), "{file}");
    }

    #[test]
    fn a_long_title_goes_on_below_and_every_panel_is_there_under_its_heading() {
        let drawing = || Canvas::new(panel_width(700.0, 2), 100.0).done("x");
        let panels = ["100% reads", "0% reads", "70% reads"].map(|heading| (heading.to_owned(), drawing()));
        let title = "RAID 10, 0% reads, queue depth 1: 6,750 IOPS on average; no second of 10 without a completion, \
                     and so on to the end.";
        let file = framed(&panels, (700.0, 2), (title, "Rate of each second"), Theme::Light);
        let read = roxmltree::Document::parse(&file).expect("it must be XML");
        let texts: Vec<&str> = read
            .descendants()
            .filter(|node| node.has_tag_name("text"))
            .filter_map(|node| node.text())
            .collect();
        assert!(texts.len() >= 6 && texts.iter().all(|text| !text.contains('…')), "{texts:?}");
        let lines = texts.len() - 4;
        assert_eq!(texts[..lines].join(" "), title, "nothing is lost");
        assert!(
            texts[..lines].iter().all(|line| crate::label::width(line, 17.0) <= 676.0 / BOLD),
            "{texts:?}"
        );
        assert_eq!(texts[lines..], ["Rate of each second", "100% reads", "0% reads", "70% reads"]);
        assert_eq!(file.matches("class=\"chart\" role").count(), 3, "each panel");
        assert_eq!(file.matches("translate(12 ").count(), 2, "two rows");
    }
}
