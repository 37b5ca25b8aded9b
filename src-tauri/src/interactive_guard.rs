//! Whether a person waits for the window. Work that is in no hurry goes on between what they ask for.
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// So long after an answer the next question may follow from it: the next letter typed, the next row.
const QUIET: Duration = Duration::from_millis(400);
/// Nobody who goes on asking keeps the work from being done some day.
const LONGEST: Duration = Duration::from_secs(5);
/// How soon it is seen that the work is not wanted any more.
const STEP: Duration = Duration::from_millis(50);

/// Questions under way, and when the last one was answered.
#[derive(Default)]
pub struct Attention(Mutex<Asked>);

#[derive(Default)]
struct Asked {
    open: usize,
    answered: Option<Instant>,
}

/// A question under way, until this is dropped.
pub struct Question<'a>(&'a Attention);

impl Attention {
    /// A person asks.
    pub fn question(&self) -> Question<'_> {
        self.asked().open += 1;
        Question(self)
    }

    /// Wait until nobody waits for an answer and none was given just now; at most `LONGEST`, and only while `wanted`.
    pub fn give_way(&self, wanted: impl Fn() -> bool) {
        let begun = Instant::now();
        while wanted() && begun.elapsed() < LONGEST && !self.quiet() {
            std::thread::park_timeout(STEP);
        }
    }

    fn quiet(&self) -> bool {
        let asked = self.asked();
        asked.open == 0 && asked.answered.is_none_or(|at| at.elapsed() >= QUIET)
    }

    fn asked(&self) -> MutexGuard<'_, Asked> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Question<'_> {
    fn drop(&mut self) {
        let mut asked = self.0.asked();
        asked.open -= 1;
        asked.answered = Some(Instant::now());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn work_waits_while_somebody_waits_for_an_answer_and_no_longer_than_it_is_wanted() {
        let attention = Attention::default();
        let waited = |looks: usize| {
            let seen = Cell::new(0);
            attention.give_way(|| seen.replace(seen.get() + 1) < looks);
            seen.get()
        };
        assert_eq!(waited(3), 1, "nobody has asked yet");
        let question = attention.question();
        assert_eq!(waited(3), 4, "it looks whether it is wanted until it is not");
        drop(question);
        assert!(!attention.quiet(), "the next question may follow from the answer");
    }
}
