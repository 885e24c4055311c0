//! `fathom as fio [OPTION|JOBFILE]...`

use std::fs::DirBuilder;
use std::io::{BufWriter, Read, Write};
use std::os::unix::fs::{DirBuilderExt, FileTypeExt};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use conduct::search::{DepthOptions, SearchOptions, load_of};
use explain::Code;
use formats::JobEnvironment;
use formats::fio::{Command, Growth, LaidOut, Layout, Merge, MergedTrace, STDIN, inflate_log};
use host::niceness;
use host::pinned::Pinned;
use real::{Expansion, PlainFile};
use record::{Point, PointKind, Run, Severity, WorkloadResult};
use units::{Bytes, Nanos, Share};
use workload::plan::{LatencyFigure, Slo};

use super::fio_logs::FioLogs;
use super::fio_programs::Programs;
use super::fio_status::Status;
use super::{Context, Scratch, fio_trigger};
use crate::ending::{Ending, Failure};
use crate::input::environment;
use crate::output;
use crate::output::print;
use crate::session::Session;
use crate::session::recorder::Recorded;
use crate::terminal::progress::Progress;
use crate::terminal::{self, Display, stderr_is_terminal};

/// The code is fio's: 0, how many jobs ended with an error, or 1 for whatever else went wrong.
pub fn run(context: &Context<'_>, arguments: &[String]) -> Result<Ending, Failure> {
    let mut failed = 0;
    let ending = served(context, arguments, &mut failed).unwrap_or_else(Failure::ending);
    if failed > 0 && ending.code < 128 {
        return Ok(Ending { code: u8::try_from(failed).unwrap_or(u8::MAX), ..ending });
    }
    let is_fios = (1..128).contains(&ending.code);
    Ok(if is_fios { Ending { code: 1, ..ending } } else { ending })
}

/// Prints the lines of a log that was stored compressed.
fn inflate(path: &str) -> Result<Ending, Failure> {
    let failed = Failure::system(format!("printing the log {path}"));
    let stored = std::fs::read(path).map_err(&failed)?;
    let mut out = BufWriter::new(std::io::stdout().lock());
    inflate_log(&stored, &mut out).and_then(|()| out.flush()).map_err(&failed)?;
    Ok(Ending::done())
}

/// A job file that is piped in.
fn from_stdin() -> std::io::Result<String> {
    std::io::read_to_string(std::io::stdin().lock().take(environment::LARGEST))
}

/// What went wrong, if anything did; `failed` is how many jobs ended with an error.
fn served(context: &Context<'_>, arguments: &[String], failed: &mut usize) -> Result<Ending, Failure> {
    let command = environment::with("", &[], |around| {
        let file = |path: &str| if path == STDIN { from_stdin() } else { (around.file)(path) };
        Command::parse(arguments, &JobEnvironment { file: &file, ..*around })
    })?;
    // Scripts take anything on stderr for a fault: notes are in the plan, and in the report's `fathom` object.
    let mut order = command.translated().clone();
    if !command.wanted.verbose {
        order.notes.clear();
    }
    if let Some(ending) = without_load(context, &command, &order)? {
        return Ok(ending);
    }
    if let Some(path) = &command.wanted.file {
        check_file(path)?;
    }
    if let Some(by) = command.nice() {
        niceness::be_nicer(by).map_err(Failure::system(format!("the niceness of nice={by}")))?;
    }
    let _held = held(&command)?;
    let laid = command.layout(&size_found);
    let mut session = context.open("fio", &order, scratch(&command, &laid)?)?;
    let logs = FioLogs::of(&command);
    if let Some(logs) = &logs {
        session.tell(Box::new(logs.clone()));
    }
    let programs = Programs::of(&command);
    if let Some(programs) = &programs {
        session.tell(Box::new(programs.clone()));
        programs.before()?;
    }
    print_head(&command, &laid)?;
    let mut status = Status::of(&command, session.begun());
    let is_over = AtomicBool::new(false);
    let (recorded, pulled) = std::thread::scope(|scope| {
        let watch = fio_trigger::watch(scope, &command.wanted.trigger, &is_over);
        let recorded = measured(&command, session, programs.as_ref(), status.as_mut());
        is_over.store(true, Ordering::Relaxed);
        (recorded, watch.and_then(|watch| watch.join().ok()).flatten())
    });
    let recorded = recorded?;
    print_reports(&command, &laid, &recorded.run, status)?;
    if let Some(what) = pulled.or_else(|| programs.and_then(|programs| programs.wrong())) {
        return Ok(Ending { code: 1, reason: what });
    }
    if let Some(what) = logs.and_then(|logs| logs.finish()) {
        return Ok(Ending { code: 1, reason: what });
    }
    *failed = command.failed(&recorded.run);
    Ok(ended(context, &command, recorded, *failed))
}

