//! Reads every part of a Claude export, one JSON element at a time, and sends the records to a sink.
use super::{
    conversation, design, detect,
    documents::Documents,
    frames, manifest, memory, projects,
    wire::{ElementPlace, ReadResult, SCOPE, unread_members},
};
use mementory_format::{
    Catalog, Detected, FormatError, Member, PassthroughItem, ReadContext, Role, Sink, is_uuid, json_keys,
};
use mementory_formats_shared::files::without_extension;
use mementory_formats_shared::reader::{FileReader, ObjectElement};
use mementory_model::{DroppedAs, Issue, Kind, Unit};
use std::{
    collections::HashSet,
    hash::{BuildHasher, RandomState},
};

/// Reads an export: manifests and side files first, then projects, memories, other records and conversations. If an
/// element cannot be read, the other elements are still read.
pub(super) fn read(
    catalog: &Catalog,
    detected: &Detected,
    context: &ReadContext,
    sink: &mut dyn Sink,
) -> Result<(), FormatError> {
    let mut files = FileReader::new(SCOPE, catalog, context, sink);
    let mut reader = Reader {
        version: detected.claim.version.as_deref(),
        hasher: RandomState::new(),
        seen: HashSet::new(),
        documents: Documents::default(),
    };
    explain_lone_manifest(&mut files, detected);
    let order = [Role::Manifest, Role::Sidecar, Role::Projects, Role::Memories, Role::Records, Role::Conversations];
    for role in order {
        for part in detected.claim.parts.iter().filter(|p| p.role == role) {
            let Some(member) = catalog.members().get(part.member) else { continue };
            files.each_member(&[member], |files, member| match role {
                Role::Manifest => store_manifest(files, member),
                Role::Sidecar => files.pass_through(member, account_in_name(member).unwrap_or_default(), "sidecar"),
                _ => reader.read_elements(files, member, role),
            })?;
        }
    }
    for unit in reader.documents.take() {
        files.sink.unit(unit)?;
    }
    for part in detected.claim.parts.iter().filter(|p| !order.contains(&p.role)) {
        let Some(member) = catalog.members().get(part.member) else { continue };
        let reason = if part.role == Role::Junk { "junk: bookkeeping of an operating system" } else { "not_a_record" };
        files.each_member(&[member], |files, member| {
            files.report_dropped(member.place.clone(), DroppedAs::Skipped, reason, None);
            Ok(())
        })?;
    }
    Ok(())
}

/// Explains an import that contains only a manifest. Many people do not download the archives that the manifest lists.
fn explain_lone_manifest(files: &mut FileReader<'_>, detected: &Detected) {
    let mut parts = detected.claim.parts.iter();
    let Some(place) = detected.claim.parts.first().and_then(|part| files.catalog.members().get(part.member)) else {
        return;
    };
    if parts.all(|part| part.role == Role::Manifest) {
        let names = detected.claim.missing_parts.join(", ");
        let message = format!(
            "this file only lists the parts of an export, each with a link for one download. Download them and add \
             them here: {names}"
        );
        files.sink.note(Issue::new("only_list_of_parts", &place.place, message));
    }
}

/// Returns the account id in the name of a file. None if the name is not an id.
fn account_in_name(member: &Member) -> Option<&str> {
    let name = member.file_name();
    Some(without_extension(name)).filter(|stem| is_uuid(stem))
}

/// Stores a manifest as a passthrough file, without its one-time links.
fn store_manifest(files: &mut FileReader<'_>, member: &Member) -> Result<(), FormatError> {
    let bytes = files.catalog.bytes(member, files.context.limits.side_file_bytes)?;
    let Some(text) = manifest::without_links(&bytes) else {
        let reason =
            "malformed: the list of parts cannot be read; it is not stored because it may contain download links";
        files.report_dropped(member.place.clone(), DroppedAs::Failed, reason, None);
        return Ok(());
    };
    let item = PassthroughItem {
        format: SCOPE.into(),
        group: account_in_name(member).unwrap_or_default().into(),
        name: member.name.clone(),
        role: "manifest".into(),
        place: member.place.clone(),
    };
    files.sink.passthrough(item, &mut text.as_bytes())
}

