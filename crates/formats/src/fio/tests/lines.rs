//! Command lines, collections of job files, and words that nobody meant.

use workload::plan::Plan;

use super::command;
use crate::JobEnvironment;
use crate::fio::{Command, JOB_FILE, Layout};

#[test]
fn a_command_line_is_jobs_and_files() {
    let read =
        command("--name=a --rw=randread --size=1m --bs 8k --direct=1 --name=b --rw=write --size=2m").unwrap();
    assert_eq!(read.jobs.len(), 2);
    assert_eq!(read.jobs[0].sizes[0], [(8192, 1.0)]);
    assert_eq!(read.translated().targets, ["a.0.0", "b.0.0"]);
    let environment = JobEnvironment {
        file: &|path| Ok(format!("[global]\nrw=read\n[{}]\n[x]\nbs=8k\n", path.trim_end_matches(".fio"))),
        ..JobEnvironment::NONE
    };
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let read = Command::parse(&words("--size=1m one.fio --bs=16k"), &environment).unwrap();
    assert_eq!((&read.jobs[0].sizes[0], &read.jobs[1].sizes[0]), (&vec![(16_384, 1.0)], &vec![(8192, 1.0)]));
    // What the arguments say holds for the first file alone.
    let environment = JobEnvironment { file: &|_| Ok("[x]\nsize=1m\n".into()), ..JobEnvironment::NONE };
    let read = Command::parse(&words("--bs=16k one.fio two.fio"), &environment).unwrap();
    assert_eq!(read.phases().len(), 2);
    assert_eq!((&read.jobs[0].sizes[0], &read.jobs[1].sizes[0]), (&vec![(16_384, 1.0)], &vec![(4096, 1.0)]));
    let environment = JobEnvironment { file: &|_| Ok("[one]\n[x]\n".into()), ..JobEnvironment::NONE };
    let read = Command::parse(&words("--size=1m --section=x one.fio"), &environment).unwrap();
    assert_eq!(read.jobs.len(), 1);
}

#[test]
fn what_needs_a_value_has_it_in_the_next_argument_and_a_switch_has_none() {
    let each = [
        "--fallocate none",
        "--sync dsync",
        "--continue_on_error verify",
        "--fadvise_hint random",
        "--unified_rw_reporting mixed",
        "--clocksource clock_gettime",
        "--significant_figures 5",
        "--buffer_compress_chunk 4k",
        "--unit_base 8",
        "--iodepth_batch_complete_max 4",
        "--io_submit_mode offload",
        "--verify_async 2",
        "--trim_percentage 5",
        "--direct 1",
        "--write_bw_log log",
    ];
    for said in each {
        let (name, value) = said.trim_start_matches('-').split_once(' ').unwrap();
        let read = command(&format!("--name x --size 1M --rw write {said} --bs 8k")).expect(said);
        assert_eq!(read.jobs[0].options.text(name), Some(value), "{said}");
        assert_eq!(read.jobs[0].sizes[1], [(8192, 1.0)], "{said}");
    }
    let file = JobEnvironment { file: &|_| Ok("[x]\nsize=1m\n".into()), ..JobEnvironment::NONE };
    for switch in ["--thread", "--group_reporting", "--time_based", "--norandommap", "--registerfiles"] {
        let words = [switch, "one.fio"].map(str::to_owned);
        assert_eq!(Command::parse(&words, &file).expect(switch).jobs.len(), 1, "{switch}");
    }
}

#[test]
fn a_long_option_may_be_as_short_as_it_is_alone() {
    let line =
        "--name=a --readw=randread --size=1m --loop=2 --numjob=3 --group_rep --output-form=terse -desc x";
    let read = command(line).unwrap();
    assert_eq!(read.wanted.formats, [crate::fio::Format::Terse]);
    let job = &read.jobs[0];
    assert_eq!((job.clones, job.grouped, job.rw.random), (3, true, true));
    assert_eq!((job.options.text("loops"), job.options.text("description")), (Some("2"), Some("x")));
    let refused = command("--name=a --size=1m --time=3").unwrap_err().to_string();
    assert!(refused.contains("--time_based") && refused.contains("--timeout"), "{refused}");
    // A name that is whole is never short for another.
    assert!(command("--name=a --size=1m --rw=read").is_ok() && command("--name=a --size=1m --zz=3").is_err());
}

