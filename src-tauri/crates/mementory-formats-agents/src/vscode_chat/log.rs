//! The log of a chat (`chatSessions/*.jsonl`). Its first line has the whole chat (`kind` 0). Each further line sets a
//! value at a path (1), appends to a list after it was cut to a length (2), or deletes a value (3). The values on the
//! way to a change are taken apart; all others stay JSON text, so a log takes little more memory than its lines.
use mementory_formats_shared::object::{Object, decode_string, list};
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// Largest number of steps in a path. The paths of VS Code have at most five.
const MAX_PATH: usize = 16;

/// The chat while the lines of its log are read.
#[derive(Debug, Default)]
pub(super) struct Log {
    root: Option<Node>,
}

#[derive(Debug)]
enum Node {
    /// JSON text that was not taken apart.
    Raw(String),
    Members(BTreeMap<String, Node>),
    Items(Vec<Node>),
}

/// One step of a path.
#[derive(Debug)]
enum Step {
    Key(String),
    Index(usize),
}

impl Log {
    /// Applies a line. Returns false if the line is of an unknown kind, or if its path leads nowhere.
    pub(super) fn apply(&mut self, line: &Object<'_>) -> bool {
        let value = line.raw_value("v").map(|raw| raw.get().to_owned());
        let kind = line.raw_value("kind").map_or("", RawValue::get);
        if kind == "0" {
            self.root = value.map(Node::Raw);
            return self.root.is_some();
        }
        let Some(mut path) = path_of(line) else { return false };
        match kind {
            // A value may be set to null, which `raw_value` does not return.
            "1" => {
                let value = value.unwrap_or_else(|| "null".to_owned());
                let Some(last) = path.pop() else { return false };
                self.descend(path).is_some_and(|node| node.set(last, value))
            }
            "2" => {
                let length = line.raw_value("i").and_then(|raw| raw.get().parse::<usize>().ok());
                self.descend(path).is_some_and(|node| node.append(value.as_deref(), length))
            }
            "3" => {
                let Some(last) = path.pop() else { return false };
                self.descend(path).is_some_and(|node| node.delete(&last))
            }
            _ => false,
        }
    }

    /// The chat after all lines, as JSON. None if the log has no first line.
    pub(super) fn into_text(self) -> Option<String> {
        self.root.map(Node::into_text)
    }

    fn descend(&mut self, path: Vec<Step>) -> Option<&mut Node> {
        let mut node = self.root.as_mut()?;
        for step in path {
            node.take_apart();
            node = match (node, step) {
                (Node::Members(members), Step::Key(key)) => {
                    // A list that does not exist yet is made by the change that appends to it.
                    members.entry(key).or_insert_with(|| Node::Raw("null".to_owned()))
                }
                (Node::Items(items), Step::Index(at)) => items.get_mut(at)?,
                _ => return None,
            };
        }
        Some(node)
    }
}

impl Node {
    /// Splits the text of an object or a list into its values.
    fn take_apart(&mut self) {
        let parts = match self {
            Node::Raw(text) => parts_of(text),
            _ => None,
        };
        if let Some(parts) = parts {
            *self = parts;
        }
    }

    fn set(&mut self, step: Step, value: String) -> bool {
        self.take_apart();
        match (self, step) {
            (Node::Members(members), Step::Key(key)) => {
                members.insert(key, Node::Raw(value));
                true
            }
            (Node::Items(items), Step::Index(at)) if at == items.len() => {
                items.push(Node::Raw(value));
                true
            }
            (Node::Items(items), Step::Index(at)) => match items.get_mut(at) {
                Some(item) => {
                    *item = Node::Raw(value);
                    true
                }
                None => false,
            },
            _ => false,
        }
    }

    fn append(&mut self, values: Option<&str>, length: Option<usize>) -> bool {
        if matches!(self, Node::Raw(text) if text == "null") {
            *self = Node::Items(Vec::new());
        }
        self.take_apart();
        let Node::Items(items) = self else { return false };
        if let Some(length) = length {
            items.truncate(length);
        }
        let Some(text) = values else { return true };
        let Some(values) = serde_json::from_str::<&RawValue>(text).ok().and_then(list) else { return false };
        items.extend(values.into_iter().map(|raw| Node::Raw(raw.get().to_owned())));
        true
    }

