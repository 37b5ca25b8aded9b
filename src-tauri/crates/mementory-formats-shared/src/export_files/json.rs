//! Helpers to build JSON in writers.
use crate::object::{Object, with_replaced_values};
use mementory_json::Tree;

/// An object with these members in this order.
pub fn object(members: Vec<(&str, Tree)>) -> Tree {
    Tree::Object(members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

/// A JSON string.
pub fn text(text: &str) -> Tree {
    Tree::Text(text.to_owned())
}

/// The JSON text of a value.
pub fn written(tree: &Tree) -> String {
    let mut out = String::new();
    tree.write(&mut out);
    out
}

/// Sets the member `name` of a JSON object to the JSON text `value`, or adds the member if it is missing. All other
/// text is unchanged.
pub fn with_member(json: &str, name: &str, value: &str) -> String {
    if let Some(raw) = Object::parse(json).and_then(|object| object.raw_value(name)) {
        return with_replaced_values(json, &[(raw, value)]);
    }
    let Some(inside) = json.trim_end().strip_suffix('}') else { return json.to_owned() };
    let separator = if inside.trim_end().ends_with('{') { "" } else { "," };
    let mut key = String::new();
    mementory_json::write_string(name, &mut key);
    format!("{inside}{separator}{key}:{value}}}")
}
