//! Brings the target to the levels of a cell, by commands and by a person, and reads back what it is at.

use std::io::{self, BufRead};
use std::sync::atomic::Ordering;
use std::time::Duration;

use campaign::{Factor, Means, Turn, fill};
use host::command::{self, Answer};
use record::{CellLack, LackKind, StateProof};

use super::subject::Subject;
use crate::session::signals::{self, Signals};
use crate::terminal;

/// By which a command says that the campaign is to end, and that this cell cannot be had. Those of the Phoronix Test
/// Suite's context hooks.
const ABORT: i32 = 8;
const SKIP: i32 = 9;
/// A command that an interrupt ends has so long to do it in order.
const GRACE: Duration = Duration::from_secs(5);
/// What a command is said to have answered that an interrupt has ended.
const INTERRUPTED: &str = "ended by the interrupt";
/// How often a person is asked again where the state is not what it should be.
const ASKED_MOST: u32 = 3;

/// What came of bringing the target to a cell's levels.
pub enum Prepared {
    /// It is there, as far as anything tells.
    Ready(Vec<StateProof>),
    /// Not measured: why. Aborted, the campaign ends there.
    Not(CellLack),
}

impl Prepared {
    fn not(kind: LackKind, why: String) -> Prepared {
        Prepared::Not(CellLack { kind, why })
    }
}

/// At which levels the target is, as far as this process has brought it there.
#[derive(Default)]
pub struct State {
    at: Vec<Option<usize>>,
    block: u32,
}

impl State {
    /// Brings every factor that a command or a person changes to its level in `turn`, and reads it back.
    pub fn prepare(&mut self, subject: &Subject, turn: &Turn) -> Prepared {
        self.at.resize(subject.campaign.factors.len(), None);
        assert_eq!(turn.levels.len(), self.at.len(), "a turn has a level of each factor");
        debug_assert!(turn.block > 0, "blocks are counted from 1: of block 0 nothing was set yet");
        self.forget_commands(subject, turn.block);
        let mut proofs = Vec::new();
        for (place, factor) in subject.campaign.factors.iter().enumerate() {
            if subject.is_option(factor, turn) {
                continue;
            }
            let at_level = At { subject, factor, turn, level: turn.levels[place] };
            let is_there = self.at[place] == Some(turn.levels[place]);
            self.at[place] = None;
            match at_level.bring(is_there) {
                Prepared::Ready(own) => proofs.extend(own),
                other => return other,
            }
            self.at[place] = Some(turn.levels[place]);
        }
        Prepared::Ready(proofs)
    }
}

impl State {
    /// What a command sets is set anew in each block: a whole plot that keeps the level of the one before it would share what
    /// setting it brings by chance, and the two would count as one.
    fn forget_commands(&mut self, subject: &Subject, block: u32) {
        if std::mem::replace(&mut self.block, block) == block {
            return;
        }
        for (at, factor) in self.at.iter_mut().zip(&subject.campaign.factors) {
            *at = at.filter(|_| !matches!(factor.means, Some(Means::Set(_))));
        }
    }
}

/// The checks of all factors in `turn`, for after the measurement.
pub fn readings(subject: &Subject, turn: &Turn) -> Vec<Reading> {
    let of = |(place, factor)| At { subject, factor, turn, level: turn.levels[place] }.reading();
    let factors = subject.campaign.factors.iter().enumerate();
    factors.filter(|(_, factor)| !subject.is_option(factor, turn)).filter_map(of).collect()
}

/// A command that prints a level.
pub struct Reading {
    factor: String,
    command: String,
    variables: Vec<(String, String)>,
    expected: String,
}

impl Reading {
    /// What it prints now.
    pub fn read(&self, when: &str) -> StateProof {
        let found = match answer(&self.command, &self.variables) {
            Ok(Some(Answer { out, code: Some(0), .. })) => out,
            Ok(Some(answer)) => answer.ending,
            Ok(None) => INTERRUPTED.into(),
            Err(error) => error.to_string(),
        };
        StateProof {
            factor: self.factor.clone(),
            by: format!("`{}`", self.command),
            when: when.into(),
            expected: self.expected.clone(),
            found,
        }
    }
}

/// A factor that is to be at a level.
struct At<'a> {
    subject: &'a Subject,
    factor: &'a Factor,
    turn: &'a Turn,
    level: usize,
}

