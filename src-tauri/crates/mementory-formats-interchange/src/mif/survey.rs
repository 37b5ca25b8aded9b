//! First pass over a document: everything but its records, which stay in the file. What comes out is the document with
//! empty lists; the importer keeps it as a part, and a later export fills it again.
use super::{
    canonical::{canonical, order},
    document::tree_text,
    sections::{MEMORIES, NODES, SECTIONS, Section},
    source::{Form, Source, fault, refused},
    walk::{Item, walk},
    wire::{Shape, inner, is_supported, text, version_of},
};
use mementory_format::FormatError;
use mementory_json::{Tree, TreeError, write_string};
use mementory_model::Limits;
use sha2::{Digest, Sha256};

/// A document without its records.
pub(super) struct Survey {
    /// All members, lists empty.
    pub root: Tree,
    /// Elements of each list.
    pub counts: [u64; SECTIONS.len()],
    /// Nodes that are no records: position and JSON.
    pub slots: Vec<(u64, String)>,
    /// Last line of JSONL.
    pub footer: Option<Tree>,
    /// Parts of the wrong type.
    pub wrong: Vec<String>,
    /// Lines that cannot be used: number and code.
    pub bad_lines: Vec<(u64, &'static str)>,
    /// Lines of types not known here.
    pub unknown_lines: u64,
    /// Shape of the document.
    pub shape: Shape,
    /// Version it says.
    pub version: Option<String>,
}

/// How the header's checksum stands to the document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Checksum {
    /// None given.
    Absent,
    /// By our rule, and right.
    Verified,
    /// By our rule, and wrong.
    Mismatch,
    /// The digest of nothing.
    Placeholder,
    /// The reference program's: over the counts, says nothing of the content.
    CountsOnly,
    /// By a rule that the file does not name.
    UnknownRule,
}

/// Name of our rule in the header.
pub(super) const METHOD: &str = "sha256-rfc8785-without-checksum";

impl Survey {
    /// Reads the document once. Elements that are nearly JSON cost themselves: where the parser stops at them they are
    /// taken out of the source. Of what is no JSON elsewhere the reason is said, where it has one of its own.
    pub fn of(source: &mut Source<'_>, limits: &Limits) -> Result<Self, FormatError> {
        let first = Self::once(source, limits);
        let Err(FormatError::Invalid { code: "malformed", place, .. }) = &first else { return first };
        let Some(code) = source.fault(limits) else { return first };
        let second = if source.spare(limits)? { Self::once(source, limits).ok() } else { None };
        second.ok_or_else(|| refused(code, place))
    }

    fn once(source: &Source<'_>, limits: &Limits) -> Result<Self, FormatError> {
        let mut survey = Self {
            root: Tree::Object(vec![]),
            counts: [0; SECTIONS.len()],
            slots: vec![],
            footer: None,
            wrong: vec![],
            bad_lines: vec![],
            unknown_lines: 0,
            shape: Shape::V1,
            version: None,
        };
        let mut bytes = 0u64;
        walk(source, limits, &mut |item| {
            match item {
                Item::Member(parent, "", _) => survey.touch(parent),
                Item::Member(parent, name, json) => {
                    bytes += json.len() as u64;
                    if bytes > limits.element_bytes {
                        let place = source.place.clone();
                        return Err(FormatError::Limit { limit: "element_bytes", place, figure: bytes });
                    }
                    let tree = Tree::parse(json, limits).map_err(|e| {
                        let place = format!("{}#{}", source.place, pointer(parent, name));
                        match (&e, fault(json.as_bytes())) {
                            (TreeError::Size(figure), _) => {
                                FormatError::Limit { limit: "tree_bytes", place, figure: *figure }
                            }
                            (_, Some(code)) => refused(code, place),
                            (_, None) => FormatError::invalid("malformed", place, e.to_string()),
                        }
                    })?;
                    survey.set(parent, name, tree);
                }
                Item::List(section) => survey.set(section.parent, section.name, Tree::Array(vec![])),
                Item::Element(section, index, json) => {
                    survey.counts[section.number()] = index + 1;
                    if *section == NODES
                        && let Ok(tree) = Tree::parse(json, limits)
                        && text(&tree, "id").is_some()
                        && matches!(text(&tree, "type"), Some(kind) if kind != "entity")
                    {
                        survey.slots.push((index, json.to_owned()));
                    }
                }
                Item::Wrong(pointer) => survey.wrong.push(pointer),
                Item::BadLine(number, code) => survey.bad_lines.push((number, code)),
                Item::UnknownLine => survey.unknown_lines += 1,
                Item::Footer(json) => survey.footer = Tree::parse(json, limits).ok(),
            }
            Ok(())
        })?;
        if source.form == Form::Jsonl {
            // Lines have no list around them: what has lines has a list.
            survey.ensure(&MEMORIES);
            for section in SECTIONS {
                if survey.counts[section.number()] > 0 {
                    survey.ensure(section);
                }
            }
        }
        survey.shape = Shape::of(&survey.root);
        survey.version = version_of(&survey.root);
        Ok(survey)
    }

