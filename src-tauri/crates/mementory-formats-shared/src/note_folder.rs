//! Folders of Markdown notes in a catalog: Obsidian vaults, and folders or archives that are mostly Markdown.
use super::notion_names::title_and_id;
use mementory_format::{Catalog, Detected, FolderKeys, Member, Part, Role};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Bound;
use std::sync::Arc;

/// Folder with Obsidian's settings at the top of a vault.
const SETTINGS_FOLDER: &str = ".obsidian/";

/// Names of assistants' rules and memory files. Other formats read such files in any folder.
const ASSISTANT_FILES: [&str; 13] = [
    "claude.md",
    "claude.local.md",
    "agents.md",
    "agent.md",
    "gemini.md",
    "memory.md",
    "copilot-instructions.md",
    ".cursorrules",
    ".windsurfrules",
    ".clinerules",
    ".goosehints",
    "agents.override.md",
    "global_rules.md",
];

/// Hidden folders in which other formats read files.
const ASSISTANT_FOLDERS: [&str; 32] = [
    ".claude",
    ".clinerules",
    ".cursor",
    ".github",
    ".windsurf",
    ".codex",
    ".gemini",
    ".openclaw",
    ".zeroclaw",
    ".codeium",
    ".agents",
    ".agent",
    ".aws",
    ".continue",
    ".copilot",
    ".crush",
    ".factory",
    ".goose",
    ".grok",
    ".kimi",
    ".kiro",
    ".letta",
    ".lmstudio",
    ".opencode",
    ".openhands",
    ".pi",
    ".qwen",
    ".roo",
    ".serena",
    ".specstory",
    // Folders in which programs store the data of an account.
    ".config",
    ".local",
];

/// Name of a folder that contains only rules for an agent.
const RULES_FOLDER: &str = ".clinerules";

/// Files that show that a folder is an agent's workspace or memory folder.
const WORKSPACE_FILES: [&str; 4] = ["MEMORY.md", "SOUL.md", "IDENTITY.md", ".alf-agent-id"];

/// Name of the platform of notes that Notion exported.
const NOTION: &str = "notion";
/// Name of the platform of notes in a graph of Logseq, and of the folder with the program's own files in it.
const LOGSEQ: &str = "logseq";
/// File that shows that a folder is a graph of Logseq.
const LOGSEQ_SETTINGS: &str = "logseq/config.edn";
/// Part of the names that Notion gives to archives. The remainder of such a name is new for each export.
const NOTION_ARCHIVE: &str = "Export";
/// Name of a folder that Notion exported.
const NOTION_FOLDER: &str = "Notion";
/// Name of the page on which Notion lists the pages of an export.
const NOTION_INDEX: &str = "index.html";

/// A folder of notes. The lists contain indexes of members in the catalog.
#[derive(Debug, Default)]
pub struct NoteFolder {
    /// Common prefix of the member names. Empty, or ends with `/`.
    pub prefix: String,
    /// Name of the folder, without the extensions and dates by which copies of the folder differ.
    pub name: String,
    /// Markdown files.
    pub notes: Vec<usize>,
    /// Pictures and other files.
    pub files: Vec<usize>,
    /// Bookkeeping files of programs (settings, trash, version control), which are not imported.
    pub program_files: Vec<usize>,
    /// True if the folder contains Obsidian's settings.
    pub is_vault: bool,
    /// True if the user selected a single file, not a folder.
    pub is_single_file: bool,
    /// True if the files show that this is an agent's workspace.
    pub is_workspace: bool,
    /// Number of files that are neither notes nor media (pictures, sound, video, documents), nor tables of Notion.
    pub data_file_count: usize,
    /// Number of notes that Notion exported.
    notion_page_count: usize,
    /// Number of files with the name of the page on which Notion lists the others.
    index_count: usize,
    /// Prefixes of the graphs of Logseq in the same selection or archive. None of them is inside another.
    graphs: Arc<BTreeSet<String>>,
}

impl NoteFolder {
    /// True if more than four out of five files are notes. Media files are not counted.
    pub fn is_mostly_notes(&self) -> bool {
        let index_count = if self.notion_page_count > 0 { 0 } else { self.index_count };
        !self.notes.is_empty() && self.notes.len() > 4 * (self.data_file_count + index_count)
    }

