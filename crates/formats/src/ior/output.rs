//! Any record that has reads or writes of blocks, as IOR prints it.

use record::{Point, Run};
use workload::spec::{Extent, Files, Pattern, Span};

use super::job::Job;
use super::options::{Command, Offsets, Shape};
use super::text::{Access, Row, Sheet};
use crate::{NoFigures, Output, point};

/// Tables for people.
pub const TEXT: Output = Output {
    name: "ior",
    ending: "ior.txt",
    about: "a line for each point that reads or writes, as IOR prints it",
    write: text,
};
/// One object.
pub const JSON: Output = Output {
    name: "ior-json",
    ending: "ior.json",
    about: "the same as IOR's summaryFormat=JSON",
    write: json,
};
/// A line for each point.
pub const CSV: Output =
    Output { name: "ior-csv", ending: "ior.csv", about: "the same as IOR's summaryFormat=CSV", write: csv };

fn text(run: &Run) -> Result<String, NoFigures> {
    let (sheet, rows) = sheet(run, TEXT.name)?;
    let lines: String = rows.iter().map(|row| sheet.line(row)).collect();
    Ok(sheet.heading() + &lines + &sheet.summary(&rows, &finished(run)))
}

fn json(run: &Run) -> Result<String, NoFigures> {
    let (sheet, rows) = sheet(run, JSON.name)?;
    Ok(sheet.json(&rows, &finished(run)))
}

fn csv(run: &Run) -> Result<String, NoFigures> {
    let (sheet, rows) = sheet(run, CSV.name)?;
    let lines: String = rows.iter().map(|row| sheet.csv_line(row)).collect();
    Ok(Sheet::csv_heading().to_owned() + &lines)
}

fn finished(run: &Run) -> String {
    crate::fio::ctime(run.ended.as_deref().unwrap_or(&run.started))
}

/// The rows that a run has, the points of one name counted from 0, and what stands around them.
fn sheet(run: &Run, format: &'static str) -> Result<(Sheet, Vec<Row>), NoFigures> {
    let mut rows: Vec<Row> = Vec::new();
    let mut first: Option<&Point> = None;
    let mut filling_s = 0.0;
    for point in &run.points {
        let Some(mut row) = Row::of(point, 0) else { continue };
        if Job::is_prefill(&point.name) {
            filling_s += row.seconds;
            continue;
        }
        let own = shape(run, point, &[row]);
        row.sizes = Some([own.block, own.transfer]);
        row.seconds += std::mem::take(&mut filling_s);
        row.iteration =
            units::convert::narrow(rows.iter().filter(|other| other.access == row.access).count());
        first.get_or_insert(point);
        rows.push(row);
    }
    NoFigures::when(
        rows.is_empty(),
        format,
        "IOR reads or writes blocks, and no point does only one of both",
    )?;
    let first = first.expect("a row is that of a point");
    let has = |access: Access| rows.iter().any(|row| row.access == access);
    let asked = Command {
        shape: shape(run, first, &rows),
        reads: has(Access::Read),
        writes: has(Access::Write),
        ..Command::new(&[])
    };
    let sheet = Sheet {
        asked,
        command: run.command.join(" "),
        hostname: run.environment.hostname.clone(),
        hosts: point::hosts(first),
        hog: None,
        file_system: None,
        began: crate::fio::ctime(&run.started),
    };
    Ok((sheet, rows))
}

/// What the workload of `point` comes to in IOR's words.
fn shape(run: &Run, point: &Point, rows: &[Row]) -> Shape {
    assert!(!rows.is_empty() && !point.workloads.is_empty(), "a row is of a workload");
    let workload = &point.workloads[0];
    let spec = &workload.spec;
    let tasks = point.workloads.iter().map(|workload| workload.spec.workers).sum::<u32>().max(1);
    let transfer = point::classes(point).map(|class| class.size_bytes).max().unwrap_or(1).max(1);
    let of_task = rows[0].bytes / u64::from(tasks);
    let block = match (&spec.pattern, &spec.span) {
        (Pattern::StrideOf { run, .. }, _) => run.get(),
        (_, Span::Of(Extent::Bytes(span))) if spec.worker_offset.is_some() => span.get(),
        _ => of_task,
    };
    let repetitions = rows.iter().map(|row| row.iteration + 1).max().unwrap_or(1);
    Shape {
        file: run.targets.first().map(|target| target.address.clone()).unwrap_or_default(),
        tasks,
        block: block.max(1),
        transfer,
        segments: (of_task / block.max(1)).max(1),
        file_per_task: matches!(spec.files, Files::PerWorker(_)),
        offsets: if point::is_in_order(&spec.pattern) { Offsets::InOrder } else { Offsets::Shuffled },
        repetitions,
        ..Command::new(&[]).shape
    }
}
