//! Any file, kept as it is because the person wants it in the vault although no format recognises it. See README.md.
mod read;
#[cfg(test)]
mod tests;

use mementory_format::{Capabilities, Catalog, Claim, Detected, Format, FormatError, Part, ReadContext, Role, Sink};
use mementory_model::Limits;

/// Id of the format. It is also the scope of the record keys and the name of the platform.
const SCOPE: &str = "kept_file";

/// Any file.
pub struct KeptFile;

impl Format for KeptFile {
    fn id(&self) -> &'static str {
        SCOPE
    }
    fn name(&self) -> &'static str {
        "Any file, kept as it is"
    }
    fn capabilities(&self) -> Capabilities {
        Capabilities { read: true, only_if_chosen: true, ..Capabilities::default() }
    }
    fn detect(&self, _catalog: &Catalog, _limits: &Limits) -> Result<Vec<Claim>, FormatError> {
        Ok(Vec::new())
    }
    fn detect_selected(&self, catalog: &Catalog, _limits: &Limits) -> Result<Vec<Claim>, FormatError> {
        let parts: Vec<Part> =
            catalog.members().iter().map(|member| Part { member: member.id, role: Role::Attachment }).collect();
        let claim = Claim {
            version: None,
            confidence: 0.1,
            reason: "can be kept as a file, without being understood".into(),
            parts,
            missing_parts: vec![],
        };
        Ok(if claim.parts.is_empty() { vec![] } else { vec![claim] })
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
}
