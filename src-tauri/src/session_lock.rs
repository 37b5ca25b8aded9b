//! Locks the vault when the desktop session locks or the computer sleeps. Linux announces both events over D-Bus. Other
//! systems announce neither; there, the idle timer notices afterwards that the computer slept, because too much time
//! has passed.
use tauri::AppHandle;

#[cfg(target_os = "linux")]
mod dbus;
#[cfg(target_os = "linux")]
mod listener;

/// True if this system announces that the screen was locked or that the computer is about to sleep.
pub const REPORTS_LOCK_AND_SLEEP: bool = cfg!(target_os = "linux");

/// Listens for a locked screen and for sleep until the process ends.
pub struct SessionWatcher {
    #[cfg(target_os = "linux")]
    messages: std::sync::mpsc::Sender<dbus::BusMessage>,
}

impl SessionWatcher {
    /// Starts listening.
    #[cfg(target_os = "linux")]
    pub fn start(app: &AppHandle) -> std::io::Result<Self> {
        Ok(Self { messages: dbus::listen(listener::WindowListener(app.clone()))? })
    }

    /// Does nothing, because this system has nothing to listen to.
    #[cfg(not(target_os = "linux"))]
    pub fn start(_: &AppHandle) -> std::io::Result<Self> {
        Ok(Self {})
    }

    /// Must be called when the person changed the setting "Lock when the screen locks or the computer sleeps".
    pub fn setting_changed(&self) {
        // If the listening thread has ended, it holds no sleep inhibitor that has to be released, so the error is
        // ignored.
        #[cfg(target_os = "linux")]
        let _ = self.messages.send(dbus::BusMessage::SettingChanged);
    }
}
