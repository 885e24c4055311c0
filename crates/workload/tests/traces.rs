//! Traces: what is read of them, where it goes, when it is due, and what is counted.

use std::sync::Arc;

use proptest::prelude::*;
use units::{Bytes, Instant, Nanos};
use workload::plan::{Overrides, Plan, faults, from_texts};
use workload::spec::*;
use workload::trace::{Trace, TraceReader, TraceRequest};
use workload::{Job, Op, compile};

use crate::world::{Answer, Servers, drive, drive_all};

const MS: Nanos = Nanos::from_millis(1);

fn read(text: &str) -> Trace {
    TraceReader::whole("t", text.as_bytes()).unwrap()
}

fn wrong(text: &str) -> String {
    TraceReader::whole("t.txt", text.as_bytes()).unwrap_err().to_string()
}

/// Operation, file, offset, length, and microseconds after the first.
fn seen(trace: &Trace) -> Vec<(&'static str, u16, u64, u32, u64)> {
    let one =
        |each: TraceRequest| (each.op.name(), each.file, each.offset.get(), each.len, each.at.get() / 1000);
    trace.requests().map(one).collect()
}

const IOLOG_2: &str = "fio version 2 iolog\n/dev/sda add\n/dev/sda open\n/dev/sda read 4096 512\n\
    /dev/sda wait 150 0\n/dev/sda write 8192 1024\n/dev/sdb add\n/dev/sdb wait 50\n/dev/sdb trim 0 4096\n\
    /dev/sda sync 0 0\n/dev/sda close\n";

#[test]
fn a_log_of_fio_is_read_in_both_versions() {
    let expected = [
        ("read", 0, 4096, 512, 0),
        ("write", 0, 8192, 1024, 150),
        ("trim", 1, 0, 4096, 200),
        ("flush", 0, 0, 0, 200),
    ];
    assert_eq!(seen(&read(IOLOG_2)), expected);
    let third = "fio version 3 iolog\n0 /dev/sda add\n20 /dev/sda open\n1000 /dev/sda read 4096 512\n\
        1150 /dev/sda write 8192 1024\n1200 /dev/sdb trim 0 4096\n1200 /dev/sda datasync 0 0\n1300 /dev/sda close\n";
    assert_eq!(seen(&read(third)), expected);
    assert_eq!(read(third).files(), ["/dev/sda", "/dev/sdb"]);
}

#[test]
fn traces_of_disksim_spc_and_alibaba_are_read() {
    let ascii = "0.50 0 8 16 1\n1.50 1 24 8 0x0\n";
    assert_eq!(seen(&read(ascii)), [("read", 0, 4096, 8192, 0), ("write", 1, 12_288, 4096, 1000)]);
    let spc = "0,8,8192,R,0.000500\n1,24,4096,w,0.001500\n";
    assert_eq!(seen(&read(spc)), seen(&read(ascii)));
    let alibaba = "device_id,opcode,offset,length,timestamp\n7,R,4096,8192,1577808000000500\n\
        3,W,12288,4096,1577808000001500\n";
    assert_eq!(seen(&read(alibaba)), seen(&read(ascii)));
    assert_eq!(seen(&read(&alibaba[alibaba.find('7').unwrap()..])), seen(&read(ascii)));
    for (bad, line) in
        [("0.50 0 8 16 1\n1 2\n", 2), ("0,8,8192,R,0.1\n0,8,8192,X,0.2\n", 2), ("7,R,0,8192,1\n7,R,0\n", 2)]
    {
        assert!(wrong(bad).starts_with(&format!("t.txt:{line}: ")), "{}", wrong(bad));
    }
}

const VALIDATION: &str = "R Miss 8 2 14095.370 1000.0\nW Hit 16 4 900.5 250.25\nR Hit 10 2 500 40\n";

#[test]
fn a_trace_with_think_times_keeps_what_it_took_and_is_replayed_closed() {
    let trace = read(VALIDATION);
    assert!(trace.thinks());
    assert_eq!(
        seen(&trace),
        [("read", 0, 4096, 1024, 0), ("write", 0, 8192, 2048, 1000), ("read", 0, 5120, 1024, 1250)]
    );
    let mut reader = TraceReader::new("t").with_answers();
    VALIDATION.lines().for_each(|line| reader.line(line.as_bytes()).unwrap());
    let took: Vec<_> = reader.drain().map(|each| (each.response.unwrap(), each.think.unwrap())).collect();
    assert_eq!(took[1], (Nanos::new(900_500), Nanos::new(250_250)));
    let csv = "op,offset_bytes,size_bytes,response_us,think_us\nread,4096,1024,14095.370,1000.0\n\
        write,8192,2048,900.5,250.25\nread,5120,1024,500,40\n";
    assert_eq!(seen(&read(csv)), seen(&trace));
    // Servers that take 3 ms: each request comes its think time after the one before has ended.
    let mut job = jobs(&asking(VALIDATION, "pace = \"trace\"\ndepth = 1"), &[1 << 20]).remove(0);
    let answers = drive(&mut job, &mut Servers::new(1, Nanos::from_millis(3)));
    let gaps: Vec<u64> =
        answers.windows(2).map(|pair| (pair[1].issued - pair[0].finished).get() / 1000).collect();
    assert_eq!(gaps, [1000, 250]);
}

