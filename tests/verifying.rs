//! What was written is what is read, or the program ends with code 6 and says where it is not.

use std::fs;

use crate::support::{Running, User, wait_until};

const PLAN: &str = r#"
name = "kept"
seed = 9

[defaults]
direct = false
size   = "4KiB"
ops    = 256
verify = "written"

[[phase]]
name  = "write"
reads = "0%"
depth = 8

[[phase]]
name  = "read"
depth = 4
"#;

#[test]
fn what_a_run_has_written_it_reads_back_and_says_how_much_it_checked() {
    let user = User::with_plan(PLAN);
    user.fathom("run plan.toml --on . --set span=1MiB").done();
    let run = user.last();
    let read = &run["points"][1]["workloads"][0];
    assert_eq!(read["verified"]["checked_bytes"], 1 << 20);
    assert_eq!((&read["verified"]["unknown_bytes"], &read["verified"]["corrupt"]), (&0.into(), &0.into()));
    let findings = run["findings"].as_array().unwrap();
    let said = findings.iter().find(|each| each["code"] == "data-verified").unwrap();
    assert_eq!(said["sentence"], "All 1 MiB read were verified against written data.");
    let plain =
        user.fathom("run plan.toml --on . --set span=1MiB --set verify=none --format json").done().json();
    assert!(plain["points"][1]["workloads"][0].get("verified").is_none());
}

#[test]
fn a_byte_that_changed_between_two_runs_is_found_at_its_place() {
    let user = User::with_plan(PLAN);
    let file = user.write("data", vec![3; 1 << 20]);
    let consent = format!("--destroy={}", file.display());
    user.fathom(&format!("run plan.toml --on data {consent}")).done();

    let mut content = fs::read(&file).unwrap();
    content[5 * 4096 + 77] ^= 1;
    fs::write(&file, &content).unwrap();
    let read = user.write("read.toml", PLAN.replace("reads = \"0%\"\n", ""));
    assert!(read.exists());
    user.fathom("run read.toml --on data --set verify=all").with(6).saying(&[
        "2 reads returned wrong data",
        "the first at byte 20480 of",
        "expected a stamp of this seed, of byte 20480",
    ]);
    let run = user.last();
    assert_eq!(run["ending"]["code"], 6);
    let workload = &run["points"][0]["workloads"][0];
    assert_eq!(workload["verified"]["corrupt"], 1);
    let sample = &workload["error_samples"][0];
    assert_eq!((&sample["offset_bytes"], &sample["len_bytes"]), (&20480.into(), &4096.into()));
    assert_eq!(sample["file"], file.display().to_string());
    assert!(sample["found"].as_str().unwrap().contains("was changed"), "{sample}");
    let codes: Vec<&str> =
        run["findings"].as_array().unwrap().iter().map(|each| each["code"].as_str().unwrap()).collect();
    assert!(codes.contains(&"data-corrupt") && !codes.contains(&"errors"), "{codes:?}");
    assert_eq!(fs::read(&file).unwrap(), content, "nothing was written");
}

#[test]
fn what_holds_no_data_is_refused_before_anything_is_touched() {
    let user = User::with_plan(PLAN);
    user.fathom("run plan.toml --on array:md3000").with(2).saying(&["a virtual array stores no data"]);
    user.fathom("run plan.toml --on null:").with(2).saying(&["`null:` stores no data"]);
    user.fathom("run plan.toml --on . --set engine=null").with(2).saying(&["reads nothing that could be"]);
    user.fathom("run plan.toml --on . --set size=1000B").with(2).saying(&["not a multiple of 512B"]);
    assert_eq!(user.files(), ["plan.toml"]);
}

#[test]
fn a_job_of_fio_reads_back_what_it_wrote() {
    let user = User::new();
    user.write(
        "job.fio",
        "[a]\nfilename=data\nrw=randrw\nbs=4k\nsize=1m\niodepth=4\nioengine=libaio\nverify=crc32c\n",
    );
    user.fathom("as fio job.fio").done();
    let run = user.last();
    let points = run["points"].as_array().unwrap();
    let read = &points.last().unwrap()["workloads"][0];
    let verified = &read["verified"];
    assert_eq!(verified["corrupt"], 0);
    let (checked, unknown) =
        (verified["checked_bytes"].as_u64().unwrap(), verified["unknown_bytes"].as_u64().unwrap());
    // About half of the requests wrote; what the others read holds nothing of the job's own, and is not read again.
    assert_eq!(unknown, 0, "{verified}");
    assert!(((1 << 18)..(3 << 18)).contains(&checked), "about half was written: {verified}");
}

