//! Finds plans whose date has passed.
use super::{Statement, marks_of};
use crate::{fold::Folded, values::dates};
use mementory_model::{Timestamp, split_sentences};

/// Returns the positions of the statements about a plan whose date has passed. `now` is in microseconds since 1970.
pub fn past_plans(statements: &[Statement<'_>], now: i64) -> Vec<usize> {
    let (year, month, _) = Timestamp::from_micros(now).unwrap_or(Timestamp::EPOCH).date();
    let month = i32::from(year) * 12 + i32::from(month);
    let is_over = |statement: &&Statement<'_>| statement.text.lines().any(|line| is_past_plan(line, month));
    statements.iter().enumerate().filter(|(_, statement)| is_over(statement)).map(|(n, _)| n).collect()
}

/// True if a line contains a plan for a time before `month`, which counts from year 0. The date must be in the same
/// sentence as the plan, or alone in the next sentence. In "plans timetables. Moved in April 2026", the date is not that
/// of the plan.
fn is_past_plan(line: &str, month: i32) -> bool {
    let sentences: Vec<Folded> = sentences_in(line).into_iter().map(Folded::new).collect();
    sentences.iter().enumerate().any(|(n, sentence)| {
        if !marks_of(sentence).is_plan {
            return false;
        }
        let mut found = dates(&sentence.text);
        if let Some(next) = sentences.get(n + 1).filter(|_| found.is_empty()) {
            let marks = marks_of(next);
            if !(marks.is_past || marks.is_done || marks.has_ended || marks.was_so_before) {
                found = dates(&next.text);
            }
        }
        !found.is_empty() && found.iter().all(|date| date.end_month() < month)
    })
}

/// The sentences of a line. A full stop after a number does not end a sentence: `3. März` is a date.
fn sentences_in(line: &str) -> Vec<&str> {
    split_sentences(line, |mark| {
        let is_ordinal = mark.character == '.' && mark.before.ends_with(|c: char| c.is_ascii_digit());
        mark.is_full_width() || mark.is_before_space() && !is_ordinal
    })
}
