//! The tables of IOzone's options.

use units::convert::narrow;

use super::{CHILDREN_MOST, Draft, FILE_MOST_KIB, RECORD_MOST_KIB};
use crate::Refusal;
use crate::iozone::TESTS_MAX;
use crate::iozone::figure::Unit;
use crate::iozone::telemetry::Telemetry;
use crate::numbers::Units;
use crate::options::{
    Given, Opt, alone, flag, ignored, number, parsed, several, text, unlisted, unsupported,
};

pub(super) const SIZES: &[Opt<Draft>] = &[
    flag("-a", "all sizes of the automatic grid", |draft| draft.says("Auto Mode").grid.auto = true),
    flag("-A", "as `-az -i0 -i1`", |draft| {
        draft.command.grid.auto = true;
        draft.command.grid.crossover = false;
        draft.command.tests.extend([0, 1]);
        draft.says("Auto Mode 2. This option is obsolete. Use -az -i0 -i1");
    }),
    flag("-z", "small records of large files, too", |draft| {
        draft.says("Cross over of record size disabled.").grid.crossover = false;
    }),
    parsed("-s", "SIZE", "file size", |draft, given| {
        let kib = file_size(given)?;
        draft.command.grid.only_files.push(kib);
        draft.size(&format!("File size set to {kib} kB"))
    }),
    parsed("-r", "SIZE", "record size", |draft, given| {
        let kib = record_size(given)?;
        draft.command.grid.only_records.push(kib);
        draft.size(&format!("Record Size {kib} kB"))
    }),
    parsed("-n", "SIZE", "the smallest file of the grid", |draft, given| {
        let kib = file_size(given)?;
        draft.says(&format!("Using minimum file size of {kib} kilobytes.")).grid.files.min_kib = kib;
        Ok(())
    }),
    parsed("-g", "SIZE", "the largest file of the grid", |draft, given| {
        let kib = file_size(given)?;
        draft.says(&format!("Using maximum file size of {kib} kilobytes.")).grid.files.max_kib = kib;
        Ok(())
    }),
    parsed("-y", "SIZE", "the smallest record of the grid", |draft, given| {
        let kib = record_size(given)?;
        draft.command.grid.records.min_kib = kib;
        draft.size(&format!("Using Minimum Record Size {kib} kB"))
    }),
    parsed("-q", "SIZE", "the largest record of the grid", |draft, given| {
        let kib = record_size(given)?;
        draft.command.grid.records.max_kib = kib;
        draft.size(&format!("Using Maximum Record Size {kib} kB"))
    }),
    number("-+x", "from one size of the grid to the next", 2..=1 << 20, |draft, factor| {
        draft.command.grid.factor = factor.into();
    }),
];

