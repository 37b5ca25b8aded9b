//! First pass over a document: reads everything except the records (see [`super::document_frame`]).
use super::{
    canonical::{canonical, order},
    document::tree_text,
    element_stream::{Item, stream_elements},
    json_faults::{fault_error, json_fault},
    sections::{MEMORIES_SECTION, NODES_SECTION, SECTIONS, Section},
    source::{Encoding, Source},
    wire::{Shape, is_supported, nested_text, text, version_of},
};
use mementory_format::FormatError;
use mementory_json::{Tree, TreeError, write_string};
use mementory_model::Limits;
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;

/// A document without its records.
pub(super) struct FirstPass {
    /// The document with empty lists.
    pub root: Tree,
    /// Number of elements in each list.
    pub counts: [u64; SECTIONS.len()],
    /// Position and JSON of each node that only refers to a record of another list.
    pub reference_nodes: Vec<(u64, String)>,
    /// Footer of JSON lines.
    pub footer: Option<Tree>,
    /// JSON pointers of lists and objects with the wrong type.
    pub wrong_types: Vec<String>,
    /// JSON pointers of members that occur more than once. The last occurrence of a member counts, except for lists of
    /// records, from which the elements of all occurrences are read.
    pub repeated: BTreeSet<String>,
    /// Number and fault code of each invalid line.
    pub bad_lines: Vec<(u64, &'static str)>,
    /// Number of lines with unknown types.
    pub unknown_lines: u64,
    /// Number of the first line with a record that follows the footer.
    pub line_after_footer: Option<u64>,
    /// Shape of the document.
    pub shape: Shape,
    /// Version that the document declares.
    pub version: Option<String>,
}

/// Result of verifying the header's checksum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Checksum {
    /// The document has no checksum.
    Absent,
    /// The checksum follows our rule and matches.
    Verified,
    /// The checksum follows our rule but does not match.
    Mismatch,
    /// The checksum is a placeholder: the digest of empty input.
    Placeholder,
    /// The checksum covers only the counts, not the content. The reference program writes such checksums.
    CountsOnly,
    /// The rule of the checksum is not known.
    UnknownRule,
}

/// The digest of a file by our rule, as cached in the catalog.
#[derive(Clone)]
struct CachedDigest(String);

/// Estimated memory of a cached digest, in bytes.
const CACHED_DIGEST_BYTES: usize = 128;

/// Name of our checksum rule in the header.
pub(super) const CHECKSUM_METHOD: &str = "sha256-rfc8785-without-checksum";

impl FirstPass {
    /// Reads the document. If the parser fails because some elements are only nearly JSON, replaces them with `null` in
    /// the source and reads the document again. Any other fault is an error.
    pub fn read(source: &mut Source<'_>, limits: &Limits) -> Result<Self, FormatError> {
        let first_attempt = Self::read_once(source, limits);
        let Err(FormatError::Invalid { code: "malformed", place, .. }) = &first_attempt else { return first_attempt };
        let Some(code) = source.json_fault(limits) else { return first_attempt };
        let second_attempt =
            if source.blank_faulty_elements(limits)? { Self::read_once(source, limits).ok() } else { None };
        second_attempt.ok_or_else(|| fault_error(code, place))
    }

