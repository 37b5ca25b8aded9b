//! Validates a delta bundle: its manifest and documents, each line with its operation, and the counts.
use super::super::clear_secrets;
use super::super::findings::Findings;
use super::super::identity;
use super::super::jsonl::{JsonLine, each_line};
use super::super::list_document;
use super::super::manifest::{Archive, LAYER_DOCUMENTS, Manifest, number, stated_count};
use super::super::schema;
use super::manifest::{DOCUMENT_LAYERS, DeltaManifest};
use super::operation::{self, Operation};
use mementory_format::{Catalog, Detected, Finding, FormatError, Member, Validation};
use mementory_json::{
    Tree,
    schema::{Rule, is_uuid},
};
use mementory_model::Limits;
use std::collections::{HashMap, HashSet};

/// Entries that only a whole archive may contain (spec §4.3).
const ARCHIVE_ONLY_ENTRIES: [&str; 3] = ["raw/", "artifacts/", "attachments.json"];

/// Codes of the errors that prevent an import, because a delta is imported completely or not at all.
pub(super) const REFUSED_ERROR_CODES: [&str; 14] = [
    "sequence_order",
    "layer_missing",
    "partition_missing",
    "count_differs",
    "wrong_agent",
    "malformed",
    "not_json",
    "no_operation",
    "unknown_operation",
    "no_id",
    "no_content",
    "invalid_utf8",
    "line_too_long",
    "damaged_entry",
];

/// Validates one bundle.
pub(super) fn validate(catalog: &Catalog, detected: &Detected, limits: &Limits) -> Result<Validation, FormatError> {
    let archive = Archive::open_any(catalog, detected)?;
    check_all(&archive, &DeltaManifest::read(&archive, limits)?, limits)
}

/// The first error for which [`apply`](super::apply) and an import refuse a bundle; None if there is none.
pub(super) fn refusal(
    archive: &Archive<'_>,
    delta: &DeltaManifest,
    limits: &Limits,
) -> Result<Option<FormatError>, FormatError> {
    let errors = check_all(archive, delta, limits)?.errors;
    let refusal_of = |finding: &Finding| {
        let code = REFUSED_ERROR_CODES.into_iter().find(|code| *code == finding.code)?;
        Some(FormatError::invalid(code, finding.place.clone(), finding.message.clone()))
    };
    Ok(errors.iter().find_map(refusal_of))
}

fn check_all(archive: &Archive<'_>, delta: &DeltaManifest, limits: &Limits) -> Result<Validation, FormatError> {
    let out = Validation { version: Some(delta.version.clone()), kind: Some("delta".into()), ..Validation::default() };
    let findings = Findings::new(out);
    let mut check = Check { archive, manifest: delta.as_archive(), limits, findings };
    check.findings.check_schema(&delta.tree, &schema::DELTA_MANIFEST_RULE, &delta.place);
    check.findings.check_container(archive);
    if delta.new <= delta.base {
        check.error("sequence_order", &delta.place, "new_sequence must be greater than base_sequence");
    }
    let rules = [&schema::IDENTITY_RULE, &schema::PRINCIPALS_RULE, &schema::CREDENTIALS_RULE];
    for (layer, rule) in DOCUMENT_LAYERS.into_iter().zip(rules) {
        check.check_document(delta, layer, rule)?;
    }
    check.check_changes(delta)?;
    check.warn_about_unlisted_files();
    clear_secrets::check_manifest(archive, limits, &mut check.findings);
    clear_secrets::check_files(archive, &mut check.findings)?;
    Ok(check.findings.finish())
}

struct Check<'a> {
    archive: &'a Archive<'a>,
    manifest: Manifest,
    limits: &'a Limits,
    findings: Findings,
}