/// Runs `line` until it has written for a while, and kills it.
fn killed_while_it_writes(user: &User, line: &str, state: &str) {
    let running = Running::of(&mut user.command(line));
    let is_begun = || {
        let files = fs::read_dir(user.path(state)).into_iter().flatten().flatten();
        files
            .filter_map(|file| fs::read(file.path()).ok())
            .filter_map(|words| words.get(4096..).map(<[u8]>::to_vec))
            .any(|words| words.iter().filter(|byte| **byte != 0).count() > 200)
    };
    wait_until("writes", is_begun);
    running.kill_all();
    let _killed = running.wait();
    // What it has started takes a moment to be gone, and has the state until then.
    let is_free = |file: fs::DirEntry| fs::File::open(file.path()).unwrap().try_lock().is_ok();
    wait_until("the end of what was killed", || {
        fs::read_dir(user.path(state)).unwrap().flatten().all(is_free)
    });
}

#[test]
fn after_a_kill_of_the_writer_a_run_that_only_reads_knows_what_was_acknowledged() {
    let user = User::new();
    let file = user.write("data", vec![3; 1 << 20]);
    let write = PLAN.replace("ops    = 256\n", "run    = \"60s\"\n");
    user.write("plan.toml", write.split("[[phase]]\nname  = \"read\"").next().unwrap());
    let consent = format!("--destroy={}", file.display());
    killed_while_it_writes(
        &user,
        &format!("run plan.toml --on data {consent} --verify-state state"),
        "state",
    );

    let read = "name = \"kept\"\nseed = 9\n[[phase]]\nsize = \"4KiB\"\nverify = \"written\"\nops = 256\npattern = \"sequential\"\n";
    user.write("read.toml", read);
    let line = "run read.toml --on data --set direct=false --verify-state state";
    user.fathom(line).done();
    let verified = user.last()["points"][0]["workloads"][0]["verified"].clone();
    let (checked, unknown) =
        (verified["checked_bytes"].as_u64().unwrap(), verified["unknown_bytes"].as_u64().unwrap());
    assert_eq!(verified["corrupt"], 0, "{verified}");
    assert!(checked >= 50 * 4096, "what was acknowledged is checked: {verified}");
    assert_eq!(checked + unknown, 1 << 20, "{verified}");

    // Without the state nobody knows; with it a block that is not the one that was written last is found.
    fs::write(&file, vec![3; 1 << 20]).unwrap();
    user.fathom(&line.replace(" --verify-state state", "")).done();
    user.fathom(line).with(6).saying(&["wrong data"]);
    user.fathom(&format!("{line} --set seed=10")).with(2).saying(&["of a run with another seed"]);
}

#[test]
fn a_job_of_fio_that_keeps_its_state_is_verified_after_its_writer_was_killed() {
    let user = User::new();
    let job = |more: &str| {
        format!(
            "[a]\nfilename=data\nrw=randwrite\nbs=4k\nsize=1m\niodepth=4\nioengine=libaio\nverify=crc32c\n{more}"
        )
    };
    user.write("write.fio", job("verify_state_save=1\ndo_verify=0\ntime_based\nruntime=60\n"));
    user.write("verify.fio", job("verify_state_load=1\nverify_only\n"));
    killed_while_it_writes(&user, "as fio write.fio", "fathom-verify-state");
    user.fathom("as fio verify.fio").done();
    let verified = user.last()["points"][0]["workloads"][0]["verified"].clone();
    assert_eq!(verified["corrupt"], 0, "{verified}");
    assert!(verified["checked_bytes"].as_u64().unwrap() >= 50 * 4096, "{verified}");
    let mut content = fs::read(user.path("data")).unwrap();
    content.chunks_mut(4096).for_each(|block| block[100] ^= 1);
    fs::write(user.path("data"), content).unwrap();
    user.fathom("as fio verify.fio").with(1);
}

#[test]
fn a_state_to_keep_is_refused_where_the_plan_verifies_nothing() {
    let user = User::with_plan(PLAN);
    let line = "run plan.toml --on . --set span=1MiB --verify-state state";
    let refused = user.fathom(&format!("{line} --set verify=none")).with(2);
    refused.saying(&["no workload of the plan verifies"]);
    user.fathom(line).done();
}
