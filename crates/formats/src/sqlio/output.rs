//! What SQLIO 1.5.SG prints.
//!
//! Latencies are whole milliseconds, cut off, as in the original; the record has them to the nanosecond.

use record::{Point, Run};
use stats::Histogram;
use units::convert::{narrow, truncated};

use super::{Access, Buffering, Command, File};
use crate::{NoFigures, Output, point};

/// Bins of the histogram: 0 to 23 ms, and all above.
const BINS: usize = 25;

/// The lines before the load, down to where sizes are known and the file is about to be expanded.
pub fn preamble(command: &Command, files: &[File]) -> String {
    let mut text = "sqlio v1.5.SG\n".to_owned();
    if let Some(timer) = command.timer {
        text += &format!("using {timer} counter for latency timings, 1000000000 counts per second\n");
    }
    text += &parameters(command, files);
    let threads = match command.params {
        Some(_) => files.iter().map(|file| file.threads).sum(),
        None => command.threads,
    };
    let (doing, way) = if command.writes { ("writing", "to") } else { ("reading", "from") };
    text += &format!("{} {doing} for {} secs {way} {}\n", plural(threads), command.seconds, list(files));
    let kb = command.block_kib;
    text += &match command.access {
        Access::Random => format!("\tusing {kb}KB random IOs\n"),
        Access::Sequential => format!("\tusing {kb}KB sequential IOs\n"),
        Access::Stripe { blocks, rows } => {
            format!(
                "\tusing {kb}KB IOs over {}KB stripes with {rows} IOs per run\n",
                u64::from(kb) * u64::from(blocks)
            )
        }
    };
    if let Some(outstanding) = command.outstanding {
        text += &format!("\tenabling multiple I/Os per thread with {outstanding} outstanding\n");
    }
    if command.says_buffering {
        text += match command.buffering {
            Buffering::None => "\tbuffering set to not use file nor disk caches (as is SQL Server)\n",
            Buffering::Both => "\tbuffering set to use both file and disk caches\n",
            Buffering::Hardware => "\tbuffering set to use hardware disk cache (but not file cache)\n",
            Buffering::Software => {
                "\tbuffering set to use software file cache (but not hardware disk cache)\n"
            }
        };
    }
    for file in files.iter().filter(|file| file.expands()) {
        let File { name, needs, found, .. } = file;
        assert!(needs > found, "what is expanded becomes larger");
        text += &format!(
            "size of file {name} needs to be: {needs} bytes\ncurrent file size:\t{found} bytes\nneed to expand by:\t{} \
             bytes\nexpanding {name} ...",
            needs - found
        );
        // The last of them is done once it is; the others cannot be told apart from it.
        text += if std::ptr::eq(file, last_expanded(files)) { "" } else { " done.\n" };
    }
    text
}

/// The threads of each file, where a parameter file says them.
fn parameters(command: &Command, files: &[File]) -> String {
    let Some(params) = &command.params else { return String::new() };
    let mut text = format!("parameter file used: {params}\n");
    let mut first = 0;
    for File { name, threads, mask, .. } in files {
        let numbers = match threads {
            1 => format!("{first}"),
            _ => format!("{first}-{}", first + threads - 1),
        };
        text +=
            &format!("\tfile {name} with {} ({numbers}) using mask 0x{mask:X} ({mask})\n", plural(*threads));
        first += threads;
    }
    text
}

fn last_expanded(files: &[File]) -> &File {
    files.iter().rfind(|file| file.expands()).unwrap_or(&files[0])
}

/// The lines once files have their sizes.
pub fn initialised(files: &[File]) -> String {
    let mut text = if files.iter().any(File::expands) { " done.\n".to_owned() } else { String::new() };
    for File { name, size, is_specified, .. } in files {
        let which = if *is_specified { "specified" } else { "current" };
        text += &format!("using {which} size: {} MB for file: {name}\n", size >> 20);
    }
    text + "initialization done\n"
}

