//! Reads records.
use crate::{VaultResult, context::Context, in_halves, message_order};
use mementory_formats::{SECRET_DOTS, replace_plain_secrets};
use mementory_model::{Kind, Record};
use mementory_store::{Cause, ROW_COLUMNS, RowView, ids::record_id, kind_code};
use rusqlite::{Connection, params};
use std::collections::HashSet;

/// One version of a record.
#[derive(Debug, Clone)]
#[allow(missing_docs, reason = "the names say it")]
pub struct VersionRow {
    pub version: u32,
    pub since: i64,
    pub until: Option<i64>,
    pub cause: &'static str,
    pub record: Record,
}

/// A link from or to a record.
#[derive(Debug, Clone)]
#[allow(missing_docs, reason = "the names say it")]
pub struct LinkRow {
    pub relation: String,
    pub target: String,
    pub view: Option<RowView>,
}

/// The record of a row as [`Reader::content`] returns it.
pub(crate) fn content_for_display(context: &Context, c: &Connection, view: &RowView) -> VaultResult<Record> {
    if view.kind != Kind::Credential {
        return context.store.packs.content(c, view.pack, view.slot);
    }
    // The verbatim is needed to recognise a secret in the title or text, because it contains the same secret.
    let mut record = record_for_display(context, c, view.pack, view.slot)?;
    record.verbatim = None;
    Ok(record)
}

/// A stored record, including its `verbatim`, as [`Reader::record`] returns it.
fn record_for_display(context: &Context, c: &Connection, pack: i64, slot: u32) -> VaultResult<Record> {
    let mut record = context.store.packs.record(c, pack, slot)?;
    replace_plain_secrets(&mut record, SECRET_DOTS);
    Ok(record)
}

/// Reads records with their versions, links and messages, as they are displayed: in a credential, a row of dots replaces
/// each secret that its source stored in plain text.
#[derive(Clone, Copy)]
pub struct Reader<'v> {
    pub(crate) context: &'v Context,
}

impl<'v> Reader<'v> {
    pub(crate) fn new(context: &'v Context) -> Self {
        Self { context }
    }
}

