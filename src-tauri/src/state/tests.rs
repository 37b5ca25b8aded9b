#![allow(clippy::unwrap_used)]
use super::*;
use crate::autolock::manual::ManualClock;
use crate::clipboard::fake::FakeClipboard;
use mementory_api::CreateOptions;
use std::sync::atomic::{AtomicBool, Ordering};
use zeroize::Zeroizing;

const MINUTE: Duration = Duration::from_secs(60);

/// Creates a window with an open vault that locks after five minutes.
fn open_window(folder: &Path) -> (AppState, Arc<ManualClock>) {
    let (state, clock, _) = open_window_and_clipboard(folder);
    (state, clock)
}

fn open_window_and_clipboard(folder: &Path) -> (AppState, Arc<ManualClock>, FakeClipboard) {
    let (clock, backend) = (Arc::new(ManualClock::default()), FakeClipboard::default());
    let settings = SettingsFile::load(&folder.join("config"));
    let state = AppState::new(settings, clock.clone(), Box::new(backend.clone()));
    state.set_auto_lock(5);
    let vault = folder.join("Memories.mementory");
    let options = CreateOptions { kdf_floor: true };
    let (session, _) = Session::create(&vault, "correct horse battery staple", options).unwrap();
    let opened = state.set_open_vault(&vault, session).unwrap();
    assert!(opened.open && opened.name.as_deref() == Some("Memories"));
    (state, clock, backend)
}

#[test]
fn a_vault_is_named_after_its_folder() {
    assert_eq!(vault_name(Path::new("/home/me/Memories.mementory")), "Memories");
    assert_eq!(vault_name(Path::new("/home/me/Memories.keepsake")), "Memories");
    assert_eq!(vault_name(Path::new("/home/me/plain")), "plain");
    assert_eq!(vault_name(Path::new("/")), "/");
}

#[test]
fn the_vault_locks_after_five_minutes_without_input_and_can_be_opened_again() {
    let folder = tempfile::tempdir().unwrap();
    let (state, clock) = open_window(folder.path());
    clock.set(MINUTE * 4);
    state.record_input();
    clock.set(MINUTE * 8);
    assert_eq!(state.lock_if_idle(), None, "four minutes after the last input");
    clock.set(MINUTE * 9);
    assert_eq!(state.lock_if_idle(), Some(LockReason::Idle));
    assert_eq!(state.lock_if_idle(), None, "there is nothing to lock any more");
    assert!(!state.session_state().open);
    assert_eq!(state.with_session(|session| session.overview().info()).err().map(|e| e.code), Some("locked"));

    let vault = folder.path().join("Memories.mementory");
    assert_eq!(state.recent_vaults()[0].path, files::real_path(&vault).display().to_string());
    let session = Session::open(&vault, "correct horse battery staple").unwrap();
    assert!(state.set_open_vault(&vault, session).unwrap().open);
}

#[cfg(unix)]
#[test]
fn the_path_of_the_open_vault_does_not_depend_on_how_it_was_opened() {
    let folder = tempfile::tempdir().unwrap();
    let (state, _) = open_window(folder.path());
    state.lock();
    let link = folder.path().join("link");
    std::os::unix::fs::symlink(folder.path().join("Memories.mementory"), &link).unwrap();
    let session = Session::open(&link, "correct horse battery staple").unwrap();
    let opened = state.set_open_vault(&link, session).unwrap();
    let requested = files::sort_opened(&[link.join("vault.json")]).vault;
    assert!(requested.is_some() && opened.path == requested);
    assert_eq!(state.recent_vaults().len(), 1);
}

#[test]
fn locking_clears_the_clipboard_of_a_pending_text_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let (state, _, backend) = open_window_and_clipboard(folder.path());
    let copy = |seconds: Option<u64>| {
        state.clipboard().copy(Zeroizing::new("words".to_owned()), seconds.map(Duration::from_secs)).unwrap();
    };
    copy(Some(30));
    state.clipboard().clear_if_due();
    assert_eq!(backend.content().as_deref(), Some("words"));
    state.lock();
    state.clipboard().clear_if_due();
    assert_eq!(backend.content(), None);

    copy(None);
    state.lock();
    state.clipboard().clear_if_due();
    assert_eq!(backend.content().as_deref(), Some("words"), "text without a time to clear stays");
}

#[test]
fn a_running_job_postpones_the_lock_and_its_end_counts_as_input() {
    let folder = tempfile::tempdir().unwrap();
    let (state, clock) = open_window(folder.path());
    let locked = state.with_job("import", &Job::silent(), |_| {
        clock.set(MINUTE * 30);
        Ok(state.lock_if_idle())
    });
    assert_eq!(locked.unwrap(), None);
    assert_eq!(state.lock_if_idle(), None);
    clock.set(MINUTE * 35);
    assert_eq!(state.lock_if_idle(), Some(LockReason::Idle));
}

