//! fio's job files: sections, comments, included files, variables.

use crate::{JobEnvironment, Refusal};

use super::section::{Origin, Section, Setting};

/// Files within files; deeper than this is a circle.
const DEEPEST: usize = 8;
/// More sections and settings are no job file; fio stops at 4096 jobs.
const MOST: usize = 65_536;

/// The sections of the job file `name`.
pub(super) fn read(
    name: &str,
    text: &str,
    environment: &JobEnvironment<'_>,
) -> Result<Vec<Section>, Refusal> {
    let mut reader = Reader { environment, sections: Vec::new(), settings: 0 };
    reader.file(name, text, 0)?;
    if let Some(first) = reader.sections.iter_mut().find(|section| !section.is_global()) {
        first.begins_file = true;
    }
    Ok(reader.sections)
}

/// Whether `text` looks like a job file of fio: a section of which every line above it is a comment, and options
/// of fio in it.
pub(super) fn is_one(name: &str, text: &str) -> bool {
    if name.ends_with(".toml") || name.ends_with(".icf") || text.contains("[[phase") {
        return false;
    }
    let mut lines = text.lines().map(uncommented).filter(|line| !line.is_empty());
    let begins =
        lines.next().is_some_and(|first| section_name(first).is_some() || first.starts_with("include "));
    let is_option = |line: &str| {
        let option = line.split('=').next().unwrap_or_default().trim();
        option == "include" || super::options::find(option).is_some()
    };
    let ours = lines.filter(|line| section_name(line).is_none()).take(3).any(is_option);
    begins && (ours || name.ends_with(".fio"))
}

struct Reader<'a> {
    environment: &'a JobEnvironment<'a>,
    sections: Vec<Section>,
    settings: usize,
}

impl Reader<'_> {
    fn file(&mut self, name: &str, text: &str, depth: usize) -> Result<(), Refusal> {
        for (index, line) in text.lines().enumerate() {
            let origin = Origin::Line(name.into(), index + 1);
            let line = uncommented(line);
            if line.is_empty() {
                continue;
            }
            if let Some(section) = section_name(line) {
                self.begin(section, &origin, depth)?;
            } else if let Some(path) =
                line.strip_prefix("include ").or_else(|| line.strip_prefix("include\t"))
            {
                self.include(name, path.trim(), &origin, depth)?;
            } else {
                self.option(line, &origin)?;
            }
        }
        Ok(())
    }

    fn begin(&mut self, name: &str, origin: &Origin, depth: usize) -> Result<(), Refusal> {
        if depth > 0 {
            return Err(origin.refuse("an included file holds options, not sections".into()));
        }
        if self.sections.len() >= MOST {
            return Err(origin.refuse(format!("more than {MOST} sections")));
        }
        let name = self.filled(name, origin)?;
        self.sections.push(Section::named(name, origin)?);
        debug_assert!(self.sections.len() <= MOST, "more sections are an error");
        Ok(())
    }

    /// Reads a file from where the program runs, or from beside the file that names it.
    fn include(&mut self, from: &str, path: &str, origin: &Origin, depth: usize) -> Result<(), Refusal> {
        if depth >= DEEPEST {
            return Err(origin.refuse(format!("files include each other more than {DEEPEST} deep")));
        }
        let path = self.filled(path, origin)?;
        let beside = || from.rsplit_once('/').map(|(folder, _)| format!("{folder}/{path}"));
        let text = (self.environment.file)(&path)
            .or_else(|error| beside().map_or(Err(error), |path| (self.environment.file)(&path)))
            .map_err(|error| origin.refuse(format!("the included file `{path}` cannot be read: {error}")))?;
        debug_assert!(depth < DEEPEST, "files that include each other come to an end");
        self.file(&path, &text, depth + 1)
    }

    fn option(&mut self, line: &str, origin: &Origin) -> Result<(), Refusal> {
        let (name, value) = match line.split_once('=') {
            Some((name, value)) => {
                let filled = self.filled(value.trim(), origin)?;
                if filled.is_empty() && value.contains("${") {
                    return Err(
                        origin.refuse(format!("`{line}`: the variable is not set in the environment"))
                    );
                }
                (name.trim(), Some(filled))
            }
            None => (line, None),
        };
        let setting = Setting::read(name, value.as_deref(), origin)?;
        self.settings += 1;
        if self.settings > MOST {
            return Err(origin.refuse(format!("more than {MOST} options")));
        }
        match self.sections.last_mut() {
            Some(section) => section.settings.push(setting),
            None => {
                return Err(origin.refuse("an option needs a section: write [global] above it".into()));
            }
        }
        Ok(())
    }

    /// `text` with `${VARIABLE}` and fio's keywords filled in.
    fn filled(&self, text: &str, origin: &Origin) -> Result<String, Refusal> {
        let mut filled = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find("${") {
            filled.push_str(&rest[..at]);
            let after = &rest[at + 2..];
            let Some(end) = after.find('}') else {
                return Err(origin.refuse(format!("`{text}`: a variable is written ${{NAME}}")));
            };
            // A variable that is not set is nothing, as in fio.
            filled.push_str(&(self.environment.variable)(&after[..end]).unwrap_or_default());
            rest = &after[end + 1..];
            debug_assert!(rest.len() < text.len(), "what is filled in is left behind");
        }
        filled.push_str(rest);
        Ok(keywords(&filled, self.environment))
    }
}

