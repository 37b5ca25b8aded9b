//! State of the window: the open vault, running jobs, settings, the idle timer, the clipboard.
use crate::agents::Agents;
use crate::autolock::{Clock, IdleTimer, LockReason, MAX_WAIT, has_slept};
use crate::clipboard::{Clipboard, ClipboardBackend};
use crate::interactive_guard::InteractiveCommands;
use crate::jobs::{Jobs, RunningJob};
use crate::open_vault::{OpenVault, SharedVault};
use crate::settings::SettingsFile;
use crate::wake_signal::WakeSignal;
use mementory_api::types::{RecentVault, SessionState};
use mementory_api::{ApiError, ApiResult, FolderScan, Job, Session, files};
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The idle timer, and whether it has changed since the waiting thread last read its values.
#[derive(Default)]
struct IdleState {
    timer: IdleTimer,
    changed: bool,
    /// Time of the clock at which the vault was opened.
    opened_at: Duration,
}

/// State of the window. A command has the vault's read lock while it works. Locking the vault needs the write lock, so
/// it waits until no command uses the vault.
pub struct AppState {
    vault: SharedVault,
    agents: Agents,
    jobs: Jobs,
    interactive: InteractiveCommands,
    settings: Mutex<SettingsFile>,
    clock: Arc<dyn Clock>,
    idle: Mutex<IdleState>,
    idle_changed: Condvar,
    clipboard: Clipboard,
    wake_signal: Arc<WakeSignal>,
}

impl AppState {
    /// The state at start, with no open vault.
    pub fn new(settings: SettingsFile, clock: Arc<dyn Clock>, backend: Box<dyn ClipboardBackend>) -> Self {
        let mut idle = IdleState::default();
        idle.timer.set_minutes(settings.get().auto_lock_minutes);
        Self {
            vault: SharedVault::default(),
            agents: Agents::default(),
            jobs: Jobs::default(),
            interactive: InteractiveCommands::default(),
            settings: Mutex::new(settings),
            clock: clock.clone(),
            idle: Mutex::new(idle),
            idle_changed: Condvar::new(),
            clipboard: Clipboard::new(backend, clock),
            wake_signal: Arc::default(),
        }
    }

    /// Runs `work` with the open vault. Fails with `locked` if no vault is open.
    pub fn with_session<T>(&self, work: impl FnOnce(&Session) -> ApiResult<T>) -> ApiResult<T> {
        let vault = self.vault.read().unwrap_or_else(PoisonError::into_inner);
        match &*vault {
            Some(open) => work(&open.session),
            None => {
                Err(ApiError::new("locked", 1, "The vault is locked. Nothing was changed. Unlock it and try again."))
            }
        }
    }

    /// Runs `work` with the open vault as a job that can be cancelled under `id`.
    pub fn with_job<T>(&self, id: &str, job: &Job, work: impl FnOnce(&Session) -> ApiResult<T>) -> ApiResult<T> {
        let running_job = self.jobs.start(id, job)?;
        let result = self.with_session(work);
        // The end of a job counts as input, because a person who waits for it is not idle.
        self.record_input();
        self.finish_job(running_job);
        result
    }

    /// Makes `session`, which was just created or opened, the open vault. If another vault is open, that vault is
    /// locked. The stored path has no links, so that the vault is recognised even if it is opened by another path next
    /// time.
    pub fn set_open_vault(&self, path: &Path, session: Session) -> ApiResult<SessionState> {
        let path = &files::real_path(path);
        let vault_id = session.overview().info()?.vault_id;
        self.vault_opened();
        self.jobs.cancel_all();
        self.stop_client_calls();
        let open_vault = OpenVault { session, path: path.to_owned(), vault_id };
        *self.vault.write().unwrap_or_else(PoisonError::into_inner) = Some(open_vault);
        let state = self.session_state();
        // The demonstration is not added to the recent vaults: the window can always open it, without a passphrase.
        if !state.demonstration {
            self.settings().change(|settings| settings.remember(path));
        }
        self.wake_signal.notify();
        self.update_agents();
        Ok(state)
    }

    /// Starts answering clients if the open vault has an active grant, or stops if the person has switched answering
    /// off. Must be called whenever the grants or this setting change.
    pub fn update_agents(&self) {
        let enabled = self.settings().get().answer_clients;
        let has_active_grant = self.with_session(|session| session.agents().has_active_grant()).unwrap_or(false);
        self.agents.update(&self.vault, enabled, has_active_grant);
        let running = self.agents.state(enabled).running;
        // This is noted in the folder of the open vault, so without one there is nothing to do.
        let _ = self.with_session(|session| {
            session.agents().note_answering(running && has_active_grant);
            Ok(())
        });
    }

    /// Sets the path of the socket for connected clients.
    #[cfg(all(test, unix))]
    pub fn set_client_socket(&mut self, socket: std::path::PathBuf) {
        self.agents = Agents::with_socket(socket);
    }

