//! A campaign as a file says it.

use std::collections::BTreeSet;

use document::{
    Errors, Fields, Key, Mistakes, Node, SourceText, Table, TextSpan, Value, Wrong, nearest, one_or_more,
};
use record::Metric;
use units::{BytesPerSecond, Nanos, OpsPerSecond, Share};

use crate::factor::{Check, Factor, Means, Scalar};
use crate::theory::Theory;

/// So many runs are planned at most; a file that asks for more is a slip.
pub const RUNS_MOST: usize = 100_000;
/// Levels of a factor, and blocks.
const LEVELS_MOST: usize = 64;
const REPEATS_MOST: u32 = 1000;
/// Blocks where the file does not say: of two, errors have too few degrees of freedom to show much.
const REPEATS: u32 = 3;

/// Factors × plans, in blocks.
#[derive(Clone, Debug, PartialEq)]
pub struct Campaign {
    /// Its name, by which its runs are found.
    pub name: String,
    /// What it is for, in a sentence.
    pub about: String,
    /// What is measured, where no factor says.
    pub targets: Vec<String>,
    /// Ready plans and files; at least one.
    pub plans: Vec<String>,
    /// `KEY=VALUE`, for all plans.
    pub set: Vec<String>,
    /// What is varied, in the order of the file.
    pub factors: Vec<Factor>,
    /// Blocks: how often each cell is measured.
    pub repeats: u32,
    /// One of so many cells is measured; 1 for all.
    pub fraction: u32,
    /// The order of the cells, and the addresses of the requests, follow from it.
    pub seed: u64,
    /// The deviation from run to run that is expected, relative; for what can be seen, before anything is measured.
    pub noise: Option<f64>,
    /// What others say of a cell.
    pub claims: Vec<Claim>,
    /// What theory gives each cell.
    pub theories: Vec<Theory>,
    /// Groups of published figures that stand in the report beside those of the virtual arrays.
    pub published: Vec<String>,
}

/// A figure that a vendor promises, or theory gives.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// Who says so.
    pub by: String,
    /// The name of the point, or its beginning; any where empty.
    pub point: String,
    /// Of what.
    pub metric: Metric,
    /// In base units: one a second, bytes a second, nanoseconds.
    pub value: f64,
    /// The levels that it is about; any of the factors that are not named.
    pub levels: Vec<(String, String)>,
}

impl Campaign {
    /// The campaign in `text`, or all of its mistakes at once, each with its line in `label`.
    pub fn parse(label: &str, text: &str) -> Result<Campaign, Errors> {
        let mistakes = Mistakes::default();
        let source = SourceText::new(label, text, 0);
        let twice = |key: &str| format!("give `{key}` once");
        let campaign = document::parse(&source, twice, &mistakes).map(|table| {
            let whole = TextSpan::new(&source, 0..0);
            read(&Fields::new("", &table, &whole, &mistakes))
        });
        mistakes.finish(campaign)
    }

    /// How many cells there are, all levels of all factors; at most the largest number there is.
    pub fn cells(&self) -> usize {
        self.factors.iter().fold(1, |cells, factor| cells.saturating_mul(factor.levels.len()))
    }

    /// The factor called `name`.
    pub fn factor(&self, name: &str) -> Option<&Factor> {
        self.factors.iter().find(|factor| factor.name == name)
    }
}

fn read(fields: &Fields<'_>) -> Campaign {
    let campaign = Campaign {
        name: fields.need("name"),
        about: fields.or("about", String::new()),
        targets: list(fields, "on"),
        plans: list(fields, "plans"),
        set: fields.table("set").map(|set| changes(&set)).unwrap_or_default(),
        factors: fields.table("factors").map(|factors| read_factors(&factors)).unwrap_or_default(),
        repeats: fields.count("repeats", Some(REPEATS), REPEATS_MOST),
        fraction: fields.count("fraction", Some(1), 64),
        seed: fields.or::<u32>("seed", 1).into(),
        noise: fields.get::<Share>("noise").map(Share::get),
        claims: fields.tables("claim").iter().filter_map(read_claim).collect(),
        theories: fields.tables("theory").iter().filter_map(Theory::read).collect(),
        published: list(fields, "published"),
    };
    fields.finish();
    check(fields, &campaign);
    campaign
}

