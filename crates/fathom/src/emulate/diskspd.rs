//! `fathom as diskspd -b8K -d60 -o8 -t2 -r -w30 -Sh -L -c10G FILE…`

use formats::TargetInfo;
use formats::diskspd::{Command, Format, asked_for, profile_arguments, text, xml};
use real::{Expansion, LookKind, PlainFile};
use units::Bytes;

use super::{Context, Scratch};
use crate::ending::{Ending, Failure};
use crate::input::targets::look_all;
use crate::output::print;

pub fn run(context: &Context<'_>, arguments: &[String]) -> Result<Ending, Failure> {
    let arguments = match arguments {
        [only] if only.len() > 2 && only.starts_with("-X") => read_profile(&only[2..])?,
        all => match all.iter().find(|word| word.len() > 2 && word.starts_with("-X")) {
            Some(word) => {
                return Err(Failure::Usage(format!("diskspd: `{word}`: a profile takes no other options")));
            }
            None => all.to_vec(),
        },
    };
    let command = Command::parse(&arguments, context.seed())?;
    if command.only_profile {
        print(&asked_for(&command))?;
        return Ok(Ending::done());
    }
    let names: Vec<&str> = command.targets.iter().map(String::as_str).collect();
    let looks = look_all("diskspd", &names)?;
    let found: Vec<TargetInfo> =
        looks.iter().map(|look| TargetInfo::sized(look.size.get(), look.kind == LookKind::Device)).collect();
    let sizes = command.sizes(&found)?;
    assert_eq!(sizes.len(), found.len(), "each target has a size");
    let plain = |size: &u64| {
        let size = Bytes::new(*size);
        PlainFile {
            size,
            expand: command.create.map(|_| Expansion::Zeros),
            cut: command.create.map(Bytes::new),
            keep: true,
            ..PlainFile::default()
        }
    };
    let plain: Vec<PlainFile> = match found.iter().any(|found| !found.is_fixed()) {
        true => sizes.iter().map(plain).collect(),
        false => Vec::new(),
    };
    let scratch = Scratch { plain, ..Scratch::default() };
    let session = context.open("diskspd", &command.translate(&sizes)?, scratch)?;
    let recorded = session.measure(&mut |_| {});
    let run = &recorded.run;
    print(&match command.format {
        Format::Text => text(&command, run, &sizes),
        Format::Xml => xml(&command, run, &sizes),
    })?;
    Ok(context.end(recorded))
}

/// The arguments that an XML profile stands for.
fn read_profile(path: &str) -> Result<Vec<String>, Failure> {
    let text = std::fs::read_to_string(units::name::path(path))
        .map_err(|error| Failure::Usage(format!("diskspd: {path}: the profile cannot be read: {error}")))?;
    Ok(profile_arguments(path, &text)?)
}
