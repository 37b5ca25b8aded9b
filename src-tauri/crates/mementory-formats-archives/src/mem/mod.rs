//! Portable Memory (`.mem`), a folder of canonical JSON lines. Versions 1.0 and 1.1 can be read, validated and written.
//! See README.md.
mod bundle;
mod canonical;
mod claims;
mod conformance;
mod delta;
mod detect;
pub mod evidence;
mod evidence_pack;
mod extension;
mod howto_text;
mod invalid_values;
mod kinds;
mod line_decoder;
mod line_encoder;
mod line_stream;
mod manifest;
mod output_target;
mod read;
mod report;
mod salvage;
mod secret_refs;
pub mod sign;
mod signature_token;
mod signatures;
mod similar_names;
mod to_record;
mod tombstones;
mod validate;
mod wire;
mod write;

#[cfg(test)]
mod tests;

use bundle::Bundle;
use mementory_format::{
    Capabilities, Catalog, Claim, Detected, Format, FormatError, PassthroughItem, ReadContext, RecordSource,
    SignatureRemover, Signed, Sink, SourceDate, Validation, WriteOptions, WriteReport,
};
use mementory_model::{Derived, Limits, Record};
use std::path::Path;

/// The format Portable Memory (`.mem`).
pub struct Mem;

impl Format for Mem {
    fn id(&self) -> &'static str {
        "mem"
    }
    fn name(&self) -> &'static str {
        "Portable Memory (.mem)"
    }
    fn capabilities(&self) -> Capabilities {
        Capabilities {
            read: true,
            write: true,
            validate: true,
            tombstones: true,
            byte_exact: true,
            folder: true,
            signs: true,
            carries_passthrough: true,
            accepts_base: true,
            ending: ".mem",
            interchange: true,
            recommended: true,
            ..Capabilities::default()
        }
    }
    fn detect(&self, catalog: &Catalog, limits: &Limits) -> Result<Vec<Claim>, FormatError> {
        detect::detect(catalog, limits)
    }
    fn media_type(&self) -> &'static str {
        "application/zip"
    }
    fn file_signing(&self) -> Option<&dyn mementory_format::SignFiles> {
        Some(self)
    }
    fn date_of(
        &self,
        catalog: &Catalog,
        detected: &Detected,
        limits: &Limits,
    ) -> Result<Option<SourceDate>, FormatError> {
        let bundle = Bundle::open(catalog, detected, limits)?;
        let manifest = bundle.bytes(bundle::MANIFEST_FILE)?;
        let created = manifest.and_then(|bytes| manifest::Manifest::parse(&bytes, limits).ok()?.created);
        let scope = to_record::KEY_SCOPE.to_owned();
        Ok(created.map(|time| SourceDate { scope, time, overrides_records: false }))
    }
    fn read(
        &self,
        catalog: &Catalog,
        detected: &Detected,
        context: &ReadContext,
        sink: &mut dyn Sink,
    ) -> Result<(), FormatError> {
        let bundle = Bundle::open(catalog, detected, &context.limits)?;
        read::read(&bundle, detected, context, sink)
    }
    fn read_elements(
        &self,
        catalog: &Catalog,
        detected: &Detected,
        context: &ReadContext,
        sink: &mut dyn Sink,
    ) -> Result<(), FormatError> {
        read::read_elements(&Bundle::open(catalog, detected, &context.limits)?, detected, context, sink)
    }
    fn can_salvage(&self, _: &Catalog, _: &Detected, code: &str, place: &str) -> bool {
        salvage::can_salvage(code, place)
    }
    fn digest_error_codes(&self) -> &'static [&'static str] {
        &["file_missing", "checksum_mismatch", "byte_count_mismatch", "bundle_digest_mismatch"]
    }
    fn salvage_codes(&self) -> &'static [&'static str] {
        &salvage::SALVAGEABLE_CODES
    }
    fn salvage(
        &self,
        catalog: &Catalog,
        detected: &Detected,
        context: &ReadContext,
        sink: &mut dyn Sink,
    ) -> Result<(), FormatError> {
        let bundle = Bundle::open(catalog, detected, &context.limits)?;
        read::salvage(&bundle, detected, context, sink)
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
    fn tombstone_target(&self, record: &Record) -> Option<(String, String)> {
        tombstones::wire_target(record)
    }
    fn add_derived(&self, derived: &mut Derived, record: &Record, export_id: &str) {
        tombstones::add_derived(derived, record, export_id);
    }
    fn signatures(
        &self,
        catalog: &Catalog,
        detected: &Detected,
        limits: &Limits,
        visit: &mut dyn FnMut(Signed) -> Result<(), FormatError>,
    ) -> Result<(), FormatError> {
        signatures::signatures(&Bundle::open(catalog, detected, limits)?, visit)
    }
    fn signature_remover(&self, part: &PassthroughItem) -> Option<SignatureRemover> {
        (part.name == bundle::SIGNATURE_FILE).then_some(|_| None)
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
