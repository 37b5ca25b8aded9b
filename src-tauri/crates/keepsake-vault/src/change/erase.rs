//! Erasure: final, of everything that holds the content, with signed tombstones and a receipt that an independent
//! check fills in.
use super::{copies::telling_sentences, replace::Removal};
use crate::{
    Vault, VaultResult,
    ids::fingerprint,
    store::{Flags, RowView, Store, scrub},
    tombstones::{TombstoneRow, store_own},
    verify::{Evidence, Receipt},
};
use keepsake_model::{Derived, Kind, Record, Timestamp, TombstoneOp, normal_text};
use rusqlite::{Connection, OptionalExtension, params};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// What replaces erased words elsewhere.
const MARK: &str = "[REDACTED:erased]";

/// What an erasure would take with it.
#[derive(Debug, Clone, Default)]
pub struct ErasePlan {
    /// Everything that goes, the asked-for records first.
    pub records: Vec<RowView>,
    /// How many of them were asked for.
    pub asked: usize,
    /// Versions, the current ones included.
    pub versions: u32,
    /// Links.
    pub links: u32,
    /// Files whose last reference goes.
    pub files: u32,
    /// Passthrough parts that hold the words.
    pub passthrough: u32,
    /// Other records that say the same.
    pub copies: Vec<RowView>,
}

/// What an erasure did.
#[derive(Debug, Clone)]
pub struct EraseOutcome {
    /// One for each record that went.
    pub tombstones: Vec<TombstoneRow>,
    /// What the check found.
    pub receipt: Receipt,
    /// Records redacted because they said the same.
    pub copies_redacted: u32,
}

/// Deletion steps that a test may leave out, to see the independent check notice. Never set by the application.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[doc(hidden)]
#[allow(missing_docs, reason = "test seam")]
pub struct Sabotage {
    pub keep_pages: bool,
    pub keep_index: bool,
    pub keep_blobs: bool,
    pub keep_packs: bool,
}

/// A passthrough part: its row, its present blob, and its bytes without the words.
pub(super) type Part = (i64, [u8; 32], Vec<u8>);

struct Target {
    view: RowView,
    record: Record,
    versions: Vec<(i64, u32)>,
    texts: Vec<String>,
}

impl Vault {
    /// What erasing `ids` would take with it. Nothing is changed.
    pub fn erase_plan(&self, ids: &[String]) -> VaultResult<ErasePlan> {
        let targets = self.erase_targets(ids)?;
        let rows: HashSet<i64> = targets.iter().map(|t| t.view.row).collect();
        let links: i64 = self.store.read(|c| {
            let mut sum = 0;
            for target in &targets {
                sum += c.query_row(
                    "SELECT count(*) FROM links WHERE row = ?1 OR target = ?2",
                    params![target.view.row, target.view.id],
                    |r| r.get::<_, i64>(0),
                )?;
            }
            Ok(sum)
        })?;
        let copies = self.same_words(&sentences_of(&targets), &rows)?;
        let removal = Removal::exact(texts_of(&targets).into_iter().map(|t| (t, MARK.to_owned())).collect());
        Ok(ErasePlan {
            asked: ids.len(),
            versions: targets.iter().map(|t| t.versions.len() as u32).sum(),
            links: u32::try_from(links).unwrap_or(u32::MAX),
            files: targets.iter().filter(|t| t.view.kind == Kind::Attachment).count() as u32,
            passthrough: self.parts_holding(&removal, &rows)?.len() as u32,
            records: targets.into_iter().map(|t| t.view).collect(),
            copies,
        })
    }

    /// Everything that goes when `ids` go: a conversation's messages, a document's pieces, what was derived from nothing
    /// else, and files that nothing else names.
    fn erase_targets(&self, ids: &[String]) -> VaultResult<Vec<Target>> {
        let mut views = ids.iter().map(|id| self.find(id)).collect::<VaultResult<Vec<_>>>()?;
        let mut rows: HashSet<i64> = views.iter().map(|v| v.row).collect();
        views.dedup_by_key(|v| v.row);
        self.store.read(|c| {
            let mut next = 0;
            while next < views.len() {
                let (row, id) = (views[next].row, views[next].id);
                next += 1;
                let mut more = column(c, "SELECT row FROM records WHERE owner = ?1", params![row])?;
                more.extend(
                    column(
                        c,
                        "SELECT l.row FROM links l WHERE l.target = ?1 AND l.relation = 'derived_from'",
                        params![id],
                    )?
                    .into_iter()
                    .filter(|derived| only_from(c, *derived, &rows).unwrap_or(false)),
                );
                more.extend(
                    column(c, "SELECT file FROM file_refs WHERE row = ?1", params![row])?
                        .into_iter()
                        .filter(|file| unreferenced(c, *file, &rows).unwrap_or(false)),
                );
                for row in more {
                    if rows.insert(row) {
                        views.extend(RowView::by_row(c, row)?);
                    }
                }
            }
            views.into_iter().map(|view| self.target(c, view)).collect()
        })
    }

