//! A document to be written, and its encodings as JSON, YAML and JSON lines. List elements are stored as JSON texts.
use super::{
    canonical::{canonical, order},
    encoding::Encoding,
    sections::{MEMORIES_SECTION, SECTIONS, Section, section_named},
    wire::Shape,
};
use mementory_format::FormatError;
use mementory_json::{Tree, write_string, yaml};
use sha2::{Digest, Sha256};
use std::io::Write;

pub(super) enum MemberValue {
    /// A value that contains no list of records.
    Tree(Tree),
    /// A list of records.
    List(&'static Section, Vec<String>),
    /// An object that contains lists of records.
    Object(Vec<(String, MemberValue)>),
}

pub(super) struct Document {
    /// Members in the order in which they are written.
    pub members: Vec<(String, MemberValue)>,
    /// Nesting depth allowed in elements.
    pub depth: u32,
}

impl Document {
    fn parse_element(&self, text: &str) -> Result<Tree, FormatError> {
        Tree::parse(text, self.depth + 8).map_err(|e| FormatError::invalid("malformed", "export", e.to_string()))
    }

    /// SHA-256 over the RFC 8785 form of the document without its header's `checksum`.
    pub fn checksum(&self) -> Result<String, FormatError> {
        let mut digest = Sha256::new();
        self.hash_object(&self.members, true, &mut digest)?;
        Ok(format!("sha256:{}", hex::encode(digest.finalize())))
    }

    fn hash_object(
        &self,
        members: &[(String, MemberValue)],
        is_root: bool,
        digest: &mut Sha256,
    ) -> Result<(), FormatError> {
        let mut sorted: Vec<&(String, MemberValue)> = members.iter().collect();
        sorted.sort_by(|a, b| order(&a.0, &b.0));
        digest.update("{");
        for (i, (key, value)) in sorted.into_iter().enumerate() {
            let mut out = String::from(if i > 0 { "," } else { "" });
            write_string(key, &mut out);
            out.push(':');
            digest.update(&out);
            match value {
                MemberValue::Tree(tree) => digest.update(tree_text(key, tree, is_root)),
                MemberValue::Object(members) => self.hash_object(members, false, digest)?,
                MemberValue::List(_, items) => {
                    digest.update("[");
                    for (i, item) in items.iter().enumerate() {
                        let mut out = String::from(if i > 0 { "," } else { "" });
                        canonical(&self.parse_element(item)?, &mut out);
                        digest.update(&out);
                    }
                    digest.update("]");
                }
            }
        }
        digest.update("}");
        Ok(())
    }

    /// Sets a member of the header object.
    pub fn set_header(&mut self, shape: Shape, name: &str, value: Tree) {
        if let Some((_, MemberValue::Tree(header))) = self.members.iter_mut().find(|(k, _)| k == shape.header()) {
            header.set(name, value);
        }
    }

    /// Writes the document in the given encoding.
    pub fn write(&self, encoding: Encoding, checksum: &str, out: &mut dyn Write) -> Result<(), FormatError> {
        let result = match encoding {
            Encoding::Yaml => self.write_yaml(out),
            Encoding::Jsonl => self.write_jsonl(checksum, out),
            _ => self.write_json(out),
        };
        result.map_err(|e| FormatError::io("export", e))
    }

    fn write_json(&self, out: &mut dyn Write) -> std::io::Result<()> {
        out.write_all(b"{\n")?;
        for (i, (key, value)) in self.members.iter().enumerate() {
            if i > 0 {
                out.write_all(b",\n")?;
            }
            write_json_member(key, value, "  ", out)?;
        }
        out.write_all(b"\n}\n")
    }

    fn write_yaml(&self, out: &mut dyn Write) -> std::io::Result<()> {
        self.write_yaml_members(&self.members, 0, out)
    }

    fn write_yaml_members(
        &self,
        members: &[(String, MemberValue)],
        level: usize,
        out: &mut dyn Write,
    ) -> std::io::Result<()> {
        for (key, value) in members {
            let mut text = String::new();
            match value {
                MemberValue::Tree(tree) => yaml::write_member(key, tree, level, &mut text),
                MemberValue::Object(members) if members.is_empty() => {
                    yaml::write_member(key, &Tree::Object(vec![]), level, &mut text);
                }
                MemberValue::List(_, items) if items.is_empty() => {
                    yaml::write_member(key, &Tree::Array(vec![]), level, &mut text);
                }
                MemberValue::Object(members) => {
                    writeln!(out, "{}{key}:", "  ".repeat(level))?;
                    self.write_yaml_members(members, level + 1, out)?;
                }
                MemberValue::List(_, items) => {
                    writeln!(out, "{}{key}:", "  ".repeat(level))?;
                    for item in items {
                        let tree = self.parse_element(item).map_err(std::io::Error::other)?;
                        text.clear();
                        yaml::write_element(&tree, level + 1, &mut text);
                        out.write_all(text.as_bytes())?;
                    }
                    text.clear();
                }
            }
            out.write_all(text.as_bytes())?;
        }
        Ok(())
    }

