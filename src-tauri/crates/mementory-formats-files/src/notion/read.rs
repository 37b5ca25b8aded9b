//! Reads pages. Each page becomes a document with links to other pages and to its files.
use super::page::{Page, id_in_name};
use super::{ID, properties, tables};
use mementory_format::{Catalog, Detected, FormatError, Member, ReadContext, Role, Sink};
use mementory_formats_shared::files::{extension, file_name, folder, send_file};
use mementory_formats_shared::html;
use mementory_formats_shared::note_folder::{may_hold_secret, media_type};
use mementory_formats_shared::note_links::resolved_path;
use mementory_formats_shared::notion_names::NotionKeys;
use mementory_formats_shared::percent::percent_decoded;
use mementory_formats_shared::reader::FileReader;
use mementory_model::{AttachmentRef, DroppedAs, Issue, Kind, Link, Origin, Record, RecordKey, Verbatim};
use std::collections::{HashMap, HashSet};

/// The files of an export that are not pages.
struct Files<'m> {
    by_path: HashMap<&'m str, &'m Member>,
    keys: NotionKeys,
}

impl<'m> Files<'m> {
    fn of(catalog: &'m Catalog, detected: &Detected) -> Self {
        let others = members_of(catalog, detected, Role::Beside);
        let pages = members_of(catalog, detected, Role::Records);
        let paths = others.iter().map(|file| file.name.as_str());
        let keys = NotionKeys::new(pages.iter().map(|page| page.name.as_str()).chain(paths.clone()), paths);
        Self { by_path: others.iter().map(|file| (file.name.as_str(), *file)).collect(), keys }
    }

    fn key(&self, path: &str) -> RecordKey {
        RecordKey::new(ID, format!("file/{}", self.keys.of(path)))
    }
}

pub(super) fn read(
    catalog: &Catalog,
    detected: &Detected,
    context: &ReadContext,
    sink: &mut dyn Sink,
) -> Result<(), FormatError> {
    let files = Files::of(catalog, detected);
    let mut ids = HashSet::new();
    let is_table = detected.claim.version.as_deref() == Some(tables::VERSION);
    FileReader::new(ID, catalog, context, sink).each_file(detected, |reader, member, role| match role {
        Role::Records if is_table => tables::read(reader, member),
        Role::Records => page(reader, member, &files, &mut ids),
        _ if may_hold_secret(member.file_name()) => {
            let reason = "secret: this file may hold a key or a token and is not stored";
            reader.report_dropped(member.place.clone(), DroppedAs::Skipped, reason, None);
            Ok(())
        }
        _ => send_file(reader, member, files.key(&member.name), Some(member.name.clone()), member.file_name()),
    })
}

fn members_of<'m>(catalog: &'m Catalog, detected: &Detected, role: Role) -> Vec<&'m Member> {
    let parts = detected.claim.parts.iter().filter(|part| part.role == role);
    parts.filter_map(|part| catalog.members().get(part.member)).collect()
}

fn page(
    reader: &mut FileReader<'_>,
    member: &Member,
    files: &Files<'_>,
    ids: &mut HashSet<String>,
) -> Result<(), FormatError> {
    let text = match reader.text(member) {
        Err(FormatError::Limit { limit: "side_file_bytes", .. }) => {
            let reason = "too_large: this page is too large to be read and is stored as a file";
            reader.report_dropped(member.place.clone(), DroppedAs::Failed, reason, Some(Kind::Resource));
            return reader.pass_through(member, "", "page");
        }
        text => text?,
    };
    let Some(page) = Page::parse(&text) else {
        let reason = "not_a_page: there is no page of Notion in this file";
        reader.report_dropped(member.place.clone(), DroppedAs::Failed, reason, Some(Kind::Resource));
        return Ok(());
    };
    let (title, body) = (page.title(), page.text());
    if page.is_cut {
        reader.sink.note(Issue::new("truncated", &member.place, "partial: this page ends early; the rest was read"));
    }
    let mut record = Record::new(Kind::Resource, RecordKey::new(ID, page.id.as_str()), body);
    properties::add_to(&mut record, page.source);
    add_links(&mut record, &page, member, files);
    let has_targets = !record.links.is_empty() || !record.attachments.is_empty();
    let has_values = !record.fields.is_empty() || !record.tags.is_empty();
    let dropped_reason = if title.is_none() && record.text.is_empty() && !has_values && !has_targets {
        Some("no_content: this page is empty")
    } else {
        let is_new = ids.insert(page.id.clone());
        (!is_new).then_some("duplicate: the page with this id occurs twice")
    };
    if let Some(reason) = dropped_reason {
        reader.report_dropped(member.place.clone(), DroppedAs::Skipped, reason, Some(Kind::Resource));
        return Ok(());
    }
    record.origin_id = Some(page.id.clone());
    record.title = title;
    record.record_type = Some("note".into());
    record.source.platform = ID.into();
    record.origin = Origin {
        format: ID.into(),
        version: Some("html".into()),
        container: member.place.clone(),
        pointer: String::new(),
    };
    record.verbatim = Some(Verbatim { media_type: "text/html".into(), text: page.source.to_owned() });
    reader.sink.unit(record.into())
}

/// Adds the links and pictures of a page that lead to other pages and to files of the export.
fn add_links(record: &mut Record, page: &Page<'_>, member: &Member, files: &Files<'_>) {
    let mut targets = HashSet::new();
    for (address, _) in html::links(page.source) {
        // An address with a colon leads out of the export. The part after `#` is a place in a page.
        let path = address.split(['#', '?']).next().unwrap_or_default();
        if path.is_empty() || path.contains(':') {
            continue;
        }
        let Some(path) = resolved_path(folder(&member.name), &percent_decoded(path)) else { continue };
        if extension(&path).is_some_and(|extension| extension == "html") {
            let Some(id) = id_in_name(file_name(&path)).filter(|id| *id != page.id) else { continue };
            let target = RecordKey::new(ID, id);
            if targets.insert(target.clone()) {
                record.links.push(Link { relation: "links_to".into(), kind: Kind::Resource, target });
            }
        } else if let Some(file) = files.by_path.get(path.as_str())
            && targets.insert(files.key(&path))
        {
            record.attachments.push(AttachmentRef {
                key: files.key(&path),
                name: file.file_name().to_owned(),
                media_type: media_type(&path).map(str::to_owned),
                origin_id: Some(path),
                size: None,
                text: None,
            });
        }
    }
}