fn check(fields: &Fields<'_>, campaign: &Campaign) {
    let is_name = |name: &str| !name.is_empty() && !name.contains(char::is_control);
    fields.check(
        &["name"],
        is_name(&campaign.name),
        "the name is empty; give it one, by which its runs are found",
    );
    fields.check(&["plans"], !campaign.plans.is_empty(), "no plan is named; write plans = [\"corners\"]");
    let runs = (campaign.cells().saturating_mul(campaign.plans.len()))
        .saturating_mul(units::convert::narrow::<usize>(u64::from(campaign.repeats)));
    fields.check(
        &["repeats"],
        runs <= RUNS_MOST,
        format!("these are {runs} runs, and {RUNS_MOST} are planned at most; take factors or levels away"),
    );
    check_braces(fields, campaign);
    check_levels(fields, campaign);
}

/// Levels that claims and theories are about: each names a factor and one of its levels, and is told where it stands.
fn check_levels(fields: &Fields<'_>, campaign: &Campaign) {
    let claims = fields.all().filter(|(key, _)| ["claim", "theory"].contains(&key.text.as_str()));
    for (key, node) in claims {
        let Value::List(items) = &node.value else { continue };
        let levels = items.iter().filter_map(|item| item.table()?.get("where")?.table());
        for (name, level) in levels.flat_map(Table::iter) {
            let Some((place, why)) = stray(campaign, name, level) else { continue };
            let message = format!("`{}.where`: {why}", key.text);
            fields.mistakes().wrong(place, Wrong::parted(&message));
        }
    }
}

/// What of `name = level` the campaign does not have, and where that stands.
fn stray<'t>(campaign: &Campaign, name: &'t Key, level: &'t Node) -> Option<(&'t TextSpan, String)> {
    let known = || campaign.factors.iter().map(|factor| factor.name.as_str());
    let Some(factor) = campaign.factor(&name.text) else {
        let near = nearest(&name.text, known()).map(|near| format!("did you mean `{near}`?"));
        let help = near.unwrap_or_else(|| format!("one of {}", known().collect::<Vec<_>>().join(", ")));
        return Some((&name.place, format!("`{}` is no factor; {help}", name.text)));
    };
    let written = level.scalar().unwrap_or_default();
    (!factor.levels.contains(&written)).then(|| {
        let levels = factor.levels.join(", ");
        (&level.place, format!("`{}` has no level {written}; one of {levels}", name.text))
    })
}

/// Names in braces that nothing fills in: of a factor that is misspelt, the command would get the braces.
fn check_braces(fields: &Fields<'_>, campaign: &Campaign) {
    let known = || campaign.factors.iter().map(|factor| factor.name.as_str()).chain(["level"]);
    for factor in &campaign.factors {
        let means = factor.means.iter().filter_map(|means| match means {
            Means::Target(text) | Means::Set(text) | Means::Ask(text) => Some(text),
            Means::PlanKey(_) | Means::Health => None,
        });
        let texts = means.chain(factor.check.iter().flat_map(|check| [&check.command, &check.expect]));
        for name in texts.flat_map(|text| braced(text)).filter(|name| known().all(|known| known != *name)) {
            let near = nearest(name, known()).map(|near| format!("did you mean `{{{near}}}`?"));
            let all = || known().map(|name| format!("{{{name}}}")).collect::<Vec<_>>().join(", ");
            let help = near.unwrap_or_else(|| {
                format!("one of {}; braces of the command's own take a space: `{{ {name} }}`", all())
            });
            fields.wrong(
                "factors",
                format!("`factors.{}`: nothing fills in `{{{name}}}`; {help}", factor.name),
            );
        }
    }
}

/// The words of `text` that stand alone in braces, without those of variables (`${HOME}`).
fn braced(text: &str) -> Vec<&str> {
    let is_word = |word: &str| {
        word.starts_with(|letter: char| letter.is_alphabetic() || letter == '_')
            && word.chars().all(|letter| letter.is_alphanumeric() || "_-".contains(letter))
    };
    let opened = text.match_indices('{').filter(|(at, _)| !text[..*at].ends_with('$'));
    opened
        .filter_map(|(at, _)| Some(text[at + 1..].split_once('}')?.0))
        .filter(|word| is_word(word))
        .collect()
}

