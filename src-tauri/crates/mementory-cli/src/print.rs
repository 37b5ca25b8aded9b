//! JSON for programs, short lines for people.
use crate::done::Done;
use mementory_api::ApiError;
use serde_json::{Value, json};

pub fn result(done: &Done, json: bool, quiet: bool) {
    if json {
        out(&format!("{}\n", done.value));
    } else if !quiet || done.essential {
        let mut lines = String::new();
        plain(&done.value, 0, &mut lines);
        out(&lines);
    }
}

pub fn error(error: &ApiError, json: bool) {
    if json {
        let details: serde_json::Map<String, Value> = error
            .details
            .iter()
            .map(|(k, v)| {
                // Numbers and flags are recognised by key: an id or a path may look like a number.
                let value = match (k.as_str(), v.as_str()) {
                    ("erased", flag) => Value::Bool(flag == "true"),
                    ("figure" | "found" | "known" | "pages", n) => {
                        n.parse::<u64>().map_or_else(|_| Value::from(n), Value::from)
                    }
                    (_, text) => Value::from(text),
                };
                (k.clone(), value)
            })
            .collect();
        let body = json!({"error": {"code": error.code, "message": error.message, "details": details}});
        out(&format!("{body}\n"));
    } else {
        eprintln!("{}", error.message);
    }
}

/// Keys and values, indented; each object of a list is a block. Empty values are skipped.
fn plain(value: &Value, depth: usize, out: &mut String) {
    let pad = "  ".repeat(depth);
    match value {
        Value::Object(members) => {
            for (key, value) in members {
                let name = key.replace('_', " ");
                match value {
                    Value::Null => {}
                    Value::Array(items) if items.is_empty() => {}
                    Value::Object(inner) if inner.is_empty() => {}
                    Value::Object(_) => {
                        out.push_str(&format!("{pad}{name}:\n"));
                        plain(value, depth + 1, out);
                    }
                    Value::Array(items) if items.iter().all(|i| !i.is_object() && !i.is_array()) => {
                        let list: Vec<String> = items.iter().map(scalar).collect();
                        out.push_str(&format!("{pad}{name}: {}\n", list.join(", ")));
                    }
                    Value::Array(items) => {
                        out.push_str(&format!("{pad}{name}:\n"));
                        for item in items {
                            plain(item, depth + 1, out);
                            out.push('\n');
                        }
                    }
                    other => out.push_str(&format!("{pad}{name}: {}\n", scalar(other))),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|i| plain(i, depth, out)),
        other => out.push_str(&format!("{pad}{}\n", scalar(other))),
    }
}

/// Text without control characters, so that record content cannot control the terminal.
fn scalar(value: &Value) -> String {
    match value {
        Value::String(text) => text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect(),
        other => other.to_string(),
    }
}

/// A closed pipe is not an error.
fn out(text: &str) {
    use std::io::Write;
    let _ = std::io::stdout().write_all(text.as_bytes());
}
