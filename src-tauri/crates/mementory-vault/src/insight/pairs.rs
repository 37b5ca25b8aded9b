//! Pairs of memories that cannot both be true, topics, and people. All are computed on request over all live memories.
use super::{Insight, cache::statement_of};
use crate::{
    VaultError, VaultResult, cancel, insight_decisions as decisions, live_memories,
    meaning::{is_current, stored_vectors},
};
use mementory_insight::{Statement, contradiction_groups, contradictions, past_plans, people, topics};
use mementory_meaning::Vector;
use mementory_model::Timestamp;
use mementory_store::RowView;
use std::{collections::BTreeMap, sync::atomic::AtomicBool};

/// Two memories that cannot both be true now.
#[derive(Debug, Clone)]
#[allow(missing_docs, reason = "the names say it")]
pub struct ContradictionPair {
    pub a: RowView,
    pub b: RowView,
    pub sort: &'static str,
    /// Id of the newer memory, if the dates are known.
    pub newer: Option<String>,
    /// Confidence that the memories contradict each other, from 0 to 1.
    pub confidence: f32,
}

/// Memories about the same thing that cannot all be true.
#[derive(Debug, Clone)]
pub struct ContradictionGroup {
    /// The memories, oldest first; those without a date come last.
    pub memories: Vec<RowView>,
    /// Positions of the group's pairs in [`Contradictions::pairs`].
    pub pairs: Vec<usize>,
}

/// Memories that may no longer be true, judging by their words.
#[derive(Debug, Clone, Default)]
pub struct Contradictions {
    /// Highest confidence first, without pairs that the person marked as both true.
    pub pairs: Vec<ContradictionPair>,
    /// The pairs, joined into groups of memories about the same thing. A pair is in only one group; a memory may be in
    /// several groups.
    pub groups: Vec<ContradictionGroup>,
    /// Plans whose date has passed.
    pub past_plans: Vec<RowView>,
}

/// Memories about the same topic.
#[derive(Debug, Clone)]
pub struct MemoryTopic {
    /// Name of the topic, which consists of words from the memories.
    pub name: String,
    /// Rows of the memories, at least two.
    pub rows: Vec<i64>,
}

/// Somebody whom memories mention.
#[derive(Debug, Clone)]
pub struct MemoryPerson {
    /// None if only the relation is known ("her boss").
    pub name: Option<String>,
    /// Relation of this person to somebody, such as `brother`; see `mementory_insight::Person`.
    pub relation: Option<&'static str>,
    /// To whom this person has the relation. None means the owner of the vault.
    pub of: Option<String>,
    /// Rows of the memories, at least one.
    pub rows: Vec<i64>,
}

struct Memory {
    row: i64,
    text: String,
    at: Option<i64>,
}