/// One text or a list of them.
fn list(fields: &Fields<'_>, key: &'static str) -> Vec<String> {
    let found = fields.all().find(|(own, _)| own.text == key);
    let Some((_, node)) = found else { return fields.get::<String>(key).into_iter().collect() };
    match node.value {
        Value::List(_) => fields.or(key, Vec::new()),
        _ => fields.get(key).into_iter().collect(),
    }
}

/// `KEY=VALUE` of every key, as `--set` takes them.
fn changes(fields: &Fields<'_>) -> Vec<String> {
    fields.all().map(|(key, node)| format!("{}={}", key.text, typed(node))).collect()
}

/// A value as it was typed, a text without its quotes.
fn typed(node: &Node) -> String {
    node.scalar().unwrap_or_else(|| node.place.text().to_owned())
}

fn read_factors(fields: &Fields<'_>) -> Vec<Factor> {
    let read = |(key, node): (&document::Key, &Node)| {
        let factor = match node.table() {
            Some(table) => {
                let path = format!("factors.{}", key.text);
                read_factor(&key.text, &Fields::new(path, table, &key.place, fields.mistakes()))
            }
            None => Factor { levels: levels_of(fields, node), ..plain(&key.text) },
        };
        check_factor(fields, &key.place, &factor);
        factor
    };
    fields.all().map(read).collect()
}

fn plain(name: &str) -> Factor {
    Factor { name: name.into(), levels: Vec::new(), means: None, option: None, hard: None, check: None }
}

fn levels_of(fields: &Fields<'_>, node: &Node) -> Vec<String> {
    let levels = fields.mistakes().take(&node.place, one_or_more::<Scalar>(node)).unwrap_or_default();
    levels.into_iter().map(|level| level.0).collect()
}

fn read_factor(name: &str, fields: &Fields<'_>) -> Factor {
    let means = [
        fields.get("on").map(Means::Target),
        fields.get("key").map(Means::PlanKey),
        fields.get("set").map(Means::Set),
        fields.get("ask").map(Means::Ask),
    ];
    let mut means = means.into_iter().flatten();
    let first = means.next();
    fields.check(
        &["on", "key", "set", "ask"],
        means.next().is_none(),
        "a factor is changed in one way; give one of on, key, set and ask, and for virtual arrays `option`",
    );
    let expect = fields.get::<String>("expect");
    let check = fields
        .get::<String>("check")
        .map(|command| Check { command, expect: expect.clone().unwrap_or_else(|| "{level}".into()) });
    fields.check(
        &["expect"],
        check.is_some() || expect.is_none(),
        "it is what `check` must print; give `check`, a command that prints the level",
    );
    let levels = fields.or::<Vec<Scalar>>("levels", Vec::new());
    let hard = fields.choice("change", &[("hard", true), ("easy", false)]);
    let option = fields.get("option");
    fields.finish();
    Factor {
        option,
        levels: levels.into_iter().map(|level| level.0).collect(),
        means: first,
        hard,
        check,
        ..plain(name)
    }
}

fn check_factor(fields: &Fields<'_>, place: &TextSpan, factor: &Factor) {
    let wrong = |why: &str, help: &str| {
        let message = format!("`factors.{}`: {why}", factor.name);
        fields.mistakes().wrong(place, document::Wrong::new(message, help));
    };
    let different: BTreeSet<&String> = factor.levels.iter().collect();
    match factor.levels.len() {
        0 | 1 => wrong("a factor has two levels at least", "write levels = [5, 10]"),
        many if many > LEVELS_MOST => wrong("there are too many levels", "give 64 at most"),
        many if different.len() < many => wrong("a level is there twice", "give each level once"),
        _ => {}
    }
    if factor.name == "level" || factor.name.contains(['{', '}', ',']) {
        wrong("the name means something else in commands", "choose another");
    }
}

