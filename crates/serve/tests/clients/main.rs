//! A served array and real clients.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should say where")]

mod plain;
#[path = "../../../../tests/support/skip.rs"]
mod skip;
mod small;

use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use array::spec::{Address as ArrayAddress, Layered, Shelf, Shipped, Source, SourceText, array_text};
use plain::Plain;
use serve::machine::{Insert, Machine, Options, Shape};
use serve::nbd::Address;
use serve::service::{Pace, Service, ServiceError, Setup};
use tempfile::TempDir;
use units::convert::narrow;

/// What four data disks hold.
const SIZE: u64 = (4 * 96) << 20;

/// The one disk that is no shipped one.
struct Small;

impl Source for Small {
    fn find(&self, _: Shelf, name: &str) -> Option<SourceText<'_>> {
        (name == "small").then(|| SourceText { label: "small".into(), text: small::DISK.into() })
    }

    fn names(&self, _: Shelf) -> Vec<String> {
        Vec::new()
    }
}

struct Served {
    service: Option<Service>,
    folder: TempDir,
    socket: PathBuf,
    uri: String,
}

impl Served {
    /// With members in files or in memory.
    fn start(in_files: bool, pace: Pace) -> Served {
        let folder = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let address = Address::Unix(folder.path().join("s"));
        Served::at(folder, address, None, in_files, pace).unwrap()
    }

    /// On an address, with the certificates of a directory.
    fn at(
        folder: TempDir,
        address: Address,
        certificates: Option<PathBuf>,
        in_files: bool,
        pace: Pace,
    ) -> Result<Served, ServiceError> {
        let addresses = vec![address];
        let library = Layered { first: Small, then: Shipped };
        let address = ArrayAddress::parse("array:small").unwrap();
        let spec = array_text(&library, "small", &small::array("small"), &address).unwrap();
        let socket = folder.path().join("s");
        let service = Service::start(Setup {
            name: "small".into(),
            topology: spec.topology,
            directory: in_files.then(|| folder.path().join("d")),
            addresses,
            certificates,
            files: Vec::new(),
            is_ublk: false,
            control: folder.path().join("control"),
            pace,
            seed: 1,
            options: Options::default(),
        });
        let service = service?;
        let uri = service.uris().next().unwrap().to_owned();
        Ok(Served { service: Some(service), folder, socket, uri })
    }

