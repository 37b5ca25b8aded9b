//! A document that is being written: its members in order, its lists as JSON texts; and the three encodings of it.
use super::{
    canonical::{canonical, order},
    sections::{MEMORIES, SECTIONS, Section, find},
    source::Form,
    wire::Shape,
    yaml_write,
};
use mementory_format::FormatError;
use mementory_json::{Tree, write_string};
use sha2::{Digest, Sha256};
use std::io::Write;

/// A member's value.
pub(super) enum Part {
    /// Anything.
    Tree(Tree),
    /// A list of records.
    List(&'static Section, Vec<String>),
    /// An object that has lists of records in it.
    Object(Vec<(String, Part)>),
}

/// The document.
pub(super) struct Document {
    /// Members in the order in which they are written.
    pub members: Vec<(String, Part)>,
    /// Nesting that elements may have.
    pub depth: u32,
}

impl Document {
    fn element(&self, json: &str) -> Result<Tree, FormatError> {
        Tree::parse(json, self.depth + 8).map_err(|e| FormatError::invalid("malformed", "export", e.to_string()))
    }

    /// SHA-256 over the RFC 8785 form of the document without its header's `checksum`.
    pub fn checksum(&self) -> Result<String, FormatError> {
        let mut digest = Sha256::new();
        self.hash(&self.members, true, &mut digest)?;
        Ok(format!("sha256:{}", hex::encode(digest.finalize())))
    }

