//! IOR's options, where transfers go, and what is printed.

use proptest::prelude::*;
use record::sample;
use units::Nanos;
use workload::plan::Plan;

use super::options::{Offsets, Summary};
use super::*;
use crate::testing::{plan, refused, words};
use crate::{FileSystem, Refusal, TargetInfo};

fn read(line: &str) -> Result<Command, Refusal> {
    Command::parse(&words(line), None)
}

fn job(line: &str) -> (Command, Job) {
    let command = read(line).unwrap();
    let found = vec![TargetInfo::sized(0, false); command.files().unwrap().len()];
    let job = command.job(Destination::Files, &found).unwrap();
    (command, job)
}

/// Names of the points of a plan.
fn points(plan: &Plan) -> Vec<String> {
    plan.points().iter().map(|point| point.name.clone()).collect()
}

#[test]
fn options_have_the_defaults_and_the_letters_of_ior() {
    let command = read("").unwrap();
    let Shape { block, transfer, segments, tasks, repetitions, .. } = command.shape.clone();
    assert_eq!((block, transfer, segments, tasks, repetitions), (1 << 20, 256 << 10, 1, 1, 1));
    assert!(command.writes && command.reads && !command.keeps);
    let command =
        read("-a POSIX -b 16m -t1m -s 4 -i 2 -N8 -Cezz -D 30 -o /x/f -O summaryFormat=JSON,keepFile=1")
            .unwrap();
    let shape = &command.shape;
    assert_eq!((shape.block, shape.transfer, shape.segments), (16 << 20, 1 << 20, 4));
    assert_eq!((shape.tasks, shape.repetitions, shape.offsets), (8, 2, Offsets::Random));
    assert_eq!(shape.stonewall.map(|wall| wall.after), Some(Nanos::from_secs(30)));
    assert!(command.flushes && command.keeps && shape.reorders);
    assert_eq!(command.summary, Summary::Json);
    assert!(!read("-w").unwrap().reads);
    assert!(read("-R").unwrap().reads);
}

#[test]
fn processes_of_a_launcher_are_the_tasks() {
    let of = |line: &str, ranks| Command::parse(&words(line), ranks).map(|command| command.shape.tasks);
    assert_eq!(of("-w", Some(4)).unwrap(), 4);
    assert_eq!(of("-w -N 3", Some(4)).unwrap(), 3);
    assert!(of("-w -N 5", Some(4)).is_err());
    assert_eq!(of("-w -N 5", None).unwrap(), 5);
}

#[test]
fn what_cannot_be_done_is_refused_by_name() {
    refused(
        read,
        &[
            ("-a MPIIO", "POSIX"),
            ("-b 10 -t 3", "no multiple"),
            ("-f script", "script"),
            ("-C -Z -w", "leave one out"),
            ("-z -Z -w", "-F"),
            ("-Z -N 65 -w", "64 tasks"),
            ("--randomPrefill 64k -w", "-z"),
            ("-z --randomPrefill 300k -w", "no multiple"),
            ("-z --randomPrefill 64k -D 3 -w", "-D"),
            ("-M 120%", "75%"),
            ("-O stoneWallingWearOut=1 -w", "-D"),
            ("-O stoneWallingWearOut=1 -D 3", "read in a call"),
            ("-O stoneWallingStatusFile=f -w", "-k"),
            ("-O stoneWallingStatusFile=f -w -k", "stoneWallingWearOut"),
            ("-O stoneWallingWearOutIterations=many", "number"),
            ("-O nonsense=1", "none of those"),
            ("-u -w", "-F"),
            ("-D 3 -w -W", "compared"),
            ("file", "-o FILE"),
            ("-q", "no option"),
            ("-o a@b", "several files"),
            ("-b 0", "size"),
        ],
    );
}

#[test]
fn files_are_named_as_ior_names_them() {
    let named = |line: &str| {
        let files = read(line).unwrap().files().unwrap();
        files.into_iter().map(|file| file.path).collect::<Vec<_>>()
    };
    assert_eq!(named("-o /d/f"), ["/d/f"]);
    assert_eq!(named("-o /d/f -F -N 2"), ["/d/f.00000000", "/d/f.00000001"]);
    assert_eq!(named("-o /d/f -F -N 2 -u"), ["/d/0/f.00000000", "/d/1/f.00000001"]);
    assert_eq!(named("-o /d/f -m -i 2"), ["/d/f.0", "/d/f.1"]);
    assert_eq!(named("-o /d/f -m -i 2 -F")[1], "/d/f.00000000.1");
}

