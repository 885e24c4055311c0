//! One request to a file or directory, carried out.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{
    AtFlags, Dir, FileType, Mode, OFlags, ResolveFlags, fsync, linkat, mkdirat, mknodat, openat, openat2,
    renameat, statat, symlinkat, syncfs, unlinkat,
};
use rustix::io::Errno;
use units::convert::narrow;
use workload::spec::{FlushKind, Workload};
use workload::tree::{Extra, FileOp, Shape, TreeRequest, Visitors};
use workload::{Outcome, Verified};

use super::content::Contents;
use super::store::{Names, OpenTree};
use crate::engine::{flush, sync_flag};

/// Carries requests of one worker out in a tree.
pub(super) struct TreeExecutor<'a> {
    top: BorrowedFd<'a>,
    shape: &'a Shape,
    names: Names,
    contents: Contents,
    flush: FlushKind,
    open: OFlags,
    /// What makes a file: only one that is not there, unless all workers make the same ones.
    make: OFlags,
    /// The path of the directory that was last used, with its share and number.
    node: Option<(u32, u32)>,
    directory: String,
    name: String,
    path: String,
    other: String,
    /// A directory that was put aside, so that another one gets its name.
    aside: Option<(u32, String)>,
}

/// Opens or makes a file below `top` by a path with no symbolic link anywhere in it and no way out.
fn open_below(top: BorrowedFd<'_>, path: &str, flags: OFlags) -> Result<OwnedFd, Errno> {
    debug_assert!(!path.starts_with('/'), "a path must lead on from the top");
    let mode = if flags.contains(OFlags::CREATE) { Mode::RUSR | Mode::WUSR } else { Mode::empty() };
    match openat2(top, path, flags, mode, ResolveFlags::NO_SYMLINKS | ResolveFlags::BENEATH) {
        // Before Linux 5.6, or where a sandbox does not let it through.
        Err(Errno::NOSYS | Errno::PERM) => openat(top, path, flags, mode),
        opened => opened,
    }
}

