//! Reads a folder of Markdown notes. Each note becomes a document with its links and tags, and each other file becomes
//! an attachment. Only one file is in memory at a time.
use super::markdown::{Outline, outline, tags_in};
use super::note::Note;
use super::note_folder::{NoteFolder, may_hold_secret, media_type, notion_title};
use super::note_links::LinkTargets;
use super::notion_names::NotionKeys;
use super::object::content_id;
use super::reader::FileReader;
use mementory_format::{AttachmentFile, Catalog, Detected, FormatError, Member, ReadContext, Role, Sink};
use mementory_model::{AttachmentRef, DroppedAs, Issue, Kind, Link, Origin, Record, RecordKey, Verbatim};
use std::collections::HashSet;

/// Members of the frontmatter that state when a note was made.
pub const CREATED_KEYS: [&str; 8] =
    ["created", "created_at", "date created", "date_created", "creation_date", "created-at", "date", "createdAt"];
/// Members of the frontmatter that state when a note was last changed.
pub const UPDATED_KEYS: [&str; 9] = [
    "updated",
    "updated_at",
    "modified",
    "last_modified",
    "date modified",
    "date_modified",
    "lastmod",
    "updated-at",
    "updatedAt",
];
/// Members of the frontmatter for which the record model has a field. All other members are stored in the record's
/// `fields`.
const USED_KEYS: [&str; 21] = [
    "title",
    "type",
    "status",
    "tags",
    "tag",
    "conversation_id",
    "created",
    "created_at",
    "date created",
    "date_created",
    "creation_date",
    "created-at",
    "createdAt",
    "updated",
    "updated_at",
    "modified",
    "last_modified",
    "date modified",
    "date_modified",
    "updated-at",
    "updatedAt",
];

/// Reads the notes of one source.
pub struct NoteReader<'r> {
    /// Reads the files and sends records to the sink.
    pub files: FileReader<'r>,
    /// The folder of notes.
    pub folder: NoteFolder,
    /// Scope of the record keys.
    pub scope: String,
    targets: LinkTargets,
    keys: NotionKeys,
}

/// A note and the record that was created from it.
pub struct ReadNote<'t> {
    /// Frontmatter and body.
    pub note: Note<'t>,
    /// Links, items and code of the body.
    pub outline: Outline,
    /// The record of the note.
    pub record: Record,
}

impl<'r> NoteReader<'r> {
    /// A reader of notes. `format` is the id of the format.
    pub fn new(
        format: &'static str,
        catalog: &'r Catalog,
        detected: &Detected,
        context: &'r ReadContext,
        sink: &'r mut dyn Sink,
    ) -> Self {
        let folder = NoteFolder::of(catalog, detected);
        let targets = LinkTargets::new(catalog, &folder);
        let members = folder.notes.iter().chain(&folder.files).filter_map(|id| catalog.members().get(*id));
        let paths: Vec<&str> = members.map(|member| folder.path(member)).collect();
        let keys = NotionKeys::new(paths.iter().copied(), paths.iter().copied());
        let scope = if folder.name.is_empty() { format.to_owned() } else { format!("{format}:{}", folder.name) };
        Self { files: FileReader::new(format, catalog, context, sink), folder, scope, targets, keys }
    }

    /// Reads all files. Calls `read` for each note, to send its records; other files are sent as attachments.
    pub fn read_all(
        &mut self,
        detected: &Detected,
        mut read: impl FnMut(&mut Self, &Member, &str) -> Result<(), FormatError>,
    ) -> Result<(), FormatError> {
        let mut program_file_count = 0;
        let mut bytes_done = 0;
        for part in &detected.claim.parts {
            let Some(member) = self.files.catalog.members().get(part.member) else { continue };
            let result = match part.role {
                Role::Junk => {
                    program_file_count += 1;
                    Ok(())
                }
                Role::Attachment | Role::Beside => self.attachment(member),
                Role::Sidecar => self.files.pass_through(member, &self.folder.name.clone(), "sidecar"),
                _ => self.note(member, &mut read),
            };
            self.files.drop_if_damaged(member, result)?;
            bytes_done += member.size;
            self.files.sink.progress(bytes_done)?;
        }
        if program_file_count > 0 {
            let message =
                format!("{program_file_count} files of programs (settings, trash, version control) are not imported");
            self.files.sink.note(Issue::new("program_files", self.folder.name.as_str(), message));
        }
        Ok(())
    }

    fn note(
        &mut self,
        member: &Member,
        read: &mut impl FnMut(&mut Self, &Member, &str) -> Result<(), FormatError>,
    ) -> Result<(), FormatError> {
        let text = match self.files.text(member) {
            Ok(text) => text,
            Err(FormatError::Limit { limit: "side_file_bytes", .. }) => {
                let reason = "too_large: this note is too large to be read and is stored as a file";
                self.files.report_dropped(member.place.clone(), DroppedAs::Failed, reason, Some(Kind::Resource));
                return self.files.pass_through(member, &self.folder.name.clone(), "note");
            }
            Err(error) => return Err(error),
        };
        if text.contains('\0') {
            let reason = "not_text: this file is not text, so it is stored as a file";
            self.files.report_dropped(member.place.clone(), DroppedAs::Failed, reason, Some(Kind::Resource));
            return self.files.pass_through(member, &self.folder.name.clone(), "note");
        }
        read(self, member, &text)
    }

