//! Options by their long names: `-O KEY=VALUE`.

use super::options::{Draft, SYNTAX, Summary};
use crate::Refusal;
use crate::options::Given;

/// The options that directives name, by what they are called there.
const DIRECTIVES: &[(&str, &str)] = &[
    ("blocksize", "-b"),
    ("transfersize", "-t"),
    ("segmentcount", "-s"),
    ("repetitions", "-i"),
    ("testfile", "-o"),
    ("numtasks", "-N"),
    ("deadlineforstonewalling", "-D"),
    ("intertestdelay", "-d"),
    ("taskpernodeoffset", "-Q"),
    ("refnum", "-A"),
    ("api", "-a"),
    ("maxtimeduration", "-T"),
    ("outlierthreshold", "-j"),
    ("reordertasksrandomseed", "-X"),
    ("memorypernode", "-M"),
    ("settimestampsignature", "-G"),
    ("datapackettype", "-l"),
];

/// Directives that are on or off, and the option that says so.
const SWITCHES: &[(&str, &str)] = &[
    ("writefile", "-w"),
    ("readfile", "-r"),
    ("checkwrite", "-W"),
    ("checkread", "-R"),
    ("fsync", "-e"),
    ("fsyncperwrite", "-Y"),
    ("fileperproc", "-F"),
    ("keepfile", "-k"),
    ("multifile", "-m"),
    ("randomoffset", "-z"),
    ("reordertasks", "-C"),
    ("reordertasksconstant", "-C"),
    ("reordertasksrandom", "-Z"),
    ("collective", "-c"),
    ("singlexferattempt", "-x"),
    ("keepfilewitherror", "-K"),
    ("useexistingtestfile", "-E"),
    ("uniquedir", "-u"),
    ("intratestbarriers", "-g"),
    ("useo_direct", "--posix.odirect"),
];

/// Reads one directive.
pub(super) fn read(draft: &mut Draft, given: &Given<'_>) -> Result<(), Refusal> {
    let Some((key, value)) = given.value.split_once('=') else {
        return Err(given.wrong("KEY=VALUE, such as summaryFormat=JSON"));
    };
    let key = key.trim().to_ascii_lowercase();
    let named = |table: &'static [(&str, &'static str)]| table.iter().find(|(name, _)| *name == key);
    if let Some((_, option)) = named(DIRECTIVES) {
        return SYNTAX.set(draft, option, value);
    }
    if let Some((_, option)) = named(SWITCHES) {
        // What is said twice on a command line is 2 here.
        let times = if value == "0" { 0 } else { value.parse().map_or(1, |times: u32| times.clamp(1, 2)) };
        return (0..times).try_for_each(|_| SYNTAX.named(draft, option, None, &mut [].iter().peekable()));
    }
    match (key.as_str(), value) {
        ("summaryformat", format) => draft.command.summary = summary(given, format)?,
        ("summaryfile", file) => draft.command.summary_file = Some(file.into()),
        ("saveperopdatacsv", prefix) => draft.command.op_files = Some(prefix.into()),
        ("stonewallingwearout", value) => draft.command.shape.wear_out.is_on = value != "0",
        ("stonewallingwearoutiterations", value) => {
            let transfers = value.parse().map_err(|_| given.wrong("a number of transfers of each task"))?;
            draft.command.shape.wear_out.transfers = Some(transfers).filter(|count| *count > 0);
        }
        ("stonewallingstatusfile", file) => draft.command.shape.wear_out.status_file = Some(file.into()),
        _ => return Err(given.unsupported("it is none of those that `fathom as ior --help` shows")),
    }
    Ok(())
}

fn summary(given: &Given<'_>, format: &str) -> Result<Summary, Refusal> {
    match format.to_ascii_lowercase().as_str() {
        "default" => Ok(Summary::Text),
        "json" => Ok(Summary::Json),
        "csv" => Ok(Summary::Csv),
        _ => Err(given.wrong("summaryFormat=default, JSON or CSV")),
    }
}