    fn touch(&mut self, name: &str) {
        if self.root.get(name).is_none() {
            self.root.set(name, Tree::Object(vec![]));
        }
    }

    fn set(&mut self, parent: &str, name: &str, value: Tree) {
        if parent.is_empty() {
            return self.root.set(name, value);
        }
        self.touch(parent);
        if let Tree::Object(members) = &mut self.root
            && let Some((_, object)) = members.iter_mut().rev().find(|(k, _)| k == parent)
        {
            object.set(name, value);
        }
    }

    fn ensure(&mut self, section: &Section) {
        let there = match section.parent {
            "" => self.root.get(section.name).is_some(),
            parent => self.root.get(parent).is_some_and(|p| p.get(section.name).is_some()),
        };
        if !there {
            self.set(section.parent, section.name, Tree::Array(vec![]));
        }
    }

    /// Is it one that may be read? A missing version is taken from the shape.
    pub fn check_version(&self, place: &str) -> Result<(), FormatError> {
        match &self.version {
            Some(version) if !is_supported(version) => {
                Err(FormatError::Version { place: place.to_owned(), version: version.chars().take(20).collect() })
            }
            _ => Ok(()),
        }
    }

    /// Version, by the document's own word where it fits its shape.
    pub fn version_of_records(&self) -> String {
        let own = self.version.clone().filter(|v| {
            v.starts_with(match self.shape {
                Shape::V1 => '1',
                Shape::V2 => '2',
            })
        });
        own.unwrap_or_else(|| self.shape.version().to_owned())
    }

    /// How the checksum stands, by going through the document again where it names our rule.
    pub fn checksum(&self, source: &Source<'_>, limits: &Limits) -> Result<Checksum, FormatError> {
        let header = self.shape.header();
        let Some(said) = inner(&self.root, header, "checksum") else {
            // One of JSON lines may stand in the last of them, which says no more of its rule.
            let last = self.footer.as_ref().and_then(|f| text(f, "checksum")).filter(|c| !c.is_empty());
            return Ok(if last.is_some() { Checksum::UnknownRule } else { Checksum::Absent });
        };
        if inner(&self.root, header, "checksum_method") == Some(METHOD) {
            let real = self.digest(source, limits)?;
            return Ok(if said.eq_ignore_ascii_case(&real) { Checksum::Verified } else { Checksum::Mismatch });
        }
        let sha = |text: &str| format!("sha256:{}", hex::encode(Sha256::digest(text)));
        let count = |name: &str| super::sections::find("", name).map_or(0, |s| self.counts[s.number()]);
        let counts = format!("{}:{}:{}:{}", count("memories"), count("todos"), count("projects"), count("reminders"));
        Ok(match said.to_ascii_lowercase() {
            said if said == sha("") => Checksum::Placeholder,
            said if said == sha(&counts) => Checksum::CountsOnly,
            _ => Checksum::UnknownRule,
        })
    }

    fn digest(&self, source: &Source<'_>, limits: &Limits) -> Result<String, FormatError> {
        let mut digest = Sha256::new();
        self.hash(&self.root, "", source, limits, &mut digest)?;
        Ok(format!("sha256:{}", hex::encode(digest.finalize())))
    }

    fn hash(
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
            let section = super::sections::find(parent, key).filter(|_| matches!(value, Tree::Array(_)));
            let graph = parent.is_empty() && super::sections::is_parent(key).is_some();
            if let Some(section) = section {
                elements(section, source, limits, digest)?;
            } else if graph && matches!(value, Tree::Object(_)) {
                self.hash(value, key, source, limits, digest)?;
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

/// One list in canonical form.
fn elements(
    section: &'static Section,
    source: &Source<'_>,
    limits: &Limits,
    digest: &mut Sha256,
) -> Result<(), FormatError> {
    digest.update("[");
    walk(source, limits, &mut |item| {
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
    })?;
    digest.update("]");
    Ok(())
}
