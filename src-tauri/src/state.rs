//! What the window holds: the open vault, the jobs under way, the settings, the idle timer, the clipboard.
use crate::autolock::{Clock, IdleTimer, LONGEST_WAIT, LockedBy, overslept};
use crate::clipboard::{Board, Clipboard};
use crate::interactive_guard::Attention;
use crate::jobs::{Jobs, Running};
use crate::settings::SettingsFile;
use crate::watching::Bell;
use mementory_api::types::{RecentVault, SessionState};
use mementory_api::{ApiError, ApiResult, Job, Session, WatchRound};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;

/// An open vault and what the window says about it.
struct OpenVault {
    session: Session,
    path: PathBuf,
    vault_id: String,
}

/// The idle timer, and whether something happened that the thread which waits by it has not seen yet.
#[derive(Default)]
struct Idle {
    timer: IdleTimer,
    news: bool,
    /// When the open vault was opened.
    opened: Duration,
}

/// State of the window. A command holds the vault for reading while it works; locking takes it for writing, so it
/// waits until nothing works with the vault any more.
pub struct AppState {
    vault: RwLock<Option<OpenVault>>,
    jobs: Jobs,
    attention: Attention,
    settings: Mutex<SettingsFile>,
    clock: Arc<dyn Clock>,
    idle: Mutex<Idle>,
    idle_changed: Condvar,
    clipboard: Clipboard,
    bell: Arc<Bell>,
}

impl AppState {
    /// Nothing open yet.
    pub fn new(settings: SettingsFile, clock: Arc<dyn Clock>, board: Box<dyn Board>) -> Self {
        let mut idle = Idle::default();
        idle.timer.set_minutes(settings.get().auto_lock_minutes);
        Self {
            vault: RwLock::default(),
            jobs: Jobs::default(),
            attention: Attention::default(),
            settings: Mutex::new(settings),
            clock: clock.clone(),
            idle: Mutex::new(idle),
            idle_changed: Condvar::new(),
            clipboard: Clipboard::new(board, clock),
            bell: Arc::default(),
        }
    }

    /// Work with the open vault. Error `locked` when none is open.
    pub fn with_session<T>(&self, work: impl FnOnce(&Session) -> ApiResult<T>) -> ApiResult<T> {
        let vault = self.vault.read().unwrap_or_else(PoisonError::into_inner);
        match &*vault {
            Some(open) => work(&open.session),
            None => Err(ApiError::new("locked", 1, "The vault is locked.")),
        }
    }

    /// Work with the open vault as a job that can be cancelled under `id`.
    pub fn with_job<T>(&self, id: &str, job: &Job, work: impl FnOnce(&Session) -> ApiResult<T>) -> ApiResult<T> {
        let running = self.jobs.start(id, job)?;
        let result = self.with_session(work);
        // Watching a long import is not being away.
        self.touch();
        self.ended(running);
        result
    }

    /// Take a vault that was just created or opened. The one that was open before is locked.
    pub fn put_session(&self, path: &Path, session: Session) -> ApiResult<SessionState> {
        let vault_id = session.info()?.vault_id;
        self.entered();
        self.jobs.cancel_all();
        let open = OpenVault { session, path: path.to_owned(), vault_id };
        *self.vault.write().unwrap_or_else(PoisonError::into_inner) = Some(open);
        self.settings().change(|settings| settings.remember(path));
        self.bell.ring();
        Ok(self.session_state())
    }

    /// What is open.
    pub fn session_state(&self) -> SessionState {
        let auto_lock_minutes = self.settings().get().auto_lock_minutes;
        let vault = self.vault.read().unwrap_or_else(PoisonError::into_inner);
        let open = vault.as_ref();
        SessionState {
            open: open.is_some(),
            vault_id: open.map(|open| open.vault_id.clone()),
            name: open.map(|open| vault_name(&open.path)),
            path: open.map(|open| open.path.display().to_string()),
            auto_lock_minutes,
        }
    }

