//! Commands work on threads that may block, so that the window never waits for the disk or for a key.
use crate::state::AppState;
use mementory_api::types::{ErrorBody, Progress};
use mementory_api::{ApiError, ApiResult, Job, Session};
use std::sync::{Arc, atomic::Ordering};
use tauri::ipc::Channel;
use tauri::{AppHandle, Manager};

/// What every command answers.
pub type Answer<T> = Result<T, ErrorBody>;

/// Run `work` on a blocking thread. A panic in it becomes the error `internal`.
pub async fn blocking<T: Send + 'static>(
    app: AppHandle,
    work: impl FnOnce(&AppState) -> ApiResult<T> + Send + 'static,
) -> Answer<T> {
    tauri::async_runtime::spawn_blocking(move || work(&app.state::<AppState>()))
        .await
        .unwrap_or_else(|_| {
            Err(ApiError::new("internal", 1, "Something broke inside Mementory. Your vault is kept as it was."))
        })
        .map_err(|error| error.body())
}

/// Run `work` with the open vault.
pub async fn session<T: Send + 'static>(
    app: AppHandle,
    work: impl FnOnce(&Session) -> ApiResult<T> + Send + 'static,
) -> Answer<T> {
    blocking(app, |state| {
        let _question = state.attention().question();
        state.with_session(work)
    })
    .await
}

/// Run `work` with the open vault as the job `id`: progress goes out through the channel, `cancel_job` stops it.
pub async fn job<T: Send + 'static>(
    app: AppHandle,
    id: String,
    on_progress: Channel<Progress>,
    work: impl FnOnce(&Session, &Job) -> ApiResult<T> + Send + 'static,
) -> Answer<T> {
    blocking(app, move |state| {
        let job = heard(on_progress);
        state.with_job(&id, &job, |session| work(session, &job))
    })
    .await
}

/// The same for work that is in no hurry: it goes on while nobody waits for the window.
pub async fn unhurried_job<T: Send + 'static>(
    app: AppHandle,
    id: String,
    on_progress: Channel<Progress>,
    work: impl FnOnce(&Session, &Job) -> ApiResult<T> + Send + 'static,
) -> Answer<T> {
    let window = app.clone();
    blocking(app, move |state| {
        let job = giving_way(heard(on_progress), window);
        state.with_job(&id, &job, |session| work(session, &job))
    })
    .await
}

/// The same job, going on while nobody waits for the window.
pub fn giving_way(job: Job, app: AppHandle) -> Job {
    job.unhurried(Arc::new(move |cancelled| {
        app.state::<AppState>().attention().give_way(|| !cancelled.load(Ordering::Relaxed));
    }))
}

/// A job whose progress goes out through the channel.
pub fn heard(on_progress: Channel<Progress>) -> Job {
    // A window that no longer listens is no reason to stop.
    Job::with_progress(Arc::new(move |progress| drop(on_progress.send(progress))))
}
