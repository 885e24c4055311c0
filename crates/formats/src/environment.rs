//! What a job file may take from around it. Given by whoever has files and an environment.

use std::io;

/// What a reader of job files may ask for. Everything is asked for by name, and nothing is written.
pub struct JobEnvironment<'a> {
    /// The text of a file that a job file names, its path as written there or beside the job file.
    pub file: &'a dyn Fn(&str) -> io::Result<String>,
    /// The value of an environment variable; `None` where it is not set.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
    /// The bytes of a file that a job file names, likewise.
    pub bytes: &'a dyn Fn(&str) -> io::Result<Vec<u8>>,
    /// What a name leads to; `None` where nothing is there, or nobody can say yet.
    pub kind: &'a dyn Fn(&str) -> Option<NamedKind>,
    /// All files below a directory, in the order of their names.
    pub files_below: &'a dyn Fn(&str) -> io::Result<Vec<String>>,
    /// The size of a file or device that is there; `None` where none is, or nobody can say yet.
    pub size_bytes: &'a dyn Fn(&str) -> Option<u64>,
    /// What the user named in place of the file's own targets (`--on`); mostly empty.
    pub targets: &'a [String],
    /// What the user sets in the tool's own words beside a job file: `rw=randread`; mostly empty.
    pub set: &'a [String],
    /// Differs from call to call, for tools that draw other random numbers each time.
    pub salt: u32,
    /// Processors online.
    pub cpus: u32,
    /// Memory of this machine.
    pub ram_bytes: u64,
    /// Cycles a second of its processors; `None` where the system does not say.
    pub cpu_hz: Option<u64>,
}

/// What a name in a job file leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NamedKind {
    /// One that is there, and no device.
    File,
    /// One that is there.
    Directory,
    /// A device, or another thing that is neither.
    Device,
}

impl JobEnvironment<'_> {
    /// Nothing environment: no file, no variable, one processor. For texts that stand alone, and for tests.
    pub const NONE: JobEnvironment<'static> = JobEnvironment {
        file: &|_| Err(io::Error::from(io::ErrorKind::NotFound)),
        variable: &|_| None,
        bytes: &|_| Err(io::Error::from(io::ErrorKind::NotFound)),
        kind: &|_| None,
        files_below: &|_| Err(io::Error::from(io::ErrorKind::NotFound)),
        size_bytes: &|_| None,
        targets: &[],
        set: &[],
        salt: 1,
        cpus: 1,
        ram_bytes: 1 << 30,
        cpu_hz: Some(2_000_000_000),
    };
}

impl std::fmt::Debug for JobEnvironment<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("JobEnvironment")
            .field("targets", &self.targets)
            .field("salt", &self.salt)
            .field("cpus", &self.cpus)
            .field("ram_bytes", &self.ram_bytes)
            .finish_non_exhaustive()
    }
}