    fn service(&self) -> &Service {
        self.service.as_ref().unwrap()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs a client to its end, which must be a good one, and gives what it printed; `None` where it is not installed.
    fn client(&self, program: &str, arguments: &[&str]) -> Option<String> {
        let output = self.ended(program, arguments)?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{program}: {text}{}", String::from_utf8_lossy(&output.stderr));
        Some(text)
    }

    /// How a client ended; `None` where it is not installed.
    fn ended(&self, program: &str, arguments: &[&str]) -> Option<Output> {
        run(program, arguments, self.folder.path())
    }

    /// Waits until no background work is left.
    #[allow(clippy::disallowed_methods, reason = "background work is done in real time")]
    fn wait(&self) {
        while self.service().machine().is_busy() {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        if let Some(service) = self.service.take() {
            service.stop().unwrap();
        }
    }
}

/// Runs a program in a directory; `None` where it is not installed.
fn run(program: &str, arguments: &[&str], directory: &Path) -> Option<Output> {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(directory).stdin(Stdio::null());
    let ended = command.output().ok();
    if ended.is_none() {
        skip::lacks(program, &format!("{program} is not installed"));
    }
    ended
}

/// An authority, a server and a client in a directory, under the names that NBD clients know; `false` where nothing is
/// there that makes them.
fn make_certificates(directory: &Path) -> bool {
    const KEY: &str = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";
    fs::create_dir_all(directory).unwrap();
    fs::write(directory.join("names"), "subjectAltName=DNS:localhost,IP:127.0.0.1\n").unwrap();
    let mut lines = vec![format!(
        "req -x509 {KEY} -keyout ca-key.pem -out ca-cert.pem -days 3 -subj /CN=authority \
         -addext basicConstraints=critical,CA:TRUE"
    )];
    for who in ["server", "client"] {
        lines.push(format!("req {KEY} -keyout {who}-key.pem -out {who}.csr -subj /CN=localhost"));
        lines.push(format!(
            "x509 -req -in {who}.csr -CA ca-cert.pem -CAkey ca-key.pem -CAcreateserial -days 3 -extfile names \
             -out {who}-cert.pem"
        ));
    }
    for line in lines {
        let arguments: Vec<&str> = line.split_whitespace().collect();
        let Some(ended) = run("openssl", &arguments, directory) else { return false };
        assert!(ended.status.success(), "{line}: {}", String::from_utf8_lossy(&ended.stderr));
    }
    true
}

#[test]
fn with_tls_a_client_that_has_a_certificate_copies_data_and_no_other_one_comes_in() {
    let folder = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let certificates = folder.path().join("certificates");
    if !make_certificates(&certificates) {
        return;
    }
    let address = Address::Tcp("127.0.0.1:0".parse().unwrap());
    let served = Served::at(folder, address, Some(certificates.clone()), false, Pace::Max).unwrap();
    let stranger = served.path("stranger");
    fs::create_dir(&stranger).unwrap();
    fs::copy(certificates.join("ca-cert.pem"), stranger.join("ca-cert.pem")).unwrap();
    let uri = |who: &Path| format!("{}/?tls-certificates={}", served.uri, who.display());
    let Some(info) = served.client("nbdinfo", &["--json", &uri(&certificates)]) else { return };
    let info: serde_json::Value = serde_json::from_str(&info).unwrap();
    assert_eq!((&info["TLS"], &info["exports"][0]["export-size"]), (&true.into(), &SIZE.into()));
    let data: Vec<u8> = (0..4_u64 << 20).flat_map(|word| (word * 0x9E37_79B9).to_le_bytes()).collect();
    fs::write(served.path("in.raw"), &data).unwrap();
    File::options().write(true).open(served.path("in.raw")).unwrap().set_len(SIZE).unwrap();
    served.client("nbdcopy", &["in.raw", &uri(&certificates)]).unwrap();
    served.client("nbdcopy", &[&uri(&certificates), "out.raw"]).unwrap();
    assert!(fs::read(served.path("in.raw")).unwrap() == fs::read(served.path("out.raw")).unwrap());
    let plain = served.uri.replace("nbds:", "nbd:");
    for other in [uri(&stranger), plain] {
        let ended = served.ended("nbdinfo", &[&other]).unwrap();
        assert!(!ended.status.success(), "{other} came in");
    }
    served.client("nbdinfo", &["--size", &uri(&certificates)]).unwrap();
}

#[test]
fn what_other_machines_reach_is_served_to_those_alone_who_show_a_certificate() {
    let anywhere = Address::Tcp("0.0.0.0:0".parse().unwrap());
    let folder = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let certificates = folder.path().join("certificates");
    if !make_certificates(&certificates) {
        return;
    }
    fs::remove_file(certificates.join("ca-cert.pem")).unwrap();
    let refused = Served::at(folder, anywhere, Some(certificates), false, Pace::Max).err().unwrap();
    assert!(refused.to_string().contains("everybody may come"), "{refused}");
}

#[test]
fn nbdinfo_and_nbdcopy_see_an_export_and_holes_and_get_back_what_they_wrote() {
    let served = Served::start(false, Pace::Max);
    let Some(info) = served.client("nbdinfo", &["--json", &served.uri]) else { return };
    let info: serde_json::Value = serde_json::from_str(&info).unwrap();
    let export = &info["exports"][0];
    assert_eq!(export["export-size"], SIZE);
    for can in ["can_flush", "can_fua", "can_trim", "can_zero", "can_multi_conn", "can_df"] {
        assert_eq!(export[can], true, "{can}");
    }
    assert_eq!(info["structured"], true);
    let data: Vec<u8> = (0..8_u64 << 20).flat_map(|word| (word * 0x9E37_79B9).to_le_bytes()).collect();
    fs::write(served.path("in.raw"), &data).unwrap();
    File::options().write(true).open(served.path("in.raw")).unwrap().set_len(SIZE).unwrap();
    served.client("nbdcopy", &["in.raw", &served.uri]).unwrap();
    served.client("nbdcopy", &[&served.uri, "out.raw"]).unwrap();
    assert!(fs::read(served.path("in.raw")).unwrap() == fs::read(served.path("out.raw")).unwrap());
    let map = served.client("nbdinfo", &["--map", "--totals", &served.uri]).unwrap();
    assert!(map.contains("hole"), "{map}");
}

#[test]
fn a_server_whose_sockets_are_gone_from_the_file_system_ends_all_the_same() {
    let mut served = Served::start(false, Pace::Max);
    for socket in ["s", "control"] {
        std::fs::remove_file(served.path(socket)).unwrap();
    }
    let service = served.service.take().unwrap();
    let (ended, has_ended) = std::sync::mpsc::channel();
    std::thread::spawn(move || ended.send(service.stop().is_ok()));
    assert_eq!(has_ended.recv_timeout(Duration::from_secs(20)), Ok(true));
}

#[test]
fn qemu_io_writes_reads_zeroes_and_discards() {
    let served = Served::start(false, Pace::Max);
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
    assert!(!ended.contains("failed"), "{ended}");
}

#[test]
#[allow(clippy::disallowed_methods, reason = "any moment will do, and the client has the real clock")]
fn fio_verifies_what_it_wrote_while_two_drives_are_pulled_and_rebuilt() {
    let served = Served::start(true, Pace::Max);
    let uri = format!("--uri={}", served.uri);
    let job = [
        "--name=v",
        "--ioengine=nbd",
        &uri,
        "--rw=randwrite",
        "--bsrange=4k-256k",
        "--size=64m",
        "--io_size=128m",
        "--iodepth=8",
        "--verify=crc32c",
        "--verify_fatal=1",
        "--do_verify=1",
    ];
    let machine = served.service().machine();
    std::thread::scope(|scope| {
        scope.spawn(|| served.client("fio", &job));
        std::thread::sleep(Duration::from_millis(300));
        machine.pull(1).unwrap();
        std::thread::sleep(Duration::from_millis(100));
        machine.pull(4).unwrap();
    });
    served.wait();
    assert_eq!(machine.status().sets[0].state, "optimal");
    machine.verify(0, false).unwrap();
    served.wait();
    let events = machine.events().since(0);
    assert!(events.last().unwrap().text.ends_with("verify complete"), "nothing was found: {events:?}");
}

#[test]
fn clients_that_are_half_open_silent_or_flooding_harm_nobody_and_256_are_held() {
    let served = Served::start(false, Pace::Max);
    let socket = &served.socket;
    let half_open: Vec<UnixStream> = (0..64).map(|_| UnixStream::connect(socket).unwrap()).collect();
    let mut held: Vec<Plain> = (0..256).map(|_| Plain::connect(socket)).collect();
    let mut flood = Plain::connect(socket);
    // A request for more than any may carry ends the connection; so does nonsense.
    flood.0.write_all(&[0x25, 0x60, 0x95, 0x13, 0, 0, 0, 1]).unwrap();
    flood.0.write_all(&[0xFF; 20]).unwrap();
    assert_eq!(flood.0.read(&mut [0; 16]).unwrap_or(0), 0);
    let mut nonsense = UnixStream::connect(socket).unwrap();
    nonsense.write_all(&vec![0x5A; 4096]).unwrap();
    // One that reads none of its answers is no obstacle for the others.
    let silent = Plain::connect(socket);
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
        let mut data = vec![narrow::<u8>(at) ^ 0x33; 4096];
        assert_eq!(client.request(1, at as u64 * 4096, &mut data), Some(0));
        let mut read = vec![0; 4096];
        assert_eq!(client.request(0, at as u64 * 4096, &mut read), Some(0));
        assert!(read == data);
    }
    // Beyond the end there is nothing to read or to write.
    let mut data = vec![0; 512];
    assert_eq!(held[0].request(0, SIZE, &mut data), Some(22));
    assert_eq!(held[0].request(1, SIZE, &mut data), Some(28));
    assert_eq!(held[0].request(0, u64::MAX - 100, &mut data), Some(22));
    drop(half_open);
}

#[test]
#[allow(clippy::disallowed_methods, reason = "the pace is one of the real clock")]
fn with_the_pace_of_the_model_a_request_takes_as_long_as_in_it() {
    let served = Served::start(false, Pace::Model(1.0));
    let mut client = Plain::connect(&served.socket);
    let began = std::time::Instant::now();
    for at in 0..200 {
        assert_eq!(client.request(0, at * 65536, &mut [0; 4096]), Some(0));
    }
    let each = began.elapsed() / 200;
    // The disk alone takes 100 µs.
    assert!(each >= Duration::from_micros(100), "{each:?}");
    assert!(each < Duration::from_millis(20), "{each:?}");
}

/// A model of a shipped array, far faster than the clock, and how often it has said that it is broken.
fn pacer() -> (serve::pace::Pacer, std::sync::Arc<std::sync::atomic::AtomicU32>) {
    pacer_of("md3000?raid=5", 1e6)
}

/// A model of any array, that many times as fast as the clock.
fn pacer_of(name: &str, speed: f64) -> (serve::pace::Pacer, std::sync::Arc<std::sync::atomic::AtomicU32>) {
    let topology = array::spec::array(&Shipped, name).unwrap().topology;
    let broken = std::sync::Arc::new(std::sync::atomic::AtomicU32::new(0));
    let count = broken.clone();
    let breaks = move || {
        count.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    };
    let sim = array::sim::Sim::new(&topology, 1).unwrap();
    (serve::pace::Pacer::start(sim, speed, 1, breaks).unwrap(), broken)
}

/// Whether hosts get an answer to a request of `op`, which must come to an end.
fn answered(pacer: &serve::pace::Pacer, op: serve::pace::Op, len: u64) -> bool {
    let (tell, told) = std::sync::mpsc::channel();
    let asked = serve::pace::ModelRequest { lun: 0, op, offset: 0, len };
    pacer.ask(asked).answer(Box::new(move |is_answered| tell.send(is_answered).unwrap()));
    told.recv_timeout(Duration::from_secs(60)).unwrap()
}

#[test]
fn a_request_of_any_length_has_its_answer_at_the_pace_of_the_model() {
    let (pacer, broken) = pacer();
    for len in [1 << 30, (1 << 31) - 512, 1 << 31, (1 << 32) - 512, 1 << 32, 9 << 30] {
        for op in [serve::pace::Op::Read, serve::pace::Op::Write, serve::pace::Op::Nothing] {
            assert!(answered(&pacer, op, len), "{op:?} of {len}");
        }
    }
    assert_eq!(broken.load(std::sync::atomic::Ordering::Relaxed), 0);
}

/// The shipped array in memory, and a model that has its disks.
fn modelled() -> (std::sync::Arc<Machine>, std::sync::Arc<serve::pace::Pacer>) {
    let topology = array::spec::array(&Shipped, "md3000?raid=5").unwrap().topology;
    let shape = Shape::of("md3000?raid=5", &topology).unwrap();
    let options = Options { is_automatic: false, ..Options::default() };
    let machine = Machine::in_memory(shape, &options).unwrap();
    let pacer = std::sync::Arc::new(pacer().0);
    machine.follow(pacer.clone());
    (machine, pacer)
}

#[test]
fn a_set_that_has_its_drives_again_answers_at_the_pace_of_the_model() {
    let (machine, pacer) = modelled();
    machine.pull(1).unwrap();
    assert!(answered(&pacer, serve::pace::Op::Read, 1 << 20), "one is lost");
    machine.pull(2).unwrap();
    assert!(!answered(&pacer, serve::pace::Op::Read, 1 << 20), "two are lost");
    for bay in [1, 2] {
        machine.insert(bay, &Insert::Same).unwrap();
    }
    assert_eq!(machine.status().sets[0].state, "optimal");
    assert!(answered(&pacer, serve::pace::Op::Read, 1 << 20), "both are back");
    machine.fail(3).unwrap();
    assert!(answered(&pacer, serve::pace::Op::Read, 1 << 20), "one of them can be lost again");
}

#[test]
fn a_set_whose_rebuilds_complete_answers_at_the_pace_of_a_model_that_began_with_too_many_of_them() {
    const NAME: &str =
        "md3000?raid.level=5&raid.disks=3&devices.count=4&raid.spares=1&devices.with.capacity=16MiB";
    let shape = Shape::of(NAME, &array::spec::array(&Shipped, NAME).unwrap().topology).unwrap();
    let options = Options { is_automatic: false, cache: Some(0), ..Options::default() };
    let machine = Machine::in_memory(shape, &options).unwrap();
    machine.set_rate(4 << 20);
    machine.fail(1).unwrap();
    machine.rebuild(0).unwrap();
    while machine.status().works.first().is_some_and(|work| work.done < 0.2) {
        serve::clock::wait(Duration::from_millis(1));
    }
    // So slowly that both are under way for as long as a busy machine takes for the lines up to where they may end.
    machine.set_rate(64 << 10);
    machine.pull(0).unwrap();
    machine.write(&mut Default::default(), 0, 0, &vec![7; 4 << 20]).unwrap();
    machine.insert(0, &Insert::Same).unwrap();
    assert_eq!(machine.status().sets[0].state, "failed", "two of three are being filled");
    let pacer = std::sync::Arc::new(pacer_of(NAME, 1.0).0);
    // Both rebuilds are under way: the model loses both slots before the first one stops for want of the other.
    machine.follow(pacer.clone());
    assert!(!answered(&pacer, serve::pace::Op::Read, 1 << 20), "too many are lost");
    machine.set_rate(0);
    while machine.is_busy() {
        serve::clock::wait(Duration::from_millis(1));
    }
    assert_eq!(machine.status().sets[0].state, "optimal");
    assert!(answered(&pacer, serve::pace::Op::Read, 1 << 20));
}

#[test]
fn a_failed_set_that_was_initialised_answers_at_the_pace_of_the_model() {
    let (machine, pacer) = modelled();
    machine.pull(1).unwrap();
    machine.pull(2).unwrap();
    assert!(!answered(&pacer, serve::pace::Op::Read, 1 << 20), "two are lost");
    machine.initialise(0).unwrap();
    assert_eq!(machine.status().sets[0].state, "degraded", "there was one hot spare");
    assert!(answered(&pacer, serve::pace::Op::Read, 1 << 20), "it has enough drives");
    machine.fail(3).unwrap();
    assert!(!answered(&pacer, serve::pace::Op::Read, 1 << 20), "it has too few again");
}

#[test]
fn once_the_model_is_broken_no_request_waits_for_it() {
    let (pacer, broken) = pacer();
    assert!(answered(&pacer, serve::pace::Op::Read, 4096) && !pacer.is_broken());
    pacer.act(|_| panic!("planted by a test"));
    for _ in 0..3 {
        assert!(!answered(&pacer, serve::pace::Op::Read, 4096));
    }
    assert!(pacer.is_broken());
    let verify =
        array::sim::WorkOrder { kind: array::background::BackgroundKind::Verify, set: 0, slot: None };
    pacer.start_work(verify, units::Share::NONE);
    assert!(!answered(&pacer, serve::pace::Op::Read, 4096));
    assert_eq!(pacer.progress(0), None, "no model holds the work back");
    assert_eq!(broken.load(std::sync::atomic::Ordering::Relaxed), 1);
}

#[test]
fn a_file_in_the_place_of_a_socket_stays() {
    let folder = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    fs::write(folder.path().join("s"), "precious").unwrap();
    let place = Address::Unix(folder.path().join("s"));
    let path = folder.path().to_owned();
    let kept = folder.keep();
    let error = Served::at(TempDir::new_in(&kept).unwrap(), place, None, false, Pace::Max).err().unwrap();
    assert!(error.to_string().contains("no socket is there"), "{error}");
    assert_eq!(fs::read_to_string(path.join("s")).unwrap(), "precious");
    fs::remove_dir_all(kept).unwrap();
}

#[test]
fn an_array_that_cannot_be_listened_for_is_stopped_in_order_and_its_log_says_why() {
    let folder = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let kept = folder.path().to_owned();
    let blocked = kept.join("blocked");
    fs::write(&blocked, "precious").unwrap();
    let inner = TempDir::new_in(&kept).unwrap();
    let (log, control) = (inner.path().join("d/events.jsonl"), inner.path().join("control"));
    let told = kept.join("log");
    // What the folder has goes with it: the log is looked at through another name.
    fs::create_dir(inner.path().join("d")).unwrap();
    File::create(&log).unwrap();
    fs::hard_link(&log, &told).unwrap();
    Served::at(inner, Address::Unix(blocked), None, true, Pace::Max).err().unwrap();
    let text = fs::read_to_string(told).unwrap();
    let last: serde_json::Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    assert!(
        last["text"].as_str().unwrap().starts_with("start failed, array stopped: listening on"),
        "{text}"
    );
    assert!(!control.exists());
}
