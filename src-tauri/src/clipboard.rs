//! Clears copied text from the clipboard after some time, when the vault locks, and when the window closes.
//!
//! The web view cannot read the clipboard, and can write to it only during a click. This module does both instead.
use crate::autolock::{Clock, MAX_WAIT};
use mementory_api::{ApiError, ApiResult};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use zeroize::Zeroizing;

/// Number of attempts to clear the clipboard. Another program may briefly block it, so one attempt may not be enough.
const CLEAR_ATTEMPTS: u8 = 10;
/// Pause between two attempts.
const RETRY_AFTER: Duration = Duration::from_secs(1);
/// Maximum wait for the clipboard when the window closes. If another program owns the clipboard and hangs, this program
/// must still end.
const MAX_CLOSE_WAIT: Duration = Duration::from_secs(2);

/// Maximum length of a text that can be pasted, in bytes. A text field accepts this much without a delay.
const MAX_PASTE_BYTES: usize = 4 << 20;

/// The system has no clipboard, or another program is blocking it.
#[derive(Debug, PartialEq, Eq)]
pub struct Unavailable;

/// A clipboard.
pub trait ClipboardBackend: Send {
    /// Writes a text. A `temporary` text is kept out of clipboard histories.
    fn put(&mut self, text: &str, temporary: bool) -> Result<(), Unavailable>;
    /// The current text, whoever wrote it. None if the clipboard is empty or contains something else.
    fn text(&mut self) -> Result<Option<Zeroizing<String>>, Unavailable>;
    /// Empties the clipboard.
    fn clear(&mut self) -> Result<(), Unavailable>;
    /// Hands the content over to the desktop, if the desktop accepts it. Called when the program ends.
    fn close(&mut self);
}

/// The system's clipboard. It is opened at the first copy and stays open, because on X11 and Wayland copied text exists
/// only as long as the program that owns it.
#[derive(Default)]
pub struct SystemClipboard(Option<arboard::Clipboard>);

impl SystemClipboard {
    fn open(&mut self) -> Result<&mut arboard::Clipboard, Unavailable> {
        let clipboard = match self.0.take() {
            Some(clipboard) => clipboard,
            None => arboard::Clipboard::new().map_err(|_| Unavailable)?,
        };
        Ok(self.0.insert(clipboard))
    }
}

impl ClipboardBackend for SystemClipboard {
    fn put(&mut self, text: &str, temporary: bool) -> Result<(), Unavailable> {
        let set = self.open()?.set();
        let set = if temporary { exclude_from_history(set) } else { set };
        set.text(text).map_err(|_| Unavailable)
    }

    fn text(&mut self) -> Result<Option<Zeroizing<String>>, Unavailable> {
        match self.open()?.get_text() {
            Ok(text) => Ok(Some(Zeroizing::new(text))),
            Err(arboard::Error::ContentNotAvailable | arboard::Error::ConversionFailure) => Ok(None),
            Err(_) => Err(Unavailable),
        }
    }

    fn clear(&mut self) -> Result<(), Unavailable> {
        self.open()?.clear().map_err(|_| Unavailable)
    }

    fn close(&mut self) {
        self.0 = None;
    }
}

