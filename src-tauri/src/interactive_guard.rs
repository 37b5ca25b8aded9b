//! Pauses background work while the person waits for a command.
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Time after a command during which background work stays paused, because another command often follows (the next
/// letter typed, the next row opened).
const QUIET_PERIOD: Duration = Duration::from_millis(400);
/// Maximum pause, so that background work makes progress even if commands never stop.
const MAX_WAIT: Duration = Duration::from_secs(5);
/// How often a paused job checks whether it may continue or was cancelled.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// The commands that a person is currently waiting for.
#[derive(Default)]
pub struct InteractiveCommands(Mutex<Activity>);

#[derive(Default)]
struct Activity {
    running: usize,
    last_finished: Option<Instant>,
}

/// Marks a command as running until the guard is dropped.
pub struct InteractiveGuard<'a>(&'a InteractiveCommands);

impl InteractiveCommands {
    /// Marks a command as running.
    pub fn begin(&self) -> InteractiveGuard<'_> {
        self.activity().running += 1;
        InteractiveGuard(self)
    }

    /// Waits until no command is running and none has finished within `QUIET_PERIOD`. Waits at most `MAX_WAIT`, and
    /// only while `keep_waiting` returns true.
    pub fn yield_to_interactive(&self, keep_waiting: impl Fn() -> bool) {
        let started = Instant::now();
        while keep_waiting() && started.elapsed() < MAX_WAIT && !self.is_quiet() {
            std::thread::park_timeout(POLL_INTERVAL);
        }
    }

    fn is_quiet(&self) -> bool {
        let activity = self.activity();
        activity.running == 0 && activity.last_finished.is_none_or(|at| at.elapsed() >= QUIET_PERIOD)
    }

    fn activity(&self) -> MutexGuard<'_, Activity> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for InteractiveGuard<'_> {
    fn drop(&mut self) {
        let mut activity = self.0.activity();
        activity.running -= 1;
        activity.last_finished = Some(Instant::now());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn background_work_waits_for_running_commands_until_it_is_cancelled() {
        let commands = InteractiveCommands::default();
        let polls_of = |limit: usize| {
            let polls = Cell::new(0);
            commands.yield_to_interactive(|| polls.replace(polls.get() + 1) < limit);
            polls.get()
        };
        assert_eq!(polls_of(3), 1, "no command is running yet");
        let guard = commands.begin();
        assert_eq!(polls_of(3), 4, "it keeps checking until it is no longer wanted");
        drop(guard);
        assert!(!commands.is_quiet(), "another command may follow from the answer");
    }
}
