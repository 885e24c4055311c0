//! Whatever bytes it reads, the program says what is wrong with them or takes them; it never panics and never hangs.
//!
//! Seeded mutations of what is in the repository: 2,000 here, as many as `FATHOM_MUTATIONS` says where it is set. What
//! coverage finds beyond them is for `fuzz/`.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use array::spec::{Address, Shipped, array_text};
use formats::{JobEnvironment, decoded, job_files};
use report::Style;
use workload::plan::{Overrides, Plan};
use workload::trace::TraceReader;
use workload::{Job, compile};

#[path = "support/draws.rs"]
mod draws;

use draws::Draws;

/// What a line of a configuration may hold that is hard to take.
const HARD: [&[u8]; 30] = [
    b"0",
    b"-1",
    b"1",
    b"65536",
    b"4294967296",
    b"18446744073709551615",
    b"18446744073709551616",
    b"1e308",
    b"nan",
    b"inf",
    b"0.1",
    b"%",
    b"\"",
    b"'",
    b"[",
    b"]",
    b"{",
    b"}",
    b"=",
    b",",
    b"\n",
    b"\r\n",
    b"\0",
    b"\x1b[2J",
    b"\xff\xfe",
    b"\xe2\x80\xae",
    b"KiB",
    b"GiB",
    b"ns",
    b"[[phase]]\n",
];

fn mutate(seeds: &[Vec<u8>], draws: &mut Draws) -> Vec<u8> {
    let mut bytes = seeds[draws.next(seeds.len())].clone();
    for _ in 0..=draws.next(4) {
        let at = draws.next(bytes.len() + 1);
        let until = (at + draws.next(20)).min(bytes.len());
        match draws.next(8) {
            0 if at < bytes.len() => bytes[at] ^= 1 << draws.next(8),
            1 => drop(bytes.drain(at..until)),
            2 => {
                let copy = bytes[at..until].to_vec();
                bytes.splice(at..at, copy);
            }
            3 => bytes.truncate(at),
            4 => {
                let other = &seeds[draws.next(seeds.len())];
                let from = draws.next(other.len() + 1);
                let until = (from + draws.next(200)).min(other.len());
                bytes.splice(at..at, other[from..until].iter().copied());
            }
            5 => {
                // A number becomes another.
                let digits = |byte: &u8| byte.is_ascii_digit();
                if let Some(start) = bytes[at..].iter().position(digits).map(|after| at + after) {
                    let length = bytes[start..].iter().take_while(|byte| digits(byte)).count();
                    let number = HARD[draws.next(11)];
                    bytes.splice(start..start + length, number.iter().copied());
                }
            }
            _ => drop(
                bytes.splice(at..until.min(at + draws.next(3)), HARD[draws.next(HARD.len())].iter().copied()),
            ),
        }
    }
    bytes
}

/// The files in a folder of the repository with one of these endings.
fn files(folder: &str, endings: &[&str]) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder);
    let mut paths: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| endings.iter().any(|ending| path.extension().is_some_and(|own| own == *ending)));
    paths.sort();
    let files: Vec<Vec<u8>> = paths.iter().map(|path| fs::read(path).unwrap()).collect();
    assert!(!files.is_empty(), "{} has nothing", folder.display());
    files
}

fn share() -> u64 {
    let all = std::env::var("FATHOM_MUTATIONS").ok().and_then(|text| text.parse().ok()).unwrap_or(2_000);
    all / 5_u64
}

/// Gives so many mutations of `seeds` to `take`; names those at which it panics.
fn mutated(what: &str, seeds: &[Vec<u8>], take: impl Fn(&[u8])) {
    let mut failed = Vec::new();
    for number in 0..share() {
        let bytes = mutate(seeds, &mut Draws(number ^ what.len() as u64));
        if catch_unwind(AssertUnwindSafe(|| take(&bytes))).is_err() {
            failed.push((number, String::from_utf8_lossy(&bytes).into_owned()));
        }
    }
    if let Some((number, text)) = failed.first() {
        panic!("{} of {} {what}, the first of them number {number}:\n{text}", failed.len(), share());
    }
}

#[test]
fn no_mutated_plan_ends_in_a_panic() {
    mutated("plans", &files("plans", &["toml"]), |bytes| {
        let text = decoded(bytes);
        match Plan::parse("mutated.toml", &text, &Overrides::default()) {
            Ok(plan) => drop(plan.summary().to_string()),
            Err(errors) => {
                let drawn = errors.plain() + &errors.graphical(false, 80);
                assert!(!drawn.contains(['\u{1b}', '\u{202e}', '\0']), "it commands the terminal");
            }
        }
    });
}

