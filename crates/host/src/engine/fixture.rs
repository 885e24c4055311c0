//! What tests of engines need: a small workload, its buffers, and files of their own.

use std::fs::File;
use std::sync::Arc;

use tempfile::NamedTempFile;
use units::{Bytes, Share};
use workload::spec::{OpMix, Workload};
use workload::{JobSpec, Op, Request, Token, compile};

use super::{OpenFile, OpenFiles, Payload};

/// Requests of 4 KiB, of which so many read and the others write, through the page cache.
pub(super) fn workload(depth: u32, reads: f64) -> Workload {
    let reads = Share::new(reads).expect("it is a share");
    let mix = OpMix { reads, trims: Share::NONE, flushes: Share::NONE };
    Workload { depth, mix, direct: false, ..Workload::plain("engine") }
}

/// Its only worker, on a file of 1 MiB.
pub(super) fn job(workload: &Workload) -> JobSpec {
    compile(workload, &[Bytes::MIB]).expect("it fits").remove(0)
}

/// The buffers of [`workload`].
pub(super) fn payload(depth: u32, reads: f64) -> Payload {
    let workload = workload(depth, reads);
    Payload::new(&workload, &job(&workload)).expect("some pages")
}

/// A file of 1 MiB of that byte.
pub(super) fn full_of(byte: u8) -> NamedTempFile {
    let file = NamedTempFile::new().expect("the test has a temporary folder");
    std::fs::write(file.path(), vec![byte; 1 << 20]).expect("the file is ours");
    file
}

/// That file, open for reading and writing.
pub(super) fn open(file: &NamedTempFile) -> Arc<OpenFiles> {
    only(file.reopen().expect("the file is ours"))
}

/// An open file as the only one of a workload.
pub(super) fn only(file: File) -> Arc<OpenFiles> {
    Arc::new(OpenFiles(vec![OpenFile {
        path: "a file".into(),
        file,
        is_block_device: false,
        addressing: None,
    }]))
}

/// 4 KiB at the start of the file.
pub(super) fn request(op: Op, slot: u32) -> Request {
    Request { offset: Bytes::ZERO, len: 4096, token: Token(slot), file: 0, op }
}
