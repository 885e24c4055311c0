//! Repetitions of a phase summed up.

use super::text::{Access, MIB, Row};

/// The repetitions of one kind of phase.
pub(super) struct Spread {
    /// MiB a second: most, least, mean, standard deviation.
    pub rates: [f64; 4],
    /// Transfers a second, likewise.
    pub per_second: [f64; 4],
    /// Mean time.
    pub seconds: f64,
    /// Of the first one.
    pub bytes: f64,
    /// Mean seconds to the stonewall, and mean bytes by then.
    pub at_wall: Option<(f64, f64)>,
}

impl Spread {
    /// Of the rows of one kind; `None` where there are none.
    pub fn of(rows: &[Row], access: Access) -> Option<Spread> {
        let rows: Vec<&Row> = rows.iter().filter(|row| row.access == access).collect();
        let first = rows.first()?;
        let all = |figure: fn(&Row) -> f64| rows.iter().map(|row| figure(row)).collect::<Vec<f64>>();
        Some(Spread {
            rates: spread(&all(|row| row.rate() / MIB)),
            per_second: spread(&all(Row::per_second)),
            seconds: spread(&all(|row| row.seconds))[2],
            bytes: first.bytes as f64,
            at_wall: first.at_wall.map(|_| {
                let walls = rows.iter().filter_map(|row| row.at_wall);
                let (seconds, bytes) = walls.fold((0.0, 0.0), |sum, wall| (sum.0 + wall.0, sum.1 + wall.1));
                (seconds / rows.len() as f64, bytes / rows.len() as f64)
            }),
        })
    }
}

/// Most, least, mean and the standard deviation of all there are.
fn spread(values: &[f64]) -> [f64; 4] {
    assert!(!values.is_empty(), "a spread is that of one value at least");
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count;
    let most = values.iter().copied().fold(f64::MIN, f64::max);
    let least = values.iter().copied().fold(f64::MAX, f64::min);
    [most, least, mean, variance.sqrt()]
}
