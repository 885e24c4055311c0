//! Values of two keys as heights, seen from a corner: as IOzone's results are drawn. It stands beside the heat map of the
//! same values, from which they are read.

use crate::heat::Heat;
use crate::label::width;
use crate::ramp;
use crate::svg::{Anchor, Canvas, TYPE};

/// A grid of values as a surface.
#[derive(Clone, Debug, PartialEq)]
pub struct Surface {
    /// The values, and what they are of.
    pub grid: Heat,
}

impl Surface {
    /// The heat map of the same values.
    pub(crate) fn as_heat(&self) -> &Heat {
        &self.grid
    }

    pub(crate) fn svg(&self, width: f64, described: &str) -> String {
        let Heat { columns, rows, values, x_name, y_name, unit, .. } = &self.grid;
        let height = (width * 0.66).clamp(200.0, 440.0);
        let mut canvas = Canvas::new(width, height);
        let (across, deep) = (columns.len().max(2) - 1, rows.len().max(2) - 1);
        let most = values.iter().flatten().flatten().copied().fold(0.0, f64::max);
        let corner = (width * 0.47, height - 44.0);
        let right = (width * 0.42 / across as f64, -height * 0.17 / across as f64);
        let back = (-width * 0.36 / deep as f64, -height * 0.20 / deep as f64);
        let up = height * 0.48;
        let place = |x: usize, y: usize, value: f64| {
            let lift = if most > 0.0 { value / most * up } else { 0.0 };
            let at = |first: f64, right: f64, back: f64| first + right * x as f64 + back * y as f64;
            (at(corner.0, right.0, back.0), at(corner.1, right.1, back.1) - lift)
        };
        let value = |x: usize, y: usize| values.get(y).and_then(|row| *row.get(x)?);
        // From the back to the front, so that what is nearer covers what is behind it.
        for (y, x) in (0..deep).rev().flat_map(|y| (0..across).rev().map(move |x| (y, x))) {
            let corners = [(x, y), (x + 1, y), (x + 1, y + 1), (x, y + 1)];
            let heights: Option<Vec<f64>> = corners.iter().map(|(x, y)| value(*x, *y)).collect();
            let Some(heights) = heights else { continue };
            let mean = heights.iter().sum::<f64>() / 4.0;
            let points: Vec<(f64, f64)> =
                corners.iter().zip(&heights).map(|((x, y), value)| place(*x, *y, *value)).collect();
            canvas.facet(&points, &ramp::colour(self.grid.part(mean)).0);
        }
        self.draw_edges(&mut canvas, &place, (across, deep));
        canvas.text((width * 0.98, height - 8.0), Anchor::End, "faint", x_name);
        canvas.text((2.0, height - 8.0), Anchor::Start, "faint", y_name);
        let top = format!("up to {}", unit.written(most));
        let top = if unit.at_axis() == "IOPS" { format!("{top} IOPS") } else { top };
        canvas.text((2.0, 14.0), Anchor::Start, "faint", &top);
        canvas.done(described)
    }

    /// Names of columns and rows along the two edges in front, as many as there is room for.
    fn draw_edges(
        &self,
        canvas: &mut Canvas,
        place: &impl Fn(usize, usize, f64) -> (f64, f64),
        (across, deep): (usize, usize),
    ) {
        let widest = |names: &[String]| names.iter().map(|name| width(name, TYPE)).fold(1.0, f64::max);
        let stride = |names: &[String], each: f64| {
            units::convert::truncated::<usize>(((widest(names) * 0.7 + 6.0) / each.max(1.0)).ceil()).max(1)
        };
        let each = place(1, 0, 0.0).0 - place(0, 0, 0.0).0;
        canvas.line(place(0, 0, 0.0), place(across, 0, 0.0), "axis");
        canvas.line(place(0, 0, 0.0), place(0, deep, 0.0), "axis");
        for (index, name) in self.grid.columns.iter().enumerate().step_by(stride(&self.grid.columns, each)) {
            let (x, y) = place(index, 0, 0.0);
            canvas.text((x + 3.0, y + 15.0), Anchor::Start, "faint", name);
        }
        let each = place(0, 0, 0.0).0 - place(0, 1, 0.0).0;
        for (index, name) in self.grid.rows.iter().enumerate().skip(1).step_by(stride(&self.grid.rows, each))
        {
            let (x, y) = place(0, index, 0.0);
            canvas.text((x - 3.0, y + 15.0), Anchor::End, "faint", name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Unit;

    #[test]
    fn a_facet_is_drawn_for_each_four_values_that_are_there() {
        let grid = Heat {
            x_name: "record size".into(),
            columns: ["4 KiB", "8 KiB", "16 KiB"].map(String::from).into(),
            y_name: "file size".into(),
            rows: ["64 KiB", "128 KiB"].map(String::from).into(),
            unit: Unit::BytesPerSecond,
            values: vec![vec![Some(1e8), Some(2e8), Some(3e8)], vec![Some(1e8), Some(2e8), None]],
            range: None,
            logarithmic: false,
        };
        let drawing = Surface { grid }.svg(500.0, "IOzone");
        roxmltree::Document::parse(&drawing).expect("it must be XML");
        assert_eq!(drawing.matches("<path").count(), 1, "one of the two has a corner that was not measured");
        assert!(drawing.contains("up to 300 MB/s"));
    }
}
