//! Iterates over the files of an export and over the elements of a file, and reports progress and everything that is
//! not imported.
use super::frontmatter::Document;
use super::object::Object;
use super::redact::redact;
use mementory_format::{Catalog, Detected, FormatError, Member, PassthroughItem, ReadContext, Sink};
use mementory_json::{ElementError, Elements, repair};
use mementory_model::{Dropped, DroppedAs, Issue, Kind};

/// Reads the files of one export into a sink.
pub struct FileReader<'r> {
    /// Id of the format.
    pub format: &'static str,
    /// The opened input.
    pub catalog: &'r Catalog,
    /// Limits, the current time and the passphrase.
    pub context: &'r ReadContext,
    /// Receives everything that is read.
    pub sink: &'r mut dyn Sink,
    /// Size of the files that were read completely, in bytes.
    pub(crate) bytes_done: u64,
}

/// One element of a JSON file: valid JSON, repaired if necessary.
pub struct ObjectElement<'e> {
    /// JSON text of the element.
    pub text: &'e str,
    /// Members of the element.
    pub object: Object<'e>,
    /// JSON pointer of the element, or `@` and its byte offset.
    pub pointer: String,
}

impl<'r> FileReader<'r> {
    /// A reader of the files of `catalog`. `format` is the id of the format.
    pub fn new(format: &'static str, catalog: &'r Catalog, context: &'r ReadContext, sink: &'r mut dyn Sink) -> Self {
        Self { format, catalog, context, sink, bytes_done: 0 }
    }

