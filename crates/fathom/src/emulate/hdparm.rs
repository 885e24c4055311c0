//! `fathom as hdparm -t -T --direct --offset N DEVICE…`, and what a drive is asked: `-a -g -i -I -r …`

use conduct::Event;
use formats::Refusal;
use formats::hdparm::{CACHED, Command, DISK, figures, heading};
use real::LookKind;

use super::{Context, Scratch, hdparm_query};
use crate::ending::{Ending, Failure};
use crate::input::targets::look;
use crate::output::print;

pub fn run(context: &Context<'_>, arguments: &[String]) -> Result<Ending, Failure> {
    let command = Command::parse(arguments)?;
    if let Some(what) = &command.alone {
        return hdparm_query::alone(what);
    }
    // A slip in the second name should not be noticed after the first was timed.
    let mut orders = Vec::with_capacity(command.devices.len());
    for device in &command.devices {
        let found = look(device)?;
        if !matches!(found.kind, LookKind::Device | LookKind::File) {
            let what = format!("{device} is neither a device nor a file");
            return Err(Failure::Tool(Refusal::Usage { tool: "hdparm", what }));
        }
        if device.starts_with("array:") && !command.asked.is_empty() {
            let what =
                format!("{device} is timed by `-t` and `-T`; a virtual array has no drive that answers");
            return Err(Failure::Tool(Refusal::Usage { tool: "hdparm", what }));
        }
        let order = match command.times() {
            true => Some(command.translate(device, found.size.get(), found.kind == LookKind::File)?),
            false => None,
        };
        orders.push((order, found.size.get()));
    }
    assert_eq!(orders.len(), command.devices.len(), "each device was looked at");
    let mut ending = Ending::done();
    for (device, (order, size)) in command.devices.iter().zip(&orders) {
        let session =
            order.as_ref().map(|order| context.open("hdparm", order, Scratch::default())).transpose()?;
        if session.is_some() || !command.asked.is_empty() {
            print(&heading(device))?;
        }
        let answered = hdparm_query::answer(&command, device, *size)?;
        if answered.code != 0 {
            ending = answered;
        }
        let Some(session) = session else { continue };
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
        let timed = context.end(recorded);
        if timed.code != 0 {
            return Ok(timed);
        }
    }
    Ok(ending)
}
