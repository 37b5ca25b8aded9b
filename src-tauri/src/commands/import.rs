//! Detection, preview, import and undo.
use crate::blocking::{CommandResult, run_blocking, run_in_session, run_job, run_until_locked, send_warnings};
use crate::job_feedback::JobKind;
use mementory_api::types::*;
use mementory_api::{Job, Passphrase, files};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tauri::AppHandle;
use tauri::ipc::Channel;

/// The passphrase of a file (not of a vault). It must not be part of a request, because requests are stored with
/// reports.
pub(super) fn file_passphrase(passphrase: Option<String>) -> Option<Arc<dyn Passphrase>> {
    passphrase.filter(|text| !text.is_empty()).map(mementory_api::passphrase)
}

/// Every format with its capabilities. Needs no vault.
#[tauri::command]
#[specta::specta]
pub async fn formats(app: AppHandle) -> CommandResult<Vec<FormatInfo>> {
    run_blocking(app, |_| Ok(files::formats())).await
}

/// Detect the formats of files. Needs no vault.
#[tauri::command]
#[specta::specta]
pub async fn detect(app: AppHandle, paths: Vec<String>, passphrase: Option<String>) -> CommandResult<Detections> {
    let paths: Vec<PathBuf> = paths.into_iter().map(PathBuf::from).collect();
    let passphrase = file_passphrase(passphrase);
    run_blocking(app, move |_| files::detect(&paths, passphrase.as_deref())).await
}

/// Kind and size of files. Nothing is opened. Needs no vault.
#[tauri::command]
#[specta::specta]
pub async fn path_info(app: AppHandle, paths: Vec<String>) -> CommandResult<Vec<PathInfo>> {
    run_blocking(app, move |_| Ok(files::path_info(&paths))).await
}

/// Validate a file, and say who signed it and whether the vault knows the signer.
#[tauri::command]
#[specta::specta]
pub async fn check_file(
    app: AppHandle,
    path: String,
    format: Option<String>,
    passphrase: Option<String>,
) -> CommandResult<FileCheck> {
    let passphrase = file_passphrase(passphrase);
    run_in_session(app, move |vault| {
        vault.keys().check_file(Path::new(&path), format.as_deref(), passphrase.as_deref(), &Job::silent())
    })
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
) -> CommandResult<ImportReport> {
    let passphrase = file_passphrase(passphrase);
    run_job(app, JobKind::Other, job_id, on_progress, move |vault, job| vault.imports().plan(&request, passphrase, job))
        .await
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
) -> CommandResult<ImportReport> {
    let passphrase = file_passphrase(passphrase);
    run_job(app, JobKind::Import, job_id, on_progress, move |vault, job| {
        vault.imports().import_with(&request, passphrase, false, job)
    })
    .await
}

/// Cancel a job. It rolls back and fails with `cancelled`.
#[tauri::command]
#[specta::specta]
pub async fn cancel_job(app: AppHandle, job_id: String) -> CommandResult<()> {
    run_blocking(app, move |state| {
        state.jobs().cancel(&job_id);
        Ok(())
    })
    .await
}

/// The batches, newest first.
#[tauri::command]
#[specta::specta]
pub async fn imports(app: AppHandle) -> CommandResult<Batches> {
    run_in_session(app, |vault| vault.imports().list()).await
}

/// Failed imports: the paths of their files, and the errors.
#[tauri::command]
#[specta::specta]
pub async fn failed_imports(app: AppHandle) -> CommandResult<FailedImports> {
    run_in_session(app, |vault| vault.imports().failed()).await
}

/// The stored report of a batch.
#[tauri::command]
#[specta::specta]
pub async fn import_report(app: AppHandle, batch: String) -> CommandResult<ImportReport> {
    run_in_session(app, move |vault| vault.imports().report(&batch)).await
}

/// Undo a whole import.
#[tauri::command]
#[specta::specta]
pub async fn undo_import(app: AppHandle, batch: String) -> CommandResult<Undone> {
    let window = app.clone();
    let undo_result = run_until_locked(app, move |vault, job| vault.imports().undo(&batch, job)).await;
    undo_result.map(|undone| send_warnings(&window, undone))
}
