//! Zaxy memory export (`zaxy.export.v1`): reads, writes and checks unsigned, signed and disclosed bundles. See
//! README.md. Signed bundles are experimental: according to Zaxy's authors, the signing has not been reviewed.
mod answer;
mod bundle;
pub(crate) mod canonical;
mod checked_entry;
mod cited_event;
mod compose;
mod detect;
mod disclose;
mod entry;
mod envelope;
mod extension;
pub(crate) mod log_event;
pub(crate) mod merkle;
mod read;
mod select;
mod spans;
pub(crate) mod to_record;
mod validate;
mod write;

#[cfg(test)]
mod tests;

pub use answer::AnswerOptions;
use bundle::Bundle;
pub use disclose::{disclose, sign};
pub use entry::Grain;
pub use mementory_format::Disclosure;
use mementory_format::{
    Capabilities, Catalog, Claim, Detected, DiscloseParts, Format, FormatError, FormatOptions, PassthroughItem,
    ReadContext, RecordSource, SignFiles, SignatureRemover, Signed, Signer, Sink, Validation, WriteOptions,
    WriteReport,
};
use mementory_model::{Limits, Timestamp};
pub use select::Selector;
use std::path::Path;

/// The Zaxy memory export format.
pub struct Zaxy;

impl Format for Zaxy {
    fn id(&self) -> &'static str {
        to_record::KEY_SCOPE
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
            selects_entries: true,
            ending: ".zaxy.json",
            interchange: true,
            export_tool: Some("memory_export"),
            ..Capabilities::default()
        }
    }
    /// Returns an empty list, because the reader itself rejects a bundle whose ids, root or proofs do not match. An
    /// import validates a bundle only to report other violations.
    fn import_refuses(&self) -> Option<&'static [&'static str]> {
        Some(&[])
    }
    fn detect(&self, catalog: &Catalog, limits: &Limits) -> Result<Vec<Claim>, FormatError> {
        detect::detect(catalog, limits)
    }
    fn file_signing(&self) -> Option<&dyn SignFiles> {
        Some(self)
    }
    fn disclosure(&self) -> Option<&dyn DiscloseParts> {
        Some(self)
    }
    fn read(
        &self,
        catalog: &Catalog,
        detected: &Detected,
        context: &ReadContext,
        sink: &mut dyn Sink,
    ) -> Result<(), FormatError> {
        read::read(&Bundle::open(catalog, detected, &context.limits)?, true, sink)
    }
    fn read_elements(
        &self,
        catalog: &Catalog,
        detected: &Detected,
        context: &ReadContext,
        sink: &mut dyn Sink,
    ) -> Result<(), FormatError> {
        read::read(&Bundle::open(catalog, detected, &context.limits)?, false, sink)
    }
    fn write(
        &self,
        source: &mut dyn RecordSource,
        out: &Path,
        options: &WriteOptions,
    ) -> Result<WriteReport, FormatError> {
        write::write(source, out, options, &Limits::default())
    }
    fn write_answer(
        &self,
        source: &mut dyn RecordSource,
        out: &mut Vec<u8>,
        options: &WriteOptions,
    ) -> Result<WriteReport, FormatError> {
        write::write_answer(source, out, options, &Limits::default())
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
    fn digest_error_codes(&self) -> &'static [&'static str] {
        &bundle::INTEGRITY_CODES
    }
    fn signature_remover(&self, part: &PassthroughItem) -> Option<SignatureRemover> {
        (part.role == "manifest").then_some(write::without_signature)
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

impl SignFiles for Zaxy {
    fn signs_in_place(&self) -> bool {
        false
    }
    fn sign(
        &self,
        path: &Path,
        signer: &dyn Signer,
        out: &Path,
        now: Timestamp,
        limits: &Limits,
    ) -> Result<(), FormatError> {
        sign(path, signer, out, now, limits)
    }
}

impl DiscloseParts for Zaxy {
    fn disclose(
        &self,
        path: &Path,
        selection: &FormatOptions,
        out: &Path,
        limits: &Limits,
    ) -> Result<Disclosure, FormatError> {
        let all = Selector::default();
        disclose(path, selection.get().unwrap_or(&all), out, limits)
    }
}