    fn read_once(source: &Source<'_>, limits: &Limits) -> Result<Self, FormatError> {
        let mut first_pass = Self {
            root: Tree::Object(vec![]),
            counts: [0; SECTIONS.len()],
            reference_nodes: vec![],
            footer: None,
            wrong_types: vec![],
            repeated: BTreeSet::new(),
            bad_lines: vec![],
            unknown_lines: 0,
            line_after_footer: None,
            shape: Shape::V1,
            version: None,
        };
        let mut bytes = 0u64;
        stream_elements(source, limits, &mut |item| {
            match item {
                Item::Member(parent, "", _) => first_pass.ensure_object(parent),
                Item::Member(parent, name, json) => {
                    bytes += json.len() as u64;
                    if bytes > limits.element_bytes {
                        let place = source.place.clone();
                        return Err(FormatError::Limit { limit: "element_bytes", place, figure: bytes });
                    }
                    let tree = Tree::parse(json, limits).map_err(|e| {
                        let place = format!("{}#{}", source.place, pointer(parent, name));
                        match (&e, json_fault(json.as_bytes())) {
                            (TreeError::Size(figure), _) => {
                                FormatError::Limit { limit: "tree_bytes", place, figure: *figure }
                            }
                            (_, Some(code)) => fault_error(code, place),
                            (_, None) => FormatError::invalid("malformed", place, e.to_string()),
                        }
                    })?;
                    first_pass.set(parent, name, tree);
                }
                Item::List(section) => first_pass.set(section.parent, section.name, Tree::Array(vec![])),
                Item::Element(section, index, json) => {
                    first_pass.counts[section.table_index()] = index + 1;
                    if *section == NODES_SECTION
                        && let Ok(tree) = Tree::parse(json, limits)
                        && text(&tree, "id").is_some()
                        && matches!(text(&tree, "type"), Some(kind) if kind != "entity")
                    {
                        first_pass.reference_nodes.push((index, json.to_owned()));
                    }
                }
                Item::WrongType(pointer) => first_pass.wrong_types.push(pointer),
                Item::BadLine(number, code) => first_pass.bad_lines.push((number, code)),
                Item::RepeatedMember(pointer) => {
                    first_pass.repeated.insert(pointer);
                }
                Item::UnknownLine => first_pass.unknown_lines += 1,
                Item::Footer(json) => first_pass.footer = Tree::parse(json, limits).ok(),
                Item::AfterFooter(number) => {
                    first_pass.line_after_footer.get_or_insert(number);
                }
            }
            Ok(())
        })?;
        if source.encoding == Encoding::Jsonl {
            // JSON lines have no lists, so lists are created for memories and for all other types of lines that occur.
            first_pass.ensure_list(&MEMORIES_SECTION);
            for section in SECTIONS {
                if first_pass.counts[section.table_index()] > 0 {
                    first_pass.ensure_list(section);
                }
            }
        }
        first_pass.shape = Shape::of_document(&first_pass.root);
        first_pass.version = version_of(&first_pass.root);
        Ok(first_pass)
    }

    fn ensure_object(&mut self, name: &str) {
        if self.root.get(name).is_none() {
            self.root.set(name, Tree::Object(vec![]));
        }
    }

    fn set(&mut self, parent: &str, name: &str, value: Tree) {
        let object = if parent.is_empty() { Some(&self.root) } else { self.root.get(parent) };
        if object.is_some_and(|object| object.get(name).is_some()) {
            self.repeated.insert(pointer(parent, name));
        }
        if parent.is_empty() {
            return self.root.set(name, value);
        }
        self.ensure_object(parent);
        if let Tree::Object(members) = &mut self.root
            && let Some((_, object)) = members.iter_mut().rev().find(|(k, _)| k == parent)
        {
            object.set(name, value);
        }
    }

    fn ensure_list(&mut self, section: &Section) {
        let exists = match section.parent {
            "" => self.root.get(section.name).is_some(),
            parent => self.root.get(parent).is_some_and(|p| p.get(section.name).is_some()),
        };
        if !exists {
            self.set(section.parent, section.name, Tree::Array(vec![]));
        }
    }

    /// Fails if the declared version is not supported. A missing version is accepted.
    pub fn check_version(&self, place: &str) -> Result<(), FormatError> {
        match &self.version {
            Some(version) if !is_supported(version) => {
                Err(FormatError::Version { place: place.to_owned(), version: version.chars().take(20).collect() })
            }
            _ => Ok(()),
        }
    }

    /// Version of the records: the declared version if it matches the shape, otherwise the version of the shape.
    pub fn version_of_records(&self) -> String {
        let declared_version = self.version.clone().filter(|v| {
            v.starts_with(match self.shape {
                Shape::V1 => '1',
                Shape::V2 => '2',
            })
        });
        declared_version.unwrap_or_else(|| self.shape.version().to_owned())
    }

