//! Sequential readers, told apart and read ahead of.
//!
//! The same table serves a controller's cache and a host's page cache; they differ in how windows follow each other.
//!
//! **Invariant:** what is fetched for a stream is one run without gaps, from what its reader has taken on.

use units::convert::narrow;
/// How a stream is recognised and how far it is read ahead. Addresses and lengths are in sectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Streams told apart.
    pub streams: u32,
    /// Contiguous reads that make a stream.
    pub confirm: u32,
    /// First window; Linux derives its own from the first request.
    pub start: u64,
    /// Largest window.
    pub max: u64,
    /// How windows follow each other.
    pub growth: Growth,
}

/// How windows follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Growth {
    /// One window beyond the reader, topped up when half of it has been read: controllers.
    Half,
    /// Whole windows back to back. The reader that enters one has the next asked for, so that one is in flight while
    /// the one before it is consumed (Linux `mm/readahead.c`: `ondemand_readahead`, `get_init_ra_size`,
    /// `get_next_ra_size`).
    Linux {
        /// Longest request a window is asked for with.
        piece: u64,
    },
}

/// What a read finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lookup {
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
    /// By its number among those that are followed.
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
    /// Where the reader has the next window asked for.
    marker: u64,
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

    /// Knows no stream any more. Call it when nothing is being fetched.
    pub fn clear(&mut self) {
        self.streams.fill(Stream::default());
        self.clock = 0;
    }

    /// A read of `from..to` of `volume`, which ends at sector `end`. What is to be fetched goes to `fetches`: first
    /// what the reader waits for, then what it will want.
    pub fn access(&mut self, volume: u32, from: u64, to: u64, end: u64, fetches: &mut Vec<Fetch>) -> Lookup {
        self.clock += 1;
        let Some(index) = self.find(volume, from, to) else {
            self.begin(volume, to);
            return Lookup::Stranger;
        };
        let (rule, clock) = (self.rule, self.clock);
        let stream = &mut self.streams[index];
        stream.used = clock;
        stream.count += 1;
        stream.next = stream.next.max(to);
        if stream.count < rule.confirm {
            stream.ready = stream.next;
            stream.issued = stream.next;
            return Lookup::Stranger;
        }
        if stream.count == rule.confirm {
            (stream.ready, stream.issued) = (from, from);
        }
        let index = narrow::<u32>(index);
        match rule.growth {
            Growth::Half => stream.top_up(rule, index, from, to, end, fetches),
            Growth::Linux { piece } => stream.follow(rule.max, piece, index, from, to, end, fetches),
        }
        if to <= stream.ready { Lookup::Ready } else { Lookup::Coming(index) }
    }

    /// Has `reader` wait until stream `stream` has been fetched up to `to`.
    pub fn wait(&mut self, stream: u32, to: u64, reader: u32) {
        self.streams[stream as usize].waiters.push((to, reader));
    }

    /// A fetch has ended; the readers that need wait no longer go to `released`.
    pub fn fetched(&mut self, fetch: Fetch, released: &mut Vec<u32>) {
        let stream = &mut self.streams[fetch.stream as usize];
        let part = stream.under_way.iter_mut().find(|part| (part.0, part.1) == (fetch.from, fetch.to));
        debug_assert!(part.as_ref().is_some_and(|part| !part.2), "what ends was under way, and ends once");
        if let Some(part) = part {
            part.2 = true;
        }
        let done = stream.under_way.iter().take_while(|part| part.2).count();
        if let Some(last) = done.checked_sub(1) {
            stream.ready = stream.ready.max(stream.under_way[last].1);
            stream.under_way.drain(..done);
        }
        debug_assert!(stream.ready <= stream.issued, "nothing arrives that was not requested");
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
                && from + slack > stream.next
                && from <= if stream.count >= self.rule.confirm { foremost } else { stream.next + slack / 8 }
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
            marker: next,
            under_way: std::mem::take(&mut stream.under_way),
            waiters: std::mem::take(&mut stream.waiters),
        };
    }
}

