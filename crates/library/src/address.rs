//! The address of a library on a server, and the password for it.
//!
//! **Invariant:** a password is shown nowhere, not even where an address is wrong.

use std::fmt;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::time::Duration;

use tokio_postgres::Config;
use tokio_postgres::config::Host;

use crate::LibraryError;

/// The address of a library on a PostgreSQL server: `postgres://USER@HOST:PORT/DATABASE`, as libpq takes it.
///
/// What it leaves out comes from `PGHOST`, `PGPORT`, `PGUSER` and `PGDATABASE`, the password from `PGPASSWORD` or
/// `~/.pgpass`. Shown, it has no password.
#[derive(Clone, PartialEq, Eq)]
pub struct Address(String);

const SCHEMES: [&str; 2] = ["postgres://", "postgresql://"];

/// Where Debian's server has its socket.
const SOCKETS: &str = "/var/run/postgresql";

impl Address {
    /// `None` where `text` does not begin as one.
    pub fn of(text: &str) -> Option<Address> {
        SCHEMES.iter().any(|scheme| text.starts_with(scheme)).then(|| Address(text.to_owned()))
    }

    /// The text with its password, for the environment of a process of the same user and nothing else.
    pub fn with_password(&self) -> &str {
        &self.0
    }

    /// Whether a password stands in it, where others may see it.
    pub fn has_password(&self) -> bool {
        self.0 != self.to_string()
    }

    /// `text`, without the password of an address in it.
    pub fn hidden_in(text: &str) -> String {
        let place = SCHEMES.iter().find_map(|scheme| text.find(scheme));
        place.map_or_else(|| text.into(), |at| format!("{}{}", &text[..at], Address(text[at..].into())))
    }

    /// What it says, completed from the environment.
    pub(crate) fn config(&self) -> Result<Config, LibraryError> {
        let wrong = |why: String| LibraryError::Address { why };
        if self.behind_user().split('?').next().is_some_and(|place| place.contains('@')) {
            return Err(wrong("an @ in a user or a password is written %40".into()));
        }
        if let Some(mode) =
            self.parameter("sslmode").filter(|mode| !["disable", "allow", "prefer"].contains(mode))
        {
            return Err(LibraryError::Tls { mode: mode.to_owned() });
        }
        // Without TLS they mean the same.
        let text = self.0.replace("sslmode=allow", "sslmode=prefer");
        let mut config: Config = text.parse().map_err(|error: tokio_postgres::Error| {
            let source = std::error::Error::source(&error).map(ToString::to_string);
            wrong(source.unwrap_or_else(|| error.to_string()))
        })?;
        let variable = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
        if config.get_hosts().is_empty() {
            config.host(variable("PGHOST").unwrap_or_else(|| SOCKETS.into()));
        }
        if let (true, Some(port)) = (config.get_ports().is_empty(), variable("PGPORT")) {
            config.port(port.parse().map_err(|_| wrong(format!("PGPORT={port} is no port")))?);
        }
        if let (None, Some(user)) = (config.get_user(), variable("PGUSER")) {
            config.user(user);
        }
        if let (None, Some(name)) = (config.get_dbname(), variable("PGDATABASE")) {
            config.dbname(name);
        }
        if config.get_password().is_none()
            && let Some(password) = variable("PGPASSWORD").or_else(|| kept_password(&config))
        {
            config.password(password);
        }
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(Duration::from_secs(10));
        }
        config.tcp_user_timeout(Duration::from_secs(30)).keepalives_idle(Duration::from_secs(30));
        config.application_name("fathom");
        Ok(config)
    }

    /// From behind the `@`, or the scheme where there is none.
    fn behind_user(&self) -> &str {
        let rest = SCHEMES.iter().find_map(|scheme| self.0.strip_prefix(scheme)).unwrap_or_default();
        rest.split_once('@').map_or(rest, |(_, behind)| behind)
    }

    fn parameter(&self, key: &str) -> Option<&str> {
        let (_, parameters) = self.0.split_once('?')?;
        parameters.split('&').find_map(|parameter| parameter.strip_prefix(key)?.strip_prefix('='))
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (scheme, rest) = self.0.split_once("://").unwrap_or_default();
        // As the parser does it: whatever stands before the first `@` is user and password.
        let (user, behind) = match rest.split_once('@') {
            Some((user, behind)) => (user.split(':').next().unwrap_or_default().to_owned() + "@", behind),
            None => (String::new(), rest),
        };
        let (place, parameters) = behind.split_once('?').unwrap_or((behind, ""));
        // More of a password that has an `@` itself.
        let place = place.rsplit('@').next().unwrap_or_default();
        write!(f, "{scheme}://{user}{place}")?;
        let is_shown = |parameter: &&str| !parameter.contains('%') && !parameter.starts_with("password=");
        let mut joint = "?";
        for parameter in parameters.split('&').filter(|parameter| !parameter.is_empty()) {
            // A key may be written by its numbers; a value may, too.
            let key = parameter.split('=').next().unwrap_or_default();
            if is_shown(&key) && is_shown(&parameter) || key == "host" || key == "options" {
                write!(f, "{joint}{parameter}")?;
                joint = "&";
            }
        }
        Ok(())
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The password that `~/.pgpass`, or the file of `PGPASSFILE`, has for `config`. A file that others can read is left
/// alone, as libpq does.
fn kept_password(config: &Config) -> Option<String> {
    let named = std::env::var_os("PGPASSFILE").map(PathBuf::from);
    let path = named.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".pgpass")))?;
    let is_private = std::fs::metadata(&path).is_ok_and(|found| found.is_file() && found.mode() & 0o077 == 0);
    let text = is_private.then(|| std::fs::read_to_string(&path).ok()).flatten()?;
    let host = match config.get_hosts().first()? {
        Host::Tcp(host) => host.clone(),
        Host::Unix(folder) if folder.to_str() == Some(SOCKETS) => "localhost".into(),
        Host::Unix(folder) => folder.display().to_string(),
    };
    let port = config.get_ports().first().copied().unwrap_or(5432).to_string();
    let user = config.get_user().map_or_else(|| std::env::var("USER").unwrap_or_default(), str::to_owned);
    let name = config.get_dbname().unwrap_or(&user);
    text.lines().find_map(|line| password_in(line, [&host, &port, name, &user]))
}

