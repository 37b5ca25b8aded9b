//! Writes, edits, trashes, redacts and erases records.
use super::{context::Context, filter, now, progress::ProgressThrottle};
use crate::{ApiError, ApiResult, Applied, Job, types::*};
use mementory_model::{Timestamp, TombstoneOp};
use mementory_vault::{AboutKind, EditFields, Insight, PlaceOutcome, RedactSpan, RowView, TombstoneRow};
use std::collections::BTreeMap;

/// Writes, edits, trashes, restores, redacts and erases records.
#[derive(Clone, Copy)]
pub struct Changes<'s> {
    context: &'s Context,
}

impl<'s> Changes<'s> {
    pub(super) fn new(context: &'s Context) -> Self {
        Self { context }
    }
}

impl Changes<'_> {
    /// Adds a memory that the person wrote.
    pub fn add(&self, request: &AddRequest) -> ApiResult<Applied<Ids>> {
        let _guard = self.context.write_guard();
        let id =
            self.context.vault.editor().add(&request.text, request.record_type.clone(), request.tags.clone(), now())?;
        Ok(id.map(|id| Ids { ids: vec![id] }))
    }

    /// Writes a new version of a record.
    pub fn edit(&self, request: &EditRequest) -> ApiResult<Applied<Edited>> {
        let _guard = self.context.write_guard();
        let version = self.context.vault.editor().edit(&request.id, edit_fields(request), now())?;
        Ok(version.map(|version| Edited { id: request.id.clone(), version }))
    }

    /// Does what [`edit`](Self::edit) and [`set_about`](Self::set_about) do for a memory, as a single change. `about`
    /// is the name of a subject, or `suggested`.
    ///
    /// # Errors
    /// The errors of both methods.
    pub fn edit_with_about(&self, request: &EditRequest, about: &str) -> ApiResult<Applied<Edited>> {
        let kind = chosen_kind(about)?;
        let _guard = self.context.write_guard();
        let insight = Insight::of(&self.context.vault);
        let version = insight.edit_with_kind(&request.id, kind, edit_fields(request), now())?;
        Ok(version.map(|version| Edited { id: request.id.clone(), version }))
    }

    /// Stores the subject that the person chose for memories, or removes the person's choice. Returns the ids of the
    /// memories.
    ///
    /// # Errors
    /// `not_found`; `usage` for an unknown subject, or if a record is not a memory.
    pub fn set_about(&self, request: &AboutRequest) -> ApiResult<Ids> {
        let kind = chosen_kind(&request.about)?;
        let _guard = self.context.write_guard();
        Insight::of(&self.context.vault).set_kind(&request.ids, kind, now())?;
        Ok(Ids { ids: request.ids.clone() })
    }

    /// Adds a tag to records, or removes it from them. If the job fails, no record is changed. Returns the ids of the
    /// changed records.
    ///
    /// # Errors
    /// `cancelled`.
    pub fn tag(&self, request: &TagRequest, job: &Job) -> ApiResult<Applied<Ids>> {
        let _guard = self.context.write_guard();
        let (throttle, total) = (ProgressThrottle::new(job), request.ids.len() as u64);
        let progress = |done: usize| throttle.report_in("records", "store", done as u64, total, done as u64);
        let ids = self.context.vault.editor().tag(
            &request.ids,
            &request.tag,
            request.on,
            now(),
            &progress,
            &job.cancel_flag(),
        )?;
        Ok(ids.map(|ids| Ids { ids }))
    }

    /// Writes a new version of a record with the text, title, tags and type of an earlier version.
    pub fn restore_version(&self, id: &str, version: u32) -> ApiResult<Applied<Edited>> {
        let _guard = self.context.write_guard();
        let version = self.context.vault.editor().restore_version(id, version, now())?;
        Ok(version.map(|version| Edited { id: id.into(), version }))
    }

    /// Lists what a redaction would change.
    ///
    /// # Errors
    /// As for `redact`, and `cancelled`.
    pub fn redact_preview(&self, request: &RedactRequest, job: &Job) -> ApiResult<RedactPreview> {
        let changed = self.context.vault.redactor().redact_plan(
            &request.id,
            &redact_spans(request),
            request.everywhere,
            &job.cancel_flag(),
        )?;
        let kinds = count_by_name(changed.iter().map(|v| v.kind.as_str()));
        Ok(RedactPreview { redacted: changed.len() as u32, kinds })
    }

    /// Permanently replaces spans of text in all versions of a record with redaction marks.
    pub fn redact(&self, request: &RedactRequest, job: &Job) -> ApiResult<Applied<Redacted>> {
        let _guard = self.context.write_guard();
        let stages = |stage: &str| stage_progress(job, stage);
        let outcome = self.context.vault.redactor().redact(
            &request.id,
            &redact_spans(request),
            request.everywhere,
            now(),
            &stages,
        )?;
        let receipt = receipt_view(&outcome.receipt);
        let tombstone = outcome.tombstones.first().cloned().map(|t| tombstone_view(t, receipt.complete));
        let tombstone = tombstone.ok_or_else(|| {
            ApiError::internal("The redaction wrote no tombstone. Check the vault, then redact again.")
        })?;
        let id = request.id.clone();
        Ok(outcome.map(|outcome| Redacted { id, redacted: outcome.copies_redacted, tombstone, receipt }))
    }

    /// Moves records to the Trash.
    pub fn delete(&self, ids: &[String]) -> ApiResult<Applied<Ids>> {
        let _guard = self.context.write_guard();
        Ok(self.context.vault.trash().trash(ids, now())?.map(|ids| Ids { ids }))
    }

    /// Restores records from the Trash.
    pub fn restore(&self, ids: &[String]) -> ApiResult<Applied<Ids>> {
        let _guard = self.context.write_guard();
        Ok(self.context.vault.trash().restore(ids, now())?.map(|ids| Ids { ids }))
    }

    /// Lists everything that an erasure would remove.
    pub fn erase_preview(&self, request: &EraseRequest) -> ApiResult<ErasePreview> {
        let plan = self.context.vault.eraser().erase_plan(&request.ids)?;
        let copies = plan.copies.iter().map(|v| self.copy_view(v)).collect::<ApiResult<_>>()?;
        Ok(ErasePreview {
            impact: Impact {
                records: plan.requested as u32,
                kinds: count_by_name(plan.records.iter().take(plan.requested).map(|v| v.kind.as_str())),
                sources: count_by_name(plan.records.iter().map(|v| v.source.as_str())),
                versions: plan.versions,
                derived: (plan.records.len() - plan.requested.min(plan.records.len())) as u32,
                links: plan.links,
                attachments: plan.files,
                passthrough: plan.passthrough,
                copies,
                ids: plan.records.iter().map(RowView::id_text).collect(),
            },
        })
    }

    /// Permanently erases records, and then searches every place for leftover traces of them.
    pub fn erase(&self, request: &EraseRequest, job: &Job) -> ApiResult<Applied<Erased>> {
        let _guard = self.context.write_guard();
        let copies = match (&request.copies, request.with_copies) {
            (Some(chosen), true) => chosen.clone(),
            (None, true) => {
                self.context.vault.eraser().erase_plan(&request.ids)?.copies.iter().map(RowView::id_text).collect()
            }
            (_, false) => Vec::new(),
        };
        let reason = request.reason.as_deref().unwrap_or("user_request");
        let outcome = self
            .context
            .vault
            .eraser()
            .erase(&request.ids, reason, &copies, now(), &|stage| stage_progress(job, stage))?;
        let receipt = receipt_view(&outcome.receipt);
        let complete = receipt.complete;
        Ok(outcome.map(|outcome| Erased {
            tombstones: outcome.tombstones.into_iter().map(|t| tombstone_view(t, complete)).collect(),
            receipt,
            copies_redacted: outcome.copies_redacted,
        }))
    }

    /// Returns all tombstones, newest first.
    pub fn tombstones(&self) -> ApiResult<Tombstones> {
        let rows = self.context.vault.audit().tombstones()?;
        let mut out = Vec::with_capacity(rows.len());
        let mut receipts: std::collections::HashMap<String, bool> = std::collections::HashMap::new();
        for row in rows {
            // An erasure counts as incomplete if its receipt is pending or unreadable.
            let complete = row.receipt.as_ref().map(|id| {
                *receipts
                    .entry(id.clone())
                    .or_insert_with(|| self.context.vault.receipts().get(id).is_ok_and(|r| r.complete))
            });
            out.push(TombstoneView { complete, ..tombstone_view(row, false) });
        }
        Ok(Tombstones { tombstones: out })
    }

    /// Returns the receipt of an erasure or redaction.
    pub fn receipt(&self, id: &str) -> ApiResult<Receipt> {
        Ok(receipt_view(&self.context.vault.receipts().get(id)?))
    }

    /// Cleans the places that a receipt lists as failed, and checks these places again.
    ///
    /// # Errors
    /// `not_found`; `io`, which leaves the receipt unchanged.
    pub fn retry_cleanup(&self, id: &str, job: &Job) -> ApiResult<Receipt> {
        let _guard = self.context.write_guard();
        Ok(receipt_view(&self.context.vault.receipts().retry(id, now(), &|stage| stage_progress(job, stage))?))
    }

    fn copy_view(&self, view: &RowView) -> ApiResult<RecordCopy> {
        let record = self.context.vault.reader().record(view)?;
        let conversation = view.owner.map(|o| self.context.vault.reader().view_by_row(o)).transpose()?.flatten();
        Ok(RecordCopy {
            id: view.id_text(),
            kind: view.kind.as_str().into(),
            text: record.text.chars().take(300).collect(),
            source: view.source.clone(),
            conversation_id: conversation.as_ref().map(RowView::id_text),
            conversation_title: conversation.and_then(|c| c.title),
            created_at: record.times.created.map(Timestamp::to_rfc3339),
        })
    }
}