    fn target(&self, c: &Connection, view: RowView) -> VaultResult<Target> {
        let record = self.store.packs.record(c, view.pack, view.slot)?;
        let mut versions = vec![(view.pack, view.slot)];
        let mut statement = c.prepare_cached("SELECT pack, slot FROM versions WHERE row = ?1")?;
        for place in statement.query_map([view.row], |r| Ok((r.get(0)?, r.get(1)?)))? {
            versions.push(place?);
        }
        let mut texts = BTreeSet::new();
        for (pack, slot) in &versions {
            let version = self.store.packs.record(c, *pack, *slot)?;
            texts.extend([Some(version.text), version.title].into_iter().flatten().filter(|t| !t.trim().is_empty()));
        }
        Ok(Target { view, record, versions, texts: texts.into_iter().collect() })
    }

    /// Erases `ids` for good. `copies`: ids of other records to redact because they say the same.
    pub fn erase(
        &self,
        ids: &[String],
        reason: &str,
        copies: &[String],
        now: Timestamp,
        progress: &dyn Fn(&str),
        sabotage: Sabotage,
    ) -> VaultResult<EraseOutcome> {
        let targets = self.erase_targets(ids)?;
        let rows: HashSet<i64> = targets.iter().map(|t| t.view.row).collect();
        let sentences = sentences_of(&targets);
        let copy_views = copies.iter().map(|id| self.find(id)).collect::<VaultResult<Vec<_>>>()?;
        let removal = Removal::exact(texts_of(&targets).into_iter().map(|t| (t, MARK.to_owned())).collect());
        let parts = self.parts_holding(&removal, &rows)?;
        let receipt_id = crate::ids::random_text()?;
        let mut evidence = Evidence::default();
        progress("record");
        if sabotage.keep_pages {
            self.store.writer().execute_batch("PRAGMA secure_delete = OFF")?;
        }
        let written = self.store.write(|tx| {
            let blobs = self.erase_rows(tx, &targets, &mut evidence, sabotage)?;
            let redaction = Removal::sentences(sentences.clone(), MARK);
            let mut reindex = Vec::new();
            for view in &copy_views {
                if !rows.contains(&view.row) && self.redact_row(tx, view, &redaction, &mut evidence)? {
                    reindex.push(view.row);
                }
            }
            clean_reports(tx, &removal)?;
            let (old_blobs, parts_changed) = self.rewrite_parts(tx, &parts, &removal)?;
            evidence.blobs = blobs.into_iter().chain(old_blobs).collect();
            evidence.parts = parts_changed;
            let tombstones = self.write_tombstones(tx, &targets, reason, &receipt_id, now)?;
            pending_receipt(tx, &receipt_id, now)?;
            for view in &copy_views {
                crate::audit::append(tx, &self.keys, now, "redact", &view.id_text(), "same words")?;
            }
            Ok((Store::last_change(tx)?, tombstones, reindex))
        });
        if sabotage.keep_pages {
            self.store.writer().execute_batch("PRAGMA secure_delete = ON")?;
        }
        let (seq, tombstones, reindex) = written?;
        progress("attachments");
        if !sabotage.keep_blobs {
            for blob in &evidence.blobs {
                self.blobs.remove(blob)?;
            }
            self.blobs.sync()?;
        }
        progress("search_index");
        evidence.rows = targets.iter().map(|t| t.view.row).collect();
        if sabotage.keep_index {
            for row in &rows {
                self.index_delete(*row)?;
            }
            self.index_commit(seq)?;
        } else {
            let erased: Vec<u64> = evidence.rows.iter().map(|r| *r as u64).collect();
            self.with_index(|i| i.erase(&erased, seq))?;
        }
        if !reindex.is_empty() {
            for row in &reindex {
                self.reindex(*row)?;
            }
            self.index_commit(seq)?;
            let changed: Vec<u64> = reindex.iter().map(|r| *r as u64).collect();
            self.with_index(|i| i.purge(&changed))?;
        }
        progress("write_ahead_log");
        self.store.packs.forget();
        evidence.wal_clean = self.store.checkpoint()?;
        evidence.gone_rows = targets.iter().map(|t| t.view.row).collect();
        evidence.texts = texts_of(&targets);
        evidence.sentences = sentences;
        progress("database_pages");
        let honest = sabotage == Sabotage::default();
        let receipt = self.prove_and_wipe(receipt_id, evidence, now, honest)?;
        Ok(EraseOutcome { tombstones, receipt, copies_redacted: reindex.len() as u32 })
    }

