//! `fathom serve` from outside: operators, and what a kill leaves.

use std::os::unix::fs::FileExt;
use std::time::Duration;

use units::convert::narrow;

use crate::support::{Ended, Running, User, wait_until};
use plain::Plain;

#[path = "../crates/serve/tests/clients/plain.rs"]
mod plain;
#[path = "../crates/serve/tests/clients/small.rs"]
mod small;

/// A server, and the user who has started it.
struct Served {
    user: User,
    running: Option<Running>,
}

impl Served {
    fn start(options: &str) -> Served {
        Served::of("./array.toml", "", options)
    }

    /// An array whose description goes on with `more`.
    fn of(array: &str, more: &str, options: &str) -> Served {
        let user = User::new();
        user.write("small.toml", small::DISK);
        user.write("array.toml", &(small::array("./small.toml") + more));
        let mut served = Served { user, running: None };
        served.serve(array, options);
        served
    }

    fn again(&mut self, options: &str) {
        self.serve("./array.toml", options);
    }

    /// Serves an array of the user's.
    fn serve(&mut self, array: &str, options: &str) {
        let socket = self.user.path("s");
        let line = format!("serve {array} --name box --unix {} {options}", socket.display());
        let mut command = self.user.command(&line);
        command.env("XDG_RUNTIME_DIR", self.user.path("."));
        let mut running = Running::of(&mut command);
        running.wait_for("fathom array status");
        self.running = Some(running);
    }

    /// What an operator says, and the answer.
    fn array(&self, line: &str) -> Ended {
        let mut command = self.user.command(&format!("array {line}"));
        command.env("XDG_RUNTIME_DIR", self.user.path("."));
        Ended::of(&command.output().unwrap())
    }

    fn status(&self) -> serde_json::Value {
        self.array("status --format json").done().json()["status"].clone()
    }

    fn wait_for_state(&self, state: &str) {
        wait_until(state, || self.status()["sets"][0]["state"] == state);
    }

    fn kill(&mut self) {
        self.running.take().unwrap().kill_all();
    }
}

#[test]
fn an_operator_is_told_what_is_wrong_and_what_to_do() {
    let served = Served::start("--memory --pace max");
    served.array("fail 99").with(2).saying(&["there is no bay 99; the enclosure has bays 0 to 7"]);
    served.array("insert 3").with(2).saying(&["bay 3: there is a drive in it; pull that first"]);
    served.array("rebuild 0").with(2).saying(&["no member is lost; nothing to rebuild"]);
    served.array("initialise 0 --destroy wrong").with(2).saying(&["--destroy wrong"]);
    let text = served.array("status").done().out;
    assert!(text.contains("RAID 6") && text.contains("optimal") && text.contains("hot spare"), "{text}");
    served.array("rate 30MB/s").done();
    assert_eq!(served.status()["rate"], 30_000_000);
}

#[test]
fn an_address_that_other_machines_reach_is_refused_with_the_reason() {
    let user = User::new();
    let ended = user.fathom("serve md3000 --memory --listen 0.0.0.0:0");
    ended.with(2).saying(&["can be reached from other machines", "ssh -L"]);
}

/// More rounds: `FATHOM_KILLS=50 cargo test -p fathom-io --test main -- killed_under_load`.
#[test]
#[expect(clippy::disallowed_methods, reason = "the server dies at moments that nothing it does has chosen")]
fn nothing_flushed_is_lost_when_the_server_is_killed_under_load() {
    const BLOCK: usize = 8192;
    const BLOCKS: usize = 512;
    let mut served = Served::start("--dir d --pace max");
    let mut flushed = vec![0_u64; BLOCKS];
    let (mut number, mut draw) = (0_u64, 1_u64);
    let asked = std::env::var("FATHOM_KILLS").ok().and_then(|text| text.parse().ok());
    let rounds: u64 = asked.unwrap_or(5);
    for round in 0..rounds {
        let mut latest = flushed.clone();
        let mut client = Plain::connect(&served.user.path("s"));
        if round == rounds / 2 {
            // From now on every write is one of a degraded set.
            served.array("fail 0").done();
        }
        let mut running = served.running.take();
        let killer = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(200 + 37 * (round % 17)));
            running.take().unwrap().kill_all();
        });
        loop {
            draw = draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let at = narrow::<usize>(draw >> 33) % BLOCKS;
            number += 1;
            let mut data = number.to_le_bytes().repeat(BLOCK / 8);
            // In doubt until it is answered, and until it is flushed.
            latest[at] = number;
            if client.request(1, (at * BLOCK) as u64, &mut data) != Some(0) {
                break;
            }
            if number.is_multiple_of(16) {
                match client.request(3, 0, &mut []) {
                    Some(0) => flushed.clone_from(&latest),
                    _ => break,
                }
            }
        }
        killer.join().unwrap();
        served.again("--dir d --pace max");
        let mut client = Plain::connect(&served.user.path("s"));
        for at in 0..BLOCKS {
            let mut data = vec![0; BLOCK];
            assert_eq!(client.request(0, (at * BLOCK) as u64, &mut data), Some(0));
            // A write that was under way may have come part of the way, sector by sector.
            for sector in data.chunks(512) {
                let found = u64::from_le_bytes(sector[..8].try_into().unwrap());
                assert!(
                    sector == found.to_le_bytes().repeat(64),
                    "round {round}: a torn sector at block {at}"
                );
                assert!(
                    found >= flushed[at] && found <= latest[at].max(flushed[at]),
                    "round {round}: block {at} holds {found}, flushed was {}",
                    flushed[at]
                );
            }
            flushed[at] = u64::from_le_bytes(data[..8].try_into().unwrap());
        }
    }
    served.wait_for_state("optimal");
    assert_eq!(served.array("verify 0 --wait").done().out, "set 0: verify complete\n");
    served.kill();
}

