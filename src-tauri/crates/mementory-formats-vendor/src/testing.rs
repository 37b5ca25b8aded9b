//! Detection and reading with the formats of this crate, for tests.
use crate::FORMATS;
use mementory_format::{Catalog, Detection, Format, FormatError, testkit::MemorySource};
use mementory_model::Limits;
use std::path::Path;

pub use mementory_format::testkit::{put, tree, validate, write};

pub fn detect(catalog: &Catalog, limits: &Limits, only: Option<&str>) -> Result<Detection, FormatError> {
    mementory_format::detect(FORMATS, catalog, limits, only)
}

pub fn by_id(id: &str) -> Option<&'static dyn Format> {
    FORMATS.iter().copied().find(|f| f.id() == id)
}

pub fn read(path: &Path, format: &dyn Format) -> MemorySource {
    mementory_format::testkit::read(FORMATS, path, format)
}
