//! Redact, Trash, erase, and the proof of it.
use crate::blocking::{Answer, job, session};
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
) -> Answer<RedactPreview> {
    job(app, job_id, on_progress, move |vault, job| vault.redact_preview(&request, job)).await
}

/// Replace spans for good.
#[tauri::command]
#[specta::specta]
pub async fn redact(app: AppHandle, request: RedactRequest) -> Answer<Redacted> {
    session(app, move |vault| vault.redact(&request, &Job::silent())).await
}

/// Put records in the Trash.
#[tauri::command]
#[specta::specta]
pub async fn trash(app: AppHandle, ids: Vec<String>) -> Answer<Ids> {
    session(app, move |vault| vault.delete(&ids)).await
}

/// Take records back from the Trash.
#[tauri::command]
#[specta::specta]
pub async fn restore(app: AppHandle, ids: Vec<String>) -> Answer<Ids> {
    session(app, move |vault| vault.restore(&ids)).await
}

/// What an erasure would take with it.
#[tauri::command]
#[specta::specta]
pub async fn erase_preview(app: AppHandle, request: EraseRequest) -> Answer<ErasePreview> {
    session(app, move |vault| vault.erase_preview(&request)).await
}

/// Erase for good, then look for it everywhere.
#[tauri::command]
#[specta::specta]
pub async fn erase(
    app: AppHandle,
    job_id: String,
    request: EraseRequest,
    on_progress: Channel<Progress>,
) -> Answer<Erased> {
    job(app, job_id, on_progress, move |vault, job| vault.erase(&request, job)).await
}

/// Tombstones, newest first.
#[tauri::command]
#[specta::specta]
pub async fn tombstones(app: AppHandle) -> Answer<Tombstones> {
    session(app, |vault| vault.tombstones()).await
}

/// The receipt of an erasure.
#[tauri::command]
#[specta::specta]
pub async fn receipt(app: AppHandle, id: String) -> Answer<Receipt> {
    session(app, move |vault| vault.receipt(&id)).await
}

/// Clean and check again what a receipt says is not clean.
#[tauri::command]
#[specta::specta]
pub async fn clean_again(
    app: AppHandle,
    job_id: String,
    id: String,
    on_progress: Channel<Progress>,
) -> Answer<Receipt> {
    job(app, job_id, on_progress, move |vault, job| vault.clean_again(&id, job)).await
}
