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
pub use document::{Confidence, Errors};
pub use figure::Figure;
pub use layout::{LayoutSpec, LunSpec, RaidSet};
pub use options::{Chosen, OptionSpec, Takes};
pub use parts::BACKGROUND_KINDS;
pub use source::{Layered, Shelf, Shipped, Source, SourceText};

use crate::background::BackgroundParams;
use crate::controller::ControllerParams;
use crate::device::DeviceParams;
use crate::host::HostParams;
use crate::link::LinkParams;
use crate::protocol::ProtocolParams;
use document::{Fields, Mistakes};
use tree::File;

/// An array with every choice made: all that a simulation takes.
#[derive(Clone, Debug, PartialEq)]
pub struct ArraySpec {
    /// As in its address.
    pub name: String,
    /// What it is, in a sentence.
    pub about: String,
    /// Options as chosen, defaults among them.
    pub chosen: Vec<Chosen>,
    /// Hosts, all alike.
    pub hosts: u32,
    /// Each of them.
    pub host: HostParams,
    /// Adapters in each host; links are spread over them evenly. Zero: the links go straight into the host.
    pub adapters: u32,
    /// Each adapter, all its ports together. Meaningless without adapters.
    pub adapter: Option<LinkParams>,
    /// Links to each controller.
    pub links: u32,
    /// Each of them.
    pub link: LinkParams,
    /// What is spoken over the links.
    pub protocol: ProtocolParams,
    /// Controllers, 1 or 2.
    pub controllers: u32,
    /// Each of them.
    pub controller: ControllerParams,
    /// Back-end channels that all controllers share; disk `d` hangs on channel `d mod channels`. Zero: none.
    pub channels: u32,
    /// Each of them. Meaningless without channels.
    pub channel: Option<LinkParams>,
    /// Devices, sets and LUNs.
    pub layout: LayoutSpec,
    /// What each kind of background work does.
    pub background: Vec<BackgroundParams>,
    /// Every figure used, with what it rests on.
    pub figures: Vec<Figure>,
}

impl ArraySpec {
    /// Whether its devices are a model that was fitted to measured rates and mean response times, and to no more.
    pub fn is_fitted(&self) -> bool {
        self.layout.models.iter().any(|model| matches!(model.params, DeviceParams::Fitted(_)))
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

/// The array that `file` and `address` describe, as far as they can be read; `None` says nothing that `mistakes` do not.
fn build(library: &dyn Source, mut file: File, address: &Address, mistakes: &Mistakes) -> Option<ArraySpec> {
    let chosen = options::apply(&mut file, address, mistakes);
    let mut figures = figure::collect(&file.table);
    let fields = Fields::new("", &file.table, &file.at, mistakes);
    let name = fields.or("name", address.name.clone());
    let about = fields.or("about", String::new());
    if fields.or("part", false) {
        fields.wrong("part", format!("`{name}` is a part for others to inherit, no array by itself"));
        return None;
    }
    let host = fields.need_table("host").map(parts::host);
    let adapter = fields.table("adapter").map(parts::counted_link);
    let link = fields.need_table("link").map(parts::counted_link);
    let protocol = fields.need_table("protocol").map(parts::protocol);
    let (controller, cache) = (fields.need_table("controller"), fields.table("cache"));
    let controller = controller.map(|controller| parts::controller(controller, cache));
    let channel = fields.table("channel").map(parts::counted_link);
    let devices = fields.need_table("devices").and_then(|devices| layout::devices(library, devices));
    let raid = fields.need_table("raid").map(layout::Wanted::read);
    let background = fields.table("background").map(parts::background).unwrap_or_default();
    fields.finish();
    let ((hosts, host), (links, link), (controllers, controller)) = (host?, link?, controller?);
    let layout = raid?.of(devices?, controllers)?;
    for model in &layout.models {
        let file = source::load(library, Shelf::Device, &model.model, &address.place(), mistakes)?;
        figures.extend(figure::collect(&file.table).into_iter().map(|figure| figure.of_device(&model.model)));
    }
    let (adapters, adapter) = some(adapter);
    let (channels, channel) = some(channel);
    Some(ArraySpec {
        name,
        about,
        chosen,
        hosts,
        host,
        adapters,
        adapter,
        links,
        link,
        protocol: protocol?,
        controllers,
        controller,
        channels,
        channel,
        layout,
        background,
        figures,
    })
}

fn some<T>(counted: Option<(u32, T)>) -> (u32, Option<T>) {
    counted.map_or((0, None), |(count, each)| (count, Some(each)))
}
