//! Schemas as const tables, and one walk that checks a tree against them. It reports each violation with its place to a
//! callback; codes, severities and limits of a report belong to the format. The same table can drive other things, such
//! as the types that YAML scalars take.
mod place;
#[cfg(test)]
mod tests;
mod text;
mod violation;
mod walk;

pub use place::Place;
pub use text::{TimeFault, is_uuid, rfc3339};
pub use violation::Violation;
pub use walk::{RepeatedKeys, check};

/// What a value must be.
#[derive(Debug)]
pub enum Rule {
    /// Anything.
    Any,
    /// Text.
    Text,
    /// Text of 1 to this many code points.
    Length(usize),
    /// Text of a form that the format defines.
    Form(&'static TextForm),
    /// RFC 3339 date and time.
    Time,
    /// A UUID with hyphens, in upper or lower case (RFC 9562 §4).
    Uuid,
    /// One of these words and no other.
    Word(&'static [&'static str]),
    /// Text that is usually one of these words; the format's list is open.
    OpenWord(&'static [&'static str]),
    /// `true` or `false`.
    Bool,
    /// A number.
    Number,
    /// A whole number of at least this. `2.0` is whole, as in JSON Schema.
    Whole(i64),
    /// A whole number of at least this that a signed integer of 64 bits can hold.
    Int64(i64),
    /// A number from 0 to 1.
    Unit,
    /// An array of these.
    List(&'static Rule),
    /// An array of these in which no text is repeated, with at least this many items.
    Set(&'static Rule, usize),
    /// An object with free keys and these values.
    Map(&'static Rule),
    /// An object with these members; others are allowed.
    Object(&'static [Field]),
    /// An object with these members and no others.
    ClosedObject(&'static [Field]),
    /// An object whose `type` selects one of these rules.
    Tagged(&'static [(&'static str, Rule)]),
    /// Text, or an object with free members.
    TextOrObject,
}

impl Rule {
    /// Text of at least one character.
    pub const NOT_EMPTY: Rule = Rule::Length(usize::MAX);

    /// Does this rule ask for text?
    pub fn is_text(&self) -> bool {
        matches!(
            self,
            Rule::Text | Rule::Length(_) | Rule::Form(_) | Rule::Time | Rule::Uuid | Rule::Word(_) | Rule::OpenWord(_)
        )
    }

    /// Fields of an object.
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
    /// Its key.
    pub name: &'static str,
    /// Must it be there?
    pub required: bool,
    /// May it be null?
    pub nullable: bool,
    /// Rule for its value.
    pub rule: Rule,
}

/// A member that must be there and not null.
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

/// A member that must be there and may be null.
pub const fn required_nullable(name: &'static str, rule: Rule) -> Field {
    Field { name, required: true, nullable: true, rule }
}

/// A form of texts that a format defines.
#[derive(Debug)]
pub struct TextForm {
    /// What is expected, as it follows "not" in a message.
    pub expected: &'static str,
    /// How well a text fits.
    pub fit: fn(&str) -> Fit,
}

impl TextForm {
    /// Has the text exactly this form?
    pub fn fits(&self, text: &str) -> bool {
        (self.fit)(text) == Fit::Exact
    }
}

/// How well a text fits a [`TextForm`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fit {
    /// It has the form.
    Exact,
    /// Readers accept it, but it is not quite what the format asks for.
    Loose,
    /// It has another form.
    Not,
}

impl From<bool> for Fit {
    fn from(fits: bool) -> Self {
        if fits { Fit::Exact } else { Fit::Not }
    }
}
