//! `fathom serve`: a virtual array as a block device.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::Duration;

use array::sim::Topology;
use array::spec::{self, ArraySpec, Takes};
use clap::Args;
use serve::clock;
use serve::machine::Options;
use serve::nbd::Address;
use serve::pace::Lateness;
use serve::service::{Pace, Service, ServiceError, Setup};
use units::Bytes;

use crate::ending::{Ending, Failure};
use crate::input::arrays::LIBRARY;
use crate::input::candidates;
use crate::output;
use crate::session::signals::Signals;
use crate::terminal;
use crate::verbs::array_control::directory;

#[derive(Debug, Args)]
pub struct ServeArgs {
    /// A name, a TOML file, or an address such as md3000?raid=10&luns=2
    #[arg(add = candidates::arrays())]
    pub array: String,
    /// The directory of the member files; an array that is there already is started again
    #[arg(long, value_name = "DIRECTORY")]
    pub dir: Option<PathBuf>,
    /// Keep the members in memory: all data are lost when the server ends
    #[arg(long, conflicts_with = "dir")]
    pub memory: bool,
    /// Serve NBD on this address, which is one of this machine unless there is --tls; may be given several times [default: 127.0.0.1:10809]
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub listen: Vec<SocketAddr>,
    /// Have clients on TCP begin TLS, with server-cert.pem and server-key.pem of this directory; with its ca-cert.pem they
    /// need a certificate of that authority, and may come from other machines
    #[arg(long, value_name = "DIRECTORY")]
    pub tls: Option<PathBuf>,
    /// Serve NBD on this Unix socket; may be given several times
    #[arg(long, value_name = "SOCKET")]
    pub unix: Vec<PathBuf>,
    /// Mount a LUN over this file by FUSE, for `losetup --direct-io=on`; given again, the next LUN
    #[arg(long, value_name = "FILE")]
    pub fuse: Vec<PathBuf>,
    /// Make each LUN a block device of this kernel's, /dev/ublkbN: needs root, Linux 6.0 with the module ublk_drv, and a
    /// program built by `make ublk`
    #[arg(long)]
    pub ublk: bool,
    /// When requests complete: as in the model, as fast as this machine can (max), or so many times as fast (100x)
    #[arg(long, value_name = "PACE", default_value = "model")]
    pub pace: Pace,
    /// Force each record of the journal to disk before members are written: safe against a loss of power of this machine
    /// while a member is missing, and slower
    #[arg(long)]
    pub sync_journal: bool,
    /// Room of the write-back cache that holds acknowledged data; `off` has each write wait for the drives [default: as the
    /// array has it, up to 256 MiB]
    #[arg(long, value_name = "SIZE")]
    pub cache: Option<String>,
    /// Serve the array although `controller.cache` is gone after an unclean stop: what only that had is lost
    #[arg(long)]
    pub accept_cache_loss: bool,
    /// Leave spares alone until `fathom array rebuild`
    #[arg(long)]
    pub no_auto_rebuild: bool,
    /// The name of this server for `fathom array status --server` [default: the array's]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Random seed of the model, and of the numbers of a new array and its drives [default: a random one, printed at the
    /// start]
    #[arg(long)]
    pub seed: Option<u64>,
}

pub fn serve(arguments: &ServeArgs) -> Result<Ending, Failure> {
    let spec = spec::array(&LIBRARY, &arguments.array)?;
    if arguments.dir.is_none() && !arguments.memory {
        let what = "say where the data are kept: `--dir DIRECTORY` in files there, `--memory` in memory, lost when the \
                    server ends";
        return Err(Failure::Usage(what.into()));
    }
    let (name, cache) = (arguments.name(&spec)?, arguments.cache()?);
    let sockets = directory().map_err(Failure::system("the directory of control sockets"))?;
    let bare = arguments.array.strip_prefix("array:").unwrap_or(&arguments.array);
    let firmware = releases(&spec, bare);
    let seed = arguments.seed.unwrap_or_else(any_seed);
    let signals = Signals::listen()?;
    let service = Service::start(Setup {
        name: bare.to_owned(),
        topology: spec.topology,
        directory: arguments.dir.clone(),
        addresses: arguments.addresses(),
        certificates: arguments.tls.clone(),
        files: arguments.fuse.clone(),
        is_ublk: arguments.ublk,
        control: sockets.join(format!("{name}.control")),
        pace: arguments.pace,
        seed,
        options: Options {
            is_synced: arguments.sync_journal,
            is_automatic: !arguments.no_auto_rebuild,
            cache,
            accepts_loss: arguments.accept_cache_loss,
            firmware,
            seed,
            ..Options::default()
        },
    })
    .map_err(refusal)?;
    let files = arguments.fuse.iter().map(|file| file.display().to_string());
    let devices = service.devices().map(|device| device.display().to_string());
    let uris = service.uris().map(str::to_owned);
    files.chain(devices).chain(uris).try_for_each(|place| output::print(&format!("{place}\n")))?;
    let kept = match &arguments.dir {
        Some(dir) => format!("Members are files in {}", dir.display()),
        None => "Members are memory: all data are lost when this ends".into(),
    };
    terminal::say_sentence(&format!(
        "{kept}. Seed {seed}. `fathom array status --server {name}` shows it; Ctrl-C ends it."
    ));
    let stop = signals.stop();
    while !stop.load(Ordering::Relaxed) {
        clock::wait(Duration::from_millis(50));
    }
    say_lateness(&service);
    // The members in memory are gigabytes in small pieces: the system takes them back faster than they are freed one by one.
    std::mem::forget(service.machine().clone());
    service.stop().map_err(Failure::system("closing the array"))?;
    Ok(Ending {
        code: signals.exit_code().unwrap_or_default(),
        reason: "interrupted; the array is closed".into(),
    })
}

