//! The space of designs: arrays, and for each of them every combination of the factors that it takes.
//!
//! **Invariant:** a design has one number and one address, and no two designs have the same address: a factor that an
//! array does not take is left as that array has it, and counts once.

use array::spec::{self, ArrayFile, Source, array_file, is_path};
use document::{Fields, Key, Node, TextSpan, Wrong, nearest};

/// What the figures of a description are called that a factor may mean where the array has no option of that name.
const MEANS: [(&str, &str); 11] = [
    ("raid", "raid.level"),
    ("level", "raid.level"),
    ("disks", "raid.disks"),
    ("chunk", "raid.chunk"),
    ("spares", "raid.spares"),
    ("luns", "raid.luns"),
    ("bays", "devices.count"),
    ("drive", "devices.model"),
    ("controllers", "controller.count"),
    ("cache_size", "cache.size"),
    ("ports", "link.count"),
];

/// Levels of one factor at most.
const LEVELS_MOST: usize = 64;

/// Designs at most: their exact figures fit the memory of a small machine.
pub const DESIGNS_MOST: u64 = 5_000_000;

/// What is varied.
#[derive(Clone, Debug, PartialEq)]
pub struct Factor {
    /// As in the file.
    pub name: String,
    /// Its levels, in the order of the file.
    pub levels: Vec<String>,
}

/// All designs.
#[derive(Clone, Debug, PartialEq)]
pub struct Space {
    /// The first is `array`.
    pub factors: Vec<Factor>,
    /// One for each array, in the order of its levels.
    blocks: Vec<Block>,
}

/// The designs of one array: the factors it takes, each with its key in an address.
#[derive(Clone, Debug, PartialEq)]
struct Block {
    taken: Vec<(usize, String)>,
    first: u64,
    count: u64,
}

/// A design: a level of each factor; `None` where its array does not take the factor.
pub type Levels = Vec<Option<usize>>;

impl Space {
    /// Reads `[space]`; arrays are looked up in `library`.
    pub fn read(fields: &Fields<'_>, library: &dyn Source) -> Option<Space> {
        let mut factors = Vec::new();
        for (key, node) in fields.all() {
            factors.push(read_factor(fields, key, node));
        }
        let at = factors.iter().position(|factor| factor.name == "array");
        let Some(at) = at else {
            let why = "the arrays to choose from are missing; write array = [\"px6-300d\", \"md3000\"]";
            fields.mistakes().wrong(fields.at(), Wrong::parted(&format!("`[space]`: {why}")));
            return None;
        };
        if factors.iter().any(|factor: &Factor| factor.levels.is_empty()) {
            // That is told, and there are no designs.
            return None;
        }
        let arrays = factors.remove(at);
        factors.insert(0, arrays);
        let files: Vec<Option<ArrayFile>> =
            factors[0].levels.iter().map(|name| file(fields, name, library)).collect();
        let files: Vec<ArrayFile> = files.into_iter().collect::<Option<_>>()?;
        for factor in &factors[1..] {
            if !files.iter().any(|file| key_of(file, &factor.name).is_some()) {
                unknown(fields, &factor.name, &files);
            }
        }
        unreadable(fields, &factors, &files, library);
        let mut first = 0;
        let blocks = files.iter().map(|file| {
            let taken: Vec<(usize, String)> = (1..factors.len())
                .filter_map(|factor| Some((factor, key_of(file, &factors[factor].name)?)))
                .collect();
            let levels = taken.iter().map(|(factor, _)| factors[*factor].levels.len() as u64);
            let count = levels.fold(1u64, u64::saturating_mul);
            let block = Block { taken, first, count };
            first = first.saturating_add(count);
            block
        });
        let space = Space { blocks: blocks.collect(), factors };
        if space.count() > DESIGNS_MOST {
            let why = format!("these are {} designs, and {DESIGNS_MOST} are taken at most", space.count());
            let help = "take levels or factors away";
            fields.mistakes().wrong(fields.at(), Wrong::new(format!("`[space]`: {why}"), help));
        }
        Some(space)
    }

