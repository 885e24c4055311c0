//! What can be measured, and that nothing of it is left behind or harmed.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::process::Command;

use serde_json::Value;
use units::Bytes;

use crate::support::{Ended, Loop, Mounted, SMALL, User, mkfs};

/// The one workload of the one point of a run.
fn workload(run: &Value) -> &Value {
    &run["points"][0]["workloads"][0]
}

fn ops_of(run: &Value) -> u64 {
    workload(run)["classes"].as_array().unwrap().iter().map(|class| class["ops"].as_u64().unwrap()).sum()
}

#[test]
fn a_directory_is_measured_on_a_scratch_file_that_is_gone_afterwards() {
    let user = User::with_plan(SMALL);
    user.directory("disk");
    let ended = user.fathom("run plan.toml --on disk").done();
    assert!(ended.out.contains("small on disk"), "{}", ended.out);
    assert!(ended.out.ends_with('\n') && !ended.out.ends_with("\n\n"), "{:?}", ended.out);
    assert_eq!(fs::read_dir(user.path("disk")).unwrap().count(), 0);
    let run = user.last();
    assert!(ops_of(&run) > 0);
    assert_eq!(run["targets"][0]["kind"], "directory");
    assert_eq!(run["targets"][0]["size_bytes"], 4 << 20);
    assert_eq!(run["ending"]["code"], 0);
}

#[test]
fn a_file_of_hosts_names_the_targets_of_each_and_a_host_without_one_is_told() {
    let user = User::with_plan(SMALL);
    user.directory("own");
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    user.write("hosts", format!("another /dev/none\n{host} own # this one\n"));
    user.fathom("run plan.toml --hosts-config hosts").done();
    assert_eq!(user.last()["targets"][0]["kind"], "directory");
    user.write("hosts", "another /dev/none\n");
    user.fathom("run plan.toml --hosts-config hosts").with(2).saying(&["no line for host", "another"]);
    user.fathom("run plan.toml --hosts-config hosts --on own").with(2).saying(&["cannot be used with"]);
}

#[test]
fn a_kept_scratch_file_serves_the_next_run() {
    let user = User::with_plan(SMALL);
    user.fathom("run plan.toml --on . --keep").done();
    let scratch = user.path("fathom-scratch-0.dat");
    let inode = fs::metadata(&scratch).unwrap().ino();
    user.fathom("run plan.toml --on . --keep").done();
    assert_eq!(fs::metadata(&scratch).unwrap().ino(), inode);
}

#[test]
fn a_file_of_the_user_is_read_and_stays_as_it_was() {
    let user = User::with_plan(SMALL);
    let content = vec![3; 4 << 20];
    let file = user.write("data", &content);
    let before = fs::metadata(&file).unwrap();
    user.fathom("run plan.toml --on data").done();
    assert_eq!(fs::read(&file).unwrap(), content);
    assert_eq!(fs::metadata(&file).unwrap().mtime_nsec(), before.mtime_nsec());
    let run = user.last();
    assert_eq!(run["targets"][0]["kind"], "file");
    assert!(ops_of(&run) > 0);
}

#[test]
fn reads_of_a_file_that_was_never_written_are_told_as_nothing() {
    let user = User::with_plan(SMALL);
    let file = user.write("data", vec![3; 1 << 20]);
    fs::File::options().write(true).open(&file).unwrap().set_len(8 << 20).unwrap();
    let ended = user.fathom("run plan.toml --on data").with(4);
    assert!(ended.out.contains("unwritten-data"), "{}", ended.out);
    let run = user.last();
    // One block in eight holds data, all of it threes.
    let zeros = run["targets"][0]["facts"]["zeros in a sample"].as_str().unwrap();
    assert!(["52 of 60", "53 of 60"].contains(&zeros), "{zeros}");
    let findings = run["findings"].as_array().unwrap();
    let found = findings.iter().find(|finding| finding["code"] == "unwritten-data").expect("it is told");
    assert_eq!(found["severity"], "invalid", "{found}");
    assert!(findings.iter().any(|finding| finding["code"] == "compressible-content"), "{findings:?}");
}

