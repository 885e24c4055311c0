//! SQLIO's parameter file: a line for each file, with its threads, a mask of processors and its size.

use super::options::mask;
use super::{Command, TOOL};
use crate::{JobEnvironment, JobFile, Refusal, TargetInfo, TranslatedJob};

/// What a parameter file says of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The file.
    pub name: String,
    /// Its own threads; `-t` does not hold for it.
    pub threads: u32,
    /// Processors; 0 means any.
    pub mask: u64,
    /// Its size in MiB.
    pub size_mib: Option<u64>,
}

/// What a parameter file leaves open, for `fathom run FILE`: the case that is asked for most.
const USUAL: [&str; 6] = ["-kR", "-s30", "-frandom", "-o8", "-b8", "-BH"];

/// A parameter file as a job of its own.
pub const JOB_FILE: JobFile = JobFile {
    tool: TOOL,
    about: "a parameter file (param.txt): a file or device, threads, mask and size on each line",
    is_one,
    read: read_job,
};

/// Reads the lines; `name` is what messages call the file.
pub fn read(name: &str, text: &str) -> Result<Vec<Line>, Refusal> {
    let mut lines = Vec::new();
    for (number, text) in (1..).zip(text.lines()) {
        let text = text.trim();
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        let line = line(text).map_err(|what| Refusal::line(name, number, what))?;
        lines.push(line);
        if lines.len() > 256 {
            let what = "at most 256 files";
            return Err(Refusal::line(name, number, what));
        }
    }
    match lines.is_empty() {
        true => Err(Refusal::usage(TOOL, format!("{name} names no file"))),
        false => Ok(lines),
    }
}

fn line(text: &str) -> Result<Line, String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let (name, threads, rest) = match words[..] {
        [name, threads, ref rest @ ..] if rest.len() <= 2 => (name, threads, rest),
        _ => return Err("a line is FILE THREADS [MASK [MB]]".into()),
    };
    let threads = match threads.parse() {
        Ok(threads @ 1..=256) => threads,
        _ => return Err(format!("`{threads}` is not a number of threads from 1 to 256")),
    };
    let mask = match rest.first() {
        Some(text) => {
            mask(text).ok_or_else(|| format!("`{text}` is not a mask of processors, such as 0x3"))?
        }
        None => 0,
    };
    let size_mib = match rest.get(1) {
        Some(text) => match text.parse() {
            Ok(size @ 1..0x400_0000_0000) => Some(size),
            _ => return Err(format!("`{text}` is not a size in MB")),
        },
        None => None,
    };
    Ok(Line { name: name.into(), threads, mask, size_mib })
}

/// Every line that says something is one of a parameter file, and one of them has a mask or a size: without these, two
/// words on a line may be anything.
fn is_one(name: &str, text: &str) -> bool {
    let says = |line: &&str| !line.trim().is_empty() && !line.trim().starts_with('#');
    let lines: Vec<Option<Line>> =
        text.lines().filter(says).take(257).map(|text| line(text.trim()).ok()).collect();
    let named = name.rsplit('/').next().is_some_and(|name| name.contains("param"));
    let has_mask = text.lines().filter(says).any(|line| line.split_whitespace().count() > 2);
    !lines.is_empty() && lines.iter().all(Option::is_some) && (named || has_mask)
}

fn read_job(name: &str, text: &str, environment: &JobEnvironment<'_>) -> Result<TranslatedJob, Refusal> {
    let lines = read(name, text)?;
    let mut words: Vec<String> = USUAL.iter().map(|word| (*word).to_owned()).collect();
    words.push(format!("-F{name}"));
    let command = Command::parse(&words)?;
    let found: Vec<TargetInfo> = lines
        .iter()
        .enumerate()
        .map(|(number, line)| {
            let target = environment.targets.get(number).unwrap_or(&line.name);
            TargetInfo::sized((environment.size_bytes)(target).unwrap_or(0), false)
        })
        .collect();
    let files = command.files(&lines, &found)?;
    let mut translated = command.translate(&files, environment.salt)?;
    translated.notes.push(format!(
        "a parameter file has files, threads, masks and sizes; the rest is as in `sqlio {}`",
        USUAL.join(" ")
    ));
    for file in &files {
        let (name, threads, mib) = (&file.name, file.threads, file.size >> 20);
        translated.notes.push(format!("{name}: {threads} threads, mask {:#x}, {mib} MB", file.mask));
    }
    Ok(translated)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_two_to_four_words() {
        let text =
            "c:\\dir\\testfile.dat 2 0x0 10000\n# d:\\testfile.dat 2 0x0 100\n\nX:\\b.dat 8 255 \r\nY 1\n";
        let lines = read("param.txt", text).unwrap();
        assert_eq!(lines.len(), 3);
        assert_eq!((lines[0].threads, lines[0].mask, lines[0].size_mib), (2, 0, Some(10_000)));
        assert_eq!((lines[1].threads, lines[1].mask, lines[1].size_mib), (8, 255, None));
        assert_eq!((lines[2].name.as_str(), lines[2].mask), ("Y", 0));
    }

    #[test]
    fn a_mistake_is_told_with_its_line() {
        for (text, place, word) in [
            ("a 1\nb many\n", "p:2", "many"),
            ("a\n", "p:1", "THREADS"),
            ("# x\na 1 zz\n", "p:2", "mask"),
            ("a 1 0 0\n", "p:1", "MB"),
            ("a 1 0 5 6\n", "p:1", "FILE"),
        ] {
            let refusal = read("p", text).unwrap_err().to_string();
            assert!(refusal.starts_with(place) && refusal.contains(word), "{text}: {refusal}");
        }
        assert!(read("p", "# nothing\n").is_err());
    }

    #[test]
    fn a_parameter_file_is_told_from_a_plan() {
        assert!(is_one("param.txt", "a.dat 2\n"));
        assert!(is_one("x.txt", "a.dat 2 0x0 100\n"));
        assert!(!is_one("x.txt", "a.dat 2\n"));
        assert!(!is_one("param.toml", "name = \"x\"\n\n[[phase]]\nrun = \"1s\"\n"));
        assert!(!is_one("param.txt", ""));
        let order =
            (JOB_FILE.read)("param.txt", "a.dat 2 0x0 100\nb.dat 1 0x0 50\n", &JobEnvironment::NONE).unwrap();
        let plan = workload::plan::Plan::parse("sqlio", &order.plan, &Default::default())
            .unwrap_or_else(|errors| panic!("{}", errors.plain()));
        assert_eq!(
            (plan.points()[0].workloads().len(), order.targets),
            (2, vec!["a.dat".to_owned(), "b.dat".into()])
        );
        let many =
            |files: usize| (JOB_FILE.read)("param.txt", &"a 1 0x0 10\n".repeat(files), &JobEnvironment::NONE);
        assert!(many(64).is_ok());
        assert!(many(65).unwrap_err().to_string().contains("65 files are too many"));
    }
}
