//! Charts of the spreadsheet's own, drawn from the numbers of their sheet: what is plotted, by what names, on which axes.

use chart::{HUES, Unit, hue_on_white};
use report::distinct;
use rust_xlsxwriter::{
    Chart, ChartAxisCrossing, ChartAxisLabelPosition, ChartDataLabel, ChartErrorBars, ChartErrorBarsType,
    ChartRange, ChartSolidFill, ChartType, ConditionalFormat2ColorScale, Worksheet, XlsxError,
};
use units::convert::narrow;

use crate::document::{Cell, Figure, Table};
use crate::number::Number;
use crate::views::{BEHIND_ROWS, FAR};

use super::{SheetColumn, bold, shown};

/// Width and least height of a chart, and of that what its title and its axis take, in pixels.
const WIDTH: u32 = 760;
const HEIGHT: u32 = 420;
const FRAME: u32 = 120;
/// What each bar asks for: with less, a spreadsheet names every second one.
const BAR: u32 = 30;
/// A chart is no higher.
const HIGHEST: u32 = 1600;
/// A row of a sheet, in pixels.
const ROW: u32 = 20;
/// What of the largest value a spreadsheet's axis goes beyond it by itself, at least.
const BEYOND: f64 = 1.05;

/// What a spreadsheet draws of a figure.
#[derive(Clone, Copy, PartialEq)]
enum Shape {
    /// A line for each column of numbers, along the rows.
    Lines,
    /// A bar for each row, of each column of numbers.
    Bars,
    /// A bar for each column, whose parts are the rows; the last row is their sum.
    Parts,
    /// A line for each row, along the columns.
    Spectrum,
    /// Latency against the rate that was reached, a line for each name in the first column.
    Curve,
}

/// `None` where a spreadsheet has nothing like it.
fn shape(figure: &Figure) -> Option<Shape> {
    Some(match figure.kind {
        "load" | "sweep" => Shape::Lines,
        "corners" | "cells" | "effects" | "changes" | "utilization" => Shape::Bars,
        "breakdown" => Shape::Parts,
        "percentiles" => Shape::Spectrum,
        "latency" => Shape::Curve,
        _ => return None,
    })
}

/// A sheet with its name, its table, and where the columns of that stand.
struct Sheet<'a> {
    name: &'a str,
    figure: &'a Figure,
    places: &'a [SheetColumn],
}

/// A chart of the sheet's own numbers to the right of them; of a grid colours.
pub(super) fn chart(
    sheet: &mut Worksheet,
    name: &str,
    figure: &Figure,
    places: &[SheetColumn],
) -> Result<(), XlsxError> {
    let own = Sheet { name, figure, places };
    own.colours(sheet)?;
    let plotted = own.plotted();
    let (Some(shape), false, true) = (shape(figure), plotted.is_empty(), own.rows() > 0) else {
        return Ok(());
    };
    let labels = own.labels(sheet, shape)?;
    let mut at = 1;
    for part in own.parts() {
        let drawn = match shape {
            Shape::Lines => own.by_column(ChartType::Line, &plotted, labels, &part),
            Shape::Bars => own.by_column(ChartType::Bar, &plotted, labels, &part),
            Shape::Parts => own.by_row(ChartType::BarStacked, &plotted, own.rows() - 1),
            Shape::Spectrum => own.by_row(ChartType::Line, &plotted, own.rows()),
            Shape::Curve => match own.curves() {
                Some(chart) => chart,
                None => return Ok(()),
            },
        };
        let mut drawn = drawn;
        own.name_axes(&mut drawn, shape, &plotted);
        if shape == Shape::Bars {
            own.lay_bars(&mut drawn, &plotted, &part);
        }
        drawn.title().set_name(part.title.as_str());
        let height = own.height(shape, plotted.len(), &part);
        drawn.set_width(WIDTH).set_height(height);
        sheet.insert_chart(at, own.beyond() + 2, &drawn)?;
        at += height / ROW + 2;
    }
    Ok(())
}

/// Rows of a table that have a chart of their own, from the first to the last, counted from 1.
struct RowRange {
    title: String,
    first: u32,
    last: u32,
}

impl RowRange {
    fn rows<'t>(&self, table: &'t Table) -> &'t [Vec<Cell>] {
        assert!(0 < self.first && self.first <= self.last, "a part has a row at least");
        &table.rows[self.first as usize - 1..self.last as usize]
    }
}

