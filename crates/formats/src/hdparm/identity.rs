//! What an ATA drive tells of itself, as `hdparm -i` and `hdparm -I` print it.
//!
//! Source: ATA8-ACS, IDENTIFY DEVICE; outputs of hdparm 9.

use std::fmt::Write;

/// Words of IDENTIFY DEVICE.
type Words = [u16; 256];

fn has(words: &Words, word: usize, bit: u16) -> bool {
    words[word] >> bit & 1 == 1
}

/// The text in these words: two letters a word, the first in the upper byte.
fn text(words: &Words, from: usize, to: usize) -> String {
    assert!(from < to && to <= words.len(), "a text is of some of the words");
    let letters = words[from..to].iter().flat_map(|word| word.to_be_bytes());
    letters.map(|letter| if (0x20..0x7f).contains(&letter) { char::from(letter) } else { ' ' }).collect()
}

fn long(words: &Words, from: usize) -> u64 {
    u64::from(words[from]) | u64::from(words[from + 1]) << 16
}

/// Sectors by 28 bits.
fn sectors_28(words: &Words) -> u64 {
    long(words, 60)
}

/// Sectors by 48 bits where the drive counts so far; otherwise by 28.
fn sectors(words: &Words) -> u64 {
    match has(words, 83, 10) {
        true => long(words, 100) | long(words, 102) << 32,
        false => sectors_28(words),
    }
}

/// Bytes of a logical and of a physical sector.
fn sector_bytes(words: &Words) -> (u64, u64) {
    let told = words[106] >> 14 == 1;
    let logical = if told && has(words, 106, 12) { long(words, 117) * 2 } else { 512 };
    let power = if told && has(words, 106, 13) { words[106] & 15 } else { 0 };
    (logical, logical << power)
}

/// The ATA command that reads a drive's native maximum address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HighestSector {
    /// GET NATIVE MAX ADDRESS EXT.
    Accessible,
    /// READ NATIVE MAX ADDRESS EXT.
    Extended,
    /// READ NATIVE MAX ADDRESS.
    Short,
}

impl HighestSector {
    /// The one that a drive takes which identifies itself by `words`.
    pub fn of(words: &[u16; 256]) -> HighestSector {
        match () {
            () if has_accessible_maximum(words) => HighestSector::Accessible,
            () if has(words, 83, 10) && has(words, 86, 10) => HighestSector::Extended,
            () => HighestSector::Short,
        }
    }
}

/// Of ACS-3 and later alone: word 80, bits 10 and above.
fn has_accessible_maximum(words: &Words) -> bool {
    words[80] != 0xffff && words[80] >> 10 != 0 && has(words, 119, 8)
}

/// The line of `-N`: sectors that can be seen, and that there are.
pub fn highest_sector(words: &[u16; 256], native: u64) -> String {
    let (visible, is_new) = (sectors(words), has_accessible_maximum(words));
    let state = match (visible.cmp(&native), is_new) {
        (std::cmp::Ordering::Less, true) => {
            ", ACCESSIBLE MAX ADDRESS enabled\nPower cycle your device after every ACCESSIBLE MAX ADDRESS"
        }
        (std::cmp::Ordering::Less, false) => ", HPA is enabled",
        (std::cmp::Ordering::Equal, true) => ", ACCESSIBLE MAX ADDRESS disabled",
        (std::cmp::Ordering::Equal, false) => ", HPA is disabled",
        (std::cmp::Ordering::Greater, _) => ", HPA setting seems invalid",
    };
    format!(" max sectors   = {visible}/{native}{state}\n")
}

/// Whether the model is one of Hitachi, IBM or HGST, whose command it is that tells the temperature.
pub fn maker_is_hitachi(words: &[u16; 256]) -> bool {
    let model = text(words, 27, 47).trim_start().to_uppercase();
    ["HITACHI", "HGST", "IBM", "HTS", "HDS", "HUA", "IC"].iter().any(|maker| model.starts_with(maker))
}

fn yes(is_so: bool) -> &'static str {
    if is_so { "yes" } else { "no" }
}

