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
