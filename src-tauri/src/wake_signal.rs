//! A signal that ends a wait in another thread.
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Wakes the thread that scans the watched folders.
#[derive(Default)]
pub struct WakeSignal {
    notified: Mutex<bool>,
    condition: Condvar,
}

impl WakeSignal {
    /// Ends the current or the next wait.
    pub fn notify(&self) {
        *self.notified.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.condition.notify_all();
    }

    /// Waits for a notification, at most for `timeout`; None waits without limit.
    pub fn wait(&self, timeout: Option<Duration>) {
        let mut notified = self.notified.lock().unwrap_or_else(PoisonError::into_inner);
        while !*notified {
            notified = match timeout {
                None => self.condition.wait(notified).unwrap_or_else(PoisonError::into_inner),
                Some(timeout) => {
                    let (notified, result) =
                        self.condition.wait_timeout(notified, timeout).unwrap_or_else(PoisonError::into_inner);
                    if result.timed_out() {
                        drop(notified);
                        return;
                    }
                    notified
                }
            };
        }
        *notified = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_notifications_before_a_wait_end_it_once() {
        let signal = WakeSignal::default();
        signal.notify();
        signal.notify();
        signal.wait(None);
        signal.wait(Some(Duration::ZERO));
        assert!(!*signal.notified.lock().unwrap_or_else(PoisonError::into_inner));
    }
}
