//! Reads an identity as a profile.
use super::{ID, PLATFORM};
use crate::zeroclaw::aieos::name_and_description;
use mementory_format::{Catalog, Detected, FormatError, ReadContext, Sink};
use mementory_formats_shared::memory_rows::{Row, RowSender, RowValues, each_row, link, object_of};
use mementory_formats_shared::object::{Object, content_id};
use mementory_formats_shared::reader::FileReader;
use mementory_json::Tree;
use mementory_model::Kind;

pub(super) fn read(
    catalog: &Catalog,
    detected: &Detected,
    context: &ReadContext,
    sink: &mut dyn Sink,
) -> Result<(), FormatError> {
    let mut files = FileReader::new(ID, catalog, context, sink);
    let mut rows = RowSender::new(ID, PLATFORM, detected.claim.version.as_deref());
    files.each_file(detected, |files, member, _| {
        each_row(files, member, &[], Kind::Profile, &mut |files, row| read_row(&mut rows, files, row))
    })
}

fn read_row(rows: &mut RowSender, files: &mut FileReader<'_>, row: &Row<'_>) -> Result<(), FormatError> {
    let Some(object) = object_of(files, row, Kind::Profile) else { return Ok(()) };
    let Ok(document) = Tree::parse(row.text, &files.context.limits) else {
        rows.fail(files, row, "malformed: too deep or too large for an identity", Kind::Profile);
        return Ok(());
    };
    let (name, text) = name_and_description(&document);
    let metadata = object.object("metadata").unwrap_or_default();
    let id = ["entity_id", "instance_id", "id"].into_iter().find_map(|key| metadata.id(key));
    // An identity without an id is keyed by its name, so that a newer version replaces the older one.
    let content = name.clone().unwrap_or_else(|| row.text.to_owned());
    let mut record = rows.record(Kind::Profile, id, &content, text);
    record.title = name;
    record.record_type = Some("aieos".into());
    record.times.created = metadata.time("created_at");
    record.times.updated = metadata.time("last_updated").or_else(|| metadata.time("updated_at"));
    let key = record.key.value.clone();
    rows.send(files, row, record)?;
    let skills = object.object("capabilities").and_then(|capabilities| capabilities.list("skills"));
    for (n, raw) in skills.unwrap_or_default().into_iter().enumerate() {
        let pointer = format!("{}/capabilities/skills/{n}", row.pointer);
        read_skill(rows, files, &Row { member: row.member, text: raw.get(), pointer }, &key)?;
    }
    Ok(())
}

/// Reads a skill as a record if it has a description. Any other skill is only named in the text of the identity.
fn read_skill(
    rows: &mut RowSender,
    files: &mut FileReader<'_>,
    row: &Row<'_>,
    identity: &str,
) -> Result<(), FormatError> {
    let skill = Object::parse(row.text).unwrap_or_default();
    let Some(text) = skill.first_text(&["description"]) else { return Ok(()) };
    let name = skill.first_text(&["name"]);
    let mut record = rows.record(Kind::Procedure, None, "", text.clone());
    record.key.value = format!("{identity}/skill/{}", name.clone().unwrap_or_else(|| content_id(&text)));
    record.title = name;
    record.links = vec![link("member_of", Kind::Profile, ID, identity)];
    record.fields = skill.other_fields(&["name", "description"]);
    rows.send(files, row, record)
}
