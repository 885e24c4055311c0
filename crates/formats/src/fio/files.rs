//! Which files the clones of a job use, and in which order they visit several.

use units::Bytes;
use units::convert::narrow;

use crate::{JobEnvironment, NamedKind, Refusal, windows_path};

use super::access::Rw;
use super::section::Origin;
use super::settings::Options;
use super::value::Amount;

/// Files of a job.
#[derive(Clone, Debug)]
pub(super) struct Files {
    /// Of each clone. Clones that share files have the same names.
    pub of_clone: Vec<Vec<String>>,
    /// How many each clone has.
    pub each: usize,
    /// How many files of fio each of them stands for: of one name, each with a pass of its own.
    pub passes: usize,
    pub service: Service,
    /// Of each file, the smallest of them; `None` where it is not known, or it is not there yet.
    pub known_size: Option<u64>,
    /// Whether they are files that are not there yet, as far as is known.
    pub are_new: bool,
    /// Whether they are removed afterwards.
    pub unlink: bool,
    /// Whether all clones use the same.
    pub shared: bool,
    /// Whether they are places within targets that were named outside, one after the other, in place of files that
    /// the job would make.
    pub apart: bool,
    /// Where they are named, or the job is.
    pub origin: Origin,
}

/// Which of several files is next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Service {
    /// One after the other, request by request.
    RoundRobin,
    /// Any.
    Random,
    /// The next one when one is done.
    Sequential,
}

/// The size of `null:` without a `size=`, in bytes.
const NOTHING: u64 = 1 << 40;

/// More files are no list of targets.
const MOST: usize = 65_535;

impl Files {
    pub(super) fn read(
        options: &Options,
        job: &str,
        section: &Origin,
        clones: u32,
        is_null: bool,
        notes: &mut Vec<String>,
        environment: &JobEnvironment<'_>,
    ) -> Result<Files, Refusal> {
        let origin = options
            .get("filename")
            .or_else(|| options.get("directory"))
            .map_or_else(|| section.clone(), |setting| setting.origin.clone());
        let service = service(options, notes)?;
        let count = options.count("nrfiles")?.unwrap_or(1).max(1);
        if count.saturating_mul(clones.into()) > MOST as u64 {
            return Err(origin.refuse(format!("more than {MOST} files")));
        }
        if let Some(open) = options.count("openfiles")?
            && open < count
        {
            notes.push(format!("all {count} files of a job stay open, and each is visited in its turn"));
        }
        let unlink = options.flag("unlink")? == Some(true) || unlinks_after_loops(options)?;
        let base = Files {
            of_clone: Vec::new(),
            each: 1,
            passes: 1,
            service,
            known_size: None,
            are_new: false,
            unlink,
            shared: true,
            apart: false,
            origin,
        };
        if is_null {
            return base.nowhere(options, clones);
        }
        if !environment.targets.is_empty() {
            return Ok(base.on_targets(options, clones, environment));
        }
        if options.text("ioengine") == Some("nbd") {
            let Some(setting) = options.get("uri") else {
                return Err(section.refuse("ioengine=nbd needs uri=, such as nbd://localhost/EXPORT".into()));
            };
            if count > 1 {
                return Err(section.refuse("an export is one file; leave nrfiles out".into()));
            }
            let base = Files { unlink: false, origin: setting.origin.clone(), ..base };
            return base.named(vec![setting.value.clone()], &[], clones, environment);
        }
        let folders = options.text("directory").map(split).unwrap_or_default();
        check_names(options, &folders, environment)?;
        if let Some(setting) = options.get("filename")
            && options.get("filename_format").is_none_or(|format| format.value.is_empty())
        {
            let names = split(&setting.value);
            if names.iter().any(|name| name == "-") {
                return Err(setting.unsupported("neither stdin nor stdout can be measured"));
            }
            return Files { unlink, ..base }.named(names, &folders, clones, environment);
        }
        if let Some(setting) = options.get("opendir") {
            let found = (environment.files_below)(&setting.value)
                .map_err(|error| setting.wrong(format!("a directory that can be read: {error}")))?;
            if found.is_empty() || found.len().saturating_mul(clones as usize) > MOST {
                return Err(setting.wrong(format!("a directory with 1 to {MOST} files")));
            }
            return Files { unlink, ..base }.named(found, &[], clones, environment);
        }
        // A job that is called as a device measures that.
        if count == 1 && (environment.kind)(job).is_some_and(|kind| kind == NamedKind::Device) {
            return Files { unlink, ..base }.named(vec![job.to_owned()], &[], clones, environment);
        }
        base.made(options, job, narrow::<usize>(count), &folders, clones, environment)
    }

    /// Of requests that leave the program for nothing.
    fn nowhere(self, options: &Options, clones: u32) -> Result<Files, Refusal> {
        let size = match options.amount("size")? {
            Some(Amount::Bytes(size)) => size.max(NOTHING),
            _ => NOTHING,
        };
        let name =
            if size == NOTHING { "null:".into() } else { format!("null:{}", Bytes::new(size).exact()) };
        Ok(Files { of_clone: vec![vec![name]; clones as usize], known_size: Some(size), ..self })
    }

