//! How often a phase is gone through, and the figure whose steady state ends that.

use std::fmt;

use document::{Key, Node, Table, Wrong};
use units::convert::narrow;

use super::metric::Metric;

/// The name that the number of a round has among the swept values of a point.
pub const ROUND: &str = "round";

/// Goes through a phase with all its sweeps again and again.
#[derive(Clone, Debug, PartialEq)]
pub struct Rounds {
    /// At most so many times; at least 1.
    pub most: u32,
    /// What is measured once a round and ends the phase when it is steady; `None` goes through all rounds.
    pub steady: Option<Tracked>,
}

/// The figure of a phase that has to become steady.
#[derive(Clone, Debug, PartialEq)]
pub struct Tracked {
    /// The one that decides whether rounds are steady.
    pub figure: Metric,
    /// Of which point of a round: a value for each swept key that tells it from the others.
    pub at: Vec<(String, String)>,
}

impl Default for Rounds {
    fn default() -> Rounds {
        Rounds { most: 1, steady: None }
    }
}

impl Rounds {
    /// Reads `5` or `{ most = 25, steady = "iops", at = { size = "4KiB" } }`.
    pub(crate) fn read(node: &Node) -> Result<Rounds, Wrong> {
        let example = "{ most = 25, steady = \"iops\", at = { size = \"4KiB\" } }";
        let Some(table) = node.table() else {
            return Ok(Rounds { most: count(node)?, steady: None });
        };
        table.only(&["most", "steady", "at"])?;
        let most = match table.get("most") {
            Some(most) => count(most)?,
            None => narrow::<u32>(stats::steady::ROUNDS_MAX),
        };
        let at = table.get("at");
        let Some(steady) = table.get("steady") else {
            return match at {
                Some(at) => {
                    Err(Wrong::new("`at` says of which point, but not which figure", example).at(&at.place))
                }
                None => Ok(Rounds { most, steady: None }),
            };
        };
        if most < narrow::<u32>(stats::steady::WINDOW) {
            let message = format!("{most} rounds are too few to be steady");
            return Err(Wrong::new(message, "steady state is a matter of five rounds; write `most = 25`"));
        }
        let figure = steady.read("iops")?;
        let at =
            at.map(|at| at.table().ok_or_else(|| at.not("a table", "{ size = \"4KiB\" }"))).transpose()?;
        let at = at.into_iter().flat_map(Table::iter).map(pair).collect::<Result<_, _>>()?;
        Ok(Rounds { most, steady: Some(Tracked { figure, at }) })
    }
}

/// How often a phase is gone through at most.
fn count(node: &Node) -> Result<u32, Wrong> {
    node.count32(1..=1000)
}

fn pair((key, node): (&Key, &Node)) -> Result<(String, String), Wrong> {
    let value = node.scalar().ok_or_else(|| node.not("one value of the sweep", "\"4KiB\""))?;
    Ok((key.text.clone(), value))
}

impl Tracked {
    /// Whether it is this point that is tracked; `swept` are its values as typed.
    pub fn is_at(&self, swept: &[(String, String)]) -> bool {
        self.at.iter().all(|wanted| swept.contains(wanted))
    }
}

impl fmt::Display for Tracked {
    /// `iops at size 4KiB, reads 0%`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at: Vec<String> = self.at.iter().map(|(key, value)| format!("{key} {value}")).collect();
        match at.is_empty() {
            true => self.figure.fmt(f),
            false => write!(f, "{} at {}", self.figure, at.join(", ")),
        }
    }
}

impl fmt::Display for Rounds {
    /// The text that is read back to the same: `5`, `{ most = 25, steady = "iops", at = { "size" = "4KiB" } }`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(Tracked { figure, at }) = &self.steady else { return self.most.fmt(f) };
        let at: Vec<String> = at.iter().map(|(key, value)| format!("{key:?} = {value:?}")).collect();
        let at = if at.is_empty() { String::new() } else { format!(", at = {{ {} }}", at.join(", ")) };
        write!(f, "{{ most = {}, steady = \"{figure}\"{at} }}", self.most)
    }
}
