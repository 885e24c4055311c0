//! A trace's text, line by line.

use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;

use units::convert::{narrow, truncated};
use units::{Bytes, Nanos};

use super::{Entry, LONGEST, MOST_FILES, MOST_REQUESTS, Trace, TraceRequest};
use super::{alibaba, blkparse, blktrace, csv, disksim, iolog, msr, spc, telemetry};
use crate::Op;

/// Why a text is no trace.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}: {what}")]
pub struct TraceError {
    /// What the text is called, usually its path.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// What is wrong with it, and what would be right.
    pub what: String,
}

/// A format of traces that [`TraceReader`] reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceFormat {
    /// What it is called.
    pub name: &'static str,
    /// What it holds and who makes it, in a few words.
    pub about: &'static str,
}

/// Every format of traces.
pub const FORMATS: [TraceFormat; 10] = [
    TraceFormat { name: "iolog", about: "fio's iolog, version 2 and 3: `fio --write_iolog=FILE`" },
    TraceFormat {
        name: "blktrace",
        about: "the files of blktrace, one for each processor: `blktrace -d /dev/sdb`",
    },
    TraceFormat { name: "blkparse", about: "the text of blkparse: `blkparse -i sdb -o FILE`" },
    TraceFormat { name: "msr", about: "the CSV of MSR Cambridge, as at SNIA's IOTTA repository" },
    TraceFormat {
        name: "csv",
        about: "a CSV whose header names the columns op, offset_bytes, size_bytes and others",
    },
    TraceFormat {
        name: "disksim-validation",
        about: "what DiskSim was validated with: R or W, hit, block, blocks, service and think time in us",
    },
    TraceFormat {
        name: "disksim",
        about: "DiskSim's default ASCII: time in ms, device, block, blocks, flags",
    },
    TraceFormat { name: "spc", about: "the Storage Performance Council's ASU,LBA,Size,Opcode,Timestamp" },
    TraceFormat { name: "alibaba", about: "Alibaba's device_id,opcode,offset,length,timestamp in us" },
    TraceFormat { name: "telemetry", about: "IOzone's telemetry, as its options -X and -Y read it" },
];

/// The formats that are known, told apart by the first line that says anything.
#[derive(Clone, Debug)]
enum Format {
    Iolog(iolog::Clock),
    Blkparse(blkparse::Events),
    Blktrace(blktrace::Stream),
    Msr,
    Csv(csv::Columns),
    DiskSim(disksim::Clock),
    DiskSimAscii,
    Spc,
    Alibaba,
    Telemetry(telemetry::Clock),
}

/// A request with what came of it when it was recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// What was asked, at its time in the text, which may begin anywhere.
    pub request: TraceRequest,
    /// How long it took; `None` where the text does not say.
    pub response: Option<Nanos>,
    /// The pause from its end until the next request is issued. Where it is `None`, requests came at their times.
    pub think: Option<Nanos>,
}

/// A trim that is longer than a request may be is as many of this length, and a rest.
const LONGEST_PART: u64 = 1 << 30;
/// So many of them in all: a pebibyte. A line of twenty bytes is not to take gigabytes of memory.
const MOST_PIECES: u32 = 1 << 20;

/// Requests beyond which room has been made for them.
const MOST_UNASKED: usize = 1 << 14;

/// Reads a trace line by line: fio's iolog of version 2 and 3, the text of blkparse, the CSV of MSR Cambridge, IOzone's
/// telemetry, and a CSV of Fathom's own. Which it is, the text says itself. What blktrace has recorded has no lines, and
/// is read in pieces.
#[derive(Clone, Debug)]
pub struct TraceReader {
    label: String,
    line: u32,
    /// Bytes of the lines.
    bytes: u64,
    format: Option<Format>,
    gathered: Gathered,
}

/// What was read so far.
#[derive(Clone, Default)]
pub(super) struct Gathered {
    /// Pieces that long trims were cut into.
    pieces: u32,
    line: u32,
    entries: Vec<Entry>,
    files: Vec<String>,
    numbers: HashMap<String, u16>,
    /// The file of the last line, which is mostly that of the next.
    last: Option<u16>,
    /// Whether times are sums of pauses.
    thinks: bool,
    /// Where they are wanted: response and think time of each request.
    answers: Option<Vec<(Option<Nanos>, Option<Nanos>)>>,
}

impl fmt::Debug for Gathered {
    /// How much it is, not all of it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} requests by line {}", self.entries.len(), self.line)
    }
}

impl TraceReader {
    /// A reader of a text that messages call `label`.
    pub fn new(label: &str) -> TraceReader {
        TraceReader { label: label.into(), line: 0, bytes: 0, format: None, gathered: Gathered::default() }
    }

