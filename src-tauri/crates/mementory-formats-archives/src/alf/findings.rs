//! Collects the findings of the validators of archives and deltas, which share these checks.
use super::document_checks;
use super::manifest::{Archive, Manifest, number};
use super::schema;
use mementory_format::{Finding, FormatError, Validation};
use mementory_json::{
    Tree,
    schema::{RepeatedKeys, Rule, check},
};
use std::collections::HashSet;

/// Largest number of errors that are listed, and of warnings that are listed. Additional findings are only counted.
const MAX_FINDINGS: usize = 1000;
/// Number of unlisted errors above which a file is refused, because a small archive can unpack to millions of bad
/// lines.
const MAX_ERRORS: usize = 2_000_000;

/// Message for an element of another agent.
pub(super) const FOREIGN_AGENT: &str = "this belongs to another agent than the manifest's";

/// The findings of one file.
pub(super) struct Findings {
    /// The result of the validation so far.
    pub out: Validation,
    unlisted_counts: (usize, usize),
}

impl Findings {
    /// Collects findings in addition to those of an existing result.
    pub(super) fn new(out: Validation) -> Self {
        Self { out, unlisted_counts: (0, 0) }
    }

    /// Adds an error.
    pub(super) fn error(&mut self, code: &str, place: &str, message: &str) {
        self.report(code, place, message, false);
    }

    /// Adds a warning.
    pub(super) fn warning(&mut self, code: &str, place: &str, message: &str) {
        self.report(code, place, message, true);
    }

    /// Checks that the archive is a ZIP file (spec §4).
    pub(super) fn check_container(&mut self, archive: &Archive<'_>) {
        let number = archive.entries.values().find_map(|entry| entry.archive);
        if number.is_some_and(|number| archive.catalog.is_tar(number)) {
            self.error("not_a_zip", &archive.place, "the format is a ZIP file, and this is a tar archive");
        }
    }

    fn report(&mut self, code: &str, place: &str, message: &str, is_warning: bool) {
        if !self.is_full(code, is_warning) {
            let list = if is_warning { &mut self.out.warnings } else { &mut self.out.errors };
            list.push(Finding { code: code.into(), place: place.into(), message: message.into() });
        }
    }

    /// True if a finding with this code is only counted, because the list is full. The first finding with each code is
    /// always listed, because some codes prevent an import.
    fn is_full(&mut self, code: &str, is_warning: bool) -> bool {
        let (list, more) = match is_warning {
            true => (&self.out.warnings, &mut self.unlisted_counts.1),
            false => (&self.out.errors, &mut self.unlisted_counts.0),
        };
        let is_full = list.len() >= MAX_FINDINGS && list.iter().any(|listed| listed.code == code);
        *more += usize::from(is_full);
        is_full
    }

    /// Fails if the file has millions of errors ([`MAX_ERRORS`]).
    pub(super) fn refuse_too_many(&self, place: &str) -> Result<(), FormatError> {
        let figure = self.unlisted_counts.0 as u64;
        match self.unlisted_counts.0 > MAX_ERRORS {
            true => Err(FormatError::Limit { limit: "errors", place: place.into(), figure }),
            false => Ok(()),
        }
    }

    /// Checks a document or a line against its schema.
    pub(super) fn check_schema(&mut self, tree: &Tree, rule: &Rule, place: &str) {
        check(tree, rule, RepeatedKeys::Report, &mut |at, violation| {
            let (code, is_warning) = schema::code_of(&violation);
            if !self.is_full(code, is_warning) {
                self.report(code, &format!("{place}#{at}"), &violation.to_string(), is_warning);
            }
        });
    }

    /// Checks the elements of the document of a layer. `is_sealed` is true if the whole file is encrypted.
    pub(super) fn check_elements(&mut self, layer: &str, tree: &Tree, place: &str, is_sealed: bool) {
        for fault in document_checks::find_faults(layer, tree, is_sealed) {
            let at = format!("{place}#/{layer}/{}", fault.index);
            self.report(fault.code, &at, fault.message, fault.is_warning);
        }
    }