#[test]
fn a_verify_that_is_waited_for_ends_with_1_where_it_leaves_something_wrong_and_status_says_what() {
    let served = Served::start("--dir d --pace max --cache off");
    let mut client = Plain::connect(&served.user.path("s"));
    assert_eq!(client.request(1, 0, &mut vec![7; 256 << 10]), Some(0));
    assert_eq!(client.request(3, 0, &mut []), Some(0));
    // One sector of the first stripe, on more drives than RAID 6 survives.
    for bay in 0..3 {
        let path = served.user.path(&format!("d/bay-{bay:02}.disk"));
        let file = std::fs::File::options().read(true).write(true).open(path).unwrap();
        let (mut byte, at) = ([0], (128 << 10) + 8192 + 5 * 512);
        file.read_exact_at(&mut byte, at).unwrap();
        file.write_all_at(&[byte[0] ^ 1], at).unwrap();
    }
    let told = served.array("verify 0 --wait").with(1);
    let text = "set 0: verify complete; 0 sectors corrected, 3 unreadable, 0 stripes with wrong parity";
    assert!(told.out.contains(text), "{}", told.out);
    assert!(served.array("status").done().out.contains(text));
    assert_eq!(served.status()["passes"][0]["unreadable_sectors"], 3);
    assert_eq!(client.request(1, 0, &mut vec![7; 256 << 10]), Some(0));
    served.array("verify 0 --wait").done();
}

#[test]
fn what_a_cache_without_a_battery_loses_by_a_kill_is_named_and_reads_as_an_error() {
    let mut served = Served::start("--dir d --pace max --cache 1MiB");
    let mut client = Plain::connect(&served.user.path("s"));
    assert_eq!(client.request(1, 0, &mut [7; 8192]), Some(0));
    served.array("cache battery-dead").done();
    served.array("cache write-back").with(2).saying(&["the battery of the write cache is dead", "--force"]);
    served.array("cache write-back --force").done();
    assert_eq!(client.request(1, 4096, &mut [8; 4096]), Some(0));
    served.kill();
    served.again("--dir d --pace max --cache 1MiB");
    let text = served.array("cache").done().out;
    assert!(text.contains("battery dead") && text.contains("4 KiB lost"), "{text}");
    assert!(text.contains("lun0  lost: 4 KiB from byte 4096 on"), "{text}");
    let mut client = Plain::connect(&served.user.path("s"));
    let mut read = [0; 4096];
    assert_eq!(client.request(0, 4096, &mut read), Some(5), "EIO");
    assert_eq!(client.request(0, 0, &mut read), Some(0));
    assert_eq!(read, [7; 4096]);
    served.array("cache battery-good").done();
    assert_eq!(client.request(1, 4096, &mut [9; 4096]), Some(0));
    served.kill();
    served.again("--dir d --pace max --cache 1MiB");
    let mut client = Plain::connect(&served.user.path("s"));
    assert_eq!(client.request(0, 4096, &mut read), Some(0));
    assert_eq!(read, [9; 4096], "the battery has kept it");
    assert!(!served.array("cache").done().out.contains("lost"));
    served.kill();
}