/// How a run of `command` ends, of which so many jobs `failed`; what these come to is said in fio's words.
fn ended(context: &Context<'_>, command: &Command, recorded: Recorded, failed: usize) -> Ending {
    let named = |file: &str| name_in(&command.translated().targets, file);
    command.complaints(&recorded.run, &named).iter().for_each(|line| terminal::say(line));
    let is_reported = is_reported(&recorded.run);
    // A target that no depth keeps is mostly no error of fio's.
    let is_unmet = command.slo().is_some_and(outlives)
        && recorded.run.search.as_ref().is_some_and(|search| search.met_per_s.is_none());
    let ending = match context.end(recorded) {
        Ending { code: INVALID, .. } if is_reported => Ending::done(),
        Ending { code: 1, .. } if is_unmet => Ending::done(),
        ending => ending,
    };
    match (failed, ending.code) {
        (1.., 0) => Ending { code: 1, reason: format!("{failed} jobs ended with an error") },
        _ => ending,
    }
}

/// What is wanted but no load: an answer, a trace, or whether the jobs can be read. `None` where there is a load.
fn without_load(
    context: &Context<'_>,
    command: &Command,
    order: &formats::TranslatedJob,
) -> Result<Option<Ending>, Failure> {
    let wanted = &command.wanted;
    if let Some(text) = &wanted.answer {
        print(text)?;
        return Ok(Some(Ending::done()));
    }
    if let Some(path) = &wanted.inflated {
        return inflate(path).map(Some);
    }
    if wanted.parse_only && !wanted.merge_only && !command.awaits_trace() {
        context.plan("fio", order)?;
    }
    if !wanted.parse_only {
        command.merges().iter().try_for_each(|one| merge(one, &command.translated().targets))?;
    }
    Ok((wanted.merge_only || wanted.parse_only).then(Ending::done))
}

/// Its files, with the folders that are missing of them. An error where something that is written, or would become larger, may not.
fn scratch(command: &Command, laid: &Layout) -> Result<Scratch, Failure> {
    check_apart(&command.writes(), &command.translated().targets)?;
    if command.wanted.is_readonly {
        check_extended(&command.translated().targets, laid.files.as_deref().unwrap_or_default())?;
    } else if command.makes_files() {
        make_folders(command)?;
    }
    // The files stay, as fio's do, so that the next job finds them laid out.
    let stay = !command.removes_files();
    let plain = laid.files.as_ref().map(|files| plain_files(files, stay));
    debug_assert!(
        plain.as_ref().is_none_or(|files| files.len() == command.translated().targets.len()),
        "each target that is a file has a size"
    );
    Ok(Scratch {
        keep: stay && plain.is_none(),
        plain: plain.unwrap_or_default(),
        only_existing: !command.makes_files(),
        keeps_verify_state: command.keeps_verify_state(),
    })
}

/// Prints or writes the report, behind those of `--status-interval`, and writes the logs.
fn print_reports(
    command: &Command,
    laid: &Layout,
    run: &Run,
    status: Option<Status<'_>>,
) -> Result<(), Failure> {
    let text = command.report(run);
    match &command.wanted.file {
        Some(path) => {
            let before = status.map_or_else(|| Ok(String::new()), Status::finish)?;
            output::write_whole(path.as_ref(), &(command.head(laid) + &before + &text))?;
        }
        None => print(&text)?,
    }
    for (name, log) in command.logs(run) {
        output::write_whole(name.as_ref(), &log)?;
    }
    Ok(())
}

/// The code of a run that went through, and whose figures do not mean what they seem to.
const INVALID: u8 = 4;

/// Whether nothing is wrong with the run but that the ramps of some jobs outlast them, of which fio reports what they did.
fn is_reported(run: &Run) -> bool {
    let wrong = || run.findings.iter().filter(|finding| finding.severity == Severity::Invalid);
    let is_measured = |of: &WorkloadResult| of.classes.iter().any(|class| class.ops > 0);
    let is_reported = |point: &Point| {
        point.complete && point.workloads.iter().all(|of| is_measured(of) || of.ended_in_warmup())
    };
    wrong().all(|finding| finding.code == Code::NothingMeasured.name())
        && run.points.iter().filter(|point| point.kind == PointKind::Load).all(is_reported)
}

