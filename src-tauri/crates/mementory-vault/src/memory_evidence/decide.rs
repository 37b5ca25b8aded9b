//! Decides which of the candidates are evidence, with which confidence, and who said the memory. Without I/O.
use crate::memory_evidence::{
    EvidenceMessage, FoundBy, FoundEvidence, Trace,
    candidates::Candidate,
    time_span::{DAY, span_before},
};
use mementory_evidence::{Claim, Sentence};
use mementory_model::{SaidBy, Timestamp};

/// Lowest confidence with which a message counts as evidence.
const MIN_CONFIDENCE: f32 = 0.55;
/// The same for a message of the person in a conversation that the export names, or from just before the memory was
/// made.
const MIN_CONFIDENCE_NAMED: f32 = 0.35;
/// The same for a message of an assistant or a system anywhere else, since it may have much to say about everything.
const MIN_CONFIDENCE_ASSISTANT: f32 = 0.7;
/// A memory of several statements counts as said if messages say at least this share of them.
const MIN_SHARE_OF_PARTS: f32 = 0.34;
/// Lowest similarity of meaning with which a message counts as evidence.
const MIN_SIMILARITY: f32 = 0.6;
/// The person counts as the one who said the memory even if the assistant's confidence is higher by this much, since
/// the assistant repeats what the person said.
const PERSON_FIRST: f32 = 0.3;
/// The same if a message of the person is in the named conversation, or from just before the memory was made.
const PERSON_FIRST_NEAR: f32 = 0.6;

/// What is known about the memory.
pub(super) struct MemoryFacts<'f> {
    pub(super) method: Option<&'f str>,
    /// Who said the memory, if its source says so.
    pub(super) record_said_by: Option<SaidBy>,
    pub(super) created: Option<Timestamp>,
    pub(super) platform: &'f str,
    /// True if the vault has conversations with the assistant.
    pub(super) has_conversations: bool,
}

impl MemoryFacts<'_> {
    /// Who said the memory according to its source. Not for a pasted list of memories: who pasted it did not say it.
    fn written_by(&self) -> Option<SaidBy> {
        self.record_said_by.filter(|_| self.method != Some("pasted"))
    }
}

/// A candidate, and the parts of the memory that it says.
struct WeighedCandidate {
    candidate: Candidate,
    sentence: Sentence,
    said_by: Option<SaidBy>,
    confidence: f32,
    /// Parts of the memory that the candidate says.
    parts: Vec<usize>,
    /// True if the candidate is in the named conversation, or from just before the memory was made.
    near: bool,
}

/// Decides which of the candidates, each with the sentences that say parts of the claim, are evidence.
pub(super) fn decide(claim: &Claim, facts: &MemoryFacts<'_>, read: Vec<(Vec<Sentence>, Candidate)>) -> FoundEvidence {
    let mut weighed: Vec<WeighedCandidate> =
        read.into_iter().filter_map(|(sentences, candidate)| weigh(claim, facts, &sentences, candidate)).collect();
    weighed.sort_by(|a, b| b.confidence.total_cmp(&a.confidence));
    let said_by = said_by(claim, facts, &weighed);
    // A system message repeats what was saved. It is evidence only if nobody else said the memory.
    if said_by != Some(SaidBy::System) {
        weighed.retain(|each| each.said_by != Some(SaidBy::System) || is_linked(each));
    }
    let mut messages: Vec<WeighedCandidate> = Vec::new();
    for each in weighed {
        // If the assistant repeats the words of the person, that is an answer to them.
        let is_answer = said_by == Some(SaidBy::User) && each.said_by != said_by && !is_linked(&each);
        let is_repeated = messages.iter().filter(|known| known.parts == each.parts && known.said_by == each.said_by);
        if !is_answer && (is_linked(&each) || is_repeated.count() < 2) {
            messages.push(each);
        }
    }
    // Messages that show who said the memory come first, then those that the export names.
    messages.sort_by_key(|each| (each.said_by != said_by || is_tool_call(each), !is_linked(each)));
    let trace = match (messages.is_empty(), facts.has_conversations) {
        (false, _) => Trace::Found,
        (true, true) => Trace::None,
        (true, false) => Trace::Unknown,
    };
    FoundEvidence { said_by, trace, messages: messages.into_iter().map(message).collect() }
}

