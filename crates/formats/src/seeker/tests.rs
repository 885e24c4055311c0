use super::*;
use crate::Refusal;
use crate::testing::{plan, words};

fn parse(line: &str) -> Result<Command, Refusal> {
    Command::parse(&words(line))
}

#[test]
fn a_thread_count_asks_for_version_three() {
    assert_eq!(parse("/dev/sda").unwrap().seekers, Seekers::One);
    assert_eq!(parse("/dev/sda 60").unwrap().seekers, Seekers::Threads(60));
    assert_eq!(parse("/dev/sda auto").unwrap().seekers, Seekers::UntilFlat);
    for wrong in ["", "/dev/sda 0", "/dev/sda many", "/dev/sda 1 2", "--fast"] {
        assert!(parse(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn every_command_is_a_plan() {
    for line in ["/dev/sda", "/dev/sda 60", "/dev/\"odd\" auto"] {
        assert!(!plan(&parse(line).unwrap().translate(7)).points().is_empty());
    }
}

#[test]
fn the_lines_of_version_two_are_those_of_the_original() {
    let command = parse("/dev/sda").unwrap();
    let size_bytes = 122_104 << 20;
    assert_eq!(
        command.banner(size_bytes),
        "Seeker v2.0, 2007-01-15, http://www.linuxinsight.com/how_fast_is_your_disk.html\n\
         Benchmarking /dev/sda [122104MB], wait 30 seconds"
    );
    let figures = Figures { reads: 445_423, seconds: 30.0, size_bytes };
    assert_eq!(command.result(figures), "\nResults: 14847 seeks/second, 0.07 ms random access time\n");
    assert_eq!(command.result(Figures { reads: 0, ..figures }), "\n");
}

#[test]
fn what_has_several_reads_in_flight_is_no_seek_time() {
    use record::sample::{Stream, point, run, workload};
    let of = |depth: u32| {
        let stream = Stream {
            op: "read",
            size_bytes: 4096,
            per_s: 100 * u64::from(depth),
            median_ns: 10_000_000,
            spread: 0.1,
        };
        let mut result = workload("main", &[stream]);
        result.spec.depth = depth;
        point(0, "reads", vec![result])
    };
    let text = (OUTPUT.write)(&run("random", vec![of(1), of(32)])).unwrap();
    assert_eq!(text.matches("Results:").count(), 1, "{text}");
    assert!(text.contains("100 seeks/second, 10.00 ms"), "{text}");
    let why = (OUTPUT.write)(&run("deep", vec![of(32)])).unwrap_err().to_string();
    assert!(why.contains("one request in flight"), "{why}");
}
