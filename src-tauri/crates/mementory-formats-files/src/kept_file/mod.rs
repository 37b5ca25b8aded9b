//! Any file that no format recognises but that the person wants in the vault. The file is stored unchanged. See
//! README.md.
mod known;
mod read;
#[cfg(test)]
mod tests;

use mementory_format::{
    Capabilities, Catalog, Claim, Detected, Format, FormatError, Member, Part, ReadContext, Role, Sink,
};
use mementory_model::Limits;

/// Id of the format. It is also the scope of the record keys and the name of the platform.
const SCOPE: &str = "kept_file";

/// Number of bytes at the start of a file from which its kind is determined.
const HEAD_BYTES: usize = 16;

/// The reason, shown to the person, why the files can only be stored as files. A PDF or Word document does not state
/// who said what, so for such a document the reason tells the person another way to get the content.
fn reason(catalog: &Catalog) -> String {
    let head = |member: &Member| catalog.head(member, HEAD_BYTES).unwrap_or_default();
    let is_pdf = |member: &Member| head(member).starts_with(b"%PDF-");
    let is_word = |member: &Member| {
        member.name.ends_with("word/document.xml") || member.file_name().to_ascii_lowercase().ends_with(".docx")
    };
    let kind = match catalog.members() {
        members if members.iter().any(is_pdf) => "PDF",
        members if members.iter().any(is_word) => "Word",
        _ => {
            return match known::description(catalog) {
                Some(says) => format!("can be kept as a file, without being understood. {says}"),
                None => "can be kept as a file, without being understood".into(),
            };
        }
    };
    format!(
        "can be kept as a file. A {kind} document does not say who said what: export the conversation as Markdown, \
         text or JSON instead, or copy it and paste it"
    )
}

/// The format for any file that no other format recognises.
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
        let claim = Claim { version: None, confidence: 0.1, reason: reason(catalog), parts, missing_parts: vec![] };
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
