//! Numbered states of a source, and the check that a delta continues the current state (ALF §4.3.1). The same check is
//! used when a delta is applied to an archive and when it is imported into a vault.

/// A numbered state of a source: the state of an archive, or the state to which a delta leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceState {
    /// Path in the input.
    pub place: String,
    /// Id of the format. A delta has the id of the format of its base.
    pub format: &'static str,
    /// Id of the agent.
    pub group: String,
    /// Number of the state from which a delta starts; None for a whole file.
    pub base: Option<u64>,
    /// Number of the state; 0 for a whole file that was never synchronised.
    pub sequence: u64,
    /// When the source had this state, as the file states it.
    pub time: Option<String>,
}

/// Reason why a delta does not continue a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SequenceError {
    /// The delta ends at or before the state from which it starts.
    #[error("invalid delta: new_sequence is not greater than base_sequence")]
    Order,
    /// An earlier delta is missing.
    #[error("an earlier delta is missing (the last known sequence is {at}, the delta starts at {base})")]
    Gap {
        /// The current state.
        at: u64,
        /// The state from which the delta starts.
        base: u64,
    },
    /// The current state already includes the delta.
    #[error("already applied (the last known sequence is {at}, the delta ends at {new})")]
    AlreadyApplied {
        /// The current state.
        at: u64,
        /// The state to which the delta leads.
        new: u64,
    },
    /// The delta starts before the current state and ends after it.
    #[error("made from another state (the last known sequence is {at}, the delta starts at {base})")]
    WrongBase {
        /// The current state.
        at: u64,
        /// The state from which the delta starts.
        base: u64,
    },
}

impl SequenceError {
    /// Stable code.
    pub fn code(self) -> &'static str {
        match self {
            Self::Order => "sequence_order",
            Self::Gap { .. } => "sequence_gap",
            Self::AlreadyApplied { .. } => "already_applied",
            Self::WrongBase { .. } => "wrong_base",
        }
    }
}

/// Checks that a delta from state `base` to state `new` continues the current state `at`.
///
/// # Errors
/// The reason why the delta does not continue the state.
pub fn check_sequence(at: u64, base: u64, new: u64) -> Result<(), SequenceError> {
    match () {
        () if new <= base => Err(SequenceError::Order),
        () if base > at => Err(SequenceError::Gap { at, base }),
        () if new <= at => Err(SequenceError::AlreadyApplied { at, new }),
        () if base != at => Err(SequenceError::WrongBase { at, base }),
        () => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delta_must_start_from_the_current_state() {
        let cases = [
            ((4, 4, 5), None),
            ((0, 0, 1), None),
            ((4, 4, 9), None),
            ((4, 5, 6), Some("sequence_gap")),
            ((4, 3, 4), Some("already_applied")),
            ((4, 2, 3), Some("already_applied")),
            ((4, 3, 5), Some("wrong_base")),
            ((4, 4, 4), Some("sequence_order")),
            ((4, 9, 2), Some("sequence_order")),
            ((u64::MAX, u64::MAX, u64::MAX), Some("sequence_order")),
        ];
        for ((at, base, new), expected) in cases {
            assert_eq!(check_sequence(at, base, new).err().map(SequenceError::code), expected, "{at} {base} {new}");
        }
    }
}
