//! What was copied from Mementory leaves the clipboard again: after a while, when the vault locks or the window closes.
//!
//! The web view can put text there only while a click lasts, and never read it back, so this is a matter of the shell.
use crate::autolock::{Clock, LONGEST_WAIT};
use mementory_api::{ApiError, ApiResult};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use zeroize::Zeroizing;

/// Another program may hold the clipboard for a moment; then it is tried again, so often.
const TRIES: u8 = 10;
/// And so much later each time.
const PAUSE: Duration = Duration::from_secs(1);
/// How long closing the window waits for it: another program that owns the clipboard and hangs must not keep ours.
const LONGEST_CLOSING: Duration = Duration::from_secs(2);

/// Bytes of a text that a field takes without making the window wait.
const LONGEST_READ: usize = 4 << 20;

/// The system has no clipboard, or does not let us have it now.
#[derive(Debug, PartialEq, Eq)]
pub struct Unavailable;

/// A clipboard.
pub trait Board: Send {
    /// Put a text there; a passing one is kept out of the histories that systems and desktops make.
    fn put(&mut self, text: &str, passing: bool) -> Result<(), Unavailable>;
    /// The text that is there now, whoever put it there; none when it is empty or holds something else.
    fn text(&mut self) -> Result<Option<Zeroizing<String>>, Unavailable>;
    /// Empty it.
    fn clear(&mut self) -> Result<(), Unavailable>;
    /// The program ends; what is there is handed over, if the desktop takes it.
    fn close(&mut self);
}

/// The system's clipboard. It is opened with the first copy and then held: on X11 and Wayland what was copied is there
/// only as long as its owner is.
#[derive(Default)]
pub struct SystemBoard(Option<arboard::Clipboard>);

impl SystemBoard {
    fn open(&mut self) -> Result<&mut arboard::Clipboard, Unavailable> {
        let board = match self.0.take() {
            Some(board) => board,
            None => arboard::Clipboard::new().map_err(|_| Unavailable)?,
        };
        Ok(self.0.insert(board))
    }
}