    /// Warns about profiles of principals that belong to another agent (spec §3.3.3). This is not an error, because the
    /// official sample has such profiles.
    pub(super) fn check_profile_owners(&mut self, manifest: &Manifest, tree: &Tree, place: &str) {
        let Some(Tree::Array(principals)) = tree.get("principals") else { return };
        for (i, principal) in principals.iter().enumerate() {
            let agent = principal.get("profile").and_then(|profile| profile.get("agent_id")).and_then(Tree::as_str);
            if manifest.is_foreign(agent) {
                self.warning("foreign_agent_id", &format!("{place}#/principals/{i}/profile"), FOREIGN_AGENT);
            }
        }
    }

    /// Checks a memory against the rules that a schema cannot express.
    pub(super) fn check_memory(&mut self, tree: &Tree, place: &str) {
        memory_faults(tree).iter().for_each(|fault| self.report_memory_fault(fault, place));
    }

    pub(super) fn report_memory_fault(&mut self, fault: &MemoryFault, place: &str) {
        self.report(fault.code, place, fault.message, fault.is_warning);
    }

    /// Returns the findings. Findings beyond the limit are summed up in one finding that states their number.
    pub(super) fn finish(mut self) -> Validation {
        let (errors, warnings) = self.unlisted_counts;
        let further_findings =
            |n: usize| Finding { code: "more".into(), place: String::new(), message: format!("{n} more") };
        self.out.errors.extend((errors > 0).then(|| further_findings(errors)));
        self.out.warnings.extend((warnings > 0).then(|| further_findings(warnings)));
        self.out
    }
}

/// A fault of a memory. No schema can express the rule that the memory violates.
pub(super) struct MemoryFault {
    code: &'static str,
    message: &'static str,
    is_warning: bool,
}

const SUPERSEDES_ITSELF: MemoryFault =
    MemoryFault { code: "supersedes_itself", message: "the memory supersedes itself", is_warning: true };

const WRONG_DIMENSIONS: MemoryFault = MemoryFault {
    code: "embedding_dimensions",
    message: "dimensions differs from the length of the vector",
    is_warning: false,
};

const REPEATED_MODEL: MemoryFault =
    MemoryFault { code: "embedding_model_repeated", message: "two embeddings are of the same model", is_warning: true };

/// Checks the lengths and models of vectors (spec §3.1.6), and that the memory does not supersede itself.
pub(super) fn memory_faults(tree: &Tree) -> Vec<MemoryFault> {
    let mut faults = Vec::new();
    let id = |key: &str| tree.get(key).and_then(Tree::as_str);
    let is_own_id = |old: &str| id("id").is_some_and(|id| old.eq_ignore_ascii_case(id));
    if id("supersedes").is_some_and(is_own_id) && !is_deletion(tree) {
        faults.push(SUPERSEDES_ITSELF);
    }
    let vectors = match tree.get("embeddings") {
        Some(Tree::Array(vectors)) => vectors.as_slice(),
        _ => &[],
    };
    let mut models = HashSet::new();
    if vectors.iter().filter_map(|vector| vector.get("model")?.as_str()).any(|model| !models.insert(model)) {
        faults.push(REPEATED_MODEL);
    }
    for vector in vectors {
        let length = match vector.get("vector") {
            Some(Tree::Array(numbers)) => Some(numbers.len() as u64),
            _ => None,
        };
        if length.is_some() && number(vector.get("dimensions")) != length {
            faults.push(WRONG_DIMENSIONS);
        }
    }
    faults
}

/// True for a deletion. Unlike other lines, a deletion may supersede its own id, because the record that it deletes
/// stays unchanged in a sealed partition (spec §4.1.1).
fn is_deletion(tree: &Tree) -> bool {
    tree.get("status").and_then(Tree::as_str) == Some("deleted")
}
