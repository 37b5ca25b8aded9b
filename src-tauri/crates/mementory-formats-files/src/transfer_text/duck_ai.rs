//! Reads the text in which Duck.ai saves a chat. A numbered line begins each prompt, and a line with the name of the
//! model begins its answer.
use super::speaker::Style;
use super::transcript::{Transcript, Turn};
use mementory_formats_shared::local_time::{Order, Stamp, day_order};
use mementory_formats_shared::roles;
use mementory_model::Timestamp;

/// Beginning of the first line of a saved chat.
const FIRST_LINE_START: &str = "This conversation was generated with Duck.ai";
/// The line after each answer except the last one.
const ANSWER_SEPARATOR: &str = "--------------------";
/// Name in the line before an answer of Duck.ai's search. Before other answers, this line has the name of a model.
const SEARCH: &str = "Assist";
/// Longest name of a model, in characters.
const MAX_NAME: usize = 40;

/// The turns of a saved chat. None if the text is not a saved chat, or if it has no turns.
pub(super) fn read(text: &str) -> Option<Transcript> {
    let head = text.trim_start_matches('\u{feff}').trim_start().lines().next()?;
    let model = head.strip_prefix(FIRST_LINE_START).and_then(model_in)?;
    let lines: Vec<&str> = text.lines().collect();
    // A prompt may quote another chat, so a line begins a prompt only if it has the next number.
    let mut prompts: Vec<(usize, &str)> = Vec::new();
    for (number, line) in lines.iter().enumerate() {
        if let Some((count, date)) = prompt_head(line)
            && count == prompts.len() + 1
        {
            prompts.push((number, date));
        }
    }
    let dates: Vec<&str> = prompts.iter().map(|(_, date)| *date).collect();
    let order = order_of(&dates);
    let mut out =
        Transcript { style: Some(Style::Export), is_certain: true, platform: Some("duck-ai"), ..Transcript::default() };
    let ends = prompts.iter().skip(1).map(|(number, _)| *number).chain([lines.len()]);
    for ((start, date), end) in prompts.iter().zip(ends) {
        let block = lines.get(*start..end).unwrap_or_default();
        let answer_at = answer_start(block, model).unwrap_or(block.len());
        let (prompt, answer) = block.split_at_checked(answer_at)?;
        out.turns.push(turn(roles::USER, prompt, *start, time_of(date, order)));
        if !answer.is_empty() {
            out.turns.push(turn(roles::ASSISTANT, answer, start + answer_at, None));
        }
    }
    (!out.turns.is_empty()).then_some(out)
}

/// The name of the model in the first line: `… using OpenAI's GPT-4o mini Model. …`.
fn model_in(head: &str) -> Option<&str> {
    let name = head.split_once(" using ")?.1.split_once(" Model.")?.0;
    Some(name.split_once("'s ").map_or(name, |(_, name)| name))
}

/// Number and date of a prompt: `User prompt 1 of 2 - 5/12/2026, 9:13:52 AM:`. Older chats have no dates.
fn prompt_head(line: &str) -> Option<(usize, &str)> {
    let rest = line.trim_end().strip_prefix("User prompt ")?.strip_suffix(':')?;
    let (number, rest) = rest.split_once(" of ")?;
    let (total, date) = rest.split_once(" - ").unwrap_or((rest, ""));
    total.parse::<usize>().ok()?;
    Some((number.parse().ok()?, date))
}

/// Position of the line that begins the answer: a name and a colon. The name is that of a search or of a model. The
/// model is `model` from the head of the chat, or another model to which the person changed during the chat.
fn answer_start(block: &[&str], model: &str) -> Option<usize> {
    let names = || {
        let pairs = (1..).zip(block.windows(2)).filter_map(|(at, pair)| match pair {
            [before, line] if before.trim().is_empty() => Some((at, line.trim_end().strip_suffix(':')?)),
            _ => None,
        });
        pairs.filter(|(_, name)| name.chars().count() <= MAX_NAME)
    };
    let is_other_model = |name: &str| {
        name.starts_with(char::is_alphabetic) && name.contains(|c: char| c.is_ascii_digit()) && !name.contains("  ")
    };
    let name_line = names().find(|(_, name)| name.eq_ignore_ascii_case(model));
    let name_line = name_line.or_else(|| names().find(|(_, name)| *name == SEARCH));
    name_line.or_else(|| names().find(|(_, name)| is_other_model(name))).map(|(at, _)| at)
}

