//! Validates a document against the specification (version 1) or the types of the reference program (version 2) and
//! reports all findings. Harmless and common deviations are only warnings.
use super::{
    detect,
    element_stream::{Item, stream_elements},
    envelope,
    first_pass::{Checksum, FirstPass},
    interop_import,
    json_faults::fault_message,
    redaction::has_valid_position,
    schema::{FOOTER_RULE, code_of},
    sections::{EDGES_SECTION, ENTITIES_SECTION, MEMORIES_SECTION, NODES_SECTION, SECTIONS, Section, TASKS_SECTION},
    source::{Encoding, Source},
    wire::{Shape, list, nested_text, normalized_id, text, version_parts},
};
use mementory_format::{Catalog, Detected, Finding, FormatError, Passphrase, REDACTED, Validation};
use mementory_json::{
    Tree,
    schema::{RepeatedKeys, Rule, check},
};
use mementory_model::Limits;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Largest number of findings listed for each code. Further findings are only counted.
const MAX_LISTED_PER_CODE: usize = 100;

/// Validates every detected file. With a passphrase, the content of encrypted documents is validated too.
pub(super) fn validate(
    catalog: &Catalog,
    detected: &Detected,
    limits: &Limits,
    passphrase: Option<&dyn Passphrase>,
) -> Result<Validation, FormatError> {
    let mut validator = Validator { out: Validation::default(), counts: BTreeMap::new(), passphrase, is_yaml: false };
    for claimed in &detected.claim.parts {
        let Some(member) = catalog.members().get(claimed.member) else { continue };
        let place = member.place.as_str();
        let Some(encoding) = detect::encoding(catalog, member, true)? else {
            validator.error("malformed", place, "not a document of this format");
            continue;
        };
        validator.is_yaml = encoding == Encoding::Yaml;
        let opened = Source::open(catalog, member, encoding, limits);
        let result = opened.and_then(|mut source| {
            if source.has_invalid_utf16 {
                return Err(FormatError::invalid("invalid_utf16", &source.place, "the document is not UTF-16"));
            }
            if encoding.interop_name().is_some() {
                validator.check_interop(&mut source, limits)
            } else {
                validator.check_document(&mut source, limits, false)
            }
        });
        match result {
            // These errors end the validation: a wrong passphrase is not a fault of the file, and the rules of other
            // major versions are unknown.
            Err(error @ (FormatError::Invalid { code: "passphrase_wrong", .. } | FormatError::Version { .. })) => {
                return Err(error);
            }
            Err(FormatError::Invalid { code, place, message }) => validator.error(code, &place, &message),
            other => other?,
        }
    }
    for ((code, warning), count) in std::mem::take(&mut validator.counts) {
        if count > MAX_LISTED_PER_CODE {
            let finding = Finding {
                code: code.clone(),
                place: String::new(),
                message: format!("{count} of these, the first {MAX_LISTED_PER_CODE} are listed"),
            };
            if warning { validator.out.warnings.push(finding) } else { validator.out.errors.push(finding) }
        }
    }
    Ok(validator.out)
}

struct Validator<'p> {
    out: Validation,
    counts: BTreeMap<(String, bool), usize>,
    passphrase: Option<&'p dyn Passphrase>,
    is_yaml: bool,
}

/// Ids and counts collected from the elements, for checks across lists.
#[derive(Default)]
struct ElementIds {
    by_list: HashMap<&'static str, HashSet<String>>,
    types: BTreeMap<String, u64>,
    redacted: u64,
}

