//! The RAID planner: from a request to what each member reads and writes.
//!
//! A [`Geometry`] says what lies where, a [`Health`] which members can be used now, and planning fills a [`Plan`]
//! with member reads, parity arithmetic and member writes. [`Sweep`] plans background work the same way, and
//! [`Executor`] carries plans out on members that hold bytes; a model only takes their time.
//!
//! Member operations for one host request inside one row; `k` strips touched, `n` members of a group of which `d`
//! hold data in a row, `p` parity strips:
//!
//! | level | case | reads | writes |
//! |---|---|---|---|
//! | JBOD, 0 | read / write | 1 a strip / 0 | 0 / 1 a strip |
//! | 1, 1E, 10 | read | 1 a strip, from one of the copies ([`Candidate`]) | 0 |
//! | 1, 1E, 10 | write | 0 | 1 a live copy |
//! | 5, 6, 50, 60 | read | k | 0 |
//! | 5, 6, 50, 60 | read, one data strip lost | d, P among them (Q where P is lost too) | 0 |
//! | 6, 60 | read, two data strips lost | d, P and Q among them | 0 |
//! | 5, 6, 50, 60 | full stripe ([`Method::FullStripe`]) | 0 | n |
//! | 5, 6, 50, 60 | [`Method::ReadModifyWrite`], taken where k + p < d - k | k + p | k + p |
//! | 5, 6, 50, 60 | [`Method::ReconstructWrite`], otherwise | d - k | k + p |
//! | 5, 6, 50, 60 | write of a lost data strip alone | d - 1 | p |
//! | 6, 60 | the same with a second data strip lost ([`Method::RecoverAndWrite`]) | d | p |
//! | 5, 6, 50, 60 | write, P (and Q) lost ([`Method::WithoutParity`]) | 0 | k |
//!
//! A strip touched only in part counts among the `d - k` too, with what is left of it. [`WriteRule`] changes the
//! choice between the two kinds of partial write. Background work, for each unit of one group:
//!
//! | [`Task`] | reads | writes | read back |
//! |---|---|---|---|
//! | `Zero` | 0 | n | n where verified |
//! | `BuildParity` | d a row | p a row | p a row where verified |
//! | `BuildParity` of mirrors | 1 | the other copies | the same where verified |
//! | `Rebuild` | n - p (mirrors: 1) | 1 | 0 |
//! | `Clone` | 1 | 1 | 0 |
//! | `Verify` | n | 0 | 0 |
//!
//! **Invariant:** nothing here does I/O, reads a clock or draws a random number; planning a request allocates
//! nothing once the plan's buffers have grown.

mod check;
mod error;
mod execute;
mod geometry;
mod health;
mod level;
mod merge;
mod plan;
mod planner;
mod row_reads;
mod row_writes;
mod rows;
mod sweep;

#[cfg(test)]
mod tests;

pub use error::{GeometryError, HealthError, PlanError};
pub use execute::{Executor, Members};
pub use geometry::{Geometry, MemberSector, SetSpec};
pub use health::{DiskRole, Health, MemberState};
pub use level::{LAYOUTS, LEVELS, Layout, Level, UnknownName, WriteRule};
pub use merge::{MergedCommand, Merger};
pub use plan::{Arithmetic, Candidate, Method, Piece, Plan, Role, Solve, Step, Stripe};
pub use planner::{Extent, first};
pub use sweep::{Sweep, Task, Unit};
