//! Reads each rule of a file as a memory. Joining the verbatims of these memories yields the whole file.
use super::FORMAT;
use super::detect::{HERMES, RuleFile, rule_file};
use super::entries::entries;
use mementory_format::{Catalog, Detected, FolderKeys, FormatError, Member, ReadContext, Role, Sink};
use mementory_formats_shared::frontmatter::Document;
use mementory_formats_shared::reader::FileReader;
use mementory_formats_shared::rules_text;
use mementory_model::{DroppedAs, Issue, Kind, Origin, Record, RecordKey, Verbatim};
use std::collections::{BTreeSet, HashMap};

/// Largest frontmatter, in bytes, that is stored with every item of a file. Larger frontmatter is only stored with the
/// first item.
const MAX_REPEATED_BYTES: usize = 4 << 10;
/// Heading under which Gemini CLI saves what the person asked it to remember.
const GEMINI_MEMORIES: &str = "Gemini Added Memories";

pub(super) fn read(
    catalog: &Catalog,
    detected: &Detected,
    context: &ReadContext,
    sink: &mut dyn Sink,
) -> Result<(), FormatError> {
    let mut reader = FileReader::new(FORMAT, catalog, context, sink);
    let parts = detected.claim.parts.iter();
    let members: Vec<(&Member, Role)> =
        parts.filter_map(|part| Some((catalog.members().get(part.member)?, part.role))).collect();
    read_members(&mut reader, &members)
}

/// Reads files with rules. Also used by other formats whose exports contain such files.
pub(crate) fn read_members(reader: &mut FileReader<'_>, members: &[(&Member, Role)]) -> Result<(), FormatError> {
    let mut seen: HashMap<String, u32> = HashMap::new();
    let claimed: Claimed<'_> =
        members.iter().map(|(member, _)| ((member.root, member.archive, member.name.as_str()), member.id)).collect();
    let roles: HashMap<usize, Role> = members.iter().map(|(member, role)| (member.id, *role)).collect();
    let files: Vec<&Member> = members.iter().map(|(member, _)| *member).collect();
    reader.each_member(&files, |reader, member| {
        let role = roles.get(&member.id).copied().unwrap_or(Role::Memories);
        let Some(file) = rule_file(reader.catalog, member) else {
            reader.report_empty(member, Kind::Memory);
            return Ok(());
        };
        if role == Role::Sidecar || file.is_opaque {
            let message = "a memory in a binary form that is not known; it is kept as a file";
            reader.sink.note(Issue::new("not_readable", &member.place, message));
            return reader.pass_through(member, file.platform, "raw");
        }
        let names_file = |text: &str| only_links_to_claimed_file(member, text, &claimed);
        read_file(reader, member, file, &names_file, &mut seen)
    })
}

/// Catalog ids of the claimed files, by root, archive and name.
type Claimed<'m> = HashMap<(usize, Option<usize>, &'m str), usize>;

/// True for an item that only imports or links to another claimed file.
fn only_links_to_claimed_file(member: &Member, text: &str, claimed: &Claimed<'_>) -> bool {
    let linked_path = || text.strip_prefix('[')?.split_once("](")?.1.split_once(')').map(|(path, _)| path);
    let imported_path = text.strip_prefix('@').filter(|path| !path.contains(char::is_whitespace));
    let Some(path) = imported_path.or_else(linked_path) else { return false };
    let folder = member.name.rsplit_once('/').map_or("", |(folder, _)| folder);
    let path = path.strip_prefix("./").unwrap_or(path);
    let name = if folder.is_empty() { path.to_owned() } else { format!("{folder}/{path}") };
    claimed.get(&(member.root, member.archive, name.as_str())).is_some_and(|other| *other != member.id)
}

