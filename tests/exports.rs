//! Exports of NBD servers: those of others, `fathom serve`, and fio's own client beside ours.

use std::process::{Child, Command, Stdio};

use crate::support::{Running, User, lacks, wait_until};

/// A server of somebody else's, gone with the test.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _gone = self.0.kill();
        let _reaped = self.0.wait();
    }
}

/// Serves 16 MiB at the socket `s` of the user, by the first words of `line`; `None` where that is not installed.
fn serve(user: &User, line: &[&str]) -> Option<Server> {
    let (program, arguments) = line.split_first().unwrap();
    let started = Command::new(program)
        .args(arguments)
        .current_dir(user.path("."))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let Ok(child) = started else {
        lacks(program, "another NBD server than ours");
        return None;
    };
    let server = Server(child);
    wait_until("the server listens", || user.path("s").exists());
    Some(server)
}

fn uri(user: &User, export: &str) -> String {
    format!("nbd+unix:///{export}?socket={}", user.path("s").display())
}

/// The servers of others that there are, each of a disk that is blank.
fn servers() -> Vec<(User, Server)> {
    let lines: [&[&str]; 2] = [
        &["nbdkit", "-f", "--unix", "s", "memory", "16M"],
        &["qemu-nbd", "-f", "raw", "-k", "", "-t", "-x", "", "--discard=unmap", "disk"],
    ];
    let started = lines.map(|line| {
        let user = User::new();
        std::fs::File::create(user.path("disk")).unwrap().set_len(16 << 20).unwrap();
        // It takes absolute paths alone.
        let socket = user.path("s").display().to_string();
        let line: Vec<&str> = match line[0] {
            "qemu-nbd" => {
                line.iter().enumerate().map(|(at, word)| if at == 4 { &*socket } else { *word }).collect()
            }
            _ => line.to_vec(),
        };
        let server = serve(&user, &line)?;
        Some((user, server))
    });
    started.into_iter().flatten().collect()
}

const PLAN: &str = "[defaults]\nsize = '4KiB'\ndepth = 16\nops = 2000\n\
                    [[phase]]\nname = 'write'\npattern = 'random'\nreads = '0%'\nflush_every = 100\n\
                    [[phase]]\nname = 'both'\npattern = 'random'\nreads = '50%'\nverify = 'written'\nspan = '4MiB'\n\
                    [[phase]]\nname = 'trim'\npattern = 'sequential'\nreads = '0%'\ntrims = '100%'\n";

#[test]
fn a_plan_runs_on_the_servers_of_others_and_finds_again_what_it_wrote() {
    for (user, _server) in servers() {
        let uri = uri(&user, "");
        user.write("plan.toml", PLAN);
        let refused = user.fathom(&format!("run plan.toml --on {uri}")).with(3);
        refused.saying(&["no consent was given", &format!("--destroy={uri}")]);
        user.fathom(&format!("run plan.toml --on {uri} --destroy={uri}")).done();
        let run = user.last();
        let workloads: Vec<&serde_json::Value> =
            run["points"].as_array().unwrap().iter().map(|point| &point["workloads"][0]).collect();
        assert_eq!(workloads.len(), 3, "{run}");
        for workload in &workloads {
            assert_eq!(workload["engine"]["name"], "nbd");
            assert_eq!(workload["errors"], 0, "{workload}");
        }
        assert_eq!(workloads[1]["verified"]["corrupt"], 0);
        let checked = workloads[1]["verified"]["checked_bytes"].as_u64();
        assert!(checked.is_some_and(|bytes| bytes > 0), "{}", workloads[1]);
        assert_eq!(run["targets"][0]["kind"], "NBD export");
        assert_eq!(run["targets"][0]["size_bytes"], 16 << 20);
    }
}