const BLKPARSE: &str = "
  8,0    3        1     0.000000000   697  G   W 223490 + 8 [kjournald]
  8,0    3        2     0.000001829   697  Q   W 223490 + 8 [kjournald]
  8,0    3        3     0.000002197   697  Q  RA 64 + 16 [fio]
  8,0    3        0     0.000003000     0  m   N cfq workload slice:100
  8,0    1        4     0.001001829   697  Q FWS [jbd2]
  8,0    1        5     0.001101829   697  Q FWFS 128 + 8 [jbd2]
  8,0    1        6     0.002001829   697  D   W 223490 + 8 [kjournald]
  8,16   1        7     0.002001900   697  Q  DS 0 + 4194304 [fstrim]
  8,0    1        8     0.003001829     0  C   W 223490 + 8 [0]
CPU0 (8,0):
 Reads Queued:           1,        8KiB\t Writes Queued:           2,        8KiB
Total (8,0):
";

#[test]
fn the_text_of_blkparse_is_read_where_requests_are_queued() {
    let trace = read(BLKPARSE);
    let expected = [
        ("write", 0, 223_490 * 512, 4096, 0),
        ("read", 0, 64 * 512, 8192, 0),
        ("flush", 0, 0, 0, 1000),
        ("write", 0, 128 * 512, 4096, 1100),
        // 2 GiB are more than a request may ask for.
        ("trim", 1, 0, 1 << 30, 2000),
        ("trim", 1, 1 << 30, 1 << 30, 2000),
    ];
    assert_eq!(seen(&trace), expected);
    assert_eq!(trace.files(), ["8,0", "8,16"]);
    let below = "7,7 0 1 0.0 1 D W 8 + 8 [x]\n8,0 0 2 0.1 1 Q R 16 + 8 [x]\n7,7 0 3 0.2 1 D R 16 + 8 [x]\n";
    assert_eq!(seen(&read(below)), [("read", 0, 8192, 4096, 0)]);
    assert_eq!(read(below).files(), ["8,0"]);
    let issued: String =
        BLKPARSE.lines().filter(|line| !line.contains("  Q ")).map(|line| format!("{line}\n")).collect();
    assert_eq!(seen(&read(&issued)), [("write", 0, 223_490 * 512, 4096, 0)]);
}

#[test]
fn a_trace_of_cambridge_is_read_with_or_without_its_head_and_put_in_order() {
    let lines = "128166372003061629,usr,0,Read,7014609920,24576,41286\n\
        128166372016382155,usr,1,Write,1317441536,8192,1963\n128166372003061729,usr,0,Write,0,512,1\n";
    let expected = [
        ("read", 0, 7_014_609_920, 24_576, 0),
        ("write", 0, 0, 512, 10),
        ("write", 1, 1_317_441_536, 8192, 1_332_052),
    ];
    assert_eq!(seen(&read(lines)), expected);
    let headed = format!("Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime\r\n{lines}");
    assert_eq!(seen(&read(&headed)), expected);
    assert_eq!(read(lines).files(), ["usr.0", "usr.1"]);
}

#[test]
fn columns_of_our_own_stand_in_any_order_and_times_are_exact() {
    let text = "# made by hand\nop,offset_bytes,size_bytes,at_s,file\nread,0,512,1.5,a\nw,512,1024,1.500000001,b\n\
        flush,,,2,b\n";
    let trace = read(text);
    assert_eq!(trace.requests().map(|each| each.at.get()).collect::<Vec<_>>(), [0, 1, 500_000_000]);
    assert_eq!(seen(&trace)[1].0, "write");
    assert_eq!(trace.requests().last().unwrap().op, Op::Flush);
    assert_eq!(read("op,size_bytes,offset_bytes\nr,512,0\n").duration(), Nanos::ZERO);
}