impl Reader<'_> {
    /// Returns the row of a record. The error `NotFound` says whether a record with this id was erased.
    pub fn view(&self, id: &str) -> VaultResult<RowView> {
        self.context.find(id)
    }

    /// Returns the row with this number.
    pub fn view_by_row(&self, row: i64) -> VaultResult<Option<RowView>> {
        self.context.store.read(|c| RowView::by_row(c, row))
    }

    /// Returns the record of a row, including its `verbatim`.
    pub fn record(&self, view: &RowView) -> VaultResult<Record> {
        self.context.store.read(|c| record_for_display(self.context, c, view.pack, view.slot))
    }

    /// Returns the record of a row without its `verbatim`, for lists and for reading.
    pub fn content(&self, view: &RowView) -> VaultResult<Record> {
        self.context.store.read(|c| content_for_display(self.context, c, view))
    }

    /// Returns all versions of a record, the current version first.
    pub fn versions(&self, view: &RowView) -> VaultResult<Vec<VersionRow>> {
        self.context.store.read(|c| {
            let record = record_for_display(self.context, c, view.pack, view.slot)?;
            let mut out = vec![VersionRow {
                version: view.version,
                since: view.since,
                until: None,
                cause: Cause::name(view.cause),
                record,
            }];
            let mut statement = c.prepare_cached(
                "SELECT version, pack, slot, since, until, cause FROM versions WHERE row = ?1 ORDER BY version DESC",
            )?;
            let mut rows = statement.query([view.row])?;
            while let Some(r) = rows.next()? {
                let record = record_for_display(self.context, c, r.get(1)?, r.get(2)?)?;
                out.push(VersionRow {
                    version: r.get(0)?,
                    since: r.get(3)?,
                    until: Some(r.get(4)?),
                    cause: Cause::name(r.get(5)?),
                    record,
                });
            }
            Ok(out)
        })
    }

    /// Returns the time at which the record was first stored in the vault, in microseconds since 1970.
    pub fn first_seen(&self, view: &RowView) -> VaultResult<i64> {
        self.context.store.read(|c| {
            let first: Option<i64> = c
                .prepare_cached("SELECT min(since) FROM versions WHERE row = ?1")?
                .query_row([view.row], |r| r.get(0))?;
            Ok(first.unwrap_or(view.since))
        })
    }

    /// Returns the number of stored versions of a record.
    pub fn version_count(&self, row: i64) -> VaultResult<u32> {
        self.context.store.read(|c| {
            Ok(c.prepare_cached("SELECT count(*) + 1 FROM versions WHERE row = ?1")?.query_row([row], |r| r.get(0))?)
        })
    }

    /// Returns the links from a record to other records.
    pub fn links(&self, view: &RowView) -> VaultResult<Vec<LinkRow>> {
        self.link_rows("SELECT relation, target FROM links WHERE row = ?1", params![view.row])
    }

    /// Returns the records that link to the record in `view`, each with the relation of its link.
    pub fn links_to(&self, view: &RowView) -> VaultResult<Vec<LinkRow>> {
        self.link_rows(
            "SELECT l.relation, r.id FROM links l JOIN records r ON r.row = l.row WHERE l.target = ?1 AND r.trashed IS NULL",
            params![view.id],
        )
    }

    fn link_rows(&self, sql: &str, p: impl rusqlite::Params) -> VaultResult<Vec<LinkRow>> {
        self.context.store.read(|c| {
            let mut statement = c.prepare_cached(sql)?;
            let pairs = statement
                .query_map(p, |r| Ok((r.get::<_, String>(0)?, r.get::<_, [u8; 16]>(1)?)))?
                .collect::<Result<Vec<_>, _>>()?;
            pairs
                .into_iter()
                .map(|(relation, target)| {
                    Ok(LinkRow { relation, target: hex::encode(target), view: RowView::by_id(c, &target)? })
                })
                .collect()
        })
    }

    /// Returns the tags of a record, in alphabetical order.
    pub fn tags(&self, row: i64) -> VaultResult<Vec<String>> {
        self.context.store.read(|c| {
            let mut statement = c.prepare_cached("SELECT tag FROM tags WHERE row = ?1 ORDER BY tag")?;
            let rows = statement.query_map([row], |r| r.get(0))?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// Returns the messages of a conversation with their records (without `verbatim`), in source order, except that
    /// each message comes after its parent.
    pub fn messages(&self, conversation: &RowView) -> VaultResult<Vec<(RowView, Record)>> {
        let views = self.context.store.read(|c| {
            let sql = format!(
                "SELECT {} FROM records r JOIN platforms p ON p.id = r.platform WHERE r.owner = ?1 AND r.kind = ?2 AND (r.trashed IS NULL OR ?3) ORDER BY r.position, r.row",
                ROW_COLUMNS
            );
            let mut statement = c.prepare_cached(&sql)?;
            let rows = statement
                .query_map(params![conversation.row, kind_code(Kind::Message), conversation.trashed.is_some()], RowView::read)?;
            Ok(rows.collect::<Result<Vec<_>, _>>()?)
        })?;
        let records = in_halves(&views, |views| {
            self.context
                .store
                .read(|c| views.iter().map(|view| self.context.store.packs.content(c, view.pack, view.slot)).collect())
        })?;
        let messages = views.into_iter().zip(records).collect();
        Ok(message_order::order(messages, |key| record_id(&self.context.keys, key)))
    }

    /// Returns two sets of message rows of a conversation: the messages to which other records link, and the messages
    /// that refer to files. Both sets are usually small, so this is faster than a query for each message.
    pub fn linked_messages(&self, conversation: &RowView) -> VaultResult<(HashSet<i64>, HashSet<i64>)> {
        let rows = |sql: &str| {
            self.context.store.read(|c| {
                let mut statement = c.prepare_cached(sql)?;
                let rows = statement.query_map([conversation.row], |r| r.get(0))?;
                Ok(rows.collect::<Result<HashSet<i64>, _>>()?)
            })
        };
        Ok((
            rows(
                "SELECT m.row FROM records m WHERE m.owner = ?1 AND EXISTS (SELECT 1 FROM links l WHERE l.target = m.id)",
            )?,
            rows(
                "SELECT m.row FROM records m WHERE m.owner = ?1 AND EXISTS (SELECT 1 FROM file_refs f WHERE f.row = m.row)",
            )?,
        ))
    }

    /// Returns the numbers of messages, memories and attachments of a conversation.
    pub fn conversation_counts(&self, row: i64) -> VaultResult<(u32, u32, u32)> {
        self.context.store.read(|c| {
            let messages = c.prepare_cached("SELECT count(*) FROM records WHERE owner = ?1")?.query_row([row], |r| r.get(0))?;
            let memories = c
                .prepare_cached("SELECT count(DISTINCT l.row) FROM records m JOIN links l ON l.target = m.id WHERE m.owner = ?1 AND l.relation = 'derived_from'")?
                .query_row([row], |r| r.get(0))?;
            let files = c
                .prepare_cached("SELECT count(DISTINCT f.file) FROM records m JOIN file_refs f ON f.row = m.row WHERE m.owner = ?1")?
                .query_row([row], |r| r.get(0))?;
            Ok((messages, memories, files))
        })
    }
}
