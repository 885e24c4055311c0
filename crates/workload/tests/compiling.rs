//! From a workload and target sizes to workers, or to a refusal that helps.

use std::collections::BTreeMap;

use units::Bytes;
use workload::spec::*;
use workload::{Job, compile, files_needed};

use crate::world::{Servers, drive, workload};

fn refusal(workload: &Workload, lengths: &[Bytes]) -> String {
    compile(workload, lengths).expect_err("refused").to_string()
}

/// How many requests each block of each file got, over all workers.
fn coverage(workload: &Workload, lengths: &[Bytes]) -> BTreeMap<(u16, u64), u64> {
    let mut blocks = BTreeMap::new();
    for spec in compile(workload, lengths).unwrap() {
        let mut job = Job::new(spec);
        for answer in drive(&mut job, &mut Servers::new(1, units::Nanos::new(1000))) {
            *blocks.entry((answer.request.file, answer.request.offset.get() / 4096)).or_default() += 1;
        }
    }
    blocks
}

fn ops(count: u64) -> Stop {
    Stop { ops: Some(count), ..workload().stop }
}

#[test]
fn workers_share_out_the_requests_and_cover_the_span_once() {
    let asked = Workload { workers: 3, stop: ops(1000), ..workload() };
    let blocks = coverage(&asked, &[Bytes::KIB * 4000]);
    assert_eq!(blocks.len(), 1000);
    assert!(blocks.values().all(|count| *count == 1));
}

#[test]
fn concatenated_luns_are_one_address_space() {
    let asked = Workload { pattern: Pattern::Sequential, stop: ops(5), ..workload() };
    let blocks = coverage(&asked, &[Bytes::KIB * 8, Bytes::KIB * 12]);
    assert_eq!(blocks.into_keys().collect::<Vec<_>>(), [(0, 0), (0, 1), (1, 0), (1, 1), (1, 2)]);
}

#[test]
fn striped_luns_take_turns_unit_by_unit() {
    let luns = LunLayout::Striped(Bytes::KIB * 8);
    let asked = Workload { pattern: Pattern::Sequential, luns, stop: ops(6), ..workload() };
    let blocks = coverage(&asked, &[Bytes::KIB * 16, Bytes::KIB * 16]);
    assert_eq!(blocks.into_keys().collect::<Vec<_>>(), [(0, 0), (0, 1), (0, 2), (0, 3), (1, 0), (1, 1)]);
}

#[test]
fn each_worker_visits_its_own_files_in_turn() {
    let asked = Workload { workers: 2, files: Files::PerWorker(3), stop: ops(12), ..workload() };
    assert_eq!(files_needed(&asked), 6);
    let blocks = coverage(&asked, &[Bytes::KIB * 64; 6]);
    let mut per_file = [0; 6];
    blocks.into_iter().for_each(|((file, _), count)| per_file[usize::from(file)] += count);
    assert_eq!(per_file, [2; 6]);
}

#[test]
fn workers_of_a_shared_file_cover_it_together() {
    let asked = Workload { workers: 4, files: Files::WorkersPerFile(2), stop: ops(32), ..workload() };
    assert_eq!(files_needed(&asked), 2);
    let blocks = coverage(&asked, &[Bytes::KIB * 64; 2]);
    assert_eq!(blocks.len(), 32);
    assert!(blocks.values().all(|count| *count == 1));
}

#[test]
fn a_span_past_the_end_is_refused_with_the_sizes() {
    let span = Span::Of(Extent::Bytes(Bytes::GIB));
    let message = refusal(&Workload { span, ..workload() }, &[Bytes::MIB]);
    assert!(
        message.contains("1 GiB") && message.contains("1 MiB") && message.contains("`span`"),
        "{message}"
    );
    let offset = Extent::Bytes(Bytes::GIB);
    assert!(refusal(&Workload { offset, ..workload() }, &[Bytes::MIB]).contains("lower `offset`"));
}

#[test]
fn too_many_workers_for_the_span_are_refused() {
    let asked = Workload { workers: 9, pattern: Pattern::Sequential, ..workload() };
    let message = refusal(&asked, &[Bytes::KIB * 32]);
    assert!(message.contains("9 workers") && message.contains("36 KiB"), "{message}");
}

#[test]
fn a_request_that_could_cross_luns_is_refused() {
    let luns = LunLayout::Striped(Bytes::KIB * 6);
    assert!(refusal(&Workload { luns, ..workload() }, &[Bytes::MIB; 2]).contains("multiple"));
    let sizes = SizeSplit(vec![(Bytes::KIB * 4, 1.0), (Bytes::KIB * 8, 1.0)]);
    let asked = Workload { sizes, pattern: Pattern::Sequential, ..workload() };
    assert!(refusal(&asked, &[Bytes::MIB; 2]).contains("several sizes"));
}

#[test]
fn nothing_is_done_by_no_one() {
    assert!(refusal(&Workload { workers: 0, ..workload() }, &[Bytes::MIB]).contains("workers"));
    assert!(refusal(&Workload { depth: 0, ..workload() }, &[Bytes::MIB]).contains("depth"));
}
