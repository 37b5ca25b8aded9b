//! The levels of a document that contains elements.

/// Current position of the reader in the structure of the document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Level {
    /// Between the values at top level.
    Top,
    /// Inside an array with elements. `wrapped` is true if the array is the value of a key in an object.
    Array {
        wrapped: bool,
    },
    /// Inside an object that has arrays with elements, but outside these arrays.
    Wrapper,
    Done,
}

impl Level {
    /// True inside an array that is the value of a key in an object.
    pub(super) fn is_wrapped_array(self) -> bool {
        matches!(self, Self::Array { wrapped: true })
    }
}
