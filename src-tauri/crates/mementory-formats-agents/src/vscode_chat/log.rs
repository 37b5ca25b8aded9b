//! Reads the log of a chat (`chatSessions/*.jsonl`). Its first line contains the whole chat (`kind` 0). Each later line
//! sets a value at a path (1), truncates a list and appends to it (2), or deletes a value (3).
use super::nodes::{Memory, Node, Step, TooLarge};
use mementory_formats_shared::object::{Object, decode_string};
use serde_json::value::RawValue;

/// Largest number of steps in a path. The paths of VS Code have at most five.
const MAX_PATH: usize = 16;

/// The chat while the lines of its log are read.
#[derive(Debug)]
pub(super) struct Log {
    root: Option<Node>,
    memory: Memory,
    limit: u64,
}

/// The chat after all lines.
#[derive(Debug)]
pub(super) struct LoggedChat {
    /// JSON text of the chat. Its list of requests is empty.
    pub header: String,
    /// JSON text of each request.
    pub requests: Vec<String>,
}

impl Log {
    /// An empty log. `limit` is the memory, in bytes, that split values may use in addition to their text.
    pub(super) fn new(limit: u64) -> Self {
        Self { root: None, memory: Memory::new(limit), limit }
    }

    /// Applies a line. Returns false if the line is of an unknown kind, or if there is no value at its path.
    pub(super) fn apply(&mut self, line: &Object<'_>) -> Result<bool, TooLarge> {
        let value = line.raw_value("v").map(RawValue::get);
        let kind = line.raw_value("kind").map_or("", RawValue::get);
        if kind == "0" {
            self.root = value.map(|value| Node::Text(value.to_owned()));
            self.memory = Memory::new(self.limit);
            return Ok(self.root.is_some());
        }
        let Some(mut path) = path_of(line) else { return Ok(false) };
        let last = match kind {
            "1" | "3" => path.pop(),
            "2" => None,
            _ => return Ok(false),
        };
        let memory = &mut self.memory;
        let Some(mut node) = self.root.as_mut() else { return Ok(false) };
        for step in path {
            node = match node.enter(step, memory)? {
                Some(next) => next,
                None => return Ok(false),
            };
        }
        match (kind, last) {
            // A value may be set to null, which `raw_value` does not return.
            ("1", Some(last)) => node.set(last, value.unwrap_or("null").to_owned(), memory),
            ("3", Some(last)) => node.delete(&last, memory),
            ("2", _) => {
                let length = line.raw_value("i").and_then(|raw| raw.get().parse::<usize>().ok());
                node.append(value, length, memory)
            }
            _ => Ok(false),
        }
    }

    /// The chat after all lines. `requests` is the name of the list of requests. None if no line contained a chat.
    pub(super) fn into_chat(mut self, requests: &str) -> Result<Option<LoggedChat>, TooLarge> {
        let Some(mut root) = self.root else { return Ok(None) };
        root.split_into_values(&mut self.memory)?;
        let Node::Members(members) = &mut root else { return Ok(None) };
        let mut texts = Vec::new();
        if let Some(node) = members.get_mut(requests) {
            node.split_into_values(&mut self.memory)?;
            if let Node::Items(items) = node {
                texts = std::mem::take(items).into_iter().map(Node::into_text).collect();
            }
        }
        Ok(Some(LoggedChat { header: root.into_text(), requests: texts }))
    }
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
    fn log_lines_are_applied_to_the_chat() {
        let mut log = Log::new(100_000);
        for (line, is_applied) in [
            (r#"{"kind":1,"k":["title"],"v":"too early"}"#, false),
            (r#"{"kind":0,"v":{"title":"a","requests":[{"id":1,"response":["x","y"]}],"gone":1}}"#, true),
            (r#"{"kind":1,"k":["title"],"v":"b"}"#, true),
            (r#"{"kind":2,"k":["requests",0,"response"],"v":["z"],"i":1}"#, true),
            (r#"{"kind":2,"k":["requests"],"v":[{"id":2},{"id":3}]}"#, true),
            (r#"{"kind":2,"k":["requests",1,"response"],"v":["new"]}"#, true),
            (r#"{"kind":1,"k":["requests",0,"vote"],"v":null}"#, true),
            (r#"{"kind":3,"k":["gone"]}"#, true),
            (r#"{"kind":3,"k":["requests",2]}"#, true),
            (r#"{"kind":3,"k":["requests",7]}"#, false),
            (r#"{"kind":1,"k":["requests",7,"id"],"v":1}"#, false),
            (r#"{"kind":9,"k":["title"],"v":1}"#, false),
            (r#"{"kind":1,"k":[],"v":1}"#, false),
        ] {
            assert_eq!(log.apply(&Object::parse(line).unwrap()), Ok(is_applied), "{line}");
        }
        let chat = log.into_chat("requests").unwrap().unwrap();
        assert_eq!(chat.header, r#"{"requests":[],"title":"b"}"#);
        let expected = [r#"{"id":1,"response":["x","z"],"vote":null}"#, r#"{"id":2,"response":["new"]}"#, "null"];
        assert_eq!(chat.requests, expected);
        assert!(Log::new(1).into_chat("requests").unwrap().is_none());
    }

    #[test]
    fn a_log_that_needs_too_much_memory_is_refused() {
        let mut log = Log::new(10_000);
        let line = format!(r#"{{"kind":0,"v":{{"a":[{}0]}}}}"#, "0,".repeat(1000));
        assert_eq!(log.apply(&Object::parse(&line).unwrap()), Ok(true));
        assert!(log.apply(&Object::parse(r#"{"kind":1,"k":["a",0],"v":1}"#).unwrap()).is_err());
    }
}
