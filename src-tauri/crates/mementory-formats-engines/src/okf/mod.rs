//! Reads and writes bundles of the Open Knowledge Format. See README.md.
mod detect;
mod read;
#[cfg(test)]
mod tests;
mod write;
#[cfg(test)]
mod write_tests;

use mementory_format::{
    Capabilities, Catalog, Claim, Detected, FolderKeys, Format, FormatError, ReadContext, RecordSource, Sink,
    Validation, WriteOptions, WriteReport,
};
use mementory_formats_shared::note_folder::NoteFolder;
use mementory_model::Limits;
use std::path::Path;

/// Bundles of the Open Knowledge Format.
pub struct Okf;

impl Format for Okf {
    fn id(&self) -> &'static str {
        "okf"
    }
    fn name(&self) -> &'static str {
        "Open Knowledge Format"
    }
    fn capabilities(&self) -> Capabilities {
        Capabilities { read: true, write: true, validate: true, folder: true, ..Capabilities::default() }
    }
    fn detect(&self, catalog: &Catalog, _limits: &Limits) -> Result<Vec<Claim>, FormatError> {
        Ok(detect::claims(catalog, false))
    }
    fn detect_selected(&self, catalog: &Catalog, _limits: &Limits) -> Result<Vec<Claim>, FormatError> {
        Ok(detect::claims(catalog, true))
    }
    fn folder_keys(&self, catalog: &Catalog, detected: &Detected) -> Option<FolderKeys> {
        NoteFolder::of(catalog, detected).keys("okf")
    }
    fn read(
        &self,
        catalog: &Catalog,
        detected: &Detected,
        context: &ReadContext,
        sink: &mut dyn Sink,
    ) -> Result<(), FormatError> {
        read::read(catalog, detected, context, sink)
    }
    fn write(
        &self,
        source: &mut dyn RecordSource,
        out: &Path,
        options: &WriteOptions,
    ) -> Result<WriteReport, FormatError> {
        write::write(source, Some(out), options)
    }
    fn plan(&self, source: &mut dyn RecordSource, options: &WriteOptions) -> Result<WriteReport, FormatError> {
        write::write(source, None, options)
    }
    fn validate(
        &self,
        catalog: &Catalog,
        detected: &Detected,
        limits: &Limits,
        _trust: &[String],
    ) -> Result<Validation, FormatError> {
        mementory_formats_shared::check::validate(self, catalog, detected, limits)
    }
}

/// True for a reserved file name. In every folder, `index.md` lists concepts, and `log.md` lists changes.
fn is_reserved(name: &str) -> bool {
    name == "index.md" || name == "log.md"
}
