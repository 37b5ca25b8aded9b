//! Separates the steps of an answer from its text: thoughts, tool calls and their results. The text contains them as
//! `<details type="…">`. Newer versions also write them under `output`.
use mementory_formats_shared::chat::Turn;
use mementory_formats_shared::content::Content;
use mementory_formats_shared::object::Object;

const START: &str = "<details type=\"";
const END: &str = "</details>";

/// Moves the steps in the text of an answer to `fields.blocks`. Other `<details>` elements remain in the text.
pub(super) fn separate_steps(turn: &mut Turn) {
    let mut steps = Content::default();
    let output = turn.verbatim.as_ref().and_then(|verbatim| Object::parse(&verbatim.text)?.raw_value("output"));
    let has_output = output.is_some_and(|raw| raw.get().starts_with('['));
    if let Some(raw) = output.filter(|_| has_output) {
        steps.add(raw);
    }
    let mut in_text = Content::default();
    if turn.text.contains(START) {
        turn.text = without_steps(&turn.text, &mut in_text);
    }
    // `output` contains the same steps with more detail. The text in `output` is used only if the answer has no other
    // text.
    let blocks = if has_output { steps.blocks } else { in_text.blocks };
    if turn.text.trim().is_empty() && has_output {
        turn.text = steps.text;
    }
    if blocks.is_empty() {
        return;
    }
    let content = Content { text: turn.text.clone(), blocks: blocks.clone(), ..Content::default() };
    turn.content_type = content.content_type().into();
    match turn.fields.get_mut("blocks") {
        Some(serde_json::Value::Array(known)) => known.extend(blocks),
        _ => {
            turn.fields.insert("blocks".into(), blocks.into());
        }
    }
}

/// Returns a text without its steps, and adds the steps to `steps`.
fn without_steps(text: &str, steps: &mut Content) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(START) {
        out.push_str(before);
        let Some((inside, following)) = after.split_once(END) else {
            out.push_str(START);
            rest = after;
            continue;
        };
        let (kind, attributes) = inside.split_once('"').unwrap_or((inside, ""));
        let block = match kind {
            "reasoning" => "thinking",
            "tool_calls" => "tool_call",
            "code_interpreter" => "code",
            _ => {
                out.push_str(START);
                out.push_str(inside);
                out.push_str(END);
                rest = following;
                continue;
            }
        };
        let (attributes, body) = attributes.split_once('>').unwrap_or((attributes, ""));
        let body = body.split_once("</summary>").map_or(body, |(_, body)| body);
        let lines: Vec<&str> = body.trim().lines().map(|line| without_quote(line.trim_start())).collect();
        let words = unescaped(&lines.join("\n"));
        let words = match attribute(attributes, "arguments") {
            Some(arguments) if words.is_empty() => arguments,
            _ => words,
        };
        let name = attribute(attributes, "name").filter(|name| !name.is_empty());
        steps.add_block(block, name.clone(), words);
        if let Some(result) = attribute(attributes, "result") {
            steps.add_block("tool_result", name, result);
        }
        rest = following;
    }
    out.push_str(rest);
    out.trim().to_owned()
}

/// Returns a line of a quotation without the `>` at its beginning, which may be escaped.
fn without_quote(line: &str) -> &str {
    line.strip_prefix("&gt;").or_else(|| line.strip_prefix('>')).unwrap_or(line).trim_start()
}

/// Returns the value of an attribute, from the attributes of a tag.
fn attribute(attributes: &str, name: &str) -> Option<String> {
    let (_, value) = attributes.split_once(&format!(" {name}=\""))?;
    Some(unescaped(value.split('"').next()?))
}

/// Decodes the characters that Open WebUI escapes in the text of steps.
fn unescaped(text: &str) -> String {
    if !text.contains('&') {
        return text.to_owned();
    }
    let pairs = [("&quot;", "\""), ("&#39;", "'"), ("&#x27;", "'"), ("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&")];
    pairs.iter().fold(text.to_owned(), |text, (escaped, plain)| text.replace(escaped, plain))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn steps_are_moved_out_of_the_text() {
        let text = "<details type=\"reasoning\" done=\"true\"><summary>Thought</summary>\n&gt; Hm.\n> So.\n</details>\n\
                    <details type=\"tool_calls\" name=\"search\" arguments=\"{&quot;q&quot;:1}\" result=\"found\"><summary>x</summary></details>\
                    Hedgehogs. <details type=\"own\">kept</details> <details type=\"cut";
        let mut steps = Content::default();
        let remaining_text = without_steps(text, &mut steps);
        assert_eq!(remaining_text, "Hedgehogs. <details type=\"own\">kept</details> <details type=\"cut");
        let blocks: Vec<String> = steps.blocks.iter().map(|b| format!("{} {}", b["type"], b["text"])).collect();
        assert_eq!(
            blocks,
            ["\"thinking\" \"Hm.\\nSo.\"", "\"tool_call\" \"{\\\"q\\\":1}\"", "\"tool_result\" \"found\"",]
        );
    }
}
