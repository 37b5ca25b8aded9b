//! Decides which of the candidates are evidence, and with which confidence. Does no I/O.
use crate::memory_evidence::{
    EvidenceMessage, FoundBy, FoundEvidence, Trace,
    candidates::{Candidate, NearestSentence},
    meaning::is_speech,
    speaker::said_by,
    time_span::{DAY, is_later, is_near},
    weighed::{MemoryFacts, WeighedCandidate},
};
use mementory_evidence::{Claim, Sentence};
use mementory_model::SaidBy;

/// Lowest confidence with which a message counts as evidence, apart from the two cases below.
const MIN_CONFIDENCE: f32 = 0.55;
/// Lowest confidence for a message of the person in a conversation that the export names, or from just before the
/// memory was made.
const MIN_CONFIDENCE_NAMED: f32 = 0.35;
/// Lowest confidence for a message of an assistant or a system from another conversation and another time. This limit
/// is higher, because such messages can be long and contain words about almost anything.
const MIN_CONFIDENCE_ASSISTANT: f32 = 0.7;
/// Lowest cosine at which a near message (from the named conversation, or from just before the memory was made) counts
/// as saying the same. It is low because one of these few messages is most probably the origin of the memory.
const MIN_COSINE_NEAR: f32 = 0.24;
/// Lowest cosine at which any other message counts as saying the same.
const MIN_COSINE_FAR: f32 = 0.55;
/// Lowest cosine for any other message that also has words of the memory, if the confidence from these words is at
/// least [`MIN_WORDS_FAR`].
const MIN_COSINE_WITH_WORDS: f32 = 0.4;
const MIN_WORDS_FAR: f32 = 0.3;
/// Lowest cosine for any other message whose words alone would make it evidence.
const MIN_COSINE_OF_WORDS: f32 = 0.3;

/// Decides which of the candidates are evidence. Each candidate comes with those of its sentences that contain parts of
/// the claim. If there is no evidence, the trace is unknown, because messages other than these candidates may be
/// evidence.
pub(super) fn decide(
    claim: &Claim,
    facts: &MemoryFacts<'_>,
    candidates: Vec<(Vec<Sentence>, Candidate)>,
) -> FoundEvidence {
    let mut weighed: Vec<WeighedCandidate> = candidates
        .into_iter()
        .filter_map(|(sentences, candidate)| weigh(claim, facts, &sentences, candidate))
        .collect();
    weighed.sort_by(|a, b| b.rank().total_cmp(&a.rank()));
    let said_by = said_by(claim, facts, &weighed);
    // A system message usually repeats a saved memory, so it is evidence only if nobody else said the same.
    if said_by != Some(SaidBy::System) {
        weighed.retain(|each| each.said_by != Some(SaidBy::System) || each.is_linked());
    }
    let mut messages: Vec<WeighedCandidate> = Vec::new();
    for each in weighed {
        // If the person said the same, the assistant's message repeats it in an answer, and is not separate evidence.
        let is_answer = said_by == Some(SaidBy::User) && each.said_by != said_by && !each.is_linked();
        let is_repeated = messages.iter().filter(|known| known.parts == each.parts && known.said_by == each.said_by);
        if !is_answer && (each.is_linked() || is_repeated.count() < 2) {
            messages.push(each);
        }
    }
    // Messages that show who said the memory come first, then those that the export names.
    messages.sort_by_key(|each| (each.said_by != said_by || each.is_tool_call(), !each.is_linked()));
    let trace = if messages.is_empty() { Trace::Unknown } else { Trace::Found };
    FoundEvidence { said_by, trace, messages: messages.into_iter().map(message).collect() }
}

fn message(weighed: WeighedCandidate) -> EvidenceMessage {
    let confidence = shown_confidence(&weighed);
    let WeighedCandidate { candidate, sentence, .. } = weighed;
    EvidenceMessage {
        view: candidate.view,
        record: candidate.record,
        start: sentence.start,
        end: sentence.end,
        found_by: candidate.found_by,
        confidence,
    }
}

/// Returns the confidence that people see. For choosing among candidates, shared words only add to the meaning, so that
/// any sentence about the same subject would look sure. Shown is the mean of both, which is high only if the sentence has
/// the meaning and the words of the memory.
fn shown_confidence(weighed: &WeighedCandidate) -> f32 {
    match &weighed.candidate.nearest_sentence {
        Some(nearest_sentence) if !weighed.is_linked() => {
            (confidence_by_meaning(nearest_sentence.cosine) + weighed.words_confidence) / 2.0
        }
        _ => weighed.confidence,
    }
}

