//! Reads an export and sends its records to a sink. Side files that contain names come first, then conversations, then
//! all other files.
use super::{
    attachments::{self, ErrorRecorder, FileNames, last_segment},
    conversation::{self, ConversationPlace},
    group_chat,
    page::{self, ScriptValue},
    saved_page, shared_page,
};
use mementory_format::{
    AttachmentFile, Catalog, Detected, FormatError, Member, PassthroughItem, ReadContext, Role, Sink,
};
use mementory_formats_shared::files;
use mementory_formats_shared::reader::FileReader;
use mementory_json::{ElementError, Elements};
use mementory_model::{Dropped, DroppedAs, Issue, Kind, Limits, is_damage};
use std::io::Read;

/// Reads all parts of an export; see [`mementory_format::Format::read`].
pub(super) fn read(
    catalog: &Catalog,
    detected: &Detected,
    context: &ReadContext,
    sink: &mut dyn Sink,
) -> Result<(), FormatError> {
    let members: Vec<(&Member, Role)> =
        detected.claim.parts.iter().filter_map(|p| catalog.members().get(p.member).map(|m| (m, p.role))).collect();
    let (mut names, accounts) = read_side_files(catalog, &members, &context.limits)?;
    let mut reader = Reader {
        catalog,
        context,
        limits: &context.limits,
        version: detected.claim.version.as_deref(),
        group: accounts.only_account().unwrap_or_default().to_owned(),
        bytes_done: 0,
        sink,
    };
    members.iter().filter(|(_, r)| *r == Role::Attachment).for_each(|(m, _)| names.add_file_in_export(&m.name));
    // Conversations are read before the files, because messages contain the names of files.
    let (chats, others): (Vec<_>, Vec<_>) = members
        .iter()
        .partition(|(m, r)| *r == Role::Conversations || *r == Role::Sidecar && group_chat::has_chats(catalog, m));
    for (member, _) in chats {
        reader.read_conversations(member, &mut names, accounts.account_for(member))?;
    }
    for (member, role) in others {
        reader.read_other(member, role, &mut names)?;
        reader.bytes_done += member.size;
        reader.sink.progress(reader.bytes_done)?;
    }
    Ok(())
}

/// Reads the file names and the account ids that the side files contain.
fn read_side_files(
    catalog: &Catalog,
    members: &[(&Member, Role)],
    limits: &Limits,
) -> Result<(FileNames, Accounts), FormatError> {
    let (mut names, mut accounts) = (FileNames::default(), Accounts::default());
    for (member, _) in members.iter().filter(|(_, r)| *r == Role::Sidecar) {
        let side_file_name = last_segment(&member.name);
        let text = |limit| match catalog.bytes(member, limit) {
            Ok(bytes) => Ok(String::from_utf8_lossy(&bytes).trim_start_matches('\u{feff}').to_owned()),
            Err(e @ FormatError::Limit { limit: "total_bytes", .. }) => Err(e),
            // The error is reported when the side file itself is stored.
            Err(_) => Ok(String::new()),
        };
        if side_file_name.starts_with("conversation_asset_file_names") || side_file_name.starts_with("library_files") {
            names.add_side_file(side_file_name, &text(limits.side_file_bytes)?);
        } else if side_file_name.starts_with("user.")
            || side_file_name.starts_with("user ")
            || side_file_name.starts_with("user(")
        {
            let file = text(limits.side_file_bytes)?;
            let user = serde_json::from_str::<super::wire::File<'_>>(&file).unwrap_or_default();
            accounts.0.extend(user.id.to_owned_text().map(|id| (container_of(member).to_owned(), id)));
        }
    }
    Ok((names, accounts))
}

/// Account ids. Each comes with the folder or archive that contains the `user.json` of the account.
#[derive(Default)]
struct Accounts(Vec<(String, String)>);

impl Accounts {
    /// Returns the account id for a member: the id from the same folder or archive, or else the id of the export if all
    /// its side files state the same one.
    fn account_for(&self, member: &Member) -> Option<&str> {
        let container = container_of(member);
        self.0.iter().find(|(dir, _)| dir == container).map(|(_, id)| id.as_str()).or_else(|| self.only_account())
    }

    fn only_account(&self) -> Option<&str> {
        let (_, first) = self.0.first()?;
        self.0.iter().all(|(_, id)| id == first).then_some(first)
    }
}

fn container_of(member: &Member) -> &str {
    member.place.rsplit_once('/').map_or("", |(dir, _)| dir)
}

struct Reader<'a> {
    catalog: &'a Catalog,
    context: &'a ReadContext,
    limits: &'a Limits,
    version: Option<&'a str>,
    group: String,
    bytes_done: u64,
    sink: &'a mut dyn Sink,
}

