//! Watched folders, and the files detected in them.
use crate::blocking::{CommandResult, run_blocking, run_in_session};
use mementory_api::types::*;
use mementory_api::{ApiResult, Session};
use std::path::Path;
use tauri::AppHandle;

/// The watched folders and the files detected in them.
#[tauri::command]
#[specta::specta]
pub async fn watched(app: AppHandle) -> CommandResult<Watched> {
    run_in_session(app, |session| session.watching().list()).await
}

/// Watch a folder and ask before importing. Files that are in it now are not offered.
#[tauri::command]
#[specta::specta]
pub async fn watch_folder(app: AppHandle, path: String) -> CommandResult<Watched> {
    change(app, move |vault| vault.watching().add(Path::new(&path))).await
}

/// Stop watching a folder. Its files are left as they are.
#[tauri::command]
#[specta::specta]
pub async fn unwatch_folder(app: AppHandle, folder: String) -> CommandResult<Watched> {
    change(app, move |vault| vault.watching().remove(&folder)).await
}

/// Change what is done with new files in a folder.
#[tauri::command]
#[specta::specta]
pub async fn set_watching(app: AppHandle, folder: String, mode: WatchMode) -> CommandResult<Watched> {
    change(app, move |vault| vault.watching().set_mode(&folder, mode)).await
}

/// Decline to import a detected file. It is not offered again.
#[tauri::command]
#[specta::specta]
pub async fn dismiss_detected_file(app: AppHandle, id: String) -> CommandResult<Watched> {
    change(app, move |vault| vault.watching().dismiss(&id)).await
}

/// Changes the watched folders or their mode, then scans immediately.
async fn change(
    app: AppHandle,
    work: impl FnOnce(&Session) -> ApiResult<Watched> + Send + 'static,
) -> CommandResult<Watched> {
    run_blocking(app, move |state| {
        let watched = state.with_session(work)?;
        state.wake_signal().notify();
        Ok(watched)
    })
    .await
}