impl At<'_> {
    fn bring(&self, is_there: bool) -> Prepared {
        match &self.factor.means {
            Some(Means::Set(command)) if !is_there => match self.set(command) {
                Some(other) => other,
                None => self.proven(),
            },
            Some(Means::Ask(words)) if !is_there => self.asked(words),
            _ => self.proven(),
        }
    }

    fn level(&self) -> &str {
        &self.factor.levels[self.level]
    }

    fn filled(&self, template: &str) -> String {
        fill(template, self.level(), &self.subject.levels(self.turn))
    }

    /// The levels of all factors, for commands: `FATHOM_RAID=5`.
    fn variables(&self) -> Vec<(String, String)> {
        let name = |factor: &str| {
            let letters = factor.chars().map(|one| if one.is_ascii_alphanumeric() { one } else { '_' });
            format!("FATHOM_{}", letters.collect::<String>().to_uppercase())
        };
        let levels = self.subject.levels(self.turn);
        let levels = levels.iter().map(|(factor, level)| (name(factor), (*level).to_owned()));
        levels.chain([("FATHOM_BLOCK".into(), self.turn.block.to_string())]).collect()
    }

    /// Runs the command that sets the level; `None` where it went well.
    fn set(&self, command: &str) -> Option<Prepared> {
        let (name, level) = (&self.factor.name, self.level());
        terminal::say_sentence(&format!("setting {name} to {level}: {}", self.filled(command)));
        let answer = match answer(&self.filled(command), &self.variables()) {
            Ok(Some(answer)) => answer,
            Ok(None) => return Some(Prepared::not(LackKind::Aborted, INTERRUPTED.into())),
            Err(error) => {
                let why = format!("`set` of {name} cannot be run: {error}");
                return Some(Prepared::not(LackKind::Void, why));
            }
        };
        let (kind, says) = match answer.code {
            Some(0) => return None,
            Some(ABORT) => (LackKind::Aborted, "says to end"),
            Some(SKIP) => (LackKind::Skipped, "says to skip"),
            _ => (LackKind::Void, "failed"),
        };
        Some(Prepared::not(kind, format!("`set` of {name} to {level} {says}: {}", answer.ending)))
    }

    /// Has a person set the level, again while it is read back as another.
    fn asked(&self, words: &str) -> Prepared {
        for _ in 0..ASKED_MOST {
            if !pressed_enter(&self.filled(words)) {
                return Prepared::not(LackKind::Aborted, "no answer".into());
            }
            match self.reading().map(|reading| reading.read("before")) {
                Some(proof) if !proof.holds() => {
                    let (name, found) = (&self.factor.name, &proof.found);
                    terminal::say_sentence(&format!("{name} is {found}, and should be {}", proof.expected));
                }
                proof => return Prepared::Ready(proof.into_iter().collect()),
            }
        }
        self.proven()
    }

    fn proven(&self) -> Prepared {
        match self.reading().map(|reading| reading.read("before")) {
            Some(proof) if proof.found == INTERRUPTED => Prepared::not(LackKind::Aborted, INTERRUPTED.into()),
            Some(proof) if !proof.holds() => Prepared::not(LackKind::Void, proof.contradiction()),
            proof => Prepared::Ready(proof.into_iter().collect()),
        }
    }

    /// By what the factor is read back; `None` where nothing tells.
    fn reading(&self) -> Option<Reading> {
        let check = self.factor.check.as_ref()?;
        Some(Reading {
            factor: self.factor.name.clone(),
            command: self.filled(&check.command),
            variables: self.variables(),
            expected: self.filled(&check.expect),
        })
    }
}

/// What a command of the campaign's answers; `None` where an interrupt ended it.
fn answer(command: &str, variables: &[(String, String)]) -> io::Result<Option<Answer>> {
    let stop = Signals.stop();
    command::answer(command, variables, GRACE, || stop.load(Ordering::Relaxed))
}

/// Tells a person what to do, and waits for the Enter key; `false` where nobody is there.
fn pressed_enter(words: &str) -> bool {
    terminal::say_sentence(words);
    // There is no run to be ended in order.
    signals::unattended();
    let mut line = String::new();
    let read = io::stdin().lock().read_line(&mut line);
    let is_listening = Signals::listen().is_ok();
    is_listening && read.is_ok_and(|bytes| bytes > 0)
}