    /// Keeps response times, which a trace to be replayed has no need of, for [`TraceReader::drain`].
    pub fn with_answers(mut self) -> TraceReader {
        self.gathered.answers = Some(Vec::new());
        self
    }

    /// Takes out the requests that were read, in the order of the text, so that what is read takes no memory.
    pub fn drain(&mut self) -> impl Iterator<Item = Recorded> {
        let answers = self.gathered.answers.as_mut().map(std::mem::take).unwrap_or_default();
        let mut answers = answers.into_iter();
        std::mem::take(&mut self.gathered.entries).into_iter().map(move |entry| {
            let (response, think) = answers.next().unwrap_or_default();
            Recorded { request: entry.request(), response, think }
        })
    }

    /// The files, disks or units that the requests so far are of, by the numbers that they have there. One of no name is
    /// of a text that tells none apart.
    pub fn files(&self) -> &[String] {
        &self.gathered.files
    }

    /// A whole text at once.
    pub fn whole(label: &str, text: &[u8]) -> Result<Trace, TraceError> {
        let mut reader = TraceReader::new(label);
        if TraceReader::is_binary(text) {
            reader.bytes(text)?;
            return reader.finish();
        }
        for line in text.split(|byte| *byte == b'\n') {
            reader.line(line)?;
        }
        reader.finish()
    }

    /// Takes the next line, with or without its end.
    pub fn line(&mut self, bytes: &[u8]) -> Result<(), TraceError> {
        let Some(number) = self.line.checked_add(1) else {
            return Err(self.error("a trace has at most 4,294,967,295 lines; cut it with `split -l`".into()));
        };
        self.line = number;
        self.bytes += bytes.len() as u64;
        self.gathered.line = number;
        self.take(bytes).map_err(|what| self.error(what))
    }

    /// Makes room at once for a text of `bytes` whose other lines are as those that were read, so that what was gathered is
    /// not copied as it grows, and takes twice its memory meanwhile. Where there is not as much room, none is made.
    pub fn expect(&mut self, bytes: u64) {
        let entries = &mut self.gathered.entries;
        let so_far = entries.len();
        if so_far == 0 || entries.capacity() > MOST_UNASKED {
            return;
        }
        let lines = bytes as f64 / self.bytes.max(1) as f64 * so_far as f64 * 1.01;
        let wanted = truncated::<usize>(lines).min(MOST_REQUESTS);
        // Only a hint: what does not come is never touched, and what comes beyond it grows as before.
        drop(entries.try_reserve_exact(wanted.saturating_sub(so_far)));
    }

    /// Whether a file that begins so is one that blktrace has recorded, and wants [`TraceReader::bytes`].
    pub fn is_binary(head: &[u8]) -> bool {
        blktrace::is_one(head)
    }

    /// Takes the next bytes of what blktrace has recorded, in pieces of any length.
    pub fn bytes(&mut self, bytes: &[u8]) -> Result<(), TraceError> {
        let format = self.format.get_or_insert_with(|| Format::Blktrace(blktrace::Stream::default()));
        let Format::Blktrace(stream) = format else {
            return Err(self.error("a text continues as bytes; a trace is one or the other".into()));
        };
        let taken = stream.take(bytes, &mut self.gathered);
        self.line = stream.events();
        taken.map_err(|what| self.next_event_error(what))
    }

    /// Another file of the same trace follows, as blktrace has one for each processor; messages call it `label`. An
    /// event that the file before it cuts off is an error of that file.
    pub fn next_file(&mut self, label: &str) -> Result<(), TraceError> {
        self.end_of_file()?;
        self.label = label.into();
        Ok(())
    }

    fn end_of_file(&mut self) -> Result<(), TraceError> {
        let Some(Format::Blktrace(stream)) = &mut self.format else { return Ok(()) };
        stream.end_of_file().map_err(|what| self.next_event_error(what))
    }

    /// An error of the event behind those that were read.
    fn next_event_error(&self, what: String) -> TraceError {
        TraceError { file: self.label.clone(), line: self.line.saturating_add(1), what }
    }

    /// The trace. A text without any request is an error, and so is an event that the end of the file cuts off.
    pub fn finish(mut self) -> Result<Trace, TraceError> {
        self.end_of_file()?;
        let none =
            |what: &str| TraceError { file: self.label.clone(), line: self.line.max(1), what: what.into() };
        let Gathered { mut entries, files, thinks, .. } = self.gathered;
        match self.format {
            Some(Format::Blkparse(events)) => entries = events.finish(entries),
            Some(Format::Blktrace(stream)) => entries = stream.finish(entries),
            _ => {}
        }
        if entries.is_empty() {
            return Err(none("the trace ends without a request"));
        }
        Ok(Trace::packed(entries, files).with_thinks(thinks))
    }