impl Stream {
    /// What the reader needs now, then what keeps a window before it.
    fn top_up(&mut self, rule: Rule, index: u32, from: u64, to: u64, end: u64, fetches: &mut Vec<Fetch>) {
        if to > self.issued {
            let fetch = Fetch { stream: index, from: self.issued.max(from), to };
            self.ask(fetch);
            fetches.push(fetch);
        }
        // Half the window unread is when the next one is asked for.
        if self.issued < end && self.issued - self.next.min(self.issued) < self.window.div_ceil(2).max(1) {
            self.window = if self.window == 0 { rule.start } else { (self.window * 2).min(rule.max) };
            let ahead = Fetch { stream: index, from: self.issued, to: (self.next + self.window).min(end) };
            if ahead.to > ahead.from {
                self.ask(ahead);
                fetches.push(ahead);
            }
        }
    }

    /// The first window where nothing was asked for, and the next one where the reader has reached the last.
    #[expect(clippy::too_many_arguments, reason = "a read and its rule are one thought")]
    fn follow(
        &mut self,
        max: u64,
        piece: u64,
        index: u32,
        from: u64,
        to: u64,
        end: u64,
        fetches: &mut Vec<Fetch>,
    ) {
        if to > self.issued {
            let at = self.issued.max(from);
            let asked = to - at;
            self.window = first_window(asked, max).max(asked);
            // What was not asked for is ahead of the reader: its first sector calls the next window. Where nothing
            // is ahead, this read does.
            self.marker = if self.window > asked { to } else { at };
            self.ask_window(at, end.max(to), piece, index, fetches);
        }
        if self.issued < end && to > self.marker {
            self.window = next_window(self.window, max);
            self.marker = self.issued;
            self.ask_window(self.issued, end, piece, index, fetches);
        }
    }

    /// Asks for the window from `at` on, in pieces.
    fn ask_window(&mut self, at: u64, end: u64, piece: u64, index: u32, fetches: &mut Vec<Fetch>) {
        let (mut from, until) = (at, (at + self.window).min(end));
        while from < until {
            let fetch = Fetch { stream: index, from, to: (from + piece.max(1)).min(until) };
            self.ask(fetch);
            fetches.push(fetch);
            from = fetch.to;
        }
    }

    fn ask(&mut self, fetch: Fetch) {
        debug_assert!(fetch.from < fetch.to, "a fetch must have a length");
        debug_assert!(
            self.under_way.last().is_none_or(|last| last.1 <= fetch.from),
            "the fetches of a stream must ascend and not overlap",
        );
        self.issued = fetch.to;
        self.under_way.push((fetch.from, fetch.to, false));
    }
}

/// A stream's first window after a read of `asked`: `get_init_ra_size`.
fn first_window(asked: u64, max: u64) -> u64 {
    let rounded = asked.next_power_of_two();
    if rounded <= max / 32 {
        rounded * 4
    } else if rounded <= max / 4 {
        rounded * 2
    } else {
        max
    }
}

