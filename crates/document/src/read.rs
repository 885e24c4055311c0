//! Types that a value can be read as.

use std::str::FromStr;

use units::{Bytes, BytesPerSecond, Nanos, OpsPerSecond, Share};

use crate::mistakes::Wrong;
use crate::tree::{Node, Value};

/// A type that a value can be read as. The error says what would be right.
pub trait Read: Sized {
    /// In words, with an example: "a size such as 64KiB".
    const WANT: &'static str;

    /// The value, or what is wrong with it.
    fn read(node: &Node) -> Result<Self, Wrong>;

    /// That `node` is none.
    fn not(node: &Node) -> Wrong {
        Wrong::said(format!("`{}` is not {}", node.shown(), Self::WANT))
    }
}

macro_rules! by_text {
    ($($type:ty: $want:literal),* $(,)?) => {$(
        impl Read for $type {
            const WANT: &'static str = $want;
            fn read(node: &Node) -> Result<Self, Wrong> {
                match &node.value {
                    Value::Text(text) => text.parse().map_err(Wrong::from),
                    _ => Err(Wrong::said(Self::not(node).message + ", in quotes")),
                }
            }
        }
    )*};
}

by_text! {
    Bytes: "a size such as \"64KiB\"",
    Nanos: "a duration such as \"8.2ms\"",
    BytesPerSecond: "a throughput such as \"150MB/s\"",
    OpsPerSecond: "a rate such as \"500/s\"",
    Share: "a share such as \"70%\"",
}

/// A number by its own rule, where one is written.
fn number<T: FromStr + Read>(node: &Node) -> Result<T, Wrong> {
    let digits = match &node.value {
        Value::Integer(digits) | Value::Float(digits) => digits,
        _ => return Err(T::not(node)),
    };
    digits.parse().map_err(|_| T::not(node))
}

impl Read for u32 {
    const WANT: &'static str = "a whole number from 0 on";
    fn read(node: &Node) -> Result<Self, Wrong> {
        number(node)
    }
}

impl Read for i64 {
    const WANT: &'static str = "a whole number";
    fn read(node: &Node) -> Result<Self, Wrong> {
        number(node)
    }
}

impl Read for f64 {
    const WANT: &'static str = "a number";
    fn read(node: &Node) -> Result<Self, Wrong> {
        number(node)
            .and_then(|number: f64| if number.is_finite() { Ok(number) } else { Err(Self::not(node)) })
    }
}

impl Read for String {
    const WANT: &'static str = "a text in quotes";
    fn read(node: &Node) -> Result<Self, Wrong> {
        if let Value::Text(text) = &node.value { Ok(text.clone()) } else { Err(Self::not(node)) }
    }
}

impl Read for bool {
    const WANT: &'static str = "true or false";
    fn read(node: &Node) -> Result<Self, Wrong> {
        if let Value::Bool(on) = node.value { Ok(on) } else { Err(Self::not(node)) }
    }
}

impl<T: Read> Read for Vec<T> {
    const WANT: &'static str = "a list in brackets";
    fn read(node: &Node) -> Result<Self, Wrong> {
        let Value::List(items) = &node.value else { return Err(Self::not(node)) };
        let item = |item: &Node| match item.value {
            Value::Table(_) => {
                let message = format!("expected {} in the list, got a table", T::WANT);
                Err(Wrong::said(message).at(&item.place))
            }
            _ => T::read(item).map_err(|wrong| wrong.at(&item.place)),
        };
        items.iter().map(item).collect()
    }
}

impl<A: Read, B: Read> Read for (A, B) {
    const WANT: &'static str = "a pair in brackets";
    fn read(node: &Node) -> Result<Self, Wrong> {
        let is_table = |node: &Node| matches!(node.value, Value::Table(_));
        match &node.value {
            Value::List(items) if items.len() == 2 && !items.iter().any(is_table) => {
                Ok((A::read(&items[0])?, B::read(&items[1])?))
            }
            _ => Err(Wrong::said(format!("{} ({}, {})", Self::not(node).message, A::WANT, B::WANT))),
        }
    }
}

/// One value, or a list of them.
pub fn one_or_more<T: Read>(node: &Node) -> Result<Vec<T>, Wrong> {
    if let Value::List(_) = node.value { Read::read(node) } else { Ok(vec![T::read(node)?]) }
}
