//! Table of all lists that contain records, in both versions, for the readers and writers of all encodings.
use mementory_model::Kind;

/// A list of records in a document.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Section {
    /// Object that contains the list. Empty for the document itself.
    pub parent: &'static str,
    /// Name of the list.
    pub name: &'static str,
    /// Value of `type` in JSON lines with elements of this list.
    pub line: &'static str,
    /// Name of the list in the counts of the footer of JSON lines.
    pub count: &'static str,
    /// Kind of the records in the list.
    pub kind: Kind,
    /// Prefix of the keys of these records.
    pub key: &'static str,
    /// Member that the record's text is written to. Empty if there is none.
    pub text: &'static str,
    /// Member with the title. Empty if there is no such member.
    pub title: &'static str,
    /// Member with the time of the last change. Empty if there is no such member.
    pub updated: &'static str,
}

const fn section(
    place: (&'static str, &'static str),
    line: (&'static str, &'static str),
    kind: Kind,
    key: &'static str,
    [text, title, updated]: [&'static str; 3],
) -> Section {
    Section { parent: place.0, name: place.1, line: line.0, count: line.1, kind, key, text, title, updated }
}

/// The list of memories, in both versions.
pub(super) static MEMORIES_SECTION: Section =
    section(("", "memories"), ("memory", "memories"), Kind::Memory, "memory", ["content", "", "updated_at"]);
/// The list of todos, in both versions.
pub(super) static TASKS_SECTION: Section =
    section(("", "todos"), ("todo", "todos"), Kind::Todo, "todo", ["content", "", "updated_at"]);
/// The list of projects in version 2.
pub(super) static PROJECTS_SECTION: Section =
    section(("", "projects"), ("project", "projects"), Kind::Profile, "project", ["description", "name", ""]);
/// The list of reminders in version 2.
pub(super) static REMINDERS_SECTION: Section =
    section(("", "reminders"), ("reminder", "reminders"), Kind::Todo, "reminder", ["content", "", ""]);
/// The list of nodes in version 1. Only nodes of type `entity` are records.
pub(super) static NODES_SECTION: Section =
    section(("graph", "nodes"), ("graph_node", "graph_nodes"), Kind::Entity, "node", ["", "", ""]);
/// The list of edges in version 1.
pub(super) static EDGES_SECTION: Section =
    section(("graph", "edges"), ("graph_edge", "graph_edges"), Kind::Relation, "edge", ["", "", ""]);
/// The list of entities in version 2.
pub(super) static ENTITIES_SECTION: Section =
    section(("knowledge_graph", "entities"), ("entity", "entities"), Kind::Entity, "entity", ["summary", "name", ""]);
/// The list of relationships in version 2.
pub(super) static RELATIONSHIPS_SECTION: Section = section(
    ("knowledge_graph", "relationships"),
    ("relationship", "relationships"),
    Kind::Relation,
    "relationship",
    ["context", "", ""],
);
/// The list of episodes in version 2.
pub(super) static EPISODES_SECTION: Section = section(
    ("knowledge_graph", "episodes"),
    ("episode", "episodes"),
    Kind::Resource,
    "episode",
    ["content", "name", ""],
);

pub(super) static SECTIONS: [&Section; 9] = [
    &MEMORIES_SECTION,
    &TASKS_SECTION,
    &PROJECTS_SECTION,
    &REMINDERS_SECTION,
    &NODES_SECTION,
    &EDGES_SECTION,
    &ENTITIES_SECTION,
    &RELATIONSHIPS_SECTION,
    &EPISODES_SECTION,
];

impl Section {
    /// JSON pointer of an element.
    pub fn pointer(&self, index: u64) -> String {
        if self.parent.is_empty() {
            format!("/{}/{index}", self.name)
        } else {
            format!("/{}/{}/{index}", self.parent, self.name)
        }
    }

    /// Index in [`SECTIONS`].
    pub fn table_index(&self) -> usize {
        SECTIONS.iter().position(|s| *s == self).unwrap_or_default()
    }
}

/// The list with this name in the object `parent`. None if there is no such list of records.
pub(super) fn section_named(parent: &str, name: &str) -> Option<&'static Section> {
    SECTIONS.into_iter().find(|s| s.parent == parent && s.name == name)
}

/// The list for JSON lines of this type.
pub(super) fn section_for_line_type(line: &str) -> Option<&'static Section> {
    SECTIONS.into_iter().find(|s| s.line == line)
}

/// The name as a static string if the object with this name contains lists of records.
pub(super) fn parent_named(name: &str) -> Option<&'static str> {
    SECTIONS.into_iter().map(|s| s.parent).find(|p| !p.is_empty() && *p == name)
}

/// List and position of the element that a JSON pointer points to.
pub(super) fn section_at_pointer(pointer: &str) -> Option<(&'static Section, u64)> {
    let (path, index) = pointer.strip_prefix('/')?.rsplit_once('/')?;
    let (parent, name) = path.split_once('/').unwrap_or(("", path));
    Some((section_named(parent, name)?, index.parse().ok()?))
}
