//! A finding while it is being written.

use std::collections::BTreeMap;

use record::{Finding, Point, Severity, WorkloadResult};

use crate::Code;

/// A finding whose place is not filled in yet.
pub(crate) struct Draft {
    finding: Finding,
}

impl Draft {
    /// A finding with its sentence and severity.
    pub(crate) fn new(code: Code, severity: Severity, sentence: impl Into<String>) -> Draft {
        Draft {
            finding: Finding {
                code: code.name().into(),
                severity,
                sentence: sentence.into(),
                remedy: String::new(),
                numbers: BTreeMap::new(),
                point: None,
            },
        }
    }

    /// More of the sentence.
    pub(crate) fn sentence(mut self, more: &str) -> Draft {
        self.finding.sentence += more;
        self
    }

    /// What to do about it.
    pub(crate) fn remedy(mut self, remedy: impl Into<String>) -> Draft {
        self.finding.remedy = remedy.into();
        self
    }

    /// A number of the sentence, its unit in the key. One that JSON cannot hold is left out.
    pub(crate) fn number(mut self, key: &str, value: f64) -> Draft {
        if value.is_finite() {
            self.finding.numbers.insert(key.into(), value);
        }
        self
    }

    /// How grave it is.
    pub(crate) fn severity(&self) -> Severity {
        self.finding.severity
    }

    pub(crate) fn about_run(self) -> Finding {
        debug_assert!(!self.finding.sentence.is_empty(), "a finding says something");
        self.finding
    }

    pub(crate) fn about(mut self, point: &Point) -> Finding {
        self.finding.point = Some(point.index);
        self.finding
    }

    /// Names the workload where there are several.
    pub(crate) fn about_workload(self, point: &Point, workload: &WorkloadResult) -> Finding {
        let mut finding = self.about(point);
        if point.workloads.len() > 1 {
            finding.sentence = format!("{}: {}", workload.name, finding.sentence);
        }
        finding
    }
}

/// `words` as a sentence begins; nothing of nothing.
pub(crate) fn capital(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// `62 %`, `6.2 %`, `0.3 %`.
pub(crate) fn percent(part: f64) -> String {
    let percent = part * 100.0;
    if percent.abs() >= 9.95 { format!("{percent:.0} %") } else { format!("{percent:.1} %") }
}

/// `1 request`, `1,024 requests`.
pub(crate) fn several(count: u64, one: &str) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    format!("{text} {one}{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_has_what_was_put_into_it_and_names_its_workload_among_several() {
        use record::sample::{point, workload};
        let draft = || {
            Draft::new(Code::Lag, Severity::Warning, "It is late.")
                .sentence(" Very.")
                .remedy("Wait.")
                .number("a", 2.5)
                .number("b", f64::NAN)
                .number("c", f64::INFINITY)
        };
        let finding = draft().about_run();
        assert_eq!((finding.code.as_str(), finding.severity), ("lag", Severity::Warning));
        assert_eq!((finding.sentence.as_str(), finding.remedy.as_str()), ("It is late. Very.", "Wait."));
        assert_eq!((finding.numbers, finding.point), (BTreeMap::from([("a".to_owned(), 2.5)]), None));
        let one = point(3, "p", vec![workload("main", &[])]);
        assert_eq!(draft().about(&one).point, Some(3));
        assert_eq!(draft().about_workload(&one, &one.workloads[0]).sentence, "It is late. Very.");
        let two = point(4, "p", vec![workload("main", &[]), workload("other", &[])]);
        let named = draft().about_workload(&two, &two.workloads[1]);
        assert_eq!((named.sentence.as_str(), named.point), ("other: It is late. Very.", Some(4)));
    }

    #[test]
    fn numbers_read_as_people_write_them() {
        assert_eq!([0.062, 0.62, -0.12, 0.0].map(percent), ["6.2 %", "62 %", "-12 %", "0.0 %"]);
        assert_eq!([0.09949, 0.0995, -0.0995, 1.0].map(percent), ["9.9 %", "10 %", "-10 %", "100 %"]);
        assert_eq!(several(1, "request"), "1 request");
        assert_eq!(several(0, "request"), "0 requests");
        assert_eq!(several(999, "request"), "999 requests");
        assert_eq!(several(1_234_567, "request"), "1,234,567 requests");
        assert_eq!(several(1_024, "request"), "1,024 requests");
    }
}
