//! IOzone's telemetry files: an offset, a length and a pause in milliseconds on each line, for its options `-X` and `-Y`.
//!
//! They do not say what is done there: requests read, unless `trace_as` says otherwise. The pause, which IOzone spends
//! before a request, may be left out.
//!
//! Source: IOzone's documentation, and `get_traj` of its `iozone.c`.

use super::reader::{Gathered, number};
use crate::Op;

/// No longer pause: a day.
const PAUSE_MOST_MS: u64 = 86_400_000;

/// When the next request is due.
#[derive(Clone, Debug, Default)]
pub(super) struct Clock {
    now_ms: u64,
}

/// Whether a text with this first line is one: two or three whole numbers.
pub(super) fn is_line(text: &str) -> bool {
    let fields: Vec<&str> = text.split_ascii_whitespace().collect();
    let is_number = |field: &&str| field.bytes().all(|byte| byte.is_ascii_digit());
    matches!(fields.len(), 2 | 3) && fields.iter().all(is_number)
}

impl Clock {
    pub fn line(&mut self, text: &str, to: &mut Gathered) -> Result<(), String> {
        let mut fields = text.split_ascii_whitespace();
        let offset = number(fields.next(), "an offset in bytes")?;
        let len = number(fields.next(), "a length in bytes")?;
        if let Some(pause) = fields.next() {
            let pause: u64 = number(Some(pause), "a pause in milliseconds")?;
            if pause > PAUSE_MOST_MS {
                return Err(format!("a pause of {pause} ms is longer than a day"));
            }
            self.now_ms =
                self.now_ms.checked_add(pause).ok_or("the pauses sum to more than time has room for")?;
        }
        let at_ns = self.now_ms.checked_mul(1_000_000).ok_or("a time later than time has room for")?;
        to.push(at_ns, Op::Read, "file", offset, len)
    }
}
