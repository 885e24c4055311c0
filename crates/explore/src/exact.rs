//! What can be said of a design without simulating it, exactly: whether it is possible, its price, its capacity, what its
//! disks can lose, and what its links can carry at most.

use std::fmt::{self, Write};
use std::hash::{DefaultHasher, Hasher};

use array::reliability::{Group, groups, loss_in_a_year, mean_time_to_loss_h};
use array::sim::{Sim, Topology};
use array::spec::{self, ArraySpec, Source};

use crate::cost::Parts;
use crate::design::{Design, Reliability};

/// A possible design.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// Its number in the space.
    pub number: u64,
    /// Money; disks where no prices are given.
    pub price: f64,
    /// Watts; zero where none are given.
    pub watts: f64,
    /// Bytes that hosts see.
    pub usable: f64,
    /// Groups of each set that stand in for each other, and how many of them.
    pub groups: Vec<(u32, Group)>,
    /// Whether a hot spare is there.
    pub has_spare: bool,
    /// Bytes a second that the links carry at most, each way where the two do not share a rate.
    pub link_limit: f64,
    /// Designs with the same are the same to a load.
    pub load_key: u64,
    /// Designs with the same are the same to a load beside a rebuild.
    pub rebuilding_key: u64,
    /// Designs with the same are the same to a rebuild without a load.
    pub rebuild_key: u64,
}

impl Candidate {
    /// The probability of data loss within a year where a rebuild takes `rebuild_h`.
    pub fn loss(&self, rebuild_h: f64, reliability: &Reliability) -> f64 {
        let without_spare = if self.has_spare { 0.0 } else { reliability.replace_h };
        let mttr_h = rebuild_h + without_spare;
        let of_set = |(count, group): &(u32, Group)| {
            let mean = mean_time_to_loss_h(group, reliability.mttf_h, mttr_h, reliability.unreadable);
            loss_in_a_year(*count, mean)
        };
        // Sets are independent of each other, as groups are; one minus the rest would lose its digits.
        -self.groups.iter().map(|one| (-of_set(one)).ln_1p()).sum::<f64>().exp_m1()
    }
}

/// As many hot spares as any simulation takes.
const SPARES_SURE: usize = 64;

/// The design of that number, or in a sentence why it is impossible, or why its price is not known.
pub fn candidate(design: &Design, number: u64, library: &dyn Source) -> Result<Candidate, String> {
    let address = design.space.address(number);
    let spec = match spec::array(library, &address) {
        Ok(spec) => spec,
        Err(errors) => {
            let first = errors.iter().next().map(|mistake| mistake.message().to_owned());
            return Err(first.unwrap_or_default());
        }
    };
    // A simulation has no numbers for more; making one for each design would take longer than all else here.
    if spec.topology.spares.len() > SPARES_SURE
        && let Err(error) = Sim::new(&spec.topology, design.seed)
    {
        return Err(error.to_string());
    }
    let mut sets = spec.topology.sets.iter().map(|set| groups(set.geometry.spec()).1);
    if !spec.topology.spares.is_empty() && sets.all(|group| group.spare == 0) {
        return Err("a hot spare has nothing to rebuild from where no set survives a failure".into());
    }
    of_spec(design, number, &spec)
}

/// What is said of a part of that `kind`, `disk` or `array`, that a table of prices or watts does not name.
pub(crate) fn unlisted(kind: &str, name: &str) -> String {
    format!("{kind}: `{name}` is missing; add `{name} = 100`, or `{name} = 0` if it adds nothing")
}

fn of_spec(design: &Design, number: u64, spec: &ArraySpec) -> Result<Candidate, String> {
    let topology = &spec.topology;
    let levels = design.space.levels(number);
    let named = || design.space.named(&levels);
    let name = design.space.array(number);
    let parts = Parts::of(name.strip_prefix("array:").unwrap_or(name), spec);
    for (table, bill) in [("prices", &design.prices), ("watts", &design.watts)] {
        let Some(model) = bill.as_ref().and_then(|bill| bill.unlisted(&parts)) else { continue };
        return Err(format!("`[{table}]` {}", unlisted("disk", model)));
    }
    let price = match &design.prices {
        Some(bill) => bill.sum(&parts, named()),
        None => f64::from(parts.disk_count()),
    };
    let all: f64 = topology.lun_sizes().iter().map(|size| size.as_f64()).sum();
    let links = f64::from(topology.links) * f64::from(topology.controllers.max(1));
    let mut bare = Topology { spares: Vec::new(), background: Vec::new(), ..topology.clone() };
    let load_key = hash(&bare);
    bare.background.clone_from(&topology.background);
    let rebuilding_key = hash(&bare);
    // A rebuild without a load passes nothing in front of the controllers.
    let rebuild_key = hash(&(
        (bare.controllers, &bare.controller, &bare.channel, &bare.models, &bare.disks),
        (&bare.sets, &bare.failed, &bare.background),
    ));
    assert!(price.is_finite() && price >= 0.0, "design {number} costs {price}");
    assert!(all >= 0.0 && all.is_finite(), "design {number} holds {all} bytes");
    Ok(Candidate {
        number,
        price,
        watts: design.watts.as_ref().map_or(0.0, |bill| bill.sum(&parts, named())),
        usable: all,
        groups: topology.sets.iter().map(|set| groups(set.geometry.spec())).collect(),
        has_spare: !topology.spares.is_empty(),
        link_limit: topology.link.map_or(f64::INFINITY, |link| links * link.rate.get()),
        load_key,
        rebuilding_key,
        rebuild_key,
    })
}

/// A hash of all that `Debug` shows, which for plain data is all there is. The same in every run of one build.
fn hash(of: &impl fmt::Debug) -> u64 {
    struct Into(DefaultHasher);
    impl Write for Into {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            self.0.write(text.as_bytes());
            Ok(())
        }
    }
    let mut hasher = Into(DefaultHasher::new());
    // A hasher takes everything.
    let _written = write!(hasher, "{of:?}");
    hasher.0.finish()
}
