//! Decides when the vault locks automatically: after some minutes without input, and when the screen locks or the
//! computer sleeps. Time comes from an injected clock.
use serde::Serialize;
use std::time::{Duration, Instant, SystemTime};

/// Longest single wait of a thread. The monotonic clock stops while the machine sleeps, so the thread has to wake up
/// regularly to notice that hours have passed.
pub const MAX_WAIT: Duration = Duration::from_secs(15);

/// If a wait ends this much too late, the machine slept or its clock was set forward. A shorter sleep cannot be
/// distinguished from a busy machine.
const SLEEP_THRESHOLD: Duration = Duration::from_secs(15);

/// True if the machine slept during a wait of `requested` that took `actual`.
pub fn has_slept(requested: Duration, actual: Duration) -> bool {
    actual > requested + SLEEP_THRESHOLD
}

/// Why the vault locked automatically. The window gets the name in snake case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LockReason {
    /// No input for the configured time.
    Idle,
    /// The screen was locked.
    Screen,
    /// The computer is about to sleep, or has slept.
    Sleep,
}

/// A clock that measures time since a fixed start.
pub trait Clock: Send + Sync {
    /// Time since the start. The value can decrease if the wall clock was set forward and is set back later.
    fn elapsed(&self) -> Duration;
}

/// Measures time with both the monotonic clock and the wall clock, and returns the larger result, so that time asleep
/// is included.
pub struct SystemClock {
    started: Instant,
    started_wall: SystemTime,
}

impl SystemClock {
    /// A clock that starts now.
    pub fn new() -> Self {
        Self { started: Instant::now(), started_wall: SystemTime::now() }
    }
}

impl Clock for SystemClock {
    fn elapsed(&self) -> Duration {
        let wall_elapsed = self.started_wall.elapsed().unwrap_or_default();
        self.started.elapsed().max(wall_elapsed)
    }
}

/// Decides when the automatic lock is due. Stores the limit, the time of the last input and a requested lock, but has
/// neither a thread nor a clock.
#[derive(Debug, Default)]
pub struct IdleTimer {
    limit: Option<Duration>,
    last_input: Duration,
    requested: Option<LockReason>,
}

impl IdleTimer {
    /// Sets the limit in minutes; 0 = never.
    pub fn set_minutes(&mut self, minutes: u32) {
        self.limit = (minutes > 0).then(|| Duration::from_secs(u64::from(minutes) * 60));
    }

    /// Records input at `now`.
    pub fn record_input(&mut self, now: Duration) {
        self.last_input = self.last_input.max(now);
    }

    /// Requests a lock as soon as possible, whatever the limit. Input does not cancel the request, because the end of a
    /// job counts as input.
    pub fn request_lock(&mut self, reason: LockReason) {
        self.requested = Some(reason);
    }

    /// Cancels a requested lock, for example because the screen was unlocked or the vault is already locked.
    pub fn cancel_request(&mut self) {
        self.requested = None;
    }

    /// Time from `now` until the lock. Zero means lock now, None means never.
    pub fn remaining(&self, now: Duration) -> Option<Duration> {
        if self.requested.is_some() {
            return Some(Duration::ZERO);
        }
        let limit = self.limit?;
        Some((self.last_input + limit).saturating_sub(now))
    }

    /// The reason to lock if a lock is due at `now`.
    pub fn due(&self, now: Duration) -> Option<LockReason> {
        let due = self.remaining(now)?.is_zero();
        due.then(|| self.requested.unwrap_or(LockReason::Idle))
    }
}

/// A clock for tests.
#[cfg(test)]
pub mod manual {
    #![allow(clippy::unwrap_used)]
    use super::{Clock, Duration};
    use std::sync::Mutex;

    /// A clock that shows the time set by a test.
    #[derive(Default)]
    pub struct ManualClock(Mutex<Duration>);

    impl ManualClock {
        /// Sets the time.
        pub fn set(&self, now: Duration) {
            *self.0.lock().unwrap() = now;
        }
    }

    impl Clock for ManualClock {
        fn elapsed(&self) -> Duration {
            *self.0.lock().unwrap()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);

    #[test]
    fn never_locks_without_a_limit() {
        let mut timer = IdleTimer::default();
        timer.set_minutes(0);
        assert_eq!(timer.remaining(MINUTE * 100_000), None);
    }

    #[test]
    fn locks_when_the_limit_is_reached_and_not_before() {
        let mut timer = IdleTimer::default();
        timer.set_minutes(5);
        timer.record_input(MINUTE);
        assert_eq!(timer.remaining(MINUTE * 6 - Duration::from_millis(1)), Some(Duration::from_millis(1)));
        assert_eq!(timer.remaining(MINUTE * 6), Some(Duration::ZERO));
        assert_eq!(timer.remaining(MINUTE * 600), Some(Duration::ZERO), "time asleep counts");
    }

    #[test]
    fn input_restarts_the_wait() {
        let mut timer = IdleTimer::default();
        timer.set_minutes(5);
        timer.record_input(MINUTE * 4);
        assert_eq!(timer.remaining(MINUTE * 5), Some(MINUTE * 4));
        timer.record_input(MINUTE * 2);
        assert_eq!(timer.remaining(MINUTE * 5), Some(MINUTE * 4), "a late report of earlier input changes nothing");
    }

    #[test]
    fn a_requested_lock_is_due_at_once_until_it_is_cancelled() {
        for (minutes, reason) in [(5, LockReason::Screen), (0, LockReason::Sleep)] {
            let mut timer = IdleTimer::default();
            timer.set_minutes(minutes);
            assert_eq!(timer.due(MINUTE), None);
            timer.request_lock(reason);
            timer.record_input(MINUTE);
            assert_eq!((timer.remaining(MINUTE), timer.due(MINUTE)), (Some(Duration::ZERO), Some(reason)));
            timer.cancel_request();
            assert_eq!(timer.due(MINUTE), None);
        }
        let mut timer = IdleTimer::default();
        timer.set_minutes(5);
        assert_eq!(timer.due(MINUTE * 5), Some(LockReason::Idle));
    }

    #[test]
    fn a_wait_that_took_much_longer_than_requested_was_a_sleep() {
        let second = Duration::from_secs(1);
        for (requested, actual, slept) in [
            (second, second, false),
            (second, SLEEP_THRESHOLD, false),
            (MAX_WAIT, MAX_WAIT + SLEEP_THRESHOLD, false),
            (second, second * 17, true),
            (MAX_WAIT, MINUTE, true),
        ] {
            assert_eq!(has_slept(requested, actual), slept, "{requested:?} took {actual:?}");
        }
    }
}
