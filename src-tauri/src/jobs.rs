//! Long work that is under way: started under an id that the window chose, cancelled by that id.
use mementory_api::{ApiError, ApiResult, Job};
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The jobs under way.
#[derive(Default)]
pub struct Jobs {
    running: Mutex<HashMap<String, Entered>>,
}

struct Entered {
    job: Job,
    /// Nobody asked for it, so nothing is postponed for it.
    quiet: bool,
}

/// A job under way; it leaves the list when this is dropped, however the work ended.
pub struct Running<'a> {
    jobs: &'a Jobs,
    id: String,
}

impl Jobs {
    /// Enter a job under `id`. Error `usage` when the id is empty or already under way.
    pub fn start(&self, id: &str, job: &Job) -> ApiResult<Running<'_>> {
        self.enter(id, job, false)
    }

    /// The same for work that nobody asked for: it can be stopped, and does not count as being under way.
    pub fn start_quiet(&self, id: &str, job: &Job) -> ApiResult<Running<'_>> {
        self.enter(id, job, true)
    }

    fn enter(&self, id: &str, job: &Job, quiet: bool) -> ApiResult<Running<'_>> {
        let mut running = self.lock();
        if id.is_empty() || running.contains_key(id) {
            return Err(ApiError::new("usage", 2, "A job needs an id of its own."));
        }
        running.insert(id.to_owned(), Entered { job: job.clone(), quiet });
        Ok(Running { jobs: self, id: id.to_owned() })
    }

    /// Ask one job to stop. A job that has ended already is nothing to complain about.
    pub fn cancel(&self, id: &str) {
        if let Some(entered) = self.lock().get(id) {
            entered.job.cancel();
        }
    }

    /// Ask all jobs to stop.
    pub fn cancel_all(&self) {
        for entered in self.lock().values() {
            entered.job.cancel();
        }
    }

    /// Is anything under way that was asked for?
    pub fn any(&self) -> bool {
        self.lock().values().any(|entered| !entered.quiet)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Entered>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Running<'_> {
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
        assert!(jobs.any());
        jobs.cancel("a");
        assert!(job.cancel_flag().load(Ordering::Relaxed));
        drop(running);
        assert!(!jobs.any());
        jobs.cancel("a");
    }

    #[test]
    fn an_id_is_taken_only_while_its_job_runs() {
        let jobs = Jobs::default();
        let first = jobs.start("a", &Job::silent()).unwrap();
        assert_eq!(jobs.start("a", &Job::silent()).err().map(|e| e.code), Some("usage"));
        assert_eq!(jobs.start("", &Job::silent()).err().map(|e| e.code), Some("usage"));
        drop(first);
        assert!(jobs.start("a", &Job::silent()).is_ok());
    }

    #[test]
    fn work_that_nobody_asked_for_counts_as_none() {
        let jobs = Jobs::default();
        let quiet = jobs.start_quiet("a", &Job::silent()).unwrap();
        assert!(!jobs.any());
        assert!(jobs.start("a", &Job::silent()).is_err(), "its id is taken all the same");
        let asked = jobs.start("b", &Job::silent()).unwrap();
        assert!(jobs.any());
        drop((quiet, asked));
        assert!(!jobs.any());
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
