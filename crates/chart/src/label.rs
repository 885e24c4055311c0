//! How wide a text is, and where labels go that would lie on each other.

/// The width of `text` at `size` pixels in a sans-serif type, a little too large rather than too small.
///
/// There is no font where SVG is written; widths are those of Helvetica by kinds of letters.
pub(crate) fn width(text: &str, size: f64) -> f64 {
    let of = |letter: char| match letter {
        'i' | 'j' | 'l' | 'I' | '.' | ',' | ':' | ';' | '|' | '\'' | '!' | ' ' | '\u{a0}' | '(' | ')'
        | '/' => 0.31,
        'f' | 't' | 'r' | '-' => 0.38,
        'm' | 'w' | 'M' | 'W' | '%' | '×' | '–' | '—' => 0.88,
        'A'..='Z' => 0.70,
        '0'..='9' => 0.56,
        letter if letter.is_ascii() => 0.56,
        _ => 0.85,
    };
    text.chars().map(of).sum::<f64>() * size
}

/// `text` cut to `room` pixels at `size`, with an ellipsis where something is lost.
pub(crate) fn cut(text: &str, room: f64, size: f64) -> String {
    if width(text, size) <= room {
        return text.to_owned();
    }
    let mut kept = String::new();
    for letter in text.chars() {
        kept.push(letter);
        if width(&kept, size) + size > room {
            kept.pop();
            break;
        }
    }
    kept.trim_end().to_owned() + "…"
}

/// Places for labels that want to be at `wanted`, in its order: at least `apart` from each other and between `from` and
/// `to` as long as they fit in there.
pub(crate) fn spread(wanted: &[f64], apart: f64, from: f64, to: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by(|one, other| wanted[*one].total_cmp(&wanted[*other]));
    let mut places = vec![0.0; wanted.len()];
    let mut least = from;
    for index in &order {
        places[*index] = wanted[*index].max(least);
        least = places[*index] + apart;
    }
    let mut most = to;
    for index in order.iter().rev() {
        places[*index] = places[*index].min(most);
        most = places[*index] - apart;
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_text_is_cut_to_its_room() {
        assert_eq!(cut("RAID 5", 100.0, 12.0), "RAID 5");
        let cut = cut("array:md3000?raid=5&disks=14", 60.0, 12.0);
        assert!(cut.ends_with('…') && width(&cut, 12.0) <= 62.0, "{cut}");
    }

    proptest! {
        #[test]
        fn labels_keep_apart_and_in_order(wanted in prop::collection::vec(0.0f64..300.0, 1..12)) {
            let places = spread(&wanted, 14.0, 0.0, 300.0);
            let mut pairs: Vec<(f64, f64)> = wanted.iter().copied().zip(places).collect();
            pairs.sort_by(|one, other| one.0.total_cmp(&other.0));
            for pair in pairs.windows(2) {
                prop_assert!(pair[1].1 - pair[0].1 >= 14.0 - 1e-9, "{pairs:?}");
            }
        }
    }
}
