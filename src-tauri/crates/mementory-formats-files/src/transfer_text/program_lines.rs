//! Lines that browser extensions put between the turns of a conversation and at the end of an export.

/// A text without the lines that browser extensions put at the end of an export.
pub(super) fn without_footer(text: &str) -> &str {
    let Some((before, last)) = text.trim_end().rsplit_once('\n') else { return text };
    let last = last.trim().trim_start_matches(['*', '_']);
    let above = before.trim_end().lines().next_back().unwrap_or_default();
    if last.starts_with("Generated on ") && is_voyager_footer(above) {
        return without_last_line(before).trim_end().trim_end_matches("---");
    }
    let is_footer = last.starts_with("Powered by") && last.contains("Exporter");
    if is_footer { before.trim_end().trim_end_matches("---") } else { text }
}

/// True for the line with which Gemini Voyager names itself at the end of an export.
fn is_voyager_footer(line: &str) -> bool {
    ["*Exported from [Voyager](", "*Exported from [Gemini Voyager]("].iter().any(|begin| line.starts_with(begin))
}

/// True for the heading that Gemini Voyager writes above each prompt, `## Turn 1`.
pub(super) fn is_turn_number(line: &str) -> bool {
    let number = line.strip_prefix("## Turn ").map(|rest| rest.trim_end_matches(['⭐', ' ']));
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// A turn without the number of the next one at its end.
pub(super) fn without_turn_number(text: &str) -> &str {
    let last = text.lines().next_back().unwrap_or_default();
    if is_turn_number(last) { without_last_line(text).trim_end() } else { text }
}

/// True for the head of Claude Conversation Exporter, which states the times and the model of a chat.
pub(super) fn describes_chat(head: &str) -> bool {
    let has = |name: &str| head.lines().any(|line| line.starts_with(name));
    ["**Created:** ", "**Updated:** ", "**Model:** "].into_iter().all(has)
}

/// A turn without the time in italics at its end. Its notation depends on the country, so it is not read.
pub(super) fn without_time(text: &str) -> &str {
    let last = text.lines().next_back().unwrap_or_default();
    let time = last.strip_prefix('*').and_then(|line| line.strip_suffix('*')).unwrap_or_default();
    let is_time = time.contains(':') && time.starts_with(|c: char| c.is_ascii_digit()) && time.len() <= 40;
    if is_time { without_last_line(text).trim_end() } else { text }
}

fn without_last_line(text: &str) -> &str {
    text.trim_end().rsplit_once('\n').map_or("", |(before, _)| before)
}
