//! Sequential readers, told apart and read ahead of.
//!
//! The same table serves a controller's cache and a host's page cache; they differ in how the window grows.
//!
//! **Invariant:** what is fetched for a stream is one run without gaps, from what its reader has taken on.

/// How a stream is recognised and how far it is read ahead. Addresses and lengths are in sectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Streams told apart.
    pub streams: u32,
    /// Contiguous reads that make a stream.
    pub confirm: u32,
    /// First window.
    pub start: u64,
    /// Largest window.
    pub max: u64,
}

/// What a read finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It belongs to no confirmed stream.
    Stranger,
    /// All of it has been fetched.
    Ready,
    /// All of it is being fetched for that stream; wait with [`ReadAhead::wait`].
    Coming(u32),
}

/// Something to be fetched for a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fetch {
    /// The stream.
    pub stream: u32,
    /// First sector.
    pub from: u64,
    /// First sector after it.
    pub to: u64,
}

#[derive(Clone, Debug, Default)]
struct Stream {
    volume: u32,
    /// Where the reader is expected next.
    next: u64,
    count: u32,
    used: u64,
    window: u64,
    /// All before has been fetched, or asked for.
    ready: u64,
    issued: u64,
    /// Under way, in order.
    under_way: Vec<(u64, u64, bool)>,
    waiters: Vec<(u64, u32)>,
}

/// The table of streams.
#[derive(Clone, Debug)]
pub struct ReadAhead {
    rule: Rule,
    streams: Vec<Stream>,
    clock: u64,
}

impl ReadAhead {
    /// An empty table.
    pub fn new(rule: Rule) -> ReadAhead {
        ReadAhead { rule, streams: vec![Stream::default(); rule.streams as usize], clock: 0 }
    }

    /// A read of `from..to` of `volume`, which ends at sector `end`. What is to be fetched goes to `fetches`: first
    /// what the reader waits for, then what it will want.
    pub fn access(&mut self, volume: u32, from: u64, to: u64, end: u64, fetches: &mut Vec<Fetch>) -> Verdict {
        self.clock += 1;
        let Some(index) = self.find(volume, from, to) else {
            self.begin(volume, to);
            return Verdict::Stranger;
        };
        let (rule, clock) = (self.rule, self.clock);
        let stream = &mut self.streams[index];
        stream.used = clock;
        stream.count += 1;
        stream.next = stream.next.max(to);
        if stream.count < rule.confirm {
            stream.ready = stream.next;
            stream.issued = stream.next;
            return Verdict::Stranger;
        }
        if stream.count == rule.confirm {
            (stream.ready, stream.issued) = (from, from);
        }
        let index = index as u32;
        if to > stream.issued {
            let fetch = Fetch { stream: index, from: stream.issued.max(from), to };
            stream.ask(fetch);
            fetches.push(fetch);
        }
        // Half the window unread is when the next one is asked for.
        if stream.issued < end
            && stream.issued - stream.next.min(stream.issued) < stream.window.div_ceil(2).max(1)
        {
            stream.window = if stream.window == 0 { rule.start } else { (stream.window * 2).min(rule.max) };
            let ahead =
                Fetch { stream: index, from: stream.issued, to: (stream.next + stream.window).min(end) };
            if ahead.to > ahead.from {
                stream.ask(ahead);
                fetches.push(ahead);
            }
        }
        if to <= stream.ready { Verdict::Ready } else { Verdict::Coming(index) }
    }

    /// Has `reader` wait until stream `stream` has been fetched up to `to`.
    pub fn wait(&mut self, stream: u32, to: u64, reader: u32) {
        self.streams[stream as usize].waiters.push((to, reader));
    }

    /// A fetch has ended; the readers that need wait no longer go to `released`.
    pub fn fetched(&mut self, fetch: Fetch, released: &mut Vec<u32>) {
        let stream = &mut self.streams[fetch.stream as usize];
        if let Some(part) =
            stream.under_way.iter_mut().find(|part| (part.0, part.1) == (fetch.from, fetch.to))
        {
            part.2 = true;
        }
        let done = stream.under_way.iter().take_while(|part| part.2).count();
        if let Some(last) = done.checked_sub(1) {
            stream.ready = stream.ready.max(stream.under_way[last].1);
            stream.under_way.drain(..done);
        }
        let ready = stream.ready;
        stream.waiters.retain(|&(to, reader)| {
            if to <= ready {
                released.push(reader);
            }
            to > ready
        });
    }

