//! Reads every part of a Claude export into a sink, one JSON element at a time.
use super::{
    conversation, design, detect,
    documents::Documents,
    frames, manifest, memory, projects,
    wire::{ElementPlace, Object, ReadResult},
};
use mementory_format::{
    Catalog, Detected, FormatError, Member, PassthroughItem, ReadContext, Role, Sink, is_uuid, json_keys,
};
use mementory_json::{self as json, ElementError, Elements};
use mementory_model::{Dropped, DroppedAs, Issue, Kind, Limits, Unit};
use std::{
    collections::HashSet,
    hash::{BuildHasher, RandomState},
};

/// Reads manifests and side files first, then projects, memories and conversations. An element that cannot be read does
/// not affect the other elements.
pub(super) fn read(
    catalog: &Catalog,
    detected: &Detected,
    context: &ReadContext,
    sink: &mut dyn Sink,
) -> Result<(), FormatError> {
    let mut reader = Reader {
        catalog,
        limits: &context.limits,
        version: detected.claim.version.as_deref(),
        hasher: RandomState::new(),
        seen: HashSet::new(),
        documents: Documents::default(),
        bytes_done: 0,
        sink,
    };
    reader.explain_lone_manifest(detected);
    let order = [Role::Manifest, Role::Sidecar, Role::Projects, Role::Memories, Role::Records, Role::Conversations];
    for role in order {
        for part in detected.claim.parts.iter().filter(|p| p.role == role) {
            let Some(member) = catalog.members().get(part.member) else { continue };
            match role {
                Role::Manifest => reader.store_manifest(member)?,
                Role::Sidecar => reader.store_sidecar(member, "sidecar")?,
                _ => reader.read_elements(member, role)?,
            }
            reader.bytes_done += member.size;
            reader.sink.progress(reader.bytes_done)?;
        }
    }
    for unit in reader.documents.take() {
        reader.sink.unit(unit)?;
    }
    for part in detected.claim.parts.iter().filter(|p| !order.contains(&p.role)) {
        let Some(member) = catalog.members().get(part.member) else { continue };
        let reason = if part.role == Role::Junk { "junk: bookkeeping of an operating system" } else { "not_a_record" };
        reader.report_dropped(member.place.clone(), DroppedAs::Skipped, reason, None);
        reader.bytes_done += member.size;
    }
    reader.sink.progress(reader.bytes_done)
}

struct Reader<'r> {
    catalog: &'r Catalog,
    limits: &'r Limits,
    version: Option<&'r str>,
    /// Has random keys, so that an attacker cannot create two elements with the same digest.
    hasher: RandomState,
    /// Digests and lengths of the elements read so far, to skip duplicates, because users often download an archive
    /// twice.
    seen: HashSet<(u64, usize)>,
    /// Memory documents in chats.
    documents: Documents,
    bytes_done: u64,
    sink: &'r mut dyn Sink,
}

