#![doc = include_str!("../README.md")]
mod claim;
mod filler;
mod parts;
mod question;
mod words;

pub use claim::{Claim, Sentence};
pub use parts::{Part, sentences};
pub use question::is_question;
pub use words::key_words;
