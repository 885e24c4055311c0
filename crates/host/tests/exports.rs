//! Exports of NBD servers, where they differ from files.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should say where")]

mod served;

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use host::clock::Clock;
use host::engine::{EngineChoice, EngineError, FileRef};
use host::load::{Assignment, WorkerOutcome, run};
use host::safety::{Consent, Reason, judge, permit};
use host::{Facts, SysRoot, Target};
use served::{ALL, GOOD, Manner, READ_ONLY, Server};
use units::{Bytes, Share};
use workload::compile;
use workload::spec::*;

const BLOCKS: u64 = 256;
const LEN: Bytes = Bytes::new(BLOCKS * 4096);

struct Disk {
    _folder: tempfile::TempDir,
    path: PathBuf,
}

impl Disk {
    fn holding(bytes: &[u8]) -> Disk {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let path = folder.path().join("d");
        let mut all = bytes.to_vec();
        all.resize(usize::try_from(LEN.get()).unwrap(), 0);
        fs::write(&path, all).unwrap();
        Disk { _folder: folder, path }
    }
}

fn workload(keys: &[(&str, &str)]) -> Workload {
    let ops = BLOCKS.to_string();
    let all = [("size", "4KiB"), ("depth", "16"), ("ops", &ops), ("seed", "3")];
    let given = all.into_iter().filter(|(key, _)| !keys.iter().any(|(own, _)| own == key));
    workload::plan::from_texts("exports", given.chain(keys.iter().copied())).unwrap()
}

fn ran(workload: &Workload, server: &Server) -> Result<Vec<WorkerOutcome>, EngineError> {
    let target = Target::parse(&server.uri).unwrap();
    let consent = Consent::parse(&format!("data:{}", server.uri)).unwrap();
    let leave = permit(&SysRoot::real(), &target, Some(&consent)).ok().map(Arc::new);
    let files = vec![FileRef { path: server.uri.clone().into(), permit: leave }];
    let jobs = compile(workload, &[LEN]).unwrap();
    let assignment = Assignment::new(workload.clone(), jobs, files);
    run(&[assignment], &Clock::start(), &AtomicBool::new(false), &mut |_| ())
}

#[test]
fn an_export_is_found_with_its_size_over_tcp_and_a_socket_and_in_the_older_way() {
    let disk = Disk::holding(b"");
    let old = Manner { goes: false, ..GOOD };
    for server in
        [Server::tcp(&disk.path, GOOD), Server::unix(&disk.path, GOOD), Server::tcp(&disk.path, old)]
    {
        let target = Target::parse(&server.uri).unwrap();
        let facts = Facts::read(&SysRoot::real(), &target).unwrap();
        assert_eq!((facts.size, facts.remote.unwrap().protocol.as_str()), (LEN, "nbd"));
        assert_eq!(facts.direct.unwrap().offset(), Some(Bytes::new(512)));
    }
}

#[test]
fn what_does_not_answer_as_a_server_is_an_error_that_says_so() {
    for (uri, why) in [
        ("nbd+unix:///x?socket=/nonexistent/socket".to_owned(), "cannot connect"),
        ("nbds://localhost/x".into(), "TLS"),
        (silent(), "no NBD server"),
    ] {
        let error = Target::parse(&uri).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }
}

/// Something that speaks, and not NBD.
fn silent() -> String {
    use std::io::Write;
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let uri = format!("nbd://127.0.0.1:{}/", listener.local_addr().unwrap().port());
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").unwrap();
    });
    uri
}

#[test]
fn requests_are_in_flight_together_and_answered_in_any_order() {
    let disk = Disk::holding(b"");
    for server in [Server::tcp(&disk.path, GOOD), Server::unix(&disk.path, GOOD)] {
        let mixed = workload(&[("reads", "50%"), ("pattern", "random")]);
        let outcome = ran(&mixed, &server).unwrap().remove(0);
        assert_eq!(
            (outcome.tally.ops(), outcome.tally.errors),
            (BLOCKS, 0),
            "{:?}",
            outcome.tally.error_samples
        );
        assert_eq!(outcome.engine.choice, Some(EngineChoice::Nbd));
        assert!(server.seen.together.load(Ordering::Relaxed) > 1, "{:?}", server.seen);
    }
}

#[test]
fn requests_larger_than_a_sockets_buffer_neither_block_nor_lose_a_byte() {
    let disk = Disk::holding(b"");
    let server = Server::unix(&disk.path, GOOD);
    // Writes and reads at once, so that both directions fill up.
    let large = workload(&[
        ("size", "512KiB"),
        ("reads", "50%"),
        ("ops", "400"),
        ("depth", "8"),
        ("pattern", "random"),
    ]);
    let outcome = ran(&large, &server).unwrap().remove(0);
    assert_eq!((outcome.tally.ops(), outcome.tally.errors), (400, 0));
    let before = fs::read(&disk.path).unwrap();
    let twice = workload(&[("size", "128KiB"), ("reads", "0%"), ("ops", "8"), ("pattern", "sequential")]);
    ran(&twice, &server).unwrap();
    let after = fs::read(&disk.path).unwrap();
    assert_eq!(before.len(), after.len());
    assert!(before.chunks(4096).zip(after.chunks(4096)).all(|(old, new)| old != new));
}

