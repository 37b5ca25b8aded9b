//! Reads published artifacts and pages, and reflections. An artifact is `artifacts/<uuid>/artifact.json` in
//! `frames-NNN.zip`, with its versions in the same folder.
use super::wire::{ElementPlace, Object, ReadResult, SCOPE, content_id, key, list};
use mementory_format::{Catalog, FormatError, Member};
use mementory_formats_shared::html;
use mementory_json::Keys;
use mementory_model::{Kind, Limits, Record, Unit, Verbatim};
use std::borrow::Cow;

/// True for the keys in the metadata of a published artifact or page.
pub(super) fn is_artifact(keys: &Keys) -> bool {
    keys.has("versions") && keys.has("active_version") && (keys.has("visibility") || keys.has("owner_account"))
}

/// True for the keys of a file with reflections.
pub(super) fn is_reflections(keys: &Keys) -> bool {
    keys.has("reflections") && (keys.has("reflections.period") || keys.has("reflections.content"))
}

/// Returns the folder in the path of a file. Empty if the path has no folder.
fn folder_of(name: &str) -> &str {
    name.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// True for a file below the folder of an artifact. The two files may be in different parts of the export, because an
/// artifact may be split over two parts.
pub(super) fn is_in_artifact_folder(member: &Member, artifact: &Member) -> bool {
    let (folder, name) = (folder_of(&artifact.name), member.name.as_str());
    member.id != artifact.id
        && !folder.is_empty()
        && name.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}

/// Reads an artifact: its metadata, and the text of its current version. All files of the artifact are also stored as
/// passthrough files.
pub(super) fn read_artifact(
    catalog: &Catalog,
    member: &Member,
    text: &str,
    object: &Object<'_>,
    limits: &Limits,
    place: &ElementPlace<'_>,
) -> Result<ReadResult, FormatError> {
    let mut out = ReadResult::default();
    let folder = folder_of(&member.name);
    let folder_id = folder.rsplit('/').next().filter(|id| !id.is_empty());
    let id = object.non_blank_text("id").map(Cow::into_owned).or_else(|| folder_id.map(str::to_owned));
    let id = id.unwrap_or_else(|| content_id(text));
    let versions = object.list("versions").unwrap_or_default();
    let newest = versions.iter().filter_map(|raw| Object::parse(raw.get())).next();
    let member_of_newest = |key: &str| newest.as_ref().and_then(|version| version.non_blank_text(key));
    let active = object.non_blank_text("active_version").or_else(|| member_of_newest("id"));
    let active_version = versions
        .iter()
        .filter_map(|raw| Object::parse(raw.get()))
        .find(|v| v.text("id").as_deref() == active.as_deref());
    let title = active_version.as_ref().and_then(|version| version.non_blank_text("title"));

    let mut record = Record::new(Kind::Resource, key(format!("artifact/{id}")), "");
    record.origin_id = Some(id);
    record.title = title.or_else(|| member_of_newest("title")).map(Cow::into_owned);
    record.record_type = Some("artifact".into());
    let times = versions.iter().filter_map(|raw| Object::parse(raw.get())?.timestamp("created_at"));
    record.times.created = times.clone().min();
    record.times.updated = times.chain(object.timestamp("updated_at")).max();
    record.source.platform = SCOPE.into();
    record.source.account = object.non_blank_text("owner_account").map(Cow::into_owned);
    record.source.method = Some("artifact".into());
    record.origin = place.origin("");
    record.verbatim = Some(Verbatim::json(text));
    for (name, raw) in object.members().filter(|(name, _)| !matches!(*name, "id" | "owner_account" | "updated_at")) {
        record.fields.extend(serde_json::from_str(raw.get()).ok().map(|value| (name.to_owned(), value)));
    }
    let active = active.unwrap_or_default();
    let candidates = [
        format!("{folder}/page.md"),
        format!("{folder}/versions/{active}.html"),
        format!("{folder}/versions/{active}/index.html"),
    ];
    for name in candidates.iter().filter(|_| !folder.is_empty()) {
        let files = catalog.members().iter().filter(|file| file.name == *name && file.root_matches(member));
        for file in files {
            // An unreadable file is skipped here, and is reported when it is stored as a passthrough file.
            let bytes = match catalog.bytes(file, limits.side_file_bytes) {
                Ok(bytes) => bytes,
                Err(e @ FormatError::Limit { limit: "total_bytes", .. }) => return Err(e),
                Err(_) => continue,
            };
            let content = String::from_utf8_lossy(&bytes);
            record.text = if name.ends_with(".md") { content.into_owned() } else { html::to_text(&content) };
            break;
        }
        if !record.text.is_empty() {
            break;
        }
    }
    out.units.push(record.into());
    Ok(out)
}

/// Decides whether two members may belong to the same artifact: they have the same root, or both are in archives.
trait RootMatches {
    fn root_matches(&self, other: &Self) -> bool;
}

impl RootMatches for Member {
    fn root_matches(&self, other: &Self) -> bool {
        self.root == other.root || self.archive.is_some() && other.archive.is_some()
    }
}

/// Reads `{reflections[{period, content{…}}], feedback[]}` into one resource for each period. Reflections do not become
/// memories, because it is not known from what Claude derives them.
pub(super) fn read_reflections(
    text: &str,
    object: &Object<'_>,
    account: Option<&str>,
    place: &ElementPlace<'_>,
) -> ReadResult {
    let mut out = ReadResult::default();
    let raw = object.raw_value("reflections");
    for (index, raw) in raw.and_then(list).unwrap_or_default().into_iter().enumerate() {
        let pointer = format!("/reflections/{index}");
        let Some(reflection) = Object::parse(raw.get()) else { continue };
        let content = reflection.raw_value("content").unwrap_or(raw);
        let words = super::blocks::nested_strings(content, &[]);
        let period = reflection.raw_value("period").map(|raw| super::blocks::nested_strings(raw, &[]));
        let period = period.filter(|period| !period.is_empty());
        let id = period.clone().unwrap_or_else(|| content_id(raw.get()));
        let account_id = account.map_or_else(|| content_id(text), str::to_owned);
        let mut record = Record::new(Kind::Resource, key(format!("reflection/{account_id}/{id}")), words);
        record.title = period;
        record.record_type = Some("reflection".into());
        record.times.created = reflection.timestamp("created_at");
        record.times.updated = reflection.timestamp("updated_at");
        record.source.platform = SCOPE.into();
        record.source.account = account.map(str::to_owned);
        record.origin = place.origin(&pointer);
        record.verbatim = Some(Verbatim::json(raw.get()));
        out.units.push(Unit::from(record));
    }
    out
}