#[test]
fn what_fio_says_before_its_jobs_has_its_own_words_and_units() {
    let head =
        |line: &str| command(line).unwrap_or_else(|refusal| panic!("{refusal}")).head(&Layout::default());
    let plain = head("--name=a --size=4m --bs=1m,4k --rw=readwrite --ioengine=aio");
    assert!(plain.starts_with("a: (g=0): rw=rw, bs=(R) 1024KiB-1024KiB, (W) 4096B-4096B, "), "{plain}");
    assert!(plain.contains("ioengine=libaio,"), "{plain}");
    let decimal = head("--name=a --size=4m --bs=1m --kb_base=1000");
    assert!(decimal.contains("rw=read, bs=(R) 1000kB-1000kB, "), "{decimal}");
}

#[test]
fn a_file_is_as_large_as_its_size_although_no_whole_number_of_requests_fits_it() {
    let sizes = |line: &str| command(line).unwrap_or_else(|refusal| panic!("{refusal}")).file_sizes();
    assert_eq!(sizes("--name=a --rw=write --size=1m --bs=2300"), Some(vec![1 << 20]));
    assert_eq!(sizes("--name=a --rw=write --size=4MiB --bs=128KiB"), Some(vec![4_000_000]));
    assert_eq!(sizes("--name=a --rw=read --filesize=10000 --bs=4k"), Some(vec![10_000]));
    assert_eq!(sizes("--name=a --rw=read --size=10000 --nrfiles=2 --bs=512"), Some(vec![5000, 5000]));
    assert_eq!(sizes("--name=a --rw=read --size=10000 --offset=4k --bs=512"), Some(vec![14_096]));
}

#[test]
fn what_goes_nowhere_is_as_large_as_it_says_and_needs_no_place_beside_files() {
    let targets = |line: &str| {
        let command = command(line).unwrap_or_else(|refusal| panic!("{refusal}"));
        (command.translated().targets.clone(), command.file_sizes())
    };
    let null = "--name=n --ioengine=null --rw=randrw --size=16T";
    assert_eq!(targets(null).0, ["null:16TiB"]);
    assert_eq!(targets("--name=n --ioengine=null --size=1m").0, ["null:"]);
    let both = format!("--name=m --ioengine=null --size=1m {null}");
    assert_eq!(targets(&both).0, ["null:16TiB"]);
    let beside = format!("{null} --name=f --ioengine=psync --rw=write --size=16k");
    assert_eq!(targets(&beside), (vec!["f.0.0".to_owned()], Some(vec![16 << 10])));
    assert!(command(&format!("{beside} --unlink=1")).unwrap().removes_files());
    assert!(!command(&beside).unwrap().removes_files());
}

#[test]
fn a_path_of_windows_is_refused_by_its_name() {
    let refused = command(r"--name=x --filename=C\:\test.dat --size=1M").unwrap_err().to_string();
    assert!(
        refused.contains("drive letter of Windows") && refused.contains("/mnt/test/test.dat"),
        "{refused}"
    );
    let refused = command(r"--name=x --directory=D\:\ --size=1M").unwrap_err().to_string();
    assert!(refused.contains("drive letter of Windows"), "{refused}");
}

#[test]
fn a_wrong_command_line_is_refused_by_name() {
    for (line, word) in [
        ("", "job file"),
        ("--nme=a", "--name"),
        ("--name=a --rw=wrong --size=1m", "wrong"),
        ("--name=a --rw=write --size=1m --readonly", "--readonly"),
        ("--server", "--server"),
        ("--name=a --output-format=xml --size=1m", "json"),
        ("--name=a --size=1m --ioengine=http", "ioengine=http"),
    ] {
        let refused = command(line).expect_err(line).to_string();
        assert!(refused.contains(word.trim_start_matches("--")), "{line}: {refused}");
    }
}