    /// Verifies the checksum. Reads the document again if the checksum follows our rule.
    pub fn compare_checksum(&self, source: &Source<'_>, limits: &Limits) -> Result<Checksum, FormatError> {
        let header = self.shape.header();
        let Some(declared) = nested_text(&self.root, header, "checksum") else {
            // The rule for a checksum in the footer of JSON lines is not known.
            let footer_checksum = self.footer.as_ref().and_then(|f| text(f, "checksum")).filter(|c| !c.is_empty());
            return Ok(if footer_checksum.is_some() { Checksum::UnknownRule } else { Checksum::Absent });
        };
        if nested_text(&self.root, header, "checksum_method") == Some(CHECKSUM_METHOD) {
            let actual = self.digest(source, limits)?;
            return Ok(if declared.eq_ignore_ascii_case(&actual) { Checksum::Verified } else { Checksum::Mismatch });
        }
        let sha = |text: &str| format!("sha256:{}", hex::encode(Sha256::digest(text)));
        let count = |name: &str| super::sections::section_named("", name).map_or(0, |s| self.counts[s.table_index()]);
        let counts = format!("{}:{}:{}:{}", count("memories"), count("todos"), count("projects"), count("reminders"));
        Ok(match declared.to_ascii_lowercase() {
            declared if declared == sha("") => Checksum::Placeholder,
            declared if declared == sha(&counts) => Checksum::CountsOnly,
            _ => Checksum::UnknownRule,
        })
    }

    /// Computes the digest by our rule. The digest of a file is cached, because an import first validates the file and
    /// then reads it.
    fn digest(&self, source: &Source<'_>, limits: &Limits) -> Result<String, FormatError> {
        let compute = || {
            let mut digest = Sha256::new();
            self.hash_object(&self.root, "", source, limits, &mut digest)?;
            Ok(format!("sha256:{}", hex::encode(digest.finalize())))
        };
        let Some((catalog, member)) = source.file() else { return compute() };
        let cached = catalog.derived(member, || compute().map(|digest| (CachedDigest(digest), CACHED_DIGEST_BYTES)))?;
        Ok(cached.0)
    }

    fn hash_object(
        &self,
        object: &Tree,
        parent: &str,
        source: &Source<'_>,
        limits: &Limits,
        digest: &mut Sha256,
    ) -> Result<(), FormatError> {
        let Tree::Object(members) = object else { return Ok(()) };
        let mut sorted: Vec<&(String, Tree)> = members.iter().collect();
        sorted.sort_by(|a, b| order(&a.0, &b.0));
        digest.update("{");
        for (i, (key, value)) in sorted.into_iter().enumerate() {
            let mut out = String::from(if i > 0 { "," } else { "" });
            write_string(key, &mut out);
            out.push(':');
            digest.update(&out);
            let section = super::sections::section_named(parent, key).filter(|_| matches!(value, Tree::Array(_)));
            let is_graph = parent.is_empty() && super::sections::parent_named(key).is_some();
            if let Some(section) = section {
                digest.update("[");
                // Empty lists are skipped, because hashing a list requires a pass over the whole document.
                if self.counts[section.table_index()] > 0 {
                    hash_elements(section, source, limits, digest)?;
                }
                digest.update("]");
            } else if is_graph && matches!(value, Tree::Object(_)) {
                self.hash_object(value, key, source, limits, digest)?;
            } else {
                digest.update(tree_text(key, value, parent.is_empty()));
            }
        }
        digest.update("}");
        Ok(())
    }
}

fn pointer(parent: &str, name: &str) -> String {
    if parent.is_empty() { format!("/{name}") } else { format!("/{parent}/{name}") }
}

/// Hashes the elements of one list in canonical form.
fn hash_elements(
    section: &'static Section,
    source: &Source<'_>,
    limits: &Limits,
    digest: &mut Sha256,
) -> Result<(), FormatError> {
    stream_elements(source, limits, &mut |item| {
        if let Item::Element(found, index, json) = item
            && found == section
        {
            let mut out = String::from(if index > 0 { "," } else { "" });
            match Tree::parse(json, limits.json_depth + 8) {
                Ok(tree) => canonical(&tree, &mut out),
                Err(_) => out.push_str(json),
            }
            digest.update(&out);
        }
        Ok(())
    })
}