#[test]
fn what_cannot_be_read_is_told_with_its_file_and_line() {
    let cases = [
        ("", "t.txt:1: the trace ends without a request"),
        ("hello\n", "t.txt:1: `hello` begins no trace that is known"),
        ("fio version 1 iolog\n", "t.txt:1: `fio version 1 iolog` is not known; versions 2 and 3"),
        ("fio version 2 iolog\nf reed 0 1\n", "t.txt:2: `reed` is not an action; one of read,"),
        ("fio version 2 iolog\nf read 0\n", "t.txt:2: the line ends before a length in bytes"),
        ("fio version 3 iolog\nx f read 0 1\n", "t.txt:2: expected a time in microseconds, got `x`"),
        ("fio version 3 iolog\n0 f wait 3\n", "t.txt:2: `wait` is not an action"),
        ("fio version 3 iolog\n0 f read 0 0\n", "t.txt:2: a read of no bytes"),
        ("fio version 3 iolog\n0 f read 0 4294967296\n", "t.txt:2: a read of 4 GiB is longer than 2 GiB"),
        ("fio version 3 iolog\n0 f read 18446744073709551615 512\n", "lies beyond any storage"),
        ("op,offset_bytes\nread,0\n", "t.txt:1: the column `size_bytes` is missing"),
        ("op,offset_bytes,size_bytes,colour\n", "t.txt:1: `colour` is not a column"),
        ("op,offset_bytes,size_bytes\nread,0\n", "t.txt:2: 2 fields, and the head has 3"),
        ("op,offset_bytes,size_bytes\nread,0,512\nlook,0,512\n", "t.txt:3: `look` is not an operation"),
        ("1,h,0,Read,0,512,1\n2,h,0,Peek,0,512,1\n", "t.txt:2: expected Read or Write, got `Peek`"),
        ("8,0 1 1 0.1 1 Q R 8 + 8 [x]\n8,0 1 1 x 1 Q R 8 + 8 [x]\n", "t.txt:2: expected a time in seconds"),
        ("8,0 1 1 0.1 1 C R 8 + 8 [x]\n", "the trace ends without a request"),
        ("1,h,0,Read,0,512,1\n2,h,0,Read,0,51", "t.txt:2: the line ends before a response time"),
    ];
    for (text, expected) in cases {
        let said = wrong(text);
        assert!(said.contains(expected), "expected `{expected}` about {text:?}, was told `{said}`");
    }
    let binary = TraceReader::whole("t.bin", &[7, 0x74, 0x61, 0x66, 0xff, 0xfe]).unwrap_err();
    assert!(binary.to_string().contains("t.bin:1: this is neither text nor what blktrace records"));
}

#[test]
fn a_line_of_blkparse_that_was_cut_off_anywhere_is_an_error_of_that_line() {
    let whole = "8,0 1 2 0.2 1 Q W 223490 + 16 [fio]";
    for words in 1..whole.split(' ').count() {
        let cut: Vec<&str> = whole.split(' ').take(words).collect();
        let text = format!("8,0 1 1 0.1 1 Q R 8 + 8 [fio]\n{}", cut.join(" "));
        let error = TraceReader::whole("t.txt", text.as_bytes()).map(|trace| trace.len()).unwrap_err();
        assert!(error.to_string().starts_with("t.txt:2: the line ends before"), "{error}");
    }
    let flush = "8,0 1 2 0.2 1 Q FWS [jbd2]\n8,0 1 3 0.3 1 Q R 8 + 8 [fio]";
    assert_eq!(TraceReader::whole("t.txt", flush.as_bytes()).unwrap().len(), 2);
}

/// An event of blktrace: nanoseconds, sector, bytes, action, data behind it; in little-endian order or big.
fn event(big: bool, at: u64, sector: u64, bytes: u32, action: u32, data: &[u8]) -> Vec<u8> {
    let mut event = Vec::new();
    let mut number = |value: u64, length: usize| {
        let value = value.to_le_bytes();
        match big {
            false => event.extend_from_slice(&value[..length]),
            true => event.extend(value[..length].iter().rev()),
        }
    };
    let (magic, sequence, pid, device, cpu, error) = (0x6561_7407, 1, 697, 8 << 20 | 16, 0, 0);
    let fields =
        [(magic, 4), (sequence, 4), (at, 8), (sector, 8), (bytes.into(), 4), (action.into(), 4), (pid, 4)];
    for (value, length) in
        fields.into_iter().chain([(device, 4), (cpu, 4), (error, 2), (data.len() as u64, 2)])
    {
        number(value, length);
    }
    event.extend_from_slice(data);
    event
}

const QUEUED: u32 = 1 | 1 << 20;
const ISSUED: u32 = 7 | 1 << 22;
const WRITE: u32 = 1 << 17;
const FLUSH: u32 = 1 << 18;
const DISCARD: u32 = 1 << 29;

fn recorded(big: bool) -> Vec<u8> {
    [
        event(big, 900, 0, 0, 1 << 26, b"fio\0"),
        event(big, 1_000, 2048, 4096, QUEUED | 1 << 16, b""),
        event(big, 1_500, 2048, 4096, ISSUED | 1 << 16, b""),
        event(big, 3_000, 4096, 8192, QUEUED | WRITE | 1 << 8, &7u64.to_le_bytes()),
        event(big, 2_000, 0, 0, QUEUED | WRITE | FLUSH, b""),
        event(big, 4_000, 8, 512, QUEUED | WRITE | DISCARD, b""),
        event(big, 5_000, 8, 512, 1 | 1 << 25, b""),
        event(big, 6_000, 8, 512, 8 | 1 << 23, b""),
    ]
    .concat()
}

