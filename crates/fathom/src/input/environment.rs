//! What job files may take from around them: files beside them, the environment, sizes, this machine.

use std::fs::File;
use std::io::{self, Read};

use formats::{JobEnvironment, NamedKind};

use crate::input::targets;
use crate::output;

/// No job file is larger; a device that is named by mistake is not read to its end.
pub const LARGEST: u64 = 16 << 20;
/// No job measures more files.
const MOST_FILES: usize = 65_535;

/// Calls `reader` with the surroundings of the job file `name`, `targets` being what `--on` names.
pub fn with<T>(name: &str, targets: &[String], reader: impl FnOnce(&JobEnvironment<'_>) -> T) -> T {
    let machine = real::this_machine().environment;
    reader(&JobEnvironment {
        file: &|path| text(path).or_else(|error| beside(name, path).map_or(Err(error), |path| text(&path))),
        bytes: &|path| {
            bytes(path).or_else(|error| beside(name, path).map_or(Err(error), |path| bytes(&path)))
        },
        kind: &kind,
        files_below: &files_below,
        variable: &|variable| std::env::var(variable).ok(),
        size_bytes: &size_bytes,
        targets,
        set: &[],
        salt: output::salt().into(),
        cpus: machine.cpus,
        ram_bytes: machine.ram_bytes,
        cpu_hz: real::cpu_hz(),
    })
}

/// The text of a file of reasonable size.
pub fn text(path: &str) -> io::Result<String> {
    let mut text = String::new();
    File::open(units::name::path(path))?.take(LARGEST + 1).read_to_string(&mut text)?;
    match text.len() as u64 > LARGEST {
        true => Err(io::Error::new(io::ErrorKind::FileTooLarge, "larger than any job file")),
        false => Ok(text),
    }
}

/// The bytes of a file of reasonable size.
fn bytes(path: &str) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(units::name::path(path))?.take(LARGEST + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > LARGEST {
        true => Err(io::Error::new(io::ErrorKind::FileTooLarge, "larger than any pattern")),
        false => Ok(bytes),
    }
}

/// What a name leads to; `None` where nothing is there.
fn kind(name: &str) -> Option<NamedKind> {
    let found = units::name::path(name).metadata().ok()?;
    Some(match found.file_type() {
        kind if kind.is_file() => NamedKind::File,
        kind if kind.is_dir() => NamedKind::Directory,
        _ => NamedKind::Device,
    })
}

/// All files below a directory, in the order of their names; links are not followed.
fn files_below(directory: &str) -> io::Result<Vec<String>> {
    let mut found = Vec::new();
    let mut left = vec![units::name::path(directory)];
    while let Some(folder) = left.pop() {
        for entry in std::fs::read_dir(&folder)? {
            let entry = entry?;
            let kind = entry.file_type()?;
            if kind.is_dir() {
                left.push(entry.path());
            } else if kind.is_file() {
                found.push(units::name::text(entry.path().as_os_str()));
            }
            if found.len() > MOST_FILES {
                return Err(io::Error::other(format!("more than {MOST_FILES} files are below it")));
            }
        }
    }
    debug_assert!(found.len() <= MOST_FILES, "more files are an error");
    found.sort_unstable();
    Ok(found)
}

fn beside(name: &str, path: &str) -> Option<String> {
    let own = units::name::path(name);
    let folder = own.parent().filter(|folder| !folder.as_os_str().is_empty())?;
    Some(units::name::text(folder.join(units::name::path(path)).as_os_str()))
}

fn size_bytes(name: &str) -> Option<u64> {
    let size = targets::look(name).ok()?.size;
    Some(size.get()).filter(|size| *size > 0)
}
