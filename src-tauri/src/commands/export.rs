//! Leave with an open file.
use crate::blocking::{Answer, job};
use keepsake_api::types::*;
use tauri::AppHandle;
use tauri::ipc::Channel;

/// What an export would hold and lose; nothing is written.
#[tauri::command]
#[specta::specta]
pub async fn export_preview(
    app: AppHandle,
    job_id: String,
    request: ExportRequest,
    on_progress: Channel<Progress>,
) -> Answer<Exported> {
    job(app, job_id, on_progress, move |vault, job| vault.export_preview(&request, job)).await
}

/// Write, read back, validate.
#[tauri::command]
#[specta::specta]
pub async fn export_run(
    app: AppHandle,
    job_id: String,
    request: ExportRequest,
    on_progress: Channel<Progress>,
) -> Answer<Exported> {
    job(app, job_id, on_progress, move |vault, job| vault.export(&request, job)).await
}
