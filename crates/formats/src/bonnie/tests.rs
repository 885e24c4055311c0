use proptest::prelude::*;
use workload::plan::Point;

use super::*;
use crate::DataFile;
use crate::testing::{plan, words};

fn request(generation: Generation, line: &str) -> Result<Request, Refusal> {
    Request::parse(generation, &words(line))
}

fn command(generation: Generation, line: &str) -> Command {
    match request(generation, line) {
        Ok(Request::Test(command)) => *command,
        other => panic!("{line}: {other:?}"),
    }
}

#[test]
fn options_are_read_as_getopt_reads_them() {
    let command = command(
        Generation::V200,
        "-qbD -d /mnt -s2g:128k:100:2 -n 4:16384:512:10 -m host -r 512 -x2 -u root -c 3 -z 7 -f",
    );
    assert_eq!((command.quiet, command.sync_each, command.direct), (true, true, true));
    assert_eq!((command.directory.as_str(), command.size_mib), ("/mnt", Some(2048)));
    assert_eq!((command.chunk, command.seeks, command.seekers), (128 << 10, 100, 2));
    assert_eq!(command.files, Some(FileTest { thousands: 4, max: 16384, min: 512, dirs: 10 }));
    assert_eq!((command.runs, command.copies, command.seed), (Some(2), 3, Some(7)));
    assert_eq!((command.chars, command.notes.len()), (Chars::Skip, 0));
}

#[test]
fn the_versions_differ_where_they_did() {
    assert_eq!(command(Generation::V103, "-fy -n 0").chars, Chars::Skip);
    assert!(command(Generation::V103, "-y").together);
    assert!(command(Generation::V200, "-y s").together);
    assert!(command(Generation::V200, "-ys").together);
    assert_eq!(command(Generation::V200, "-f1").chars, Chars::Mib(1));
    assert_eq!(command(Generation::V200, "").chars, Chars::Mib(3));
    assert!(request(Generation::V200, "-f 1").is_err(), "as in the original, only `-f1` has a value");
    assert_eq!((command(Generation::V103, "").seekers, command(Generation::V200, "").seekers), (3, 5));
    assert!(request(Generation::V103, "-c 2").is_err());
    assert_eq!(request(Generation::V200, "-u root -p 3"), Ok(Request::Semaphores(3)));
    assert_eq!(request(Generation::V103, "-p -1"), Ok(Request::NoSemaphores));
    assert_eq!(command(Generation::V200, "-u nobody").notes.len(), 1);
}

#[test]
fn what_is_not_supported_is_refused_by_name() {
    for (line, words) in [
        ("-n 1:-1", "tree = \"link\""),
        ("-n 1:65536:0:1:4096", "one call"),
        ("-y p", "-y s"),
        ("-s 10:1000", "power of two"),
        ("-s many", "-s"),
        ("-s 0 -n 0", "nothing to test"),
        ("-x 0", "-x"),
        ("-k", "-k"),
        ("--size 10", "--size"),
        ("/mnt", "-d"),
        ("-d", "needs a value"),
    ] {
        let refusal = request(Generation::V200, line).expect_err(line).to_string();
        assert!(refusal.contains(words), "{line}: {refusal}");
    }
}

#[test]
fn random_numbers_follow_from_a_number_or_from_a_file_whichever_was_said_last() {
    let said = |line: &str| {
        let command = command(Generation::V200, line);
        (command.seed, command.random_file)
    };
    assert_eq!(said("-z 5 -Z numbers"), (None, Some("numbers".into())));
    assert_eq!(said("-Z numbers -z 5"), (Some(5), None));
    assert_ne!(seed_of(b"a"), seed_of(b"b"));
    let job = command(Generation::V200, "-Z a,b -s 300 -r 0").job(&HERE).unwrap();
    assert_eq!(job.sheet.seed, "a_b");
}

proptest! {
    #[test]
    fn no_words_make_it_panic(words in proptest::collection::vec("-?[a-zA-Z0-9:é-]{0,9}", 0..5), new in any::<bool>()) {
        let generation = if new { Generation::V200 } else { Generation::V103 };
        let _either = Request::parse(generation, &words);
    }
}

const HERE: Machine = Machine { is_array: false, ram_mib: 4000, hostname: String::new(), pid: 77, seed: 9 };

fn job(generation: Generation, line: &str, machine: &Machine) -> Result<Job, Refusal> {
    match request(generation, line)? {
        Request::Test(command) => command.job(machine),
        other => panic!("{other:?}"),
    }
}

fn points(job: &Job) -> Vec<Point> {
    plan(&job.translated).points().to_vec()
}

