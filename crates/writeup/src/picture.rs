//! Charts as pictures and pages of print.

use std::sync::Arc;

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb::Database};

/// Why a chart could not be made a picture.
#[derive(Debug, thiserror::Error)]
#[error("the chart cannot be made a picture: {0}")]
pub struct PictureError(String);

/// The chart of an SVG file as PNG, `width` pixels wide. Text is in the sans-serif font of the system; a system without any font
/// gives a picture without text, which is an error.
pub fn png(svg: &str, width: u32) -> Result<Vec<u8>, PictureError> {
    let tree = tree(svg)?;
    let own = tree.size();
    let size =
        own.to_int_size().scale_to_width(width).ok_or_else(|| PictureError("it has no size".into()))?;
    let mut picture =
        Pixmap::new(size.width(), size.height()).ok_or_else(|| PictureError("it is too large".into()))?;
    let scale = width as f32 / own.width();
    resvg::render(&tree, Transform::from_scale(scale, scale), &mut picture.as_mut());
    picture.encode_png().map_err(|error| PictureError(error.to_string()))
}

/// The chart of an SVG file as a page of PDF of its size.
pub fn pdf(svg: &str) -> Result<Vec<u8>, PictureError> {
    let tree = tree(svg)?;
    let bytes =
        svg2pdf::to_pdf(&tree, svg2pdf::ConversionOptions::default(), svg2pdf::PageOptions::default());
    bytes.map_err(|error| PictureError(error.to_string()))
}

fn tree(svg: &str) -> Result<Tree, PictureError> {
    let mut fonts = Database::new();
    fonts.load_system_fonts();
    if fonts.is_empty() {
        return Err(PictureError(
            "this system has no font; install one, such as fonts-liberation, or write .svg".into(),
        ));
    }
    // The first of the names that charts ask for which the system has; else any sans-serif.
    let known = ["Liberation Sans", "DejaVu Sans", "Arial", "Noto Sans"];
    let has = |name: &&str| fonts.faces().any(|face| face.families.iter().any(|(family, _)| family == name));
    let family = known.into_iter().find(has).map(str::to_owned);
    let family =
        family.or_else(|| Some(fonts.faces().next()?.families.first()?.0.clone())).unwrap_or_default();
    fonts.set_sans_serif_family(&family);
    let options = Options { font_family: family, fontdb: Arc::new(fonts), ..Options::default() };
    Tree::from_str(svg, &options).map_err(|error| PictureError(error.to_string()))
}

#[cfg(test)]
#[path = "../../../tests/support/skip.rs"]
mod skip;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::skip;
    use chart::{Axis, Chart, Line, Mark, Plot, Scale, Theme, Unit};

    #[test]
    fn a_chart_is_a_picture_of_the_width_that_is_asked_for_and_a_page() {
        let points = [(1.0, 100.0), (2.0, 200.0)].map(|(x, y)| Mark { x, y: Some(y), ..Mark::default() });
        let plot = Plot {
            x: Axis::new("queue depth", Unit::Count, Scale::Log2),
            y: Axis::new("rate", Unit::PerSecond, Scale::Linear),
            lines: vec![Line { marked: true, points: points.into(), ..Line::default() }],
            rules: Vec::new(),
        };
        let file = Chart::Plot(plot).file(400.0, "Title", "IOPS", Theme::Dark);
        let picture = match png(&file, 800) {
            Err(PictureError(why)) if why.contains("no font") => {
                return skip::lacks("fonts-liberation", &why);
            }
            picture => picture.expect("it can be drawn"),
        };
        assert!(picture.starts_with(b"\x89PNG"));
        let width = u32::from_be_bytes([picture[16], picture[17], picture[18], picture[19]]);
        assert_eq!(width, 800);
        // The corner has the paper of the dark theme, the middle of the line something else.
        let pixels = Pixmap::decode_png(&picture).expect("it is a picture");
        let corner = pixels.pixel(2, 2).expect("it is there");
        assert_eq!([corner.red(), corner.green(), corner.blue()], [0x14, 0x18, 0x1c]);
        let hue = |pixel: &resvg::tiny_skia::PremultipliedColorU8| {
            [pixel.red(), pixel.green(), pixel.blue()] == [0x5b, 0xb5, 0xec]
        };
        assert!(
            pixels.pixels().iter().filter(|pixel| hue(pixel)).count() > 100,
            "the line has the first hue"
        );
        assert!(pdf(&file).expect("it can be printed").starts_with(b"%PDF"));
    }
}