    fn hash(&self, members: &[(String, Part)], top: bool, digest: &mut Sha256) -> Result<(), FormatError> {
        let mut sorted: Vec<&(String, Part)> = members.iter().collect();
        sorted.sort_by(|a, b| order(&a.0, &b.0));
        digest.update("{");
        for (i, (key, part)) in sorted.into_iter().enumerate() {
            let mut out = String::from(if i > 0 { "," } else { "" });
            write_string(key, &mut out);
            out.push(':');
            digest.update(&out);
            match part {
                Part::Tree(tree) => digest.update(tree_text(key, tree, top)),
                Part::Object(members) => self.hash(members, false, digest)?,
                Part::List(_, items) => {
                    digest.update("[");
                    for (i, item) in items.iter().enumerate() {
                        let mut out = String::from(if i > 0 { "," } else { "" });
                        canonical(&self.element(item)?, &mut out);
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
        if let Some((_, Part::Tree(header))) = self.members.iter_mut().find(|(k, _)| k == shape.header()) {
            header.set(name, value);
        }
    }

    /// Writes it all.
    pub fn write(&self, form: Form, checksum: &str, out: &mut dyn Write) -> Result<(), FormatError> {
        let result = match form {
            Form::Yaml => self.yaml(out),
            Form::Jsonl => self.lines(checksum, out),
            _ => self.json(out),
        };
        result.map_err(|e| FormatError::io("export", e))
    }

    fn json(&self, out: &mut dyn Write) -> std::io::Result<()> {
        out.write_all(b"{\n")?;
        for (i, (key, part)) in self.members.iter().enumerate() {
            if i > 0 {
                out.write_all(b",\n")?;
            }
            json_member(key, part, "  ", out)?;
        }
        out.write_all(b"\n}\n")
    }

    fn yaml(&self, out: &mut dyn Write) -> std::io::Result<()> {
        self.yaml_members(&self.members, 0, out)
    }

    fn yaml_members(&self, members: &[(String, Part)], level: usize, out: &mut dyn Write) -> std::io::Result<()> {
        for (key, part) in members {
            let mut text = String::new();
            match part {
                Part::Tree(tree) => yaml_write::member(key, tree, level, &mut text),
                Part::Object(members) if members.is_empty() => {
                    yaml_write::member(key, &Tree::Object(vec![]), level, &mut text);
                }
                Part::List(_, items) if items.is_empty() => {
                    yaml_write::member(key, &Tree::Array(vec![]), level, &mut text);
                }
                Part::Object(members) => {
                    writeln!(out, "{}{key}:", "  ".repeat(level))?;
                    self.yaml_members(members, level + 1, out)?;
                }
                Part::List(_, items) => {
                    writeln!(out, "{}{key}:", "  ".repeat(level))?;
                    for item in items {
                        let tree = self.element(item).map_err(std::io::Error::other)?;
                        text.clear();
                        yaml_write::element(&tree, level + 1, &mut text);
                        out.write_all(text.as_bytes())?;
                    }
                    text.clear();
                }
            }
            out.write_all(text.as_bytes())?;
        }
        Ok(())
    }

    fn lines(&self, checksum: &str, out: &mut dyn Write) -> std::io::Result<()> {
        let mut header = Tree::Object(vec![("type".into(), Tree::Text("header".into()))]);
        for (key, part) in &self.members {
            if let Some(tree) = self.in_header(part, key).map_err(std::io::Error::other)? {
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
                    self.element(item).map_err(std::io::Error::other)?.write(&mut line);
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

    /// What of a member stands in the header of JSON lines: all but the lists that have lines of their own. An empty
    /// list stands there too, or it would not come back.
    fn in_header(&self, part: &Part, key: &str) -> Result<Option<Tree>, FormatError> {
        Ok(match part {
            Part::Tree(tree) => Some(tree.clone()),
            Part::List(_, items) if items.is_empty() && key != MEMORIES.name => Some(Tree::Array(vec![])),
            Part::List(section, items) if section.key == "node" => {
                Some(Tree::Array(items.iter().map(|i| self.element(i)).collect::<Result<_, _>>()?))
            }
            Part::List(..) => None,
            Part::Object(members) => {
                let mut out = Vec::new();
                for (key, part) in members {
                    out.extend(self.in_header(part, key)?.map(|tree| (key.clone(), tree)));
                }
                Some(Tree::Object(out))
            }
        })
    }

    fn list(&self, section: &Section) -> Option<&Vec<String>> {
        let members = match section.parent {
            "" => &self.members,
            parent => match self.members.iter().find(|(k, _)| k == parent) {
                Some((_, Part::Object(members))) => members,
                _ => return None,
            },
        };
        match members.iter().find(|(k, _)| k == section.name) {
            Some((_, Part::List(_, items))) => Some(items),
            _ => None,
        }
    }
}

/// Canonical text of a member; a header without its checksum.
pub(super) fn tree_text(key: &str, tree: &Tree, top: bool) -> String {
    let mut out = String::new();
    if top && (key == "export" || key == "export_meta") {
        let mut header = tree.clone();
        header.remove("checksum");
        canonical(&header, &mut out);
    } else {
        canonical(tree, &mut out);
    }
    out
}

fn json_member(key: &str, part: &Part, indent: &str, out: &mut dyn Write) -> std::io::Result<()> {
    let mut text = String::from(indent);
    write_string(key, &mut text);
    text.push_str(": ");
    match part {
        Part::Tree(tree) => {
            tree.write(&mut text);
            out.write_all(text.as_bytes())
        }
        Part::List(_, items) if items.is_empty() => write!(out, "{text}[]"),
        Part::List(_, items) => {
            writeln!(out, "{text}[")?;
            for (i, item) in items.iter().enumerate() {
                out.write_all(if i > 0 { b",\n" } else { b"" })?;
                write!(out, "{indent}  ")?;
                out.write_all(item.as_bytes())?;
            }
            write!(out, "\n{indent}]")
        }
        Part::Object(members) => {
            writeln!(out, "{text}{{")?;
            for (i, (key, part)) in members.iter().enumerate() {
                out.write_all(if i > 0 { b",\n" } else { b"" })?;
                json_member(key, part, &format!("{indent}  "), out)?;
            }
            write!(out, "\n{indent}}}")
        }
    }
}

/// A tree with lists of records in it, as members: every list starts empty.
pub(super) fn members_of(tree: Tree, parent: &str) -> Vec<(String, Part)> {
    let Tree::Object(members) = tree else { return vec![] };
    let mut out: Vec<(String, Part)> = Vec::new();
    for (key, value) in members {
        let part = match (find(parent, &key), value) {
            (Some(section), Tree::Array(_)) => Part::List(section, vec![]),
            (None, value @ Tree::Object(_)) if parent.is_empty() && super::sections::is_parent(&key).is_some() => {
                Part::Object(members_of(value, &key))
            }
            (_, value) => Part::Tree(value),
        };
        // The last one of a key wins, as in reading.
        out.retain(|(k, _)| *k != key);
        out.push((key, part));
    }
    out
}
