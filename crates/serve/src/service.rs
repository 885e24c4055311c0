//! A served array, from its description to block devices and back.

use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use array::raid::GeometryError;
use array::sim::{Sim, Topology};

use crate::control::Control;
use crate::events::Severity;
use crate::fuse::Mounted;
use crate::machine::{Machine, OpenError, Options, Shape};
use crate::nbd::{Address, Server, Tls};
use crate::pace::Pacer;
use crate::shelf::Directory;
#[cfg(feature = "ublk")]
use crate::ublk::Device;

/// What a program without the feature has in place of block devices: none can be made.
#[cfg(not(feature = "ublk"))]
enum Device {}

#[cfg(not(feature = "ublk"))]
impl Device {
    fn start(_: Arc<Machine>, _: u32, _: Option<Arc<Pacer>>) -> io::Result<Device> {
        Err(io::Error::new(
            io::ErrorKind::Unsupported,
            "this program was built without ublk; `make ublk` builds one with it",
        ))
    }

    fn path(&self) -> &Path {
        match *self {}
    }
}

/// How fast answers are given.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pace {
    /// As fast as this machine can.
    Max,
    /// When the modelled array would, that many times as fast.
    Model(f64),
}

/// A word that is no pace.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no pace; write `model`, `max`, or how many times as fast as the model: `100x`")]
pub struct NoPace(String);

impl FromStr for Pace {
    type Err = NoPace;

    fn from_str(text: &str) -> Result<Pace, NoPace> {
        match text {
            "max" => Ok(Pace::Max),
            "model" => Ok(Pace::Model(1.0)),
            text => text
                .strip_suffix('x')
                .and_then(|times| times.parse().ok())
                .filter(|times: &f64| (1e-3..=1e6).contains(times))
                .map(Pace::Model)
                .ok_or_else(|| NoPace(text.to_owned())),
        }
    }
}

/// What is served, and where.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The array's address in the library.
    pub name: String,
    /// Its parts.
    pub topology: Topology,
    /// Where the member files are; `None` for memory.
    pub directory: Option<PathBuf>,
    /// Where clients come.
    pub addresses: Vec<Address>,
    /// The directory of the certificates that clients which come by TCP need.
    pub certificates: Option<PathBuf>,
    /// Files that LUNs are mounted over, LUN 0 first.
    pub files: Vec<PathBuf>,
    /// Whether each LUN is a block device of this kernel's; a program without the feature `ublk` refuses.
    pub is_ublk: bool,
    /// Where operators come.
    pub control: PathBuf,
    /// How fast.
    pub pace: Pace,
    /// For what the model draws at random.
    pub seed: u64,
    /// How the array is opened.
    pub options: Options,
}

/// Why an array is not served.
#[derive(Debug, thiserror::Error)]
pub enum ServiceError {
    /// Its sets cannot be.
    #[error(transparent)]
    Geometry(#[from] GeometryError),
    /// Its disks are not as they should be.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The system refuses.
    #[error("{what}: {source}")]
    System {
        /// What was tried.
        what: String,
        /// Why not.
        source: io::Error,
    },
}

/// Where an open array meets its clients and operators: what of a [`Setup`] is left then.
struct Front {
    addresses: Vec<Address>,
    certificates: Option<PathBuf>,
    files: Vec<PathBuf>,
    is_ublk: bool,
    control: PathBuf,
    pace: Pace,
    seed: u64,
}

/// An array that is served for as long as it is held.
pub struct Service {
    // In the order in which they end.
    servers: Vec<Server>,
    mounted: Vec<Mounted>,
    devices: Vec<Device>,
    control: Control,
    pacer: Option<Arc<Pacer>>,
    machine: Arc<Machine>,
}

impl Service {
    /// Opens the array and listens.
    pub fn start(setup: Setup) -> Result<Service, ServiceError> {
        let system = |what: String| move |source| ServiceError::System { what, source };
        let Setup {
            name,
            topology,
            directory,
            addresses,
            certificates,
            files,
            is_ublk,
            control,
            pace,
            seed,
            mut options,
        } = setup;
        let shape = Shape::of(&name, &topology)?;
        let machine = match &directory {
            None => Machine::in_memory(shape, &options)?,
            Some(path) => {
                options.log.get_or_insert_with(|| path.join("events.jsonl"));
                let shelf = Directory::open(path).map_err(system(format!("{}", path.display())))?;
                Machine::open(shape, Box::new(shelf), &options)?
            }
        };
        let front = Front { addresses, certificates, files, is_ublk, control, pace, seed };
        Service::over(machine.clone(), &topology, front).inspect_err(|why| {
            // The log has the start of the array, and must not leave it at that.
            let text = format!("start failed, array stopped: {why}");
            machine.events().add(Severity::Critical, text);
            // What is being told is why it was stopped.
            let _told = machine.close();
        })
    }