impl Sheet<'_> {
    fn rows(&self) -> u32 {
        narrow::<u32>(self.figure.table.rows.len())
    }

    fn unit(&self, column: usize) -> Option<Unit> {
        self.figure.table.columns[column].unit
    }

    /// Columns of numbers of one unit, which is that of the first: others have no place on its axis. Counts, as of blocks,
    /// tell how something was measured.
    fn plotted(&self) -> Vec<usize> {
        let all = || (0..self.figure.table.columns.len()).filter(|column| self.unit(*column).is_some());
        let unit = all().filter_map(|column| self.unit(column)).find(|unit| *unit != Unit::Count);
        all().filter(|column| unit.is_some() && self.unit(*column) == unit).collect()
    }

    /// Of effects the rows of each figure that the page has a panel of; of all else all rows.
    fn parts(&self) -> Vec<RowRange> {
        let Figure { table, subtitle, panels, kind, .. } = self.figure;
        // What is said of the page's own drawing is not said of this one.
        let told = subtitle.split(BEHIND_ROWS).next().unwrap_or_default();
        let of = table.columns.iter().position(|column| column.title == "figure");
        let Some(of) = of.filter(|_| *kind == "effects") else {
            return vec![RowRange { title: told.to_owned(), first: 1, last: self.rows() }];
        };
        let told = told.split(';').next().unwrap_or_default();
        let mut parts = Vec::new();
        let mut first = 1;
        for stretch in table.rows.chunk_by(|one, next| one[of] == next[of]) {
            let last = first + narrow::<u32>(stretch.len()) - 1;
            let name = stretch[0][of].text();
            if panels.iter().any(|(title, _)| *title == name) {
                parts.push(RowRange { title: format!("{name}. {told}"), first, last });
            }
            first = last + 1;
        }
        parts
    }

    /// The hue of each row, where rows are told apart by one: whether an effect is significant, the level of a cell's first
    /// factor.
    fn hues(&self, part: &RowRange) -> Option<Vec<usize>> {
        let table = &self.figure.table;
        let at = match self.figure.kind {
            "effects" => table.columns.iter().position(|column| column.title == "significant")?,
            "cells" if naming(table) > 1 => 0,
            _ => return None,
        };
        let first = (self.figure.kind == "effects").then(|| "yes".to_owned());
        let levels = distinct(first.into_iter().chain(table.rows.iter().map(|row| row[at].text())));
        let place = |row: &Vec<Cell>| levels.iter().position(|level| *level == row[at].text()).unwrap_or(0);
        (levels.len() <= HUES).then(|| part.rows(table).iter().map(place).collect())
    }

    /// Bars in the order of the page, from the value that means nothing, as long as their intervals.
    fn lay_bars(&self, chart: &mut Chart, plotted: &[usize], part: &RowRange) {
        // The first row is the highest, and the axis of values stays below.
        chart.y_axis().set_reverse().set_crossing(ChartAxisCrossing::Max);
        chart.y_axis().set_label_position(ChartAxisLabelPosition::Low);
        if let Some(neutral) = self.neutral() {
            chart.x_axis().set_crossing(ChartAxisCrossing::AxisValue(neutral));
        }
        if self.is_far(plotted, part) {
            let name = format!("{} (logarithmic)", self.measure(plotted));
            chart.x_axis().set_log_base(10).set_name(name.as_str());
        }
        if let Some(most) = self.most(plotted, part) {
            chart.x_axis().set_max(most);
        }
        if plotted.len() < 2 {
            chart.legend().set_hidden();
        } else if self.hues(part).is_some_and(|hues| hues.iter().any(|hue| *hue != hues[0])) {
            // Its bars have several colours, of which the legend would show one; the names of the rows tell them apart.
            chart.legend().delete_entries(&[0]);
        }
    }

    fn neutral(&self) -> Option<f64> {
        self.figure.panels.iter().find_map(|(_, chart)| match chart {
            chart::Chart::Dots(dots) => dots.neutral,
            _ => None,
        })
    }

    /// Whether something lies so far beyond what was measured, as a claim does, that bars of one scale would show nothing of that.
    fn is_far(&self, plotted: &[usize], part: &RowRange) -> bool {
        let highest = |column: &usize| {
            let cells = part.rows(&self.figure.table).iter().map(|row| &row[*column]);
            cells.fold(0.0, |most: f64, cell| match cell {
                Cell::Number(number, _) => most.max(number.value),
                _ => most,
            })
        };
        let first = plotted.first().map_or(0.0, highest);
        self.neutral().is_none() && first > 0.0 && plotted.iter().map(highest).any(|most| most > FAR * first)
    }

    /// How far the axis of values goes, where a spreadsheet would cut off the end of an interval, at which it does not look.
    /// Else it finds the end by itself, also of other numbers.
    fn most(&self, plotted: &[usize], part: &RowRange) -> Option<f64> {
        let cells = || {
            part.rows(&self.figure.table).iter().flat_map(|row| plotted.iter().map(|column| &row[*column]))
        };
        let numbers = || {
            cells().filter_map(|cell| match cell {
                Cell::Number(number, ends) => Some((number, ends)),
                _ => None,
            })
        };
        let scaled = |number: &Number, value: f64| value / shown(number.unit).0;
        let highest = numbers().map(|(number, _)| scaled(number, number.value)).fold(0.0, f64::max);
        let ends = numbers().filter_map(|(number, ends)| Some(scaled(number, ends.ends()?.1.value)));
        let end = ends.fold(0.0, f64::max);
        (end > highest * BEYOND).then(|| rounded(end * BEYOND))
    }

    /// The first column behind all of the table's.
    fn beyond(&self) -> u16 {
        self.places.last().map_or(0, |place| place.first + if place.has_interval { 5 } else { 1 })
    }

    /// The column with the name of each row. Where several columns of words tell them apart, one behind the table has all
    /// of them joined.
    fn labels(&self, sheet: &mut Worksheet, shape: Shape) -> Result<u16, XlsxError> {
        let named = naming(&self.figure.table);
        if named < 2 || shape != Shape::Bars {
            return Ok(0);
        }
        let column = self.beyond();
        sheet.write_with_format(0, column, "label", &bold())?.set_column_width(column, 30.0)?;
        for (row, cells) in (1..).zip(&self.figure.table.rows) {
            sheet.write(row, column, self.label(&cells[..named]))?;
        }
        Ok(column)
    }

    /// `raid 5, disks 4, healthy`
    fn label(&self, cells: &[Cell]) -> String {
        let told = |(at, cell): (usize, &Cell)| {
            let text = cell.text();
            let is_number = text.parse::<f64>().is_ok();
            if is_number { format!("{} {text}", self.figure.table.columns[at].title) } else { text }
        };
        let told: Vec<String> = cells.iter().enumerate().map(told).filter(|text| !text.is_empty()).collect();
        told.join(", ")
    }

    /// A series for each column of numbers, along the rows.
    fn by_column(&self, kind: ChartType, plotted: &[usize], labels: u16, part: &RowRange) -> Chart {
        let mut chart = Chart::new(kind);
        let RowRange { first, last, .. } = *part;
        let hues = self.hues(part).unwrap_or_default();
        let next = hues.iter().max().map_or(0, |last| last + 1);
        let colours: Vec<&str> = hues.into_iter().map(hue_on_white).collect();
        for (turn, column) in plotted.iter().enumerate() {
            let place = &self.places[*column];
            let column_of =
                |offset: u16| (self.name, first, place.first + offset, last, place.first + offset);
            let series = chart.add_series();
            if !colours.is_empty() && turn == 0 {
                series.set_point_colors(&colours);
            } else if !colours.is_empty() {
                // What is claimed has hues behind those of the rows.
                let hue = hue_on_white(next + turn - 1);
                series.set_format(ChartSolidFill::new().set_color(hue));
            }
            series
                .set_name((self.name, 0, place.first))
                .set_categories((self.name, first, labels, last, labels))
                .set_values(column_of(0));
            if place.has_interval {
                let range = |offset: u16| {
                    let (name, first, left, last, right) = column_of(offset);
                    ChartRange::new_from_range(name, first, left, last, right)
                };
                let mut bars = ChartErrorBars::new();
                bars.set_type(ChartErrorBarsType::Custom(range(4), range(3)));
                match kind {
                    ChartType::Bar => series.set_x_error_bars(&bars),
                    _ => series.set_y_error_bars(&bars),
                };
            }
        }
        chart
    }

    /// A series for each of the first `shown` rows, along the columns of numbers.
    fn by_row(&self, kind: ChartType, plotted: &[usize], shown: u32) -> Chart {
        let mut chart = Chart::new(kind);
        let ends = plotted.first().zip(plotted.last());
        let Some((first, last)) =
            ends.map(|(first, last)| (self.places[*first].first, self.places[*last].first))
        else {
            return chart;
        };
        for row in 1..=shown {
            chart
                .add_series()
                .set_name((self.name, row, 0))
                .set_categories((self.name, 0, first, 0, last))
                .set_values((self.name, row, first, row, last));
        }
        chart
    }

    /// The columns of the rate and of the latency that is held against it: the 99th percentile, or the mean.
    fn curve_columns(&self) -> Option<(usize, usize)> {
        let columns = &self.figure.table.columns;
        let rate = columns.iter().position(|column| column.unit == Some(Unit::PerSecond))?;
        let is_full =
            |at: &usize| self.figure.table.rows.iter().any(|row| matches!(row[*at], Cell::Number(..)));
        let latency = |name: &str| columns.iter().position(|column| column.title == name).filter(is_full);
        Some((rate, latency("p99 latency").or_else(|| latency("mean latency"))?))
    }

    /// Of each stretch of rows with one name a line of its latency against its rate.
    fn curves(&self) -> Option<Chart> {
        let (rate, latency) = self.curve_columns()?;
        let (x, y) = (self.places[rate].first, self.places[latency].first);
        let mut chart = Chart::new(ChartType::ScatterStraightWithMarkers);
        let mut first = 1;
        for stretch in self.figure.table.rows.chunk_by(|one, next| one[0] == next[0]) {
            let last = first + narrow::<u32>(stretch.len()) - 1;
            let series = chart.add_series();
            series.set_categories((self.name, first, x, last, x)).set_values((self.name, first, y, last, y));
            // Each by its load.
            let labels = (first..=last).map(|row| {
                let place = self.places[1].first;
                ChartDataLabel::new()
                    .set_value(&ChartRange::new_from_range(self.name, row, place, row, place))
                    .clone()
            });
            series.set_custom_data_labels(&labels.collect::<Vec<_>>());
            match stretch[0][0].text() {
                name if name.is_empty() => series.set_name((self.name, 0, y)),
                _ => series.set_name((self.name, first, 0)),
            };
            first = last + 1;
        }
        Some(chart)
    }

    /// What its numbers are, with their unit: `rate, IOPS`.
    fn measure(&self, plotted: &[usize]) -> String {
        let Some(unit) = plotted.first().and_then(|column| self.unit(*column)) else { return String::new() };
        let name = match self.figure.panels.first().map(|(_, chart)| chart) {
            Some(chart::Chart::Plot(plot)) => plot.y.name.clone(),
            Some(chart::Chart::Dots(dots)) => dots.axis.name.clone(),
            Some(chart::Chart::Bars(bars)) => bars.axis.name.clone(),
            _ => self.figure.table.title.clone(),
        };
        with_unit(name, unit)
    }

    fn name_axes(&self, chart: &mut Chart, shape: Shape, plotted: &[usize]) {
        let columns = &self.figure.table.columns;
        let measure = self.measure(plotted);
        let (along, upwards) = match shape {
            Shape::Lines => (columns[0].head(), measure),
            Shape::Spectrum => ("percentile".to_owned(), measure),
            // Of bars the axis of values lies along; their names tell themselves.
            Shape::Bars | Shape::Parts => (measure, String::new()),
            Shape::Curve => {
                let latency = self.curve_columns().map_or("latency", |(_, at)| columns[at].title.as_str());
                chart.y_axis().set_log_base(10);
                ("rate, IOPS".to_owned(), with_unit(latency.to_owned(), Unit::Nanos))
            }
        };
        for (axis, name) in [(true, along), (false, upwards)].into_iter().filter(|(_, name)| !name.is_empty())
        {
            let axis = if axis { chart.x_axis() } else { chart.y_axis() };
            axis.set_name(name.as_str());
        }
    }

    /// Where there are more bars than a chart is high, not each is named.
    fn height(&self, shape: Shape, plotted: usize, part: &RowRange) -> u32 {
        let bars = match shape {
            Shape::Bars => (part.last - part.first + 1).saturating_mul(narrow::<u32>(plotted).min(3)),
            Shape::Parts => narrow::<u32>(plotted),
            _ => 0,
        };
        HEIGHT.max(bars.saturating_mul(BAR).saturating_add(FRAME)).min(HIGHEST)
    }

    /// A grid is told by the colours of its cells.
    fn colours(&self, sheet: &mut Worksheet) -> Result<(), XlsxError> {
        let plotted = self.plotted();
        let ends = plotted.first().zip(plotted.last()).filter(|_| self.rows() > 0);
        let Some((first, last)) = ends.filter(|_| ["grid", "utilization"].contains(&self.figure.kind)) else {
            return Ok(());
        };
        let scale =
            ConditionalFormat2ColorScale::new().set_minimum_color("00224E").set_maximum_color("E1CC55");
        let (first, last) = (self.places[*first].first, self.places[*last].first);
        sheet.add_conditional_format(1, first, self.rows(), last, &scale)?;
        Ok(())
    }
}

/// How many columns of words, from the left, tell the rows of a table apart.
fn naming(table: &Table) -> usize {
    let is_words = |at: usize| table.rows.iter().all(|row| !matches!(row[at], Cell::Number(..)));
    let is_name = |at: &usize| table.columns[*at].unit.is_none() && is_words(*at);
    (0..table.columns.len()).take_while(is_name).count()
}

/// A number that an axis ends with: of two digits, no smaller.
fn rounded(value: f64) -> f64 {
    let step = 10f64.powf(value.log10().floor() - 1.0);
    (value / step).ceil() * step
}

fn with_unit(name: String, unit: Unit) -> String {
    let unit = if unit == Unit::PerSecond { "IOPS" } else { shown(unit).2 };
    if unit.is_empty() { name } else { format!("{name}, {unit}") }
}
