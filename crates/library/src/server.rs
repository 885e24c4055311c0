//! A library on a PostgreSQL server: tables in the schema `fathom` of a database.
//!
//! Every statement is part of a transaction that says all it needs, so that nothing depends on the connection: where that
//! is lost, the next transaction makes another. Nobody is waited for without an end.

use std::cell::RefCell;
use std::ops::ControlFlow;
use std::time::Duration;

use rusqlite::types::Value;
use tokio::runtime::Runtime;
use tokio::time::timeout;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Config, NoTls};
use units::convert::narrow;

use crate::error::BUSY_S;
use crate::growth::Durability;
use crate::schema::{APPLICATION_ID, STEPS, Step, known};
use crate::tables::{Access, Fault, Row};
use crate::{Address, LibraryError};

/// A server that does not answer for so long has gone. It must be longer than a writer waits for another.
const SILENCE_S: u64 = 60;

/// Rows that are fetched at once.
const FETCHED: usize = 500;

/// A database, and a connection to it while there is one.
#[derive(Debug)]
pub(crate) struct Server {
    address: Address,
    config: Config,
    runtime: Runtime,
    client: RefCell<Option<Client>>,
    role: String,
    /// Why nothing can be saved.
    refused: Option<Refused>,
}

#[derive(Clone, Debug)]
enum Refused {
    /// The rights that the role lacks.
    Rights(String),
    Standby,
}

/// What a role needs, and the statement that gives it.
const TO_READ: &str = "('runs', 'SELECT'), ('records', 'SELECT'), ('points', 'SELECT'), ('tally', 'SELECT')";
const TO_WRITE: &str = "('runs', 'INSERT'), ('runs', 'UPDATE'), ('runs', 'DELETE'), ('records', 'INSERT'),
    ('records', 'UPDATE'), ('points', 'INSERT'), ('points', 'DELETE'), ('tally', 'UPDATE')";
const OF_WRITERS: &str = "SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA fathom";
const OF_READERS: &str = "SELECT ON ALL TABLES IN SCHEMA fathom";

const MIGRATING: &str = "bringing the library up to date";

impl Server {
    /// The library at `address`, made where it is not there, brought up to date where it is older.
    pub fn open(address: &Address) -> Result<Server, LibraryError> {
        let config = address.config()?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build();
        let runtime = runtime.map_err(|error| LibraryError::Unreachable {
            address: address.clone(),
            why: error.to_string(),
        })?;
        let mut server = Server {
            address: address.clone(),
            config,
            runtime,
            client: RefCell::new(None),
            role: String::new(),
            refused: None,
        };
        server.look_around()?;
        Ok(server)
    }

    /// Finds who asks, what is there, and what may be done with it.
    fn look_around(&mut self) -> Result<(), LibraryError> {
        const DOING: &str = "opening the library";
        let sql = "SELECT quote_ident(current_user),
                       pg_is_in_recovery() OR current_setting('default_transaction_read_only') = 'on',
                       (SELECT has_schema_privilege(oid, 'USAGE') FROM pg_namespace WHERE nspname = 'fathom'),
                       EXISTS (SELECT 1 FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
                               WHERE nspname = 'fathom' AND relname = 'version')";
        let rows = self.glance(sql).map_err(|fault| self.told(DOING, fault))?;
        let mut row = rows.into_iter().next().unwrap_or(Row(Vec::new()));
        self.role = row.text(0).unwrap_or_default();
        let [is_standby, may_not_use, is_there] =
            [(1, 1), (2, 0), (3, 1)].map(|(column, wanted)| row.integer(column) == Some(wanted));
        if may_not_use {
            let grant = format!("GRANT USAGE ON SCHEMA fathom TO {0}; GRANT {OF_READERS} TO {0}", self.role);
            return Err(self.lacking("USAGE on the schema fathom".into(), grant));
        }
        let mut found = 0;
        if is_there {
            self.must_read("('version', 'SELECT')")?;
            let version =
                self.glance("SELECT version FROM version").map_err(|fault| self.told(DOING, fault))?;
            found = version.first().and_then(|row| row.integer(0)).unwrap_or(0);
        }
        if found < known() {
            if is_standby {
                return Err(LibraryError::Standby { address: self.address.clone() });
            }
            let done = self.migrate(&STEPS.each_ref().map(Step::for_server));
            found = done.map_err(|fault| self.told(MIGRATING, fault))?;
        }
        if found > known() {
            return Err(LibraryError::TooNew { place: self.place(), found, known: known() });
        }
        self.must_read(TO_READ)?;
        self.refused = match is_standby {
            true => Some(Refused::Standby),
            false => self.lacks(TO_WRITE)?.map(Refused::Rights),
        };
        Ok(())
    }