    /// How many designs there are, impossible ones among them.
    pub fn count(&self) -> u64 {
        self.blocks.last().map_or(0, |last| last.first.saturating_add(last.count))
    }

    /// The levels of the design of that number.
    pub fn levels(&self, number: u64) -> Levels {
        let at = self.blocks.partition_point(|block| block.first + block.count <= number);
        let block = &self.blocks[at];
        let mut levels = vec![None; self.factors.len()];
        levels[0] = Some(at);
        let mut rest = number - block.first;
        for (factor, _) in block.taken.iter().rev() {
            let many = self.factors[*factor].levels.len() as u64;
            levels[*factor] = Some(units::convert::narrow::<usize>(rest % many));
            rest /= many;
        }
        assert_eq!(rest, 0, "a number below the count");
        levels
    }

    /// The number of the design with those levels; levels of factors that its array does not take say nothing, and
    /// those that it takes are the first where they are `None`.
    pub fn number(&self, levels: &Levels) -> u64 {
        let block = &self.blocks[levels[0].unwrap_or(0)];
        let within = block.taken.iter().fold(0, |number, (factor, _)| {
            number * self.factors[*factor].levels.len() as u64 + levels[*factor].unwrap_or(0) as u64
        });
        assert!(within < block.count, "levels name a design of their array");
        block.first + within
    }

    /// The address of the design of that number, as `array:` takes it, without `array:`.
    pub fn address(&self, number: u64) -> String {
        let levels = self.levels(number);
        let at = levels[0].unwrap_or(0);
        let mut address = self.factors[0].levels[at].clone();
        let mut sign = '?';
        for (factor, key) in &self.blocks[at].taken {
            let level = &self.factors[*factor].levels[levels[*factor].unwrap_or(0)];
            address += &format!("{sign}{}={}", escape(key), escape(level));
            sign = '&';
        }
        address
    }

    /// The names of factors and levels of a design, those that it has.
    pub fn named<'s>(&'s self, levels: &'s Levels) -> impl Iterator<Item = (&'s str, &'s str)> {
        self.factors
            .iter()
            .zip(levels)
            .filter_map(|(factor, level)| Some((factor.name.as_str(), factor.levels[(*level)?].as_str())))
    }

    /// The array of a design.
    pub fn array(&self, number: u64) -> &str {
        &self.factors[0].levels[self.levels(number)[0].unwrap_or(0)]
    }

    /// The designs that differ from `number` in one factor, with that factor's place; where the array differs, all else
    /// stays as far as the other array takes it.
    pub fn neighbours(&self, number: u64) -> Vec<(usize, u64)> {
        let own = self.levels(number);
        debug_assert_eq!(self.number(&own), number, "a design has one number");
        let mut found = Vec::new();
        for (factor, has) in own.iter().enumerate() {
            let Some(has) = has else { continue };
            for level in (0..self.factors[factor].levels.len()).filter(|level| level != has) {
                let mut levels = own.clone();
                levels[factor] = Some(level);
                found.push((factor, self.number(&levels)));
            }
        }
        found
    }
}

/// What stands for `name` in an address of `file`; `None` where it takes no such thing.
fn key_of(file: &ArrayFile, name: &str) -> Option<String> {
    if name.contains('.') || file.options.iter().any(|option| option.name == name) {
        return Some(name.into());
    }
    MEANS.iter().find(|(means, _)| *means == name).map(|(_, key)| (*key).to_owned())
}

fn escape(text: &str) -> String {
    text.replace('%', "%25").replace('&', "%26").replace('=', "%3D").replace('?', "%3F")
}

