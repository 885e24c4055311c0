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
pub mod disksim;
mod figure;
mod fitted;
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
pub use document::{Confidence, Errors};
pub use figure::Figure;
pub use fitted::{FittedFigure, Refitted, fitted};
pub use options::{Chosen, OptionSpec, Takes};
pub use parts::BACKGROUND_KINDS;
pub use source::{Layered, Shelf, Shipped, Source, SourceText, is_path};

use crate::device::DeviceParams;
use crate::topology::Topology;
use document::{Fields, Mistakes, Wrong};
use tree::File;

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
    /// What each of the topology's models of devices is called in the library.
    pub models: Vec<String>,
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
    /// As an address has it.
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
pub fn array(library: &dyn Source, address: &str) -> Result<ArraySpec, Errors> {
    let address = Address::parse(address)?;
    let mistakes = Mistakes::default();
    let file = source::load(library, Shelf::Array, &address.name, &address.place(), &mistakes);
    let spec = file.and_then(|file| build(library, file, &address, &mistakes));
    mistakes.finish(spec)
}

/// The array that `text` describes, taken with the options of `address`, whose name is not looked at.
///
/// `label` is what errors call the text. It may inherit from `library`.
pub fn array_text(
    library: &dyn Source,
    label: &str,
    text: &str,
    address: &Address,
) -> Result<ArraySpec, Errors> {
    let mistakes = Mistakes::default();
    let file = tree::parse(label, text, &mistakes);
    let file = file.and_then(|file| source::with_parents(library, Shelf::Array, file, &mistakes));
    let spec = file.and_then(|file| build(library, file, address, &mistakes));
    mistakes.finish(spec)
}

/// The file `name` of the library as written, with what it inherits.
pub fn array_file(library: &dyn Source, name: &str) -> Result<ArrayFile, Errors> {
    let mistakes = Mistakes::default();
    let asked_at = address::whole(&format!("array:{name}"));
    let read = source::load(library, Shelf::Array, name, &asked_at, &mistakes).map(|mut file| {
        let options = options::declared(&file, &mistakes);
        file.table.remove("options");
        let figures = figure::collect(&file.table);
        let fields = Fields::new("", &file.table, &file.at, &mistakes);
        ArrayFile {
            name: fields.or("name", name.to_string()),
            about: fields.or("about", String::new()),
            part: fields.or("part", false),
            options,
            figures,
        }
    });
    mistakes.finish(read)
}

/// The device `model` of the library.
pub fn device(library: &dyn Source, model: &str) -> Result<(DeviceSpec, Vec<Figure>), Errors> {
    let mistakes = Mistakes::default();
    let asked_at = address::whole(&format!("device:{model}"));
    let read = source::load(library, Shelf::Device, model, &asked_at, &mistakes).and_then(|file| {
        let figures = figure::collect(&file.table);
        Some((device::read(model, Fields::new("", &file.table, &file.at, &mistakes))?, figures))
    });
    mistakes.finish(read)
}

/// The device that `text` describes. `label` is what errors call the text. It may inherit from `library`.
pub fn device_text(
    library: &dyn Source,
    label: &str,
    text: &str,
) -> Result<(DeviceSpec, Vec<Figure>), Errors> {
    let mistakes = Mistakes::default();
    let file = tree::parse(label, text, &mistakes);
    let read = file.and_then(|file| source::with_parents(library, Shelf::Device, file, &mistakes)).and_then(
        |file| {
            let figures = figure::collect(&file.table);
            Some((device::read(label, Fields::new("", &file.table, &file.at, &mistakes))?, figures))
        },
    );
    mistakes.finish(read)
}

/// Whether `text` describes a device rather than an array: it says, or inherits, of what `kind` it is.
pub fn is_device(library: &dyn Source, label: &str, text: &str) -> bool {
    let mistakes = Mistakes::default();
    let file = tree::parse(label, text, &mistakes);
    let file = file.and_then(|file| source::with_parents(library, Shelf::Device, file, &mistakes));
    file.is_some_and(|file| file.table.get("kind").is_some())
}

/// The array that `file` and `address` describe, as far as they can be read; `None` says nothing that `mistakes` do not.
fn build(library: &dyn Source, mut file: File, address: &Address, mistakes: &Mistakes) -> Option<ArraySpec> {
    let chosen = options::apply(&mut file, address, mistakes);
    let mut figures = figure::collect(&file.table);
    let fields = Fields::new("", &file.table, &file.at, mistakes);
    let name = fields.or("name", address.name.clone());
    let about = fields.or("about", String::new());
    if fields.says("kind") {
        let help = "an array has it as `model` in `[devices]`, and `fathom array check` takes it as it is";
        fields.wrong("kind", format!("`{name}` describes a device, not an array: {help}"));
        return None;
    }
    if fields.or("part", false) {
        fields.wrong("part", format!("`{name}` is a part for others to inherit, no array by itself"));
        return None;
    }
    let host = fields.need_table("host").map(parts::host);
    let adapter = fields.table("adapter").map(parts::counted_link);
    let link = fields.need_table("link").map(parts::counted_link);
    let processor = fields.table("processor").map(parts::processor);
    let protocol =
        fields.need_table("protocol").map(|protocol| parts::protocol(protocol, processor.as_ref()));
    let (controller, cache) = (fields.need_table("controller"), fields.table("cache"));
    let controller = controller.map(|controller| parts::controller(controller, cache, processor.as_ref()));
    let channel = fields.table("channel").map(parts::counted_link);
    let devices = fields.need_table("devices").and_then(|devices| layout::devices(library, devices));
    let raid = fields.need_table("raid").map(layout::Wanted::read);
    let background = fields.table("background").map(parts::background).unwrap_or_default();
    fields.finish();
    let ((hosts, host), (links, link), (controllers, controller)) = (host?, link?, controller?);
    let layout::Placed { models, disks, sets, spares, failed, luns } = raid?.of(devices?, controllers)?;
    if let Some(stripe) = host.stripe.filter(|stripe| stripe.luns as usize > luns.len()) {
        let (wanted, there_are) = (stripe.luns, luns.len());
        let why =
            format!("a stripe over {wanted} LUNs needs as many, not {there_are}; give luns={wanted} or more");
        mistakes.wrong(&address.place(), Wrong::parted(&why));
        return None;
    }
    for DeviceSpec { model, .. } in &models {
        let file = source::load(library, Shelf::Device, model, &address.place(), mistakes)?;
        figures.extend(figure::collect(&file.table).into_iter().map(|figure| figure.of_device(model)));
    }
    let names = models.iter().map(|model| model.model.clone()).collect();
    let topology = Topology {
        hosts,
        host,
        links,
        link: Some(link),
        adapter,
        protocol: protocol?,
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
    Some(ArraySpec { name, about, chosen, topology, models: names, figures })
}