/// Writes the traces that a job has merged into one.
fn merge(merge: &Merge, targets: &[String]) -> Result<(), Failure> {
    let own: Vec<String> = merge.parts.iter().map(|part| part.file.clone()).collect();
    check_apart(std::slice::from_ref(&merge.into), targets)?;
    check_apart(std::slice::from_ref(&merge.into), &own)?;
    let read = |part: &MergedTrace| {
        let told = |error| Failure::Usage(format!("{}: the trace cannot be read: {error}", part.file));
        std::fs::read(units::name::path(&part.file)).map_err(told)
    };
    let traces = merge.parts.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    output::write_whole(merge.into.as_ref(), merge.merged(&traces).map_err(Failure::Usage)?)
}

/// What the jobs did, or the search that `latency_target` asks for.
fn measured(
    command: &Command,
    session: Session,
    programs: Option<&Programs>,
    mut status: Option<&mut Status<'_>>,
) -> Result<Recorded, Failure> {
    let Some(slo) = command.slo() else {
        return Ok(session.measure(&mut |event| {
            programs.iter().for_each(|programs| programs.hear(event));
            status.iter_mut().for_each(|status| status.hear(event));
        }));
    };
    // As fio's line of what is done, for who waits before a terminal.
    let is_watched = command.wanted.verbose || stderr_is_terminal();
    let display = if is_watched { Display::Auto } else { Display::None };
    let (window, goes_on) = command.latency_window();
    let recorded = look_for(slo, window, goes_on, session, display)?;
    programs.iter().for_each(|programs| programs.after_search());
    Ok(recorded)
}

/// The memory that its jobs lock, for as long as they run.
fn held(command: &Command) -> Result<Option<Pinned>, Failure> {
    let amount = Bytes::new(command.locked());
    if amount.is_zero() {
        return Ok(None);
    }
    let failed = Failure::system(format!("locking {amount} of memory (lockmem)"));
    Pinned::hold(amount).map(Some).map_err(failed)
}

/// How large a file is that is there; more than anything needs of what is no file.
fn size_found(name: &str) -> Option<u64> {
    let found = units::name::path(name).metadata().ok()?;
    Some(if found.is_file() { found.len() } else { u64::MAX })
}

/// Files as large as the jobs need them, laid out as fio does.
fn plain_files(files: &[LaidOut], keep: bool) -> Vec<PlainFile> {
    let expand = |growth: Growth| match growth {
        Growth::Written => Some(Expansion::Noise),
        Growth::Allocated => Some(Expansion::Allocated),
        Growth::Reserved => Some(Expansion::Reserved),
        Growth::Hole => Some(Expansion::Hole),
        Growth::Left => None,
    };
    let file = |file: &LaidOut| PlainFile {
        size: Bytes::new(file.bytes),
        expand: expand(file.growth),
        keep,
        ..PlainFile::default()
    };
    files.iter().map(file).collect()
}

/// What fio says of its jobs before they start, where its report is to be read.
fn print_head(command: &Command, laid: &Layout) -> Result<(), Failure> {
    let head = command.head(laid);
    match (&command.wanted.file, head.is_empty()) {
        (None, false) => print(&head),
        _ => Ok(()),
    }
}

/// Whether a job whose `latency_target` is missed at depth 1 runs on to `runtime` and exits with 0. With `latency_percentile=100` a
/// miss is an error, as in fio.
fn outlives(slo: Slo) -> bool {
    !matches!(slo, Slo::Latency { figure: LatencyFigure::Quantile(Share::ALL), .. })
}

/// The search of the depth that `latency_target` asks for, over with `runtime`. `display` is how far it is, on stderr.
fn look_for(
    slo: Slo,
    window: Option<Nanos>,
    goes_on: bool,
    session: Session,
    display: Display,
) -> Result<Recorded, Failure> {
    let load = load_of(session.plan(), None).map_err(Failure::Usage)?;
    let budget = load.workloads().iter().filter_map(|workload| workload.stop.run).max();
    debug_assert!(!load.workloads().is_empty(), "a search has a load");
    let search = SearchOptions { budget, ..SearchOptions::of(vec![slo]) };
    let window = window.unwrap_or_else(|| window_of(budget));
    let depths = DepthOptions { window, goes_on, goes_on_unmet: outlives(slo) };
    let mut progress = Progress::new(display);
    progress.of_world(session.kind());
    progress.say(&format!(
        "latency_target: searches the deepest queue that meets it, each depth for {}",
        depths.window
    ));
    let recorded = session.search_depth(&search, depths, &mut |event| progress.show(event));
    progress.finish();
    Ok(recorded)
}

