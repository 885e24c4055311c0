//! Types that the value of a key is read as.

use std::str::FromStr;

use document::{Node, Wrong};
use units::convert::narrow;
use units::{Bytes, Nanos, Share};

use super::{KeyDoc, Kind};
use crate::plan::baseline::Baseline;
use crate::plan::metric::Metric;
use crate::plan::settle::{PointOrder, Settle};
use crate::plan::state::StateWord;
use crate::plan::text::{ContentText, CpuList, Factor, OpList, Ratio};
use crate::spec::steady::Steady;
use crate::spec::{
    EngineKind, Extent, Files, FlushKind, IoPriority, LunLayout, OpenSync, Pace, Pattern, Priorities, Span,
    Stamp, Verify, WriteCommand, WriteHint, ZoneSize,
};
use crate::tree::{FileOp, FilesIn, Fsync, Order, Visitors};

/// A type that the value of a key is read as, within what the key's own kind allows.
pub(crate) trait KeyValue: Sized {
    /// The value, or what is wrong with it.
    fn read(node: &Node, doc: &KeyDoc) -> Result<Self, Wrong>;
}

/// A word or an amount, by the rule of its type.
fn by_text<T>(node: &Node, doc: &KeyDoc) -> Result<T, Wrong>
where
    T: FromStr,
    Wrong: From<T::Err>,
{
    node.read(doc.example.split_once(" = ").map_or(doc.example, |(_, example)| example))
}

macro_rules! by_text {
    ($($type:ty),+ $(,)?) => {$(
        impl KeyValue for $type {
            fn read(node: &Node, doc: &KeyDoc) -> Result<Self, Wrong> {
                by_text(node, doc)
            }
        }
    )+};
}

by_text! {
    Baseline, Bytes, ContentText, CpuList, EngineKind, Extent, Factor, FileOp, Files, FilesIn, FlushKind, Fsync, IoPriority, LunLayout, Metric,
    Nanos, OpList, OpenSync, Order, Pace, Pattern, PointOrder, Priorities, Ratio, Settle, Share, Span, Stamp, StateWord, Steady, Verify, Visitors, WriteCommand, WriteHint, ZoneSize,
}

impl KeyValue for bool {
    fn read(node: &Node, _: &KeyDoc) -> Result<bool, Wrong> {
        node.switch()
    }
}

impl KeyValue for u64 {
    fn read(node: &Node, doc: &KeyDoc) -> Result<u64, Wrong> {
        let Kind::Count(least, most) = doc.kind else { panic!("`{}` is not a count", doc.key) };
        node.count(least..=most)
    }
}

impl KeyValue for u32 {
    fn read(node: &Node, doc: &KeyDoc) -> Result<u32, Wrong> {
        u64::read(node, doc).map(narrow)
    }
}

/// The word of the default stands for none.
impl<T: KeyValue> KeyValue for Option<T> {
    fn read(node: &Node, doc: &KeyDoc) -> Result<Option<T>, Wrong> {
        let is_none = !doc.default.is_empty() && node.is(doc.default);
        if is_none { Ok(None) } else { T::read(node, doc).map(Some) }
    }
}
