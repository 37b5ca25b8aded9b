//! Violations of rules.
use std::fmt::{Display, Formatter, Result};

/// A violation of a rule. Its message is for the user and contains no text from the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Violation {
    /// A required member is absent.
    MissingField,
    /// A closed object has a member that the rule does not list.
    UnknownField,
    /// An object contains a key more than once.
    RepeatedKey,
    /// A value is not of the expected type.
    WrongType(&'static str),
    /// A text is empty.
    Empty,
    /// A text has more than this many code points.
    TooLong(usize),
    /// A word is not in a closed list.
    UnknownWord(&'static [&'static str]),
    /// A word is not in an open list.
    UnlistedWord(&'static [&'static str]),
    /// The member `type` of an object has a value for which there is no rule.
    UnknownTag,
    /// A text is not in the expected form.
    BadForm(&'static str),
    /// A text is not exactly in the expected form, but readers accept it.
    LooseForm(&'static str),
    /// A text is not a date and time by RFC 3339.
    BadTime,
    /// A date and time has no time zone.
    NoTimeZone,
    /// A number is outside the range of a double.
    NotFinite,
    /// A number is not whole. The value is the smallest number that is allowed.
    NotWhole(i64),
    /// A whole number is below this value.
    TooSmall(i64),
    /// A whole number does not fit into a signed 64-bit integer.
    TooLarge,
    /// A number is not whole, or not from the first to the second value.
    OutsideRange(i64, i64),
    /// A number is not from 0 to 1.
    OutsideUnitInterval,
    /// A set contains a text more than once.
    RepeatedItem,
    /// A set has fewer items than this.
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
            Self::OutsideRange(least, most) => write!(f, "not a whole number from {least} to {most}"),
            Self::OutsideUnitInterval => f.write_str("not a number from 0 to 1"),
            Self::RepeatedItem => f.write_str("an item is in the list more than once"),
            Self::TooFewItems(1) => f.write_str("the list must not be empty"),
            Self::TooFewItems(least) => write!(f, "the list must have at least {least} items"),
        }
    }
}