impl Check<'_> {
    fn error(&mut self, code: &str, place: &str, message: &str) {
        self.findings.error(code, place, message);
    }

    fn warning(&mut self, code: &str, place: &str, message: &str) {
        self.findings.warning(code, place, message);
    }

    /// Checks the document of a layer, if the layer changed.
    fn check_document(&mut self, delta: &DeltaManifest, layer: &str, rule: &Rule) -> Result<(), FormatError> {
        let archive = self.archive;
        let Some(file) = delta.file(layer) else { return Ok(()) };
        let Some(member) = archive.entry(&file) else {
            let message = format!("the bundle does not have the file of layer {layer}");
            self.error("layer_missing", &archive.place, &message);
            return Ok(());
        };
        let text = archive.text(member, self.limits)?;
        let tree = match Tree::parse(&text, self.limits) {
            Ok(tree) => tree,
            Err(error) => {
                self.error("malformed", &member.place, &error.to_string());
                return Ok(());
            }
        };
        self.check_elements_are_objects(layer, &text, &tree, &member.place);
        self.findings.check_schema(&tree, rule, &member.place);
        self.check_owner(layer, &tree, &member.place);
        self.findings.check_elements(layer, &tree, &member.place, archive.catalog.is_decrypted(member.root));
        if layer == "identity" {
            self.check_identity_version(delta, &tree, &member.place);
        }
        if layer != "credentials" {
            clear_secrets::check_text(archive, member, &text, &mut self.findings);
        }
        self.findings.out.records += match tree.get(layer) {
            Some(Tree::Array(rows)) => rows.len() as u64,
            _ => u64::from(layer == "identity"),
        };
        Ok(())
    }

    /// Reports a document that cannot replace the document of its layer: an identity that is not an object, or a list
    /// that is missing or has an element that is not an object.
    fn check_elements_are_objects(&mut self, layer: &str, text: &str, tree: &Tree, place: &str) {
        let is_object = |tree: &Tree| matches!(tree, Tree::Object(_));
        if !list_document::is_document_of(layer, text, tree) {
            self.error("malformed", place, "not the JSON document of this layer");
        }
        let Some(Tree::Array(elements)) = tree.get(layer) else { return };
        for (i, _) in elements.iter().enumerate().filter(|(_, element)| !is_object(element)) {
            self.error("malformed", &format!("{place}#/{layer}/{i}"), "not an object");
        }
    }

    /// Checks the file with the changed records, if there are any.
    fn check_changes(&mut self, delta: &DeltaManifest) -> Result<(), FormatError> {
        let archive = self.archive;
        let Some(file) = delta.file("memory") else { return Ok(()) };
        let Some(member) = archive.entry(&file) else {
            let message = "the bundle does not have the file with the changed records";
            self.error("partition_missing", &archive.place, message);
            return Ok(());
        };
        let lines = self.check_memory(member)?;
        if stated_count(delta.change("memory", "record_count")).is_some_and(|stated| stated != lines) {
            self.error("count_differs", &delta.place, "record_count differs from the number of lines");
        }
        Ok(())
    }

    /// Warns about files with records or documents that the manifest does not list as changed, and about files that a
    /// delta must not contain.
    fn warn_about_unlisted_files(&mut self) {
        let archive = self.archive;
        let named_files: HashSet<String> = self.manifest.named_files().into_iter().map(str::to_owned).collect();
        for (name, member) in archive.entries.iter().filter(|(name, _)| !named_files.contains(**name)) {
            if name.starts_with("memory/") && name.ends_with(".jsonl") {
                self.warning("unlisted_partition", &member.place, "no change of the manifest lists this file");
            } else if ARCHIVE_ONLY_ENTRIES.iter().any(|start| name.starts_with(start)) {
                self.warning("not_in_a_delta", &member.place, "only a whole archive can bring this file");
            } else if LAYER_DOCUMENTS.contains(name) {
                self.warning("unlisted_layer", &member.place, "no change of the manifest names this document");
            }
        }
    }

    /// Reports an identity or credentials that do not belong to the agent of the delta.
    fn check_owner(&mut self, layer: &str, tree: &Tree, place: &str) {
        let agent = |row: &Tree| row.get("agent_id").and_then(Tree::as_str).map(str::to_owned);
        let is_foreign = match (layer, tree.get(layer)) {
            ("credentials", Some(Tree::Array(rows))) => {
                rows.iter().any(|row| self.manifest.is_foreign(agent(row).as_deref()))
            }
            ("identity", _) => self.manifest.is_foreign(agent(identity::document(tree)).as_deref()),
            _ => false,
        };
        if is_foreign {
            self.error("wrong_agent", place, "this belongs to another agent than the delta");
        }
        if layer == "principals" {
            self.findings.check_profile_owners(&self.manifest, tree, place);
        }
    }

    /// Warns if the version in the identity differs from the version in the manifest.
    fn check_identity_version(&mut self, delta: &DeltaManifest, tree: &Tree, place: &str) {
        let stated_version = number(delta.change("identity", "new_version"));
        if stated_version.is_some() && stated_version != number(tree.get("version")) {
            self.warning("version_differs", place, "the manifest states another identity version");
        }
    }

    fn check_memory(&mut self, member: &Member) -> Result<u64, FormatError> {
        let (mut lines, limits, archive) = (0u64, self.limits, self.archive);
        let mut existing_ids: HashSet<String> = HashSet::new();
        // For each record, the number of the last line that has its content.
        let mut last_contents: HashMap<String, u64> = HashMap::new();
        archive.catalog.read(member, |reader| {
            each_line(reader, &member.place, limits.line_bytes, &mut |entry, _| {
                let (number, text) = match entry {
                    JsonLine::Text(_, "") => return Ok(()),
                    JsonLine::Text(number, text) => (number, Ok(text)),
                    JsonLine::Unreadable(number, code) => (number, Err(code)),
                };
                lines += 1;
                let place = format!("{}#line {number}", member.place);
                let change = text.and_then(operation::parse);
                if change.as_ref().is_ok_and(|change| self.manifest.is_foreign(change.agent.as_deref())) {
                    self.error("wrong_agent", &place, "this change is of another agent than the delta");
                }
                if let Ok(change) = &change {
                    let is_new = match change.operation {
                        Operation::Delete => !existing_ids.remove(&change.id),
                        _ => existing_ids.insert(change.id.clone()),
                    };
                    if change.operation == Operation::Create && !is_new {
                        self.warning("created_twice", &place, "an earlier line brings a record with this id");
                    }
                    let has_content = change.line.is_some() && !change.is_erased;
                    let earlier_line = match has_content {
                        true => last_contents.insert(change.id.clone(), number),
                        false => last_contents.remove(&change.id),
                    };
                    if let Some(earlier_line) = earlier_line {
                        let place = format!("{}#line {earlier_line}", member.place);
                        self.warning("changed_again", &place, "a later line of this delta changes the same record");
                    }
                }
                match change {
                    Err(code) => self.error(code, &place, operation::fault_message(code)),
                    // A deletion may state only an id, which must be one that a record can have.
                    Ok(operation::Change { line: None, id, .. }) => {
                        if !is_uuid(&id) {
                            self.error("bad_value", &format!("{place}#/id"), "not a UUID");
                        }
                    }
                    Ok(operation::Change { line: Some(line), .. }) => match Tree::parse(&line, limits) {
                        Ok(tree) => {
                            self.findings.check_schema(&tree, &schema::MEMORY_RULE, &place);
                            self.findings.check_memory(&tree, &place);
                            clear_secrets::check_memory(&line, &place, &mut self.findings);
                        }
                        Err(error) => self.error("malformed", &place, &error.to_string()),
                    },
                }
                self.findings.refuse_too_many(&member.place)
            })
        })?;
        self.findings.out.records += lines;
        Ok(lines)
    }
}
