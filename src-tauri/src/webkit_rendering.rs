//! How WebKitGTK draws: with the graphics card where there is one.
use std::fs::{self, OpenOptions};
use std::path::Path;
use tauri::WebviewWindow;
use webkit2gtk::{HardwareAccelerationPolicy, SettingsExt, WebViewExt};

/// Where the kernel lists graphics cards that programs may draw with, as `renderD128`.
const CARDS: &str = "/dev/dri";
const PREFIX: &str = "renderD";

/// Let the web view draw without layers where no graphics card would put them together. WebKit asks for OpenGL all the
/// same, gets one that the processor plays, and a frame takes twice as long (virtual machines, remote desktops). Not for
/// a window that a test drives: WebKit's driver then waits for ever for a picture.
///
/// # Errors
/// The window is gone already.
pub fn fit(window: &WebviewWindow) -> tauri::Result<()> {
    if has_card(Path::new(CARDS)) {
        return Ok(());
    }
    window.with_webview(|view| {
        if let Some(settings) = view.inner().settings() {
            settings.set_hardware_acceleration_policy(HardwareAccelerationPolicy::Never);
        }
    })
}

/// Is there a graphics card that this person may draw with?
fn has_card(folder: &Path) -> bool {
    let Ok(entries) = fs::read_dir(folder) else {
        return false;
    };
    entries
        .flatten()
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(PREFIX))
        .any(|entry| OpenOptions::new().read(true).write(true).open(entry.path()).is_ok())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_card_is_a_render_node_that_opens() {
        let folder = tempfile::tempdir().unwrap();
        assert!(!has_card(&folder.path().join("absent")));
        fs::write(folder.path().join("card0"), "").unwrap();
        assert!(!has_card(folder.path()), "an output for pictures is nothing to draw with");
        fs::write(folder.path().join("renderD128"), "").unwrap();
        assert!(has_card(folder.path()));
    }
}