    /// Removes the rows and rewrites the packs; returns the blobs that nothing names any more.
    fn erase_rows(
        &self,
        tx: &Connection,
        targets: &[Target],
        evidence: &mut Evidence,
        sabotage: Sabotage,
    ) -> VaultResult<Vec<[u8; 32]>> {
        let mut by_pack: BTreeMap<i64, HashSet<u32>> = BTreeMap::new();
        for (pack, slot) in targets.iter().flat_map(|t| &t.versions) {
            by_pack.entry(*pack).or_default().insert(*slot);
        }
        for (pack, slots) in by_pack {
            if sabotage.keep_packs {
                evidence.pack(&self.store.packs.stored(tx, pack)?, &[]);
                continue;
            }
            let (old, new) =
                self.store.packs.rewrite(tx, pack, |slot, entry| Ok((!slots.contains(&slot)).then_some(entry)))?;
            evidence.pack(&old, &new);
        }
        let mut blobs = Vec::new();
        for target in targets {
            let row = target.view.row;
            // Former bytes that an undo would bring back go too.
            let named: Vec<[u8; 32]> = tx
                .prepare_cached("SELECT DISTINCT blob FROM named_blobs WHERE row = ?1")?
                .query_map([row], |r| r.get(0))?
                .collect::<Result<_, _>>()?;
            for sql in [
                "DELETE FROM records WHERE row = ?1",
                "DELETE FROM versions WHERE row = ?1",
                "DELETE FROM tags WHERE row = ?1",
                "DELETE FROM links WHERE row = ?1",
                "DELETE FROM files WHERE row = ?1",
                "DELETE FROM file_versions WHERE row = ?1",
                "DELETE FROM moved WHERE row = ?1",
                "DELETE FROM file_refs WHERE row = ?1 OR file = ?1",
                "DELETE FROM changes WHERE op IN (1, 2) AND target = ?1",
                "INSERT INTO changes (op, target) VALUES (2, ?1)",
            ] {
                tx.prepare_cached(sql)?.execute([row])?;
            }
            tx.prepare_cached("DELETE FROM links WHERE target = ?1")?.execute([target.view.id])?;
            for blob in named {
                if !tx.prepare_cached("SELECT 1 FROM named_blobs WHERE blob = ?1")?.exists([blob])? {
                    blobs.push(blob);
                }
            }
        }
        Ok(blobs)
    }

    fn write_tombstones(
        &self,
        tx: &Connection,
        targets: &[Target],
        reason: &str,
        receipt: &str,
        now: Timestamp,
    ) -> VaultResult<Vec<TombstoneRow>> {
        let mut ids_by_kind: HashMap<Kind, Vec<String>> = HashMap::new();
        for target in targets {
            ids_by_kind.entry(target.view.kind).or_default().push(target.view.id_text());
        }
        let list = |kind: Kind| ids_by_kind.get(&kind).cloned().unwrap_or_default();
        let mut out = Vec::with_capacity(targets.len());
        for (index, target) in targets.iter().enumerate() {
            // Proof of reach stands on the tombstone that was asked for; what went along has one of its own too.
            let derived = if index == 0 {
                Derived {
                    fact_ids: list(Kind::Fact),
                    edge_ids: list(Kind::Relation),
                    entity_ids: list(Kind::Entity),
                    chunk_ids: list(Kind::Chunk),
                    ..Derived::default()
                }
            } else {
                Derived::default()
            };
            let mem = target.record.origin.format == "mem";
            let row = TombstoneRow {
                id: format!("tomb_{}", crate::ids::random_text()?),
                op: TombstoneOp::Delete,
                kind: target.view.kind.as_str().into(),
                target: target.view.id_text(),
                scope: if mem { "mem".into() } else { "keepsake".into() },
                origin_id: target
                    .record
                    .origin_id
                    .clone()
                    .filter(|id| !target.texts.iter().any(|t| t.contains(id.as_str()))),
                source: Some(target.view.platform.clone()),
                at: now,
                actor: "owner".into(),
                reason: reason.into(),
                derived,
                signature: String::new(),
                own: true,
                receipt: Some(receipt.into()),
                signature_valid: false,
                verbatim: None,
            };
            let prints: Vec<_> =
                target.texts.iter().filter_map(|t| fingerprint(&self.keys, target.view.kind, t)).collect();
            out.push(store_own(tx, &self.keys, row, &target.view.id, &[target.view.id], &prints)?);
            crate::audit::append(tx, &self.keys, now, "erase", &target.view.id_text(), target.view.kind.as_str())?;
        }
        Ok(out)
    }

