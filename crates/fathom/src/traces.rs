//! The traces that a plan asks again, read from their files.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};

use workload::plan::Plan;
use workload::trace::{Trace, TraceReader};

use crate::ending::Failure;

/// No line of a trace is longer; a device that is named by mistake is not read to its end.
const LONGEST_LINE: u64 = 16 << 10;
/// Read at a time.
const BUFFER: usize = 1 << 20;

/// Reads every trace of the plan, each file once.
pub fn attach(plan: &mut Plan) -> Result<(), Failure> {
    plan.attach(read)
}

fn read(path: &str) -> Result<Trace, Failure> {
    let unread = |error| Failure::Usage(format!("{path}: the trace cannot be read: {error}"));
    let wrong = |error: workload::trace::TraceError| Failure::Usage(error.to_string());
    let mut text = BufReader::with_capacity(BUFFER, File::open(path).map_err(unread)?);
    let mut reader = TraceReader::new(path);
    let mut line = Vec::new();
    for number in 1u64.. {
        line.clear();
        text.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line).map_err(unread)?;
        if line.is_empty() {
            break;
        }
        if line.len() as u64 == LONGEST_LINE {
            let what = "a line of 16 KiB or more; no trace has such";
            return Err(Failure::Usage(format!("{path}:{number}: {what}")));
        }
        reader.line(&line).map_err(wrong)?;
    }
    reader.finish().map_err(wrong)
}
