//! Simulations of a study, one a line, appended as they end: what a killed study had found is there when it continues.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use explore::Outcome;
use serde::{Deserialize, Serialize};

use crate::ending::Failure;

/// The first line: figures of another version may be other figures.
#[derive(PartialEq, Serialize, Deserialize)]
struct Head {
    explored_by: String,
    /// [`FIGURES`]; absent before they were counted.
    #[serde(default)]
    figures: u32,
}

/// Counts changes of what simulations give and keep: what was simulated before one is simulated again.
const FIGURES: u32 = 2;

impl Head {
    fn own() -> Head {
        Head { explored_by: env!("CARGO_PKG_VERSION").into(), figures: FIGURES }
    }
}

#[derive(Serialize, Deserialize)]
struct Line {
    key: String,
    outcome: Outcome,
}

/// A checkpoint that is written to.
pub struct Checkpoint {
    path: PathBuf,
    file: File,
}

impl Checkpoint {
    /// The checkpoint at `path`, and what it holds. One of another version, or one that is not wanted, is begun anew; the
    /// last line of one that was killed is passed over where it is not whole.
    pub fn open(path: &Path, fresh: bool) -> Result<(Checkpoint, BTreeMap<String, Outcome>), Failure> {
        let failed = Failure::system(format!("opening the checkpoint {}", path.display()));
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            fs::create_dir_all(folder).map_err(&failed)?;
        }
        let text = match fs::read(path) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(failed(error)),
        };
        let mut lines = text.lines();
        let head = lines.next().map(serde_json::from_str::<Head>);
        if !text.is_empty() && !matches!(head, Some(Ok(_))) {
            return Err(Failure::Usage(format!(
                "{}: this is no checkpoint of `fathom explore`; name another file with --checkpoint",
                path.display()
            )));
        }
        let is_own = head.is_some_and(|head| head.is_ok_and(|head| head == Head::own()));
        if fresh || !is_own {
            let mut file = File::create(path).map_err(&failed)?;
            file.write_all(line(&Head::own())?.as_bytes()).map_err(&failed)?;
            return Ok((Checkpoint { path: path.into(), file }, BTreeMap::new()));
        }
        let whole = lines.filter_map(|line| serde_json::from_str::<Line>(line).ok());
        let known = whole.map(|line| (line.key, line.outcome)).collect();
        let mut file = OpenOptions::new().append(true).open(path).map_err(&failed)?;
        if !text.ends_with('\n') {
            file.write_all(b"\n").map_err(&failed)?;
        }
        Ok((Checkpoint { path: path.into(), file }, known))
    }

    /// Adds one.
    pub fn add(&mut self, key: &str, outcome: &Outcome) -> Result<(), Failure> {
        let text = line(&Line { key: key.into(), outcome: outcome.clone() })?;
        self.file
            .write_all(text.as_bytes())
            .map_err(Failure::system(format!("writing the checkpoint {}", self.path.display())))
    }
}

fn line(of: &impl Serialize) -> Result<String, Failure> {
    let text = serde_json::to_string(of);
    let text = text.map_err(Failure::system("writing JSON"))?;
    debug_assert!(!text.contains('\n'), "what a checkpoint holds is one line, so that a torn one is known");
    Ok(text + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(iops: f64) -> Outcome {
        Outcome::Figures {
            iops,
            bytes_per_s: 1e6,
            rebuild_h: None,
            times_ns: BTreeMap::new(),
            is_filling: false,
            half_width: None,
            requests: 0,
        }
    }

    #[test]
    fn what_was_added_is_known_again_whatever_the_last_line_is_and_another_version_is_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/study.jsonl");
        let (mut one, known) = Checkpoint::open(&path, false).unwrap();
        assert!(known.is_empty());
        one.add("a", &outcome(0.1)).unwrap();
        one.add("b", &Outcome::Refused("no".into())).unwrap();
        fs::write(&path, fs::read_to_string(&path).unwrap() + "{\"key\":\"c\",\"outc").unwrap();
        let (mut again, known) = Checkpoint::open(&path, false).unwrap();
        assert_eq!(known.len(), 2);
        assert_eq!(known["a"], outcome(0.1), "the same to the last bit");
        again.add("d", &outcome(2.0)).unwrap();
        assert_eq!(Checkpoint::open(&path, false).unwrap().1.len(), 3, "behind a torn line");
        assert!(Checkpoint::open(&path, true).unwrap().1.is_empty());
        fs::write(&path, "{\"explored_by\":\"0.0.0\"}\n{\"key\":\"a\",\"outcome\":{\"refused\":\"no\"}}\n")
            .unwrap();
        assert!(Checkpoint::open(&path, false).unwrap().1.is_empty());
        fs::write(&path, "name = \"a study\"\n").unwrap();
        assert!(Checkpoint::open(&path, false).is_err(), "nothing of the user's is overwritten");
        assert!(Checkpoint::open(&path, true).is_err(), "nor by asking for a fresh one");
    }
}