    fn error(&self, what: String) -> TraceError {
        TraceError { file: self.label.clone(), line: self.line, what }
    }

    fn take(&mut self, bytes: &[u8]) -> Result<(), String> {
        let text = std::str::from_utf8(bytes).map_err(|_| {
            "this is neither text nor what blktrace records; `blkparse -i TRACE -o TEXT` makes text"
                .to_owned()
        })?;
        let text = text.trim();
        if text.is_empty() || text.starts_with('#') {
            return Ok(());
        }
        let gathered = &mut self.gathered;
        match &mut self.format {
            Some(Format::Iolog(clock)) => clock.line(text, gathered),
            Some(Format::Blkparse(events)) => events.line(text, gathered),
            Some(Format::Msr) => msr::line(text, gathered),
            Some(Format::Blktrace(_)) => Err("a line follows events of blktrace".into()),
            Some(Format::Csv(columns)) => columns.line(text, gathered),
            Some(Format::DiskSim(clock)) => clock.line(text, gathered),
            Some(Format::DiskSimAscii) => disksim::ascii(text, gathered),
            Some(Format::Spc) => spc::line(text, gathered),
            Some(Format::Alibaba) => alibaba::line(text, gathered),
            Some(Format::Telemetry(clock)) => clock.line(text, gathered),
            None => self.begin(text),
        }
    }

    /// The first line says what the others are.
    fn begin(&mut self, text: &str) -> Result<(), String> {
        if let Some(clock) = iolog::Clock::of(text)? {
            self.format = Some(Format::Iolog(clock));
        } else if let Some(columns) = csv::Columns::of(text)? {
            self.format = Some(Format::Csv(columns));
        } else if msr::is_head(text) {
            self.format = Some(Format::Msr);
        } else if alibaba::is_head(text) {
            self.format = Some(Format::Alibaba);
        } else if alibaba::is_line(text) {
            self.format = Some(Format::Alibaba);
            return alibaba::line(text, &mut self.gathered);
        } else if spc::is_line(text) {
            self.format = Some(Format::Spc);
            return spc::line(text, &mut self.gathered);
        } else if disksim::is_validation(text) {
            let mut clock = disksim::Clock::default();
            clock.line(text, &mut self.gathered)?;
            self.format = Some(Format::DiskSim(clock));
        } else if disksim::is_ascii(text) {
            self.format = Some(Format::DiskSimAscii);
            return disksim::ascii(text, &mut self.gathered);
        } else if msr::is_line(text) {
            self.format = Some(Format::Msr);
            return msr::line(text, &mut self.gathered);
        } else if blkparse::is_line(text) {
            let mut events = blkparse::Events::default();
            events.line(text, &mut self.gathered)?;
            self.format = Some(Format::Blkparse(events));
        } else if telemetry::is_line(text) {
            let mut clock = telemetry::Clock::default();
            clock.line(text, &mut self.gathered)?;
            self.format = Some(Format::Telemetry(clock));
        } else {
            return Err(format!(
                "`{}` begins no trace that is known; there are fio's iolog (`fio version 2 iolog` or 3), the text of \
                 blkparse, the CSV of MSR Cambridge, of SPC and of Alibaba, traces of DiskSim, telemetry of IOzone, and a \
                 CSV with the columns `{}`",
                shown(text),
                csv::HEAD
            ));
        }
        Ok(())
    }
}

impl Gathered {
    /// The number of a file's name.
    pub fn file(&mut self, name: &str) -> Result<u16, String> {
        if let Some(last) = self.last
            && self.files[usize::from(last)] == name
        {
            return Ok(last);
        }
        let number = match self.numbers.get(name) {
            Some(number) => *number,
            None if self.files.len() == MOST_FILES => {
                return Err(format!(
                    "`{}` is a file too many; a trace has at most {MOST_FILES}",
                    shown(name)
                ));
            }
            None => {
                let number = narrow::<u16>(self.files.len());
                self.files.push(name.to_owned());
                self.numbers.insert(name.to_owned(), number);
                number
            }
        };
        self.last = Some(number);
        Ok(number)
    }

    /// Likewise, by its number.
    pub fn set_line(&mut self, line: u32) {
        self.line = line;
    }

    /// Says on which line requests stand that follow.
    pub fn at_line_of(&mut self, other: &Gathered) {
        self.line = other.line;
    }

    /// Says that times are sums of pauses, each of which begins when a request has ended.
    pub fn thinks(&mut self) {
        self.thinks = true;
    }

