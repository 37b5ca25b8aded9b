//! Where a memory comes from, and who said it. The evidence is the messages that the export states as its source, or
//! messages that say the same.
mod candidates;
mod decide;
mod meaning;
mod speaker;
mod time_span;
mod weighed;
mod whole_search;

use crate::{VaultError, VaultResult, context::Context, query::Reader};
use candidates::{Candidate, Candidates};
use decide::decide;
use mementory_evidence::{Claim, Sentence, key_words};
use mementory_meaning::{CachingEncoder, Encoder};
use mementory_model::{Kind, Record, SaidBy};
use mementory_store::RowView;
use weighed::MemoryFacts;
use whole_search::ExhaustiveSearch;

/// Largest number of messages that are returned.
const MAX_MESSAGES: usize = 6;

/// How a message was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FoundBy {
    /// The export names the message as a source.
    Linked,
    /// The message says the same in the same words.
    Words,
    /// The message says the same in other words.
    Meaning,
}

impl FoundBy {
    /// Returns the stable name: `linked`, `words` or `meaning`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Linked => "linked",
            Self::Words => "words",
            Self::Meaning => "meaning",
        }
    }
}

/// Whether the vault shows where a memory comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trace {
    /// The vault has messages that the memory comes from.
    Found,
    /// Every conversation that could contain the memory was compared with it by the encoder, and no sentence was
    /// similar.
    None,
    /// Nothing was found, but the memory may still have a source: the conversations of that time or with this assistant
    /// are not in the vault, there are too many of them to compare, a message was similar, or there is no encoder.
    Unknown,
}

impl Trace {
    /// Returns the stable name of the result: `found`, `none` or `unknown`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Found => "found",
            Self::None => "none",
            Self::Unknown => "unknown",
        }
    }
}

/// A message that a memory comes from.
#[derive(Debug, Clone)]
pub struct EvidenceMessage {
    /// The row of the message.
    pub view: RowView,
    /// The record of the message, without `verbatim`.
    pub record: Record,
    /// First code point of the sentence in the message's text.
    pub start: u32,
    /// The code point after the last code point of the sentence.
    pub end: u32,
    /// How the message was found.
    pub found_by: FoundBy,
    /// Confidence that the memory comes from the message, from 0 to 1.
    pub confidence: f32,
}

/// Where a memory comes from.
#[derive(Debug, Clone)]
pub struct FoundEvidence {
    /// Who said the content of the memory. None if that is not known.
    pub said_by: Option<SaidBy>,
    /// Whether the vault shows where the memory comes from.
    pub trace: Trace,
    /// The messages, at most 6: first those that show who said the content of the memory, then those that the export
    /// names.
    pub messages: Vec<EvidenceMessage>,
}

impl FoundEvidence {
    /// True if [`Self::said_by`] follows only from messages with a similar meaning, which may be about something else.
    pub fn is_uncertain(&self) -> bool {
        let mut messages_of_speaker = self
            .messages
            .iter()
            .filter(|message| self.said_by.is_some() && message.record.said_by() == self.said_by)
            .peekable();
        messages_of_speaker.peek().is_some() && messages_of_speaker.all(|message| message.found_by == FoundBy::Meaning)
    }
}

/// Finds where memories come from.
#[derive(Clone, Copy)]
pub struct MemoryEvidence<'v> {
    context: &'v Context,
}

impl<'v> MemoryEvidence<'v> {
    pub(crate) fn new(context: &'v Context) -> Self {
        Self { context }
    }
}

impl<'v> Reader<'v> {
    /// Finds where memories come from.
    pub fn evidence(&self) -> MemoryEvidence<'v> {
        MemoryEvidence::new(self.context)
    }
}

impl MemoryEvidence<'_> {
    /// Returns where a memory, a profile note or a fact comes from. With `encoder`, also finds messages that say the
    /// same in other words. Without `encoder`, the result is never [`Trace::None`]. At most 400 sentences of messages
    /// are encoded.
    ///
    /// # Errors
    /// `NotFound`; `Usage` for other kinds of records.
    pub fn of(&self, id: &str, encoder: Option<&Encoder>) -> VaultResult<FoundEvidence> {
        let view = self.context.find(id)?;
        if !matches!(view.kind, Kind::Memory | Kind::Profile | Kind::Fact) {
            return Err(VaultError::Usage(format!(
                "This is a {}, not a memory. Only memories, profile notes and facts have an origin in messages.",
                view.kind.as_str()
            )));
        }
        let record = Reader::new(self.context).content(&view)?;
        self.of_record(&view, &record, encoder.map(CachingEncoder::new).as_ref())
    }

    /// Like [`of`](Self::of), for a record that has already been read. Reusing one encoder for several records saves
    /// time, because many of the same sentences are compared with each record.
    ///
    /// # Errors
    /// Errors of the store or the index.
    pub fn of_record(
        &self,
        view: &RowView,
        record: &Record,
        encoder: Option<&CachingEncoder<'_>>,
    ) -> VaultResult<FoundEvidence> {
        let claim = self.claim(record)?;
        let candidates = Candidates::new(self.context, view, record).gather()?;
        let mut candidates_with_sentences: Vec<_> =
            candidates.into_iter().map(|candidate| (sentences_of(&claim, &candidate), candidate)).collect();
        let facts = MemoryFacts {
            method: record.source.method.as_deref(),
            record_said_by: record.said_by(),
            created: record.times.created.or(record.times.updated),
            changed: record.times.created.max(record.times.updated),
            source: &view.source,
        };
        if let Some(encoder) = encoder {
            meaning::compare(encoder, &record.text, facts.created, &mut candidates_with_sentences);
        }
        let has_near_candidate = whole_search::has_near_candidate(&candidates_with_sentences);
        let mut evidence = decide(&claim, &facts, candidates_with_sentences);
        if let Some(encoder) = encoder.filter(|_| evidence.messages.is_empty() && !has_near_candidate) {
            let search = ExhaustiveSearch { context: self.context, view, record, encoder };
            if search.finds_nothing()? {
                evidence.trace = Trace::None;
            }
        }
        evidence.messages.truncate(MAX_MESSAGES);
        Ok(evidence)
    }

    /// Returns the statements of a record, to compare with messages. The rarer a word is in this vault, the more weight
    /// it has.
    fn claim(&self, record: &Record) -> VaultResult<Claim> {
        let words = key_words(&record.text);
        let (documents, frequencies) = self.context.with_index(|index| index.document_frequencies(&words))?;
        let total = documents.max(20) as f32;
        let rarity = |word: &str| {
            let frequency = frequencies.get(word).copied().unwrap_or(1).max(1) as f32;
            // The square root evens out the weights, so that one rare word does not outweigh all others.
            (1.0 + total / frequency).ln().sqrt()
        };
        Ok(Claim::new(&record.text, &rarity))
    }
}

/// Returns the sentences of a message that contain parts of the claim. A question of the person is not a statement, so
/// questions are left out, unless the export names the message as a source.
fn sentences_of(claim: &Claim, candidate: &Candidate) -> Vec<Sentence> {
    match candidate.may_be_question() {
        true => claim.best_statements(&candidate.record.text),
        false => claim.best_sentences(&candidate.record.text),
    }
}
