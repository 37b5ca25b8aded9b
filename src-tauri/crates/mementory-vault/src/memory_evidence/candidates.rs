//! Finds the messages that a memory may come from.
use crate::{
    VaultResult,
    context::Context,
    memory_evidence::{FoundBy, time_span::span_before},
    query::{Reader, Search},
};
use mementory_evidence::key_words;
use mementory_model::{Kind, Record, RecordKey, SaidBy};
use mementory_search::IndexFilter;
use mementory_store::{RowView, ids::record_id, kind_code};
use rusqlite::params;
use std::collections::{HashMap, HashSet};

/// Largest number of messages of the same assistant that are read because they contain words of the memory.
const MAX_OF_SAME_ASSISTANT: usize = 60;
/// Largest number of messages of any assistant that are read because they contain words of the memory.
const MAX_OF_ANY_ASSISTANT: usize = 20;
/// Largest number of messages that are read from each conversation that the export states as a source, because they
/// contain words of the memory.
const MAX_PER_NAMED_CONVERSATION: usize = 20;
/// Largest number of ancestors that are read for each message that the export names as a source.
const MAX_BEFORE_NAMED: usize = 8;
/// Largest number of messages that are read because they are from just before the memory was made.
const MAX_NEAR_IN_TIME: usize = 60;
/// Largest number of conversations that are searched because the export states them as sources.
const MAX_CONVERSATIONS: usize = 8;

/// A message that a memory may come from.
#[derive(Debug, Clone)]
pub(super) struct Candidate {
    pub(super) view: RowView,
    pub(super) record: Record,
    pub(super) found_by: FoundBy,
    /// The sentence of the message that is nearest to the memory in meaning. None if the message was not compared by
    /// meaning.
    pub(super) nearest_sentence: Option<NearestSentence>,
    /// True if the export says that the memory is from this message's conversation.
    pub(super) in_named_conversation: bool,
}

impl Candidate {
    /// True if sentences of this message that only ask a question have to be left out.
    pub(super) fn may_be_question(&self) -> bool {
        self.found_by != FoundBy::Linked && self.record.said_by() == Some(SaidBy::User)
    }
}

/// The sentence of a message that is nearest to a memory in meaning.
#[derive(Debug, Clone, Copy)]
pub(super) struct NearestSentence {
    /// Cosine of the vectors, from -1 to 1.
    pub(super) cosine: f32,
    pub(super) start: u32,
    pub(super) end: u32,
}

pub(super) struct Candidates<'c> {
    context: &'c Context,
    view: &'c RowView,
    record: &'c Record,
    /// The candidates found so far, by row.
    found: HashMap<i64, Candidate>,
    /// Rows of the conversations that the export names as sources.
    named_conversations: HashSet<i64>,
}

impl<'c> Candidates<'c> {
    pub(super) fn new(context: &'c Context, view: &'c RowView, record: &'c Record) -> Self {
        Self { context, view, record, found: HashMap::new(), named_conversations: HashSet::new() }
    }

    /// Returns the messages that the export states as sources, the messages before these sources, messages from just
    /// before the memory was made, and messages with words of the memory.
    pub(super) fn gather(mut self) -> VaultResult<Vec<Candidate>> {
        self.add_linked(&self.view.clone(), 0)?;
        self.add_named_at_source()?;
        self.add_before_linked()?;
        self.add_near_in_time()?;
        self.add_with_words()?;
        let mut out: Vec<Candidate> = self.found.into_values().collect();
        for candidate in &mut out {
            candidate.in_named_conversation =
                candidate.view.owner.is_some_and(|owner| self.named_conversations.contains(&owner));
        }
        out.sort_by_key(|candidate| (candidate.view.sort, candidate.view.row));
        Ok(out)
    }

