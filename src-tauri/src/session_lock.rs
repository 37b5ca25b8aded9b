//! Locking when the person leaves. Linux tells over its buses that the screen was locked and that the computer is about
//! to sleep. Elsewhere nothing is listened to: there the idle timer notices after a sleep that time has passed.
use tauri::AppHandle;

#[cfg(target_os = "linux")]
mod dbus;
#[cfg(target_os = "linux")]
mod listener;

/// Does this system tell of a locked screen, and of a sleep before it begins?
pub const TOLD: bool = cfg!(target_os = "linux");

/// Who listens to the system.
pub struct Away {
    #[cfg(target_os = "linux")]
    told: std::sync::mpsc::Sender<dbus::Told>,
}

impl Away {
    /// Listen until the process ends.
    #[cfg(target_os = "linux")]
    pub fn listen(app: &AppHandle) -> std::io::Result<Self> {
        Ok(Self { told: dbus::listen(listener::Window(app.clone()))? })
    }

    /// Nothing to listen to.
    #[cfg(not(target_os = "linux"))]
    pub fn listen(_: &AppHandle) -> std::io::Result<Self> {
        Ok(Self {})
    }

    /// The person switched it on or off.
    pub fn switched(&self) {
        // Without a thread that listens there is nothing to hold or to let go.
        #[cfg(target_os = "linux")]
        let _ = self.told.send(dbus::Told::Switched);
    }
}
