//! A campaign with all that it names: plans, targets, and how each factor is brought to its levels.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use array::spec;
use campaign::{Campaign, Claim, Factor, Means, Turn, TurnKey, fill, ready, with_health};
use record::{CampaignCell, FactorLevel, FigureClaim, PlanSource, StateProof};
use stats::factorial::{self, Design};
use units::convert::narrow;
use workload::plan::{Overrides, Plan, reference};

use super::published::Group;
use crate::ending::Failure;
use crate::input::arrays::LIBRARY;
use crate::input::plans::{self, Planned};

/// Seeds of cells are below it: nine digits that a person can type.
const SEEDS: u64 = 1_000_000_000;

/// A campaign that can be carried out.
pub struct Subject {
    /// Its factors know how they are changed.
    pub campaign: Campaign,
    /// By which its runs are told from those of a file that asked something else.
    pub key: String,
    /// Factors and the cells that are measured; `None` where there are no factors.
    pub design: Option<Design>,
    /// Its file as it was read.
    pub toml: String,
    /// The text of each plan.
    texts: Vec<String>,
    /// Published figures that stand beside those of the virtual arrays.
    pub published: Vec<Group>,
}

/// What is asked of one run.
pub struct Request {
    pub planned: Planned,
    pub targets: Vec<String>,
    pub cell: CampaignCell,
    /// The levels that a virtual array has by its options, read back.
    pub proofs: Vec<StateProof>,
}

/// What the command line changes.
pub struct Change<'a> {
    pub targets: &'a [String],
    /// All hosts with their targets, where those of this one are `targets`; empty where all hosts have the same.
    pub hosts: &'a [String],
    pub overrides: &'a Overrides,
    pub repeats: Option<u32>,
    pub fraction: Option<u32>,
}

impl Subject {
    /// Reads the campaign in `file`, its plans, and what its targets take. Nothing is opened on a target.
    pub fn read(file: &str, change: &Change<'_>) -> Result<Subject, Failure> {
        Subject::of(file, &text(file)?, change)
    }

    /// The same of a campaign's text, which errors call `file`.
    pub fn of(file: &str, text: &str, change: &Change<'_>) -> Result<Subject, Failure> {
        let mut campaign = Campaign::parse(file, text)?;
        if !change.targets.is_empty() {
            campaign.targets = change.targets.to_vec();
        }
        campaign.set.extend(change.overrides.set.iter().cloned());
        campaign.repeats = change.repeats.unwrap_or(campaign.repeats);
        campaign.fraction = change.fraction.unwrap_or(campaign.fraction);
        campaign.plans = campaign.plans.iter().map(|plan| beside(file, plan)).collect();
        let texts = campaign.plans.iter().map(|plan| plans::text(plan)).collect::<Result<Vec<_>, _>>()?;
        if !change.hosts.is_empty() && campaign.factors.iter().any(|factor| factor.name == "on") {
            return Err(Failure::Usage(
                "--hosts-config names targets by host, and the factor `on` of the campaign by cell; leave one of them out"
                    .into(),
            ));
        }
        let options = options_of(&targets_of(&campaign))?;
        campaign.factors = campaign
            .factors
            .into_iter()
            .map(|factor| {
                let is_option = options.contains(&factor.name) || factor.name.contains('.');
                let is_key = reference::keys().any(|(key, _)| key == factor.name);
                factor.implied(is_option, is_key)
            })
            .collect();
        let measured = if change.hosts.is_empty() { &campaign.targets } else { change.hosts };
        let key = campaign.key(&texts, measured);
        let design = design(&campaign)?;
        let published =
            campaign.published.iter().map(|name| Group::read(file, name)).collect::<Result<_, _>>()?;
        let subject = Subject { campaign, key, design, toml: text.to_owned(), texts, published };
        subject.check()?;
        Ok(subject)
    }

    /// The cells that are measured.
    pub fn cells(&self) -> Vec<Vec<usize>> {
        self.design.as_ref().map_or_else(|| vec![Vec::new()], |design| design.cells().to_vec())
    }

    /// How many runs it has, without those of published figures.
    pub fn runs(&self) -> usize {
        let cells = self.design.as_ref().map_or(1, |design| design.cells().len());
        cells * self.campaign.plans.len() * self.campaign.repeats as usize
    }

    /// Its runs in their order.
    pub fn schedule(&self) -> Vec<Turn> {
        let hard: Vec<bool> = self.campaign.factors.iter().map(Factor::is_hard).collect();
        campaign::schedule(&self.campaign, &self.cells(), &hard)
    }

