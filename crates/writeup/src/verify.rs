//! Whether a page says what its records say.

use crate::evidence::{Evidence, EvidenceError};
use crate::html::{EVIDENCE, UNITS, html, writer};
use crate::number::{Number, Source};
use crate::write_up;

/// A page that says what its records say.
#[derive(Debug)]
pub struct Verified {
    /// How many numbers were computed again.
    pub numbers: usize,
    /// Whether the whole page was drawn again and is the same to the byte; otherwise another build drew it and worded it
    /// otherwise, and its numbers alone were computed.
    pub redrawn: bool,
    /// Of a page that another build worded otherwise, the first line that this one words otherwise, from 1.
    pub differs: Option<usize>,
    /// What the page holds.
    pub evidence: Evidence,
}

/// Why a page cannot be relied on.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    /// It holds no records.
    #[error("no report of fathom: it holds no records; was it saved by another program?")]
    NoEvidence,
    /// Its records cannot be read.
    #[error(transparent)]
    Evidence(#[from] EvidenceError),
    /// A number that its records do not have, or have otherwise.
    #[error("number {turn} of the page, {shown:?} ({place}): {why}")]
    Number {
        /// Which, from 1.
        turn: usize,
        /// As the page shows it.
        shown: String,
        /// Its place as the page names it.
        place: String,
        /// What is wrong.
        why: String,
    },
    /// Something else differs.
    #[error("line {line} is not what the records give: the page has {found:?}, they give {expected:?}")]
    Text {
        /// Which line, from 1.
        line: usize,
        /// What the page has there.
        found: String,
        /// What it should have.
        expected: String,
    },
}

/// Computes every number of `page` again from the records in it, and draws the whole page again. Where this build drew it,
/// whatever was altered, a digit or a word, is an error. Another build may have worded it otherwise, which is no error as
/// long as every number holds.
pub fn verify(page: &str) -> Result<Verified, VerifyError> {
    let packed = page.rsplit_once(EVIDENCE.0).and_then(|(_, rest)| rest.split_once(EVIDENCE.1));
    let evidence = Evidence::unpacked(packed.ok_or(VerifyError::NoEvidence)?.0)?;
    let records = evidence.records()?;
    let mut numbers = 0;
    for element in page.split("<data ").skip(1) {
        numbers += 1;
        check(element, &records).map_err(|(shown, place, why)| VerifyError::Number {
            turn: numbers,
            shown,
            place,
            why,
        })?;
    }
    let differs = match same(page, &html(&write_up(&evidence), &evidence)?) {
        Err(VerifyError::Text { line, .. }) if is_of_another(page, &evidence) => Some(line),
        other => other.map(|()| None)?,
    };
    Ok(Verified { numbers, redrawn: differs.is_none(), differs, evidence })
}

/// Whether another build drew `page`, by its records and by its last line, which say the same.
fn is_of_another(page: &str, evidence: &Evidence) -> bool {
    !evidence.is_of_this_build() && page.contains(&writer(evidence))
}

/// Holds one element, from behind `<data `, against the records; else what it shows, its place, and what is wrong.
fn check(element: &str, records: &[serde_json::Value]) -> Result<(), (String, String, String)> {
    let attribute = |name: &str| {
        let (_, rest) = element.split_once(&format!("{name}=\""))?;
        Some(rest.split_once('"')?.0)
    };
    let shown = element
        .split_once('>')
        .and_then(|(_, rest)| rest.split_once("</data>"))
        .map_or("", |(shown, _)| shown);
    let place = attribute("data-at").unwrap_or_default();
    let wrong = |why: String| (shown.to_owned(), place.to_owned(), why);
    let source: Source = place.parse().map_err(|why| wrong(format!("its place cannot be read: {why}")))?;
    let unit = attribute("data-unit").and_then(|name| UNITS.iter().find(|(_, own)| *own == name));
    let (unit, _) = unit.ok_or_else(|| wrong("it has no unit that is known".into()))?;
    let value = source.read(records).ok_or_else(|| wrong("the records have nothing there".into()))?;
    let number = Number { value, unit: *unit, source };
    if attribute("value") != Some(value.to_string().as_str()) {
        return Err(wrong(format!("the records have {value}")));
    }
    let texts = [number.text(), number.bare()];
    if !texts.iter().any(|text| text == shown) {
        return Err(wrong(format!("the records give {:?}", texts[0])));
    }
    Ok(())
}