    /// The server for connected clients.
    pub fn agents(&self) -> &Agents {
        &self.agents
    }

    /// Sets and stores whether connected clients are answered.
    pub fn set_answer_clients(&self, on: bool) {
        self.settings().change(|settings| settings.answer_clients = on);
        self.update_agents();
    }

    /// Which vault is open, and the minutes until the automatic lock.
    pub fn session_state(&self) -> SessionState {
        let auto_lock_minutes = self.settings().get().auto_lock_minutes;
        let vault = self.vault.read().unwrap_or_else(PoisonError::into_inner);
        let open = vault.as_ref();
        let applied = open.map(|open| open.session.applied_erasures());
        SessionState {
            open: open.is_some(),
            vault_id: open.map(|open| open.vault_id.clone()),
            name: open.map(|open| vault_name(&open.path)),
            path: open.map(|open| open.path.display().to_string()),
            auto_lock_minutes,
            erasures_reapplied: applied.as_ref().map_or(0, |applied| applied.erasures),
            erasure_ledger: applied.and_then(|applied| applied.ledger),
            demonstration: open.is_some_and(|open| open.session.is_demonstration()),
        }
    }

    /// Locks the vault: clears copied secrets from the clipboard, cancels jobs, waits for all other commands to end,
    /// then drops the keys.
    pub fn lock(&self) {
        self.clipboard.clear_now();
        self.jobs.cancel_all();
        self.stop_client_calls();
        self.vault.write().unwrap_or_else(PoisonError::into_inner).take();
        self.idle().timer.cancel_request();
        self.wake_signal.notify();
    }

    /// Makes running client calls end, because locking waits for them. If another thread is already locking the vault,
    /// that thread has already ended the calls.
    fn stop_client_calls(&self) {
        if let Ok(vault) = self.vault.try_read()
            && let Some(open) = &*vault
        {
            open.session.agents().stop_calls();
        }
    }

    /// Closes and deletes the open vault, which must be a demonstration. If the person added something to it, it is
    /// only deleted if `with_own_content` is true.
    ///
    /// # Errors
    /// `locked`, `not_a_demonstration` and `own_content`, in which case nothing is deleted; `io`.
    pub fn delete_demonstration(&self, with_own_content: bool) -> ApiResult<()> {
        let check = |session: &Session| session.check_deletable_demonstration(with_own_content);
        self.with_session(check)?;
        self.clipboard.clear_now();
        self.jobs.cancel_all();
        let mut vault = self.vault.write().unwrap_or_else(PoisonError::into_inner);
        // Another thread may have locked or changed the vault since the check above.
        let Some(open) = vault.take_if(|open| check(&open.session).is_ok()) else {
            return Err(ApiError::new("locked", 1, "The vault has changed meanwhile. Nothing was deleted. Try again."));
        };
        let path = open.path.clone();
        drop(open);
        mementory_api::delete_demonstration(&path)?;
        drop(vault);
        self.settings().change(|settings| settings.forget(&path));
        self.wake_signal.notify();
        Ok(())
    }

    /// Scans the watched folders once. This is background work, so the automatic lock does not wait for it.
    pub fn scan_watched_folders(&self, job: &Job) -> ApiResult<FolderScan> {
        let _running = self.jobs.start_background("watching", job)?;
        self.with_session(|session| session.watching().scan_folders(self.clock.elapsed(), job))
    }

    /// Imports a file that was detected in a folder with automatic import. The vault does not lock automatically during
    /// the import, but the end of the import does not count as input. The file's id is also the job's id.
    pub fn import_detected_file(&self, id: &str, job: &Job) -> ApiResult<()> {
        let running_job = self.jobs.start(id, job)?;
        let result = self.with_session(|session| session.watching().import_detected_file(id, job));
        self.finish_job(running_job);
        result.map(drop)
    }

    /// Ends a job and wakes the idle thread, in case a lock was waiting for the job.
    fn finish_job(&self, job: RunningJob<'_>) {
        drop(job);
        self.update_timer(|_| {});
    }

    /// The signal that starts a scan of the watched folders.
    pub fn wake_signal(&self) -> &Arc<WakeSignal> {
        &self.wake_signal
    }

    /// Waits until a lock in progress is done, so that the vault's folder can be opened again.
    pub fn wait_for_lock(&self) {
        drop(self.vault.write().unwrap_or_else(PoisonError::into_inner));
    }

    /// Locks the vault because the window closes.
    pub fn shut_down(&self) {
        self.agents.close();
        self.lock();
        self.clipboard.close();
    }

    /// The clipboard, which clears copied text automatically.
    pub fn clipboard(&self) -> &Clipboard {
        &self.clipboard
    }

    /// The running jobs.
    pub fn jobs(&self) -> &Jobs {
        &self.jobs
    }

    /// The commands that a person is currently waiting for.
    pub fn interactive(&self) -> &InteractiveCommands {
        &self.interactive
    }

