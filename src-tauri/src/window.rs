//! The only window. It loads only pages that are built into the program and stores nothing on disk.
use crate::settings::PREFERENCES;
use crate::state::AppState;
#[cfg(target_os = "linux")]
use crate::webkit_rendering;
use crate::window_geometry::{Area, WindowGeometry};
use mementory_api::types::WindowGuards;
use tauri::utils::config::WindowConfig;
use tauri::webview::NewWindowResponse;
use tauri::{AppHandle, Manager, Monitor, Url, WebviewWindow, WebviewWindowBuilder, WindowEvent};

/// Prefix of the window's keys in `localStorage`.
const STORAGE_PREFIX: &str = "mementory.";

/// True if the system can keep a window out of screenshots and screen sharing. Linux cannot.
pub const CAN_HIDE_FROM_CAPTURE: bool = cfg!(any(target_os = "macos", target_os = "windows"));

/// Opens the window as the configuration describes it, with its last stored size and place.
pub fn open(app: &AppHandle) -> tauri::Result<()> {
    let config = app.config().app.windows.first().cloned().unwrap_or_default();
    let preferences = app.state::<AppState>().settings().get().preferences.clone();
    let stored_preferences = PREFERENCES.iter().filter_map(|name| Some((*name, preferences.get(*name)?.clone())));
    let font = desktop_font().map(|families| ("font", families));
    let stored_values: Vec<(String, String)> =
        stored_preferences.chain(font).map(|(name, value)| (format!("{STORAGE_PREFIX}{name}"), value)).collect();
    // The web view is incognito and stores nothing, so the stored values are passed to the page before it is first
    // drawn.
    let script = format!(
        "for (const [name, value] of {}) localStorage.setItem(name, value);",
        serde_json::to_string(&stored_values)?
    );
    let mut builder = WebviewWindowBuilder::from_config(app, &config)?
        // In incognito mode, the page's data is only in memory. A test cannot drive WebKitGTK in that mode.
        .incognito(!is_automated())
        .initialization_script(script)
        .on_navigation(is_app_page)
        .on_new_window(|_, _| NewWindowResponse::Deny)
        .content_protected(guards(app).hide_from_capture);
    if let Some(WindowGeometry { area, maximized }) = stored_geometry(app, &config) {
        builder = builder
            .inner_size(area.width.into(), area.height.into())
            .position(area.x.into(), area.y.into())
            .maximized(maximized);
    }
    let window = builder.build()?;
    let observed_window = window.clone();
    window.on_window_event(move |event| {
        if matches!(event, WindowEvent::Focused(false) | WindowEvent::CloseRequested { .. }) {
            // If the geometry cannot be read, the window opens at the place that was stored before.
            let _ = store_geometry(&observed_window, &config);
        }
    });
    #[cfg(target_os = "linux")]
    if !is_automated() {
        webkit_rendering::disable_compositing_without_gpu(&window)?;
    }
    Ok(())
}

/// The desktop's font as a value of `font-family`. None if GTK states no font. Also None on macOS and Windows, because
/// the page's own list already names their fonts.
fn desktop_font() -> Option<String> {
    #[cfg(target_os = "linux")]
    return crate::desktop_font::font_families();
    #[cfg(not(target_os = "linux"))]
    None
}

/// The stored size and place, changed if the monitors have changed.
fn stored_geometry(app: &AppHandle, config: &WindowConfig) -> Option<WindowGeometry> {
    let geometry = app.state::<AppState>().settings().get().window?;
    let main_monitor = app.primary_monitor().ok().flatten();
    let monitors = main_monitor.into_iter().chain(app.available_monitors().unwrap_or_default());
    let areas: Vec<Area> = monitors.map(|monitor| usable_area(&monitor)).collect();
    geometry.fitted(&areas, minimum_size(config))
}

/// The area of a monitor without its panels.
fn usable_area(monitor: &Monitor) -> Area {
    let area = monitor.work_area();
    Area::scaled((area.position.x, area.position.y), (area.size.width, area.size.height), monitor.scale_factor())
}

fn minimum_size(config: &WindowConfig) -> (u32, u32) {
    // The values in the configuration are whole numbers, so nothing is lost by the conversion.
    (config.min_width.unwrap_or_default() as u32, config.min_height.unwrap_or_default() as u32)
}

/// Stores size and place of the window. Called only when the window loses the focus or closes, because storing each
/// step of a move would cause too many writes.
fn store_geometry(window: &WebviewWindow, config: &WindowConfig) -> tauri::Result<()> {
    // Nothing is stored for a minimised or full-screen window, because it later returns to the size and place stored
    // before.
    if window.is_minimized()? || window.is_fullscreen()? {
        return Ok(());
    }
    let (position, size) = (window.outer_position()?, window.inner_size()?);
    let area = Area::scaled((position.x, position.y), (size.width, size.height), window.scale_factor()?);
    let maximized = window.is_maximized()?;
    let state = window.state::<AppState>();
    let mut settings = state.settings();
    let last_geometry = settings.get().window;
    let default_size = (config.width as u32, config.height as u32);
    let geometry = WindowGeometry::of_window(area, maximized, last_geometry, default_size);
    if last_geometry != Some(geometry) {
        settings.change(|settings| settings.window = Some(geometry));
    }
    Ok(())
}

/// Brings the window to the front.
pub fn show(app: &AppHandle) {
    for window in app.webview_windows().values() {
        // The desktop may refuse to bring the window to the front. The window is open anyway, so errors are ignored.
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

/// True if a test drives the window. The test driver sets this environment variable to request automation.
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
