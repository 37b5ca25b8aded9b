//! Connected clients: the AI clients on this computer, their grants, their suggestions and their calls.
use crate::blocking::{CommandResult, run_blocking, run_in_session, send_warnings};
use crate::state::AppState;
use mementory_api::types::*;
use mementory_api::{ApiError, ApiResult, Connections};
use std::path::{Path, PathBuf};
use tauri::AppHandle;

/// The command line program, which clients start.
const PROGRAM: &str = "mementory";
/// Name of the program in the clients' lists of servers.
const SERVER_NAME: &str = "mementory";
/// Largest number of client calls in the list.
const MAX_CALLS: u32 = 500;

/// The AI clients of this computer, the grants and whether clients are answered.
#[tauri::command]
#[specta::specta]
pub async fn agents(app: AppHandle) -> CommandResult<AgentsOverview> {
    run_blocking(app, overview).await
}

/// The change of a client's configuration that connecting it would make.
#[tauri::command]
#[specta::specta]
pub async fn connect_preview(app: AppHandle, client: String) -> CommandResult<ConnectionChange> {
    run_in_session(app, move |session| connections()?.preview_connect(Some(session), &client)).await
}

/// Connect a client: make its grant and change its configuration.
#[tauri::command]
#[specta::specta]
pub async fn connect_client(app: AppHandle, client: String, request: GrantRequest) -> CommandResult<ConnectionChange> {
    change(app, move |state| state.with_session(|session| connections()?.connect(session, &client, &request))).await
}

/// The change of a client's configuration that disconnecting it would make.
#[tauri::command]
#[specta::specta]
pub async fn disconnect_preview(app: AppHandle, client: String) -> CommandResult<ConnectionChange> {
    run_in_session(app, move |_| connections()?.preview_disconnect(&client)).await
}

/// Disconnect a client: end its grant and revert the change to its configuration.
#[tauri::command]
#[specta::specta]
pub async fn disconnect_client(app: AppHandle, client: String) -> CommandResult<ConnectionChange> {
    let window = app.clone();
    change(app, move |state| state.with_session(|session| connections()?.disconnect(Some(session), &client)))
        .await
        .map(|applied| send_warnings(&window, applied))
}

/// End a grant at once. What the client has read is not taken back.
#[tauri::command]
#[specta::specta]
pub async fn stop_client(app: AppHandle, grant: String) -> CommandResult<AgentsOverview> {
    change(app, move |state| {
        state.with_session(|session| session.agents().revoke_grant(&grant))?;
        overview(state)
    })
    .await
}

/// Set whether connected clients are answered while the window runs.
#[tauri::command]
#[specta::specta]
pub async fn set_answer_clients(app: AppHandle, on: bool) -> CommandResult<AgentsOverview> {
    run_blocking(app, move |state| {
        state.set_answer_clients(on);
        overview(state)
    })
    .await
}

/// Record that the person has seen the notices of the first reads through these grants.
#[tauri::command]
#[specta::specta]
pub async fn first_reads_seen(app: AppHandle, grants: Vec<String>) -> CommandResult<()> {
    run_in_session(app, move |session| session.agents().first_reads_seen(&grants)).await
}

/// The calls of clients, newest first: the calls through `grant` or, without a grant, all calls.
#[tauri::command]
#[specta::specta]
pub async fn client_calls(app: AppHandle, grant: Option<String>) -> CommandResult<ClientCallList> {
    run_in_session(app, move |session| session.agents().calls(grant.as_deref(), MAX_CALLS)).await
}

/// The suggestions that await a decision.
#[tauri::command]
#[specta::specta]
pub async fn suggestions(app: AppHandle) -> CommandResult<SuggestionList> {
    run_in_session(app, |session| session.agents().suggestions()).await
}

/// Accept and refuse suggestions.
#[tauri::command]
#[specta::specta]
pub async fn decide_suggestions(app: AppHandle, decision: SuggestionDecision) -> CommandResult<ClosedSuggestions> {
    crate::blocking::run_change(app, move |session| session.agents().decide(&decision)).await
}

/// Runs a change of grants. Afterwards starts the server for clients if the settings allow it, a grant has not ended,
/// and the server is not running yet.
async fn change<T: Send + 'static>(
    app: AppHandle,
    work: impl FnOnce(&AppState) -> ApiResult<T> + Send + 'static,
) -> CommandResult<T> {
    run_blocking(app, move |state| {
        let _guard = state.interactive().begin();
        let result = work(state);
        // The server is updated after an error too, because a failed connection may have created a grant and ended it.
        state.update_agents();
        result
    })
    .await
}

fn overview(state: &AppState) -> ApiResult<AgentsOverview> {
    let enabled = state.settings().get().answer_clients;
    let (clients, problem) = match connections() {
        Ok(connections) => (connections.list().clients, None),
        Err(error) => (Vec::new(), Some(error.body())),
    };
    state.with_session(|session| {
        Ok(AgentsOverview {
            answering: state.agents().state(enabled),
            clients,
            grants: session.agents().grants()?.grants,
            programs: state.agents().programs(),
            suggestions: u32::try_from(session.agents().suggestions()?.items.len()).unwrap_or(u32::MAX),
            problem,
        })
    })
}

/// The clients on this computer. They start the command line program that was installed together with the window.
fn connections() -> ApiResult<Connections> {
    let program = program().ok_or_else(|| {
        let message = "The command line program `mementory`, which clients start, was not found beside this window or on the search path. Install it and try again.";
        ApiError::new("program_missing", 7, message)
    })?;
    Connections::of_this_computer(&program, SERVER_NAME)
}

fn program() -> Option<PathBuf> {
    let name = format!("{PROGRAM}{}", std::env::consts::EXE_SUFFIX);
    let program_folder = mementory_api::current_program().ok().and_then(|own| own.parent().map(Path::to_owned));
    let on_path = std::env::var_os("PATH").map(|path| std::env::split_paths(&path).collect()).unwrap_or_default();
    let folders = program_folder.into_iter().chain::<Vec<PathBuf>>(on_path);
    folders.map(|folder| folder.join(&name)).find(|path| path.is_absolute() && path.is_file())
}
