//! Locks the vault of the window when the screen locks or the computer is about to sleep.
use super::dbus::LockListener;
use crate::LOCKED_EVENT;
use crate::state::AppState;
use tauri::{AppHandle, Emitter, Manager};

pub struct WindowListener(pub AppHandle);

impl LockListener for WindowListener {
    fn is_enabled(&self) -> bool {
        self.0.state::<AppState>().locks_with_session()
    }

    fn on_screen_lock(&self, locked: bool) {
        self.0.state::<AppState>().on_screen_lock(locked);
    }

    fn before_sleep(&self) {
        if let Some(reason) = self.0.state::<AppState>().lock_before_sleep() {
            // The window may already be closed, so the error is ignored.
            let _ = self.0.emit(LOCKED_EVENT, reason);
        }
    }
}
