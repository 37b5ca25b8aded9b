//! Whom it concerns that the person left: the window with its vault.
use super::dbus::Owner;
use crate::LOCKED_EVENT;
use crate::state::AppState;
use tauri::{AppHandle, Emitter, Manager};

pub struct Window(pub AppHandle);

impl Owner for Window {
    fn wants(&self) -> bool {
        self.0.state::<AppState>().locks_when_away()
    }

    fn screen(&self, locked: bool) {
        self.0.state::<AppState>().screen(locked);
    }

    fn sleep(&self) {
        if let Some(by) = self.0.state::<AppState>().lock_before_sleep() {
            // Without a window there is nobody to tell.
            let _ = self.0.emit(LOCKED_EVENT, by);
        }
    }
}
