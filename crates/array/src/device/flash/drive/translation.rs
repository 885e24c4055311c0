//! How the drive knows what its writes cost: by a law, or by a page map that stands for all of its pages.

use units::convert::narrow;

use super::super::map::{Collection, PageMap, write_amplification};
use super::super::{FlashParams, MOST_PAGES, Translation, Written};

/// How writes find a place.
#[derive(Clone, Debug)]
pub(super) enum State {
    Steady {
        amplification: f64,
        /// Pages that have not been programmed since the drive was new: until they are, nothing is collected.
        fresh: u64,
    },
    Mapped {
        map: Box<PageMap>,
        scale: Scale,
        /// Written at random and less than a page so far.
        begun: u64,
        /// Collections that no die has yet spent time on.
        owed: Collection,
    },
}

impl State {
    /// The state that `params` have the drive begin in.
    pub(super) fn new(params: &FlashParams, seed: u64) -> State {
        match params.translation {
            Translation::Steady => State::Steady {
                amplification: write_amplification(params.over_provisioning),
                fresh: match params.state {
                    Written::Steady => 0,
                    Written::InOrder => params.physical_pages().saturating_sub(params.pages_of_map(1)),
                    Written::Fresh => params.physical_pages(),
                },
            },
            Translation::Mapped { scale } => State::mapped(params, scale, seed),
        }
    }

    /// That of another drive with the same `params`, of one at rest: a map is overwritten until it is steady once.
    pub(super) fn another(&self, params: &FlashParams, seed: u64) -> State {
        let mut state = self.clone();
        if let (State::Mapped { map, .. }, Written::Steady) = (&mut state, params.state) {
            **map = map.another(seed);
        }
        state
    }

    fn mapped(params: &FlashParams, scale: u32, seed: u64) -> State {
        let pages = narrow::<u32>(params.pages_of_map(scale).min(u64::from(MOST_PAGES)));
        let map = match params.state {
            Written::Steady => PageMap::new(pages, params.over_provisioning, params.victims, seed),
            Written::InOrder => PageMap::in_order(pages, params.over_provisioning, params.victims),
            Written::Fresh => PageMap::fresh(pages, params.over_provisioning, params.victims),
        };
        State::Mapped {
            map: Box::new(map),
            scale: Scale(scale.into()),
            begun: 0,
            owed: Collection::default(),
        }
    }
}

/// Pages that follow each other on the drive and in its page map.
pub(super) const RUN: u64 = 256;

/// How many pages of a drive one of its map stands for: so many runs that follow each other share one of the map. A stream
/// is one in the map too, and a part of the drive the same part of it.
///
/// Of random writes every page enters the map, whose state so changes `scale` times as soon as that of the drive. Of a
/// stream one page of `scale` enters the map, at `scale` times the cost: entered one by one its pages would write each run of
/// the map `scale` times before the next, which looks hot and leaves holes that no stream leaves.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale(u64);

impl Scale {
    /// The page of the map that stands for a page of the drive.
    pub(super) fn page(self, map: &PageMap, number: u64) -> u32 {
        let run = number / (RUN * self.0.max(1));
        narrow::<u32>((run * RUN + number % RUN) % u64::from(map.pages()))
    }

    /// The page of the map that a stream writes with this page of the drive, and what a page of the map costs then; the other
    /// pages that it stands for are written with it.
    pub(super) fn page_of_stream(self, map: &PageMap, number: u64) -> Option<(u32, u32)> {
        let Scale(scale) = self;
        let ends = (number + 1).is_multiple_of(scale.max(1));
        ends.then(|| {
            let page = number / scale.max(1) % u64::from(map.pages());
            (narrow::<u32>(page), narrow::<u32>(scale.max(1)))
        })
    }

    /// The first page of the drive after `number` that lies in another run of the map.
    pub(super) fn next_run(self, number: u64) -> u64 {
        let runs = RUN * self.0.max(1);
        (number / runs + 1) * runs
    }
}
