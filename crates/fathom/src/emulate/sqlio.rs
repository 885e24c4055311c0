//! `fathom as sqlio -kR … FILE…`, `-Fparam.txt`

use std::fs;

use conduct::Event;
use formats::sqlio::{Command, Figures, initialised, preamble, read_params, result};
use formats::{Refusal, TargetInfo};
use real::{Expansion, LookKind, PlainFile};
use units::Bytes;

use super::{Context, Scratch};
use crate::ending::{Ending, Failure};
use crate::input::targets::look_all;
use crate::output::print;

pub fn run(context: &Context<'_>, arguments: &[String]) -> Result<Ending, Failure> {
    let command = Command::parse(arguments)?;
    let of_file = match &command.params {
        None => Vec::new(),
        Some(path) => {
            let text = fs::read_to_string(units::name::path(path))
                .map_err(|error| usage(format!("{path}: {error}")))?;
            read_params(path, &text)?
        }
    };
    let lines = command.lines(&of_file);
    let names: Vec<&str> = lines.iter().map(|line| line.name.as_str()).collect();
    let looks = look_all("sqlio", &names)?;
    let found: Vec<TargetInfo> =
        looks.iter().map(|look| TargetInfo::sized(look.size.get(), look.kind == LookKind::Device)).collect();
    let files = command.files(&of_file, &found)?;
    assert_eq!(files.len(), found.len(), "each file was looked at");
    let plain = |(file, found): (&formats::sqlio::File, &TargetInfo)| PlainFile {
        size: Bytes::new(file.needs.max(found.size)),
        expand: file.expands().then_some(Expansion::Zeros),
        keep: true,
        ..PlainFile::default()
    };
    let plain: Vec<PlainFile> = match found.iter().any(|found| !found.is_fixed()) {
        true => files.iter().zip(&found).map(plain).collect(),
        false => Vec::new(),
    };
    let scratch = Scratch { plain, ..Scratch::default() };
    let session = context.open("sqlio", &command.translate(&files, context.seed())?, scratch)?;
    print(&preamble(&command, &files))?;
    let (mut begun, mut lost) = (false, Ok(()));
    let recorded = session.measure(&mut |event| {
        let mut text = String::new();
        let loads = matches!(event, Event::Live { live, .. } if live.doing == "load");
        if !begun && (loads || matches!(event, Event::PointEnded { .. })) {
            begun = true;
            text += &initialised(&files);
        }
        if let Event::PointEnded { point } = event {
            text += &result(&Figures::of(point), command.timer.is_some());
        }
        if lost.is_ok() && !text.is_empty() {
            lost = print(&text);
        }
    });
    lost?;
    Ok(context.end(recorded))
}

fn usage(what: String) -> Failure {
    Failure::Tool(Refusal::Usage { tool: "sqlio", what })
}
