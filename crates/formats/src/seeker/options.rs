//! seeker's command line: a device, and perhaps how many threads.

use crate::Refusal;

const TOOL: &str = "seeker";

/// All of its words.
pub(crate) const USAGE: &str = "usage: seeker DEVICE [THREADS|auto]";

/// A command line of seeker: `seeker DEVICE [THREADS]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// What is read.
    pub device: String,
    /// How many seek at once.
    pub seekers: Seekers,
}

/// How many seek at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seekers {
    /// One, and the output of version 2.0.
    One,
    /// So many threads, and the output of version 3.0.
    Threads(u32),
    /// 1, 2, 4 and so on until more of them seek no more often. Not in the original.
    UntilFlat,
}

impl Command {
    /// Reads the arguments after the tool's name. There are no options.
    pub fn parse(arguments: &[String]) -> Result<Command, Refusal> {
        let (device, threads) = match arguments {
            [device] => (device, None),
            [device, threads] => (device, Some(threads)),
            _ => return Err(Refusal::usage(TOOL, USAGE)),
        };
        if device.starts_with('-') {
            return Err(Refusal::unknown(TOOL, device, &[]));
        }
        let seekers = match threads.map(String::as_str) {
            None => Seekers::One,
            Some("auto") => Seekers::UntilFlat,
            Some(text) => match text.parse() {
                Ok(threads @ 1..=1024) => Seekers::Threads(threads),
                _ => {
                    let want =
                        "a whole number from 1 to 1024, or `auto` for more and more until it no longer pays";
                    return Err(Refusal::value(TOOL, "THREADS", text, want));
                }
            },
        };
        Ok(Command { device: device.clone(), seekers })
    }
}
