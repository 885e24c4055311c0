//! What dd prints on stderr, of both generations.

use record::{Point, Run};

use units::convert::narrow;

use crate::{NoFigures, Output, point};

/// Which generation's lines are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Generation {
    /// Of coreutils 8.25 (2016) and later: sizes in SI and IEC units.
    #[default]
    New,
    /// Before: sizes in SI units alone.
    Old,
}

/// What dd counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Copied {
    /// Blocks that were read whole, and others.
    pub blocks_in: (u64, u64),
    /// Blocks that were written whole, and others.
    pub blocks_out: (u64, u64),
    /// Bytes that were written.
    pub bytes: u64,
    /// From the first block to the last flush.
    pub elapsed_ns: u64,
}

impl Copied {
    /// What `points` moved, in blocks of `ibs` and `obs` bytes: all requests of all of them, one after the other.
    pub fn of<'a>(points: impl IntoIterator<Item = &'a Point>, ibs: u64, obs: u64) -> Copied {
        let (mut bytes, mut elapsed_ns) = (0, 0);
        for point in points {
            bytes += point::bytes(point);
            elapsed_ns += point::measured_ns(point);
        }
        Copied::so_far(bytes, elapsed_ns, ibs, obs)
    }

    /// The same from bare figures.
    pub fn so_far(bytes: u64, elapsed_ns: u64, ibs: u64, obs: u64) -> Copied {
        let blocks = |size: u64| (bytes / size.max(1), u64::from(!bytes.is_multiple_of(size.max(1))));
        Copied { blocks_in: blocks(ibs), blocks_out: blocks(obs), bytes, elapsed_ns }
    }

    /// The two lines of records.
    pub fn records(&self) -> String {
        let ((full_in, part_in), (full_out, part_out)) = (self.blocks_in, self.blocks_out);
        format!("{full_in}+{part_in} records in\n{full_out}+{part_out} records out\n")
    }

    /// The line of the transfer.
    pub fn transfer(&self, generation: Generation) -> String {
        let seconds = shortest(self.elapsed_ns as f64 / 1e9);
        let rate = rate(self.bytes, self.elapsed_ns);
        format!("{} copied, {seconds} s, {rate}\n", self.amount(generation))
    }

    /// The line of `status=progress`, without what goes before and after it.
    pub fn progress(&self, generation: Generation) -> String {
        let seconds = self.elapsed_ns as f64 / 1e9;
        format!("{} copied, {seconds:.0} s, {}", self.amount(generation), rate(self.bytes, self.elapsed_ns))
    }

    fn amount(&self, generation: Generation) -> String {
        let (bytes, plural) = (self.bytes, if self.bytes == 1 { "" } else { "s" });
        let (si, iec) = (si(bytes), iec(bytes));
        match generation {
            Generation::Old => format!("{bytes} byte{plural} ({si})"),
            Generation::New if !has_prefix(bytes, 1000) => format!("{bytes} byte{plural}"),
            Generation::New if !has_prefix(bytes, 1024) => format!("{bytes} byte{plural} ({si})"),
            Generation::New => format!("{bytes} byte{plural} ({si}, {iec})"),
        }
    }
}

/// dd's output of any run that reads or writes.
pub const OUTPUT: Output = Output {
    name: "dd",
    ending: "dd.txt",
    about: "records and rate of each point, as dd prints them",
    write: text,
};

fn text(run: &Run) -> Result<String, NoFigures> {
    let mut text = String::new();
    for point in &run.points {
        let Some(size) =
            point::classes(point).filter(|class| class.bytes > 0).map(|class| class.size_bytes).max()
        else {
            continue;
        };
        let mut copied = Copied::of([point], size, size);
        // No copy takes whole seconds to the nanosecond, for which alone coreutils leaves out the decimal of a rate.
        copied.elapsed_ns += u64::from(copied.elapsed_ns.is_multiple_of(1_000_000_000));
        text += &(copied.records() + &copied.transfer(Generation::New));
    }
    NoFigures::when(text.is_empty(), "dd", "no point moves data; `fathom run dd-sweep` has such points")?;
    Ok(text)
}

