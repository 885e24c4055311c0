//! What `fathom as hdparm` asks a drive, and prints of its answers.

use std::fs::File;
use std::io;
use std::path::Path;

use formats::hdparm::{Asked, Command, details, geometry, identity, power};
use host::drive::{self, Kept};

use crate::ending::{Ending, Failure};
use crate::output::print;
use crate::terminal;

/// A device that is open for reading.
struct Open<'a> {
    name: &'a str,
    file: File,
    /// Its size in bytes.
    size: u64,
}

/// Asks `device`, of `size` bytes, and prints what it answers. The code is the number of the last error, as the original's.
pub fn answer(command: &Command, device: &str, size: u64) -> Result<Ending, Failure> {
    if command.asked.is_empty() {
        return Ok(Ending::done());
    }
    let file =
        drive::open(Path::new(device)).map_err(|error| Failure::Usage(format!("{device}: {error}")))?;
    let open = Open { name: device, file, size };
    let mut ending = Ending::done();
    for asked in &command.asked {
        match open.told(*asked) {
            Ok(text) => print(&text)?,
            Err(_) if command.by_default && asked.is_of_old_drivers() => {}
            Err((call, error)) => {
                let what = format!("{call}: {}", plain(&error));
                match *asked {
                    // Not to know is an answer.
                    Asked::Power => print(&power(None))?,
                    _ => terminal::say(&what),
                }
                let code = error.raw_os_error().and_then(|code| u8::try_from(code).ok()).unwrap_or(1);
                ending = Ending { code, reason: what.trim_start().into() };
            }
        }
    }
    Ok(ending)
}

/// The words of the system without its number.
fn plain(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_owned()
}

/// The driver's number that is asked for, where it is one.
fn kept_of(asked: Asked) -> Option<Kept> {
    Some(match asked {
        Asked::Multiple => Kept::Multiple,
        Asked::Width => Kept::Width,
        Asked::Unmask => Kept::Unmask,
        Asked::Dma => Kept::Dma,
        Asked::KeepSettings => Kept::KeepSettings,
        Asked::NoWriteErrors => Kept::NoWriteErrors,
        Asked::ReadOnly => Kept::ReadOnly,
        Asked::ReadAhead => Kept::ReadAhead,
        _ => return None,
    })
}

impl Open<'_> {
    /// The answer as text, or what failed and why.
    fn told(&self, asked: Asked) -> Result<String, (String, io::Error)> {
        let failed = |call: &str| {
            let what = format!(" {call} failed");
            move |error: io::Error| (what, error)
        };
        if let Some(kept) = kept_of(asked) {
            let value = drive::kept(&self.file, kept).map_err(failed(kept.name()))?;
            return Ok(asked.number(value));
        }
        let words = || drive::identity(&self.file).map_err(failed("HDIO_GET_IDENTITY"));
        Ok(match asked {
            Asked::QueueDepth => {
                let (file, depth) = drive::queue_depth(Path::new(self.name));
                asked.number(depth.map_err(|error| (file.display().to_string(), error))?)
            }
            Asked::Geometry => {
                let found = drive::geometry(&self.file).map_err(failed("HDIO_GETGEO"))?;
                geometry(found.heads, found.sectors, self.size / 512, found.start)
            }
            Asked::Power => power(Some(drive::power_mode(&self.file).map_err(failed("HDIO_DRIVE_CMD"))?)),
            Asked::Identity => identity(&words()?),
            Asked::Details => or_silent(words(), details)?,
            _ => or_silent(words(), |words| asked.setting(words))?,
        })
    }
}

/// The lines for an ATA drive, and none for another kind, as in the original; an error where the drive could not be asked.
fn or_silent(
    words: Result<[u16; 256], (String, io::Error)>,
    told: impl Fn(&[u16; 256]) -> String,
) -> Result<String, (String, io::Error)> {
    match words {
        Ok(words) => Ok(told(&words)),
        Err((_, error)) if is_of_another_kind(&error) => Ok(String::new()),
        Err(failed) => Err(failed),
    }
}

/// Whether a driver has answered that it knows no such question, as those of disks that are no ATA drives do.
fn is_of_another_kind(error: &io::Error) -> bool {
    const UNKNOWN: [i32; 5] = [libc::ENOTTY, libc::EINVAL, libc::EOPNOTSUPP, libc::ENOSYS, libc::ENOMSG];
    error.raw_os_error().is_some_and(|code| UNKNOWN.contains(&code))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drive_that_could_not_be_asked_is_told_from_one_of_another_kind() {
        let asked = |code: i32| {
            let failed = Err((" HDIO_GET_IDENTITY failed".to_owned(), io::Error::from_raw_os_error(code)));
            or_silent(failed, |_| "ATA device".into())
        };
        for code in [libc::ENOTTY, libc::EINVAL, libc::ENOMSG] {
            assert_eq!(asked(code).expect("it is no ATA drive"), "");
        }
        for code in [libc::EIO, libc::EPERM, libc::EACCES, libc::ENODEV] {
            let (call, error) = asked(code).expect_err("nobody knows what it is");
            assert_eq!((call.as_str(), error.raw_os_error()), (" HDIO_GET_IDENTITY failed", Some(code)));
        }
        assert_eq!(or_silent(Ok([0; 256]), |_| "ATA device".into()).expect("it answered"), "ATA device");
    }
}
