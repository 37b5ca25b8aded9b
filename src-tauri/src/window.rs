//! The one window. It loads only what is built into the program and leaves nothing on disk.
use crate::settings::PREFERENCES;
use crate::state::AppState;
#[cfg(target_os = "linux")]
use crate::webkit_rendering;
use mementory_api::types::WindowGuards;
use tauri::webview::NewWindowResponse;
use tauri::{AppHandle, Manager, Url, WebviewWindowBuilder};

/// Prefix of the window's own keys in `localStorage`.
const STORAGE_PREFIX: &str = "mementory.";

/// Can the system keep a window out of screenshots and screen sharing? Linux has nothing of the kind.
pub const CAN_HIDE: bool = cfg!(any(target_os = "macos", target_os = "windows"));

/// Open the window that the configuration describes.
pub fn open(app: &AppHandle) -> tauri::Result<()> {
    let config = app.config().app.windows.first().cloned().unwrap_or_default();
    let preferences = app.state::<AppState>().settings().get().preferences.clone();
    let remembered: Vec<(String, &String)> = PREFERENCES
        .iter()
        .filter_map(|name| Some((format!("{STORAGE_PREFIX}{name}"), preferences.get(*name)?)))
        .collect();
    // The webview forgets everything (below), so it is told how to look before its first paint.
    let script = format!(
        "for (const [name, value] of {}) localStorage.setItem(name, value);",
        serde_json::to_string(&remembered)?
    );
    #[cfg_attr(not(target_os = "linux"), expect(unused_variables))]
    let window = WebviewWindowBuilder::from_config(app, &config)?
        // Its data is in memory only; WebKitGTK refuses to be driven in that mode.
        .incognito(!driven())
        .initialization_script(script)
        .on_navigation(own_page)
        .on_new_window(|_, _| NewWindowResponse::Deny)
        .content_protected(guards(app).hide_from_capture)
        .build()?;
    #[cfg(target_os = "linux")]
    if !driven() {
        webkit_rendering::fit(&window)?;
    }
    Ok(())
}

/// What guards the window besides the passphrase.
pub fn guards(app: &AppHandle) -> WindowGuards {
    let state = app.state::<AppState>();
    let settings = state.settings();
    WindowGuards {
        system: std::env::consts::OS.to_owned(),
        lock_when_away: settings.get().lock_when_away,
        told_when_away: crate::session_lock::TOLD,
        hide_from_capture: CAN_HIDE && settings.get().hide_from_capture,
        can_hide: CAN_HIDE,
    }
}

/// Is the window driven by a test? The variable is the one with which the test driver asks for automation.
fn driven() -> bool {
    std::env::var_os("TAURI_WEBVIEW_AUTOMATION").is_some()
}

/// The window shows our own pages and nothing else.
fn own_page(url: &Url) -> bool {
    url.scheme() == "tauri" || (url.scheme() == "http" && url.host_str() == Some("tauri.localhost"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn only_our_own_pages_load() {
        for (url, own) in [
            ("tauri://localhost/index.html", true),
            ("http://tauri.localhost/", true),
            ("https://example.org/", false),
            ("http://localhost:1420/", false),
            ("file:///etc/passwd", false),
            ("data:text/html,x", false),
        ] {
            assert_eq!(own_page(&Url::parse(url).unwrap()), own, "{url}");
        }
    }
}