/// What is counted.
#[derive(Clone, Debug)]
pub struct Figures {
    ios_per_s: f64,
    mib_per_s: f64,
    response: Histogram,
}

impl Figures {
    /// Of a point: all its workloads together.
    pub fn of(point: &Point) -> Figures {
        let mut response = Histogram::new();
        let (mut ios_per_s, mut mib_per_s) = (0.0, 0.0);
        for workload in &point.workloads {
            let seconds = workload.measured_ns.max(1) as f64 / 1e9;
            for class in &workload.classes {
                ios_per_s += class.ops as f64 / seconds;
                mib_per_s += class.bytes as f64 / seconds / f64::from(1 << 20);
                if let Some(histogram) = class.response.to_stats() {
                    response.merge(&histogram);
                }
            }
        }
        Figures { ios_per_s, mib_per_s, response }
    }

    /// The percentages of the bins, cut off.
    fn bins(&self) -> [u64; BINS] {
        let mut counts = [0u64; BINS];
        for bucket in self.response.buckets() {
            let ms = bucket.low().get() / 1_000_000;
            counts[(ms as usize).min(BINS - 1)] += bucket.count;
        }
        debug_assert_eq!(counts.iter().sum::<u64>(), self.response.count(), "each request is in a bin");
        let total = self.response.count().max(1);
        counts.map(|count| narrow::<u64>(u128::from(count) * 100 / u128::from(total)))
    }
}

/// The lines after the load.
pub fn result(figures: &Figures, with_latency: bool) -> String {
    let mut text = format!(
        "CUMULATIVE DATA:\nthroughput metrics:\nIOs/sec: {:8.2}\nMBs/sec: {:8.2}\n",
        figures.ios_per_s, figures.mib_per_s
    );
    if !with_latency {
        return text;
    }
    let ms = |ns: f64| truncated::<u64>(ns / 1e6);
    let of = |nanos: Option<units::Nanos>| ms(nanos.map_or(0.0, |nanos| nanos.get() as f64));
    text += &format!(
        "latency metrics:\nMin_Latency(ms): {}\nAvg_Latency(ms): {}\nMax_Latency(ms): {}\nhistogram:\n",
        of(figures.response.min()),
        ms(figures.response.mean().unwrap_or(0.0)),
        of(figures.response.max())
    );
    text += "ms: 0";
    (1..BINS - 1).for_each(|bin| text += &format!("{bin:3}"));
    text += " 24+\n%:";
    figures.bins().iter().for_each(|percent| text += &format!("{percent:3}"));
    text + "\n"
}

fn plural(threads: u32) -> String {
    format!("{threads} thread{}", if threads == 1 { "" } else { "s" })
}

fn list(files: &[File]) -> String {
    let names: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
    match &names[..] {
        [] => String::new(),
        [one] => format!("file {one}"),
        [first @ .., last] => format!("files {} and {last}", first.join(", ")),
    }
}

/// SQLIO's figures of any run that reads or writes.
pub const OUTPUT: Output = Output {
    name: "sqlio",
    ending: "sqlio.txt",
    about: "rates, latencies and a histogram of each point, as SQLIO prints them",
    write: text,
};

fn text(run: &Run) -> Result<String, NoFigures> {
    let has_figures = |point: &&Point| point.workloads.iter().any(|workload| !workload.classes.is_empty());
    let names: Vec<&str> = run.targets.iter().map(|target| target.address.as_str()).collect();
    let texts: Vec<String> = run
        .points
        .iter()
        .filter(has_figures)
        .map(|point| {
            let (seconds, workers) = size_of(point);
            let files = if names.len() == 1 { "file" } else { "files" };
            format!(
                "sqlio v1.5.SG\nusing system counter for latency timings, 1000000000 counts per second\n{} {} for {seconds} \
                 secs from {files} {}\n\tusing {}\ninitialization done\n{}",
                plural(workers),
                doing(point),
                names.join(", "),
                point.name,
                result(&Figures::of(point), true)
            )
        })
        .collect();
    NoFigures::when(
        texts.is_empty(),
        "sqlio",
        "no point reads or writes; `fathom run sqlio` has such points",
    )?;
    Ok(texts.concat())
}

