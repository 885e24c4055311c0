//! `fathom as iozone -a …`

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;

use conduct::Event;
use formats::Refusal;
use formats::iozone::{self, Cell, Command, Row, Storage, Table, Throughput, Throughputs};
use jiff::Zoned;
use real::{Expansion, LookKind, PlainFile};
use record::Point;
use units::Bytes;
use units::convert::narrow;

use super::latencies::Latencies;
use super::{Context, Scratch};
use crate::ending::{Ending, Failure};
use crate::input::targets::look;
use crate::input::traces;
use crate::output::print;

pub fn run(context: &Context<'_>, arguments: &[String]) -> Result<Ending, Failure> {
    let mut command = Command::parse(arguments)?;
    let telemetry: Vec<String> = command.telemetry().map(|telemetry| telemetry.file.clone()).collect();
    for file in telemetry {
        command.see(&file, &traces::read(&file)?)?;
    }
    let command = command;
    if let Some(path) = command.workbook.as_deref().filter(|path| Path::new(path).exists()) {
        return usage(format!("{path} is there; `-b` writes a workbook of its own"));
    }
    let storage = storage(&command)?;
    let order = command.translate(storage)?;
    let files = match storage {
        Storage::Files { .. } => vec![plain_file(&command); order.targets.len()],
        Storage::Device { .. } => Vec::new(),
    };
    let scratch = Scratch { plain: files, ..Scratch::default() };
    let mut session = context.open("iozone", &order, scratch)?;
    let latencies = Latencies::new(session.kind() == record::World::Host);
    if command.latencies {
        session.tell(Box::new(latencies.clone()));
    }
    print(&command.banner(&Zoned::now().strftime("%a %b %e %H:%M:%S %Y").to_string()))?;
    match command.children.first() {
        None => print(&command.header())?,
        Some(first) => print(&command.throughput_heading(*first))?,
    }
    let mut words = Words::of(&command);
    let mut lost = Ok(());
    let recorded = session.measure(&mut |event| {
        if let Event::PointStarted { name, .. } = event {
            latencies.begin(name);
        }
        if let (Event::PointEnded { point }, true) = (event, lost.is_ok()) {
            lost = print(&words.hear(point));
        }
    });
    lost?;
    if let Some(what) = latencies.finish() {
        return Ok(Ending { code: 5, reason: what });
    }
    print(&words.end())?;
    if let Some(path) = &command.workbook {
        write_new(path, &iozone::workbook(&words.reports()))?;
    }
    Ok(context.end(recorded))
}

/// How each file is treated: made and removed again, but for `-w`, as IOzone does.
fn plain_file(command: &Command) -> PlainFile {
    PlainFile {
        size: Bytes::new(command.largest_file()),
        expand: command.mapped.then_some(Expansion::Zeros),
        whole: !command.children.is_empty(),
        cut: command.empties().then_some(Bytes::ZERO),
        keep: command.keep,
        ..PlainFile::default()
    }
}

/// What the targets are; all of them of one kind, and there where they are only read.
fn storage(command: &Command) -> Result<Storage, Failure> {
    let first = look(&command.first_target())?;
    let is_device = first.kind == LookKind::Device;
    let storage = match is_device {
        true => Storage::Device { size: first.size.get() },
        false => Storage::Files { remote: first.remote },
    };
    for name in command.targets(storage) {
        let found = look(&name)?;
        match found.kind {
            LookKind::Directory => {
                return usage(format!("{name} is a directory; name a file in it, such as {name}/iozone.tmp"));
            }
            kind if (kind == LookKind::Device) != is_device => {
                return usage(format!("{name}: devices and files are not measured together"));
            }
            LookKind::NewFile if !command.makes_files() => {
                return usage(format!(
                    "{name}: there is no such file; the first test must write it (`-i 0`), or an earlier call leaves \
                     it (`-i 0 -w`)"
                ));
            }
            LookKind::File if !command.makes_files() && found.size.get() < command.largest_file() => {
                let (has, need) = (found.size.get(), command.largest_file());
                return usage(format!(
                    "{name} has {has} bytes, and {need} are to be read; the first test must write it (`-i 0`)"
                ));
            }
            _ => {}
        }
    }
    Ok(storage)
}

fn usage<T>(what: String) -> Result<T, Failure> {
    Err(Failure::Tool(Refusal::Usage { tool: "iozone", what }))
}

fn write_new(path: &str, bytes: &[u8]) -> Result<(), Failure> {
    let opened = OpenOptions::new().write(true).create_new(true).open(path);
    let written = opened.and_then(|mut file| file.write_all(bytes));
    written.map_err(Failure::system(format!("writing {path}")))
}

/// What is said, from point to point.
struct Words<'a> {
    command: &'a Command,
    row: Row,
    table: Table,
    /// What processors were busy, where that is asked for.
    busy: Table,
    /// Of which count the heading stands above.
    children: Option<u32>,
    sums: Throughputs,
}

impl Words<'_> {
    fn of(command: &Command) -> Words<'_> {
        let children = command.children.first().copied();
        Words {
            command,
            row: Row::default(),
            table: Table::default(),
            busy: Table::default(),
            children,
            sums: Vec::new(),
        }
    }

    /// What a point adds to the output; nothing for what is not timed.
    fn hear(&mut self, point: &Point) -> String {
        if !point.complete {
            return String::new();
        }
        if let Some(Cell { pair, pass, timed, cpu }) = Cell::of_own(point) {
            let figure = timed.whole(self.command.unit);
            if let Some(cpu) = cpu.filter(|_| self.command.shows_cpu) {
                self.busy.add(pair, pass, cpu);
            }
            self.table.add(pair, pass, figure);
            return self.row.add(pair, pass, figure);
        }
        let Some(result) = Throughput::of(point) else { return String::new() };
        let (sum, test) = (result.sum(self.command.unit), result.test);
        match self.sums.iter_mut().find(|(with, _)| *with == test) {
            Some((_, sums)) => sums.push(sum),
            None => self.sums.push((test, vec![sum])),
        }
        let children = narrow::<u32>(result.children.len());
        debug_assert!(children > 0, "a throughput is that of children");
        let heading = match self.children.replace(children) == Some(children) {
            true => String::new(),
            false => format!("\n{}", self.command.throughput_heading(children)),
        };
        heading + &self.command.throughput_lines(&result)
    }

    fn end(&self) -> String {
        let command = self.command;
        match (command.children.is_empty(), command.excel) {
            (true, false) => format!("{}{}", self.row.end(), iozone::END),
            (true, true) => {
                format!("{}{}{}", self.row.end(), iozone::END, iozone::text(&self.reports()))
            }
            (false, false) => format!("\n{}", iozone::END),
            (false, true) => {
                let report = iozone::several(command, &self.sums);
                format!("\n\n{}{}", iozone::several_text(&report), iozone::END)
            }
        }
    }

    fn reports(&self) -> Vec<iozone::Report> {
        let grid = &self.command.grid;
        match self.command.children.is_empty() {
            true => {
                let (files, records) = (grid.file_sizes(), grid.record_sizes());
                let mut reports = iozone::single(&self.table, &files, &records);
                reports.extend(iozone::processors(&self.busy, &files, &records));
                reports
            }
            false => vec![iozone::several(self.command, &self.sums)],
        }
    }
}
