//! The role of each file of a workspace, by its path (spec §2.1, §3.1.7, §9).
use mementory_formats_shared::sqlite::LOG_ENDINGS;

/// Role of a file, which determines how it is imported and exported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileRole {
    /// A file that becomes one profile of the agent or the user. The value is the name of its block in an `.alf`
    /// identity.
    Profile(&'static str),
    /// A file of memories: one for each section with a second-level heading, or one for the whole file.
    Memory(MemoryFile),
    /// Settings. Stored unchanged and exported without their secrets.
    Settings,
    /// A key file. Stored, but never exported unencrypted.
    Secret,
    /// Any other file of the agent. Stored as a passthrough file.
    Other,
    /// A bookkeeping file of another program. Not imported.
    Junk,
    /// The file with our extension slots, which contain the complete records of other formats whose texts are in the
    /// memory files.
    Slots,
}

/// Fields of the records in a memory file. They depend on the name and folder of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryFile {
    /// Memory type (spec §3.1.2).
    pub memory_type: &'static str,
    /// Namespace of the records.
    pub namespace: &'static str,
    /// Category, if the specification defines one for the file.
    pub category: Option<&'static str>,
    /// How the text was created (`source.method`).
    pub method: &'static str,
    /// True if the whole file becomes one record.
    pub is_one_record: bool,
    /// Status, if the folder implies one.
    pub status: Option<&'static str>,
}

/// File with our extension slots in a workspace.
pub const SLOTS_FILE: &str = ".mementory/records.jsonl";
/// Index of the files that an archive lists without their content. It contains their rows from the `.alf` archive.
pub const ABSENT_FILE: &str = ".mementory/artifacts.json";
/// File with the identity versions that an archive states. It is stored in the vault, but not written to a workspace.
pub const LINEAGE_FILE: &str = ".mementory/lineage.json";
/// Folder of our bookkeeping files in workspaces and archives that were written before this program was renamed.
const FORMER_FOLDER: &str = ".keepsake";

/// True if `path` is our bookkeeping file `file`, in a folder with the current or the former name.
pub fn is_our_file(path: &str, file: &str) -> bool {
    path == file || path.strip_prefix(FORMER_FOLDER).is_some_and(|name| file.strip_prefix(".mementory") == Some(name))
}

/// File in which ALF's reference tool stores the agent's id.
pub const AGENT_ID_FILE: &str = ".alf-agent-id";

/// Names of profile files, each with its block in an `.alf` identity.
pub const PROFILES: [(&str, &str); 8] = [
    ("SOUL.md", "soul"),
    ("IDENTITY.md", "identity_profile"),
    ("AGENTS.md", "operating_instructions"),
    ("USER.md", "user_profile"),
    ("TOOLS.md", "tools_guidance"),
    ("HEARTBEAT.md", "heartbeat_checklist"),
    ("BOOT.md", "boot_checklist"),
    ("BOOTSTRAP.md", "bootstrap"),
];

