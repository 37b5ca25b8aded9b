//! Interchange formats that are one JSON document, JSON lines or Markdown, one folder each with a README.
mod creation_time;
pub mod eventloom;
#[cfg(test)]
mod left_out_files_tests;
pub mod mif;
pub mod pam;
mod seen_records;
mod text_digest;
pub mod zaxy;

use mementory_format::{Catalog, Detection, Format, FormatError};
use mementory_model::Limits;

/// Every format of this crate, in the order in which detection tries them.
pub const FORMATS: &[&dyn Format] = &[&pam::Pam, &mif::Mif, &zaxy::Zaxy, &eventloom::Eventloom];

/// Detects sources with the formats of this crate.
#[cfg(not(test))]
fn detect(catalog: &Catalog, limits: &Limits, only: Option<&str>) -> Result<Detection, FormatError> {
    mementory_format::detect(FORMATS, catalog, limits, only)
}

/// Detects sources with all formats, because tests export records of every format to the formats of this crate.
#[cfg(test)]
fn detect(catalog: &Catalog, limits: &Limits, only: Option<&str>) -> Result<Detection, FormatError> {
    mementory_format::detect(&all(), catalog, limits, only)
}

#[cfg(test)]
fn all() -> Vec<&'static dyn Format> {
    use mementory_formats_agents as agents;
    use mementory_formats_archives as archives;
    use mementory_formats_engines as engines;
    use mementory_formats_files as files;
    use mementory_formats_vendor as vendor;
    [archives::FORMATS, FORMATS, agents::FORMATS, engines::FORMATS, vendor::FORMATS, files::FORMATS].concat()
}

#[cfg(test)]
fn by_id(id: &str) -> Option<&'static dyn Format> {
    all().into_iter().find(|f| f.id() == id)
}
