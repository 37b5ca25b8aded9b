//! Validates a delta bundle: its manifest and documents, each line with its operation, and the counts.
use super::super::document_checks;
use super::super::jsonl::{JsonLine, each_line};
use super::super::manifest::{Archive, Manifest, parse_whole_number};
use super::super::schema;
use super::manifest::{DOCUMENT_LAYERS, DeltaManifest};
use super::operation;
use mementory_format::{Catalog, Detected, Finding, FormatError, Member, Validation};
use mementory_json::{
    Tree,
    schema::{RepeatedKeys, Rule, check},
};
use mementory_model::Limits;

/// Largest number of listed errors, and also of listed warnings.
const MAX_FINDINGS: usize = 1000;

/// Codes of the errors that prevent an import, because a delta is imported completely or not at all.
pub(super) const REFUSED_ERROR_CODES: [&str; 13] = [
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
    "damaged_entry",
];

/// Validates one bundle.
pub(super) fn validate(catalog: &Catalog, detected: &Detected, limits: &Limits) -> Result<Validation, FormatError> {
    let archive = Archive::open_any(catalog, detected)?;
    let delta = DeltaManifest::read(&archive, limits)?;
    let out = Validation { version: Some(delta.version.clone()), kind: Some("delta".into()), ..Validation::default() };
    let mut check = Check { archive: &archive, manifest: delta.as_archive(), limits, out };
    check.check_schema(&delta.tree, &schema::DELTA_MANIFEST_RULE, &delta.place);
    if delta.new <= delta.base {
        check.error("sequence_order", &delta.place, "new_sequence must be greater than base_sequence");
    }
    let rules = [&schema::IDENTITY_RULE, &schema::PRINCIPALS_RULE, &schema::CREDENTIALS_RULE];
    for (layer, rule) in DOCUMENT_LAYERS.into_iter().zip(rules) {
        let Some(file) = delta.file(layer) else { continue };
        let Some(member) = archive.entry(&file) else {
            check.error(
                "layer_missing",
                &archive.place,
                &format!("the bundle does not have the file of layer {layer}"),
            );
            continue;
        };
        let text = archive.text(member, limits)?;
        match Tree::parse(&text, limits) {
            Ok(tree) => {
                check.check_schema(&tree, rule, &member.place);
                check.check_owner(layer, &tree, &member.place);
                for fault in document_checks::find_faults(layer, &tree, archive.catalog.is_decrypted(member.root)) {
                    let at = format!("{}#/{layer}/{}", member.place, fault.index);
                    match fault.is_warning {
                        true => check.warning(fault.code, &at, fault.message),
                        false => check.error(fault.code, &at, fault.message),
                    }
                }
                if layer == "identity" {
                    check.check_identity_version(&delta, &tree, &member.place);
                }
                let rows = match tree.get(layer) {
                    Some(Tree::Array(rows)) => rows.len() as u64,
                    _ => u64::from(layer == "identity"),
                };
                check.out.records += rows;
            }
            Err(_) => check.error("malformed", &member.place, "not JSON"),
        }
    }
    if let Some(file) = delta.file("memory") {
        match archive.entry(&file) {
            None => check.error(
                "partition_missing",
                &archive.place,
                "the bundle does not have the file with the changed records",
            ),
            Some(member) => {
                let lines = check.check_memory(member)?;
                let stated_count = match delta.change("memory", "record_count") {
                    Some(Tree::Number(n)) => parse_whole_number(n),
                    _ => None,
                };
                if stated_count.is_some_and(|n| n != lines) {
                    check.error("count_differs", &delta.place, "record_count differs from the number of lines");
                }
            }
        }
    }
    let named = check.manifest.named_files().into_iter().map(str::to_owned).collect::<Vec<_>>();
    for (name, member) in &archive.entries {
        if name.starts_with("memory/") && name.ends_with(".jsonl") && !named.iter().any(|file| file == name) {
            check.warning("unlisted_partition", &member.place, "no change of the manifest lists this file");
        }
    }
    Ok(check.out)
}

struct Check<'a> {
    archive: &'a Archive<'a>,
    manifest: Manifest,
    limits: &'a Limits,
    out: Validation,
}

impl Check<'_> {
    fn error(&mut self, code: &str, place: &str, message: &str) {
        if self.out.errors.len() < MAX_FINDINGS {
            self.out.errors.push(Finding { code: code.into(), place: place.into(), message: message.into() });
        }
    }

    fn warning(&mut self, code: &str, place: &str, message: &str) {
        if self.out.warnings.len() < MAX_FINDINGS {
            self.out.warnings.push(Finding { code: code.into(), place: place.into(), message: message.into() });
        }
    }

    /// Reports an identity or credentials that belong to another agent than the delta.
    fn check_owner(&mut self, layer: &str, tree: &Tree, place: &str) {
        let agent = |row: &Tree| row.get("agent_id").and_then(Tree::as_str).map(str::to_owned);
        let foreign = match (layer, tree.get(layer)) {
            ("credentials", Some(Tree::Array(rows))) => {
                rows.iter().any(|row| self.manifest.is_foreign(agent(row).as_deref()))
            }
            ("identity", inner) => self.manifest.is_foreign(agent(inner.unwrap_or(tree)).as_deref()),
            _ => false,
        };
        if foreign {
            self.error("wrong_agent", place, "this belongs to another agent than the delta");
        }
    }

    /// Warns if the identity has another version than the manifest announces.
    fn check_identity_version(&mut self, delta: &DeltaManifest, tree: &Tree, place: &str) {
        let number = |value: Option<&Tree>| match value {
            Some(Tree::Number(n)) => parse_whole_number(n),
            _ => None,
        };
        let stated_version = number(delta.change("identity", "new_version"));
        if stated_version.is_some() && stated_version != number(tree.get("version")) {
            self.warning("version_differs", place, "the manifest states another identity version");
        }
    }

    fn check_schema(&mut self, tree: &Tree, rule: &Rule, place: &str) {
        check(tree, rule, RepeatedKeys::Accept, &mut |at, violation| {
            let (place, message) = (format!("{place}#{at}"), violation.to_string());
            match schema::code_of(&violation) {
                (code, true) => self.warning(code, &place, &message),
                (code, false) => self.error(code, &place, &message),
            }
        });
    }

    fn check_memory(&mut self, member: &Member) -> Result<u64, FormatError> {
        let (mut lines, limits, archive) = (0u64, self.limits, self.archive);
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
                match change {
                    Err(code) => self.error(code, &place, "this line is not a change of a record"),
                    // A deletion that contains only an id has nothing to check.
                    Ok(operation::Change { line: None, .. }) => {}
                    Ok(operation::Change { line: Some(line), .. }) => match Tree::parse(&line, limits) {
                        Ok(tree) => self.check_schema(&tree, &schema::MEMORY_RULE, &place),
                        Err(_) => self.error("malformed", &place, "not JSON"),
                    },
                }
                Ok(())
            })
        })?;
        self.out.records += lines;
        Ok(lines)
    }
}
