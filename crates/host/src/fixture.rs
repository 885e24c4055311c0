//! A made-up machine in a temporary folder, for tests: any disk, without owning one.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use units::convert::narrow;

use crate::sysroot::{DevNo, SysRoot};

/// The folder, removed when the test ends, however it ends.
pub(crate) struct Fixture {
    folder: tempfile::TempDir,
}

impl Fixture {
    pub(crate) fn new() -> Fixture {
        let machine = Fixture { folder: tempfile::tempdir().expect("the test has a temporary folder") };
        for folder in ["sys/block", "sys/class/block", "sys/dev/block", "proc/self", "dev"] {
            fs::create_dir_all(machine.path(folder)).expect("the folder is ours");
        }
        machine.write("proc/self/mountinfo", "");
        machine.write("proc/swaps", "Filename Type Size Used Priority\n");
        machine
    }

    pub(crate) fn root(&self) -> SysRoot {
        SysRoot::under(self.folder.path())
    }

    pub(crate) fn path(&self, relative: &str) -> PathBuf {
        self.folder.path().join(relative)
    }

    /// The same, in a folder that is made where it is not there.
    fn place(&self, relative: &str) -> PathBuf {
        let path = self.path(relative);
        fs::create_dir_all(path.parent().expect("the path has a parent")).expect("the folder is ours");
        path
    }

    pub(crate) fn write(&self, relative: &str, text: &str) {
        self.write_bytes(relative, text.as_bytes());
    }

    pub(crate) fn write_bytes(&self, relative: &str, bytes: &[u8]) {
        fs::write(self.place(relative), bytes).expect("the folder is ours");
    }

    pub(crate) fn append(&self, relative: &str, text: &str) {
        let before = fs::read_to_string(self.path(relative)).unwrap_or_default();
        self.write(relative, &format!("{before}{text}"));
    }

    pub(crate) fn link(&self, relative: &str, end: &str) {
        symlink(end, self.place(relative)).expect("the folder is ours");
    }

    /// A whole disk of `sectors`, without a node.
    pub(crate) fn disk(&self, name: &str, devno: &str, sectors: u64) -> DevNo {
        self.device(&format!("devices/virtual/block/{name}"), name, devno, sectors)
    }

    /// A partition of a disk made before.
    pub(crate) fn partition(&self, disk: &str, name: &str, devno: &str, number: u64) -> DevNo {
        let folder = format!("devices/virtual/block/{disk}/{name}");
        let devno = self.device(&folder, name, devno, 1024);
        self.write(&format!("sys/{folder}/partition"), &number.to_string());
        devno
    }

    pub(crate) fn device(&self, folder: &str, name: &str, devno: &str, sectors: u64) -> DevNo {
        self.write(&format!("sys/{folder}/dev"), devno);
        self.write(&format!("sys/{folder}/size"), &sectors.to_string());
        fs::create_dir_all(self.path(&format!("sys/{folder}/holders"))).expect("the folder is ours");
        fs::create_dir_all(self.path(&format!("sys/{folder}/slaves"))).expect("the folder is ours");
        self.link(&format!("sys/dev/block/{devno}"), &format!("../../{folder}"));
        self.link(&format!("sys/class/block/{name}"), &format!("../../{folder}"));
        self.link(&format!("sys/block/{name}"), &format!("../{folder}"));
        devno.parse().expect("the test wrote a device number")
    }

    /// Puts `upper` (a map, an array) over `lower`.
    pub(crate) fn hold(&self, lower: &str, upper: &str) {
        self.write(&format!("sys/class/block/{lower}/holders/{upper}"), "");
        self.write(&format!("sys/class/block/{upper}/slaves/{lower}"), "");
    }

    /// A node, which in a fixture is an empty file of 2 MiB.
    pub(crate) fn node(&self, name: &str) -> PathBuf {
        let path = self.path("dev").join(name);
        let file = fs::File::create(&path).expect("the folder is ours");
        file.set_len(2 << 20).expect("the folder is ours");
        path
    }

    pub(crate) fn by_id(&self, id: &str, name: &str) {
        self.link(&format!("dev/disk/by-id/{id}"), &format!("../../{name}"));
    }

    /// Mounts a device, given as `8:1`, on a path.
    pub(crate) fn mount(&self, devno: &str, point: &str, fs_type: &str, source: &str) {
        let line = format!("40 1 {devno} / {point} rw,relatime - {fs_type} {source} rw\n");
        self.append("proc/self/mountinfo", &line);
    }
}

impl Fixture {
    /// A machine written down as text, one thing a line:
    ///
    /// ```text
    /// # a remark
    /// in FOLDER                what follows lies there, until the next `in`
    /// PATH = TEXT              a file
    /// PATH -> END              a link
    /// PATH ~ HEX               a file of bytes
    /// block PATH DEVNO BYTES   a device whose folder below /sys that is
    /// hold LOWER UPPER         a map or an array over a device
    /// mount LINE               a line of mountinfo
    /// ```
    pub(crate) fn of(text: &str) -> Fixture {
        let machine = Fixture::new();
        let mut folder = String::new();
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let place = |path: &str| format!("{folder}{}", path.trim());
            let words: Vec<&str> = line.split_whitespace().collect();
            if let Some(path) = line.strip_prefix("in ") {
                folder = format!("{}/", path.trim());
            } else if let Some(mount) = line.strip_prefix("mount ") {
                machine.append("proc/self/mountinfo", &format!("{mount}\n"));
            } else if let ["block", path, devno, bytes] = words[..] {
                let name = path.rsplit('/').next().expect("a path has a last part");
                let bytes: units::Bytes = bytes.parse().expect("the fixture writes a size");
                machine.device(path, name, devno, bytes.get() / units::SECTOR_BYTES);
            } else if let ["hold", lower, upper] = words[..] {
                machine.hold(lower, upper);
            } else if let Some((path, end)) = line.split_once(" -> ") {
                machine.link(&place(path), end.trim());
            } else if let Some((path, hex)) = line.split_once(" ~ ") {
                let bytes =
                    hex.split_whitespace().map(|byte| u8::from_str_radix(byte, 16).expect("it is hex"));
                machine.write_bytes(&place(path), &bytes.collect::<Vec<u8>>());
            } else if let Some((path, text)) = line.split_once(" = ") {
                machine.write(&place(path), &format!("{}\n", text.trim()));
            } else {
                panic!("a fixture has no such line: {line}");
            }
        }
        machine
    }
}

impl AsRef<Path> for Fixture {
    fn as_ref(&self) -> &Path {
        self.folder.path()
    }
}

/// The workload of a phase of these keys.
pub(crate) fn workload(keys: &str) -> workload::spec::Workload {
    use workload::plan::{Overrides, Plan};
    let text = format!("[[phase]]\nname = 'x'\npattern = 'random'\nrun = '1s'\n{keys}");
    let plan = Plan::parse("test.toml", &text, &Overrides::default()).expect("the test writes a plan");
    plan.points()[0].workloads()[0].clone()
}

/// Does `work` as a user who owns nothing: of this thread alone, and only where the test runs as root.
pub(crate) fn as_nobody<T: Send>(work: impl FnOnce() -> T + Send) -> Option<T> {
    const NOBODY: libc::uid_t = 65_534;
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            // SAFETY: changes the user by which the kernel judges this thread's opening of files, and no memory.
            let now = unsafe {
                libc::setfsuid(NOBODY);
                libc::setfsuid(NOBODY)
            };
            (now == narrow::<libc::c_int>(NOBODY)).then(work)
        });
        thread.join().expect("its assertions hold")
    })
}