impl<'a> TreeExecutor<'a> {
    /// For `worker`, in that tree.
    pub fn new(tree: OpenTree<'a>, worker: u32, workload: &Workload) -> TreeExecutor<'a> {
        let OpenTree { top, shape, names } = tree;
        let open = sync_flag(workload.durability.open);
        let tree_of = workload.tree.as_ref();
        let is_shared = tree_of.is_some_and(|tree| tree.visitors == Visitors::All);
        let is_direct = tree_of.is_some_and(|tree| tree.direct);
        TreeExecutor {
            top,
            shape,
            names,
            contents: Contents::new(workload, worker),
            flush: workload.durability.flush,
            open: if is_direct { open | OFlags::DIRECT } else { open },
            make: if is_shared { OFlags::CREATE } else { OFlags::CREATE | OFlags::EXCL },
            node: None,
            directory: String::new(),
            name: String::new(),
            path: String::new(),
            other: String::new(),
            aside: None,
        }
    }

    /// What was held against what had been written; `None` where nothing was to be.
    pub fn verified(&self) -> Option<Verified> {
        self.contents.verified()
    }

    /// How `request` ended: the bytes of content that crossed, or the error.
    pub fn execute(&mut self, request: &TreeRequest) -> Outcome {
        self.enter(request.owner, request.node);
        let done = match request.op {
            FileOp::Mkdir => mkdirat(self.top, &*self.directory, Mode::RWXU).map(|()| 0),
            FileOp::Statdir => statat(self.top, &*self.directory, AtFlags::SYMLINK_NOFOLLOW).map(|_| 0),
            FileOp::Renamedir => self.rename_directory(request),
            FileOp::Mknod => self.make_node(request),
            FileOp::Create => self.create(request),
            FileOp::Write => self.write(request),
            FileOp::Stat => self.stat(request),
            FileOp::Open => self.open(request, OFlags::RDONLY).map(|_| 0),
            FileOp::Read => self.read(request),
            FileOp::Link | FileOp::Symlink | FileOp::Rename => self.name_anew(request),
            FileOp::Readdir => self.read_directory(),
            FileOp::Delete => self.delete(request),
            FileOp::Rmdir => unlinkat(self.top, &*self.directory, AtFlags::REMOVEDIR).map(|()| 0),
            FileOp::Sync => syncfs(self.top).map(|()| 0),
        };
        let named = done.and_then(|moved| match request.durable && request.op != FileOp::Write {
            true => self.flush_directory(request.op).map(|()| moved),
            false => Ok(moved),
        });
        match named {
            Ok(_) if self.contents.take_corrupt() => Outcome::corrupt(),
            Ok(moved) => Outcome::moved(moved),
            Err(errno) => Outcome::failed(workload::Errno(errno.raw_os_error())),
        }
    }

    /// Goes to a directory: the last one's path is still there.
    fn enter(&mut self, owner: u32, node: u32) {
        if self.node != Some((owner, node)) {
            self.directory = self.path_of(owner, node);
            self.node = Some((owner, node));
        }
    }

    fn path_of(&self, owner: u32, node: u32) -> String {
        let path = self.shape.node_path(owner, node);
        if path.is_empty() { ".".into() } else { path }
    }

    /// Writes the path of a file into `self.path`.
    fn lead_to(&mut self, owner: u32, file: u64, extra: Extra) {
        self.shape.file_name(owner, file, extra, &mut self.name);
        debug_assert!(!self.name.contains('/'), "a file must lie in its own directory");
        self.path.clear();
        self.path.push_str(&self.directory);
        self.path.push('/');
        self.path.push_str(&self.name);
    }

    fn open(&mut self, request: &TreeRequest, flags: OFlags) -> Result<OwnedFd, Errno> {
        self.lead_to(request.owner, request.file, self.names.present());
        let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        open_below(self.top, &self.path, flags)
    }

    fn create(&mut self, request: &TreeRequest) -> Result<u32, Errno> {
        let file = self.open(request, self.contents.writing() | self.make | self.open)?;
        self.fill(&file, request)
    }

    fn write(&mut self, request: &TreeRequest) -> Result<u32, Errno> {
        let file = self.open(request, self.contents.writing() | self.open)?;
        self.fill(&file, request)
    }

    /// Writes all of a file's content, and flushes it where that is asked for.
    fn fill(&mut self, file: &OwnedFd, request: &TreeRequest) -> Result<u32, Errno> {
        let written = self.contents.write(file.as_fd(), request)?;
        if request.durable {
            flush(self.flush, file.as_fd())?;
        }
        Ok(written)
    }

    fn read(&mut self, request: &TreeRequest) -> Result<u32, Errno> {
        let file = self.open(request, OFlags::RDONLY | self.open & OFlags::DIRECT)?;
        self.contents.read(file.as_fd(), request)
    }

    fn make_node(&mut self, request: &TreeRequest) -> Result<u32, Errno> {
        self.lead_to(request.owner, request.file, Extra::Own);
        mknodat(self.top, &*self.path, FileType::RegularFile, Mode::RUSR | Mode::WUSR, 0).map(|()| 0)
    }

    /// Gives a directory the name of another one, which has been put aside or has itself another name by now.
    fn rename_directory(&mut self, request: &TreeRequest) -> Result<u32, Errno> {
        let to = narrow::<u32>(request.file);
        let (from, to) = match self.aside.take() {
            Some((node, from)) if node == request.node => (from, self.path_of(request.owner, to)),
            _ if to == request.node => {
                let aside = format!("{}-XX", self.directory);
                self.aside = Some((request.node, aside.clone()));
                (self.directory.clone(), aside)
            }
            aside => {
                self.aside = aside;
                (self.directory.clone(), self.path_of(request.owner, to))
            }
        };
        renameat(self.top, &*from, self.top, &*to).map(|()| 0)
    }

    fn stat(&mut self, request: &TreeRequest) -> Result<u32, Errno> {
        self.lead_to(request.owner, request.file, self.names.present());
        statat(self.top, &*self.path, AtFlags::SYMLINK_NOFOLLOW).map(|_| 0)
    }

    fn name_anew(&mut self, request: &TreeRequest) -> Result<u32, Errno> {
        let present = self.names.present();
        let wanted = match request.op {
            FileOp::Link => Extra::Link,
            FileOp::Symlink => Extra::Symlink,
            _ => self.names.other(),
        };
        self.lead_to(request.owner, request.file, wanted);
        std::mem::swap(&mut self.path, &mut self.other);
        self.lead_to(request.owner, request.file, present);
        let (from, to) = (&*self.path, &*self.other);
        match request.op {
            FileOp::Link => linkat(self.top, from, self.top, to, AtFlags::empty()),
            FileOp::Symlink => symlinkat(&*self.name, self.top, to),
            _ => renameat(self.top, from, self.top, to),
        }
        .map(|()| 0)
    }

    fn read_directory(&mut self) -> Result<u32, Errno> {
        let directory = self.open_directory()?;
        for entry in Dir::new(directory)? {
            entry?;
        }
        Ok(0)
    }

    fn delete(&mut self, request: &TreeRequest) -> Result<u32, Errno> {
        self.lead_to(request.owner, request.file, self.names.present());
        unlinkat(self.top, &*self.path, AtFlags::empty()).map(|()| 0)
    }

    fn open_directory(&self) -> Result<OwnedFd, Errno> {
        super::folder::open_directory(self.top, self.directory.as_ref())
    }

    /// Makes the names in the present directory durable, or of one that was made or removed, those above it.
    fn flush_directory(&self, op: FileOp) -> Result<(), Errno> {
        let above = matches!(op, FileOp::Mkdir | FileOp::Rmdir | FileOp::Renamedir);
        let directory = match self.directory.rsplit_once('/') {
            _ if !above => self.open_directory()?,
            Some((parent, _)) => super::folder::open_directory(self.top, parent.as_ref())?,
            None => super::folder::open_directory(self.top, ".".as_ref())?,
        };
        fsync(&directory)
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;

    use super::*;

    #[test]
    fn a_directory_that_a_link_has_taken_the_place_of_leads_to_nobodys_file() {
        let folder = tempfile::tempdir().expect("the test has a temporary folder");
        let inside = |name: &str| folder.path().join(name);
        for name in ["top", "top/d0", "elsewhere"] {
            std::fs::create_dir(inside(name)).expect("the folder is ours");
        }
        for name in ["top/d0/f0", "elsewhere/f0"] {
            std::fs::write(inside(name), "precious").expect("the folder is ours");
        }
        let top = std::fs::File::open(inside("top")).expect("it is there");
        assert!(open_below(top.as_fd(), "d0/f0", OFlags::WRONLY).is_ok());
        std::fs::rename(inside("top/d0"), inside("moved")).expect("the folder is ours");
        std::os::unix::fs::symlink(inside("elsewhere"), inside("top/d0")).expect("the folder is ours");
        assert_eq!(open_below(top.as_fd(), "d0/f0", OFlags::WRONLY).err(), Some(Errno::LOOP));
        assert_eq!(open_below(top.as_fd(), "../elsewhere/f0", OFlags::WRONLY).err(), Some(Errno::XDEV));
    }
}
