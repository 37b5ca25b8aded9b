#![doc = include_str!("../README.md")]
mod alike;
mod compare;
mod form;
mod groups;
mod lists;
mod script;
mod sketch;

pub use compare::{Comparison, Difference, compare};
pub use form::Form;
pub use groups::{Group, Likeness, THRESHOLD, group_texts, groups};
pub use sketch::{Key, Sketch, jaccard, sketch, sketches};