impl Board for SystemBoard {
    fn put(&mut self, text: &str, passing: bool) -> Result<(), Unavailable> {
        let set = self.open()?.set();
        let set = if passing { out_of_histories(set) } else { set };
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
fn out_of_histories(set: arboard::Set<'_>) -> arboard::Set<'_> {
    arboard::SetExtApple::exclude_from_history(set)
}

#[cfg(windows)]
fn out_of_histories(set: arboard::Set<'_>) -> arboard::Set<'_> {
    arboard::SetExtWindows::exclude_from_monitoring(set)
}

#[cfg(not(any(target_os = "macos", windows)))]
fn out_of_histories(set: arboard::Set<'_>) -> arboard::Set<'_> {
    arboard::SetExtLinux::exclude_from_history(set)
}

/// The clipboard with the number of texts that were put there.
struct Held {
    board: Box<dyn Board>,
    copies: u64,
}

/// A text that is to leave the clipboard at a time of the clock.
struct Passing {
    text: Arc<Zeroizing<String>>,
    copy: u64,
    due: Duration,
    tries: u8,
}

/// What is to leave the clipboard, and whether the window is closing.
#[derive(Default)]
struct Queue {
    passing: Option<Passing>,
    closing: bool,
}

/// The clipboard, and the last text put there that is to leave it again. It is read only on threads that may wait
/// ([`Clipboard::clear_if_due`] on one of its own, [`Clipboard::read`] as a command): a program that owns it and hangs holds
/// up neither locking nor closing.
pub struct Clipboard {
    held: Mutex<Held>,
    queue: Mutex<Queue>,
    changed: Condvar,
    clock: Arc<dyn Clock>,
}

impl Clipboard {
    /// Nothing copied yet.
    pub fn new(board: Box<dyn Board>, clock: Arc<dyn Clock>) -> Self {
        Self { held: Mutex::new(Held { board, copies: 0 }), queue: Mutex::default(), changed: Condvar::new(), clock }
    }

    /// Copy a text; with `clear_after` it leaves the clipboard after that time, unless something else is there by then.
    /// Error `no_clipboard` when the system has none.
    pub fn copy(&self, text: Zeroizing<String>, clear_after: Option<Duration>) -> ApiResult<()> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.board.put(&text, clear_after.is_some()).map_err(|Unavailable| no_clipboard())?;
        held.copies += 1;
        let now = self.clock.elapsed();
        self.queue().passing = clear_after.map(|after| Passing {
            text: Arc::new(text),
            copy: held.copies,
            due: now.saturating_add(after),
            tries: TRIES,
        });
        self.changed.notify_all();
        Ok(())
    }

    /// The text that is there now, because the person asks for it; none when there is none. It is kept nowhere.
    /// Errors `no_clipboard`, and `limit` for more than a field can show.
    pub fn read(&self) -> ApiResult<Option<Zeroizing<String>>> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let text = held.board.text().map_err(|Unavailable| no_clipboard())?.filter(|text| !text.trim().is_empty());
        match text {
            Some(text) if text.len() > LONGEST_READ => Err(ApiError::new(
                "limit",
                6,
                "What is on the clipboard is too long to be pasted. Save it as a file and import that.",
            )),
            text => Ok(text),
        }
    }

    /// What is still to leave the clipboard leaves now.
    pub fn clear_now(&self) {
        if let Some(passing) = &mut self.queue().passing {
            passing.due = Duration::ZERO;
        }
        self.changed.notify_all();
    }

    /// The window closes: the same, and wait until it is done.
    pub fn close(&self) {
        self.clear_now();
        let mut queue = self.queue();
        queue.closing = true;
        self.changed.notify_all();
        drop(self.changed.wait_timeout_while(queue, LONGEST_CLOSING, |queue| queue.passing.is_some()));
        // Taken only where another program hangs; then there is nothing to hand over.
        if let Ok(mut held) = self.held.try_lock() {
            held.board.close();
        }
    }

    /// Take the text that waits out of the clipboard if its time has come and it is still there.
    pub fn clear_if_due(&self) {
        let now = self.clock.elapsed();
        let due = self.queue().passing.as_ref().filter(|passing| passing.due <= now).map(|p| (p.copy, p.text.clone()));
        let Some((copy, text)) = due else {
            return;
        };
        let cleared = self.clear_copy(copy, &text);
        let mut queue = self.queue();
        // Not of a later copy, which waits for a time of its own.
        if let Some(passing) = queue.passing.as_mut().filter(|passing| passing.copy == copy) {
            passing.tries -= 1;
            passing.due = now.saturating_add(PAUSE);
            if cleared.is_ok() || passing.tries == 0 {
                queue.passing = None;
            }
        }
        self.changed.notify_all();
    }

    /// Empty the clipboard of this copy; a later one stays, even of the same text.
    fn clear_copy(&self, copy: u64, text: &str) -> Result<(), Unavailable> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let ours = held.copies == copy && held.board.text()?.is_some_and(|found| *found == text);
        if ours { held.board.clear() } else { Ok(()) }
    }

    /// Clear what is due until the window closes.
    pub fn watch(&self) {
        loop {
            self.clear_if_due();
            let queue = self.queue();
            let now = self.clock.elapsed();
            match &queue.passing {
                None if queue.closing => return,
                None => drop(self.changed.wait(queue)),
                Some(passing) => {
                    let wait = passing.due.saturating_sub(now).min(LONGEST_WAIT);
                    drop(self.changed.wait_timeout(queue, wait));
                }
            }
        }
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn no_clipboard() -> ApiError {
    ApiError::new("no_clipboard", 7, "The clipboard can't be used.")
}

/// A clipboard of the tests' own.
#[cfg(test)]
pub mod fake {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// What everybody sees of it.
    #[derive(Default)]
    pub struct Seen {
        pub text: Option<String>,
        pub passing: bool,
        pub closed: bool,
        /// Calls that the system refuses, from now on.
        pub refusals: u32,
    }

    /// A clipboard that the test can look into and write to.
    #[derive(Clone, Default)]
    pub struct FakeBoard(pub Arc<Mutex<Seen>>);

    impl FakeBoard {
        /// The text on it.
        pub fn now(&self) -> Option<String> {
            self.0.lock().unwrap().text.clone()
        }

        fn allowed(&self) -> Result<MutexGuard<'_, Seen>, Unavailable> {
            let mut seen = self.0.lock().unwrap();
            if seen.refusals == 0 {
                return Ok(seen);
            }
            seen.refusals -= 1;
            Err(Unavailable)
        }
    }

    impl Board for FakeBoard {
        fn put(&mut self, text: &str, passing: bool) -> Result<(), Unavailable> {
            let mut seen = self.allowed()?;
            seen.text = Some(text.to_owned());
            seen.passing = passing;
            Ok(())
        }

        fn text(&mut self) -> Result<Option<Zeroizing<String>>, Unavailable> {
            Ok(self.allowed()?.text.clone().map(Zeroizing::new))
        }

        fn clear(&mut self) -> Result<(), Unavailable> {
            self.allowed()?.text = None;
            Ok(())
        }

        fn close(&mut self) {
            self.0.lock().unwrap().closed = true;
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::fake::FakeBoard;
    use super::*;
    use crate::autolock::hand::HandClock;

    const SECOND: Duration = Duration::from_secs(1);

    struct Desk {
        clipboard: Clipboard,
        board: FakeBoard,
        clock: Arc<HandClock>,
    }

    impl Desk {
        fn new() -> Self {
            let (board, clock) = (FakeBoard::default(), Arc::new(HandClock::default()));
            Self { clipboard: Clipboard::new(Box::new(board.clone()), clock.clone()), board, clock }
        }

        fn copy(&self, text: &str, seconds: Option<u32>) -> ApiResult<()> {
            self.clipboard.copy(Zeroizing::new(text.to_owned()), seconds.map(|seconds| SECOND * seconds))
        }

        /// What is on the clipboard that many seconds after the start.
        fn at(&self, seconds: u32) -> Option<String> {
            self.clock.set(SECOND * seconds);
            self.clipboard.clear_if_due();
            self.board.now()
        }

        fn waits(&self) -> bool {
            self.clipboard.queue().passing.is_some()
        }
    }

    #[test]
    fn a_text_leaves_when_its_time_has_come_and_not_before() {
        let desk = Desk::new();
        desk.copy("code", Some(30)).unwrap();
        assert!(desk.board.0.lock().unwrap().passing, "kept out of histories");
        assert_eq!(desk.at(29).as_deref(), Some("code"));
        assert!(desk.waits());
        assert_eq!(desk.at(30), None);
        assert!(!desk.waits(), "the text is not held any longer");
    }

    #[test]
    fn a_text_is_read_when_there_is_one_that_a_field_can_show() {
        let desk = Desk::new();
        assert!(desk.clipboard.read().unwrap().is_none());
        desk.copy(" \n", None).unwrap();
        assert!(desk.clipboard.read().unwrap().is_none(), "nothing to paste");
        desk.copy("Alpha likes tea.", Some(30)).unwrap();
        assert_eq!(desk.clipboard.read().unwrap().as_deref().map(String::as_str), Some("Alpha likes tea."));
        assert!(desk.waits() && desk.board.now().is_some(), "reading changes nothing");
        desk.copy(&"x".repeat(LONGEST_READ + 1), None).unwrap();
        assert_eq!(desk.clipboard.read().unwrap_err().code, "limit");
        desk.board.0.lock().unwrap().refusals = 1;
        assert_eq!(desk.clipboard.read().unwrap_err().code, "no_clipboard");
    }

    #[test]
    fn a_text_without_a_time_stays() {
        let desk = Desk::new();
        desk.copy("words", None).unwrap();
        desk.clipboard.clear_now();
        assert_eq!(desk.at(1_000_000).as_deref(), Some("words"));
        assert!(!desk.board.0.lock().unwrap().passing);
    }

    #[test]
    fn what_somebody_else_copied_since_stays() {
        let desk = Desk::new();
        desk.copy("code", Some(30)).unwrap();
        desk.board.0.lock().unwrap().text = Some("code of another program".into());
        assert_eq!(desk.at(30).as_deref(), Some("code of another program"));
        assert!(!desk.waits());
    }

    #[test]
    fn a_later_copy_has_a_time_of_its_own_even_of_the_same_text() {
        let desk = Desk::new();
        desk.copy("code", Some(30)).unwrap();
        assert_eq!(desk.at(20).as_deref(), Some("code"));
        desk.copy("code", Some(30)).unwrap();
        assert_eq!(desk.at(31).as_deref(), Some("code"));
        assert_eq!(desk.clipboard.clear_copy(1, "code"), Ok(()), "the older one, had it just become due");
        assert_eq!(desk.at(49).as_deref(), Some("code"));
        assert_eq!(desk.at(50), None);

        desk.copy("code", Some(30)).unwrap();
        desk.copy("code", None).unwrap();
        assert_eq!(desk.at(1000).as_deref(), Some("code"), "the later one is to stay");
    }

    #[test]
    fn a_clipboard_that_somebody_holds_is_tried_again() {
        let desk = Desk::new();
        desk.copy("code", Some(30)).unwrap();
        desk.board.0.lock().unwrap().refusals = 2;
        assert_eq!(desk.at(30).as_deref(), Some("code"));
        assert_eq!(desk.at(31).as_deref(), Some("code"));
        assert_eq!(desk.at(32), None);

        desk.copy("code", Some(0)).unwrap();
        desk.board.0.lock().unwrap().refusals = u32::MAX;
        (33..33 + u32::from(TRIES)).for_each(|second| drop(desk.at(second)));
        assert!(!desk.waits(), "not for ever");
    }

    #[test]
    fn a_system_without_a_clipboard_says_so_and_nothing_waits() {
        let desk = Desk::new();
        desk.board.0.lock().unwrap().refusals = 1;
        assert_eq!(desk.copy("code", Some(30)).unwrap_err().code, "no_clipboard");
        assert!(!desk.waits());
    }

    #[test]
    fn closing_waits_until_what_was_to_leave_is_gone_and_ends_the_watch() {
        let desk = Desk::new();
        std::thread::scope(|scope| {
            scope.spawn(|| desk.clipboard.watch());
            desk.copy("code", Some(30)).unwrap();
            desk.clipboard.close();
            assert_eq!(desk.board.now(), None);
            assert!(desk.board.0.lock().unwrap().closed);
        });
    }
}