    /// The stream that a read belongs to: it starts where the reader is expected, give or take what requests of one
    /// reader overtake each other.
    fn find(&self, volume: u32, from: u64, to: u64) -> Option<usize> {
        let slack = 8 * (to - from);
        self.streams.iter().position(|stream| {
            let foremost = stream.next.max(stream.issued);
            stream.used > 0
                && stream.volume == volume
                && from + slack >= stream.next
                && from <= if stream.count >= self.rule.confirm { foremost } else { stream.next + slack / 8 }
                && (to > stream.next || from + slack > stream.next)
        })
    }

    /// Notes a read as the possible begin of a stream, in the place of the one that was used longest ago.
    fn begin(&mut self, volume: u32, next: u64) {
        let idle = |stream: &&mut Stream| stream.under_way.is_empty() && stream.waiters.is_empty();
        let Some(stream) = self.streams.iter_mut().filter(idle).min_by_key(|stream| stream.used) else {
            return;
        };
        *stream = Stream {
            volume,
            next,
            count: 1,
            used: self.clock,
            window: 0,
            ready: next,
            issued: next,
            under_way: std::mem::take(&mut stream.under_way),
            waiters: std::mem::take(&mut stream.waiters),
        };
    }
}

impl Stream {
    fn ask(&mut self, fetch: Fetch) {
        self.issued = fetch.to;
        self.under_way.push((fetch.from, fetch.to, false));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULE: Rule = Rule { streams: 4, confirm: 2, start: 64, max: 256 };
    const END: u64 = 1_000_000;

    #[test]
    fn the_second_contiguous_read_makes_a_stream_and_is_read_ahead_of() {
        let mut table = ReadAhead::new(RULE);
        let mut fetches = Vec::new();
        assert_eq!(table.access(0, 0, 16, END, &mut fetches), Verdict::Stranger);
        assert!(fetches.is_empty());
        assert_eq!(table.access(0, 16, 32, END, &mut fetches), Verdict::Coming(0));
        assert_eq!(fetches, [Fetch { stream: 0, from: 16, to: 32 }, Fetch { stream: 0, from: 32, to: 96 }]);
    }

    #[test]
    fn a_reader_waits_until_all_before_its_end_is_there() {
        let mut table = ReadAhead::new(RULE);
        let (mut fetches, mut released) = (Vec::new(), Vec::new());
        table.access(0, 0, 16, END, &mut fetches);
        table.access(0, 16, 32, END, &mut fetches);
        table.wait(0, 32, 7);
        table.fetched(fetches[1], &mut released);
        assert!(released.is_empty());
        table.fetched(fetches[0], &mut released);
        assert_eq!(released, [7]);
        fetches.clear();
        assert_eq!(table.access(0, 32, 48, END, &mut fetches), Verdict::Ready);
    }

    #[test]
    fn the_window_doubles_to_its_limit_and_stops_at_the_end_of_the_volume() {
        let mut table = ReadAhead::new(RULE);
        let (mut fetches, mut released) = (Vec::new(), Vec::new());
        for n in 0..200 {
            table.access(0, n * 16, (n + 1) * 16, 3_000, &mut fetches);
        }
        let longest = fetches.iter().map(|fetch| fetch.to - fetch.from).max();
        assert!(longest <= Some(256) && longest >= Some(128), "{longest:?}");
        assert!(fetches.windows(2).all(|pair| pair[0].to == pair[1].from));
        assert_eq!(fetches.iter().map(|fetch| fetch.to).max(), Some(3_200));
        for fetch in fetches {
            table.fetched(fetch, &mut released);
        }
    }

    #[test]
    fn random_reads_make_no_stream() {
        let mut table = ReadAhead::new(RULE);
        let mut fetches = Vec::new();
        let mut draws = crate::streams::Stream::open(1, "test");
        for _ in 0..1_000 {
            let from = draws.below(60_000) * 16;
            table.access(0, from, from + 16, END, &mut fetches);
        }
        assert!(fetches.len() < 4, "{}", fetches.len());
    }
}
