//! Reads every part of a Claude export into a sink, one JSON element at a time.
use super::{
    conversation, design, detect, manifest, memory, projects,
    wire::{Object, Place, Yield},
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

/// Manifest and side files first, then projects, memories, conversations. One bad element costs that element.
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
        done: 0,
        sink,
    };
    let order = [Role::Manifest, Role::Sidecar, Role::Projects, Role::Memories, Role::Conversations];
    for role in order {
        for part in detected.claim.parts.iter().filter(|p| p.role == role) {
            let Some(member) = catalog.members().get(part.member) else { continue };
            match role {
                Role::Manifest => reader.manifest(member)?,
                Role::Sidecar => reader.sidecar(member, "sidecar")?,
                _ => reader.elements(member, role)?,
            }
            reader.done += member.size;
            reader.sink.progress(reader.done)?;
        }
    }
    for part in detected.claim.parts.iter().filter(|p| !order.contains(&p.role)) {
        let Some(member) = catalog.members().get(part.member) else { continue };
        let reason = if part.role == Role::Junk { "junk: bookkeeping of an operating system" } else { "not_a_record" };
        reader.drop(member.place.clone(), DroppedAs::Skipped, reason, None);
        reader.done += member.size;
    }
    reader.sink.progress(reader.done)
}

struct Reader<'r> {
    catalog: &'r Catalog,
    limits: &'r Limits,
    version: Option<&'r str>,
    /// Random keys, so that nobody can prepare two elements with one digest.
    hasher: RandomState,
    /// Digests of elements already read: category archives are often downloaded twice.
    seen: HashSet<(u64, usize)>,
    done: u64,
    sink: &'r mut dyn Sink,
}

