//! Streaming over JSON of unknown quality: elements of a top-level array one at a time, repair of near-JSON.
mod elements;
mod repair;

pub use elements::{ElementError, Elements};
pub use repair::repair;
