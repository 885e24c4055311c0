//! What a library is kept in: tables in a file or on a server, which take the same statements.
//!
//! Values stand in statements as `$1`, `$2`, …, in the order in which they come first.

use std::ops::ControlFlow;

use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, params_from_iter};

use crate::checksum;
use crate::growth::Durability;
use crate::server::Server;

#[derive(Debug)]
pub(crate) enum Tables {
    /// Of a SQLite file.
    File(Connection),
    /// Of a PostgreSQL server.
    Server(Box<Server>),
}

/// Why a statement was not carried out.
#[derive(Debug)]
pub(crate) enum Fault {
    /// What SQLite said.
    File(rusqlite::Error),
    /// What the server, or the way to it, said.
    Server(tokio_postgres::Error),
    /// The server said nothing for so many seconds.
    Silence(u64),
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Fault {
        Fault::File(error)
    }
}

/// What a transaction is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// Nothing that others save comes between its statements.
    Look,
    /// It waits for other writers before it begins.
    Change(Durability),
}

impl Tables {
    /// The rows that a statement gives.
    pub fn rows(&self, sql: &str, values: &[Value]) -> Result<Vec<Row>, Fault> {
        match self {
            Tables::File(connection) => {
                let mut statement = connection.prepare_cached(sql)?;
                let mut found = statement.query(params_from_iter(values))?;
                let mut rows = Vec::new();
                while let Some(row) = found.next()? {
                    rows.push(Row::of(row)?);
                }
                Ok(rows)
            }
            Tables::Server(server) => server.rows(sql, values),
        }
    }

    /// Gives the rows of a statement to `visit`, until that breaks off: no more of them are read than it takes, or few.
    pub fn walk(&self, sql: &str, mut visit: impl FnMut(Row) -> ControlFlow<()>) -> Result<(), Fault> {
        match self {
            Tables::File(connection) => {
                let mut statement = connection.prepare(sql)?;
                let mut found = statement.query([])?;
                while let Some(row) = found.next()? {
                    if visit(Row::of(row)?).is_break() {
                        break;
                    }
                }
                Ok(())
            }
            Tables::Server(server) => server.walk(sql, visit),
        }
    }

    /// The whole number that a statement gives.
    pub fn number(&self, sql: &str) -> Result<i64, Fault> {
        let rows = self.rows(sql, &[])?;
        let number = rows.first().and_then(|row| row.integer(0));
        number.ok_or(Fault::File(rusqlite::Error::QueryReturnedNoRows))
    }

    /// Begins a transaction.
    pub fn begin(&self, access: Access) -> Result<(), Fault> {
        match self {
            Tables::File(connection) => {
                debug_assert!(connection.is_autocommit(), "no other transaction is under way");
                if let Access::Change(durability) = access {
                    connection.pragma_update(None, "synchronous", durability.pragma())?;
                }
                let sql = if access == Access::Look { "BEGIN" } else { "BEGIN IMMEDIATE" };
                Ok(connection.execute_batch(sql)?)
            }
            Tables::Server(server) => server.begin(access),
        }
    }

    /// Ends it, and keeps what was done where it `is_good`.
    pub fn end(&self, is_good: bool) -> Result<(), Fault> {
        let sql = if is_good { "COMMIT" } else { "ROLLBACK" };
        match self {
            Tables::File(connection) => {
                debug_assert!(!is_good || !connection.is_autocommit(), "what was done is in a transaction");
                Ok(connection.execute_batch(sql)?)
            }
            Tables::Server(server) => server.batch(sql),
        }
    }
}

/// A row as it was found.
#[derive(Debug)]
pub(crate) struct Row(pub Vec<Value>);

impl Row {
    fn of(row: &rusqlite::Row<'_>) -> rusqlite::Result<Row> {
        let count = row.as_ref().column_count();
        let value = |index| {
            Ok(match row.get_ref(index)? {
                ValueRef::Null => Value::Null,
                ValueRef::Integer(number) => Value::Integer(number),
                ValueRef::Real(number) => Value::Real(number),
                // What is no text any more has another sum than a text.
                ValueRef::Text(bytes) => match str::from_utf8(bytes) {
                    Ok(text) => Value::Text(text.into()),
                    Err(_) => Value::Blob(bytes.into()),
                },
                ValueRef::Blob(bytes) => Value::Blob(bytes.into()),
            })
        };
        (0..count).map(value).collect::<rusqlite::Result<Vec<Value>>>().map(Row)
    }

    /// Whether its last value is the checksum of those before it.
    pub fn is_sound(&self) -> bool {
        let Some((Value::Integer(sum), values)) = self.0.split_last() else { return false };
        *sum == checksum::of(values)
    }

    /// The whole number in that column; `None` where there is no such.
    pub fn integer(&self, column: usize) -> Option<i64> {
        match self.0.get(column) {
            Some(Value::Integer(number)) => Some(*number),
            _ => None,
        }
    }

    /// The same of a figure.
    pub fn real(&self, column: usize) -> Option<f64> {
        match self.0.get(column) {
            Some(Value::Real(number)) => Some(*number),
            _ => None,
        }
    }

    /// Takes the text out of that column; `None` where there is none.
    pub fn text(&mut self, column: usize) -> Option<String> {
        match self.0.get_mut(column) {
            Some(Value::Text(text)) => Some(std::mem::take(text)),
            _ => None,
        }
    }
}
