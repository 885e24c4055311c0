//! Sheets of what happened over time: every sample with its time, and a chart of the spreadsheet's own for each measure; or
//! counts as coloured cells.

use rust_xlsxwriter::{
    Chart, ChartType, ConditionalFormat3ColorScale, ConditionalFormatType, Format, Worksheet, XlsxError,
};
use units::convert::narrow;

use crate::document::{Cell, Course, CoursePlot, Detail, Figure, Table};

use super::width::lines_of;
use super::{Book, LINE, bold, shown};

/// Height of a chart, in pixels and in rows of a sheet.
const HEIGHT: u32 = 300;
const ROWS: u32 = 16;
/// Columns of counts are narrow, so that a map is seen as one.
const NARROW: f64 = 3.5;
/// Columns of samples.
const WIDTH: f64 = 16.0;
/// Counts in as few letters as fit there.
const COUNTS: &str = "[<1000]0;[<1000000]0,\"k\";0,,\"M\"";

impl Book {
    /// A sheet of `detail`, which belongs to `figure`.
    pub(super) fn detail(&mut self, figure: &Figure, detail: &Detail) -> Result<Worksheet, XlsxError> {
        match detail {
            Detail::Course(course) => self.course(figure, course),
            Detail::Map(table) => self.map(table),
        }
    }

    /// Two columns for each line, its times and its samples, and to the right of all of them a chart of each plot.
    fn course(&mut self, figure: &Figure, course: &Course) -> Result<Worksheet, XlsxError> {
        let title = match course.title.as_str() {
            "" => format!("{}, samples", figure.table.title),
            title => format!("{}, {title}", figure.table.title),
        };
        let name = self.name(&title);
        let mut sheet = Worksheet::new();
        sheet.set_name(&name)?.set_freeze_panes(1, 0)?;
        let lines: usize = course.plots.iter().map(|plot| plot.lines.len()).sum();
        let heads = course
            .plots
            .iter()
            .flat_map(|plot| &plot.lines)
            .map(|(name, _)| format!("{name}: throughput, MB/s"));
        sheet.set_row_height(
            0,
            f64::from(heads.map(|head| lines_of(&head, WIDTH)).max().unwrap_or(1)) * LINE,
        )?;
        let beside = narrow::<u16>(2 * lines + 1);
        let (mut first, mut row) = (0, 1);
        for plot in &course.plots {
            let chart = self.plot(&mut sheet, &name, first, plot)?;
            sheet.insert_chart(row, beside, &chart)?;
            first += narrow::<u16>(2 * plot.lines.len());
            row += ROWS;
        }
        Ok(sheet)
    }

    /// The lines of `plot` from column `first` on, and their chart.
    fn plot(
        &mut self,
        sheet: &mut Worksheet,
        name: &str,
        first: u16,
        plot: &CoursePlot,
    ) -> Result<Chart, XlsxError> {
        let measure = match (plot.unit, shown(plot.unit).2) {
            (chart::Unit::PerSecond, _) => format!("{}, IOPS", plot.measure),
            (_, "") => plot.measure.clone(),
            (_, unit) => format!("{}, {unit}", plot.measure),
        };
        let mut chart = Chart::new(ChartType::ScatterStraight);
        chart.title().set_name(measure.as_str());
        chart.x_axis().set_name("time, s").set_num_format("0").set_min(0);
        chart.y_axis().set_name(measure.as_str()).set_num_format("#,##0.##");
        if plot.unit == chart::Unit::Share {
            let samples = plot.lines.iter().flat_map(|(_, samples)| samples);
            chart.y_axis().set_min(0).set_num_format("0%");
            // Of several processors a process may take more than one.
            if samples.into_iter().all(|(_, number)| number.value <= 1.0) {
                chart.y_axis().set_max(1);
            }
        }
        chart.set_width(760).set_height(HEIGHT);
        for ((line, samples), column) in plot.lines.iter().zip((first..).step_by(2)) {
            sheet.write_with_format(0, column, "time, s", &bold())?;
            sheet.write_with_format(0, column + 1, format!("{line}: {measure}"), &bold())?;
            sheet.set_column_width(column + 1, WIDTH)?;
            for (row, (at, number)) in (1..).zip(samples) {
                sheet.write_with_format(row, column, *at, &Format::new().set_num_format("0.0"))?;
                self.write(sheet, row, column + 1, number, true)?;
            }
            let last = narrow::<u32>(samples.len());
            if last > 0 {
                chart
                    .add_series()
                    .set_name(line.as_str())
                    .set_categories((name, 1, column, last, column))
                    .set_values((name, 1, column + 1, last, column + 1));
            }
        }
        Ok(chart)
    }

    /// Rows and columns of counts, the more the lighter.
    fn map(&mut self, table: &Table) -> Result<Worksheet, XlsxError> {
        let mut sheet = Worksheet::new();
        sheet.set_name(self.name(&table.title))?.set_freeze_panes(1, 1)?;
        sheet.set_column_width(0, 14.0)?;
        let upright = bold().set_rotation(90);
        for (column, head) in (0..).zip(&table.columns) {
            let format = if column == 0 { bold() } else { upright.clone() };
            sheet.write_with_format(0, column, &head.title, &format)?;
            if column > 0 {
                sheet.set_column_width(column, NARROW)?;
            }
        }
        for (row, cells) in (1..).zip(&table.rows) {
            for (column, cell) in (0..).zip(cells) {
                match cell {
                    Cell::Empty => {}
                    Cell::Words(words) => drop(sheet.write(row, column, words)?),
                    Cell::Number(number, _) => {
                        let formula = self.formula(&number.source);
                        let formula =
                            rust_xlsxwriter::Formula::new(formula).set_result(number.value.to_string());
                        let format = Format::new().set_num_format(COUNTS).set_font_size(8);
                        sheet.write_formula_with_format(row, column, formula, &format)?;
                    }
                }
            }
        }
        let (rows, columns) = (narrow::<u32>(table.rows.len()), narrow::<u16>(table.columns.len()));
        if rows > 0 && columns > 1 {
            // Few slow requests among thousands matter: half of the cells lie on either side of the middle colour.
            let scale = ConditionalFormat3ColorScale::new()
                .set_midpoint(ConditionalFormatType::Percentile, 50)
                .set_minimum_color("7D8FBF")
                .set_midpoint_color("A59C74")
                .set_maximum_color("FDE737");
            sheet.add_conditional_format(1, 1, rows, columns - 1, &scale)?;
        }
        Ok(sheet)
    }
}
