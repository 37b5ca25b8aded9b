//! Resolves links between the files of a folder of notes the way note programs do: by path, or by name alone.
use super::markdown::NoteLink;
use super::note_folder::{NoteFolder, is_note};
use mementory_format::Catalog;
use std::collections::HashMap;

/// The files of a folder, indexed by the names under which a link may refer to them.
#[derive(Debug, Default)]
pub struct LinkTargets {
    /// Paths of the files.
    paths: Vec<String>,
    /// Indexes in `paths` by path, with and without the extension `.md`, in lower case.
    by_path: HashMap<String, u32>,
    /// Indexes in `paths` by the last part of the path. If several paths have the same last part, the shortest path is
    /// used, as in Obsidian.
    by_name: HashMap<String, u32>,
}

impl LinkTargets {
    /// The notes and other files of `folder`, which links may refer to.
    pub fn new(catalog: &Catalog, folder: &NoteFolder) -> Self {
        let mut out = Self::default();
        for id in folder.notes.iter().chain(&folder.files) {
            if let Some(member) = catalog.members().get(*id) {
                out.add(folder.path(member));
            }
        }
        out
    }

    fn add(&mut self, path: &str) {
        let Ok(position) = u32::try_from(self.paths.len()) else { return };
        let lowercase_path = path.to_lowercase();
        for key in [Some(lowercase_path.as_str()), without_ending(&lowercase_path)].into_iter().flatten() {
            self.by_path.entry(key.to_owned()).or_insert(position);
            let name = key.rsplit('/').next().unwrap_or(key);
            let known_position = self.by_name.entry(name.to_owned()).or_insert(position);
            if self.paths.get(*known_position as usize).is_some_and(|other| other.len() > path.len()) {
                *known_position = position;
            }
        }
        self.paths.push(path.to_owned());
    }

    /// Path of the file that a link in the file `from` refers to. None for a missing file and for an external address.
    pub fn resolve(&self, from: &str, link: &NoteLink) -> Option<&str> {
        let name = link.note().trim_end_matches('/');
        if link.is_external() || name.is_empty() {
            return None;
        }
        let folder = from.rsplit_once('/').map_or("", |(folder, _)| folder);
        let relative = resolved_path(folder, name).map(|path| path.to_lowercase());
        let absolute_path = name.trim_start_matches('/').to_lowercase();
        let by_path = |path: &str| self.by_path.get(path).copied();
        let target = match (name.starts_with('/'), link.is_wiki) {
            (true, _) => by_path(&absolute_path),
            (false, true) => {
                let file_name = absolute_path.rsplit('/').next().unwrap_or(&absolute_path);
                by_path(&absolute_path)
                    .or_else(|| by_path(relative.as_deref()?))
                    .or_else(|| self.by_name.get(file_name).copied())
            }
            (false, false) => relative
                .as_deref()
                .and_then(by_path)
                .or_else(|| by_path(&absolute_path))
                .or_else(|| self.by_name.get(&absolute_path).copied()),
        };
        self.paths.get(target? as usize).map(String::as_str)
    }
}

fn without_ending(path: &str) -> Option<&str> {
    is_note(path).then(|| path.rsplit_once('.').map(|(stem, _)| stem)).flatten()
}

/// Resolves `path` relative to `folder`, including `.` and `..`. None if the path leads out of the top folder.
pub fn resolved_path(folder: &str, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            other => parts.push(other),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_resolved_by_path_and_by_name() {
        let mut targets = LinkTargets::default();
        for path in ["Index.md", "garden/Leek Show.md", "garden/img/map.png", "old/garden/Leek Show.md"] {
            targets.add(path);
        }
        for (from, target, is_wiki, expected) in [
            ("Index.md", "Leek Show#Rules", true, Some("garden/Leek Show.md")),
            ("Index.md", "leek show", true, Some("garden/Leek Show.md")),
            ("Index.md", "old/garden/Leek Show", true, Some("old/garden/Leek Show.md")),
            ("garden/Leek Show.md", "../Index.md", false, Some("Index.md")),
            ("garden/Leek Show.md", "./img/map.png", false, Some("garden/img/map.png")),
            ("garden/Leek Show.md", "/Index", false, Some("Index.md")),
            ("garden/Leek Show.md", "map.png", true, Some("garden/img/map.png")),
            ("Index.md", "../../etc/passwd", false, None),
            ("Index.md", "https://example.org/Index.md", false, None),
            ("Index.md", "Not Yet Written", true, None),
        ] {
            let link = NoteLink { target: target.into(), is_wiki, is_embedded: false, at: 0 };
            assert_eq!(targets.resolve(from, &link), expected, "{target}");
        }
    }
}