impl Insight<'_> {
    /// Returns the pairs and groups of live memories that cannot all be true now, and the plans whose date has passed.
    ///
    /// # Errors
    /// `Cancelled`; errors of the store.
    pub fn contradictions(&self, cancel: &AtomicBool, now: Timestamp) -> VaultResult<Contradictions> {
        let memories = self.memories(cancel)?;
        let statements: Vec<Statement<'_>> =
            memories.iter().map(|memory| Statement { text: &memory.text, at: memory.at }).collect();
        let found_pairs = contradictions(&statements, &self.vectors(&memories)?);
        cancel::check(cancel)?;
        let view = |n: usize| match memories.get(n) {
            Some(memory) => self.context.store.read(|c| RowView::by_row(c, memory.row)),
            None => Ok(None),
        };
        let mut out = Contradictions::default();
        let (mut positions, mut views) = (Vec::new(), BTreeMap::new());
        for pair in found_pairs {
            let (Some(a), Some(b)) = (view(pair.a)?, view(pair.b)?) else { continue };
            if self.context.store.read(|c| decisions::are_both_true(c, &a.id, &b.id))? {
                continue;
            }
            let newer = pair.newer.map(|n| if n == pair.a { a.id_text() } else { b.id_text() });
            positions.push((pair.a, pair.b));
            views.extend([(pair.a, a.clone()), (pair.b, b.clone())]);
            out.pairs.push(ContradictionPair { a, b, sort: pair.sort.as_str(), newer, confidence: pair.confidence });
        }
        for mut group in contradiction_groups(&positions) {
            group.members.sort_by_key(|n| {
                let at = memories.get(*n).and_then(|memory| memory.at);
                (at.is_none(), at)
            });
            let memories = group.members.iter().filter_map(|n| views.get(n).cloned()).collect();
            out.groups.push(ContradictionGroup { memories, pairs: group.pairs });
        }
        for n in past_plans(&statements, now.as_micros()) {
            out.past_plans.extend(view(n)?);
        }
        Ok(out)
    }

    /// Stores the person's decision that both memories are true, so that they are not listed as a pair again. If `both`
    /// is false, removes this decision.
    ///
    /// # Errors
    /// `NotFound`; `Usage` if `a` and `b` are the same memory.
    pub fn keep_both(&self, a: &str, b: &str, both: bool, now: Timestamp) -> VaultResult<()> {
        let (one, other) = (self.context.find(a)?, self.context.find(b)?);
        if one.id == other.id {
            return Err(VaultError::Usage("A memory does not contradict itself. Nothing was changed.".into()));
        }
        self.context.store.write(|tx| {
            decisions::store_both_true(tx, &one.id, &other.id, both)?;
            let detail = if both { "2 memories" } else { "no longer, 2 memories" };
            mementory_store::audit::append(tx, &self.context.keys, now, "both_true", "", detail)
        })
    }

    /// Returns the live memories by topic, the largest topic first.
    ///
    /// # Errors
    /// `Cancelled`; errors of the store.
    pub fn topics(&self, cancel: &AtomicBool) -> VaultResult<Vec<MemoryTopic>> {
        let memories = self.memories(cancel)?;
        let texts: Vec<&str> = memories.iter().map(|memory| memory.text.as_str()).collect();
        let found_topics = topics(&texts, &self.vectors(&memories)?);
        cancel::check(cancel)?;
        let rows = |members: Vec<usize>| members.iter().filter_map(|n| Some(memories.get(*n)?.row)).collect();
        Ok(found_topics.into_iter().map(|topic| MemoryTopic { name: topic.name, rows: rows(topic.members) }).collect())
    }

    /// Returns the people whom live memories mention. People mentioned by the most memories come first.
    ///
    /// # Errors
    /// `Cancelled`; errors of the store.
    pub fn people(&self, cancel: &AtomicBool) -> VaultResult<Vec<MemoryPerson>> {
        let memories = self.memories(cancel)?;
        let texts: Vec<&str> = memories.iter().map(|memory| memory.text.as_str()).collect();
        let found_people = people(&texts);
        cancel::check(cancel)?;
        let rows = |texts: Vec<usize>| texts.iter().filter_map(|n| Some(memories.get(*n)?.row)).collect();
        Ok(found_people
            .into_iter()
            .map(|one| MemoryPerson { name: one.name, relation: one.relation, of: one.of, rows: rows(one.texts) })
            .collect())
    }

    fn memories(&self, cancel: &AtomicBool) -> VaultResult<Vec<Memory>> {
        let mut out = Vec::new();
        self.context.store.read(|c| {
            live_memories::for_each(self.context, c, cancel, |row, record| {
                let at = record.times.created.or(record.times.updated).map(Timestamp::as_micros);
                out.push(Memory { row, text: statement_of(&record), at });
            })?;
            cancel::check(cancel)
        })?;
        Ok(out)
    }

    /// Returns the mean vector of each memory. Empty if another encoder made the vectors in the store.
    fn vectors(&self, memories: &[Memory]) -> VaultResult<Vec<Vec<f32>>> {
        self.context.store.read(|c| match is_current(c)? {
            true => memories.iter().map(|memory| Ok(mean_vector(&stored_vectors(c, memory.row)?))).collect(),
            false => Ok(Vec::new()),
        })
    }
}

/// Returns the mean of the vectors of a memory's parts, scaled to length 1. Empty if there are no vectors.
fn mean_vector(vectors: &[Vector]) -> Vec<f32> {
    let Some((first, others)) = vectors.split_first() else { return Vec::new() };
    let mut sum = first.as_slice().to_vec();
    for vector in others {
        sum.iter_mut().zip(vector.as_slice()).for_each(|(sum, n)| *sum += n);
    }
    Vector::new(sum).map_or_else(Vec::new, |vector| vector.as_slice().to_vec())
}
