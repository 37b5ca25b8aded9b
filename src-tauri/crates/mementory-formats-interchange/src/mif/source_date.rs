//! Reads the time at which a document was created from its header.
use super::{
    detect,
    element_stream::{Item, stream_elements},
    source::Source,
    wire::{KEY_SCOPE, Shape, time},
};
use mementory_format::{Catalog, Detected, FormatError, SourceDate};
use mementory_json::Tree;
use mementory_model::{Limits, Timestamp};

/// Returns the time in the header of a document. None for an encrypted document, because its outer header is a
/// placeholder.
///
/// # Errors
/// The file cannot be read.
pub(super) fn date_of(
    catalog: &Catalog,
    detected: &Detected,
    limits: &Limits,
) -> Result<Option<SourceDate>, FormatError> {
    let [part] = detected.claim.parts.as_slice() else { return Ok(None) };
    let Some(member) = catalog.members().get(part.member) else { return Ok(None) };
    let encoding = detect::encoding(catalog, member, true)?.filter(|encoding| encoding.interop_name().is_none());
    let Some(encoding) = encoding else { return Ok(None) };
    let source = Source::open(catalog, member, encoding, limits)?;
    let headers = [Shape::V1, Shape::V2].map(Shape::header);
    let (mut created, mut is_encrypted): (Option<Timestamp>, bool) = (None, false);
    // Reading stops at the first element after the header. Most headers precede all elements.
    let result = stream_elements(&source, limits, &mut |item| {
        match item {
            Item::Member("", name, json) if headers.contains(&name) => {
                let header = Tree::parse(json, limits).ok();
                created = header.and_then(|header| time(&header, "created_at")).or(created);
            }
            Item::Member("", "encryption", _) => is_encrypted = true,
            Item::Element(..) if created.is_some() => return Err(FormatError::Cancelled),
            _ => {}
        }
        Ok(())
    });
    match result {
        Ok(()) | Err(FormatError::Cancelled) => {}
        Err(error) => return Err(error),
    }
    let time = created.filter(|_| !is_encrypted);
    Ok(time.map(|time| SourceDate { scope: KEY_SCOPE.into(), time, overrides_records: false }))
}
