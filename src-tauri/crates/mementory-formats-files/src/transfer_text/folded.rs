//! Separates the model's thoughts and its tool uses from the text of an answer. SpecStory writes them as HTML elements.
use serde_json::{Value, json};

/// Elements whose content is shown folded: start, end, and the type of the block that is made from the element.
const ELEMENTS: [(&str, &str, &str); 2] =
    [("<think>", "</think>", "thinking"), ("<tool-use", "</tool-use>", "tool_call")];

/// The text without the folded elements, and a block `{type, name?, text}` for each of them. An element that is not
/// closed extends to the end of the text.
pub(super) fn split(text: &str) -> (String, Vec<Value>) {
    let (mut plain_text, mut blocks) = (String::new(), Vec::new());
    let mut rest = text;
    loop {
        let starts = ELEMENTS.iter().filter_map(|element| Some((line_start_of(rest, element.0)?, element)));
        let Some((at, (open, close, kind))) = starts.min_by_key(|(at, _)| *at) else { break };
        let (before, element) = rest.split_at(at);
        plain_text.push_str(before);
        let (inner, after_element) = element.split_once(close).unwrap_or((element, ""));
        let inner = inner.strip_prefix(open).unwrap_or(inner);
        let (attributes, inner) =
            if open.ends_with('>') { ("", inner) } else { inner.split_once('>').unwrap_or((inner, "")) };
        let mut block = json!({"type": kind, "text": without_details_tags(inner)});
        if let Some(name) = attribute(attributes, "data-tool-name") {
            block["name"] = name.into();
        }
        blocks.push(block);
        rest = after_element;
    }
    plain_text.push_str(rest);
    (plain_text.trim().to_owned(), blocks)
}

/// Position of the first line that begins with `mark`.
fn line_start_of(text: &str, mark: &str) -> Option<usize> {
    let is_start = |at: &usize| *at == 0 || text.as_bytes().get(at - 1) == Some(&b'\n');
    text.match_indices(mark).map(|(at, _)| at).find(is_start)
}

fn attribute<'t>(attributes: &'t str, name: &str) -> Option<&'t str> {
    let (_, value) = attributes.split_once(name)?;
    let value = value.strip_prefix("=\"")?.split_once('"')?.0;
    Some(value).filter(|value| !value.is_empty())
}

/// The content without the `<details>` and `<summary>` tags. The summary "Thought Process" is left out too.
fn without_details_tags(inner: &str) -> String {
    let mut out = inner.replace("<details>", "").replace("</details>", "");
    if let Some((before, rest)) = out.split_once("<summary>")
        && let Some((summary, after)) = rest.split_once("</summary>")
    {
        let summary = if summary == "Thought Process" { "" } else { summary };
        out = format!("{before}{summary}{after}");
    }
    out.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thoughts_and_tools_are_blocks() {
        let text = "<think><details><summary>Thought Process</summary>\nSlugs.\n</details></think>\n\nI look.\n\n<tool-use data-tool-type=\"read\" data-tool-name=\"open\"><details>\n<summary>Tool use: **open**</summary>\nbed.txt\n</details></tool-use>\n\nDone, with `<think>` in it.";
        let (plain, blocks) = split(text);
        assert_eq!(plain, "I look.\n\n\n\nDone, with `<think>` in it.");
        assert_eq!(blocks[0], json!({"type": "thinking", "text": "Slugs."}));
        assert_eq!(blocks[1]["name"], "open");
        assert_eq!(blocks[1]["text"], "Tool use: **open**\nbed.txt");
        assert_eq!(split("<tool-use x").1.len(), 1);
        assert_eq!(split("plain").0, "plain");
    }
}