pub(super) const TESTS: &[Opt<Draft>] = &[
    number("-i", "a test: 0 write, 1 read, 2 random and so on", 0..=TESTS_MAX as u32, |draft, test| {
        draft.command.tests.push(narrow::<u8>(test));
    }),
    flag("-E", "tests 9 to 12", |draft| draft.command.tests.extend([9, 10, 11, 12])),
    number("-j", "records from one to the next of a stride (17)", 1..=1 << 20, |draft, stride| {
        draft.command.stride = stride.into();
    }),
    flag("-+n", "no second pass of each kind", |draft| {
        draft.says("No retest option selected").no_retest = true;
    }),
    number("-+q", "seconds before each test", 0..=86_400, |draft, seconds| {
        draft.says(&format!("Delay {seconds} seconds between tests enabled.")).pause_s = seconds.into();
    }),
    number("-+p", "percent of the children that read in the mixed workload", 0..=100, |draft, percent| {
        draft.says(&format!("Percent read in mix test is {percent}")).mixed_readers = Some(percent);
    }),
    number("-+K", "so many children that read in the mixed workload", 1..=CHILDREN_MOST, |draft, readers| {
        draft.says("Manual control of test 8. >>> Very Experimental. Sony special <<<").mixed_reader_count =
            Some(readers);
    }),
    flag("-+B", "the mixed workload is sequential", |draft| {
        draft.says(">>> Sequential Mixed workload. <<<").mixes_in_sequence = true;
    }),
    flag("-+d", "each record has data of its own, and what is read must be what was written", |draft| {
        draft.command.diagnoses = true;
        draft.says(">>> I/O Diagnostic mode enabled. <<<");
        draft.says("Performance measurements are invalid in this mode.");
    }),
    flag("-+Z", "as `-V 165`: the data of old versions", |draft| {
        draft.command.pattern = Some(0xA5);
        draft.says("Using old data sets.");
        draft.says(" Performance measurements may be invalid in this");
        draft.says(" mode due to published hack.");
    }),
    flag("-+X", "as `-V 187`: the data by which a file system under test knows the program", |draft| {
        draft.command.pattern = Some(0xBB);
        draft.says("Short circuit mode. For");
        draft.says(" filesystem development testing ONLY !");
    }),
    number(
        "-+y",
        "percent of each record that repeats within a file and across files",
        0..=100,
        |draft, part| {
            (draft.command.repeats, draft.command.repeats_across) = (part, part);
            draft.says(&format!("Dedup within & across {part} percent."));
        },
    ),
    number("-+C", "percent of each record that repeats within a file", 0..=100, |draft, part| {
        draft.says(&format!("Dedup within {part} percent.")).repeats = part;
    }),
    number("-+w", "percent of each record that is the same in every file", 0..=100, |draft, part| {
        draft.says(&format!("Dedup activated {part} percent.")).repeats_across = part;
    }),
    number(
        "-+S",
        "changes nothing: which files share what repeats; one call has one set of files",
        0..=u32::MAX,
        |draft, seed| {
            draft.says(&format!("Dedup manual seed {} .", seed.max(1)));
        },
    ),
    number(
        "-+W",
        "changes nothing: the number of the first child for what repeats",
        0..=u32::MAX,
        |draft, skew| {
            draft.says(&format!("Dedup chid_skew {skew} ."));
        },
    ),
    number("-V", "the byte that is written, and that all that is read must be", 1..=255, |draft, pattern| {
        draft.command.pattern = Some(narrow::<u8>(pattern));
        draft.says(&format!("Verify Mode. Pattern {pattern:x}"));
        draft.says("Performance measurements are invalid in this mode.");
    }),
    text("-X", "FILE", "the write passes follow a telemetry file", |draft, file| {
        draft.says(&format!("Using write telemetry file \"{file}\"")).write_telemetry =
            Some(Telemetry { file: file.into(), reach: 0 });
    }),
    text("-Y", "FILE", "the read passes follow a telemetry file", |draft, file| {
        draft.says(&format!("Using read telemetry file \"{file}\"")).read_telemetry =
            Some(Telemetry { file: file.into(), reach: 0 });
    }),
];

pub(super) const FILES: &[Opt<Draft>] = &[
    text("-f", "FILE", "the file or the device", |draft, file| draft.command.file = Some(file.into())),
    several("-F", "FILE...", "the names of files, one for each child", |draft, file| {
        draft.command.files.push(file.into());
    }),
    flag("-w", "the file stays", |draft| draft.says("Setting no_unlink").keep = true),
    flag("-+N", "a file is written where it is instead of anew", |draft| draft.command.keeps_old = true),
    flag("-+E", "the file is yours, and only read", |draft| {
        (draft.command.only_reads, draft.command.keep) = (true, true);
        draft.says(">>> No Verify mode. <<<");
    }),
    flag("-+l", "each record is locked while it is read or written", |draft| {
        draft.says(">>> Record locking mode enabled. <<<").locks = true;
    }),
    flag("-+L", "the same, and all children use the same file", |draft| {
        (draft.command.locks, draft.command.shares_file) = (true, true);
        draft.says(">>> Record locking, shared file mode enabled. <<<");
    }),
    ignored("-Z", "a page is written by a call before a pass is timed, beside the mapping of `-B`"),
    ignored("-W", "a file is locked before a pass is timed, and no other program has it"),
    text("-U", "DIR", "the page cache forgets the file before each pass", |draft, _| {
        draft.command.forgets = true;
        draft.note("`-U`: nothing is unmounted; the page cache forgets the file before each pass");
    }),
];