fn turn(role: &'static str, lines: &[&str], start: usize, time: Option<Timestamp>) -> Turn {
    let (label, text) = lines.split_first().map_or(("", String::new()), |(label, text)| (*label, text.join("\n")));
    let text = text.trim();
    let label = label.trim().trim_end_matches(':');
    Turn {
        role,
        label: label.to_owned(),
        text: text.strip_suffix(ANSWER_SEPARATOR).unwrap_or(text).trim_end().to_owned(),
        line: start + 1,
        source: lines.join("\n"),
        time,
        model: (role == roles::ASSISTANT && label != SEARCH).then(|| label.to_owned()),
    }
}

/// The order of day and month in the dates. The browser writes dates in the form of its language. None if the dates do
/// not show their order.
fn order_of(dates: &[&str]) -> Option<Order> {
    let stamps: Vec<Stamp> = dates.iter().filter_map(|date| Stamp::parse(date)).collect();
    match day_order(&stamps) {
        // The order is only a guess. It is used if the words of a date have dots and its numbers have no slashes, as in
        // `3-4-2026, 5:02 p. m.`, because the languages that write such dates put the day first. Dates such as
        // `3-4-2026, 5:02 pm` and `3/4/2026, 5:02 p. m.` have an unknown order. Dots between the numbers, as in
        // `3.4.2026`, make the order certain.
        (Order::DayFirst, false) => {
            dates.iter().any(|date| date.contains('.') && !date.contains('/')).then_some(Order::DayFirst)
        }
        (order, _) => Some(order),
    }
}

/// The time of a prompt, which has no time zone and is read as UTC.
fn time_of(date: &str, order: Option<Order>) -> Option<Timestamp> {
    Stamp::parse(date)?.time(order?)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const HEAD: &str = "This conversation was generated with Duck.ai (https://duck.ai) using Vendor's Quill 4 mini Model. \
                        AI chats may be wrong.\n\n====================\n\n";

    fn turns(text: &str) -> Vec<(&'static str, String)> {
        read(&format!("{HEAD}{text}")).unwrap().turns.into_iter().map(|turn| (turn.role, turn.text)).collect()
    }

    #[test]
    fn the_name_of_the_model_begins_an_answer() {
        let text = "User prompt 1 of 2 - 5/12/2026, 9:13:52 AM:\nSow these:\n\nBed 1:\nleeks\n\nQuill 4 mini:\nSow now.\n\n\
                    --------------------\n\nUser prompt 2 of 2 - 5/12/2026, 9:14:00 AM:\nUser prompt 1 of 9:\n\nQuill 5:\nSo.";
        let expected = ["Sow these:\n\nBed 1:\nleeks", "Sow now.", "User prompt 1 of 9:", "So."];
        let turns_read = turns(text);
        assert_eq!(turns_read.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>(), expected);
        let assistants = turns_read.iter().filter(|(role, _)| *role == roles::ASSISTANT).count();
        assert_eq!(assistants, 2);
        assert_eq!(turns("User prompt 1 of 1:\nNo answer yet\n"), [("user", "No answer yet".to_owned())]);
        assert!(read("User prompt 1 of 1:\nhello").is_none());
    }

    #[test]
    fn the_order_of_day_and_month_is_never_guessed() {
        for (date, time) in [
            ("5/12/2026, 9:13:52 PM", Some("2026-05-12T21:13:52Z")),
            ("16/07/2026, 18:12:23", Some("2026-07-16T18:12:23Z")),
            ("16/7/2026, 12:12:23 am", Some("2026-07-16T00:12:23Z")),
            ("3.7.2026, 18:12:23", Some("2026-07-03T18:12:23Z")),
            ("2026/7/3 18:12:23", Some("2026-07-03T18:12:23Z")),
            ("3-7-2026, 6:12:23 p. m.", Some("2026-07-03T18:12:23Z")),
            ("2026. 7. 3. 오후 6:12:23", Some("2026-07-03T18:12:23Z")),
            ("3/7/2026, 18:12:23", None),
            ("3/7/2026, 6:12:23 pm", None),
            ("", None),
        ] {
            let found = time_of(date, order_of(&[date])).map(Timestamp::to_rfc3339);
            assert_eq!(found.as_deref(), time, "{date}");
        }
        let dates = ["3/7/2026, 18:12:23", "16/07/2026, 18:12:23"];
        assert_eq!(time_of(dates[0], order_of(&dates)).unwrap().to_rfc3339(), "2026-07-03T18:12:23Z");
    }
}
