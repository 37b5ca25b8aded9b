//! Running jobs. The window chooses the id of a job and cancels it by that id.
use mementory_api::{ApiError, ApiResult, Job};
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The running jobs.
#[derive(Default)]
pub struct Jobs {
    running: Mutex<HashMap<String, JobEntry>>,
}

struct JobEntry {
    job: Job,
    /// True for a job that the person did not start. The automatic lock does not wait for such a job.
    background: bool,
}

/// A running job. When the value is dropped, the job is removed from the list, however the work ended.
pub struct RunningJob<'a> {
    jobs: &'a Jobs,
    id: String,
}

impl Jobs {
    /// Registers a job under `id`. Fails with `usage` if the id is empty or in use.
    pub fn start(&self, id: &str, job: &Job) -> ApiResult<RunningJob<'_>> {
        self.register(id, job, false)
    }

    /// Registers background work. It can be cancelled, but does not count in [`Jobs::has_foreground_job`].
    pub fn start_background(&self, id: &str, job: &Job) -> ApiResult<RunningJob<'_>> {
        self.register(id, job, true)
    }

    fn register(&self, id: &str, job: &Job, background: bool) -> ApiResult<RunningJob<'_>> {
        let mut running_jobs = self.lock();
        if id.is_empty() || running_jobs.contains_key(id) {
            return Err(ApiError::usage(
                "Another job with this id is running, or the id is empty. Nothing was started.",
            ));
        }
        running_jobs.insert(id.to_owned(), JobEntry { job: job.clone(), background });
        Ok(RunningJob { jobs: self, id: id.to_owned() })
    }

    /// Cancels a job; does nothing if it has already ended.
    pub fn cancel(&self, id: &str) {
        if let Some(entry) = self.lock().get(id) {
            entry.job.cancel();
        }
    }

    /// Cancels all jobs.
    pub fn cancel_all(&self) {
        for entry in self.lock().values() {
            entry.job.cancel();
        }
    }

    /// True if a job that the person started is running.
    pub fn has_foreground_job(&self) -> bool {
        self.lock().values().any(|entry| !entry.background)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, JobEntry>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for RunningJob<'_> {
    fn drop(&mut self) {
        self.jobs.lock().remove(&self.id);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::sync::atomic::Ordering;

    #[test]
    fn a_job_can_be_cancelled_while_it_runs_and_is_gone_afterwards() {
        let jobs = Jobs::default();
        let job = Job::silent();
        let running = jobs.start("a", &job).unwrap();
        assert!(jobs.has_foreground_job());
        jobs.cancel("a");
        assert!(job.cancel_flag().load(Ordering::Relaxed));
        drop(running);
        assert!(!jobs.has_foreground_job());
        jobs.cancel("a");
    }

    #[test]
    fn an_id_is_in_use_only_while_its_job_runs() {
        let jobs = Jobs::default();
        let first = jobs.start("a", &Job::silent()).unwrap();
        assert_eq!(jobs.start("a", &Job::silent()).err().map(|e| e.code), Some("usage"));
        assert_eq!(jobs.start("", &Job::silent()).err().map(|e| e.code), Some("usage"));
        drop(first);
        assert!(jobs.start("a", &Job::silent()).is_ok());
    }

    #[test]
    fn background_work_does_not_count_as_foreground() {
        let jobs = Jobs::default();
        let background = jobs.start_background("a", &Job::silent()).unwrap();
        assert!(!jobs.has_foreground_job());
        assert!(jobs.start("a", &Job::silent()).is_err(), "its id is in use all the same");
        let foreground = jobs.start("b", &Job::silent()).unwrap();
        assert!(jobs.has_foreground_job());
        drop((background, foreground));
        assert!(!jobs.has_foreground_job());
    }

    #[test]
    fn cancel_all_reaches_every_job() {
        let jobs = Jobs::default();
        let (a, b) = (Job::silent(), Job::silent());
        let _running = (jobs.start("a", &a).unwrap(), jobs.start("b", &b).unwrap());
        jobs.cancel_all();
        assert!(a.cancel_flag().load(Ordering::Relaxed) && b.cancel_flag().load(Ordering::Relaxed));
    }
}
