//! Where a file lies on its device, as `--fibmap` prints it.

/// A stretch of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileExtent {
    /// Where it begins in the file, in bytes.
    pub at: u64,
    /// Where it lies in its file system and how long it is, in bytes; `None` where it has no place yet.
    pub lies: Option<(u64, u64)>,
}

/// What `--fibmap` prints: sectors of `sector` bytes from the beginning of the disk, of which the file system begins at
/// sector `start`. A file that holds nothing has one line.
pub fn places(file: &str, block: u64, start: u64, sector: u64, places: &[FileExtent]) -> String {
    let head = format!(
        "\n{file}:\n filesystem blocksize {block}, begins at LBA {start}; assuming {sector} byte sectors.\n\
         {:>12} {:>10} {:>10} {:>10}\n",
        "byte_offset", "begin_LBA", "end_LBA", "sectors"
    );
    let nothing = [FileExtent { at: 0, lies: None }];
    let all = if places.is_empty() { &nothing } else { places };
    let line = |place: &FileExtent| match place.lies {
        Some((at, length)) => {
            let (first, count) = (start + at / sector, length / sector);
            format!("{:>12} {first:>10} {:>10} {count:>10}\n", place.at, (first + count).saturating_sub(1))
        }
        None => format!("{:>12}       -          -          -   \n", place.at),
    };
    head + &all.iter().map(line).collect::<String>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_are_sectors_of_the_disk() {
        let found = [FileExtent { at: 0, lies: Some((8192, 4096)) }, FileExtent { at: 4096, lies: None }];
        let text = places("f", 4096, 2048, 512, &found);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[2], " filesystem blocksize 4096, begins at LBA 2048; assuming 512 byte sectors.");
        assert_eq!(lines[3], " byte_offset  begin_LBA    end_LBA    sectors");
        assert_eq!(lines[4], "           0       2064       2071          8");
        assert_eq!(lines[5], "        4096       -          -          -   ");
        assert_eq!(places("f", 4096, 0, 512, &[]).lines().count(), 5);
    }
}
