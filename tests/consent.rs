//! What is never written, and the words that let Fathom write.

use std::fs;

use crate::support::{Loop, Mounted, SMALL, User, mkfs};

const WRITES: &str = "--set reads=0%";

#[test]
fn a_file_of_the_user_is_written_only_under_its_own_name() {
    let user = User::with_plan(SMALL);
    let content = vec![3; 4 << 20];
    let file = user.write("data", &content);
    let line = format!("run plan.toml --on data {WRITES}");
    let allowed = format!("--destroy={}", file.display());
    user.fathom(&line).with(3).saying(&["no consent was given", &allowed]);
    user.fathom(&format!("{line} --destroy={}", user.path("other").display()))
        .with(3)
        .saying(&["which does not name this target", &allowed]);
    user.fathom(&format!("{line} --destroy=*")).with(2).saying(&["wildcard"]);
    assert_eq!(fs::read(&file).unwrap(), content);
    assert!(user.fathom("ls").done().out.contains("No run"), "what was refused is not kept");

    user.fathom(&format!("{line} {allowed}")).done();
    let written = fs::read(&file).unwrap();
    assert_ne!(written, content);
    assert_eq!(written.len(), content.len());
    assert_eq!(user.last()["consents"][0], file.display().to_string());
}

#[test]
fn a_device_is_written_only_under_a_name_that_cannot_move() {
    let user = User::with_plan(SMALL);
    let Some(device) = Loop::make(&user, 4 << 20) else { return };
    let content = fs::read(&device.image).unwrap();
    let line = format!("run plan.toml --on {} {WRITES}", device.node);
    let allowed = format!("--destroy={}", device.consent());
    user.fathom(&line).with(3).saying(&["no consent was given", &allowed]);
    user.fathom(&format!("{line} --destroy=WD-WX11"))
        .with(3)
        .saying(&["`WD-WX11`, which does not name this target"]);
    user.fathom(&format!("{line} --destroy={}", device.node)).with(2).saying(&["after the next boot"]);
    assert_eq!(fs::read(&device.image).unwrap(), content);

    user.fathom(&format!("{line} {allowed}")).done();
    assert_ne!(fs::read(&device.image).unwrap(), content);
    assert_eq!(user.last()["consents"][0], device.consent());
}

#[test]
fn a_mounted_device_is_never_written_whatever_is_said() {
    let user = User::with_plan(SMALL);
    let Some(device) = Loop::make(&user, 16 << 20) else { return };
    if !mkfs(&device) {
        return;
    }
    let line = format!("run plan.toml --on {} {WRITES} --destroy={}", device.node, device.consent());
    user.fathom(&line).with(3).saying(&["signature", "ext4"]);
    let point = user.directory("mounted");
    let Some(_mounted) = Mounted::make(&device, &point) else { return };
    user.fathom(&line).with(3).saying(&["is mounted on", "unmount it first"]);
    // The image would change beneath the file system as well.
    user.fathom(&format!("run plan.toml --on image {WRITES} --destroy={}", device.image.display()))
        .with(3)
        .saying(&["loop device"]);
    // A directory on it is a place for scratch files, as any other.
    user.fathom(&format!("run plan.toml --on mounted {WRITES}")).done();
}

#[test]
fn a_file_in_the_place_of_a_scratch_file_is_not_touched() {
    let user = User::with_plan(SMALL);
    let file = user.write("fathom-scratch-0.dat", "a letter");
    user.fathom("run plan.toml --on .").with(3).saying(&["is not one of Fathom's scratch files"]);
    assert_eq!(fs::read(file).unwrap(), b"a letter");
}
