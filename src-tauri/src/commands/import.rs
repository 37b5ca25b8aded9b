//! What is this, what would happen, take it in, take it back.
use crate::blocking::{Answer, blocking, job, session};
use mementory_api::types::*;
use mementory_api::{Job, Passphrase, files};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tauri::AppHandle;
use tauri::ipc::Channel;

/// The passphrase of a file, not of a vault. It never travels in a request: those are kept with reports.
pub(super) fn opening(passphrase: Option<String>) -> Option<Arc<dyn Passphrase>> {
    passphrase.filter(|text| !text.is_empty()).map(mementory_api::passphrase)
}

/// Every format, and what is done with it. Needs no vault.
#[tauri::command]
#[specta::specta]
pub async fn formats(app: AppHandle) -> Answer<Vec<FormatInfo>> {
    blocking(app, |_| Ok(files::formats())).await
}

/// What are these files? Needs no vault.
#[tauri::command]
#[specta::specta]
pub async fn detect(app: AppHandle, paths: Vec<String>, passphrase: Option<String>) -> Answer<Detections> {
    let paths: Vec<PathBuf> = paths.into_iter().map(PathBuf::from).collect();
    let opening = opening(passphrase);
    blocking(app, move |_| files::detect(&paths, opening.as_deref())).await
}

/// How large are these files? Nothing is opened. Needs no vault.
#[tauri::command]
#[specta::specta]
pub async fn path_info(app: AppHandle, paths: Vec<String>) -> Answer<Vec<PathInfo>> {
    blocking(app, move |_| Ok(files::path_info(&paths))).await
}

/// Is this file whole, who signed it, and does the vault know them?
#[tauri::command]
#[specta::specta]
pub async fn check_file(
    app: AppHandle,
    path: String,
    format: Option<String>,
    passphrase: Option<String>,
) -> Answer<FileCheck> {
    let opening = opening(passphrase);
    session(app, move |vault| vault.check_file(Path::new(&path), format.as_deref(), opening.as_deref(), &Job::silent()))
        .await
}

/// What an import would do; nothing is written.
#[tauri::command]
#[specta::specta]
pub async fn import_preview(
    app: AppHandle,
    job_id: String,
    request: ImportRequest,
    passphrase: Option<String>,
    on_progress: Channel<Progress>,
) -> Answer<ImportReport> {
    let opening = opening(passphrase);
    job(app, job_id, on_progress, move |vault, job| vault.import_with(&request, opening, true, job)).await
}

/// Import as one batch.
#[tauri::command]
#[specta::specta]
pub async fn import_run(
    app: AppHandle,
    job_id: String,
    request: ImportRequest,
    passphrase: Option<String>,
    on_progress: Channel<Progress>,
) -> Answer<ImportReport> {
    let opening = opening(passphrase);
    job(app, job_id, on_progress, move |vault, job| vault.import_with(&request, opening, false, job)).await
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

/// Imports that failed: where their files lay, and what was said at the time.
#[tauri::command]
#[specta::specta]
pub async fn failed_imports(app: AppHandle) -> Answer<FailedImports> {
    session(app, |vault| vault.failed_imports()).await
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
