//! Files of a workspace → records and parts. A file's text is in its records and nowhere else: their pieces, put
//! together, are the file.
use super::files::{self, FileRole, Notes};
use super::{Root, Runtime, sections};
use mementory_format::{Catalog, FormatError, Member, PassthroughItem, ReadContext, Sink};
use mementory_model::{Dropped, DroppedAs, Issue, Kind, Origin, Record, RecordKey, Timestamp, Verbatim};
use sha2::{Digest, Sha256};
use std::collections::HashMap;

/// One reading of a workspace.
pub struct Reader<'a> {
    /// The runtime.
    pub runtime: &'a Runtime,
    /// The catalog.
    pub catalog: &'a Catalog,
    /// Where the workspace is.
    pub root: &'a Root,
    /// Limits and clock.
    pub context: &'a ReadContext,
    /// Where everything goes.
    pub sink: &'a mut dyn Sink,
    /// Id space: the agent's id, or the folder's name where it has none.
    pub scope: String,
    slots: HashMap<String, Vec<Record>>,
    done: u64,
}

impl<'a> Reader<'a> {
    /// Finds out whose workspace it is and which records of other formats lie in it.
    pub fn new(
        runtime: &'a Runtime,
        catalog: &'a Catalog,
        root: &'a Root,
        context: &'a ReadContext,
        sink: &'a mut dyn Sink,
    ) -> Result<Self, FormatError> {
        let find = |path: &str| catalog.members().iter().find(|m| root.path(m) == Some(path));
        let id = find(files::AGENT_ID).and_then(|m| catalog.head(m, 64).ok());
        let id = id.and_then(|bytes| String::from_utf8(bytes).ok()).map(|t| t.trim().to_owned());
        let id = id.filter(|t| mementory_format::is_uuid(t)).unwrap_or_else(|| root.name.clone());
        let slots = match find(files::SLOTS) {
            Some(member) => slots(catalog, member, context)?,
            None => HashMap::new(),
        };
        let scope = format!("{}:{id}", runtime.id);
        Ok(Self { runtime, catalog, root, context, sink, scope, slots, done: 0 })
    }

    /// One file.
    pub fn file(&mut self, member: &Member) -> Result<(), FormatError> {
        let Some(path) = self.root.path(member).map(str::to_owned) else { return Ok(()) };
        let inner = path.strip_prefix("workspace/").unwrap_or(&path);
        let role = files::role(inner);
        self.done += member.size;
        self.sink.progress(self.done)?;
        match role {
            FileRole::Junk | FileRole::Slots => return Ok(()),
            FileRole::Profile(_) | FileRole::Memory(_) if member.size <= self.context.limits.side_file_bytes => {
                let bytes = self.catalog.bytes(member, self.context.limits.side_file_bytes)?;
                match String::from_utf8(bytes) {
                    Ok(text) if !text.trim().is_empty() => {
                        return match role {
                            FileRole::Profile(block) => self.profile(member, &path, &text, block),
                            FileRole::Memory(notes) => self.notes(member, &path, &text, notes),
                            _ => Ok(()),
                        };
                    }
                    Ok(_) => {}
                    Err(_) => {
                        let reason = "invalid_utf8: kept as a file, not read".to_owned();
                        let (outcome, kind) = (DroppedAs::Failed, Some(Kind::Memory));
                        self.sink.dropped(Dropped { place: member.place.clone(), outcome, reason, kind });
                    }
                }
            }
            _ => {}
        }
        self.pass(member, &path)
    }

    /// A file as it is.
    pub fn pass(&mut self, member: &Member, path: &str) -> Result<(), FormatError> {
        let item = PassthroughItem {
            format: self.runtime.id.into(),
            group: self.scope.clone(),
            name: path.to_owned(),
            role: "raw".into(),
            place: member.place.clone(),
        };
        self.catalog.read(member, |bytes| self.sink.passthrough(item, bytes))
    }

    /// Id of a record, stable for its file and heading: a section put before it changes nothing.
    pub fn id(&self, path: &str, heading: &str, n: usize) -> String {
        let namespace = uuid::Uuid::from_bytes(self.runtime.namespace);
        uuid::Uuid::new_v5(&namespace, format!("{path}#{heading}#{n}").as_bytes()).hyphenated().to_string()
    }

    /// A record of this workspace.
    pub fn record(&self, kind: Kind, id: &str, text: &str, member: &Member, pointer: String) -> Record {
        let mut record = Record::new(kind, RecordKey::new(&self.scope, id), text);
        record.origin_id = Some(id.to_owned());
        record.source.platform = self.runtime.id.into();
        record.origin =
            Origin { format: self.runtime.id.into(), version: None, container: member.place.clone(), pointer };
        record
    }

