//! The result of a change that was made. An error means that the change was not made. A failure after the commit is
//! therefore reported as a warning, not as an error.
use crate::{VaultResult, failed_step::FailedStep};
use std::{
    collections::BTreeSet,
    ops::{Deref, DerefMut},
};

/// The result of a change that was made, and the steps after its commit that failed. Dereferences to the
/// value that the change returned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Applied<T> {
    /// The value that the change returned.
    pub value: T,
    /// The steps that failed after the commit.
    pub warnings: BTreeSet<FailedStep>,
}

impl<T> Applied<T> {
    /// Wraps the value of a change without warnings.
    pub fn new(value: T) -> Self {
        Self { value, warnings: BTreeSet::new() }
    }

    /// Replaces the value and keeps the warnings.
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Applied<U> {
        Applied { value: f(self.value), warnings: self.warnings }
    }

    /// Runs `work`, a step that follows the commit. If the step fails, adds the warning `step`.
    pub(crate) fn then(mut self, step: FailedStep, work: impl FnOnce(&T) -> VaultResult<()>) -> Self {
        if work(&self.value).is_err() {
            self.warnings.insert(step);
        }
        self
    }

    /// Adds the warning `step` if `failed` is true.
    pub(crate) fn warn_if(mut self, failed: bool, step: FailedStep) -> Self {
        if failed {
            self.warnings.insert(step);
        }
        self
    }
}

impl<T> Deref for Applied<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> DerefMut for Applied<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.value
    }
}