fn is_linked(weighed: &WeighedCandidate) -> bool {
    weighed.candidate.found_by == FoundBy::Linked
}

/// True for a call of the memory tool. The assistant wrote the memory down, but may not have said it.
fn is_tool_call(weighed: &WeighedCandidate) -> bool {
    weighed.candidate.record.message.as_ref().is_some_and(|part| part.content_type == "tool_call")
}

fn message(weighed: WeighedCandidate) -> EvidenceMessage {
    let WeighedCandidate { candidate, sentence, confidence, .. } = weighed;
    EvidenceMessage {
        view: candidate.view,
        record: candidate.record,
        start: sentence.start,
        end: sentence.end,
        found_by: candidate.found_by,
        confidence,
    }
}

/// Weighs a candidate. None if it is no evidence.
fn weigh(
    claim: &Claim,
    facts: &MemoryFacts<'_>,
    sentences: &[Sentence],
    candidate: Candidate,
) -> Option<WeighedCandidate> {
    let said_by = candidate.record.said_by();
    let part = candidate.record.message.as_ref()?;
    let is_custom = matches!(facts.written_by(), Some(SaidBy::User));
    // A list of all memories inside a conversation is a copy and no evidence, even if the export names it.
    if part.content_type == "context" && !is_custom {
        return None;
    }
    let linked = candidate.found_by == FoundBy::Linked;
    // A call of the memory tool is the memory itself. It is evidence only if the export links to it.
    if !linked && matches!(part.content_type.as_str(), "tool_call" | "tool_result" | "thinking" | "context") {
        return None;
    }
    let factor = time_factor(facts, &candidate) * place_factor(facts, &candidate);
    if factor == 0.0 && !linked {
        return None;
    }
    let near = candidate.in_named_conversation || is_near(facts, &candidate);
    let min_confidence = match (said_by, near) {
        (Some(SaidBy::User), true) => MIN_CONFIDENCE_NAMED,
        (Some(SaidBy::User), false) | (_, true) => MIN_CONFIDENCE,
        _ => MIN_CONFIDENCE_ASSISTANT,
    };
    let confidence = |sentence: &Sentence| (sentence.score * factor * words_factor(claim, sentence)).min(1.0);
    let said: Vec<&Sentence> = sentences.iter().filter(|sentence| confidence(sentence) >= min_confidence).collect();
    let best = said.iter().copied().max_by(|a, b| a.score.total_cmp(&b.score)).copied();
    let parts: Vec<usize> = said.iter().map(|sentence| sentence.part).collect();
    let similar = candidate.similarity.filter(|similarity| *similarity >= MIN_SIMILARITY);
    match (linked, best, similar) {
        (true, best, _) => {
            let sentence = best.or_else(|| sentences.first().copied()).unwrap_or_else(|| whole_message(&candidate));
            Some(WeighedCandidate { candidate, sentence, said_by, confidence: 1.0, parts, near })
        }
        (false, Some(sentence), _) => {
            let confidence = confidence(&sentence);
            let mut candidate = candidate;
            candidate.found_by = FoundBy::Words;
            Some(WeighedCandidate { candidate, sentence, said_by, confidence, parts, near })
        }
        (false, None, Some(similarity)) => {
            let sentence = sentences.first().copied().unwrap_or_else(|| whole_message(&candidate));
            let mut candidate = candidate;
            candidate.found_by = FoundBy::Meaning;
            Some(WeighedCandidate { candidate, sentence, said_by, confidence: similarity, parts: vec![0], near })
        }
        (false, None, None) => None,
    }
}

/// The whole text of a message.
fn whole_message(candidate: &Candidate) -> Sentence {
    let end = u32::try_from(candidate.record.text.chars().count()).unwrap_or(u32::MAX);
    Sentence { start: 0, end, score: 0.0, shared: 0, part: 0 }
}