    /// `block 2, raid 5, disks 8: oltp`
    pub fn label(&self, turn: &Turn) -> String {
        assert!(turn.plan < self.campaign.plans.len(), "a turn is of a plan of the campaign");
        let cell = self.cell(turn);
        let levels = if cell.levels.is_empty() { String::new() } else { format!(", {}", cell.label()) };
        format!("block {}{levels}: {}", turn.block, self.campaign.plans[turn.plan])
    }

    /// That the run of `cell`, whose plan is `plan`, is one of a turn of this campaign, or of its published figures.
    pub fn key_of(&self, cell: &CampaignCell, plan: &PlanSource) -> Option<TurnKey> {
        if cell.campaign != self.campaign.name || cell.key != self.key {
            return None;
        }
        let is_own = |group: &Group| group.origin() == plan.origin && group.is_text(&plan.text);
        let counts = !cell.is_published() || self.published.iter().any(is_own);
        counts.then(|| TurnKey::of(cell, &plan.origin))
    }

    /// The levels of a turn by the names of their factors.
    pub fn levels(&self, turn: &Turn) -> BTreeMap<&str, &str> {
        let names = self.campaign.factors.iter().map(|factor| factor.name.as_str());
        names.zip(turn.level_names(&self.campaign)).collect()
    }

    /// Whether the factor is changed by an option of the virtual array on which `turn` is measured.
    pub fn is_option(&self, factor: &Factor, turn: &Turn) -> bool {
        factor.option.is_some() && is_array(&self.bare_targets(turn))
    }

    /// The run of a turn, as it is asked.
    pub fn request(&self, turn: &Turn, tags: &[String]) -> Result<Request, Failure> {
        let levels = self.levels(turn);
        let mut set = self.campaign.set.clone();
        let mut options = Vec::new();
        let mut text = self.texts[turn.plan].clone();
        let mut tags = tags.to_vec();
        tags.push(format!("campaign={}", self.campaign.name));
        let at_levels = self.campaign.factors.iter().zip(turn.level_names(&self.campaign));
        for (factor, level) in at_levels {
            tags.push(format!("{}={level}", factor.name));
            match (&factor.means, &factor.option) {
                (_, Some(option)) if self.is_option(factor, turn) => {
                    options.push((factor, option.clone(), level));
                }
                (Some(Means::PlanKey(key)), _) => set.push(format!("{key}={level}")),
                (Some(Means::Health), _) => {
                    text = with_health(&text, level).ok_or_else(|| {
                        let plan = &self.campaign.plans[turn.plan];
                        Failure::Usage(format!(
                            "{plan} has no [[phase]] that a failed disk could stand before"
                        ))
                    })?;
                }
                _ => {}
            }
        }
        debug_assert_eq!(self.texts.len(), self.campaign.plans.len(), "each plan has its text");
        let mut targets = self.bare_targets(turn);
        set.push(if is_array(&targets) { self.seed_of_cell(turn) } else { self.seed(turn.block) });
        if let [target] = &mut targets[..] {
            for (_, option, level) in &options {
                let sign = if target.contains('?') { '&' } else { '?' };
                target.push_str(&format!("{sign}{option}={level}"));
            }
        }
        let proofs = match is_array(&targets) {
            true => option_proofs(&targets[0], &options)?,
            false => Vec::new(),
        };
        let planned = plans::parse(&self.campaign.plans[turn.plan], &text, Overrides { set, tags })?;
        debug_assert_eq!(levels.len(), self.campaign.factors.len(), "each factor has one level");
        let mut cell = self.cell(turn);
        cell.claims = self.claims_of(&cell, &mixes_of(&planned.plan));
        Ok(Request { planned, targets, cell, proofs })
    }

    /// The seed of a block, as a change of the plan.
    pub fn seed(&self, block: u32) -> String {
        format!("seed={}", self.campaign.seed * 1000 + u64::from(block))
    }

    /// The seed of a cell of virtual arrays in its block: a simulation has no chance but that of its seed, and of two cells that
    /// had the same one, neither would be a repeat of the other.
    fn seed_of_cell(&self, turn: &Turn) -> String {
        let streams = workload::Streams::new(self.campaign.seed);
        let levels: Vec<_> = self.levels(turn).into_iter().collect();
        let key = streams.key(&format!("campaign/{}/seed/{levels:?}", turn.block));
        format!("seed={}", key % SEEDS)
    }

    /// Whether all that is measured are virtual arrays.
    pub fn is_virtual(&self) -> bool {
        targets_of(&self.campaign).iter().all(|target| target.starts_with("array:"))
    }

    /// Whether its cells are virtual arrays that no command and no person changes, so that each is measured by itself.
    pub fn is_apart(&self) -> bool {
        let by_itself = |factor: &Factor| {
            factor.check.is_none() && !matches!(factor.means, Some(Means::Set(_) | Means::Ask(_)))
        };
        self.is_virtual() && self.campaign.factors.iter().all(by_itself)
    }

