//! What can be wrong with a value.
use std::fmt::{Display, Formatter, Result};

/// A violation of a rule. Its text is for people and has nothing of what the file says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Violation {
    /// A required member is absent.
    MissingField,
    /// A member that a closed object does not have.
    UnknownField,
    /// An object has a key more than once.
    RepeatedKey,
    /// A value of another type; what is expected.
    WrongType(&'static str),
    /// An empty text.
    Empty,
    /// A text of more than this many code points.
    TooLong(usize),
    /// A word that a closed list does not have.
    UnknownWord(&'static [&'static str]),
    /// A word that an open list does not have.
    UnlistedWord(&'static [&'static str]),
    /// An object's `type` selects no rule.
    UnknownTag,
    /// A text of another form; what is expected.
    BadForm(&'static str),
    /// A text that is not quite of the form; what is expected.
    LooseForm(&'static str),
    /// Not a date and time of RFC 3339.
    BadTime,
    /// A date and time that lacks only its time zone.
    NoTimeZone,
    /// A number that a double cannot hold.
    NotFinite,
    /// A number with a fraction; the least number that is allowed.
    NotWhole(i64),
    /// A whole number below this.
    TooSmall(i64),
    /// A whole number that 64 bits cannot hold.
    TooLarge,
    /// A number outside of 0 to 1.
    OutsideUnit,
    /// A text that is twice in a set.
    RepeatedItem,
    /// A set with fewer items than this.
    TooFewItems(usize),
}

impl Display for Violation {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Self::MissingField => f.write_str("a required field is missing"),
            Self::UnknownField => f.write_str("the format has no such field"),
            Self::RepeatedKey => f.write_str("the object has one key more than once; the last value counts"),
            Self::WrongType(expected) => write!(f, "the value must be {expected}"),
            Self::Empty => f.write_str("the text must not be empty"),
            Self::TooLong(most) => write!(f, "the text is longer than {most} characters"),
            Self::UnknownWord([word]) => write!(f, "the value must be {word}"),
            Self::UnknownWord(words) => write!(f, "the value must be one of {}", words.join(", ")),
            Self::UnlistedWord(words) => write!(f, "the format lists {}", words.join(", ")),
            Self::UnknownTag => f.write_str("a type that the format does not have"),
            Self::BadForm(expected) => write!(f, "not {expected}"),
            Self::LooseForm(expected) => write!(f, "readable, but not {expected}"),
            Self::BadTime => f.write_str("not an RFC 3339 date and time"),
            Self::NoTimeZone => f.write_str("a date and time without a time zone"),
            Self::NotFinite | Self::TooLarge => f.write_str("a number beyond 64 bits"),
            Self::NotWhole(least) | Self::TooSmall(least) => write!(f, "not a whole number of at least {least}"),
            Self::OutsideUnit => f.write_str("not a number from 0 to 1"),
            Self::RepeatedItem => f.write_str("an item is in the list more than once"),
            Self::TooFewItems(1) => f.write_str("the list must not be empty"),
            Self::TooFewItems(least) => write!(f, "the list must have at least {least} items"),
        }
    }
}