#[test]
fn tasks_read_what_they_draw_where_z_says_so() {
    let of = |line: &str| {
        let plan = plan(&job(line).1.translated);
        let read = plan.points().iter().find(|point| point.name == "read 0").unwrap();
        read.workloads().to_vec()
    };
    let shared = of("-w -r -Z -Z -X 3 -N 8 -s 2 -o /f");
    let offsets: Vec<String> = shared.iter().map(|workload| workload.offset.to_string()).collect();
    assert_eq!(offsets, ["2MiB", "6MiB", "0B", "3MiB", "5MiB", "1MiB", "4MiB", "7MiB"]);
    assert!(shared.iter().all(|workload| workload.pattern.to_string() == "stride(8MiB, 1MiB)"));
    assert!(shared.iter().all(|workload| workload.workers == 1 && workload.stop.bytes.is_some()));
    let own = of("-w -r -Z -Z -X 3 -N 8 -F -o /f");
    assert_eq!([&own[0].on, &own[2].on], [&vec![3], &vec![1]], "files are counted from 1");
}

#[test]
fn a_stonewall_wears_out_and_what_it_has_written_is_read() {
    let written = plan(&job("-w -k -D 3 -O stoneWallingWearOut=1 -N 2 -s 8 -o /f").1.translated);
    let stop = written.points()[0].workloads()[0].stop;
    assert_eq!((stop.run, stop.wear_out), (Some(Nanos::from_secs(3)), true));
    let command = read("-r -k -N 2 -s 8 -t 256k -O stoneWallingWearOutIterations=6 -o /f").unwrap();
    // Of two blocks in a row for each task, and half a block of each in the next segment.
    let found = |bytes: u64| [TargetInfo::sized(bytes, false)];
    let reaches = (3 << 20) + (512 << 10);
    assert!(command.job(Destination::Files, &found(reaches - 1)).is_err());
    let read = plan(&command.job(Destination::Files, &found(reaches)).unwrap().translated);
    assert_eq!(read.points()[0].workloads()[0].stop.bytes, Some(units::Bytes::KIB * 256 * 12));
    let own = self::read("-r -k -F -N 2 -s 8 -t 256k -O stoneWallingWearOutIterations=6 -o /f").unwrap();
    assert_eq!(own.shape.reads_to(8 << 20), 6 * (256 << 10));
}

#[test]
fn what_is_written_at_random_is_filled_before_and_ranges_are_locked() {
    let plan = plan(&job("-w -z -b 1m -t 64k --randomPrefill 512k --posix.rangelocks -o /f").1.translated);
    assert_eq!(points(&plan), ["prefill 0", "write 0"]);
    let [fill, write] = [0, 1].map(|at| plan.points()[at].workloads()[0].clone());
    assert_eq!(fill.sizes.largest().get(), 512 << 10);
    assert_eq!([fill.pattern.to_string(), write.pattern.to_string()], ["sequential", "random"]);
    assert_eq!(write.engine.kind.to_string(), "locked");
    assert!(Job::is_prefill("prefill 0") && !Job::is_prefill("write 0"));
    assert_eq!((Job::repetition("write 3"), Job::repetition("afresh 12")), (Some(3), Some(12)));
}

#[test]
fn the_heading_says_what_ior_says_of_its_options() {
    let heading = |line: &str| {
        let sheet = Sheet {
            asked: read(line).unwrap(),
            command: format!("ior {line}"),
            hostname: "host".into(),
            hosts: 1,
            hog: Some(Hog::Percent(50).of(4 << 30)),
            file_system: None,
            began: String::new(),
        };
        sheet.heading()
    };
    let said = heading("-c -Z -X -3 --dryRun -M 50%");
    for line in [
        "type                : collective\n",
        "ordering inter file : random task offset\ntask offset         : 1\nreorder random seed : -3\n",
        "memoryPerNode       : 2.00 GiB\n",
        "dryRun              : 1\n",
    ] {
        assert!(said.contains(line), "{line} {said}");
    }
    assert!(!heading("-Z -Z").contains("ordering inter file"), "of that IOR says nothing");
}