/// Whether both pages are the same; else the first line that differs, from where it differs.
fn same(page: &str, expected: &str) -> Result<(), VerifyError> {
    if page == expected {
        return Ok(());
    }
    let (mut found, mut wanted) = (page.split('\n'), expected.split('\n'));
    for line in 1.. {
        match (found.next(), wanted.next()) {
            (None, None) => break,
            (one, other) if one == other => {}
            (one, other) => {
                let (one, other) = (one.unwrap_or_default(), other.unwrap_or_default());
                let alike = one.chars().zip(other.chars()).take_while(|(one, other)| one == other).count();
                let excerpt = |text: &str| text.chars().skip(alike.saturating_sub(20)).take(60).collect();
                return Err(VerifyError::Text { line, found: excerpt(one), expected: excerpt(other) });
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::Run;
    use record::sample::{self, Stream};

    const STREAM: Stream =
        Stream { op: "read", size_bytes: 4096, per_s: 1234, median_ns: 100_000, spread: 0.2 };

    fn run() -> Run {
        let points = (0..4).map(|index| {
            let mut point =
                sample::point(index, "{depth} in flight", vec![sample::workload("load", &[STREAM])]);
            point.swept.insert("depth".into(), (1 << index).to_string());
            point
        });
        sample::run("random", points.collect())
    }

    fn page() -> String {
        let evidence = Evidence::of(vec![run()], None, None);
        html(&write_up(&evidence), &evidence).expect("it can be drawn")
    }

    #[test]
    fn a_page_as_it_was_drawn_is_verified() {
        let verified = verify(&page()).expect("it is as it was drawn");
        assert!(verified.numbers > 40 && verified.redrawn, "{}", verified.numbers);
        assert_eq!(verified.evidence.runs.len(), 1);
    }

    /// A page that another build drew, whose words differ.
    fn of_another_build() -> String {
        let mut evidence = Evidence::of(vec![run()], None, None);
        evidence.build = "0123456789abcdef".into();
        let page = html(&write_up(&evidence), &evidence).expect("it can be drawn");
        page.replacen("How it was measured", "How it was done", 1)
    }

    #[test]
    fn words_of_another_build_are_no_alteration_but_its_numbers_must_hold() {
        let page = of_another_build();
        let verified = verify(&page).expect("all of its numbers hold");
        assert!(verified.numbers > 40 && !verified.redrawn && verified.differs.is_some());
        assert_eq!(
            verified.evidence.drawn_by(),
            concat!(env!("CARGO_PKG_VERSION"), ", build 0123456789abcdef")
        );
        let altered = page.replacen(">1,234<", ">1,334<", 1);
        assert!(matches!(verify(&altered), Err(VerifyError::Number { .. })), "a number was altered");
        // What this build drew is its own to the word, and no page is another's that does not say so.
        let own = self::page().replacen("How it was measured", "How it was done", 1);
        assert!(matches!(verify(&own), Err(VerifyError::Text { .. })));
        let claimed = page.replacen("build 0123456789abcdef", "build 0123456789abcdee", 1);
        assert!(matches!(verify(&claimed), Err(VerifyError::Text { .. })));
    }

    #[test]
    fn one_altered_digit_is_found_wherever_it_stands() {
        let page = page();
        // Digits of numbers, of charts, of words and of the records: every 97th of them.
        let digits: Vec<usize> =
            page.bytes().enumerate().filter(|(_, byte)| byte.is_ascii_digit()).map(|(at, _)| at).collect();
        for at in digits.into_iter().step_by(97) {
            let mut altered = page.clone().into_bytes();
            altered[at] = if altered[at] == b'9' { b'8' } else { altered[at] + 1 };
            let altered = String::from_utf8(altered).expect("digits are ASCII");
            assert!(verify(&altered).is_err(), "the digit at {at}: {}", &page[at.saturating_sub(40)..at + 1]);
        }
    }

    #[test]
    fn a_record_that_the_page_shows_nothing_of_cannot_be_altered_by_a_letter() {
        let page = page();
        let packed = page.rsplit_once(EVIDENCE.0).expect("it has records").0.len() + EVIDENCE.0.len();
        let end = page.len() - page.rsplit_once(EVIDENCE.1).expect("they end").1.len() - EVIDENCE.1.len();
        for at in (packed..end).step_by(61) {
            let mut altered = page.clone().into_bytes();
            altered[at] = if altered[at] == b'A' { b'B' } else { b'A' };
            let altered = String::from_utf8(altered).expect("letters are ASCII");
            assert!(verify(&altered).is_err(), "the letter at {at} of {packed} to {end}");
        }
    }

    #[test]
    fn what_was_altered_is_named() {
        let page = page();
        let altered = page.replacen(">1,234<", ">1,334<", 1);
        let error = verify(&altered).expect_err("a digit was altered").to_string();
        assert!(error.contains("1,334") && error.contains("1,234"), "{error}");
        let altered = page.replacen("Findings", "Nothing", 1).replacen("All figures", "Some figures", 1);
        let error = verify(&altered).expect_err("a word was altered").to_string();
        assert!(error.contains("Some figures") && error.contains("All figures"), "{error}");
        assert!(matches!(verify("<html></html>"), Err(VerifyError::NoEvidence)));
    }
}
