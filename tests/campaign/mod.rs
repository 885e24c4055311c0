//! Campaigns, from outside: every cell once, states proven, resumed after any end, effects named.

mod cells;
mod endings;
mod forecast;
mod report;
mod states;

use std::collections::BTreeSet;

use crate::support::User;

pub use report::FIGURES;

const PLAN: &str = r#"
name = "reads"

[[phase]]
name    = "random read"
pattern = "random"
size    = "4KiB"
run     = "200ms"
warmup  = "0s"
depth   = 4
"#;

/// Two queues with other service times, and two depths.
pub const QUEUES: &str = r#"
name    = "queues"
on      = "array:queue"
plans   = ["plan.toml"]
repeats = 2

[factors]
kind  = ["queue-mm1", "queue-mm4"]
depth = [1, 8]
"#;

/// A firmware that a command sets and another prints.
const FIRMWARE: &str = r#"
name    = "firmware"
plans   = ["plan.toml"]
repeats = 2
on      = "array:queue"

[factors.firmware]
levels = ["3.86", "3.88"]
set    = "echo {level} > version; echo $FATHOM_FIRMWARE $FATHOM_BLOCK >> done"
check  = "cat version"
"#;

pub fn user(campaign: &str) -> User {
    let user = User::with_plan(PLAN);
    user.write("campaign.toml", campaign);
    user
}

/// The block, the levels and the completeness of every run that is kept.
fn cells(user: &User) -> Vec<(u64, Vec<String>, bool)> {
    let cell = |run: serde_json::Value| {
        let levels = run["cell"]["levels"].as_array().unwrap();
        let levels = levels.iter().map(|level| level["level"].as_str().unwrap().to_owned()).collect();
        (run["cell"]["block"].as_u64().unwrap(), levels, run["ending"]["complete"] == true)
    };
    let shown = (1..).map(|number| user.fathom(&format!("show {number} --format json")));
    shown.take_while(|ended| ended.code == Some(0)).map(|ended| cell(ended.json())).collect()
}

fn every_cell_once(user: &User, blocks: u64, cells_of_block: usize) {
    let complete: Vec<(u64, Vec<String>)> =
        cells(user).into_iter().filter(|one| one.2).map(|(block, levels, _)| (block, levels)).collect();
    let different: BTreeSet<_> = complete.iter().collect();
    assert_eq!(different.len(), complete.len(), "none twice: {complete:?}");
    for block in 1..=blocks {
        let own = complete.iter().filter(|one| one.0 == block).count();
        assert_eq!(own, cells_of_block, "block {block}: {complete:?}");
    }
}
