//! First pass over the memory lines of an archive: which records are replaced by other lines, and which ids of layer
//! documents are ids of memories, too.
use super::super::identity;
use super::super::jsonl::{JsonLine, each_line};
use super::super::list_document;
use super::super::manifest::{Archive, Manifest};
use super::super::wire::{self, folded_id};
use super::object;
use super::superseded::Superseded;
use memchr::memmem::Finder;
use mementory_format::FormatError;
use mementory_model::Limits;
use std::collections::HashSet;

/// What the first pass found.
#[derive(Default)]
pub(super) struct LineScan {
    /// Records that other lines replace.
    pub superseded: Superseded,
    /// Folded ids of elements of layer documents that memories have, too. A memory's id is unique by the specification
    /// (§3.1.1), and deltas, links and `referenced_by` name memories by it. So the memory keeps it as its key.
    pub shared_ids: HashSet<String>,
}

impl LineScan {
    /// Scans all partitions. Results that were found before an error are kept.
    pub(super) fn run(
        &mut self,
        archive: &Archive<'_>,
        manifest: &Manifest,
        limits: &Limits,
    ) -> Result<(), FormatError> {
        let document_ids = ids_of_documents(archive, manifest, limits);
        let finder = Finder::new(b"\"supersedes\"");
        let (all_ids, escapes) = (Finder::new(b"\"id\""), Finder::new(b"\\u"));
        let mut files = HashSet::new();
        for (index, row) in manifest.partitions.iter().enumerate() {
            let Some(member) = archive.entry(&row.file).filter(|_| files.insert(row.file.as_str())) else { continue };
            archive.catalog.read(member, |reader| {
                each_line(reader, &member.place, limits.line_bytes, &mut |entry, _| {
                    let JsonLine::Text(number, line) = entry else { return Ok(()) };
                    if finder.find(line.as_bytes()).is_some()
                        && let Some(found) = wire::supersedes_of(line)
                    {
                        self.superseded.add(found, (index, number));
                    }
                    if !document_ids.is_empty()
                        && plain_id(line, &all_ids, &escapes).is_none_or(|id| document_ids.contains(&folded_id(id)))
                        && let Some(id) = super::super::rewrite::id_of(line)
                        && document_ids.contains(&id)
                    {
                        self.shared_ids.insert(id);
                    }
                    Ok(())
                })
            })?;
        }
        Ok(())
    }
}

/// The id of a line that begins with it, as most lines do. None if the line has to be parsed to find its id: it begins
/// with something else, another member of it may be its id too, or the id has escapes.
fn plain_id<'l>(line: &'l str, all_ids: &Finder<'_>, escapes: &Finder<'_>) -> Option<&'l str> {
    let (id, rest) = line.strip_prefix("{\"id\":\"")?.split_once('"')?;
    let is_plain = |text: &str, finder: &Finder<'_>| finder.find(text.as_bytes()).is_none();
    (!id.contains('\\') && is_plain(rest, all_ids) && is_plain(rest, escapes)).then_some(id)
}

/// Folded ids of the identity and of all elements of list documents. A document that cannot be read has none: reading
/// it later reports the reason.
fn ids_of_documents(archive: &Archive<'_>, manifest: &Manifest, limits: &Limits) -> HashSet<String> {
    let mut ids = HashSet::new();
    for layer in ["identity", "principals", "credentials", "attachments"] {
        let Some(member) = manifest.layer_file(layer).and_then(|file| archive.entry(file)) else { continue };
        let Ok(text) = archive.text(member, limits) else { continue };
        if layer == "identity" {
            let tree = object(&text, limits);
            let id = tree.as_ref().and_then(|tree| identity::document(tree).get("id")?.as_str().map(folded_id));
            ids.extend(id);
        } else if let Some(document) = list_document::split(&text, layer) {
            let id = |element: &&str| Some(folded_id(&wire::string(wire::get(&wire::members(element)?, "id")?)?));
            ids.extend(document.elements.iter().filter_map(id));
        }
    }
    ids
}
