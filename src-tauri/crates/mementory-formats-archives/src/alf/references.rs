//! Finds dangling references in an archive: in `supersedes` and `referenced_by`, in the namespaces of principals, and
//! from capabilities to credentials. The specification tolerates them (§3.1.12), so they are only warnings. Also finds
//! memories that supersede each other.
use super::capability_check::CapabilityCheck;
use super::findings::Findings;
use super::identity;
use mementory_json::Tree;
use std::collections::{HashMap, HashSet};

/// Largest number of references that are checked. A hostile file may have one in every line.
const MAX_REFERENCES: usize = 200_000;
/// Prefix of the namespace for memories about a principal (spec §3.3.2).
const PRINCIPAL_NAMESPACE: &str = "principal_context:";
/// Issue code for a capability that depends on the host. This is not a fault of the file, so it is not reported here.
const HOST_DEPENDENT_CODE: &str = "capability_host_dependent";

/// Ids and references of one archive. Letter case is ignored when ids are compared, because ids are UUIDs.
#[derive(Default)]
pub(super) struct References {
    memories: HashSet<Box<str>>,
    /// Ids of the elements of documents, and their places.
    elements: Vec<(Box<str>, Box<str>)>,
    principals: HashSet<String>,
    superseded: Vec<Supersession>,
    referenced_by: Vec<(Box<str>, Box<str>)>,
    namespaces: Vec<(Box<str>, Box<str>)>,
    capabilities: CapabilityCheck,
}

/// A memory that supersedes another.
struct Supersession {
    /// Id of the memory, if it has one.
    by: Option<Box<str>>,
    /// Id of the memory that it supersedes.
    superseded: Box<str>,
    place: Box<str>,
}

impl Supersession {
    fn is_of_itself(&self) -> bool {
        self.by.as_ref() == Some(&self.superseded)
    }
}

impl References {
    /// Adds the ids and references of a layer's document.
    pub(super) fn add_document(&mut self, layer: &str, tree: &Tree, place: &str) {
        let rows = match tree.get(layer) {
            Some(Tree::Array(rows)) => rows.as_slice(),
            _ => &[],
        };
        if layer == "identity" {
            add_ids(std::slice::from_ref(identity::document(tree)), &mut self.elements, &|_| place.to_owned());
        }
        add_ids(rows, &mut self.elements, &|i| format!("{place}#/{layer}/{i}"));
        match layer {
            "identity" => self.capabilities.add_identity(identity::document(tree)),
            "credentials" => rows.iter().for_each(|row| self.capabilities.add_credential(row)),
            "principals" => self.principals.extend(rows.iter().filter_map(|row| text(row, "id")).map(lowercased)),
            "attachments" => {
                for (i, row) in rows.iter().enumerate() {
                    let Some(Tree::Array(ids)) = row.get("referenced_by") else { continue };
                    for id in ids.iter().filter_map(Tree::as_str) {
                        add(&mut self.referenced_by, id, &format!("{place}#/attachments/{i}"));
                    }
                }
            }
            _ => {}
        }
    }

    /// Adds a memory. Returns false if another memory has the same id.
    pub(super) fn add_memory(&mut self, memory: MemoryReferences, place: &str) -> bool {
        let MemoryReferences { id, superseded, principal } = memory;
        if let Some(superseded) = superseded.filter(|_| self.superseded.len() < MAX_REFERENCES) {
            self.superseded.push(Supersession { by: id.clone(), superseded, place: place.into() });
        }
        if let Some(principal) = principal.filter(|_| self.namespaces.len() < MAX_REFERENCES) {
            self.namespaces.push((principal, place.into()));
        }
        id.is_none_or(|id| self.memories.insert(id))
    }

    /// Reports the dangling references.
    pub(super) fn report(self, place: &str, findings: &mut Findings) {
        let places_of_missing = |list: Vec<(Box<str>, Box<str>)>, known: &dyn Fn(&str) -> bool| {
            list.into_iter().filter(|(id, _)| !known(id)).map(|(_, at)| at).collect::<Vec<_>>()
        };
        let is_memory = |id: &str| self.memories.contains(id);
        for (_, at) in self.elements.iter().filter(|(id, _)| is_memory(id)) {
            let message = "a memory has the id of this element; deltas and links with this id mean the memory";
            findings.warning("id_of_a_memory", at, message);
        }
        for at in self.superseded.iter().filter(|s| !is_memory(&s.superseded)).map(|s| &s.place) {
            findings.warning("supersedes_missing", at, "the memory that this one supersedes is not in the archive");
        }
        for at in cycle_places(&self.superseded) {
            let message = "memories supersede each other in a ring, so that none of them is current";
            findings.warning("supersedes_cycle", at, message);
        }
        for at in places_of_missing(self.referenced_by, &is_memory) {
            let message = "a memory that references this file is not in the archive";
            findings.warning("referenced_by_missing", &at, message);
        }
        for at in places_of_missing(self.namespaces, &|id| self.principals.contains(id)) {
            findings.warning("principal_missing", &at, "the principal of this namespace is not in the archive");
        }
        for issue in self.capabilities.issues(place).into_iter().filter(|issue| issue.code != HOST_DEPENDENT_CODE) {
            findings.warning(&issue.code, &issue.place, &issue.message);
        }
    }
}