/// How each load of a call verifies, by its name.
fn verified(line: &str) -> Vec<(String, String)> {
    let plan = plan(&job(line).1.translated);
    let loads = plan.points().iter().filter(|point| !point.workloads().is_empty());
    loads.map(|point| (point.name.clone(), point.workloads()[0].verify.to_string())).collect()
}

#[test]
fn files_that_stay_carry_what_a_later_call_compares_and_all_that_is_read_is_compared() {
    let of = |line: &str| verified(line).into_iter().map(|(_, verify)| verify).collect::<Vec<_>>();
    assert_eq!(of("-w -k -o /f"), ["written"], "a later -R finds stamps");
    assert_eq!(of("-w -o /f"), ["none"], "the file goes");
    assert_eq!(of("-w -W -r -o /f"), ["written", "all", "none"]);
    assert_eq!(of("-w -R -zz -o /f"), ["written", "written"], "blocks are left out");
    let command = read("-r -R -o /f").unwrap();
    let job = command.job(Destination::Files, &[TargetInfo::sized(1 << 20, false)]).unwrap();
    assert_eq!(plan(&job.translated).points()[0].workloads()[0].verify.to_string(), "all");
}

#[test]
fn tasks_read_what_another_host_has_written_where_c_says_so() {
    let over_ranks = Command::parse(&words("-w -W -r -C -Q 3 -k -o /f"), Some(4)).unwrap();
    let job = over_ranks.job(Destination::Files, &[TargetInfo::sized(0, false)]).unwrap();
    let hosts_on: Vec<Option<u32>> =
        plan(&job.translated).points().iter().map(|point| point.workloads()[0].hosts_on).collect();
    assert_eq!(
        hosts_on,
        [None, Some(2), Some(3)],
        "written, compared by the second host on, read by the third"
    );
    assert!(job.translated.notes.is_empty(), "{:?}", job.translated.notes);
}

#[test]
fn writes_that_cannot_be_stamped_say_so_where_a_later_call_might_compare() {
    let notes = job("-w -k -b 1000 -t 1000 -o /f").1.translated.notes.join("\n");
    assert!(notes.contains("512 bytes carry no stamps"), "{notes}");
    assert!(job("-w -k -o /f").1.translated.notes.is_empty());
}

/// The pattern of all workers of the first point, and where the part of each begins and how long it is, in transfers.
fn parts(line: &str) -> (String, Vec<(u64, u64)>) {
    let (command, job) = job(line);
    let plan = plan(&job.translated);
    let workload = &plan.points()[0].workloads()[0];
    let lengths: Vec<_> = job.files.iter().map(|file| units::Bytes::new(file.bytes)).collect();
    let specs = workload::compile(workload, &lengths).unwrap();
    let transfers = |bytes: units::Bytes| bytes.get() / command.shape.transfer;
    let part = |spec: &workload::JobSpec| (transfers(spec.region.start), transfers(spec.region.len));
    (workload.pattern.to_string(), specs.iter().map(part).collect())
}

#[test]
fn block_i_of_each_segment_of_a_shared_file_is_that_of_task_i() {
    // Two of every four transfers, of ten.
    assert_eq!(
        parts("-w -N 2 -b 2k -t 1k -s 3 -o /f"),
        ("stride(4KiB, 2KiB)".into(), vec![(0, 10), (2, 10)])
    );
    assert_eq!(parts("-w -N 2 -b 2k -t 1k -o /f"), ("sequential".into(), vec![(0, 2), (2, 2)]));
    assert_eq!(parts("-w -N 2 -b 2k -t 1k -s 2 -F -o /f"), ("sequential".into(), vec![(0, 4), (0, 4)]));
    assert_eq!(parts("-w -N 1 -b 2k -t 1k -s 2 -o /f"), ("sequential".into(), vec![(0, 4)]));
    assert_eq!(parts("-w -z -N 2 -b 2k -t 1k -s 3 -o /f"), ("random".into(), vec![(0, 6), (6, 6)]));
    assert_eq!(parts("-w -zz -N 2 -b 2k -t 1k -o /f"), ("random(repeats)".into(), vec![(0, 4), (0, 4)]));
}

