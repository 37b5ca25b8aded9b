//! Makes WebKitGTK use the GPU if there is one, and otherwise render without compositing layers.
use std::fs::{self, OpenOptions};
use std::path::Path;
use tauri::WebviewWindow;
use webkit2gtk::{HardwareAccelerationPolicy, SettingsExt, WebViewExt};

/// Folder of the graphics devices. The names of devices with which programs may render begin with `RENDER_NODE_PREFIX`
/// (`renderD128`).
const DEVICE_FOLDER: &str = "/dev/dri";
const RENDER_NODE_PREFIX: &str = "renderD";

/// Turns accelerated compositing off on machines without a GPU (virtual machines, remote desktops), where WebKit would
/// use OpenGL in software and a frame would take twice as long. Must not be called for a window under test automation,
/// because WebKit's driver would then wait for a screenshot forever.
///
/// # Errors
/// The window is already closed.
pub fn disable_compositing_without_gpu(window: &WebviewWindow) -> tauri::Result<()> {
    if has_render_node(Path::new(DEVICE_FOLDER)) {
        return Ok(());
    }
    window.with_webview(|view| {
        if let Some(settings) = view.inner().settings() {
            settings.set_hardware_acceleration_policy(HardwareAccelerationPolicy::Never);
        }
    })
}

/// True if there is a GPU that this user may open.
fn has_render_node(folder: &Path) -> bool {
    let Ok(entries) = fs::read_dir(folder) else {
        return false;
    };
    entries
        .flatten()
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(RENDER_NODE_PREFIX))
        .any(|entry| OpenOptions::new().read(true).write(true).open(entry.path()).is_ok())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_render_node_that_opens_counts_and_other_devices_do_not() {
        let folder = tempfile::tempdir().unwrap();
        assert!(!has_render_node(&folder.path().join("absent")));
        fs::write(folder.path().join("card0"), "").unwrap();
        assert!(!has_render_node(folder.path()), "a display output cannot render");
        fs::write(folder.path().join("renderD128"), "").unwrap();
        assert!(has_render_node(folder.path()));
    }
}
