use proptest::prelude::*;

use super::output::label;
use super::*;
use crate::Refusal;
use crate::testing::{plan, refused, words};

fn parse(line: &str) -> Result<Command, Refusal> {
    Command::parse(&words(line))
}

#[test]
fn letters_may_stand_together_and_options_anywhere() {
    let command = parse("-tT /dev/sda --direct --offset 10 /dev/sdb").unwrap();
    assert!(command.cached && command.disk && command.direct);
    assert_eq!((command.offset_gib, command.devices.len()), (10, 2));
    assert_eq!(parse("-t --offset=3 x").unwrap().offset_gib, 3);
    for wrong in ["", "-t", "/dev/sda", "--direct /dev/sda", "-t --offset ten x", "-t --offset"] {
        assert!(parse(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn what_is_not_a_timing_is_refused_by_name() {
    let cases = [
        ("-i /dev/sda", "`-i` is not supported"),
        ("-W0 /dev/sda", "a measurement does not"),
        ("--make-bad-sector 7 /dev/sda", "may destroy"),
        ("-V -t /dev/sda", "no other option"),
        ("-a256 /dev/sda", "read-ahead"),
        ("--security-erase x /dev/sda", "`--security-erase` is not supported"),
        ("-t --drect /dev/sda", "did you mean `--direct`"),
        ("-t\u{e4} /dev/sda", "-\u{e4}"),
    ];
    refused(parse, &cases);
}

#[test]
fn every_command_is_a_plan_with_the_timings_in_it() {
    for (line, names) in [
        ("-t x", vec![DISK]),
        ("-T --direct x", vec!["prime", CACHED]),
        ("-tT --offset 2 x", vec!["prime", CACHED, DISK]),
    ] {
        let plan = plan(&parse(line).unwrap().translate("x", 100 << 30, false).unwrap());
        assert!(!plan.estimate().changes_data);
        let loads = plan.points().iter().filter(|point| !point.workloads().is_empty());
        assert_eq!(loads.map(|point| point.name.as_str()).collect::<Vec<_>>(), names);
    }
    assert!(parse("-t --offset 100 x").unwrap().translate("x", 100 << 30, false).is_err());
    assert!(parse("-T x").unwrap().translate("x", 1 << 20, true).is_err());
}

#[test]
fn labels_are_those_of_the_original() {
    assert_eq!(label(true, false, 0), " Timing cached reads:   ");
    assert_eq!(label(true, true, 0), " Timing O_DIRECT cached reads:   ");
    assert_eq!(label(false, false, 0), " Timing buffered disk reads: ");
    assert_eq!(label(false, true, 10), " Timing O_DIRECT disk reads (offset 10 GB): ");
}

proptest! {
    #[test]
    fn no_words_make_it_panic(words in proptest::collection::vec("-{0,2}[ -~]{0,9}", 0..5)) {
        if let Ok(command) = Command::parse(&words) {
            let _ = command.translate("x", u64::MAX, false);
        }
    }
}
