//! Commands to list, search, read and edit records.
use super::system::{choose_save, file_name};
use crate::blocking::{CommandResult, run_background_job, run_change, run_change_job, run_in_session, run_job};
use crate::job_feedback::JobKind;
use mementory_api::types::*;
use specta::Type;
use std::path::Path;
use tauri::ipc::{Channel, InvokeResponseBody, IpcResponse};
use tauri::{AppHandle, WebviewWindow};

/// Largest attachment that the window shows, in bytes.
const MAX_ATTACHMENT_BYTES: u64 = 64 * 1024 * 1024;

/// Bytes that are sent to the window in binary form, not as a JSON list of numbers.
pub struct Bytes(Vec<u8>);

impl IpcResponse for Bytes {
    fn body(self) -> tauri::Result<InvokeResponseBody> {
        Ok(InvokeResponseBody::Raw(self.0))
    }
}

impl Type for Bytes {
    fn definition(_: &mut specta::Types) -> specta::datatype::DataType {
        specta::datatype::DataType::Reference(specta_typescript::define("ArrayBuffer"))
    }
}

/// One page of a list.
#[tauri::command]
#[specta::specta]
pub async fn list(app: AppHandle, request: ListRequest) -> CommandResult<Page> {
    run_in_session(app, move |vault| vault.records().list(&request)).await
}

/// Counts for the filter menus.
#[tauri::command]
#[specta::specta]
pub async fn facets(app: AppHandle, filter: Filter, query: Option<String>, typing: bool) -> CommandResult<Facets> {
    run_in_session(app, move |vault| vault.records().facets(&filter, query.as_deref(), typing)).await
}

/// Summary of several records.
#[tauri::command]
#[specta::specta]
pub async fn summary(app: AppHandle, filter: Filter) -> CommandResult<Summary> {
    run_in_session(app, move |vault| vault.records().summary(&filter)).await
}

/// One complete record.
#[tauri::command]
#[specta::specta]
pub async fn show(app: AppHandle, id: String, history: bool, verbatim: bool) -> CommandResult<ShownRecord> {
    run_in_session(app, move |vault| vault.records().show(&id, history, verbatim)).await
}

/// A conversation with all its branches.
#[tauri::command]
#[specta::specta]
pub async fn thread(app: AppHandle, id: String) -> CommandResult<Thread> {
    run_in_session(app, move |vault| vault.records().thread(&id)).await
}

/// Ranked full-text search.
#[tauri::command]
#[specta::specta]
pub async fn search(app: AppHandle, request: SearchRequest) -> CommandResult<SearchResult> {
    run_in_session(app, move |vault| vault.search().hits(&request)).await
}

/// A page of the list of records that match a search.
#[tauri::command]
#[specta::specta]
pub async fn search_rows(app: AppHandle, request: SearchRequest) -> CommandResult<Found> {
    run_in_session(app, move |vault| vault.search().rows(&request)).await
}

/// A spelling suggestion for a query that found nothing.
#[tauri::command]
#[specta::specta]
pub async fn suggest_query(app: AppHandle, request: SearchRequest) -> CommandResult<Option<String>> {
    run_in_session(app, move |vault| vault.search().suggest_query(&request)).await
}

/// Memories that mean nearly the same as a text or a record.
#[tauri::command]
#[specta::specta]
pub async fn similar(app: AppHandle, request: SimilarRequest) -> CommandResult<Similar> {
    run_in_session(app, move |vault| vault.meaning().similar(&request)).await
}

/// Encode new and changed memories for search by meaning.
#[tauri::command]
#[specta::specta]
pub async fn encode(app: AppHandle, job_id: String, on_progress: Channel<Progress>) -> CommandResult<Encoded> {
    run_background_job(app, job_id, on_progress, move |vault, job| vault.meaning().encode_pending(job)).await
}

/// The bytes of an attachment. If `most` is given, at most that many bytes.
#[tauri::command]
#[specta::specta]
pub async fn attachment(app: AppHandle, id: String, most: Option<u32>) -> CommandResult<Bytes> {
    let limit = most.map_or(MAX_ATTACHMENT_BYTES, u64::from).min(MAX_ATTACHMENT_BYTES);
    run_in_session(app, move |vault| vault.records().attachment(&id, limit).map(Bytes)).await
}

/// Ask where to save an attachment, and save it so that only the person can read it. Null if the dialog was cancelled.
#[tauri::command]
#[specta::specta]
pub async fn save_attachment(
    app: AppHandle,
    window: WebviewWindow,
    job_id: String,
    id: String,
    suggested_name: String,
    on_progress: Channel<Progress>,
) -> CommandResult<Option<String>> {
    // Only the file dialog may choose the path, never the page.
    let Some(path) = choose_save(app.clone(), window, file_name(&suggested_name)).await? else {
        return Ok(None);
    };
    run_change_job(app, JobKind::Other, job_id, on_progress, move |vault, job| {
        Ok(vault.records().save_attachment(&id, Path::new(&path), job)?.map(|_| Some(path)))
    })
    .await
}

/// A page for printing, as HTML.
#[tauri::command]
#[specta::specta]
pub async fn print_page(
    app: AppHandle,
    job_id: String,
    request: PrintRequest,
    on_progress: Channel<Progress>,
) -> CommandResult<String> {
    run_job(app, JobKind::Other, job_id, on_progress, move |vault, job| vault.pages().html(&request, job)).await
}

/// Ask where to save a page, and save it as a new file. Null if the dialog was cancelled.
#[tauri::command]
#[specta::specta]
pub async fn save_page(
    app: AppHandle,
    window: WebviewWindow,
    job_id: String,
    suggested_name: String,
    request: PrintRequest,
    on_progress: Channel<Progress>,
) -> CommandResult<Option<SavedPage>> {
    // Only the file dialog may choose the path, never the page.
    let Some(path) = choose_save(app.clone(), window, file_name(&suggested_name)).await? else {
        return Ok(None);
    };
    run_job(app, JobKind::Other, job_id, on_progress, move |vault, job| {
        vault.pages().save(Path::new(&path), &request, job).map(Some)
    })
    .await
}

/// Add a memory that the person wrote.
#[tauri::command]
#[specta::specta]
pub async fn add(app: AppHandle, request: AddRequest) -> CommandResult<Ids> {
    run_change(app, move |vault| vault.changes().add(&request)).await
}

/// Write a new version of a record.
#[tauri::command]
#[specta::specta]
pub async fn edit(app: AppHandle, request: EditRequest) -> CommandResult<Edited> {
    run_change(app, move |vault| vault.changes().edit(&request)).await
}

/// Add one tag to many records, or remove it.
#[tauri::command]
#[specta::specta]
pub async fn tag(
    app: AppHandle,
    job_id: String,
    request: TagRequest,
    on_progress: Channel<Progress>,
) -> CommandResult<Ids> {
    run_change_job(app, JobKind::Other, job_id, on_progress, move |vault, job| vault.changes().tag(&request, job)).await
}

/// Make an old version current again.
#[tauri::command]
#[specta::specta]
pub async fn restore_version(app: AppHandle, id: String, version: u32) -> CommandResult<Edited> {
    run_change(app, move |vault| vault.changes().restore_version(&id, version)).await
}
