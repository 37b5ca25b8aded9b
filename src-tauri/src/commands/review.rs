//! Commands for sensitive values, duplicates, topics, people and contradictions. No answer contains a sensitive value.
use crate::blocking::{CommandResult, run_background_job, run_change, run_change_job, run_in_session, run_job};
use crate::job_feedback::JobKind;
use mementory_api::types::*;
use tauri::AppHandle;
use tauri::ipc::Channel;

/// Scan records for sensitive values: all records, or only the new and changed ones.
#[tauri::command]
#[specta::specta]
pub async fn scan_records(
    app: AppHandle,
    job_id: String,
    rescan: bool,
    on_progress: Channel<Progress>,
) -> CommandResult<ScannedRecords> {
    run_background_job(app, job_id, on_progress, move |vault, job| vault.sensitive().scan_pending(rescan, job)).await
}

/// A page of the review queue.
#[tauri::command]
#[specta::specta]
pub async fn sensitive_queue(app: AppHandle, request: SensitiveRequest) -> CommandResult<SensitiveQueue> {
    run_in_session(app, move |vault| vault.sensitive().queue(&request)).await
}

/// One value and the records that contain it.
#[tauri::command]
#[specta::specta]
pub async fn sensitive_value(app: AppHandle, value: String) -> CommandResult<SensitiveDetail> {
    run_in_session(app, move |vault| vault.sensitive().value(&value)).await
}

/// Redact values for good.
#[tauri::command]
#[specta::specta]
pub async fn redact_values(
    app: AppHandle,
    job_id: String,
    request: RedactValuesRequest,
    on_progress: Channel<Progress>,
) -> CommandResult<RedactedValues> {
    run_change_job(app, JobKind::Redaction, job_id, on_progress, move |vault, job| {
        vault.sensitive().redact(&request, job)
    })
    .await
}

/// Ignore these values from now on, or stop ignoring them.
#[tauri::command]
#[specta::specta]
pub async fn ignore_values(app: AppHandle, values: Vec<String>, ignored: bool) -> CommandResult<()> {
    run_in_session(app, move |vault| vault.sensitive().ignore(&values, ignored)).await
}

/// Groups of memories with nearly the same text.
#[tauri::command]
#[specta::specta]
pub async fn duplicates(app: AppHandle, job_id: String, on_progress: Channel<Progress>) -> CommandResult<Duplicates> {
    run_job(app, JobKind::Other, job_id, on_progress, move |vault, job| vault.duplicates().groups(job)).await
}

/// Keep these memories as they are, and do not show them as a group again.
#[tauri::command]
#[specta::specta]
pub async fn keep_apart(app: AppHandle, ids: Vec<String>) -> CommandResult<Ids> {
    run_in_session(app, move |vault| vault.duplicates().keep_apart(&ids)).await
}

/// Keep one of several memories and move the other memories to the Trash.
#[tauri::command]
#[specta::specta]
pub async fn merge(app: AppHandle, keep: String, others: Vec<String>) -> CommandResult<Ids> {
    run_change(app, move |vault| vault.duplicates().merge(&keep, &others)).await
}

/// Pairs and groups of memories that cannot all be true now, and plans whose date has passed.
#[tauri::command]
#[specta::specta]
pub async fn contradictions(
    app: AppHandle,
    job_id: String,
    on_progress: Channel<Progress>,
) -> CommandResult<ContradictionList> {
    run_background_job(app, job_id, on_progress, move |vault, job| vault.insights().contradictions(job)).await
}

/// Memories by topic, the largest topic first.
#[tauri::command]
#[specta::specta]
pub async fn topics(app: AppHandle, job_id: String, on_progress: Channel<Progress>) -> CommandResult<Topics> {
    run_background_job(app, job_id, on_progress, move |vault, job| vault.insights().topics(job)).await
}

/// Everyone whom the memories mention.
#[tauri::command]
#[specta::specta]
pub async fn people(app: AppHandle, job_id: String, on_progress: Channel<Progress>) -> CommandResult<People> {
    run_background_job(app, job_id, on_progress, move |vault, job| vault.insights().people(job)).await
}

/// Memories by date, the oldest first.
#[tauri::command]
#[specta::specta]
pub async fn timeline(app: AppHandle, ids: Vec<String>) -> CommandResult<Timeline> {
    run_in_session(app, move |vault| vault.insights().timeline(&ids)).await
}

/// Store that both memories of a pair are true, or remove this decision.
#[tauri::command]
#[specta::specta]
pub async fn keep_both(app: AppHandle, a: String, b: String, both: bool) -> CommandResult<Ids> {
    run_in_session(app, move |vault| vault.insights().keep_both(&a, &b, both)).await
}

/// Store which of several memories is right, and move the other memories to the Trash.
#[tauri::command]
#[specta::specta]
pub async fn resolve_contradiction(app: AppHandle, request: ResolveRequest) -> CommandResult<Resolved> {
    run_change(app, move |vault| vault.insights().resolve(&request)).await
}

/// Store the subject that the person chose for memories, or return to the suggested subject.
#[tauri::command]
#[specta::specta]
pub async fn set_about(app: AppHandle, request: AboutRequest) -> CommandResult<Ids> {
    run_in_session(app, move |vault| vault.changes().set_about(&request)).await
}

/// The messages that a memory comes from, and who said it.
#[tauri::command]
#[specta::specta]
pub async fn memory_evidence(app: AppHandle, id: String) -> CommandResult<MemoryEvidence> {
    run_in_session(app, move |vault| vault.origins().of(&id)).await
}

/// The next memory to review, with its evidence.
#[tauri::command]
#[specta::specta]
pub async fn review_next(app: AppHandle, request: ReviewRequest) -> CommandResult<ReviewState> {
    run_in_session(app, move |vault| vault.review().next(&request)).await
}

/// Store the person's review answers, or remove them.
#[tauri::command]
#[specta::specta]
pub async fn review_answer(app: AppHandle, answers: Vec<ReviewAnswer>) -> CommandResult<Ids> {
    run_in_session(app, move |vault| vault.review().answer(&answers)).await
}

/// The memories to delete in an assistant.
#[tauri::command]
#[specta::specta]
pub async fn todo(app: AppHandle, assistant: Option<String>, language: String) -> CommandResult<Todo> {
    run_in_session(app, move |vault| vault.review().todo(assistant.as_deref(), Some(&language))).await
}

/// Write the printable report to a new file.
#[tauri::command]
#[specta::specta]
pub async fn write_report(
    app: AppHandle,
    job_id: String,
    out: String,
    request: ReportRequest,
    on_progress: Channel<Progress>,
) -> CommandResult<WrittenReport> {
    run_job(app, JobKind::Other, job_id, on_progress, move |vault, job| {
        vault.review().report(std::path::Path::new(&out), &request, job)
    })
    .await
}
