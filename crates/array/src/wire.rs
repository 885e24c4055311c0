//! One direction of a link at work: lanes on which transfers take turns.
//!
//! A transfer holds one lane. On a lane those present take turns, a quantum each ([`Turns`]); a lane that falls idle
//! takes one that waits at the fullest. Transfers of one flow, such as a TCP connection, follow each other in the order
//! they were ready, and flows take turns. Alone a transfer costs one event, its end; where they compete, one for each
//! that comes and each that ends, whatever their length.
//!
//! **Invariant:** a lane never does more work than the time that has passed, nor rests while somebody waits for it.

use std::collections::VecDeque;

use units::convert::narrow;
use units::{Instant, Nanos};

use crate::meter::{Class, Meter, Metered};
use crate::slab::Slab;
use crate::turns::{Next, Turns};

/// What is always left to do when a transfer joins, so that each ends by an event.
const LEAST: Nanos = Nanos::new(1);

/// What is to be carried.
#[derive(Clone, Copy, Debug)]
pub struct Transfer {
    /// From when on its data flow: to come, or in the past where they have flowed from their source meanwhile, as far
    /// as a lane was free.
    pub ready: Instant,
    /// How long a lane alone takes for it.
    pub work: Nanos,
    /// Whose it is; handed back at the end.
    pub token: u32,
    /// For the meter.
    pub class: Class,
    /// Which byte stream it is a part of; `None` where it waits for no other.
    pub flow: Option<u32>,
    /// Whether it waits for the turn under way alone: a command without data, whose frame goes between those of others.
    pub between: bool,
}

impl Default for Transfer {
    fn default() -> Transfer {
        Transfer {
            ready: Instant::START,
            work: Nanos::ZERO,
            token: 0,
            class: Class::HostRead,
            flow: None,
            between: false,
        }
    }
}

/// A transfer that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Carried {
    /// Whose it was.
    pub token: u32,
    /// How long it was carried itself; the rest of its time were the turns of others.
    pub work: Nanos,
}

/// One direction of a link.
#[derive(Clone, Debug)]
pub struct Wire {
    lanes: Vec<Lane>,
    quantum: u64,
    transfers: Slab<Transfer>,
    /// Those that are not ready, the latest first.
    coming: Vec<u32>,
    /// What waits behind another of its flow, by flow.
    flows: Vec<Flow>,
    present: usize,
    /// Work of those present or coming, each counted whole.
    booked: Nanos,
    /// The earliest event for it in the queue.
    armed: Instant,
    meter: Meter,
    busy_before: u64,
}

/// A byte stream: one of its transfers is on a lane at most.
#[derive(Clone, Debug, Default)]
struct Flow {
    moving: bool,
    waiting: VecDeque<u32>,
}

#[derive(Clone, Debug)]
struct Lane {
    turns: Turns,
    now: Instant,
    next: Option<Next>,
    busy: u64,
    /// The last time it was idle, as far as nothing has been booked on it afterwards.
    idle: (Instant, Instant),
}

impl Lane {
    #[inline]
    fn pass(&mut self, to: Instant, quantum: u64) {
        let time = to.saturating_since(self.now).get();
        if !self.turns.is_empty() {
            self.turns.pass(time, quantum);
            self.busy += time;
        }
        self.now = to;
    }

    #[inline]
    fn due(&self) -> Instant {
        self.next.map_or(Instant::NEVER, |next| self.now.saturating_add(Nanos::new(next.after)))
    }

    /// How much of `work`, whose data flow since `ready`, it did while it was idle; what it did before `metered` is not
    /// metered any more.
    #[inline]
    fn make_up(&mut self, ready: Instant, now: Instant, work: Nanos, metered: Instant) -> Nanos {
        let (from, to) = (self.idle.0.max(ready), self.idle.1.min(now));
        let done = to.saturating_since(from).min(work);
        self.idle.0 = from + done;
        self.busy += self.idle.0.saturating_since(from.max(metered)).get();
        done
    }
}

