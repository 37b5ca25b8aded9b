#![doc = include_str!("../README.md")]
mod claim;
mod filler;
mod parts;
mod words;

pub use claim::{Claim, Sentence};
pub use parts::{Part, sentences};
pub use words::key_words;