    /// Lock: what was copied leaves the clipboard, jobs roll back, everything else that is under way ends, then the
    /// keys go.
    pub fn lock(&self) {
        self.clipboard.clear_now();
        self.jobs.cancel_all();
        self.vault.write().unwrap_or_else(PoisonError::into_inner).take();
        self.idle().timer.back();
        self.bell.ring();
    }

    /// One round through the watched folders. Nobody asked for it, so it keeps no vault open.
    pub fn watch_round(&self, job: &Job) -> ApiResult<WatchRound> {
        let _running = self.jobs.start_quiet("watching", job)?;
        self.with_session(|session| session.watch_round(self.clock.elapsed(), job))
    }

    /// Import what was found in a folder that imports on its own. A vault does not lock in the middle of it, but nobody
    /// watches it either: its end counts as no input. It is cancelled under the id of the find.
    pub fn import_find(&self, find: &str, job: &Job) -> ApiResult<()> {
        let running = self.jobs.start(find, job)?;
        let result = self.with_session(|session| session.import_find(find, job));
        self.ended(running);
        result.map(drop)
    }

    /// A lock that waited for a job need not wait for the next look.
    fn ended(&self, job: Running<'_>) {
        drop(job);
        self.news(|_| {});
    }

    /// Calls for a round.
    pub fn bell(&self) -> &Arc<Bell> {
        &self.bell
    }

    /// Wait until a lock that was asked for is done, so that the vault's folder is free again.
    pub fn wait_for_lock(&self) {
        drop(self.vault.write().unwrap_or_else(PoisonError::into_inner));
    }

    /// Lock because the window closes.
    pub fn shut_down(&self) {
        self.lock();
        self.clipboard.close();
    }

    /// The clipboard, and what is to leave it again.
    pub fn clipboard(&self) -> &Clipboard {
        &self.clipboard
    }

    /// The jobs under way.
    pub fn jobs(&self) -> &Jobs {
        &self.jobs
    }

    /// Whether somebody waits for an answer.
    pub fn attention(&self) -> &Attention {
        &self.attention
    }

    /// The settings, for reading or changing.
    pub fn settings(&self) -> MutexGuard<'_, SettingsFile> {
        self.settings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Vaults opened before, and whether they are still there.
    pub fn recent_vaults(&self) -> Vec<RecentVault> {
        let recent = self.settings().get().recent.clone();
        recent
            .into_iter()
            .map(|path| RecentVault {
                name: vault_name(&path),
                present: path.is_dir(),
                path: path.display().to_string(),
            })
            .collect()
    }

    /// The person did something.
    pub fn touch(&self) {
        let now = self.clock.elapsed();
        self.idle().timer.touch(now);
    }

    /// The person opened a vault: whatever went before, they are here.
    fn entered(&self) {
        let now = self.clock.elapsed();
        let mut idle = self.idle();
        idle.timer.touch(now);
        idle.timer.back();
        idle.opened = now;
    }

    /// Minutes without input before the vault locks itself; 0 = never. Remembered.
    pub fn set_auto_lock(&self, minutes: u32) {
        self.settings().change(|settings| settings.auto_lock_minutes = minutes);
        let now = self.clock.elapsed();
        self.news(|timer| {
            timer.set_minutes(minutes);
            timer.touch(now);
        });
    }

    /// Lock when the screen locks or the computer sleeps? Remembered.
    pub fn set_lock_when_away(&self, on: bool) {
        self.settings().change(|settings| settings.lock_when_away = on);
        if !on {
            self.idle().timer.back();
        }
    }

    /// Is that so?
    pub fn locks_when_away(&self) -> bool {
        self.settings().get().lock_when_away
    }