#[test]
fn paths_controllers_and_firmware_are_what_an_operator_makes_them_and_the_model_follows() {
    let releases = r#"
[options.firmware]
about   = "firmware release"
default = "1.0"
[options.firmware.choice."1.0"]
[options.firmware.choice."2.0".controller]
read_command = "300ms"
"#;
    let array = "./array.toml?controller.count=2&link.count=2";
    let served = Served::of(array, releases, "--memory --pace model");
    let mut client = Plain::connect(&served.user.path("s"));
    let mut data = [0; 4096];
    assert_eq!(client.request(0, 0, &mut data), Some(0));
    let text = served.array("controller").done().out;
    assert!(text.contains("controller 0  online   lun0") && text.contains("controller 1  online"), "{text}");
    served.array("controller 0 offline").done();
    assert!(served.array("controller").done().out.contains("controller 1  online   lun0"));
    assert_eq!(client.request(0, 0, &mut data), Some(0), "the partner serves it");
    served.array("controller 0 offline").with(2).saying(&["it is offline already"]);
    served.array("path 9 down").with(2).saying(&["there is no path 9; the array has 4"]);
    for path in [2, 3] {
        served.array(&format!("path {path} down")).done();
    }
    assert_eq!(client.request(0, 0, &mut data), Some(5), "no path to the controller that works");
    served.array("path 2 up").done();
    served.array("path 3 up").done();
    served.array("controller 0 online").done();
    assert_eq!(client.request(0, 0, &mut data), Some(0));
    assert!(served.array("path").done().out.contains("path 3  controller 1  up"));

    assert!(served.array("firmware").done().out.contains("firmware 1.0"));
    served.array("firmware 3.0").with(2).saying(&["no firmware 3.0", "1.0, 2.0"]);
    served.array("firmware 2.0").done();
    #[expect(clippy::disallowed_methods, reason = "the pace is one of the real clock")]
    let began = std::time::Instant::now();
    assert_eq!(client.request(0, 8192, &mut data), Some(0));
    assert!(began.elapsed() >= Duration::from_millis(300), "each read costs that much now");
    let events = served.array("events").done().out;
    for said in [
        "lun0: not on its preferred controller; owner is 1",
        "lun0: no path to a controller is left",
        "firmware 2.0 installed",
    ] {
        assert!(events.contains(said), "{said}: {events}");
    }
}

#[test]
fn a_plan_fails_a_disk_of_a_served_array_rebuilds_and_scrubs_it() {
    let served = Served::start("--memory --pace max --no-auto-rebuild");
    let mut client = Plain::connect(&served.user.path("s"));
    for at in 0..64 {
        assert_eq!(client.request(1, at << 20, &mut vec![9; 1 << 20]), Some(0));
    }
    served.user.write(
        "plan.toml",
        r#"
name = "life"
[defaults]
size  = "8KiB"
reads = "100%"
run   = "200ms"
[[phase]]
name = "healthy"
[[phase]]
state = "fail disk 2"
[[phase]]
name = "degraded"
[[phase]]
state = "rebuild"
[[phase]]
state = "scrub"
"#,
    );
    let mut run = served.user.command("run plan.toml --on null:1GiB --served box");
    run.env("XDG_RUNTIME_DIR", served.user.path("."));
    Ended::of(&run.output().unwrap()).done();
    let status = served.status();
    assert_eq!(status["sets"][0]["state"], "optimal");
    assert_eq!(status["bays"][2]["status"], "failed");
    let events = served.array("events").done().out;
    let at = |text: &str| events.find(text).unwrap_or_else(|| panic!("{text}: {events}"));
    assert!(
        at("bay 2: drive failed") < at("rebuild started") && at("rebuild complete") < at("verify complete")
    );
    assert_eq!(served.array("progress").done().out, "100 %\n");
    // A script that waits for a rebuild is not told that there was one.
    served.array("fail 0").done();
    let none = served.array("progress").with(1).saying(&["no work under way; set 0 is degraded"]);
    assert_eq!(none.out, "");
    let percent: serde_json::Value = served.array("progress --format json").with(1).json();
    assert!(percent["percent"].is_null(), "{percent}");
    for bay in [1, 3] {
        served.array(&format!("fail {bay}")).done();
    }
    served
        .array("progress")
        .with(1)
        .saying(&["no work under way; set 0 (RAID 6) has failed", "of bay 3 first"]);
    let status = served.array("status").done().out;
    assert!(
        status.contains("to have it back, pull and insert drive") && status.contains("of bay 3 first"),
        "{status}"
    );
}