impl Validator<'_> {
    fn report(&mut self, is_warning: bool, code: &str, place: &str, message: &str) {
        let count = self.counts.entry((code.to_owned(), is_warning)).or_default();
        *count += 1;
        if *count > MAX_LISTED_PER_CODE {
            return;
        }
        let finding = Finding { code: code.into(), place: place.into(), message: message.into() };
        if is_warning { self.out.warnings.push(finding) } else { self.out.errors.push(finding) }
    }

    fn error(&mut self, code: &str, place: &str, message: &str) {
        self.report(false, code, place, message);
    }

    fn warn(&mut self, code: &str, place: &str, message: &str) {
        self.report(true, code, place, message);
    }

    fn check_schema(&mut self, tree: &Tree, rule: &Rule, pointer: &str, place: &str) {
        // Repeated keys in YAML were already reported when the document was converted.
        let repeated_keys = if self.is_yaml { RepeatedKeys::Accept } else { RepeatedKeys::Report };
        check(tree, rule, repeated_keys, &mut |at, violation| {
            let (code, warning) = code_of(&violation);
            self.report(warning, code, &format!("{place}#{pointer}{at}"), &violation.to_string());
        });
    }

    fn check_interop(&mut self, source: &mut Source<'_>, limits: &Limits) -> Result<(), FormatError> {
        self.out.version = source.original_encoding.interop_name().map(str::to_owned);
        self.warn(
            "other_form",
            &source.place,
            "an encoding for exchange with other programs, not a document of the format",
        );
        let (count, bad) = interop_import::check_elements(source, limits)?;
        self.out.records += count;
        for (pointer, code) in bad {
            let place = format!("{}#{pointer}", source.place);
            match code {
                interop_import::DUPLICATE_ID_CODE => self.warn(code, &place, "another element has this id"),
                _ => self.error(code, &place, "an element without a memory, or a value that is not allowed"),
            }
        }
        Ok(())
    }

    fn check_document(
        &mut self,
        source: &mut Source<'_>,
        limits: &Limits,
        in_envelope: bool,
    ) -> Result<(), FormatError> {
        let mut first_pass = FirstPass::read(source, limits)?;
        let place = source.place.clone();
        self.out.version.clone_from(&first_pass.version);
        first_pass.check_version(&place)?;
        self.check_shape(&first_pass, &place);
        if let Some(encryption) = envelope::find_in(&first_pass.root) {
            if in_envelope {
                self.error("encrypted_twice", &format!("{place}#/encryption"), "an envelope inside an envelope");
                return Ok(());
            }
            let faults = envelope::find_faults(encryption);
            let is_complete = faults.is_empty();
            for (code, message) in faults {
                self.error(code, &format!("{place}#/encryption"), &message);
            }
            match self.passphrase.take().filter(|_| is_complete) {
                Some(passphrase) => {
                    let mut inner = Source::of_envelope(encryption, Some(passphrase), &place, limits)?;
                    self.check_document(&mut inner, limits, true)?;
                    self.passphrase = Some(passphrase);
                }
                None => self.warn("encrypted", &place, "the content can only be validated with the passphrase"),
            }
            self.out.kind = Some("encrypted".into());
            let has_records = first_pass.counts.iter().any(|count| *count > 0);
            if has_records {
                let message =
                    "records beside the encrypted content: anybody can have added them without the passphrase";
                self.warn("outside_envelope", &place, message);
            }
            // With an envelope, the header is optional, because the specification's example has none.
            let has_header = ["export", "export_meta"].iter().any(|name| first_pass.root.get(name).is_some());
            if !has_header && !has_records {
                return Ok(());
            }
            // The envelope is removed, because the schema would report its faults again.
            first_pass.root.set("encryption", Tree::Null);
        }
        if first_pass.shape == Shape::V1
            && first_pass.root.get(MEMORIES_SECTION.name).is_none()
            && source.encoding == Encoding::Jsonl
        {
            first_pass.root.set(MEMORIES_SECTION.name, Tree::Array(vec![]));
        }
        if source.is_utf16 && source.original_encoding != Encoding::Yaml {
            self.error("not_utf8", &place, "JSON that other programs can read is in UTF-8, and this is UTF-16");
        }
        self.check_schema(&first_pass.root, first_pass.shape.document_rule(), "", &place);
        for pointer in &source.repeated {
            self.error("duplicate_key", &format!("{place}#{pointer}"), "a key occurs twice in one mapping");
        }
        for pointer in &first_pass.repeated {
            let message =
                "the member occurs more than once: the last value counts, but the elements of all lists are read";
            self.warn("duplicate_key", &format!("{place}#{pointer}"), message);
        }
        for pointer in &first_pass.wrong_types {
            self.error("wrong_type", &format!("{place}#{pointer}"), "must be a list or an object");
        }
        for (number, code) in &first_pass.bad_lines {
            let message = match *code {
                "second_header" => "the document has a header already",
                "second_footer" => "the document has a footer already",
                "no_type" => "the line does not say what it is: type is missing or not a text",
                "no_data" => "the line has no data",
                fault => fault_message(fault),
            };
            self.error(code, &format!("{place}#line {number}"), message);
        }
        if first_pass.unknown_lines > 0 {
            self.warn("unknown_lines", &place, &format!("{} lines of unknown types", first_pass.unknown_lines));
        }
        let ids = self.check_elements(source, &first_pass, limits)?;
        self.check_references(source, &first_pass, &ids, limits)?;
        self.check_counts(&first_pass, &ids, &place);
        self.check_footer(source, &first_pass, &place);
        match first_pass.compare_checksum(source, limits)? {
            Checksum::Mismatch => {
                self.error("checksum_mismatch", &place, "the document was changed after it was written")
            }
            Checksum::Placeholder => {
                self.warn("checksum_placeholder", &place, "only a placeholder (the digest of empty input)")
            }
            Checksum::CountsOnly => {
                self.warn("checksum_counts_only", &place, "the checksum covers the counts, not the content")
            }
            Checksum::UnknownRule => {
                self.warn("checksum_unknown_rule", &place, "the file does not say what its checksum covers");
            }
            Checksum::Absent => self.warn("checksum_missing", &place, "there is no checksum to verify the content"),
            Checksum::Verified => {}
        }
        Ok(())
    }

    fn check_shape(&mut self, first_pass: &FirstPass, place: &str) {
        match first_pass.version.as_deref() {
            None => {} // reported as a missing field, unless there is an envelope
            Some(version) => {
                let major = &first_pass.shape.version()[..1];
                match version_parts(version) {
                    Some(_) if !version.starts_with(major) => {
                        self.error("version_and_shape_differ", place, "mif_version does not match the header");
                    }
                    Some((_, minor)) if minor > 0 => {
                        self.warn(
                            "other_minor_version",
                            place,
                            "a newer minor version; unknown members are not checked",
                        );
                    }
                    _ => {}
                }
            }
        }
    }

    fn check_elements(
        &mut self,
        source: &Source<'_>,
        first_pass: &FirstPass,
        limits: &Limits,
    ) -> Result<ElementIds, FormatError> {
        let mut ids = ElementIds::default();
        let place = source.place.clone();
        stream_elements(source, limits, &mut |item| {
            let Item::Element(section, index, json) = item else { return Ok(()) };
            let pointer = section.pointer(index);
            self.out.records += 1;
            let tree = match Tree::parse(json, limits) {
                Ok(tree) => tree,
                Err(e) => {
                    self.error(source.fault_of(&pointer, json, &e), &format!("{place}#{pointer}"), &e.to_string());
                    return Ok(());
                }
            };
            if let Some(code) = source.faulty.get(&pointer) {
                self.error(code, &format!("{place}#{pointer}"), fault_message(code));
                return Ok(());
            }
            self.check_schema(&tree, first_pass.shape.element_rule(section), &pointer, &place);
            if let Some(id) = text(&tree, "id")
                && !ids.by_list.entry(section.key).or_default().insert(normalized_id(id))
            {
                self.error("duplicate_id", &format!("{place}#{pointer}/id"), "two elements have this id");
            }
            if *section == MEMORIES_SECTION {
                let kind = text(&tree, "type").or(text(&tree, "memory_type")).unwrap_or_default();
                *ids.types.entry(kind.to_owned()).or_default() += 1;
                self.check_memory(&tree, &format!("{place}#{pointer}"), &mut ids);
            }
            Ok(())
        })?;
        Ok(ids)
    }

    /// Checks rules for a memory that the schema cannot express.
    fn check_memory(&mut self, tree: &Tree, at: &str, ids: &mut ElementIds) {
        for name in ["embedding", "embeddings"] {
            let Some(embedding) = tree.get(name) else { continue };
            let declared_length = embedding.get("dimensions").and_then(Tree::as_f64);
            if let (Some(declared_length), Some(Tree::Array(vector))) = (declared_length, embedding.get("vector"))
                && declared_length != vector.len() as f64
            {
                self.warn(
                    "embedding_dimensions",
                    &format!("{at}/{name}"),
                    "the vector does not have as many numbers as dimensions",
                );
            }
        }
        let mark_count = text(tree, "content").map_or(0, |c| c.matches(REDACTED).count());
        let redaction_count = match tree.get("redactions") {
            Some(Tree::Array(items)) => {
                for (i, _) in items.iter().enumerate().filter(|(_, item)| !has_valid_position(item)) {
                    let at = format!("{at}/redactions/{i}");
                    self.error("redaction_position", &at, "start, end and length do not match");
                }
                items.len()
            }
            _ => 0,
        };
        if redaction_count > mark_count {
            self.warn(
                "redaction_without_mark",
                &format!("{at}/redactions"),
                "the content has no [REDACTED:…] mark for one of them",
            );
        }
        ids.redacted += redaction_count as u64;
    }

    fn check_references(
        &mut self,
        source: &Source<'_>,
        first_pass: &FirstPass,
        ids: &ElementIds,
        limits: &Limits,
    ) -> Result<(), FormatError> {
        let has = |section: &Section, id: &str| {
            ids.by_list.get(section.key).is_some_and(|set| set.contains(id) || set.contains(&normalized_id(id)))
        };
        let place = source.place.clone();
        let is_version_1 = first_pass.shape == Shape::V1;
        stream_elements(source, limits, &mut |item| {
            let Item::Element(section, index, json) = item else { return Ok(()) };
            if !may_refer(section, json) {
                return Ok(());
            }
            let Ok(tree) = Tree::parse(json, limits) else { return Ok(()) };
            let at = format!("{place}#{}", section.pointer(index));
            match section.key {
                "edge" => {
                    for end in ["source", "target"] {
                        let Some(id) = text(&tree, end) else { continue };
                        // In a graph without nodes, edges may refer to unlisted entities.
                        let may_be_unlisted =
                            id.starts_with("entity:") && first_pass.counts[NODES_SECTION.table_index()] == 0;
                        let is_known = may_be_unlisted
                            || has(&MEMORIES_SECTION, id)
                            || has(&TASKS_SECTION, id)
                            || has(&NODES_SECTION, id);
                        if !is_known {
                            self.warn("dangling_edge", &format!("{at}/{end}"), "refers to nothing in this document");
                        }
                    }
                }
                "relationship" => {
                    for end in ["source_entity_id", "target_entity_id"] {
                        if text(&tree, end).is_some_and(|id| !has(&ENTITIES_SECTION, id)) {
                            self.warn("dangling_edge", &format!("{at}/{end}"), "refers to nothing in this document");
                        }
                    }
                }
                "memory" | "todo" => {
                    let relations = if is_version_1 { tree.get("relations").unwrap_or(&Tree::Null) } else { &tree };
                    let rows = [
                        ("related_memories", relations, &MEMORIES_SECTION),
                        ("related_todos", relations, &TASKS_SECTION),
                        ("related_memory_ids", &tree, &MEMORIES_SECTION),
                        ("related_todo_ids", &tree, &TASKS_SECTION),
                        ("subtask_ids", &tree, &TASKS_SECTION),
                    ];
                    let parent = match section.key {
                        "todo" => Some(("parent_id", &tree, &TASKS_SECTION)),
                        _ => (!is_version_1).then_some(("parent_id", &tree, &MEMORIES_SECTION)),
                    };
                    for (name, object, target) in rows.into_iter().chain(parent) {
                        if list(object, name).iter().any(|id| !has(target, id)) {
                            self.warn(
                                "dangling_reference",
                                &format!("{at}/{name}"),
                                "refers to nothing in this document",
                            );
                        }
                    }
                }
                _ => {}
            }
            Ok(())
        })?;
        Ok(())
    }

    /// Compares the counts in the document with the numbers of elements. A difference is only a warning, because no
    /// record is affected.
    fn check_counts(&mut self, first_pass: &FirstPass, ids: &ElementIds, place: &str) {
        let declared_count =
            |path: [&str; 2]| first_pass.root.get(path[0]).and_then(|o| o.get(path[1])).and_then(Tree::as_f64);
        let rows = [
            (["metadata", "total_memories"], first_pass.counts[MEMORIES_SECTION.table_index()]),
            (["metadata", "total_todos"], first_pass.counts[TASKS_SECTION.table_index()]),
            (["graph", "node_count"], first_pass.counts[NODES_SECTION.table_index()]),
            (["graph", "edge_count"], first_pass.counts[EDGES_SECTION.table_index()]),
        ];
        for (path, real) in rows {
            // Nodes are optional, so their count is checked only if the document has any.
            let is_counted = path[1] != "node_count" || real > 0;
            if is_counted && declared_count(path).is_some_and(|n| n != real as f64) {
                let at = format!("{place}#/{}/{}", path[0], path[1]);
                self.warn("count_differs", &at, "does not match the number of elements");
            }
        }
        if let Some(Tree::Object(types)) = first_pass.root.get("metadata").and_then(|m| m.get("memory_types")) {
            let differs = types.iter().any(|(t, n)| n.as_f64() != Some(*ids.types.get(t).unwrap_or(&0) as f64));
            if differs {
                let at = format!("{place}#/metadata/memory_types");
                self.warn("count_differs", &at, "does not match the number of elements");
            }
        }
        if let Some(range) = first_pass.root.get("metadata").and_then(|m| m.get("date_range")) {
            let (from, to) = (super::wire::time(range, "earliest"), super::wire::time(range, "latest"));
            if from.zip(to).is_some_and(|(from, to)| from > to) {
                let at = format!("{place}#/metadata/date_range");
                self.warn("date_range", &at, "the earliest time is later than the latest");
            }
        }
    }

    fn check_footer(&mut self, source: &Source<'_>, first_pass: &FirstPass, place: &str) {
        if source.encoding != Encoding::Jsonl {
            return;
        }
        let Some(footer) = &first_pass.footer else {
            return self.warn("footer_missing", place, "no footer: the file may have been cut off");
        };
        self.check_schema(footer, &FOOTER_RULE, "footer", place);
        if let Some(number) = first_pass.line_after_footer {
            let message = "a record follows the footer, which ends the document: lines may have been added";
            self.warn("after_footer", &format!("{place}#line {number}"), message);
        }
        for section in SECTIONS {
            let declared_count = footer.get("counts").and_then(|c| c.get(section.count)).and_then(Tree::as_f64);
            if declared_count.is_some_and(|n| n != first_pass.counts[section.table_index()] as f64) {
                let at = format!("{place}#footer/counts/{}", section.count);
                self.warn("count_differs", &at, "does not match the number of elements");
            }
        }
        let header = nested_text(&first_pass.root, first_pass.shape.header(), "checksum");
        let footer = text(footer, "checksum").filter(|c| !c.is_empty());
        if header.zip(footer).is_some_and(|(a, b)| a != b) {
            self.warn("checksums_differ", place, "header and footer have different checksums");
        }
    }
}

/// False if the element cannot refer to another element, so that it need not be parsed. Such JSON contains neither a
/// member for ids of other elements nor an escaped name, which could be such a member.
fn may_refer(section: &Section, json: &str) -> bool {
    match section.key {
        "edge" | "relationship" => true,
        "memory" | "todo" => ["related_", "subtask_ids", "parent_id", "\\u"].iter().any(|part| json.contains(part)),
        _ => false,
    }
}