impl Reader<'_> {
    fn passthrough_item(&self, name: String, role: &str, place: String) -> PassthroughItem {
        PassthroughItem { format: "chatgpt".into(), group: self.group.clone(), name, role: role.into(), place }
    }

    fn report_failed(&mut self, place: String, reason: String, kind: Option<Kind>) {
        self.sink.dropped(Dropped { place, outcome: DroppedAs::Failed, reason, kind });
    }

    fn report_skipped(&mut self, place: &str, reason: &str) {
        let (place, reason) = (place.to_owned(), reason.to_owned());
        self.sink.dropped(Dropped { place, outcome: DroppedAs::Skipped, reason, kind: None });
    }

    fn read_conversations(
        &mut self,
        member: &Member,
        names: &mut FileNames,
        account: Option<&str>,
    ) -> Result<(), FormatError> {
        if page::has_page_name(member) && !page::has_conversations(self.catalog, member)? {
            if let Some(text) = shared_page::conversation(self.catalog, member, self.limits)? {
                self.read_conversation(member, ("", text.as_bytes()), names, account)?;
                self.bytes_done += member.size;
                return self.sink.progress(self.bytes_done);
            }
            if !saved_page::is_saved_page(self.catalog, member)? {
                let reason = "malformed: the conversation in this page is damaged, incomplete or too large to be read";
                self.report_failed(member.place.clone(), reason.into(), Some(Kind::Conversation));
            }
            return self.read_saved_page(member);
        }
        let (catalog, mut wrapper) = (self.catalog, None);
        let is_page = page::is_page(catalog, member);
        let (mut seen, mut errors, start) = (0_u64, 0_u64, self.bytes_done);
        let result = catalog.read(member, |reader| {
            let mut page;
            let reader: &mut dyn Read = if is_page {
                page = ScriptValue::conversations(reader);
                &mut page
            } else {
                reader
            };
            let mut elements = Elements::new(reader, self.limits).with_keys(group_chat::list_keys(member)).resync();
            loop {
                match elements.next() {
                    Ok(None) => {
                        wrapper = elements.wrapper().map(|text| String::from_utf8_lossy(text).into_owned());
                        return Ok(());
                    }
                    Ok(Some(element)) => {
                        seen += 1;
                        self.read_conversation(member, (&element.pointer(), element.bytes), names, account)?;
                        self.sink.progress(start + elements.raw_bytes().min(member.size))?;
                    }
                    Err(e) => {
                        errors += 1;
                        let closed = elements.readable_part();
                        let lost_kind = if closed.is_some() { Kind::Message } else { Kind::Conversation };
                        self.report_element_error(member, &e, lost_kind);
                        if let Some((pointer, closed)) = closed {
                            seen += 1;
                            self.read_conversation(member, (&pointer, &closed), names, account)?;
                        }
                    }
                }
            }
        });
        match result {
            Err(FormatError::Io { source, .. }) if seen == 0 => {
                errors += 1;
                self.report_failed(member.place.clone(), format!("unreadable: {source}"), Some(Kind::Conversation));
            }
            other => other?,
        }
        let mut files = FileReader::new("chatgpt", catalog, self.context, self.sink);
        files.pass_through_wrapper(member, "", group_chat::list_keys(member), wrapper)?;
        if is_page {
            self.store_file_names(member)?;
        }
        if seen == 0 && errors == 0 {
            self.sink.note(Issue::new("empty_export", &member.place, "the export is empty: no conversations in it"));
        }
        self.bytes_done = start + member.size;
        self.sink.progress(self.bytes_done)
    }

    fn read_saved_page(&mut self, member: &Member) -> Result<(), FormatError> {
        match saved_page::read(self.catalog, member, self.limits, self.version, self.sink) {
            Err(FormatError::Io { source, .. }) if is_damage(&source) => {
                self.report_failed(member.place.clone(), format!("unreadable: {source}"), Some(Kind::Message));
            }
            other => other?,
        }
        self.bytes_done += member.size;
        self.sink.progress(self.bytes_done)
    }

    /// Reads one conversation, which is given by its JSON pointer and its bytes, and sends its records to the sink.
    fn read_conversation(
        &mut self,
        member: &Member,
        (pointer, bytes): (&str, &[u8]),
        names: &mut FileNames,
        account: Option<&str>,
    ) -> Result<(), FormatError> {
        let place = ConversationPlace { version: self.version, container: &member.place, pointer, account, names };
        let mut outcome = match group_chat::is_file(member) {
            true => group_chat::read(bytes, &place),
            false => conversation::read(bytes, &place),
        };
        names.add_restored(std::mem::take(&mut outcome.restored_files));
        let records = outcome.unit.iter().flat_map(|u| &u.records);
        names.add_references(records.flat_map(|r| &r.attachments).filter_map(attachments::id_and_name));
        self.send_outcome(member, outcome)
    }

    /// Stores the list of file names in a page as a passthrough file, because the conversations in the page do not
    /// contain these names.
    fn store_file_names(&mut self, member: &Member) -> Result<(), FormatError> {
        let limit = self.limits.side_file_bytes;
        let bytes = self.catalog.read(member, |reader| {
            let mut bytes = Vec::new();
            let mut value = ScriptValue::file_names(reader).take(limit);
            value.read_to_end(&mut bytes).map_err(|e| FormatError::io(&member.place, e))?;
            Ok(bytes)
        });
        match bytes {
            Ok(bytes) if bytes.len() > 2 => {
                let name = format!("{}#{}", member.name, page::FILE_NAMES);
                let item = self.passthrough_item(name, "sidecar", member.place.clone());
                self.sink.passthrough(item, &mut bytes.as_slice())
            }
            // The damage of a page was already reported when its conversations were read.
            Ok(_) | Err(FormatError::Io { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }

    fn send_outcome(&mut self, member: &Member, outcome: conversation::Outcome) -> Result<(), FormatError> {
        for issue in outcome.issues {
            self.sink.note(issue);
        }
        for dropped in outcome.dropped {
            self.sink.dropped(dropped);
        }
        for (pointer, raw) in outcome.raw {
            let item = self.passthrough_item(
                format!("{}#{pointer}", member.name),
                "raw",
                format!("{}#{pointer}", member.place),
            );
            self.sink.passthrough(item, &mut raw.as_bytes())?;
        }
        outcome.unit.map_or(Ok(()), |unit| self.sink.unit(unit))
    }

    /// Reports an element that could not be read. `lost_kind` is the kind of record that is missing because of the
    /// error.
    fn report_element_error(&mut self, member: &Member, error: &ElementError, lost_kind: Kind) {
        let code = match error {
            ElementError::TooLarge { .. } => "limit",
            _ => error.code(),
        };
        let place = match error {
            ElementError::Truncated { offset }
            | ElementError::Syntax { offset }
            | ElementError::TooLarge { offset, .. } => format!("{}@{offset}", member.place),
            _ => error.place(&member.place),
        };
        if code == "truncated" {
            let message = format!("partial: {error}; everything before it was read");
            self.sink.note(Issue::new(code, place.clone(), message));
        }
        self.report_failed(place, format!("{code}: {error}"), Some(lost_kind));
    }

    fn read_other(&mut self, member: &Member, role: Role, names: &mut FileNames) -> Result<(), FormatError> {
        let name = member.name.to_ascii_lowercase();
        let is_payment_data = ["financial/", "payment", "invoice", "billing"].iter().any(|word| name.contains(word));
        match role {
            Role::Junk => self.report_skipped(&member.place, "junk: bookkeeping of an operating system"),
            Role::DuplicateRendering => {
                self.report_skipped(&member.place, "duplicate_rendering: the same data as a page for browsers");
            }
            Role::Sidecar if member.size == 0 && name.ends_with(".zip") => {
                self.sink.note(Issue::new("empty_part", &member.place, "a part of the export is empty"));
                self.report_skipped(&member.place, "empty_part: 0 bytes");
            }
            Role::Sidecar if is_payment_data && name.ends_with(".csv") => {
                self.report_skipped(&member.place, "not_imported: payment data");
            }
            Role::Attachment => self.read_attachment(member, names)?,
            _ => {
                let role_name = if role == Role::Manifest { "manifest" } else { "sidecar" };
                let item = self.passthrough_item(member.name.clone(), role_name, member.place.clone());
                self.stream_member(member, None, |sink, reader, _| sink.passthrough(item, reader))?;
            }
        }
        Ok(())
    }

    fn read_attachment(&mut self, member: &Member, names: &mut FileNames) -> Result<(), FormatError> {
        let (id, name) = names.identify(&member.name);
        let mut file = AttachmentFile {
            key: attachments::file_key(&id),
            origin_id: Some(id),
            name,
            media_type: None,
            place: member.place.clone(),
        };
        if let Some(known) = names.restored(&file.key) {
            (file.key, file.origin_id, file.name) = (known.key.clone(), known.origin_id.clone(), known.name.clone());
        }
        self.stream_member(member, Some(Kind::Attachment), |sink, reader, head| {
            file.media_type = files::media_type(head, &file.name).map(str::to_owned);
            sink.attachment(file, reader)
        })
    }

    /// Streams a member into the sink with `send`. A damaged member is reported as dropped. An error of the sink is
    /// returned.
    fn stream_member(
        &mut self,
        member: &Member,
        kind: Option<Kind>,
        send: impl FnOnce(&mut dyn Sink, &mut dyn Read, &[u8]) -> Result<(), FormatError>,
    ) -> Result<(), FormatError> {
        let catalog = self.catalog;
        let mut damage = None;
        let result = catalog.read(member, |reader| {
            let mut recorder = ErrorRecorder { inner: reader, error: None };
            let mut head = Vec::new();
            let start = (&mut recorder).take(512).read_to_end(&mut head);
            let result = match start {
                Ok(_) => {
                    let mut full_reader = head.as_slice().chain(&mut recorder);
                    send(self.sink, &mut full_reader, &head)
                }
                Err(_) => Ok(()),
            };
            damage = recorder.error;
            result
        });
        match (result, damage) {
            (Err(e @ (FormatError::Limit { .. } | FormatError::Cancelled)), _) => Err(e),
            (_, Some(why)) => {
                self.report_failed(member.place.clone(), format!("unreadable: {why}"), kind);
                Ok(())
            }
            // A member that could not be opened is reported like a damaged member.
            (Err(FormatError::Io { place, source }), None) if place == member.place => {
                self.report_failed(place, format!("unreadable: {source}"), kind);
                Ok(())
            }
            (result, None) => result,
        }
    }
}
