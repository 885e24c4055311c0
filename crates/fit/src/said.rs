//! What is said of a model: lines for people, and words for the file.

use record::{Figure, Fitted};
use units::convert::truncated;
use units::{Bytes, BytesPerSecond, Nanos};

use crate::model::Words;

/// Lines for people, and words for the file.
#[derive(Default)]
pub struct Said {
    /// For people.
    pub lines: Vec<Fitted>,
    /// For the file.
    pub words: Words,
}

impl Said {
    /// A figure that was fitted, in people's line and in the file the same quantity.
    pub fn figure(&mut self, what: &'static str, key: &'static str, value: String, words: String) {
        self.key(key, words.clone());
        if !what.is_empty() {
            self.lines.push(Fitted { what: what.into(), value: Some(value), words });
        }
    }

    /// What was measured, for people; the keys that follow from it say their own words by [`Said::key`].
    pub fn measured(&mut self, what: &'static str, value: String, words: String) {
        self.lines.push(Fitted { what: what.into(), value: Some(value), words });
    }

    /// A fitted key of the file. An interval in `words` is of the key's own quantity, or says of what it is.
    pub fn key(&mut self, key: &'static str, words: String) {
        let before = self.words.insert(key, (true, words));
        debug_assert!(before.is_none(), "`{key}` is said twice");
    }

    /// Keys that were not, and why.
    pub fn missing(&mut self, what: &'static str, keys: &[&'static str], words: &str) {
        for key in keys {
            let before = self.words.insert(key, (false, words.to_owned()));
            debug_assert!(before.is_none(), "`{key}` is said twice");
        }
        if !what.is_empty() {
            self.lines.push(Fitted { what: what.into(), value: None, words: words.into() });
        }
    }
}

/// The interval of a figure in words.
pub fn between(figure: &Figure, text: &dyn Fn(f64) -> String) -> String {
    match (figure.low, figure.high) {
        (Some(low), Some(high)) => format!("95 % between {} and {}", text(low), text(high)),
        _ => "too few points for an interval".into(),
    }
}

/// A rate as text.
pub fn bytes_per_s(value: f64) -> String {
    BytesPerSecond::new(value).to_string()
}

/// A size as text.
pub fn bytes(value: f64) -> String {
    Bytes::new(truncated(value.max(0.0).round())).to_string()
}

/// A time as text.
pub fn time(ns: f64) -> String {
    Nanos::new(truncated(ns.max(0.0).round())).to_string()
}

/// Requests a second as text, `45,454/s`.
pub fn per_s(value: f64) -> String {
    format!("{}/s", units::OpsPerSecond::new(value))
}

/// A part as percent.
pub fn percent(value: f64) -> String {
    format!("{:.1} %", value * 100.0)
}

/// `figure` with each of its values changed by `change`, which may turn the order of its ends around.
pub fn changed(figure: &Figure, change: impl Fn(f64) -> f64) -> Figure {
    let (one, other) = (figure.low.map(&change), figure.high.map(&change));
    let (low, high) = if one > other { (other, one) } else { (one, other) };
    Figure { value: change(figure.value), low, high }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_of_a_rate_is_in_order_as_one_of_times() {
        let rate = Figure { value: 50_000.0, low: Some(40_000.0), high: Some(62_500.0) };
        let time = changed(&rate, |rate| 1e9 / rate);
        assert_eq!((time.value, time.low, time.high), (20_000.0, Some(16_000.0), Some(25_000.0)));
        let alone = changed(&Figure { value: 1.0, low: None, high: None }, |value| value * 2.0);
        assert_eq!((alone.value, alone.low), (2.0, None));
    }
}
