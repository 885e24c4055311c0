//! Files of lines that a tool writes while requests end, each made with its first line.

use std::io::{self, Write};
use std::path::Path;

use crate::output::Growing;

/// The files by their names, and what went wrong first: from then on nothing is written.
#[derive(Debug)]
pub struct LogFiles {
    files: Vec<(String, Growing)>,
    /// What is there already stays.
    is_added_to: bool,
    /// Stands before the first line that a call adds.
    head: &'static str,
    trouble: Option<String>,
}

impl LogFiles {
    /// Files that take the place of what is there.
    pub fn anew() -> LogFiles {
        LogFiles { files: Vec::new(), is_added_to: false, head: "", trouble: None }
    }

    /// The same, each with `head` above.
    pub fn headed(head: &'static str) -> LogFiles {
        LogFiles { head, ..LogFiles::anew() }
    }

    /// Files that what is there stays in, with `head` behind it.
    pub fn added_to(head: &'static str) -> LogFiles {
        LogFiles { is_added_to: true, ..LogFiles::headed(head) }
    }

    /// Has none of the files whose names begin like this, so that what is added next is all of them.
    pub fn forget(&mut self, prefix: &str) {
        self.files.retain(|(name, _)| !name.starts_with(prefix));
    }

    /// Adds `bytes` to the file of that name.
    pub fn add(&mut self, name: &str, bytes: &[u8]) {
        if self.trouble.is_some() {
            return;
        }
        if let Err(error) = self.write(name, bytes) {
            self.trouble = Some(format!("writing {name}: {error}"));
        }
    }

    /// Gives the files their names; what went wrong, if anything did.
    pub fn finish(&mut self) -> Option<String> {
        for (name, file) in std::mem::take(&mut self.files) {
            if let Err(error) = file.finish() {
                self.trouble.get_or_insert(format!("writing {name}: {error}"));
            }
        }
        self.trouble.take()
    }

    fn write(&mut self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let known = self.files.iter().position(|(known, _)| known == name);
        let index = match known {
            Some(index) => index,
            None => {
                let mut file = Growing::create(Path::new(name), self.is_added_to)?;
                file.write_all(self.head.as_bytes())?;
                self.files.push((name.to_owned(), file));
                self.files.len() - 1
            }
        };
        debug_assert_eq!(
            self.files.iter().filter(|(known, _)| known == name).count(),
            1,
            "two writers of one file would lose each other's lines"
        );
        self.files[index].1.write_all(bytes)
    }
}