fn read_factor(fields: &Fields<'_>, key: &Key, node: &Node) -> Factor {
    let wrong = |why: &str| fields.wrong(&key.text, why);
    let nodes = match &node.value {
        document::Value::List(nodes) => nodes.as_slice(),
        _ => std::slice::from_ref(node),
    };
    let mut levels = Vec::new();
    for node in nodes {
        match node.scalar() {
            Some(level) if !levels.contains(&level) && !level.is_empty() => levels.push(level),
            Some(_) => wrong("a level is there twice, or is empty; give each level once"),
            None => wrong("a level is a text or a number; write [5, 6] or [\"64KiB\", \"256KiB\"]"),
        }
    }
    if levels.is_empty() || levels.len() > LEVELS_MOST {
        wrong(&format!("it has {} levels; give 1 to {LEVELS_MOST}", levels.len()));
    }
    Factor { name: key.text.clone(), levels }
}

/// The array of that name, or a mistake where it stands.
fn file(fields: &Fields<'_>, name: &str, library: &dyn Source) -> Option<ArrayFile> {
    let refuse = |why: String| {
        fields.wrong("array", why);
        None
    };
    if name.contains('?') {
        return refuse(format!("`{name}` is an address; name the array alone, and its options as factors"));
    }
    let bare = name.strip_prefix("array:").unwrap_or(name);
    match array_file(library, bare) {
        Ok(file) if file.part => refuse(format!("`{name}` is a part for others to inherit; name an array")),
        Ok(file) => Some(file),
        Err(errors) if is_path(name) => refuse(format!("`{name}`: {errors}")),
        Err(errors) => {
            let said = errors.iter().next().map(|mistake| mistake.said()).unwrap_or_default();
            refuse(said)
        }
    }
}

/// Notes each level that none of the arrays which take its factor can read: with it there is no design, whatever the other
/// factors are.
fn unreadable(fields: &Fields<'_>, factors: &[Factor], files: &[ArrayFile], library: &dyn Source) {
    let (arrays, others) = factors.split_first().expect("the arrays are the first factor");
    let places: Vec<(&Key, &Node)> = fields.all().collect();
    for factor in others {
        let taking = arrays.levels.iter().zip(files);
        let taking: Vec<(&String, String)> =
            taking.filter_map(|(array, file)| Some((array, key_of(file, &factor.name)?))).collect();
        let node = places.iter().find(|(key, _)| key.text == factor.name).map(|(_, node)| *node);
        for level in &factor.levels {
            let why = taking.iter().map(|(array, key)| unread(library, array, key, level));
            let Some(why) = why.collect::<Option<Vec<String>>>() else { continue };
            let (Some(first), Some(node)) = (why.first(), node) else { continue };
            let message = format!("`{}`: the level `{level}` can be no array's: {first}", factor.name);
            fields.mistakes().wrong(place_of(node, level), Wrong::parted(&message));
        }
    }
}

/// Where a level stands.
fn place_of<'n>(node: &'n Node, level: &str) -> &'n TextSpan {
    let among = match &node.value {
        document::Value::List(nodes) => nodes.as_slice(),
        _ => &[],
    };
    let found = among.iter().find(|node| node.scalar().is_some_and(|text| text == level));
    &found.unwrap_or(node).place
}

/// Why `level` is none of the values that `key` of that array can hold; `None` where it is one, possible or not.
fn unread(library: &dyn Source, array: &str, key: &str, level: &str) -> Option<String> {
    let errors = spec::array(library, &format!("{array}?{}={}", escape(key), escape(level))).err()?;
    errors.iter().find(|mistake| mistake.is_unread()).map(|mistake| mistake.said())
}

fn unknown(fields: &Fields<'_>, name: &str, files: &[ArrayFile]) {
    let options = || files.iter().flat_map(|file| &file.options).map(|option| option.name.as_str());
    let mut known: Vec<&str> = options().chain(MEANS.iter().map(|(name, _)| *name)).collect();
    known.sort_unstable();
    known.dedup();
    let near = nearest(name, known.iter().copied()).map(|near| format!("did you mean `{near}`? "));
    let help = format!(
        "{}factors are array, {}, and any figure of an array by its dotted name in quotes, as \"cache.size\"",
        near.unwrap_or_default(),
        known.join(", ")
    );
    fields.wrong(name, format!("none of the arrays takes `{name}`; {help}"));
}
