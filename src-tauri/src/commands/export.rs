//! Leave with an open file.
use super::import::opening;
use crate::blocking::{Answer, job, session};
use mementory_api::types::*;
use mementory_api::{ExportMeans, passphrase as typed};
use std::path::Path;
use tauri::AppHandle;
use tauri::ipc::Channel;

/// What an export would hold and lose; nothing is written. An encrypted one can lose less: secrets travel in it.
#[tauri::command]
#[specta::specta]
pub async fn export_preview(
    app: AppHandle,
    job_id: String,
    request: ExportRequest,
    encrypt: bool,
    on_progress: Channel<Progress>,
) -> Answer<Exported> {
    // Whichever passphrase it will be: what goes in is the same.
    let means = ExportMeans { passphrase: encrypt.then(|| typed(String::new())), ..ExportMeans::default() };
    job(app, job_id, on_progress, move |vault, job| vault.export_preview_with(&request, &means, job)).await
}

/// The text of an export, to paste somewhere else; nothing is written.
#[tauri::command]
#[specta::specta]
pub async fn export_text(
    app: AppHandle,
    job_id: String,
    request: ExportRequest,
    on_progress: Channel<Progress>,
) -> Answer<String> {
    job(app, job_id, on_progress, move |vault, job| vault.export_text(&request, job)).await
}

/// Tell the log that the text which was made last was taken along.
#[tauri::command]
#[specta::specta]
pub async fn text_taken(app: AppHandle) -> Answer<()> {
    session(app, |vault| vault.text_taken()).await
}

/// Write an Evidence Pack and check it.
#[tauri::command]
#[specta::specta]
pub async fn evidence(
    app: AppHandle,
    job_id: String,
    out: String,
    request: EvidenceRequest,
    on_progress: Channel<Progress>,
) -> Answer<Evidence> {
    job(app, job_id, on_progress, move |vault, job| vault.evidence(Path::new(&out), &request, job)).await
}

/// Write, read back, validate; encrypted with a passphrase of its own if there is one.
#[tauri::command]
#[specta::specta]
pub async fn export_run(
    app: AppHandle,
    job_id: String,
    request: ExportRequest,
    passphrase: Option<String>,
    on_progress: Channel<Progress>,
) -> Answer<Exported> {
    let means = ExportMeans { passphrase: opening(passphrase), ..ExportMeans::default() };
    job(app, job_id, on_progress, move |vault, job| vault.export_with(&request, &means, job)).await
}

/// Take away the export that was just written and did not pass its check.
#[tauri::command]
#[specta::specta]
pub async fn remove_export(app: AppHandle, path: String) -> Answer<()> {
    session(app, move |vault| vault.remove_export(&path)).await
}
