//! Places in a tree.
use std::fmt::{Display, Formatter, Result, Write};

/// At most this many characters of a member's name are printed. The name comes from the file and can be of any length.
const MAX_NAME_CHARS: usize = 80;

/// A place in a tree, relative to the checked value. The JSON pointer (RFC 6901) is built only when the place is
/// printed, because most values have no violation.
#[derive(Debug, Clone, Copy)]
pub struct Place<'a>(Option<(&'a Place<'a>, Step<'a>)>);

#[derive(Debug, Clone, Copy)]
enum Step<'a> {
    Member(&'a str),
    Item(usize),
}

/// A step of a path that does not borrow from the tree.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum PathStep {
    Member(String),
    Item(usize),
}

impl<'a> Place<'a> {
    pub(super) const TOP: Place<'static> = Place(None);

    pub(super) fn member(&'a self, name: &'a str) -> Place<'a> {
        Place(Some((self, Step::Member(name))))
    }

    pub(super) fn item(&'a self, index: usize) -> Place<'a> {
        Place(Some((self, Step::Item(index))))
    }

    /// The steps from the checked value to this place.
    pub(super) fn path(&self) -> Vec<PathStep> {
        let Some((parent, step)) = self.0 else { return vec![] };
        let mut path = parent.path();
        path.push(match step {
            Step::Member(name) => PathStep::Member(name.to_owned()),
            Step::Item(index) => PathStep::Item(index),
        });
        path
    }
}

impl Display for Place<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let Some((parent, step)) = self.0 else { return Ok(()) };
        parent.fmt(f)?;
        f.write_char('/')?;
        match step {
            Step::Item(index) => index.fmt(f),
            Step::Member(name) => name.chars().take(MAX_NAME_CHARS).try_for_each(|c| match c {
                '~' => f.write_str("~0"),
                '/' => f.write_str("~1"),
                c => f.write_char(c),
            }),
        }
    }
}
