//! What the queue holds: a kind and a number, in 24 bits.

const NUMBER_BITS: u32 = 20;

/// Declares the kinds of events once.
macro_rules! events {
    ($($(#[doc = $doc:literal])+ $kind:ident,)+) => {
        /// Something that happens later.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Event {
            $($(#[doc = $doc])+ $kind(u32),)+
        }

        enum Kind {
            $($kind,)+
        }

        impl Event {
            /// Kind and number in one. Numbers have 20 bits: a million requests in flight.
            #[inline]
            pub fn pack(self) -> u32 {
                let (kind, number) = match self {
                    $(Event::$kind(number) => (Kind::$kind as u32, number),)+
                };
                assert!(number >> NUMBER_BITS == 0, "more than a million of a kind are in flight");
                kind << NUMBER_BITS | number
            }

            /// The event that was packed.
            #[inline]
            pub fn unpack(slot: u32) -> Event {
                let number = slot & ((1 << NUMBER_BITS) - 1);
                match slot >> NUMBER_BITS {
                    $(kind if kind == Kind::$kind as u32 => Event::$kind(number),)+
                    kind => unreachable!("no event has kind {kind}"),
                }
            }

            /// One of each kind.
            #[cfg(test)]
            const ALL: &[Event] = &[$(Event::$kind(Kind::$kind as u32),)+];
        }
    };
}

events! {
    /// A job may have something due.
    Job,
    /// The command in service at a disk ends.
    Disk,
    /// A member command has crossed its channel; its chain.
    Member,
    /// The arithmetic of a chain ends.
    Chain,
    /// A request is looked at by its controller, or once more.
    Arrive,
    /// A request's answer reaches its host.
    Answer,
    /// A buffered read has been copied so far, and continues.
    Pages,
    /// Background work looks for something to do.
    Background,
    /// A controller's cache looks at the age of its dirty data.
    Age,
    /// A request that was lost with its path is sent again.
    Retry,
    /// A link is cut.
    Cut,
    /// A transfer may have ended on one direction of a link.
    Wire,
    /// The same on a back-end channel.
    Channel,
    /// A request is where it was going.
    LegDone,
    /// A link is mended.
    Mend,
    /// A request has waited long enough for a path.
    GiveUp,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_event_comes_out_as_it_went_in() {
        for &event in [Event::Member(1 << 19), Event::Age((1 << 20) - 1)].iter().chain(Event::ALL) {
            assert_eq!(Event::unpack(event.pack()), event);
        }
    }
}
