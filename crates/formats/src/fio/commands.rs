//! Options of the engines that send a device commands: ioengine=sg and io_uring_cmd.

use workload::spec::WriteCommand;

use crate::Refusal;

use super::access::Rw;
use super::settings::Options;

/// Options that belong to these engines, each with those that it belongs to.
const OWN: [(&str, &[&str]); 6] = [
    ("sg_write_mode", &["sg"]),
    ("cmd_type", &["io_uring_cmd"]),
    ("write_mode", &["io_uring_cmd"]),
    ("verify_mode", &["io_uring_cmd"]),
    ("readfua", &["sg", "io_uring_cmd"]),
    ("writefua", &["sg", "io_uring_cmd"]),
];

/// What such an engine never heeds, with what comes nearest; none of it reaches a command.
const UNHEEDED: [(&str, &[&str], &str); 3] = [
    ("sync", &["0", "none"], "its commands heed no flag of an open file; writefua=1 is the nearest"),
    ("sync_file_range", &["0"], "its commands meet no page cache; fsync= has the drive write its cache out"),
    ("write_hint", &["none"], "its commands carry no lifetime"),
];

/// Whether requests go past the block layer, and so past the page cache.
pub(super) fn are_sent(options: &Options) -> bool {
    matches!(options.text("ioengine"), Some("sg" | "io_uring_cmd"))
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
    let engine = options.text("ioengine").unwrap_or_default();
    let strange = OWN.iter().filter(|(_, engines)| !engines.contains(&engine));
    if let Some((setting, engines)) = strange.filter_map(|(name, of)| Some((options.get(name)?, of))).next() {
        return Err(setting.unsupported(format!("it goes with ioengine={}, as in fio", engines.join(" or "))));
    }
    if !are_sent(options) {
        return Ok(Vec::new());
    }
    for (name, idle, why) in UNHEEDED {
        if let Some(setting) = options.get(name).filter(|setting| !idle.contains(&setting.value.as_str())) {
            return Err(setting.unsupported(format!("with ioengine={engine} {why}")));
        }
    }
    match options.get("cmd_type") {
        Some(setting) if setting.value != "nvme" => {
            return Err(setting.unsupported(
                "it sends NVMe commands alone, cmd_type=nvme; for a SCSI disk use ioengine=sg",
            ));
        }
        _ => {}
    }
    match options.get("verify_mode") {
        Some(setting) if setting.value != "read" => {
            return Err(setting.unsupported(
                "what was written is read back and compared here; write_mode=compare has the drive compare",
            ));
        }
        _ => {}
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
        (true, _) => notes.push("writefua is ignored with this kind of writes, as in fio".into()),
        (false, _) => {}
    }
    Ok(keys)
}

fn write_command(options: &Options) -> Result<WriteCommand, Refusal> {
    let asked = ["sg_write_mode", "write_mode"].iter().find_map(|name| options.get(name));
    let Some(setting) = asked else { return Ok(WriteCommand::Write) };
    let is_nvme = options.text("ioengine") == Some("io_uring_cmd");
    let command = match (setting.value.as_str(), is_nvme) {
        ("write", _) => WriteCommand::Write,
        ("uncor", true) => WriteCommand::WriteUncorrectable,
        ("zeroes", true) => WriteCommand::WriteZeroes,
        ("verify", true) => WriteCommand::Verify,
        ("compare", true) => WriteCommand::Compare,
        (_, true) => return Err(setting.wrong("write, uncor, zeroes, verify or compare")),
        ("write_and_verify" | "verify", _) => WriteCommand::WriteAndVerify,
        ("write_same" | "same", _) => WriteCommand::WriteSame,
        ("write_same_ndob", _) => WriteCommand::WriteZeroes,
        ("verify_bytchk_00", _) => WriteCommand::Verify,
        ("verify_bytchk_01", _) => WriteCommand::Compare,
        ("verify_bytchk_11", _) => WriteCommand::CompareSame,
        ("write_stream", _) => {
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