    /// The screen was locked, or unlocked again. The vault locks as after too long without input, so a running job is
    /// waited for; who is back before its end finds the vault open.
    #[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "only Linux tells"))]
    pub fn screen(&self, locked: bool) {
        match locked {
            true if self.locks_when_away() => self.news(|timer| timer.leave(LockedBy::Screen)),
            true => {}
            false => self.idle().timer.back(),
        }
    }

    /// The computer is about to sleep: lock now. Unlike elsewhere jobs are not waited for, they roll back: the machine
    /// would sleep with the keys in its memory.
    #[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "only Linux tells"))]
    pub fn lock_before_sleep(&self) -> Option<LockedBy> {
        if !self.locks_when_away() || !self.is_open() {
            return None;
        }
        self.lock();
        Some(LockedBy::Sleep)
    }

    /// Lock now if the person has been away long enough, or left, and no job is under way. Says why when it did.
    pub fn lock_if_idle(&self) -> Option<LockedBy> {
        let due = self.idle().timer.due(self.clock.elapsed())?;
        if self.jobs.any() || !self.is_open() {
            return None;
        }
        self.lock();
        Some(due)
    }

    /// Wait for idleness until the process ends; `on_lock` is called after each time that the vault locked itself.
    pub fn watch_for_idleness(&self, on_lock: impl Fn(LockedBy)) {
        loop {
            if let Some(by) = self.lock_if_idle() {
                on_lock(by);
            }
            self.wait_for_idleness();
        }
    }

    /// One wait for idleness. It ends early when there is news; when it ends far too late, the machine slept, and nobody
    /// may have told.
    fn wait_for_idleness(&self) {
        let begun = self.clock.elapsed();
        let idle = self.idle();
        let left = idle.timer.left(begun).filter(|left| !left.is_zero());
        let wait = left.map_or(LONGEST_WAIT, |left| left.min(LONGEST_WAIT));
        let waited = self.idle_changed.wait_timeout_while(idle, wait, |idle| !idle.news);
        waited.unwrap_or_else(PoisonError::into_inner).0.news = false;
        self.awake_after(begun, wait);
    }

    /// A wait of `asked` that begun then is over. After a sleep the vault locks, unless it was opened after the sleep.
    fn awake_after(&self, begun: Duration, asked: Duration) {
        let now = self.clock.elapsed();
        let away = self.locks_when_away();
        let mut idle = self.idle();
        if away && overslept(asked, now.saturating_sub(begun.max(idle.opened))) {
            idle.timer.leave(LockedBy::Sleep);
        }
    }