    /// The targets that the user names in the place of the job's files.
    fn on_targets(self, options: &Options, clones: u32, environment: &JobEnvironment<'_>) -> Files {
        let names = environment.targets.to_vec();
        let sizes = names.iter().map(|name| (environment.size_bytes)(name));
        let known_size = sizes.collect::<Option<Vec<u64>>>().and_then(|sizes| sizes.into_iter().min());
        let (each, apart) = (names.len(), options.get("filename").is_none());
        debug_assert!(each > 0, "a target that takes the place of files is named");
        Files { of_clone: vec![names; clones as usize], each, known_size, apart, ..self }
    }

    /// Whether `filename` names nothing but devices that throw away what is written and hold nothing to read.
    pub(super) fn are_nothing(filename: &str) -> bool {
        split(filename).iter().all(|name| matches!(name.as_str(), "/dev/null" | "/dev/zero"))
    }

    /// The files that a trace names, the same for every clone.
    pub(super) fn replayed(names: &[String], clones: u32, origin: &Origin) -> Files {
        Files {
            of_clone: vec![names.to_vec(); clones as usize],
            each: names.len(),
            passes: 1,
            service: Service::Sequential,
            known_size: None,
            are_new: false,
            unlink: false,
            shared: true,
            apart: false,
            origin: origin.clone(),
        }
    }

    /// Files with names of their own: the same for every clone, but for its folder.
    fn named(
        self,
        names: Vec<String>,
        folders: &[String],
        clones: u32,
        environment: &JobEnvironment<'_>,
    ) -> Result<Files, Refusal> {
        // A name that is given several times is one file, which is visited as often.
        assert!(!names.is_empty(), "a job has a file at least");
        let is_one = names.iter().all(|name| *name == names[0]);
        let (each, passes) = if is_one { (1, names.len()) } else { (names.len(), 1) };
        let names = if is_one { names[..1].to_vec() } else { names };
        let of_clone = (0..clones as usize)
            .map(|clone| names.iter().map(|name| within(folders, clone, name)).collect())
            .collect();
        let shared = folders.len() < 2;
        Ok(Files { of_clone, each, passes, shared, ..self }.looked_up(environment))
    }

    /// Files that a job makes, `job.0.0` and so on.
    fn made(
        self,
        options: &Options,
        job: &str,
        count: usize,
        folders: &[String],
        clones: u32,
        environment: &JobEnvironment<'_>,
    ) -> Result<Files, Refusal> {
        let format = options.text("filename_format").filter(|format| !format.is_empty());
        let format = format.unwrap_or("$jobname.$jobnum.$filenum");
        let name = |clone: usize, file: usize| {
            let name = format
                .replace("$jobname", job)
                .replace("$jobnum", &clone.to_string())
                .replace("$filenum", &file.to_string())
                .replace("$clientuid", "");
            within(folders, clone, &name)
        };
        // One name for all files of a clone is one file, which is visited as often.
        let (each, passes) = if format.contains("$filenum") { (count, 1) } else { (1, count) };
        let of_clone: Vec<Vec<String>> =
            (0..clones as usize).map(|clone| (0..each).map(|file| name(clone, file)).collect()).collect();
        let shared = clones > 1 && of_clone.iter().all(|names| *names == of_clone[0]);
        Ok(Files { of_clone, each, passes, shared: shared || clones == 1, ..self }.looked_up(environment))
    }

    fn looked_up(mut self, environment: &JobEnvironment<'_>) -> Files {
        debug_assert!(
            self.of_clone.iter().all(|names| names.len() == self.each),
            "each clone has as many files as any other"
        );
        let all: Vec<&String> = self.of_clone.iter().flatten().collect();
        let sizes: Vec<Option<u64>> = all.iter().map(|name| (environment.size_bytes)(name)).collect();
        self.known_size =
            sizes.iter().copied().collect::<Option<Vec<u64>>>().and_then(|all| all.into_iter().min());
        self.are_new =
            all.iter().zip(&sizes).any(|(name, size)| size.is_none() && super::region::is_regular(name));
        self
    }

    /// How often a stream visits each block in a row, since its file has the name of several that take turns; 1 where it does
    /// not.
    pub(super) fn repeats(&self, rw: Rw) -> usize {
        if rw.random || self.service == Service::Sequential { 1 } else { self.passes }
    }

    /// For messages.
    pub(super) fn first_name(&self) -> &str {
        self.of_clone.first().and_then(|names| names.first()).map_or("the file", String::as_str)
    }
}

fn within(folders: &[String], clone: usize, name: &str) -> String {
    let is_whole = name.starts_with('/') || name.starts_with("array:") || name.starts_with("null:");
    match folders {
        _ if is_whole => name.to_owned(),
        [] => name.to_owned(),
        folders => format!("{}/{name}", folders[clone % folders.len()].trim_end_matches('/')),
    }
}

