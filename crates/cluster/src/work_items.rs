//! Work in pieces that do not depend on each other: rank 0 hands them out one by one, so that a quick rank does more of
//! them, and takes what comes back in their order.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::error::{ClusterError, Refused};
use crate::greeting::greeted;
use crate::head::refuse;
use crate::link::Link;
use crate::message::{Hello, Message};
use crate::peer::Ended;

/// How long one look for messages may take.
const WAIT: Duration = Duration::from_millis(1);

/// How old an answer may be: pieces are of some hundredths of a second, and whoever waits for one does nothing.
const SOON: Duration = Duration::from_millis(2);

/// Rank 0 of work in pieces.
pub struct WorkItems {
    link: Arc<Link>,
    hosts: Vec<String>,
    pieces: Pieces,
    /// How many pieces there were: they are numbered over all calls, so that a late answer is known as one.
    begun: Mutex<u64>,
}

/// Pieces that nobody has begun.
type Open = Mutex<VecDeque<usize>>;

fn next(open: &Open) -> Option<usize> {
    open.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
}

fn left(open: &Open) -> usize {
    open.lock().unwrap_or_else(PoisonError::into_inner).len()
}

/// How long pieces of work take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pieces {
    /// Some hundredths of a second: a rank has some more at hand, so that it need not wait for an answer, which takes longer than
    /// a small piece.
    Short,
    /// Seconds and more: a rank has one at a time, and none waits behind another.
    Long,
}

impl Pieces {
    /// How many one of `ranks` may have where `open` are left: one that it carries out, and others that are there when that has
    /// ended. Fewer towards the end: the last ones go to whoever has ended.
    fn at_once(self, open: usize, ranks: usize) -> usize {
        const MOST: usize = 16;
        assert!(ranks > 0, "nobody carries pieces out");
        match self {
            Pieces::Short => (open / (2 * ranks)).clamp(1, MOST),
            Pieces::Long => 1,
        }
    }
}

/// Results by the place of their piece, those that were taken gone.
struct Early<T> {
    results: BTreeMap<usize, T>,
    taken: usize,
}

impl<T> Early<T> {
    fn add(&mut self, position: usize, result: T) {
        let before = self.results.insert(position, result);
        assert!(position >= self.taken && before.is_none(), "piece {position} is done once");
    }

    /// Hands on what is next in order; false once no more is wanted.
    fn hand_on(&mut self, take: &mut dyn FnMut(usize, T) -> bool) -> bool {
        while let Some(result) = self.results.remove(&self.taken) {
            self.taken += 1;
            if !take(self.taken - 1, result) {
                return false;
            }
        }
        true
    }
}

impl WorkItems {
    /// Greets the other ranks, which [`run_work_items`]. Where one has another version or other work, all get the reason and nothing
    /// is done.
    pub fn open(link: Arc<Link>, hello: &Hello, pieces: Pieces) -> Result<WorkItems, Refused> {
        assert_eq!(link.rank(), 0, "work in pieces has one head");
        link.look_every(SOON);
        let hellos = greeted(&link, hello).inspect_err(|why| refuse(&link, why))?;
        let hosts = hellos.into_iter().map(|hello| hello.host).collect();
        Ok(WorkItems { link, hosts, pieces, begun: Mutex::new(0) })
    }

    /// Carries out the pieces that `texts` describe: here by `here`, one after the other on a thread of its own, and at
    /// the other ranks, whose answers `read` makes out. `take` gets the results in the order of the pieces, and says
    /// whether more are wanted. An error where a rank has gone, or answers what is none; results in order up to there have
    /// been taken.
    pub fn execute<T: Send>(
        &self,
        texts: &[String],
        here: &(dyn Fn(usize) -> T + Sync),
        read: &dyn Fn(&str) -> Option<T>,
        take: &mut dyn FnMut(usize, T) -> bool,
    ) -> Result<(), ClusterError> {
        let open: Open = Mutex::new((0..texts.len()).collect());
        let mut out = Out::new(self, texts);
        let mut early = Early { results: BTreeMap::new(), taken: 0 };
        let (own, results) = channel();
        std::thread::scope(|scope| {
            let open = &open;
            let thread = scope.spawn(move || execute_here(open, here, &own));
            let ended = loop {
                // Before the results are looked at: what it gave is among them.
                let is_over = thread.is_finished() && out.is_idle();
                results.try_iter().for_each(|(position, result)| early.add(position, result));
                if !early.hand_on(take) || early.taken == texts.len() || is_over {
                    // Over before all are there is a piece that panicked here, which the scope tells.
                    break Ok(());
                }
                out.fill(open);
                match out.listen(read) {
                    Ok(Some((position, result))) => early.add(position, result),
                    Ok(None) => {}
                    Err(error) => break Err(error),
                }
            };
            // Nothing more is begun here; what another rank still has is an answer that nobody waits for.
            open.lock().unwrap_or_else(PoisonError::into_inner).clear();
            ended
        })
    }

