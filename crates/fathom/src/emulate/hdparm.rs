//! `fathom as hdparm -t -T --direct --offset N DEVICE…`

use conduct::Event;
use formats::Refusal;
use formats::hdparm::{CACHED, Command, DISK, figures, heading};
use real::LookKind;

use super::{Context, Scratch};
use crate::ending::{Ending, Failure};
use crate::input::targets::look;
use crate::output::print;

pub fn run(context: &Context<'_>, arguments: &[String]) -> Result<Ending, Failure> {
    let command = Command::parse(arguments)?;
    // A slip in the second name should not be noticed after the first was timed.
    let mut orders = Vec::with_capacity(command.devices.len());
    for device in &command.devices {
        let found = look(device)?;
        if !matches!(found.kind, LookKind::Device | LookKind::File) {
            let what = format!("{device} is neither a device nor a file");
            return Err(Failure::Tool(Refusal::Usage { tool: "hdparm", what }));
        }
        orders.push(command.translate(device, found.size.get(), found.kind == LookKind::File)?);
    }
    for (device, order) in command.devices.iter().zip(&orders) {
        let session = context.open("hdparm", order, Scratch::default())?;
        print(&heading(device))?;
        let mut lost = Ok(());
        let recorded = session.measure(&mut |event| {
            let text = match event {
                Event::PointStarted { name, .. } => command.label(name),
                Event::PointEnded { point } if [CACHED, DISK].contains(&point.name.as_str()) => {
                    figures(point)
                }
                _ => return,
            };
            if lost.is_ok() {
                lost = print(&text);
            }
        });
        lost?;
        let ending = context.end(recorded);
        if ending.code != 0 {
            return Ok(ending);
        }
    }
    Ok(Ending::done())
}
