//! Zaxy memory export (`zaxy.export.v1`): unsigned, signed and disclosed bundles, read, written and checked. See
//! README.md. Signed bundles are experimental: their authors say that the signing has not been reviewed.
mod bundle;
pub(crate) mod canonical;
mod compose;
mod detect;
mod disclose;
mod entry;
mod extension;
mod frame;
pub(crate) mod map;
pub(crate) mod merkle;
mod read;
mod select;
mod validate;
mod write;

#[cfg(test)]
mod tests;

use bundle::Bundle;
pub use disclose::{Disclosure, disclose, sign};
pub use entry::Grain;
use mementory_format::{
    Capabilities, Catalog, Claim, Detected, Format, FormatError, ReadContext, RecordSource, Signed, Sink, Validation,
    WriteOptions, WriteReport,
};
use mementory_model::Limits;
pub use select::Selector;
use std::path::Path;

/// Zaxy memory export.
pub struct Zaxy;

impl Format for Zaxy {
    fn id(&self) -> &'static str {
        map::SCOPE
    }
    fn name(&self) -> &'static str {
        "Zaxy memory export"
    }
    fn capabilities(&self) -> Capabilities {
        Capabilities {
            read: true,
            write: true,
            validate: true,
            byte_exact: true,
            signs: true,
            carries_passthrough: true,
            ..Capabilities::default()
        }
    }
    fn detect(&self, catalog: &Catalog, limits: &Limits) -> Result<Vec<Claim>, FormatError> {
        detect::detect(catalog, limits)
    }
    fn read(
        &self,
        catalog: &Catalog,
        detected: &Detected,
        context: &ReadContext,
        sink: &mut dyn Sink,
    ) -> Result<(), FormatError> {
        read::read(&Bundle::open(catalog, detected, &context.limits)?, sink)
    }
    fn write(
        &self,
        source: &mut dyn RecordSource,
        out: &Path,
        options: &WriteOptions,
    ) -> Result<WriteReport, FormatError> {
        write::write(source, out, options, &Limits::default())
    }
    fn plan(&self, source: &mut dyn RecordSource, options: &WriteOptions) -> Result<WriteReport, FormatError> {
        write::plan(source, options, &Limits::default())
    }
    fn signatures(
        &self,
        catalog: &Catalog,
        detected: &Detected,
        limits: &Limits,
        visit: &mut dyn FnMut(Signed) -> Result<(), FormatError>,
    ) -> Result<(), FormatError> {
        validate::signed(&Bundle::open(catalog, detected, limits)?).map_or(Ok(()), visit)
    }
    fn validate(
        &self,
        catalog: &Catalog,
        detected: &Detected,
        limits: &Limits,
        trust: &[String],
    ) -> Result<Validation, FormatError> {
        validate::validate(&Bundle::open(catalog, detected, limits)?, trust)
    }
}

/// The canonical text of a value; None when a number has none. For the properties of all three forms.
#[cfg(test)]
pub(crate) fn canonical(tree: &mementory_json::Tree) -> Option<String> {
    canonical::canonical(tree).ok()
}