#[test]
fn an_export_that_holds_data_is_not_written_without_being_told_so() {
    for (user, _server) in servers() {
        let uri = uri(&user, "");
        user.write("plan.toml", "[[phase]]\nname = 'w'\nsize = '4KiB'\nreads = '0%'\nops = 64\n");
        user.fathom(&format!("run plan.toml --on {uri} --destroy={uri}")).done();
        let again = format!("run plan.toml --on {uri}");
        user.fathom(&format!("{again} --destroy={uri}")).with(3).saying(&[&format!("data:{uri}")]);
        user.fathom(&format!("{again} --destroy=data:{uri}")).done();
    }
}

#[test]
fn a_server_that_goes_away_in_the_first_load_is_storage_that_failed_and_the_run_is_kept() {
    for (user, server) in servers() {
        user.write("plan.toml", "[[phase]]\nname = 'read'\nsize = '4KiB'\nrun = '1h'\n");
        let mut running = user.start(&format!("run plan.toml --on {}", uri(&user, "")));
        running.wait_for("[1/1] read");
        drop(server);
        running.end().with(5).saying(&["check that the server runs"]);
        assert_eq!(user.last()["ending"]["code"], 5);
    }
}

#[test]
fn fios_engine_nbd_asks_as_many_requests_as_fio_does() {
    let line = "--name=a --ioengine=nbd --rw=randrw --bs=4k --iodepth=8 --size=16m --randseed=5 --output-format=json";
    for (user, _server) in servers() {
        let uri = uri(&user, "");
        let consent = format!("--destroy data:{uri}");
        let blank = format!("--destroy {uri}");
        let first = user.fathom(&format!("as {blank} fio {line} --uri={uri}"));
        let ours = first.done().json();
        let ours = &ours["jobs"][0];
        let total = |job: &serde_json::Value| {
            job["read"]["total_ios"].as_u64().unwrap() + job["write"]["total_ios"].as_u64().unwrap()
        };
        assert_eq!((total(ours), ours["error"].as_u64()), (4096, Some(0)));
        let run = user.last();
        let loads = run["points"].as_array().unwrap().iter().filter(|point| point["kind"] == "load");
        let engines: Vec<_> = loads.map(|point| point["workloads"][0]["engine"]["name"].as_str()).collect();
        assert_eq!(engines, [Some("nbd")]);
        let told = run["findings"].to_string();
        assert!(!told.contains("buffered"), "a socket has no page cache: {told}");
        // Several passes, and sizes that differ.
        for more in [
            "--rw=read --bs=1m --iodepth=4 --loops=3",
            "--rw=randwrite --bssplit=4k/50:64k/50 --fsync=8 --iodepth=2",
        ] {
            user.fathom(&format!("as {consent} fio --name=b --ioengine=nbd {more} --uri={uri}")).done();
        }
        let fios = Command::new("fio").args(line.split(' ')).arg(format!("--uri={uri}")).output();
        match fios {
            Ok(output) if output.status.success() => {
                let fios: serde_json::Value = {
                    // Its remarks stand before.
                    let text = String::from_utf8(output.stdout).unwrap();
                    serde_json::from_str(&text[text.find('{').unwrap()..]).unwrap()
                };
                assert_eq!(total(ours), total(&fios["jobs"][0]), "both pass the export once");
            }
            _ => lacks("fio", "fio with its engine nbd"),
        }
    }
}

#[test]
fn what_fathom_serves_is_measured_by_fathom() {
    let user = User::new();
    let socket = user.path("s");
    let mut command =
        user.command(&format!("serve md3000 --memory --pace max --name box --unix {}", socket.display()));
    command.env("XDG_RUNTIME_DIR", user.path("."));
    let mut running = Running::of(&mut command);
    running.wait_for("fathom array status");
    let uri = uri(&user, "lun0");
    user.fathom(&format!("doctor {uri}")).done();
    user.write(
        "plan.toml",
        "[[phase]]\nname = 'r'\npattern = 'random'\nsize = '4KiB'\ndepth = 8\nops = 500\n",
    );
    user.fathom(&format!("run plan.toml --on {uri}")).done();
    let run = user.last();
    let workload = &run["points"][0]["workloads"][0];
    assert_eq!((workload["engine"]["name"].as_str(), workload["errors"].as_u64()), (Some("nbd"), Some(0)));
    running.kill_all();
}
