//! The pairs of file and record size that are measured.

/// The automatic grid passes over records below 64 KiB from files larger than this.
const CROSSOVER_KIB: u64 = 16 << 10;
const CROSSOVER_RECORD_KIB: u64 = 64;

/// A file size and a record size, in KiB.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pair {
    /// Of the file.
    pub file_kib: u64,
    /// Of a record; not zero.
    pub record_kib: u64,
}

impl Pair {
    /// Whole records in the file.
    pub fn records(self) -> u64 {
        assert!(self.record_kib > 0, "a record has a KiB at least");
        self.file_kib / self.record_kib
    }

    /// Bytes of a record.
    pub fn record_bytes(self) -> u64 {
        self.record_kib << 10
    }

    /// Bytes of all whole records.
    pub fn bytes(self) -> u64 {
        self.records() * self.record_bytes()
    }
}

/// Sizes from a least to a most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// The first.
    pub min_kib: u64,
    /// None is larger.
    pub max_kib: u64,
}

impl Range {
    fn sizes(self, factor: u64) -> Vec<u64> {
        assert!(self.min_kib > 0, "nothing times a factor does not grow");
        let next = |size: &u64| size.checked_mul(factor.max(2)).filter(|next| *next <= self.max_kib);
        std::iter::successors(Some(self.min_kib).filter(|min| *min <= self.max_kib), next).collect()
    }
}

/// What is asked of sizes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grid {
    /// `-a`.
    pub auto: bool,
    /// `-n` and `-g`.
    pub files: Range,
    /// `-y` and `-q`.
    pub records: Range,
    /// `-s`: these and no others.
    pub only_files: Vec<u64>,
    /// `-r`: these and no others.
    pub only_records: Vec<u64>,
    /// By what sizes grow (`-+x`).
    pub factor: u64,
    /// Small records of large files are left out: no `-z`, and no record sizes of the user's own.
    pub crossover: bool,
}

impl Default for Grid {
    fn default() -> Grid {
        Grid {
            auto: false,
            files: Range { min_kib: 64, max_kib: 512 << 10 },
            records: Range { min_kib: 4, max_kib: 16 << 10 },
            only_files: Vec::new(),
            only_records: Vec::new(),
            factor: 2,
            crossover: true,
        }
    }
}

impl Grid {
    /// File sizes in KiB, in their order.
    pub fn file_sizes(&self) -> Vec<u64> {
        match (&self.only_files[..], self.auto) {
            ([], true) => self.files.sizes(self.factor),
            ([], false) => vec![512],
            (only, _) => only.to_vec(),
        }
    }

    /// Record sizes in KiB, in their order: all of them, whether a file is large enough for them or not.
    pub fn record_sizes(&self) -> Vec<u64> {
        match (&self.only_records[..], self.auto) {
            ([], true) => self.records.sizes(self.factor),
            ([], false) => vec![4],
            (only, _) => only.to_vec(),
        }
    }

    /// Whether the automatic grid passes over that pair.
    pub fn skips(&self, pair: Pair) -> bool {
        self.auto && self.crossover && pair.file_kib > CROSSOVER_KIB && pair.record_kib < CROSSOVER_RECORD_KIB
    }

    /// The pairs that are measured, in their order.
    pub fn pairs(&self) -> Vec<Pair> {
        let records = self.record_sizes();
        assert!(!records.contains(&0), "a record has a KiB at least");
        let of_file = |file_kib: u64| records.iter().map(move |&record_kib| Pair { file_kib, record_kib });
        let all = self.file_sizes().into_iter().flat_map(of_file);
        all.filter(|pair| pair.record_kib <= pair.file_kib && !self.skips(*pair)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn auto() -> Grid {
        Grid { auto: true, ..Grid::default() }
    }

    #[test]
    fn the_automatic_grid_has_five_to_thirteen_records_and_nine_beyond_the_crossover() {
        let pairs = auto().pairs();
        assert_eq!(pairs.len(), (5..=13).sum::<usize>() + 5 * 9);
        let of = |file: u64| pairs.iter().filter(|pair| pair.file_kib == file).count();
        assert_eq!((of(64), of(16 << 10), of(32 << 10), of(512 << 10)), (5, 13, 9, 9));
        let all = Grid { crossover: false, ..auto() }.pairs().len();
        assert_eq!(all, (5..=13).sum::<usize>() + 5 * 13);
    }

    #[test]
    fn sizes_of_the_users_own_stand_in_place_of_the_grid() {
        let grid = Grid { only_files: vec![100], only_records: vec![64, 200], crossover: false, ..auto() };
        assert_eq!(grid.pairs(), [Pair { file_kib: 100, record_kib: 64 }]);
        assert_eq!(grid.pairs()[0].bytes(), 64 << 10, "half a record is not measured");
        assert_eq!(Grid::default().pairs(), [Pair { file_kib: 512, record_kib: 4 }]);
        let wide = Grid { files: Range { min_kib: 64, max_kib: u64::MAX }, ..auto() };
        assert_eq!(wide.file_sizes().len(), 58);
    }
}
