//! OpenClaw workspaces: folders of Markdown files, one for each agent. See README.md. ZeroClaw uses the same code for
//! Markdown files.
mod artifacts;
mod detect;
pub mod files;
mod marks;
pub mod read;
pub mod sections;
#[cfg(test)]
mod tests;
mod validate;
mod workspace;
pub mod write;

pub use mementory_formats_shared::redact::{self, differs_only_by_secrets};

pub use detect::{Root, claimed_files};
pub use validate::{check_files, warn_if_empty};

use mementory_format::{
    Capabilities, Catalog, Claim, Detected, FolderKeys, Format, FormatError, ReadContext, RecordSource, Sink,
    Validation, WriteOptions, WriteReport,
};
use mementory_model::Limits;
use std::path::Path;

/// An agent runtime whose workspaces are folders of Markdown.
#[derive(Debug, Clone, Copy)]
pub struct Runtime {
    /// Format id, and `source.runtime` in `.alf`.
    pub id: &'static str,
    /// UUID namespace of the ids of the runtime's records.
    pub namespace: [u8; 16],
}

/// The OpenClaw runtime.
pub const OPENCLAW: Runtime = Runtime { id: "openclaw", namespace: *b"openclaw-alf-ns1" };

/// The format of OpenClaw workspaces.
pub struct OpenClaw;

impl Format for OpenClaw {
    fn id(&self) -> &'static str {
        OPENCLAW.id
    }
    fn name(&self) -> &'static str {
        "OpenClaw workspace"
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
        Ok(detect::claims(catalog, limits, false))
    }
    fn detect_selected(&self, catalog: &Catalog, limits: &Limits) -> Result<Vec<Claim>, FormatError> {
        Ok(detect::claims(catalog, limits, true))
    }
    fn folder_keys(&self, catalog: &Catalog, detected: &Detected) -> Option<FolderKeys> {
        read::folder_keys(&OPENCLAW, catalog, detected)
    }
    fn read(
        &self,
        catalog: &Catalog,
        detected: &Detected,
        context: &ReadContext,
        sink: &mut dyn Sink,
    ) -> Result<(), FormatError> {
        let root = Root::of_claim(catalog, detected);
        let mut reader = read::Reader::new(&OPENCLAW, catalog, &root, context, sink)?;
        for member in claimed_files(catalog, detected, &root) {
            reader.read_file(member)?;
        }
        Ok(())
    }
    fn write(
        &self,
        source: &mut dyn RecordSource,
        out: &Path,
        options: &WriteOptions,
    ) -> Result<WriteReport, FormatError> {
        let mut workspace = write::Workspace::collect(&OPENCLAW, source, options)?;
        workspace.compose_foreign();
        workspace.write(out)
    }
    fn plan(&self, source: &mut dyn RecordSource, options: &WriteOptions) -> Result<WriteReport, FormatError> {
        let mut workspace = write::Workspace::collect(&OPENCLAW, source, options)?;
        workspace.compose_foreign();
        Ok(workspace.into_report())
    }
    fn validate(
        &self,
        catalog: &Catalog,
        detected: &Detected,
        limits: &Limits,
        _trust: &[String],
    ) -> Result<Validation, FormatError> {
        let root = Root::of_claim(catalog, detected);
        let mut out = Validation { kind: Some("workspace".into()), ..Validation::default() };
        check_files(catalog, &claimed_files(catalog, detected, &root), &root, limits, &mut out)?;
        warn_if_empty(&mut out);
        Ok(out)
    }
}
