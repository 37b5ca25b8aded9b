#![allow(clippy::unwrap_used)]
use super::fake::FakeClipboard;
use super::*;
use crate::autolock::manual::ManualClock;

const SECOND: Duration = Duration::from_secs(1);

struct Setup {
    clipboard: Clipboard,
    backend: FakeClipboard,
    clock: Arc<ManualClock>,
}

impl Setup {
    fn new() -> Self {
        let (backend, clock) = (FakeClipboard::default(), Arc::new(ManualClock::default()));
        Self { clipboard: Clipboard::new(Box::new(backend.clone()), clock.clone()), backend, clock }
    }

    fn copy(&self, text: &str, seconds: Option<u32>) -> ApiResult<()> {
        self.clipboard.copy(Zeroizing::new(text.to_owned()), seconds.map(|seconds| SECOND * seconds))
    }

    /// The clipboard's content this many seconds after the start.
    fn content_at(&self, seconds: u32) -> Option<String> {
        self.clock.set(SECOND * seconds);
        self.clipboard.clear_if_due();
        self.backend.content()
    }

    fn is_pending(&self) -> bool {
        self.clipboard.clear_state().pending.is_some()
    }
}

#[test]
fn a_text_is_cleared_when_it_is_due_and_not_before() {
    let setup = Setup::new();
    setup.copy("code", Some(30)).unwrap();
    assert!(setup.backend.0.lock().unwrap().temporary, "kept out of histories");
    assert_eq!(setup.content_at(29).as_deref(), Some("code"));
    assert!(setup.is_pending());
    assert_eq!(setup.content_at(30), None);
    assert!(!setup.is_pending(), "no copy of the text is kept");
}

#[test]
fn a_text_is_read_if_it_is_not_blank_and_fits_into_a_field() {
    let setup = Setup::new();
    assert!(setup.clipboard.read().unwrap().is_none());
    setup.copy(" \n", None).unwrap();
    assert!(setup.clipboard.read().unwrap().is_none(), "nothing to paste");
    setup.copy("Alpha likes tea.", Some(30)).unwrap();
    assert_eq!(setup.clipboard.read().unwrap().as_deref().map(String::as_str), Some("Alpha likes tea."));
    assert!(setup.is_pending() && setup.backend.content().is_some(), "reading changes nothing");
    setup.copy(&"x".repeat(MAX_PASTE_BYTES + 1), None).unwrap();
    assert_eq!(setup.clipboard.read().unwrap_err().code, "limit");
    setup.backend.0.lock().unwrap().failures = 1;
    assert_eq!(setup.clipboard.read().unwrap_err().code, "no_clipboard");
}

#[test]
fn a_text_without_a_clear_time_stays() {
    let setup = Setup::new();
    setup.copy("words", None).unwrap();
    setup.clipboard.clear_now();
    assert_eq!(setup.content_at(1_000_000).as_deref(), Some("words"));
    assert!(!setup.backend.0.lock().unwrap().temporary);
}

#[test]
fn text_that_another_program_copied_later_stays() {
    let setup = Setup::new();
    setup.copy("code", Some(30)).unwrap();
    setup.backend.0.lock().unwrap().text = Some("code of another program".into());
    assert_eq!(setup.content_at(30).as_deref(), Some("code of another program"));
    assert!(!setup.is_pending());
}

#[test]
fn a_later_copy_is_cleared_at_its_own_time_even_if_the_text_is_the_same() {
    let setup = Setup::new();
    setup.copy("code", Some(30)).unwrap();
    assert_eq!(setup.content_at(20).as_deref(), Some("code"));
    setup.copy("code", Some(30)).unwrap();
    assert_eq!(setup.content_at(31).as_deref(), Some("code"));
    assert_eq!(setup.clipboard.clear_copy(1, "code"), Ok(()), "clearing the first copy leaves the second");
    assert_eq!(setup.content_at(49).as_deref(), Some("code"));
    assert_eq!(setup.content_at(50), None);

    setup.copy("code", Some(30)).unwrap();
    setup.copy("code", None).unwrap();
    assert_eq!(setup.content_at(1000).as_deref(), Some("code"), "the later copy has no time to clear");
}

#[test]
fn a_blocked_clipboard_is_tried_again() {
    let setup = Setup::new();
    setup.copy("code", Some(30)).unwrap();
    setup.backend.0.lock().unwrap().failures = 2;
    assert_eq!(setup.content_at(30).as_deref(), Some("code"));
    assert_eq!(setup.content_at(31).as_deref(), Some("code"));
    assert_eq!(setup.content_at(32), None);

    setup.copy("code", Some(0)).unwrap();
    setup.backend.0.lock().unwrap().failures = u32::MAX;
    (33..33 + u32::from(CLEAR_ATTEMPTS)).for_each(|second| drop(setup.content_at(second)));
    assert!(!setup.is_pending(), "but not forever");
}

#[test]
fn without_a_clipboard_copying_fails_and_nothing_is_pending() {
    let setup = Setup::new();
    setup.backend.0.lock().unwrap().failures = 1;
    assert_eq!(setup.copy("code", Some(30)).unwrap_err().code, "no_clipboard");
    assert!(!setup.is_pending());
}

#[test]
fn closing_waits_until_the_pending_text_is_cleared_and_ends_the_watch() {
    let setup = Setup::new();
    std::thread::scope(|scope| {
        scope.spawn(|| setup.clipboard.watch());
        setup.copy("code", Some(30)).unwrap();
        setup.clipboard.close();
        assert_eq!(setup.backend.content(), None);
        assert!(setup.backend.0.lock().unwrap().closed);
    });
}
