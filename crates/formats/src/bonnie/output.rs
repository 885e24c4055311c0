//! Bonnie++'s outputs of any run that has some of its figures.

use record::Run;
use units::convert::truncated;

use super::figures::is_random;
use super::{CHUNK, Figures, FileTest, Generation, Sheet, Test};
use crate::{NoFigures, Output};

/// The table of 1.03, and its line.
pub const TEXT_103: Output = Output {
    name: "bonnie-1.03-text",
    ending: "bonnie-1.03.txt",
    about: "the table and the line of Bonnie++ 1.03e",
    write: |run| text("bonnie-1.03-text", Generation::V103, run),
};

/// The line of 1.03.
pub const CSV_103: Output = Output {
    name: "bonnie-1.03",
    ending: "bonnie-1.03.csv",
    about: "the line of 27 columns of Bonnie++ 1.03e",
    write: |run| line("bonnie-1.03", Generation::V103, run),
};

/// The table of 2.00, and its line.
pub const TEXT_200: Output = Output {
    name: "bonnie-text",
    ending: "bonnie.txt",
    about: "the table and the line of Bonnie++ 2.00a",
    write: |run| text("bonnie-text", Generation::V200, run),
};

/// The line of 2.00.
pub const CSV_200: Output = Output {
    name: "bonnie",
    ending: "bonnie.csv",
    about: "the line of 50 columns of Bonnie++ 2.00a, for bon_csv2html and bon_csv2txt",
    write: |run| line("bonnie", Generation::V200, run),
};

fn text(format: &'static str, generation: Generation, run: &Run) -> Result<String, NoFigures> {
    let (sheet, figures) = found(format, generation, run)?;
    Ok(sheet.table(&figures) + &sheet.line(&figures))
}

fn line(format: &'static str, generation: Generation, run: &Run) -> Result<String, NoFigures> {
    let (sheet, figures) = found(format, generation, run)?;
    Ok(sheet.line(&figures))
}

fn found(format: &'static str, generation: Generation, run: &Run) -> Result<(Sheet, Figures), NoFigures> {
    let figures = Figures::of(&run.points);
    let (no_blocks, no_files) = figures.are_missing();
    if no_blocks && no_files {
        let why = "no point writes, rewrites or reads one stream, seeks, or creates, stats or removes files; \
                   `fathom run bonnie` has such points";
        return Err(NoFigures { format, why: why.into() });
    }
    let workloads = || run.points.iter().flat_map(|point| &point.workloads);
    let block =
        [Test::Write, Test::Read, Test::Rewrite, Test::Seeks].into_iter().find_map(|test| figures.get(test));
    let span = workloads().filter(|each| is_of_blocks(each)).filter_map(|workload| workload.span_bytes).max();
    let seeks = figures.get(Test::Seeks);
    let seekers = workloads().filter(|each| is_random(&each.spec.pattern));
    let files = figures.get(Test::Create).or(figures.get(Test::Stat)).or(figures.get(Test::Delete));
    Ok((
        Sheet {
            generation,
            name: run.environment.hostname.clone(),
            size_mib: if no_blocks { 0 } else { (span.unwrap_or(0) >> 20).max(1) },
            chunk: block.and_then(|figure| u32::try_from(figure.request).ok()).unwrap_or(CHUNK),
            seeks: seeks.map_or(super::SEEKS, |figure| truncated::<u32>(figure.amount)),
            seekers: seekers.map(|each| each.spec.workers).max().unwrap_or(generation.seekers()),
            copies: 1,
            seed: workloads().find_map(|each| u32::try_from(each.spec.seed).ok()).unwrap_or(0).to_string(),
            files: (!no_files).then(|| FileTest {
                thousands: files
                    .map_or(1, |figure| truncated::<u32>((figure.amount / 1024.0).round().max(1.0))),
                max: files.map_or(0, |figure| figure.request),
                min: 0,
                dirs: 0,
            }),
        },
        figures,
    ))
}

fn is_of_blocks(workload: &record::WorkloadResult) -> bool {
    workload.spec.tree.is_none()
}
