//! Canonical JSON (spec v1.1 §1.1), byte for byte as the reference SDK writes it. Keys are sorted by code point.
//! Integers are exact. Floats have the shortest form in the SDK's exponent style (`1e-05`, `1e+16`). Strings have only
//! the escapes that JSON requires.
use mementory_json::{
    Tree,
    canonical::{self, KeyOrder, Numbers, Style},
};

pub(super) use mementory_json::canonical::BadNumber;

/// The canonical text of a value.
pub(super) fn canonical(tree: &Tree) -> Result<String, BadNumber> {
    canonical::canonical(tree, Style::PYTHON_WHOLE)
}

/// Appends the canonical text of a value.
pub(super) fn write(tree: &Tree, out: &mut String) -> Result<(), BadNumber> {
    canonical::write(tree, Style::PYTHON_WHOLE, out)
}

/// Members sorted by key. If a key occurs several times, the last member is used.
pub(super) fn sorted_members(members: &[(String, Tree)]) -> Vec<(&str, &Tree)> {
    canonical::sorted_members(members, KeyOrder::CodePoint)
}

/// Canonical form of a number token.
pub(super) fn number(token: &str) -> Result<String, BadNumber> {
    canonical::number(token, Numbers::PythonWhole).map(Into::into)
}

/// Canonical form of a double.
pub(super) fn float(value: f64) -> Result<String, BadNumber> {
    canonical::float(value, Numbers::PythonWhole)
}
