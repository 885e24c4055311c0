//! `fathom as dd if=… of=…`
//!
//! Everything that dd says goes to stderr. `output=old` or `FATHOM_DD=old` prints the lines of coreutils before 8.25.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use conduct::Event;
use formats::Refusal;
use formats::dd::{Command, Copied, Generation, Side, Status, Transfer};
use formats::{TargetInfo, TargetKind};
use real::{LookKind, PlainFile};
use units::Bytes;

use super::{Context, Scratch};
use crate::ending::{Ending, Failure};
use crate::input::targets::look;
use crate::session::signals;
use crate::terminal;

pub fn run(context: &Context<'_>, arguments: &[String]) -> Result<Ending, Failure> {
    let mut command = Command::parse(arguments)?;
    if std::env::var("FATHOM_DD").is_ok_and(|generation| generation == "old") {
        command.generation = Generation::Old;
    }
    let found = found(&command)?;
    let transfer = command.transfer(found)?;
    if transfer.total == 0 {
        return nothing(&command, transfer, found);
    }
    let files = match (command.side, found.kind) {
        (Side::Write(_), TargetKind::File | TargetKind::NewFile) => vec![PlainFile {
            size: Bytes::new(transfer.start + transfer.total),
            cut: command.truncate.then_some(Bytes::new(transfer.start)),
            keep: true,
            ..PlainFile::default()
        }],
        _ => Vec::new(),
    };
    let scratch = Scratch { plain: files, ..Scratch::default() };
    let session = context.open("dd", &command.translate(transfer, found, context.seed()), scratch)?;
    let asked = Arc::new(AtomicBool::new(false));
    signals::set_when_asked(asked.clone()).map_err(Failure::system("listening for signals"))?;
    let mut words = Words { command: &command, asked, before: (0, 0), width: 0, seconds: 0 };
    let recorded = session.measure(&mut |event| words.hear(event));
    words.end_line();
    let mut copied = Copied::of(&recorded.run.points, command.ibs, command.obs);
    let runs_out = transfer.runs_out && copied.bytes == transfer.total;
    if runs_out {
        copied = out_of_space(copied, transfer);
        terminal::say(&format!("dd: error writing '{}': No space left on device", command.target));
    }
    say(&command, &copied);
    let ending = context.end(recorded);
    match runs_out && ending.code == 0 {
        true => {
            Ok(Ending { code: 5, reason: "no space left on the device, as dd finds without `count=`".into() })
        }
        false => Ok(ending),
    }
}

/// What `status=` lets it say at the end.
fn say(command: &Command, copied: &Copied) {
    match command.status {
        Status::None => {}
        Status::NoTransfer => terminal::say_exactly(&copied.records()),
        Status::All | Status::Progress => {
            terminal::say_exactly(&(copied.records() + &copied.transfer(command.generation)));
        }
    }
}

/// `count=0`: a file is there afterwards, as long as `seek=` says, and nothing else happens. What holds data is cut by no
/// word of dd's.
fn nothing(command: &Command, transfer: Transfer, found: TargetInfo) -> Result<Ending, Failure> {
    let (name, clock) = (&command.target, host::clock::Clock::start());
    let failed = Failure::system(format!("dd: making {name}"));
    match (command.side, found.kind) {
        (Side::Write(_), TargetKind::NewFile) => {
            let file = std::fs::File::create_new(units::name::path(name)).map_err(&failed)?;
            file.set_len(transfer.start).map_err(&failed)?;
        }
        (Side::Write(_), TargetKind::File) if command.truncate && found.size != transfer.start => {
            let what =
                format!("{name} would be cut to {} bytes; say `conv=notrunc`, or remove it", transfer.start);
            return Err(Failure::Tool(Refusal::Usage { tool: "dd", what }));
        }
        _ => {}
    }
    let copied = Copied::so_far(
        0,
        clock.now().saturating_since(units::Instant::START).get().max(1),
        command.ibs,
        command.obs,
    );
    say(command, &copied);
    Ok(Ending::done())
}

/// dd has read one block more when it notices, and does not count a block that was written in part.
fn out_of_space(copied: Copied, transfer: Transfer) -> Copied {
    assert!(transfer.runs_out, "what fits is written");
    debug_assert!(copied.bytes <= transfer.total, "no more was written than fits");
    Copied { blocks_in: (transfer.full() + 1, 0), blocks_out: (transfer.full(), 0), ..copied }
}

fn found(command: &Command) -> Result<TargetInfo, Failure> {
    let look = look(&command.target)?;
    let name = &command.target;
    let usage = |what: String| Err(Failure::Tool(Refusal::Usage { tool: "dd", what }));
    let kind = match look.kind {
        LookKind::Device => TargetKind::Device,
        LookKind::File => TargetKind::File,
        LookKind::NewFile => TargetKind::NewFile,
        LookKind::Directory => return usage(format!("{name} is a directory")),
    };
    match kind {
        TargetKind::NewFile if command.side == Side::Read => usage(format!("{name}: there is no such file")),
        TargetKind::NewFile if command.existing => {
            usage(format!("{name}: there is no such file, and `conv=nocreat`"))
        }
        TargetKind::File if command.exclusive && command.side != Side::Read => {
            usage(format!("{name} is there, and `conv=excl`"))
        }
        _ => Ok(TargetInfo { size: look.size.get(), kind, direct_unit: look.direct_unit.map(Bytes::get) }),
    }
}

/// What is said while it works.
struct Words<'a> {
    command: &'a Command,
    asked: Arc<AtomicBool>,
    /// Bytes and nanoseconds of the points that have ended.
    before: (u64, u64),
    /// Characters of the progress line that stands, to be covered by the next.
    width: usize,
    /// The second that was last told.
    seconds: u64,
}

impl Words<'_> {
    fn hear(&mut self, event: &Event<'_>) {
        match event {
            Event::Live { live, .. } if live.doing == "load" => {
                let elapsed_ns = self.before.1 + live.now.saturating_since(live.started).get();
                self.tell(self.before.0 + live.progress.bytes, elapsed_ns);
            }
            Event::PointEnded { point } => {
                let Command { ibs, obs, .. } = *self.command;
                let copied = Copied::of([*point], ibs, obs);
                self.before = (self.before.0 + copied.bytes, self.before.1 + copied.elapsed_ns);
            }
            _ => {}
        }
    }

    fn tell(&mut self, bytes: u64, elapsed_ns: u64) {
        let copied = Copied::so_far(bytes, elapsed_ns, self.command.ibs, self.command.obs);
        let generation = self.command.generation;
        if self.asked.swap(false, Ordering::Relaxed) {
            self.end_line();
            terminal::say_exactly(&(copied.records() + &copied.transfer(generation)));
        }
        let seconds = elapsed_ns / 1_000_000_000;
        if self.command.status == Status::Progress && seconds > self.seconds {
            debug_assert!(
                self.width == 0 || self.seconds > 0,
                "a line of progress that stands was of some second"
            );
            self.seconds = seconds;
            let line = copied.progress(generation);
            terminal::say_exactly(&format!("\r{line:width$}", width = self.width));
            self.width = line.len();
        }
    }

    fn end_line(&mut self) {
        if self.width > 0 {
            terminal::say_exactly("\n");
            self.width = 0;
        }
    }
}