#[test]
fn what_blktrace_has_recorded_is_the_trace_that_its_text_is() {
    let text = "8,16 0 1 0.000001000 697 Q R 2048 + 8 [fio]\n8,16 0 2 0.000001500 697 D R 2048 + 8 [fio]\n\
                8,16 0 3 0.000003000 697 Q W 4096 + 16 [fio]\n8,16 0 4 0.000002000 697 Q FWS [fio]\n\
                8,16 0 5 0.000004000 697 Q D 8 + 1 [fio]\n";
    let without_lines = |trace: &Trace| -> Vec<TraceRequest> {
        trace.requests().map(|request| TraceRequest { line: 0, ..request }).collect()
    };
    for big in [false, true] {
        let bytes = recorded(big);
        let trace = TraceReader::whole("sdb.blktrace.0", &bytes).unwrap();
        assert_eq!(trace.files(), ["8,16"]);
        assert_eq!(without_lines(&trace), without_lines(&read(text)));
        assert_eq!(trace.requests().map(|request| request.line).collect::<Vec<_>>(), [2, 5, 4, 6]);
        // In pieces of any length, over several files.
        let mut reader = TraceReader::new("sdb.blktrace.0");
        for piece in bytes.chunks(7) {
            reader.bytes(piece).unwrap();
        }
        reader.next_file("sdb.blktrace.1").unwrap();
        reader.bytes(&event(big, 7_000, 8, 512, QUEUED | WRITE, b"")).unwrap();
        assert_eq!(reader.clone().finish().unwrap().len(), 5);
        // An event that the end of a file cuts off is told with the file it is in.
        reader.bytes(&event(big, 8_000, 8, 512, QUEUED, b"")[..47]).unwrap();
        let last = reader.clone().finish().unwrap_err().to_string();
        let before = reader.next_file("sdb.blktrace.2").unwrap_err().to_string();
        for error in [last, before] {
            assert!(error.starts_with("sdb.blktrace.1:"), "{error}");
            assert!(error.contains("the file ends within this event, after 47 of its bytes"), "{error}");
        }
    }
    let issued: Vec<u8> =
        [event(false, 1, 8, 512, ISSUED, b""), event(false, 2, 16, 512, ISSUED | WRITE, b"")].concat();
    assert_eq!(
        TraceReader::whole("t", &issued).unwrap().len(),
        2,
        "without anything queued, what was issued"
    );
    let wrong = |bytes: &[u8]| TraceReader::whole("t", bytes).unwrap_err().to_string();
    let next_version = [&[8, 0x74, 0x61, 0x65][..], &[0; 44]].concat();
    assert!(wrong(&next_version).contains("t:1: an event of version 8; version 7 is read"));
    let damaged = [recorded(false), vec![0; 48]].concat();
    assert!(wrong(&damaged).contains("t:9: no event of blktrace begins here"), "{}", wrong(&damaged));
    assert!(wrong(&[7, 0x74, 0x61, 0x65]).contains("t:1: the file ends within this event"));
    assert!(wrong(&event(false, 1, u64::MAX / 4, 512, QUEUED, b"")).contains("beyond any storage"));
}

proptest! {
    #[test]
    fn no_events_make_the_reader_panic(
        fields in proptest::collection::vec((any::<u64>(), any::<u64>(), any::<u32>(), any::<u32>(), 0u8..3), 0..20),
        big in any::<bool>(),
        cut in 0usize..100,
    ) {
        let actions = [QUEUED, ISSUED, 0];
        let events = fields.iter().map(|(at, sector, bytes, action, kind)| {
            let (sector, bytes) = (*sector >> (action % 64), *bytes >> (action % 32));
            event(big, *at, sector, bytes, actions[usize::from(*kind)] | action & !0xffff, b"x")
        });
        let mut bytes = events.collect::<Vec<_>>().concat();
        bytes.truncate(bytes.len().saturating_sub(cut));
        if let Ok(trace) = TraceReader::whole("t", &bytes) {
            prop_assert!(trace.requests().map(|each| each.at).is_sorted());
        }
    }

    #[test]
    fn no_bytes_make_the_reader_panic(
        head in prop::sample::select(vec![
            "", "fio version 2 iolog\n", "fio version 3 iolog\n", "op,offset_bytes,size_bytes,at_s\n",
            "1,h,0,Read,0,512,1\n", "8,0 1 1 0.1 1 Q R 8 + 8 [x]\n",
        ]),
        lines in "([0-9a-zA-Z,./ +-]{0,40}\n){0,8}",
        bytes in proptest::collection::vec(any::<u8>(), 0..60),
    ) {
        for tail in [lines.as_bytes(), &bytes] {
            let text = [head.as_bytes(), tail].concat();
            if let Ok(trace) = TraceReader::whole("t", &text) {
                let at: Vec<Nanos> = trace.requests().map(|each| each.at).collect();
                prop_assert!(at.is_sorted() && at[0].is_zero());
                prop_assert_eq!(trace.kinds().map(|(.., count)| count).sum::<u64>(), trace.len() as u64);
            }
        }
    }

    #[test]
    fn what_is_written_in_our_own_columns_reads_back(
        requests in proptest::collection::vec((0u64..1 << 40, 0usize..4, 0u64..1 << 50, 1u32..1 << 20), 1..50),
    ) {
        let mut text = "at_ns,op,offset_bytes,size_bytes\n".to_string();
        for (at, op, offset, len) in &requests {
            text += &format!("{at},{},{offset},{len}\n", Op::ALL[*op].name());
        }
        let mut sorted = requests.clone();
        sorted.sort_by_key(|(at, ..)| *at);
        let expected: Vec<_> = sorted.iter().map(|(at, op, offset, len)| {
            let (offset, len) = if *op == 3 { (0, 0) } else { (*offset, *len) };
            (at - sorted[0].0, Op::ALL[*op], offset, len)
        }).collect();
        let read: Vec<_> = read(&text).requests()
            .map(|each| (each.at.get(), each.op, each.offset.get(), each.len)).collect();
        prop_assert_eq!(read, expected);
    }
}

