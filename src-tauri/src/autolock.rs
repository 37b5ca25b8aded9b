//! When the vault locks itself: after some minutes without input, counted by an injected clock.
use std::time::{Duration, Instant, SystemTime};

/// How long a wait may last at most. The monotonic clock stands still while the machine sleeps, so
/// waking up now and then is what notices that hours have passed.
pub const LONGEST_WAIT: Duration = Duration::from_secs(15);

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

/// The rule itself, without threads: when did the person last do something, and how long may they be away?
#[derive(Debug, Default)]
pub struct IdleTimer {
    limit: Option<Duration>,
    last_input: Duration,
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

    /// Time left at `now`; zero = lock. None = never.
    pub fn left(&self, now: Duration) -> Option<Duration> {
        let limit = self.limit?;
        Some((self.last_input + limit).saturating_sub(now))
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
}
