//! Finds the answer to a query. The answer is a text, blocks with Markdown, or the steps of a search as JSON inside a
//! text.
use mementory_formats_shared::{
    object::{Object, decode_string, list, with_replaced_values},
    values::{block, first_text, push_paragraph, readable},
};
use serde_json::{Value, value::RawValue};

/// Members of an entry that may contain the answer.
pub(super) const ANSWERS: [&str; 4] = ["answer", "text", "response", "answer_text"];
/// Members that may contain the query, in an answer that is JSON.
const QUERIES: [&str; 2] = ["query", "query_str"];
/// Deepest nesting of JSON inside JSON strings that is read.
const MAX_NESTING: usize = 3;

/// An answer with its query, its blocks and its sources.
#[derive(Debug, Default)]
pub(super) struct Answer {
    /// Text of the answer in Markdown.
    pub text: String,
    /// The query, if the steps of the search contain it.
    pub query: Option<String>,
    /// Plans, pictures and other blocks, which the website shows collapsed.
    pub blocks: Vec<Value>,
    /// The sources of the answer.
    pub citations: Vec<Value>,
}

pub(super) fn of_entry(entry: &Object<'_>) -> Answer {
    let mut out = Answer::default();
    for raw in entry.list("blocks").into_iter().flatten() {
        read_block(raw, &mut out);
    }
    for key in ANSWERS {
        if !out.text.trim().is_empty() {
            break;
        }
        if let Some(raw) = entry.raw_value(key) {
            match decode_string(raw) {
                Some(text) => of_text(&text, &mut out),
                None => read_json(raw.get(), 0, &mut out),
            }
        }
    }
    for key in ["sources", "web_results", "search_results", "citations"] {
        let Some(raw) = entry.raw_value(key) else { continue };
        let inner = Object::parse(raw.get()).and_then(|sources| sources.raw_value("sources"));
        for source in list(inner.unwrap_or(raw)).into_iter().flatten() {
            out.citations.extend(serde_json::from_str::<Value>(source.get()).ok());
        }
    }
    out
}

/// Adds the answer that a text contains. The text may be JSON.
pub(super) fn of_text(text: &str, out: &mut Answer) {
    if text.trim_start().starts_with(['{', '[']) {
        read_json(text, 0, out);
    }
    if out.text.trim().is_empty() {
        out.text = text.to_owned();
    }
}

/// Reads `{answer, …}` or the steps of a search. The value of `answer` may be a string that contains JSON again.
fn read_json(text: &str, depth: usize, out: &mut Answer) {
    if depth >= MAX_NESTING {
        return;
    }
    if let Some(object) = Object::parse(text) {
        out.query = out.query.take().or_else(|| first_text(&object, &QUERIES));
        for source in ["web_results", "sources"].iter().filter_map(|key| object.list(key)).flatten() {
            out.citations.extend(serde_json::from_str::<Value>(source.get()).ok());
        }
        let Some(answer) = object.raw_value("answer") else { return };
        match decode_string(answer) {
            Some(inner) if inner.trim_start().starts_with('{') => {
                read_json(&inner, depth + 1, out);
                if out.text.is_empty() {
                    out.text = inner.into_owned();
                }
            }
            Some(inner) => out.text = inner.into_owned(),
            None => read_json(answer.get(), depth + 1, out),
        }
        return;
    }
    let Ok(steps) = serde_json::from_str::<Vec<&RawValue>>(text) else { return };
    for raw in steps {
        let Some(step) = Object::parse(raw.get()) else { continue };
        let kind = first_text(&step, &["step_type", "type"]).unwrap_or_default().to_uppercase();
        let content = step.raw_value("content");
        match kind.as_str() {
            "INITIAL_QUERY" => {
                let query = content.and_then(|raw| Object::parse(raw.get()));
                out.query = query.and_then(|query| first_text(&query, &["query"])).or_else(|| out.query.take());
            }
            "FINAL" => {
                if let Some(content) = content {
                    read_json(content.get(), depth + 1, out);
                }
            }
            kind => out.blocks.push(block("tool_call", Some(&kind.to_lowercase()), readable(raw))),
        }
    }
}

/// Returns the JSON of an answer without the query that it repeats. None if the answer does not contain the query.
pub(super) fn without_query(answer: &RawValue) -> Option<String> {
    value_without_query(answer, 0)
}

/// Like [`without_query`], but for the text of a workbook cell.
pub(super) fn text_without_query(text: &str) -> Option<String> {
    json_without_query(text, 0)
}

