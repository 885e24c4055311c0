//! `fathom explain`: what the evidence of a run supports, at length.

use std::path::PathBuf;

use crate::cli::{ExplainArgs, TreeFormat};
use crate::ending::{Ending, Failure};
use crate::terminal;
use crate::verbs::{keep, parts, what_if};

/// Judges a kept run by the rules of this program, whatever it was judged by before. The library is not changed.
pub fn explain(arguments: &ExplainArgs, store: &Option<PathBuf>) -> Result<Ending, Failure> {
    let mut run = keep::open(store)?.get(arguments.run.as_str())?;
    if run.path.is_empty() && arguments.parts.is_some() {
        let why = match run.world {
            record::World::Array => {
                "was on a virtual array, whose model knows every part and its ceiling: `fathom array show` lists them, and \
                 the address changes them, as in array:md3000?link.rate=2GB/s"
            }
            record::World::Host => "has no path to its media that --parts could complete",
        };
        return Err(Failure::Usage(format!("run {} {why}", run.id)));
    }
    parts::apply(arguments.parts.as_deref(), &mut run.path)?;
    explain::judge(&mut run);
    let tried = if arguments.what_if { Some(what_if::try_parts(arguments, &run)?) } else { None };
    let found = tried.as_ref().and_then(|tried| explain::what_if(&run, tried));
    run.findings.extend(found);
    let text = match arguments.format {
        TreeFormat::Text => {
            let style = terminal::style(&arguments.look);
            let mut text = report::explained(&run, style);
            let tables = [
                report::shares(&run, style),
                tried.map_or(String::new(), |one| report::what_if(&one, style)),
            ];
            tables.iter().filter(|table| !table.is_empty()).for_each(|table| {
                text.push('\n');
                text += table;
            });
            text
        }
        TreeFormat::Json => {
            let json = serde_json::to_string_pretty(&run.findings);
            json.map_err(|source| Failure::System { what: "writing JSON".into(), source: source.into() })?
                + "\n"
        }
    };
    terminal::print(&text).map_err(|source| Failure::System { what: "writing to stdout".into(), source })?;
    Ok(Ending::done())
}
