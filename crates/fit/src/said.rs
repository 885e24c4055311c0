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
    /// A figure that was fitted.
    pub fn figure(&mut self, what: &'static str, key: &'static str, value: String, words: String) {
        let before = self.words.insert(key, (true, words.clone()));
        debug_assert!(before.is_none(), "`{key}` is said twice");
        if !what.is_empty() {
            self.lines.push(Fitted { what: what.into(), value: Some(value), words });
        }
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

/// Requests a second as text.
pub fn per_s(value: f64) -> String {
    units::OpsPerSecond::new(value).to_string()
}
