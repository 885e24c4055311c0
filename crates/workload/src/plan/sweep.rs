//! One value after the other: `{ sweep = [1, 2, 4] }` and `{ sweep = { from = 1, to = 64, times = 2 } }`.

use document::{Node, Table, Value, Wrong, implied};
use units::convert::truncated;
use units::{Bytes, Nanos, Share};

use super::keys::Kind;
use super::text::share_text;

/// The most points in a plan, and so the most values in a sweep.
pub const MOST_POINTS: usize = 10_000;

const FORMS: &str = "{ sweep = [1, 2, 4] } or { sweep = { from = 1, to = 64, times = 2 } }";

/// The values of a sweep in their order, or `None` where the node is a plain value.
pub(crate) fn values(node: &Node, kind: Kind) -> Result<Option<Vec<Node>>, Wrong> {
    let Some((table, swept)) = node.table().and_then(|table| Some((table, table.get("sweep")?))) else {
        return Ok(None);
    };
    table.only(&["sweep"])?;
    let values = match &swept.value {
        Value::List(items) => items.clone(),
        Value::Table(range) => range_values(swept, range, kind)?,
        _ => return Err(swept.not("a list or a range", FORMS)),
    };
    if values.is_empty() {
        return Err(
            Wrong::new("a sweep over nothing makes no point", format!("write {FORMS}")).at(&swept.place)
        );
    }
    if values.len() > MOST_POINTS {
        let message =
            format!("a sweep over {} values, and a plan has at most {MOST_POINTS} points", values.len());
        return Err(Wrong::new(message, "take larger steps").at(&swept.place));
    }
    distinct(&values)?;
    Ok(Some(values))
}

/// That no value stands twice: two points could not be told apart.
fn distinct(values: &[Node]) -> Result<(), Wrong> {
    let mut texts: Vec<(String, &Node)> =
        values.iter().filter_map(|value| Some((value.scalar()?, value))).collect();
    texts.sort_by(|(one, _), (next, _)| one.cmp(next));
    match texts.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        None => Ok(()),
        Some(pair) => {
            let message = format!("`{}` is twice in the sweep", pair[1].0);
            Err(Wrong::new(message, "to measure a point several times write `repeat = 3`")
                .at(&pair[1].1.place))
        }
    }
}

fn range_values(node: &Node, range: &Table, kind: Kind) -> Result<Vec<Node>, Wrong> {
    range.only(&["from", "to", "times", "step"])?;
    let scale = Scale::of(kind).ok_or_else(|| {
        let help = "list the values: { sweep = [\"random\", \"sequential\"] }";
        Wrong::new("there is no range between such values", help).at(&node.place)
    })?;
    let part = |key: &str| -> Result<&Node, Wrong> {
        let missing =
            || Wrong::new(format!("the range has no `{key}`"), format!("write {FORMS}")).at(&node.place);
        range.get(key).ok_or_else(missing)
    };
    let (from, to) = (part("from")?, part("to")?);
    let (first, last) = (scale.read(from)?, scale.read(to)?);
    if first > last {
        let help = "exchange them, or list the values in the order wanted";
        return Err(Wrong::new("the range begins above its end", help).at(&from.place));
    }
    let next = step(range, scale, node)?;
    let mut amounts = Vec::new();
    let mut amount = Some(first);
    while let Some(value) = amount.filter(|value| *value <= last && amounts.len() <= MOST_POINTS) {
        amounts.push(value);
        amount = next.after(value);
    }
    Ok(amounts.into_iter().map(|amount| implied(&node.place, scale.write(amount))).collect())
}

/// How a range goes on.
#[derive(Clone, Copy)]
enum Next {
    Times(u64),
    Plus(u64),
}

impl Next {
    /// The next amount; `None` where it would not fit or not grow.
    fn after(self, amount: u64) -> Option<u64> {
        let next = match self {
            Next::Times(factor) => amount.checked_mul(factor),
            Next::Plus(step) => amount.checked_add(step),
        };
        next.filter(|next| *next > amount)
    }
}

fn step(range: &Table, scale: Scale, node: &Node) -> Result<Next, Wrong> {
    match (range.get("times"), range.get("step")) {
        (Some(times), None) => Ok(Next::Times(times.count(2..=1_000_000)?)),
        (None, Some(step)) => match scale.read(step)? {
            0 => Err(Wrong::new("a step of nothing never ends", "for example step = 8").at(&step.place)),
            amount => Ok(Next::Plus(amount)),
        },
        (Some(_), Some(step)) => {
            Err(Wrong::new("`times` and `step` contradict each other", "keep one of them").at(&step.place))
        }
        (None, None) => {
            let help = format!("write {FORMS}, or step = 8 for equal steps");
            Err(Wrong::new("the range has no step", help).at(&node.place))
        }
    }
}