fn edit_fields(request: &EditRequest) -> EditFields {
    EditFields {
        text: request.text.clone(),
        title: request.title.clone(),
        tags: request.tags.clone(),
        record_type: request.record_type.clone(),
    }
}

/// Parses the name of a subject. None for `suggested`, which removes the person's choice.
fn chosen_kind(name: &str) -> ApiResult<Option<AboutKind>> {
    if name == "suggested" { Ok(None) } else { filter::parse_about_kind(name).map(Some) }
}

fn redact_spans(request: &RedactRequest) -> Vec<RedactSpan> {
    let class = |span: &Span| span.class.clone().unwrap_or_else(|| "removed".into());
    request.spans.iter().map(|s| RedactSpan { start: s.start, end: s.end, class: class(s) }).collect()
}

fn count_by_name<'v>(values: impl Iterator<Item = &'v str>) -> BTreeMap<String, u32> {
    let mut counts = BTreeMap::new();
    for value in values {
        *counts.entry(value.to_owned()).or_default() += 1;
    }
    counts
}

pub(super) fn stage_progress(job: &Job, stage: &str) {
    job.report(Progress { stage: stage.into(), done: 0, total: 0, unit: "place".into(), records: 0 });
}

pub(super) fn tombstone_view(row: TombstoneRow, complete: bool) -> TombstoneView {
    let d = &row.derived;
    let derived = [&d.fact_ids, &d.edge_ids, &d.entity_ids, &d.chunk_ids, &d.sentence_ids]
        .into_iter()
        .flatten()
        .cloned()
        .collect();
    TombstoneView {
        op: if row.op == TombstoneOp::Delete { "delete".into() } else { "redact".into() },
        id: row.id,
        target_kind: row.kind,
        target_id: row.target,
        origin_id: row.origin_id,
        source: row.source,
        at: row.at.to_rfc3339(),
        actor: row.actor,
        reason: Some(row.reason).filter(|r| !r.is_empty()),
        derived,
        signature: row.signature,
        signature_valid: row.signature_valid,
        complete: row.receipt.is_some().then_some(complete),
        receipt: row.receipt,
    }
}

pub(super) fn receipt_view(receipt: &mementory_vault::Receipt) -> Receipt {
    Receipt {
        id: receipt.id.clone(),
        at: receipt.at.to_rfc3339(),
        complete: receipt.complete,
        places: receipt
            .places
            .iter()
            .map(|p| ReceiptPlace {
                place: p.place.clone(),
                outcome: match p.outcome {
                    PlaceOutcome::Erased => "erased",
                    PlaceOutcome::Redacted => "redacted",
                    PlaceOutcome::NotPresent => "not_present",
                    PlaceOutcome::Failed => "failed",
                }
                .into(),
                detail: p.detail.clone(),
            })
            .collect(),
        copies_left: receipt.copies_left,
        copies_redacted: receipt.copies_redacted,
    }
}
