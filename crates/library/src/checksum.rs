//! The checksum of a row, kept in the row: what is read back is what was saved, or is known not to be.
//!
//! **Invariant:** the sum of given values never changes, because it is kept in files.

use crc32fast::Hasher;
use rusqlite::Connection;
use rusqlite::functions::FunctionFlags;
use rusqlite::types::{Value, ValueRef};

/// SQLite may use it in an index, as it depends on its values alone, and in views that came with a file, as it does
/// nothing else.
const FLAGS: FunctionFlags = FunctionFlags::SQLITE_UTF8
    .union(FunctionFlags::SQLITE_DETERMINISTIC)
    .union(FunctionFlags::SQLITE_INNOCUOUS);

/// The CRC-32 of the values, each with its type and length.
pub(crate) fn of(values: &[Value]) -> i64 {
    let mut hasher = Hasher::new();
    values.iter().for_each(|value| add(&mut hasher, value.into()));
    i64::from(hasher.finalize())
}

/// The values, and behind them their sum.
pub(crate) fn summed(mut values: Vec<Value>) -> Vec<Value> {
    values.push(Value::Integer(of(&values)));
    values
}

/// Makes `checksum(value, …)` known to `connection`, for files of versions that had none: the same as [`of`].
pub(crate) fn register(connection: &Connection) -> rusqlite::Result<()> {
    connection.create_scalar_function("checksum", -1, FLAGS, |context| {
        let mut hasher = Hasher::new();
        for index in 0..context.len() {
            add(&mut hasher, context.get_raw(index));
        }
        Ok(i64::from(hasher.finalize()))
    })
}

/// Adds a value so that no other row of values gives the same bytes.
fn add(hasher: &mut Hasher, value: ValueRef<'_>) {
    let mut put = |kind: u8, bytes: &[u8]| {
        hasher.update(&[kind]);
        hasher.update(&(bytes.len() as u64).to_le_bytes());
        hasher.update(bytes);
    };
    match value {
        ValueRef::Null => put(0, &[]),
        ValueRef::Integer(number) => put(1, &number.to_le_bytes()),
        ValueRef::Real(number) => put(2, &number.to_bits().to_le_bytes()),
        ValueRef::Text(text) => put(3, text),
        ValueRef::Blob(bytes) => put(4, bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(values: &str) -> i64 {
        let connection = Connection::open_in_memory().unwrap();
        register(&connection).unwrap();
        connection.query_row(&format!("SELECT checksum({values})"), [], |row| row.get(0)).unwrap()
    }

    #[test]
    fn values_of_other_types_lengths_or_order_have_other_sums() {
        let rows =
            ["'a', 'b'", "'b', 'a'", "'ab', ''", "'ab'", "1", "1.0", "'1'", "x'31'", "NULL", "NULL, NULL"];
        let mut sums: Vec<i64> = rows.iter().map(|row| sum(row)).collect();
        sums.sort_unstable();
        sums.dedup();
        assert_eq!(sums.len(), rows.len());
    }

    #[test]
    fn an_index_and_a_view_that_is_not_trusted_may_use_it() {
        let connection = Connection::open_in_memory().unwrap();
        register(&connection).unwrap();
        connection.execute_batch("CREATE TABLE t (a); CREATE INDEX by_sum ON t (checksum(a))").unwrap();
        connection
            .execute_batch("PRAGMA trusted_schema = OFF; CREATE VIEW v AS SELECT checksum(7) AS sum")
            .unwrap();
        let seen: i64 = connection.query_row("SELECT sum FROM v", [], |row| row.get(0)).unwrap();
        assert_eq!(seen, sum("7"));
    }

    #[test]
    fn the_sum_of_given_values_is_that_of_the_files_that_are_kept() {
        // By zlib's crc32 of the bytes that `add` describes.
        assert_eq!(sum("7, 'run', NULL, 0.5"), 89932157);
        let values = [Value::Integer(7), Value::Text("run".into()), Value::Null, Value::Real(0.5)];
        assert_eq!(of(&values), 89932157);
    }
}
