//! `fathom as mdtest -n … -d DIRECTORY`

use conduct::Event;
use formats::Refusal;
use formats::mdtest::{Command, Sheet, Tally, Test};
use jiff::Zoned;
use real::LookKind;

use super::{Context, Scratch, file_system};
use crate::ending::{Ending, Failure};
use crate::input::arrays;
use crate::input::targets::look;
use crate::output::print;
use crate::session::ranks;

pub fn run(context: &Context<'_>, arguments: &[String]) -> Result<Ending, Failure> {
    if let Some(ending) = ranks::serve(|| {
        context.ready("mdtest", &asked(arguments)?.translate(), Scratch::default(), Vec::new(), true)
    }) {
        return Ok(ending);
    }
    let command = asked(arguments)?;
    let session = context.open("mdtest", &command.translate(), Scratch::default())?;
    let is_array = arrays::address(std::slice::from_ref(&command.directory))?.is_some();
    let file_system = if is_array { None } else { file_system(&command.directory) };
    let sheet = Sheet { hosts: ranks::hosts(), file_system, ..Sheet::of(&command) };
    print(&sheet.heading(&now()))?;
    let mut tally = Tally::default();
    let mut under_way = None;
    let recorded = session.measure(&mut |event| match event {
        Event::PointStarted { name, .. } => under_way = Test::phase(name),
        Event::PointEnded { point } => {
            if let Some((test, _)) = under_way.take() {
                tally.add(test, point);
            }
        }
        _ => {}
    });
    print(&sheet.table(&tally, &now()))?;
    Ok(context.end(recorded))
}

/// The command line; under a launcher each of its processes is a task, unless `--tasks` has fewer take part.
fn asked(arguments: &[String]) -> Result<Command, Failure> {
    let command = Command::parse(arguments, ranks::count())?;
    let is_array = arrays::address(std::slice::from_ref(&command.directory))?.is_some();
    if !is_array && look(&command.directory)?.kind != LookKind::Directory {
        let what = format!("{} is no directory; `-d` names one that is there", command.directory);
        return Err(Failure::Tool(Refusal::Usage { tool: "mdtest", what }));
    }
    Ok(command)
}

fn now() -> String {
    Zoned::now().strftime("%m/%d/%Y %H:%M:%S").to_string()
}