/// The id and the references of a memory, in lower case.
pub(super) struct MemoryReferences {
    id: Option<Box<str>>,
    /// Id of the memory that this memory supersedes.
    superseded: Option<Box<str>>,
    /// Id of the principal that the namespace names.
    principal: Option<Box<str>>,
}

impl MemoryReferences {
    /// The id and the references of the memory in a line.
    pub(super) fn of(line: &Tree) -> Self {
        let principal = text(line, "namespace").and_then(|name| name.strip_prefix(PRINCIPAL_NAMESPACE));
        let [id, superseded, principal] =
            [text(line, "id"), text(line, "supersedes"), principal].map(|id| id.map(|id| lowercased(id).into()));
        Self { id, superseded, principal }
    }
}

/// Returns the place of one memory of each ring of memories of which each supersedes the next. A memory that supersedes
/// itself is not a ring, and has a finding of its own.
fn cycle_places(list: &[Supersession]) -> Vec<&str> {
    let mut by_id: HashMap<&str, usize> = HashMap::new();
    for (index, supersession) in list.iter().enumerate().filter(|(_, s)| !s.is_of_itself()) {
        if let Some(id) = &supersession.by {
            by_id.entry(id).or_insert(index);
        }
    }
    // For each memory, the walk along the chain of superseded memories that visited it first.
    let mut walks: Vec<Option<usize>> = vec![None; list.len()];
    let mut places = Vec::new();
    for start in 0..list.len() {
        let mut next = Some(start);
        while let Some(index) = next.filter(|index| walks[*index].is_none()) {
            walks[index] = Some(start);
            next = by_id.get(&*list[index].superseded).copied();
        }
        // The walk ends at a memory that an earlier walk visited, or at one that this walk visited: then they are a ring.
        if let Some(index) = next.filter(|index| walks[*index] == Some(start)) {
            places.push(&*list[index].place);
        }
    }
    places
}

/// Adds the ids of rows and their places. `place` is the place of the row with this index.
fn add_ids(rows: &[Tree], list: &mut Vec<(Box<str>, Box<str>)>, place: &dyn Fn(usize) -> String) {
    for (i, row) in rows.iter().enumerate() {
        if let Some(id) = text(row, "id") {
            add(list, id, &place(i));
        }
    }
}

fn add(list: &mut Vec<(Box<str>, Box<str>)>, id: &str, place: &str) {
    if list.len() < MAX_REFERENCES {
        list.push((lowercased(id).into(), place.into()));
    }
}

fn lowercased(id: &str) -> String {
    id.to_ascii_lowercase()
}

fn text<'t>(tree: &'t Tree, key: &str) -> Option<&'t str> {
    tree.get(key).and_then(Tree::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Places of the rings among memories that each supersede one other. The place of a memory is its id.
    fn rings(pairs: &[(&str, &str)]) -> Vec<String> {
        let list: Vec<Supersession> = pairs
            .iter()
            .map(|(by, superseded)| Supersession {
                by: Some((*by).into()),
                superseded: (*superseded).into(),
                place: (*by).into(),
            })
            .collect();
        cycle_places(&list).into_iter().map(str::to_owned).collect()
    }

    #[test]
    fn each_ring_is_found_once() {
        assert_eq!(rings(&[("a", "b"), ("b", "c"), ("d", "c"), ("e", "e"), ("e", "a")]), [""; 0]);
        assert_eq!(rings(&[("a", "b"), ("b", "a")]), ["a"]);
        assert_eq!(
            rings(&[("x", "a"), ("a", "b"), ("b", "c"), ("c", "a"), ("y", "c"), ("p", "q"), ("q", "p")]),
            ["a", "p"]
        );
        assert_eq!(rings(&[("a", "a")]), [""; 0]);
    }
}
