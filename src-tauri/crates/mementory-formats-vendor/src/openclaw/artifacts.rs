//! Files of an agent that the runtime does not live on (spec §3.1.9, §6.2): those of an `.alf` at the places that it names,
//! and an index of those that it only named.
use super::files::{self, FileRole};
use super::write::{Workspace, read_all};
use mementory_format::{FormatError, RecordSource, StoredRecord};
use mementory_json::Tree;
use mementory_model::{Kind, LossKind};
use std::collections::BTreeMap;

/// A file that an archive held beside the runtime's own.
pub struct Artifact {
    /// Vault id of its row.
    id: String,
    /// Where it may go: where it was, else where the archive had it.
    places: Vec<String>,
    bytes: Vec<u8>,
}

/// A file that an archive only named and that nobody has put back since.
pub struct Absent {
    /// Id space of its workspace.
    pub scope: String,
    /// Its path there.
    pub path: String,
    /// Its row in the index of an `.alf`.
    pub row: Tree,
    /// The index of the workspace in which it is listed.
    list: String,
}

/// The row of a file in the index of an agent's archive, if the record is one.
pub(super) fn row_of(stored: &StoredRecord) -> Option<Tree> {
    let record = &stored.record;
    let verbatim =
        record.verbatim.as_ref().filter(|_| record.kind == Kind::Attachment && record.origin.format == "alf")?;
    Tree::parse(&verbatim.text, 512).ok().filter(|row| row.get("source_path").is_some())
}

impl Workspace {
    /// A file that came with an agent's archive: its bytes, or its row where the archive only named it.
    pub(super) fn artifact(
        &mut self,
        source: &mut dyn RecordSource,
        id: String,
        file: Option<String>,
        row: Tree,
    ) -> Result<(), FormatError> {
        let text = |key: &str| row.get(key).and_then(Tree::as_str).filter(|t| !t.is_empty()).map(str::to_owned);
        let (mut bytes, name) = (None, text("filename").unwrap_or_else(|| id.clone()));
        if let Some(file) = file {
            source.attachment(&file, &mut |from| {
                bytes = Some(read_all(from, &name)?);
                Ok(())
            })?;
        }
        let places: Vec<String> = [text("source_path"), text("archive_path")].into_iter().flatten().collect();
        let Some(bytes) = bytes else {
            let size = match row.get("size_bytes") {
                Some(Tree::Number(n)) => format!("{n} bytes"),
                _ => "size not known".into(),
            };
            let note = format!("{name} ({size}): its archive had only its entry in the index");
            self.report.losses.add(&id, "attachment", LossKind::LeftOut, &note);
            if let Some(path) = places.into_iter().find(|path| files::is_safe(path)) {
                self.absent.push(Absent { scope: String::new(), path, row, list: files::ABSENT.into() });
            }
            return Ok(());
        };
        self.artifacts.push(Artifact { id, places, bytes });
        Ok(())
    }

    /// Those files, after everything that has a better right to its place.
    pub(super) fn place_artifacts(&mut self) {
        for Artifact { id, places, bytes } in std::mem::take(&mut self.artifacts) {
            let place = places.into_iter().find_map(|path| {
                let path = self.placed(path);
                // bookkeeping of ours or of other programs is nobody's to bring along
                let ours = files::role(&path) == FileRole::Junk
                    || path.split('/').any(|part| [".mementory", ".keepsake"].contains(&part));
                let free = self.files.get(&path).is_none_or(|there| *there == bytes);
                (files::is_safe(&path) && !ours && free && !self.in_the_way(&path)).then_some(path)
            });
            match place {
                Some(path) => drop(self.files.insert(path, bytes)),
                None => {
                    let note = "the place that its archive names is taken, or must not be written below a folder";
                    self.report.losses.add(&id, "attachment", LossKind::LeftOut, note);
                }
            }
        }
    }

    /// Where a path of an archive lies: in a home below its workspace.
    fn placed(&self, path: String) -> String {
        if path.starts_with(&self.prefix) { path } else { format!("{}{path}", self.prefix) }
    }

    /// Is one of the folders of this path a file, or the path itself a folder?
    fn in_the_way(&self, path: &str) -> bool {
        let folder = format!("{path}/");
        path.match_indices('/').any(|(at, _)| self.files.contains_key(&path[..at]))
            || self.files.range(folder.clone()..).next().is_some_and(|(next, _)| next.starts_with(&folder))
    }

    /// What the index of a workspace says is not there; a file that is there since is left out. `at` = where a path of that
    /// workspace lies in this one.
    pub(super) fn list_absent(&mut self, scope: &str, list: &[u8], at: &dyn Fn(&str) -> String) {
        let tree = std::str::from_utf8(list).ok().and_then(|text| Tree::parse(text, 64).ok());
        let Some(Tree::Array(rows)) = tree else { return };
        for row in rows {
            let path = row.get("keepsake").and_then(|k| k.get("path")).and_then(Tree::as_str).map(str::to_owned);
            if let Some(path) = path.filter(|path| files::is_safe(path) && !self.files.contains_key(&at(path))) {
                self.absent.push(Absent { list: at(files::ABSENT), scope: scope.to_owned(), path, row });
            }
        }
    }

    /// Writes the indexes.
    pub(super) fn write_absent(&mut self) {
        let mut lists = BTreeMap::<String, Vec<Tree>>::new();
        for mut absent in std::mem::take(&mut self.absent) {
            if absent.scope.is_empty() {
                let path = self.placed(absent.path);
                if self.files.contains_key(&path) {
                    continue;
                }
                absent.row.set("keepsake", Tree::Object(vec![("path".into(), Tree::Text(path))]));
            }
            lists.entry(absent.list).or_default().push(absent.row);
        }
        for (path, rows) in lists {
            let mut text = String::new();
            Tree::Array(rows).write(&mut text);
            self.files.insert(path, text.into_bytes());
        }
    }
}
