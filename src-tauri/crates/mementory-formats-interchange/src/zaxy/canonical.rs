//! The bytes that Zaxy hashes: the output of Python's `json.dumps` with sorted keys and without white space. Unlike RFC
//! 8785, whole floats keep their `.0`, integers have no limit, and keys are sorted by code point. Bundles escape only
//! the characters that JSON requires; logs (Eventloom) use `ensure_ascii`.
use mementory_json::{
    Tree,
    canonical::{BadNumber, Style},
};

/// Returns the canonical form of a number, given its text in the JSON.
#[cfg(test)]
pub(crate) fn number(token: &str) -> Result<String, BadNumber> {
    mementory_json::canonical::number(token, mementory_json::canonical::Numbers::Python).map(Into::into)
}

/// The canonical text of a value, for bundles.
pub(crate) fn canonical(tree: &Tree) -> Result<String, BadNumber> {
    mementory_json::canonical::canonical(tree, Style::PYTHON)
}
