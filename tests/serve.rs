//! `fathom serve` from outside: real clients, operators, and what a kill leaves.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::support::{Ended, Running, User, lacks, wait_until};

/// A RAID 6 of six small disks with two spares.
const ARRAY: &str = r#"
name     = "small"
about    = "Small disks"
inherits = "queue"

[devices]
model = "./small.toml"
count = 8

[raid]
level  = "6"
disks  = 6
spares = 2
chunk  = "64KiB"
"#;

const DISK: &str = r#"
name     = "small"
about    = "A small disk that takes 100 us"
kind     = "queue"
capacity = "96MiB"
servers  = 1
service  = "100us"
law      = "fixed"
"#;

/// A server, and the user who has started it.
struct Served {
    user: User,
    running: Option<Running>,
    uri: String,
}

impl Served {
    fn start(options: &str) -> Served {
        let user = User::new();
        user.write("small.toml", DISK);
        user.write("array.toml", ARRAY);
        let mut served = Served { user, running: None, uri: String::new() };
        served.again(options);
        served
    }

    fn again(&mut self, options: &str) {
        let socket = self.user.path("s");
        let line = format!("serve ./array.toml --unix {} {options}", socket.display());
        let mut command = self.user.command(&line);
        command.env("XDG_RUNTIME_DIR", self.user.path("."));
        let mut running = Running::of(&mut command);
        running.wait_for("fathom array status");
        self.running = Some(running);
        self.uri = format!("nbd+unix:///?socket={}", socket.display());
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

    /// Runs a client to its end; `None` where it is not installed.
    fn client(&self, program: &str, arguments: &[&str]) -> Option<Ended> {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(self.user.path(".")).stdin(Stdio::null());
        match command.output() {
            Ok(output) => Some(Ended::of(&output)),
            Err(_) => {
                lacks(program, &format!("{program} is not installed"));
                None
            }
        }
    }

    fn kill(&mut self) {
        self.running.take().unwrap().kill_all();
    }
}

#[test]
fn nbdinfo_and_nbdcopy_see_an_export_and_holes_and_get_back_what_they_wrote() {
    let served = Served::start("--memory --pace max");
    let Some(info) = served.client("nbdinfo", &["--json", &served.uri]) else { return };
    let info = info.done().json();
    let export = &info["exports"][0];
    assert_eq!(export["export-size"], 4 * 96 << 20);
    for can in ["can_flush", "can_fua", "can_trim", "can_zero", "can_multi_conn", "can_df"] {
        assert_eq!(export[can], true, "{can}");
    }
    assert_eq!(info["structured"], true);
    let data: Vec<u8> = (0..4_u64 * 96 << 17).flat_map(|word| (word * 0x9E37_79B9).to_le_bytes()).collect();
    let (data, size) = (&data[..64 << 20], 4 * 96 << 20);
    served.user.write("in.raw", data);
    File::options().write(true).open(served.user.path("in.raw")).unwrap().set_len(size).unwrap();
    served.client("nbdcopy", &["in.raw", &served.uri]).unwrap().done();
    served.client("nbdcopy", &[&served.uri, "out.raw"]).unwrap().done();
    assert!(fs::read(served.user.path("in.raw")).unwrap() == fs::read(served.user.path("out.raw")).unwrap());
    let map = served.client("nbdinfo", &["--map", "--totals", &served.uri]).unwrap().done();
    assert!(map.out.contains("hole"), "{}", map.out);
}

#[test]
fn qemu_io_writes_reads_zeroes_and_discards() {
    let served = Served::start("--memory --pace max");
    let commands = [
        "write -P 0xab 1M 64k",
        "read -P 0xab 1M 64k",
        "flush",
        "write -z 1M 32k",
        "read -P 0 1M 32k",
        "read -P 0xab 1056k 32k",
        "write -f -P 0xcd 3000k 700k",
        "read -P 0xcd 3000k 700k",
        "discard 0 8M",
        "read -P 0 0 512k",
    ];
    let mut arguments = vec!["-f", "raw"];
    commands.iter().for_each(|command| arguments.extend(["-c", command]));
    arguments.push(&served.uri);
    let Some(ended) = served.client("qemu-io", &arguments) else { return };
    let ended = ended.done();
    assert!(!ended.out.contains("failed"), "{}", ended.out);
}

#[test]
fn fio_verifies_what_it_wrote_while_two_drives_are_pulled_and_rebuilt() {
    let served = Served::start("--dir d --pace max");
    let uri = format!("--uri={}", served.uri);
    let job = [
        "--name=v",
        "--ioengine=nbd",
        &uri,
        "--rw=randwrite",
        "--bsrange=4k-256k",
        "--size=64m",
        "--io_size=256m",
        "--iodepth=8",
        "--verify=crc32c",
        "--verify_fatal=1",
        "--do_verify=1",
    ];
    let fio = std::thread::scope(|scope| {
        let fio = scope.spawn(|| served.client("fio", &job));
        served.array("pull 1").done();
        served.array("pull 4").done();
        fio.join().unwrap()
    });
    served.wait_for_state("optimal");
    if let Some(fio) = fio {
        fio.done();
    }
    served.array("verify 0").done();
    wait_until("the verify", || served.status()["works"].as_array().unwrap().is_empty());
    let events = served.array("events").done().out;
    assert!(events.contains("verify complete\n"), "nothing was found: {events}");
    assert!(events.contains("bay 1: drive") && events.contains("removed"), "{events}");
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

/// A client by hand: the negotiation of a plain export, and requests with simple replies.
struct Plain(UnixStream);

impl Plain {
    fn connect(socket: &Path) -> Plain {
        let mut stream = UnixStream::connect(socket).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        let mut greeting = [0; 18];
        stream.read_exact(&mut greeting).unwrap();
        stream.write_all(&3_u32.to_be_bytes()).unwrap();
        stream.write_all(b"IHAVEOPT\0\0\0\x01\0\0\0\0").unwrap();
        let mut export = [0; 10];
        stream.read_exact(&mut export).unwrap();
        Plain(stream)
    }

    /// The error of a request, 0 for none; `None` where the server has gone.
    fn request(&mut self, command: u16, offset: u64, data: &mut [u8]) -> Option<u32> {
        let len = u32::try_from(data.len()).unwrap();
        let mut header = 0x2560_9513_u32.to_be_bytes().to_vec();
        header.extend([0, 0]);
        header.extend(command.to_be_bytes());
        header.extend(7_u64.to_be_bytes());
        header.extend(offset.to_be_bytes());
        header.extend(len.to_be_bytes());
        self.0.write_all(&header).ok()?;
        if command == 1 {
            self.0.write_all(data).ok()?;
        }
        let mut reply = [0; 16];
        self.0.read_exact(&mut reply).ok()?;
        let error = u32::from_be_bytes(reply[4..8].try_into().unwrap());
        if command == 0 && error == 0 {
            self.0.read_exact(data).ok()?;
        }
        Some(error)
    }
}

#[test]
fn nothing_flushed_is_lost_when_the_server_is_killed_under_load() {
    const BLOCK: usize = 8192;
    const BLOCKS: u64 = 512;
    let mut served = Served::start("--dir d --pace max");
    let mut flushed = vec![0_u64; BLOCKS as usize];
    let (mut number, mut draw) = (0_u64, 1_u64);
    for round in 0..5 {
        let mut latest = flushed.clone();
        let mut client = Plain::connect(&served.user.path("s"));
        if round == 2 {
            // From now on every write is one of a degraded set.
            served.array("fail 0").done();
        }
        let mut running = served.running.take();
        let killer = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(200 + 37 * round));
            running.take().unwrap().kill_all();
        });
        loop {
            draw = draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let at = (draw >> 33) % BLOCKS;
            number += 1;
            let mut data = number.to_le_bytes().repeat(BLOCK / 8);
            // In doubt until it is answered, and until it is flushed.
            latest[at as usize] = number;
            if client.request(1, at * BLOCK as u64, &mut data) != Some(0) {
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
            assert_eq!(client.request(0, at * BLOCK as u64, &mut data), Some(0));
            // A write that was under way may have come part of the way, sector by sector.
            for sector in data.chunks(512) {
                let found = u64::from_le_bytes(sector[..8].try_into().unwrap());
                assert!(
                    sector == found.to_le_bytes().repeat(64),
                    "round {round}: a torn sector at block {at}"
                );
                assert!(
                    found >= flushed[at as usize] && found <= latest[at as usize].max(flushed[at as usize]),
                    "round {round}: block {at} holds {found}, flushed was {}",
                    flushed[at as usize]
                );
            }
            flushed[at as usize] = u64::from_le_bytes(data[..8].try_into().unwrap());
        }
    }
    served.wait_for_state("optimal");
    served.array("verify 0").done();
    wait_until("the verify", || served.status()["works"].as_array().unwrap().is_empty());
    assert!(served.array("events").done().out.contains("verify complete\n"));
    served.kill();
}