#[test]
fn a_file_that_is_not_there_is_made_and_removed() {
    let user = User::with_plan(SMALL);
    let ended = user.fathom("run plan.toml --on new --create --set reads=50%").done();
    ended.saying(&["new does not exist and is created as a file and removed at the end"]);
    assert_eq!(user.files(), ["plan.toml"]);
    let totals = user.last()["points"][0]["workloads"][0]["totals"].clone();
    let moved: Vec<&str> =
        totals.as_array().unwrap().iter().map(|total| total["op"].as_str().unwrap()).collect();
    assert_eq!(moved, ["read", "write"]);
}

#[test]
fn a_name_that_was_mistyped_makes_no_file() {
    let user = User::with_plan(SMALL);
    user.directory("array");
    for verb in ["run plan.toml --on arary", "run plan.toml --on arary --dry-run", "doctor arary --caches"] {
        user.fathom(verb).with(2).saying(&["arary", "no such file, directory or device", "--create"]);
    }
    user.fathom("search plan.toml --on arary --slo p99<5ms").with(2).saying(&["--create"]);
    for more in ["", " --dry-run"] {
        let array = user.fathom(&format!("run plan.toml --on md3000{more}")).with(2);
        array.saying(&["md3000: no such file", "the virtual array of that name is `array:md3000`"]);
    }
    user.fathom("run plan.toml --on ssd-1?drive=x").with(2).saying(&["is `array:ssd-1?drive=x`"]);
    user.fathom("run plan.toml --on array --against arary")
        .with(2)
        .saying(&["arary: there is no such target"]);
    assert_eq!(user.files(), ["array", "plan.toml"]);
}

/// A plan that leaves the size of its file open.
const OPEN: &str = "name = \"open\"\n[[phase]]\nreads = \"50%\"\nrun = \"200ms\"\n";

fn size_of(run: &Value) -> Bytes {
    Bytes::new(run["targets"][0]["size_bytes"].as_u64().unwrap())
}

/// A default run on a file system of `mib`: what it says beforehand is what it does, and it leaves room.
fn runs_on_a_small_file_system(mib: u64) {
    let user = User::with_plan(OPEN);
    let Some(device) = Loop::sparse(&user, mib << 20) else { return };
    if !mkfs(&device) {
        return;
    }
    let point = user.directory("disk");
    let Some(_mounted) = Mounted::make(&device, &point) else { return };
    let said = user.fathom("run plan.toml --on disk --dry-run --width 1000").done().out;
    user.fathom("run plan.toml --on disk --keep").done();
    let size = size_of(&user.last());
    assert!(
        said.contains(&format!("fathom-scratch-0.dat, {}", size.exact())),
        "{mib} MiB: {size}, and {said}"
    );
    assert!(size >= Bytes::MIB * (mib / 3), "{mib} MiB: {size} is less than could be");
    let inode = fs::metadata(point.join("fathom-scratch-0.dat")).unwrap().ino();
    // What was kept counts as free for the run that uses it.
    user.fathom("run plan.toml --on disk").done();
    assert_eq!(size_of(&user.last()), size);
    assert_eq!(fs::metadata(point.join("fathom-scratch-0.dat")).unwrap().ino(), inode, "it is used again");
}

#[test]
fn a_default_run_does_what_its_dry_run_says_on_small_file_systems() {
    [64, 256].into_iter().for_each(runs_on_a_small_file_system);
}

#[test]
#[ignore = "writes 5 GiB"]
fn a_default_run_does_what_its_dry_run_says_on_file_systems_of_1_to_4_gib() {
    [1024, 2048, 4096].into_iter().for_each(runs_on_a_small_file_system);
}

