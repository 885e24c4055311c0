//! What parts cost, in money or in watts.

use std::collections::BTreeMap;

use array::spec::ArraySpec;
use document::{Fields, Node};

/// A bill: what each part of a design adds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bill {
    /// Once.
    base: f64,
    /// Each array of that name, once; `None` where arrays cost nothing.
    arrays: Option<BTreeMap<String, f64>>,
    /// Each member and each hot spare.
    disk: Each,
    /// Each controller.
    controller: f64,
    /// Each GiB of cache, of all controllers.
    cache_gib: f64,
    /// Each port of each controller.
    port: f64,
    /// Levels of factors, once: factor, level.
    levels: BTreeMap<(String, String), f64>,
}

/// One amount for all of a kind, or one for each model by name.
#[derive(Clone, Debug, PartialEq)]
enum Each {
    All(f64),
    Models(BTreeMap<String, f64>),
}

impl Default for Each {
    fn default() -> Self {
        Each::All(0.0)
    }
}

/// What is counted of a design.
#[derive(Clone, Debug, PartialEq)]
pub struct Parts {
    /// The array's name.
    pub array: String,
    /// Members and hot spares by model.
    pub disks: BTreeMap<String, u32>,
    /// Controllers.
    pub controllers: u32,
    /// Cache of all controllers.
    pub cache_gib: f64,
    /// Links to all controllers.
    pub ports: u32,
}

impl Parts {
    /// Those of an array.
    pub fn of(name: &str, spec: &ArraySpec) -> Parts {
        let topology = &spec.topology;
        let controllers = topology.controllers.max(1);
        let used = topology.sets.iter().flat_map(|set| &set.members).chain(&topology.spares);
        let mut disks = BTreeMap::new();
        for disk in used {
            let model = topology.disks.get(*disk as usize).and_then(|model| spec.models.get(*model as usize));
            *disks.entry(model.cloned().unwrap_or_default()).or_insert(0) += 1;
        }
        let cache = topology.controller.cache.as_ref().map_or(0.0, |cache| cache.size.as_f64());
        Parts {
            array: name.into(),
            disks,
            controllers,
            cache_gib: cache * f64::from(controllers) / f64::from(1 << 30),
            ports: topology.links * controllers,
        }
    }

    /// All disks that are bought.
    pub fn disk_count(&self) -> u32 {
        self.disks.values().sum()
    }
}

impl Bill {
    /// Reads `[prices]` or `[watts]`. `currency` is asked for by whoever calls.
    pub fn read(fields: &Fields<'_>) -> Bill {
        let mut levels = BTreeMap::new();
        if let Some(table) = fields.table("level") {
            for (factor, node) in table.all() {
                let Some(own) = node.table() else {
                    table.wrong(&factor.text, "a factor's levels are a table; write { LEVEL = 100 }");
                    continue;
                };
                let path = format!("level.{}", factor.text);
                let own = Fields::new(path, own, &factor.place, table.mistakes());
                for (level, amount) in amounts(&own) {
                    levels.insert((factor.text.clone(), level), amount);
                }
            }
        }
        Bill {
            base: amount(fields, "base"),
            arrays: fields.table("array").map(|table| amounts(&table)),
            disk: one_or_table(fields, "disk"),
            controller: amount(fields, "controller"),
            cache_gib: amount(fields, "cache_gib"),
            port: amount(fields, "port"),
            levels,
        }
    }

    /// Factors and levels that it names, to be held against those that there are.
    pub fn named_levels(&self) -> impl Iterator<Item = &(String, String)> {
        self.levels.keys()
    }

    /// Arrays that it names; `None` where it has no table of them.
    pub fn named_arrays(&self) -> Option<impl Iterator<Item = &String>> {
        self.arrays.as_ref().map(BTreeMap::keys)
    }

    /// A model among `parts` that its table of disks does not name; none where one amount is that of all. An amount that is
    /// not there is not zero: the part would be free, and win.
    pub fn unlisted<'p>(&self, parts: &'p Parts) -> Option<&'p str> {
        let Each::Models(models) = &self.disk else { return None };
        parts.disks.keys().find(|model| !models.contains_key(*model)).map(String::as_str)
    }

    /// The sum for a design of these parts, all of which it lists, and levels.
    pub fn sum<'l>(&self, parts: &Parts, levels: impl Iterator<Item = (&'l str, &'l str)>) -> f64 {
        let of_disk = |(model, count): (&String, &u32)| {
            let each = match &self.disk {
                Each::All(each) => *each,
                Each::Models(models) => models.get(model).copied().unwrap_or(0.0),
            };
            f64::from(*count) * each
        };
        let of_array = |arrays: &BTreeMap<String, f64>| arrays.get(&parts.array).copied().unwrap_or(0.0);
        let of_level = |(factor, level): (&str, &str)| {
            self.levels.get(&(factor.to_owned(), level.to_owned())).copied().unwrap_or(0.0)
        };
        self.base
            + self.arrays.as_ref().map_or(0.0, of_array)
            + parts.disks.iter().map(of_disk).sum::<f64>()
            + f64::from(parts.controllers) * self.controller
            + parts.cache_gib * self.cache_gib
            + f64::from(parts.ports) * self.port
            + levels.map(of_level).sum::<f64>()
    }
}

fn amount(fields: &Fields<'_>, key: &'static str) -> f64 {
    let amount = fields.or(key, 0.0);
    fields.check(&[key], amount >= 0.0, "an amount is not below zero");
    amount
}

fn amounts(fields: &Fields<'_>) -> BTreeMap<String, f64> {
    let of = |node: &Node| node.scalar().and_then(|text| text.parse::<f64>().ok());
    let sound = |amount: &f64| amount.is_finite() && *amount >= 0.0;
    let mut found = BTreeMap::new();
    for (key, node) in fields.all() {
        match of(node).filter(sound) {
            Some(amount) => {
                found.insert(key.text.clone(), amount);
            }
            None => fields.wrong(&key.text, "an amount is a number from 0 on"),
        }
    }
    found
}

/// One amount for all, or a table of amounts by name.
fn one_or_table(fields: &Fields<'_>, key: &'static str) -> Each {
    let is_table = fields.all().any(|(own, node)| own.text == key && node.table().is_some());
    match is_table {
        true => Each::Models(fields.table(key).map(|table| amounts(&table)).unwrap_or_default()),
        false => Each::All(amount(fields, key)),
    }
}
