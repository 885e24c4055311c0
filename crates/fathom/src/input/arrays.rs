//! Where descriptions of virtual arrays come from: the user's own files first, then the shipped library.

use std::borrow::Cow;
use std::fs;
use std::io;
use std::path::Path;

use crate::ending::Failure;
use array::spec::{self, Layered, Shelf, Shipped, Source, SourceText, disksim};

/// Names that are paths: `./my-array.toml`, `/srv/arrays/big.toml`.
#[derive(Clone, Copy, Debug)]
pub struct Files;

impl Source for Files {
    fn find(&self, shelf: Shelf, name: &str) -> Option<SourceText<'_>> {
        let text = spec::is_path(name).then(|| fs::read_to_string(units::name::path(name)).ok())??;
        // What of it cannot be read is an error in the text as it is, which is no TOML.
        let text = match shelf {
            Shelf::Device if disksim::is_disksim(&text) => {
                disksim::drive(name, &text, &mut beside(name)).map_or(text, |drive| drive.text)
            }
            _ => text,
        };
        Some(SourceText { label: Cow::Owned(name.into()), text: Cow::Owned(text) })
    }

    fn names(&self, _: Shelf) -> Vec<String> {
        Vec::new()
    }
}

/// The texts of files that DiskSim's description `path` names: beside it, or called like it with their ending.
pub fn beside(path: &str) -> impl FnMut(&str) -> Option<String> {
    let path = units::name::path(path);
    move |file: &str| {
        let ending = Path::new(file).extension()?;
        let named = path.with_file_name(file);
        fs::read_to_string(named).or_else(|_| fs::read_to_string(path.with_extension(ending))).ok()
    }
}

/// A device by its name in the library, or in a file: TOML, or DiskSim's `.diskspecs` or `.parv`. `None` where there is
/// no device of that name.
pub fn device(name: &str) -> Result<Option<UserDevice>, Failure> {
    let unread = |error: io::Error| Failure::Usage(format!("{name}: the device cannot be read: {error}"));
    if !spec::is_path(name) {
        return Ok(Shipped.find(Shelf::Device, name).map(|found| UserDevice {
            label: found.label.into_owned(),
            text: found.text.into_owned(),
            states_link: true,
        }));
    }
    let text = fs::read_to_string(units::name::path(name)).map_err(unread)?;
    if disksim::is_disksim(&text) {
        let drive = disksim::drive(name, &text, &mut beside(name));
        let drive = drive.map_err(|error| Failure::Usage(error.to_string()))?;
        return Ok(Some(UserDevice { label: name.into(), text: drive.text, states_link: drive.states_link }));
    }
    let is_device = spec::is_device(&LIBRARY, name, &text);
    Ok(is_device.then(|| UserDevice { label: name.into(), text, states_link: true }))
}

/// A device's description.
#[derive(Clone, Debug)]
pub struct UserDevice {
    /// What errors call it.
    pub label: String,
    /// TOML, as a file of `devices/` is written.
    pub text: String,
    /// Whether the text says how fast its interface is; a description of DiskSim's may leave that to the host.
    pub states_link: bool,
}

/// The address of the one virtual array among `targets`; `None` where all of them are real.
pub fn address(targets: &[String]) -> Result<Option<&str>, Failure> {
    match targets {
        [one] if one.starts_with("array:") => Ok(Some(one)),
        several if several.iter().any(|each| each.starts_with("array:")) => {
            let why =
                "a virtual array is a target by itself; give it LUNs by an option: `array:md3000?luns=2`";
            Err(Failure::Usage(why.into()))
        }
        _ => Ok(None),
    }
}

/// Says no to a target that is not there and has the name of a virtual array: it is the array that is meant.
pub fn check_real(targets: &[String]) -> Result<(), Failure> {
    let is_array = |target: &&String| {
        let name = target.split('?').next().unwrap_or_default();
        !Path::new(target).exists() && Shipped.find(Shelf::Array, name).is_some()
    };
    targets.iter().find(is_array).map_or(Ok(()), |name| {
        let why = format!(
            "{name}: no such file, directory or device; the virtual array of that name is `array:{name}`, and `--create` makes \
             a file"
        );
        Err(Failure::Usage(why))
    })
}

/// The library that every verb uses.
pub const LIBRARY: Layered<Files, Shipped> = Layered { first: Files, then: Shipped };
