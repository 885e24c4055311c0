//! Where a plot's values lie in a drawing.

use crate::axis::Laid;
use crate::label::width;
use crate::svg::{Anchor, Canvas, TYPE};

/// Room of a tick of the upward axis.
pub(super) const TICKS: f64 = 48.0;

/// A plot with its axes laid.
pub(crate) struct Area {
    pub x: Laid,
    pub y: Laid,
    pub left: f64,
    pub right: f64,
    pub top: f64,
    pub bottom: f64,
    /// Room to the right of it, where the names of lines stand.
    pub beyond: f64,
}

impl Area {
    pub(super) fn draw_axes(&self, canvas: &mut Canvas, name: &str) {
        for (value, text) in self.y.ticks(TICKS) {
            let Some(at) = self.y.at(value) else { continue };
            canvas.line((self.left, at), (self.right, at), "grid");
            canvas.text((self.left - 6.0, at + 4.0), Anchor::End, "faint", &text);
        }
        canvas.line((self.left, self.bottom), (self.right, self.bottom), "axis");
        let ticks = self.x.ticks(64.0);
        let last = ticks.len().saturating_sub(1);
        for (index, (value, text)) in ticks.iter().enumerate() {
            let Some(at) = self.x.at(*value) else { continue };
            canvas.line((at, self.bottom), (at, self.bottom + 4.0), "axis");
            let beyond = at + width(text, TYPE) / 2.0 > self.right + 16.0;
            let anchor = if index == last && beyond { Anchor::End } else { Anchor::Middle };
            canvas.text((at, self.bottom + 18.0), anchor, "faint", text);
        }
        canvas.text((self.right, self.bottom + 34.0), Anchor::End, "faint", name);
    }

    /// Where a level lies, if it is on the axis.
    pub(super) fn height_of(&self, value: f64) -> Option<f64> {
        self.y.at(value).filter(|_| value >= self.y.from && value <= self.y.to)
    }

    pub(super) fn across(&self, canvas: &mut Canvas, value: f64, class: &str) {
        if let Some(at) = self.height_of(value) {
            canvas.line((self.left, at), (self.right, at), &format!("{class} thin"));
        }
    }

    pub(super) fn upwards(&self, canvas: &mut Canvas, value: f64) {
        if let Some(at) = self.x.at(value) {
            canvas.line((at, self.top), (at, self.bottom), "rule thin");
        }
    }
}
