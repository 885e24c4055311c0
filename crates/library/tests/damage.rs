//! What a medium has damaged is never taken for what was saved.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use library::{Filter, Library, LibraryError, Selector};
use record::Run;
use record::sample::{self, Stream};
use units::convert::narrow;

use crate::draws::Draws;
use crate::{Shelf, on_each, run, same};

/// A run of some points, so that it lies on many pages.
fn long(second: u32) -> Run {
    let stream = Stream {
        op: "read",
        size_bytes: 4096,
        per_s: 900 + u64::from(second),
        median_ns: 90_000,
        spread: 1.0,
    };
    let point = |index| sample::point(index, "p", vec![sample::workload("a", &[stream])]);
    Run { points: (0..4).map(point).collect(), ..run(second) }
}

fn fill(shelf: &Shelf, runs: &[Run]) {
    let mut library = shelf.open();
    runs.iter().for_each(|run| assert!(library.save(run).is_ok()));
}

/// How often a library is damaged: `FATHOM_MUTATIONS`, or 120 times.
fn damages() -> u64 {
    std::env::var("FATHOM_MUTATIONS").ok().and_then(|text| text.parse().ok()).unwrap_or(120)
}

/// What media, file systems and memory do to a file: `seed` decides what and where.
fn damage(bytes: &mut Vec<u8>, seed: u64) -> String {
    let mut draws = Draws(seed);
    let kind = draws.next(7);
    let at = draws.next(bytes.len());
    let sector = at / 512 * 512;
    let page = at / 4096 * 4096;
    match kind {
        0 | 1 => {
            let bit = draws.next(8);
            bytes[at] ^= 1 << bit;
            format!("bit {bit} of byte {at} is turned")
        }
        2 => {
            bytes[at] = bytes[at].wrapping_add(1 + narrow::<u8>(draws.next(255)));
            format!("byte {at} is another")
        }
        3 => {
            bytes[sector..sector + 512].fill(0);
            format!("the sector at {sector} is zeros")
        }
        4 => {
            bytes[page..page + 4096].fill_with(|| narrow::<u8>(draws.next(256)));
            format!("the page at {page} is noise")
        }
        5 => {
            let other = draws.next(bytes.len()) / 4096 * 4096;
            let copy = bytes[other..other + 4096].to_vec();
            bytes[page..page + 4096].copy_from_slice(&copy);
            format!("the page at {page} is that at {other}")
        }
        _ => {
            bytes.truncate(at);
            format!("the file ends at {at}")
        }
    }
}

/// What came of a damaged library.
#[derive(Default)]
struct Seen {
    /// Libraries that cannot be opened or listed.
    closed: u64,
    /// Runs that were told to be damaged, or that the library said to have lost.
    told: u64,
    /// Runs that came back.
    whole: u64,
}

/// Opens the damaged library at `path`: every run that comes back is as it was saved, and what does not is told.
fn look(path: &Path, saved: &[Run], seen: &mut Seen, how: &str) {
    let listed = Library::open(&path.into()).and_then(|library| {
        let listed = library.survey(&Filter::default())?;
        Ok((library, listed))
    });
    let Ok((library, listed)) = listed else {
        seen.closed += 1;
        return;
    };
    let told = listed.damaged.len() as u64 + listed.lost;
    for entry in &listed.entries {
        let original = saved.iter().find(|run| run.id == entry.id);
        let original = original.unwrap_or_else(|| panic!("{how}: nobody saved {}", entry.id));
        assert_eq!(
            *entry,
            record::Entry {
                number: entry.number,
                json_bytes: entry.json_bytes,
                ..record::Entry::of(original, 0)
            },
            "{how}"
        );
        match library.get(entry.id.as_str()) {
            Ok(found) => {
                assert!(found == *original, "{how}: run {} came back as good and is not", entry.id);
                seen.whole += 1;
            }
            Err(_) => seen.told += 1,
        }
    }
    let missing = saved.len().saturating_sub(listed.entries.len()) as u64;
    assert!(missing == 0 || told > 0, "{how}: {missing} runs are not there and nobody says so");
    seen.told += told;
}

#[test]
fn no_damage_to_the_file_comes_back_as_good() {
    let saved: Vec<Run> = (1..=6).map(long).collect();
    let shelf = Shelf::new();
    fill(&shelf, &saved);
    let sound = std::fs::read(shelf.path()).unwrap();
    let (mut seen, damages) = (Seen::default(), damages());
    for seed in 0..damages {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("runs.sqlite");
        let mut bytes = sound.clone();
        let how = format!("seed {seed}: {}", damage(&mut bytes, seed));
        std::fs::write(&path, &bytes).unwrap();
        let looked = catch_unwind(AssertUnwindSafe(|| look(&path, &saved, &mut seen, &how)));
        assert!(looked.is_ok(), "{how}");
    }
    // It is no proof unless the damages hit, and what they miss can be read.
    let Seen { closed, told, whole } = seen;
    assert!(told > damages / 4 && whole > damages, "{closed} closed, {told} told, {whole} whole");
}

#[test]
fn a_run_whose_point_is_damaged_is_named_and_the_others_are_shown() {
    on_each(|shelf| {
        let saved: Vec<Run> = (1..=3).map(long).collect();
        fill(shelf, &saved);
        let damage =
            "UPDATE points SET json = replace(json, '902.0', '903.0') WHERE run = 2 AND position = 1";
        shelf.sql(damage);
        let mut library = shelf.open();
        let error = library.get("2").map(|run| run.id).unwrap_err();
        assert!(matches!(error, LibraryError::Damaged { number: 2, .. }), "{error}");
        assert!(error.to_string().contains("the checksum of point 1 is wrong"), "{error}");
        assert_eq!(library.check().unwrap(), [error.to_string()]);
        same(&library.get("1").unwrap(), &saved[0]);
        same(&library.get("3").unwrap(), &saved[2]);
        library.remove(&[Selector::from("2")]).unwrap();
        assert_eq!(library.check().unwrap(), [] as [String; 0]);
    });
}

#[test]
fn a_line_that_is_damaged_is_named_and_the_others_are_listed() {
    on_each(|shelf| {
        let saved: Vec<Run> = (1..=3).map(run).collect();
        fill(shelf, &saved);
        shelf.sql("UPDATE runs SET peak_ops_per_s = 1e6 WHERE number = 3");
        let mut library = shelf.open();
        let listed = library.survey(&Filter::default()).unwrap();
        assert_eq!((listed.entries.len(), &listed.damaged[..], listed.lost), (2, &[3][..], 0));
        assert!(matches!(library.find("last").unwrap_err(), LibraryError::Damaged { number: 3, .. }));
        assert!(matches!(
            library.get(saved[2].id.as_str()).map(|run| run.id).unwrap_err(),
            LibraryError::Damaged { .. }
        ));
        library.remove(&[Selector::from("3")]).unwrap();
        assert_eq!(library.check().unwrap(), [] as [String; 0]);
    });
}

#[test]
fn a_run_that_has_vanished_is_missed() {
    on_each(|shelf| {
        let saved: Vec<Run> = (1..=3).map(run).collect();
        fill(shelf, &saved);
        shelf.sql(shelf.forgetting());
        shelf.sql("DELETE FROM runs WHERE number = 2");
        let library = shelf.open();
        assert_eq!(library.survey(&Filter::default()).unwrap().lost, 1);
        assert_eq!(library.check().unwrap(), ["1 runs of the library are not found"]);
    });
}