    /// Why nothing can be saved; `None` where it can.
    pub fn refusal(&self) -> Option<LibraryError> {
        Some(match self.refused.clone()? {
            Refused::Standby => LibraryError::Standby { address: self.address.clone() },
            Refused::Rights(missing) => self.lacking(missing, format!("GRANT {OF_WRITERS} TO {}", self.role)),
        })
    }

    fn lacking(&self, missing: String, grant: String) -> LibraryError {
        let (address, role) = (self.address.clone(), self.role.clone());
        LibraryError::Rights { address, role, missing, grant }
    }

    fn place(&self) -> crate::Location {
        crate::Location::Server(self.address.clone())
    }

    fn must_read(&self, needed: &str) -> Result<(), LibraryError> {
        let grant = || format!("GRANT {OF_READERS} TO {}", self.role);
        self.lacks(needed)?.map_or(Ok(()), |missing| Err(self.lacking(missing, grant())))
    }

    /// Which of the rights `needed` the role lacks, in words; `None` where it has all.
    fn lacks(&self, needed: &str) -> Result<Option<String>, LibraryError> {
        let sql = format!(
            "SELECT string_agg(privilege || ' on fathom.' || name, ', ') FROM (VALUES {needed}) needed (name, privilege)
             WHERE NOT has_table_privilege('fathom.' || name, privilege)"
        );
        let rows = self.glance(&sql).map_err(|fault| self.told("reading the rights of the role", fault));
        Ok(rows?.first_mut().and_then(|row| row.text(0)))
    }

    /// Takes the lock of that name on this connection, which ends with it.
    pub fn claim(&self, name: &str) -> Result<bool, Fault> {
        let sql = format!("SELECT pg_try_advisory_lock({APPLICATION_ID}, hashtext($1))");
        let rows = self.rows(&sql, &[name.to_owned().into()])?;
        Ok(rows.first().and_then(|row| row.integer(0)) == Some(1))
    }

    /// The rows of a statement by itself.
    fn glance(&self, sql: &str) -> Result<Vec<Row>, Fault> {
        self.begin(Access::Look)?;
        let rows = self.rows(sql, &[]);
        self.batch(if rows.is_ok() { "COMMIT" } else { "ROLLBACK" })?;
        rows
    }

    /// Does the `steps` that the library has not seen, all of them or none, as the role that owns its schema where this
    /// one is a member of it: what is made then belongs to all who are. Returns its version, which may be newer.
    fn migrate(&self, steps: &[String]) -> Result<i64, Fault> {
        self.begin_as(&format!("BEGIN; SELECT pg_advisory_xact_lock({APPLICATION_ID})"))?;
        let done = self.migrate_within(steps);
        self.batch(if done.is_ok() { "COMMIT" } else { "ROLLBACK" })?;
        done
    }

    fn migrate_within(&self, steps: &[String]) -> Result<i64, Fault> {
        if self.rows("SELECT 1 FROM pg_namespace WHERE nspname = 'fathom'", &[])?.is_empty() {
            self.batch("CREATE SCHEMA fathom")?;
        }
        let owner = "SELECT quote_ident(rolname) FROM pg_namespace JOIN pg_roles ON pg_roles.oid = nspowner
                     WHERE nspname = 'fathom' AND pg_has_role(nspowner, 'MEMBER')";
        if let Some(owner) = self.rows(owner, &[])?.first_mut().and_then(|row| row.text(0)) {
            self.batch(&format!("SET LOCAL ROLE {owner}"))?;
        }
        self.batch(
            "SET LOCAL search_path = fathom; CREATE TABLE IF NOT EXISTS version (version BIGINT NOT NULL)",
        )?;
        let found = self.rows("SELECT version FROM version", &[])?.first().and_then(|row| row.integer(0));
        let found = found.unwrap_or(0);
        let done = usize::try_from(found).unwrap_or(0);
        if done >= steps.len() {
            return Ok(found);
        }
        steps[done..].iter().try_for_each(|step| self.batch(step))?;
        let version = narrow::<i64>(steps.len());
        self.batch(&format!("DELETE FROM version; INSERT INTO version VALUES ({version})"))?;
        Ok(version)
    }

