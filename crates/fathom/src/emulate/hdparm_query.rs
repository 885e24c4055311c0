//! What `fathom as hdparm` asks a drive, and prints of its answers.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;

use formats::Refusal;
use formats::hdparm::{
    Alone, Command, FileExtent, HighestSector, Query, SECURITY, configuration, details, dump, dump_bytes,
    geometry, highest_sector, identity, maker_is_hitachi, places, power, read_words, temperature,
};
use host::drive::{self, Kept, NativeCommand};

use crate::ending::{Ending, Failure};
use crate::output::print;
use crate::terminal;

/// A device that is open for reading.
struct Open<'a> {
    command: &'a Command,
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
    let open = Open { command, name: device, file, size };
    let mut ending = Ending::done();
    for asked in &command.asked {
        match open.told(*asked) {
            Ok(text) => print(&text)?,
            Err(_) if command.by_default && asked.is_of_old_drivers() => {}
            Err((call, error)) => {
                let what = format!("{call}: {}", plain(&error));
                match *asked {
                    // The original says so and goes on.
                    Query::Configuration => {
                        terminal::say(&what);
                        continue;
                    }
                    // Not to know is an answer.
                    Query::Power => print(&power(None))?,
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
fn kept_of(asked: Query) -> Option<Kept> {
    Some(match asked {
        Query::Multiple => Kept::Multiple,
        Query::Width => Kept::Width,
        Query::Unmask => Kept::Unmask,
        Query::Dma => Kept::Dma,
        Query::KeepSettings => Kept::KeepSettings,
        Query::NoWriteErrors => Kept::NoWriteErrors,
        Query::ReadOnly => Kept::ReadOnly,
        Query::ReadAhead => Kept::ReadAhead,
        _ => return None,
    })
}

impl Open<'_> {
    /// The answer as text, or what failed and why.
    fn told(&self, asked: Query) -> Result<String, (String, io::Error)> {
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
            Query::QueueDepth => {
                let (file, depth) = drive::queue_depth(Path::new(self.name));
                asked.number(depth.map_err(|error| (file.display().to_string(), error))?)
            }
            Query::Geometry => {
                let found = drive::geometry(&self.file).map_err(failed("HDIO_GETGEO"))?;
                geometry(found.heads, found.sectors, self.size / 512, found.start)
            }
            Query::Power => power(Some(drive::power_mode(&self.file).map_err(failed("HDIO_DRIVE_CMD"))?)),
            Query::Configuration => configuration(
                &drive::configuration(&self.file).map_err(failed("HDIO_DRIVE_CMD(dco_identify)"))?,
            ),
            Query::Sector => self.sector().map_err(|error| ("FAILED".into(), error))?,
            Query::Temperature => {
                let found = self.temperature().map_err(failed("HDIO_DRIVE_CMD(hitachisensecondition)"))?;
                temperature(found.0, found.1)
            }
            Query::Words => or_silent(words(), dump)?,
            Query::RawWords => or_silent(words(), |words| self.keep(words))?,
            Query::HighestSector => match words() {
                Ok(words) => self.highest_sector(&words)?,
                Err((_, error)) if is_of_another_kind(&error) => String::new(),
                Err(failed) => return Err(failed),
            },
            Query::Identity => identity(&words()?),
            Query::Details => or_silent(words(), details)?,
            _ => or_silent(words(), |words| asked.setting(words))?,
        })
    }
}

impl Open<'_> {
    /// Sector `--read-sector` of 512 bytes, past no cache: what a program would read.
    fn sector(&self) -> io::Result<String> {
        let mut bytes = [0u8; 512];
        self.file.read_exact_at(&mut bytes, self.command.sector.saturating_mul(512))?;
        Ok(format!("reading sector {}: succeeded\n{}", self.command.sector, dump_bytes(&bytes)))
    }

    fn temperature(&self) -> io::Result<(u8, u8)> {
        match drive::identity(&self.file) {
            Ok(words) if maker_is_hitachi(&words) => drive::temperature(&self.file),
            _ => Err(io::Error::from_raw_os_error(libc::EINVAL)),
        }
    }

    fn highest_sector(&self, words: &[u16; 256]) -> Result<String, (String, io::Error)> {
        let (command, name) = match HighestSector::of(words) {
            HighestSector::Accessible => (NativeCommand::GetExtended, "GET_NATIVE_MAX_ADDRESS_EXT"),
            HighestSector::Extended => (NativeCommand::ReadExtended, "READ_NATIVE_MAX_ADDRESS_EXT"),
            HighestSector::Short => (NativeCommand::Read, "READ_NATIVE_MAX_ADDRESS"),
        };
        let native = drive::native_sectors(&self.file, command);
        native.map(|native| highest_sector(words, native)).map_err(|error| (format!(" {name} failed"), error))
    }

    /// Writes the words as they came to a new file, and says so.
    fn keep(&self, words: &[u16; 256]) -> String {
        let path = self.command.raw_file.as_deref().unwrap_or_default();
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let opened = OpenOptions::new().write(true).create_new(true).open(units::name::path(path));
        match opened.and_then(|mut file| file.write_all(&bytes)) {
            Ok(()) => terminal::say(&format!("Wrote IDENTIFY DEVICE data to \"{path}\"")),
            Err(error) => {
                terminal::say(&format!("{path}: {}; name a file that is not there yet", plain(&error)));
            }
        }
        String::new()
    }
}

/// What needs no device.
pub fn alone(what: &Alone) -> Result<Ending, Failure> {
    let usage = |what: String| Failure::Tool(Refusal::Usage { tool: "hdparm", what });
    match what {
        Alone::Security => print(SECURITY)?,
        Alone::Words => {
            let mut text = String::new();
            let read = io::stdin().take(1 << 20).read_to_string(&mut text);
            read.map_err(|error| usage(format!("stdin: {error}; give the words that --Istdout prints")))?;
            let words = read_words(&text);
            let words =
                words.map_err(|count| usage(format!("read only {count}/256 IDENTIFY words from stdin")))?;
            print(&format!("\n{}", details(&words)))?;
        }
        Alone::Places(name) => print(&placed(name).map_err(|error| usage(format!("{name}: {error}")))?)?,
    }
    Ok(Ending::done())
}

/// Where the file of that name lies.
fn placed(name: &str) -> io::Result<String> {
    let file = drive::open(&units::name::path(name))?;
    let found = file.metadata()?;
    if !found.is_file() {
        return Err(io::Error::other("not a regular file"));
    }
    let (major, minor) = (libc::major(found.dev()), libc::minor(found.dev()));
    let device = format!("/sys/dev/block/{major}:{minor}");
    let number =
        |file: &str| std::fs::read_to_string(file).ok().and_then(|text| text.trim().parse::<u64>().ok());
    let sector = number(&format!("{device}/queue/logical_block_size"))
        .or_else(|| number(&format!("{device}/../queue/logical_block_size")))
        .filter(|sector| *sector > 0)
        .unwrap_or(512);
    // Sectors of the system have 512 bytes, whatever the disk's have.
    let start = number(&format!("{device}/start")).unwrap_or(0) * 512 / sector;
    let found: Vec<FileExtent> = host::scratch::places(&file)?
        .into_iter()
        .map(|place| FileExtent {
            at: place.at.get(),
            lies: place.lies.map(|(at, length)| (at.get(), length.get())),
        })
        .collect();
    let block = file.metadata()?.blksize();
    Ok(places(name, block, start, sector, &found))
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
