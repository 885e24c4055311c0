//! Where descriptions of virtual arrays come from: the user's own files first, then the shipped library.

use std::borrow::Cow;
use std::fs;

use crate::ending::Failure;
use array::spec::{Layered, Shelf, Shipped, Source, SourceText};

/// Names that are paths: `./my-array.toml`, `/srv/arrays/big.toml`.
#[derive(Clone, Copy, Debug)]
pub struct Files;

impl Source for Files {
    fn find(&self, _: Shelf, name: &str) -> Option<SourceText<'_>> {
        let is_path = name.contains('/') || name.ends_with(".toml");
        let text = is_path.then(|| fs::read_to_string(units::name::path(name)).ok())??;
        Some(SourceText { label: Cow::Owned(name.into()), text: Cow::Owned(text) })
    }

    fn names(&self, _: Shelf) -> Vec<String> {
        Vec::new()
    }
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

/// The library that every verb uses.
pub const LIBRARY: Layered<Files, Shipped> = Layered { first: Files, then: Shipped };
