//! Runs commands on threads that may block, so that the window never waits for the disk or for key derivation.
use crate::job_feedback::{JobFeedback, JobKind};
use crate::{WARNINGS_EVENT, state::AppState};
use mementory_api::types::{ErrorBody, Progress};
use mementory_api::{ApiError, ApiResult, Applied, Job, Session, warnings_of};
use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};
use tauri::ipc::Channel;
use tauri::{AppHandle, Emitter, Manager};

/// Result of every command of the window.
pub type CommandResult<T> = Result<T, ErrorBody>;

/// Runs `work` on a blocking thread. A panic in it becomes the error `internal`.
pub async fn run_blocking<T: Send + 'static>(
    app: AppHandle,
    work: impl FnOnce(&AppState) -> ApiResult<T> + Send + 'static,
) -> CommandResult<T> {
    tauri::async_runtime::spawn_blocking(move || work(&app.state::<AppState>()))
        .await
        .unwrap_or_else(|_| {
            Err(ApiError::internal(
                "Something unexpected happened. Restart Mementory, and check the result before you try again.",
            ))
        })
        .map_err(|error| error.body())
}

/// Runs `work` with the open vault. Background work pauses meanwhile.
pub async fn run_in_session<T: Send + 'static>(
    app: AppHandle,
    work: impl FnOnce(&Session) -> ApiResult<T> + Send + 'static,
) -> CommandResult<T> {
    run_blocking(app, |state| {
        let _guard = state.interactive().begin();
        state.with_session(work)
    })
    .await
}

/// Runs `work` with the open vault as the job `id`. Progress is sent through the channel and shown on the launcher;
/// `cancel_job` stops the job.
pub async fn run_job<T: Send + 'static>(
    app: AppHandle,
    kind: JobKind,
    id: String,
    on_progress: Channel<Progress>,
    work: impl FnOnce(&Session, &Job) -> ApiResult<T> + Send + 'static,
) -> CommandResult<T> {
    let window = app.clone();
    run_blocking(app, move |state| {
        let feedback = JobFeedback::start(window, kind);
        let show_progress = feedback.progress();
        let job = Job::with_progress(Arc::new(move |progress: Progress| {
            show_progress(&progress);
            // The window may already be closed, which does not stop the job, so the error is ignored.
            let _ = on_progress.send(progress);
        }));
        let result = state.with_job(&id, &job, |session| work(session, &job));
        feedback.finish(&result);
        result
    })
    .await
}

/// Runs a change with the open vault, like [`run_in_session`]. Warns the window about steps that failed after the
/// commit.
pub async fn run_change<T: Send + 'static>(
    app: AppHandle,
    work: impl FnOnce(&Session) -> ApiResult<Applied<T>> + Send + 'static,
) -> CommandResult<T> {
    let window = app.clone();
    run_in_session(app, work).await.map(|applied| send_warnings(&window, applied))
}

/// Runs a change as the job `id`, like [`run_job`]. Warns the window about steps that failed after the commit.
pub async fn run_change_job<T: Send + 'static>(
    app: AppHandle,
    kind: JobKind,
    id: String,
    on_progress: Channel<Progress>,
    work: impl FnOnce(&Session, &Job) -> ApiResult<Applied<T>> + Send + 'static,
) -> CommandResult<T> {
    let window = app.clone();
    run_job(app, kind, id, on_progress, work).await.map(|applied| send_warnings(&window, applied))
}

/// Sends the warnings of a change to the window, and returns the value of the change.
pub fn send_warnings<T>(app: &AppHandle, applied: Applied<T>) -> T {
    let warnings = warnings_of(&applied);
    if !warnings.is_empty() {
        // The window may already be closed, so the error is ignored.
        let _ = app.emit(WARNINGS_EVENT, warnings);
    }
    applied.value
}

/// Like [`run_in_session`], but locking the vault cancels the work, which then rolls back.
pub async fn run_until_locked<T: Send + 'static>(
    app: AppHandle,
    work: impl FnOnce(&Session, &Job) -> ApiResult<T> + Send + 'static,
) -> CommandResult<T> {
    static STARTED_JOBS: AtomicU64 = AtomicU64::new(0);
    run_blocking(app, move |state| {
        let _guard = state.interactive().begin();
        let (id, job) = (format!("own-{}", STARTED_JOBS.fetch_add(1, Ordering::Relaxed)), Job::silent());
        state.with_job(&id, &job, |session| work(session, &job))
    })
    .await
}

/// Like [`run_job`], for background work, which pauses while the person waits for another command.
pub async fn run_background_job<T: Send + 'static>(
    app: AppHandle,
    id: String,
    on_progress: Channel<Progress>,
    work: impl FnOnce(&Session, &Job) -> ApiResult<T> + Send + 'static,
) -> CommandResult<T> {
    let window = app.clone();
    run_blocking(app, move |state| {
        let job = pausing_for_commands(job_reporting_to(on_progress), window);
        state.with_job(&id, &job, |session| work(session, &job))
    })
    .await
}

/// Makes a job pause while the person waits for a command.
pub fn pausing_for_commands(job: Job, app: AppHandle) -> Job {
    job.in_background(Arc::new(move |cancelled| {
        app.state::<AppState>().interactive().yield_to_interactive(|| !cancelled.load(Ordering::Relaxed));
    }))
}

/// A job that sends its progress through the channel.
pub fn job_reporting_to(on_progress: Channel<Progress>) -> Job {
    // The window may already be closed, which does not stop the job, so the error is ignored.
    Job::with_progress(Arc::new(move |progress| drop(on_progress.send(progress))))
}