    /// Adds the messages and conversations that a record is linked to. If the record was split off another memory, adds
    /// the messages and conversations of that memory too.
    fn add_linked(&mut self, view: &RowView, depth: u8) -> VaultResult<()> {
        for link in Reader::new(self.context).links(view)? {
            let Some(target) = link.view.filter(|target| target.trashed.is_none()) else { continue };
            match target.kind {
                Kind::Message => self.add_view(target, FoundBy::Linked)?,
                Kind::Conversation => {
                    self.named_conversations.insert(target.row);
                }
                Kind::Memory | Kind::Profile if depth == 0 && link.relation == "derived_from" => {
                    self.add_linked(&target, 1)?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Adds the message and the conversation whose ids the source stores with the memory.
    fn add_named_at_source(&mut self) -> VaultResult<()> {
        let source = &self.record.source;
        for value in [&source.message, &source.conversation].into_iter().flatten() {
            let id = record_id(&self.context.keys, &RecordKey::new(self.record.key.scope.clone(), value.clone()));
            let found = self.context.store.read(|c| RowView::by_id(c, &id))?;
            match found.filter(|view| view.trashed.is_none()) {
                Some(view) if view.kind == Kind::Message => self.add_view(view, FoundBy::Linked)?,
                Some(view) if view.kind == Kind::Conversation => {
                    self.named_conversations.insert(view.row);
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Adds the messages before those that the export states as sources, since an assistant often stores what was said
    /// just before.
    fn add_before_linked(&mut self) -> VaultResult<()> {
        let linked_views: Vec<RowView> = self.found.values().map(|candidate| candidate.view.clone()).collect();
        for view in linked_views {
            self.named_conversations.extend(view.owner);
            let mut parent = view.parent;
            for _ in 0..MAX_BEFORE_NAMED {
                let Some(row) = parent else { break };
                let Some(before) = Reader::new(self.context).view_by_row(row)? else { break };
                parent = before.parent;
                if before.trashed.is_none() {
                    self.add_view(before, FoundBy::Words)?;
                }
            }
        }
        Ok(())
    }

    /// Adds messages of the same assistant from just before the memory was made, or from that day if only the day is
    /// known.
    fn add_near_in_time(&mut self) -> VaultResult<()> {
        let Some((from, to)) = self.record.times.created.or(self.record.times.updated).map(span_before) else {
            return Ok(());
        };
        let rows = self.context.store.read(|c| {
            let sql = "SELECT r.row FROM records r WHERE r.kind = ?1 AND r.trashed IS NULL AND r.sort BETWEEN ?2 AND ?3 \
                       AND r.platform = (SELECT id FROM platforms WHERE name = ?4) ORDER BY r.sort DESC LIMIT ?5";
            let mut statement = c.prepare_cached(sql)?;
            let (kind, most) = (kind_code(Kind::Message), MAX_NEAR_IN_TIME as i64);
            let rows = statement.query_map(params![kind, from, to, self.view.source, most], |r| r.get(0))?;
            Ok(rows.collect::<Result<Vec<i64>, _>>()?)
        })?;
        rows.into_iter().try_for_each(|row| self.add_row(row, FoundBy::Words))
    }

    fn add_with_words(&mut self) -> VaultResult<()> {
        let words = key_words(&self.record.text);
        if words.is_empty() {
            return Ok(());
        }
        let messages = IndexFilter { kinds: vec![Kind::Message.as_str().into()], ..IndexFilter::default() };
        let same_assistant = IndexFilter { platforms: vec![self.view.source.clone()], ..messages.clone() };
        let conversations: Vec<i64> = self.named_conversations.iter().copied().take(MAX_CONVERSATIONS).collect();
        for conversation in conversations {
            let in_conversation = IndexFilter { conversation: u64::try_from(conversation).ok(), ..messages.clone() };
            self.add_hits(&words, &in_conversation, MAX_PER_NAMED_CONVERSATION)?;
        }
        self.add_hits(&words, &same_assistant, MAX_OF_SAME_ASSISTANT)?;
        self.add_hits(&words, &messages, MAX_OF_ANY_ASSISTANT)
    }

    fn add_hits(&mut self, words: &str, filter: &IndexFilter, limit: usize) -> VaultResult<()> {
        let search = Search::new(self.context);
        let hits = search.search(words, filter, limit, 0)?.hits;
        for (view, record, _) in search.hits(&hits)? {
            self.add(view, record, FoundBy::Words);
        }
        Ok(())
    }

    fn add_row(&mut self, row: i64, found_by: FoundBy) -> VaultResult<()> {
        match Reader::new(self.context).view_by_row(row)? {
            Some(view) if view.trashed.is_none() && view.kind == Kind::Message => self.add_view(view, found_by),
            _ => Ok(()),
        }
    }

    fn add_view(&mut self, view: RowView, found_by: FoundBy) -> VaultResult<()> {
        if self.found.contains_key(&view.row) {
            return Ok(());
        }
        let record = Reader::new(self.context).content(&view)?;
        self.add(view, record, found_by);
        Ok(())
    }

    fn add(&mut self, view: RowView, record: Record, found_by: FoundBy) {
        let candidate = Candidate { view, record, found_by, nearest_sentence: None, in_named_conversation: false };
        self.found.entry(candidate.view.row).or_insert(candidate);
    }
}
