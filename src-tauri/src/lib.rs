//! The window program (Tauri): one window, its commands, jobs and the automatic lock. All other logic is in
//! `mementory_api`.
//!
//! [`run`] opens the window. [`ipc`] lists the commands and generates their TypeScript.
mod agents;
mod autolock;
mod blocking;
mod clipboard;
mod commands;
mod desktop;
#[cfg(target_os = "linux")]
mod desktop_font;
mod interactive_guard;
pub mod ipc;
mod job_feedback;
mod jobs;
mod open_requests;
mod open_vault;
mod session_lock;
mod settings;
mod state;
mod wake_signal;
mod watching;
#[cfg(target_os = "linux")]
mod webkit_rendering;
mod window;
mod window_geometry;

use mementory_api::Job;
use open_requests::{OpenRequests, StartRequest, parse_arguments};
use std::process::ExitCode;
use std::sync::Arc;
use tauri::{AppHandle, Emitter, Manager, RunEvent};

/// Event sent when the vault locked automatically, with the reason.
const LOCKED_EVENT: &str = "locked";
/// Event sent after a call of a connected client.
const AGENTS_EVENT: &str = "agents";
/// Event sent when a file in a watched folder was detected or imported.
const WATCHED_EVENT: &str = "watched";
/// Event with the progress of an automatic import.
const WATCH_PROGRESS_EVENT: &str = "watch_progress";
/// Event sent when the program was started a second time and passed its files on to this window.
const OPEN_EVENT: &str = "open";
/// Event with the style of the desktop, sent when the style has changed.
const STYLE_EVENT: &str = "style";
/// Event with the steps that failed after the commit of a change.
const WARNINGS_EVENT: &str = "warnings";

/// Opens the window and runs until it is closed. Locks the vault before the process ends.
pub fn run() -> ExitCode {
    mementory_api::disable_core_dumps();
    let ipc = ipc::builder();
    let requests = OpenRequests::default();
    requests.add(parse_arguments(std::env::args_os(), &std::env::current_dir().unwrap_or_default()));
    let app = tauri::Builder::default()
        .manage(requests)
        .plugin(tauri_plugin_single_instance::init(on_second_start))
        .plugin(tauri_plugin_dialog::init())
        .plugin(tauri_plugin_opener::Builder::new().open_js_links_on_click(false).build())
        .invoke_handler(ipc.invoke_handler())
        .setup(|app| {
            let settings = settings::SettingsFile::load(&app.path().app_config_dir()?);
            let clock = Arc::new(autolock::SystemClock::new());
            let clipboard = Box::new(clipboard::SystemClipboard::default());
            app.manage(state::AppState::new(settings, clock, clipboard));
            // The window may already be closed when an event is sent, so errors of `emit` are ignored here and below.
            let handle = app.handle().clone();
            app.manage(desktop::Desktop::start(app.handle(), move |style| {
                let _ = handle.emit(STYLE_EVENT, style);
            })?);
            window::open(app.handle())?;
            let handle = app.handle().clone();
            std::thread::Builder::new().name("autolock".into()).spawn(move || {
                handle.state::<state::AppState>().watch_for_idleness(|reason| {
                    let _ = handle.emit(LOCKED_EVENT, reason);
                });
            })?;
            let handle = app.handle().clone();
            app.state::<state::AppState>().agents().on_call(move || {
                let _ = handle.emit(AGENTS_EVENT, ());
            });
            app.manage(session_lock::SessionWatcher::start(app.handle())?);
            let handle = app.handle().clone();
            std::thread::Builder::new()
                .name("clipboard".into())
                .spawn(move || handle.state::<state::AppState>().clipboard().watch())?;
            let handle = app.handle().clone();
            std::thread::Builder::new().name("watching".into()).spawn(move || {
                let new_job = || {
                    let window = handle.clone();
                    let job = Job::with_progress(Arc::new(move |progress| {
                        let _ = window.emit(WATCH_PROGRESS_EVENT, progress);
                    }));
                    blocking::pausing_for_commands(job, handle.clone())
                };
                watching::run(&handle.state::<state::AppState>(), new_job, || {
                    let _ = handle.emit(WATCHED_EVENT, ());
                });
            })?;
            Ok(())
        })
        .build(tauri::generate_context!());
    let Ok(app) = app else {
        return ExitCode::FAILURE;
    };
    app.run(|app, event| match event {
        RunEvent::Exit => app.state::<state::AppState>().shut_down(),
        // macOS sends the files of a double click as an event, even to a program that it has just started for them.
        #[cfg(target_os = "macos")]
        RunEvent::Opened { urls } => open(app, open_requests::parse_urls(urls)),
        _ => {}
    });
    ExitCode::SUCCESS
}

/// Opens the files that a second process was asked to open, and shows the window. The second process then ends.
fn on_second_start(app: &AppHandle, args: Vec<String>, folder: String) {
    open(app, parse_arguments(args.into_iter().map(Into::into), folder.as_ref()));
}

/// Adds files to those that the window has to open, and shows the window.
fn open(app: &AppHandle, requested: StartRequest) {
    app.state::<OpenRequests>().add(requested);
    // If the page is not loaded yet, it does not receive the event, but asks for the files when it starts.
    let _ = app.emit(OPEN_EVENT, ());
    window::show(app);
}