#[test]
fn phases_follow_each_other_as_in_ior() {
    let (_, twice) = job("-w -r -W -i 2 -d 1 -o /f");
    assert_eq!(
        points(&plan(&twice.translated)),
        ["write 0", "check 0", "read 0", "delay 1", "afresh 1", "write 1", "check 1", "read 1"]
    );
    // Each phase has a name of its own, however many repetitions there are.
    for line in ["-i 4 -o /f", "-F -N 2 -i 4 -k -o /f", "-r -w -W -R -d 1 -i 4 -o /f", "-E -d 1 -i 4 -o /f"] {
        let names = points(&plan(&job(line).1.translated));
        let set: std::collections::BTreeSet<&String> = names.iter().collect();
        assert_eq!(set.len(), names.len(), "{line}: {names:?}");
        assert!(names.contains(&"write 3".to_owned()), "{line}: {names:?}");
    }
    let (_, many) = job("-w -i 2 -m -o /f");
    assert_eq!(points(&plan(&many.translated)), ["write 0", "write 1"]);
    assert_eq!(Job::phase("write 1"), Some((Access::Write, 1)));
    assert_eq!((Job::phase("check 0"), Job::phase("delay 1")), (None, None));
}

#[test]
fn a_file_that_is_only_read_must_be_there() {
    let command = read("-r -o /f").unwrap();
    let refusal = command.job(Destination::Files, &[TargetInfo::sized(4096, false)]).unwrap_err();
    assert!(refusal.to_string().contains("4096"), "{refusal}");
    assert!(command.job(Destination::Files, &[TargetInfo::sized(1 << 20, false)]).is_ok());
    assert!(command.job(Destination::Device, &[TargetInfo::sized(1 << 19, true)]).is_err());
}

#[test]
fn lines_stand_below_their_heads() {
    let (command, _) = job("-w -r -N 2 -b 16m -t 1m -s 4 -i 2 -C -o /f");
    let sheet = Sheet {
        asked: command,
        command: "ior -w".into(),
        hostname: "h".into(),
        hosts: 1,
        hog: None,
        file_system: Some(FileSystem {
            bytes: 252 << 30,
            free: 178 << 30,
            inodes: 16 << 20,
            free_inodes: 8 << 20,
        }),
        began: "Fri Nov 27 00:17:56 2026".into(),
    };
    let row = |access, iteration, seconds| Row {
        access,
        iteration,
        bytes: 128 << 20,
        transfers: 128,
        seconds,
        latency_s: seconds / 64.0,
        sizes: None,
        at_wall: None,
    };
    let rows = [
        row(Access::Write, 0, 1.0),
        row(Access::Read, 0, 0.02),
        row(Access::Write, 1, 0.5),
        row(Access::Read, 1, 0.02),
    ];
    let heading = sheet.heading();
    for line in [
        "segments            : 4\n",
        "task offset         : 1\n",
        "aggregate filesize  : 128 MiB\n",
        "Path                : /f\nFS                  : 252.0 GiB   Used FS: 29.4%   Inodes: 16.0 Mi   Used Inodes: 50.0%\n",
        "GPUDirect           : 0\n",
        "xfersize            : 1 MiB\n",
    ] {
        assert!(heading.contains(line), "{heading}");
    }
    assert_eq!(
        sheet.line(&rows[0]),
        "write     128.00     128.00     0.015625    16384      1024.00    0.000000   1.00       0.000000   1.00       0   \n"
    );
    assert!(
        sheet.line(&rows[1]).starts_with("read      6400       6400       0.000313    16384      1024.00 ")
    );
    let summary = sheet.summary(&rows, "then");
    assert!(summary.contains("\nwrite         256.00     128.00     192.00      64.00     256.00     128.00     192.00      64.00    0.75000 "));
    assert!(summary.contains("         NA            NA     0      2   2    2   0     1        1         0    0      4 16777216  1048576     128.0 POSIX      0\n"), "{summary}");
    assert!(
        sheet
            .csv_line(&rows[0])
            .starts_with("write,128.0000,128.0000,0.0156,16384.0000,1024.0000,0.0000,1.0000,")
    );
    let json = sheet.json(&rows, "then");
    assert!(json.contains("\"bwMiB\": 6400.0000") && json.contains("\"operation\": \"read\""));
    for key in ["\"readFile\": 1", "\"keepFile\": 0", "\"Used Capacity\": \"29.4%\"", "\"dataPacketType\": 0"]
    {
        assert!(json.contains(key), "{key} in {json}");
    }
}

