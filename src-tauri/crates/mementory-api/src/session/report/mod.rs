//! The printable report: what the assistants know about the person, and what the person did about it.
mod insight;
mod plain;
mod sections;
mod texts;

use super::{
    meaning::Meaning,
    page::Page,
    review::{ForgetGuide, Review},
    sensitive::SensitiveValues,
};
use crate::{ApiError, ApiResult, Job, new_file::new_output, types::*};
use mementory_model::{Kind, Record, SaidBy, Timestamp};
use mementory_vault::{CachingEncoder, FoundEvidence, ListQuery, RowView, Sort, Trace};
use plain::without_markdown;
use sections::Sections;
use std::{io::Write, path::Path, sync::atomic::Ordering};
use texts::Texts;

/// Largest number of memories that the report lists with their evidence. A longer list would take minutes to create and
/// would be as long as a book.
const MAX_LISTED: usize = 2_000;

/// The possible origins of a memory, as keys of the report's texts, in the order of the report.
const ORIGINS: [&str; 7] = [
    "said_user",
    "may_have_said_user",
    "said_assistant",
    "may_have_said_assistant",
    "said_system",
    "trace_none",
    "trace_unknown",
];

/// A memory in the report.
struct ListedMemory {
    view: RowView,
    /// When the memory was made or last changed, in microseconds since 1970. None if its source does not say so.
    at: Option<i64>,
    text: String,
    /// One of [`ORIGINS`].
    origin: &'static str,
}

impl Review<'_> {
    /// Writes the report as one HTML page that loads nothing and runs no scripts. Sensitive values in the report are
    /// masked.
    ///
    /// # Errors
    /// `exists` if the file exists; `usage` for an unknown language or a path inside the vault; `cancelled`; `io`.
    pub fn report(&self, out: &Path, request: &ReportRequest, job: &Job) -> ApiResult<WrittenReport> {
        let language = request.language.as_deref().unwrap_or("en");
        let (texts, guide) = (Texts::load(language)?, ForgetGuide::load(Some(language))?);
        self.context.vault.files().check_outside(out)?;
        // The report lists the sensitive values, so all records have to be scanned first.
        SensitiveValues::new(self.context).scan_pending(false, job)?;
        let _guard = self.context.snapshot_guard();
        let (memories, total) = self.memories(job)?;
        let mut page = Page::new(language, texts.get("title"));
        let sections = Sections { context: self.context, review: *self, texts: &texts, guide: &guide, job };
        sections.write_all(&mut page, &memories, total)?;
        write_new(out, page.finish().as_bytes())?;
        Ok(WrittenReport { path: out.display().to_string(), memories: total })
    }

    /// Returns the memories to list, oldest first, each with its origin, and the total number of memories.
    fn memories(&self, job: &Job) -> ApiResult<(Vec<ListedMemory>, u32)> {
        let vault = &self.context.vault;
        let cancel = job.cancel_flag();
        let encoder = Meaning::new(self.context).encoder_if_installed();
        let encoder = encoder.as_deref().map(CachingEncoder::new);
        let mut query = ListQuery { kind: Some(Kind::Memory), sort: Sort::Oldest, limit: 500, ..ListQuery::default() };
        let mut out = Vec::new();
        loop {
            let page = vault.queries().list(&query)?;
            for view in page.rows {
                if cancel.load(Ordering::Relaxed) {
                    return Err(mementory_vault::VaultError::Cancelled.into());
                }
                if out.len() == MAX_LISTED {
                    return Ok((out, page.total));
                }
                let record = vault.reader().content(&view)?;
                let found = vault.reader().evidence().of_record(&view, &record, encoder.as_ref())?;
                let origin = origin(&found);
                let (at, text) = (made_at(&record), without_markdown(&vault.scanner().masked(record.text.trim())));
                out.push(ListedMemory { view, at, text, origin });
                job.report(Progress {
                    stage: "evidence".into(),
                    done: out.len() as u64,
                    total: u64::from(page.total).min(MAX_LISTED as u64),
                    unit: "records".into(),
                    records: u32::try_from(out.len()).unwrap_or(u32::MAX),
                });
            }
            match page.next {
                Some(next) => query.cursor = Some(next),
                None => return Ok((out, page.total)),
            }
        }
    }
}

fn origin(found: &FoundEvidence) -> &'static str {
    match (found.said_by, found.trace) {
        (Some(SaidBy::User), _) if found.is_uncertain() => "may_have_said_user",
        (Some(SaidBy::User), _) => "said_user",
        (Some(SaidBy::Assistant), _) if found.is_uncertain() => "may_have_said_assistant",
        (Some(SaidBy::Assistant), _) => "said_assistant",
        (Some(SaidBy::System), _) => "said_system",
        (None, Trace::None) => "trace_none",
        (None, _) => "trace_unknown",
    }
}

/// Writes a new file. If writing fails, the incomplete file is removed.
fn write_new(path: &Path, bytes: &[u8]) -> ApiResult<()> {
    let place = path.display();
    let mut file = new_output(path)?;
    file.write_all(bytes).and_then(|()| file.sync_all()).map_err(|error| {
        let _ = std::fs::remove_file(path);
        ApiError::io(format!("{place} could not be written: {error}. It was removed."))
    })
}

/// When a memory was made or last changed, according to its source. The time of the import is not used instead.
fn made_at(record: &Record) -> Option<i64> {
    record.times.created.or(record.times.updated).map(Timestamp::as_micros)
}
