//! Checks a document by the specification (version 1) or by the reference program's types (version 2), and reports
//! everything found. What other programs get wrong without harm is a warning.
use super::{
    adapters, detect, envelope,
    sections::{EDGES, ENTITIES, MEMORIES, NODES, SECTIONS, Section, TASKS},
    shape::{self, Breach},
    source::{Form, Source},
    survey::{Checksum, Survey},
    walk::{Item, walk},
    wire::{Shape, inner, is_supported, list, text, version_parts},
};
use mementory_format::{Catalog, Detected, Finding, FormatError, Passphrase, REDACTED, Validation};
use mementory_json::Tree;
use mementory_model::Limits;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Findings listed with one code; the others are counted.
const LISTED: usize = 100;

/// Checks every detected member, with a passphrase also what is inside of one that is encrypted.
pub(super) fn validate(
    catalog: &Catalog,
    detected: &Detected,
    limits: &Limits,
    passphrase: Option<&dyn Passphrase>,
) -> Result<Validation, FormatError> {
    let mut check = Check { out: Validation::default(), counts: BTreeMap::new(), passphrase };
    for claimed in &detected.claim.parts {
        let Some(member) = catalog.members().get(claimed.member) else { continue };
        let place = member.place.as_str();
        let Some(form) = detect::form(catalog, member, true)? else {
            check.error("malformed", place, "no document of this format");
            continue;
        };
        let opened = Source::open(catalog, member, form, limits);
        let result = opened.and_then(|mut source| {
            if form.adapter().is_some() {
                check.adapter(&mut source, limits)
            } else {
                check.document(&mut source, limits)
            }
        });
        match result {
            // Nothing is wrong with the file, as far as anybody can tell.
            Err(error @ FormatError::Invalid { code: "passphrase_wrong", .. }) => return Err(error),
            Err(FormatError::Invalid { code, place, message }) => check.error(code, &place, &message),
            Err(FormatError::Version { place, version }) => {
                check.out.version = Some(version);
                check.error("unsupported_version", &place, "a major version that is not known");
            }
            other => other?,
        }
    }
    for ((code, warning), count) in std::mem::take(&mut check.counts) {
        if count > LISTED {
            let finding = Finding {
                code: code.clone(),
                place: String::new(),
                message: format!("{count} of these, the first {LISTED} are listed"),
            };
            if warning { check.out.warnings.push(finding) } else { check.out.errors.push(finding) }
        }
    }
    Ok(check.out)
}

struct Check<'p> {
    out: Validation,
    counts: BTreeMap<(String, bool), usize>,
    passphrase: Option<&'p dyn Passphrase>,
}

/// What is said of ids across lists.
#[derive(Default)]
struct Ids {
    by_list: HashMap<&'static str, HashSet<String>>,
    types: BTreeMap<String, u64>,
    redacted: u64,
}

