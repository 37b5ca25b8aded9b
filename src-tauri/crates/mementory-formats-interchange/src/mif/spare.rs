//! Elements that are only nearly JSON. In JSON lines and in lists that a parser gets past they cost themselves anyway;
//! here they are taken out of a document that no parser gets through because of them.
use super::{
    sections::{SECTIONS, Section, find},
    source::fault,
    wire::list_mut,
};
use mementory_json::Tree;
use std::{collections::HashMap, ops::Range};

/// Elements that were taken out: JSON pointer, and the code of why.
pub(super) type Spared = HashMap<String, &'static str>;

/// A document with `null` in the place of each element that is nearly JSON. None = there is none, so that what is wrong
/// stands elsewhere. What comes out need not be JSON either: the caller parses it.
pub(super) fn spare(text: &[u8]) -> Option<(Vec<u8>, Spared)> {
    let mut scan = Scan { text, out: Vec::with_capacity(text.len()), done: 0, spared: Spared::new() };
    let mut counts = [0; SECTIONS.len()];
    let mut open: Option<List> = None;
    // Names of the members that the walk is in: of the document, and of a graph.
    let mut names: [Range<usize>; 2] = Default::default();
    let (mut at, mut depth, mut word) = (0, 0usize, 0..0);
    while let Some(byte) = text.get(at) {
        match byte {
            b'"' => {
                let end = end_of_string(text, at + 1);
                word = at + 1..end;
                at = end;
            }
            b':' if open.is_none() && (1..=2).contains(&depth) => names[depth - 1] = word.clone(),
            b'{' | b'[' => {
                depth += 1;
                if depth == 2 {
                    names[1] = 0..0;
                }
                let name = |n: usize| std::str::from_utf8(&text[names[n].clone()]).unwrap_or_default();
                let section = match (byte, depth) {
                    (b'[', 2) => find("", name(0)),
                    (b'[', 3) => find(name(0), name(1)),
                    _ => None,
                };
                if let (None, Some(section)) = (&open, section) {
                    open = Some(List { section, depth, start: at + 1 });
                }
            }
            b',' => {
                if let Some(list) = open.as_mut().filter(|list| list.depth == depth) {
                    scan.element(list, at, &mut counts);
                    list.start = at + 1;
                }
            }
            b'}' | b']' => {
                if let Some(list) = open.take_if(|list| list.depth == depth) {
                    scan.element(&list, at, &mut counts);
                }
                depth = depth.checked_sub(1)?;
            }
            _ => {}
        }
        at += 1;
    }
    scan.out.extend_from_slice(&text[scan.done..]);
    (!scan.spared.is_empty()).then_some((scan.out, scan.spared))
}

/// Position of the quote that ends a string, or the end of the text.
fn end_of_string(text: &[u8], mut at: usize) -> usize {
    while let Some(byte) = text.get(at) {
        match byte {
            b'"' => return at,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    text.len()
}

/// A list that the walk is in.
struct List {
    section: &'static Section,
    depth: usize,
    start: usize,
}

struct Scan<'t> {
    text: &'t [u8],
    out: Vec<u8>,
    /// Up to where the text is in `out`.
    done: usize,
    spared: Spared,
}

impl Scan<'_> {
    fn element(&mut self, list: &List, end: usize, counts: &mut [u64; SECTIONS.len()]) {
        let json = &self.text[list.start..end];
        let count = &mut counts[list.section.number()];
        if json.trim_ascii().is_empty() {
            return; // an empty list
        }
        if let Some(code) = fault(json) {
            self.spared.insert(list.section.pointer(*count), code);
            self.out.extend_from_slice(&self.text[self.done..list.start]);
            self.out.extend_from_slice(b"null");
            self.done = end;
        }
        *count += 1;
    }
}

/// Takes the elements with numbers that JSON does not have out of a document from YAML.
pub(super) fn spare_tree(root: &mut Tree) -> Spared {
    let mut spared = Spared::new();
    for section in SECTIONS {
        let Some(Tree::Array(items)) = list_mut(root, section) else { continue };
        for (index, item) in items.iter_mut().enumerate() {
            if not_finite(item).is_some() {
                spared.insert(section.pointer(index as u64), "nan");
                *item = Tree::Null;
            }
        }
    }
    spared
}

/// Where in a document from YAML a number is none that JSON has, as a JSON pointer.
pub(super) fn not_finite(tree: &Tree) -> Option<String> {
    match tree {
        Tree::Number(token) => token.contains(['n', 'N']).then(String::new),
        Tree::Array(items) => items.iter().enumerate().find_map(|(i, item)| Some(format!("/{i}{}", not_finite(item)?))),
        Tree::Object(members) => members.iter().find_map(|(key, item)| Some(format!("/{key}{}", not_finite(item)?))),
        _ => None,
    }
}