/// Determines the role of a file from its path in the workspace.
pub fn role(path: &str) -> FileRole {
    let memory_file = |memory_type, namespace, method| MemoryFile {
        memory_type,
        namespace,
        category: None,
        method,
        is_one_record: false,
        status: None,
    };
    if let Some((_, block)) = PROFILES.iter().find(|(name, _)| *name == path) {
        return FileRole::Profile(block);
    }
    if is_our_file(path, SLOTS_FILE) {
        return FileRole::Slots;
    }
    if is_our_file(path, ABSENT_FILE) {
        return FileRole::Other;
    }
    if path == "MEMORY.md" {
        return FileRole::Memory(memory_file("summary", "curated", "user_authored"));
    }
    let mut segments = path.split('/');
    if segments.clone().any(|s| matches!(s, ".git" | "node_modules" | ".DS_Store" | "__MACOSX" | "Thumbs.db")) {
        return FileRole::Junk;
    }
    let name = path.rsplit('/').next().unwrap_or(path);
    if segments.next() == Some("memory") && name.to_ascii_lowercase().ends_with(".md") {
        let status = path.contains("/archive/").then_some("archived");
        let with_status = |file: MemoryFile| FileRole::Memory(MemoryFile { status, ..file });
        if date_of(path).is_some() {
            return with_status(MemoryFile {
                category: Some("daily_log"),
                ..memory_file("episodic", "daily", "agent_written")
            });
        }
        if name.contains("active-context") {
            return with_status(MemoryFile {
                is_one_record: true,
                ..memory_file("summary", "active-context", "agent_written")
            });
        }
        if name.contains("gating-policies") {
            return with_status(memory_file("procedural", "procedural", "user_authored"));
        }
        if name.starts_with("project-") {
            return with_status(memory_file("semantic", "project", "agent_written"));
        }
        if name.starts_with("session_") || session_day(path).is_some() {
            return with_status(memory_file("episodic", "session", "agent_written"));
        }
        return with_status(memory_file("semantic", "workspace", "agent_written"));
    }
    // A backup copy has the role of the original file.
    let name = [".bak", ".old", ".orig", ".backup", ".save", "~"]
        .into_iter()
        .find_map(|suffix| name.strip_suffix(suffix))
        .filter(|stem| !stem.is_empty())
        .unwrap_or(name);
    let key_endings = [".pem", ".key", ".p12", ".pfx", ".p8", ".jks", ".keystore", ".kdbx", ".gpg"];
    let key_names = [".secret_key", ".git-credentials", ".pgpass", "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519"];
    if key_names.contains(&name) || key_endings.iter().any(|end| name.ends_with(end)) {
        return FileRole::Secret;
    }
    let ending = name.rsplit_once('.').map_or("", |(_, e)| e).to_ascii_lowercase();
    let settings = ["toml", "json", "json5", "jsonc", "yaml", "yml", "ini", "cfg", "conf", "env", "properties"];
    if settings.contains(&ending.as_str()) || name.starts_with(".env") || matches!(name, ".netrc" | ".npmrc") {
        return FileRole::Settings;
    }
    FileRole::Other
}

/// True for files that the runtime needs (spec §3.1.9, tier 1). These are files with a role other than `Settings` and
/// `Other`, everything in `memory/`, in `skills/` and in hidden folders, hidden files, and Markdown, settings and
/// databases at the top of the workspace. All other files are products of the agent's work.
pub fn is_managed(path: &str) -> bool {
    let role = role(path);
    if !matches!(role, FileRole::Other | FileRole::Settings) {
        return true;
    }
    match path.split_once('/') {
        Some((folder, _)) => matches!(folder, "memory" | "skills") || path.split('/').any(|part| part.starts_with('.')),
        None => {
            let name = path.to_ascii_lowercase();
            let name = LOG_ENDINGS.into_iter().find_map(|end| name.strip_suffix(end)).unwrap_or(&name);
            let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
            role == FileRole::Settings || path.starts_with('.') || matches!(ending, "md" | "db" | "sqlite" | "sqlite3")
        }
    }
}

/// The day of a daily log. None for any other file, such as a dated file in a subfolder.
pub fn date_of(path: &str) -> Option<&str> {
    let day = path.strip_prefix("memory/")?.strip_suffix(".md")?;
    (day.len() == 10 && day.parse::<jiff::civil::Date>().is_ok()).then_some(day)
}

/// The day of a session note, whose name begins with the day: `memory/2026-02-03-ferry.md`. None for any other file.
pub fn session_day(path: &str) -> Option<&str> {
    let name = path.strip_prefix("memory/")?.strip_suffix(".md")?;
    let (day, topic) = name.split_at_checked(10)?;
    let is_topic = topic.len() > 1 && topic.starts_with(['-', '_']) && !topic.contains('/');
    (is_topic && day.parse::<jiff::civil::Date>().is_ok()).then_some(day)
}

/// True for our bookkeeping files. An import must never write these files, because they are trusted when a workspace is
/// read.
pub fn is_bookkeeping(path: &str) -> bool {
    is_our_file(path, SLOTS_FILE) || is_our_file(path, LINEAGE_FILE)
}

/// True for a relative path that does not lead outside its folder and has no control characters, backslashes or colons.
pub fn is_safe(path: &str) -> bool {
    !path.is_empty()
        && !path.contains(['\\', '\0', ':'])
        && !path.chars().any(char::is_control)
        && path.split('/').all(|part| !part.is_empty() && part != "." && part != "..")
}