    fn delete(&mut self, step: &Step) -> bool {
        self.take_apart();
        match (self, step) {
            (Node::Members(members), Step::Key(key)) => members.remove(key).is_some(),
            (Node::Items(items), Step::Index(at)) if *at < items.len() => {
                items.remove(*at);
                true
            }
            _ => false,
        }
    }

    /// The node as JSON. Nodes are at most as deep as a path is long.
    fn into_text(self) -> String {
        enum Piece {
            Text(&'static str),
            Key(String),
            Node(Node),
        }
        let mut out = String::new();
        let mut pending = vec![Piece::Node(self)];
        while let Some(piece) = pending.pop() {
            match piece {
                Piece::Text(text) => out.push_str(text),
                Piece::Key(key) => {
                    out.push_str(&serde_json::Value::String(key).to_string());
                    out.push(':');
                }
                Piece::Node(Node::Raw(text)) => out.push_str(&text),
                Piece::Node(Node::Members(members)) => {
                    out.push('{');
                    pending.push(Piece::Text("}"));
                    for (n, (key, node)) in members.into_iter().rev().enumerate() {
                        if n > 0 {
                            pending.push(Piece::Text(","));
                        }
                        pending.extend([Piece::Node(node), Piece::Key(key)]);
                    }
                }
                Piece::Node(Node::Items(items)) => {
                    out.push('[');
                    pending.push(Piece::Text("]"));
                    for (n, node) in items.into_iter().rev().enumerate() {
                        if n > 0 {
                            pending.push(Piece::Text(","));
                        }
                        pending.push(Piece::Node(node));
                    }
                }
            }
        }
        out
    }
}

fn parts_of(text: &str) -> Option<Node> {
    let raw = |raw: &RawValue| Node::Raw(raw.get().to_owned());
    if let Some(object) = Object::parse(text) {
        return Some(Node::Members(object.members().map(|(key, value)| (key.to_owned(), raw(value))).collect()));
    }
    let items = serde_json::from_str::<&RawValue>(text).ok().and_then(list)?;
    Some(Node::Items(items.into_iter().map(raw).collect()))
}

fn path_of(line: &Object<'_>) -> Option<Vec<Step>> {
    let steps = line.list("k").filter(|steps| steps.len() <= MAX_PATH)?;
    let step = |raw: &RawValue| match decode_string(raw) {
        Some(key) => Some(Step::Key(key.into_owned())),
        None => raw.get().parse().ok().map(Step::Index),
    };
    steps.into_iter().map(step).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn lines_change_the_chat() {
        let mut log = Log::default();
        for (line, is_applied) in [
            (r#"{"kind":1,"k":["title"],"v":"too early"}"#, false),
            (r#"{"kind":0,"v":{"title":"a","requests":[{"id":1,"response":["x","y"]}],"gone":1}}"#, true),
            (r#"{"kind":1,"k":["title"],"v":"b"}"#, true),
            (r#"{"kind":2,"k":["requests",0,"response"],"v":["z"],"i":1}"#, true),
            (r#"{"kind":2,"k":["requests"],"v":[{"id":2}]}"#, true),
            (r#"{"kind":2,"k":["requests",1,"response"],"v":["new"]}"#, true),
            (r#"{"kind":1,"k":["requests",0,"vote"],"v":null}"#, true),
            (r#"{"kind":3,"k":["gone"]}"#, true),
            (r#"{"kind":1,"k":["requests",7,"id"],"v":1}"#, false),
            (r#"{"kind":9,"k":["title"],"v":1}"#, false),
            (r#"{"kind":1,"k":[],"v":1}"#, false),
        ] {
            assert_eq!(log.apply(&Object::parse(line).unwrap()), is_applied, "{line}");
        }
        assert_eq!(
            log.into_text().unwrap(),
            r#"{"requests":[{"id":1,"response":["x","z"],"vote":null},{"id":2,"response":["new"]}],"title":"b"}"#
        );
        assert!(Log::default().into_text().is_none());
    }
}
