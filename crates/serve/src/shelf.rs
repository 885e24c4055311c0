//! Where disks lie: in the bays of an enclosure, or out of it.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use crate::medium::{FileMedium, Medium};

/// An enclosure whose disks outlive the server.
pub trait Shelf: Send + Sync {
    /// The disk in a bay; `None` where the bay is empty.
    fn disk(&self, bay: u32) -> io::Result<Option<Box<dyn Medium>>>;

    /// Puts an empty disk into an empty bay.
    fn new_disk(&self, bay: u32) -> io::Result<Box<dyn Medium>>;

    /// Has a bay be empty again whose new disk could not be made.
    fn discard(&self, bay: u32) -> io::Result<()>;

    /// Takes the disk out of a bay and keeps it under its serial number.
    fn take_out(&self, bay: u32, serial: &str) -> io::Result<()>;

    /// Puts the disk of that serial number back into an empty bay.
    fn put_in(&self, bay: u32, serial: &str) -> io::Result<()>;

    /// Serial numbers of the disks that are out of their bays.
    fn outside(&self) -> io::Result<Vec<String>>;

    /// The controller's memory.
    fn nvram(&self) -> io::Result<Box<dyn Medium>>;

    /// What the battery of the write-back cache keeps.
    fn cache(&self) -> io::Result<Box<dyn Medium>>;
}

/// A directory: `bay-00.disk` and so on, `out/SERIAL.disk`, `controller.nvram`, `controller.cache`.
#[derive(Clone, Debug)]
pub struct Directory(PathBuf);

impl Directory {
    /// The directory at `path`, made where it is not there.
    pub fn open(path: &Path) -> io::Result<Directory> {
        // What is in it is as private as a drive.
        DirBuilder::new().recursive(true).mode(0o700).create(path.join("out"))?;
        Ok(Directory(path.to_owned()))
    }

    fn bay(&self, bay: u32) -> PathBuf {
        self.0.join(format!("bay-{bay:02}.disk"))
    }

    fn out(&self, serial: &str) -> PathBuf {
        self.0.join("out").join(format!("{serial}.disk"))
    }
}

impl Shelf for Directory {
    fn disk(&self, bay: u32) -> io::Result<Option<Box<dyn Medium>>> {
        let path = self.bay(bay);
        if !path.try_exists()? {
            return Ok(None);
        }
        Ok(Some(Box::new(FileMedium::open(&path)?)))
    }

    fn new_disk(&self, bay: u32) -> io::Result<Box<dyn Medium>> {
        let path = self.bay(bay);
        if path.try_exists()? {
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, format!("{} is there", path.display())));
        }
        Ok(Box::new(FileMedium::open(&path)?))
    }

    fn discard(&self, bay: u32) -> io::Result<()> {
        fs::remove_file(self.bay(bay))
    }

    fn take_out(&self, bay: u32, serial: &str) -> io::Result<()> {
        fs::rename(self.bay(bay), self.out(serial))
    }

    fn put_in(&self, bay: u32, serial: &str) -> io::Result<()> {
        let path = self.bay(bay);
        if path.try_exists()? {
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, format!("{} is there", path.display())));
        }
        fs::rename(self.out(serial), path)
    }

    fn outside(&self) -> io::Result<Vec<String>> {
        let mut serials = Vec::new();
        for entry in fs::read_dir(self.0.join("out"))? {
            let name = entry?.file_name();
            if let Some(serial) = name.to_str().and_then(|name| name.strip_suffix(".disk")) {
                serials.push(serial.to_owned());
            }
        }
        serials.sort();
        Ok(serials)
    }

    fn nvram(&self) -> io::Result<Box<dyn Medium>> {
        Ok(Box::new(FileMedium::open(&self.0.join("controller.nvram"))?))
    }

    fn cache(&self) -> io::Result<Box<dyn Medium>> {
        Ok(Box::new(FileMedium::open(&self.0.join("controller.cache"))?))
    }
}