const PREFIXES: [char; 10] = ['k', 'M', 'G', 'T', 'P', 'E', 'Z', 'Y', 'R', 'Q'];

/// A size with an SI prefix, as `8.2 MB`: one decimal below 10, otherwise none, halves to even.
pub(super) fn si(bytes: u64) -> String {
    scaled(u128::from(bytes), 1, 1000).0
}

/// A size with an IEC prefix, as `7.8 MiB`.
pub(super) fn iec(bytes: u64) -> String {
    scaled(u128::from(bytes), 1, 1024).0
}

/// Whether the size has a prefix in units of `base`.
fn has_prefix(bytes: u64, base: u64) -> bool {
    scaled(u128::from(bytes), 1, u128::from(base)).1
}

/// The fraction with a prefix, and whether it has one.
fn scaled(numerator: u128, denominator: u128, base: u128) -> (String, bool) {
    assert!(denominator > 0 && base > 1, "a fraction of something, by units that grow");
    let (mut unit, mut exponent) = (denominator, 0usize);
    while numerator / unit >= base && exponent < PREFIXES.len() {
        unit *= base;
        exponent += 1;
    }
    let mut text = match exponent {
        0 => halves_to_even(numerator, unit).to_string(),
        _ => match halves_to_even(numerator * 10, unit) {
            tenths @ 0..100 => format!("{}.{}", tenths / 10, tenths % 10),
            _ => halves_to_even(numerator, unit).to_string(),
        },
    };
    if text == base.to_string() && exponent < PREFIXES.len() {
        text = "1.0".into();
        exponent += 1;
    }
    (format!("{text} {}B", prefix(exponent, base)), exponent > 0)
}

fn prefix(exponent: usize, base: u128) -> String {
    match (exponent, base) {
        (0, _) => String::new(),
        (1, 1024) => "Ki".into(),
        (exponent, 1024) => format!("{}i", PREFIXES[exponent - 1]),
        (exponent, _) => PREFIXES[exponent - 1].to_string(),
    }
}

fn halves_to_even(numerator: u128, denominator: u128) -> u128 {
    let (whole, rest) = (numerator / denominator, numerator % denominator);
    match (rest * 2).cmp(&denominator) {
        std::cmp::Ordering::Less => whole,
        std::cmp::Ordering::Equal => whole + whole % 2,
        std::cmp::Ordering::Greater => whole + 1,
    }
}

/// A rate with an SI prefix, as `98.7 MB/s`: always one decimal below 100, and never below `kB/s` unless the time is
/// a whole number of seconds, as coreutils prints it.
pub(super) fn rate(bytes: u64, elapsed_ns: u64) -> String {
    const SECOND: u128 = 1_000_000_000;
    if elapsed_ns == 0 {
        return "Infinity B/s".into();
    }
    let (bytes, elapsed) = (u128::from(bytes), u128::from(elapsed_ns));
    if SECOND.is_multiple_of(elapsed) || elapsed.is_multiple_of(SECOND) {
        return format!("{}/s", scaled(bytes * SECOND, elapsed, 1000).0);
    }
    let mut value = bytes as f64 * 1e9 / elapsed as f64 / 1000.0;
    let mut exponent = 1;
    while value >= 1000.0 && exponent < PREFIXES.len() {
        value /= 1000.0;
        exponent += 1;
    }
    let with_decimal = format!("{value:.1}");
    let text = if with_decimal.len() > 4 { format!("{value:.0}") } else { with_decimal };
    format!("{text} {}B/s", PREFIXES[exponent - 1])
}

/// A number as `%g` of C prints it: six significant digits without zeros at the end.
pub(super) fn shortest(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return format!("{value}");
    }
    let scientific = format!("{value:.5e}");
    let (mantissa, exponent) = scientific.split_once('e').expect("`e` is what separates the exponent");
    let exponent: i32 = exponent.parse().expect("an exponent is a whole number");
    let trimmed = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
    };
    match exponent {
        -4..=5 => trimmed(&format!("{value:.*}", narrow::<usize>(5 - exponent))),
        _ => {
            let sign = if exponent < 0 { '-' } else { '+' };
            format!("{}e{sign}{:02}", trimmed(mantissa), exponent.abs())
        }
    }
}
