//! Models that are fitted to what was measured.

use crate::support::{SMALL, User};

/// Two disks behind a cache: few requests a second, so that virtual minutes are soon computed.
const ARRAY: &str = "array:local-sata-raid1";

#[test]
fn a_run_that_is_kept_becomes_an_array_that_answers_alike() {
    let user = User::new();
    user.fathom(&format!("run calibrate --on {ARRAY}")).done();
    let ended = user.fathom("array fit last -o my.toml").done();
    assert!(ended.out.contains("not fitted") && ended.out.contains("Reads alone"), "{}", ended.out);
    assert!(ended.out.contains("Written to my.toml"), "{}", ended.out);
    // A mirror: no distance is slower than another, which says nothing of members.
    assert!(ended.out.contains("not identified: no stride is slower"), "{}", ended.out);
    assert!(ended.out.contains("p99 and other percentiles are not given"), "{}", ended.out);
    user.fathom("array check my.toml").done();
    let held = user.fathom("explain last --model my.toml").done();
    assert!(held.out.contains("cold, QD 1"), "{}", held.out);
    assert!(held.out.contains("a fitted model gives no percentiles"), "{}", held.out);
    let run = user.fathom("run quick --on array:./my.toml --set span=1GiB").done();
    assert!(
        run.out.contains("array:./my.toml") && run.out.contains("Percentiles are not given"),
        "{}",
        run.out
    );
    let latency = &user.last()["points"][0]["workloads"][0]["summary"][0]["response"];
    assert!(
        latency["mean_ns"].as_f64().unwrap() > 0.0 && latency["quantiles"] == serde_json::json!([]),
        "{latency}"
    );
    user.write("plan.toml", SMALL);
    let by_p99 = user.fathom("search plan.toml --on array:./my.toml --slo p99<50ms");
    by_p99.with(2).saying(&["p99<50ms", "fitted to rates and mean response times", "mean<"]);
}

#[test]
fn a_model_may_name_files_beside_it_and_may_be_given_as_an_address() {
    let user = User::new();
    user.write("plan.toml", SMALL);
    user.write(
        "drive.toml",
        "name = 'drive'\nabout = 'a plain queue'\nkind = 'queue'\ncapacity = '1TiB'\nservers = 1\nservice = '1ms'\nlaw = 'fixed'\n",
    );
    user.write(
        "mine.toml",
        "name = 'mine'\nabout = 'one drive'\n[host]\nprocessors = 1\nrequest = '1us'\n[link]\nrate = '4GB/s'\n[protocol]\n\
         kind = 'block'\n[controller]\nread_command = '1us'\nwrite_command = '1us'\n[devices]\nmix = [{model = './drive.toml', count = 1}]\n\
         [raid]\nlevel = '0'\ndisks = 1\nchunk = '64KiB'\n",
    );
    user.fathom("run plan.toml --on array:./mine.toml").done();
    for model in ["mine.toml", "./mine.toml", "array:./mine.toml"] {
        let held = user.fathom(&format!("explain last --model {model}")).done();
        assert!(held.out.contains("1.00"), "{model}: {}", held.out);
    }
    user.fathom("explain last --model none.toml").with(2);
}

#[test]
fn a_run_that_tells_too_little_is_refused_with_what_is_missing() {
    let user = User::new();
    user.fathom("run quick --on array:queue --set run=1s --set warmup=0s").done();
    let ended = user.fathom("array fit last -o my.toml");
    assert_eq!(ended.code, Some(2), "{}", ended.err);
    assert!(ended.err.contains("small region"), "{}", ended.err);
    assert_eq!(user.files(), [""; 0]);
}

/// Reads of two disks, in the text of MSR Cambridge, and one that took no time.
const TWO_DISKS: &str = "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime\n\
    128166372003061629,hm,0,Read,383496192,4096,113736\n\
    128166372013061629,hm,1,Read,2822144,4096,50000\n\
    128166372023061629,hm,0,Read,383590400,4096,63736\n";

#[test]
fn of_a_recording_of_several_disks_one_is_chosen() {
    let user = User::new();
    user.write("two.csv", TWO_DISKS);
    let ended = user.fathom("array fit --spec cheetah-x15 --trace two.csv").with(2);
    ended.saying(&["2 disks, `hm.0`, `hm.1`", "`--disk hm.0`"]);
    user.fathom("array fit --spec cheetah-x15 --trace two.csv --disk hm.2")
        .with(2)
        .saying(&["no disk `hm.2`"]);
    for (disk, requests) in [("hm.0", "2 requests"), ("hm.1", "1 requests")] {
        let line = format!("array fit --spec cheetah-x15 --trace two.csv --disk {disk}");
        let told = user.fathom(&line).done().out;
        assert!(told.contains(requests), "{told}");
    }
}

#[test]
fn a_recording_without_a_mean_and_a_file_that_is_not_read_are_refused_with_what_is() {
    let user = User::new();
    user.write("zero.csv", "at_us,op,offset_bytes,size_bytes,response_us\n0,read,0,4096,0\n");
    user.fathom("array fit --spec cheetah-x15 --trace zero.csv").with(2).saying(&["is zero"]);
    user.write("one.csv", "at_us,op,offset_bytes,size_bytes,response_us\n0,read,0,4096,5000\n");
    user.write("drive.model", "dm_disk X {\n}\n");
    user.fathom("array fit --spec drive.model --trace one.csv").with(2).saying(&[".diskspecs", "not read"]);
    user.fathom("array fit --spec nothing --trace one.csv").with(2).saying(&["no such device", ".parv"]);
    user.write("bad.diskspecs", "disksim_disk X {\n  Model = dm_disk {},\n  Max queue length = abc\n}\n");
    let told = user.fathom("array fit --spec ./bad.diskspecs --trace one.csv").with(2).err;
    assert!(told.contains("bad.diskspecs:2: ") || told.contains("bad.diskspecs:3: "), "{told}");
}

#[test]
fn a_fit_writes_over_no_file_that_describes_something_else() {
    let user = User::new();
    user.write("one.csv", "at_us,op,offset_bytes,size_bytes,response_us\n0,read,0,4096,5000\n");
    user.write("notes.toml", "mine = true\n");
    let fit = "array fit --spec cheetah-x15 --trace one.csv -o";
    user.fathom(&format!("{fit} notes.toml")).with(2).saying(&["notes.toml", "describes no device"]);
    user.fathom("array fit last -o notes.toml").with(2).saying(&["describes no array"]);
    assert_eq!(std::fs::read_to_string(user.path("notes.toml")).unwrap(), "mine = true\n");
    user.fathom(&format!("{fit} drive.toml")).done();
    user.fathom(&format!("{fit} drive.toml")).done();
    user.fathom("array check ./drive.toml").done();
}