/// The workload of a plan with these lines that asks `trace` again.
fn asking(trace: &str, lines: &str) -> Workload {
    let text = format!("[[phase]]\npattern = \"trace\"\ntrace = \"t\"\n{lines}\n");
    let mut plan = Plan::parse("t.toml", &text, &Overrides::default()).unwrap();
    plan.attach(|name| {
        assert_eq!(name, "t");
        TraceReader::whole(name, trace.as_bytes())
    })
    .unwrap();
    plan.points()[0].workloads()[0].clone()
}

fn jobs(workload: &Workload, lengths: &[u64]) -> Vec<Job> {
    let lengths: Vec<Bytes> = lengths.iter().map(|length| Bytes::new(*length)).collect();
    compile(workload, &lengths).unwrap().into_iter().map(Job::new).collect()
}

/// Offsets and lengths of a thousand requests, one every millisecond, of 600 sizes.
fn thousand() -> String {
    let mut text = "at_ms,op,offset_bytes,size_bytes\n".to_string();
    for number in 0..1000u64 {
        let op = ["read", "write", "trim", "read"][(number % 4) as usize];
        text += &format!("{number},{op},{},{}\n", number * 7919 % 512 * 4096, (number % 600 + 1) * 512);
    }
    text
}

#[test]
fn a_worker_asks_exactly_what_the_trace_says_in_its_order() {
    let (text, mib) = (thousand(), 1 << 20);
    let mut job = jobs(&asking(&text, "depth = 8"), &[16 * mib]).remove(0);
    let answers = drive(&mut job, &mut Servers::new(3, MS));
    let asked: Vec<_> =
        answers.iter().map(|answer| answer.request).map(|each| (each.op, each.offset, each.len)).collect();
    let wanted: Vec<_> = read(&text).requests().map(|each| (each.op, each.offset, each.len)).collect();
    assert_eq!(asked, wanted);
    let tally = job.into_tally();
    assert_eq!((tally.planned, tally.ops()), (1000, 1000));
    // 600 sizes are more than are told apart; not a byte is lost by it.
    let bytes: u64 = tally.classes.iter().map(|class| class.bytes.get()).sum();
    assert_eq!(bytes, wanted.iter().map(|(.., len)| u64::from(*len)).sum::<u64>());
    assert!(tally.classes.iter().any(|class| class.class.size.is_zero() && class.ops > 0));
    assert!(tally.classes.iter().all(|class| class.ended > 0), "no class without a request");
    let of_intervals: u64 =
        tally.intervals.iter().flat_map(|each| &each.classes).map(|class| class.bytes.get()).sum();
    assert_eq!(of_intervals, bytes);
}

#[test]
fn workers_take_the_requests_of_a_trace_in_turn() {
    let text = thousand();
    let mut jobs = jobs(&asking(&text, "workers = 3\npace = \"trace\""), &[16 << 20]);
    let answers = drive_all(&mut jobs, &mut Servers::new(3, Nanos::from_micros(10)), None);
    let asked: Vec<_> =
        answers.iter().map(|(_, answer)| (answer.request.offset, answer.issued.nanos())).collect();
    let wanted: Vec<_> = read(&text).requests().map(|each| (each.offset, each.at.get())).collect();
    assert_eq!(asked, wanted, "all together are the trace, each request at its instant");
    assert!(answers.iter().enumerate().all(|(number, (worker, _))| *worker == number % 3));
}

#[test]
fn a_trace_may_be_asked_faster_or_slower_than_it_was_recorded() {
    for (speed, factor) in [("2", 2), ("0.5", 1), ("10", 10)] {
        let workload = asking(&thousand(), &format!("pace = \"trace\"\ntrace_speed = {speed}"));
        let mut job = jobs(&workload, &[16 << 20]).remove(0);
        let answers = drive(&mut job, &mut Servers::new(1, Nanos::from_micros(10)));
        let last = answers.last().unwrap().issued.nanos();
        let wanted = if speed == "0.5" { 1_998_000_000 } else { 999_000_000 / factor };
        assert_eq!(last, wanted, "at {speed}");
    }
}