pub(super) const REQUESTS: &[Opt<Draft>] = &[
    flag("-I", "past the page cache", |draft| draft.says("O_DIRECT feature enabled").direct = true),
    flag("-o", "writes with O_SYNC", |draft| draft.says("SYNC Mode. ").sync = Some("sync")),
    flag("-+D", "writes with O_DSYNC", |draft| {
        draft.says(">>> O_DSYNC mode enabled. <<<").sync = draft.command.sync.or(Some("dsync"));
    }),
    flag("-+r", "O_RSYNC and O_SYNC, which are one on Linux", |draft| {
        draft.says("Read & Write sync mode active.").sync = Some("sync");
    }),
    flag("-e", "the flush is in the time of writes", |draft| {
        draft.says("Include fsync in write timing").included.flush = true;
    }),
    flag("-c", "closing is in the time of writes", |draft| {
        draft.says("Include close in write timing").included.close = true;
    }),
    flag("-B", "through a mapping", |draft| draft.says("Using mmap files").mapped = true),
    flag("-G", "a mapping is written back after each record", |draft| {
        draft.says("Using msync(MS_SYNC) on mmap files").flushes_each = true;
    }),
    parsed("-+A", "ADVICE", "advice on a mapping; 0: none", |draft, given| {
        let advice: u32 = given.number(0..=4)?;
        if advice > 0 {
            return Err(given.unsupported("no advice is given on a mapping; 0 gives none"));
        }
        draft.says("Madvise enabled: 0");
        Ok(())
    }),
    number(
        "-J",
        "milliseconds of waiting before each record, which are in no figure",
        0..=86_400_000,
        |draft, ms| {
            draft.command.compute_ms = ms.into();
        },
    ),
    ignored("-D", "msync(MS_ASYNC) starts nothing, since Linux 2.6.19"),
    number("-k", "requests in flight", 1..=4096, |draft, depth| draft.asynchronous(depth, "no bcopy")),
    number("-H", "the same", 1..=4096, |draft, depth| {
        draft.asynchronous(depth, "with bcopy");
        draft.note("`-H`: nothing is copied beside the request, as with `-k`");
    }),
    ignored("-m", "each request in flight has a buffer of its own in any case"),
    ignored("-p", "caches of the processor are left as they are; it concerns no request"),
];

pub(super) const CHILDREN: &[Opt<Draft>] = &[
    number("-t", "so many children at once", 1..=CHILDREN_MOST, |draft, children| {
        draft.command.children.push(children);
    }),
    number("-l", "from so many children", 1..=CHILDREN_MOST, |draft, least| draft.least = Some(least)),
    number("-u", "to so many", 1..=CHILDREN_MOST, |draft, most| draft.most = Some(most)),
    number(
        "-d",
        "microseconds from the start of one child to that of the next",
        0..=u32::MAX,
        |draft, delay| {
            draft.command.stagger_us = delay.into();
        },
    ),
    flag("-+k", "all children together write as much as `-s` says", |draft| draft.command.divides = true),
    flag("-+V", "all children use the same file", |draft| {
        draft.says(">>> Shared file mode enabled. <<<").shares_file = true;
    }),
    flag("-T", "threads instead of processes", |draft| draft.command.threads = true),
    flag("-x", "the first child to end does not stop the others", |draft| {
        draft.says("Stonewall disabled").no_stonewall = true;
    }),
    number("-P", "the processor of the first child", 0..=4095, |draft, cpu| {
        draft.command.first_cpu = Some(cpu);
    }),
];

