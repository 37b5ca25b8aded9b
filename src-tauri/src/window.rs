//! The only window. It loads only pages that are built into the program and stores nothing on disk.
use crate::settings::PREFERENCES;
use crate::state::AppState;
#[cfg(target_os = "linux")]
use crate::webkit_rendering;
use mementory_api::types::WindowGuards;
use tauri::webview::NewWindowResponse;
use tauri::{AppHandle, Manager, Url, WebviewWindowBuilder};

/// Prefix of the window's keys in `localStorage`.
const STORAGE_PREFIX: &str = "mementory.";

/// True if the system can keep a window out of screenshots and screen sharing. Linux cannot.
pub const CAN_HIDE_FROM_CAPTURE: bool = cfg!(any(target_os = "macos", target_os = "windows"));

/// Opens the window as the configuration describes it.
pub fn open(app: &AppHandle) -> tauri::Result<()> {
    let config = app.config().app.windows.first().cloned().unwrap_or_default();
    let preferences = app.state::<AppState>().settings().get().preferences.clone();
    let stored_preferences: Vec<(String, &String)> = PREFERENCES
        .iter()
        .filter_map(|name| Some((format!("{STORAGE_PREFIX}{name}"), preferences.get(*name)?)))
        .collect();
    // The webview is incognito and stores nothing, so the preferences are passed to the page before it is first drawn.
    let script = format!(
        "for (const [name, value] of {}) localStorage.setItem(name, value);",
        serde_json::to_string(&stored_preferences)?
    );
    #[cfg_attr(not(target_os = "linux"), expect(unused_variables))]
    let window = WebviewWindowBuilder::from_config(app, &config)?
        // Keeps the page's data in memory only. WebKitGTK cannot be automated in that mode.
        .incognito(!is_automated())
        .initialization_script(script)
        .on_navigation(is_app_page)
        .on_new_window(|_, _| NewWindowResponse::Deny)
        .content_protected(guards(app).hide_from_capture)
        .build()?;
    #[cfg(target_os = "linux")]
    if !is_automated() {
        webkit_rendering::disable_compositing_without_gpu(&window)?;
    }
    Ok(())
}

/// Brings the window to the front.
pub fn show(app: &AppHandle) {
    for window in app.webview_windows().values() {
        // A desktop may refuse to raise a window. The window is open anyway, so errors are ignored.
        let _ = window.unminimize();
        let _ = window.set_focus();
    }
}

/// What protects the window besides the passphrase.
pub fn guards(app: &AppHandle) -> WindowGuards {
    let state = app.state::<AppState>();
    let settings = state.settings();
    WindowGuards {
        system: std::env::consts::OS.to_owned(),
        lock_when_away: settings.get().lock_when_away,
        reports_lock_and_sleep: crate::session_lock::REPORTS_LOCK_AND_SLEEP,
        hide_from_capture: CAN_HIDE_FROM_CAPTURE && settings.get().hide_from_capture,
        can_hide: CAN_HIDE_FROM_CAPTURE,
    }
}

/// True if a test drives the window. The test driver sets this variable to request automation.
fn is_automated() -> bool {
    std::env::var_os("TAURI_WEBVIEW_AUTOMATION").is_some()
}

/// True for the URLs of the program's own pages. The window opens no others.
fn is_app_page(url: &Url) -> bool {
    url.scheme() == "tauri" || (url.scheme() == "http" && url.host_str() == Some("tauri.localhost"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn only_our_own_pages_load() {
        for (url, allowed) in [
            ("tauri://localhost/index.html", true),
            ("http://tauri.localhost/", true),
            ("https://example.org/", false),
            ("http://localhost:1420/", false),
            ("file:///etc/passwd", false),
            ("data:text/html,x", false),
        ] {
            assert_eq!(is_app_page(&Url::parse(url).unwrap()), allowed, "{url}");
        }
    }
}
