//! How far a model was from published figures, as a record holds it.

use array::spec::{Address, ArraySpec, Source};
use array::validate::foretold;
use record::Validation;

/// How far the model `spec` of the array at `address`, or those of all arrays, was from published figures that it was not
/// fitted to; `None` where [`foretold`] says nothing of it.
pub fn validation(library: &dyn Source, address: &str, spec: &ArraySpec) -> Option<Validation> {
    let foretold = foretold(library, &Address::parse(address).ok()?, spec)?;
    Some(Validation {
        own_figures: foretold.own_figures,
        is_own: foretold.is_own,
        figures: foretold.figures,
        median_error: foretold.median_error.get(),
        within_25: foretold.within_25.get(),
    })
}
