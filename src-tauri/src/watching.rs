//! When watched folders are scanned: after unlocking, when the system reports a change, and at intervals. What a scan looks
//! for and does is decided in `mementory_api`.
use crate::state::AppState;
use crate::wake_signal::WakeSignal;
use mementory_api::Job;
use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Reconnected drives and network folders send no change events, so folders are also scanned at this interval.
const POLL_INTERVAL: Duration = Duration::from_secs(60);
/// A download reports every chunk. Rounds are at least this far apart, and take at most one tenth of the time.
const MIN_PAUSE: Duration = Duration::from_secs(1);
const PAUSE_FACTOR: u32 = 10;

/// The folders whose changes the system reports to us.
struct FolderEvents {
    watcher: Option<RecommendedWatcher>,
    folders: BTreeSet<PathBuf>,
    wake_signal: Arc<WakeSignal>,
}

impl FolderEvents {
    /// Subscribe to exactly these folders. Where the system cannot do that, the scans at intervals have to suffice.
    fn subscribe(&mut self, folders: Vec<PathBuf>) {
        let wanted: BTreeSet<PathBuf> = folders.into_iter().collect();
        if wanted.is_empty() {
            self.watcher = None;
            self.folders.clear();
            return;
        }
        if self.watcher.is_none() {
            let wake_signal = self.wake_signal.clone();
            let on_event = move |event: notify::Result<notify::Event>| {
                // Our own reading is reported too. After an error an event may be missing, so scan to be safe.
                if !matches!(&event, Ok(event) if matches!(event.kind, EventKind::Access(_))) {
                    wake_signal.notify();
                }
            };
            self.watcher = notify::recommended_watcher(on_event).ok();
        }
        let Some(watcher) = &mut self.watcher else { return };
        for removed in self.folders.difference(&wanted) {
            // Fails when the folder itself was deleted.
            let _ = watcher.unwatch(removed);
        }
        self.folders.retain(|folder| wanted.contains(folder));
        for folder in wanted {
            if !self.folders.contains(&folder) && watcher.watch(&folder, RecursiveMode::NonRecursive).is_ok() {
                self.folders.insert(folder);
            }
        }
    }
}

/// Watch until the process ends. `new_job` makes a background job; `on_change` is called when there is something new to show.
pub fn run(state: &AppState, new_job: impl Fn() -> Job, on_change: impl Fn()) {
    let mut events = FolderEvents { watcher: None, folders: BTreeSet::new(), wake_signal: state.wake_signal().clone() };
    loop {
        let started = Instant::now();
        let round = state.watch_round(&new_job());
        let took = started.elapsed();
        let wait = match round {
            Ok(round) => {
                let wait = round.watching.then(|| round.wait.unwrap_or(POLL_INTERVAL));
                events.subscribe(round.folders);
                if round.changed {
                    on_change();
                }
                for file in round.imports {
                    // A failed import stays in the list, where the person sees the reason.
                    let _ = state.import_detected_file(&file, &new_job());
                    on_change();
                }
                wait
            }
            Err(error) if error.code == "locked" => {
                events.subscribe(Vec::new());
                None
            }
            Err(_) => Some(POLL_INTERVAL),
        };
        std::thread::park_timeout(MIN_PAUSE.max(took * PAUSE_FACTOR).min(POLL_INTERVAL));
        state.wake_signal().wait(wait);
    }
}
