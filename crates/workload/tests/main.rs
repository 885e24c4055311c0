//! The job through its seam: what it asks for, and what it says it saw.

mod compiling;
mod driving;
mod pacing;
mod world;