/// Whether files go after the only pass, which `unlink_each_loop` says of each.
fn unlinks_after_loops(options: &Options) -> Result<bool, Refusal> {
    let Some(setting) = options.get("unlink_each_loop") else { return Ok(false) };
    if options.flag("unlink_each_loop")? != Some(true) {
        return Ok(false);
    }
    let comes_again = options.flag("time_based")? == Some(true) || options.count("loops")? > Some(1);
    match comes_again {
        true => Err(setting.unsupported(
            "files are laid out once, and a job goes through them again; leave it or loops= out",
        )),
        false => Ok(true),
    }
}

/// What `filesize` says of each file: the smallest and the largest size, equal where there is but one; `None` where it
/// says nothing.
pub(super) fn each_size(options: &Options) -> Result<Option<(u64, u64)>, Refusal> {
    let Some(setting) = options.get("filesize") else { return Ok(None) };
    // Both separators are fio's.
    let (least, most) = setting.value.split_once(['-', ':']).unwrap_or((&setting.value, &setting.value));
    let read = |text: &str| options.base.size(text).map_err(|want| setting.wrong(want));
    let (least, most) = (read(least)?, read(most)?);
    match least <= most {
        true => Ok(Some((least, most)).filter(|(_, most)| *most > 0)),
        false => Err(setting.wrong("a range from less to more, such as 4k-64k")),
    }
}

/// Names apart by `:`; `\:` is one within a name, and an array's address is one name to the end of the list.
pub(super) fn split(text: &str) -> Vec<String> {
    if text.starts_with("array:") || text.starts_with("null:") {
        return vec![text.into()];
    }
    let mut names = vec![String::new()];
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        let last = names.last_mut().expect("there is always one");
        match letter {
            '\\' if letters.peek() == Some(&':') => last.extend(letters.next()),
            ':' => names.push(String::new()),
            letter => last.push(letter),
        }
    }
    names.retain(|name| !name.trim().is_empty());
    if names.is_empty() {
        names.push(text.into());
    }
    names
}

/// How files of a range of sizes are visited, where fio takes turns: one that is done is left out of them there.
pub(super) fn of_unequal(rw: Rw, notes: &mut Vec<String>) -> Service {
    if rw.random {
        notes.push("files of a range of sizes are visited in proportion to their sizes".into());
        return Service::Random;
    }
    notes.push(
        "a stream passes files of a range of sizes one after the other, not one request each in turn".into(),
    );
    Service::Sequential
}

fn service(options: &Options, notes: &mut Vec<String>) -> Result<Service, Refusal> {
    let Some(setting) = options.get("file_service_type") else { return Ok(Service::RoundRobin) };
    let is_random = Rw::read(options)?.random;
    // Clones that are reported as one take turns at their files, each at its own.
    let is_one = options.count("numjobs")? > Some(1) && options.flag("group_reporting")? == Some(true);
    match setting.value.split_once(':').unwrap_or((&setting.value, "")) {
        ("roundrobin", "" | "1") => Ok(Service::RoundRobin),
        ("random", "" | "1") if is_random && !is_one => Ok(Service::Random),
        ("random", "" | "1") => {
            notes.push("file_service_type=random: files are changed after each request, in their order".into());
            Ok(Service::RoundRobin)
        }
        ("sequential", _) => Ok(Service::Sequential),
        // Which file a random request goes to shows at no device; whether a stream continues does.
        (order @ ("roundrobin" | "random"), _) if is_random => {
            notes.push(format!("file_service_type={}: files are changed after each request", setting.value));
            Ok(if order == "random" && !is_one { Service::Random } else { Service::RoundRobin })
        }
        ("roundrobin" | "random", _) => Err(setting.unsupported(
            "a stream changes its file after each request, or when one is done (file_service_type=sequential)",
        )),
        ("zipf" | "pareto" | "normal" | "gauss", _) => Err(setting
            .unsupported("random, roundrobin and sequential are; random_distribution= spreads requests")),
        _ => Err(setting.wrong("roundrobin, random or sequential")),
    }
}

/// Says no to `filename` and `directory` where they name what holds no file of the job.
fn check_names(
    options: &Options,
    folders: &[String],
    environment: &JobEnvironment<'_>,
) -> Result<(), Refusal> {
    if let Some(why) = folders.iter().find_map(|name| windows_path(name)) {
        return Err(options.get("directory").expect("it names them").wrong(why));
    }
    let Some(setting) = options.get("filename") else { return Ok(()) };
    let names = split(&setting.value);
    if let Some(why) = names.iter().find_map(|name| windows_path(name)) {
        return Err(setting.wrong(why));
    }
    let is_folder = |name: &&String| (environment.kind)(name) == Some(NamedKind::Directory);
    match names.iter().find(is_folder) {
        Some(folder) => {
            Err(setting.wrong(format!("{folder} is a directory; directory={folder} makes files in it")))
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_apart_by_colons_unless_they_are_an_arrays() {
        assert_eq!(split("/dev/sdb:/dev/sdc"), ["/dev/sdb", "/dev/sdc"]);
        assert_eq!(split(r"/dev/disk/by-path/pci-0\:1"), ["/dev/disk/by-path/pci-0:1"]);
        assert_eq!(split("array:md3000?raid=5"), ["array:md3000?raid=5"]);
        assert_eq!(split(":").len(), 1);
    }
}
