//! The review queue of sensitive values. A person can scan for values, see their context, redact them everywhere or
//! ignore them. The results never contain the sensitive values themselves.
use super::{
    changes::{receipt_view, stage_progress, tombstone_view},
    context::Context,
    now, time,
};
use crate::{ApiError, ApiResult, Applied, Job, types::*};
use mementory_vault::{SensitiveClass, SensitiveQuery, SensitiveState, SensitiveValue};
use std::{collections::BTreeMap, sync::atomic::Ordering};

/// Largest number of characters in a title.
const MAX_TITLE_CHARS: usize = 80;

/// The review queue of sensitive values.
#[derive(Clone, Copy)]
pub struct SensitiveValues<'s> {
    context: &'s Context,
}

impl<'s> SensitiveValues<'s> {
    pub(super) fn new(context: &'s Context) -> Self {
        Self { context }
    }
}

impl SensitiveValues<'_> {
    /// Scans records that are new or changed since the last scan, or all records if `rescan` is set. Interactive
    /// commands can run meanwhile. If the job is cancelled, the results so far are stored.
    ///
    /// # Errors
    /// `cancelled`.
    pub fn scan_pending(&self, rescan: bool, job: &Job) -> ApiResult<ScannedRecords> {
        let cancel = job.cancel_flag();
        if rescan {
            let _guard = self.context.write_guard();
            self.context.vault.scanner().rescan()?;
        }
        let mut records = 0u64;
        loop {
            job.yield_to_interactive();
            if cancel.load(Ordering::Relaxed) {
                return Err(mementory_vault::VaultError::Cancelled.into());
            }
            let batch = {
                let _guard = self.context.write_guard();
                self.context.vault.scanner().scan_next(now())?
            };
            records += batch.records;
            job.report(Progress {
                stage: "scan".into(),
                done: records,
                total: records + batch.left,
                unit: "records".into(),
                records: u32::try_from(records).unwrap_or(u32::MAX),
            });
            if batch.left == 0 || batch.records == 0 {
                return Ok(ScannedRecords { records: u32::try_from(records).unwrap_or(u32::MAX) });
            }
        }
    }

    /// Returns a page of the queue.
    ///
    /// # Errors
    /// `usage` for an unknown state or class.
    pub fn queue(&self, request: &SensitiveRequest) -> ApiResult<SensitiveQueue> {
        let state = match request.state.as_str() {
            "" | "open" => SensitiveState::Open,
            "redacted" => SensitiveState::Redacted,
            "ignored" => SensitiveState::Ignored,
            other => {
                return Err(ApiError::usage(format!(
                    "{other} is not a state of sensitive values. Use open, redacted or ignored."
                )));
            }
        };
        let classes = super::scan::parse_classes(&request.classes)?;
        let query = SensitiveQuery { state, classes, offset: request.offset, limit: request.limit };
        let list = self.context.vault.scanner().sensitive_values(&query)?;
        let (scanned_at, left) = self.context.vault.scanner().progress()?;
        Ok(SensitiveQueue {
            items: list.values.iter().map(|value| self.item(value)).collect::<ApiResult<_>>()?,
            open: by_class_name(&list.open),
            redacted: by_class_name(&list.redacted),
            ignored: by_class_name(&list.ignored),
            scanned_at: scanned_at.map(time),
            left: u32::try_from(left).unwrap_or(u32::MAX),
        })
    }

    /// Returns the queue entry of one value, and the records in which the value occurs.
    ///
    /// # Errors
    /// `not_found` if no record contains the value any more.
    pub fn value(&self, value: &str) -> ApiResult<SensitiveDetail> {
        let (found, places) = self.context.vault.scanner().sensitive_value(value)?;
        Ok(SensitiveDetail {
            item: self.item(&found)?,
            places: places.iter().map(|place| self.place(place)).collect::<ApiResult<_>>()?,
        })
    }

    /// Permanently redacts values in all records, or in the requested ones.
    ///
    /// # Errors
    /// `not_found` if no record contains any of the values, `usage` for an unknown class.
    pub fn redact(&self, request: &RedactValuesRequest, job: &Job) -> ApiResult<Applied<RedactedValues>> {
        if request.values.is_empty() && request.classes.is_empty() {
            return Err(ApiError::usage("No values are selected. Nothing was changed. Select values or a class."));
        }
        let _guard = self.context.write_guard();
        let values = match request.values.is_empty() {
            true => self.context.vault.scanner().open_values(&super::scan::parse_classes(&request.classes)?)?,
            false => request.values.clone(),
        };
        let outcome =
            self.context
                .vault
                .redactor()
                .redact_values(&values, request.ids.as_deref(), now(), &|stage| stage_progress(job, stage))?;
        let receipt = receipt_view(&outcome.receipt);
        let complete = receipt.complete;
        Ok(outcome.map(|outcome| RedactedValues {
            redacted: outcome.copies_redacted,
            tombstones: outcome.tombstones.into_iter().map(|row| tombstone_view(row, complete)).collect(),
            receipt,
        }))
    }

    /// Marks values as ignored, or removes this mark.
    pub fn ignore(&self, values: &[String], ignored: bool) -> ApiResult<()> {
        let _guard = self.context.write_guard();
        self.context.vault.scanner().ignore_values(values, ignored, now())?;
        Ok(())
    }

    fn item(&self, value: &SensitiveValue) -> ApiResult<SensitiveItem> {
        let piece = |piece: &mementory_vault::ContextSegment| ContextPiece {
            text: piece.text.clone(),
            hidden: piece.hidden.map(|class| class.as_str().into()),
            this: piece.this,
        };
        Ok(SensitiveItem {
            value: value.value.clone(),
            class: value.class.as_str().into(),
            detector: value.detector.clone(),
            confidence: value.confidence.as_str().into(),
            places: value.places,
            judged_at: value.judged.map(time),
            first: value.first.as_ref().map(|place| self.place(place)).transpose()?,
            context: value.context.iter().map(piece).collect(),
        })
    }

    fn place(&self, place: &mementory_vault::SensitivePlace) -> ApiResult<SensitivePlace> {
        let record = self.context.vault.reader().content(&place.view)?;
        let conversation =
            place.view.owner.map(|row| self.context.vault.reader().view_by_row(row)).transpose()?.flatten();
        let title = record.title.or_else(|| conversation.as_ref().and_then(|c| c.title.clone()));
        // The title is masked before it is shortened, because a truncated value would not be recognised.
        let title = match title {
            Some(title) => self.context.vault.scanner().masked(&title),
            None => self.context.vault.scanner().masked(&record.text),
        };
        Ok(SensitivePlace {
            id: place.view.id_text(),
            kind: place.view.kind.as_str().into(),
            field: place.field.into(),
            role: record.message.map(|message| message.role),
            source: place.view.source.clone(),
            title: title.chars().take(MAX_TITLE_CHARS).collect(),
            conversation_id: conversation.map(|c| c.id_text()),
            at: record.times.created.map(mementory_model::Timestamp::to_rfc3339),
        })
    }
}