#[test]
#[allow(clippy::print_stderr, reason = "what is skipped and what is refused is for whoever runs the test")]
fn every_job_file_of_a_collection_is_read_or_refused_with_its_line() {
    let Some(folder) = std::env::var_os("FATHOM_SAMPLES").map(|root| std::path::Path::new(&root).join("fio"))
    else {
        eprintln!("skipped: FATHOM_SAMPLES names no folder with samples");
        return;
    };
    let Ok(entries) = std::fs::read_dir(&folder) else {
        eprintln!("skipped: {} has no samples of fio", folder.display());
        return;
    };
    for path in entries
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "fio"))
    {
        let (name, text) = (path.display().to_string(), std::fs::read_to_string(&path).unwrap());
        match (JOB_FILE.read)(&name, &text, &JobEnvironment::NONE) {
            Ok(translated) => {
                let plan = Plan::parse(&name, &translated.plan, &Default::default());
                assert!(plan.is_ok(), "{name}: {}\n{:?}", translated.plan, plan.err());
                eprintln!("{name}: read");
            }
            Err(refusal) => {
                assert!(refusal.to_string().starts_with(&format!("{name}:")), "{refusal}");
                eprintln!("{refusal}");
            }
        }
    }
}

proptest::proptest! {
    #[test]
    fn no_text_makes_a_reader_panic(text in "\\PC{0,200}", lines in proptest::collection::vec(LINE, 0..12)) {
        let _any = (JOB_FILE.read)("x.fio", &text, &JobEnvironment::NONE);
        let text = format!("[a]\n{}", lines.join("\n"));
        if let Ok(translated) = (JOB_FILE.read)("x.fio", &text, &JobEnvironment::NONE) {
            let plan = Plan::parse("x.fio", &translated.plan, &Default::default());
            // What a plan may not ask for is told by the plan; the language itself is spoken without a fault.
            let faults = plan.err().map(|errors| format!("{errors:?}")).unwrap_or_default();
            proptest::prop_assert!(!faults.contains("is not a key"), "{}\n{faults}", translated.plan);
        }
    }
}

proptest::proptest! {
    #[test]
    fn no_command_line_makes_a_reader_panic(
        words in proptest::collection::vec("(-{0,2}[a-z_-]{0,12}(=\\PC{0,12})?|\\PC{0,16})", 0..10),
        said in proptest::collection::vec(WORD, 0..12),
    ) {
        let environment = JobEnvironment { file: &|_| Ok("[global]\nrw=read\n[x]\nsize=1m\n".into()), ..JobEnvironment::NONE };
        let _any = Command::parse(&words, &environment);
        match Command::parse(&said, &environment) {
            Ok(command) if !command.jobs.is_empty() => {
                let plan = Plan::parse("x.fio", &command.translated().plan, &Default::default());
                let faults = plan.err().map(|errors| format!("{errors:?}")).unwrap_or_default();
                proptest::prop_assert!(!faults.contains("is not a key"), "{}\n{faults}", command.translated().plan);
            }
            Ok(command) => proptest::prop_assert!(command.wanted.answer.is_some()),
            Err(refusal) => proptest::prop_assert!(!refusal.to_string().is_empty()),
        }
    }
}

/// An argument that is more often right than not.
const WORD: &str = "(--(name|section|output|description)=[ab]|--(rw|bs|size|runtime|numjobs|iodepth|nrfiles|filesize|loops|zonesize|zoneskip)(=| )(randrw|read|4k|1m|2|8|30|1g)|--(ioengine)=(psync|libaio|filestat|filecreate|null)|--(direct|thread|group_reporting|stonewall|time_based|readonly|minimal|version|parse-only)(=[01])?|--output-format=(json|terse,normal|xml)|x\\.fio|-[a-z]|--)";

const LINE: &str = "(rw|bs|size|rate|rate_iops|bssplit|bsrange|thinktime|numjobs|nrfiles|offset|runtime|iodepth|filesize|random_distribution|percentage_random|io_size|loops|ba|fsync|ioengine)=(randrw|read:8k|4k|1m|50%|4k/50:8k/50|1k-16k|zipf:1.1|zoned:60/10:40/|2|16|1g|psync|libaio|null|,8k|0x10)";
