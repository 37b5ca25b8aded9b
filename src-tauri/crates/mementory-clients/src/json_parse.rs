//! Parses JSON, with the comments and trailing commas that a client accepts, and returns the objects to edit with their
//! offsets.
use crate::{client::Dialect, server::Entry, text::TextError};
use jsonc_parser::{
    CollectOptions, ParseOptions,
    ast::{Object, ObjectProp, Value},
    common::Ranged,
    parse_to_ast,
};

/// The root object of a text; `None` if the text contains no JSON value.
pub(crate) fn root(text: &str, dialect: Dialect) -> Result<Option<Object<'_>>, TextError> {
    let options = ParseOptions {
        allow_comments: dialect != Dialect::Strict,
        allow_trailing_commas: dialect == Dialect::Relaxed,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    let parsed = parse_to_ast(text, &CollectOptions::default(), &options)
        .map_err(|error| TextError::Syntax(error.range().start, reason(&error.kind().to_string())))?;
    match parsed.value {
        None => Ok(None),
        Some(Value::Object(object)) => no_duplicates(object).map(Some),
        Some(other) => Err(TextError::Layout(other.start(), "the configuration is not an object".into())),
    }
}

/// The object that is the value of the member `name`; `None` if there is no such member.
pub(crate) fn object_in<'o, 'a>(object: &'o Object<'a>, name: &str) -> Result<Option<&'o Object<'a>>, TextError> {
    match object.get(name).map(|member| &member.value) {
        None => Ok(None),
        Some(Value::Object(inner)) => {
            refuse_duplicates(inner)?;
            Ok(Some(inner))
        }
        Some(other) => Err(TextError::Layout(other.start(), format!("{name} is not an object"))),
    }
}

/// The entry of a server.
pub(crate) fn entry_of(member: &ObjectProp<'_>) -> Entry {
    let Value::Object(object) = &member.value else { return Entry::default() };
    let env = object.get_object("env").map(|env| {
        env.properties.iter().filter_map(|variable| {
            let value = variable.value.as_string_lit()?;
            Some((variable.name.as_str().to_owned(), value.value.to_string()))
        })
    });
    Entry {
        command: object.get_string("command").map(|literal| literal.value.to_string()),
        args: object.get("args").and_then(|args| strings_of(&args.value)),
        env: env.into_iter().flatten().collect(),
    }
}

fn strings_of(value: &Value<'_>) -> Option<Vec<String>> {
    value.as_array()?.elements.iter().map(|each| Some(each.as_string_lit()?.value.to_string())).collect()
}

/// Refuses an object in which a name occurs twice, because clients disagree on which of the two counts.
fn refuse_duplicates(object: &Object<'_>) -> Result<(), TextError> {
    let mut names = std::collections::HashSet::new();
    match object.properties.iter().find(|member| !names.insert(member.name.as_str())) {
        Some(duplicate) => Err(TextError::Layout(duplicate.range.start, "a name occurs twice in one object".into())),
        None => Ok(()),
    }
}

fn no_duplicates(object: Object<'_>) -> Result<Object<'_>, TextError> {
    refuse_duplicates(&object).map(|()| object)
}

/// The parser's reason, in a form that "in line …" can follow.
fn reason(text: &str) -> String {
    let mut chars = text.trim_end_matches('.').chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
}

/// The positions of the comments and commas between two values.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Trivia {
    /// Offset of the first comma.
    pub comma: Option<usize>,
    /// Offset of the end of the last comment or comma.
    pub last_end: Option<usize>,
    /// True if the last comment or comma is a line comment (`//`).
    pub ends_with_line_comment: bool,
}

/// Reads the comments and commas between two values.
pub(crate) fn trivia(text: &str, from: usize, to: usize) -> Trivia {
    let bytes = text.as_bytes();
    let mut trivia = Trivia::default();
    let mut at = from;
    while at < to {
        match (bytes[at], bytes.get(at + 1)) {
            (b'/', Some(b'/')) => {
                at = text[at..to].find(['\n', '\r']).map_or(to, |length| at + length);
                (trivia.last_end, trivia.ends_with_line_comment) = (Some(at), true);
            }
            (b'/', Some(b'*')) => {
                at = text.get(at + 2..to).and_then(|rest| rest.find("*/")).map_or(to, |length| at + 2 + length + 2);
                (trivia.last_end, trivia.ends_with_line_comment) = (Some(at), false);
            }
            (b',', _) => {
                trivia.comma = trivia.comma.or(Some(at));
                at += 1;
                (trivia.last_end, trivia.ends_with_line_comment) = (Some(at), false);
            }
            _ => at += 1,
        }
    }
    trivia
}
