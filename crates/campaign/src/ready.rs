//! Ready campaigns, part of the program: the questions of the write-ups that the arrays of the library come from.

use document::nearest;

/// A campaign that needs no file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ready {
    /// What it is called on the command line.
    pub name: &'static str,
    /// The TOML, with its comments.
    pub text: &'static str,
}

const READY: [Ready; 5] = [
    Ready { name: "md3000", text: include_str!("../../../campaigns/md3000.toml") },
    Ready { name: "esds", text: include_str!("../../../campaigns/esds.toml") },
    Ready { name: "dsi3500", text: include_str!("../../../campaigns/dsi3500.toml") },
    Ready { name: "nas", text: include_str!("../../../campaigns/nas.toml") },
    Ready { name: "perc", text: include_str!("../../../campaigns/perc.toml") },
];

/// Every ready campaign.
pub fn all() -> &'static [Ready] {
    &READY
}

/// The ready campaign of that name.
pub fn find(name: &str) -> Option<&'static Ready> {
    READY.iter().find(|ready| ready.name == name)
}

/// The name of the ready campaign that was probably meant, if one is near.
pub fn suggest(name: &str) -> Option<&'static str> {
    nearest(name, READY.iter().map(|ready| ready.name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Campaign;

    #[test]
    fn every_ready_campaign_can_be_read_and_says_what_it_is_for() {
        for ready in all() {
            let campaign = Campaign::parse(ready.name, ready.text);
            let campaign = campaign.unwrap_or_else(|errors| panic!("{}", errors.plain()));
            assert_eq!(campaign.name, ready.name);
            assert!(!campaign.about.is_empty() && ready.text.starts_with("# "), "{}", ready.name);
            assert!(campaign.repeats >= 2, "{}: effects need replication", ready.name);
        }
        assert_eq!(find("nas").map(|ready| ready.name), Some("nas"));
        assert_eq!((find("nsa"), suggest("md300")), (None, Some("md3000")));
    }
}
