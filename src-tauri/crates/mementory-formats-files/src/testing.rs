//! Lets tests run detection with the formats of this crate and of the other crates whose files look similar.
use mementory_format::{Catalog, Detection, Format, FormatError, testkit::MemorySource};
use mementory_model::Limits;
use std::path::Path;
use std::sync::LazyLock;

/// All formats that detection tries in tests, in the order of the registry.
pub static ALL: LazyLock<Vec<&'static dyn Format>> = LazyLock::new(|| {
    [
        mementory_formats_agents::FORMATS,
        mementory_formats_engines::FORMATS,
        mementory_formats_vendor::FORMATS,
        crate::FORMATS,
    ]
    .concat()
});

pub fn detect(catalog: &Catalog, limits: &Limits, only_format: Option<&str>) -> Result<Detection, FormatError> {
    mementory_format::detect(&ALL, catalog, limits, only_format)
}

pub fn read(path: &Path, format: &dyn Format) -> MemorySource {
    mementory_format::testkit::read(&ALL, path, format)
}
