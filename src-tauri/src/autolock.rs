//! When the vault locks itself: after some minutes without input, counted by an injected clock, and when the person left.
use serde::Serialize;
use std::time::{Duration, Instant, SystemTime};

/// How long a wait may last at most. The monotonic clock stands still while the machine sleeps, so
/// waking up now and then is what notices that hours have passed.
pub const LONGEST_WAIT: Duration = Duration::from_secs(15);

/// A wait that ends so much later than asked for was not the machine being busy: it slept, or its clock was set forward.
/// A shorter sleep is not told from a busy machine.
const OVERSLEPT: Duration = Duration::from_secs(15);

/// Did the machine sleep in a wait of `asked` that took `took`?
pub fn overslept(asked: Duration, took: Duration) -> bool {
    took > asked + OVERSLEPT
}

/// Why the vault locked itself. The window is told, in these words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LockedBy {
    /// Nobody did anything for so many minutes.
    Idle,
    /// The screen was locked.
    Screen,
    /// The computer goes to sleep, or slept.
    Sleep,
}

/// Time that has passed since some fixed start.
pub trait Clock: Send + Sync {
    /// Never goes back.
    fn elapsed(&self) -> Duration;
}

/// The machine's clocks: the larger of the monotonic and the wall clock's progress, so that time asleep counts.
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
        let wall = self.started_wall.elapsed().unwrap_or_default();
        self.started.elapsed().max(wall)
    }
}

/// The rule itself, without threads: when did the person last do something, how long may they be away, and did they leave?
#[derive(Debug, Default)]
pub struct IdleTimer {
    limit: Option<Duration>,
    last_input: Duration,
    left_by: Option<LockedBy>,
}

impl IdleTimer {
    /// Lock after `minutes`; 0 = never.
    pub fn set_minutes(&mut self, minutes: u32) {
        self.limit = (minutes > 0).then(|| Duration::from_secs(u64::from(minutes) * 60));
    }

    /// The person did something at `now`.
    pub fn touch(&mut self, now: Duration) {
        self.last_input = self.last_input.max(now);
    }

    /// The person left: no more waiting, whatever the limit. Input does not change that (the end of a job counts as such).
    pub fn leave(&mut self, by: LockedBy) {
        self.left_by = Some(by);
    }

    /// They are back, or what was to be locked is.
    pub fn back(&mut self) {
        self.left_by = None;
    }

    /// Time left at `now`; zero = lock. None = never.
    pub fn left(&self, now: Duration) -> Option<Duration> {
        if self.left_by.is_some() {
            return Some(Duration::ZERO);
        }
        let limit = self.limit?;
        Some((self.last_input + limit).saturating_sub(now))
    }

    /// Why to lock at `now`, if it is time to.
    pub fn due(&self, now: Duration) -> Option<LockedBy> {
        let due = self.left(now)?.is_zero();
        due.then(|| self.left_by.unwrap_or(LockedBy::Idle))
    }
}

/// A clock for tests.
#[cfg(test)]
pub mod hand {
    #![allow(clippy::unwrap_used)]
    use super::{Clock, Duration};
    use std::sync::Mutex;

    /// Stands until it is set.
    #[derive(Default)]
    pub struct HandClock(Mutex<Duration>);

    impl HandClock {
        /// It is `now` from now on.
        pub fn set(&self, now: Duration) {
            *self.0.lock().unwrap() = now;
        }
    }

    impl Clock for HandClock {
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
        assert_eq!(timer.left(MINUTE * 100_000), None);
    }

    #[test]
    fn locks_when_the_limit_is_reached_and_not_before() {
        let mut timer = IdleTimer::default();
        timer.set_minutes(5);
        timer.touch(MINUTE);
        assert_eq!(timer.left(MINUTE * 6 - Duration::from_millis(1)), Some(Duration::from_millis(1)));
        assert_eq!(timer.left(MINUTE * 6), Some(Duration::ZERO));
        assert_eq!(timer.left(MINUTE * 600), Some(Duration::ZERO), "time asleep counts");
    }

    #[test]
    fn input_starts_the_wait_again() {
        let mut timer = IdleTimer::default();
        timer.set_minutes(5);
        timer.touch(MINUTE * 4);
        assert_eq!(timer.left(MINUTE * 5), Some(MINUTE * 4));
        timer.touch(MINUTE * 2);
        assert_eq!(timer.left(MINUTE * 5), Some(MINUTE * 4), "a late report of earlier input changes nothing");
    }

    #[test]
    fn who_left_is_not_waited_for_until_they_are_back() {
        for (minutes, by) in [(5, LockedBy::Screen), (0, LockedBy::Sleep)] {
            let mut timer = IdleTimer::default();
            timer.set_minutes(minutes);
            assert_eq!(timer.due(MINUTE), None);
            timer.leave(by);
            timer.touch(MINUTE);
            assert_eq!((timer.left(MINUTE), timer.due(MINUTE)), (Some(Duration::ZERO), Some(by)));
            timer.back();
            assert_eq!(timer.due(MINUTE), None);
        }
        let mut timer = IdleTimer::default();
        timer.set_minutes(5);
        assert_eq!(timer.due(MINUTE * 5), Some(LockedBy::Idle));
    }

    #[test]
    fn a_wait_that_took_much_longer_than_asked_for_was_a_sleep() {
        let second = Duration::from_secs(1);
        for (asked, took, slept) in [
            (second, second, false),
            (second, OVERSLEPT, false),
            (LONGEST_WAIT, LONGEST_WAIT + OVERSLEPT, false),
            (second, second * 17, true),
            (LONGEST_WAIT, MINUTE, true),
        ] {
            assert_eq!(overslept(asked, took), slept, "{asked:?} took {took:?}");
        }
    }
}