/// Amounts of one kind as integers.
#[derive(Clone, Copy)]
enum Scale {
    Count,
    Bytes,
    Nanos,
    /// In billionths.
    Share,
}

const BILLION: f64 = 1e9;

impl Scale {
    fn of(kind: Kind) -> Option<Scale> {
        match kind {
            Kind::Count(..) => Some(Scale::Count),
            Kind::Size | Kind::Sizes | Kind::Extent => Some(Scale::Bytes),
            Kind::Duration => Some(Scale::Nanos),
            Kind::Share => Some(Scale::Share),
            Kind::Choice(_)
            | Kind::Lines
            | Kind::Ratio
            | Kind::Factor
            | Kind::Switch
            | Kind::Text
            | Kind::Table => None,
        }
    }

    fn read(self, node: &Node) -> Result<u64, Wrong> {
        match self {
            Scale::Count => node.count(0..=u64::MAX),
            Scale::Bytes => node.read::<Bytes>("4KiB").map(Bytes::get),
            Scale::Nanos => node.read::<Nanos>("10s").map(Nanos::get),
            Scale::Share => {
                node.read::<Share>("10%").map(|share| truncated::<u64>((share.get() * BILLION).round()))
            }
        }
    }

    fn write(self, amount: u64) -> Value {
        match self {
            Scale::Count => Value::Integer(amount.to_string()),
            Scale::Bytes => Value::Text(Bytes::new(amount).exact()),
            Scale::Nanos => Value::Text(Nanos::new(amount).exact()),
            Scale::Share => {
                let share = Share::new(amount as f64 / BILLION).unwrap_or(Share::ALL);
                Value::Text(share_text(share))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use document::{SourceText, argument};

    use super::*;

    const COUNT: Kind = Kind::Count(0, u64::MAX);

    fn swept(text: &str, kind: Kind) -> Result<Vec<String>, Wrong> {
        let source = SourceText::new("--set", text, 0);
        let values = values(&argument(&source, 0..text.len()), kind)?.expect("a sweep");
        Ok(values.iter().filter_map(Node::scalar).collect())
    }

    #[test]
    fn ranges_multiply_or_add() {
        let doubling = swept("{ sweep = { from = 1, to = 64, times = 2 } }", COUNT);
        assert_eq!(doubling.unwrap(), ["1", "2", "4", "8", "16", "32", "64"]);
        let adding = swept("{ sweep = { from = 10, to = 40, step = 10 } }", COUNT);
        assert_eq!(adding.unwrap(), ["10", "20", "30", "40"]);
        let sizes = swept("{ sweep = { from = \"512B\", to = \"64KiB\", times = 4 } }", Kind::Sizes);
        assert_eq!(sizes.unwrap(), ["512B", "2KiB", "8KiB", "32KiB"]);
        let shares = swept("{ sweep = { from = \"0%\", to = \"100%\", step = \"25%\" } }", Kind::Share);
        assert_eq!(shares.unwrap(), ["0%", "25%", "50%", "75%", "100%"]);
    }

    #[test]
    fn a_range_that_never_ends_is_refused() {
        let said = |text: &str| swept(text, COUNT).unwrap_err().message;
        assert!(said("{ sweep = { from = 1, to = 9, step = 0 } }").contains("never ends"));
        assert!(said("{ sweep = { from = 1, to = 9, times = 1 } }").contains("outside 2 to"));
        assert!(said("{ sweep = { from = 1, to = 1_000_000, step = 1 } }").contains("at most 10000 points"));
        assert_eq!(swept("{ sweep = { from = 0, to = 9, times = 2 } }", COUNT).unwrap(), ["0"]);
    }

    #[test]
    fn a_sweep_says_what_is_wrong_with_it() {
        let said = |text: &str| swept(text, COUNT).unwrap_err().message;
        assert!(said("{ sweep = [] }").contains("over nothing"));
        assert!(said("{ sweep = [1, 2, 1] }").contains("`1` is twice"));
        assert!(said("{ sweep = { from = 9, to = 1, step = 1 } }").contains("begins above its end"));
        assert!(said("{ sweep = { from = 1, to = 9 } }").contains("has no step"));
        assert!(said("{ sweep = 4 }").contains("a list or a range"));
        assert!(said("{ sweep = [1], until = 3 }").contains("`until` is not known here"));
    }
}
