//! How a user names a run.

use std::fmt;

/// One of the ways to name a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selector {
    /// `last` is 0, `last~1` the one before it, and so on, in the order in which they were first saved.
    Last(u64),
    /// The number that `fathom ls` shows; where no run has it, the beginning of an id.
    Number(i64),
    /// An id or the beginning of one that no other has.
    Id(String),
}

impl From<&str> for Selector {
    /// Never fails: what is no other form is taken for an id.
    fn from(text: &str) -> Selector {
        let text = text.trim();
        let back = match text.strip_prefix("last") {
            Some("") => Some(0),
            Some("~") => Some(1),
            Some(rest) => rest.strip_prefix('~').and_then(|count| count.parse().ok()),
            None => None,
        };
        let number = || text.strip_prefix('#').unwrap_or(text).parse().ok().filter(|number| *number > 0);
        match back {
            Some(back) => Selector::Last(back),
            None => number().map_or_else(|| Selector::Id(text.into()), Selector::Number),
        }
    }
}

impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Selector::Last(0) => f.write_str("last"),
            Selector::Last(back) => write!(f, "last~{back}"),
            Selector::Number(number) => write!(f, "{number}"),
            Selector::Id(id) => f.write_str(id),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_form_is_told_from_the_others() {
        assert_eq!(Selector::from("last"), Selector::Last(0));
        assert_eq!(Selector::from("last~2"), Selector::Last(2));
        assert_eq!(Selector::from("last~"), Selector::Last(1));
        assert_eq!(Selector::from("17"), Selector::Number(17));
        assert_eq!(Selector::from("#17"), Selector::Number(17));
        assert_eq!(Selector::from("20260102-03"), Selector::Id("20260102-03".into()));
        assert_eq!(Selector::from("last~x"), Selector::Id("last~x".into()));
        assert_eq!(Selector::from("0"), Selector::Id("0".into()));
    }

    #[test]
    fn what_lies_at_the_edge_of_a_form_is_that_form_and_what_lies_beyond_is_an_id() {
        let id = |text: &str| Selector::Id(text.into());
        for (text, meant) in [
            ("last~0", Selector::Last(0)),
            ("last~18446744073709551615", Selector::Last(u64::MAX)),
            ("last~18446744073709551616", id("last~18446744073709551616")),
            ("last~-1", id("last~-1")),
            ("last~~", id("last~~")),
            ("last1", id("last1")),
            ("LAST", id("LAST")),
            ("1", Selector::Number(1)),
            ("9223372036854775807", Selector::Number(i64::MAX)),
            ("9223372036854775808", id("9223372036854775808")),
            ("-1", id("-1")),
            ("#0", id("#0")),
            ("##1", id("##1")),
            ("#", id("#")),
            ("", id("")),
            (" last~2\n", Selector::Last(2)),
        ] {
            assert_eq!(Selector::from(text), meant, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn what_is_shown_means_the_same_again(text in "(last(~[0-9]{1,4})?|#?[0-9]{1,5}|[a-z0-9~-]{1,12})") {
            let selector = Selector::from(text.as_str());
            prop_assert_eq!(Selector::from(selector.to_string().as_str()), selector);
        }
    }
}
