//! A user's word that one device or one file may be destroyed.
//!
//! **Invariant:** a name that can move to another device between two boots, and a wildcard, is never consent.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::nbd::{Uri, UriError};
use crate::target::Device;

/// What may be destroyed, and whether that was said in the knowledge that it holds data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Consent {
    /// What.
    pub to: Subject,
    /// Whether data on a device may be lost that nobody knows the meaning of.
    pub data: bool,
}

/// What may be destroyed, named so that it can mean one thing only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A device: its serial number, world-wide name, name in `/dev/disk/by-id`, `loop:<path of its file>`, or the URI of an
    /// export.
    Device(String),
    /// A regular file, by its absolute path with no symbolic link in it.
    File(PathBuf),
}

/// Before a name: the data there may be lost.
const DATA: &str = "data:";

/// Why a text is not consent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConsentError {
    /// Nothing was written.
    #[error(
        "consent is empty; name what may be destroyed by its serial number or its name in /dev/disk/by-id"
    )]
    Empty,
    /// A pattern.
    #[error("`{0}` is a wildcard and could mean several devices; write one serial number or one by-id name")]
    Wildcard(String),
    /// A node.
    #[error(
        "`{0}` may be another disk after the next boot, so it is not accepted as consent; write the serial \
         number or the name in \
         /dev/disk/by-id (`ls -l /dev/disk/by-id` shows it)"
    )]
    MovingName(String),
    /// A path that begins nowhere.
    #[error("`{0}` is a relative path; write the absolute path of the file, without symbolic links")]
    Relative(String),
    /// `loop:` without an absolute path.
    #[error("`{0}` names no file; write loop: and the absolute path of the file behind the loop device")]
    LoopWithoutFile(String),
    /// A URI that names no export.
    #[error("consent: {0}")]
    NoExport(#[from] UriError),
}

impl Consent {
    /// Reads what follows `--destroy=`.
    ///
    /// `/dev/disk/by-id/X` is the same as `X`. Any other absolute path outside `/dev` names a regular file. `data:`
    /// before either says that what it holds may be lost, which a device that is not blank needs.
    pub fn parse(text: &str) -> Result<Consent, ConsentError> {
        let text = text.trim();
        match text.strip_prefix(DATA) {
            Some(rest) => Ok(Consent { to: Subject::parse(rest)?, data: true }),
            None => Ok(Consent { to: Subject::parse(text)?, data: false }),
        }
    }

    /// The same, written for a device of that name which holds data.
    pub fn of_data(name: &str) -> String {
        format!("{DATA}{name}")
    }

    /// Whether this names exactly that device.
    pub fn names_device(&self, device: &Device) -> bool {
        matches!(&self.to, Subject::Device(text) if device.consents().contains(text))
    }

    /// Whether this names exactly that file, whose path must be absolute and free of symbolic links.
    pub fn names_file(&self, path: &Path) -> bool {
        assert!(path.is_absolute(), "a file is named by where it is, from anywhere");
        matches!(&self.to, Subject::File(named) if named.as_os_str() == path.as_os_str())
    }
}

impl Subject {
    fn parse(text: &str) -> Result<Subject, ConsentError> {
        let text = text.trim();
        if text.is_empty() {
            return Err(ConsentError::Empty);
        }
        if Uri::is_meant(text) {
            return Ok(Subject::Device(text.parse::<Uri>()?.to_string()));
        }
        if let Some(file) = text.strip_prefix("loop:") {
            return match Path::new(file).is_absolute() {
                true => Ok(Subject::Device(text.into())),
                false => Err(ConsentError::LoopWithoutFile(text.into())),
            };
        }
        let identity = match text.strip_prefix("/dev/disk/by-id/") {
            Some(id) => id,
            None if text.starts_with("/dev/") => return Err(ConsentError::MovingName(text.into())),
            None if text.starts_with('/') => return Ok(Subject::File(units::name::path(text))),
            None => text,
        };
        if identity.contains(['*', '?', '[']) {
            return Err(ConsentError::Wildcard(text.into()));
        }
        if identity.contains('/') && !text.starts_with('/') {
            return Err(ConsentError::Relative(text.into()));
        }
        if identity.is_empty() || identity.contains('/') {
            return Err(ConsentError::MovingName(text.into()));
        }
        Ok(Subject::Device(identity.into()))
    }
}

impl fmt::Display for Consent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.data { DATA } else { "" })?;
        match &self.to {
            Subject::Device(text) => f.write_str(text),
            Subject::File(path) => f.write_str(&units::name::text(path.as_os_str())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_serial_a_by_id_name_a_loop_and_a_file_are_consent() {
        let device = |text: &str| Ok(Consent { to: Subject::Device(text.into()), data: false });
        assert_eq!(Consent::parse(" WD-WX11 "), device("WD-WX11"));
        assert_eq!(Consent::parse("/dev/disk/by-id/ata-X_1-part2"), device("ata-X_1-part2"));
        assert_eq!(Consent::parse("loop:/tmp/a b.img"), device("loop:/tmp/a b.img"));
        let file = Subject::File("/data/file*".into());
        assert_eq!(Consent::parse("/data/file*"), Ok(Consent { to: file, data: false }));
    }

    #[test]
    fn that_data_may_be_lost_is_said_before_the_name_and_is_repeated_in_it() {
        for name in ["WD-WX11", "loop:/tmp/a b.img", "/data/file"] {
            let plain = Consent::parse(name).expect("it is a name");
            let data = Consent::parse(&Consent::of_data(name)).expect("it is a name");
            assert_eq!((plain.data, data.data), (false, true));
            assert_eq!(data.to, plain.to);
            assert_eq!(data.to_string(), format!("data:{name}"));
        }
        assert_eq!(Consent::parse("data:"), Err(ConsentError::Empty));
        assert_eq!(Consent::parse("data:/dev/sda"), Err(ConsentError::MovingName("/dev/sda".into())));
    }

    #[test]
    fn a_node_or_a_wildcard_is_never_consent() {
        let refused = |text: &str| Consent::parse(text).expect_err(text);
        for node in
            ["/dev/sda", "/dev/nvme0n1p2", "/dev/mapper/vg-lv", "/dev/disk/by-path/pci-1", "/dev/disk/by-id/"]
        {
            assert_eq!(refused(node), ConsentError::MovingName(node.into()));
        }
        for pattern in ["*", "ata-*", "/dev/disk/by-id/*", "WD-?", "[ab]"] {
            assert_eq!(refused(pattern), ConsentError::Wildcard(pattern.into()));
        }
        assert_eq!(refused("  "), ConsentError::Empty);
        assert_eq!(refused("loop:x.img"), ConsentError::LoopWithoutFile("loop:x.img".into()));
    }

    proptest::proptest! {
        #[test]
        fn no_text_with_a_wildcard_or_below_dev_becomes_consent_for_a_device(
            before in "[ -~]{0,12}", mark in "[*?\\[]", after in "[ -~]{0,12}",
        ) {
            for text in [format!("{before}{mark}{after}"), format!("/dev/{before}{after}")] {
                let named = text.trim().trim_start_matches("data:").trim();
                let by_id = named.starts_with("/dev/disk/by-id/");
                if let Ok(Consent { to: Subject::Device(identity), .. }) = Consent::parse(&text) {
                    let is_path = identity.starts_with("loop:/");
                    proptest::prop_assert!(is_path || by_id && !identity.contains(['*', '?', '[']), "{text}");
                }
            }
        }
    }
}