    /// Passthrough parts (side files, `raw/`, unknown entries) outside `rows` that hold words of `removal`.
    pub(super) fn parts_holding(&self, removal: &Removal, rows: &HashSet<i64>) -> VaultResult<Vec<Part>> {
        if removal.is_empty() {
            return Ok(Vec::new());
        }
        let files: Vec<(i64, [u8; 32])> = self.store.read(|c| {
            let mut statement = c.prepare(
                "SELECT DISTINCT f.row, f.blob FROM named_blobs f JOIN records r ON r.row = f.row WHERE r.kind = ?1 AND f.size <= ?2",
            )?;
            let found = statement.query_map(params![crate::store::kind_code(Kind::Foreign), PART_LIMIT], |r| Ok((r.get(0)?, r.get(1)?)))?;
            Ok(found.collect::<Result<_, _>>()?)
        })?;
        let mut out = Vec::new();
        for (row, blob) in files {
            if rows.contains(&row) {
                continue;
            }
            let mut bytes = Vec::new();
            std::io::Read::read_to_end(&mut self.blobs.open(&blob)?, &mut bytes)
                .map_err(|e| crate::VaultError::io("attachment", e))?;
            let Ok(text) = String::from_utf8(bytes) else { continue };
            let new = match removal.json(&text) {
                Some(changed) => changed,
                None => removal.text(&text),
            };
            out.extend(new.map(|new| (row, blob, new.into_bytes())));
        }
        Ok(out)
    }

    /// Replaces parts by their redacted text; returns blobs that nothing names any more, and how many parts changed.
    pub(super) fn rewrite_parts(
        &self,
        tx: &Connection,
        parts: &[Part],
        _removal: &Removal,
    ) -> VaultResult<(Vec<[u8; 32]>, u32)> {
        let mut old = Vec::new();
        for (row, blob, new) in parts {
            let info = self.blobs.put(&mut new.as_slice(), true)?;
            // A part's former bytes, which an undo would bring back, are parts of their own here.
            for table in ["files", "file_versions"] {
                tx.execute(
                    &format!("UPDATE {table} SET blob = ?2, size = ?3 WHERE row = ?1 AND blob = ?4"),
                    params![row, info.digest, info.size as i64, blob],
                )?;
            }
            tx.execute("UPDATE records SET flags = flags | ?2 WHERE row = ?1", params![row, Flags::REDACTED])?;
            if !tx.prepare("SELECT 1 FROM named_blobs WHERE blob = ?1")?.exists([blob])? {
                old.push(*blob);
            }
        }
        Ok((old, parts.len() as u32))
    }

    /// Checks, wipes pages in which SQLite left something and checks again, and keeps the receipt.
    pub(super) fn prove_and_wipe(
        &self,
        id: String,
        mut evidence: Evidence,
        now: Timestamp,
        wipe: bool,
    ) -> VaultResult<Receipt> {
        let mut receipt = self.prove(id.clone(), &mut evidence, now)?;
        if wipe && !evidence.dirty_pages.is_empty() {
            self.store.write(|tx| scrub(tx, &evidence.dirty_pages))?;
            evidence.wal_clean = self.store.checkpoint()?;
            receipt = self.prove(id, &mut evidence, now)?;
        }
        self.keep_receipt(&receipt)?;
        Ok(receipt)
    }

    fn keep_receipt(&self, receipt: &Receipt) -> VaultResult<()> {
        let body = serde_json::to_string(receipt).unwrap_or_default();
        self.store.write(|tx| {
            tx.execute(
                "INSERT OR REPLACE INTO receipts (id, at, complete, body) VALUES (?1, ?2, ?3, ?4)",
                params![receipt.id, receipt.at.as_micros(), receipt.complete, body],
            )?;
            Ok(())
        })
    }