fn value_without_query(raw: &RawValue, depth: usize) -> Option<String> {
    match decode_string(raw) {
        Some(text) => Some(Value::from(json_without_query(&text, depth)?).to_string()),
        None => json_without_query(raw.get(), depth),
    }
}

/// Returns the JSON of an answer in which all queries that [`read_json`] would read are empty. None if it contains no
/// queries.
fn json_without_query(text: &str, depth: usize) -> Option<String> {
    if depth > MAX_NESTING {
        return None;
    }
    let mut queries: Vec<&RawValue> = Vec::new();
    let mut inner_values: Vec<&RawValue> = Vec::new();
    if let Some(object) = Object::parse(text) {
        queries.extend(QUERIES.iter().filter_map(|key| object.raw_value(key)));
        inner_values.extend(object.raw_value("answer"));
    } else if let Ok(steps) = serde_json::from_str::<Vec<&RawValue>>(text) {
        for step in steps.into_iter().filter_map(|raw| Object::parse(raw.get())) {
            let kind = first_text(&step, &["step_type", "type"]).unwrap_or_default().to_uppercase();
            if matches!(kind.as_str(), "INITIAL_QUERY" | "FINAL") {
                inner_values.extend(step.raw_value("content"));
            }
        }
    }
    let inner = inner_values.into_iter().filter_map(|raw| Some((raw, value_without_query(raw, depth + 1)?)));
    let inner: Vec<(&RawValue, String)> = inner.collect();
    let mut cuts: Vec<(&RawValue, &str)> = queries.into_iter().map(|raw| (raw, "\"\"")).collect();
    cuts.extend(inner.iter().map(|(raw, rest)| (*raw, rest.as_str())));
    (!cuts.is_empty()).then(|| with_replaced_values(text, &cuts))
}

fn read_block(raw: &RawValue, out: &mut Answer) {
    let Some(object) = Object::parse(raw.get()) else { return };
    let usage = first_text(&object, &["intended_usage"]).unwrap_or_default();
    let markdown = object.object("markdown_block");
    let rows = ["sources_mode_block", "web_result_block"].iter().find_map(|key| {
        let block = object.object(key)?;
        block.list("rows").or_else(|| block.list("web_results"))
    });
    if let Some(markdown) = &markdown {
        let text = first_text(markdown, &["answer"]).unwrap_or_else(|| {
            let chunks = markdown.list("chunks").unwrap_or_default();
            chunks.into_iter().filter_map(decode_string).collect()
        });
        // Several blocks may contain the same answer, either whole or in parts.
        if out.text.is_empty() || usage == "ask_text" {
            out.text = text;
        } else if !out.text.contains(text.trim()) {
            push_paragraph(&mut out.text, &text);
        }
    } else if let Some(rows) = rows {
        out.citations.extend(rows.iter().filter_map(|raw| serde_json::from_str::<Value>(raw.get()).ok()));
    } else {
        let kind = if usage == "plan" || usage == "pro_search_steps" { "tool_call" } else { "block" };
        out.blocks.push(block(kind, Some(&usage).filter(|usage| !usage.is_empty()).map(String::as_str), readable(raw)));
    }
}

#[cfg(test)]
mod tests {
    use super::{Answer, of_text, text_without_query};

    #[test]
    fn an_answer_is_found_at_every_depth() {
        let steps = r#"[{"step_type":"INITIAL_QUERY","content":{"query":"q"}},{"step_type":"SEARCH_WEB","content":{}},
            {"step_type":"FINAL","content":{"answer":"{\"answer\":\"a\",\"web_results\":[{\"url\":\"u\"}]}"}}]"#;
        for (text, answer, query, sources) in [
            ("plain", "plain", None, 0),
            (r#"{"answer":"a"}"#, "a", None, 0),
            (r#"{"answer":"a","query":"q","sources":[1]}"#, "a", Some("q"), 1),
            (steps, "a", Some("q"), 1),
            (r#"{"answer":"cut off"#, r#"{"answer":"cut off"#, None, 0),
            ("{not json", "{not json", None, 0),
        ] {
            let mut out = Answer::default();
            of_text(text, &mut out);
            let found = (out.text.as_str(), out.query.as_deref(), out.citations.len());
            assert_eq!(found, (answer, query, sources), "{text}");
            let rest = text_without_query(text);
            assert_eq!(rest.is_some(), query.is_some(), "{text}");
            if let Some(rest) = rest {
                let mut out = Answer::default();
                of_text(&rest, &mut out);
                assert_eq!((out.text.as_str(), out.query), (answer, None), "{rest}");
            }
        }
    }
}
