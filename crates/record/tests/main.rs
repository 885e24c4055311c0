//! The stored shape: published, versioned, and readable again.

use std::path::Path;

use record::{Histogram, ReadError, Run, SCHEMA_VERSION};

/// A run as the first version of this program wrote it.
const RUN_OF_VERSION_1: &str = include_str!("run-v1.json");
/// The same run in the present shape.
const RUN_OF_VERSION_2: &str = include_str!("run-v2.json");

#[test]
fn the_published_schema_is_that_of_the_code() {
    let published = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema/run-v2.json");
    let schema = serde_json::to_string_pretty(&record::schema()).unwrap() + "\n";
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&published, &schema).unwrap();
    }
    let on_disk = std::fs::read_to_string(&published).unwrap_or_default();
    assert!(on_disk == schema, "docs/schema/run-v2.json is stale: UPDATE_DOCS=1 cargo test -p fathom-record");
}

#[test]
fn a_record_of_version_2_is_read_and_written_back_the_same() {
    let run = record::read(RUN_OF_VERSION_2).unwrap();
    let again: serde_json::Value = serde_json::to_value(&run).unwrap();
    assert_eq!(again, serde_json::from_str::<serde_json::Value>(RUN_OF_VERSION_2).unwrap());
}

#[test]
fn a_record_of_version_1_reads_as_that_of_version_2() {
    assert_eq!(record::read(RUN_OF_VERSION_1).unwrap(), record::read(RUN_OF_VERSION_2).unwrap());
}

#[test]
fn keys_that_a_later_version_added_are_ignored() {
    let mut value: serde_json::Value = serde_json::from_str(RUN_OF_VERSION_1).unwrap();
    value["added_later"] = serde_json::json!({ "x": 1 });
    let run: Run = record::read(&value.to_string()).unwrap();
    assert_eq!(run.schema_version, SCHEMA_VERSION);
}

#[test]
fn a_record_of_a_newer_version_is_refused_with_both_numbers() {
    let newer = RUN_OF_VERSION_1.replacen("\"schema_version\": 1", "\"schema_version\": 99", 1);
    let error = record::read(&newer).unwrap_err();
    assert!(matches!(error, ReadError::TooNew { found: 99 }), "{error}");
}

#[test]
fn a_histogram_survives_storage() {
    let mut histogram = stats::Histogram::new();
    for value in [3u64, 1_000, 5_000_000, 5_000_001] {
        histogram.record(units::Nanos::new(value));
    }
    let stored = Histogram::from(&histogram);
    let json = serde_json::to_string(&stored).unwrap();
    let read: Histogram = serde_json::from_str(&json).unwrap();
    assert_eq!(read.to_stats(), Some(histogram));
}

#[test]
fn a_tampered_histogram_is_refused() {
    let mut stored = Histogram::from(&stats::Histogram::new());
    stored.count = 5;
    assert_eq!(stored.to_stats(), None);
    stored = Histogram { buckets: vec![(u32::MAX, 1)], count: 1, ..stored };
    assert_eq!(stored.to_stats(), None);
}