#[cfg(target_os = "macos")]
fn exclude_from_history(set: arboard::Set<'_>) -> arboard::Set<'_> {
    arboard::SetExtApple::exclude_from_history(set)
}

#[cfg(windows)]
fn exclude_from_history(set: arboard::Set<'_>) -> arboard::Set<'_> {
    arboard::SetExtWindows::exclude_from_monitoring(set)
}

#[cfg(not(any(target_os = "macos", windows)))]
fn exclude_from_history(set: arboard::Set<'_>) -> arboard::Set<'_> {
    arboard::SetExtLinux::exclude_from_history(set)
}

/// The clipboard with the number of texts copied so far.
struct BackendState {
    backend: Box<dyn ClipboardBackend>,
    copies: u64,
}

/// A copied text that has to be cleared.
struct PendingClear {
    text: Arc<Zeroizing<String>>,
    /// Number of the copy, counted from 1.
    copy: u64,
    due: Duration,
    attempts_left: u8,
}

/// The text to be cleared, and whether the window is closing.
#[derive(Default)]
struct ClearState {
    pending: Option<PendingClear>,
    closing: bool,
}

/// The clipboard with the last copied text that has to be cleared. Only threads that may block read it
/// ([`Clipboard::clear_if_due`] has its own thread, [`Clipboard::read`] is a command), so a hanging program that owns
/// the clipboard delays neither locking nor closing.
pub struct Clipboard {
    backend: Mutex<BackendState>,
    clear_state: Mutex<ClearState>,
    changed: Condvar,
    clock: Arc<dyn Clock>,
}

impl Clipboard {
    /// A clipboard to which nothing has been copied yet.
    pub fn new(backend: Box<dyn ClipboardBackend>, clock: Arc<dyn Clock>) -> Self {
        let backend = Mutex::new(BackendState { backend, copies: 0 });
        Self { backend, clear_state: Mutex::default(), changed: Condvar::new(), clock }
    }

    /// Copies a text. If `clear_after` is given, the text is cleared after that time, unless the clipboard contains
    /// something else by then. Fails with `no_clipboard` if the clipboard cannot be used.
    pub fn copy(&self, text: Zeroizing<String>, clear_after: Option<Duration>) -> ApiResult<()> {
        let mut state = self.backend.lock().unwrap_or_else(PoisonError::into_inner);
        state.backend.put(&text, clear_after.is_some()).map_err(|Unavailable| no_clipboard())?;
        state.copies += 1;
        let now = self.clock.elapsed();
        self.clear_state().pending = clear_after.map(|after| PendingClear {
            text: Arc::new(text),
            copy: state.copies,
            due: now.saturating_add(after),
            attempts_left: CLEAR_ATTEMPTS,
        });
        self.changed.notify_all();
        Ok(())
    }

    /// Returns the current text for pasting, or None if the clipboard contains no text or only white space. Fails with
    /// `no_clipboard`, or with `limit` if the text is too long for a text field.
    pub fn read(&self) -> ApiResult<Option<Zeroizing<String>>> {
        let mut state = self.backend.lock().unwrap_or_else(PoisonError::into_inner);
        let text = state.backend.text().map_err(|Unavailable| no_clipboard())?.filter(|text| !text.trim().is_empty());
        match text {
            Some(text) if text.len() > MAX_PASTE_BYTES => Err(ApiError::new(
                "limit",
                6,
                "The text on the clipboard is too long to paste. Save it as a file and import the file.",
            )),
            text => Ok(text),
        }
    }

    /// Makes the pending text due, so that the watching thread clears it now.
    pub fn clear_now(&self) {
        if let Some(pending) = &mut self.clear_state().pending {
            pending.due = Duration::ZERO;
        }
        self.changed.notify_all();
    }

    /// Clears the pending text and waits until it has been cleared, because the window is closing.
    pub fn close(&self) {
        self.clear_now();
        let mut clear_state = self.clear_state();
        clear_state.closing = true;
        self.changed.notify_all();
        drop(self.changed.wait_timeout_while(clear_state, MAX_CLOSE_WAIT, |clear_state| clear_state.pending.is_some()));
        // Another thread has this lock only while it waits for a hanging program. In that case, the content cannot be
        // handed over.
        if let Ok(mut state) = self.backend.try_lock() {
            state.backend.close();
        }
    }

    /// Clears the pending text if it is due and still on the clipboard.
    pub fn clear_if_due(&self) {
        let now = self.clock.elapsed();
        let due =
            self.clear_state().pending.as_ref().filter(|pending| pending.due <= now).map(|p| (p.copy, p.text.clone()));
        let Some((copy, text)) = due else {
            return;
        };
        let clear_result = self.clear_copy(copy, &text);
        let mut clear_state = self.clear_state();
        // If another text has been copied since, `pending` belongs to that copy and is not changed.
        if let Some(pending) = clear_state.pending.as_mut().filter(|pending| pending.copy == copy) {
            pending.attempts_left -= 1;
            pending.due = now.saturating_add(RETRY_AFTER);
            if clear_result.is_ok() || pending.attempts_left == 0 {
                clear_state.pending = None;
            }
        }
        self.changed.notify_all();
    }

    /// Clears the clipboard if it still contains this copy. The text of a later copy stays, even if it is the same
    /// text.
    fn clear_copy(&self, copy: u64, text: &str) -> Result<(), Unavailable> {
        let mut state = self.backend.lock().unwrap_or_else(PoisonError::into_inner);
        let is_ours = state.copies == copy && state.backend.text()?.is_some_and(|found| *found == text);
        if is_ours { state.backend.clear() } else { Ok(()) }
    }

    /// Clears texts when they are due, until the window closes.
    pub fn watch(&self) {
        loop {
            self.clear_if_due();
            let clear_state = self.clear_state();
            let now = self.clock.elapsed();
            match &clear_state.pending {
                None if clear_state.closing => return,
                None => drop(self.changed.wait(clear_state)),
                Some(pending) => {
                    let wait = pending.due.saturating_sub(now).min(MAX_WAIT);
                    drop(self.changed.wait_timeout(clear_state, wait));
                }
            }
        }
    }

    fn clear_state(&self) -> MutexGuard<'_, ClearState> {
        self.clear_state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn no_clipboard() -> ApiError {
    ApiError::new(
        "no_clipboard",
        7,
        "The clipboard can't be used: another program blocks it, or this system has none. Nothing was changed. Try again.",
    )
}

/// A clipboard for tests.
#[cfg(test)]
pub mod fake {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[derive(Default)]
    pub struct FakeContent {
        pub text: Option<String>,
        pub temporary: bool,
        pub closed: bool,
        /// Number of calls that will fail.
        pub failures: u32,
    }

    /// A clipboard whose content a test can read and write.
    #[derive(Clone, Default)]
    pub struct FakeClipboard(pub Arc<Mutex<FakeContent>>);

    impl FakeClipboard {
        /// The text on the clipboard.
        pub fn content(&self) -> Option<String> {
            self.0.lock().unwrap().text.clone()
        }

        fn access(&self) -> Result<MutexGuard<'_, FakeContent>, Unavailable> {
            let mut content = self.0.lock().unwrap();
            if content.failures == 0 {
                return Ok(content);
            }
            content.failures -= 1;
            Err(Unavailable)
        }
    }

    impl ClipboardBackend for FakeClipboard {
        fn put(&mut self, text: &str, temporary: bool) -> Result<(), Unavailable> {
            let mut content = self.access()?;
            content.text = Some(text.to_owned());
            content.temporary = temporary;
            Ok(())
        }

        fn text(&mut self) -> Result<Option<Zeroizing<String>>, Unavailable> {
            Ok(self.access()?.text.clone().map(Zeroizing::new))
        }

        fn clear(&mut self) -> Result<(), Unavailable> {
            self.access()?.text = None;
            Ok(())
        }

        fn close(&mut self) {
            self.0.lock().unwrap().closed = true;
        }
    }
}

#[cfg(test)]
mod tests;
