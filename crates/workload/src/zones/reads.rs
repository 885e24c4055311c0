//! Where reads go among zones, to what is written, and all requests in zones without a write pointer.

use units::convert::narrow;

use super::state::FileZones;
use super::{Miss, ZoneAccess, Zoned, ZonedRequest};

impl Zoned {
    /// What a stream reads next that is written.
    pub(super) fn next_written(
        &self,
        state: &FileZones,
        from: u64,
        (len, left_out): (u32, u64),
    ) -> Result<ZonedRequest, Miss> {
        let (mut at, mut left_out) = (from, left_out);
        for _ in 0..=self.own_zones().len() {
            let zone = self.zone_of(at);
            let written = self.start_of(zone) + state.zones[zone as usize].readable();
            if at + self.smallest() <= written {
                self.is_free(state, zone)?;
                let len = self.fitting(len, written - at);
                return Ok(ZonedRequest {
                    at,
                    len,
                    left_out,
                    zone: state.zones[zone as usize].in_hand(zone),
                });
            }
            let (next, passed) = self.behind(zone, at);
            (at, left_out) = (next, left_out + passed);
        }
        Err(Miss::Nothing)
    }

    /// What is read of the zone that was drawn, or of the nearest with anything to read.
    pub(super) fn near(&self, state: &FileZones, from: u64, len: u32) -> Result<ZonedRequest, Miss> {
        let (drawn, own) = (self.zone_of(from), self.own_zones());
        if state.zones[drawn as usize].access == ZoneAccess::Anywhere {
            return Ok(self.anywhere(from, (len, 0)));
        }
        let has_data =
            |zone: &u32| own.contains(zone) && state.zones[*zone as usize].readable() >= self.smallest();
        let beside =
            (1..narrow::<u32>(own.len())).flat_map(|far| [drawn.checked_add(far), drawn.checked_sub(far)]);
        let zone = std::iter::once(Some(drawn)).chain(beside).flatten().find(has_data);
        let zone = zone.ok_or(Miss::Nothing)?;
        self.is_free(state, zone)?;
        let written = state.zones[zone as usize].readable();
        let within = match written.checked_sub(len.into()) {
            None | Some(0) => 0,
            Some(places) => (from - self.start_of(drawn)) % places / self.smallest() * self.smallest(),
        };
        let len = self.fitting(len, written - within);
        let in_hand = state.zones[zone as usize].in_hand(zone);
        Ok(ZonedRequest { at: self.start_of(zone) + within, len, left_out: 0, zone: in_hand })
    }

    /// A request to a zone without a write pointer stays where it was drawn, and within its zone.
    pub(super) fn anywhere(&self, from: u64, (len, left_out): (u32, u64)) -> ZonedRequest {
        let end = self.end_of(from);
        let at = from.min(end - self.smallest().min(self.size));
        ZonedRequest { at, len: self.fitting(len, end - at), left_out, zone: None }
    }
}
