//! Lets tests run detection with the formats of this crate, of mementory-formats-agents, of mementory-formats-vendor
//! and of mementory-formats-files.
use mementory_format::{Catalog, Detection, Format, FormatError, testkit::MemorySource};
use mementory_model::Limits;
use std::path::Path;
use std::sync::LazyLock;

pub use mementory_format::testkit::write;

/// All formats that detection tries in tests, in the order of the registry.
pub static ALL: LazyLock<Vec<&'static dyn Format>> = LazyLock::new(|| {
    [
        mementory_formats_agents::FORMATS,
        crate::FORMATS,
        mementory_formats_vendor::FORMATS,
        mementory_formats_files::FORMATS,
    ]
    .concat()
});

pub fn detect(catalog: &Catalog, limits: &Limits, only: Option<&str>) -> Result<Detection, FormatError> {
    mementory_format::detect(&ALL, catalog, limits, only)
}

pub fn read(path: &Path, format: &dyn Format) -> MemorySource {
    mementory_format::testkit::read(&ALL, path, format)
}
