//! Sensitive values and duplicates: look, decide. No answer holds a value.
use crate::blocking::{Answer, job, session, unhurried_job};
use mementory_api::types::*;
use tauri::AppHandle;
use tauri::ipc::Channel;

/// Look through what is new or changed; with `anew` through everything.
#[tauri::command]
#[specta::specta]
pub async fn look(app: AppHandle, job_id: String, anew: bool, on_progress: Channel<Progress>) -> Answer<Looked> {
    unhurried_job(app, job_id, on_progress, move |vault, job| vault.look(anew, job)).await
}

/// A page of the values that were found.
#[tauri::command]
#[specta::specta]
pub async fn sensitive_queue(app: AppHandle, request: SensitiveRequest) -> Answer<SensitiveQueue> {
    session(app, move |vault| vault.sensitive_queue(&request)).await
}

/// One value and where it stands.
#[tauri::command]
#[specta::specta]
pub async fn sensitive_value(app: AppHandle, value: String) -> Answer<SensitiveDetail> {
    session(app, move |vault| vault.sensitive_value(&value)).await
}

/// Redact values for good.
#[tauri::command]
#[specta::specta]
pub async fn redact_values(
    app: AppHandle,
    job_id: String,
    request: RedactValuesRequest,
    on_progress: Channel<Progress>,
) -> Answer<RedactedValues> {
    job(app, job_id, on_progress, move |vault, job| vault.redact_values(&request, job)).await
}

/// Never show these values again, or do again.
#[tauri::command]
#[specta::specta]
pub async fn ignore_values(app: AppHandle, values: Vec<String>, ignored: bool) -> Answer<()> {
    session(app, move |vault| vault.ignore_values(&values, ignored)).await
}

/// Memories that say much the same, in groups.
#[tauri::command]
#[specta::specta]
pub async fn duplicates(app: AppHandle, job_id: String, on_progress: Channel<Progress>) -> Answer<Duplicates> {
    job(app, job_id, on_progress, move |vault, job| vault.duplicates(job)).await
}

/// Leave these memories as they are.
#[tauri::command]
#[specta::specta]
pub async fn keep_apart(app: AppHandle, ids: Vec<String>) -> Answer<Ids> {
    session(app, move |vault| vault.keep_apart(&ids)).await
}

/// Keep one of several; the others go to the Trash.
#[tauri::command]
#[specta::specta]
pub async fn merge(app: AppHandle, keep: String, others: Vec<String>) -> Answer<Ids> {
    session(app, move |vault| vault.merge(&keep, &others)).await
}
