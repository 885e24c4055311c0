//! Knobs of the array lab turned at random, over all arrays of the library.

use array::spec::Shipped;
use modelled::lab::knobs::{self, ArrayKnobs, Knob, KnobTakes};
use modelled::lab::{LabPattern, LabWorkload, Setting};
use units::Bytes;
use units::convert::narrow;

/// A choice for each turn, the same on every machine: splitmix64.
struct Dice(u64);

impl Dice {
    fn of(&mut self, count: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        narrow::<usize>((z ^ (z >> 31)) % count as u64)
    }
}

fn value(knob: &Knob, dice: &mut Dice) -> Option<String> {
    match &knob.takes {
        KnobTakes::Choice { values } => values.get(dice.of(values.len())).cloned(),
        KnobTakes::Number { min, max, .. } => {
            Some((min + narrow::<i64>(dice.of(narrow::<usize>(max - min + 1)))).to_string())
        }
        KnobTakes::Text => None,
    }
}

/// 8 KiB random, 70 % reads.
pub fn usual() -> LabWorkload {
    let reads = "70%".parse().expect("a share");
    LabWorkload { pattern: LabPattern::Random, size: Bytes::KIB * 8, reads, span: None }
}

fn setting(array: &ArrayKnobs, dice: &mut Dice) -> Setting {
    let mut workload = usual();
    let mut query = Vec::new();
    for knob in &array.knobs {
        // Half of the knobs stay where they are.
        let Some(value) = value(knob, dice).filter(|_| dice.of(2) == 0) else { continue };
        match knob.key.as_str() {
            "pattern" if value == "sequential" => workload.pattern = LabPattern::Sequential,
            "pattern" => workload.pattern = LabPattern::Random,
            "size" => workload.size = value.parse().expect("a size"),
            "reads" => workload.reads = value.parse().expect("a share"),
            "span" => workload.span = value.parse().ok(),
            key => query.push(format!("{key}={value}")),
        }
    }
    Setting {
        array: format!("array:{}?{}", array.array, query.join("&")),
        workload,
        fail: Vec::new(),
        seed: 1,
    }
}

/// `count` settings, each array of the library in its turn.
pub fn settings(count: usize) -> Vec<Setting> {
    let arrays = knobs::arrays(&Shipped).expect("the library is sound");
    let mut dice = Dice(7);
    (0..count).map(|change| setting(&arrays[change % arrays.len()], &mut dice)).collect()
}
