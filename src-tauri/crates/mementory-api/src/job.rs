//! Long work: progress out, cancellation in.
use crate::types::Progress;
use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

/// Receives progress; called from the worker's thread.
pub type ProgressSink = Arc<dyn Fn(Progress) + Send + Sync>;

/// Waits while others are in more of a hurry, unless the job is cancelled.
pub type Pause = Arc<dyn Fn(&AtomicBool) + Send + Sync>;

/// Handle of one long piece of work. Clone it to cancel from elsewhere.
#[derive(Clone, Default)]
pub struct Job {
    cancelled: Arc<AtomicBool>,
    sink: Option<ProgressSink>,
    pause: Option<Pause>,
}

impl Job {
    /// A job nobody watches.
    pub fn silent() -> Self {
        Self::default()
    }

    /// A job whose progress goes to `sink`.
    pub fn with_progress(sink: ProgressSink) -> Self {
        Self { cancelled: Arc::default(), sink: Some(sink), pause: None }
    }

    /// The same job, with `pause` between its stretches of work.
    #[must_use]
    pub fn unhurried(self, pause: Pause) -> Self {
        Self { pause: Some(pause), ..self }
    }

    /// Ask the work to stop; it rolls back and returns `cancelled`.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// The flag that the pipelines look at between records.
    pub fn cancel_flag(&self) -> Arc<AtomicBool> {
        self.cancelled.clone()
    }

    /// Let others go first. To be called without any lock that they may need.
    pub(crate) fn give_way(&self) {
        if let Some(pause) = &self.pause {
            pause(&self.cancelled);
        }
    }

    /// Report progress, if anybody listens.
    pub fn report(&self, progress: Progress) {
        if let Some(sink) = &self.sink {
            sink(progress);
        }
    }
}