    /// Path of a member in the folder.
    pub fn path<'m>(&self, member: &'m Member) -> &'m str {
        member.name.strip_prefix(self.prefix.as_str()).unwrap_or(&member.name)
    }

    /// The program that wrote a note, if its name or the files beside it show it. A folder may contain notes of
    /// several programs.
    pub fn program_of(&self, member: &Member) -> Option<&'static str> {
        if notion_title(member.file_name()).is_some() {
            return Some(NOTION);
        }
        vault_of(&self.graphs, &member.name).map(|_| LOGSEQ)
    }

    /// All members with their roles. `role` is the role of the notes.
    pub fn parts(&self, role: Role) -> Vec<Part> {
        let part = |role: Role| move |member: &usize| Part { member: *member, role };
        let mut out: Vec<Part> = self.notes.iter().map(part(role)).collect();
        // The other files are attachments only in a vault, because elsewhere they may have nothing to do with the
        // notes.
        let file_role = if self.is_vault { Role::Attachment } else { Role::Beside };
        out.extend(self.files.iter().map(part(file_role)));
        out.extend(self.program_files.iter().map(part(Role::Junk)));
        out.sort_by_key(|part| part.member);
        out
    }

    /// At most `count` notes, spread over the whole folder, so that detection is fast for any number of notes.
    pub fn sample(&self, count: usize) -> impl Iterator<Item = usize> + '_ {
        let step = self.notes.len().div_ceil(count.max(1)).max(1);
        self.notes.iter().copied().step_by(step)
    }

    /// The folder of notes to which a claim belongs. A claim stores only its members, so the folder is determined
    /// again.
    pub fn of(catalog: &Catalog, detected: &Detected) -> Self {
        // The user may have selected many notes as single files, each of which has its own claim.
        if let [part] = detected.claim.parts.as_slice()
            && let Some(member) = catalog.members().get(part.member).filter(|member| is_single_note(member))
        {
            return single_file(member);
        }
        let claimed_members: BTreeSet<usize> = detected.claim.parts.iter().map(|part| part.member).collect();
        let is_claimed = |folder: &NoteFolder| folder.notes.iter().any(|note| claimed_members.contains(note));
        note_folders(catalog).into_iter().find(is_claimed).unwrap_or_default()
    }

    /// The name of the folder, which the record keys of `format` contain. None if the folder has no name.
    pub fn keys(&self, format: &str) -> Option<FolderKeys> {
        FolderKeys::in_scope(format!("{format}:"), self.name.as_str())
    }
}

/// True if a file is Markdown according to its name.
pub fn is_note(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name.ends_with(".md") || name.ends_with(".markdown")
}

/// All folders with notes: each Obsidian vault, the notes outside of such vaults in each opened folder or archive, and
/// each note that was selected as a single file.
pub fn note_folders(catalog: &Catalog) -> Vec<NoteFolder> {
    let mut groups: BTreeMap<(usize, Option<usize>), Vec<&Member>> = BTreeMap::new();
    let mut out = Vec::new();
    for member in catalog.members() {
        if is_single_note(member) {
            out.push(single_file(member));
        } else if member.archive.is_some() || member.place != member.name {
            groups.entry((member.root, member.archive)).or_default().push(member);
        }
    }
    // Skips a rules folder that the user selected directly, because it contains no notes.
    groups
        .retain(|(root, archive), _| archive.is_some() || catalog.roots().get(*root).is_none_or(|r| r != RULES_FOLDER));
    for members in groups.values() {
        let vaults = vault_prefixes(members);
        let graphs = Arc::new(graph_prefixes(members));
        let mut folders: HashMap<Option<&str>, NoteFolder> = HashMap::new();
        for member in members {
            let vault = vault_of(&vaults, &member.name);
            let folder = folders.entry(vault).or_insert_with(|| NoteFolder {
                prefix: vault.unwrap_or_default().to_owned(),
                is_vault: vault.is_some(),
                graphs: Arc::clone(&graphs),
                ..NoteFolder::default()
            });
            folder.add(member);
        }
        for mut folder in folders.into_values().filter(|folder| !folder.notes.is_empty()) {
            if !folder.is_vault {
                folder.prefix = archive_top_folder(catalog, &folder);
            }
            folder.name = name_of(catalog, &folder);
            out.push(folder);
        }
    }
    out.sort_by_key(|folder| folder.notes.first().copied());
    out
}

impl NoteFolder {
    fn add(&mut self, member: &Member) {
        let path = self.path(member);
        let name = member.file_name();
        let path_in_graph = vault_of(&self.graphs, &member.name).and_then(|prefix| member.name.strip_prefix(prefix));
        if path_in_graph.is_some_and(|path| path.split('/').next() == Some(LOGSEQ)) {
            return self.program_files.push(member.id);
        }
        let hidden_folder = path.split('/').find(|part| part.starts_with('.')).unwrap_or_default();
        if is_assistant_file(name) || ASSISTANT_FOLDERS.contains(&hidden_folder) {
            self.is_workspace |= WORKSPACE_FILES.contains(&name);
        } else if !hidden_folder.is_empty() || is_bookkeeping(path) {
            self.is_workspace |= WORKSPACE_FILES.contains(&name);
            self.program_files.push(member.id);
        } else if is_note(name) {
            self.is_workspace |= WORKSPACE_FILES.contains(&name);
            self.notion_page_count += usize::from(notion_title(name).is_some());
            self.notes.push(member.id);
        } else {
            let is_table = name.ends_with(".csv") && notion_title(name).is_some();
            let is_of_logseq = name.ends_with(".edn") && path_in_graph.is_some();
            let is_index = name == NOTION_INDEX;
            self.index_count += usize::from(is_index);
            self.data_file_count += usize::from(media_type(name).is_none() && !is_table && !is_of_logseq && !is_index);
            self.files.push(member.id);
        }
    }
}