/// The windows that `runtime` has room for where nothing says how long they are.
const WINDOWS: u64 = 20;

/// For how long a depth is tried where `latency_window` does not say it: so short that a search fits into `run`.
fn window_of(run: Option<Nanos>) -> Nanos {
    let (least, most) = (Nanos::from_millis(100), Nanos::from_secs(1));
    run.map_or(most, |run| Nanos::new(run.get() / WINDOWS).clamp(least, most))
}

/// Whether no log or report takes the place of what is measured, whatever each of them is called.
fn check_apart(written: &[String], targets: &[String]) -> Result<(), Failure> {
    let mut pairs = written.iter().flat_map(|name| targets.iter().map(move |target| (name, target)));
    match pairs.find(|(name, target)| is_same(name, target)) {
        None => Ok(()),
        Some((name, target)) => Err(Failure::Usage(format!(
            "{name} is to be written, and is the job's own file {target}; give the log or the report another name"
        ))),
    }
}

/// The name in the jobs of the file at that path; the path itself where no job names it.
fn name_in(targets: &[String], file: &str) -> String {
    targets.iter().find(|target| is_same(file, target)).map_or(file, String::as_str).to_owned()
}

/// Whether both names lead to one file, or would once it is there.
fn is_same(name: &str, target: &str) -> bool {
    let whole = |name: &str| {
        let path = units::name::path(name);
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let made = || Some(folder.canonicalize().ok()?.join(path.file_name()?));
        path.canonicalize().ok().or_else(made)
    };
    name == target || whole(name).is_some_and(|found| Some(found) == whole(target))
}

/// Says no where a file would become larger than it is, which `--readonly` forbids.
fn check_extended(targets: &[String], files: &[LaidOut]) -> Result<(), Failure> {
    for (name, LaidOut { bytes, .. }) in targets.iter().zip(files) {
        let Ok(found) = units::name::path(name).metadata() else { continue };
        if found.is_file() && found.len() < *bytes {
            return Err(Failure::Usage(format!(
                "{name} has {} of the {} that are read, and --readonly forbids to extend it",
                Bytes::new(found.len()),
                Bytes::new(*bytes)
            )));
        }
    }
    Ok(())
}

/// Makes the folders that are missing of the files that the jobs make, as fio does; but not what is said as `directory`.
fn make_folders(command: &Command) -> Result<(), Failure> {
    if !command.directories().iter().all(|name| units::name::path(name).is_dir()) {
        return Ok(());
    }
    for name in command.files() {
        let path = units::name::path(name);
        let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) else { continue };
        let failed = Failure::system(format!("making the folder {}", folder.display()));
        DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(failed)?;
    }
    Ok(())
}

/// Whether a report can go to `path`: a file, a pipe or a terminal, or a file that is not there yet in a directory that is.
fn check_file(path: &str) -> Result<(), Failure> {
    let target = units::name::path(path);
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match target.metadata() {
        Ok(found) if found.is_dir() => Err(Failure::Usage(format!("--output={path} is a directory"))),
        Ok(found) if found.file_type().is_block_device() => Err(Failure::Usage(format!(
            "--output={path} is a block device, and a report would destroy its data"
        ))),
        Err(_) if !folder.is_dir() => {
            Err(Failure::Usage(format!("--output={path}: there is no directory {}", folder.display())))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_that_nobody_gives_lets_a_search_fit_into_runtime() {
        let window = |run_ms: u64| window_of(Some(Nanos::from_millis(run_ms)));
        assert_eq!(window_of(None), Nanos::from_secs(1));
        assert_eq!(
            [window(500), window(4_000), window(240_000)].map(|one| one.get() / 1_000_000),
            [100, 200, 1_000]
        );
    }

    #[test]
    fn a_log_that_leads_to_the_jobs_own_file_is_found_by_any_of_its_names() {
        let folder = tempfile::tempdir().unwrap();
        let name = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
        std::fs::write(name("data"), "kept").unwrap();
        std::os::unix::fs::symlink(name("data"), name("link")).unwrap();
        assert!(is_same(&name("data"), &name("./data")));
        assert!(is_same(&name("link"), &name("data")));
        assert!(is_same(&name("not there"), &name("./not there")));
        assert!(!is_same(&name("other"), &name("data")));
        assert!(check_apart(&[name("link")], &[name("data")]).is_err());
    }
}
