//! Prints results: JSON for programs, short lines for people.
use crate::command_result::CommandResult;
use mementory_api::ApiError;
use serde_json::{Value, json};

/// Prints a result. Returns false if it could not be written.
pub fn result(result: &CommandResult, json: bool, quiet: bool) -> bool {
    if json {
        write_stdout(&format!("{}\n", result.value))
    } else if !quiet || result.essential {
        let mut lines = String::new();
        append_lines(&result.value, 0, &mut lines);
        write_stdout(&lines)
    } else {
        true
    }
}

pub fn error(error: &ApiError, json: bool) {
    if json {
        let details: serde_json::Map<String, Value> = error
            .details
            .iter()
            .map(|(k, v)| {
                // Numbers and flags are recognised by their key, not by their value, because an id or a path may look
                // like a number.
                let value = match (k.as_str(), v.as_str()) {
                    ("erased", flag) => Value::Bool(flag == "true"),
                    ("missing", list) => serde_json::from_str(list).unwrap_or_else(|_| Value::from(list)),
                    ("column" | "figure" | "found" | "known" | "line" | "pages", n) => {
                        n.parse::<u64>().map_or_else(|_| Value::from(n), Value::from)
                    }
                    (_, text) => Value::from(text),
                };
                (k.clone(), value)
            })
            .collect();
        let body = json!({"error": {"code": error.code, "message": error.message, "details": details}});
        write_stdout(&format!("{body}\n"));
    } else {
        eprintln!("{}", error.message);
    }
}

/// Appends keys and values as indented lines. Each object in a list becomes a separate block. Skips empty values.
fn append_lines(value: &Value, depth: usize, out: &mut String) {
    let indentation = "  ".repeat(depth);
    match value {
        Value::Object(members) => {
            for (key, value) in members {
                let name = key.replace('_', " ");
                match value {
                    Value::Null => {}
                    Value::Array(items) if items.is_empty() => {}
                    Value::Object(inner) if inner.is_empty() => {}
                    Value::Object(_) => {
                        out.push_str(&format!("{indentation}{name}:\n"));
                        append_lines(value, depth + 1, out);
                    }
                    // A diff is printed on several lines, any other text on a single line.
                    Value::String(change) if key == "change" => {
                        out.push_str(&format!("{indentation}{name}:\n"));
                        change.lines().for_each(|line| {
                            out.push_str(&format!("{indentation}  {}\n", scalar_text(&Value::from(line))));
                        });
                    }
                    Value::Array(items) if items.iter().all(|i| !i.is_object() && !i.is_array()) => {
                        let list: Vec<String> = items.iter().map(scalar_text).collect();
                        out.push_str(&format!("{indentation}{name}: {}\n", list.join(", ")));
                    }
                    Value::Array(items) => {
                        out.push_str(&format!("{indentation}{name}:\n"));
                        for item in items {
                            append_lines(item, depth + 1, out);
                            out.push('\n');
                        }
                    }
                    other => out.push_str(&format!("{indentation}{name}: {}\n", scalar_text(other))),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|i| append_lines(i, depth, out)),
        other => out.push_str(&format!("{indentation}{}\n", scalar_text(other))),
    }
}

/// A value as text without control characters, so that record content cannot control the terminal.
fn scalar_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect(),
        other => other.to_string(),
    }
}

/// Writes to standard output. If that fails, as on a full disk, prints a message on standard error and returns false. A
/// closed pipe is not an error, because its reader has all that it needs.
pub fn write_stdout(text: &str) -> bool {
    use std::io::{ErrorKind, Write};
    let mut out = std::io::stdout();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            eprintln!("The answer could not be written to standard output: {error}.");
            false
        }
        _ => true,
    }
}