#[test]
fn scratch_means_what_it_says_or_is_refused_with_what_would_fit() {
    let user = User::with_plan(OPEN);
    user.directory("disk");
    for size in ["16MiB", "64KiB", "80MiB"] {
        user.fathom(&format!("run plan.toml --on disk --scratch {size}")).done();
        assert_eq!(size_of(&user.last()), size.parse().unwrap());
    }
    let rounded = user.fathom("run plan.toml --on disk --scratch 10MB").done();
    rounded.saying(&["9764KiB, as requested", "10MB was rounded down to a multiple of 4 KiB"]);
    assert_eq!(size_of(&user.last()), Bytes::KIB * 9764);
    let refused = |line: &str, words: &[&str]| user.fathom(line).with(2).saying(words);
    refused("run plan.toml --on disk --scratch 100TB", &["--scratch 100TB: ", "iB or less fits"]);
    refused("run plan.toml --on /proc", &["/proc: its file system has no size", "hold no files"]);
    refused("run plan.toml --on disk --scratch 4096TiB", &["--scratch 4096TiB", "free", "or less fits"]);
    refused("run plan.toml --on disk --scratch 1000B", &["multiple of 4 KiB"]);
    refused("run plan.toml --on null: --scratch 1GiB", &["no scratch file is made on null:", "span=1GiB"]);
    refused("run quick --on array:md3000 --scratch 1GiB", &["no scratch file is made on array:md3000"]);
    refused(
        "run plan.toml --on disk --scratch 1MiB --set span=4MiB",
        &["--scratch 1MiB", "give 4MiB or more"],
    );
    assert_eq!(fs::read_dir(user.path("disk")).unwrap().count(), 0);
}

#[test]
fn a_file_system_that_takes_no_file_is_told_before_anything_is_saved() {
    let user = User::with_plan(OPEN);
    let Some(device) = Loop::sparse(&user, 64 << 20) else { return };
    if !mkfs(&device) {
        return;
    }
    let point = user.directory("disk");
    let Some(_mounted) = Mounted::make(&device, &point) else { return };
    let mut all = fs::File::create(point.join("all")).unwrap();
    while std::io::Write::write_all(&mut all, &[7; 1 << 16]).is_ok() {}
    drop(all);
    for more in ["", " --scratch 1MiB"] {
        let refused = user.fathom(&format!("run plan.toml --on disk{more}")).with(2);
        assert!(!refused.err.contains("/proc"), "{}", refused.err);
        refused.saying(&["no space left (0 B of ", "free some, or name another place"]);
    }
    fs::remove_file(point.join("all")).unwrap();
    let remounted = Command::new("mount").args(["-o", "remount,ro"]).arg(&point).status();
    assert!(remounted.unwrap().success());
    let tree = "name = \"files\"\n[[phase]]\ntree = \"create\"\ncount = 10\nfile_size = \"1KiB\"\n";
    user.write("tree.toml", tree);
    for line in ["plan.toml", "plan.toml --scratch 1MiB", "plan.toml --dry-run", "tree.toml"] {
        let refused = user.fathom(&format!("run {line} --on disk")).with(2);
        refused.saying(&["no file can be made there: Read-only file system", "name another place"]);
    }
    assert!(!user.fathom("ls").done().out.contains("disk"), "no run is kept");
}

#[test]
fn a_span_that_a_later_phase_has_no_room_for_is_told_before_anything_runs() {
    let plan = "name = \"late\"\n[defaults]\nrun = \"1h\"\n[[phase]]\nname = \"first\"\n\
                [[phase]]\nname = \"second\"\nspan = \"8192TiB\"\n";
    let user = User::with_plan(plan);
    user.write("data", vec![3; 4 << 20]);
    for target in ["data", "null:1GiB", "array:md3000"] {
        let ended = user.fathom(&format!("run plan.toml --on {target}")).with(2);
        ended.saying(&["point `second`", "span 8192 TiB", "reaches past a target"]);
        user.fathom(&format!("run plan.toml --on {target} --dry-run")).with(2);
    }
}

#[test]
fn a_block_device_is_read_without_a_word_of_consent() {
    let user = User::with_plan(SMALL);
    let Some(device) = Loop::make(&user, 4 << 20) else { return };
    user.fathom(&format!("run plan.toml --on {}", device.node)).done();
    let run = user.last();
    assert_eq!(run["targets"][0]["kind"], "block device");
    assert_eq!(run["targets"][0]["facts"]["device"], device.name());
    assert!(ops_of(&run) > 0);
}

