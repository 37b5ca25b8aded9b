#![doc = include_str!("../README.md")]
mod compare;
mod fold;
mod form;
mod groups;
mod script;
mod sketch;
mod tokenizer;
mod word_lists;
mod word_match;

pub use compare::{Comparison, Difference, compare};
pub use form::Form;
pub use groups::{Group, Similarity, THRESHOLD, group_texts, groups};
pub use sketch::{Key, Sketch, jaccard, sketch, sketches};
