//! Groups the files of one source by role, and determines the version and the key scope of a store.
use super::{
    document::{self, Document},
    forms::version,
    schema::STORE_SCHEMA,
};
use mementory_format::{Catalog, Detected, FormatError, Member, Role, folded_name};
use mementory_json::Tree;
use mementory_model::{Issue, Limits};
use std::collections::HashSet;

/// Lists of records in a store.
pub(super) const STORE_LISTS: [&str; 3] = ["memories", "relations", "conversations_index"];

/// One detected source.
pub(super) struct Bundle<'a> {
    pub catalog: &'a Catalog,
    pub limits: &'a Limits,
    pub store: Option<&'a Member>,
    pub conversations: Vec<&'a Member>,
    pub embeddings: Vec<&'a Member>,
    pub passthrough_files: Vec<&'a Member>,
    /// Folder of the store inside its archive or input folder, ending in `/`. Empty if there is no store.
    pub folder: String,
}

/// Issue codes of the catalog for a file that exists but cannot be read.
const UNREADABLE_CODES: [&str; 6] =
    ["encrypted", "unsupported_compression", "link", "not_a_regular_file", "unsafe_name", "duplicate_name"];

impl<'a> Bundle<'a> {
    /// The files of the bundle that exist but cannot be read, each with the code and the issue of the catalog. They
    /// must be reported, because otherwise the bundle would look as if it never had these files.
    pub fn unreadable_files(&self) -> impl Iterator<Item = (&'static str, &'a Issue)> {
        let any_file = self.store.or(self.conversations.first().copied()).or(self.embeddings.first().copied());
        let place_prefix = any_file.and_then(|file| file.place.strip_suffix(file.name.as_str())).unwrap_or_default();
        let base = format!("{place_prefix}{}", self.folder);
        self.catalog.issues().iter().filter_map(move |issue| {
            let path = issue.place.strip_prefix(&base).unwrap_or_default();
            let is_store = path.rsplit('/').next() == Some("memory-store.json")
                && (self.store.is_none() || path == "memory-store.json");
            let is_companion = path == "embeddings.json" || path.starts_with("conversations/");
            let code = UNREADABLE_CODES.into_iter().find(|code| *code == issue.code)?;
            (is_store || is_companion).then_some((code, issue))
        })
    }

    /// Groups the files of a detected source by role.
    pub fn open(catalog: &'a Catalog, detected: &Detected, limits: &'a Limits) -> Result<Self, FormatError> {
        let parts = |role: Role| -> Vec<&'a Member> {
            let with_role = detected.claim.parts.iter().filter(|p| p.role == role);
            with_role.filter_map(|p| catalog.members().get(p.member)).collect()
        };
        let store = parts(Role::Memories).first().copied();
        if detected.claim.parts.is_empty() {
            return Err(FormatError::invalid("malformed", "bundle", "no document"));
        }
        let folder = match store {
            Some(store) => store.name.rfind('/').map_or("", |at| &store.name[..=at]).to_owned(),
            None => String::new(),
        };
        Ok(Self {
            catalog,
            limits,
            store,
            conversations: parts(Role::Conversations),
            embeddings: parts(Role::Records),
            passthrough_files: parts(Role::Sidecar),
            folder,
        })
    }

    /// The files in a folder whose names differ from that of another file only by case or Unicode normalisation. On a
    /// system that cannot tell the names apart, one file would replace the other. The names in an archive are checked
    /// when it is opened.
    pub fn similar_files(&self) -> Vec<&'a Member> {
        let companions = self.conversations.iter().chain(&self.embeddings).copied();
        let mut names = HashSet::new();
        let is_similar =
            |file: &&Member| file.archive.is_none() && !names.insert((file.root, folded_name(&file.place)));
        self.store.into_iter().chain(companions).filter(is_similar).collect()
    }

    /// Path of a member inside the bundle.
    pub fn path_of<'m>(&self, member: &'m Member) -> &'m str {
        member.name.strip_prefix(&self.folder).unwrap_or(&member.name)
    }
}

/// Major and minor version of a document, or 1.0 if the document states no version. Fails for malformed versions and
/// for major versions other than 1 (§22.3).
pub(super) fn supported_version(document: &Document, place: &str) -> Result<(u64, u64), FormatError> {
    let raw = document.raw("schema_version").map(|raw| raw.get().chars().take(20).collect::<String>());
    let version_text = document.text_member("schema_version").or(raw).unwrap_or_default();
    match version(&version_text) {
        Some((1, minor)) => Ok((1, minor)),
        None if document.raw("schema_version").is_none() => Ok((1, 0)),
        None if !is_of_another_major(&version_text) => {
            let message = "schema_version is not a version such as 1.0";
            Err(FormatError::invalid("version_malformed", format!("{place}/schema_version"), message))
        }
        _ => Err(FormatError::Version { place: place.to_owned(), version: version_text.chars().take(40).collect() }),
    }
}

/// True if a malformed version begins with an unsupported major version.
fn is_of_another_major(version: &str) -> bool {
    let major: String = version.chars().take_while(char::is_ascii_digit).collect();
    !major.is_empty() && major.parse::<u64>() != Ok(1)
}

/// Scope of the record keys of a store. It contains the owner's id, because memory ids may repeat in stores of other
/// people.
pub(super) fn scope(outline: Option<&Tree>) -> String {
    let owner = outline.filter(|t| t.get("schema").and_then(Tree::as_str).is_none_or(|s| s == STORE_SCHEMA));
    scope_of_owner(owner.and_then(|t| t.get("owner")))
}

/// Key scope of the records of a store with this owner.
pub(super) fn scope_of_owner(owner: Option<&Tree>) -> String {
    match owner.and_then(|owner| document::id(owner, "id")) {
        Some(id) if !id.is_empty() => format!("{KEY_SCOPE}:{id}"),
        _ => KEY_SCOPE.to_owned(),
    }
}

/// Id of the format. Every key scope begins with it.
pub(super) const KEY_SCOPE: &str = "pam";
