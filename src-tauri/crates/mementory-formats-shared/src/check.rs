//! A validator for formats without a specification: a file is valid if every entry in it can be read.
use mementory_format::{
    AttachmentFile, Catalog, Detected, Finding, Format, FormatError, PassthroughItem, ReadContext, Sink, Validation,
};
use mementory_model::{Dropped, DroppedAs, Issue, Limits, Timestamp, Tombstone, Unit};
use std::io::Read;

/// Largest number of errors, and of warnings, that are listed.
pub const MAX_FINDINGS: usize = 1000;

/// Reads a source without storing it. Entries that cannot be read are errors; entries that were repaired or left out
/// are warnings.
pub fn validate(
    format: &dyn Format,
    catalog: &Catalog,
    detected: &Detected,
    limits: &Limits,
) -> Result<Validation, FormatError> {
    let Some(now) = Timestamp::from_micros(0) else { return Ok(Validation::default()) };
    let context = ReadContext { limits: limits.clone(), now, passphrase: None };
    findings(detected, |sink| format.read(catalog, detected, &context, sink))
}

/// Runs a reader with a sink that stores nothing, and returns what the reader reports.
pub fn findings(
    detected: &Detected,
    read: impl FnOnce(&mut dyn Sink) -> Result<(), FormatError>,
) -> Result<Validation, FormatError> {
    let mut sink = Findings(Validation {
        version: detected.claim.version.clone(),
        kind: Some("full".into()),
        unsigned: true,
        ..Validation::default()
    });
    read(&mut sink)?;
    Ok(sink.0)
}

struct Findings(Validation);

impl Findings {
    fn warn(&mut self, code: String, place: String, message: String) {
        if self.0.warnings.len() < MAX_FINDINGS {
            self.0.warnings.push(Finding { code, place, message });
        }
    }
}

impl Sink for Findings {
    fn unit(&mut self, unit: Unit) -> Result<(), FormatError> {
        self.0.records += unit.records.len() as u64;
        Ok(())
    }
    fn attachment(&mut self, _file: AttachmentFile, _bytes: &mut dyn Read) -> Result<(), FormatError> {
        Ok(())
    }
    fn passthrough(&mut self, _item: PassthroughItem, _bytes: &mut dyn Read) -> Result<(), FormatError> {
        Ok(())
    }
    fn tombstone(&mut self, _tombstone: Tombstone) -> Result<(), FormatError> {
        Ok(())
    }
    fn note(&mut self, issue: Issue) {
        self.warn(issue.code, issue.place, issue.message);
    }
    fn dropped(&mut self, dropped: Dropped) {
        let (code, message) = dropped.reason.split_once(": ").unwrap_or(("dropped", &dropped.reason));
        let (code, message) = (code.to_owned(), message.to_owned());
        if dropped.outcome == DroppedAs::Failed && self.0.errors.len() < MAX_FINDINGS {
            self.0.errors.push(Finding { code, place: dropped.place, message });
        } else {
            self.warn(code, dropped.place, message);
        }
    }
    fn progress(&mut self, _bytes: u64) -> Result<(), FormatError> {
        Ok(())
    }
}