impl Wire {
    /// Idle, of that many lanes, at least one, which take `quantum` for a quantum.
    pub fn new(lanes: u32, quantum: Nanos) -> Wire {
        let lane = Lane {
            turns: Turns::default(),
            now: Instant::START,
            next: None,
            busy: 0,
            idle: (Instant::START, Instant::NEVER),
        };
        Wire {
            lanes: vec![lane; lanes.max(1) as usize],
            quantum: quantum.get().max(1),
            transfers: Slab::new(),
            coming: Vec::new(),
            flows: Vec::new(),
            present: 0,
            booked: Nanos::ZERO,
            armed: Instant::NEVER,
            meter: Meter::of_servers_apart(),
            busy_before: 0,
        }
    }

    /// Takes a transfer at `now`. Ask [`Wire::arm`] afterwards.
    #[inline]
    pub fn join(&mut self, now: Instant, transfer: Transfer) {
        self.catch_up(now);
        let transfer = Transfer { work: transfer.work.max(LEAST), ..transfer };
        if transfer.ready < self.meter.since() {
            self.meter.edge(transfer.work);
        }
        let place = self.transfers.take();
        self.transfers[place] = transfer;
        self.booked += transfer.work;
        if transfer.ready > now {
            let transfers = &self.transfers;
            let at = self.coming.partition_point(|&other| transfers[other].ready > transfer.ready);
            self.coming.insert(at, place);
            debug_assert!(
                self.coming.is_sorted_by(|one, other| transfers[*one].ready >= transfers[*other].ready),
                "those that are not ready must be in order, the latest first",
            );
        } else {
            self.begin(now, place);
        }
    }

    /// When an event for it must be put into the queue, unless one that is early enough is there.
    #[inline]
    pub fn arm(&mut self) -> Option<Instant> {
        let next = self.next();
        (next < self.armed).then(|| {
            self.armed = next;
            next
        })
    }

    /// An event for it has come up at `now`: adds those that have ended to `ended`. Ask [`Wire::arm`] afterwards.
    #[inline]
    pub fn advance(&mut self, now: Instant, ended: &mut Vec<Carried>) {
        if self.armed <= now {
            self.armed = Instant::NEVER;
        }
        loop {
            let (index, due) = self.first_due();
            let ready = self.coming.last().map_or(Instant::NEVER, |&place| self.transfers[place].ready);
            if due.min(ready) > now {
                return;
            }
            if due <= ready {
                ended.extend(self.end(index, due));
            } else {
                self.coming.pop().into_iter().for_each(|place| self.begin(ready, place));
            }
        }
    }

    #[inline]
    fn first_due(&self) -> (usize, Instant) {
        let mut first = (0, self.lanes[0].due());
        for (index, lane) in self.lanes.iter().enumerate().skip(1) {
            let due = lane.due();
            if due < first.1 {
                first = (index, due);
            }
        }
        first
    }

    /// When something happens next that others must hear of.
    #[inline]
    fn next(&self) -> Instant {
        let (_, due) = self.first_due();
        let ready = |place: &u32| self.transfers[*place].ready;
        let Some(coming) = self.coming.last() else { return due };
        if self.present >= self.lanes.len() {
            return due.min(ready(coming));
        }
        // It finds a lane of its own, and ends unless the one after it makes them compete.
        let alone = ready(coming) + self.transfers[*coming].work;
        let after = self.coming.len().checked_sub(2).map_or(Instant::NEVER, |at| ready(&self.coming[at]));
        due.min(alone).min(after)
    }

