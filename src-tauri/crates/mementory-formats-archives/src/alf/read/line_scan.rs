//! First pass over the memory lines of an archive: finds the records that other lines replace, and the ids of layer
//! documents that are also ids of memories.
use super::super::identity;
use super::super::jsonl::{JsonLine, each_line};
use super::super::list_document;
use super::super::manifest::{Archive, Manifest};
use super::super::wire::{self, folded_id};
use super::object;
use super::superseded::{Position, Superseded};
use memchr::memmem::Finder;
use mementory_format::FormatError;
use mementory_json::Tree;
use mementory_model::Limits;
use std::collections::HashSet;
use std::sync::Arc;

/// The result of the first pass.
#[derive(Default)]
pub(in super::super) struct LineScan {
    /// Records that other lines replace.
    pub(super) superseded: Superseded,
    /// Folded ids that both an element of a layer document and a memory have. The memory keeps the id as its key,
    /// because the specification requires unique ids of memories (§3.1.1), and deltas, links and `referenced_by` refer
    /// to memories by id.
    pub(super) shared_ids: HashSet<String>,
}

impl LineScan {
    /// Returns the result for an archive. If the validator has visited the lines before, as in every import, its cached
    /// result is used. If reading fails, the result covers only the lines before the error.
    pub(super) fn of(
        archive: &Archive<'_>,
        manifest: &Manifest,
        limits: &Limits,
    ) -> (Arc<Self>, Result<(), FormatError>) {
        let mut line_scan = Self::default();
        let cached_scan = archive.catalog.derived(archive.manifest, || {
            line_scan.run(archive, manifest, limits)?;
            Ok(std::mem::take(&mut line_scan).into_cached())
        });
        match cached_scan {
            Ok(CachedScan(scan)) => (scan, Ok(())),
            Err(error) => (Arc::new(line_scan), Err(error)),
        }
    }

    /// Caches the result, so that reading the same archive need not scan its lines again. All lines of all partitions
    /// must have been added.
    pub(in super::super) fn cache_for(self, archive: &Archive<'_>) -> Result<(), FormatError> {
        archive.catalog.derived(archive.manifest, || Ok(self.into_cached())).map(drop)
    }

    fn into_cached(self) -> (CachedScan, usize) {
        let bytes = self.superseded.memory() + self.shared_ids.iter().map(|id| id.len() + 64).sum::<usize>();
        (CachedScan(Arc::new(self)), bytes)
    }

    /// Scans all partitions.
    fn run(&mut self, archive: &Archive<'_>, manifest: &Manifest, limits: &Limits) -> Result<(), FormatError> {
        let scanner = LineScanner::new(archive, manifest, limits);
        let mut files = HashSet::new();
        for (index, row) in manifest.partitions.iter().enumerate() {
            let Some(member) = archive.entry(&row.file).filter(|_| files.insert(row.file.as_str())) else { continue };
            archive.catalog.read(member, |reader| {
                each_line(reader, &member.place, limits.line_bytes, &mut |entry, _| {
                    if let JsonLine::Text(number, line) = entry {
                        self.add((index, number), scanner.scan(line));
                    }
                    Ok(())
                })
            })?;
        }
        Ok(())
    }

    /// Adds the result of scanning the line at this position. The lines must be added in their order.
    pub(in super::super) fn add(&mut self, at: Position, scanned_line: ScannedLine) {
        if let Some(supersedes) = scanned_line.supersedes {
            self.superseded.add(supersedes, at);
        }
        self.shared_ids.extend(scanned_line.shared_id);
    }
}

/// The result as cached in the catalog.
#[derive(Clone)]
struct CachedScan(Arc<LineScan>);

/// The result of scanning a line.
pub(in super::super) struct ScannedLine {
    supersedes: Option<wire::Supersedes>,
    /// Folded id of the line, if an element of a layer document has the same id.
    shared_id: Option<String>,
}

/// Finds the id of the memory that a line supersedes, and the id of the line if a layer document has the same id. Most
/// lines are not parsed.
pub(in super::super) struct LineScanner {
    document_ids: HashSet<String>,
    supersedes: Finder<'static>,
    all_ids: Finder<'static>,
    escapes: Finder<'static>,
}

impl LineScanner {
    /// A scanner for the lines of this archive.
    pub(in super::super) fn new(archive: &Archive<'_>, manifest: &Manifest, limits: &Limits) -> Self {
        Self {
            document_ids: ids_of_documents(archive, manifest, limits),
            supersedes: Finder::new(b"\"supersedes\""),
            all_ids: Finder::new(b"\"id\""),
            escapes: Finder::new(b"\\u"),
        }
    }

    /// Scans one line. Parses the line only if its bytes may contain `supersedes` or the id of a document's element.
    pub(in super::super) fn scan(&self, line: &str) -> ScannedLine {
        let may_supersede = self.supersedes.find(line.as_bytes()).is_some();
        let may_be_shared = !self.document_ids.is_empty()
            && plain_id(line, &self.all_ids, &self.escapes).is_none_or(|id| self.document_ids.contains(&folded_id(id)));
        ScannedLine {
            supersedes: if may_supersede { wire::supersedes_of(line) } else { None },
            shared_id: if may_be_shared { self.shared_id(super::super::rewrite::id_of(line)) } else { None },
        }
    }

    /// Scans one line that is already parsed.
    pub(in super::super) fn scan_tree(&self, line: &Tree) -> ScannedLine {
        let text = |key: &str| line.get(key).and_then(Tree::as_str);
        let supersedes = text("supersedes").map(|old| {
            let old = folded_id(old);
            let has_same_id = text("id").is_some_and(|id| folded_id(id) == old);
            wire::Supersedes { old, has_same_id, is_deletion: text("status") == Some("deleted") }
        });
        let id = text("id").filter(|_| !self.document_ids.is_empty()).map(folded_id);
        ScannedLine { supersedes, shared_id: self.shared_id(id) }
    }

    /// The folded id of a line, if an element of a layer document has the same id.
    fn shared_id(&self, id: Option<String>) -> Option<String> {
        id.filter(|id| self.document_ids.contains(id))
    }
}

/// The id of a line whose first member is the id, as in most lines. None if the line has to be parsed to find its id:
/// it begins with something else, it has another member that may be the id, or the id has escapes.
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
