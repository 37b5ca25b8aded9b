//! Provides the handle of a long-running job, which reports progress and can be cancelled.
use crate::types::Progress;
use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

/// Receives the progress of a job. It is called on the job's thread.
pub type ProgressSink = Arc<dyn Fn(Progress) + Send + Sync>;

/// A function that waits while the person runs another command. It returns early if the job is cancelled.
pub type YieldHook = Arc<dyn Fn(&AtomicBool) + Send + Sync>;

/// Handle of a long-running job. A clone of it can cancel the job from another thread.
#[derive(Clone, Default)]
pub struct Job {
    cancelled: Arc<AtomicBool>,
    sink: Option<ProgressSink>,
    yield_hook: Option<YieldHook>,
}

impl Job {
    /// A job without progress reports.
    pub fn silent() -> Self {
        Self::default()
    }

    /// A job that reports its progress to `sink`.
    pub fn with_progress(sink: ProgressSink) -> Self {
        Self { cancelled: Arc::default(), sink: Some(sink), yield_hook: None }
    }

    /// Makes the job a background job, which calls `yield_hook` between batches of work.
    #[must_use]
    pub fn in_background(self, yield_hook: YieldHook) -> Self {
        Self { yield_hook: Some(yield_hook), ..self }
    }

    /// Requests cancellation: the job rolls back and returns `cancelled`.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// The flag that is set when the job is cancelled. Long loops must check it.
    pub fn cancel_flag(&self) -> Arc<AtomicBool> {
        self.cancelled.clone()
    }

    /// Waits while interactive commands run. Must not be called while holding a lock that such a command may need.
    pub(crate) fn yield_to_interactive(&self) {
        if let Some(yield_hook) = &self.yield_hook {
            yield_hook(&self.cancelled);
        }
    }

    /// Reports progress if the job has a sink.
    pub fn report(&self, progress: Progress) {
        if let Some(sink) = &self.sink {
            sink(progress);
        }
    }
}