    #[inline]
    fn begin(&mut self, now: Instant, place: u32) {
        let Transfer { ready, flow, .. } = self.transfers[place];
        self.meter.arrive_late(now, ready);
        self.meter.begin(now);
        if let Some(number) = flow {
            if self.flows.len() <= number as usize {
                self.flows.resize_with(number as usize + 1, Flow::default);
            }
            let flow = &mut self.flows[number as usize];
            if flow.moving {
                flow.waiting.push_back(place);
                return;
            }
            flow.moving = true;
        }
        self.take_lane(now, ready, place);
    }

    /// Puts a transfer on the lane where the fewest are, its data flowing since `since`.
    #[inline]
    fn take_lane(&mut self, now: Instant, since: Instant, place: u32) {
        let work = self.transfers[place].work;
        let mut fewest = 0;
        for index in 1..self.lanes.len() {
            if self.lanes[index].turns.len() < self.lanes[fewest].turns.len() {
                fewest = index;
            }
        }
        let lane = &mut self.lanes[fewest];
        lane.pass(now, self.quantum);
        if lane.turns.is_empty() {
            lane.idle.1 = now;
        }
        let made_up = lane.make_up(since, now, work.saturating_sub(LEAST), self.meter.since());
        let left = work.saturating_sub(made_up).get();
        match self.transfers[place].between {
            true => lane.turns.join_between(place, left),
            false => lane.turns.join(place, left),
        }
        lane.next = lane.turns.next(self.quantum);
        self.present += 1;
    }

    /// Ends the next of lane `index`, `at` being when.
    #[inline]
    fn end(&mut self, index: usize, at: Instant) -> Option<Carried> {
        let lane = &mut self.lanes[index];
        let next = lane.next?;
        lane.busy += next.after;
        lane.now = at;
        let place = lane.turns.end(next, self.quantum);
        lane.next = lane.turns.next(self.quantum);
        if lane.turns.is_empty() {
            lane.idle = (at, Instant::NEVER);
        }
        let Transfer { ready, work, token, class, flow, .. } = self.transfers[place];
        self.transfers.give(place);
        debug_assert!(self.present > 0, "a transfer must end once");
        self.present -= 1;
        if let Some(flow) = flow.map(|number| &mut self.flows[number as usize]) {
            match flow.waiting.pop_front() {
                Some(next) => self.take_lane(at, at, next),
                None => flow.moving = false,
            }
        }
        if self.lanes.len() > 1 {
            self.help(at);
        }
        debug_assert!(self.booked >= work, "what ends must have been booked");
        self.booked = self.booked.saturating_sub(work);
        debug_assert_eq!(
            self.transfers.in_use() == 0,
            self.booked.is_zero(),
            "what is booked is of transfers"
        );
        debug_assert_eq!(
            self.lanes.iter().map(|lane| lane.turns.len()).sum::<usize>(),
            self.present,
            "who is present is on a lane"
        );
        let started = Instant::from_nanos(at.nanos().saturating_sub(work.get()));
        self.meter.leave(at, ready, started.max(ready), class);
        Some(Carried { token, work })
    }

    /// Has an idle lane take one that waits at the fullest.
    fn help(&mut self, at: Instant) {
        let count = |index: &usize| self.lanes[*index].turns.len();
        let lanes = 0..self.lanes.len();
        let (Some(idle), Some(fullest)) = (lanes.clone().min_by_key(count), lanes.max_by_key(count)) else {
            return;
        };
        // Where one ends at this instant, too, that end comes first, and this is asked again.
        if count(&idle) > 0 || count(&fullest) < 2 || self.lanes[fullest].due() <= at {
            return;
        }
        let from = &mut self.lanes[fullest];
        from.pass(at, self.quantum);
        let taken = from.turns.give_up();
        from.next = from.turns.next(self.quantum);
        let Some((place, left)) = taken else { return };
        let to = &mut self.lanes[idle];
        (to.idle.1, to.now) = (at, at);
        to.turns.join(place, left);
        to.next = to.turns.next(self.quantum);
    }

    /// Work that waits or is under way: the shorter, the less loaded.
    pub fn booked(&self) -> Nanos {
        self.booked
    }

