//! Deletion steps that a test leaves out to see whether the independent check notices that they are missing. Without
//! the feature `sabotage`, as in the shipped program, no step can be left out.

/// Steps of a deletion that are left out.
#[cfg(feature = "sabotage")]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Sabotage {
    pub keep_pages: bool,
    pub keep_index: bool,
    pub keep_blobs: bool,
    pub keep_packs: bool,
}

/// Without the feature `sabotage`, no step is left out.
#[cfg(not(feature = "sabotage"))]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Sabotage {}

#[cfg(feature = "sabotage")]
impl Sabotage {
    pub(crate) const fn keeps_pages(self) -> bool {
        self.keep_pages
    }

    pub(crate) const fn keeps_index(self) -> bool {
        self.keep_index
    }

    pub(crate) const fn keeps_blobs(self) -> bool {
        self.keep_blobs
    }

    pub(crate) const fn keeps_packs(self) -> bool {
        self.keep_packs
    }
}

#[cfg(not(feature = "sabotage"))]
impl Sabotage {
    pub(crate) const fn keeps_pages(self) -> bool {
        false
    }

    pub(crate) const fn keeps_index(self) -> bool {
        false
    }

    pub(crate) const fn keeps_blobs(self) -> bool {
        false
    }

    pub(crate) const fn keeps_packs(self) -> bool {
        false
    }
}
