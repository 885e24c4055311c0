//! hdparm's options: the timings are supported, everything else that 9.65 does is not.

use super::TOOL;
use crate::Refusal;
use crate::options::{Notes, Opt, Style, Syntax, alone, flag, ignored, parsed, unsupported};

/// A command line of hdparm.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Command {
    /// `-T`: reads from memory. Comes first whatever the order of the options.
    pub cached: bool,
    /// `-t`: reads from the device.
    pub disk: bool,
    /// `--direct`.
    pub direct: bool,
    /// `--offset`: where `-t` begins.
    pub offset_gib: u64,
    /// One after the other.
    pub devices: Vec<String>,
    /// What was understood but changes nothing.
    pub notes: Vec<String>,
}

impl Command {
    /// Reads the arguments after the tool's name.
    pub fn parse(arguments: &[String]) -> Result<Command, Refusal> {
        let mut command = Command::default();
        SYNTAX.read(&mut command, arguments)?;
        if !command.disk && !command.cached {
            let what = "nothing to time; say `-t` for reads of the device, `-T` for reads of memory, or both";
            return Err(Refusal::usage(TOOL, what));
        }
        match command.devices.is_empty() {
            true => Err(Refusal::usage(TOOL, "name a device, such as /dev/sda")),
            false => Ok(command),
        }
    }
}

impl Notes for Command {
    fn notes(&mut self) -> &mut Vec<String> {
        &mut self.notes
    }
}

pub(crate) const SYNTAX: Syntax<Command> = Syntax {
    tool: TOOL,
    style: Style::Letters,
    any_case: false,
    options: &[OPTIONS],
    operand: |command, device| {
        command.devices.push(device.into());
        Ok(())
    },
};

/// No device has more than 2^63 bytes.
const OFFSET_MOST_GIB: u64 = (1 << 33) - 1;

const OPTIONS: &[Opt<Command>] = &[
    flag("-t", "times reads of the device", |command| command.disk = true),
    flag("-T", "times reads of memory; comes first", |command| command.cached = true),
    flag("--direct", "reads past the page cache", |command| command.direct = true),
    parsed("--offset", "GIB", "where `-t` begins", |command, given| {
        let gib = given.read(|text| text.parse().ok(), "a whole number of GiB")?;
        command.offset_gib = gib;
        if gib <= OFFSET_MOST_GIB { Ok(()) } else { Err(given.wrong("a whole number of GiB")) }
    }),
    ignored("-f", "the page cache is emptied after each timing in any case"),
    unsupported(
        "-a",
        "settings of a device are not read or changed here; the plan `read-ahead` sets read-ahead, measures and puts \
         it back",
    ),
    alone("-h", "prints these options"),
    alone("-V", "prints the version"),
    unsupported(
        "-i -I -C -H -g --Istdin --Istdout --dco-identify --fibmap --sanitize-status --security-help --verbose -q -v",
        "what the drive says of itself is not read by its own commands; `fathom targets` and the record of each run \
         have what the system knows of it",
    ),
    unsupported(
        "-A -B -c -d -J -k -K -L -m -M -N -p -P -Q -r -s -S -u -W -X -z -Z --idle-immediate --idle-unload \
         --prefer-ata12 --set-sector-size",
        "a setting of the drive would be changed or read, which a measurement does not; call hdparm before",
    ),
    unsupported(
        "-b -D -n -R -U -w -x -E -y -Y -F",
        "the drive or its bus would be stopped, reset or flushed; call hdparm before",
    ),
    unsupported(
        "--dco-freeze --dco-restore --drq-hsm-error --fallocate --fwdownload --make-bad-sector --read-sector \
         --repair-sector --security-erase --trim-sector-ranges --write-sector --yes-i-know-what-i-am-doing",
        "it may destroy data or the drive, for which nothing here gives consent",
    ),
];