/// Converts counts by class to counts by the name of the class.
pub(super) fn by_class_name(counts: &BTreeMap<SensitiveClass, u32>) -> BTreeMap<String, u32> {
    counts.iter().map(|(class, n)| (class.as_str().to_owned(), *n)).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::{CreateOptions, Session};

    const KEY: &str = "ghp_9fJ2kLm4Qx7RtV1wZb6Yc3Nd8Ps5Ua0He2Gi";
    const CARD: &str = "4539 1488 0343 6467";
    const MAIL: &str = "ada.kovalenko@orchardmail.eu";

    #[test]
    fn no_answer_contains_a_sensitive_value() {
        let folder = tempfile::tempdir().unwrap();
        let options = CreateOptions { kdf_floor: true };
        let words = "harbour copper nineteen kite lantern";
        let (session, _) = Session::create(&folder.path().join("v"), words, options).unwrap();
        let job = Job::silent();
        for text in [format!("{KEY} is the token, card {CARD}"), format!("mail {MAIL}")] {
            let request = AddRequest { text, ..AddRequest::default() };
            session.changes().add(&request).unwrap();
        }
        assert_eq!(session.sensitive().scan_pending(false, &job).unwrap().records, 2);
        let queue = session.sensitive().queue(&SensitiveRequest::default()).unwrap();
        assert_eq!(queue.items.len(), 3);
        let mut answers = serde_json::to_string(&queue).unwrap();
        for item in &queue.items {
            answers += &serde_json::to_string(&session.sensitive().value(&item.value).unwrap()).unwrap();
        }
        let request =
            RedactValuesRequest { classes: vec!["access_key".into(), "card".into()], ..RedactValuesRequest::default() };
        let done = session.sensitive().redact(&request, &job).unwrap();
        assert!(done.receipt.complete);
        answers += &serde_json::to_string(&done.value).unwrap();
        session.sensitive().ignore(&[queue.items[2].value.clone()], true).unwrap();
        answers += &serde_json::to_string(&session.overview().audit(true).unwrap()).unwrap();
        for secret in [KEY, CARD, MAIL] {
            assert!(!answers.contains(secret), "{secret} is in the answers: {answers}");
        }
        assert!(answers.contains("█████ is the token, card █████"), "{answers}");
    }
}
