//! Creates the files of an export: one file, or a folder of files whose names are made from titles.
use mementory_format::{FormatError, create_private_file};
use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// Longest file name, in bytes, that is derived from a title, not counting number and extension. It is well below the
/// 255 bytes that every file system allows.
const MAX_NAME_BYTES: usize = 80;
/// Names that Windows reserves, with or without an extension, and names with a special meaning in folders of notes or
/// agents.
const RESERVED_NAMES: [&str; 20] = [
    "con",
    "prn",
    "aux",
    "nul",
    "index",
    "log",
    "readme",
    "claude",
    "agents",
    "agent",
    "gemini",
    "memory",
    "skill",
    "soul",
    "identity",
    "user",
    "tools",
    "heartbeat",
    "bootstrap",
    "copilot-instructions",
];

/// A file that is being written. In a dry run, nothing is written.
pub struct NewFile {
    file: Option<BufWriter<File>>,
    place: String,
}

impl NewFile {
    /// Creates the file. If `path` is None, nothing is written.
    pub fn create(path: Option<&Path>) -> Result<Self, FormatError> {
        let Some(path) = path else { return Ok(Self { file: None, place: String::new() }) };
        let place = path.display().to_string();
        let file = create_private_file(path).map_err(|e| FormatError::io(&place, e))?;
        Ok(Self { file: Some(BufWriter::new(file)), place })
    }

    /// Appends a text.
    pub fn add(&mut self, text: &str) -> Result<(), FormatError> {
        self.add_bytes(text.as_bytes())
    }

    /// Appends bytes.
    pub fn add_bytes(&mut self, bytes: &[u8]) -> Result<(), FormatError> {
        let Some(file) = &mut self.file else { return Ok(()) };
        file.write_all(bytes).map_err(|e| FormatError::io(&self.place, e))
    }

    /// Writes the buffered text.
    pub fn finish(mut self) -> Result<(), FormatError> {
        let Some(file) = &mut self.file else { return Ok(()) };
        file.flush().map_err(|e| FormatError::io(&self.place, e))
    }
}

/// A folder that is being written. In a dry run, nothing is written.
pub struct NewFolder {
    root: Option<PathBuf>,
    /// Paths that are in use, in lower case, because some file systems ignore case.
    taken_paths: HashSet<String>,
    /// The next number to try for each path that was already in use.
    next_numbers: HashMap<String, u64>,
}

impl NewFolder {
    /// Prepares the folder at `root`. If `root` is None, nothing is written.
    pub fn new(root: Option<&Path>) -> Self {
        Self { root: root.map(Path::to_path_buf), taken_paths: HashSet::new(), next_numbers: HashMap::new() }
    }

    /// Reserves a free path `<folder><name><ending>` and returns it. `title` may be any text.
    pub fn free_path(&mut self, folder: &str, title: &str, ending: &str) -> String {
        let name = file_name(title);
        let mut path = format!("{folder}{name}{ending}");
        if self.taken_paths.insert(path.to_lowercase()) {
            return path;
        }
        let number = self.next_numbers.entry(path.to_lowercase()).or_insert(2);
        loop {
            path = format!("{folder}{name}-{number}{ending}");
            *number += 1;
            if self.taken_paths.insert(path.to_lowercase()) {
                return path;
            }
        }
    }

    /// Reserves a path. Returns false if the path was already in use.
    pub fn take(&mut self, path: &str) -> bool {
        self.taken_paths.insert(path.to_lowercase())
    }

    /// Creates a file and its parent folders.
    pub fn create(&self, path: &str) -> Result<NewFile, FormatError> {
        let Some(root) = &self.root else { return NewFile::create(None) };
        let full_path = root.join(path);
        if let Some(folder) = full_path.parent() {
            std::fs::create_dir_all(folder).map_err(|e| FormatError::io(folder.display().to_string(), e))?;
        }
        NewFile::create(Some(&full_path))
    }

    /// Writes a whole file.
    pub fn write(&self, path: &str, text: &str) -> Result<(), FormatError> {
        let mut file = self.create(path)?;
        file.add(text)?;
        file.finish()
    }

    /// Appends a text to an existing file.
    pub fn append(&self, path: &str, text: &str) -> Result<(), FormatError> {
        let Some(root) = &self.root else { return Ok(()) };
        let full_path = root.join(path);
        let place = full_path.display().to_string();
        let mut file = File::options().append(true).open(&full_path).map_err(|e| FormatError::io(&place, e))?;
        file.write_all(text.as_bytes()).map_err(|e| FormatError::io(&place, e))
    }
}

/// A title as a file name: letters and digits of any script, and single hyphens. `untitled` if nothing remains.
fn file_name(title: &str) -> String {
    let mut out = String::new();
    for c in title.chars().take(4 * MAX_NAME_BYTES) {
        if c.is_alphanumeric() {
            let lowercase: String = c.to_lowercase().filter(|c| c.is_alphanumeric()).collect();
            if out.len() + lowercase.len() > MAX_NAME_BYTES {
                break;
            }
            out.push_str(&lowercase);
        } else if !out.is_empty() && !out.ends_with('-') {
            out.push('-');
        }
    }
    let name = out.trim_matches('-');
    let is_device = |start: &str| name.strip_prefix(start).is_some_and(|n| n.len() == 1 && n != "0");
    if name.is_empty() {
        "untitled".into()
    } else if RESERVED_NAMES.contains(&name) || is_device("com") || is_device("lpt") {
        format!("{name}-note")
    } else {
        name.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_safe_unique_and_short() {
        let mut folder = NewFolder::new(None);
        let long_title = "x".repeat(5000);
        for (title, expected) in [
            ("Leek show", "m/leek-show.md"),
            ("LEEK SHOW", "m/leek-show-2.md"),
            ("../../etc/passwd", "m/etc-passwd.md"),
            ("CON", "m/con-note.md"),
            ("com1", "m/com1-note.md"),
            ("", "m/untitled.md"),
            ("\u{0}\u{202e}//\\", "m/untitled-2.md"),
            ("庭のメモ", "m/庭のメモ.md"),
            (".hidden.", "m/hidden.md"),
            ("Memory", "m/memory-note.md"),
        ] {
            assert_eq!(folder.free_path("m/", title, ".md"), expected, "{title}");
        }
        // These calls would take very long if every search for a free number started at 2.
        let last_path = (0..20_000).map(|_| folder.free_path("chats/", "New chat", ".md")).last();
        assert_eq!(last_path.as_deref(), Some("chats/new-chat-20000.md"));
        assert!(folder.take("chats/new-chat-20001.md"));
        assert_eq!(folder.free_path("chats/", "new CHAT", ".md"), "chats/new-chat-20002.md");
        assert!(folder.free_path("", &long_title, ".md").len() < 100);
        assert!(folder.free_path("", &"𐐷".repeat(500), ".md").len() < 100);
    }
}