    /// Finishes erasures and redactions that were cut off between the store's commit and their receipt: the index is
    /// rewritten, the WAL truncated, stray files removed, and the check made. What the replaced packs looked like is
    /// not known any more, so the receipt says that pages were not searched for traces. Returns how many there were.
    pub fn finish_interrupted(&self, now: Timestamp) -> VaultResult<u32> {
        let pending: Vec<String> = self.store.read(|c| {
            let mut statement = c.prepare("SELECT id FROM receipts WHERE body = ''")?;
            let rows = statement.query_map([], |r| r.get(0))?;
            Ok(rows.collect::<Result<_, _>>()?)
        })?;
        if pending.is_empty() {
            return Ok(0);
        }
        let (gone, changed) = self.store.read(|c| {
            let gone = column(
                c,
                "SELECT DISTINCT target FROM changes WHERE op = 2 AND target NOT IN (SELECT row FROM records)",
                [],
            )?;
            Ok((gone, column(c, "SELECT DISTINCT target FROM changes WHERE op = 1", [])?))
        })?;
        let rows: Vec<u64> = gone.iter().chain(&changed).map(|r| *r as u64).collect();
        self.with_index(|i| i.purge(&rows))?;
        self.sweep_blobs()?;
        for id in &pending {
            let wal_clean = self.store.checkpoint()?;
            let mut evidence = Evidence::default();
            evidence.gone_rows.clone_from(&gone);
            evidence.wal_clean = wal_clean;
            self.prove_and_wipe(id.clone(), evidence, now, true)?;
        }
        self.store.checkpoint()?;
        Ok(pending.len() as u32)
    }

    /// The receipt of an erasure or redaction.
    pub fn receipt(&self, id: &str) -> VaultResult<Receipt> {
        self.store.read(|c| {
            let body: Option<String> =
                c.query_row("SELECT body FROM receipts WHERE id = ?1", [id], |r| r.get(0)).optional()?;
            let body = body.filter(|b| !b.is_empty()).ok_or_else(|| crate::VaultError::not_found(id))?;
            serde_json::from_str(&body).map_err(|_| crate::VaultError::Damaged("receipt".into()))
        })
    }
}

/// Largest passthrough part that is searched for erased words, in bytes; larger ones are named in the receipt.
pub(crate) const PART_LIMIT: i64 = 64 << 20;

/// Import reports name files and places; an erased name goes from them too.
fn clean_reports(tx: &Connection, removal: &Removal) -> VaultResult<()> {
    let mut statement = tx.prepare("SELECT id, report, names FROM batches")?;
    let rows = statement.query_map([], |r| Ok((r.get(0)?, r.get(1)?, r.get(2)?)))?;
    let batches: Vec<(i64, String, String)> = rows.collect::<Result<_, _>>()?;
    for (id, report, names) in batches {
        for (column, text) in [("report", report), ("names", names)] {
            if let Some(Some(new)) = removal.json(&text) {
                tx.execute(&format!("UPDATE batches SET {column} = ?2 WHERE id = ?1"), params![id, new])?;
            }
        }
    }
    Ok(())
}

/// Says that a receipt is still to come, in the transaction that makes it due.
pub(super) fn pending_receipt(tx: &Connection, id: &str, now: Timestamp) -> VaultResult<()> {
    tx.execute("INSERT INTO receipts (id, at, complete, body) VALUES (?1, ?2, 0, '')", params![id, now.as_micros()])?;
    Ok(())
}

fn texts_of(targets: &[Target]) -> Vec<String> {
    let all: BTreeSet<String> =
        targets.iter().flat_map(|t| t.texts.iter().cloned()).filter(|t| normal_text(t).len() >= 8).collect();
    all.into_iter().collect()
}

fn sentences_of(targets: &[Target]) -> Vec<String> {
    let all: BTreeSet<String> = targets.iter().flat_map(|t| telling_sentences(&t.record)).collect();
    all.into_iter().take(2_000).collect()
}

fn column(c: &Connection, sql: &str, p: impl rusqlite::Params) -> VaultResult<Vec<i64>> {
    let mut statement = c.prepare_cached(sql)?;
    let rows = statement.query_map(p, |r| r.get(0))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// True when everything that `derived` came from is in `rows` (or not in the vault).
fn only_from(c: &Connection, derived: i64, rows: &HashSet<i64>) -> VaultResult<bool> {
    let sources = column(
        c,
        "SELECT r.row FROM links l JOIN records r ON r.id = l.target WHERE l.row = ?1 AND l.relation = 'derived_from'",
        params![derived],
    )?;
    Ok(sources.iter().all(|s| rows.contains(s)))
}

fn unreferenced(c: &Connection, file: i64, rows: &HashSet<i64>) -> VaultResult<bool> {
    Ok(column(c, "SELECT row FROM file_refs WHERE file = ?1", params![file])?.iter().all(|r| rows.contains(r)))
}