    fn attachment(&mut self, member: &Member) -> Result<(), FormatError> {
        if may_hold_secret(member.file_name()) {
            let reason = "secret: this file may hold a key or a token and is not stored";
            self.files.report_dropped(member.place.clone(), DroppedAs::Skipped, reason, None);
            return Ok(());
        }
        let path = self.folder.path(member).to_owned();
        let file = AttachmentFile {
            key: self.key_of(&path),
            origin_id: Some(path),
            name: member.file_name().to_owned(),
            media_type: media_type(member.file_name()).map(str::to_owned),
            place: member.place.clone(),
        };
        let catalog = self.files.catalog;
        catalog.read(member, |bytes| self.files.sink.attachment(file, bytes))
    }

    /// Reads a note as a document. The body becomes the text of the record, the frontmatter becomes the fields of the
    /// record, and links to other notes become links of the record.
    pub fn document<'t>(&mut self, member: &Member, text: &'t str) -> ReadNote<'t> {
        let note = Note::parse(text);
        if note.is_head_broken {
            let message = "the frontmatter is not YAML; its simple lines and the body are imported";
            self.files.sink.note(Issue::new("frontmatter", &member.place, message));
        }
        let outline = outline(note.body);
        if note.body.len() > super::markdown::MAX_BYTES {
            let message = "links and tags of this note are not read, because it is very large";
            self.files.sink.note(Issue::new("large_note", &member.place, message));
        }
        let path = self.folder.path(member).to_owned();
        let mut record = record_of(&note, &outline, self.key(member, text), member.file_name());
        record.origin_id = (!self.folder.is_single_file).then(|| path.clone());
        let title = notion_title(member.file_name());
        if let Some(title) = title.filter(|_| note.text("title").is_none()) {
            record.title = Some(title.to_owned());
        }
        record.source.platform = self.folder.program_of(member).unwrap_or(self.files.format).into();
        record.source.project = Some(self.folder.name.clone()).filter(|name| !name.is_empty());
        record.origin = Origin {
            format: self.files.format.into(),
            version: None,
            container: member.place.clone(),
            pointer: String::new(),
        };
        record.verbatim = Some(Verbatim { media_type: "text/markdown".into(), text: text.to_owned() });
        self.add_links(&mut record, &path, &outline);
        ReadNote { note, outline, record }
    }

    /// The key of a note. A note that was selected as a single file has no path, so its key is a digest of its content.
    pub fn key(&self, member: &Member, text: &str) -> RecordKey {
        if self.folder.is_single_file {
            return RecordKey::new(self.scope.as_str(), content_id(text));
        }
        self.key_of(self.folder.path(member))
    }

    /// The key of a file: its path in the folder, or for a file that Notion exported, a key with the id of its page.
    fn key_of(&self, path: &str) -> RecordKey {
        RecordKey::new(self.scope.as_str(), self.keys.of(path))
    }

    /// Path of the file that a link refers to.
    pub fn resolve(&self, from: &str, link: &super::markdown::NoteLink) -> Option<&str> {
        self.targets.resolve(from, link)
    }

    /// Adds the links of a note to its record: links to notes, references to other files, and the names of missing
    /// notes.
    fn add_links(&mut self, record: &mut Record, path: &str, outline: &Outline) {
        let mut missing_notes: Vec<String> = Vec::new();
        let mut linked_keys: HashSet<RecordKey> = record.links.iter().map(|link| link.target.clone()).collect();
        let mut attached_keys: HashSet<RecordKey> = record.attachments.iter().map(|file| file.key.clone()).collect();
        for link in outline.links.iter().filter(|link| !link.is_external()) {
            let Some(target) = self.resolve(path, link).map(str::to_owned) else {
                let name = link.note().to_owned();
                if link.is_wiki && !name.is_empty() && missing_notes.len() < 1000 && !missing_notes.contains(&name) {
                    missing_notes.push(name);
                }
                continue;
            };
            let key = self.key_of(&target);
            if super::note_folder::is_note(&target) {
                if target != path && linked_keys.insert(key.clone()) {
                    record.links.push(Link { relation: "links_to".into(), kind: Kind::Resource, target: key });
                }
            } else if attached_keys.insert(key.clone()) {
                record.attachments.push(AttachmentRef {
                    key,
                    name: target.rsplit('/').next().unwrap_or(&target).to_owned(),
                    media_type: media_type(&target).map(str::to_owned),
                    origin_id: Some(target),
                    size: None,
                    text: None,
                });
            }
        }
        if !missing_notes.is_empty() {
            record.fields.insert("missing_links".into(), missing_notes.into());
        }
    }
}

/// The record of a note without its links: text, title, type, status, times, tags, and the other members of its
/// frontmatter.
pub fn record_of(note: &Note<'_>, outline: &Outline, key: RecordKey, file_name: &str) -> Record {
    let mut record = Record::new(Kind::Resource, key, unix_lines(note.body.trim()));
    record.title = note.text("title").or_else(|| stem(file_name));
    record.record_type = note.text("type").or_else(|| Some("note".into()));
    record.status = note.text("status");
    record.times.created = note.time(&CREATED_KEYS);
    record.times.updated = note.time(&UPDATED_KEYS);
    record.tags = note.tags("tags");
    let more_tags = note.tags("tag").into_iter().chain(tags_in(note.body, &outline.code));
    let mut seen_tags: HashSet<String> = record.tags.iter().cloned().collect();
    record.tags.extend(more_tags.filter(|tag| seen_tags.insert(tag.clone())));
    record.source.conversation = note.text("conversation_id");
    record.fields = note.other_members(&USED_KEYS);
    record
}

/// The text with line feeds as line breaks.
pub fn unix_lines(text: &str) -> String {
    if text.contains('\r') { text.replace("\r\n", "\n").replace('\r', "\n") } else { text.to_owned() }
}

/// A file name without its extension. None if nothing remains.
fn stem(name: &str) -> Option<String> {
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    (!stem.is_empty()).then(|| stem.to_owned())
}
