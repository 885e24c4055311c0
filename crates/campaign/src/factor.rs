//! What is varied, and how a target is brought to each level.

use std::collections::BTreeMap;

use document::{Node, Read, Wrong};

/// A factor: its levels, in the order of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Factor {
    /// Its name.
    pub name: String,
    /// At least two, all different.
    pub levels: Vec<String>,
    /// How a cell comes to its level; `None` where the file does not say, and the target decides ([`Factor::implied`]).
    pub means: Option<Means>,
    /// The option of a virtual array that it is; there `means` is not asked.
    pub option: Option<String>,
    /// Whether it is hard to change: set once for a whole plot. By what it takes where the file does not say.
    pub hard: Option<bool>,
    /// A command that prints the level, by which it is read back, and what it must print.
    pub check: Option<Check>,
}

/// How a cell comes to its level. Texts are templates, see [`fill`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Means {
    /// The level is a target, or a part of one.
    Target(String),
    /// A key of the plan.
    PlanKey(String),
    /// A command for the shell.
    Set(String),
    /// An operator, by this instruction.
    Ask(String),
    /// The array's health, by states before the plan; of virtual arrays.
    Health,
}

/// A command that prints the level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// For the shell.
    pub command: String,
    /// What it must print, without the blanks around it.
    pub expect: String,
}

/// The levels of [`Means::Health`].
pub const HEALTH: [&str; 3] = ["healthy", "degraded", "rebuilding"];

impl Factor {
    /// The factor with what its name says where the file does not: the target, the health, an option of the virtual
    /// array, or a key of the plan. As it is where it is none of them.
    #[must_use]
    pub fn implied(mut self, is_option: bool, is_key: bool) -> Factor {
        if self.means.is_some() || self.option.is_some() {
            return self;
        }
        match self.name.as_str() {
            "on" => self.means = Some(Means::Target("{level}".into())),
            "state" if self.levels.iter().all(|level| HEALTH.contains(&level.as_str())) => {
                self.means = Some(Means::Health);
            }
            _ if is_option => self.option = Some(self.name.clone()),
            _ if is_key => self.means = Some(Means::PlanKey(self.name.clone())),
            _ => {}
        }
        self
    }

    /// Whether it is hard to change: as the file says, or by what a change takes.
    pub fn is_hard(&self) -> bool {
        self.hard.unwrap_or_else(|| self.means.as_ref().is_some_and(Means::is_hard))
    }
}

impl Means {
    /// Whether a change takes so long, or disturbs so much, that it is made once for a whole plot.
    pub fn is_hard(&self) -> bool {
        matches!(self, Means::Set(_) | Means::Ask(_))
    }
}

/// `template` with `{level}` and the names of factors, in braces, filled in. Braces around other words stay.
pub fn fill(template: &str, level: &str, levels: &BTreeMap<&str, &str>) -> String {
    let mut text = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        text += before;
        let word = after.split_once('}').map(|(word, rest)| (word.trim(), rest));
        let value =
            word.and_then(|(word, _)| if word == "level" { Some(level) } else { levels.get(word).copied() });
        match (word, value) {
            (Some((_, after)), Some(value)) => {
                text += value;
                rest = after;
            }
            _ => {
                text.push('{');
                rest = after;
            }
        }
    }
    text + rest
}

/// A level as it is written: a text, a number, true or false.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Scalar(pub String);

impl Read for Scalar {
    const WANT: &'static str = "a text or a number";

    fn read(node: &Node) -> Result<Scalar, Wrong> {
        node.scalar().map(Scalar).ok_or_else(|| Self::not(node))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn factor(name: &str, levels: &[&str]) -> Factor {
        let levels = levels.iter().map(|level| (*level).to_owned()).collect();
        Factor { name: name.into(), levels, means: None, option: None, hard: None, check: None }
    }

    #[test]
    fn names_in_braces_are_filled_in_and_other_braces_stay() {
        let levels = BTreeMap::from([("raid", "5"), ("disks", "8")]);
        assert_eq!(fill("cli set {raid} { disks } {level}", "x", &levels), "cli set 5 8 x");
        assert_eq!(fill("awk '{print $1}' {level", "x", &levels), "awk '{print $1}' {level");
        assert_eq!(fill("{{level}}", "x", &levels), "{x}");
        assert_eq!(fill("", "x", &levels), "");
    }

    #[test]
    fn a_factor_is_what_its_name_says_where_the_file_does_not() {
        let implied = |name: &str, levels: &[&str], option, key| {
            let factor = factor(name, levels).implied(option, key);
            (factor.means, factor.option)
        };
        assert_eq!(implied("on", &["a", "b"], false, false), (Some(Means::Target("{level}".into())), None));
        assert_eq!(implied("state", &["healthy", "rebuilding"], false, false), (Some(Means::Health), None));
        assert_eq!(implied("state", &["old", "new"], false, false), (None, None));
        assert_eq!(implied("raid", &["5", "6"], true, true), (None, Some("raid".into())));
        assert_eq!(implied("depth", &["1", "2"], false, true), (Some(Means::PlanKey("depth".into())), None));
        assert_eq!(implied("room", &["1", "2"], false, false), (None, None));
        let set = Factor { means: Some(Means::Set("x".into())), ..factor("raid", &["5", "6"]) };
        assert_eq!(set.clone().implied(true, true), set);
    }

    #[test]
    fn what_a_command_or_a_person_changes_is_hard_to_change_unless_the_file_says_otherwise() {
        let by = |means| Factor { means: Some(means), ..factor("x", &["1", "2"]) };
        assert!(by(Means::Set("x".into())).is_hard() && by(Means::Ask("x".into())).is_hard());
        let easy = [Means::Health, Means::Target("x".into()), Means::PlanKey("x".into())];
        assert!(!easy.into_iter().map(by).any(|factor| factor.is_hard()));
        assert!(!factor("x", &["1", "2"]).is_hard());
        assert!(!Factor { hard: Some(false), ..by(Means::Set("x".into())) }.is_hard());
        assert!(Factor { hard: Some(true), ..factor("x", &["1", "2"]) }.is_hard());
    }
}
