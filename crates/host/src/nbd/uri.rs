//! `nbd://host:port/export` and `nbd+unix:///export?socket=PATH`.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use crate::escape::unescaped;

/// The port of NBD where none is given.
const PORT: u16 = 10_809;

/// A longer name no server takes.
const NAME_MOST: usize = 4096;

/// Where a server listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// A host, by name or number, and its port.
    Tcp(String, u16),
    /// A socket of this machine.
    Unix(PathBuf),
}

/// What names an export.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Uri {
    /// Where its server listens.
    pub address: Address,
    /// Which of the server's; empty for its default.
    pub export: String,
    text: String,
}

/// Why a text names no export.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{text}` names no NBD export: {why}; write nbd://HOST:PORT/EXPORT, nbd+unix:///EXPORT?socket=PATH or the like"
)]
pub struct UriError {
    text: String,
    why: String,
}

impl Uri {
    /// Whether a text is meant as one.
    pub fn is_meant(text: &str) -> bool {
        ["nbd:", "nbd+unix:", "nbds:", "nbds+unix:", "nbd+vsock:", "nbds+vsock:"]
            .iter()
            .any(|scheme| text.starts_with(scheme))
    }

    /// The one that a path stands for: paths of files are absolute, and this is not.
    pub fn of_path(path: &Path) -> Option<Uri> {
        path.to_str().filter(|text| Uri::is_meant(text))?.parse().ok()
    }
}

impl fmt::Display for Uri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for Uri {
    type Err = UriError;

    fn from_str(text: &str) -> Result<Uri, UriError> {
        let wrong = |why: &str| UriError { text: text.into(), why: why.into() };
        let (scheme, rest) = text.split_once("://").ok_or_else(|| wrong("there is no `://`"))?;
        let (place, query) = rest.split_once('?').map_or((rest, None), |(place, query)| (place, Some(query)));
        let (host, export) = place.split_once('/').unwrap_or((place, ""));
        let name = unescaped(export).and_then(|name| name.into_string().ok());
        let export = name.ok_or_else(|| wrong("its export is no text"))?;
        if export.len() > NAME_MOST {
            return Err(wrong("its export has more than 4096 bytes"));
        }
        let mut socket = None;
        for (key, value) in query
            .iter()
            .flat_map(|query| query.split('&'))
            .map(|one| one.split_once('=').unwrap_or((one, "")))
        {
            match key {
                "socket" => socket = unescaped(value).filter(|path| !path.is_empty()),
                other => return Err(wrong(&format!("`{other}` is not known after the `?`"))),
            }
        }
        let address = match (scheme, socket) {
            ("nbd", None) => tcp(host).ok_or_else(|| wrong("host or port is missing or no such"))?,
            ("nbd", Some(_)) => return Err(wrong("a socket belongs to nbd+unix:")),
            ("nbd+unix", Some(_)) if !host.is_empty() => {
                return Err(wrong("a socket has no host; write three slashes"));
            }
            ("nbd+unix", Some(path)) => Address::Unix(path.into()),
            ("nbd+unix", None) => return Err(wrong("`?socket=PATH` is missing")),
            _ if scheme.starts_with("nbds") => return Err(wrong("TLS is not supported")),
            _ => return Err(wrong("TCP and Unix sockets are what is supported")),
        };
        Ok(Uri { address, export, text: text.into() })
    }
}

/// `host`, `host:port`, `[::1]:port`; `None` where it is neither.
fn tcp(text: &str) -> Option<Address> {
    let (host, port) = match text.strip_prefix('[') {
        Some(rest) => {
            let (host, port) = rest.split_once(']')?;
            (host, port.strip_prefix(':').or_else(|| port.is_empty().then_some(""))?)
        }
        None => text.split_once(':').unwrap_or((text, "")),
    };
    let port = if port.is_empty() { PORT } else { port.parse().ok()? };
    (!host.is_empty() && port > 0).then(|| Address::Tcp(host.into(), port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_export_is_named_by_host_or_socket() {
        let read = |text: &str| {
            let uri: Uri = text.parse().expect("it is one");
            assert_eq!(uri.to_string(), text);
            (uri.address, uri.export)
        };
        let tcp = |host: &str, port| Address::Tcp(host.into(), port);
        assert_eq!(read("nbd://localhost"), (tcp("localhost", 10_809), String::new()));
        assert_eq!(read("nbd://10.0.0.1:99/a/b"), (tcp("10.0.0.1", 99), "a/b".into()));
        assert_eq!(read("nbd://[::1]:7/x"), (tcp("::1", 7), "x".into()));
        assert_eq!(read("nbd://[::1]/"), (tcp("::1", 10_809), String::new()));
        let unix = |path: &str| Address::Unix(path.into());
        assert_eq!(read("nbd+unix:///disk%201?socket=/run/a%3fb"), (unix("/run/a?b"), "disk 1".into()));
        assert_eq!(read("nbd+unix://?socket=s"), (unix("s"), String::new()));
    }

    #[test]
    fn what_names_no_export_is_refused_with_what_is_wrong() {
        for (text, why) in [
            ("nbd:localhost", "`://`"),
            ("nbd://", "host or port"),
            ("nbd://host:0/x", "host or port"),
            ("nbd://host:65536/x", "host or port"),
            ("nbd://host/x?socket=/s", "nbd+unix:"),
            ("nbd://host/%4", "no text"),
            ("nbd://host/%+1", "no text"),
            ("nbd://host/%ff", "no text"),
            ("nbd+unix:///x", "socket=PATH"),
            ("nbd+unix:///x?socket=", "socket=PATH"),
            ("nbd+unix://host/x?socket=/s", "three slashes"),
            ("nbd+unix:///x?tls=1", "`tls`"),
            ("nbds://host/x", "TLS"),
            ("nbd+vsock://1/x", "TCP and Unix"),
        ] {
            let error = text.parse::<Uri>().expect_err(text).to_string();
            assert!(error.contains(why), "{error}");
        }
        assert_eq!(Uri::of_path(Path::new("/nbd://host/x")), None);
        assert!(Uri::of_path(Path::new("nbd://host/x")).is_some());
    }
}