/// The title in the name of a page or table that Notion exported: the name without the id at its end. None for any
/// other name.
pub fn notion_title(file_name: &str) -> Option<&str> {
    title_and_id(file_name).map(|(title, _)| title)
}

/// Prefixes of the folders that are graphs of Logseq. A graph inside another graph is part of the outer graph.
fn graph_prefixes(members: &[&Member]) -> BTreeSet<String> {
    let prefixes = members.iter().filter_map(|member| member.name.strip_suffix(LOGSEQ_SETTINGS));
    outermost(prefixes.filter(|prefix| prefix.is_empty() || prefix.ends_with('/')).collect())
}

/// True for a note that was selected as a single file.
fn is_single_note(member: &Member) -> bool {
    member.archive.is_none() && member.place == member.name && is_note(&member.name) && !is_assistant_file(&member.name)
}

fn single_file(member: &Member) -> NoteFolder {
    NoteFolder { notes: vec![member.id], is_single_file: true, ..NoteFolder::default() }
}

/// Prefixes of the folders with Obsidian's settings. A vault inside another vault is part of the outer vault.
fn vault_prefixes(members: &[&Member]) -> BTreeSet<String> {
    let mut prefixes: BTreeSet<&str> = BTreeSet::new();
    for member in members {
        let at = match member.name.find("/.obsidian/") {
            Some(at) => at + 1,
            None if member.name.starts_with(SETTINGS_FOLDER) => 0,
            None => continue,
        };
        prefixes.extend(member.name.get(..at));
    }
    outermost(prefixes)
}

/// The prefixes that are not inside another prefix.
fn outermost(prefixes: BTreeSet<&str>) -> BTreeSet<String> {
    // An outer folder sorts before the folders inside it.
    let mut out = BTreeSet::new();
    for prefix in prefixes {
        if vault_of(&out, prefix).is_none() {
            out.insert(prefix.to_owned());
        }
    }
    out
}

/// The vault or graph that contains this path. The prefixes are not nested, so it can only be the last one that sorts
/// before the path.
fn vault_of<'v>(vaults: &'v BTreeSet<String>, path: &str) -> Option<&'v str> {
    let preceding_vault = vaults.range::<str, _>((Bound::Unbounded, Bound::Included(path))).next_back()?;
    path.starts_with(preceding_vault.as_str()).then_some(preceding_vault.as_str())
}

/// The top folder that contains all notes of an archive. Empty if there is no such folder, or if the notes are not in
/// an archive.
fn archive_top_folder(catalog: &Catalog, folder: &NoteFolder) -> String {
    let mut names = folder.notes.iter().filter_map(|id| catalog.members().get(*id)).map(|m| m.name.as_str());
    let Some(first) = names.next().and_then(|name| name.split_once('/')).map(|(top, _)| format!("{top}/")) else {
        return String::new();
    };
    let is_archive =
        folder.notes.first().and_then(|id| catalog.members().get(*id)).is_some_and(|m| m.archive.is_some());
    if is_archive && names.all(|name| name.starts_with(&first)) { first } else { String::new() }
}

/// Name of the folder or archive, without the parts by which copies differ: the extension, `(1)`, a date. A folder in
/// which most notes are from Notion is called Notion, because Notion gives each export another name, and the folder
/// inside an archive is only the page that was exported.
fn name_of(catalog: &Catalog, folder: &NoteFolder) -> String {
    let innermost_name = folder.prefix.trim_end_matches('/').rsplit('/').next().filter(|name| !name.is_empty());
    let member = folder.notes.first().and_then(|id| catalog.members().get(*id));
    let name_of_place = || {
        let place = member.map_or("", |m| m.place.as_str());
        let path = member.map_or("", |m| m.name.as_str());
        let place = place.strip_suffix(path).unwrap_or(place).trim_end_matches(['/', '!']);
        place.rsplit('/').next().unwrap_or_default().to_owned()
    };
    let name = innermost_name.map_or_else(name_of_place, str::to_owned);
    let is_mostly_notion = 2 * folder.notion_page_count > folder.notes.len();
    let is_named_export = name.contains(NOTION_ARCHIVE) && folder.notion_page_count > 0;
    if !folder.is_vault && (is_mostly_notion || is_named_export) {
        return NOTION_FOLDER.to_owned();
    }
    without_download_suffix(&name).to_owned()
}

