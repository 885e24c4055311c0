//! A workload while its keys are being read.

use document::Wrong;
use units::Share;

use super::lines;
use crate::plan::metric::Metric;
use crate::plan::text::{ContentText, OwnLine, Ratio};
use crate::spec::{Content, OpMix, Pattern, Workload};
use crate::trace::Replay;
use crate::tree::{FileOp, Tree};

/// A workload while its keys are being read: some say something only together.
#[derive(Clone, Debug)]
pub(crate) struct Draft {
    /// Everything that one key says alone.
    pub spec: Workload,
    /// `None`: all that is neither trim nor flush.
    pub reads: Option<Share>,
    /// The lines of its mix.
    pub lines: Vec<OwnLine>,
    /// What `content` says.
    pub content: ContentText,
    /// Size before over size after compression.
    pub compress: Ratio,
    /// Blocks over distinct blocks.
    pub dedupe: Ratio,
    pub headline: Metric,
    /// Its part of the phase's rate.
    pub share: Option<Share>,
    /// What the keys of a trace say, whether one is asked again or not.
    pub replay: Replay,
    /// `tree = "create"`; `None` asks for blocks.
    pub file_op: Option<FileOp>,
    /// What the keys of a tree say, whether there is one or not.
    pub tree: Tree,
}

impl Default for Draft {
    /// Before any key was read; every field is overwritten by the defaults of the entries.
    fn default() -> Draft {
        let one = Ratio(1.0);
        Draft {
            spec: Workload::plain(""),
            reads: None,
            lines: Vec::new(),
            content: ContentText::Random,
            compress: one,
            dedupe: one,
            headline: Metric::Iops,
            share: None,
            replay: Replay::default(),
            file_op: None,
            tree: Tree::plain(FileOp::Create),
        }
    }
}

impl Draft {
    /// The workload, or the key that contradicts another one.
    pub fn finish(mut self) -> Result<Workload, (&'static str, Wrong)> {
        self.spec.lines = lines::finish(&self).map_err(|wrong| ("mix", wrong))?;
        if self.spec.lines.is_empty() {
            let key = if self.reads.is_some() { "reads" } else { "trims" };
            let mix = lines::mix(self.reads, self.spec.mix.trims, self.spec.mix.flushes);
            self.spec.mix = mix.map_err(|wrong| (key, wrong))?;
        } else {
            self.spec.sizes = lines::sizes(&self.spec.lines).map_err(|wrong| ("mix", wrong))?;
            self.spec.mix = OpMix::sum(self.spec.lines.iter().map(|line| (line.requests(), &line.mix)));
        }
        match &mut self.spec.pattern {
            Pattern::Trace(replay) => *replay = self.replay,
            _ if !self.replay.file.is_empty() => {
                let message = "`trace` is given, and `pattern` is not `trace`";
                return Err((
                    "trace",
                    Wrong::new(message, "write `pattern = \"trace\"`, or leave `trace` out"),
                ));
            }
            _ => {}
        }
        let shrinks = self.compress.0 > 1.0 || self.dedupe.0 > 1.0;
        if self.content != ContentText::Random && shrinks {
            let key = if self.compress.0 > 1.0 { "compress" } else { "dedupe" };
            let help = "leave it out, or write `content = \"random\"`";
            let what = match self.content {
                ContentText::Zeros => "zeros have",
                ContentText::Reused => "data that is made once has",
                _ => "a pattern has",
            };
            return Err((key, Wrong::new(format!("{what} no ratio: nothing shrinks more"), help)));
        }
        self.spec.content = match self.content {
            ContentText::Zeros => Content::Zeros,
            ContentText::Reused => Content::Reused,
            ContentText::Pattern(bytes) => Content::Pattern(bytes),
            ContentText::Random => Content::Random { compress: self.compress.0, dedupe: self.dedupe.0 },
        };
        // Files are read and written as programs do it, whose small files no direct I/O could carry.
        self.spec.direct &= self.file_op.is_none();
        self.spec.tree = self.file_op.map(|op| Tree { op, ..self.tree });
        Ok(self.spec)
    }
}