impl Reader<'_> {
    fn report_dropped(&mut self, place: String, outcome: DroppedAs, reason: &str, kind: Option<Kind>) {
        self.sink.dropped(Dropped { place, outcome, reason: reason.into(), kind });
    }

    /// Reports an import that has only the manifest. Many people do not download the archives that the manifest lists.
    fn explain_lone_manifest(&mut self, detected: &Detected) {
        let mut parts = detected.claim.parts.iter();
        let Some(place) = detected.claim.parts.first().and_then(|part| self.catalog.members().get(part.member)) else {
            return;
        };
        if parts.all(|part| part.role == Role::Manifest) {
            let names = detected.claim.missing_parts.join(", ");
            let message = format!(
                "this file only lists the parts of an export, each with a link for one download. Download them and add \
                 them here: {names}"
            );
            self.sink.note(Issue::new("only_list_of_parts", &place.place, message));
        }
    }

    fn group(&self, member: &Member) -> String {
        let stem = member.file_name().rsplit_once('.').map_or(member.file_name(), |(s, _)| s);
        if is_uuid(stem) { stem.to_owned() } else { String::new() }
    }

    fn passthrough_item(&self, member: &Member, role: &str) -> PassthroughItem {
        PassthroughItem {
            format: "claude".into(),
            group: self.group(member),
            name: member.name.clone(),
            role: role.into(),
            place: member.place.clone(),
        }
    }

    /// Stores a file as a passthrough file. An unreadable file is dropped.
    fn store_sidecar(&mut self, member: &Member, role: &str) -> Result<(), FormatError> {
        let item = self.passthrough_item(member, role);
        let sent = self.catalog.read(member, |r| self.sink.passthrough(item, r));
        self.drop_if_damaged(member, sent)
    }

    /// Stores the manifest without its one-time links.
    fn store_manifest(&mut self, member: &Member) -> Result<(), FormatError> {
        let bytes = self.catalog.bytes(member, self.limits.side_file_bytes)?;
        match manifest::without_links(&bytes) {
            Some(text) => {
                let item = self.passthrough_item(member, "manifest");
                self.sink.passthrough(item, &mut text.as_bytes())
            }
            None => {
                let reason = "malformed: the list of parts cannot be read; it is not stored because it may contain download links";
                self.report_dropped(member.place.clone(), DroppedAs::Failed, reason, None);
                Ok(())
            }
        }
    }

    /// Reports a damaged member as dropped. Any other error is returned.
    fn drop_if_damaged(&mut self, member: &Member, result: Result<(), FormatError>) -> Result<(), FormatError> {
        match result {
            Err(FormatError::Io { source, .. }) if !source.to_string().starts_with("limit") => {
                let reason = format!("unreadable: {source}");
                self.report_dropped(member.place.clone(), DroppedAs::Failed, &reason, None);
                Ok(())
            }
            Err(FormatError::Invalid { code, message, .. }) => {
                self.report_dropped(member.place.clone(), DroppedAs::Failed, &format!("{code}: {message}"), None);
                Ok(())
            }
            other => other,
        }
    }

    fn read_elements(&mut self, member: &Member, role: Role) -> Result<(), FormatError> {
        let element_type = match role {
            Role::Projects => ElementType::Projects,
            Role::Memories => ElementType::Memories,
            Role::Records => ElementType::Records,
            _ if self.is_design(member) => ElementType::Design,
            _ => ElementType::Conversations,
        };
        let mut wrapper = None;
        let result = self.catalog.read(member, |r| {
            let mut count = 0;
            let mut elements = Elements::new(r, self.limits).with_keys(element_type.wrapper_keys()).resync();
            loop {
                match elements.next() {
                    Ok(Some(element)) => {
                        count += 1;
                        let (pointer, bytes) = (element.pointer(), element.bytes);
                        self.read_element(member, element_type, &pointer, bytes)?;
                    }
                    Ok(None) => {
                        wrapper = elements.wrapper().and_then(|text| {
                            let object = Object::parse(std::str::from_utf8(text).ok()?)?;
                            members_not_in(&object, element_type.wrapper_keys())
                        });
                        break;
                    }
                    Err(ElementError::Io(e)) => return Err(FormatError::io(&member.place, e)),
                    Err(e) => {
                        let closed = elements.readable_part().filter(|_| element_type == ElementType::Conversations);
                        let lost_kind = if closed.is_some() { Some(Kind::Message) } else { element_type.kind() };
                        let reason = format!("{}: {e}", e.code());
                        self.report_dropped(e.place(&member.place), DroppedAs::Failed, &reason, lost_kind);
                        if let Some((pointer, closed)) = closed {
                            count += 1;
                            self.read_element(member, element_type, &pointer, &closed)?;
                        }
                        if e.ends_reading() {
                            break;
                        }
                    }
                }
                self.sink.progress(self.bytes_done + elements.raw_bytes().min(member.size))?;
            }
            if count == 0 && element_type == ElementType::Conversations {
                self.sink.note(Issue::new("empty", &member.place, "this part contains no conversations"));
            }
            Ok(())
        });
        if let Some(members) = wrapper {
            let message = "members that are in no record were stored as they are";
            self.sink.note(Issue::new("kept_members", format!("{}#", member.place), message));
            self.store_members(member, "", &members)?;
        }
        self.drop_if_damaged(member, result)
    }

    /// Stores the members that no record contains as a passthrough file.
    fn store_members(&mut self, member: &Member, pointer: &str, members: &str) -> Result<(), FormatError> {
        let name = format!("{}{pointer}", member.name);
        let item = PassthroughItem { name, ..self.passthrough_item(member, "raw") };
        self.sink.passthrough(item, &mut members.as_bytes())
    }

    /// True if a file contains design chats. The file is in the folder `design_chats`, or its messages have nested
    /// content.
    fn is_design(&self, member: &Member) -> bool {
        member.name.split('/').rev().nth(1) == Some("design_chats")
            || matches!(json_keys(self.catalog, member), Ok(Some(keys)) if detect::is_design(&keys))
    }

    fn read_element(
        &mut self,
        member: &Member,
        element_type: ElementType,
        pointer: &str,
        bytes: &[u8],
    ) -> Result<(), FormatError> {
        let place = ElementPlace { container: &member.place, pointer, version: self.version };
        let repaired;
        let valid_text = std::str::from_utf8(bytes).ok();
        let (text, object) = match valid_text.and_then(|text| Some((text, Object::parse(text)?))) {
            Some((text, object)) => (text, object),
            None => {
                let Some((text, codes)) = json::repair(bytes) else {
                    self.report_dropped(
                        place.text(""),
                        DroppedAs::Failed,
                        "malformed: this entry is not JSON",
                        element_type.kind(),
                    );
                    return Ok(());
                };
                for code in codes {
                    self.sink.note(Issue::new(code, place.text(""), "repaired while reading"));
                }
                repaired = text;
                let Some(object) = Object::parse(&repaired) else {
                    let reason = "not_an_object: this entry is not an object";
                    self.report_dropped(place.text(""), DroppedAs::Failed, reason, element_type.kind());
                    return Ok(());
                };
                (repaired.as_str(), object)
            }
        };
        if !self.seen.insert((self.hasher.hash_one(text), text.len())) {
            let reason = "duplicate: another part contains exactly this entry";
            self.report_dropped(place.text(""), DroppedAs::Skipped, reason, element_type.kind());
            return Ok(());
        }
        let mut unread_members = None;
        let result = match element_type {
            ElementType::Conversations => conversation::read(text, &object, &place),
            ElementType::Design => design::read(text, &object, &place),
            ElementType::Projects => projects::read(text, &object, &place),
            ElementType::Memories => {
                let stem = member.file_name().rsplit_once('.').map_or("", |(s, _)| s);
                memory::read(text, &object, is_uuid(stem).then_some(stem), &place).map(|(read_result, unread)| {
                    unread_members = unread;
                    read_result
                        .units
                        .iter()
                        .filter_map(|unit| unit.records.first())
                        .for_each(|r| self.documents.add_file(r));
                    read_result
                })
            }
            ElementType::Records if object.has("reflections") => {
                let stem = member.file_name().rsplit_once('.').map_or("", |(s, _)| s);
                unread_members = members_not_in(&object, &["reflections"]);
                Ok(frames::read_reflections(text, &object, is_uuid(stem).then_some(stem), &place))
            }
            ElementType::Records => {
                Ok(frames::read_artifact(self.catalog, member, text, &object, self.limits, &place)?)
            }
        };
        match result {
            Ok(read_result) => {
                if let Some(members) = unread_members {
                    self.store_members(member, pointer, &members)?;
                }
                self.send_result(read_result)
            }
            Err(reason) => {
                self.report_dropped(place.text(""), DroppedAs::Failed, &reason, element_type.kind());
                Ok(())
            }
        }
    }

    fn send_result(&mut self, result: ReadResult) -> Result<(), FormatError> {
        for issue in result.issues {
            self.sink.note(issue);
        }
        for dropped in result.dropped {
            self.sink.dropped(dropped);
        }
        result.documents.into_iter().for_each(|unit| self.documents.add(unit));
        result.units.into_iter().try_for_each(|unit: Unit| self.sink.unit(unit))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ElementType {
    Conversations,
    Design,
    Projects,
    Memories,
    /// Artifacts and reflections.
    Records,
}

/// The members of an object whose names are not in `read`, as JSON. None if there are no such members.
fn members_not_in(object: &Object<'_>, read: &[&str]) -> Option<String> {
    let members: serde_json::Map<String, serde_json::Value> = object
        .members()
        .filter(|(name, _)| !read.contains(name))
        .filter_map(|(name, raw)| Some((name.to_owned(), serde_json::from_str(raw.get()).ok()?)))
        .collect();
    if members.is_empty() { None } else { serde_json::to_string(&members).ok() }
}

impl ElementType {
    fn wrapper_keys(self) -> &'static [&'static str] {
        match self {
            ElementType::Conversations => &["conversations", "data", "items"],
            ElementType::Projects => &["projects"],
            ElementType::Design => &["design_chats"],
            ElementType::Memories | ElementType::Records => &[],
        }
    }

    fn kind(self) -> Option<Kind> {
        Some(match self {
            ElementType::Conversations | ElementType::Design => Kind::Conversation,
            ElementType::Projects => Kind::Profile,
            ElementType::Memories => Kind::Memory,
            ElementType::Records => Kind::Resource,
        })
    }
}
