//! What the window holds: the open vault, the jobs under way, the settings, the idle timer, the clipboard.
use crate::attention::Attention;
use crate::autolock::{Clock, IdleTimer, LONGEST_WAIT};
use crate::clipboard::{Board, Clipboard};
use crate::jobs::Jobs;
use crate::settings::SettingsFile;
use crate::watching::Bell;
use keepsake_api::types::{RecentVault, SessionState};
use keepsake_api::{ApiError, ApiResult, Job, Session, WatchRound};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, RwLock};

/// An open vault and what the window says about it.
struct OpenVault {
    session: Session,
    path: PathBuf,
    vault_id: String,
}

/// State of the window. A command holds the vault for reading while it works; locking takes it for writing, so it
/// waits until nothing works with the vault any more.
pub struct AppState {
    vault: RwLock<Option<OpenVault>>,
    jobs: Jobs,
    attention: Attention,
    settings: Mutex<SettingsFile>,
    clock: Arc<dyn Clock>,
    idle: Mutex<IdleTimer>,
    idle_changed: Condvar,
    clipboard: Clipboard,
    bell: Arc<Bell>,
}

impl AppState {
    /// Nothing open yet.
    pub fn new(settings: SettingsFile, clock: Arc<dyn Clock>, board: Box<dyn Board>) -> Self {
        let mut idle = IdleTimer::default();
        idle.set_minutes(settings.get().auto_lock_minutes);
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
        let _running = self.jobs.start(id, job)?;
        let result = self.with_session(work);
        // Watching a long import is not being away.
        self.touch();
        result
    }

    /// Take a vault that was just created or opened. The one that was open before is locked.
    pub fn put_session(&self, path: &Path, session: Session) -> ApiResult<SessionState> {
        let vault_id = session.info()?.vault_id;
        self.touch();
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
        let _running = self.jobs.start(find, job)?;
        self.with_session(|session| session.import_find(find, job)).map(drop)
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
        self.idle_timer().touch(now);
    }

    /// Minutes without input before the vault locks itself; 0 = never. Remembered.
    pub fn set_auto_lock(&self, minutes: u32) {
        self.settings().change(|settings| settings.auto_lock_minutes = minutes);
        let now = self.clock.elapsed();
        let mut idle = self.idle_timer();
        idle.set_minutes(minutes);
        idle.touch(now);
        self.idle_changed.notify_all();
    }

    /// Lock now if the person has been away long enough and no job is under way. True when it did.
    pub fn lock_if_idle(&self) -> bool {
        let due = self.idle_timer().left(self.clock.elapsed()).is_some_and(|left| left.is_zero());
        let open = || self.vault.read().unwrap_or_else(PoisonError::into_inner).is_some();
        if !due || self.jobs.any() || !open() {
            return false;
        }
        self.lock();
        true
    }

    /// Wait for idleness until the process ends; `on_lock` is called after each time that the vault locked itself.
    pub fn watch_for_idleness(&self, on_lock: impl Fn()) {
        loop {
            if self.lock_if_idle() {
                on_lock();
            }
            let idle = self.idle_timer();
            let left = idle.left(self.clock.elapsed()).filter(|left| !left.is_zero());
            let wait = left.map_or(LONGEST_WAIT, |left| left.min(LONGEST_WAIT));
            let _ = self.idle_changed.wait_timeout(idle, wait);
        }
    }

    fn idle_timer(&self) -> MutexGuard<'_, IdleTimer> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The folder's name without `.keepsake`.
fn vault_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
    name.strip_suffix(".keepsake").unwrap_or(&name).to_owned()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::autolock::hand::HandClock;
    use crate::clipboard::fake::FakeBoard;
    use keepsake_api::CreateOptions;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Duration;
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
        let vault = folder.join("Memories.keepsake");
        let options = CreateOptions { kdf_floor: true };
        let (session, _) = Session::create(&vault, "correct horse battery staple", options).unwrap();
        let opened = state.put_session(&vault, session).unwrap();
        assert!(opened.open && opened.name.as_deref() == Some("Memories"));
        (state, clock, board)
    }

    #[test]
    fn a_vault_is_called_by_its_folder() {
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
        assert!(!state.lock_if_idle(), "four minutes after the last input");
        clock.set(MINUTE * 9);
        assert!(state.lock_if_idle());
        assert!(!state.lock_if_idle(), "there is nothing to lock any more");
        assert!(!state.session_state().open);
        assert_eq!(state.with_session(Session::info).err().map(|e| e.code), Some("locked"));

        let vault = folder.path().join("Memories.keepsake");
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
        assert!(!locked.unwrap());
        assert!(!state.lock_if_idle());
        clock.set(MINUTE * 35);
        assert!(state.lock_if_idle());
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
        assert!(state.lock_if_idle(), "neither a round nor an import on its own is input");
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
