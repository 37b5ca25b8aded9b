//! When watched folders are looked into: after the unlocking, when the system tells of something, and now and then. What
//! is looked for, and what comes of it, is in `mementory_api`.
use crate::state::AppState;
use mementory_api::Job;
use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Drives come back and network folders tell nothing, so a look now and then does not wait to be told.
const NOW_AND_THEN: Duration = Duration::from_secs(60);
/// A download tells of every piece. Rounds are this far apart, and take a tenth of the time at most.
const BETWEEN: Duration = Duration::from_secs(1);
const SHARE: u32 = 10;

/// Calls for the next round.
#[derive(Default)]
pub struct Bell {
    rung: Mutex<bool>,
    heard: Condvar,
}

impl Bell {
    /// Something happened.
    pub fn ring(&self) {
        *self.rung.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.heard.notify_all();
    }

    /// Wait until it rings, at most for `wait`; None = for as long as it takes.
    fn wait(&self, wait: Option<Duration>) {
        let mut rung = self.rung.lock().unwrap_or_else(PoisonError::into_inner);
        while !*rung {
            rung = match wait {
                None => self.heard.wait(rung).unwrap_or_else(PoisonError::into_inner),
                Some(wait) => {
                    let (rung, timeout) = self.heard.wait_timeout(rung, wait).unwrap_or_else(PoisonError::into_inner);
                    if timeout.timed_out() {
                        drop(rung);
                        return;
                    }
                    rung
                }
            };
        }
        *rung = false;
    }
}

/// What the system tells of the folders.
struct Events {
    watcher: Option<RecommendedWatcher>,
    followed: BTreeSet<PathBuf>,
    bell: Arc<Bell>,
}

impl Events {
    /// Listen to these folders and no others. Where that cannot be done, a look now and then has to do.
    fn follow(&mut self, folders: Vec<PathBuf>) {
        let wanted: BTreeSet<PathBuf> = folders.into_iter().collect();
        if wanted.is_empty() {
            self.watcher = None;
            self.followed.clear();
            return;
        }
        if self.watcher.is_none() {
            let bell = self.bell.clone();
            let heard = move |event: notify::Result<notify::Event>| {
                // Our own reading is told of too. An error may be that something was not told.
                if !matches!(&event, Ok(event) if matches!(event.kind, EventKind::Access(_))) {
                    bell.ring();
                }
            };
            self.watcher = notify::recommended_watcher(heard).ok();
        }
        let Some(watcher) = &mut self.watcher else { return };
        for gone in self.followed.difference(&wanted) {
            // It may be gone altogether.
            let _ = watcher.unwatch(gone);
        }
        self.followed.retain(|folder| wanted.contains(folder));
        for folder in wanted {
            if !self.followed.contains(&folder) && watcher.watch(&folder, RecursiveMode::NonRecursive).is_ok() {
                self.followed.insert(folder);
            }
        }
    }
}

/// Watch until the process ends. `job` makes one that gives way; `tell` is called when there is something else to show.
pub fn run(state: &AppState, job: impl Fn() -> Job, tell: impl Fn()) {
    let mut events = Events { watcher: None, followed: BTreeSet::new(), bell: state.bell().clone() };
    loop {
        let begun = Instant::now();
        let round = state.watch_round(&job());
        let took = begun.elapsed();
        let wait = match round {
            Ok(round) => {
                let wait = round.watching.then(|| round.wait.unwrap_or(NOW_AND_THEN));
                events.follow(round.folders);
                if round.changed {
                    tell();
                }
                for find in round.imports {
                    // What fails waits in the list, where the person sees why.
                    let _ = state.import_find(&find, &job());
                    tell();
                }
                wait
            }
            Err(error) if error.code == "locked" => {
                events.follow(Vec::new());
                None
            }
            Err(_) => Some(NOW_AND_THEN),
        };
        std::thread::park_timeout(BETWEEN.max(took * SHARE).min(NOW_AND_THEN));
        state.bell().wait(wait);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bell_that_rang_before_is_heard_once() {
        let bell = Bell::default();
        bell.ring();
        bell.ring();
        bell.wait(None);
        bell.wait(Some(Duration::ZERO));
        assert!(!*bell.rung.lock().unwrap_or_else(PoisonError::into_inner));
    }
}
