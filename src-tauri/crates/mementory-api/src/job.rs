//! Handle of long-running work: reports progress and can be cancelled.
use crate::types::Progress;
use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

/// Receives progress; called from the worker's thread.
pub type ProgressSink = Arc<dyn Fn(Progress) + Send + Sync>;

/// Waits while the person waits for another command, unless the job is cancelled.
pub type YieldHook = Arc<dyn Fn(&AtomicBool) + Send + Sync>;

/// Handle of one long piece of work. Clone it to cancel from elsewhere.
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

    /// A job whose progress goes to `sink`.
    pub fn with_progress(sink: ProgressSink) -> Self {
        Self { cancelled: Arc::default(), sink: Some(sink), yield_hook: None }
    }

    /// The same job in the background: it calls `yield_hook` between two batches of work.
    #[must_use]
    pub fn in_background(self, yield_hook: YieldHook) -> Self {
        Self { yield_hook: Some(yield_hook), ..self }
    }

    /// Ask the work to stop; it rolls back and returns `cancelled`.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// The flag that pipelines check between records.
    pub fn cancel_flag(&self) -> Arc<AtomicBool> {
        self.cancelled.clone()
    }

    /// Let interactive commands go first. Call it without holding a lock that they may need.
    pub(crate) fn yield_to_interactive(&self) {
        if let Some(yield_hook) = &self.yield_hook {
            yield_hook(&self.cancelled);
        }
    }

    /// Report progress, if the job has a sink.
    pub fn report(&self, progress: Progress) {
        if let Some(sink) = &self.sink {
            sink(progress);
        }
    }
}