/// The window after one of `window`: `get_next_ra_size`.
fn next_window(window: u64, max: u64) -> u64 {
    if window < max / 16 { window * 4 } else { (window * 2).min(max) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULE: Rule = Rule { streams: 4, confirm: 2, start: 64, max: 256, growth: Growth::Half };
    const END: u64 = 1_000_000;

    #[test]
    fn the_second_contiguous_read_makes_a_stream_and_is_read_ahead_of() {
        let mut table = ReadAhead::new(RULE);
        let mut fetches = Vec::new();
        assert_eq!(table.access(0, 0, 16, END, &mut fetches), Lookup::Stranger);
        assert!(fetches.is_empty());
        assert_eq!(table.access(0, 16, 32, END, &mut fetches), Lookup::Coming(0));
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
        assert_eq!(table.access(0, 32, 48, END, &mut fetches), Lookup::Ready);
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
    fn on_linux_one_window_is_in_flight_while_the_one_before_it_is_consumed() {
        let mut table = ReadAhead::new(Rule { growth: Growth::Linux { piece: 1024 }, ..RULE });
        let (mut fetches, mut released) = (Vec::new(), Vec::new());
        let mut at = 0;
        let mut read = |table: &mut ReadAhead, fetches: &mut Vec<Fetch>| {
            let verdict = table.access(0, at, at + 16, END, fetches);
            at += 16;
            (at, verdict)
        };
        // The window grows from four requests' worth to the largest.
        for _ in 0..100 {
            read(&mut table, &mut fetches);
        }
        let sizes: Vec<u64> = fetches.iter().map(|fetch| fetch.to - fetch.from).collect();
        assert_eq!(sizes[..4], [32, 64, 128, 256]);
        assert!(sizes[4..].iter().all(|&size| size == 256), "{sizes:?}");
        assert!(fetches.windows(2).all(|pair| pair[0].to == pair[1].from));
        for fetch in fetches.drain(..) {
            table.fetched(fetch, &mut released);
        }
        // The reader enters the last window: the next one is asked for whole, and one after it only at its begin.
        let mut asked = Vec::new();
        for _ in 0..64 {
            let (at, verdict) = read(&mut table, &mut fetches);
            for fetch in fetches.drain(..) {
                assert_eq!((fetch.from + 16) - at, 256, "a window ahead of the reader");
                table.fetched(fetch, &mut released);
                asked.push(fetch.to - fetch.from);
            }
            assert_eq!(verdict, Lookup::Ready);
        }
        assert_eq!(asked, [256; 4]);
    }

    #[test]
    fn on_linux_a_long_window_is_asked_for_in_pieces_that_come_one_by_one() {
        let rule = Rule { max: 2048, growth: Growth::Linux { piece: 1024 }, ..RULE };
        let mut table = ReadAhead::new(rule);
        let (mut fetches, mut released) = (Vec::new(), Vec::new());
        table.access(0, 0, 1024, END, &mut fetches);
        let Lookup::Coming(stream) = table.access(0, 1024, 2048, END, &mut fetches) else {
            panic!("nothing has come yet")
        };
        table.wait(stream, 2048, 7);
        assert!(fetches.len() >= 2 && fetches.iter().all(|fetch| fetch.to - fetch.from == 1024));
        table.fetched(fetches[0], &mut released);
        assert_eq!(released, [7]);
    }

    #[test]
    fn the_first_read_of_all_is_a_strangers_although_one_makes_a_stream() {
        let mut table = ReadAhead::new(Rule { confirm: 1, ..RULE });
        let mut fetches = Vec::new();
        assert_eq!(table.access(0, 0, 16, END, &mut fetches), Lookup::Stranger);
        assert!(fetches.is_empty());
        assert_eq!(table.access(0, 16, 32, END, &mut fetches), Lookup::Coming(0));
    }

    #[test]
    fn at_the_end_of_a_volume_or_without_a_window_nothing_is_read_ahead() {
        let ahead = |rule: Rule, end: u64| {
            let mut table = ReadAhead::new(rule);
            let mut fetches = Vec::new();
            for from in [0, 16, 32] {
                table.access(0, from, from + 16, end, &mut fetches);
            }
            fetches.iter().map(|fetch| (fetch.from, fetch.to)).collect::<Vec<_>>()
        };
        for growth in [Growth::Half, Growth::Linux { piece: 1024 }] {
            let rule = Rule { growth, ..RULE };
            let fetches = ahead(rule, 48);
            assert!(fetches.first().is_some_and(|first| first.0 == 16), "{fetches:?}");
            assert!(fetches.windows(2).all(|pair| pair[0].1 == pair[1].0), "{fetches:?}");
            assert_eq!(fetches.last().map(|last| last.1), Some(48), "{fetches:?}");
        }
        assert_eq!(ahead(Rule { start: 0, max: 0, ..RULE }, END), [(16, 32), (32, 48)]);
    }

    #[test]
    fn at_the_end_of_a_volume_the_window_waits_for_a_reader_that_goes_on_into_the_next() {
        let last = |growth: Growth, (from, to): (u64, u64)| {
            let mut table = ReadAhead::new(Rule { growth, ..RULE });
            let mut fetches = Vec::new();
            for from in [0, 16, 32] {
                table.access(0, from, from + 16, 48, &mut fetches);
            }
            fetches.clear();
            table.access(0, from, to, END, &mut fetches);
            fetches.iter().map(|fetch| (fetch.from, fetch.to)).collect::<Vec<_>>()
        };
        assert_eq!(last(Growth::Half, (48, 64)), [(48, 64), (64, 64 + 128)], "twice the first window");
        let linux = last(Growth::Linux { piece: 1024 }, (40, 48));
        assert!(linux.first().is_some_and(|next| next.0 == 48), "{linux:?}");
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

    #[test]
    fn a_read_joins_a_stream_from_one_request_ahead_and_less_than_eight_behind() {
        let second = |from: u64| {
            let mut table = ReadAhead::new(RULE);
            table.access(0, 1_000, 1_016, END, &mut Vec::new());
            table.access(0, from, from + 16, END, &mut Vec::new())
        };
        assert_eq!((second(1_032), second(1_033)), (Lookup::Coming(0), Lookup::Stranger));
        assert_eq!((second(889), second(888)), (Lookup::Coming(0), Lookup::Stranger));
        let mut table = ReadAhead::new(RULE);
        table.access(0, 1_000, 1_016, END, &mut Vec::new());
        assert_eq!(table.access(1, 1_016, 1_032, END, &mut Vec::new()), Lookup::Stranger, "another volume");
        // A confirmed one is joined up to what was asked for.
        table.access(0, 1_016, 1_032, END, &mut Vec::new());
        let ahead =
            |table: &ReadAhead, from: u64| table.clone().access(0, from, from + 16, END, &mut Vec::new());
        assert_eq!(ahead(&table, 1_097), Lookup::Stranger);
        assert_ne!(ahead(&table, 1_096), Lookup::Stranger);
    }

    #[test]
    fn a_window_is_topped_up_once_less_than_its_half_is_unread() {
        let mut table = ReadAhead::new(RULE);
        let mut fetches = Vec::new();
        for (from, to) in [(0, 16), (16, 32)] {
            table.access(0, from, to, END, &mut fetches);
        }
        fetches.clear();
        table.access(0, 32, 64, END, &mut fetches);
        assert!(fetches.is_empty(), "half of 64 is unread");
        table.access(0, 64, 65, END, &mut fetches);
        assert_eq!(fetches, [Fetch { stream: 0, from: 96, to: 65 + 128 }]);
        fetches.clear();
        table.access(0, 65, 193, END, &mut fetches);
        assert_eq!(
            fetches,
            [Fetch { stream: 0, from: 193, to: 193 + 256 }],
            "to the end of what was asked for"
        );
    }

    #[test]
    fn what_is_cleared_is_known_no_more() {
        let mut table = ReadAhead::new(RULE);
        table.access(0, 0, 16, END, &mut Vec::new());
        table.clear();
        assert_eq!(table.access(0, 16, 32, END, &mut Vec::new()), Lookup::Stranger);
    }

    #[test]
    fn on_linux_a_read_of_a_whole_window_calls_the_next_one_itself() {
        let second = |max: u64, size: u64| {
            let mut table = ReadAhead::new(Rule { max, growth: Growth::Linux { piece: 1024 }, ..RULE });
            let mut fetches = Vec::new();
            table.access(0, 0, size, END, &mut fetches);
            table.access(0, size, 2 * size, END, &mut fetches);
            fetches.iter().map(|fetch| (fetch.from, fetch.to)).collect::<Vec<_>>()
        };
        assert_eq!(second(64, 64), [(64, 128), (128, 192)]);
        assert_eq!(second(256, 16), [(16, 48)]);
    }

    #[test]
    fn windows_of_linux_follow_its_two_rules() {
        let first = [1, 16, 32, 33, 256, 257, 4_000].map(|asked| first_window(asked, 1_024));
        assert_eq!(first, [4, 64, 128, 128, 512, 1_024, 1_024]);
        assert_eq!([63, 64, 500, 600].map(|window| next_window(window, 1_024)), [252, 128, 1_000, 1_024]);
    }
}
