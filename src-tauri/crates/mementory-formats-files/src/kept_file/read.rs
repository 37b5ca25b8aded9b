//! Makes a document from each file. The file is its attachment. If the file is a small text, that text is also the text
//! of the document, so that a search finds it.
use super::SCOPE;
use mementory_format::{AttachmentFile, Catalog, Detected, FormatError, Member, ReadContext, Sink, sha256};
use mementory_formats_shared::files::media_type;
use mementory_model::{AttachmentRef, Dropped, DroppedAs, Kind, Limits, Origin, Record, RecordKey, is_damage};

/// Reads every file. A damaged file is dropped.
pub(super) fn read(
    catalog: &Catalog,
    detected: &Detected,
    context: &ReadContext,
    sink: &mut dyn Sink,
) -> Result<(), FormatError> {
    let mut bytes_done = 0;
    for member in detected.claim.parts.iter().filter_map(|part| catalog.members().get(part.member)) {
        match store_file(catalog, member, &context.limits, sink) {
            Err(FormatError::Io { source, .. }) if is_damage(&source) => sink.dropped(Dropped {
                place: member.place.clone(),
                outcome: DroppedAs::Failed,
                reason: format!("unreadable: {source}"),
                kind: Some(Kind::Resource),
            }),
            result => result?,
        }
        bytes_done += member.size;
        sink.progress(bytes_done)?;
    }
    Ok(())
}

fn store_file(catalog: &Catalog, member: &Member, limits: &Limits, sink: &mut dyn Sink) -> Result<(), FormatError> {
    // The digest is the id, so the same file under another name produces the same document.
    let digest = catalog.read(member, |bytes| sha256(bytes, &member.place))?;
    let key = RecordKey::new(SCOPE, format!("sha256:{digest}"));
    let head = catalog.head(member, 4096)?;
    let name = member.file_name().to_owned();
    let media_type = media_type(&head, &name).map(str::to_owned);
    let mut document = Record::new(Kind::Resource, key.clone(), text_of(catalog, member, limits)?);
    document.title = Some(name.clone());
    document.record_type = Some(SCOPE.into());
    document.times.updated = member.modified;
    document.source.platform = SCOPE.into();
    document.origin =
        Origin { format: SCOPE.into(), version: None, container: member.place.clone(), pointer: String::new() };
    document.attachments = vec![AttachmentRef {
        key: key.clone(),
        origin_id: None,
        name: name.clone(),
        media_type: media_type.clone(),
        size: Some(member.size),
        text: None,
    }];
    sink.unit(document.into())?;
    let file = AttachmentFile { key, origin_id: None, name, media_type, place: member.place.clone() };
    catalog.read(member, |bytes| sink.attachment(file, bytes))
}

/// The text of a file in UTF-8 that is small enough to be a record. Empty for any other file.
fn text_of(catalog: &Catalog, member: &Member, limits: &Limits) -> Result<String, FormatError> {
    if member.size > limits.side_file_bytes {
        return Ok(String::new());
    }
    let text = String::from_utf8(catalog.bytes(member, limits.side_file_bytes)?).unwrap_or_default();
    Ok(if text.contains('\0') { String::new() } else { text })
}