/// Modes of one kind that the lower byte offers, the one that the upper byte has chosen with an asterisk.
fn modes(name: &str, word: u16) -> String {
    let mode = |bit: u16| {
        let chosen = if word >> (bit + 8) & 1 == 1 { "*" } else { "" };
        format!("{chosen}{name}{bit} ")
    };
    (0..8).filter(|bit| word >> bit & 1 == 1).map(mode).collect()
}

/// Bits of word 0, from the first.
const CONFIGURATION: [&str; 16] = [
    "",
    "HardSect",
    "SoftSect",
    "NotMFM",
    "HdSw>15uSec",
    "SpinMotCtl",
    "Fixed",
    "Removeable",
    "DTR<=5Mbs",
    "DTR>5Mbs",
    "DTR>10Mbs",
    "RotSpdTol>.5%",
    "dStbOff",
    "TrkOff",
    "FmtGapReq",
    "nonMagnetic",
];

/// What `-i` prints.
pub fn identity(words: &Words) -> String {
    let mut out = String::new();
    let part = |from, to| text(words, from, to).trim().to_owned();
    let (model, firmware, serial) = (part(27, 47), part(23, 27), part(10, 20));
    let _ = writeln!(out, "\n Model={model}, FwRev={firmware}, SerialNo={serial}");
    let configuration: String = (0..16)
        .filter(|bit| has(words, 0, *bit))
        .map(|bit| format!(" {}", CONFIGURATION[usize::from(bit)]))
        .collect();
    let _ = writeln!(out, " Config={{{configuration} }}");
    let _ = writeln!(
        out,
        " RawCHS={}/{}/{}, TrkSize={}, SectSize={}, ECCbytes={}",
        words[1], words[3], words[6], words[4], words[5], words[22]
    );
    let buffer = match words[20] {
        1 => "1Sect",
        2 => "DualPort",
        3 => "DualPortCache",
        _ => "unknown",
    };
    let _ = write!(out, " BuffType={buffer}, BuffSize={}kB, MaxMultSect={}", words[21] / 2, words[47] & 0xff);
    if words[47] & 0xff > 0 {
        let count = words[59] & 0xff;
        let _ = match (has(words, 59, 8), count) {
            (false, count) => write!(out, ", MultSect=?{count}?"),
            (true, 0) => write!(out, ", MultSect=off"),
            (true, count) => write!(out, ", MultSect={count}"),
        };
    }
    out.push('\n');
    let is_addressed = has(words, 49, 9);
    let _ = write!(
        out,
        "{} CurCHS={}/{}/{}, CurSects={}, LBA={}",
        if has(words, 53, 0) { "" } else { " (maybe):" },
        words[54],
        words[55],
        words[56],
        long(words, 57),
        yes(is_addressed)
    );
    if is_addressed {
        let _ = write!(out, ", LBAsects={}", sectors(words));
    }
    let ready = match (has(words, 49, 11), has(words, 49, 10)) {
        (true, true) => "on/off",
        (true, false) => "yes",
        (false, _) => "no",
    };
    let _ = write!(out, "\n IORDY={ready}");
    let are_times_told = has(words, 53, 1);
    if are_times_told {
        let _ = write!(out, ", tPIO={{min:{},w/IORDY:{}}}", words[67], words[68]);
        if has(words, 49, 8) {
            let _ = write!(out, ", tDMA={{min:{},rec:{}}}", words[65], words[66]);
        }
    }
    out.push_str(&transfers(words, are_times_told));
    out.push_str(&standards(words));
    out.push_str("\n\n * signifies the current active mode\n\n");
    out
}

/// The modes of transfer.
fn transfers(words: &Words, are_times_told: bool) -> String {
    let slowest = words[51] >> 8;
    let mut pio: String =
        (0..=2).filter(|mode| *mode <= slowest && slowest <= 5).map(|mode| format!("pio{mode} ")).collect();
    if are_times_told {
        pio += &[(0, "pio3 "), (1, "pio4 ")]
            .into_iter()
            .filter(|(bit, _)| has(words, 64, *bit))
            .map(|(_, name)| name)
            .collect::<String>();
    }
    let mut out = format!("\n PIO modes:  {pio}");
    let multi = modes("sdma", words[62]) + &modes("mdma", words[63]);
    let ultra = modes("udma", words[88]);
    if has(words, 49, 8) && !multi.is_empty() {
        out += &format!("\n DMA modes:  {multi}");
    }
    if has(words, 53, 2) && !ultra.is_empty() {
        out += &format!("\n UDMA modes: {ultra}");
    }
    out
}