    /// Has those begin who were ready by `now` and alone, for which there was no event.
    #[inline]
    fn catch_up(&mut self, now: Instant) {
        while let Some(&place) = self.coming.last()
            && self.transfers[place].ready <= now
        {
            self.coming.pop();
            self.begin(self.transfers[place].ready, place);
        }
    }

    /// Nanoseconds that its lanes together have been busy ever, until `now`.
    fn ever_busy_by(&self, now: Instant) -> u64 {
        let busy = |lane: &Lane| {
            let since = if lane.turns.is_empty() { 0 } else { now.saturating_since(lane.now).get() };
            lane.busy + since
        };
        self.lanes.iter().map(busy).sum()
    }
}

impl Metered for Wire {
    fn servers(&self) -> u32 {
        narrow::<u32>(self.lanes.len())
    }

    fn restart_meter(&mut self, now: Instant) {
        self.catch_up(now);
        self.meter.restart(now);
        self.meter.edge(self.booked);
        self.busy_before = self.ever_busy_by(now);
    }

    fn close_meter(&mut self, now: Instant) {
        self.catch_up(now);
        let transfers = &self.transfers;
        let moving = self.lanes.iter().flat_map(|lane| lane.turns.each()).map(|(place, left)| {
            let Transfer { ready, work, class, .. } = transfers[place];
            let started = now.nanos().saturating_sub(work.get() - left.min(work.get()));
            (ready, Some(Instant::from_nanos(started).max(ready)), class)
        });
        let waiting = self.flows.iter().flat_map(|flow| &flow.waiting).map(|&place| {
            let Transfer { ready, class, .. } = transfers[place];
            (ready, None, class)
        });
        let here = moving.chain(waiting);
        self.meter.close(now, here);
        self.meter.edge(self.booked);
        let busy = self.ever_busy_by(now) - self.busy_before;
        self.meter.add_busy(Nanos::new(busy));
    }

    fn meter(&mut self) -> &mut Meter {
        &mut self.meter
    }

    fn busy_by(&self, now: Instant) -> u64 {
        self.ever_busy_by(now).saturating_sub(self.busy_before)
    }
}

#[cfg(test)]
#[allow(clippy::print_stdout)]
mod tests {
    use super::*;
    use crate::streams::Stream;
    use units::convert::truncated;

    fn at(nanos: u64) -> Instant {
        Instant::from_nanos(nanos)
    }

    /// Runs a wire until nothing is left; token and end of each transfer, in order, and how many events it took.
    fn run(wire: &mut Wire, transfers: &[(u64, u64, u64)], flows: Option<u32>) -> (Vec<(u32, u64)>, usize) {
        let mut events = std::collections::BTreeSet::new();
        let (mut ends, mut ended, mut handled) = (Vec::new(), Vec::new(), 0);
        let mut joins = (0..).zip(transfers).peekable();
        loop {
            let event = events.first().copied().unwrap_or(Instant::NEVER);
            match joins.peek() {
                Some(&(token, &(now, ready, work))) if at(now) <= event => {
                    let flow = flows.map(|flows| token % flows);
                    let (ready, work) = (at(ready), Nanos::new(work));
                    wire.join(at(now), Transfer { ready, work, token, flow, ..Transfer::default() });
                    joins.next();
                }
                _ if event == Instant::NEVER => return (ends, handled),
                _ => {
                    events.remove(&event);
                    handled += 1;
                    wire.advance(event, &mut ended);
                    ends.extend(ended.drain(..).map(|carried: Carried| (carried.token, event.nanos())));
                }
            }
            events.extend(wire.arm());
        }
    }

    fn ends(lanes: u32, quantum: u64, transfers: &[(u64, u64, u64)]) -> Vec<(u32, u64)> {
        run(&mut Wire::new(lanes, Nanos::new(quantum)), transfers, None).0
    }

