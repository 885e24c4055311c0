//! The names of phases, which plans write with `{key}` where a swept value belongs.

use spec::readable_title;

/// The name of a phase for people: each `{key}` filled in by `value`, `…` where that has none, and doubled braces single.
///
/// A point has its own name, with all values filled in; this is for what is about several points of a phase. A brace
/// without its partner, which no plan has, stays as it is.
pub fn phase_title(phase: &str, mut value: impl FnMut(&str) -> Option<String>) -> String {
    let mut title = String::new();
    let mut rest = phase;
    while let Some(at) = rest.find(['{', '}']) {
        title += &rest[..at];
        let (brace, after) = rest[at..].split_at(1);
        if let Some(after) = after.strip_prefix(brace) {
            title += brace;
            rest = after;
            continue;
        }
        match after.find('}').filter(|_| brace == "{") {
            Some(end) => {
                title += &value(after[..end].trim()).unwrap_or_else(|| "…".into());
                rest = &after[end + 1..];
            }
            None => {
                title += brace;
                rest = after;
            }
        }
    }
    readable_title(&(title + rest))
}

/// Whether `swept`, a key as points keep it, is what `{named}` stands for: `{depth}` may be short for `log.depth`.
pub fn is_named(swept: &str, named: &str) -> bool {
    swept == named || swept.rsplit('.').next() == Some(named)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_filled_in_and_what_has_none_is_left_open() {
        let value = |key: &str| (key == "reads").then(|| "100%".to_owned());
        assert_eq!(phase_title("{reads} reads, {depth} in flight", value), "100% reads, … in flight");
        assert_eq!(phase_title("8k {{x}} { reads }", value), "8k {x} 100%");
        assert_eq!(phase_title("a } and {", value), "a } and {");
        assert!(
            is_named("log.depth", "depth") && is_named("depth", "depth") && !is_named("depth", "log.depth")
        );
    }
}
