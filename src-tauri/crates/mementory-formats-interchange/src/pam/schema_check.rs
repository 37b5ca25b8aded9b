//! Checks a value against a [`Rule`] and assigns an issue code to each violation.
use mementory_json::{
    Tree,
    schema::{self, RepeatedKeys, Rule, Violation},
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fault {
    /// Stable code of the fault.
    pub code: &'static str,
    /// JSON pointer inside the checked value.
    pub pointer: String,
    /// Message for the user, without content of the record.
    pub message: String,
    /// True if the fault is only a warning.
    pub is_warning: bool,
    /// True for members and words that a later minor version may have added (§22.3).
    pub may_be_newer: bool,
}

/// Largest number of faults listed for one value. A hostile value may have a fault in every two bytes.
const MAX_FAULTS: usize = 2000;

/// Returns the faults of a value: at most [`MAX_FAULTS`], plus one that represents all further faults.
pub(super) fn check(rule: &Rule, tree: &Tree) -> Vec<Fault> {
    let mut faults = Vec::new();
    schema::check(tree, rule, RepeatedKeys::Report, &mut |at, violation| {
        if faults.len() < MAX_FAULTS {
            let (code, is_warning) = (code_of(&violation), violation == Violation::NoTimeZone);
            let (pointer, message) = (at.to_string(), violation.to_string());
            faults.push(Fault { code, pointer, message, is_warning, may_be_newer: may_be_newer(&violation) });
        } else if faults.len() == MAX_FAULTS {
            let message = "further faults of this record are not listed".into();
            let pointer = String::new();
            faults.push(Fault { code: "more", pointer, message, is_warning: false, may_be_newer: false });
        }
    });
    faults
}

/// True for an unknown member, and for an unknown word where the format defines several words. A document of a later
/// minor version may contain these (§22.3).
fn may_be_newer(violation: &Violation) -> bool {
    match violation {
        Violation::UnknownField => true,
        Violation::UnknownWord(words) => words.len() > 1,
        _ => false,
    }
}

/// True if the violation makes a document invalid. `keeps_unknown` allows members and words that later minor versions
/// may have added.
pub(super) fn is_error(violation: &Violation, keeps_unknown: bool) -> bool {
    match violation {
        Violation::NoTimeZone => false,
        other => !(keeps_unknown && may_be_newer(other)),
    }
}

fn code_of(violation: &Violation) -> &'static str {
    match violation {
        Violation::MissingField => "missing_field",
        Violation::UnknownField => "unknown_field",
        Violation::RepeatedKey => "duplicate_key",
        // A number with a fraction is not an integer, and a number beyond 64 bits cannot be read.
        Violation::WrongType(_) | Violation::NotWhole(_) | Violation::NotFinite => "wrong_type",
        Violation::Empty => "empty",
        Violation::BadTime => "bad_date",
        // This is only a warning, because readers treat a time without a zone as UTC.
        Violation::NoTimeZone => "date_without_zone",
        _ => "bad_value",
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::{super::schema::MEMORY_RULE, *};

    #[test]
    fn faults_beyond_the_limit_are_reported_as_one() {
        let text = format!(r#"{{"tags":[{}7]}}"#, "7,".repeat(3 * MAX_FAULTS));
        let faults = check(&MEMORY_RULE, &Tree::parse(&text, 16).unwrap());
        assert_eq!((faults.len(), faults.last().map(|f| f.code)), (MAX_FAULTS + 1, Some("more")));
    }

    #[test]
    fn faults_have_codes_and_places() {
        let text = r#"{"id":"","type":"opinion","content":7,"content_hash":"sha256:x","tags":["a","a","B"],
            "confidence":{"initial":1.5,"current":null},"temporal":{"created_at":"2026-02-31T00:00:00Z","updated_at":null},
            "access":{"shared_with":[{"entity":"x","permissions":[]}]},"x_more":1,"embedding_ref":null}"#;
        let faults: Vec<(&str, String)> =
            check(&MEMORY_RULE, &Tree::parse(text, 16).unwrap()).into_iter().map(|f| (f.code, f.pointer)).collect();
        let expected = [
            ("empty", "/id"),
            ("bad_value", "/type"),
            ("wrong_type", "/content"),
            ("bad_value", "/content_hash"),
            ("bad_value", "/tags"),
            ("bad_value", "/tags/2"),
            ("bad_value", "/confidence/initial"),
            ("wrong_type", "/confidence/current"),
            ("bad_date", "/temporal/created_at"),
            ("missing_field", "/provenance"),
            ("bad_value", "/access/shared_with/0/permissions"),
            ("unknown_field", "/x_more"),
        ];
        assert_eq!(faults, expected.map(|(c, p)| (c, p.to_owned())));
    }
}
