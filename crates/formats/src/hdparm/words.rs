//! Words of 16 bits as hexadecimal text: what a drive tells of itself, and what a sector holds.

/// Eight words a line, as `--Istdout` prints them.
pub fn dump(words: &[u16; 256]) -> String {
    lines(words.iter().map(|word| format!("{word:04x}")))
}

/// Eight pairs of bytes a line, as `--read-sector` prints them.
pub fn dump_bytes(bytes: &[u8]) -> String {
    lines(bytes.chunks_exact(2).map(|pair| format!("{:02x}{:02x}", pair[0], pair[1])))
}

fn lines(words: impl Iterator<Item = String>) -> String {
    let words: Vec<String> = words.collect();
    words.chunks(8).map(|line| line.join(" ") + "\n").collect()
}

/// The words of such a text; lines before the first of them are left out. How many there were, where they are less than 256.
pub fn read_words(text: &str) -> Result<[u16; 256], usize> {
    let word = |text: &str| match text.len() == 4 && text.bytes().all(|each| each.is_ascii_hexdigit()) {
        true => u16::from_str_radix(text, 16).ok(),
        false => None,
    };
    let mut found = Vec::new();
    for line in text.lines() {
        let of_line: Vec<Option<u16>> = line.split_whitespace().map(word).collect();
        if !found.is_empty() || of_line.first().is_some_and(Option::is_some) {
            found.extend(of_line.into_iter().map_while(|word| word));
        }
    }
    found.truncate(256);
    let count = found.len();
    found.try_into().map_err(|_| count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_printed_is_read_back_whatever_stands_before_it() {
        let mut words = [0; 256];
        for (number, word) in words.iter_mut().enumerate() {
            *word = u16::try_from(number * 257 % 65_536).expect("below 65536");
        }
        let text = dump(&words);
        assert_eq!(
            (text.lines().count(), text.lines().next()),
            (32, Some("0000 0101 0202 0303 0404 0505 0606 0707"))
        );
        assert_eq!(read_words(&format!("\n/dev/sda:\n{text}")), Ok(words));
        assert_eq!(read_words("0040 3fff\n"), Err(2));
        assert_eq!(read_words("no words"), Err(0));
        assert_eq!(dump_bytes(&[1, 0xab, 0, 2]), "01ab 0002\n");
    }
}