/// The password of a line `host:port:database:user:password` where it is for these four; `*` is for any, and a backslash
/// stands before a colon or another that is meant itself.
fn password_in(line: &str, wanted: [&str; 4]) -> Option<String> {
    let mut fields = vec![String::new()];
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        match letter {
            ':' if fields.len() < 5 => fields.push(String::new()),
            '\\' => fields.last_mut()?.extend(letters.next()),
            letter => fields.last_mut()?.push(letter),
        }
    }
    let fits = |(field, wanted): (&String, &str)| field == "*" || field == wanted;
    let is_for = fields.len() == 5 && !line.starts_with('#') && fields.iter().zip(wanted).all(fits);
    is_for.then(|| fields.pop()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        let address = Address::of(text).unwrap();
        assert_eq!(format!("{address:?}"), address.to_string());
        address.to_string()
    }

    #[test]
    fn an_address_is_shown_without_its_password_however_it_is_written() {
        for text in [
            "postgres://anna:secret@host/runs",
            "postgres://anna@host/runs?password=secret",
            "postgres://anna@host/runs?p%61ssword=secret",
            "postgres://anna:se@secret@host/runs",
            "postgres://anna:/secret@host/runs",
            "postgres://anna:secret?@host/runs",
        ] {
            let told = shown(text);
            assert_eq!(told, "postgres://anna@host/runs", "{text}");
            assert!(Address::of(text).unwrap().has_password());
        }
        let plain = "postgresql://host:5433/runs?host=/run/x&sslmode=disable";
        assert_eq!(shown(plain), plain);
        assert!(!Address::of(plain).unwrap().has_password());
        assert_eq!(Address::of("runs.sqlite"), None);
        assert_eq!(Address::hidden_in("--store=postgres://a:secret@h/r"), "--store=postgres://a@h/r");
        assert_eq!(Address::hidden_in("--on=/dev/sdb"), "--on=/dev/sdb");
    }

    #[test]
    fn what_is_wrong_with_an_address_is_told_without_it() {
        for text in [
            "postgres://anna:secret/runs",
            "postgres://anna:secret@host:secret/runs",
            "postgres://a:b@secret@host/x",
        ] {
            let told = Address::of(text).unwrap().config().unwrap_err();
            assert!(
                matches!(told, LibraryError::Address { .. }) && !told.to_string().contains("secret"),
                "{told}"
            );
        }
    }

    #[test]
    fn tls_is_refused_where_it_is_asked_for_and_not_pretended() {
        for mode in ["require", "verify-ca", "verify-full", "nonsense"] {
            let told = Address::of(&format!("postgres://host/runs?sslmode={mode}")).unwrap().config();
            assert!(matches!(told, Err(LibraryError::Tls { .. })), "{mode}");
        }
        for mode in ["disable", "allow", "prefer"] {
            assert!(
                Address::of(&format!("postgres://host/runs?sslmode={mode}")).unwrap().config().is_ok(),
                "{mode}"
            );
        }
    }

    #[test]
    fn a_line_of_passwords_is_for_those_it_names() {
        let wanted = ["host", "5432", "runs", "anna"];
        for (line, password) in [
            ("host:5432:runs:anna:secret", Some("secret")),
            ("*:*:*:*:a:b", Some("a:b")),
            (r"host:5432:runs:anna:a\:b\\", Some(r"a:b\")),
            ("host:5433:runs:anna:secret", None),
            ("#host:5432:runs:anna:secret", None),
            ("host:5432:runs:anna", None),
        ] {
            assert_eq!(password_in(line, wanted).as_deref(), password, "{line}");
        }
    }
}
