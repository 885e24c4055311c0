//! Details that were seen in the real one: where jobs end, which files they share, what they read back.

use units::{Bytes, Nanos};
use workload::spec::{Extent, Pattern, Span, Workload};

use super::{only, phases, refusal, translate};

#[test]
fn a_job_that_runtime_may_end_reads_back_no_more_than_it_has_written() {
    let write = only("[a]\nrw=randwrite\nbs=4k\nsize=16m\nruntime=2\nrate_iops=500\nverify=crc32c\n");
    assert_eq!((write.sequence.read_back, write.stop.bytes), (Some(u32::MAX), Some(Bytes::MIB * 16)));
}

#[test]
fn a_ramp_changes_nothing_in_what_size_and_runtime_end() {
    let stop = only("[a]\nrw=write\nbs=4k\nsize=32m\nruntime=8\nramp_time=1\n").stop;
    assert_eq!(stop.bytes, Some(Bytes::MIB * 32));
    assert_eq!((stop.run, stop.warmup), (Some(Nanos::from_secs(8)), Nanos::from_secs(1)));
}

#[test]
fn clones_that_begin_further_on_end_where_filesize_does() {
    let text = "[a]\nfilename=dev\nfilesize=32m\nbs=1m\nrw=write\nnumjobs=2\noffset_increment=8m\n";
    let of = |text: &str| {
        let bytes = |workload: &Workload| workload.stop.bytes.map_or(0, |bytes| bytes.get() >> 20);
        let span = |workload: &Workload| match workload.span {
            Span::Of(Extent::Bytes(span)) => span.get() >> 20,
            _ => 0,
        };
        phases(text)[0].iter().map(|workload| (span(workload), bytes(workload))).collect::<Vec<_>>()
    };
    assert_eq!(of(text), [(32, 32), (24, 24)]);
    assert_eq!(of(&format!("{text}loops=2\n")), [(32, 64), (24, 48)]);
    assert_eq!(of(&format!("{text}io_size=40m\n")), [(32, 40), (24, 40)]);
    let refused = refusal(&format!("{text}numjobs=5\n"));
    assert!(refused.contains("offset_increment") && refused.contains("clone 4"), "{refused}");
}

#[test]
fn an_alignment_other_than_the_smallest_size_goes_without_a_map() {
    let repeats = |text: &str| {
        let text = format!("[a]\nrw=randwrite\nsize=64m\n{text}\n");
        only(&text).pattern == Pattern::RandomWithRepeats
    };
    assert!(repeats("bsrange=4100k-8200k\nblockalign=4k"));
    assert!(repeats("bs=4k\nblockalign=8k,4k"), "reads that the job does not ask for count as well");
    assert!(!repeats("bs=4k\nblockalign=4k"));
    assert!(!repeats("bs=4k"));
}

#[test]
fn a_range_of_sizes_is_that_of_all_operations_or_of_those_that_have_one_whichever_end_comes_first() {
    let sizes = |range: &str| {
        let lines = only(&format!("[a]\nrw=randrw\nsize=64m\nbsrange={range}\n"));
        lines.sizes.0.iter().map(|(size, _)| size.get() >> 10).collect::<Vec<_>>()
    };
    assert_eq!(sizes("1k-4k"), [1, 2, 3, 4]);
    assert_eq!(sizes("16k-4k"), [4, 8, 12, 16]);
    assert_eq!(sizes(",8k-16k"), [4, 8, 16]);
    assert_eq!(sizes("1k-2k,"), [1, 2, 4]);
    for range in ["4k", "4k-", "-8k"] {
        let refused = refusal(&format!("[a]\nrw=randrw\nsize=64m\nbsrange={range}\n"));
        assert!(refused.contains(range) && refused.contains("one size is `bs`"), "{refused}");
    }
}

#[test]
fn clones_take_turns_at_their_files_together_or_go_through_them_one_by_one_each_for_itself() {
    let of = |order: &str| {
        let text = "[x]\nnrfiles=4\nsize=4m\nbs=4k\nnumjobs=2\ngroup_reporting\nfile_service_type=";
        let workloads = phases(&format!("{text}{order}\n")).remove(0);
        workloads
            .iter()
            .map(|one| (one.workers, one.stop.bytes.map(|bytes| bytes.get() >> 20)))
            .collect::<Vec<_>>()
    };
    for turns in
        ["random\nrw=randwrite", "random\nrw=read", "roundrobin\nrw=randwrite", "random:8\nrw=randread"]
    {
        assert_eq!(of(turns), [(2, Some(8))], "{turns}");
    }
    for one_by_one in ["sequential\nrw=randwrite", "sequential\nrw=read"] {
        assert_eq!(of(one_by_one), [(1, Some(4)), (1, Some(4))], "{one_by_one}");
    }
}