#[test]
fn no_mutated_array_ends_in_a_panic() {
    let address = Address::parse("array:mutated").unwrap();
    mutated("arrays", &files("arrays", &["toml"]), |bytes| {
        drop(array_text(&Shipped, "mutated.toml", &decoded(bytes), &address));
    });
}

const JOBS: [&str; 3] = [
    "[global]\nbs=4k\nsize=64m\n[one]\nrw=randrw\nrwmixread=70\nbssplit=4k/60:8k/40\niodepth=4\nruntime=1\n[two]\n\
     stonewall\nrw=write\nrate_iops=100\nthinktime=1ms\nfilename=/tmp/a:/tmp/b\nnumjobs=4\nverify=crc32c\n",
    "Version 1.1.0\n'TEST SETUP ====\n'Test Description\n\tx\n'Run Time\n'\thours      minutes    seconds\n\t0          0    \
     10\n'ACCESS SPECIFICATIONS ====\n'Access specification name,default assignment\n\t4K,NONE\n4096,100,67,100,0,1,0,0\n\
     'End access specifications\nVersion 1.1.0\n",
    "/tmp/file 2 0x0 100\n# comment\n/dev/sdb 1 0x0\n",
];

#[test]
fn no_mutated_job_file_ends_in_a_panic_or_a_plan_that_is_none() {
    let seeds = JOBS.map(|text| text.as_bytes().to_vec());
    mutated("job files", &seeds, |bytes| {
        let text = decoded(bytes);
        let _known = formats::job_file("job", &text);
        for kind in job_files() {
            let Ok(order) = (kind.read)("job", &text, &JobEnvironment::NONE) else { continue };
            if let Err(errors) = Plan::parse("order.toml", &order.plan, &Overrides::default()) {
                panic!("{} made a plan that cannot be read:\n{}", kind.tool, errors.plain());
            }
        }
    });
}

const TRACES: [&[u8]; 6] = [
    b"fio version 2 iolog\nf add\nf open\nf read 0 4096\nf wait 150\nf write 8192 512\nf sync 0 0\nf close\n",
    b"fio version 3 iolog\n0 f add\n10 f read 0 4096\n20 g trim 8192 512\n",
    b"  8,0    3        1     0.000000000   697  Q   W 223490 + 8 [x]\n  8,0    3        2     0.000000001   697  D FWFS 64 \
      + 8 [x]\nCPU0 (sda):\n",
    b"128166372003061629,usr,0,Read,7014609920,24576,41286\n128166372016382155,usr,1,Write,1317441536,8192,1963\n",
    b"at_s,op,file,offset_bytes,size_bytes\n0.5,read,a,0,4096\n1,flush,a,,\n",
    b"0 4096 0\n# IOzone\n1048576 65536 5\n",
];

#[test]
fn no_mutated_trace_ends_in_a_panic_or_leaves_its_target() {
    const PLAN: &str = "[[phase]]\npattern = \"trace\"\ntrace = \"t\"\ntrace_fold = true\ndirect = false\n";
    let seeds = TRACES.map(<[u8]>::to_vec);
    mutated("traces", &seeds, |bytes| {
        let Ok(trace) = TraceReader::whole("t", bytes) else { return };
        assert!(trace.requests().map(|request| request.at).is_sorted());
        let mut plan = Plan::parse("t.toml", PLAN, &Overrides::default()).unwrap();
        assert!(plan.attach(|_| Ok::<_, ()>(trace.clone())).is_ok());
        let _words = plan.summary().to_string();
        let targets = [1u64 << 20, 1 << 31].map(units::Bytes::new);
        let Ok(specs) = compile(&plan.points()[0].workloads()[0], &targets) else { return };
        let mut job: Job = Job::new(specs.into_iter().next().unwrap());
        let mut batch = Vec::new();
        job.start(units::Instant::START);
        job.plan(units::Instant::START, &mut batch);
        assert!(batch.iter().all(|request| request.offset.get() + u64::from(request.len) <= 1 << 31));
    });
}

#[test]
fn no_mutated_record_ends_in_a_panic() {
    mutated("records", &files("crates/record/tests", &["json"]), |bytes| {
        let Ok(run) = record::read(&decoded(bytes)) else { return };
        drop(report::text(&run, Style { colour: true, unicode: true, width: 80 }));
        drop(report::markdown(&run));
        drop((report::csv(&run), report::json(&run)));
        for output in formats::outputs() {
            drop((output.write)(&run));
        }
        let mut judged = run;
        explain::judge(&mut judged);
    });
}
