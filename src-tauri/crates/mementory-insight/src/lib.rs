#![doc = include_str!("../README.md")]
mod classify;
mod fold;
mod kinds;
mod patterns;
mod special;
mod word_lists;

pub use classify::{About, Classifier, about, prototypes};
pub use kinds::{AboutKind, Special};
pub use special::special;