#[test]
fn any_record_of_reads_or_writes_is_printed() {
    let stream = |op| sample::Stream { op, size_bytes: 8192, per_s: 1000, median_ns: 1_000_000, spread: 0.3 };
    let of =
        |ops: &[&'static str]| sample::workload("a", &ops.iter().map(|op| stream(op)).collect::<Vec<_>>());
    let points = vec![
        sample::point(0, "w", vec![of(&["write"])]),
        sample::point(1, "both", vec![of(&["write", "read"])]),
        sample::point(2, "r", vec![of(&["read"])]),
    ];
    let run = sample::run("p", points);
    let text = (TEXT.write)(&run).unwrap();
    let rows: Vec<&str> =
        text.lines().filter(|line| line.starts_with("write  ") || line.starts_with("read  ")).collect();
    assert_eq!(rows.len(), 4, "two lines and two of the summary: {text}");
    assert_eq!((CSV.write)(&run).unwrap().lines().count(), 3);
    assert!((JSON.write)(&run).unwrap().contains("\"tests\""));
    let none = sample::run("p", vec![sample::point(0, "both", vec![of(&["write", "read"])])]);
    assert!((TEXT.write)(&none).unwrap_err().to_string().contains("IOR reads or writes"));
}

proptest! {
    #[test]
    fn no_words_make_it_panic(words in proptest::collection::vec("-?[ -~]{0,8}", 0..6)) {
        if let Ok(command) = Command::parse(&words, None)
            && let Ok(files) = command.files()
        {
            let found = vec![TargetInfo::sized(1 << 40, false); files.len()];
            if let Ok(job) = command.job(Destination::Files, &found) {
                plan(&job.translated);
            }
        }
    }
}

#[test]
fn each_point_of_any_run_has_its_own_sizes_and_the_latency_of_a_transfer() {
    use record::sample::{Stream, point, run, workload};
    let of = |size_bytes: u64, depth: u32| {
        let per_s = 100 * u64::from(depth);
        let stream = Stream { op: "read", size_bytes, per_s, median_ns: 10_000_000, spread: 0.0 };
        let mut result = workload("main", &[stream]);
        result.spec.depth = depth;
        point(0, &format!("{size_bytes}"), vec![result])
    };
    let csv = (CSV.write)(&run("quick", vec![of(4096, 8), of(1 << 20, 1)])).unwrap();
    let rows: Vec<Vec<&str>> = csv.lines().skip(1).map(|line| line.split(',').collect()).collect();
    let sizes: Vec<&str> = rows.iter().map(|row| row[5]).collect();
    assert_eq!(
        sizes.iter().map(|size| size.parse::<f64>().unwrap()).collect::<Vec<_>>(),
        [4.0, 1024.0],
        "{csv}"
    );
    assert_ne!(rows[0][4], rows[1][4], "{csv}");
    for row in &rows {
        let latency: f64 = row[3].parse().unwrap();
        assert!((latency - 0.01).abs() < 1e-4, "ten milliseconds at either depth: {csv}");
    }
}

#[test]
fn values_are_read_as_ior_reads_them() {
    let parse = |line: &str| {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        Command::parse(&words, None).unwrap_or_else(|refusal| panic!("{refusal}"))
    };
    let read = parse("-a=POSIX -b=256m -t 4mb -s=2 -G -1386302275 -B -w -r");
    assert_eq!((read.shape.block, read.shape.transfer, read.shape.segments), (256 << 20, 4 << 20, 2));
    assert_eq!(read.seed, 2_908_665_021, "as many bits of an int");
    assert!(read.direct);
}