    /// Calls `read` for each claimed file and reports progress. A file that is damaged, or that no longer has the
    /// detected format, is reported as dropped, and the next file is read.
    pub fn each_file(
        &mut self,
        detected: &Detected,
        mut read: impl FnMut(&mut Self, &'r Member, mementory_format::Role) -> Result<(), FormatError>,
    ) -> Result<(), FormatError> {
        for part in &detected.claim.parts {
            let Some(member) = self.catalog.members().get(part.member) else { continue };
            self.each_member(&[member], |reader, member| read(reader, member, part.role))?;
        }
        Ok(())
    }

    /// Like [`FileReader::each_file`], but only for the given files, in the given order.
    pub fn each_member<'m>(
        &mut self,
        members: &[&'m Member],
        mut read: impl FnMut(&mut Self, &'m Member) -> Result<(), FormatError>,
    ) -> Result<(), FormatError> {
        for member in members.iter().copied() {
            let result = read(self, member);
            self.drop_if_damaged(member, result)?;
            self.bytes_done += member.size;
            self.sink.progress(self.bytes_done)?;
        }
        Ok(())
    }

    /// Reports the progress inside the current file. Returns an error if the user cancelled.
    pub fn progress_in_file(&mut self, member: &Member, bytes: u64) -> Result<(), FormatError> {
        self.sink.progress(self.bytes_done + bytes.min(member.size))
    }

    /// Reports a part of the input that is not imported. `reason` has the form `code: text`.
    pub fn report_dropped(&mut self, place: String, outcome: DroppedAs, reason: &str, kind: Option<Kind>) {
        self.sink.dropped(Dropped { place, outcome, reason: reason.into(), kind });
    }

    /// Reports a part of a file that cannot be read. `pointer` says where it is in the file.
    pub fn report_failed(&mut self, member: &Member, pointer: &str, reason: &str, kind: Kind) {
        self.report_dropped(format!("{}#{pointer}", member.place), DroppedAs::Failed, reason, Some(kind));
    }

    /// Reports an empty file as a dropped record of `kind`.
    pub fn report_empty(&mut self, member: &Member, kind: Kind) {
        self.report_dropped(member.place.clone(), DroppedAs::Skipped, "no_content: an empty file", Some(kind));
    }

    /// Reports frontmatter that is not valid YAML. Does nothing if it is valid.
    pub fn report_broken_frontmatter(&mut self, member: &Member, document: &Document<'_>) {
        if let Some(reason) = &document.broken {
            let message = format!("the frontmatter is not valid YAML ({reason}); its lines were read one by one");
            self.sink.note(Issue::new("frontmatter", &member.place, message));
        }
    }

    /// Stores a file unchanged as a passthrough file.
    pub fn pass_through(&mut self, member: &Member, group: &str, role: &str) -> Result<(), FormatError> {
        let item = PassthroughItem {
            format: self.format.into(),
            group: group.into(),
            name: member.name.clone(),
            role: role.into(),
            place: member.place.clone(),
        };
        self.catalog.read(member, |bytes| self.sink.passthrough(item, bytes))
    }

    /// Reports how many secrets beside the `records` or messages at `place` were left out, if there are any.
    pub fn report_secrets(&mut self, place: String, count: u32, records: &str) {
        if count > 0 {
            let message = format!("{count} keys or passwords beside the {records} were not stored");
            self.sink.note(Issue::new("secret_left_out", place, message));
        }
    }

    /// Stores `wrapper`, the object at `pointer` around the arrays under `keys`, as a passthrough file without secrets.
    /// Reports the stored members and the removed secrets. Does nothing if the object has no other members.
    pub fn pass_through_wrapper(
        &mut self,
        member: &Member,
        pointer: &str,
        keys: &[&str],
        wrapper: Option<String>,
    ) -> Result<(), FormatError> {
        let Some(text) = wrapper.filter(|text| has_other_members(text, keys)) else { return Ok(()) };
        // Removes secrets, because the settings of a program may contain API keys.
        let (text, secrets) = redact(&text);
        self.report_secrets(member.place.clone(), secrets, "records");
        let message = "members that are in no record were stored as they are";
        self.sink.note(Issue::new("kept_members", format!("{}#{pointer}", member.place), message));
        self.pass_through_text(member, pointer, &text)
    }

    /// Stores a part of a file that no record contains as a passthrough file.
    pub fn pass_through_text(&mut self, member: &Member, pointer: &str, text: &str) -> Result<(), FormatError> {
        let place = format!("{}#{pointer}", member.place);
        let item = PassthroughItem {
            format: self.format.into(),
            group: String::new(),
            name: format!("{}#{pointer}", member.name),
            role: "raw".into(),
            place,
        };
        self.sink.passthrough(item, &mut text.as_bytes())
    }

    /// If `result` is the error of a damaged file, reports the file as dropped and returns `Ok`. Any other error, such
    /// as an exceeded limit, a cancelled import or an error of the sink, is returned.
    pub fn drop_if_damaged(&mut self, member: &Member, result: Result<(), FormatError>) -> Result<(), FormatError> {
        match result {
            Err(FormatError::Io { source, .. }) => {
                let reason = format!("unreadable: {source}");
                self.report_dropped(member.place.clone(), DroppedAs::Failed, &reason, None);
                Ok(())
            }
            Err(FormatError::Invalid { code, message, .. }) => {
                let reason = format!("{code}: {message}");
                self.report_dropped(member.place.clone(), DroppedAs::Failed, &reason, None);
                Ok(())
            }
            other => other,
        }
    }

    /// Calls `read` for each object of a JSON file. These are the elements of an array, the elements of an object's
    /// arrays under `keys`, the object itself, or the lines of JSON Lines. Only one element is in memory at a time. An
    /// element that is not an object, that is damaged, or that is cut off by the end of the file, is reported as a
    /// dropped record of `kind`. If a conversation is damaged, or if the first one is cut off, `read` still receives its
    /// complete messages before that place. The other members of the object around the arrays are stored as a
    /// passthrough file. Returns the number of elements.
    pub fn objects(
        &mut self,
        member: &Member,
        keys: &[&str],
        kind: Kind,
        read: impl FnMut(&mut Self, &ObjectElement<'_>) -> Result<(), FormatError>,
    ) -> Result<u64, FormatError> {
        let (count, wrapper) = self.elements(member, keys, kind, read)?;
        self.pass_through_wrapper(member, "", keys, wrapper)?;
        Ok(count)
    }

    /// Like [`FileReader::objects`], but returns the JSON text of the object around the arrays instead of storing this
    /// object. In the text, each of these arrays is replaced by `[]`.
    pub fn elements(
        &mut self,
        member: &Member,
        keys: &[&str],
        kind: Kind,
        mut read: impl FnMut(&mut Self, &ObjectElement<'_>) -> Result<(), FormatError>,
    ) -> Result<(u64, Option<String>), FormatError> {
        let (catalog, limits, bytes_done) = (self.catalog, &self.context.limits, self.bytes_done);
        let mut count = 0;
        let wrapper = catalog.read(member, |bytes| {
            let mut elements = Elements::new(bytes, limits).with_keys(keys).resync();
            loop {
                match elements.next() {
                    Ok(Some(element)) => {
                        count += 1;
                        let pointer = element.pointer();
                        self.object(member, pointer, element.bytes, kind, &mut read)?;
                    }
                    Ok(None) => {
                        return Ok(elements.wrapper().map(|text| String::from_utf8_lossy(text).into_owned()));
                    }
                    Err(ElementError::Io(e)) => return Err(FormatError::io(&member.place, e)),
                    Err(e) => {
                        let readable_part = elements.readable_part().filter(|_| kind == Kind::Conversation);
                        let lost_kind = if readable_part.is_some() { Kind::Message } else { kind };
                        let reason = format!("{}: {e}", e.code());
                        self.report_dropped(e.place(&member.place), DroppedAs::Failed, &reason, Some(lost_kind));
                        if let Some((pointer, readable_part)) = readable_part {
                            count += 1;
                            self.object(member, pointer, &readable_part, kind, &mut read)?;
                        }
                        if e.ends_reading() {
                            return Ok(None);
                        }
                    }
                }
                self.sink.progress(bytes_done + elements.raw_bytes().min(member.size))?;
            }
        })?;
        Ok((count, wrapper))
    }

    /// Calls `read` for one element. An element that is not an object is reported as dropped.
    pub fn object(
        &mut self,
        member: &Member,
        pointer: String,
        bytes: &[u8],
        kind: Kind,
        read: &mut impl FnMut(&mut Self, &ObjectElement<'_>) -> Result<(), FormatError>,
    ) -> Result<(), FormatError> {
        let place = format!("{}#{pointer}", member.place);
        let valid_text = std::str::from_utf8(bytes).ok();
        if let Some((text, object)) = valid_text.and_then(|text| Some((text, Object::parse(text)?))) {
            return read(self, &ObjectElement { text, object, pointer });
        }
        let Some((text, codes)) = repair(bytes) else {
            self.report_dropped(place, DroppedAs::Failed, "malformed: this entry is not JSON", Some(kind));
            return Ok(());
        };
        let Some(object) = Object::parse(&text) else {
            let reason = "not_an_object: this entry is not an object";
            self.report_dropped(place, DroppedAs::Failed, reason, Some(kind));
            return Ok(());
        };
        for code in codes {
            self.sink.note(Issue::new(code, &place, "repaired while reading"));
        }
        read(self, &ObjectElement { text: &text, object, pointer })
    }

    /// The text of a small file, at most `limits.side_file_bytes`. The file is in UTF-8, in UTF-16 with a byte order
    /// mark, or in Windows-1252.
    pub fn text(&mut self, member: &Member) -> Result<String, FormatError> {
        let bytes = self.catalog.bytes(member, self.context.limits.side_file_bytes)?;
        let (encoding, mark) = encoding_rs::Encoding::for_bom(&bytes).unwrap_or((encoding_rs::UTF_8, 0));
        let body = bytes.get(mark..).unwrap_or_default();
        if let Some(text) = encoding.decode_without_bom_handling_and_without_replacement(body) {
            return Ok(text.into_owned());
        }
        let message = "the text is not UTF-8 and was read as Windows-1252";
        self.sink.note(Issue::new("encoding", &member.place, message));
        Ok(encoding_rs::WINDOWS_1252.decode_without_bom_handling(body).0.into_owned())
    }
}

/// True if the object around arrays under `keys` has other members too.
pub(crate) fn has_other_members(wrapper: &str, keys: &[&str]) -> bool {
    Object::parse(wrapper).is_none_or(|object| object.members().any(|(key, _)| !keys.contains(&key)))
}
