//! A PostgreSQL server that tests start themselves.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock};

use super::skip::lacks;

/// The server. `tests/support/postgres` stops it once this process, or what holds it, has ended.
pub struct Postgres {
    folder: String,
    programs: PathBuf,
    control: Mutex<(ChildStdin, BufReader<ChildStdout>)>,
    databases: AtomicU32,
    _script: Child,
}

impl Postgres {
    /// One for all tests of this process; `None` where PostgreSQL is not installed, which is said.
    pub fn shared() -> Option<&'static Postgres> {
        static SHARED: OnceLock<Option<Postgres>> = OnceLock::new();
        let shared = SHARED.get_or_init(Postgres::started).as_ref();
        if shared.is_none() {
            lacks("initdb", "needs PostgreSQL");
        }
        shared
    }

    /// One of its own, which may be stopped.
    #[allow(dead_code, reason = "not every binary of tests stops one")]
    pub fn own() -> Option<Postgres> {
        let own = Postgres::started();
        if own.is_none() {
            lacks("initdb", "needs PostgreSQL");
        }
        own
    }

    fn started() -> Option<Postgres> {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/support/postgres");
        let mut script = Command::new(script)
            .args(["-c", "fsync=off", "-c", "max_connections=200"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut said = BufReader::new(script.stdout.take().unwrap());
        let mut line = || {
            let mut line = String::new();
            said.read_line(&mut line).unwrap();
            line.trim().to_owned()
        };
        let (folder, programs) = (line(), line());
        if folder.is_empty() {
            assert_eq!(script.wait().unwrap().code(), Some(77), "PostgreSQL is there and does not start");
            return None;
        }
        let control = Mutex::new((script.stdin.take().unwrap(), said));
        let databases = AtomicU32::new(0);
        Some(Postgres { folder, programs: programs.into(), control, databases, _script: script })
    }

    /// The name of a fresh database.
    pub fn database(&self) -> String {
        let name = format!("d{}", self.databases.fetch_add(1, Ordering::Relaxed));
        self.sql("postgres", &format!("CREATE DATABASE {name}"));
        name
    }

    /// The address of `database` for `role`.
    pub fn address(&self, role: &str, database: &str) -> String {
        format!("postgres://{role}@/{database}?host={}", self.folder)
    }

    /// The folder of its socket.
    #[allow(dead_code, reason = "only tests of passwords name it")]
    pub fn folder(&self) -> &str {
        &self.folder
    }

    /// Carries `sql` out as the server's owner, statement by statement; what it gives, without headings.
    pub fn sql(&self, database: &str, sql: &str) -> String {
        let mut psql = self.psql(database);
        psql.1.write_all(sql.as_bytes()).unwrap();
        drop(psql.1);
        let output = psql.0.wait_with_output().unwrap();
        assert!(output.status.success(), "{sql}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    fn psql(&self, database: &str) -> (Child, ChildStdin) {
        let mut psql = Command::new(self.programs.join("psql"))
            .args(["-qXAt", "-v", "ON_ERROR_STOP=1", "-U", "postgres", "-h", &self.folder, "-d", database])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let statements = psql.stdin.take().unwrap();
        (psql, statements)
    }

    /// A session that has carried `sql` out and does nothing more, until it is dropped.
    #[allow(dead_code, reason = "not every binary of tests holds one up")]
    pub fn session(&self, database: &str, sql: &str) -> (Child, ChildStdin) {
        let (mut psql, mut statements) = self.psql(database);
        writeln!(statements, "{sql};\nSELECT 'here';").unwrap();
        let lines = BufReader::new(psql.stdout.take().unwrap()).lines().map_while(Result::ok);
        assert!(lines.into_iter().any(|line| line == "here"), "{sql}");
        (psql, statements)
    }

    /// Stops it at once, as a power cut would, or starts it again: `stop` or `start`.
    #[allow(dead_code, reason = "not every binary of tests stops one")]
    pub fn control(&self, word: &str) {
        let mut control = self.control.lock().unwrap();
        writeln!(control.0, "{word}").unwrap();
        let mut answer = String::new();
        control.1.read_line(&mut answer).unwrap();
        assert_eq!(answer.trim(), word);
    }
}