    fn bare_targets(&self, turn: &Turn) -> Vec<String> {
        let levels = self.levels(turn);
        let by_factor = self.campaign.factors.iter().find_map(|factor| match &factor.means {
            Some(Means::Target(template)) => Some(fill(template, levels[factor.name.as_str()], &levels)),
            _ => None,
        });
        by_factor.map_or_else(|| self.campaign.targets.clone(), |target| vec![target])
    }

    fn cell(&self, turn: &Turn) -> CampaignCell {
        debug_assert_eq!(turn.levels.len(), self.campaign.factors.len(), "a turn has a level of each factor");
        let level = |(factor, place): (&Factor, &usize)| FactorLevel {
            factor: factor.name.clone(),
            level: factor.levels[*place].clone(),
            place: narrow::<u32>(*place as u64),
            of: narrow::<u32>(factor.levels.len() as u64),
            hard: factor.is_hard(),
        };
        CampaignCell {
            campaign: self.campaign.name.clone(),
            key: self.key.clone(),
            block: turn.block,
            turn: turn.number,
            levels: self.campaign.factors.iter().zip(&turn.levels).map(level).collect(),
            claims: Vec::new(),
            proofs: Vec::new(),
            toml: self.toml.clone(),
            runs: narrow::<u32>(self.runs() as u64),
            blocks: self.campaign.repeats,
            lack: None,
        }
    }

    /// What others say of a cell whose points are of these mixes: shares of reads.
    pub fn claims_of(&self, cell: &CampaignCell, mixes: &[f64]) -> Vec<FigureClaim> {
        let is_at =
            |name: &str, level: &str| cell.levels.iter().any(|own| own.factor == name && own.level == level);
        let is_of = |claim: &&Claim| claim.levels.iter().all(|(name, level)| is_at(name, level));
        let level_of = |factor: &str| {
            let own = cell.levels.iter().find(|own| own.factor == factor);
            own.map(|own| own.level.clone())
        };
        let stored = |claim: &Claim, value: f64, reads: Option<f64>| FigureClaim {
            by: claim.by.clone(),
            point: claim.point.clone(),
            metric: claim.metric.name(),
            value,
            reads,
            case: None,
        };
        let claims = self.campaign.claims.iter().filter(is_of).map(|claim| stored(claim, claim.value, None));
        let theories = self.campaign.theories.iter().filter(|theory| is_of(&&theory.claim));
        let given = theories.flat_map(|theory| {
            let of = |reads| Some(stored(&theory.claim, theory.value(level_of, reads)?, Some(reads)));
            theory.mixes(mixes).into_iter().filter_map(of).collect::<Vec<_>>()
        });
        claims.chain(given).collect()
    }

    /// The factors that are the health of a virtual array, with their levels in a turn.
    pub fn healths(&self, turn: &Turn) -> Vec<(String, String)> {
        let factors = self.campaign.factors.iter().zip(turn.level_names(&self.campaign));
        let own = factors
            .filter(|(factor, _)| factor.means == Some(Means::Health) && !self.is_option(factor, turn));
        own.map(|(factor, level)| (factor.name.clone(), level.to_owned())).collect()
    }

    /// That every cell can be asked for: plans with their changes, arrays with their options, factors with their means.
    fn check(&self) -> Result<(), Failure> {
        let first_block = self.schedule().into_iter().filter(|turn| turn.block == 1);
        for turn in first_block {
            let targets = self.bare_targets(&turn);
            if targets.is_empty() {
                return Err(Failure::Usage(
                    "no target is named; give --on, `on` in the file, or a factor `on`".into(),
                ));
            }
            for factor in &self.campaign.factors {
                self.check_means(factor, &turn, &targets)?;
            }
            self.request(&turn, &[])?;
        }
        Ok(())
    }

    fn check_means(&self, factor: &Factor, turn: &Turn, targets: &[String]) -> Result<(), Failure> {
        let name = &factor.name;
        let on = targets.join(", ");
        match &factor.means {
            _ if self.is_option(factor, turn) => Ok(()),
            Some(Means::Health) if !is_array(targets) => Err(Failure::Usage(format!(
                "factor `{name}`: on real storage a command fails disks and rebuilds; give it `set` and `check` for {on}"
            ))),
            // Otherwise it would be taken for the key of plans.
            Some(Means::PlanKey(key)) if key == "state" => Err(Failure::Usage(format!(
                "factor `{name}`: its levels are {}",
                campaign::HEALTH.join(", ")
            ))),
            Some(_) => Ok(()),
            None => Err(Failure::Usage(format!(
                "factor `{name}`: nothing says how it is changed on {on}; it is neither an option of the array nor a key of plans. \
                 Give it `set` (a command), `ask` (what a person does), `key` (of the plan), `on` (a target by level) or \
                 `option` (of virtual arrays)"
            ))),
        }
    }
}