fn without_download_suffix(name: &str) -> &str {
    let mut out = name;
    for ending in [".zip", ".ZIP", ".tgz", ".tar.gz", ".tar"] {
        out = out.strip_suffix(ending).unwrap_or(out);
    }
    if let Some((before, copy)) = out.rsplit_once(" (")
        && copy.strip_suffix(')').is_some_and(|n| n.bytes().all(|b| b.is_ascii_digit()))
    {
        out = before;
    }
    out = out.strip_suffix("-main").or_else(|| out.strip_suffix("-master")).unwrap_or(out);
    let without_date = out.trim_end_matches(|c: char| c.is_ascii_digit() || "-_. T".contains(c));
    if without_date.is_empty() || out.len() - without_date.len() < 8 { out } else { without_date }
}

/// True for assistants' rules and memory files.
pub fn is_assistant_file(name: &str) -> bool {
    let name = name.rsplit('/').next().unwrap_or(name).to_ascii_lowercase();
    ASSISTANT_FILES.contains(&name.as_str()) || name.ends_with(".mdc") || name.ends_with(".instructions.md")
}

fn is_bookkeeping(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    path.starts_with("__MACOSX/") || path.contains("/__MACOSX/") || matches!(name, "Thumbs.db" | "desktop.ini")
}

/// True for files whose name suggests that they contain a key or a token.
pub fn may_hold_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let secret_names =
        ["credentials.json", "token.json", "tokens.json", "auth.json", "secrets.json", "id_rsa", "id_ed25519"];
    let endings = [".pem", ".key", ".p12", ".pfx", ".kdbx", ".env"];
    secret_names.contains(&name.as_str()) || endings.iter().any(|ending| name.ends_with(ending))
}

/// Media type of pictures, sound, video and documents, determined from the extension of the name. None for other files.
pub fn media_type(name: &str) -> Option<&'static str> {
    let ending = name.rsplit_once('.')?.1.to_ascii_lowercase();
    Some(match ending.as_str() {
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "svg" => "image/svg+xml",
        "bmp" => "image/bmp",
        "avif" => "image/avif",
        "heic" => "image/heic",
        "pdf" => "application/pdf",
        "mp3" => "audio/mpeg",
        "wav" => "audio/wav",
        "m4a" => "audio/mp4",
        "ogg" | "oga" => "audio/ogg",
        "flac" => "audio/flac",
        "mp4" | "m4v" => "video/mp4",
        "mov" => "video/quicktime",
        "webm" => "video/webm",
        "mkv" => "video/x-matroska",
        "epub" => "application/epub+zip",
        "doc" => "application/msword",
        "docx" => "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "xlsx" => "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        "pptx" => "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        "odt" => "application/vnd.oasis.opendocument.text",
        "canvas" => "application/json",
        "base" | "excalidraw" => "text/plain",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_vault_of_a_path_is_found_among_its_neighbours() {
        let vaults: BTreeSet<String> = ["a/", "a b/", "b/c/"].map(str::to_owned).into();
        for (path, expected) in [
            ("a/x.md", Some("a/")),
            ("a/z/x.md", Some("a/")),
            ("a b/x.md", Some("a b/")),
            ("b/c/x.md", Some("b/c/")),
            ("b/x.md", None),
            ("aa/x.md", None),
            ("a", None),
            ("", None),
        ] {
            assert_eq!(vault_of(&vaults, path), expected, "{path}");
        }
        assert_eq!(vault_of(&BTreeSet::from([String::new()]), "x.md"), Some(""));
    }

    #[test]
    fn a_folder_inside_another_is_part_of_the_outer_one() {
        let prefixes = ["a/", "a/old/", "b/c/", "b/cd/"];
        let expected: BTreeSet<String> = ["a/", "b/c/", "b/cd/"].map(str::to_owned).into();
        assert_eq!(outermost(prefixes.into()), expected);
    }

    #[test]
    fn copies_of_a_folder_get_the_same_name() {
        for (name, expected) in [
            ("Notes", "Notes"),
            ("Notes.zip", "Notes"),
            ("Notes (1).zip", "Notes"),
            ("Notes-2026-11-25.zip", "Notes"),
            ("notes-main", "notes"),
            ("2026", "2026"),
            ("Plot 12", "Plot 12"),
            ("", ""),
        ] {
            assert_eq!(without_download_suffix(name), expected, "{name}");
        }
    }
}
