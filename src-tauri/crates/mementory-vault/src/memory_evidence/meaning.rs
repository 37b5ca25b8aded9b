//! Compares the meaning of the candidates with that of a memory. Messages have no stored vectors, so a limited number
//! of their sentences is encoded here.
use crate::memory_evidence::{
    candidates::{Candidate, NearestSentence},
    time_span::is_near,
};
use mementory_evidence::{Sentence, is_question, sentences};
use mementory_meaning::{CachingEncoder, Vector, dot};
use mementory_model::{Record, SaidBy, Timestamp};
use std::cmp::Reverse;

/// Largest number of sentences that are encoded for a memory.
const MAX_SENTENCES: usize = 160;
/// Largest number of sentences of one message that are encoded.
const MAX_SENTENCES_PER_MESSAGE: usize = 16;
/// Largest number of messages from another time that are compared. Of each, only the sentence with the most words of
/// the memory is compared.
const MAX_FAR_MESSAGES: usize = 24;
/// Largest number of sentences of the memory that are compared, besides its whole text.
const MAX_MEMORY_SENTENCES: usize = 6;

/// A sentence to encode.
struct ChosenSentence<'t> {
    /// Index of the candidate that contains the sentence.
    candidate_number: usize,
    text: &'t str,
    start: u32,
    end: u32,
}

/// Compares the memory's text with the candidates. Each candidate comes with its sentences that have words of the
/// memory.
pub(super) fn compare(
    encoder: &CachingEncoder<'_>,
    text: &str,
    created: Option<Timestamp>,
    candidates: &mut [(Vec<Sentence>, Candidate)],
) {
    let found = {
        let chosen = choose_sentences(created, candidates);
        if chosen.is_empty() {
            return;
        }
        let memory = encoder.encode(&parts_of_memory(text));
        let vectors = encoder.encode(&chosen.iter().map(|each| each.text).collect::<Vec<_>>());
        let nearest = |vector: &Vector| memory.iter().map(|part| dot(part, vector)).fold(-1.0, f32::max);
        let nearest_with_number = |(each, vector): (&ChosenSentence<'_>, &Vector)| {
            (each.candidate_number, NearestSentence { cosine: nearest(vector), start: each.start, end: each.end })
        };
        chosen.iter().zip(&vectors).map(nearest_with_number).collect::<Vec<_>>()
    };
    for (number, nearest_sentence) in found {
        let Some((_, candidate)) = candidates.get_mut(number) else { continue };
        if candidate.nearest_sentence.is_none_or(|known| nearest_sentence.cosine > known.cosine) {
            candidate.nearest_sentence = Some(nearest_sentence);
        }
    }
}

/// Returns the whole text of a memory. If the text has several sentences, also returns the first
/// [`MAX_MEMORY_SENTENCES`] of them.
pub(super) fn parts_of_memory(text: &str) -> Vec<&str> {
    let all_sentences = sentences(text);
    let mut parts = vec![text];
    if all_sentences.len() > 1 {
        parts.extend(all_sentences.iter().take(MAX_MEMORY_SENTENCES).map(|sentence| sentence.text));
    }
    parts
}

/// Chooses the sentences to encode. First come the messages from the named conversation or from just before the memory
/// was made, those of the person before all others. Then come the messages with the most words of the memory.
fn choose_sentences(created: Option<Timestamp>, candidates: &[(Vec<Sentence>, Candidate)]) -> Vec<ChosenSentence<'_>> {
    let score = |sentences: &[Sentence]| sentences.iter().map(|sentence| sentence.score).fold(0.0, f32::max);
    let mut order: Vec<(bool, bool, f32, usize)> = Vec::new();
    for (number, (sentences, candidate)) in candidates.iter().enumerate() {
        if is_speech(candidate) {
            let far = !candidate.in_named_conversation && !is_near(created, candidate.record.times.created);
            // For a message from another time, it does not matter who said it.
            let said_by_other = !far && candidate.record.said_by() != Some(SaidBy::User);
            order.push((far, said_by_other, score(sentences), number));
        }
    }
    order.sort_by(|a, b| (a.0, a.1).cmp(&(b.0, b.1)).then(b.2.total_cmp(&a.2)).then(a.3.cmp(&b.3)));
    let is_far = |(far, _, score, _): &(bool, bool, f32, usize)| *far && *score > 0.0;
    let near_count = order.iter().position(|each| each.0).unwrap_or(order.len());
    let near_messages = order.iter().take(near_count);
    let mut chosen: Vec<ChosenSentence<'_>> = Vec::new();
    for (far, _, _, number) in near_messages.chain(order.iter().filter(|each| is_far(each)).take(MAX_FAR_MESSAGES)) {
        let Some((with_words, candidate)) = candidates.get(*number) else { continue };
        let best_sentence = with_words.iter().max_by(|a, b| a.score.total_cmp(&b.score));
        let is_best = |start: u32| best_sentence.is_some_and(|best| best.start == start);
        let mut parts = sentences(&candidate.record.text);
        if candidate.may_be_question() {
            parts.retain(|part| !is_question(part.text));
        }
        if *far {
            parts.retain(|part| is_best(part.start));
        }
        // The sentence with the most words of the memory is always compared.
        parts.sort_by_key(|part| Reverse(is_best(part.start)));
        let sentences_left = MAX_SENTENCES_PER_MESSAGE.min(MAX_SENTENCES.saturating_sub(chosen.len()));
        for part in parts.into_iter().take(sentences_left) {
            chosen.push(ChosenSentence {
                candidate_number: *number,
                text: part.text,
                start: part.start,
                end: part.end,
            });
        }
    }
    chosen
}

/// True if the message is something that somebody said, and not a tool call, its result, the thinking of an assistant,
/// or text that was inserted for the assistant.
pub(super) fn is_speech(candidate: &Candidate) -> bool {
    is_speech_record(&candidate.record)
}

/// Like [`is_speech`], for the record of a message.
pub(super) fn is_speech_record(record: &Record) -> bool {
    let not_said = ["tool_call", "tool_result", "thinking", "context"];
    record.message.as_ref().is_some_and(|part| !not_said.contains(&part.content_type.as_str()))
}
