//! Shows progress and notifications outside the window, and reads how the desktop wants the program to look. On Linux,
//! all of this uses D-Bus. On other systems, only the progress is shown, on the window's button.
#[cfg(target_os = "linux")]
mod dbus;
mod launcher;
#[cfg(target_os = "linux")]
mod portal;
#[cfg(all(test, target_os = "linux"))]
pub(crate) mod private_bus;
mod style;

use launcher::LauncherProgress;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
pub use style::SystemStyle;
use tauri::AppHandle;

/// The connection to the desktop.
pub struct Desktop {
    #[cfg(target_os = "linux")]
    messages: std::sync::mpsc::Sender<dbus::Message>,
    #[cfg(not(target_os = "linux"))]
    app: AppHandle,
    progress: Mutex<LauncherProgress>,
    style: Arc<Mutex<SystemStyle>>,
}

impl Desktop {
    /// Connects to the desktop. Calls `on_style` when the style has been read, and whenever it changes.
    #[cfg(target_os = "linux")]
    pub fn start(_: &AppHandle, on_style: impl Fn(&SystemStyle) + Send + 'static) -> std::io::Result<Self> {
        let style: Arc<Mutex<SystemStyle>> = Arc::default();
        let known_style = style.clone();
        portal::watch(move |style| {
            *lock(&known_style) = style.clone();
            on_style(&style);
        })?;
        Ok(Self { messages: dbus::start()?, progress: Mutex::default(), style })
    }

    /// Connects to the desktop. The style cannot be read on this system.
    #[cfg(not(target_os = "linux"))]
    pub fn start(app: &AppHandle, _: impl Fn(&SystemStyle) + Send + 'static) -> std::io::Result<Self> {
        Ok(Self { app: app.clone(), progress: Mutex::default(), style: Arc::default() })
    }

    /// The style of the desktop, as far as it is known.
    pub fn style(&self) -> SystemStyle {
        lock(&self.style).clone()
    }

    /// Must be called when a job begins.
    pub fn job_started(&self) {
        lock(&self.progress).begin();
    }

    /// Shows the progress of a job that began `age` ago.
    pub fn job_progressed(&self, age: Duration, done: u64, total: u64) {
        let mut progress = lock(&self.progress);
        if let Some(percent) = progress.report(age, done, total) {
            // The progress is sent before the lock is released, so that the end of a job is always sent last.
            self.show_progress(Some(percent));
        }
    }

    /// Must be called when a job ends, however it ended.
    pub fn job_ended(&self) {
        let mut progress = lock(&self.progress);
        if progress.end() {
            self.show_progress(None);
        }
    }

    /// Shows a notification. Does nothing on systems other than Linux.
    pub fn notify(&self, text: &'static str) {
        // Sending fails only if the thread has ended, and the thread ends only with the process.
        #[cfg(target_os = "linux")]
        let _ = self.messages.send(dbus::Message::Notification(text));
        #[cfg(not(target_os = "linux"))]
        let _ = text;
    }

    #[cfg(target_os = "linux")]
    fn show_progress(&self, percent: Option<u8>) {
        let _ = self.messages.send(dbus::Message::Progress(percent));
    }

    #[cfg(not(target_os = "linux"))]
    fn show_progress(&self, percent: Option<u8>) {
        use tauri::Manager;
        use tauri::window::{ProgressBarState, ProgressBarStatus};
        let status = if percent.is_some() { ProgressBarStatus::Normal } else { ProgressBarStatus::None };
        for window in self.app.webview_windows().values() {
            // Errors are ignored, because a window that is closing needs no progress.
            let state = ProgressBarState { status: Some(status), progress: percent.map(u64::from) };
            let _ = window.set_progress_bar(state);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
