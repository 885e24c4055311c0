//! The journal of a job, and the log of fio that is written of it.

use std::collections::VecDeque;

use units::{Instant, Nanos};
use workload::spec::{FlushKind, Workload};
use workload::tally::{ClassTally, Tally};
use workload::trace::{IologWriter, TraceReader};
use workload::{Completion, Job, Logged, Op, Outcome, Wake};

use crate::world::{Servers, drive, job};

const US: Nanos = Nanos::from_micros(1);

fn asked(keys: &[(&str, &str)]) -> Workload {
    let common = [("seed", "3")];
    workload::plan::from_texts("test", common.iter().chain(keys).copied())
        .unwrap_or_else(|e| panic!("{}", e.plain()))
}

/// A job with every kind of request, and more of them than are taken at a time.
const ALL_KINDS: [(&str, &str); 6] = [
    ("reads", "60%"),
    ("trims", "10%"),
    ("rewrites", "20%"),
    ("flush_every", "7"),
    ("depth", "5"),
    ("ops", "10000"),
];

#[test]
fn a_journal_has_every_request_in_the_order_of_issue_with_its_end() {
    for keys in
        [&ALL_KINDS[..], &[("depth", "3"), ("ops", "9000")], &[("pattern", "sequential"), ("ops", "50")]]
    {
        let mut job = job(&asked(keys));
        job.keep_journal(7);
        let answers = drive(&mut job, &mut Servers::new(2, US * 10));
        let wanted: Vec<Logged> = answers
            .iter()
            .map(|answer| Logged {
                issued: answer.issued,
                finished: answer.finished,
                offset: answer.request.offset,
                len: answer.request.len,
                file: answer.request.file,
                op: answer.request.op,
                worker: 7,
            })
            .collect();
        assert!(job.has_logged() == (wanted.len() > 4096));
        assert_eq!(job.take_logged(), wanted);
        assert!(!job.has_logged() && job.into_tally().logged.is_empty());
    }
}

#[test]
fn a_job_with_a_journal_asks_what_it_asks_without_one() {
    let by_schedule = |pace| [("pace", pace), ("depth", "4"), ("ops", "20000"), ("reads", "70%")];
    for keys in [
        &ALL_KINDS[..],
        &[("depth", "3"), ("ops", "9000")],
        &[("pattern", "sequential"), ("ops", "50")],
        &by_schedule("rate(150000/s)"),
        // More than the two servers do: requests wait for a slot, or are left out.
        &by_schedule("rate(250000/s)"),
        &by_schedule("rate(250000/s, drop)"),
        &[("pace", "rate(250000/s)"), ("depth", "4"), ("run", "20ms")],
    ] {
        let [with, without] = [true, false].map(|keeps| {
            let mut job = job(&asked(keys));
            if keeps {
                job.keep_journal(7);
            }
            drive(&mut job, &mut Servers::new(2, US * 10));
            job.into_tally()
        });
        assert_eq!(
            (with.digest, with.planned, with.completed),
            (without.digest, without.planned, without.completed)
        );
        assert_eq!(with.logged.len() as u64, with.planned);
        let seen = |tally: &Tally| {
            let classes = tally.classes.iter().map(|class| {
                let ClassTally { ops, response, service, lag, after, .. } = class.clone();
                (ops, response, service, lag, after)
            });
            let counts = (tally.dropped, tally.not_issued, tally.in_flight_ns, tally.intervals.clone());
            (classes.collect::<Vec<_>>(), counts, tally.late.clone())
        };
        assert_eq!(seen(&with), seen(&without));
    }
}

#[test]
fn nothing_is_handed_out_before_what_was_asked_before_it_has_ended() {
    let mut job: Job = job(&asked(&[("depth", "2"), ("ops", "3")]));
    job.keep_journal(7);
    job.start(Instant::START);
    let mut batch = Vec::new();
    while batch.len() < 2 {
        job.plan(Instant::START, &mut batch);
    }
    let end = |at: u64, index: usize| workload::Completion {
        token: batch[index].token,
        outcome: workload::Outcome::moved(batch[index].len),
        finished_at: Instant::from_nanos(at),
    };
    job.complete(end(10, 1));
    assert!(job.take_logged().is_empty(), "the first one is in flight");
    job.complete(end(30, 0));
    let ends: Vec<u64> = job.take_logged().iter().map(|each| each.finished.nanos()).collect();
    assert_eq!(ends, [30, 10]);
}