fn read_file(
    reader: &mut FileReader<'_>,
    member: &Member,
    file: RuleFile,
    names_file: &dyn Fn(&str) -> bool,
    seen: &mut HashMap<String, u32>,
) -> Result<(), FormatError> {
    let text = reader.text(member)?;
    if text.trim().is_empty() {
        reader.report_empty(member, Kind::Memory);
        return Ok(());
    }
    let document = Document::parse(&text);
    // Not reported for Cursor, which writes globs such as `**/*.rs` into frontmatter, although they are not valid YAML.
    if file.platform != "cursor" {
        reader.report_broken_frontmatter(member, &document);
    }
    let is_user_file = member.file_name().eq_ignore_ascii_case("user.md");
    let is_of_hermes = file.platform == HERMES;
    // The memories of Hermes Agent are not specific to a project.
    let project = project_of(reader.catalog, member).filter(|_| !is_of_hermes);
    let frontmatter = text.get(..text.len() - document.body.len()).unwrap_or_default();
    let pieces = if is_of_hermes { entries(&text) } else { rules_text::items(&text, frontmatter) };
    if pieces.is_empty() {
        let reason = "no_content: a file without entries";
        reader.report_dropped(member.place.clone(), DroppedAs::Skipped, reason, Some(Kind::Memory));
    }
    for (n, piece) in pieces.into_iter().enumerate() {
        if names_file(&piece.text) {
            let place = format!("{}#{}", member.place, piece.pointer);
            let reason = "not_a_record: it only names a file, which is read as well";
            reader.report_dropped(place, DroppedAs::Skipped, reason, Some(Kind::Memory));
            continue;
        }
        let base = format!("{}/{}/{}", file.platform, project.as_deref().unwrap_or_default(), piece.id);
        let count = seen.entry(base.clone()).or_default();
        *count += 1;
        let id = if *count > 1 { format!("{base}~~{count}") } else { base };
        let is_saved = piece.section.as_deref() == Some(GEMINI_MEMORIES);
        let is_import = piece.text.starts_with('@') && !piece.text.contains(char::is_whitespace);
        let mut record = Record::new(Kind::Memory, RecordKey::new(FORMAT, id), piece.text);
        record.title = piece.section.or_else(|| document.text("name")).or_else(|| document.text("description"));
        record.record_type = match (is_import, is_saved) {
            _ if is_of_hermes => is_user_file.then(|| "user_profile".into()),
            (true, _) => Some("import".into()),
            (_, true) => Some("saved_memory".into()),
            _ => (!file.is_ours).then(|| "rule".into()),
        };
        record.source.platform = file.platform.into();
        let method = if is_saved { "agent_memory" } else { file.method };
        // In a file from Mementory, it is unknown whether a person or an agent wrote an item.
        record.source.method = (!file.is_ours).then(|| method.into());
        record.source.project.clone_from(&project);
        if n == 0 || frontmatter.len() <= MAX_REPEATED_BYTES {
            record.fields = document.fields.clone();
        }
        record.fields.insert("file".into(), member.name.clone().into());
        record.origin =
            Origin { format: FORMAT.into(), version: None, container: member.place.clone(), pointer: piece.pointer };
        record.verbatim = Some(Verbatim { media_type: "text/markdown".into(), text: piece.source.into() });
        reader.sink.unit(record.into())?;
    }
    Ok(())
}

/// The project of a file: the name of the nearest enclosing folder that is not hidden or inside a hidden folder. For a
/// file at the top of a selected folder, this is the name of the selected folder.
fn project_of(catalog: &Catalog, member: &Member) -> Option<String> {
    let mut folders: Vec<&str> = member.name.split('/').collect();
    folders.pop();
    while let Some(hidden) = folders.iter().position(|f| f.starts_with('.')) {
        folders.truncate(hidden);
    }
    folders.last().copied().or_else(|| root_of(catalog, member)).filter(|f| !f.starts_with('.')).map(str::to_owned)
}

/// The selected folder that contains a file. None for a single file and for a file in an archive.
fn root_of<'c>(catalog: &'c Catalog, member: &Member) -> Option<&'c str> {
    let root = catalog.roots().get(member.root).map(String::as_str)?;
    (member.place != member.name && member.archive.is_none()).then_some(root)
}

/// The name of the outermost folder, if the record keys contain it: the selected folder, or the folder at the top of an
/// archive. None if there are several such folders, because their names distinguish projects.
pub(super) fn folder_keys(catalog: &Catalog, detected: &Detected) -> Option<FolderKeys> {
    let outermost = |member: &Member| match root_of(catalog, member) {
        Some(root) => root.to_owned(),
        None => member.name.split_once('/').map_or(String::new(), |(top, _)| top.to_owned()),
    };
    let members = detected.claim.parts.iter().filter_map(|part| catalog.members().get(part.member));
    let names: BTreeSet<String> = members.map(outermost).collect();
    let name = names.first().filter(|name| names.len() == 1 && !name.starts_with('.'))?;
    FolderKeys::in_value(FORMAT, name.as_str())
}