    fn profile(&mut self, member: &Member, path: &str, text: &str, block: &str) -> Result<(), FormatError> {
        let id = self.id(path, "", 0);
        let mut record = self.record(Kind::Profile, &id, text.trim(), member, "file".into());
        let heading = text.lines().find_map(|l| l.strip_prefix("# ")).map(|h| h.trim().to_owned());
        let name = text.lines().find_map(|l| named(l, "Name"));
        record.title = name.or(heading).filter(|t| !t.is_empty());
        record.record_type = Some(block.into());
        record.fields.insert("file".into(), path.into());
        if block == "user_profile"
            && let Some(zone) = time_zone(text)
        {
            record.fields.insert("timezone".into(), zone.into());
        }
        record.source.method = Some("user_authored".into());
        record.verbatim = Some(Verbatim { media_type: "text/markdown".into(), text: text.to_owned() });
        self.sink.unit(record.into())
    }

    fn notes(&mut self, member: &Member, path: &str, text: &str, notes: Notes) -> Result<(), FormatError> {
        let pieces = if notes.whole { vec![text] } else { sections::split(text) };
        let mut seen: HashMap<String, usize> = HashMap::new();
        let inner = path.strip_prefix("workspace/").unwrap_or(path);
        let day = files::date_of(inner).and_then(|d| Timestamp::parse(&format!("{d}T00:00:00Z")));
        for (number, piece) in pieces.into_iter().enumerate() {
            if let Some(record) = self.take_slot(path, piece) {
                self.sink.unit(record.into())?;
                continue;
            }
            let section = sections::parse(piece, notes.whole);
            let heading = section.heading.clone().map(|h| &piece[h]).unwrap_or_default();
            let body = &piece[section.body.clone()];
            let title = sections::title(heading);
            let n = seen.entry(title.clone()).or_default();
            *n += 1;
            let id = self.id(path, &title, *n);
            let text = if body.is_empty() { heading } else { body };
            let mut record = self.record(Kind::Memory, &id, text, member, format!("section {number}"));
            record.title = Some(title).filter(|t| !t.is_empty());
            let (importance, tags) = sections::marks(piece);
            record.importance = importance;
            record.tags = tags;
            record.record_type = Some(notes.memory_type.into());
            record.namespace = Some(notes.namespace.into());
            record.status = Some(notes.status.unwrap_or("active").into());
            record.source.method = Some(notes.method.into());
            record.times.created = day;
            record.times.observed = day;
            record.fields.insert("file".into(), path.into());
            if let Some(category) = notes.category {
                record.fields.insert("category".into(), category.into());
            }
            record.verbatim = Some(Verbatim { media_type: "text/markdown".into(), text: piece.to_owned() });
            self.sink.unit(record.into())?;
        }
        Ok(())
    }

    /// The record of another format that these words are.
    pub fn take_slot(&mut self, path: &str, piece: &str) -> Option<Record> {
        self.slots.get_mut(&slot_key(path, piece)).and_then(Vec::pop)
    }

    /// Worth knowing.
    pub fn note(&mut self, code: &str, place: &str, message: &str) {
        self.sink.note(Issue::new(code, place, message));
    }
}

/// By which a piece of text finds its record again.
pub fn slot_key(path: &str, piece: &str) -> String {
    format!("{path}|{}", hex::encode(Sha256::digest(piece.trim())))
}

fn slots(
    catalog: &Catalog,
    member: &Member,
    context: &ReadContext,
) -> Result<HashMap<String, Vec<Record>>, FormatError> {
    #[derive(serde::Deserialize)]
    struct Slot {
        file: String,
        sha256: String,
        record: Record,
    }
    let mut out: HashMap<String, Vec<Record>> = HashMap::new();
    let bytes = catalog.bytes(member, context.limits.element_bytes)?;
    for line in bytes.split(|b| *b == b'\n').filter(|l| !l.trim_ascii().is_empty()) {
        // a line that is not ours is no record: its text is still read from the file it stands in
        if let Ok(slot) = serde_json::from_slice::<Slot>(line) {
            out.entry(format!("{}|{}", slot.file, slot.sha256)).or_default().push(slot.record);
        }
    }
    Ok(out)
}

/// `Name: X`, also as a list item or in bold.
pub fn named(line: &str, key: &str) -> Option<String> {
    let line = line.trim_start_matches(|c: char| c.is_whitespace() || "-*".contains(c));
    let rest = line.get(..key.len()).filter(|k| k.eq_ignore_ascii_case(key)).map(|_| &line[key.len()..])?;
    let value = rest.trim_start_matches('*').strip_prefix(':')?.trim_matches(|c: char| c.is_whitespace() || c == '*');
    Some(value.to_owned()).filter(|v| !v.is_empty())
}

/// `Timezone: X`, or the first line with a `/` below a heading of that name.
fn time_zone(text: &str) -> Option<String> {
    let stated = text.lines().find_map(|l| named(l, "Timezone").or_else(|| named(l, "Time zone")));
    let below = || {
        let mut lines = text.lines().skip_while(|l| !l.trim().eq_ignore_ascii_case("## Timezone")).skip(1);
        lines
            .find(|l| l.contains('/') || l.starts_with("## "))
            .filter(|l| l.contains('/'))
            .map(|l| l.trim().trim_start_matches("- ").to_owned())
    };
    stated.or_else(below)
}