    fn write_jsonl(&self, checksum: &str, out: &mut dyn Write) -> std::io::Result<()> {
        let mut header = Tree::Object(vec![("type".into(), Tree::Text("header".into()))]);
        for (key, value) in &self.members {
            if let Some(tree) = self.header_value(value, key).map_err(std::io::Error::other)? {
                header.set(key, tree);
            }
        }
        let mut line = String::new();
        header.write(&mut line);
        writeln!(out, "{line}")?;
        let mut counts: Vec<(String, Tree)> = Vec::new();
        for section in SECTIONS {
            let Some(items) = self.list(section).filter(|_| section.key != "node") else { continue };
            for item in items {
                line.clear();
                write!(out, "{{\"type\":\"{}\",\"data\":", section.line)?;
                if item.contains(['\n', '\r']) {
                    self.parse_element(item).map_err(std::io::Error::other)?.write(&mut line);
                    out.write_all(line.as_bytes())?;
                } else {
                    out.write_all(item.as_bytes())?;
                }
                out.write_all(b"}\n")?;
            }
            if !items.is_empty() || matches!(section.line, "memory" | "todo" | "graph_edge") {
                counts.push((section.count.into(), Tree::Number(items.len().to_string())));
            }
        }
        let mut footer = Tree::Object(vec![("type".into(), Tree::Text("footer".into()))]);
        if !checksum.is_empty() {
            footer.set("checksum", Tree::Text(checksum.to_owned()));
        }
        footer.set("counts", Tree::Object(counts));
        line.clear();
        footer.write(&mut line);
        writeln!(out, "{line}")
    }

    /// Returns the part of a member that is written in the header of JSON lines: everything except the elements that
    /// have their own line. Nodes and empty lists have no lines, so they are in the header.
    fn header_value(&self, value: &MemberValue, key: &str) -> Result<Option<Tree>, FormatError> {
        Ok(match value {
            MemberValue::Tree(tree) => Some(tree.clone()),
            MemberValue::List(_, items) if items.is_empty() && key != MEMORIES_SECTION.name => {
                Some(Tree::Array(vec![]))
            }
            MemberValue::List(section, items) if section.key == "node" => {
                Some(Tree::Array(items.iter().map(|i| self.parse_element(i)).collect::<Result<_, _>>()?))
            }
            MemberValue::List(..) => None,
            MemberValue::Object(members) => {
                let mut out = Vec::new();
                for (key, value) in members {
                    out.extend(self.header_value(value, key)?.map(|tree| (key.clone(), tree)));
                }
                Some(Tree::Object(out))
            }
        })
    }

    fn list(&self, section: &Section) -> Option<&Vec<String>> {
        let members = match section.parent {
            "" => &self.members,
            parent => match self.members.iter().find(|(k, _)| k == parent) {
                Some((_, MemberValue::Object(members))) => members,
                _ => return None,
            },
        };
        match members.iter().find(|(k, _)| k == section.name) {
            Some((_, MemberValue::List(_, items))) => Some(items),
            _ => None,
        }
    }
}

/// Canonical text of a member. In the header object, `checksum` is left out.
pub(super) fn tree_text(key: &str, tree: &Tree, is_root: bool) -> String {
    let mut out = String::new();
    if is_root && (key == "export" || key == "export_meta") {
        let mut header = tree.clone();
        header.remove("checksum");
        canonical(&header, &mut out);
    } else {
        canonical(tree, &mut out);
    }
    out
}

fn write_json_member(key: &str, value: &MemberValue, indent: &str, out: &mut dyn Write) -> std::io::Result<()> {
    let mut text = String::from(indent);
    write_string(key, &mut text);
    text.push_str(": ");
    match value {
        MemberValue::Tree(tree) => {
            tree.write(&mut text);
            out.write_all(text.as_bytes())
        }
        MemberValue::List(_, items) if items.is_empty() => write!(out, "{text}[]"),
        MemberValue::List(_, items) => {
            writeln!(out, "{text}[")?;
            for (i, item) in items.iter().enumerate() {
                out.write_all(if i > 0 { b",\n" } else { b"" })?;
                write!(out, "{indent}  ")?;
                out.write_all(item.as_bytes())?;
            }
            write!(out, "\n{indent}]")
        }
        MemberValue::Object(members) => {
            writeln!(out, "{text}{{")?;
            for (i, (key, value)) in members.iter().enumerate() {
                out.write_all(if i > 0 { b",\n" } else { b"" })?;
                write_json_member(key, value, &format!("{indent}  "), out)?;
            }
            write!(out, "\n{indent}}}")
        }
    }
}

/// The members of a tree, with empty lists of records.
pub(super) fn members_of(tree: Tree, parent: &str) -> Vec<(String, MemberValue)> {
    let Tree::Object(members) = tree else { return vec![] };
    let mut out: Vec<(String, MemberValue)> = Vec::new();
    for (key, value) in members {
        let value = match (section_named(parent, &key), value) {
            (Some(section), Tree::Array(_)) => MemberValue::List(section, vec![]),
            (None, value @ Tree::Object(_)) if parent.is_empty() && super::sections::parent_named(&key).is_some() => {
                MemberValue::Object(members_of(value, &key))
            }
            (_, value) => MemberValue::Tree(value),
        };
        // If a key is repeated, the last value is used, as in the reader.
        out.retain(|(k, _)| *k != key);
        out.push((key, value));
    }
    out
}
