//! The traces that a plan asks again, read from their files.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use workload::plan::Plan;
use workload::trace::{Recorded, Trace, TraceReader};

use crate::ending::Failure;

/// No line of a trace is longer; a device that is named by mistake is not read to its end.
const LONGEST_LINE: u64 = 16 << 10;
/// So many bytes tell what blktrace has recorded from a text.
const MARK: u64 = 4;
/// Lines after which what was read is looked at.
const PIECE_LINES: u64 = 4096;
/// Read at a time.
const BUFFER: usize = 1 << 20;

const _: () =
    assert!(MARK < LONGEST_LINE && LONGEST_LINE <= BUFFER as u64, "a buffer holds any line and any mark");

/// Reads every trace of the plan, each file once.
pub fn attach(plan: &mut Plan) -> Result<(), Failure> {
    plan.attach(read)
}

/// The requests of a file with what came of them, one after the other: no more of them than a piece of the file is in
/// memory. Comes back with the names of the disks that they are of, by their numbers.
pub fn each(
    path: &str,
    mut take: impl FnMut(Recorded) -> Result<(), Failure>,
) -> Result<Vec<String>, Failure> {
    let reader =
        parts(path, TraceReader::new(path).with_answers(), |reader| reader.drain().try_for_each(&mut take))?;
    Ok(reader.files().to_vec())
}

/// The trace in a file.
pub fn read(path: &str) -> Result<Trace, Failure> {
    let length = fs::metadata(units::name::path(path)).map_or(0, |file| file.len());
    let reader = parts(path, TraceReader::new(path), |reader| {
        reader.expect(length);
        Ok(())
    })?;
    reader.finish().map_err(|error| Failure::Usage(error.to_string()))
}

/// Reads a file, and whatever belongs to it; `next` looks at the reader from time to time.
fn parts(
    path: &str,
    mut reader: TraceReader,
    mut next: impl FnMut(&mut TraceReader) -> Result<(), Failure>,
) -> Result<TraceReader, Failure> {
    let unread = |path: &str| {
        let path = path.to_owned();
        move |error: io::Error| Failure::Usage(format!("{path}: the trace cannot be read: {error}"))
    };
    let wrong = |error: workload::trace::TraceError| Failure::Usage(error.to_string());
    if let Some(files) = of_processors(path) {
        for name in &files {
            reader.next_file(name).map_err(wrong)?;
            let mut file = File::open(units::name::path(name)).map_err(unread(name))?;
            let mut head = Vec::new();
            pieces(&mut file, &mut head, |bytes| reader.bytes(bytes).map_err(wrong), unread(name))?;
        }
        return Ok(reader);
    }
    let mut file = File::open(units::name::path(path)).map_err(unread(path))?;
    let mut head = Vec::new();
    file.by_ref().take(MARK).read_to_end(&mut head).map_err(unread(path))?;
    if TraceReader::is_binary(&head) {
        pieces(&mut file, &mut head, |bytes| reader.bytes(bytes).map_err(wrong), unread(path))?;
        return Ok(reader);
    }
    let mut text = BufReader::with_capacity(BUFFER, head.as_slice().chain(file));
    let mut line = Vec::new();
    for number in 1u64.. {
        line.clear();
        text.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line).map_err(unread(path))?;
        if line.is_empty() {
            break;
        }
        if line.len() as u64 == LONGEST_LINE {
            let what = "a line of 16 KiB or more, which no trace has";
            return Err(Failure::Usage(format!("{path}:{number}: {what}")));
        }
        reader.line(&line).map_err(wrong)?;
        if number.is_multiple_of(PIECE_LINES) {
            next(&mut reader)?;
        }
    }
    next(&mut reader)?;
    Ok(reader)
}

/// Gives `head` and the rest of a file to `take`, a piece at a time.
fn pieces(
    file: &mut File,
    head: &mut Vec<u8>,
    mut take: impl FnMut(&[u8]) -> Result<(), Failure>,
    unread: impl Fn(io::Error) -> Failure,
) -> Result<(), Failure> {
    loop {
        file.by_ref().take(BUFFER as u64).read_to_end(head).map_err(&unread)?;
        if head.is_empty() {
            return Ok(());
        }
        debug_assert!(
            head.len() as u64 <= BUFFER as u64 + MARK,
            "a piece is no longer than the buffer and what was looked at"
        );
        take(head)?;
        head.clear();
    }
}

/// The files that blktrace has written together with `path`, one for each processor: `sdb.blktrace.0` and so on, in the
/// order of their names. `path` may name one of them, or be what blktrace was told (`sdb`) where there is no such file.
/// `None` where it is neither.
fn of_processors(path: &str) -> Option<Vec<String>> {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let base = match path.rsplit_once('.') {
        Some((base, number)) if is_number(number) && base.ends_with(".blktrace") => base.to_owned(),
        _ if units::name::path(path).exists() => return None,
        _ => format!("{path}.blktrace"),
    };
    let of_base = units::name::path(&base);
    let (folder, name) = (of_base.parent()?, of_base.file_name()?.to_str()?);
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let entries = fs::read_dir(folder).ok()?.filter_map(Result::ok);
    let number_of = |entry: &fs::DirEntry| {
        let of = entry.file_name().to_str()?.strip_prefix(name)?.strip_prefix('.')?.to_owned();
        is_number(&of).then_some(of)
    };
    let mut numbers: Vec<String> = entries.filter_map(|entry| number_of(&entry)).collect();
    numbers.sort_by_key(|number| (number.len(), number.clone()));
    debug_assert!(numbers.iter().all(|number| is_number(number)), "a file of a processor ends in its number");
    (!numbers.is_empty()).then(|| numbers.iter().map(|number| format!("{base}.{number}")).collect())
}