    /// Says how long the request that was added last took, and the pause after it.
    pub fn answered(&mut self, response: Nanos, think: Option<Nanos>) {
        if let Some(answers) = &mut self.answers {
            answers.resize(self.entries.len().saturating_sub(1), (None, None));
            answers.push((Some(response), think));
        }
    }

    /// Begins to number files anew; only while there is no request.
    pub fn forget_files(&mut self) {
        self.files.clear();
        self.numbers.clear();
        self.last = None;
    }

    /// The requests that were gathered.
    pub fn into_entries(self) -> Vec<Entry> {
        self.entries
    }

    /// Adds a request of this line.
    pub fn push(&mut self, at_ns: u64, op: Op, file: &str, offset: u64, len: u64) -> Result<(), String> {
        let file = self.file(file)?;
        self.push_numbered(at_ns, op, file, offset, len)
    }

    /// Likewise, of a file whose number is known. A trim that is too long for a request becomes several.
    pub fn push_numbered(
        &mut self,
        at_ns: u64,
        op: Op,
        file: u16,
        offset: u64,
        len: u64,
    ) -> Result<(), String> {
        if op != Op::Flush && len == 0 {
            return Err(format!("a {} of no bytes", op.name()));
        }
        if len > LONGEST && op != Op::Trim {
            return Err(format!("a {} of {} is longer than 2 GiB less 4 KiB", op.name(), Bytes::new(len)));
        }
        let end = offset.checked_add(len).filter(|end| *end < 1 << 62);
        if end.is_none() {
            return Err(format!("offset {offset} lies beyond any storage"));
        }
        let line = self.line;
        let (mut offset, mut left) = if op == Op::Flush { (0, 0) } else { (offset, len) };
        loop {
            if self.entries.len() >= MOST_REQUESTS {
                return Err(format!("a trace has at most {MOST_REQUESTS} requests; cut it into several"));
            }
            let part = if len > LONGEST { left.min(LONGEST_PART) } else { left };
            self.pieces += u32::from(len > LONGEST);
            if self.pieces > MOST_PIECES {
                return Err(format!(
                    "the long trims of the trace make more than {MOST_PIECES} pieces of {}: no storage is that large",
                    Bytes::new(LONGEST_PART)
                ));
            }
            let at = Nanos::new(at_ns);
            let request =
                TraceRequest { at, op, file, offset: Bytes::new(offset), len: narrow::<u32>(part), line };
            self.entries.push(Entry::of(request));
            (offset, left) = (offset + part, left - part);
            if left == 0 {
                return Ok(());
            }
        }
    }
}

/// `text` short enough for a message.
pub(super) fn shown(text: &str) -> String {
    let short: String = text.chars().take(60).collect();
    if short.len() < text.len() { format!("{short}…") } else { short }
}

/// The number in a field, or what should stand there.
pub(super) fn number<T: FromStr>(field: Option<&str>, what: &str) -> Result<T, String> {
    let field = field.ok_or_else(|| format!("the line ends before {what}"))?;
    field.parse().map_err(|_| format!("expected {what}, got `{}`", shown(field)))
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Format {
        fn name(&self) -> &'static str {
            match self {
                Format::Iolog(_) => "iolog",
                Format::Blkparse(_) => "blkparse",
                Format::Blktrace(_) => "blktrace",
                Format::Msr => "msr",
                Format::Csv(_) => "csv",
                Format::DiskSim(_) => "disksim-validation",
                Format::DiskSimAscii => "disksim",
                Format::Spc => "spc",
                Format::Alibaba => "alibaba",
                Format::Telemetry(_) => "telemetry",
            }
        }
    }

    #[test]
    fn every_format_that_is_read_is_listed() {
        let texts: [&[u8]; 9] = [
            b"R Hit 564349 2 1414.270 18746.770\n",
            b"0.531250 0 11392096 12 0x1\n",
            b"0,303567,3584,w,0.000000\n",
            b"419,W,8792731648,16384,1577808144360767\n",
            b"fio version 3 iolog\n",
            b"128166372003061629,hm,0,Read,383496192,32768,413\n",
            b"at_s,op,offset_bytes,size_bytes\n",
            b"0 4096 0\n",
            b"  8,0    1        1     0.000000000   697  Q   R 223490 + 8 [kjournald]\n",
        ];
        let mut seen = vec!["blktrace"];
        for text in texts {
            let mut reader = TraceReader::new("x");
            reader.line(text).unwrap();
            seen.extend(reader.format.as_ref().map(Format::name));
        }
        let mut listed = FORMATS.map(|format| format.name).to_vec();
        listed.sort_unstable();
        seen.sort_unstable();
        assert_eq!(seen, listed);
    }
}
