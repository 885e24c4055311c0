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
    for wrong in ["", "-t", "-t --offset ten x", "-t --offset"] {
        assert!(parse(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn what_changes_a_drive_is_refused_by_name() {
    let cases = [
        ("-J /dev/sda", "`-J` is not supported"),
        ("-N /dev/sda --read-sector x", "--read-sector"),
        ("-N100 /dev/sda", "`-N100` is not supported: it changes the drive"),
        ("-W0 /dev/sda", "`-W0` is not supported: it changes the drive"),
        ("-rW 1 /dev/sda", "`-W1` is not supported: it changes the drive"),
        ("-S 242 /dev/sda", "`-S` is not supported: it changes the drive"),
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
fn questions_are_answered_in_the_originals_order_and_none_is_all_of_them() {
    let asked = |line: &str| parse(line).unwrap().asked;
    assert_eq!(asked("-ra x"), [Query::ReadOnly, Query::ReadAhead]);
    assert_eq!(asked("-aCr -r x"), [Query::ReadOnly, Query::ReadAhead, Query::Power]);
    assert_eq!(asked("-q -r x -a"), [Query::ReadAhead]);
    assert_eq!(asked("-t x"), []);
    assert_eq!(asked("-q -r x"), []);
    for line in ["x", "-v x", "--direct x"] {
        assert_eq!(asked(line), Query::DEFAULTS, "{line}");
        assert!(parse(line).unwrap().by_default);
    }
}

#[test]
fn what_needs_no_device_is_done_without_one() {
    assert_eq!(parse("--fibmap f").unwrap().alone, Some(Alone::Places("f".into())));
    assert_eq!(parse("--Istdin").unwrap().alone, Some(Alone::Words));
    assert!(parse("--security-help").unwrap().alone.is_some() && SECURITY.contains("--security-erase"));
    assert_eq!(parse("--read-sector 7 x").unwrap().sector, 7);
}

#[test]
fn highest_sectors_temperatures_and_what_is_read_back_are_lines() {
    let mut words = [0; 256];
    (words[60], words[83], words[86], words[100], words[101]) = (9, 0x4400, 0x0400, 0x1000, 1);
    assert_eq!(HighestSector::of(&words), HighestSector::Extended);
    let line = |native: u64| highest_sector(&words, native);
    assert_eq!(line(0x11000), " max sectors   = 69632/69632, HPA is disabled\n");
    assert!(line(0x12000).ends_with(", HPA is enabled\n") && line(1).contains("seems invalid"));
    assert_eq!(Query::WriteReadVerify.setting(&words), " write-read-verify = not supported\n");
    (words[119], words[120], words[80]) = (2, 2, 0xffff);
    assert_eq!(Query::WriteReadVerify.setting(&words), " write-read-verify =  2\n");
    assert!(temperature(110, 0).contains("is:  35\n") && temperature(0, 0x10).contains("under -20\n"));
    assert!(temperature(0, 0x10).ends_with("in range:  no\n"));
}

#[test]
fn answers_are_printed_as_the_original_prints_them() {
    assert_eq!(Query::ReadOnly.number(0), " readonly      =  0 (off)\n");
    assert_eq!(Query::ReadAhead.number(5120), " readahead     = 5120 (on)\n");
    assert_eq!(Query::Width.number(1), " IO_support    =  1 (32-bit)\n");
    assert_eq!(
        geometry(255, 63, 3_907_029_168, 0),
        " geometry      = 243201/255/63, sectors = 3907029168, start = 0\n"
    );
    assert_eq!(geometry(0, 0, 7, 1), " geometry      = 0/0/0, sectors = 7, start = 1\n");
    assert_eq!(power(Some(0xff)), " drive state is:  active/idle\n");
    assert_eq!(power(None), " drive state is:  unknown\n");
    let words = super::identity::sample();
    let said = |asked: Query| asked.setting(&words);
    assert_eq!(said(Query::WriteCache), " write-caching =  1 (on)\n");
    assert_eq!(said(Query::PowerManagement), " APM_level\t= not supported\n");
    assert_eq!(said(Query::Acoustic), " acoustic      = not supported\n");
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
