//! A report as Parquet: the same table as its CSV, with types.

use std::sync::Arc;

use ::parquet::basic::Compression;
use ::parquet::data_type::{ByteArray, ByteArrayType, DoubleType};
use ::parquet::errors::ParquetError;
use ::parquet::file::properties::WriterProperties;
use ::parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use ::parquet::schema::parser::parse_message_type;

use crate::csv::{COLUMNS, Tidy, tidy};
use crate::document::WriteUp;

/// The columns, as those of the CSV are called.
const SCHEMA: &str = "message report {
    required binary table (utf8);
    required binary row (utf8);
    required binary column (utf8);
    required double value;
    optional double low;
    optional double high;
    required binary unit (utf8);
    required binary source (utf8);
}";

/// Why a report could not be written as Parquet.
#[derive(Debug, thiserror::Error)]
#[error("the report cannot be written as Parquet: {0}")]
pub struct ParquetFailure(#[from] ParquetError);

/// Every number of the report's tables, as [`csv`](crate::csv) has them: values in base units, intervals absent where there
/// is none. Not compressed, so that every reader reads it.
pub fn parquet(report: &WriteUp) -> Result<Vec<u8>, ParquetFailure> {
    let rows = tidy(report);
    let schema = Arc::new(parse_message_type(SCHEMA)?);
    debug_assert_eq!(schema.get_fields().len(), COLUMNS.len(), "the columns are those of CSV");
    // The same records give the same bytes: nothing but the version of this program says what wrote it.
    let properties = WriterProperties::builder()
        .set_created_by(format!("fathom {}", env!("CARGO_PKG_VERSION")))
        .set_compression(Compression::UNCOMPRESSED);
    let mut file = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties.build()))?;
    let mut group = file.next_row_group()?;
    words(&mut group, &rows, |row| &row.table)?;
    words(&mut group, &rows, |row| &row.row)?;
    words(&mut group, &rows, |row| &row.column)?;
    numbers(&mut group, rows.iter().map(|row| Some(row.value)), false)?;
    numbers(&mut group, rows.iter().map(|row| row.low), true)?;
    numbers(&mut group, rows.iter().map(|row| row.high), true)?;
    words(&mut group, &rows, |row| row.unit)?;
    words(&mut group, &rows, |row| &row.source)?;
    group.close()?;
    Ok(file.into_inner()?)
}

type Group<'a> = SerializedRowGroupWriter<'a, Vec<u8>>;

/// Writes the next column, of words.
fn words<'r>(
    group: &mut Group<'_>,
    rows: &'r [Tidy],
    of: impl Fn(&'r Tidy) -> &'r str,
) -> Result<(), ParquetError> {
    let values: Vec<ByteArray> = rows.iter().map(|row| ByteArray::from(of(row))).collect();
    let Some(mut column) = group.next_column()? else { return Ok(()) };
    column.typed::<ByteArrayType>().write_batch(&values, None, None)?;
    column.close()
}

/// Writes the next column, of numbers that may be absent where it is `optional`.
fn numbers(
    group: &mut Group<'_>,
    values: impl Iterator<Item = Option<f64>>,
    optional: bool,
) -> Result<(), ParquetError> {
    let values: Vec<Option<f64>> = values.collect();
    let levels: Vec<i16> = values.iter().map(|value| i16::from(value.is_some())).collect();
    let present: Vec<f64> = values.into_iter().flatten().collect();
    let Some(mut column) = group.next_column()? else { return Ok(()) };
    column.typed::<DoubleType>().write_batch(&present, optional.then_some(levels.as_slice()), None)?;
    column.close()
}

#[cfg(test)]
mod tests {
    use ::parquet::file::reader::{FileReader, SerializedFileReader};
    use ::parquet::record::{Field, RowAccessor};
    use record::sample::{self, Stream};

    use super::*;
    use crate::{evidence, write_up};

    #[test]
    fn what_is_read_back_is_the_table_of_the_csv() {
        let stream = Stream { op: "read", size_bytes: 4096, per_s: 1234, median_ns: 100_000, spread: 0.2 };
        let run =
            sample::run("random", vec![sample::point(0, "p", vec![sample::workload("load", &[stream])])]);
        let report = write_up(&evidence(vec![run], None, None));
        let bytes = parquet(&report).expect("it can be written");
        assert_eq!(bytes, parquet(&report).expect("it can be written"), "the same records, the same bytes");
        let path = std::env::temp_dir().join(format!("fathom-writeup-{}.parquet", std::process::id()));
        std::fs::write(&path, bytes).expect("it can be written");
        let file = std::fs::File::open(&path).expect("it was written");
        std::fs::remove_file(&path).expect("it was written");
        let file = SerializedFileReader::new(file).expect("it is Parquet");
        let rows: Vec<_> =
            file.get_row_iter(None).expect("it has rows").map(|row| row.expect("a row")).collect();
        let tidy = tidy(&report);
        assert_eq!(rows.len(), tidy.len());
        assert!(tidy.iter().any(|row| row.low.is_some()) && tidy.iter().any(|row| row.low.is_none()));
        for (row, expected) in rows.iter().zip(&tidy) {
            let text = |at| row.get_string(at).expect("words").as_str();
            assert_eq!([text(0), text(1), text(2)], [&expected.table, &expected.row, &expected.column]);
            assert_eq!([text(6), text(7)], [expected.unit, &expected.source]);
            assert_eq!(row.get_double(3).expect("a number").to_bits(), expected.value.to_bits());
            let optional = |at: usize| match row.get_column_iter().nth(at).expect("a column").1 {
                Field::Double(value) => Some(*value),
                _ => None,
            };
            assert_eq!((optional(4), optional(5)), (expected.low, expected.high));
        }
    }
}