#[test]
fn a_response_counts_from_the_instant_at_which_the_trace_asked() {
    // A server of 3.1 ms for a request every millisecond: each comes 2.1 ms later than the one before.
    let service = Nanos::from_micros(3100);
    let mut job = jobs(&asking(&thousand(), "pace = \"trace\"\ndepth = 4"), &[16 << 20]).remove(0);
    let answers: Vec<Answer> = drive(&mut job, &mut Servers::new(1, service));
    assert_eq!(answers.last().unwrap().finished, Instant::from_nanos(3_100_000_000));
    let tally = job.into_tally();
    let longest =
        |pick: fn(&workload::tally::ClassTally) -> Nanos| tally.classes.iter().map(pick).max().unwrap();
    assert_eq!(longest(|class| class.response.max().unwrap()), MS * 2101, "due at 999 ms");
    assert_eq!(
        longest(|class| class.service.as_ref().unwrap().max().unwrap()),
        service * 4,
        "behind three others"
    );
    assert_eq!(tally.ops(), 1000);
}

#[test]
fn any_pace_asks_the_same_stream_and_limits_end_it() {
    let digest = |lines: &str| {
        let mut job = jobs(&asking(&thousand(), lines), &[16 << 20]).remove(0);
        drive(&mut job, &mut Servers::new(2, MS));
        let tally = job.into_tally();
        (tally.digest, tally.planned)
    };
    let whole = digest("");
    for lines in ["pace = \"trace\"", "pace = \"rate(700/s, poisson)\"", "pace = \"think(1ms)\"\ndepth = 3"] {
        assert_eq!(digest(lines), whole, "{lines}");
    }
    assert_eq!(digest("ops = 10").1, 10);
    assert_eq!(digest("run = \"100ms\"\npace = \"trace\"").1, 100);
    assert_eq!(digest("bytes = \"1KiB\"").1, 2, "512 B, and 1 KiB that goes beyond it");
}

#[test]
fn what_lies_beyond_the_target_is_an_error_with_its_line_or_comes_round_again() {
    let said = |lines: &str, lengths: &[u64]| {
        let lengths: Vec<Bytes> = lengths.iter().map(|length| Bytes::new(*length)).collect();
        compile(&asking(IOLOG_2, lines), &lengths).unwrap_err().to_string()
    };
    let beyond = said("", &[8192, 8192]);
    assert!(
        beyond.contains("trace t, line 6: 1024 bytes at 8192 lie beyond the used part of the target, 8192"),
        "{beyond}"
    );
    assert!(beyond.contains("trace_fold = true"));
    let files = said("", &[1 << 20]);
    assert!(files.contains("line 9: `/dev/sdb` is one of 2 files, and there is 1 target"), "{files}");
    let folded = asking(IOLOG_2, "trace_fold = true");
    let mut job = jobs(&folded, &[8192]).remove(0);
    let answers = drive(&mut job, &mut Servers::new(1, MS));
    let places: Vec<_> = answers.iter().map(|each| (each.request.file, each.request.offset.get())).collect();
    // 1 KiB has fifteen places in sixteen sectors: sector 16 is the second of them.
    assert_eq!(places, [(0, 4096), (0, 512), (0, 0), (0, 0)]);
    let too_large = compile(&folded, &[Bytes::new(2048)]).unwrap_err().to_string();
    assert!(too_large.contains("line 9: a request of 4096 bytes"), "{too_large}");
    let odd = asking("op,offset_bytes,size_bytes\nread,100,512\n", "");
    let odd = compile(&odd, &[Bytes::MIB]).unwrap_err().to_string();
    assert!(odd.contains("line 2") && odd.contains("direct = false") && odd.contains("align"), "{odd}");
}

#[test]
fn offsets_are_scaled_aligned_and_moved_and_operations_left_out() {
    let text = "op,offset_bytes,size_bytes\nread,1048576,512\nwrite,2097152,512\nread,1049600,512\n";
    let lines = "trace_scale = 4\nalign = \"4KiB\"\ntrace_skip = \"write\"\noffset = \"8KiB\"";
    let workload = asking(text, lines);
    assert!(!workload.writes());
    let mut job = jobs(&workload, &[1 << 20]).remove(0);
    let answers = drive(&mut job, &mut Servers::new(1, MS));
    let offsets: Vec<u64> = answers.iter().map(|each| each.request.offset.get()).collect();
    assert_eq!(offsets, [262_144 + 8192, 262_144 + 8192], "262,400 is rounded down to 4 KiB");
}

