//! ZeroClaw: settings in TOML, memories in SQLite or Markdown, and an identity in Markdown or AIEOS. See README.md.
pub(crate) mod aieos;
mod database;
mod detect;
mod read;
mod settings;
#[cfg(any(test, feature = "testkit"))]
#[allow(clippy::unwrap_used)]
pub mod testing;
#[cfg(test)]
mod tests;
mod wire;
mod write;

pub use write::workspace;

use crate::openclaw::{Root, Runtime, check_files, claimed_files, warn_if_empty};
use mementory_format::{
    Capabilities, Catalog, Claim, Detected, Finding, FolderKeys, Format, FormatError, ReadContext, RecordSource, Sink,
    Validation, WriteOptions, WriteReport,
};
use mementory_model::Limits;
use std::path::Path;

/// The ZeroClaw runtime.
pub const ZEROCLAW: Runtime = Runtime { id: "zeroclaw", namespace: *b"zeroclaw-alf-ns1" };

/// The format of ZeroClaw homes and workspaces.
pub struct ZeroClaw;

impl Format for ZeroClaw {
    fn id(&self) -> &'static str {
        ZEROCLAW.id
    }
    fn name(&self) -> &'static str {
        "ZeroClaw workspace"
    }
    fn capabilities(&self) -> Capabilities {
        Capabilities {
            read: true,
            write: true,
            validate: true,
            byte_exact: true,
            folder: true,
            ..Capabilities::default()
        }
    }
    fn detect(&self, catalog: &Catalog, limits: &Limits) -> Result<Vec<Claim>, FormatError> {
        detect::claims(catalog, limits)
    }
    fn folder_keys(&self, catalog: &Catalog, detected: &Detected) -> Option<FolderKeys> {
        crate::openclaw::read::folder_keys(&ZEROCLAW, catalog, detected)
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
        write::workspace(source, options)?.write(out)
    }
    fn plan(&self, source: &mut dyn RecordSource, options: &WriteOptions) -> Result<WriteReport, FormatError> {
        Ok(write::workspace(source, options)?.into_report())
    }
    fn validate(
        &self,
        catalog: &Catalog,
        detected: &Detected,
        limits: &Limits,
        _trust: &[String],
    ) -> Result<Validation, FormatError> {
        let root = Root::of_claim(catalog, detected);
        let members = claimed_files(catalog, detected, &root);
        let mut out = Validation { kind: Some("workspace".into()), ..Validation::default() };
        check_files(catalog, &members, &root, limits, &mut out)?;
        for member in members.iter().filter(|m| database::is_database_name(m.file_name())) {
            match read::rows_of(catalog, &members, member, limits) {
                Ok((_, rows)) => out.records += rows.len() as u64,
                Err(e) => out.errors.push(Finding {
                    code: "database_unreadable".into(),
                    place: member.place.clone(),
                    message: e.to_string(),
                }),
            }
        }
        warn_if_empty(&mut out);
        Ok(out)
    }
}
