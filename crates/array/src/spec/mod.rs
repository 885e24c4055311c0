//! Descriptions of devices and arrays, read from TOML.
//!
//! A file has a `name`, an `about`, perhaps `inherits`, one table for each part that a request meets, and `[options]`:
//! what its address takes. Every figure can say what it rests on:
//!
//! ```toml
//! seek_average = { value = "8.2ms", source = "data sheet", confidence = "high" }
//! ```
//!
//! [`array()`] reads one by its address, `md3000?raid=10&luns=2`; [`array_text`] reads a file of the user's.
//!
//! **Invariant:** nothing here touches a file; texts come from a [`Source`], and the shipped library is inside the
//! program.

mod address;
pub mod case;
mod device;
mod error;
mod fields;
mod figure;
mod layout;
mod memory;
mod options;
mod parts;
mod shipped;
mod source;
mod tree;

#[cfg(test)]
mod tests;

pub use address::Address;
pub use device::DeviceSpec;
pub use error::{Fault, SourceLocation, SpecError};
pub use figure::Figure;
pub use options::{Chosen, OptionSpec, Takes};
pub use parts::BACKGROUND_KINDS;
pub use source::{Layered, Shelf, Shipped, Source, SourceText};
pub use tree::Confidence;

use crate::device::DeviceParams;
use crate::topology::Topology;
use fields::Fields;
use tree::Table;

/// An array with every choice made: what a simulation takes of it, and what that rests on.
#[derive(Clone, Debug, PartialEq)]
pub struct ArraySpec {
    /// As in its address.
    pub name: String,
    /// What it is, in a sentence.
    pub about: String,
    /// Options as chosen, defaults among them.
    pub chosen: Vec<Chosen>,
    /// Every part, as simulated.
    pub topology: Topology,
    /// Every figure used, with what it rests on.
    pub figures: Vec<Figure>,
}

impl ArraySpec {
    /// Whether its devices are a model that was fitted to measured rates and mean response times, and to no more.
    pub fn is_fitted(&self) -> bool {
        self.topology.models.iter().any(|model| matches!(model, DeviceParams::Fitted(_)))
    }
}

/// An array's file before anything is chosen: what `fathom array show` prints.
#[derive(Clone, Debug, PartialEq)]
pub struct ArrayFile {
    /// Its name.
    pub name: String,
    /// What it is, in a sentence.
    pub about: String,
    /// Whether it is only there to be inherited.
    pub part: bool,
    /// What its address takes.
    pub options: Vec<OptionSpec>,
    /// Every figure in it.
    pub figures: Vec<Figure>,
}

/// The array at `address`, for example `md3000?raid=10&luns=2`, with or without `array:` before it.
pub fn array(library: &dyn Source, address: &str) -> Result<ArraySpec, SpecError> {
    let address = Address::parse(address)?;
    let table = source::load(library, Shelf::Array, &address.name, &SourceLocation::of(&address.label))?;
    build(library, table, &address)
}

/// The array that `text` describes, taken with the options of `address`, whose name is not looked at.
///
/// `label` is what errors call the text. It may inherit from `library`.
pub fn array_text(
    library: &dyn Source,
    label: &str,
    text: &str,
    address: &Address,
) -> Result<ArraySpec, SpecError> {
    let table = source::with_parents(library, Shelf::Array, tree::parse(label, text)?, &mut Vec::new())?;
    build(library, table, address)
}

/// The file `name` of the library as written, with what it inherits.
pub fn array_file(library: &dyn Source, name: &str) -> Result<ArrayFile, SpecError> {
    let mut table = source::load(library, Shelf::Array, name, &SourceLocation::of(&format!("array:{name}")))?;
    let options = options::declared(&table)?;
    table.remove("options");
    let figures = figure::collect(&table);
    let fields = Fields::new("", &table);
    Ok(ArrayFile {
        name: fields.or("name", name.to_string())?,
        about: fields.or("about", String::new())?,
        part: fields.or("part", false)?,
        options,
        figures,
    })
}

/// The device `model` of the library.
pub fn device(library: &dyn Source, model: &str) -> Result<(DeviceSpec, Vec<Figure>), SpecError> {
    let table = source::load(library, Shelf::Device, model, &SourceLocation::of(&format!("device:{model}")))?;
    let figures = figure::collect(&table);
    Ok((device::read(model, Fields::new("", &table))?, figures))
}

fn build(library: &dyn Source, mut table: Table, address: &Address) -> Result<ArraySpec, SpecError> {
    let chosen = options::apply(&mut table, address)?;
    let mut figures = figure::collect(&table);
    let fields = Fields::new("", &table);
    let name = fields.or("name", address.name.clone())?;
    let about = fields.or("about", String::new())?;
    if fields.or("part", false)? {
        return Err(
            fields.wrong("part", format!("`{name}` is a part for others to inherit, no array by itself"))
        );
    }
    let (hosts, host) = parts::host(fields.need_table("host")?)?;
    let adapter = fields.table("adapter")?.map(parts::counted_link).transpose()?;
    let (links, link) = parts::counted_link(fields.need_table("link")?)?;
    let protocol = parts::protocol(fields.need_table("protocol")?)?;
    let (controllers, controller) =
        parts::controller(fields.need_table("controller")?, fields.table("cache")?)?;
    let channel = fields.table("channel")?.map(parts::counted_link).transpose()?;
    let (devices, raid) = (fields.need_table("devices")?, fields.need_table("raid")?);
    let (models, disks) = layout::devices(library, devices)?;
    let (sets, spares) = layout::sets(&raid, &models, &disks)?;
    let failed = layout::failed(&raid, disks.len())?;
    let luns = layout::luns(&raid, &sets, controllers)?;
    raid.finish()?;
    let background = parts::background(fields.table("background")?)?;
    fields.finish()?;
    for DeviceSpec { model, .. } in &models {
        let table = source::load(library, Shelf::Device, model, &SourceLocation::of(&address.label))?;
        figures.extend(figure::collect(&table).into_iter().map(|figure| figure.of_device(model)));
    }
    let topology = Topology {
        hosts,
        host,
        links,
        link: Some(link),
        adapter,
        protocol,
        controllers,
        controller,
        channel,
        models: models.into_iter().map(|model| model.params).collect(),
        disks,
        sets,
        spares,
        failed,
        luns,
        background,
    };
    Ok(ArraySpec { name, about, chosen, topology, figures })
}
