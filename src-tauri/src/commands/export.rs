//! Exports and Evidence Packs.
use super::import::file_passphrase;
use crate::blocking::{CommandResult, run_change, run_change_job, run_in_session, run_job};
use crate::job_feedback::JobKind;
use mementory_api::types::*;
use mementory_api::{ExportOptions, passphrase as typed_passphrase};
use std::path::Path;
use tauri::AppHandle;
use tauri::ipc::Channel;

/// What an export would contain and lose; nothing is written. An encrypted export may contain secrets, so it can lose
/// less.
#[tauri::command]
#[specta::specta]
pub async fn export_preview(
    app: AppHandle,
    job_id: String,
    request: ExportRequest,
    encrypt: bool,
    on_progress: Channel<Progress>,
) -> CommandResult<Exported> {
    // An empty passphrase is enough, because the preview only depends on whether there is a passphrase.
    let options =
        ExportOptions { passphrase: encrypt.then(|| typed_passphrase(String::new())), ..ExportOptions::default() };
    run_job(app, JobKind::Other, job_id, on_progress, move |vault, job| {
        vault.exports().preview_with(&request, &options, job)
    })
    .await
}

/// The text of an export for the clipboard; no file is written.
#[tauri::command]
#[specta::specta]
pub async fn export_text(
    app: AppHandle,
    job_id: String,
    request: ExportRequest,
    on_progress: Channel<Progress>,
) -> CommandResult<String> {
    run_job(app, JobKind::Other, job_id, on_progress, move |vault, job| vault.exports().text(&request, job)).await
}

/// Record in the audit log that the last exported text was copied.
#[tauri::command]
#[specta::specta]
pub async fn record_copied_text(app: AppHandle) -> CommandResult<()> {
    run_in_session(app, |vault| vault.exports().record_copied_text()).await
}

/// Write an Evidence Pack and check it.
#[tauri::command]
#[specta::specta]
pub async fn evidence(
    app: AppHandle,
    job_id: String,
    out: String,
    request: EvidencePackRequest,
    on_progress: Channel<Progress>,
) -> CommandResult<Evidence> {
    run_change_job(app, JobKind::Other, job_id, on_progress, move |vault, job| {
        vault.evidence().write(Path::new(&out), &request, job)
    })
    .await
}

/// Write an export, read it back and validate it; encrypted if a passphrase is given.
#[tauri::command]
#[specta::specta]
pub async fn export_run(
    app: AppHandle,
    job_id: String,
    request: ExportRequest,
    passphrase: Option<String>,
    on_progress: Channel<Progress>,
) -> CommandResult<Exported> {
    let options = ExportOptions { passphrase: file_passphrase(passphrase), ..ExportOptions::default() };
    run_change_job(app, JobKind::Export, job_id, on_progress, move |vault, job| {
        vault.exports().export_with(&request, &options, job)
    })
    .await
}

/// Delete the export that was just written and did not pass its check.
#[tauri::command]
#[specta::specta]
pub async fn remove_export(app: AppHandle, path: String) -> CommandResult<()> {
    run_change(app, move |vault| vault.exports().remove(&path)).await
}