#[test]
fn several_targets_are_joined_as_luns() {
    let user = User::with_plan(SMALL);
    user.directory("a");
    user.directory("b");
    user.fathom("run plan.toml --on a --on b --set luns=striped(64KiB) --set span=8MiB --set reads=100%")
        .done();
    let run = user.last();
    assert_eq!(run["targets"].as_array().unwrap().len(), 2);
    assert_eq!(workload(&run)["span_bytes"], 8 << 20);
}

#[test]
fn null_is_faster_than_any_storage_and_needs_no_room() {
    let user = User::with_plan(SMALL);
    user.fathom("run plan.toml --on null: --set depth=32").done();
    let run = user.last();
    assert_eq!(workload(&run)["engine"]["name"], "null");
    // Unoptimised and on a busy machine it is still a hundred times a disk.
    assert!(ops_of(&run) > 100_000, "{}", ops_of(&run));
    assert_eq!(user.files(), ["plan.toml"]);
}

#[test]
fn a_run_without_a_target_says_how_to_name_one() {
    let user = User::with_plan(SMALL);
    user.fathom("run plan.toml").with(2).saying(&["no target", "--on /mnt/array"]);
}

#[test]
fn a_target_that_is_not_there_is_told_apart_from_a_new_file() {
    let user = User::with_plan(SMALL);
    user.fathom("run plan.toml --on no/such/place").with(2).saying(&["no/such/place", "check the path"]);
    user.fathom("run plan.toml --on /dev/no-such-disk")
        .with(2)
        .saying(&["/dev/no-such-disk", "no such device"]);
    assert!(!fs::exists("/dev/no-such-disk").unwrap());
    user.fathom("run plan.toml --on /dev/null").with(2).saying(&["character device"]);
}

#[test]
fn a_dry_run_opens_nothing_for_writing() {
    let user = User::with_plan(SMALL);
    let file = user.write("data", vec![3; 4 << 20]);
    let before = fs::metadata(&file).unwrap();
    let ended = user.fathom("run plan.toml --on . --dry-run --set reads=0%").done();
    for words in ["1 point in 200 ms", "only writes", "scratch file"] {
        assert!(ended.out.contains(words), "no `{words}` in:\n{}", ended.out);
    }
    // What would be refused is refused here too, with the words that would allow it.
    let ended = user.fathom("run plan.toml --on data --dry-run --set reads=0%").with(3);
    let consent = format!("--destroy={}", file.display());
    assert!(ended.out.contains("would be destroyed") && ended.out.contains(&consent), "{}", ended.out);
    user.fathom_of(["run", "plan.toml", "--on", "data", "--dry-run", "--set", "reads=0%", &consent]).done();
    assert_eq!(user.files(), ["data", "plan.toml"]);
    let after = fs::metadata(&file).unwrap();
    assert_eq!((after.mtime(), after.mtime_nsec()), (before.mtime(), before.mtime_nsec()));
    assert!(!user.path(".local").exists(), "a dry run keeps nothing");
}

#[test]
fn each_workload_can_have_a_target_of_its_own() {
    let user = User::with_plan(
        "[defaults]\nrun = \"100ms\"\nspan = \"4MiB\"\nsize = \"64KiB\"\n[[phase]]\n\
         [[phase.workload]]\nname = \"a\"\non = 1\n[[phase.workload]]\nname = \"b\"\non = \"2\"\nreads = \"0%\"\n",
    );
    let read_only = user.write("a", vec![1u8; 4 << 20]);
    user.write("c", vec![2u8; 4 << 20]);
    let refused = user.fathom("run plan.toml --on a --on c");
    refused.with(3).saying(&["c"]);
    assert_eq!(std::fs::read(&read_only).unwrap(), vec![1u8; 4 << 20]);
    let consent = user.path("c").display().to_string();
    user.fathom(&format!("run plan.toml --on a --on c --destroy {consent}")).done();
    assert_eq!(std::fs::read(&read_only).unwrap(), vec![1u8; 4 << 20]);
    assert_ne!(std::fs::read(user.path("c")).unwrap(), vec![2u8; 4 << 20]);
    user.fathom("run plan.toml --on a").with(2).saying(&["workload `b` is `on` target 2"]);
}

