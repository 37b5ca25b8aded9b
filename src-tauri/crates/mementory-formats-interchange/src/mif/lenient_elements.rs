//! Replaces elements that are only nearly JSON with `null`, so that the parser can read the other elements of the
//! document. JSON lines need no replacement, because an invalid line does not stop the parser.
use super::{
    json_faults::json_fault,
    sections::{SECTIONS, Section, section_named},
    wire::list_mut,
};
use mementory_json::Tree;
use std::{collections::HashMap, ops::Range};

/// JSON pointer and fault code of each replaced element.
pub(super) type FaultyElements = HashMap<String, &'static str>;

/// Replaces each element that is only nearly JSON with `null`. None if there is no such element. The result may still
/// be invalid JSON.
pub(super) fn blank_faulty_elements(text: &[u8]) -> Option<(Vec<u8>, FaultyElements)> {
    let mut scan = ElementScan { text, out: Vec::with_capacity(text.len()), copied: 0, faulty: FaultyElements::new() };
    let mut counts = [0; SECTIONS.len()];
    let mut open: Option<List> = None;
    // Byte ranges of the names of the current members: at the top level, and in an object one level below.
    let mut names: [Range<usize>; 2] = Default::default();
    let (mut at, mut depth, mut last_string) = (0, 0usize, 0..0);
    while let Some(byte) = text.get(at) {
        match byte {
            b'"' => {
                let end = end_of_string(text, at + 1);
                last_string = at + 1..end;
                at = end;
            }
            b':' if open.is_none() && (1..=2).contains(&depth) => names[depth - 1] = last_string.clone(),
            b'{' | b'[' => {
                depth += 1;
                if depth == 2 {
                    names[1] = 0..0;
                }
                let name = |n: usize| std::str::from_utf8(&text[names[n].clone()]).unwrap_or_default();
                let section = match (byte, depth) {
                    (b'[', 2) => section_named("", name(0)),
                    (b'[', 3) => section_named(name(0), name(1)),
                    _ => None,
                };
                if let (None, Some(section)) = (&open, section) {
                    open = Some(List { section, depth, start: at + 1 });
                }
            }
            b',' => {
                if let Some(list) = open.as_mut().filter(|list| list.depth == depth) {
                    scan.replace_if_faulty(list, at, &mut counts);
                    list.start = at + 1;
                }
            }
            b'}' | b']' => {
                if let Some(list) = open.take_if(|list| list.depth == depth) {
                    scan.replace_if_faulty(&list, at, &mut counts);
                }
                depth = depth.checked_sub(1)?;
            }
            _ => {}
        }
        at += 1;
    }
    scan.out.extend_from_slice(&text[scan.copied..]);
    (!scan.faulty.is_empty()).then_some((scan.out, scan.faulty))
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

/// The list that is being scanned.
struct List {
    section: &'static Section,
    depth: usize,
    start: usize,
}

struct ElementScan<'t> {
    text: &'t [u8],
    out: Vec<u8>,
    /// Number of bytes of the text that are already in `out`, copied or replaced.
    copied: usize,
    faulty: FaultyElements,
}

impl ElementScan<'_> {
    fn replace_if_faulty(&mut self, list: &List, end: usize, counts: &mut [u64; SECTIONS.len()]) {
        let json = &self.text[list.start..end];
        let count = &mut counts[list.section.table_index()];
        if json.trim_ascii().is_empty() {
            return; // an empty list
        }
        if let Some(code) = json_fault(json) {
            self.faulty.insert(list.section.pointer(*count), code);
            self.out.extend_from_slice(&self.text[self.copied..list.start]);
            self.out.extend_from_slice(b"null");
            self.copied = end;
        }
        *count += 1;
    }
}

/// Replaces each element of a YAML document that contains a number which JSON cannot express (`.nan`, `.inf`) with
/// `null`.
pub(super) fn blank_non_finite(root: &mut Tree) -> FaultyElements {
    let mut faulty = FaultyElements::new();
    for section in SECTIONS {
        let Some(Tree::Array(items)) = list_mut(root, section) else { continue };
        for (index, item) in items.iter_mut().enumerate() {
            if find_non_finite(item).is_some() {
                faulty.insert(section.pointer(index as u64), "nan");
                *item = Tree::Null;
            }
        }
    }
    faulty
}

/// JSON pointer of the first number in a YAML document that JSON cannot express (`.nan`, `.inf`).
pub(super) fn find_non_finite(tree: &Tree) -> Option<String> {
    match tree {
        Tree::Number(token) => token.contains(['n', 'N']).then(String::new),
        Tree::Array(items) => {
            items.iter().enumerate().find_map(|(i, item)| Some(format!("/{i}{}", find_non_finite(item)?)))
        }
        Tree::Object(members) => {
            members.iter().find_map(|(key, item)| Some(format!("/{key}{}", find_non_finite(item)?)))
        }
        _ => None,
    }
}
