//! Decides when watched folders are scanned: after unlocking, when the system reports a change, and at intervals.
//! `mementory_api` does the scanning.
use crate::state::AppState;
use crate::wake_signal::WakeSignal;
use mementory_api::Job;
use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Interval at which folders are scanned even without an event, because reconnected drives and network folders report
/// no changes.
const POLL_INTERVAL: Duration = Duration::from_secs(60);
/// Minimum time between two scans, because a download reports a change for every chunk.
const MIN_PAUSE: Duration = Duration::from_secs(1);
/// The pause after a scan is at least this many times as long as the scan took, but never longer than `POLL_INTERVAL`.
const PAUSE_FACTOR: u32 = 10;

/// The folders for which the system reports changes.
struct FolderEvents {
    watcher: Option<RecommendedWatcher>,
    folders: BTreeSet<PathBuf>,
    wake_signal: Arc<WakeSignal>,
}

impl FolderEvents {
    /// Subscribes to exactly these folders. If the system cannot report their changes, they are only scanned at
    /// intervals.
    fn subscribe(&mut self, folders: Vec<PathBuf>) {
        let wanted_folders: BTreeSet<PathBuf> = folders.into_iter().collect();
        if wanted_folders.is_empty() {
            self.watcher = None;
            self.folders.clear();
            return;
        }
        if self.watcher.is_none() {
            let wake_signal = self.wake_signal.clone();
            let on_event = move |event: notify::Result<notify::Event>| {
                // Reading a folder causes an event too, which must not start a scan. After an error, an event may be
                // lost, so an error starts a scan.
                if !matches!(&event, Ok(event) if matches!(event.kind, EventKind::Access(_))) {
                    wake_signal.notify();
                }
            };
            self.watcher = notify::recommended_watcher(on_event).ok();
        }
        let Some(watcher) = &mut self.watcher else { return };
        for removed in self.folders.difference(&wanted_folders) {
            // Unwatching fails if the folder itself was deleted, which does no harm.
            let _ = watcher.unwatch(removed);
        }
        self.folders.retain(|folder| wanted_folders.contains(folder));
        for folder in wanted_folders {
            if !self.folders.contains(&folder) && watcher.watch(&folder, RecursiveMode::NonRecursive).is_ok() {
                self.folders.insert(folder);
            }
        }
    }
}

/// Watches the folders until the process ends. `new_job` creates a background job; `on_change` is called when the
/// window has something new to show.
pub fn run(state: &AppState, new_job: impl Fn() -> Job, on_change: impl Fn()) {
    let mut events = FolderEvents { watcher: None, folders: BTreeSet::new(), wake_signal: state.wake_signal().clone() };
    loop {
        let started = Instant::now();
        let scan = state.scan_watched_folders(&new_job());
        let scan_time = started.elapsed();
        let wait = match scan {
            Ok(scan) => {
                let wait = scan.watching.then(|| scan.wait.unwrap_or(POLL_INTERVAL));
                events.subscribe(scan.folders);
                if scan.changed {
                    on_change();
                }
                for file in scan.imports {
                    // A failed import stays in the list of detected files, where the person sees the reason.
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
        std::thread::park_timeout(MIN_PAUSE.max(scan_time * PAUSE_FACTOR).min(POLL_INTERVAL));
        state.wake_signal().wait(wait);
    }
}