#[test]
fn a_plan_says_what_its_trace_comes_to() {
    let text =
        "[[phase]]\npattern = \"trace\"\ntrace = \"t\"\npace = \"trace\"\ndepth = { sweep = [1, 8] }\n";
    let mut plan = Plan::parse("t.toml", text, &Overrides::default()).unwrap();
    let mut reads = 0;
    plan.attach(|name| {
        reads += 1;
        TraceReader::whole(name, thousand().as_bytes())
    })
    .unwrap();
    assert_eq!(reads, 1, "one file is read once");
    let trace =
        |point: usize| plan.points()[point].workloads()[0].replay().unwrap().requests.clone().unwrap();
    assert!(Arc::ptr_eq(&trace(0), &trace(1)), "and kept once");
    let estimate = plan.estimate();
    assert_eq!((estimate.time, estimate.untimed_points), (MS * 999 * 2, 0));
    assert!(estimate.changes_data);
    let written: u64 =
        (0..1000).filter(|number| number % 4 == 1).map(|number| (number % 600 + 1) * 512).sum();
    assert_eq!(estimate.written.at_most, Bytes::new(written * 2));
    assert!(
        plan.summary().to_string().contains("1000 requests of t, 50 % reads + 25 % writes + 25 % trims"),
        "{}",
        plan.summary()
    );
}

#[test]
fn the_texts_of_a_replay_read_back_and_say_nothing_that_the_trace_says() {
    let workload = asking(&thousand(), "trace_speed = 0.25\ntrace_skip = \"trim, flush\"\ntrace_fold = true");
    let texts = workload.texts();
    assert!(texts.iter().all(|(key, _)| !["size", "reads", "trims", "flushes"].contains(key)));
    let again = from_texts(&workload.name, texts.iter().map(|(key, text)| (*key, text.as_str()))).unwrap();
    let replay = again.replay().unwrap();
    assert_eq!((replay.speed, replay.fold, replay.file.as_str()), (0.25, true, "t"));
    assert_eq!(replay.skip, [Op::Trim, Op::Flush]);
    assert!(faults(&workload).is_empty(), "{:?}", faults(&workload));
}

#[test]
fn a_plan_that_contradicts_its_trace_is_refused() {
    let said = |lines: &str| {
        Plan::parse("t.toml", &format!("[[phase]]\n{lines}\n"), &Overrides::default()).unwrap_err().plain()
    };
    for (lines, expected) in [
        ("pattern = \"trace\"", "needs a `trace`"),
        ("run = \"1s\"\ntrace = \"t\"", "`pattern` is not `trace`"),
        ("run = \"1s\"\npace = \"trace\"", "only a trace has a schedule of its own"),
        ("pattern = \"trace\"\ntrace = \"t\"\nrewrites = \"10%\"", "`rewrites` contradicts it"),
        ("pattern = \"trace\"\ntrace = \"t\"\nfiles = \"per_worker(2)\"", "`files` contradicts it"),
        ("pattern = \"trace\"\ntrace = \"t\"\ntrace_speed = 0", "a number from 0.001 to 1000"),
        ("pattern = \"trace\"\ntrace = \"t\"\ntrace_skip = \"look\"", "`look` is not an operation"),
        ("pattern = \"trace\"\ntrace = \"t\"\ntrace_skip = \"read,write,trim,flush\"", "nothing is left"),
        ("pattern = \"trace\"\ntrace = \"t\"\nverify = \"written\"", "stamped blocks"),
        ("pattern = \"trace\"\ntrace = \"t\"\nconsecutive = 8", "`consecutive` contradicts it"),
        ("pattern = \"trace\"\ntrace = \"t\"\nread_back = 8", "`read_back` contradicts it"),
        ("pattern = \"trace\"\ntrace = \"t\"\nloops = 2", "`loops` contradicts it"),
    ] {
        let said = said(lines);
        assert!(said.contains(expected), "expected `{expected}` about\n{lines}\nwas told\n{said}");
    }
}

#[test]
fn more_workers_than_requests_leave_some_without_any() {
    let text = "op,offset_bytes,size_bytes,at_ms\nread,0,512,0\nread,512,512,5\n";
    for pace in ["closed", "trace", "rate(100/s)"] {
        let mut jobs = jobs(&asking(text, &format!("workers = 4\npace = \"{pace}\"")), &[1 << 20]);
        let answers = drive_all(&mut jobs, &mut Servers::new(4, MS), None);
        assert_eq!(answers.len(), 2, "{pace}");
    }
}

/// What the worker asks in a closed loop on four servers of a millisecond: offsets and lengths.
fn asked_closed(spec: &workload::JobSpec, run: Option<Nanos>) -> Vec<(u64, u32)> {
    let spec = workload::JobSpec { ops: None, run, pace: Pace::Closed, ..spec.clone() };
    let answers = drive(&mut Job::new(spec), &mut Servers::new(4, MS));
    answers.iter().map(|answer| (answer.request.offset.get(), answer.request.len)).collect()
}

#[test]
fn a_worker_that_is_asked_for_more_than_the_trace_has_begins_it_again() {
    let text = "op,offset_bytes,size_bytes\nread,0,512\nwrite,4096,1024\nread,8192,2048\n";
    for (workers, expected) in
        [(1, vec![(0, 512), (4096, 1024), (8192, 2048)]), (2, vec![(0, 512), (8192, 2048)])]
    {
        let workload = asking(text, &format!("workers = {workers}"));
        let spec = compile(&workload, &[Bytes::MIB]).unwrap().remove(0);
        let asked = asked_closed(&spec, Some(MS * 20));
        assert!(asked.len() > 2 * expected.len());
        assert!(
            asked.iter().zip(expected.iter().cycle()).all(|(asked, expected)| asked == expected),
            "{asked:?}"
        );
    }
}

