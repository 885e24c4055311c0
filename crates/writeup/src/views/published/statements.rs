//! Published bounds, orders and equalities, as a table.

use campaign::CheckedFigure;

use super::Group;
use super::words::{claimed, configurations, has_value, holds};
use crate::document::{Cell, Column, Table};

impl<'a> Group<'a> {
    pub(super) fn statements(self, statements: &[(usize, &CheckedFigure)]) -> Table {
        let columns = ["what was said", "what", "claim", "published", "model", "holds"];
        let row = |(place, figure): &(usize, &CheckedFigure)| {
            let said = if figure.case.about.is_empty() { &figure.id } else { &figure.case.about };
            vec![
                Cell::words(said),
                Cell::words(format!("{}: {}", figure.case.load, configurations(figure))),
                Cell::words(claimed(figure)),
                Cell::number(has_value(figure).then(|| self.published(*place))),
                self.answer(*place).map_or(Cell::Empty, |(number, interval)| Cell::Number(number, interval)),
                Cell::words(holds(figure)),
            ]
        };
        Table {
            title: format!("published statements: {}", self.name()),
            columns: columns.map(Column::words).to_vec(),
            rows: statements.iter().map(row).collect(),
        }
    }
}
