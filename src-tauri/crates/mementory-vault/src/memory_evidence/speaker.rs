//! Determines who said the content of a memory.
use crate::memory_evidence::weighed::{MemoryFacts, WeighedCandidate};
use mementory_evidence::Claim;
use mementory_model::SaidBy;

/// The person counts as having said a memory if their messages contain at least this share of its statements.
const MIN_SHARE_OF_PARTS: f32 = 0.34;
/// The person counts as the speaker even if the confidence for the assistant is up to this much higher, since the
/// assistant repeats what the person said.
const PERSON_MARGIN: f32 = 0.3;
/// Replaces [`PERSON_MARGIN`] if a message of the person is in the named conversation, or from just before the memory
/// was made.
const PERSON_MARGIN_NEAR: f32 = 0.6;

/// Returns who said the content of a memory. None if that is not known.
pub(super) fn said_by(claim: &Claim, facts: &MemoryFacts<'_>, weighed: &[WeighedCandidate]) -> Option<SaidBy> {
    if facts.written_by() == Some(SaidBy::User) {
        return Some(SaidBy::User);
    }
    let are_compared_by_meaning = weighed.iter().any(|each| each.candidate.nearest_sentence.is_some());
    let speaker = if are_compared_by_meaning { nearest_speaker(weighed) } else { speaker_by_words(claim, weighed) };
    // A source that names the assistant only shows who stored the memory, not who said its content.
    speaker.or_else(|| facts.written_by().filter(|who| *who != SaidBy::Assistant))
}

/// Returns the person if the export names a message of theirs. Otherwise returns whoever said the message with the
/// highest rank.
fn nearest_speaker(weighed: &[WeighedCandidate]) -> Option<SaidBy> {
    let spoken_candidates = || weighed.iter().filter(|each| !each.is_tool_call());
    if spoken_candidates().any(|each| each.is_linked() && each.said_by == Some(SaidBy::User)) {
        return Some(SaidBy::User);
    }
    let nearest = spoken_candidates().max_by(|a, b| a.rank().total_cmp(&b.rank()))?;
    nearest.said_by
}

/// Returns the person on two conditions: the export names one of their messages, or their messages say enough of the
/// memory; and the confidence for the assistant is not much higher than theirs. Otherwise returns the first of
/// assistant, person and system who said any part of the memory.
fn speaker_by_words(claim: &Claim, weighed: &[WeighedCandidate]) -> Option<SaidBy> {
    let assess_speaker = |who: SaidBy| {
        let messages_of_speaker = || weighed.iter().filter(move |each| each.said_by == Some(who));
        let mut parts: Vec<usize> = messages_of_speaker().flat_map(|each| each.parts.iter().copied()).collect();
        parts.sort_unstable();
        parts.dedup();
        let share_of_parts = parts.len() as f32 / claim.parts().max(1) as f32;
        let is_named =
            messages_of_speaker().any(|each| each.is_linked() && (who == SaidBy::User || each.parts.is_empty()));
        let confidence = messages_of_speaker().map(|each| each.confidence).fold(0.0, f32::max);
        (confidence, is_named || share_of_parts >= MIN_SHARE_OF_PARTS)
    };
    let (person, person_says) = assess_speaker(SaidBy::User);
    // A call to the memory tool does not show whether the person stated the content or the assistant inferred it.
    let own_words = |each: &&WeighedCandidate| each.said_by == Some(SaidBy::Assistant) && !each.is_tool_call();
    let assistant = weighed.iter().filter(own_words).map(|each| each.confidence).fold(0.0, f32::max);
    let is_near = weighed.iter().any(|each| each.said_by == Some(SaidBy::User) && each.near);
    let margin = if is_near { PERSON_MARGIN_NEAR } else { PERSON_MARGIN };
    if person_says && person + margin >= assistant {
        return Some(SaidBy::User);
    }
    if assistant > 0.0 {
        return Some(SaidBy::Assistant);
    }
    if person > 0.0 {
        return Some(SaidBy::User);
    }
    (assess_speaker(SaidBy::System).0 > 0.0).then_some(SaidBy::System)
}