#[test]
fn a_trace_of_which_nothing_is_left_is_an_error() {
    let workload = asking("op,offset_bytes,size_bytes\nwrite,0,512\n", "trace_skip = \"write\"");
    let said = compile(&workload, &[Bytes::MIB]).unwrap_err().to_string();
    assert!(said.contains("`trace_skip` leaves nothing of it"), "{said}");
}

#[test]
fn a_trace_that_begins_later_keeps_its_distances() {
    let text = "op,offset_bytes,size_bytes,at_ms\nread,0,512,0\nread,512,512,5\nread,1024,512,6\n";
    let workload = asking(text, "pace = \"trace\"\nstart = \"40ms\"\ndepth = 4");
    let mut job = Job::new(compile(&workload, &[Bytes::MIB]).unwrap().remove(0));
    let answers = drive(&mut job, &mut Servers::new(4, MS));
    let at: Vec<u64> = answers.iter().map(|answer| answer.issued.since_start().get() / 1_000_000).collect();
    assert_eq!(at, [40, 45, 46]);
}

#[test]
fn a_trim_of_more_than_there_is_anywhere_is_refused_with_its_line() {
    let text = format!("fio version 3 iolog\n0 f add\n1 f trim 0 {}\n", 1u64 << 40);
    assert_eq!(TraceReader::whole("t", text.as_bytes()).unwrap().requests().count(), 1024);
    let text = format!("fio version 3 iolog\n0 f add\n1 f trim 0 {}\n", 1u64 << 61);
    let refused = TraceReader::whole("t", text.as_bytes()).unwrap_err().to_string();
    assert!(refused.starts_with("t:3: ") && refused.contains("pieces of 1 GiB"), "{refused}");
}

#[test]
fn telemetry_of_iozone_is_offsets_lengths_and_pauses() {
    let trace = read("0 4096 0\n# a comment\n1048576 65536 5\n8192 512\n");
    let requests: Vec<(u64, Op, u64, u32)> =
        trace.requests().map(|each| (each.at.get(), each.op, each.offset.get(), each.len)).collect();
    assert_eq!(
        requests,
        [(0, Op::Read, 0, 4096), (5_000_000, Op::Read, 1 << 20, 65_536), (5_000_000, Op::Read, 8192, 512)]
    );
    for (text, what) in [
        ("0 4096\nx 4096\n", "t.txt:2: expected an offset"),
        ("0 4096\n0\n", "t.txt:2: the line ends before a length"),
        ("0 0 0\n", "t.txt:1: a read of no bytes"),
        ("0 512 99999999999\n", "longer than a day"),
    ] {
        assert!(wrong(text).contains(what), "{text}: {}", wrong(text));
    }
}

#[test]
fn a_trace_does_what_trace_as_says() {
    let text = "op,offset_bytes,size_bytes\nwrite,0,512\nread,512,512\nflush,,\ntrim,1024,512\n";
    let ops = |more: &str| -> Vec<Op> {
        let workload = asking(text, more);
        let trace = workload.replay().unwrap().requests.clone().unwrap();
        trace.requests().map(|each| each.op).collect()
    };
    assert_eq!(ops(""), [Op::Write, Op::Read, Op::Flush, Op::Trim]);
    assert_eq!(ops("trace_as = \"read\""), [Op::Read, Op::Read, Op::Flush, Op::Read]);
    assert_eq!(ops("trace_as = \"write\"\ntrace_skip = \"trim\""), [Op::Write, Op::Write, Op::Flush]);
    assert!(!asking(text, "trace_as = \"read\"").changes_data());
    assert!(asking("0 4096 0\n", "trace_as = \"write\"").changes_data());
}

#[test]
fn the_classes_of_a_trace_are_the_sizes_of_each_of_its_operations() {
    let mut text = "op,offset_bytes,size_bytes\n".to_string();
    for number in 0..1000u64 {
        text += &format!("read,0,512\nwrite,0,{}\n", (number + 2) * 512);
    }
    text += "flush,,\n";
    let tally = jobs(&asking(&text, ""), &[1 << 20]).remove(0).into_tally();
    let of = |op: Op| -> Vec<u64> {
        let classes = tally.classes.iter().map(|kept| kept.class);
        classes.filter(|class| class.op == op).map(|class| class.size.get()).collect()
    };
    assert_eq!((of(Op::Read), of(Op::Trim), of(Op::Flush)), (vec![512], vec![], vec![0]));
    // Beside the most frequent sizes, zero stands for all others; there are others of writes alone.
    let writes = of(Op::Write);
    assert!(writes.contains(&0) && writes.contains(&(1001 * 512)) && !writes.contains(&512), "{writes:?}");
}