/// Power management, the write cache, and the standards that the drive keeps to.
fn standards(words: &Words) -> String {
    let mut out = format!("\n AdvancedPM={}", yes(has(words, 83, 3)));
    if has(words, 83, 3) {
        out += &match (has(words, 86, 3), words[91] & 0xff00 == 0x4000) {
            (false, _) => ": disabled (255)".to_owned(),
            (true, false) => ": unknown setting".into(),
            (true, true) => format!(": mode=0x{:02X} ({})", words[91] & 0xff, words[91] & 0xff),
        };
    }
    if has(words, 82, 5) {
        out += &format!(" WriteCache={}", if has(words, 85, 5) { "enabled" } else { "disabled" });
    }
    let kept: Vec<String> = kept_standards(words).iter().map(u16::to_string).collect();
    if !kept.is_empty() {
        out += &format!("\n Drive conforms to: Unspecified:  ATA/ATAPI-{}", kept.join(","));
    }
    out
}

/// The versions of the standard, from the first.
fn kept_standards(words: &Words) -> Vec<u16> {
    match words[80] {
        0 | 0xffff => Vec::new(),
        _ => (1..15).filter(|bit| has(words, 80, *bit)).collect(),
    }
}

/// What `-I` prints up to the drive's capabilities.
pub fn details(words: &Words) -> String {
    let media = if has(words, 0, 7) { "removable" } else { "non-removable" };
    let mut out = format!("\nATA device, with {media} media\n");
    for (name, from, to) in
        [("Model Number", 27, 47), ("Serial Number", 10, 20), ("Firmware Revision", 23, 27)]
    {
        let _ = writeln!(out, "\t{:20}{}", format!("{name}:"), text(words, from, to));
    }
    let kept: Vec<String> = kept_standards(words).iter().rev().take(4).map(u16::to_string).collect();
    if let Some(newest) = kept.first() {
        let _ = write!(out, "Standards:\n\tSupported: {} \n\tLikely used: {newest}\n", kept.join(" "));
    }
    out.push_str("Configuration:\n\tLogical\t\tmax\tcurrent\n");
    for (name, most, now) in [("cylinders\t", 1, 54), ("heads\t\t", 3, 55), ("sectors/track\t", 6, 56)] {
        let _ = writeln!(out, "\t{name}{}\t{}", words[most], words[now]);
    }
    let _ = writeln!(out, "\t--\n\tCHS current addressable sectors:{:11}", long(words, 57));
    let _ = writeln!(out, "\tLBA    user addressable sectors:{:11}", sectors_28(words));
    if has(words, 83, 10) {
        let _ = writeln!(out, "\tLBA48  user addressable sectors:{:11}", sectors(words));
    }
    let (logical, physical) = sector_bytes(words);
    let _ = match logical == physical {
        true => writeln!(out, "\tLogical/Physical Sector size:{logical:14} bytes"),
        false => writeln!(
            out,
            "\tLogical  Sector size:{logical:22} bytes\n\tPhysical Sector size:{physical:22} bytes"
        ),
    };
    let bytes = sectors(words).saturating_mul(logical);
    let _ = writeln!(out, "\tdevice size with M = 1024*1024: {:11} MBytes", bytes >> 20);
    let _ = writeln!(
        out,
        "\tdevice size with M = 1000*1000: {:11} MBytes ({} GB)",
        bytes / 1_000_000,
        bytes / 1_000_000_000
    );
    let _ = match words[21] {
        0 => writeln!(out, "\tcache/buffer size  = unknown"),
        buffer => writeln!(out, "\tcache/buffer size  = {} KBytes", buffer / 2),
    };
    let _ = match words[217] {
        1 => writeln!(out, "\tNominal Media Rotation Rate: Solid State Device"),
        rate @ 0x0401..=0xfffe => writeln!(out, "\tNominal Media Rotation Rate: {rate}"),
        _ => Ok(()),
    };
    out
}

