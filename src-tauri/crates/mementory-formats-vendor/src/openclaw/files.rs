//! Which file of a workspace is what (spec §2.1, §3.1.7, §9).

/// How a file's text becomes records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileRole {
    /// One profile: identity, operating rules, checklists, the person.
    Profile(&'static str),
    /// Memory, split at second-level headings, or one record for the whole file.
    Memory(Notes),
    /// Settings: kept as they are, secrets left out on the way out.
    Settings,
    /// Keys: kept, and never written out.
    Secret,
    /// Anything else of the agent's: kept as it is.
    Other,
    /// Bookkeeping of other programs.
    Junk,
    /// Our own: records of other formats beside their text.
    Slots,
}

/// What a memory file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Notes {
    /// Memory type (spec §3.1.2).
    pub memory_type: &'static str,
    /// Namespace.
    pub namespace: &'static str,
    /// Category, where the specification names one.
    pub category: Option<&'static str>,
    /// Who writes such a file.
    pub method: &'static str,
    /// One record for the whole file?
    pub whole: bool,
    /// Status, where the place of the file says one.
    pub status: Option<&'static str>,
}

/// Where our slots lie in a workspace.
pub const SLOTS: &str = ".keepsake/records.jsonl";
/// The index of files that an archive only named, with a row for each as `.alf` has it.
pub const ABSENT: &str = ".keepsake/artifacts.json";
/// What an archive said of the versions of the agent's identity; kept in the vault only.
pub const LINEAGE: &str = ".keepsake/lineage.json";
/// The reference tool's note of the agent's id.
pub const AGENT_ID: &str = ".alf-agent-id";

/// Profiles by file name, with the block of `.alf`'s identity that each is.
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

/// What a file is, by its path in the workspace.
pub fn role(path: &str) -> FileRole {
    let notes = |memory_type, namespace, method| Notes {
        memory_type,
        namespace,
        category: None,
        method,
        whole: false,
        status: None,
    };
    if let Some((_, block)) = PROFILES.iter().find(|(name, _)| *name == path) {
        return FileRole::Profile(block);
    }
    if path == SLOTS {
        return FileRole::Slots;
    }
    if path == ABSENT {
        return FileRole::Other;
    }
    if path == "MEMORY.md" {
        return FileRole::Memory(notes("summary", "curated", "user_authored"));
    }
    let mut segments = path.split('/');
    if segments.clone().any(|s| matches!(s, ".git" | "node_modules" | ".DS_Store" | "__MACOSX" | "Thumbs.db")) {
        return FileRole::Junk;
    }
    let name = path.rsplit('/').next().unwrap_or(path);
    if segments.next() == Some("memory") && name.to_ascii_lowercase().ends_with(".md") {
        let status = path.contains("/archive/").then_some("archived");
        let of = |notes: Notes| FileRole::Memory(Notes { status, ..notes });
        if date_of(path).is_some() {
            return of(Notes { category: Some("daily_log"), ..notes("episodic", "daily", "agent_written") });
        }
        if name.contains("active-context") {
            return of(Notes { whole: true, ..notes("summary", "active-context", "agent_written") });
        }
        if name.contains("gating-policies") {
            return of(notes("procedural", "procedural", "user_authored"));
        }
        if name.starts_with("project-") {
            return of(notes("semantic", "project", "agent_written"));
        }
        if name.starts_with("session_") {
            return of(notes("episodic", "session", "agent_written"));
        }
        return of(notes("semantic", "workspace", "agent_written"));
    }
    // A copy that an editor or a person left beside it is what it is a copy of.
    let name = [".bak", ".old", ".orig", ".backup", ".save", "~"]
        .into_iter()
        .find_map(|end| name.strip_suffix(end))
        .filter(|rest| !rest.is_empty())
        .unwrap_or(name);
    let keys = [".pem", ".key", ".p12", ".pfx", ".p8", ".jks", ".keystore", ".kdbx", ".gpg"];
    let named = [".secret_key", ".git-credentials", ".pgpass", "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519"];
    if named.contains(&name) || keys.iter().any(|end| name.ends_with(end)) {
        return FileRole::Secret;
    }
    let ending = name.rsplit_once('.').map_or("", |(_, e)| e).to_ascii_lowercase();
    let settings = ["toml", "json", "json5", "jsonc", "yaml", "yml", "ini", "cfg", "conf", "env", "properties"];
    if settings.contains(&ending.as_str()) || name.starts_with(".env") || matches!(name, ".netrc" | ".npmrc") {
        return FileRole::Settings;
    }
    FileRole::Other
}

/// Does the runtime itself live on this file (spec §3.1.9, tier 1)? Its state has places of its own: Markdown, settings
/// and databases at the top, notes, skills, and what is hidden. Anything else in the folder is the agent's work.
pub fn is_managed(path: &str) -> bool {
    let role = role(path);
    if !matches!(role, FileRole::Other | FileRole::Settings) {
        return true;
    }
    match path.split_once('/') {
        Some((folder, _)) => matches!(folder, "memory" | "skills") || path.split('/').any(|part| part.starts_with('.')),
        None => {
            let name = path.to_ascii_lowercase();
            let name = ["-wal", "-shm", "-journal"].into_iter().find_map(|end| name.strip_suffix(end)).unwrap_or(&name);
            let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
            role == FileRole::Settings || path.starts_with('.') || matches!(ending, "md" | "db" | "sqlite" | "sqlite3")
        }
    }
}

/// The day of a daily log. A dated file in a folder below is none (it is an archive of somebody's own).
pub fn date_of(path: &str) -> Option<&str> {
    let day = path.strip_prefix("memory/")?.strip_suffix(".md")?;
    (day.len() == 10 && day.parse::<jiff::civil::Date>().is_ok()).then_some(day)
}

/// Is this what we keep beside a workspace and believe when we read it? Nobody brings that along.
pub fn is_bookkeeping(path: &str) -> bool {
    path == SLOTS || path == LINEAGE
}

/// A path that may be written below a folder.
pub fn is_safe(path: &str) -> bool {
    !path.is_empty()
        && !path.contains(['\\', '\0', ':'])
        && !path.chars().any(char::is_control)
        && path.split('/').all(|part| !part.is_empty() && part != "." && part != "..")
}