impl ServeArgs {
    /// The name of the server, which is part of the name of its socket.
    fn name(&self, spec: &ArraySpec) -> Result<String, Failure> {
        let name = self.name.clone().unwrap_or_else(|| spec.name.clone());
        if name.is_empty() || !name.chars().all(|one| one.is_ascii_alphanumeric() || "-_.".contains(one)) {
            return Err(Failure::Usage(format!("--name {name}: give letters, digits and any of -_.")));
        }
        Ok(name)
    }

    /// Bytes of the write-back cache; `None` where the array says them.
    fn cache(&self) -> Result<Option<u64>, Failure> {
        match self.cache.as_deref() {
            None => Ok(None),
            Some("off") => Ok(Some(0)),
            Some(size) => match size.parse::<Bytes>() {
                Ok(size) => Ok(Some(size.get())),
                Err(why) => Err(Failure::Usage(format!("--cache: {why}; or `off`"))),
            },
        }
    }

    fn addresses(&self) -> Vec<Address> {
        let mut addresses: Vec<Address> = self.listen.iter().copied().map(Address::Tcp).collect();
        addresses.extend(self.unix.iter().cloned().map(Address::Unix));
        if addresses.is_empty() && self.fuse.is_empty() && !self.ublk {
            addresses.push(Address::Tcp(SocketAddr::from(([127, 0, 0, 1], 10809))));
        }
        addresses
    }
}

/// Says how far answers came behind the model, where it has a pace.
fn say_lateness(service: &Service) {
    let Some(late) = service.pacer().map(|pacer| pacer.lateness()) else { return };
    let (count, _) = late.sent.mean();
    if count > 0 {
        terminal::say_sentence(&format!(
            "{count} answers, sent {} after the model; clients awake after {}.",
            shown(&late.sent),
            shown(&late.taken),
        ));
    }
}

/// A seed that two starts hardly have in common, short enough to be typed.
fn any_seed() -> u64 {
    use std::hash::{BuildHasher, Hasher};
    std::hash::RandomState::new().build_hasher().finish() % 1_000_000_000
}

/// Mean and 99th percentile.
fn shown(late: &Lateness) -> String {
    let (_, mean) = late.mean();
    format!("{:.0} µs (p99 {} µs)", mean.as_secs_f64() * 1e6, late.quantile_us(0.99))
}

/// Releases of the firmware that the description of the array has, with what it is under each; and the one that was asked
/// for.
fn releases(spec: &ArraySpec, address: &str) -> (Vec<(String, Topology)>, Option<String>) {
    const OPTION: &str = "firmware";
    let Some(chosen) = spec.chosen.iter().find(|chosen| chosen.option == OPTION) else {
        return Default::default();
    };
    let option = spec::array_file(&LIBRARY, address.split_once('?').map_or(address, |(name, _)| name))
        .ok()
        .and_then(|file| file.options.into_iter().find(|option| option.name == OPTION));
    let Some(Takes::Values(names)) = option.map(|option| option.takes) else { return Default::default() };
    let (bare, settings) = address.split_once('?').unwrap_or((address, ""));
    let others: Vec<&str> =
        settings.split('&').filter(|one| !one.is_empty() && !one.starts_with("firmware=")).collect();
    let under = |release: String| {
        let asked = format!("{OPTION}={release}");
        let settings: Vec<&str> = others.iter().copied().chain([asked.as_str()]).collect();
        let spec = spec::array(&LIBRARY, &format!("{bare}?{}", settings.join("&"))).ok()?;
        Some((release, spec.topology))
    };
    debug_assert!(names.contains(&chosen.value), "the release that is chosen is one of those that there are");
    (names.into_iter().filter_map(under).collect(), Some(chosen.value.clone()))
}

fn refusal(error: ServiceError) -> Failure {
    Failure::Usage(error.to_string())
}