impl Reader<'_> {
    fn drop(&mut self, place: String, outcome: DroppedAs, reason: &str, kind: Option<Kind>) {
        self.sink.dropped(Dropped { place, outcome, reason: reason.into(), kind });
    }

    fn group(&self, member: &Member) -> String {
        let stem = member.file_name().rsplit_once('.').map_or(member.file_name(), |(s, _)| s);
        if is_uuid(stem) { stem.to_owned() } else { String::new() }
    }

    fn item(&self, member: &Member, role: &str) -> PassthroughItem {
        PassthroughItem {
            format: "claude".into(),
            group: self.group(member),
            name: member.name.clone(),
            role: role.into(),
            place: member.place.clone(),
        }
    }

    /// A part that is kept as it is. What cannot be read is dropped.
    fn sidecar(&mut self, member: &Member, role: &str) -> Result<(), FormatError> {
        let item = self.item(member, role);
        let sent = self.catalog.read(member, |r| self.sink.passthrough(item, r));
        self.damaged(member, sent)
    }

    /// The manifest without its one-time links.
    fn manifest(&mut self, member: &Member) -> Result<(), FormatError> {
        let bytes = self.catalog.bytes(member, self.limits.side_file_bytes)?;
        match manifest::without_links(&bytes) {
            Some(text) => {
                let item = self.item(member, "manifest");
                self.sink.passthrough(item, &mut text.as_bytes())
            }
            None => {
                let reason = "malformed: the list of parts cannot be read; it is not kept because it may hold links";
                self.drop(member.place.clone(), DroppedAs::Failed, reason, None);
                Ok(())
            }
        }
    }

    /// Damage inside one member costs that member; limits and the sink's own errors stop the reading.
    fn damaged(&mut self, member: &Member, result: Result<(), FormatError>) -> Result<(), FormatError> {
        match result {
            Err(FormatError::Io { source, .. }) if !source.to_string().starts_with("limit") => {
                let reason = format!("unreadable: {source}");
                self.drop(member.place.clone(), DroppedAs::Failed, &reason, None);
                Ok(())
            }
            Err(FormatError::Invalid { code, message, .. }) => {
                self.drop(member.place.clone(), DroppedAs::Failed, &format!("{code}: {message}"), None);
                Ok(())
            }
            other => other,
        }
    }

    fn elements(&mut self, member: &Member, role: Role) -> Result<(), FormatError> {
        let what = match role {
            Role::Projects => What::Projects,
            Role::Memories => What::Memories,
            _ if self.is_design(member) => What::Design,
            _ => What::Conversations,
        };
        let result = self.catalog.read(member, |r| {
            let mut count = 0;
            let mut elements = Elements::new(r, self.limits).with_keys(what.wrappers());
            loop {
                match elements.next() {
                    Ok(Some(element)) => {
                        count += 1;
                        let (pointer, bytes) = (element.pointer(), element.bytes);
                        self.element(member, what, &pointer, bytes)?;
                    }
                    Ok(None) => break,
                    Err(ElementError::Io(e)) => return Err(FormatError::io(&member.place, e)),
                    Err(e @ ElementError::TooLarge { .. }) => {
                        self.drop(member.place.clone(), DroppedAs::Failed, &format!("too_large: {e}"), what.kind());
                    }
                    Err(e) => {
                        let code = if matches!(e, ElementError::Truncated { .. }) { "truncated" } else { "malformed" };
                        self.drop(member.place.clone(), DroppedAs::Failed, &format!("{code}: {e}"), what.kind());
                        break;
                    }
                }
                self.sink.progress(self.done + elements.raw_bytes().min(member.size))?;
            }
            if count == 0 && what == What::Conversations {
                self.sink.note(Issue::new("empty", &member.place, "this part holds no conversations"));
            }
            Ok(())
        });
        self.damaged(member, result)
    }

    /// Design chats lie in their own folder; elsewhere their nested content tells them.
    fn is_design(&self, member: &Member) -> bool {
        member.name.split('/').rev().nth(1) == Some("design_chats")
            || matches!(json_keys(self.catalog, member), Ok(Some(keys)) if detect::is_design(&keys))
    }

    fn element(&mut self, member: &Member, what: What, pointer: &str, bytes: &[u8]) -> Result<(), FormatError> {
        let place = Place { container: &member.place, pointer, version: self.version };
        let mended;
        let strict = std::str::from_utf8(bytes).ok();
        let (text, object) = match strict.and_then(|text| Some((text, Object::parse(text)?))) {
            Some((text, object)) => (text, object),
            None => {
                let Some((text, codes)) = json::repair(bytes) else {
                    self.drop(place.text(""), DroppedAs::Failed, "malformed: this entry is not JSON", what.kind());
                    return Ok(());
                };
                for code in codes {
                    self.sink.note(Issue::new(code, place.text(""), "mended to be readable"));
                }
                mended = text;
                let Some(object) = Object::parse(&mended) else {
                    let reason = "not_an_object: this entry is a value where an object should be";
                    self.drop(place.text(""), DroppedAs::Failed, reason, what.kind());
                    return Ok(());
                };
                (mended.as_str(), object)
            }
        };
        if !self.seen.insert((self.hasher.hash_one(text), text.len())) {
            let reason = "duplicate: exactly this entry was in another part already";
            self.drop(place.text(""), DroppedAs::Skipped, reason, what.kind());
            return Ok(());
        }
        let mut rest = None;
        let result = match what {
            What::Conversations => conversation::read(text, &object, &place),
            What::Design => design::read(text, &object, &place),
            What::Projects => projects::read(text, &object, &place),
            What::Memories => {
                let stem = member.file_name().rsplit_once('.').map_or("", |(s, _)| s);
                memory::read(text, &object, is_uuid(stem).then_some(stem), &place).map(|(found, unread)| {
                    rest = unread;
                    found
                })
            }
        };
        match result {
            Ok(found) => {
                if let Some(rest) = rest {
                    let name = format!("{}{pointer}", member.name);
                    let item = PassthroughItem { name, ..self.item(member, "raw") };
                    self.sink.passthrough(item, &mut rest.as_bytes())?;
                }
                self.send(found)
            }
            Err(reason) => {
                self.drop(place.text(""), DroppedAs::Failed, &reason, what.kind());
                Ok(())
            }
        }
    }

    fn send(&mut self, found: Yield) -> Result<(), FormatError> {
        for issue in found.issues {
            self.sink.note(issue);
        }
        for dropped in found.dropped {
            self.sink.dropped(dropped);
        }
        found.units.into_iter().try_for_each(|unit: Unit| self.sink.unit(unit))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    Conversations,
    Design,
    Projects,
    Memories,
}

impl What {
    fn wrappers(self) -> &'static [&'static str] {
        match self {
            What::Conversations => &["conversations"],
            What::Projects => &["projects"],
            What::Design => &["design_chats"],
            What::Memories => &[],
        }
    }

    fn kind(self) -> Option<Kind> {
        Some(match self {
            What::Conversations | What::Design => Kind::Conversation,
            What::Projects => Kind::Profile,
            What::Memories => Kind::Memory,
        })
    }
}
