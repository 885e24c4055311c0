//! Colours of amounts: cividis, which readers who confuse colours see as others do, and which is even in print.

/// Nine steps of cividis, dark to light (Nuñez, Anderton, Renslow: PLoS ONE 13(7), 2018; sampled at eighths).
const CIVIDIS: [[u8; 3]; 9] = [
    [0, 34, 78],
    [18, 53, 112],
    [59, 73, 108],
    [87, 93, 109],
    [112, 113, 115],
    [138, 134, 120],
    [165, 156, 116],
    [195, 179, 105],
    [225, 204, 85],
];

/// The colour of `part`, 0 to 1, as `#rrggbb`, and whether text on it is to be dark.
pub(crate) fn colour(part: f64) -> (String, bool) {
    let along = part.clamp(0.0, 1.0) * 8.0;
    let first = units::convert::truncated::<usize>(along).min(7);
    let rest = along - first as f64;
    debug_assert!((0.0..=1.0).contains(&rest), "between two steps of the ramp");
    let mixed: Vec<u8> = CIVIDIS[first]
        .iter()
        .zip(CIVIDIS[first + 1])
        .map(|(low, high)| {
            let value = f64::from(*low) + (f64::from(high) - f64::from(*low)) * rest;
            units::convert::truncated::<u8>(value.round())
        })
        .collect();
    let mixed = [mixed[0], mixed[1], mixed[2]];
    // Where black and white have the same contrast.
    (format!("#{:02x}{:02x}{:02x}", mixed[0], mixed[1], mixed[2]), luminance(mixed) > 0.179)
}

/// How light a colour of sRGB is, 0 to 1 (WCAG 2.1, relative luminance).
pub(crate) fn luminance(colour: [u8; 3]) -> f64 {
    0.2126 * linear(colour[0]) + 0.7152 * linear(colour[1]) + 0.0722 * linear(colour[2])
}

/// A channel of sRGB as light.
fn linear(channel: u8) -> f64 {
    let value = f64::from(channel) / 255.0;
    if value <= 0.040_45 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ramp_goes_from_dark_to_light_and_text_follows() {
        assert_eq!(colour(0.0), ("#00224e".into(), false));
        assert_eq!(colour(1.0), ("#e1cc55".into(), true));
        assert_eq!(colour(-3.0), colour(0.0));
        assert_eq!(colour(0.5), ("#707173".into(), false));
        let dark: Vec<bool> = (0..=10).map(|step| colour(f64::from(step) / 10.0).1).collect();
        assert!(dark.is_sorted(), "{dark:?}");
    }
}