    fn first_number(&self, count: usize) -> u64 {
        let mut begun = self.begun.lock().unwrap_or_else(PoisonError::into_inner);
        let first = *begun;
        *begun += units::convert::narrow::<u64>(count);
        first
    }
}

impl Drop for WorkItems {
    fn drop(&mut self) {
        self.link.send_all(&Message::End);
    }
}

/// The pieces of one call that other ranks have.
struct Out<'a> {
    work_items: &'a WorkItems,
    texts: &'a [String],
    /// The number of the first piece.
    first: u64,
    /// Those that each rank has.
    with: Vec<BTreeSet<usize>>,
}

impl<'a> Out<'a> {
    fn new(work_items: &'a WorkItems, texts: &'a [String]) -> Out<'a> {
        let first = work_items.first_number(texts.len());
        Out { work_items, texts, first, with: vec![BTreeSet::new(); work_items.link.size()] }
    }

    /// Whether no other rank has a piece.
    fn is_idle(&self) -> bool {
        self.with.iter().all(BTreeSet::is_empty)
    }

    /// Gives each rank as many pieces as it may have.
    fn fill(&mut self, open: &Open) {
        for rank in self.work_items.link.others() {
            while self.with[rank].len() < self.work_items.pieces.at_once(left(open), self.with.len()) {
                let Some(position) = next(open) else { return };
                self.with[rank].insert(position);
                let number = self.first + units::convert::narrow::<u64>(position);
                self.work_items
                    .link
                    .send(rank, &Message::WorkItem { number, text: self.texts[position].clone() });
            }
        }
    }

    /// The next result that comes within a moment.
    fn listen<T>(&mut self, read: &dyn Fn(&str) -> Option<T>) -> Result<Option<(usize, T)>, ClusterError> {
        let link = &self.work_items.link;
        let (rank, message) = match link.receive(WAIT)? {
            Some(heard) => heard,
            None => return self.all_live().map(|()| None),
        };
        let Message::Done { number, text } = message else { return Ok(None) };
        // What a call that was ended has left out there.
        let Some(position) = number.checked_sub(self.first) else { return Ok(None) };
        let position: usize = units::convert::narrow(position);
        if !self.with[rank].remove(&position) {
            let why = format!("piece {position} was not given to it");
            return Err(ClusterError::Garbled { rank, why });
        }
        match read(&text) {
            Some(result) => Ok(Some((position, result))),
            None => Err(ClusterError::Garbled { rank, why: format!("`{text}` is no result") }),
        }
    }

    fn all_live(&self) -> Result<(), ClusterError> {
        match self.work_items.link.silent() {
            None => Ok(()),
            Some((rank, millis)) => {
                Err(ClusterError::Silent { rank, host: self.work_items.hosts[rank].clone(), millis })
            }
        }
    }
}

fn execute_here<T>(open: &Open, here: &(dyn Fn(usize) -> T + Sync), results: &Sender<(usize, T)>) {
    while let Some(position) = next(open) {
        // Nobody takes it where no more is wanted.
        let _wanted = results.send((position, here(position)));
    }
}

/// On a rank other than 0: carries out one piece after the other until rank 0 says that all is done.
pub fn run_work_items(link: &Link, hello: Hello, work: &dyn Fn(&str) -> String) -> Ended {
    assert_ne!(link.rank(), 0, "rank 0 hands out");
    link.look_every(SOON);
    link.send(0, &Message::Hello(hello));
    loop {
        match link.receive(WAIT * 20) {
            Ok(Some((_, Message::WorkItem { number, text }))) => {
                link.send(0, &Message::Done { number, text: work(&text) });
            }
            Ok(Some((_, Message::End))) => return Ended::Done,
            Ok(Some((_, Message::Refused(why)))) => return Ended::Refused(why),
            Ok(None) if link.silent().is_some() => {
                return Ended::Lost("rank 0 shows no sign of life".into());
            }
            Ok(_) => {}
            Err(error) => return Ended::Lost(error.to_string()),
        }
    }
}