/// Factor for the time of a message. A memory is made of what was said before it. An assistant that says it later knows
/// it from the memory.
fn time_factor(facts: &MemoryFacts<'_>, candidate: &Candidate) -> f32 {
    let (Some(created), Some(said)) = (facts.created, candidate.record.times.created) else { return 1.0 };
    let before = created.as_micros() - said.as_micros();
    let by_person = candidate.record.said_by() == Some(SaidBy::User);
    match before {
        -1_000_000..=DAY => 1.15,
        // The date of a memory is often without a time, and in another time zone.
        before if before > DAY || before > -DAY => 1.0,
        _ if by_person => 0.85,
        _ => 0.0,
    }
}

/// True for a message from just before the memory was made.
fn is_near(facts: &MemoryFacts<'_>, candidate: &Candidate) -> bool {
    let (Some(created), Some(said)) = (facts.created, candidate.record.times.created) else { return false };
    let (from, to) = span_before(created);
    (from..=to).contains(&said.as_micros())
}

fn place_factor(facts: &MemoryFacts<'_>, candidate: &Candidate) -> f32 {
    match candidate.in_named_conversation {
        true => 1.2,
        false if candidate.view.platform == facts.platform => 1.0,
        false => 0.9,
    }
}

/// Factor for the number of shared words. A single one shows little.
fn words_factor(claim: &Claim, sentence: &Sentence) -> f32 {
    match (sentence.shared, claim.strong_words(sentence.part)) {
        (0, _) => 0.0,
        (1, 1) => 0.8,
        (1, _) => 0.7,
        _ => 1.0,
    }
}

/// Who said the memory. The first of these that holds decides:
///
/// 1. The person, if the source says so.
/// 2. The person, if messages of theirs say enough of it and no message of the assistant has a much higher confidence.
/// 3. The assistant, if a message of it that is no call of the memory tool has a confidence above 0.
/// 4. The person, then a system, if a message of theirs has a confidence above 0.
/// 5. Whoever the source names, unless that is the assistant.
fn said_by(claim: &Claim, facts: &MemoryFacts<'_>, weighed: &[WeighedCandidate]) -> Option<SaidBy> {
    if facts.written_by() == Some(SaidBy::User) {
        return Some(SaidBy::User);
    }
    let best = |who: SaidBy| {
        let theirs = || weighed.iter().filter(move |each| each.said_by == Some(who));
        let mut parts: Vec<usize> = theirs().flat_map(|each| each.parts.iter().copied()).collect();
        parts.sort_unstable();
        parts.dedup();
        let share = parts.len() as f32 / claim.parts().max(1) as f32;
        let named = theirs().any(|each| is_linked(each) && (who == SaidBy::User || each.parts.is_empty()));
        let confidence = theirs().map(|each| each.confidence).fold(0.0, f32::max);
        (
            confidence,
            named || share >= MIN_SHARE_OF_PARTS || theirs().any(|each| each.candidate.found_by == FoundBy::Meaning),
        )
    };
    let (person, person_says) = best(SaidBy::User);
    // A call of the memory tool does not show whether the person said the memory or the assistant concluded it.
    let own_words = |each: &&WeighedCandidate| each.said_by == Some(SaidBy::Assistant) && !is_tool_call(each);
    let assistant = weighed.iter().filter(own_words).map(|each| each.confidence).fold(0.0, f32::max);
    let near = weighed.iter().any(|each| each.said_by == Some(SaidBy::User) && each.near);
    let allowed_lead = if near { PERSON_FIRST_NEAR } else { PERSON_FIRST };
    if person_says && person + allowed_lead >= assistant {
        return Some(SaidBy::User);
    }
    if assistant > 0.0 {
        return Some(SaidBy::Assistant);
    }
    if person > 0.0 {
        return Some(SaidBy::User);
    }
    let (system, _) = best(SaidBy::System);
    if system > 0.0 {
        return Some(SaidBy::System);
    }
    // That a program extracted the memory does not show who said it.
    facts.written_by().filter(|who| *who != SaidBy::Assistant)
}
