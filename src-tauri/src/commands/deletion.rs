//! Redaction, Trash, erasure and its receipts.
use crate::blocking::{CommandResult, run_change, run_change_job, run_in_session, run_job};
use crate::job_feedback::JobKind;
use mementory_api::Job;
use mementory_api::types::*;
use tauri::AppHandle;
use tauri::ipc::Channel;

/// What a redaction would change.
#[tauri::command]
#[specta::specta]
pub async fn redact_preview(
    app: AppHandle,
    job_id: String,
    request: RedactRequest,
    on_progress: Channel<Progress>,
) -> CommandResult<RedactPreview> {
    run_job(app, JobKind::Other, job_id, on_progress, move |vault, job| vault.changes().redact_preview(&request, job))
        .await
}

/// Replace spans of a record's text with redaction marks in all versions, for good.
#[tauri::command]
#[specta::specta]
pub async fn redact(app: AppHandle, request: RedactRequest) -> CommandResult<Redacted> {
    run_change(app, move |vault| vault.changes().redact(&request, &Job::silent())).await
}

/// Put records in the Trash.
#[tauri::command]
#[specta::specta]
pub async fn trash(app: AppHandle, ids: Vec<String>) -> CommandResult<Ids> {
    run_change(app, move |vault| vault.changes().delete(&ids)).await
}

/// Restore records from the Trash.
#[tauri::command]
#[specta::specta]
pub async fn restore(app: AppHandle, ids: Vec<String>) -> CommandResult<Ids> {
    run_change(app, move |vault| vault.changes().restore(&ids)).await
}

/// Everything that an erasure would remove.
#[tauri::command]
#[specta::specta]
pub async fn erase_preview(app: AppHandle, request: EraseRequest) -> CommandResult<ErasePreview> {
    run_in_session(app, move |vault| vault.changes().erase_preview(&request)).await
}

/// Erase records for good, then search every place for traces of them.
#[tauri::command]
#[specta::specta]
pub async fn erase(
    app: AppHandle,
    job_id: String,
    request: EraseRequest,
    on_progress: Channel<Progress>,
) -> CommandResult<Erased> {
    run_change_job(app, JobKind::Erasure, job_id, on_progress, move |vault, job| vault.changes().erase(&request, job))
        .await
}

/// Tombstones, newest first.
#[tauri::command]
#[specta::specta]
pub async fn tombstones(app: AppHandle) -> CommandResult<Tombstones> {
    run_in_session(app, |vault| vault.changes().tombstones()).await
}

/// The receipt of an erasure.
#[tauri::command]
#[specta::specta]
pub async fn receipt(app: AppHandle, id: String) -> CommandResult<Receipt> {
    run_in_session(app, move |vault| vault.changes().receipt(&id)).await
}

/// Clean the places that a receipt lists as failed, and check them again.
#[tauri::command]
#[specta::specta]
pub async fn retry_cleanup(
    app: AppHandle,
    job_id: String,
    id: String,
    on_progress: Channel<Progress>,
) -> CommandResult<Receipt> {
    run_job(app, JobKind::Erasure, job_id, on_progress, move |vault, job| vault.changes().retry_cleanup(&id, job)).await
}
