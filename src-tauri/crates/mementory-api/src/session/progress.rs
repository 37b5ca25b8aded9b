//! How often a job tells how far it is.
use crate::{Job, types::Progress};
use std::{
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

/// Shortest time between two reports of one stage.
const PROGRESS_EVERY: Duration = Duration::from_millis(100);

/// What a job tells, in the unit that the stage usually has.
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

/// Lets at most about ten reports a second through; a new stage always passes.
pub(super) struct Gate<'a> {
    job: &'a Job,
    last: Mutex<(Option<Instant>, String)>,
}

impl<'a> Gate<'a> {
    pub(super) fn new(job: &'a Job) -> Self {
        Self { job, last: Mutex::new((None, String::new())) }
    }

    pub(super) fn report(&self, stage: &str, done: u64, total: u64, records: u64) {
        self.tell(|| progress(stage, done, total, records), stage);
    }

    /// As [`Gate::report`], of a stage that is counted in another unit there.
    pub(super) fn report_in(&self, unit: &str, stage: &str, done: u64, total: u64, records: u64) {
        self.tell(|| Progress { unit: unit.into(), ..progress(stage, done, total, records) }, stage);
    }

    fn tell(&self, progress: impl FnOnce() -> Progress, stage: &str) {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.1 != stage || last.0.is_none_or(|t| t.elapsed() >= PROGRESS_EVERY) {
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
    fn a_job_tells_about_ten_times_a_second_and_each_stage_at_once() {
        let heard = std::sync::Arc::new(Mutex::new(Vec::new()));
        let ears = std::sync::Arc::clone(&heard);
        let job = Job::with_progress(std::sync::Arc::new(move |told| ears.lock().unwrap().push(told)));
        let (gate, began) = (Gate::new(&job), Instant::now());
        for done in 0..10_000 {
            gate.report_in("bytes", "write", done, 10_000, 0);
        }
        gate.report("validate", 0, 0, 0);
        let most = 2 + began.elapsed().as_millis() / PROGRESS_EVERY.as_millis();
        let heard = heard.lock().unwrap();
        assert!(heard.len() as u128 <= most && heard.len() >= 2, "{}", heard.len());
        let stages = |at: usize| (heard[at].stage.as_str(), heard[at].unit.as_str());
        assert_eq!((stages(0), stages(heard.len() - 1)), (("write", "bytes"), ("validate", "records")));
    }
}
