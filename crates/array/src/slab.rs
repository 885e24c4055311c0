//! Numbered places that are used again: requests and operations in flight.
//!
//! **Invariant:** nothing is allocated once as many places exist as were ever in use at once; a place keeps what it
//! held, so that vectors inside it keep their memory.

use units::convert::narrow;
/// Places for `T`, numbered from 0.
#[derive(Clone, Debug, Default)]
pub struct Slab<T> {
    places: Vec<T>,
    free: Vec<u32>,
}

impl<T: Default> Slab<T> {
    /// No places yet.
    pub fn new() -> Slab<T> {
        Slab { places: Vec::new(), free: Vec::new() }
    }

    /// The number of a free place, holding what was left in it.
    #[inline]
    pub fn take(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.places.push(T::default());
            narrow::<u32>(self.places.len() - 1)
        })
    }

    /// Gives a place back.
    #[inline]
    pub fn give(&mut self, place: u32) {
        debug_assert!((place as usize) < self.places.len(), "what is given back must have been taken");
        self.free.push(place);
    }

    /// How many places are in use.
    pub fn in_use(&self) -> usize {
        debug_assert!(self.free.len() <= self.places.len(), "a place must be given back once");
        self.places.len() - self.free.len()
    }
}

impl<T> std::ops::Index<u32> for Slab<T> {
    type Output = T;
    #[inline]
    fn index(&self, place: u32) -> &T {
        &self.places[place as usize]
    }
}

impl<T> std::ops::IndexMut<u32> for Slab<T> {
    #[inline]
    fn index_mut(&mut self, place: u32) -> &mut T {
        &mut self.places[place as usize]
    }
}