impl Check<'_> {
    fn say(&mut self, warning: bool, code: &str, place: &str, message: &str) {
        let count = self.counts.entry((code.to_owned(), warning)).or_default();
        *count += 1;
        if *count > LISTED {
            return;
        }
        let finding = Finding { code: code.into(), place: place.into(), message: message.into() };
        if warning { self.out.warnings.push(finding) } else { self.out.errors.push(finding) }
    }

    fn error(&mut self, code: &str, place: &str, message: &str) {
        self.say(false, code, place, message);
    }

    fn warn(&mut self, code: &str, place: &str, message: &str) {
        self.say(true, code, place, message);
    }

    fn breaches(&mut self, tree: &Tree, rule: &shape::Rule, pointer: &str, place: &str) {
        let mut found: Vec<Breach> = Vec::new();
        shape::check(tree, rule, pointer, &mut found);
        for breach in found {
            self.say(breach.warning, breach.code, &format!("{place}#{}", breach.at), &breach.message);
        }
    }

    fn adapter(&mut self, source: &mut Source<'_>, limits: &Limits) -> Result<(), FormatError> {
        self.out.version = source.written.adapter().map(str::to_owned);
        self.warn("other_form", &source.place, "a form that the reference program exchanges with others, no document");
        let (count, bad) = adapters::check(source, limits)?;
        self.out.records += count;
        for (pointer, code) in bad {
            self.error(code, &format!("{}#{pointer}", source.place), "an element that holds no memory");
        }
        Ok(())
    }

    fn document(&mut self, source: &mut Source<'_>, limits: &Limits) -> Result<(), FormatError> {
        let mut survey = Survey::of(source, limits)?;
        let place = source.place.clone();
        self.out.version.clone_from(&survey.version);
        self.version(&survey, &place);
        if survey.version.as_deref().is_some_and(|v| !is_supported(v)) {
            return Ok(());
        }
        if let Some(encryption) = envelope::of(&survey.root) {
            let flaws = envelope::flaws(encryption);
            let whole = flaws.is_empty();
            for (code, message) in flaws {
                self.error(code, &format!("{place}#/encryption"), &message);
            }
            match self.passphrase.take().filter(|_| whole) {
                Some(passphrase) => {
                    let mut inner = Source::of_envelope(encryption, Some(passphrase), &place, limits)?;
                    // An envelope inside of this one is said, since the passphrase is spent.
                    self.document(&mut inner, limits)?;
                    self.passphrase = Some(passphrase);
                }
                None => self.warn("encrypted", &place, "what is inside can only be checked with the passphrase"),
            }
            self.out.kind = Some("encrypted".into());
            // The specification's own example is nothing but the envelope.
            if survey.root.get("export").is_none() && survey.root.get("export_meta").is_none() {
                return Ok(());
            }
        }
        if survey.shape == Shape::V1 && survey.root.get(MEMORIES.name).is_none() && source.form == Form::Jsonl {
            survey.root.set(MEMORIES.name, Tree::Array(vec![]));
        }
        self.breaches(&survey.root, survey.shape.document(), "", &place);
        for pointer in &source.repeated {
            self.error("duplicate_key", &format!("{place}#{pointer}"), "a key stands twice in one mapping");
        }
        for pointer in &survey.wrong {
            self.error("wrong_type", &format!("{place}#{pointer}"), "neither a list nor an object as it must be");
        }
        for (number, code) in &survey.bad_lines {
            self.error(code, &format!("{place}#line {number}"), "a line that holds no record");
        }
        if survey.unknown_lines > 0 {
            self.warn("unknown_lines", &place, &format!("{} lines of unknown types", survey.unknown_lines));
        }
        let ids = self.elements(source, &survey, limits)?;
        self.references(source, &survey, &ids, limits)?;
        self.figures(&survey, &ids, &place);
        self.footer(source, &survey, &place);
        match survey.checksum(source, limits)? {
            Checksum::Mismatch => self.error("checksum_mismatch", &place, "the document is not what was written"),
            Checksum::Placeholder => self.warn("checksum_placeholder", &place, "the digest of nothing"),
            Checksum::CountsOnly => self.warn("checksum_counts_only", &place, "over counts, not over content"),
            Checksum::UnknownRule => {
                self.warn("checksum_unknown_rule", &place, "the file does not say what its checksum is over");
            }
            Checksum::Absent => self.warn("checksum_missing", &place, "nothing to check the content against"),
            Checksum::Verified => {}
        }
        Ok(())
    }

    fn version(&mut self, survey: &Survey, place: &str) {
        match survey.version.as_deref() {
            None if envelope::of(&survey.root).is_some() => {}
            None => {} // said as a missing field
            Some(version) if !is_supported(version) => {
                self.error("unsupported_version", place, "a major version that is not known");
            }
            Some(version) => {
                let major = &survey.shape.version()[..1];
                match version_parts(version) {
                    Some(_) if !version.starts_with(major) => {
                        self.error("version_and_shape_differ", place, "the version says one form, the header another");
                    }
                    Some((_, minor)) if minor > 0 => {
                        self.warn("other_minor_version", place, "a newer minor version; unknown members are ignored");
                    }
                    _ => {}
                }
            }
        }
    }

    fn elements(&mut self, source: &Source<'_>, survey: &Survey, limits: &Limits) -> Result<Ids, FormatError> {
        let mut ids = Ids::default();
        let place = source.place.clone();
        walk(source, limits, &mut |item| {
            let Item::Element(section, index, json) = item else { return Ok(()) };
            let pointer = section.pointer(index);
            self.out.records += 1;
            let tree = match Tree::parse(json, limits) {
                Ok(tree) => tree,
                Err(e) => {
                    self.error(source.why(&pointer, json, &e), &format!("{place}#{pointer}"), &e.to_string());
                    return Ok(());
                }
            };
            if let Some(code) = source.spared.get(&pointer) {
                self.error(code, &format!("{place}#{pointer}"), "an element that is only nearly JSON");
                return Ok(());
            }
            self.breaches(&tree, survey.shape.rule(section), &pointer, &place);
            if let Some(id) = text(&tree, "id")
                && !ids.by_list.entry(section.key).or_default().insert(id.to_owned())
            {
                self.error("duplicate_id", &format!("{place}#{pointer}/id"), "two elements have this id");
            }
            if *section == MEMORIES {
                let kind = text(&tree, "type").or(text(&tree, "memory_type")).unwrap_or_default();
                *ids.types.entry(kind.to_owned()).or_default() += 1;
                self.memory(&tree, &format!("{place}#{pointer}"), &mut ids);
            }
            Ok(())
        })?;
        Ok(ids)
    }

    /// What the rules cannot say of a memory.
    fn memory(&mut self, tree: &Tree, at: &str, ids: &mut Ids) {
        for name in ["embedding", "embeddings"] {
            let Some(embedding) = tree.get(name) else { continue };
            let said = embedding.get("dimensions").and_then(Tree::as_f64);
            if let (Some(said), Some(Tree::Array(vector))) = (said, embedding.get("vector"))
                && said != vector.len() as f64
            {
                self.warn("embedding_dimensions", &format!("{at}/{name}"), "not as many numbers as dimensions");
            }
        }
        let markers = text(tree, "content").map_or(0, |c| c.matches(REDACTED).count());
        let told = match tree.get("redactions") {
            Some(Tree::Array(items)) => {
                for (i, item) in items.iter().enumerate() {
                    let Some(Tree::Array(range)) = item.get("position") else { continue };
                    let ends: Vec<f64> = range.iter().filter_map(Tree::as_f64).collect();
                    let length = item.get("original_length").and_then(Tree::as_f64);
                    let fits = match ends.as_slice() {
                        [from, to] => from <= to && length.is_none_or(|l| (to - from - l).abs() < 0.5),
                        _ => false,
                    };
                    if !fits {
                        let at = format!("{at}/redactions/{i}");
                        self.error("redaction_position", &at, "start, end and length do not fit each other");
                    }
                }
                items.len()
            }
            _ => 0,
        };
        if told > markers {
            self.warn("redaction_without_mark", &format!("{at}/redactions"), "no [REDACTED:…] for one of them");
        }
        ids.redacted += told as u64;
    }

    fn references(
        &mut self,
        source: &Source<'_>,
        survey: &Survey,
        ids: &Ids,
        limits: &Limits,
    ) -> Result<(), FormatError> {
        let has = |section: &Section, id: &str| ids.by_list.get(section.key).is_some_and(|set| set.contains(id));
        let place = source.place.clone();
        let v1 = survey.shape == Shape::V1;
        walk(source, limits, &mut |item| {
            let Item::Element(section, index, json) = item else { return Ok(()) };
            let Ok(tree) = Tree::parse(json, limits) else { return Ok(()) };
            let at = format!("{place}#{}", section.pointer(index));
            match section.key {
                "edge" => {
                    for end in ["source", "target"] {
                        let Some(id) = text(&tree, end) else { continue };
                        // An entity may be named without a node of its own.
                        let unlisted = id.starts_with("entity:") && survey.counts[NODES.number()] == 0;
                        let known = unlisted || has(&MEMORIES, id) || has(&TASKS, id) || has(&NODES, id);
                        if !known {
                            self.warn("dangling_edge", &format!("{at}/{end}"), "names nothing in this document");
                        }
                    }
                }
                "relationship" => {
                    for end in ["source_entity_id", "target_entity_id"] {
                        if text(&tree, end).is_some_and(|id| !has(&ENTITIES, id)) {
                            self.warn("dangling_edge", &format!("{at}/{end}"), "names nothing in this document");
                        }
                    }
                }
                "memory" | "todo" => {
                    let relations = if v1 { tree.get("relations").unwrap_or(&Tree::Null) } else { &tree };
                    let rows = [
                        ("related_memories", relations, &MEMORIES),
                        ("related_todos", relations, &TASKS),
                        ("related_memory_ids", &tree, &MEMORIES),
                        ("related_todo_ids", &tree, &TASKS),
                        ("subtask_ids", &tree, &TASKS),
                    ];
                    for (name, object, target) in rows {
                        if list(object, name).iter().any(|id| !has(target, id)) {
                            self.warn("dangling_reference", &format!("{at}/{name}"), "names nothing in this document");
                        }
                    }
                }
                _ => {}
            }
            Ok(())
        })?;
        Ok(())
    }

    /// Counts that the document tells of itself: a difference is worth knowing, no record is in doubt.
    fn figures(&mut self, survey: &Survey, ids: &Ids, place: &str) {
        let said = |path: [&str; 2]| survey.root.get(path[0]).and_then(|o| o.get(path[1])).and_then(Tree::as_f64);
        let rows = [
            (["metadata", "total_memories"], survey.counts[MEMORIES.number()]),
            (["metadata", "total_todos"], survey.counts[TASKS.number()]),
            (["graph", "node_count"], survey.counts[NODES.number()]),
            (["graph", "edge_count"], survey.counts[EDGES.number()]),
        ];
        for (path, real) in rows {
            let counted = path[1] != "node_count" || real > 0; // nodes may be left out, and are only counted then
            if counted && said(path).is_some_and(|n| n != real as f64) {
                let at = format!("{place}#/{}/{}", path[0], path[1]);
                self.warn("count_differs", &at, "not the number that is there");
            }
        }
        if let Some(Tree::Object(types)) = survey.root.get("metadata").and_then(|m| m.get("memory_types")) {
            let differs = types.iter().any(|(t, n)| n.as_f64() != Some(*ids.types.get(t).unwrap_or(&0) as f64));
            if differs {
                let at = format!("{place}#/metadata/memory_types");
                self.warn("count_differs", &at, "not the number that is there");
            }
        }
        if let Some(range) = survey.root.get("metadata").and_then(|m| m.get("date_range")) {
            let (from, to) = (super::wire::time(range, "earliest"), super::wire::time(range, "latest"));
            if from.zip(to).is_some_and(|(from, to)| from > to) {
                let at = format!("{place}#/metadata/date_range");
                self.warn("date_range", &at, "the earliest time is later than the latest");
            }
        }
    }

    fn footer(&mut self, source: &Source<'_>, survey: &Survey, place: &str) {
        if source.form != Form::Jsonl {
            return;
        }
        let Some(footer) = &survey.footer else {
            return self.warn("footer_missing", place, "no last line: the file may have been cut off");
        };
        for section in SECTIONS {
            let said = footer.get("counts").and_then(|c| c.get(section.count)).and_then(Tree::as_f64);
            if said.is_some_and(|n| n != survey.counts[section.number()] as f64) {
                let at = format!("{place}#footer/counts/{}", section.count);
                self.warn("count_differs", &at, "not the number that is there");
            }
        }
        let header = inner(&survey.root, survey.shape.header(), "checksum");
        let footer = text(footer, "checksum").filter(|c| !c.is_empty());
        if header.zip(footer).is_some_and(|(a, b)| a != b) {
            self.warn("checksums_differ", place, "header and footer have different checksums");
        }
    }
}