#[test]
fn a_job_finds_the_file_that_one_before_it_makes() {
    let text = "[prepare]\nfilename=aa\nsize=1m\nrw=write\n[bench]\nfilename=aa\nstonewall\nrw=randread\n";
    assert_eq!(phases(text)[1][0].stop.bytes, Some(Bytes::MIB));
    assert!(
        refusal(&text.replace("[bench]\nfilename=aa", "[bench]\nfilename=bb")).contains("bb does not exist")
    );
}

#[test]
fn one_name_for_several_files_is_one_file_that_is_passed_as_often() {
    let text = "[job]\nfilename_format=file$jobnum\nnrfiles=16\nbs=8k\nsize=4m\n";
    let workload = only(&format!("{text}rw=randrw\n"));
    assert_eq!(workload.span, Span::Of(Extent::Bytes(Bytes::KIB * 256)));
    assert_eq!(workload.stop.bytes, Some(Bytes::MIB * 4));
    assert_eq!(translate(&format!("{text}rw=randrw\n")).targets, ["file0"]);
}

#[test]
fn a_stream_through_one_name_of_several_files_asks_each_block_as_often() {
    let text = "[job]\nbs=8k\nsize=4m\n";
    for names in ["filename_format=file$jobnum\nnrfiles=4\n", "filename=file0:file0:file0:file0\n"] {
        for (rw, rows) in
            [("rw=read\n", 4), ("rw=write\n", 4), ("rw=read\nfile_service_type=sequential\n", 1)]
        {
            let workload = only(&format!("{text}{names}{rw}"));
            assert_eq!(workload.span, Span::Of(Extent::Bytes(Bytes::MIB)), "{names}{rw}");
            assert_eq!(workload.stop.bytes, Some(Bytes::MIB * 4));
            let sequence = workload.sequence;
            assert_eq!((sequence.consecutive, sequence.repeat_offset), (rows, rows > 1), "{names}{rw}");
            assert_eq!(translate(&format!("{text}{names}{rw}")).targets, ["file0"]);
        }
        for odd in ["rw=rw", "rw=read:8k", "rw=write\nbsrange=4k-8k"] {
            let refused = refusal(&format!("{text}{names}{odd}\n"));
            assert!(refused.contains("a place of its own"), "{odd}: {refused}");
        }
    }
}

#[test]
fn requests_are_counted_from_the_end_of_a_ramp() {
    let stop = |more: &str| only(&format!("[a]\nrw=read\nsize=32m\nnumber_ios=500\n{more}\n")).stop;
    assert_eq!((stop("ramp_time=1").ops, stop("ramp_time=1").ops_after_warmup), (Some(500), true));
    assert!(stop("ramp_size=1m").ops_after_warmup && !stop("ramp_time=0").ops_after_warmup);
    // How much the ramp has written nobody knows beforehand.
    let write = only("[a]\nrw=write\nsize=32m\nnumber_ios=500\nramp_time=1\nverify=crc32c\n");
    assert_eq!(write.sequence.read_back, Some(u32::MAX));
}

#[test]
fn a_part_is_trimmed_only_of_what_is_verified_which_is_refused() {
    let text = "[a]\nrw=write\nsize=1m\ntrim_backlog=8\ntrim_percentage=";
    let notes = translate(&format!("{text}30\n")).notes;
    assert!(notes.iter().any(|note| note.contains("trim_percentage")), "{notes:?}");
    assert!(refusal(&format!("{text}30\nverify=crc32c\n")).contains("trim_percentage=30"));
    assert_eq!(phases(&format!("{text}0\nverify=crc32c\n")).len(), 2);
}

#[test]
fn one_job_with_exitall_has_whichever_ends_first_end_all() {
    let phases =
        phases("[global]\nsize=1g\n[a]\n[b]\nexitall\n[c]\nstonewall\nrw=randread\n[d]\nrw=randread\n");
    let of = |phase: &Vec<Workload>| phase.iter().map(|one| one.stop.exit_all).collect::<Vec<_>>();
    assert_eq!((of(&phases[0]), of(&phases[1])), (vec![true, true], vec![false, false]));
}