fn size_of(point: &Point) -> (u64, u32) {
    let workers: usize = point.workloads.iter().map(|workload| workload.workers.len()).sum();
    (truncated::<u64>(point::seconds(point).round()), narrow::<u32>(workers))
}

fn doing(point: &Point) -> &'static str {
    match (point::has(point, record::Op::Read), point::has(point, record::Op::Write)) {
        (true, true) => "reading and writing",
        (false, true) => "writing",
        _ => "reading",
    }
}

#[cfg(test)]
mod tests {
    use units::Nanos;

    use super::*;

    fn figures(ms: &[(u64, u64)]) -> Figures {
        let mut response = Histogram::new();
        for (ms, count) in ms {
            response.record_n(Nanos::from_micros(ms * 1000 + 250), *count);
        }
        Figures { ios_per_s: 26263.98, mib_per_s: 102.593, response }
    }

    #[test]
    fn figures_stand_in_the_columns_of_the_original() {
        let text = result(&figures(&[(0, 22), (1, 43), (2, 22), (3, 6), (4, 2), (12, 1), (30, 4)]), true);
        let expected = "CUMULATIVE DATA:\nthroughput metrics:\nIOs/sec: 26263.98\nMBs/sec:   102.59\nlatency metrics:\n\
                        Min_Latency(ms): 0\nAvg_Latency(ms): 2\nMax_Latency(ms): 30\nhistogram:\n\
                        ms: 0  1  2  3  4  5  6  7  8  9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24+\n\
                        %: 22 43 22  6  2  0  0  0  0  0  0  0  1  0  0  0  0  0  0  0  0  0  0  0  4\n";
        assert_eq!(text, expected);
        let all = result(&figures(&[(0, 10)]), true);
        assert!(
            all.ends_with("%:100  0  0  0  0  0  0  0  0  0  0  0  0  0  0  0  0  0  0  0  0  0  0  0  0\n")
        );
        assert!(result(&figures(&[]), false).ends_with("MBs/sec:   102.59\n"));
    }

    #[test]
    fn the_lines_before_are_those_of_the_original() {
        let words: Vec<String> =
            "-kR -s15 -frandom -o8 -b4 -LS -BH -FG:\\param.txt".split(' ').map(str::to_owned).collect();
        let command = Command::parse(&words).unwrap();
        let file = File {
            name: "G:\\testfile.dat".into(),
            threads: 64,
            mask: 0,
            size: 52_428_800_000,
            needs: 52_428_800_000,
            is_specified: true,
            found: 0,
        };
        let text =
            preamble(&command, std::slice::from_ref(&file)) + &initialised(std::slice::from_ref(&file));
        let expected = "sqlio v1.5.SG\nusing system counter for latency timings, 1000000000 counts per second\n\
                        parameter file used: G:\\param.txt\n\
                        \tfile G:\\testfile.dat with 64 threads (0-63) using mask 0x0 (0)\n\
                        64 threads reading for 15 secs from file G:\\testfile.dat\n\tusing 4KB random IOs\n\
                        \tenabling multiple I/Os per thread with 8 outstanding\n\
                        \tbuffering set to use hardware disk cache (but not file cache)\n\
                        size of file G:\\testfile.dat needs to be: 52428800000 bytes\ncurrent file size:\t0 bytes\n\
                        need to expand by:\t52428800000 bytes\nexpanding G:\\testfile.dat ... done.\n\
                        using specified size: 50000 MB for file: G:\\testfile.dat\ninitialization done\n";
        assert_eq!(text, expected);
        let three =
            [file.clone(), File { name: "b".into(), ..file.clone() }, File { name: "c".into(), ..file }];
        assert_eq!(list(&three), "files G:\\testfile.dat, b and c");
    }
}
