//! fio's patterns of bytes: `0xdeadface`, `-1024`, `"text"`, and several of them one after the other.

use crate::JobEnvironment;

/// As many as a plan takes.
const MOST: usize = workload::spec::MOST_PATTERN;

/// The bytes of `text`.
///
/// Hexadecimal digits are bytes from left to right, the first of an odd number alone; a decimal number is its 32 bits
/// from the lowest byte on, as many as it needs; text in double quotes is its bytes, a name in single ones the bytes of
/// that file.
pub(super) fn bytes(text: &str, environment: &JobEnvironment<'_>) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let (part, after) = part(rest, environment)?;
        bytes.extend(part);
        if bytes.len() > MOST {
            return Err(format!("at most {MOST} bytes"));
        }
        rest = after;
    }
    if bytes.is_empty() { Err("bytes such as 0xdeadface or \"text\"".into()) } else { Ok(bytes) }
}

fn part<'a>(text: &'a str, environment: &JobEnvironment<'_>) -> Result<(Vec<u8>, &'a str), String> {
    if let Some(after) = text.strip_prefix('"') {
        let (inner, after) = after.split_once('"').ok_or("a text ends with a quote")?;
        return Ok((inner.as_bytes().to_vec(), after));
    }
    if let Some(after) = text.strip_prefix('\'') {
        let (name, after) = after.split_once('\'').ok_or("a file's name ends with a quote")?;
        let bytes = (environment.bytes)(name).map_err(|error| format!("{name}: {error}"))?;
        return Ok((bytes, after));
    }
    if text.starts_with('%') {
        return Err("the place of a block is in the stamp of verify=crc32c, not in a pattern".into());
    }
    if let Some(digits) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        let end = digits.find(|each: char| !each.is_ascii_hexdigit()).unwrap_or(digits.len());
        // A 0 before the x of the next number belongs to that.
        let joins = digits[end..].starts_with(['x', 'X']) && digits[..end].ends_with('0');
        let end = if joins { end - 1 } else { end };
        return Ok((hexadecimal(&digits[..end])?, &digits[end..]));
    }
    let sign = usize::from(text.starts_with('-'));
    let digits = text[sign..].find(|each: char| !each.is_ascii_digit()).unwrap_or(text.len() - sign);
    let mut end = sign + digits;
    if text[end..].starts_with(['x', 'X']) && text[..end].ends_with('0') {
        end -= 1;
    }
    let number: i32 = text[..end].parse().map_err(|_| format!("`{text}` is not a 32-bit number"))?;
    let mut number = number.cast_unsigned();
    let mut bytes = vec![number.to_le_bytes()[0]];
    while number > 0xff {
        number >>= 8;
        bytes.push(number.to_le_bytes()[0]);
    }
    Ok((bytes, &text[end..]))
}

fn hexadecimal(digits: &str) -> Result<Vec<u8>, String> {
    let (first, pairs) = digits.split_at(digits.len() % 2);
    let byte = |text: &str| u8::from_str_radix(text, 16).map_err(|_| format!("`0x{digits}` has no digits"));
    let mut bytes: Vec<u8> = if first.is_empty() { Vec::new() } else { vec![byte(first)?] };
    for at in (0..pairs.len()).step_by(2) {
        bytes.push(byte(&pairs[at..at + 2])?);
    }
    if bytes.is_empty() { Err("hexadecimal digits after 0x".into()) } else { Ok(bytes) }
}

/// `bytes` as a plan writes them.
pub(super) fn digits(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    // The examples in the comments of fio's lib/pattern.c.
    #[test]
    fn patterns_are_the_bytes_that_fio_makes_of_them() {
        for (text, wanted) in [
            ("\"abcd\"", "61626364"),
            ("-1024", "00fcffff"),
            ("66", "42"),
            ("0xFF0X1", "ff01"),
            ("\"123\"0xFFeeCC", "313233ffeecc"),
            ("-100xab\"1\"\"2\"", "f6ffffffab3132"),
            ("0xaaa", "0aaa"),
            ("0", "00"),
            ("0xdeadface", "deadface"),
        ] {
            assert_eq!(
                bytes(text, &JobEnvironment::NONE).map(|found| digits(&found)),
                Ok(wanted.into()),
                "{text}"
            );
        }
        for wrong in ["", "x", "0x", "\"a", "%o", "'file'", "99999999999"] {
            assert!(bytes(wrong, &JobEnvironment::NONE).is_err(), "{wrong}");
        }
        assert!(bytes(&format!("0x{}", "ab".repeat(MOST + 1)), &JobEnvironment::NONE).is_err());
    }
}