/// `$ncpus`, `$mb_memory` and `$pagesize` filled in.
fn keywords(text: &str, environment: &JobEnvironment<'_>) -> String {
    if !text.contains('$') {
        return text.into();
    }
    text.replace("$ncpus", &environment.cpus.to_string())
        .replace("$mb_memory", &(environment.ram_bytes >> 20).to_string())
        .replace("$pagesize", "4096")
}

/// `line` without its comment and the space around it. Either mark begins a comment wherever it stands, as in fio;
/// within the brackets of a section it is part of the name.
fn uncommented(line: &str) -> &str {
    let line = line.trim();
    let from = if line.starts_with('[') { line.find(']').unwrap_or(0) } else { 0 };
    let mark = line[from..].find([';', '#']);
    mark.map_or(line, |at| line[..from + at].trim_end())
}

fn section_name(line: &str) -> Option<&str> {
    line.strip_prefix('[')?.strip_suffix(']')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(text: &str, environment: &JobEnvironment<'_>) -> Vec<(String, String, String)> {
        let sections = read("x.fio", text, environment).unwrap_or_else(|refusal| panic!("{refusal}"));
        let of = |section: &Section| {
            let name = section.name.clone();
            let each = |setting: &Setting| (name.clone(), setting.known.name.into(), setting.value.clone());
            section.settings.iter().map(each).collect::<Vec<_>>()
        };
        sections.iter().flat_map(of).collect()
    }

    #[test]
    fn a_name_that_cannot_be_shown_is_refused_with_its_line() {
        for name in ["a\u{9a}", "n\0\0e", "a\tb"] {
            let refusal =
                read("x.fio", &format!("[global]\n[{name}]\nrw=read\n"), &JobEnvironment::NONE).unwrap_err();
            assert!(refusal.to_string().contains("x.fio:2: "), "{refusal}");
            let refusal = read("x.fio", &format!("[a]\nname={name}\n"), &JobEnvironment::NONE).unwrap_err();
            assert!(refusal.to_string().contains("x.fio:2: "), "{refusal}");
        }
    }

    #[test]
    fn comments_are_cut_and_variables_filled_in() {
        let environment = JobEnvironment {
            variable: &|name| (name == "SIZE").then(|| "1g".into()),
            cpus: 8,
            ..JobEnvironment::NONE
        };
        let text = "; a comment\n[global]\nsize=${SIZE} # so much\nnumjobs=$ncpus\n[a]\nrw=randread ; random\nthread\n";
        let found = settings(text, &environment);
        let has = |section: &str, name: &str, value: &str| {
            assert!(found.contains(&(section.into(), name.into(), value.into())), "{found:?}");
        };
        has("global", "size", "1g");
        has("global", "numjobs", "8");
        has("a", "rw", "randread");
        has("a", "thread", "");
    }

    #[test]
    fn a_comment_begins_wherever_its_mark_stands_but_within_brackets() {
        let found =
            settings("[a#1] # first\nnumjobs=4;four\n  ; none\nbs=4k# small\n", &JobEnvironment::NONE);
        let wanted = [("a#1", "numjobs", "4"), ("a#1", "bs", "4k")];
        assert_eq!(found, wanted.map(|(section, name, value)| (section.into(), name.into(), value.into())));
    }

    #[test]
    fn an_included_file_adds_to_the_section_it_stands_in() {
        let environment =
            JobEnvironment { file: &|path| Ok(format!("description={path}\n")), ..JobEnvironment::NONE };
        assert_eq!(settings("[a]\ninclude b.inc\n", &environment)[0].2, "b.inc");
        let environment = JobEnvironment { file: &|_| Ok("include b.inc\n".into()), ..JobEnvironment::NONE };
        let refusal = read("x.fio", "[a]\ninclude b.inc\n", &environment).expect_err("a circle");
        assert!(refusal.to_string().contains("8 deep"), "{refusal}");
    }

    #[test]
    fn a_variable_that_is_not_set_is_told_where_it_stands_for_all_of_a_value() {
        let text = "[a]\ndirectory=${WHERE}\n";
        let refusal = read("x.fio", text, &JobEnvironment::NONE).expect_err("no value").to_string();
        assert!(refusal.starts_with("x.fio:2: `directory=${WHERE}`: the variable is not set"), "{refusal}");
    }

    #[test]
    fn a_mistake_names_its_file_and_line() {
        let refusal = read("x.fio", "[a]\nrw=read\niodeth=4\n", &JobEnvironment::NONE).expect_err("a slip");
        assert_eq!(refusal.to_string(), "x.fio:3: fio has no option `iodeth`; did you mean `iodepth`?");
        let refusal = read("x.fio", "[a]\nuid=ls\n", &JobEnvironment::NONE).expect_err("not supported");
        assert!(refusal.to_string().starts_with("x.fio:2: `uid=ls` is not supported"), "{refusal}");
    }

    #[test]
    fn a_plan_of_ours_is_no_job_file() {
        assert!(is_one("x.fio", "[global]\nrw=read\n"));
        assert!(is_one("jobs", "# mine\n[a]\nioengine=libaio\n"));
        assert!(!is_one("x.toml", "[defaults]\nsize = \"4KiB\"\n"));
        assert!(!is_one("plan", "name = \"x\"\n[[phase]]\nrun = \"1s\"\n"));
    }
}
