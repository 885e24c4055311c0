//! Options of the engines that send a device commands: ioengine=sg.

use workload::spec::WriteCommand;

use crate::Refusal;

use super::access::Rw;
use super::settings::Options;

/// Options that belong to these engines alone.
const OWN: [&str; 3] = ["sg_write_mode", "readfua", "writefua"];

/// What such an engine never heeds, with what comes nearest; none of it reaches a command.
const UNHEEDED: [(&str, &[&str], &str); 3] = [
    ("sync", &["0", "none"], "its commands heed no flag of an open file; writefua=1 is the nearest"),
    ("sync_file_range", &["0"], "its commands meet no page cache; fsync= sends SYNCHRONIZE CACHE"),
    ("write_hint", &["none"], "its commands carry no lifetime"),
];

/// Whether requests go past the block layer, and so past the page cache.
pub(super) fn are_sent(options: &Options) -> bool {
    options.text("ioengine") == Some("sg")
}

/// Whether the target is a generic node, which takes several commands at a time; fio itself sends a block device one.
pub(super) fn is_generic(options: &Options) -> bool {
    let names = options.text("filename").unwrap_or_default();
    !names.is_empty() && names.split(':').all(|name| name.starts_with("/dev/sg"))
}

/// The keys of a plan for them.
pub(super) fn keys(
    options: &Options,
    rw: Rw,
    notes: &mut Vec<String>,
) -> Result<Vec<(&'static str, String)>, Refusal> {
    if !are_sent(options) {
        return match OWN.iter().find_map(|name| options.get(name)) {
            Some(setting) => Err(setting.unsupported("it goes with ioengine=sg, as in fio")),
            None => Ok(Vec::new()),
        };
    }
    for (name, idle, why) in UNHEEDED {
        if let Some(setting) = options.get(name).filter(|setting| !idle.contains(&setting.value.as_str())) {
            return Err(setting.unsupported(format!("with ioengine=sg {why}")));
        }
    }
    let mut keys = Vec::new();
    if options.flag("readfua")? == Some(true) && rw.has[super::access::READ] {
        keys.push(("read_fua", "true".into()));
    }
    if !rw.changes() {
        return Ok(keys);
    }
    let command = write_command(options)?;
    if command != WriteCommand::Write {
        keys.push(("write_command", format!("\"{command}\"")));
    }
    match (options.flag("writefua")? == Some(true), command) {
        (true, WriteCommand::Write) => keys.push(("write_fua", "true".into())),
        (true, _) => notes.push("writefua is ignored with this sg_write_mode, as in fio".into()),
        (false, _) => {}
    }
    Ok(keys)
}

fn write_command(options: &Options) -> Result<WriteCommand, Refusal> {
    let Some(setting) = options.get("sg_write_mode") else { return Ok(WriteCommand::Write) };
    let command = match setting.value.as_str() {
        "write" => WriteCommand::Write,
        "write_and_verify" | "verify" => WriteCommand::WriteAndVerify,
        "write_same" | "same" => WriteCommand::WriteSame,
        "write_same_ndob" => WriteCommand::WriteZeroes,
        "verify_bytchk_00" => WriteCommand::Verify,
        "verify_bytchk_01" => WriteCommand::Compare,
        "verify_bytchk_11" => WriteCommand::CompareSame,
        "write_stream" => {
            return Err(setting.unsupported(
                "WRITE STREAM needs a drive with streams, one of which would be left open if the run ended; write is the nearest",
            ));
        }
        _ => {
            return Err(setting.wrong(
                "write, write_and_verify, write_same, write_same_ndob, verify_bytchk_00, verify_bytchk_01 or verify_bytchk_11",
            ));
        }
    };
    let is_verified = options.text("verify").is_some_and(|kind| !matches!(kind, "0" | "none" | "null"));
    match is_verified && !command.stores_data() {
        true => {
            Err(setting
                .unsupported("verify= needs a command that stores the data: write or write_and_verify"))
        }
        false => Ok(command),
    }
}
