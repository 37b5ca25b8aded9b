//! Checks a value against a [`Shape`]: missing, unknown, mistyped and misspelt members. Its depth is that of the tables.
use super::{
    forms::{TimeFault, time},
    schema::{Need, Shape, Ty},
};
use mementory_json::Tree;
use std::collections::HashSet;
use std::fmt;

/// One fault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fault {
    /// Stable code.
    pub code: &'static str,
    /// JSON pointer below the value that was checked.
    pub pointer: String,
    /// For people; no record content.
    pub message: String,
    /// Worth knowing, and no more.
    pub mild: bool,
}

/// Where the walk is. It becomes a text only for a fault: most values have none.
#[derive(Clone, Copy)]
struct At<'a> {
    parent: Option<&'a At<'a>>,
    name: &'a str,
    index: usize,
}

impl<'a> At<'a> {
    const TOP: At<'static> = At { parent: None, name: "", index: 0 };

    fn member(&'a self, name: &'a str) -> At<'a> {
        At { parent: Some(self), name, index: 0 }
    }

    fn item(&'a self, index: usize) -> At<'a> {
        At { parent: Some(self), name: "", index }
    }
}

impl fmt::Display for At<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(parent) = self.parent else { return Ok(()) };
        parent.fmt(f)?;
        if self.name.is_empty() { write!(f, "/{}", self.index) } else { write!(f, "/{}", self.name) }
    }
}

/// Every fault of an object.
pub(super) fn check(shape: &Shape, tree: &Tree) -> Vec<Fault> {
    let mut faults = Vec::new();
    object(shape, tree, &At::TOP, &mut faults);
    faults
}

/// Of one object no more faults are told: a hostile one may have one for every two bytes.
const MOST: usize = 2000;

fn push(faults: &mut Vec<Fault>, code: &'static str, at: &At, message: impl Into<String>) {
    if faults.len() >= MOST {
        if faults.len() == MOST {
            let message = "further faults of this record are not listed".into();
            faults.push(Fault { code: "more", pointer: String::new(), message, mild: false });
        }
        return;
    }
    let mild = code == "date_without_zone";
    faults.push(Fault { code, pointer: at.to_string(), message: message.into(), mild });
}

fn object(shape: &Shape, tree: &Tree, pointer: &At, faults: &mut Vec<Fault>) {
    let Tree::Object(members) = tree else {
        return push(faults, "wrong_type", pointer, "an object is expected");
    };
    for field in shape.fields {
        let at = pointer.member(field.0);
        match tree.get(field.0) {
            None if field.2 == Need::Required => {
                push(faults, "missing_field", &at, format!("{} is required", field.0));
            }
            None => {}
            Some(Tree::Null) if field.2 == Need::Nullable => {}
            Some(value) => one(&field.1, value, &at, faults),
        }
    }
    if !shape.open {
        for (key, _) in members.iter().filter(|(k, _)| !shape.fields.iter().any(|f| f.0 == k)) {
            let name: String = key.chars().take(80).collect();
            push(faults, "unknown_field", &pointer.member(&name), "the format has no such member");
        }
    }
    if repeats(members) {
        push(faults, "duplicate_key", pointer, "a member is there twice; the last one counts");
    }
}

/// Is a key there twice? A few keys are compared with each other; only a foreign heap of them needs a set.
fn repeats(members: &[(String, Tree)]) -> bool {
    const FEW: usize = 32;
    if members.len() > FEW {
        let names: HashSet<&str> = members.iter().map(|(k, _)| k.as_str()).collect();
        return names.len() < members.len();
    }
    members.iter().enumerate().any(|(i, (key, _))| members[..i].iter().any(|(k, _)| k == key))
}