#[test]
fn the_size_is_twice_the_memory_and_no_less() {
    let size = |line: &str, ram_mib| {
        job(Generation::V200, line, &Machine { ram_mib, ..HERE }).map(|job| job.sheet.size_mib)
    };
    assert_eq!(size("-d /mnt", 100), Ok(300));
    assert_eq!(size("-d /mnt", 2000), Ok(4096), "nearly 4 GiB are called 4 GiB");
    assert_eq!(size("-d /mnt", 2100), Ok(4200));
    assert_eq!(size("-d /mnt -s 4200", 2100), Ok(4200));
    assert_eq!(size("-d /mnt -s 100 -r 0", 2100), Ok(100));
    let refusal = size("-d /mnt -s 4g", 2100).unwrap_err().to_string();
    assert!(refusal.contains("File size should be double RAM for good results, RAM is 2100M"), "{refusal}");
    let array = Machine { is_array: true, ..HERE };
    assert_eq!(job(Generation::V103, "-d array:x", &array).unwrap().sheet.size_mib, 300);
}

#[test]
fn files_are_those_of_the_version() {
    let old = job(Generation::V103, "-d /mnt -s 2500 -r 0 -n 0", &HERE).unwrap();
    let names: Vec<&str> = old.translated.targets.iter().map(String::as_str).collect();
    assert_eq!(names, ["/mnt/Bonnie.77.000", "/mnt/Bonnie.77.001", "/mnt/Bonnie.77.002"]);
    assert_eq!(old.data_files[2].bytes, 452 << 20);
    let new = job(Generation::V200, "-d /mnt -s 2500 -r 0", &HERE).unwrap();
    assert_eq!(new.translated.targets, ["/mnt/Bonnie.77", "/mnt"]);
    assert_eq!(new.data_files, [DataFile { path: "/mnt/Bonnie.77".into(), bytes: 2500 << 20 }]);
    let copies = job(Generation::V200, "-d /mnt -s 10 -r 0 -c 2 -n 0", &HERE).unwrap();
    assert_eq!(copies.translated.targets, ["/mnt/Bonnie.77.000", "/mnt/Bonnie.77.001"]);
}

#[test]
fn every_job_is_a_plan_that_asks_for_the_work() {
    let lines = ["", "-f", "-b -D -s 10:1024:100:2", "-s 10 -c 3", "-s 0 -n 1:5000:100:7 -b", "-n 0"];
    for (generation, is_array) in [
        (Generation::V103, false),
        (Generation::V103, true),
        (Generation::V200, false),
        (Generation::V200, true),
    ] {
        for line in lines.iter().filter(|line| generation == Generation::V200 || !line.contains("-c 3")) {
            let line = match generation {
                Generation::V103 => line.replace(":100:2", ""),
                Generation::V200 => (*line).into(),
            };
            let job =
                job(generation, &format!("-r 0 -d /mnt {line}"), &Machine { is_array, ..HERE }).unwrap();
            let (mut written, mut read) = (0, 0);
            for workload in points(&job).iter().flat_map(Point::workloads) {
                let bytes = workload.stop.bytes.map_or(0, units::Bytes::get);
                let is_block = workload.sizes.largest().get()
                    == u64::from(if line.contains(":1024") { 1024 } else { 8192u32 });
                if workload.tree.is_none() && is_block && workload.mix.reads == units::Share::NONE {
                    written += bytes;
                } else if workload.tree.is_none() && is_block && workload.rewrites == units::Share::NONE {
                    read += bytes;
                }
            }
            let size = (job.sheet.size_mib * u64::from(job.sheet.copies)) << 20;
            assert_eq!((written, read), (size, size), "{line}\n{}", job.translated.plan);
        }
    }
}

#[test]
fn the_phases_come_in_the_order_of_the_original() {
    let job = job(Generation::V103, "-r 0 -s 10 -n 1 -d /mnt", &HERE).unwrap();
    let names: Vec<String> = points(&job).iter().map(|point| point.name.clone()).collect();
    let tests: Vec<Test> = names.iter().filter_map(|name| Test::of_phase(name)).collect();
    assert_eq!(tests, figures::TESTS.map(|(test, _)| test));
}

#[test]
fn what_is_flushed_each_time_are_the_writes_of_the_seeks_and_small_files() {
    for generation in [Generation::V103, Generation::V200] {
        let job = job(generation, "-r 0 -s 10 -n 1 -b -d /mnt", &HERE).unwrap();
        let flushes = |point: &Point| {
            point
                .workloads()
                .iter()
                .any(|workload| workload.durability.every.is_some())
                .then(|| point.name.clone())
        };
        let each: Vec<String> = points(&job).iter().filter_map(flushes).collect();
        assert_eq!(each, [Test::Seeks.phase()]);
        let small = job.translated.plan.matches("\"each\"").count();
        assert_eq!(small, 4, "{}", job.translated.plan);
    }
}
