//! Limits how often a job reports progress.
use crate::{Job, types::Progress};
use std::{
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

/// Shortest time between two reports of the same stage.
const MIN_INTERVAL: Duration = Duration::from_millis(100);

/// Makes a progress report in the usual unit of the stage.
pub(super) fn progress(stage: &str, done: u64, total: u64, records: u64) -> Progress {
    let unit = if matches!(stage, "read" | "store" | "index" | "detect" | "copy") { "bytes" } else { "records" };
    Progress {
        stage: stage.into(),
        done,
        total,
        unit: unit.into(),
        records: u32::try_from(records).unwrap_or(u32::MAX),
    }
}

/// Forwards progress reports to a job, at most about ten a second. The first report of each stage is always forwarded.
pub(super) struct ProgressThrottle<'a> {
    job: &'a Job,
    last: Mutex<(Option<Instant>, String)>,
}

impl<'a> ProgressThrottle<'a> {
    pub(super) fn new(job: &'a Job) -> Self {
        Self { job, last: Mutex::new((None, String::new())) }
    }

    pub(super) fn report(&self, stage: &str, done: u64, total: u64, records: u64) {
        self.forward(|| progress(stage, done, total, records), stage);
    }

    /// Like [`ProgressThrottle::report`], but in `unit` instead of the usual unit of the stage.
    pub(super) fn report_in(&self, unit: &str, stage: &str, done: u64, total: u64, records: u64) {
        self.forward(|| Progress { unit: unit.into(), ..progress(stage, done, total, records) }, stage);
    }

    fn forward(&self, progress: impl FnOnce() -> Progress, stage: &str) {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.1 != stage || last.0.is_none_or(|t| t.elapsed() >= MIN_INTERVAL) {
            *last = (Some(Instant::now()), stage.to_owned());
            self.job.report(progress());
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_job_reports_about_ten_times_a_second_and_each_stage_at_once() {
        let received = std::sync::Arc::new(Mutex::new(Vec::new()));
        let sink = std::sync::Arc::clone(&received);
        let job = Job::with_progress(std::sync::Arc::new(move |progress| sink.lock().unwrap().push(progress)));
        let (throttle, started) = (ProgressThrottle::new(&job), Instant::now());
        for done in 0..10_000 {
            throttle.report_in("bytes", "write", done, 10_000, 0);
        }
        throttle.report("validate", 0, 0, 0);
        let max_reports = 2 + started.elapsed().as_millis() / MIN_INTERVAL.as_millis();
        let received = received.lock().unwrap();
        assert!(received.len() as u128 <= max_reports && received.len() >= 2, "{}", received.len());
        let stage_and_unit = |at: usize| (received[at].stage.as_str(), received[at].unit.as_str());
        assert_eq!(
            (stage_and_unit(0), stage_and_unit(received.len() - 1)),
            (("write", "bytes"), ("validate", "records"))
        );
    }
}