    #[test]
    fn the_laws_hold_of_data_that_flowed_before_the_window_and_of_transfers_that_take_no_time() {
        let at = Instant::from_nanos;
        for (ready, work) in [(400, 300), (900, 50), (980, 0)] {
            let mut wire = Wire::new(1, Nanos::new(10));
            wire.restart_meter(at(600));
            let transfer = Transfer { ready: at(ready), work: Nanos::new(work), ..Transfer::default() };
            wire.join(at(1_000), transfer);
            let mut ended = Vec::new();
            wire.advance(at(2_000), &mut ended);
            wire.close_meter(at(2_000));
            assert_eq!((ended.len(), wire.meter().utilisation_gap()), (1, Some(0.0)), "{work} from {ready}");
        }
    }

    #[test]
    fn two_equal_transfers_share_and_end_a_quantum_apart() {
        assert_eq!(ends(1, 10, &[(0, 0, 1_000), (0, 0, 1_000)]), [(0, 1_990), (1, 2_000)]);
    }

    #[test]
    fn a_small_transfer_is_not_stuck_behind_a_large_one() {
        assert_eq!(ends(1, 10, &[(0, 0, 1_000), (205, 205, 3)]), [(1, 213), (0, 1_003)]);
    }

    #[test]
    fn a_transfer_alone_costs_one_event_whatever_its_length_and_whenever_it_is_ready() {
        let mut wire = Wire::new(1, Nanos::new(10));
        let transfers = [(0, 500, 1_000_000), (0, 2_000_000, 400_000), (2_500_000, 2_500_000, 70)];
        let (ends, events) = run(&mut wire, &transfers, None);
        assert_eq!((ends, events), (vec![(0, 1_000_500), (1, 2_400_000), (2, 2_500_070)], 3));
    }

    #[test]
    fn among_competitors_events_grow_with_transfers_and_not_with_quanta() {
        let transfers: Vec<_> = (0..1_000).map(|n| (n * 1_000, n * 1_000 + 300, 950)).collect();
        let (ends, events) = run(&mut Wire::new(1, Nanos::new(1)), &transfers, None);
        assert!(ends.len() == 1_000 && events <= 3_000, "{events}");
    }

    #[test]
    fn what_is_ready_early_does_not_wait_for_what_was_booked_first_but_is_ready_late() {
        assert_eq!(ends(1, 10, &[(0, 1_000, 10), (0, 100, 10)]), [(1, 110), (0, 1_010)]);
    }

    #[test]
    fn one_that_comes_meets_one_that_began_alone_and_without_an_event() {
        // The first began at 50; 30 of its 100 have passed when the second comes.
        assert_eq!(ends(1, 10, &[(0, 50, 100), (80, 80, 10)]), [(1, 100), (0, 160)]);
    }

    #[test]
    fn transfers_of_one_flow_keep_their_order_and_flows_take_turns() {
        let of = |transfers: &[_], flows| run(&mut Wire::new(1, Nanos::new(10)), transfers, Some(flows)).0;
        let transfers = [(0, 0, 100), (0, 0, 100), (0, 0, 100), (0, 0, 100)];
        assert_eq!(of(&transfers, 1), [(0, 100), (1, 200), (2, 300), (3, 400)]);
        assert_eq!(of(&transfers, 2), [(0, 190), (1, 200), (2, 390), (3, 400)]);
        // A short one waits for what is before it in its flow, and no longer.
        assert_eq!(of(&[(0, 0, 50), (0, 0, 100), (5, 5, 3)], 2), [(0, 90), (2, 103), (1, 153)]);
    }

    #[test]
    fn each_lane_carries_one_and_an_idle_lane_takes_one_that_waits() {
        // Two share the first lane until the second falls idle, when they have moved twenty each.
        let transfers = [(0, 0, 100), (0, 0, 40), (0, 0, 100)];
        assert_eq!(ends(2, 10, &transfers), [(1, 40), (0, 120), (2, 120)]);
    }

