//! Determines from later imports whether an assistant still has a memory that the person wants it to delete.
use crate::{
    VaultResult,
    batch_rows::BatchRows,
    context::Context,
    query::export_time,
    review::{AnsweredRecord, Review},
};
use mementory_model::{Kind, normal_text};
use mementory_store::{Flags, RowView, kind_code};
use rusqlite::{Connection, params};
use std::collections::HashSet;

/// Largest number of messages in which lists of memories are looked for. The newest messages are read.
const MAX_LISTS: u32 = 50;
const DAY: i64 = 86_400_000_000;

/// State of a memory that the person wants its assistant to delete, according to later imports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AssistantState {
    /// No list of the assistant's memories was imported since the person answered.
    NotChecked,
    /// The newest list does not contain the memory any more.
    Gone,
    /// The newest list still contains the memory.
    StillThere,
    /// A list since the person's answer did not contain the memory, but the newest list does.
    BackAgain,
}

impl AssistantState {
    /// Returns the stable name of the state: `not_checked`, `gone`, `still_there` or `back_again`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NotChecked => "not_checked",
            Self::Gone => "gone",
            Self::StillThere => "still_there",
            Self::BackAgain => "back_again",
        }
    }
}

/// A memory, profile note or statement of an assistant.
struct ListedMemory {
    row: i64,
    batch: Option<i64>,
    version_batch: Option<i64>,
    /// True if the memory was read in a conversation, which still contains it after the assistant has deleted it.
    from_conversation: bool,
    text: String,
}

/// The memories that were in an assistant's list at one point in time.
struct ListSnapshot {
    at: i64,
    rows: HashSet<i64>,
}

impl Review<'_> {
    /// Returns, for each reviewed record, whether the assistant's list of memories still contained it after the
    /// person's answer. The state is determined from later imports of the list and from later conversations that
    /// contain the list. A memory that was only read in a conversation proves nothing, since the conversation still
    /// contains memories that were deleted from the list.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn assistant_states(&self, answered: &[AnsweredRecord]) -> VaultResult<Vec<AssistantState>> {
        let mut sources: Vec<&str> = answered.iter().map(|each| each.view.source.as_str()).collect();
        sources.sort_unstable();
        sources.dedup();
        let mut states = vec![AssistantState::NotChecked; answered.len()];
        for source in sources {
            let (listed, seen) = self.context.store.read(|c| {
                let listed = listed_memories(c, source)?;
                let mut seen = imports(c, &listed)?;
                seen.extend(lists_in_conversations(self.context, c, source)?);
                seen.sort_by_key(|seen| seen.at);
                Ok((listed, seen))
            })?;
            for (each, state) in answered.iter().zip(&mut states).filter(|(each, _)| each.view.source == source) {
                *state = state_of(each, &seen, &listed);
            }
        }
        Ok(states)
    }
}

/// Returns the state of one reviewed record. `seen` is sorted by time.
fn state_of(answered: &AnsweredRecord, seen: &[ListSnapshot], listed: &[ListedMemory]) -> AssistantState {
    let own_entry = listed.iter().find(|each| each.row == answered.view.row);
    let rows_of_same_text: HashSet<i64> = listed
        .iter()
        .filter(|each| {
            own_entry.is_some_and(|own| each.row == own.row || !own.text.is_empty() && own.text == each.text)
        })
        .map(|each| each.row)
        .collect();
    seen.iter().filter(|seen| seen.at > answered.at).fold(AssistantState::NotChecked, |state, seen| {
        match (rows_of_same_text.iter().any(|row| seen.rows.contains(row)), state) {
            (false, _) => AssistantState::Gone,
            (true, AssistantState::Gone | AssistantState::BackAgain) => AssistantState::BackAgain,
            (true, _) => AssistantState::StillThere,
        }
    })
}

