//! Command lines, collections of job files, and words that nobody meant.

use workload::plan::Plan;

use super::command;
use crate::JobEnvironment;
use crate::fio::{Command, JOB_FILE};

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