fn read_claim(fields: &Fields<'_>) -> Option<Claim> {
    let figures: [(Metric, Option<f64>); 7] = [
        (Metric::Iops, fields.get::<OpsPerSecond>("iops").map(OpsPerSecond::get)),
        (Metric::Throughput, fields.get::<BytesPerSecond>("throughput").map(BytesPerSecond::get)),
        (Metric::Mean, nanos(fields, "mean")),
        (Metric::Max, nanos(fields, "max")),
        (Metric::Quantile(0.5), nanos(fields, "p50")),
        (Metric::Quantile(0.99), nanos(fields, "p99")),
        (Metric::Quantile(0.999), nanos(fields, "p99.9")),
    ];
    let mut given = figures.into_iter().filter_map(|(metric, value)| Some((metric, value?)));
    let one = given.next();
    fields.check(
        &["iops", "throughput", "mean", "max", "p50", "p99", "p99.9"],
        one.is_some() && given.next().is_none(),
        "a claim has one figure; give one of iops, throughput, mean, max, p50, p99 and p99.9",
    );
    let claim = Claim {
        by: fields.need("by"),
        point: fields.or("point", String::new()),
        metric: one.map_or(Metric::Iops, |(metric, _)| metric),
        value: one.map_or(0.0, |(_, value)| value),
        levels: where_of(fields),
    };
    fields.check(
        &["iops", "throughput", "mean", "max", "p50", "p99", "p99.9"],
        claim.value > 0.0 || one.is_none(),
        "a figure is above zero",
    );
    fields.finish();
    one.map(|_| claim)
}

/// The levels that a claim is about.
pub(crate) fn where_of(fields: &Fields<'_>) -> Vec<(String, String)> {
    let levels = fields.table("where").map(|levels| {
        levels.all().map(|(key, node)| (key.text.clone(), node.scalar().unwrap_or_default())).collect()
    });
    levels.unwrap_or_default()
}

