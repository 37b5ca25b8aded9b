//! Schemas that are const tables, and the check of a tree against them. Each violation is passed to a callback,
//! together with its place. The calling format chooses the codes, the severities and the length of the report. A table
//! can also serve other purposes; for example, it can provide the types of YAML scalars.
mod decimal;
mod make_valid;
mod place;
#[cfg(test)]
mod tests;
mod text;
mod violation;
mod walk;

pub use decimal::{is_in_unit_interval, is_whole};
pub use make_valid::make_valid;
pub use place::Place;
pub use text::{TimeFault, is_uri, is_uuid, rfc3339};
pub use violation::Violation;
pub use walk::{RepeatedKeys, check};

/// The values that a schema allows.
#[derive(Debug)]
pub enum Rule {
    /// Any value.
    Any,
    /// Text.
    Text,
    /// Text of 1 to this many code points.
    Length(usize),
    /// Text with a syntax that the format defines.
    Form(&'static TextForm),
    /// Date and time by RFC 3339.
    Time,
    /// A UUID with hyphens, in upper or lower case (RFC 9562 §4).
    Uuid,
    /// One of these words.
    Word(&'static [&'static str]),
    /// Text that is usually one of these words. The list is open, so another word is not wrong, but is reported as
    /// unlisted.
    OpenWord(&'static [&'static str]),
    /// `true` or `false`.
    Bool,
    /// A number.
    Number,
    /// A whole number of at least this value. `2.0` is whole, as in JSON Schema.
    Whole(i64),
    /// A whole number of at least this value that fits into a signed 64-bit integer.
    Int64(i64),
    /// A whole number from the first to the second value.
    Range(i64, i64),
    /// A number from 0 to 1.
    UnitInterval,
    /// An array whose items follow this rule.
    List(&'static Rule),
    /// An array whose items follow this rule, with at least this many items and no repeated text.
    Set(&'static Rule, usize),
    /// An object with any keys whose values follow this rule.
    Map(&'static Rule),
    /// An object with these members. Other members are allowed.
    Object(&'static [Field]),
    /// An object with these members. Other members are violations.
    ClosedObject(&'static [Field]),
    /// An object whose member `type` selects one of these rules.
    Tagged(&'static [(&'static str, Rule)]),
    /// Text, or an object with any members.
    TextOrObject,
}

impl Rule {
    /// Text of at least one character.
    pub const NOT_EMPTY: Rule = Rule::Length(usize::MAX);

    /// True if this rule requires text.
    pub fn is_text(&self) -> bool {
        matches!(
            self,
            Rule::Text | Rule::Length(_) | Rule::Form(_) | Rule::Time | Rule::Uuid | Rule::Word(_) | Rule::OpenWord(_)
        )
    }

    /// The fields, if this is a rule for objects with fixed members.
    pub fn fields(&self) -> Option<&'static [Field]> {
        match self {
            Rule::Object(fields) | Rule::ClosedObject(fields) => Some(fields),
            _ => None,
        }
    }
}

/// A member of an object.
#[derive(Debug)]
pub struct Field {
    /// Key of the member.
    pub name: &'static str,
    /// True if the member must be present.
    pub required: bool,
    /// True if the member may be null.
    pub nullable: bool,
    /// Rule for the value of the member.
    pub rule: Rule,
}

/// A member that must be present and not null.
pub const fn required(name: &'static str, rule: Rule) -> Field {
    Field { name, required: true, nullable: false, rule }
}

/// A member that may be absent, but not null.
pub const fn optional(name: &'static str, rule: Rule) -> Field {
    Field { name, required: false, nullable: false, rule }
}

/// A member that may be absent or null.
pub const fn nullable(name: &'static str, rule: Rule) -> Field {
    Field { name, required: false, nullable: true, rule }
}

/// A member that must be present, but may be null.
pub const fn required_nullable(name: &'static str, rule: Rule) -> Field {
    Field { name, required: true, nullable: true, rule }
}

/// A text syntax that a format defines.
#[derive(Debug)]
pub struct TextForm {
    /// The expected syntax, in words that can follow "not" in a message.
    pub expected: &'static str,
    /// Compares a text with this syntax. The result says how well the text fits.
    pub fit: fn(&str) -> Fit,
}

impl TextForm {
    /// True if the text has exactly this syntax.
    pub fn matches_exactly(&self, text: &str) -> bool {
        (self.fit)(text) == Fit::Exact
    }
}

/// Result of comparing a text with a [`TextForm`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fit {
    /// The text has the form.
    Exact,
    /// The text deviates from the syntax, but readers accept it.
    Loose,
    /// The text does not have the syntax.
    Other,
}

impl From<bool> for Fit {
    fn from(fits: bool) -> Self {
        if fits { Fit::Exact } else { Fit::Other }
    }
}
