//! Watched folders, and what was found in them.
use crate::blocking::{Answer, blocking, session};
use mementory_api::types::*;
use mementory_api::{ApiResult, Session};
use std::path::Path;
use tauri::AppHandle;

/// The watched folders, and what waits for an answer.
#[tauri::command]
#[specta::specta]
pub async fn watched(app: AppHandle) -> Answer<Watched> {
    session(app, Session::watched).await
}

/// Watch a folder and ask first. What is in it now is not offered.
#[tauri::command]
#[specta::specta]
pub async fn watch_folder(app: AppHandle, path: String) -> Answer<Watched> {
    change(app, move |vault| vault.watch_folder(Path::new(&path))).await
}

/// Watch a folder no longer. Nothing in it is touched.
#[tauri::command]
#[specta::specta]
pub async fn unwatch_folder(app: AppHandle, folder: String) -> Answer<Watched> {
    change(app, move |vault| vault.unwatch_folder(&folder)).await
}

/// Do something else with what lands in a folder.
#[tauri::command]
#[specta::specta]
pub async fn set_watching(app: AppHandle, folder: String, mode: WatchMode) -> Answer<Watched> {
    change(app, move |vault| vault.set_watching(&folder, mode)).await
}

/// Do not import a find. It is not offered again.
#[tauri::command]
#[specta::specta]
pub async fn dismiss_find(app: AppHandle, find: String) -> Answer<Watched> {
    change(app, move |vault| vault.dismiss_find(&find)).await
}

/// Something else is to be watched from now on.
async fn change(app: AppHandle, work: impl FnOnce(&Session) -> ApiResult<Watched> + Send + 'static) -> Answer<Watched> {
    blocking(app, move |state| {
        let watched = state.with_session(work)?;
        state.bell().ring();
        Ok(watched)
    })
    .await
}
