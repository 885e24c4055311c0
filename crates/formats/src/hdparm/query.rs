//! What hdparm asks a drive, and how it prints the answers.

/// Something that is asked, in the order in which hdparm prints it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Query {
    /// `--dco-identify`.
    Configuration,
    /// `--read-sector`.
    Sector,
    /// `-H`.
    Temperature,
    /// `-m`.
    Multiple,
    /// `-c`.
    Width,
    /// `-u`.
    Unmask,
    /// `-d`.
    Dma,
    /// `-Q`.
    QueueDepth,
    /// `-k`.
    KeepSettings,
    /// `-n`.
    NoWriteErrors,
    /// `-r`.
    ReadOnly,
    /// `-a`.
    ReadAhead,
    /// `-g`.
    Geometry,
    /// `-C`.
    Power,
    /// `-i`.
    Identity,
    /// `-I`.
    Details,
    /// `--Istdout`.
    Words,
    /// `--Iraw`.
    RawWords,
    /// `-A`.
    LookAhead,
    /// `-W`.
    WriteCache,
    /// `-B`.
    PowerManagement,
    /// `-M`.
    Acoustic,
    /// `-R`.
    WriteReadVerify,
    /// `-N`.
    HighestSector,
}

impl Query {
    /// What is asked where no option says anything, and with `-v`.
    pub(super) const DEFAULTS: [Query; 8] = [
        Query::Multiple,
        Query::Width,
        Query::Unmask,
        Query::Dma,
        Query::KeepSettings,
        Query::ReadOnly,
        Query::ReadAhead,
        Query::Geometry,
    ];

    /// Whether nothing is said where it is asked by default and there is no answer.
    pub fn is_of_old_drivers(self) -> bool {
        self <= Query::NoWriteErrors
    }

    /// The line of a number that a driver keeps.
    pub fn number(self, value: u64) -> String {
        let switch = if value == 0 { "(off)" } else { "(on)" };
        match self {
            Query::Width => {
                let what = match value {
                    0 => "default",
                    1 => "32-bit",
                    2 => "16-bit",
                    3 => "32-bit w/sync",
                    8 => "Request-Queue-Bypass",
                    _ => "???",
                };
                format!(" IO_support    ={value:3} ({what})\n")
            }
            Query::Dma if value == 8 => " using_dma     =  8 (DMA-Assisted-PIO)\n".into(),
            _ => format!(" {:14}= {value:2} {switch}\n", self.label()),
        }
    }

    fn label(self) -> &'static str {
        match self {
            Query::Multiple => "multcount",
            Query::Width => "IO_support",
            Query::Unmask => "unmaskirq",
            Query::Dma => "using_dma",
            Query::QueueDepth => "queue_depth",
            Query::KeepSettings => "keepsettings",
            Query::NoWriteErrors => "nowerr",
            Query::ReadOnly => "readonly",
            Query::ReadAhead => "readahead",
            Query::LookAhead => "look-ahead",
            Query::WriteCache => "write-caching",
            Query::Acoustic => "acoustic",
            Query::PowerManagement => "APM_level",
            _ => "",
        }
    }

    /// The line of a setting that an ATA drive tells among the `words` of its identity.
    pub fn setting(self, words: &[u16; 256]) -> String {
        let has = |word: usize, bit: u16| words[word] >> bit & 1 == 1;
        let label = self.label();
        let switch = |supported: bool, on: bool| match supported {
            false => format!(" {label:14}= not supported\n"),
            true => self.number(on.into()),
        };
        match self {
            Query::LookAhead => switch(has(82, 6), has(85, 6)),
            Query::WriteCache => switch(has(82, 5), has(85, 5)),
            Query::PowerManagement if !has(83, 3) => " APM_level\t= not supported\n".into(),
            Query::PowerManagement if !has(86, 3) => " APM_level\t= off\n".into(),
            Query::PowerManagement => format!(" APM_level\t= {}\n", words[91] & 0xff),
            Query::WriteReadVerify => match has(119, 1) {
                true => format!(" write-read-verify = {:2}\n", words[120] & 2),
                false => " write-read-verify = not supported\n".into(),
            },
            Query::Acoustic if !has(83, 9) => switch(false, false),
            Query::Acoustic => {
                format!(" {label:14}={:3} (128=quiet ... 254=fast)\n", words[94] & 0xff)
            }
            _ => String::new(),
        }
    }
}

/// The line of `-g`: a disk of so many sectors of 512 bytes, of which a cylinder has `heads` × `sectors`.
pub fn geometry(heads: u8, sectors: u8, all: u64, start: u64) -> String {
    let cylinder = u64::from(heads) * u64::from(sectors);
    let cylinders = all.checked_div(cylinder).unwrap_or(0);
    format!(" geometry      = {cylinders}/{heads}/{sectors}, sectors = {all}, start = {start}\n")
}

/// The lines of `-H`, from the two registers that a drive of Hitachi answers with.
pub fn temperature(sense: u8, error: u8) -> String {
    let degrees = match sense {
        0 => "under -20".to_owned(),
        0xff => "over 107".into(),
        _ => (i32::from(sense) / 2 - 20).to_string(),
    };
    let is_in_range = if error & 0x10 == 0 { "yes" } else { "no" };
    format!(" drive temperature (celsius) is:  {degrees}\n drive temperature in range:  {is_in_range}\n")
}

/// The line of `-C`; `None` where the drive was not asked or did not answer.
pub fn power(mode: Option<u8>) -> String {
    let state = match mode {
        Some(0x00) => "standby",
        Some(0x40) => "NVcache_spindown",
        Some(0x41) => "NVcache_spinup",
        Some(0x80) => "idle",
        Some(0xff) => "active/idle",
        _ => "unknown",
    };
    format!(" drive state is:  {state}\n")
}
