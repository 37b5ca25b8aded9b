//! Tables of databases that were exported without their pages. Each row becomes a document.
use super::ID;
use mementory_format::{Catalog, Claim, FormatError, Member, Part, Role};
use mementory_formats_shared::files::{is_junk, root_of};
use mementory_formats_shared::note_folder::{is_note, media_type};
use mementory_formats_shared::notion_names::title_and_id;
use mementory_formats_shared::object::content_id;
use mementory_formats_shared::reader::FileReader;
use mementory_formats_shared::tables::{Header, Row, each_csv_row};
use mementory_model::{DroppedAs, Kind, Origin, Record, RecordKey, Verbatim};
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// Version of the claim.
pub(super) const VERSION: &str = "csv";
/// Ending of a table with all rows and columns of a database. The table without it has those of one view.
const ALL_ENDING: &str = "_all.csv";
const ENDING: &str = ".csv";

/// Root and archive of a file. Files of one export are in the same group.
pub(super) type Group = (Option<usize>, Option<usize>);

pub(super) fn group_of(member: &Member) -> Group {
    (root_of(member), member.archive)
}

/// One claim for each archive or selected folder that has tables, but neither notes nor pages. `with_pages` are the groups
/// with pages in HTML.
pub(super) fn claims(catalog: &Catalog, with_pages: &BTreeSet<Group>) -> Vec<Claim> {
    let notes = catalog.members().iter().filter(|member| is_note(&member.name) && !is_junk(&member.name));
    let with_notes: BTreeSet<Group> = notes.map(group_of).collect();
    let mut groups: BTreeMap<Group, Vec<&Member>> = BTreeMap::new();
    for member in catalog.members().iter().filter(|member| is_table(member)) {
        let group = group_of(member);
        if !with_pages.contains(&group) && !with_notes.contains(&group) {
            groups.entry(group).or_default().push(member);
        }
    }
    groups.into_iter().map(|(group, tables)| claim(catalog, group, &tables)).collect()
}

fn is_table(member: &Member) -> bool {
    !is_junk(&member.name) && member.name.ends_with(ENDING) && title_and_id(member.file_name()).is_some()
}

fn claim(catalog: &Catalog, group: Group, tables: &[&Member]) -> Claim {
    let whole: HashSet<&str> = tables.iter().filter_map(|table| table.name.strip_suffix(ALL_ENDING)).collect();
    let is_view = |table: &Member| table.name.strip_suffix(ENDING).is_some_and(|name| whole.contains(name));
    let role_of = |table: &Member| if is_view(table) { Role::Beside } else { Role::Records };
    let mut parts: Vec<Part> = tables.iter().map(|table| Part { member: table.id, role: role_of(table) }).collect();
    // A folder may have pictures that have nothing to do with the tables.
    let is_in_archive = group.1.is_some();
    let is_file = |member: &&Member| {
        is_in_archive && group_of(member) == group && !is_junk(&member.name) && media_type(&member.name).is_some()
    };
    let files = catalog.members().iter().filter(is_file);
    parts.extend(files.map(|member| Part { member: member.id, role: Role::Beside }));
    Claim {
        version: Some(VERSION.into()),
        confidence: 0.8,
        reason: "Tables that Notion exported without their pages".into(),
        parts,
        missing_parts: vec![],
    }
}

/// Reads the rows of a table.
pub(super) fn read(reader: &mut FileReader<'_>, member: &Member) -> Result<(), FormatError> {
    let Some((title, id)) = title_and_id(member.file_name()) else {
        return Err(FormatError::invalid("changed", &member.place, "the file is no longer what was detected"));
    };
    let mut keys = HashSet::new();
    each_csv_row(reader, member, Kind::Resource, |reader, header, row, pointer| {
        let record = record(member, (title, id), (header, row), pointer, &mut keys);
        let reason = match record {
            Ok(record) => return reader.sink.unit(record.into()),
            Err(reason) => reason,
        };
        let place = format!("{}#row {}", member.place, row.number);
        reader.report_dropped(place, DroppedAs::Skipped, reason, Some(Kind::Resource));
        Ok(())
    })
}

/// The record of a row, or the reason why it has none. A row has no id, so its title identifies it, and all its cells if
/// another row has the same title.
fn record(
    member: &Member,
    (title, id): (&str, &str),
    (header, row): (&Header, &Row),
    pointer: String,
    keys: &mut HashSet<String>,
) -> Result<Record, &'static str> {
    let name = row.cell(Some(0)).trim();
    let cells = header.other_cells(row, &[Some(0)]);
    if name.is_empty() && cells.is_empty() {
        return Err("no_content: this row is empty");
    }
    let digests = [content_id(name), content_id(&row.raw)];
    let Some(key) = digests.into_iter().find(|key| keys.insert(key.clone())) else {
        return Err("duplicate: the same row occurs twice");
    };
    let lines = cells.iter().map(|(column, cell)| format!("{column}: {}", cell.as_str().unwrap_or_default()));
    let text = lines.collect::<Vec<_>>().join("\n");
    let mut record = Record::new(Kind::Resource, RecordKey::new(ID, format!("row/{id}/{key}")), text);
    record.title = Some(name.to_owned()).filter(|name| !name.is_empty());
    record.record_type = Some("row".into());
    record.source.platform = ID.into();
    record.source.project = Some(title.to_owned());
    record.fields = cells;
    record.origin =
        Origin { format: ID.into(), version: Some(VERSION.into()), container: member.place.clone(), pointer };
    record.verbatim = Some(Verbatim { media_type: "text/csv".into(), text: row.raw.clone() });
    Ok(record)
}