/// Weighs a candidate. Returns None if the candidate is not evidence.
fn weigh(
    claim: &Claim,
    facts: &MemoryFacts<'_>,
    sentences: &[Sentence],
    candidate: Candidate,
) -> Option<WeighedCandidate> {
    let said_by = candidate.record.said_by();
    let part = candidate.record.message.as_ref()?;
    let is_custom = matches!(facts.written_by(), Some(SaidBy::User));
    // A repeated list of saved memories is a copy, not evidence, even if the export links to it, unless the person
    // wrote the memory (as in custom instructions).
    if part.content_type == "context" && !is_custom {
        return None;
    }
    let is_linked = candidate.found_by == FoundBy::Linked;
    // A tool call, its result, and an assistant's thinking are evidence only if the export links to them. A call to the
    // memory tool, for example, contains the memory itself.
    if !is_linked && !is_speech(&candidate) {
        return None;
    }
    if !is_linked && is_later(facts.changed, candidate.record.times.created) {
        return None;
    }
    let factor = time_factor(facts, &candidate) * place_factor(facts, &candidate);
    if factor == 0.0 && !is_linked {
        return None;
    }
    let near = candidate.in_named_conversation || is_near(facts.created, candidate.record.times.created);
    let min_confidence = match (said_by, near) {
        (Some(SaidBy::User), true) => MIN_CONFIDENCE_NAMED,
        (Some(SaidBy::User), false) | (_, true) => MIN_CONFIDENCE,
        _ => MIN_CONFIDENCE_ASSISTANT,
    };
    let confidence = |sentence: &Sentence| (sentence.score * factor * words_factor(claim, sentence)).min(1.0);
    let sure_sentences: Vec<&Sentence> =
        sentences.iter().filter(|sentence| confidence(sentence) >= min_confidence).collect();
    let best_sentence = sure_sentences.iter().copied().max_by(|a, b| a.score.total_cmp(&b.score)).copied();
    let parts: Vec<usize> = sure_sentences.iter().map(|sentence| sentence.part).collect();
    let words_confidence = sentences.iter().map(confidence).fold(0.0, f32::max);
    let (sentence, confidence, found_by) = match (best_sentence, candidate.nearest_sentence) {
        (best_sentence, _) if is_linked => {
            let sentence =
                best_sentence.or_else(|| sentences.first().copied()).unwrap_or_else(|| whole_text(&candidate));
            (sentence, 1.0, FoundBy::Linked)
        }
        (best_sentence, Some(nearest_sentence)) => {
            let confidence =
                confidence_with_meaning(nearest_sentence, words_confidence, best_sentence.is_some(), near)?;
            match best_sentence {
                Some(sentence) => (sentence, confidence, FoundBy::Words),
                None => (nearest_sentence.into(), confidence, FoundBy::Meaning),
            }
        }
        (Some(sentence), None) => (sentence, confidence(&sentence), FoundBy::Words),
        (None, None) => return None,
    };
    let parts = if found_by == FoundBy::Meaning { vec![0] } else { parts };
    let candidate = Candidate { found_by, ..candidate };
    Some(WeighedCandidate { candidate, sentence, said_by, confidence, words_confidence, parts, near })
}

/// Returns the confidence from meaning and words together, or None if the message is not similar enough. `words` is the
/// confidence from the words alone, and `words_suffice` says whether `words` is enough for evidence by itself.
fn confidence_with_meaning(
    nearest_sentence: NearestSentence,
    words: f32,
    words_suffice: bool,
    near: bool,
) -> Option<f32> {
    let cosine = nearest_sentence.cosine;
    let is_supported = match near {
        true => cosine >= MIN_COSINE_NEAR || words_suffice,
        false => {
            cosine >= MIN_COSINE_FAR
                || words >= MIN_WORDS_FAR && cosine >= MIN_COSINE_WITH_WORDS
                || words_suffice && cosine >= MIN_COSINE_OF_WORDS
        }
    };
    // The cosine decides, and words add to it.
    is_supported.then(|| (confidence_by_meaning(cosine) + words * 0.25).min(0.99))
}

/// Returns the confidence from a cosine. A cosine of about 0.6 already gives the highest possible confidence.
fn confidence_by_meaning(cosine: f32) -> f32 {
    (cosine * 1.4 + 0.05).clamp(0.0, 0.9)
}

impl From<NearestSentence> for Sentence {
    fn from(nearest_sentence: NearestSentence) -> Self {
        Self { start: nearest_sentence.start, end: nearest_sentence.end, score: 0.0, shared: 0, part: 0 }
    }
}

/// Returns a sentence that spans the whole text of a message.
fn whole_text(candidate: &Candidate) -> Sentence {
    let end = u32::try_from(candidate.record.text.chars().count()).unwrap_or(u32::MAX);
    Sentence { start: 0, end, score: 0.0, shared: 0, part: 0 }
}

/// Returns the factor for the time of a message. A memory is made from what was said before it. An assistant that says
/// the same later may have read it in the memory.
fn time_factor(facts: &MemoryFacts<'_>, candidate: &Candidate) -> f32 {
    let (Some(created), Some(said)) = (facts.created, candidate.record.times.created) else { return 1.0 };
    let before = created.as_micros() - said.as_micros();
    let by_person = candidate.record.said_by() == Some(SaidBy::User);
    match before {
        -1_000_000..=DAY => 1.15,
        // The date of a memory often has no time of day, and may be in another time zone.
        before if before > -DAY => 1.0,
        _ if by_person => 0.85,
        _ => 0.0,
    }
}

fn place_factor(facts: &MemoryFacts<'_>, candidate: &Candidate) -> f32 {
    match candidate.in_named_conversation {
        true => 1.2,
        false if candidate.view.source == facts.source => 1.0,
        false => 0.9,
    }
}

/// Returns the factor for the number of shared words. A single shared word is weak evidence.
fn words_factor(claim: &Claim, sentence: &Sentence) -> f32 {
    match (sentence.shared, claim.strong_words(sentence.part)) {
        (0, _) => 0.0,
        (1, 1) => 0.8,
        (1, _) => 0.7,
        _ => 1.0,
    }
}
