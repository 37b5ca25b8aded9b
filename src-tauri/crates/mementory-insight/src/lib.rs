#![doc = include_str!("../README.md")]
mod classify;
mod contradictions;
mod fitted;
mod fold;
mod home;
mod kinds;
mod numerals;
mod patterns;
mod people;
mod placeholders;
mod special;
mod spelling;
mod subject;
mod topics;
mod values;
mod word_lists;

pub use classify::{About, about};
pub use contradictions::{
    Contradiction, ContradictionGroup, Sort, Statement, contradiction_groups, contradictions, past_plans,
};
#[doc(hidden)]
pub use contradictions::{evidence_of, pools_values};
pub use fitted::{DIMENSIONS, judge};
#[doc(hidden)]
pub use fitted::{FEATURE_COUNT, MIN_SPECIAL, MIN_SPECIAL_BY_LESS, feature_value, inputs_and_features};
pub use kinds::{AboutKind, Special};
pub use people::{Person, people};
pub use special::special;
pub use topics::{MAX_NAME_CHARS, Topic, topics};
