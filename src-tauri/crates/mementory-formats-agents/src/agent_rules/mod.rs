//! Files with rules that a person writes for coding agents, and notes that agents keep in such files. See README.md.
mod detect;
mod entries;
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
use mementory_model::Limits;
use std::path::Path;

/// Id of the format. It is also the scope of the record keys.
const FORMAT: &str = "agent_rules";

pub(crate) use detect::{is_of_hermes, rules_of};
pub(crate) use read::read_members;

/// Rules for coding agents.
pub struct AgentRules;

impl Format for AgentRules {
    fn id(&self) -> &'static str {
        FORMAT
    }
    fn aliases(&self) -> &'static [&'static str] {
        &["agents_md", "windsurf"]
    }
    fn name(&self) -> &'static str {
        "Rules for coding agents"
    }
    fn capabilities(&self) -> Capabilities {
        Capabilities { read: true, write: true, validate: true, folder: true, ..Capabilities::default() }
    }
    fn detect(&self, catalog: &Catalog, _limits: &Limits) -> Result<Vec<Claim>, FormatError> {
        Ok(detect::claims(catalog))
    }
    fn folder_keys(&self, catalog: &Catalog, detected: &Detected) -> Option<FolderKeys> {
        read::folder_keys(catalog, detected)
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
