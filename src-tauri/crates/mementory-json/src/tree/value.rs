//! Trees as values of serde_json, and back.
use super::Tree;
use serde_json::Value;

/// Converts a tree to a value of serde_json. A number beyond 64 bits becomes a double, or null if a double cannot
/// represent its magnitude. If several members have the same name, only the last one stays. Callers that need the exact
/// values must keep the source text.
pub fn value_of(tree: &Tree) -> Value {
    match tree {
        Tree::Null => Value::Null,
        Tree::Bool(b) => Value::Bool(*b),
        Tree::Number(token) => serde_json::from_str(token).unwrap_or(Value::Null),
        Tree::Text(text) => Value::String(text.clone()),
        Tree::Array(items) => Value::Array(items.iter().map(value_of).collect()),
        Tree::Object(members) => Value::Object(members.iter().map(|(k, v)| (k.clone(), value_of(v))).collect()),
    }
}

/// Converts a value of serde_json to a tree.
pub fn tree_of(value: &Value) -> Tree {
    match value {
        Value::Null => Tree::Null,
        Value::Bool(b) => Tree::Bool(*b),
        Value::Number(n) => Tree::Number(n.to_string()),
        Value::String(text) => Tree::Text(text.clone()),
        Value::Array(items) => Tree::Array(items.iter().map(tree_of).collect()),
        Value::Object(members) => Tree::Object(members.iter().map(|(k, v)| (k.clone(), tree_of(v))).collect()),
    }
}