#[test]
fn clients_that_are_half_open_silent_or_flooding_harm_nobody_and_256_are_held() {
    let served = Served::start("--memory --pace max");
    let socket = served.user.path("s");
    let half_open: Vec<UnixStream> = (0..64).map(|_| UnixStream::connect(&socket).unwrap()).collect();
    let mut held: Vec<Plain> = (0..256).map(|_| Plain::connect(&socket)).collect();
    let mut flood = Plain::connect(&socket);
    // A request for more than any may carry ends the connection; so does nonsense.
    flood.0.write_all(&[0x25, 0x60, 0x95, 0x13, 0, 0, 0, 1]).unwrap();
    flood.0.write_all(&[0xFF; 20]).unwrap();
    assert_eq!(flood.0.read(&mut [0; 16]).unwrap_or(0), 0);
    let mut nonsense = UnixStream::connect(&socket).unwrap();
    nonsense.write_all(&vec![0x5A; 4096]).unwrap();
    // One that reads none of its answers is no obstacle for the others.
    let silent = Plain::connect(&socket);
    silent.0.set_write_timeout(Some(Duration::from_millis(200))).unwrap();
    let mut read = 0x2560_9513_u32.to_be_bytes().to_vec();
    read.extend([0; 4]);
    read.extend([0; 16]);
    read.extend((1_u32 << 20).to_be_bytes());
    for _ in 0..512 {
        if (&silent.0).write_all(&read).is_err() {
            break;
        }
    }
    for (at, client) in held.iter_mut().enumerate() {
        let mut data = vec![at as u8 ^ 0x33; 4096];
        assert_eq!(client.request(1, at as u64 * 4096, &mut data), Some(0));
        let mut read = vec![0; 4096];
        assert_eq!(client.request(0, at as u64 * 4096, &mut read), Some(0));
        assert!(read == data);
    }
    // Beyond the end there is nothing to read or to write.
    let mut data = vec![0; 512];
    assert_eq!(held[0].request(0, 4 * 96 << 20, &mut data), Some(22));
    assert_eq!(held[0].request(1, 4 * 96 << 20, &mut data), Some(28));
    assert_eq!(held[0].request(0, u64::MAX - 100, &mut data), Some(22));
    drop(half_open);
    served.array("status").done();
}

#[test]
fn with_the_pace_of_the_model_a_request_takes_as_long_as_in_it() {
    let served = Served::start("--memory");
    let mut client = Plain::connect(&served.user.path("s"));
    let began = std::time::Instant::now();
    for at in 0..200 {
        assert_eq!(client.request(0, at * 65536, &mut [0; 4096]), Some(0));
    }
    let each = began.elapsed() / 200;
    // The disk alone takes 100 µs.
    assert!(each >= Duration::from_micros(100), "{each:?}");
    assert!(each < Duration::from_millis(20), "{each:?}");
}
