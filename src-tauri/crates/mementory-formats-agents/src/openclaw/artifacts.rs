//! Writes the attachment files of an imported `.alf` archive to the paths that the archive states (spec §3.1.9, §6.2).
//! An index file of the workspace lists the files that the archive lists without their content.
use super::files::{self, FileRole};
use super::workspace::{AbsentFile, Artifact, Workspace, read_all};
use mementory_format::extension;
use mementory_format::{FormatError, RecordSource, StoredRecord};
use mementory_json::Tree;
use mementory_model::{Kind, LossKind};
use std::collections::BTreeMap;

/// The row of the attachment index of an `.alf` archive from which a record was read. None for any other record.
pub(super) fn attachment_row(stored: &StoredRecord) -> Option<Tree> {
    let record = &stored.record;
    let verbatim =
        record.verbatim.as_ref().filter(|_| record.kind == Kind::Attachment && record.origin.format == "alf")?;
    Tree::parse(&verbatim.text, 512).ok().filter(|row| row.get("source_path").is_some())
}

impl Workspace {
    /// Adds an attachment file of an imported archive, or only its row if the file is missing.
    pub(super) fn add_artifact(
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
        let paths: Vec<String> = [text("source_path"), text("archive_path")].into_iter().flatten().collect();
        let Some(bytes) = bytes else {
            let size = match row.get("size_bytes") {
                Some(Tree::Number(n)) => format!("{n} bytes"),
                _ => "size not known".into(),
            };
            let note = format!("{name} ({size}): the archive lists this file without its content");
            self.report.losses.add(&id, "attachment", LossKind::LeftOut, &note);
            if let Some(path) = paths.into_iter().find(|path| files::is_safe(path)) {
                self.absent.push(AbsentFile { scope: String::new(), path, row, index_path: files::ABSENT_FILE.into() });
            }
            return Ok(());
        };
        self.artifacts.push(Artifact { id, paths, bytes });
        Ok(())
    }

    /// Assigns a path to each artifact, or lists it as a loss if none of its paths can be used. Must run after the
    /// workspace's own files were added, so that an artifact never replaces one of them.
    pub(super) fn place_artifacts(&mut self) {
        for Artifact { id, paths, bytes } in std::mem::take(&mut self.artifacts) {
            let path = paths.into_iter().find_map(|path| {
                let path = self.with_prefix(path);
                // An archive must not write bookkeeping files, neither ours nor those of other programs.
                let is_own_or_junk = files::role(&path) == FileRole::Junk
                    || path.split('/').any(|part| [".mementory", ".keepsake"].contains(&part));
                let is_available = self.files.get(&path).is_none_or(|present| *present == bytes);
                (files::is_safe(&path) && !is_own_or_junk && is_available && !self.has_path_conflict(&path))
                    .then_some(path)
            });
            match path {
                Some(path) => drop(self.files.insert(path, bytes)),
                None => {
                    let note = "the path that its archive gives is unsafe, or another file has it";
                    self.report.losses.add(&id, "attachment", LossKind::LeftOut, note);
                }
            }
        }
    }

    /// Converts a path in an archive to a path in this folder. In a ZeroClaw home, the files are in `workspace/`.
    fn with_prefix(&self, path: String) -> String {
        if path.starts_with(&self.prefix) { path } else { format!("{}{path}", self.prefix) }
    }

    /// True if a folder in this path is already a file, or if the path itself is already a folder.
    fn has_path_conflict(&self, path: &str) -> bool {
        let folder = format!("{path}/");
        path.match_indices('/').any(|(at, _)| self.files.contains_key(&path[..at]))
            || self.files.range(folder.clone()..).next().is_some_and(|(next, _)| next.starts_with(&folder))
    }

    /// Adds the files that the index of a workspace lists as absent, except files that now exist. `path_of` converts a
    /// path in that workspace to a path in this folder.
    pub(super) fn add_absent_from_index(&mut self, scope: &str, index: &[u8], path_of: &dyn Fn(&str) -> String) {
        let tree = std::str::from_utf8(index).ok().and_then(|text| Tree::parse(text, 64).ok());
        let Some(Tree::Array(rows)) = tree else { return };
        for row in rows {
            let path =
                extension::vendor_slot(&row).and_then(|k| k.get("path")).and_then(Tree::as_str).map(str::to_owned);
            if let Some(path) = path.filter(|path| files::is_safe(path) && !self.files.contains_key(&path_of(path))) {
                let index_path = path_of(files::ABSENT_FILE);
                self.absent.push(AbsentFile { index_path, scope: scope.to_owned(), path, row });
            }
        }
    }

    /// Writes the index files, which list the files whose content is still missing.
    pub(super) fn write_absent_indexes(&mut self) {
        let mut indexes = BTreeMap::<String, Vec<Tree>>::new();
        for mut absent in std::mem::take(&mut self.absent) {
            if absent.scope.is_empty() {
                let path = self.with_prefix(absent.path);
                if self.files.contains_key(&path) {
                    continue;
                }
                extension::set_vendor_slot(&mut absent.row, Tree::Object(vec![("path".into(), Tree::Text(path))]));
            }
            indexes.entry(absent.index_path).or_default().push(absent.row);
        }
        for (path, rows) in indexes {
            let mut text = String::new();
            Tree::Array(rows).write(&mut text);
            self.files.insert(path, text.into_bytes());
        }
    }
}
