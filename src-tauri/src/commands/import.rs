//! What is this, what would happen, take it in, take it back.
use crate::blocking::{Answer, blocking, job, session};
use keepsake_api::types::*;
use keepsake_api::{Job, files};
use std::path::{Path, PathBuf};
use tauri::AppHandle;
use tauri::ipc::Channel;

/// What are these files? Needs no vault.
#[tauri::command]
#[specta::specta]
pub async fn detect(app: AppHandle, paths: Vec<String>) -> Answer<Detections> {
    let paths: Vec<PathBuf> = paths.into_iter().map(PathBuf::from).collect();
    blocking(app, move |_| files::detect(&paths)).await
}

/// Is this file whole, who signed it, and does the vault know them?
#[tauri::command]
#[specta::specta]
pub async fn check_file(app: AppHandle, path: String, format: Option<String>) -> Answer<FileCheck> {
    session(app, move |vault| vault.check_file(Path::new(&path), format.as_deref(), &Job::silent())).await
}

/// What an import would do; nothing is written.
#[tauri::command]
#[specta::specta]
pub async fn import_preview(
    app: AppHandle,
    job_id: String,
    request: ImportRequest,
    on_progress: Channel<Progress>,
) -> Answer<ImportReport> {
    job(app, job_id, on_progress, move |vault, job| vault.import(&request, true, job)).await
}

/// Import as one batch.
#[tauri::command]
#[specta::specta]
pub async fn import_run(
    app: AppHandle,
    job_id: String,
    request: ImportRequest,
    on_progress: Channel<Progress>,
) -> Answer<ImportReport> {
    job(app, job_id, on_progress, move |vault, job| vault.import(&request, false, job)).await
}

/// Stop a job; it rolls back and answers `cancelled`.
#[tauri::command]
#[specta::specta]
pub async fn cancel_job(app: AppHandle, job_id: String) -> Answer<()> {
    blocking(app, move |state| {
        state.jobs().cancel(&job_id);
        Ok(())
    })
    .await
}

/// The batches, newest first.
#[tauri::command]
#[specta::specta]
pub async fn imports(app: AppHandle) -> Answer<Batches> {
    session(app, |vault| vault.imports()).await
}

/// The report kept with a batch.
#[tauri::command]
#[specta::specta]
pub async fn import_report(app: AppHandle, batch: String) -> Answer<ImportReport> {
    session(app, move |vault| vault.import_report(&batch)).await
}

/// Take a batch back whole.
#[tauri::command]
#[specta::specta]
pub async fn undo_import(app: AppHandle, batch: String) -> Answer<Undone> {
    session(app, move |vault| vault.undo_import(&batch, &Job::silent())).await
}