pub(super) const REPORTS: &[Opt<Draft>] = &[
    flag("-R", "prints a report of each pass", |draft| {
        draft.says("Excel chart generation enabled").excel = true;
    }),
    text("-b", "FILE", "writes the reports as a workbook", |draft, file| {
        draft.command.workbook = Some(file.into());
    }),
    flag("-+u", "prints processor time, of each pass with `-R`", |draft| {
        draft.command.shows_cpu = true;
        draft.says("CPU utilization Resolution = 0.000 seconds.");
        draft.says("CPU utilization Excel chart enabled");
    }),
    text("-+h", "HOST", "what this host is called, which is printed", |draft, host| {
        draft.says(&format!("Hostname = {host}"));
    }),
    ignored("-+T", "the record has the instant of each pass; see `fathom show last`"),
    flag("-C", "prints what each child moved", |draft| {
        draft.says("Show bytes transferred by each child in throughput testing").shows_children = true;
    }),
    flag("-N", "microseconds of an operation", |draft| draft.unit(Unit::Microseconds)),
    flag("-O", "operations a second", |draft| draft.unit(Unit::Operations)),
    flag("-Q", "offset and latency of each record go to files", |draft| {
        draft.says("Offset/latency files enabled.").latencies = true;
    }),
    number("-S", "the processor's cache in kB, which is printed (1024)", 0..=u32::MAX, |draft, kib| {
        draft.command.cache.0 = kib.into();
    }),
    number("-L", "a line of it in bytes, which is printed (32)", 0..=u32::MAX, |draft, bytes| {
        draft.command.cache.1 = bytes.into();
    }),
    ignored("-M", "the record names the machine; see `fathom show last`"),
    ignored("-+z", "the record has the histogram of all requests; see `fathom show last`"),
    parsed("-+H", "HOST", "changes nothing: times are this machine's clock's", clocked),
    parsed("-+P", "PORT", "changes nothing: times are this machine's clock's", clocked),
];

/// A server of time is not asked.
fn clocked(draft: &mut Draft, given: &Given<'_>) -> Result<(), Refusal> {
    draft.command.notes.push(given.ignored("times are this machine's clock's, to the nanosecond"));
    Ok(())
}

pub(super) const UNSUPPORTED: &[Opt<Draft>] = &[
    alone("-h", "prints these options"),
    alone("-v", "prints the version"),
    unsupported("-K", "no other records are read in between; `-i 2` reads at random"),
    unsupported(
        "-+m",
        "one machine measures; run `fathom` on each and compare the records, or use its ranks",
    ),
    unsupported("-+t", "no network is measured; it goes with `-+m`"),
    unlisted("-+c -+i -+s", "one machine measures; run `fathom` on each and compare the records"),
    unlisted("-+b -+O", "the plan key `pace` says how fast requests come"),
    unlisted("-+a -+e -+F -+J -+M -+o -+Q -+R", "it has no counterpart here; leave it out"),
];

/// A size in KiB, or with `k`, `m`, `g` or `t` behind it.
const KIB: Units = Units { letters: "kmgt", base: 1024, first: 0 };

fn file_size(given: &Given<'_>) -> Result<u64, Refusal> {
    let read = |text: &str| KIB.read(text).filter(|kib| (1..=FILE_MOST_KIB).contains(kib));
    given.read(read, "a size in kB, or with k, m or g behind it: 64k, 512m, 4g")
}

fn record_size(given: &Given<'_>) -> Result<u64, Refusal> {
    let read = |text: &str| KIB.read(text).filter(|kib| (1..=RECORD_MOST_KIB).contains(kib));
    given.read(read, "a size in kB, or with k or m behind it: 4k, 16m; less than 2g")
}
