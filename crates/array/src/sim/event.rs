//! What the queue holds: a kind and a number, in 24 bits.

/// Something that happens later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A job may have something due.
    Job(u32),
    /// The command in service at a disk ends.
    Disk(u32),
    /// A member command has crossed its channel; its chain.
    Member(u32),
    /// The arithmetic of a chain ends.
    Chain(u32),
    /// A request is looked at by its controller, or once more.
    Arrive(u32),
    /// A request's answer reaches its host.
    Answer(u32),
    /// A buffered read has been copied so far, and goes on.
    Pages(u32),
    /// Background work looks for something to do.
    Background(u32),
    /// A controller's cache looks at the age of its dirty data.
    Age(u32),
    /// A request that was lost with its path is sent again.
    Retry(u32),
    /// A link is cut.
    Cut(u32),
    /// A transfer may have ended on one direction of a link.
    Wire(u32),
    /// The same on a back-end channel.
    Channel(u32),
    /// A request is where it was going.
    LegDone(u32),
    /// A link is mended.
    Mend(u32),
    /// A request has waited long enough for a path.
    GiveUp(u32),
}

const NUMBER_BITS: u32 = 20;

impl Event {
    /// Kind and number in one. Numbers have 20 bits: a million requests in flight.
    pub fn pack(self) -> u32 {
        let (kind, number) = match self {
            Event::Job(number) => (0, number),
            Event::Disk(number) => (1, number),
            Event::Member(number) => (2, number),
            Event::Chain(number) => (3, number),
            Event::Arrive(number) => (4, number),
            Event::Answer(number) => (5, number),
            Event::Pages(number) => (6, number),
            Event::Background(number) => (7, number),
            Event::Age(number) => (8, number),
            Event::Retry(number) => (9, number),
            Event::Cut(number) => (10, number),
            Event::Wire(number) => (11, number),
            Event::Channel(number) => (12, number),
            Event::LegDone(number) => (13, number),
            Event::Mend(number) => (14, number),
            Event::GiveUp(number) => (15, number),
        };
        assert!(number >> NUMBER_BITS == 0, "more than a million of a kind are in flight");
        kind << NUMBER_BITS | number
    }

    /// The event that was packed.
    pub fn unpack(slot: u32) -> Event {
        let number = slot & ((1 << NUMBER_BITS) - 1);
        match slot >> NUMBER_BITS {
            0 => Event::Job(number),
            1 => Event::Disk(number),
            2 => Event::Member(number),
            3 => Event::Chain(number),
            4 => Event::Arrive(number),
            5 => Event::Answer(number),
            6 => Event::Pages(number),
            7 => Event::Background(number),
            8 => Event::Age(number),
            9 => Event::Retry(number),
            10 => Event::Cut(number),
            11 => Event::Wire(number),
            12 => Event::Channel(number),
            13 => Event::LegDone(number),
            14 => Event::Mend(number),
            _ => Event::GiveUp(number),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_event_comes_out_as_it_went_in() {
        let all = [
            Event::Job(0),
            Event::Disk(1),
            Event::Member(1 << 19),
            Event::Chain(3),
            Event::Arrive(4),
            Event::Answer(5),
            Event::Pages(6),
            Event::Background(7),
            Event::Age((1 << 20) - 1),
            Event::Retry(9),
            Event::Cut(10),
            Event::Wire(11),
            Event::Channel(12),
            Event::LegDone(13),
            Event::Mend(14),
            Event::GiveUp(15),
        ];
        for event in all {
            assert_eq!(Event::unpack(event.pack()), event);
        }
    }
}