    #[test]
    fn data_that_flowed_while_a_lane_was_idle_have_been_carried_and_others_have_not() {
        // Ready since 50, known of at 100: all but the last five went by.
        assert_eq!(ends(1, 10, &[(100, 50, 55)]), [(0, 105)]);
        // The lane was another's until 90.
        assert_eq!(ends(1, 10, &[(0, 0, 90), (100, 50, 55)]), [(0, 90), (1, 145)]);
        // Idle time serves once.
        assert_eq!(ends(1, 100, &[(100, 50, 55), (100, 50, 55)]), [(0, 105), (1, 160)]);
    }

    /// Mean time present over mean work, and the share of time that the wire is busy, with Poisson arrivals that keep
    /// it busy for a share `rho`: both of what was drawn.
    fn response(rho: f64, quantum: u64, work: impl Fn(&mut Stream) -> u64) -> (f64, f64) {
        let (mut arrivals, mut works) = (Stream::open(1, "arrivals"), Stream::open(1, "works"));
        let mut now = 0.0;
        let transfers: Vec<_> = (0..200_000)
            .map(|_| {
                now += arrivals.exponential(10_000.0 / rho);
                (truncated::<u64>(now), truncated::<u64>(now), work(&mut works).max(1))
            })
            .collect();
        let ends = ends(1, quantum, &transfers);
        let present: u64 = ends.iter().map(|&(token, end)| end - transfers[token as usize].0).sum();
        let worked: u64 = transfers.iter().map(|transfer| transfer.2).sum();
        (present as f64 / worked as f64, worked as f64 / now)
    }

    #[test]
    fn with_small_quanta_the_mean_is_that_of_shared_processing_whatever_the_sizes() {
        // M/G/1-PS: S / (1 - rho), insensitive to the law of the sizes.
        for wanted in [0.5, 0.8] {
            let equal = response(wanted, 100, |_| 10_000);
            let exponential = response(wanted, 100, |draws| truncated::<u64>(draws.exponential(10_000.0)));
            let two_kinds = response(wanted, 100, |draws| if draws.below(2) == 0 { 19_000 } else { 1_000 });
            for (mean, rho) in [equal, exponential, two_kinds] {
                println!("{mean:.3} against {:.3}", 1.0 / (1.0 - rho));
                assert!((mean * (1.0 - rho) - 1.0).abs() < 0.04, "{mean} at {rho}");
            }
        }
    }

    #[test]
    fn with_quanta_longer_than_all_the_mean_is_that_of_a_queue() {
        // M/D/1: 1 + rho / 2 (1 - rho).
        let (mean, rho) = response(0.8, 1 << 40, |_| 10_000);
        assert!((mean / (1.0 + rho / 2.0 / (1.0 - rho)) - 1.0).abs() < 0.02, "{mean} at {rho}");
    }

    #[test]
    fn the_laws_hold_of_a_window_whose_ends_transfers_straddle() {
        let mut wire = Wire::new(2, Nanos::new(10));
        let mut draws = Stream::open(3, "test");
        let (mut now, mut ended) = (0, Vec::new());
        for n in 0..40_000 {
            now += draws.below(200);
            wire.advance(at(now), &mut ended);
            if n == 10_000 {
                wire.restart_meter(at(now));
            }
            let (ready, work) = (at(now - draws.below(50).min(now)), Nanos::new(1 + draws.below(350)));
            let flow = (n % 3 > 0).then_some(n % 3);
            wire.join(at(now), Transfer { ready, work, token: n, flow, ..Transfer::default() });
        }
        wire.close_meter(at(now));
        let meter = wire.meter();
        assert!(meter.little_gap().is_some_and(|gap| gap < 1e-4), "{:?}", meter.little_gap());
        assert!(meter.utilisation_gap().is_some_and(|gap| gap < 1e-4), "{:?}", meter.utilisation_gap());
    }
}