fn nanos(fields: &Fields<'_>, key: &'static str) -> Option<f64> {
    fields.get::<Nanos>(key).map(|time| time.get() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_braces_are_found_and_those_of_a_shell_are_its_own() {
        assert_eq!(
            braced("cli {lvel} on {disks} ${HOME} {print $1} { level } {a,b} {open"),
            ["lvel", "disks"]
        );
        assert_eq!(braced("{{level}}"), ["level"]);
        assert!(braced("").is_empty());
    }

    const WHOLE: &str = r#"
        name    = "levels"
        about   = "RAID 5 or RAID 10"
        on      = "array:md3000"
        plans   = ["oltp", "corners"]
        repeats = 4
        seed    = 7
        noise   = "2%"

        [set]
        run   = "5s"
        depth = { sweep = [1, 8] }

        [factors]
        raid  = [5, 10]
        disks = [4, 8, 14]

        [factors.firmware]
        levels = ["3.86", "3.88"]
        ask    = "Install firmware {level}"
        check  = "cli version"
        change = "hard"

        [[claim]]
        by    = "vendor"
        point = "4 KiB random read"
        iops  = "90k/s"
        where = { raid = 10 }
    "#;

    fn wrong(text: &str) -> String {
        Campaign::parse("file", text).expect_err("it is wrong").plain()
    }

    #[test]
    fn a_file_says_factors_plans_and_claims() {
        let campaign = Campaign::parse("file", WHOLE).unwrap_or_else(|errors| panic!("{}", errors.plain()));
        assert_eq!((campaign.name.as_str(), campaign.repeats, campaign.seed), ("levels", 4, 7));
        assert_eq!(campaign.targets, ["array:md3000"]);
        assert_eq!(campaign.plans, ["oltp", "corners"]);
        assert_eq!(campaign.set, ["run=5s", "depth={ sweep = [1, 8] }"]);
        assert_eq!(campaign.cells(), 12);
        assert_eq!(campaign.noise, Some(0.02));
        let names: Vec<&str> = campaign.factors.iter().map(|factor| factor.name.as_str()).collect();
        assert_eq!(names, ["raid", "disks", "firmware"]);
        let firmware = &campaign.factors[2];
        assert_eq!(firmware.means, Some(Means::Ask("Install firmware {level}".into())));
        assert_eq!(firmware.check.as_ref().map(|check| check.expect.as_str()), Some("{level}"));
        assert_eq!(firmware.hard, Some(true));
        let claim = &campaign.claims[0];
        assert_eq!((claim.metric, claim.value), (Metric::Iops, 90_000.0));
        assert_eq!(claim.levels, [("raid".to_owned(), "10".to_owned())]);
    }

    #[test]
    fn what_a_file_leaves_out_has_a_default() {
        let campaign = Campaign::parse("file", "name = \"x\"\nplans = \"quick\"").expect("it is enough");
        assert_eq!((campaign.repeats, campaign.seed, campaign.fraction), (3, 1, 1));
        assert_eq!((campaign.cells(), campaign.plans.len()), (1, 1));
        assert!(campaign.targets.is_empty() && campaign.claims.is_empty());
    }

    #[test]
    fn every_mistake_is_told_at_once() {
        let told = wrong(
            "plan = [\"oltp\"]\nrepeats = 0\n[factors]\nraid = [5]\ndisks = [4, 4]\n[factors.firmware]\nlevels = [1, 2]\n\
             set = \"a\"\nask = \"b\"\nexpect = \"c\"\n[[claim]]\nby = \"vendor\"\niops = \"5/s\"\nwhere = { riad = 5, disks = 9 }\n",
        );
        for part in [
            "name",
            "did you mean `plans`?",
            "give 1 to 1000",
            "`factors.raid`: a factor has two levels at least",
            "`factors.disks`: a level is there twice",
            "a factor is changed in one way",
            "it is what `check` must print",
            "`riad` is no factor",
            "`disks` has no level 9",
        ] {
            assert!(told.contains(part), "{part}: {told}");
        }
    }

    #[test]
    fn a_level_that_no_factor_has_is_told_in_the_claim_and_at_the_word_that_is_wrong() {
        let told = wrong(
            "name = \"x\"\nplans = \"quick\"\n[factors]\nraid = [5, 10]\n\
             [[claim]]\nby = \"v\"\niops = \"5/s\"\nwhere = { raid = 10 }\n\
             [[claim]]\nby = \"w\"\niops = \"5/s\"\nwhere = { raid = 6 }\n\
             [[theory]]\niops = \"5/s\"\n[theory.where]\nriad = 5\n",
        );
        assert!(
            told.contains("file:12:18: `claim.where`: `raid` has no level 6\n")
                && told.contains("one of 5, 10"),
            "{told}"
        );
        assert!(told.contains("file:16:1: `theory.where`: `riad` is no factor\n"), "{told}");
    }

    #[test]
    fn a_claim_has_one_figure_above_zero() {
        let of = |figures: &str| format!("name = \"x\"\nplans = \"quick\"\n[[claim]]\nby = \"v\"\n{figures}");
        assert!(wrong(&of("")).contains("a claim has one figure"));
        assert!(wrong(&of("iops = \"1/s\"\np99 = \"5ms\"")).contains("a claim has one figure"));
        assert!(wrong(&of("iops = \"0/s\"")).contains("above zero"));
        let read =
            |figures: &str| Campaign::parse("file", &of(figures)).expect("one figure").claims[0].clone();
        assert_eq!(read("throughput = \"1400MB/s\"").value, 1.4e9);
        assert_eq!(
            (read("p99 = \"5ms\"").metric, read("p99 = \"5ms\"").value),
            (Metric::Quantile(0.99), 5e6)
        );
    }

    #[test]
    fn more_runs_than_anybody_means_are_a_slip() {
        let levels: Vec<String> = (0..64).map(|level| level.to_string()).collect();
        let levels = levels.join(", ");
        let text = format!(
            "name = \"x\"\nplans = \"quick\"\n[factors]\na = [{levels}]\nb = [{levels}]\nc = [{levels}]\n"
        );
        assert!(wrong(&text).contains("these are 786432 runs"));
        let many: String = (0..20).map(|factor| format!("f{factor} = [{levels}]\n")).collect();
        let text = format!("name = \"x\"\nplans = \"quick\"\n[factors]\n{many}");
        assert!(wrong(&text).contains("are planned at most"));
    }
}
