//! Campaigns: factors × plans, measured in blocks. What a file asks for, in which order its cells are measured, and
//! which factors matter, by how much.
//!
//! **Invariant:** measures nothing, opens no file and runs no command: a campaign is text and records in, a schedule
//! and figures out. A figure that needs replication is refused where there is none.

mod condition;
mod effects;
mod factor;
mod file;
mod health;
mod misnamed;
mod notes;
mod published;
pub mod ready;
mod schedule;
mod theory;
mod unfinished;

pub use effects::{
    CellFigure, Change, CheckedClaim, Directions, Effect, Effects, FALSE_EFFECTS, FactorLevels,
    FigureEffects, RunFigure, Way, effects, figures, figures_of, is_filling, mix, titles_of,
};
pub use factor::{Check, Factor, HEALTH, Means, fill};
pub use file::{Campaign, Claim, RUNS_MOST};
pub use health::{health_proof, with_health};
pub use notes::{aliases_told, claims_of_no_point};
pub use published::{Agreement, CheckedFigure, Published};
pub use schedule::{Turn, TurnKey, every_cell, schedule};
pub use theory::Theory;
pub use unfinished::Unfinished;

impl Campaign {
    /// What it measures, in short: campaigns that measure something else differ in it. More repeats, other claims and other
    /// words about it change nothing. `plans` are the texts of its plans, `targets` what is measured.
    pub fn key(&self, plans: &[String], targets: &[String]) -> String {
        let factors: Vec<_> = self
            .factors
            .iter()
            .map(|factor| (&factor.name, &factor.means, &factor.option, &factor.check))
            .collect();
        let asked = format!("{:?}", (&self.plans, plans, targets, &self.set, factors, self.seed));
        format!("{:08x}", crc32fast::hash(asked.as_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_changes_with_what_is_measured_and_with_nothing_else() {
        let key = |text: &str| {
            let campaign = Campaign::parse("file", text).expect("a campaign");
            campaign.key(&["plan".into()], &["array:md3000".into()])
        };
        let one = key("name = \"x\"\nplans = \"a\"\n[factors]\nraid = [5, 10]");
        assert_eq!(
            key("name = \"y\"\nabout = \"z\"\nplans = \"a\"\nrepeats = 9\n[factors]\nraid = [5, 10]"),
            one
        );
        // A level more leaves the cells that are measured as they are.
        assert_eq!(key("name = \"x\"\nplans = \"a\"\n[factors]\nraid = [5, 10, 6]"), one);
        assert_ne!(
            key("name = \"x\"\nplans = \"a\"\nset = { run = \"1s\" }\n[factors]\nraid = [5, 10]"),
            one
        );
        assert_ne!(key("name = \"x\"\nplans = \"b\"\n[factors]\nraid = [5, 10]"), one);
        assert_ne!(key("name = \"x\"\nplans = \"a\"\n[factors]\ndisks = [5, 10]"), one);
    }
}