/// The text of the campaign `file`: a file where the name looks like a path or one is there, else a ready campaign.
pub fn text(file: &str) -> Result<String, Failure> {
    let looks_like_path = file.contains('/') || file.ends_with(".toml");
    if let Some(ready) = ready::find(file).filter(|_| !looks_like_path) {
        return Ok(ready.text.to_owned());
    }
    fs::read_to_string(units::name::path(file)).map_err(|error| {
        let near = ready::suggest(file).filter(|_| !looks_like_path);
        let help = match near {
            Some(near) => format!("; did you mean the ready campaign `{near}`?"),
            None if looks_like_path => String::new(),
            None => "; `fathom campaign --list` lists the ready ones".into(),
        };
        Failure::Usage(format!("{file}: the campaign cannot be read: {error}{help}"))
    })
}

/// The plan, or the file of published figures, as the file names it, or as it lies beside the file.
pub fn beside(file: &str, plan: &str) -> String {
    let folder = Path::new(file).parent().map(|folder| folder.join(plan));
    match folder {
        Some(path) if plan.ends_with(".toml") && !Path::new(plan).exists() && path.exists() => {
            path.display().to_string()
        }
        _ => plan.to_owned(),
    }
}

/// The mixes of the points of `plan`, each once; of a point whose workloads differ there is none.
fn mixes_of(plan: &Plan) -> Vec<f64> {
    let own = plan.points().iter().filter_map(|point| {
        let mut mixes = point.workloads().iter().map(|workload| workload.mix.reads.get());
        let first = mixes.next()?;
        mixes.all(|mix| (mix - first).abs() < 1e-9).then_some(first)
    });
    distinct(own)
}

/// Each of `mixes` once, in their order.
pub fn distinct(mixes: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut known: Vec<f64> = Vec::new();
    for mix in mixes {
        if known.iter().all(|other| (other - mix).abs() >= 1e-9) {
            known.push(mix);
        }
    }
    known
}

pub fn is_array(targets: &[String]) -> bool {
    matches!(targets, [one] if one.starts_with("array:"))
}

/// Every target that a cell may have.
pub fn targets_of(campaign: &Campaign) -> Vec<String> {
    let levels =
        campaign.factors.iter().filter(|factor| factor.name == "on").flat_map(|factor| &factor.levels);
    campaign.targets.iter().chain(levels).cloned().collect()
}

/// The options of all virtual arrays among `targets`.
fn options_of(targets: &[String]) -> Result<Vec<String>, Failure> {
    let mut options = Vec::new();
    for target in targets.iter().filter_map(|target| target.strip_prefix("array:")) {
        let name = spec::Address::parse(target)?.name;
        let file = spec::array_file(&LIBRARY, &name)?;
        options.extend(file.options.into_iter().map(|option| option.name));
    }
    Ok(options)
}

/// What the array at `address` says of these options.
fn option_proofs(address: &str, options: &[(&Factor, String, &str)]) -> Result<Vec<StateProof>, Failure> {
    let array = spec::array(&LIBRARY, address)?;
    let proof = |(factor, option, level): &(&Factor, String, &str)| {
        let chosen = array.chosen.iter().find(|chosen| chosen.option == *option)?;
        Some(StateProof {
            factor: factor.name.clone(),
            by: format!("option `{option}` of the virtual array"),
            when: "before".into(),
            expected: (*level).to_owned(),
            found: chosen.value.clone(),
        })
    };
    Ok(options.iter().filter_map(proof).collect())
}

fn design(campaign: &Campaign) -> Result<Option<Design>, Failure> {
    if campaign.factors.is_empty() {
        return Ok(None);
    }
    let factor = |factor: &Factor| factorial::Factor { levels: factor.levels.len(), hard: factor.is_hard() };
    let factors: Vec<factorial::Factor> = campaign.factors.iter().map(factor).collect();
    let told = |error: factorial::DesignError| Failure::Usage(format!("the factors: {error}"));
    match narrow::<usize>(u64::from(campaign.fraction)) {
        1 => Design::full(factors).map(Some).map_err(told),
        one_of => Design::fraction(factors, one_of).map(Some).ok_or_else(|| {
            Failure::Usage(format!(
                "one cell of {one_of} cannot be chosen evenly: it takes three factors whose number of levels {one_of} divides"
            ))
        }),
    }
}