/// True if a file contains design chats: it is in the folder `design_chats`, or the content of its messages is an
/// object with blocks.
fn is_design(catalog: &Catalog, member: &Member) -> bool {
    member.name.split('/').rev().nth(1) == Some("design_chats")
        || matches!(json_keys(catalog, member), Ok(Some(keys)) if detect::is_design(&keys))
}

/// The state while the elements of all files are read.
struct Reader<'r> {
    version: Option<&'r str>,
    /// Hashes elements with random keys, so that an attacker cannot create two elements with the same digest.
    hasher: RandomState,
    /// Digest and length of each element read so far. They identify duplicates, because users often download an archive
    /// twice.
    seen: HashSet<(u64, usize)>,
    /// The memory files of the export, and the memory documents found in chats.
    documents: Documents,
}

impl Reader<'_> {
    fn read_elements(&mut self, files: &mut FileReader<'_>, member: &Member, role: Role) -> Result<(), FormatError> {
        let element_type = match role {
            Role::Projects => ElementType::Projects,
            Role::Memories => ElementType::Memories,
            Role::Records => ElementType::Records,
            _ if is_design(files.catalog, member) => ElementType::Design,
            _ => ElementType::Conversations,
        };
        let count = files.objects(member, element_type.wrapper_keys(), element_type.kind(), |files, element| {
            self.read_element(files, member, element_type, element)
        })?;
        if count == 0 && element_type == ElementType::Conversations {
            files.sink.note(Issue::new("empty", &member.place, "this part contains no conversations"));
        }
        Ok(())
    }

    fn read_element(
        &mut self,
        files: &mut FileReader<'_>,
        member: &Member,
        element_type: ElementType,
        element: &ObjectElement<'_>,
    ) -> Result<(), FormatError> {
        let (text, object, pointer) = (element.text, &element.object, element.pointer.as_str());
        let place = ElementPlace { container: &member.place, pointer, version: self.version };
        if !self.seen.insert((self.hasher.hash_one(text), text.len())) {
            let reason = "duplicate: another part contains exactly this entry";
            files.report_dropped(place.text(""), DroppedAs::Skipped, reason, Some(element_type.kind()));
            return Ok(());
        }
        let account = account_in_name(member);
        let mut unread = None;
        let result = match element_type {
            ElementType::Conversations => conversation::read(text, object, &place),
            ElementType::Design => design::read(text, object, &place),
            ElementType::Projects => projects::read(text, object, &place),
            ElementType::Memories => memory::read(text, object, account, &place).map(|(read_result, members)| {
                unread = members;
                let records = read_result.units.iter().filter_map(|unit| unit.records.first());
                records.for_each(|record| self.documents.add_file(record));
                read_result
            }),
            ElementType::Records if object.has("reflections") => {
                unread = unread_members(object, &["reflections"]);
                Ok(frames::read_reflections(text, object, account, &place))
            }
            ElementType::Records => {
                let limits = &files.context.limits;
                Ok(frames::read_artifact(files.catalog, member, text, object, limits, &place)?)
            }
        };
        match result {
            Ok(read_result) => {
                files.pass_through_wrapper(member, pointer, &[], unread)?;
                self.send_result(files, read_result)
            }
            Err(reason) => {
                files.report_dropped(place.text(""), DroppedAs::Failed, &reason, Some(element_type.kind()));
                Ok(())
            }
        }
    }

    fn send_result(&mut self, files: &mut FileReader<'_>, result: ReadResult) -> Result<(), FormatError> {
        for issue in result.issues {
            files.sink.note(issue);
        }
        for dropped in result.dropped {
            files.sink.dropped(dropped);
        }
        result.documents.into_iter().for_each(|unit| self.documents.add(unit));
        result.units.into_iter().try_for_each(|unit: Unit| files.sink.unit(unit))
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

impl ElementType {
    fn wrapper_keys(self) -> &'static [&'static str] {
        match self {
            ElementType::Conversations => &["conversations", "data", "items"],
            ElementType::Projects => &["projects"],
            ElementType::Design => &["design_chats"],
            ElementType::Memories | ElementType::Records => &[],
        }
    }

    fn kind(self) -> Kind {
        match self {
            ElementType::Conversations | ElementType::Design => Kind::Conversation,
            ElementType::Projects => Kind::Profile,
            ElementType::Memories => Kind::Memory,
            ElementType::Records => Kind::Resource,
        }
    }
}