#[test]
fn files_of_their_own_lie_side_by_side_on_the_lun_of_a_virtual_array() {
    let user =
        User::with_plan("[[phase]]\nworkers = 4\nfiles = \"per_worker(2)\"\nrun = \"1s\"\nspan = \"1GiB\"\n");
    user.fathom("run plan.toml --on array:md3000").done();
    let run = user.last();
    assert_eq!(run["points"][0]["workloads"][0]["span_bytes"], 8u64 << 30);
}

#[test]
fn names_that_are_no_text_work_as_bytes() {
    use std::ffi::OsString;
    use std::os::unix::ffi::OsStringExt;
    let user = User::with_plan(SMALL);
    let odd = |text: &str| {
        let bytes = text.bytes().map(|byte| if byte == b'*' { 0xFF } else { byte }).collect();
        OsString::from_vec(bytes)
    };
    let home = user.path("");
    std::fs::create_dir(home.join(odd("d*"))).unwrap();
    std::fs::copy(home.join("plan.toml"), home.join(odd("d*/p*.toml"))).unwrap();
    let fathom = |line: &str| user.command_of(line.split(' ').map(odd)).output().unwrap();
    let done = |line: &str| {
        let ended = fathom(line);
        assert_eq!(ended.status.code(), Some(0), "{line}: {}", String::from_utf8_lossy(&ended.stderr));
        String::from_utf8(ended.stdout).unwrap()
    };
    done("run d*/p*.toml --on d* --scratch 8MiB --store d*/r*.sqlite -o d*/o*.json");
    for made in ["d*/r*.sqlite", "d*/o*.json"] {
        assert!(home.join(odd(made)).is_file(), "{made}");
    }
    assert!(done("ls --store d*/r*.sqlite").contains("d\\xFF"));
    assert!(done("compare d*/o*.json d*/o*.json").contains("d\\xFF"));
    done("plan check d*/p*.toml");
    std::fs::write(home.join(odd("d*/f*")), vec![1; 4 << 20]).unwrap();
    done("run plan.toml --on d*/f* --no-save");
    let refused = fathom("run plan.toml --on d*/f* --no-save --set reads=0%");
    assert_eq!(refused.status.code(), Some(3), "{}", String::from_utf8_lossy(&refused.stderr));
    let consent = OsString::from_vec(
        [b"--destroy=", home.join(odd("d*/f*")).into_os_string().as_encoded_bytes()].concat(),
    );
    let words = ["run", "plan.toml", "--on", "d*/f*", "--no-save", "--set", "reads=0%"].map(odd);
    let ended = user.command_of(words.into_iter().chain([consent])).output().unwrap();
    assert_eq!(ended.status.code(), Some(0), "{}", String::from_utf8_lossy(&ended.stderr));
    done("as dd if=/dev/zero of=d*/g* bs=4k count=4");
    assert_eq!(std::fs::metadata(home.join(odd("d*/g*"))).unwrap().len(), 16_384);
    let absent = fathom("run no*.toml --on null:");
    assert_eq!(absent.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&absent.stderr).contains("no\\xFF.toml"));
}

#[test]
fn a_target_without_its_option_and_a_campaign_that_is_none_are_told_what_to_write() {
    let user = User::new();
    for verb in ["run oltp", "search oltp", "campaign md3000"] {
        user.fathom(&format!("{verb} array:md3000"))
            .with(2)
            .saying(&["a target follows --on: --on array:md3000"]);
    }
    user.fathom("campaign nope").with(2).saying(&["`fathom campaign --list` lists the ready ones"]);
    user.fathom("campaign ./nope.toml").with(2).saying(&["No such file"]);
}

#[test]
fn a_library_that_the_environment_names_is_no_option_of_the_usage() {
    let user = User::new();
    let mut command = user.command("run");
    command.env("FATHOM_STORE", user.path("runs.sqlite"));
    let told = Ended::of(&command.output().unwrap());
    assert!(told.err.contains("Usage: fathom run <PLAN>") && !told.err.contains("--store"), "{}", told.err);
}
