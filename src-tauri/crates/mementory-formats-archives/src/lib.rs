//! Interchange formats that are ZIP archives with a manifest. Each format has a folder with a README.
pub mod alf;
pub mod mem;
mod unique_keys;

use mementory_format::{Catalog, Detection, Format, FormatError};
use mementory_model::Limits;

/// Every format of this crate, in the order in which detection tries them.
pub const FORMATS: &[&dyn Format] = &[&mem::Mem, &alf::Alf, &alf::delta::AlfDelta];

/// Detection with the formats of this crate.
#[cfg(not(test))]
fn detect(catalog: &Catalog, limits: &Limits, only: Option<&str>) -> Result<Detection, FormatError> {
    mementory_format::detect(FORMATS, catalog, limits, only)
}

/// Detection with all formats, because tests export the records of every format to the formats of this crate.
#[cfg(test)]
fn detect(catalog: &Catalog, limits: &Limits, only: Option<&str>) -> Result<Detection, FormatError> {
    mementory_format::detect(&all(), catalog, limits, only)
}

#[cfg(test)]
fn all() -> Vec<&'static dyn Format> {
    use mementory_formats_agents as agents;
    use mementory_formats_engines as engines;
    use mementory_formats_files as files;
    use mementory_formats_interchange as interchange;
    use mementory_formats_vendor as vendor;
    [FORMATS, interchange::FORMATS, agents::FORMATS, engines::FORMATS, vendor::FORMATS, files::FORMATS].concat()
}

#[cfg(test)]
fn by_id(id: &str) -> Option<&'static dyn Format> {
    all().into_iter().find(|f| f.id() == id)
}
