//! Decides what the launcher's icon shows while jobs run.
use std::time::Duration;

/// Smallest age of a job whose progress is shown. For a shorter job, the icon would only flicker.
const SHOW_AFTER: Duration = Duration::from_secs(1);

/// The progress of the running jobs as the launcher shows it: in percent, or none.
#[derive(Default)]
pub struct LauncherProgress {
    running: usize,
    shown: Option<u8>,
}

impl LauncherProgress {
    /// Must be called when a job begins.
    pub fn begin(&mut self) {
        self.running += 1;
    }

    /// Records the progress of a job that began `age` ago. Returns the percentage if the launcher has to be updated.
    pub fn report(&mut self, age: Duration, done: u64, total: u64) -> Option<u8> {
        if age < SHOW_AFTER || total == 0 {
            return None;
        }
        // The value is at most 100, so it fits into a byte.
        let percent = (u128::from(done.min(total)) * 100 / u128::from(total)) as u8;
        (self.shown.replace(percent) != Some(percent)).then_some(percent)
    }

    /// Must be called when a job ends, however it ended. Returns true if the launcher has to hide the progress.
    pub fn end(&mut self) -> bool {
        self.running = self.running.saturating_sub(1);
        self.running == 0 && self.shown.take().is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_percents_are_shown_once_each_and_hidden_with_the_last_job() {
        let mut progress = LauncherProgress::default();
        let late = Duration::from_secs(2);
        progress.begin();
        assert_eq!(progress.report(Duration::from_millis(900), 50, 100), None, "too early");
        assert_eq!(progress.report(late, 5, 0), None, "the total is unknown");
        assert_eq!(progress.report(late, 501, 1000), Some(50));
        assert_eq!(progress.report(late, 509, 1000), None, "still 50 %");
        assert_eq!(progress.report(late, 510, 1000), Some(51));
        assert_eq!(progress.report(late, u64::MAX, u64::MAX - 1), Some(100));
        assert_eq!(progress.report(late, 0, 10), Some(0), "the next stage begins");
        progress.begin();
        assert!(!progress.end(), "another job is running");
        assert!(progress.end());
        assert!(!progress.end(), "nothing is shown any more");
    }

    #[test]
    fn a_job_without_progress_leaves_the_launcher_alone() {
        let mut progress = LauncherProgress::default();
        progress.begin();
        assert!(!progress.end());
    }
}