    fn is_open(&self) -> bool {
        self.vault.read().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// Change the timer and wake who waits by it.
    fn news(&self, change: impl FnOnce(&mut IdleTimer)) {
        let mut idle = self.idle();
        change(&mut idle.timer);
        idle.news = true;
        self.idle_changed.notify_all();
    }

    fn idle(&self) -> MutexGuard<'_, Idle> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The folder's name without `.mementory`, or the ending that vaults had before the program was renamed.
fn vault_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
    name.strip_suffix(".mementory").or_else(|| name.strip_suffix(".keepsake")).unwrap_or(&name).to_owned()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::autolock::hand::HandClock;
    use crate::clipboard::fake::FakeBoard;
    use mementory_api::CreateOptions;
    use std::sync::atomic::{AtomicBool, Ordering};
    use zeroize::Zeroizing;

    const MINUTE: Duration = Duration::from_secs(60);

    /// A window with an open vault that locks after five minutes.
    fn open_window(folder: &Path) -> (AppState, Arc<HandClock>) {
        let (state, clock, _) = open_window_and_clipboard(folder);
        (state, clock)
    }

    fn open_window_and_clipboard(folder: &Path) -> (AppState, Arc<HandClock>, FakeBoard) {
        let (clock, board) = (Arc::new(HandClock::default()), FakeBoard::default());
        let settings = SettingsFile::load(&folder.join("config"));
        let state = AppState::new(settings, clock.clone(), Box::new(board.clone()));
        state.set_auto_lock(5);
        let vault = folder.join("Memories.mementory");
        let options = CreateOptions { kdf_floor: true };
        let (session, _) = Session::create(&vault, "correct horse battery staple", options).unwrap();
        let opened = state.put_session(&vault, session).unwrap();
        assert!(opened.open && opened.name.as_deref() == Some("Memories"));
        (state, clock, board)
    }

    #[test]
    fn a_vault_is_called_by_its_folder() {
        assert_eq!(vault_name(Path::new("/home/me/Memories.mementory")), "Memories");
        assert_eq!(vault_name(Path::new("/home/me/Memories.keepsake")), "Memories");
        assert_eq!(vault_name(Path::new("/home/me/plain")), "plain");
        assert_eq!(vault_name(Path::new("/")), "/");
    }

    #[test]
    fn the_vault_locks_itself_after_five_minutes_without_input_and_can_be_opened_again() {
        let folder = tempfile::tempdir().unwrap();
        let (state, clock) = open_window(folder.path());
        clock.set(MINUTE * 4);
        state.touch();
        clock.set(MINUTE * 8);
        assert_eq!(state.lock_if_idle(), None, "four minutes after the last input");
        clock.set(MINUTE * 9);
        assert_eq!(state.lock_if_idle(), Some(LockedBy::Idle));
        assert_eq!(state.lock_if_idle(), None, "there is nothing to lock any more");
        assert!(!state.session_state().open);
        assert_eq!(state.with_session(Session::info).err().map(|e| e.code), Some("locked"));

        let vault = folder.path().join("Memories.mementory");
        assert_eq!(state.recent_vaults()[0].path, vault.display().to_string());
        let session = Session::open(&vault, "correct horse battery staple").unwrap();
        assert!(state.put_session(&vault, session).unwrap().open);
    }

    #[test]
    fn locking_takes_what_waits_out_of_the_clipboard_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let (state, _, board) = open_window_and_clipboard(folder.path());
        let copy = |seconds: Option<u64>| {
            state.clipboard().copy(Zeroizing::new("words".to_owned()), seconds.map(Duration::from_secs)).unwrap();
        };
        copy(Some(30));
        state.clipboard().clear_if_due();
        assert_eq!(board.now().as_deref(), Some("words"));
        state.lock();
        state.clipboard().clear_if_due();
        assert_eq!(board.now(), None);

        copy(None);
        state.lock();
        state.clipboard().clear_if_due();
        assert_eq!(board.now().as_deref(), Some("words"), "what the person wants to stay does");
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
        assert_eq!(state.lock_if_idle(), Some(LockedBy::Idle));
    }

    #[test]
    fn a_locked_screen_locks_the_vault_once_no_job_is_under_way_unless_the_person_is_back_or_does_not_want_it() {
        let folder = tempfile::tempdir().unwrap();
        let (state, _) = open_window(folder.path());
        state.screen(true);
        assert_eq!(state.lock_if_idle(), Some(LockedBy::Screen));

        let vault = folder.path().join("Memories.mementory");
        let open = || {
            let session = Session::open(&vault, "correct horse battery staple").unwrap();
            state.put_session(&vault, session).unwrap()
        };
        state.screen(true);
        open();
        assert_eq!(state.lock_if_idle(), None, "who opens a vault is here, whatever the system said");
        let during = state.with_job("import", &Job::silent(), |_| {
            state.screen(true);
            state.touch();
            Ok(state.lock_if_idle())
        });
        assert_eq!(during.unwrap(), None);
        assert_eq!(state.lock_if_idle(), Some(LockedBy::Screen), "the end of the job is no reason to stay open");

        open();
        state.screen(true);
        state.screen(false);
        assert_eq!(state.lock_if_idle(), None, "they were back before");
        state.screen(true);
        state.set_lock_when_away(false);
        assert_eq!(state.lock_if_idle(), None);
        state.screen(true);
        assert_eq!((state.lock_if_idle(), state.lock_before_sleep()), (None, None), "switched off");
    }