/// Returns the imports that contain the assistant's list of memories. Leaves out imports that were undone.
fn imports(c: &Connection, listed: &[ListedMemory]) -> VaultResult<Vec<ListSnapshot>> {
    let mut statement = c.prepare_cached("SELECT id, at, names, same, older FROM batches WHERE undone_at IS NULL")?;
    let mut rows = statement.query([])?;
    let mut out = Vec::new();
    while let Some(r) = rows.next()? {
        let (id, at, names): (i64, i64, String) = (r.get(0)?, r.get(1)?, r.get(2)?);
        let (same, older): (Option<Vec<u8>>, Option<Vec<u8>>) = (r.get(3)?, r.get(4)?);
        let import = BatchRows::read(c, id, same.as_deref(), older.as_deref())?;
        let listed = listed.iter().filter(|each| !each.from_conversation);
        let rows: HashSet<i64> = listed
            .filter(|each| import.contains(each.row, each.batch, each.version_batch))
            .map(|each| each.row)
            .collect();
        if !rows.is_empty() {
            // An export shows the list at the time when the export was made. File names contain only the day, so the
            // end of that day counts.
            out.push(ListSnapshot { at: at.min(export_time(&names, at).saturating_add(DAY)), rows });
        }
    }
    Ok(out)
}

/// Returns the newest lists of all memories that an assistant wrote into its conversations.
fn lists_in_conversations(context: &Context, c: &Connection, source: &str) -> VaultResult<Vec<ListSnapshot>> {
    let [memory, message] = [Kind::Memory, Kind::Message].map(kind_code);
    let mut statement = c.prepare_cached(&format!(
        "SELECT m.row FROM records m WHERE m.kind = {message} AND m.flags & {} <> 0 \
         AND m.platform = (SELECT id FROM platforms WHERE name = ?1) AND EXISTS \
         (SELECT 1 FROM links l JOIN records r ON r.row = l.row WHERE l.target = m.id AND l.relation = 'derived_from' \
         AND r.kind = {memory} AND coalesce(r.type, '') <> 'custom_instructions') ORDER BY m.sort DESC LIMIT {MAX_LISTS}",
        Flags::HIDDEN
    ))?;
    let messages = statement.query_map([source], |r| r.get(0))?.collect::<Result<Vec<i64>, _>>()?;
    let mut derived_rows = c.prepare_cached("SELECT row FROM links WHERE target = ?1 AND relation = 'derived_from'")?;
    let mut out = Vec::new();
    for row in messages {
        let Some(view) = RowView::by_row(c, row)? else { continue };
        let record = context.store.packs.content(c, view.pack, view.slot)?;
        // A call to the memory tool names one memory, while a list names all memories.
        if record.message.is_some_and(|part| part.content_type == "context") {
            let rows = derived_rows.query_map([view.id], |r| r.get(0))?.collect::<Result<_, _>>()?;
            out.push(ListSnapshot { at: view.sort, rows });
        }
    }
    Ok(out)
}

/// Returns the memories and statements of an assistant, including those in the Trash.
fn listed_memories(c: &Connection, source: &str) -> VaultResult<Vec<ListedMemory>> {
    let [memory, profile, fact, message, conversation] =
        [Kind::Memory, Kind::Profile, Kind::Fact, Kind::Message, Kind::Conversation].map(kind_code);
    let mut statement = c.prepare_cached(&format!(
        "SELECT r.row, r.batch, r.version_batch, r.preview, EXISTS (SELECT 1 FROM links l JOIN records m ON m.id = l.target \
         WHERE l.row = r.row AND l.relation = 'derived_from' AND m.kind IN ({message}, {conversation})) \
         FROM records r WHERE r.kind IN ({memory}, {profile}, {fact}) \
         AND r.platform = (SELECT id FROM platforms WHERE name = ?1)"
    ))?;
    let rows = statement.query_map(params![source], |r| {
        let preview: Option<String> = r.get(3)?;
        Ok(ListedMemory {
            row: r.get(0)?,
            batch: r.get(1)?,
            version_batch: r.get(2)?,
            text: normal_text(&preview.unwrap_or_default()),
            from_conversation: r.get(4)?,
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}