#[cfg(test)]
pub(super) fn sample() -> Words {
    let mut words = [0_u16; 256];
    let mut say = |from: usize, to: usize, text: &str| {
        let letters = text.bytes().chain(std::iter::repeat(b' '));
        let pairs: Vec<u8> = letters.take(2 * (to - from)).collect();
        for (word, pair) in words[from..to].iter_mut().zip(pairs.chunks(2)) {
            *word = u16::from_be_bytes([pair[0], pair[1]]);
        }
    };
    say(10, 20, "9VM00001");
    say(23, 27, "CC38");
    say(27, 47, "ST3500418AS");
    for (word, value) in [
        (0, 0x0c5a),
        (1, 16383),
        (3, 16),
        (6, 63),
        (21, 32768),
        (22, 4),
        (47, 0x8010),
        (49, 0x2f00),
        (51, 0x0200),
        (53, 7),
        (54, 16383),
        (55, 16),
        (56, 63),
        (57, 0xfc10),
        (58, 0x00fb),
        (59, 0x0110),
        (60, 0xffff),
        (61, 0x0fff),
        (63, 7),
        (64, 3),
        (65, 120),
        (66, 120),
        (67, 120),
        (68, 120),
        (80, 0x01f0),
        (82, 0x346b),
        (83, 0x7d01),
        (85, 0x3469),
        (88, 0x407f),
        (100, 0x6030),
        (101, 0x3a38),
        (217, 7200),
    ] {
        words[word] = value;
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drive_is_told_by_the_words_of_its_identity() {
        let told = identity(&sample());
        for line in [
            " Model=ST3500418AS, FwRev=CC38, SerialNo=9VM00001\n",
            " Config={ HardSect NotMFM HdSw>15uSec Fixed DTR>10Mbs RotSpdTol>.5% }\n",
            " RawCHS=16383/16/63, TrkSize=0, SectSize=0, ECCbytes=4\n",
            " BuffType=unknown, BuffSize=16384kB, MaxMultSect=16, MultSect=16\n",
            " CurCHS=16383/16/63, CurSects=16514064, LBA=yes, LBAsects=976773168\n",
            " IORDY=on/off, tPIO={min:120,w/IORDY:120}, tDMA={min:120,rec:120}\n",
            " PIO modes:  pio0 pio1 pio2 pio3 pio4 \n",
            " DMA modes:  mdma0 mdma1 mdma2 \n",
            " UDMA modes: udma0 udma1 udma2 udma3 udma4 udma5 *udma6 \n",
            " AdvancedPM=no WriteCache=enabled\n",
            " Drive conforms to: Unspecified:  ATA/ATAPI-4,5,6,7,8\n",
        ] {
            assert!(told.contains(line), "{line:?}\n{told}");
        }
    }

    #[test]
    fn details_have_sizes_in_both_units_and_the_rate_of_the_spindle() {
        let told = details(&sample());
        for line in [
            "ATA device, with non-removable media\n\tModel Number:       ST3500418AS  ",
            "\tSupported: 8 7 6 5 \n\tLikely used: 8\n",
            "\tcylinders\t16383\t16383\n",
            "\tLBA    user addressable sectors:  268435455\n\tLBA48  user addressable sectors:  976773168\n",
            "\tLogical/Physical Sector size:           512 bytes\n",
            "\tdevice size with M = 1024*1024:      476940 MBytes\n",
            "\tdevice size with M = 1000*1000:      500107 MBytes (500 GB)\n",
            "\tNominal Media Rotation Rate: 7200\n",
        ] {
            assert!(told.contains(line), "{line:?}\n{told}");
        }
        let mut words = sample();
        (words[106], words[217]) = (0x6003, 1);
        let told = details(&words);
        assert!(told.contains("Physical Sector size:                  4096 bytes"), "{told}");
        assert!(told.contains("Solid State Device"), "{told}");
    }
}