    /// Begins a transaction, on another connection where the last one is lost.
    pub fn begin(&self, access: Access) -> Result<(), Fault> {
        let common = "SET LOCAL search_path = fathom";
        match access {
            Access::Look => {
                self.begin_as(&format!("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; {common}"))
            }
            Access::Change(durability) => self.begin_as(&changing(common, durability)),
        }
    }

    fn begin_as(&self, sql: &str) -> Result<(), Fault> {
        if self.is_lost() {
            self.connect()?;
        }
        match self.batch(sql) {
            // Nothing has begun.
            Err(fault) if is_loss(&fault) || self.is_lost() => {
                self.connect()?;
                self.batch(sql)
            }
            done => done,
        }
    }

    fn is_lost(&self) -> bool {
        self.client.borrow().as_ref().is_none_or(Client::is_closed)
    }

    fn connect(&self) -> Result<(), Fault> {
        let connecting = async { timeout(Duration::from_secs(SILENCE_S), self.config.connect(NoTls)).await };
        let (client, connection) = self
            .runtime
            .block_on(connecting)
            .map_err(|_| Fault::Silence(SILENCE_S))?
            .map_err(Fault::Server)?;
        self.runtime.spawn(async move {
            // Whoever asks next is told.
            let _lost = connection.await;
        });
        self.client.replace(Some(client));
        Ok(())
    }

    /// What `question` brings, unless the server is silent.
    fn ask<T>(
        &self,
        question: impl AsyncFnOnce(&Client) -> Result<T, tokio_postgres::Error>,
    ) -> Result<T, Fault> {
        let client = self.client.borrow();
        let Some(client) = client.as_ref() else { return Err(Fault::Silence(0)) };
        let silence = Duration::from_secs(SILENCE_S);
        match self.runtime.block_on(async { timeout(silence, question(client)).await }) {
            Ok(answer) => answer.map_err(Fault::Server),
            Err(_) => Err(Fault::Silence(SILENCE_S)),
        }
    }

    /// Carries statements out that give no rows.
    pub fn batch(&self, sql: &str) -> Result<(), Fault> {
        self.heed(self.ask(async |client| client.batch_execute(sql).await))
    }

    /// The rows that a statement gives.
    pub fn rows(&self, sql: &str, values: &[Value]) -> Result<Vec<Row>, Fault> {
        let typed: Vec<(&(dyn ToSql + Sync), Type)> = values.iter().map(typed).collect();
        let rows = self.heed(self.ask(async |client| client.query_typed(sql, &typed).await))?;
        rows.iter().map(row).collect::<Result<_, _>>().map_err(Fault::Server)
    }

    /// Gives the rows of a statement to `visit`, some at a time, until that breaks off.
    pub fn walk(&self, sql: &str, mut visit: impl FnMut(Row) -> ControlFlow<()>) -> Result<(), Fault> {
        self.batch(&format!("DECLARE walk NO SCROLL CURSOR FOR {sql}"))?;
        loop {
            let rows = self.rows(&format!("FETCH {FETCHED} FROM walk"), &[])?;
            let is_last = rows.len() < FETCHED;
            let is_done = rows.into_iter().any(|row| visit(row).is_break());
            if is_last || is_done {
                return self.batch("CLOSE walk");
            }
        }
    }

    /// Gives up a connection on which nobody answers.
    fn heed<T>(&self, answer: Result<T, Fault>) -> Result<T, Fault> {
        if matches!(answer, Err(Fault::Silence(_))) {
            self.client.replace(None);
        }
        answer
    }

