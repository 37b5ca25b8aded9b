//! Makes pages for reading and printing: a list of records, a conversation, or tables such as those of a receipt.
use super::{
    context::Context, filter, offers::Offers, page::Page, progress::ProgressThrottle, records::Records,
    review::ForgetGuide, search::Search, time,
};
use crate::{ApiError, ApiResult, Job, new_file::new_output, types::*};
use mementory_vault::{RowView, VaultError};
use std::{
    collections::HashMap,
    fs::File,
    io::Write,
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
};

/// Number of records that are read from the vault at once.
const BATCH: u32 = 500;

/// Makes pages for reading and printing.
#[derive(Clone, Copy)]
pub struct Pages<'s> {
    context: &'s Context,
}

impl<'s> Pages<'s> {
    pub(super) fn new(context: &'s Context) -> Self {
        Self { context }
    }
}

/// A function that receives the next piece of the page.
type Output<'o> = dyn FnMut(&str) -> ApiResult<()> + 'o;

impl Pages<'_> {
    /// Makes a page and returns it as HTML.
    ///
    /// # Errors
    /// `usage` for an unknown language or a wrong filter; `not_found` for an unknown conversation; `cancelled`.
    pub fn html(&self, request: &PrintRequest, job: &Job) -> ApiResult<String> {
        let mut html = String::new();
        self.write_parts(request, job, &mut |part| {
            html.push_str(part);
            Ok(())
        })?;
        Ok(html)
    }

    /// Saves a page as one HTML file that loads nothing and runs no scripts. Only the person can read the file.
    ///
    /// # Errors
    /// As [`Self::html`]; `exists` if the file exists; `usage` for a path inside the vault; `io`. After an error, the
    /// incomplete file is removed.
    pub fn save(&self, out: &Path, request: &PrintRequest, job: &Job) -> ApiResult<SavedPage> {
        self.context.vault.files().check_outside(out)?;
        // The guard prevents the saved page from being offered for import if `out` is in a watched folder.
        let export_guard = Offers::new(self.context).begin_file_export(out);
        let mut file = new_output(out)?;
        let records = self.save_to(&mut file, out, request, job).inspect_err(|_| drop(std::fs::remove_file(out)))?;
        export_guard.mark_written(std::iter::once(&out.to_path_buf()));
        Ok(SavedPage { path: out.display().to_string(), records })
    }

    fn save_to(&self, file: &mut File, out: &Path, request: &PrintRequest, job: &Job) -> ApiResult<u32> {
        let write_error = |error: std::io::Error| {
            ApiError::io(format!("{} could not be written: {error}. It was removed.", out.display()))
        };
        let records =
            self.write_parts(request, job, &mut |part| file.write_all(part.as_bytes()).map_err(write_error))?;
        file.sync_all().map_err(write_error)?;
        Ok(records)
    }

    /// Writes the page piece by piece, because a page with a long list may not fit into memory. Returns the number of
    /// records on the page.
    fn write_parts(&self, request: &PrintRequest, job: &Job, output: &mut Output<'_>) -> ApiResult<u32> {
        let language = request.language.as_deref().unwrap_or("en");
        let guide = ForgetGuide::load(Some(language))?;
        let _guard = self.context.snapshot_guard();
        let mut page = Page::new(language, &self.masked(&request.title));
        request.lead.iter().for_each(|line| page.note(&self.masked(line)));
        let mut records = 0;
        if let Some(list) = &request.list {
            records = self.add_list(list, &guide, &mut page, job, output)?;
            if records == 0 {
                page.paragraph(&list.empty);
            }
        }
        if let Some(conversation) = &request.conversation {
            records += self.add_conversation(conversation, &mut page, job)?;
        }
        request.tables.iter().for_each(|table| page.text_table(&table.head, &table.rows));
        output(&page.finish())?;
        Ok(records)
    }

    fn add_list(
        &self,
        list: &PrintList,
        guide: &ForgetGuide,
        page: &mut Page,
        job: &Job,
        output: &mut Output<'_>,
    ) -> ApiResult<u32> {
        let (throttle, cancel) = (ProgressThrottle::new(job), job.cancel_flag());
        let mut added = 0u32;
        self.for_each_batch(list, &mut |views, total| {
            for view in &views {
                check_cancelled(&cancel)?;
                let record = self.context.vault.reader().content(view)?;
                let day: Option<String> =
                    record.times.created.map(|created| time(created.as_micros()).chars().take(10).collect());
                let title = self.masked(record.title.as_deref().unwrap_or_default());
                let details = [day.unwrap_or_default(), guide.name(&view.source)];
                page.entry(&title, &details, &self.masked(record.text.trim()));
                added = added.saturating_add(1);
                throttle.report("write", added.into(), total.into(), added.into());
            }
            output(&page.take())
        })?;
        Ok(added)
    }

    /// Calls `add` for each batch of rows of a list, with the rows and the total number of rows.
    fn for_each_batch(
        &self,
        list: &PrintList,
        add: &mut dyn FnMut(Vec<RowView>, u32) -> ApiResult<()>,
    ) -> ApiResult<()> {
        let vault = &self.context.vault;
        if list.query.trim().is_empty() {
            let mut query = filter::query(vault, &list.filter)?;
            query.limit = BATCH;
            query.sort = filter::parse_sort(list.sort.as_deref())?;
            loop {
                let found = vault.queries().list(&query)?;
                add(found.rows, found.total)?;
                match found.next {
                    Some(next) => query.cursor = Some(next),
                    None => return Ok(()),
                }
            }
        }
        let mut request = SearchRequest {
            query: list.query.clone(),
            filter: list.filter.clone(),
            limit: Some(BATCH),
            offset: None,
            // The last word also matches longer words, as in the list on the screen.
            typing: true,
        };
        loop {
            let found = Search::new(self.context).rows(&request)?;
            let views: Vec<RowView> =
                found.rows.iter().map(|row| vault.reader().view(&row.item.id)).collect::<Result<_, VaultError>>()?;
            add(views, found.total)?;
            match found.next_offset {
                Some(next) => request.offset = Some(next),
                None => return Ok(()),
            }
        }
    }

    fn add_conversation(&self, conversation: &PrintConversation, page: &mut Page, job: &Job) -> ApiResult<u32> {
        let cancel = job.cancel_flag();
        let thread = Records::new(self.context).thread(&conversation.id)?;
        let texts: HashMap<&str, &str> =
            thread.messages.iter().map(|message| (message.id.as_str(), message.text.as_str())).collect();
        let mut added = 0u32;
        for message in &conversation.messages {
            check_cancelled(&cancel)?;
            let Some(text) = texts.get(message.id.as_str()) else { continue };
            let details: Vec<String> = message.details.iter().map(|detail| self.masked(detail)).collect();
            page.entry(&message.heading, &details, &self.masked(text.trim()));
            added = added.saturating_add(1);
        }
        Ok(added)
    }

    fn masked(&self, text: &str) -> String {
        self.context.vault.scanner().masked(text)
    }
}

fn check_cancelled(cancel: &AtomicBool) -> ApiResult<()> {
    if cancel.load(Ordering::Relaxed) { Err(VaultError::Cancelled.into()) } else { Ok(()) }
}