    #[test]
    fn who_waits_for_idleness_hears_of_a_locked_screen_and_of_the_end_of_a_job_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let (state, _) = open_window(folder.path());
        let state = Arc::new(state);
        let (locked, locks) = std::sync::mpsc::channel();
        let waiting = state.clone();
        std::thread::spawn(move || waiting.watch_for_idleness(|by| locked.send(by).unwrap()));
        let at_once = LONGEST_WAIT / 3;
        state.screen(true);
        assert_eq!(locks.recv_timeout(at_once), Ok(LockedBy::Screen));

        let vault = folder.path().join("Memories.mementory");
        let session = Session::open(&vault, "correct horse battery staple").unwrap();
        state.put_session(&vault, session).unwrap();
        let job = Job::silent();
        let working = |_: &Session| {
            state.screen(true);
            Ok(())
        };
        state.with_job("import", &job, working).unwrap();
        assert_eq!(locks.recv_timeout(at_once), Ok(LockedBy::Screen));
        assert!(!job.cancel_flag().load(Ordering::Relaxed), "it was waited for");
    }

    #[test]
    fn before_a_sleep_the_vault_locks_whatever_is_under_way() {
        let folder = tempfile::tempdir().unwrap();
        let (state, _) = open_window(folder.path());
        let job = Job::silent();
        let running = state.jobs().start("import", &job).unwrap();
        assert_eq!(state.lock_before_sleep(), Some(LockedBy::Sleep));
        assert!(job.cancel_flag().load(Ordering::Relaxed), "it rolls back");
        drop(running);
        assert!(!state.session_state().open);
        assert_eq!(state.lock_before_sleep(), None, "there is nothing to lock any more");
    }

    #[test]
    fn after_a_sleep_that_nobody_told_of_the_vault_locks() {
        let second = Duration::from_secs(1);
        // The switch, when the vault was opened, when the wait of 15 seconds was over; and what comes of it.
        for (on, opened, over, locked) in [
            (true, Duration::ZERO, MINUTE + second * 15, None),
            (true, Duration::ZERO, MINUTE * 3, Some(LockedBy::Sleep)),
            (false, Duration::ZERO, MINUTE * 3, None),
            (true, MINUTE * 3, MINUTE * 3 + second * 9, None),
            (true, MINUTE + second, MINUTE * 3, Some(LockedBy::Sleep)),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let (state, clock) = open_window(folder.path());
            state.set_lock_when_away(on);
            clock.set(opened);
            state.entered();
            clock.set(over);
            state.awake_after(MINUTE, second * 15);
            assert_eq!(state.lock_if_idle(), locked, "on: {on}, opened at {opened:?}, over at {over:?}");
        }
    }

    #[test]
    fn watching_keeps_no_vault_open_and_ends_with_it() {
        let folder = tempfile::tempdir().unwrap();
        let (state, clock) = open_window(folder.path());
        let watched = folder.path().join("Downloads");
        std::fs::create_dir(&watched).unwrap();
        state.with_session(|session| session.watch_folder(&watched)).unwrap();
        clock.set(MINUTE * 4);
        assert!(state.watch_round(&Job::silent()).unwrap().watching);
        assert_eq!(state.import_find("nothing", &Job::silent()).unwrap_err().code, "not_found");
        let quiet = Job::silent();
        let running = state.jobs().start_quiet("watching", &quiet).unwrap();
        clock.set(MINUTE * 5);
        assert!(state.lock_if_idle().is_some(), "neither a round nor an import on its own is input");
        assert!(quiet.cancel_flag().load(Ordering::Relaxed), "a round that is under way ends");
        drop(running);
        assert_eq!(state.watch_round(&Job::silent()).unwrap_err().code, "locked");
    }

    #[test]
    fn locking_cancels_jobs_and_waits_for_their_end() {
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
}