fn one(ty: &Ty, value: &Tree, at: &At, faults: &mut Vec<Fault>) {
    let text = value.as_str();
    let number = value.as_f64().filter(|n| n.is_finite());
    let (fits, expected) = match ty {
        Ty::Text => (text.is_some(), "a text"),
        Ty::Filled | Ty::Const(_) | Ty::OneOf(_) | Ty::Like(_) | Ty::Time => (text.is_some(), "a text"),
        Ty::Bool => (matches!(value, Tree::Bool(_)), "true or false"),
        Ty::Int(_) => (number.is_some_and(|n| n.fract() == 0.0), "a whole number"),
        Ty::Unit | Ty::Number => (number.is_some(), "a number"),
        Ty::Open => (matches!(value, Tree::Object(_)), "an object"),
        Ty::OpenOrText => (matches!(value, Tree::Object(_) | Tree::Text(_)), "an object or a text"),
        Ty::Object(shape) => return object(shape, value, at, faults),
        Ty::List(_) | Ty::Set(..) => (matches!(value, Tree::Array(_)), "a list"),
    };
    if !fits {
        return push(faults, "wrong_type", at, format!("{expected} is expected"));
    }
    let text = text.unwrap_or_default();
    match ty {
        Ty::Filled if text.is_empty() => push(faults, "empty", at, "at least one character is expected"),
        Ty::Const(word) if text != *word => push(faults, "bad_value", at, format!("{word} is expected")),
        Ty::OneOf(words) if !words.contains(&text) => {
            push(faults, "bad_value", at, format!("one of {} is expected", words.join(", ")));
        }
        Ty::Like(form) if !form.fits(text) => {
            push(faults, "bad_value", at, format!("not of the form that the format asks for ({form:?})"));
        }
        Ty::Time => match time(text) {
            Ok(()) => {}
            Err(TimeFault::Bad) => push(faults, "bad_date", at, "not a time as RFC 3339 has it"),
            Err(TimeFault::NoZone) => push(faults, "date_without_zone", at, "no time zone; read as UTC"),
        },
        Ty::Int(least) if number.is_some_and(|n| n < *least as f64) => {
            push(faults, "bad_value", at, format!("at least {least} is expected"));
        }
        Ty::Unit if number.is_some_and(|n| !(0.0..=1.0).contains(&n)) => {
            push(faults, "bad_value", at, "a number from 0 to 1 is expected");
        }
        Ty::List(item) | Ty::Set(item, _) => {
            let Tree::Array(items) = value else { return };
            if let Ty::Set(_, least) = ty {
                let seen: HashSet<&str> = items.iter().filter_map(Tree::as_str).collect();
                if seen.len() < items.iter().filter(|i| i.as_str().is_some()).count() {
                    push(faults, "bad_value", at, "an item is there twice");
                }
                if items.len() < *least {
                    push(faults, "bad_value", at, format!("at least {least} item is expected"));
                }
            }
            for (i, value) in items.iter().enumerate() {
                one(item, value, &at.item(i), faults);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::{super::schema::MEMORY, *};

    #[test]
    fn of_a_heap_of_faults_the_first_are_told_and_that_there_are_more() {
        let text = format!(r#"{{"tags":[{}7]}}"#, "7,".repeat(3 * MOST));
        let found = check(&MEMORY, &Tree::parse(&text, 16).unwrap());
        assert_eq!((found.len(), found.last().map(|f| f.code)), (MOST + 1, Some("more")));
    }

    #[test]
    fn faults_have_codes_and_places() {
        let text = r#"{"id":"","type":"opinion","content":7,"content_hash":"sha256:x","tags":["a","a","B"],
            "confidence":{"initial":1.5,"current":null},"temporal":{"created_at":"2026-02-31T00:00:00Z","updated_at":null},
            "access":{"shared_with":[{"entity":"x","permissions":[]}]},"x_more":1,"embedding_ref":null}"#;
        let found: Vec<(&str, String)> =
            check(&MEMORY, &Tree::parse(text, 16).unwrap()).into_iter().map(|f| (f.code, f.pointer)).collect();
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
        assert_eq!(found, expected.map(|(c, p)| (c, p.to_owned())));
    }
}
