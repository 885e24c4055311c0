//! What a drive could be told to leave out: DEVICE CONFIGURATION IDENTIFY, as `--dco-identify` prints it.
//!
//! Source: ATA8-ACS, DEVICE CONFIGURATION IDENTIFY; outputs of hdparm 9.

/// Features by their bits, in the order in which they are printed, with the word that has them and its first bit.
const FEATURES: [(usize, u16, &[&str]); 3] = [
    (7, 0, &["SMART", "self_test", "error_log", "security", "PUIS", "TCQ", "AAM", "HPA", "48_bit"]),
    (
        7,
        9,
        &[
            "streaming",
            "TLC_Reserved_7[10]",
            "FUA",
            "selective_test",
            "conveyance_test",
            "write_read_verify",
            "reserved_7[15]",
        ],
    ),
    (21, 11, &["free_fall", "trusted_computing", "WRITE_UNC_EXT", "NV_cache_power_management", "NV_cache"]),
];

const _: () = {
    let mut at = 0;
    while at < FEATURES.len() {
        let (word, first, names) = FEATURES[at];
        assert!(word < 256 && first as usize + names.len() <= 16, "each name has a bit of the word");
        at += 1;
    }
};

const SATA: [&str; 5] =
    ["NCQ", "NZ_buffer_offsets", "interface_power_management", "async_notification", "SSP"];

/// The lines for the 256 words of the answer.
pub fn configuration(words: &[u16; 256]) -> String {
    let sum = words.iter().flat_map(|word| word.to_le_bytes()).fold(0u8, u8::wrapping_add);
    let is_known = (1..=2).contains(&words[0]);
    let mut text = format!("DCO Checksum {}\n", if sum == 0 { "verified." } else { "FAILED!" });
    text += &format!("DCO Revision: 0x{:04x}", words[0]);
    text += if is_known { "" } else { " -- unknown, treating as 0002" };
    text += "\nThe following features can be selectively disabled via DCO:\n\tTransfer modes:\n\t\t";
    if words[1] & 7 != 0 {
        text += &format!("{}\n\t\t", modes("mdma", words[1] & 7));
    }
    text += &modes("udma", words[2] & 0x7f);
    text += if words[2] >> 6 & 1 == 1 && words[0] < 2 { "(?)\n" } else { "\n" };
    let last = u64::from(words[3]) | u64::from(words[4]) << 16 | u64::from(words[5]) << 32;
    text += &format!("\tReal max sectors: {}\n\tATA command/feature sets:", last + 1);
    for (number, (word, first, names)) in FEATURES.into_iter().enumerate() {
        let found = named(names, words[word] >> first);
        if !found.is_empty() {
            text += "\n\t\t";
            text += if number > 0 && words[0] < 2 { " (?):" } else { "" };
            text += &found;
        }
    }
    text.push('\n');
    let sata = named(&SATA, words[8]);
    if !sata.is_empty() {
        text +=
            &format!("\tSATA command/feature sets:\n\t\t{}{sata}\n", if words[0] < 2 { " (?):" } else { "" });
    }
    text
}

/// All modes up to the highest of which the bit is set.
fn modes(name: &str, bits: u16) -> String {
    (0..16 - bits.leading_zeros()).map(|mode| format!(" {name}{mode}")).collect()
}

fn named(names: &[&str], bits: u16) -> String {
    let set = names.iter().enumerate().filter(|(bit, _)| bits >> bit & 1 == 1);
    set.map(|(_, name)| format!(" {name}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_be_left_out_is_listed_and_the_sum_is_checked() {
        let mut words = [0u16; 256];
        (words[0], words[1], words[2], words[3], words[4]) = (2, 7, 0x3f, 0xffff, 1);
        (words[7], words[8], words[21]) = (0x8 | 0x1 | 0x1000, 1, 0x2000);
        let sum = words.iter().flat_map(|word| word.to_le_bytes()).fold(0u8, u8::wrapping_add);
        words[255] = u16::from(sum.wrapping_neg()) << 8;
        let lines = "DCO Checksum verified.\nDCO Revision: 0x0002\n\
                     The following features can be selectively disabled via DCO:\n\
                     \tTransfer modes:\n\t\t mdma0 mdma1 mdma2\n\
                     \t\t udma0 udma1 udma2 udma3 udma4 udma5\n\tReal max sectors: 131072\n\
                     \tATA command/feature sets:\n\t\t SMART security\n\t\t selective_test\n\t\t WRITE_UNC_EXT\n\
                     \tSATA command/feature sets:\n\t\t NCQ\n";
        assert_eq!(configuration(&words), lines);
        words[3] = 7;
        assert!(configuration(&words).starts_with("DCO Checksum FAILED!"));
    }
}