    /// What `fault` means for whoever was `doing` something.
    pub fn told(&self, doing: &'static str, fault: Fault) -> LibraryError {
        let address = self.address.clone();
        let why = match &fault {
            Fault::Server(error) => words(error),
            Fault::File(error) => error.to_string(),
            Fault::Silence(seconds) => format!("it has not answered for {seconds} s"),
        };
        let code = match &fault {
            Fault::Server(error) => error.code(),
            Fault::Silence(_) => return LibraryError::Unreachable { address, why },
            Fault::File(_) => return LibraryError::Server { address, doing, why },
        };
        match code {
            Some(&SqlState::INSUFFICIENT_PRIVILEGE) => {
                let grant = match doing == MIGRATING {
                    true => format!(
                        "GRANT CREATE ON DATABASE … TO {0}`, or `CREATE SCHEMA fathom AUTHORIZATION {0}",
                        self.role
                    ),
                    false => format!("GRANT {OF_WRITERS} TO {}", self.role),
                };
                self.lacking(why, grant)
            }
            Some(&(SqlState::INVALID_PASSWORD | SqlState::INVALID_AUTHORIZATION_SPECIFICATION)) => {
                LibraryError::NotLetIn { address, why }
            }
            None if why.contains("password missing") => LibraryError::NotLetIn { address, why },
            Some(&SqlState::INVALID_CATALOG_NAME) => LibraryError::NoDatabase { address, why },
            Some(&SqlState::LOCK_NOT_AVAILABLE) => {
                LibraryError::Busy { place: self.place(), waited_s: BUSY_S }
            }
            Some(&SqlState::READ_ONLY_SQL_TRANSACTION) => LibraryError::Standby { address },
            _ if is_loss(&fault) => LibraryError::Unreachable { address, why },
            _ => LibraryError::Server { address, doing, why },
        }
    }
}

/// Begins a change: one writer at a time, as in a file, and none that holds the others up when its machine is gone.
fn changing(common: &str, durability: Durability) -> String {
    format!(
        "BEGIN; {common}; SET LOCAL lock_timeout = '{BUSY_S}s'; SET LOCAL synchronous_commit = {};
         SET LOCAL idle_in_transaction_session_timeout = '{BUSY_S}s'; LOCK TABLE tally IN EXCLUSIVE MODE",
        durability.commit()
    )
}

/// Whether the connection is no more, or was not made.
fn is_loss(fault: &Fault) -> bool {
    match fault {
        Fault::Silence(_) => true,
        Fault::File(_) => false,
        // Class 57P: the server is ending, or has not begun; 53300: it has no place for another connection.
        Fault::Server(error) => error
            .code()
            .is_none_or(|code| code.code().starts_with("57P") || *code == SqlState::TOO_MANY_CONNECTIONS),
    }
}

/// What the server said, or the system of the way to it.
fn words(error: &tokio_postgres::Error) -> String {
    let said = error.as_db_error().map(|said| said.message().to_owned());
    let cause = || std::error::Error::source(error).map(ToString::to_string);
    said.or_else(cause).unwrap_or_else(|| error.to_string())
}

fn typed(value: &Value) -> (&(dyn ToSql + Sync), Type) {
    // Of a value that is none, the server knows the type.
    const NONE: &Option<&str> = &None;
    match value {
        Value::Null => (NONE, Type::UNKNOWN),
        Value::Integer(number) => (number, Type::INT8),
        Value::Real(number) => (number, Type::FLOAT8),
        Value::Text(text) => (text, Type::TEXT),
        Value::Blob(bytes) => (bytes, Type::BYTEA),
    }
}

fn row(row: &tokio_postgres::Row) -> Result<Row, tokio_postgres::Error> {
    let value = |index: usize| {
        let kind = row.columns()[index].type_();
        Ok(match *kind {
            Type::INT8 => row.try_get::<_, Option<i64>>(index)?.into(),
            Type::INT4 => row.try_get::<_, Option<i32>>(index)?.map(i64::from).into(),
            Type::FLOAT8 => row.try_get::<_, Option<f64>>(index)?.into(),
            Type::BOOL => row.try_get::<_, Option<bool>>(index)?.map(i64::from).into(),
            _ => row.try_get::<_, Option<String>>(index)?.into(),
        })
    };
    (0..row.len()).map(value).collect::<Result<_, _>>().map(Row)
}