    /// The settings, for reading or changing.
    pub fn settings(&self) -> MutexGuard<'_, SettingsFile> {
        self.settings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Remembered vaults, and whether their folders exist.
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

    /// Records input by the person.
    pub fn record_input(&self) {
        let now = self.clock.elapsed();
        self.idle().timer.record_input(now);
    }

    /// Records that a vault was opened, which counts as input and cancels an earlier lock request.
    fn vault_opened(&self) {
        let now = self.clock.elapsed();
        let mut idle = self.idle();
        idle.timer.record_input(now);
        idle.timer.cancel_request();
        idle.opened_at = now;
    }

    /// Sets and stores the minutes without input before the vault locks automatically; 0 = never.
    pub fn set_auto_lock(&self, minutes: u32) {
        self.settings().change(|settings| settings.auto_lock_minutes = minutes);
        let now = self.clock.elapsed();
        self.update_timer(|timer| {
            timer.set_minutes(minutes);
            timer.record_input(now);
        });
    }

    /// Sets and stores whether the vault locks when the screen locks or the computer sleeps.
    pub fn set_lock_with_session(&self, on: bool) {
        self.settings().change(|settings| settings.lock_when_away = on);
        if !on {
            self.idle().timer.cancel_request();
        }
    }

    /// True if the vault locks with the screen and before sleep.
    pub fn locks_with_session(&self) -> bool {
        self.settings().get().lock_when_away
    }

    /// Handles a locked (true) or unlocked (false) screen. The vault is locked as soon as no job of the person is
    /// running. If the screen is unlocked before that, the vault stays open.
    #[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "only Linux reports it"))]
    pub fn on_screen_lock(&self, locked: bool) {
        match locked {
            true if self.locks_with_session() => self.update_timer(|timer| timer.request_lock(LockReason::Screen)),
            true => {}
            false => self.idle().timer.cancel_request(),
        }
    }

    /// Locks now, because the computer is about to sleep. Running jobs are cancelled, not waited for, because otherwise
    /// the machine would sleep with the keys in memory.
    #[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "only Linux reports it"))]
    pub fn lock_before_sleep(&self) -> Option<LockReason> {
        if !self.locks_with_session() || !self.is_open() {
            return None;
        }
        self.lock();
        Some(LockReason::Sleep)
    }

    /// Locks if a lock is due and the person has no job running. Returns the reason if it locked.
    pub fn lock_if_idle(&self) -> Option<LockReason> {
        let due = self.idle().timer.due(self.clock.elapsed())?;
        if self.jobs.has_foreground_job() || !self.is_open() {
            return None;
        }
        self.lock();
        Some(due)
    }

    /// Locks whenever a lock is due, until the process ends. Calls `on_lock` after each automatic lock.
    pub fn watch_for_idleness(&self, on_lock: impl Fn(LockReason)) {
        loop {
            if let Some(reason) = self.lock_if_idle() {
                on_lock(reason);
            }
            self.wait_for_idleness();
        }
    }

    /// Waits until a lock may be due or the timer changes. Then requests a lock if the wait took so long that the
    /// machine must have slept, perhaps without an announcement.
    fn wait_for_idleness(&self) {
        let started = self.clock.elapsed();
        let idle = self.idle();
        let remaining = idle.timer.remaining(started).filter(|remaining| !remaining.is_zero());
        let wait = remaining.map_or(MAX_WAIT, |remaining| remaining.min(MAX_WAIT));
        let waited = self.idle_changed.wait_timeout_while(idle, wait, |idle| !idle.changed);
        waited.unwrap_or_else(PoisonError::into_inner).0.changed = false;
        self.check_for_sleep(started, wait);
    }

    /// Must be called after a wait of `requested` that began at `started`. If the machine slept in the meantime,
    /// requests a lock, unless the vault was opened after the sleep.
    fn check_for_sleep(&self, started: Duration, requested: Duration) {
        let now = self.clock.elapsed();
        let enabled = self.locks_with_session();
        let mut idle = self.idle();
        if enabled && has_slept(requested, now.saturating_sub(started.max(idle.opened_at))) {
            idle.timer.request_lock(LockReason::Sleep);
        }
    }

    fn is_open(&self) -> bool {
        self.vault.read().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// Changes the timer and wakes the thread that waits for it.
    fn update_timer(&self, change: impl FnOnce(&mut IdleTimer)) {
        let mut idle = self.idle();
        change(&mut idle.timer);
        idle.changed = true;
        self.idle_changed.notify_all();
    }

    fn idle(&self) -> MutexGuard<'_, IdleState> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The folder's name without `.mementory`, or without the extension that vaults had before the program was renamed.
fn vault_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
    name.strip_suffix(".mementory").or_else(|| name.strip_suffix(".keepsake")).unwrap_or(&name).to_owned()
}

#[cfg(all(test, unix))]
mod client_tests;
#[cfg(test)]
mod tests;
