//! TOML as a user writes it, plans, arrays and devices, parts: a tree whose every key and value knows its place, read
//! by type.
//!
//! [`parse`] makes a [`Table`] of a text. [`Fields`] reads a table whose keys are known beforehand; who looks keys up
//! by rules of its own asks each [`Node`] for its value. What is wrong goes to [`Mistakes`], and comes out of it as
//! [`Errors`]: all of them, each with its place, the line as typed, a pointer, and what would be right.
//!
//! **Invariant:** a mistake has a place, and no value comes out of a document with a mistake
//! ([`Mistakes::into_result`]). Knows no key and opens no file; no text whatever makes it panic.

mod error;
mod fields;
mod figure;
mod mistakes;
mod nearest;
mod read;
mod source;
mod tree;

pub use error::{Errors, Mistake, Weight};
pub use fields::Fields;
pub use figure::{Basis, Confidence, Fitted, figures};
pub use mistakes::{Mistakes, Wrong};
pub use nearest::{nearest, slips_within};
pub use read::{Read, one_or_more};
pub use source::{SourceText, TextSpan};
pub use tree::{Key, Node, Table, Value, argument, implied, parse, value};