#[test]
fn a_log_reads_back_to_the_requests_it_was_written_of() {
    let mut job = job(&asked(&ALL_KINDS));
    job.keep_journal(7);
    drive(&mut job, &mut Servers::new(2, US * 10));
    let logged = job.take_logged();
    let writer = IologWriter::new(&["/mnt/a b".to_owned()], Instant::START, FlushKind::Fdatasync);
    let mut text = writer.head();
    writer.lines(&logged, &mut text);
    text += &writer.tail(Instant::from_nanos(77_000));
    assert!(
        text.starts_with("fio version 3 iolog\n0 /mnt/a_b add\n0 /mnt/a_b open\n0 /mnt/a_b "),
        "{text:.99}"
    );
    assert!(text.ends_with("\n77 /mnt/a_b close\n"));
    assert!(text.lines().any(|line| line.ends_with(" /mnt/a_b datasync 0 0")));
    let trace = TraceReader::whole("t", text.as_bytes()).unwrap();
    let read: Vec<(u64, Op, u64, u32)> =
        trace.requests().map(|each| (each.at.get() / 1000, each.op, each.offset.get(), each.len)).collect();
    let wanted: Vec<(u64, Op, u64, u32)> = logged
        .iter()
        .map(|each| (each.issued.nanos() / 1000, each.op, each.offset.get(), each.len))
        .collect();
    assert_eq!(read, wanted);
}

#[test]
fn one_worker_of_blocks_writes_a_log() {
    let wrong = |more: &str| {
        let text = format!("name = \"x\"\n[[phase]]\niolog = \"x\"\nrun = \"1s\"\n{more}\n");
        workload::plan::Plan::parse("p", &text, &workload::plan::Overrides::default()).unwrap_err().plain()
    };
    assert!(wrong("workers = 2").contains("requests of 2 workers would be mixed in one log"));
    assert!(wrong("tree = \"create\"").contains("`tree` works on files"));
    let plan = |second: &str| {
        let text = format!(
            "name = \"x\"\n[[phase]]\nrun = \"1s\"\n[[phase.workload]]\niolog = \"a\"\n[[phase.workload]]\niolog = \"{second}\"\n"
        );
        workload::plan::Plan::parse("p", &text, &workload::plan::Overrides::default())
    };
    assert!(plan("b").is_ok());
    assert!(plan("a").unwrap_err().plain().contains("writes the same log"));
}

#[test]
fn a_journal_can_be_taken_while_requests_are_in_flight() {
    let at = |ms: u64| Instant::START + US * 1000 * ms;
    let mut job: Job = job(&asked(&[("depth", "2"), ("ops", "9")]));
    job.keep_journal(7);
    job.start(at(0));
    let (mut open, mut batch) = (VecDeque::new(), Vec::new());
    let mut issue = |job: &mut Job, open: &mut VecDeque<_>, ms| {
        while job.plan(at(ms), &mut batch) == Wake::Again {}
        open.extend(batch.drain(..).map(|request| (at(ms), request)));
    };
    issue(&mut job, &mut open, 0);
    for ms in 1..=9 {
        let (issued, request) = open.pop_front().unwrap();
        let outcome = Outcome::moved(request.len);
        job.complete(Completion { token: request.token, outcome, finished_at: at(ms) });
        let [logged] = job.take_logged()[..] else { panic!("one has ended") };
        assert_eq!((logged.offset, logged.issued, logged.finished), (request.offset, issued, at(ms)));
        assert_eq!(logged.service(), at(ms) - issued);
        issue(&mut job, &mut open, ms);
    }
    assert!(open.is_empty() && job.into_tally().logged.is_empty());
}
