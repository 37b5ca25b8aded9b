//! Judges the live memories by their words, their vectors and the person's decisions.
use crate::{
    VaultResult, in_halves,
    insight_cache::{AboutMemory, DecidedKinds, Judgement, RowStamp, State},
    insight_decisions as decisions,
    meaning::{VECTOR_WRITES_KEY, is_current, stored_vectors},
    meta,
};
use mementory_meaning::Vector;
use mementory_model::{Kind, Record};
use mementory_similar::Form;
use mementory_store::{RowView, Store, kind_code};
use rusqlite::{Connection, params};
use std::collections::HashMap;

/// Largest number of decided memories that are compared with other memories, to limit the time. If there are more,
/// those with the lowest ids are used.
const MAX_COMPARED_DECISIONS: usize = 500;

/// Reads the person's decisions.
pub(super) fn load_decided_kinds(c: &Connection, store: &Store) -> VaultResult<DecidedKinds> {
    let kinds = decisions::decided_kinds(c)?;
    let mut ids: Vec<_> = kinds.iter().collect();
    ids.sort_unstable_by_key(|(id, _)| **id);
    let mut forms = Vec::new();
    for (id, kind) in ids.into_iter().take(MAX_COMPARED_DECISIONS) {
        if let Some(view) = RowView::by_id(c, id)? {
            forms.push((Form::new(&text_of(&store.packs.content(c, view.pack, view.slot)?)), *kind));
        }
    }
    Ok(DecidedKinds { kinds, forms })
}

pub(super) fn state(c: &Connection) -> VaultResult<State> {
    let tombstones = c.prepare_cached("SELECT count(*) FROM tombstones")?.query_row([], |r| r.get(0))?;
    Ok((Store::last_change(c)?, tombstones, meta::read(c, VECTOR_WRITES_KEY)?.unwrap_or(0)))
}

/// Returns the text by which a memory is judged: its title and its text. The title is left out if the text begins with
/// it.
pub(super) fn text_of(record: &Record) -> String {
    match &record.title {
        Some(title) if !record.text.starts_with(title.as_str()) => format!("{title}\n{}", record.text),
        _ => record.text.clone(),
    }
}

/// Returns the text of a memory as a statement: like [`text_of`], but without a title that is the name of a file. Such
/// a title is not part of the statement, and in front of the text it would hide who the statement is about.
pub(super) fn statement_of(record: &Record) -> String {
    match &record.title {
        Some(title) if is_file_name(title) => record.text.clone(),
        _ => text_of(record),
    }
}

/// True for names such as `MEMORY.md`, `health/knee.md` and `project_counts`.
fn is_file_name(title: &str) -> bool {
    let name = title.rsplit(['/', '\\']).next().unwrap_or_default();
    let has_ending = name.rsplit_once('.').is_some_and(|(stem, ending)| {
        !stem.is_empty() && (1..=5).contains(&ending.len()) && ending.bytes().all(|b| b.is_ascii_alphanumeric())
    });
    !title.contains(char::is_whitespace) && (has_ending || title.contains(['/', '\\', '_']))
}

/// Judges one memory. `vectors` are the vectors of its parts, and are empty if the memory is not encoded.
pub(super) fn judge(decided_kinds: &DecidedKinds, id: &[u8; 16], record: &Record, vectors: &[Vector]) -> Judgement {
    let text = text_of(record);
    let vectors: Vec<&[f32]> = vectors.iter().map(Vector::as_slice).collect();
    let (suggested, special) = mementory_insight::judge(&text, &vectors);
    let about = match decided_kinds.kind_of(id, &text) {
        Some(kind) => Some(AboutMemory { kind, confidence: 1.0, by_person: true }),
        None => suggested.map(|about| AboutMemory { kind: about.kind, confidence: about.confidence, by_person: false }),
    };
    Judgement { about, special }
}

/// A live memory: its row, its id, and the state of the row on which its judgement depends.
type LiveMemory = (i64, [u8; 16], RowStamp);

/// Judges all live memories. `known` has earlier judgements, which are reused for unchanged rows.
pub(super) fn judge_all(
    store: &Store,
    decided_kinds: &DecidedKinds,
    mut known: HashMap<i64, (RowStamp, Judgement)>,
) -> VaultResult<HashMap<i64, (RowStamp, Judgement)>> {
    let memories = store.read(live_memories)?;
    let mut out = HashMap::with_capacity(memories.len());
    let mut unjudged = Vec::new();
    for (row, id, stamp) in memories {
        match known.remove(&row) {
            Some((of, judgement)) if of == stamp => {
                out.insert(row, (stamp, judgement));
            }
            _ => unjudged.push((row, id, stamp)),
        }
    }
    let new_judgements = in_halves(&unjudged, |half| {
        store.read(|c| {
            let judge_memory = |(row, id, stamp): &LiveMemory| {
                let record = store.packs.content(c, stamp.pack, stamp.slot)?;
                let vectors = if stamp.encoded { stored_vectors(c, *row)? } else { Vec::new() };
                Ok((*row, (*stamp, judge(decided_kinds, id, &record, &vectors))))
            };
            half.iter().map(judge_memory).collect::<VaultResult<Vec<_>>>()
        })
    })?;
    out.extend(new_judgements);
    Ok(out)
}

fn live_memories(c: &Connection) -> VaultResult<Vec<LiveMemory>> {
    let mut statement = c.prepare_cached(
        "SELECT row, id, version, since, pack, slot, ?2 AND EXISTS (SELECT 1 FROM vectors v WHERE v.row = records.row)
         FROM records WHERE kind = ?1 AND trashed IS NULL ORDER BY pack, slot",
    )?;
    let rows = statement.query_map(params![kind_code(Kind::Memory), is_current(c)?], |r| {
        let stamp =
            RowStamp { version: r.get(2)?, since: r.get(3)?, pack: r.get(4)?, slot: r.get(5)?, encoded: r.get(6)? };
        Ok((r.get(0)?, r.get(1)?, stamp))
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_are_not_part_of_a_statement() {
        for name in ["MEMORY.md", "health/knee.md", "project_counts", "notes\\cat.txt", "a-b.json"] {
            assert!(is_file_name(name), "{name}");
        }
        for title in ["Knee", "Who I am", "Dr. Weiß", "v1. of it", "Biscuit", ".", "Node.js and Rust"] {
            assert!(!is_file_name(title), "{title}");
        }
    }
}
