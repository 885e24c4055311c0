//! The names by which a user consents.

use super::*;

#[test]
fn a_spare_disk_with_its_serial_is_written_and_without_it_is_not() {
    let machine = machine();
    assert_eq!(against(&machine, "sda"), []);
    let target = block(&machine, "sda");
    let none = judge(&machine.root(), &target, None).reasons;
    assert_eq!(none, [Reason::NoConsent { names: vec!["S1".into()] }]);
    let other = Consent::parse("S2").expect("it is a serial number");
    let reasons = judge(&machine.root(), &target, Some(&other)).reasons;
    assert_eq!(reasons, [Reason::OtherConsent { given: "S2".into(), names: vec!["S1".into()] }]);
    let permit = permit(&machine.root(), &target, Some(&named("S1"))).expect("nothing is against it");
    assert_eq!(permit.consent.as_deref(), Some("S1"));
}

#[test]
fn of_several_consents_the_one_for_the_target_counts() {
    let machine = machine();
    let target = block(&machine, "sda");
    let consents = |texts: &[&str]| -> Vec<Consent> {
        texts.iter().map(|text| Consent::parse(text).expect("it could be a serial number")).collect()
    };
    let chosen =
        |texts: &[&str]| consent_for(&machine.root(), &target, &consents(texts)).map(Consent::to_string);
    assert_eq!(chosen(&[]), None);
    assert_eq!(chosen(&["S2"]), Some("S2".into()));
    assert_eq!(chosen(&["S2", "/a/file", "S1"]), Some("S1".into()));
    assert_eq!(chosen(&["S2", "S3"]), Some("S2".into()), "the refusal tells what was given");
}

#[test]
fn the_refusal_tells_size_model_serial_and_every_reason() {
    let machine = machine();
    machine.mount("8:0", "/data", "xfs", "/dev/sda");
    machine.append("proc/swaps", "/dev/sda partition 100 0 -2\n");
    let error = permit(&machine.root(), &block(&machine, "sda"), None).expect_err("it is in use").to_string();
    for part in ["2.1 MB", "SPARE 2T", "serial S1", "mounted on /data", "swapoff"] {
        assert!(error.contains(part), "{part} is not in: {error}");
    }
    assert_eq!(error.lines().count(), 3, "{error}");
    assert!(!error.contains("--destroy"), "consent would not help: {error}");
}

#[test]
fn a_partition_on_an_unused_disk_is_written_with_its_own_name_alone() {
    let machine = machine();
    split(&machine);
    assert_eq!(against(&machine, "sda1"), []);
    let disk = Consent::parse("S1").expect("it is a serial number");
    let reasons = judge(&machine.root(), &block(&machine, "sda1"), Some(&disk)).reasons;
    only(&reasons, |reason| matches!(reason, Reason::OtherConsent { .. }));
    let part = Consent::parse("S1-part1").expect("it is a name");
    let reasons = judge(&machine.root(), &block(&machine, "sda"), Some(&part)).reasons;
    only(&reasons, |reason| matches!(reason, Reason::OtherConsent { .. }));
}

#[test]
fn a_serial_number_that_two_disks_share_is_no_consent() {
    let machine = machine();
    spare(&machine, "sdb", "8:16", "S1");
    let shared = Reason::Ambiguous { consent: "S1".into(), other: dev(&machine, "sdb") };
    assert_eq!(against(&machine, "sda"), [shared]);
    machine.by_id("usb-stick-0:0", "sda");
    let by_id = Consent::parse("/dev/disk/by-id/usb-stick-0:0").expect("it is a name");
    assert_eq!(judge(&machine.root(), &block(&machine, "sda"), Some(&by_id)).reasons, []);
}

#[test]
fn a_partition_whose_name_another_disks_has_too_is_ambiguous_and_its_own_disk_is_no_other() {
    let machine = machine();
    split(&machine);
    spare(&machine, "sdb", "8:16", "S1");
    assert_eq!(against(&machine, "sda1"), []);
    machine.partition("sdb", "sdb1", "8:17", 1);
    machine.node("sdb1");
    let shared = Reason::Ambiguous { consent: "S1-part1".into(), other: dev(&machine, "sdb1") };
    assert_eq!(against(&machine, "sda1"), [shared]);
    assert_eq!(against(&machine, "sda2"), []);
}

#[test]
fn a_device_that_nothing_names_is_never_written() {
    let machine = machine();
    machine.disk("zram0", "253:0", 4096);
    machine.node("zram0");
    let consent = Consent::parse("zram0").expect("it could be a serial number");
    let reasons = judge(&machine.root(), &block(&machine, "zram0"), Some(&consent)).reasons;
    assert_eq!(reasons, [Reason::OtherConsent { given: "zram0".into(), names: vec![] }]);
    assert!(reasons[0].to_string().contains("is never written"), "{}", reasons[0]);
}

#[test]
fn what_is_said_before_anything_is_opened_names_what_would_be_written() {
    let root = SysRoot::real();
    let of = |kind: TargetKind| judge(&root, &Target { name: "t".into(), kind }, None);
    let folder = of(TargetKind::Directory("/srv/scratch".into()));
    assert_eq!(
        (folder.what.as_str(), folder.destroys, folder.consents),
        ("scratch files in /srv/scratch", false, vec![])
    );
    assert_eq!(of(TargetKind::NewFile("/srv/new".into())).what, "the new file /srv/new");
    let own = Own::of(b"data");
    let judged = of(TargetKind::File(own.path.clone()));
    let text = own.path.display().to_string();
    assert_eq!(judged.what, format!("{text} (4 B, a file that is not Fathom's own)"));
    assert_eq!((judged.destroys, judged.consents), (true, vec![text]));
}

#[test]
fn consent_where_none_is_needed_is_not_recorded() {
    let folder = tempfile::tempdir().expect("the test has a temporary folder");
    let target = Target { name: "new".into(), kind: TargetKind::NewFile(folder.path().join("new")) };
    let permit = permit(&SysRoot::real(), &target, Some(&named("S1"))).expect("it is not there yet");
    assert_eq!(permit.consent, None);
    assert!(permit.open(0).expect("there is nothing to open").is_none());
}