#[test]
fn each_worker_has_a_connection_and_a_flush_reaches_the_server() {
    let disk = Disk::holding(b"");
    let server = Server::tcp(&disk.path, GOOD);
    let writes = workload(&[("reads", "0%"), ("workers", "3"), ("flush_every", "32"), ("pattern", "random")]);
    // Two of them ask and look before.
    let outcomes = ran(&writes, &server).unwrap();
    assert_eq!(outcomes.len(), 3);
    assert_eq!(server.seen.connections.load(Ordering::Relaxed), 3 + 2);
    assert!(server.seen.flushes.load(Ordering::Relaxed) >= 6, "{:?}", server.seen);
    assert_eq!(server.seen.through.load(Ordering::Relaxed), 0);
    let through = workload(&[("reads", "0%"), ("sync", "dsync"), ("ops", "8"), ("depth", "2")]);
    ran(&through, &server).unwrap();
    assert_eq!(server.seen.through.load(Ordering::Relaxed), 8);
}

#[test]
fn what_a_server_does_not_take_is_refused_before_anything_is_asked() {
    let disk = Disk::holding(b"");
    let plain = Server::tcp(&disk.path, Manner { flags: 1, largest: 64 << 10, ..GOOD });
    let refusal = |keys: &[(&str, &str)]| ran(&workload(keys), &plain).unwrap_err().to_string();
    assert!(refusal(&[("reads", "0%"), ("sync", "dsync")]).contains("FUA"));
    assert!(refusal(&[("reads", "0%"), ("workers", "2")]).contains("several connections"));
    assert!(refusal(&[("size", "128KiB"), ("ops", "4")]).contains("at most 64"));
    assert!(refusal(&[("engine", "io_uring")]).contains("engine"));
    assert!(refusal(&[("nowait", "true")]).contains("nowait"));
    assert!(refusal(&[("reopen_every", "8")]).contains("reopen_every"));
    // A trim that nobody takes is a request that failed.
    let outcome =
        ran(&workload(&[("trims", "100%"), ("reads", "0%"), ("ops", "4")]), &plain).unwrap().remove(0);
    assert_eq!(outcome.tally.errors, 4);
}

#[test]
fn a_server_that_leaves_in_the_middle_ends_the_load_with_its_name() {
    let disk = Disk::holding(b"");
    let server = Server::unix(&disk.path, Manner { leaves_after: 40, ..GOOD });
    let error = ran(&workload(&[("pattern", "random")]), &server).unwrap_err().to_string();
    assert!(error.contains("middle of a load") && error.contains("nbd+unix:"), "{error}");
}

#[test]
fn an_export_is_written_only_with_consent_that_names_it_and_never_over_a_file_system() {
    let root = SysRoot::real();
    let judged = |server: &Server, consent: Option<&str>| {
        let consent = consent.map(|text| Consent::parse(text).unwrap());
        judge(&root, &Target::parse(&server.uri).unwrap(), consent.as_ref())
    };
    let blank = Disk::holding(b"");
    let server = Server::unix(&blank.path, GOOD);
    assert!(matches!(judged(&server, None).reasons[..], [Reason::NoConsent { .. }]));
    assert!(matches!(judged(&server, Some("SERIAL")).reasons[..], [Reason::OtherConsent { .. }]));
    let named = judged(&server, Some(&server.uri));
    assert!(named.reasons.is_empty() && named.destroys, "{named:?}");
    assert_eq!(named.consents, std::slice::from_ref(&server.uri));

    let some = Disk::holding(b"letters");
    let server = Server::unix(&some.path, GOOD);
    assert!(matches!(judged(&server, Some(&server.uri)).reasons[..], [Reason::NotBlank { .. }]));
    assert!(judged(&server, Some(&format!("data:{}", server.uri))).reasons.is_empty());

    let mut file_system = vec![0; 4096];
    file_system[..4].copy_from_slice(b"XFSB");
    let known = Disk::holding(&file_system);
    let server = Server::unix(&known.path, GOOD);
    let reasons = judged(&server, Some(&format!("data:{}", server.uri))).reasons;
    assert!(matches!(reasons[..], [Reason::Signature { .. }]), "{reasons:?}");

    let server = Server::tcp(&blank.path, Manner { flags: READ_ONLY, ..GOOD });
    let reasons = judged(&server, Some(&server.uri)).reasons;
    assert!(matches!(reasons[..], [Reason::ReadOnly { .. }]), "{reasons:?}");
    assert_eq!(ALL & READ_ONLY, 1, "the two are different exports");
}

#[test]
fn without_leave_nothing_is_written() {
    let disk = Disk::holding(b"");
    let server = Server::unix(&disk.path, GOOD);
    let writes = Workload {
        mix: OpMix { reads: Share::NONE, trims: Share::NONE, flushes: Share::NONE },
        ..workload(&[])
    };
    let files = vec![FileRef { path: server.uri.clone().into(), permit: None }];
    let jobs = compile(&writes, &[LEN]).unwrap();
    let assignment = Assignment::new(writes, jobs, files);
    let error = run(&[assignment], &Clock::start(), &AtomicBool::new(false), &mut |_| ()).unwrap_err();
    assert!(error.to_string().contains("no permit"), "{error}");
    assert!(fs::read(&disk.path).unwrap().iter().all(|byte| *byte == 0));
}
