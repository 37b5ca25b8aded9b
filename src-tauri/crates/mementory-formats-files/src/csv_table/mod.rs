//! All records as a table for a spreadsheet. See README.md.
mod cells;
mod detect;
mod read;
#[cfg(test)]
mod tests;
mod write;

use mementory_format::{
    Capabilities, Catalog, Claim, Detected, Format, FormatError, ReadContext, RecordSource, Sink, Validation,
    WriteOptions, WriteReport,
};
use mementory_model::Limits;
use std::path::Path;

/// Id of the format.
const ID: &str = "csv_table";
/// Version of the table.
const VERSION: &str = "1";
/// The first column, by which the table is recognised.
const ID_COLUMN: &str = "mementory_id";
const TEXT_COLUMN: &str = "text";

/// A table of all records.
pub struct CsvTable;

impl Format for CsvTable {
    fn id(&self) -> &'static str {
        ID
    }
    fn aliases(&self) -> &'static [&'static str] {
        &["csv"]
    }
    fn name(&self) -> &'static str {
        "Table for a spreadsheet (CSV)"
    }
    fn capabilities(&self) -> Capabilities {
        Capabilities {
            read: true,
            write: true,
            validate: true,
            for_reading: true,
            ending: ".csv",
            ..Capabilities::default()
        }
    }
    fn media_type(&self) -> &'static str {
        "text/csv"
    }
    fn detect(&self, catalog: &Catalog, _limits: &Limits) -> Result<Vec<Claim>, FormatError> {
        Ok(detect::claims(catalog))
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