    /// Listens for clients and operators of an array that is open.
    fn over(machine: Arc<Machine>, topology: &Topology, front: Front) -> Result<Service, ServiceError> {
        let system = |what: String| move |source| ServiceError::System { what, source };
        let Front { addresses, certificates, files, is_ublk, control, pace, seed } = front;
        let pacer = match pace {
            Pace::Max => None,
            Pace::Model(speed) => {
                let sim = Sim::new(topology, seed)?;
                let array = Arc::downgrade(&machine);
                let broken = move || {
                    if let Some(array) = array.upgrade() {
                        array.model_is_broken();
                    }
                };
                let pacer = Pacer::start(sim, speed, seed, broken);
                Some(Arc::new(pacer.map_err(system("starting the model".into()))?))
            }
        };
        if let Some(pacer) = &pacer {
            machine.follow(pacer.clone());
        }
        let tls = certificates.map(|directory| {
            Tls::open(&directory).map_err(system(format!("certificates in {}", directory.display())))
        });
        let tls = tls.transpose()?;
        // Before any client can come: who finds the array served can operate it.
        let at = control.display().to_string();
        let control = Control::listen(&control, machine.clone());
        let control = control.map_err(system(format!("the control socket {at}")))?;
        let mut servers = Vec::new();
        for address in &addresses {
            let server = Server::listen(machine.clone(), address, pacer.clone(), tls.as_ref());
            servers.push(server.map_err(system(format!("listening on {}", shown(address))))?);
        }
        let mut mounted = Vec::new();
        for (lun, path) in (0..).zip(&files) {
            let file = Mounted::over(path, machine.clone(), lun, pacer.clone());
            mounted.push(file.map_err(system(format!("mounting over {}", path.display())))?);
        }
        let mut devices = Vec::new();
        for lun in (0..).take(if is_ublk { machine.luns().len() } else { 0 }) {
            let device = Device::start(machine.clone(), lun, pacer.clone());
            devices.push(device.map_err(system(format!("LUN {lun} as a block device")))?);
        }
        Ok(Service { servers, mounted, devices, control, pacer, machine })
    }

    /// The array.
    pub fn machine(&self) -> &Arc<Machine> {
        &self.machine
    }

    /// Where clients find it.
    pub fn uris(&self) -> impl Iterator<Item = &str> {
        self.servers.iter().map(Server::uri)
    }

    /// The block devices of its LUNs, LUN 0 first; none unless they were asked for.
    pub fn devices(&self) -> impl Iterator<Item = &Path> {
        self.devices.iter().map(Device::path)
    }

    /// The model that the pace comes from.
    pub fn pacer(&self) -> Option<&Pacer> {
        self.pacer.as_deref()
    }

    /// Ends: no client is left, everything is on stable storage.
    pub fn stop(self) -> io::Result<()> {
        let Service { servers, mounted, devices, control, pacer, machine } = self;
        drop(servers);
        drop(mounted);
        drop(devices);
        drop(control);
        drop(pacer);
        machine.close()
    }
}

fn shown(address: &Address) -> String {
    match address {
        Address::Tcp(at) => at.to_string(),
        Address::Unix(path) => path.display().to_string(),
    }
}

/// The sockets of running servers in a directory: name, and path.
pub fn running(directory: &Path) -> Vec<(String, PathBuf)> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let mut found: Vec<(String, PathBuf)> = entries
        .filter_map(|entry| {
            let path = entry.path();
            let name = path.file_name()?.to_str()?.strip_suffix(".control")?.to_owned();
            std::os::unix::net::UnixStream::connect(&path).is_ok().then_some((name, path))
        })
        .collect();
    found.sort();
    found
}
