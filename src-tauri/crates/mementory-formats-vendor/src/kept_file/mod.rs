//! Any file, kept as it is because the person wants it in the vault although no format recognises it. See README.md.
mod read;
#[cfg(test)]
mod tests;

use mementory_format::{
    Capabilities, Catalog, Claim, Detected, Format, FormatError, Member, Part, ReadContext, Role, Sink,
};
use mementory_model::Limits;

/// Id of the format. It is also the scope of the record keys and the name of the platform.
const SCOPE: &str = "kept_file";

/// Bytes of a file that are searched for the names of an encrypted store.
const HEAD_BYTES: usize = 16 << 10;

/// The reason, shown to the person, why the files can only be stored as files. A document for printing does not say who
/// said what, and a file that is encrypted for its owner cannot be read, so the reason names another way to get the
/// content.
fn reason(catalog: &Catalog) -> String {
    let head = |member: &Member| catalog.head(member, HEAD_BYTES).unwrap_or_default();
    let is_pdf = |member: &Member| head(member).starts_with(b"%PDF-");
    let is_word = |member: &Member| {
        member.name.ends_with("word/document.xml") || member.file_name().to_ascii_lowercase().ends_with(".docx")
    };
    let kind = match catalog.members() {
        members if members.iter().any(is_pdf) => "PDF",
        members if members.iter().any(is_word) => "Word",
        members if members.iter().any(|member| is_amem(&head(member))) => {
            return "can be kept as a file. It is a memory of ApertoMemory, encrypted for its owner: print its memories \
                    with `amem open` and drop or paste the text"
                .into();
        }
        _ => return "can be kept as a file, without being understood".into(),
    };
    format!(
        "can be kept as a file. A {kind} document does not say who said what: export the conversation as Markdown, \
         text or JSON instead, or copy it and paste it"
    )
}

/// True for the export of an ApertoMemory vault: a CBOR map of four members, of which the second has the public keys.
fn is_amem(head: &[u8]) -> bool {
    let has = |name: &str| memchr::memmem::find(head, name.as_bytes()).is_some();
    head.starts_with(&[0xa4, 0x01]) && has("sign_pub") && has("ka_pub")
}

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