#[test]
fn a_locked_screen_locks_the_vault_after_running_jobs_unless_it_is_unlocked_before_or_the_setting_is_off() {
    let folder = tempfile::tempdir().unwrap();
    let (state, _) = open_window(folder.path());
    state.on_screen_lock(true);
    assert_eq!(state.lock_if_idle(), Some(LockReason::Screen));

    let vault = folder.path().join("Memories.mementory");
    let open = || {
        let session = Session::open(&vault, "correct horse battery staple").unwrap();
        state.set_open_vault(&vault, session).unwrap()
    };
    state.on_screen_lock(true);
    open();
    assert_eq!(state.lock_if_idle(), None, "opening a vault cancels an earlier lock request");
    let during = state.with_job("import", &Job::silent(), |_| {
        state.on_screen_lock(true);
        state.record_input();
        Ok(state.lock_if_idle())
    });
    assert_eq!(during.unwrap(), None);
    assert_eq!(state.lock_if_idle(), Some(LockReason::Screen), "the end of a job does not cancel the request");

    open();
    state.on_screen_lock(true);
    state.on_screen_lock(false);
    assert_eq!(state.lock_if_idle(), None, "the screen was unlocked before");
    state.on_screen_lock(true);
    state.set_lock_with_session(false);
    assert_eq!(state.lock_if_idle(), None);
    state.on_screen_lock(true);
    assert_eq!((state.lock_if_idle(), state.lock_before_sleep()), (None, None), "switched off");
}

#[test]
fn a_locked_screen_and_the_end_of_a_job_wake_the_idle_thread_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let (state, _) = open_window(folder.path());
    let state = Arc::new(state);
    let (locked, locks) = std::sync::mpsc::channel();
    let waiting = state.clone();
    std::thread::spawn(move || waiting.watch_for_idleness(|by| locked.send(by).unwrap()));
    let wake_deadline = MAX_WAIT / 3;
    state.on_screen_lock(true);
    assert_eq!(locks.recv_timeout(wake_deadline), Ok(LockReason::Screen));

    let vault = folder.path().join("Memories.mementory");
    let session = Session::open(&vault, "correct horse battery staple").unwrap();
    state.set_open_vault(&vault, session).unwrap();
    let job = Job::silent();
    let working = |_: &Session| {
        state.on_screen_lock(true);
        Ok(())
    };
    state.with_job("import", &job, working).unwrap();
    assert_eq!(locks.recv_timeout(wake_deadline), Ok(LockReason::Screen));
    assert!(!job.cancel_flag().load(Ordering::Relaxed), "it was waited for");
}

#[test]
fn before_sleep_the_vault_locks_even_while_jobs_run() {
    let folder = tempfile::tempdir().unwrap();
    let (state, _) = open_window(folder.path());
    let job = Job::silent();
    let running = state.jobs().start("import", &job).unwrap();
    assert_eq!(state.lock_before_sleep(), Some(LockReason::Sleep));
    assert!(job.cancel_flag().load(Ordering::Relaxed), "it rolls back");
    drop(running);
    assert!(!state.session_state().open);
    assert_eq!(state.lock_before_sleep(), None, "there is nothing to lock any more");
}

#[test]
fn after_an_unannounced_sleep_the_vault_locks() {
    let second = Duration::from_secs(1);
    // Columns: the setting, when the vault was opened, when the wait of 15 seconds ended, and the expected lock.
    for (enabled, opened, wait_ended, locked) in [
        (true, Duration::ZERO, MINUTE + second * 15, None),
        (true, Duration::ZERO, MINUTE * 3, Some(LockReason::Sleep)),
        (false, Duration::ZERO, MINUTE * 3, None),
        (true, MINUTE * 3, MINUTE * 3 + second * 9, None),
        (true, MINUTE + second, MINUTE * 3, Some(LockReason::Sleep)),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let (state, clock) = open_window(folder.path());
        state.set_lock_with_session(enabled);
        clock.set(opened);
        state.vault_opened();
        clock.set(wait_ended);
        state.check_for_sleep(MINUTE, second * 15);
        assert_eq!(state.lock_if_idle(), locked, "on: {enabled}, opened at {opened:?}, over at {wait_ended:?}");
    }
}

#[test]
fn watching_does_not_keep_the_vault_open_and_ends_when_it_locks() {
    let folder = tempfile::tempdir().unwrap();
    let (state, clock) = open_window(folder.path());
    let watched = folder.path().join("Downloads");
    std::fs::create_dir(&watched).unwrap();
    state.with_session(|session| session.watching().add(&watched)).unwrap();
    clock.set(MINUTE * 4);
    assert!(state.scan_watched_folders(&Job::silent()).unwrap().watching);
    assert_eq!(state.import_detected_file("nothing", &Job::silent()).unwrap_err().code, "not_found");
    let background = Job::silent();
    let running = state.jobs().start_background("watching", &background).unwrap();
    clock.set(MINUTE * 5);
    assert!(state.lock_if_idle().is_some(), "neither a scan nor an automatic import is input");
    assert!(background.cancel_flag().load(Ordering::Relaxed), "a running scan is cancelled");
    drop(running);
    assert_eq!(state.scan_watched_folders(&Job::silent()).unwrap_err().code, "locked");
}

#[test]
fn locking_cancels_jobs_and_waits_until_they_end() {
    let folder = tempfile::tempdir().unwrap();
    let (state, _) = open_window(folder.path());
    let rolled_back = AtomicBool::new(false);
    let (started, starts) = std::sync::mpsc::channel();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let job = Job::silent();
            let cancelled = job.cancel_flag();
            state.with_job("import", &job, |_| {
                started.send(()).unwrap();
                while !cancelled.load(Ordering::Relaxed) {
                    std::thread::yield_now();
                }
                rolled_back.store(true, Ordering::SeqCst);
                Ok(())
            })
        });
        starts.recv().unwrap();
        state.lock();
        assert!(rolled_back.load(Ordering::SeqCst), "locked only after the job had ended");
    });
    assert!(!state.session_state().open);
}
