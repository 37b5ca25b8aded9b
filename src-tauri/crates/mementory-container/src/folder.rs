//! Adds plain files and folder trees to a catalog. Links and devices are reported, not read.
use super::{
    catalog::Catalog,
    member::{Location, Member},
};
use crate::FormatError;
use mementory_model::{Issue, Limits, Timestamp};
use std::path::Path;

/// Adds a file or a whole folder.
pub(super) fn add_path(
    catalog: &mut Catalog,
    root: usize,
    path: &Path,
    name: &str,
    limits: &Limits,
) -> Result<(), FormatError> {
    let meta = std::fs::symlink_metadata(path).map_err(|e| FormatError::io(name, e))?;
    if meta.is_file() {
        add_file(catalog, root, path, name.to_owned(), name.to_owned(), &meta);
        return Ok(());
    }
    if !meta.is_dir() {
        return Err(FormatError::Refused { place: name.into(), reason: "not a regular file or folder".into() });
    }
    let mut pending = vec![(path.to_path_buf(), String::new())];
    while let Some((dir, prefix)) = pending.pop() {
        let listing = std::fs::read_dir(&dir).and_then(|list| list.collect::<Result<Vec<_>, _>>());
        let mut entries = match listing {
            Ok(entries) => entries,
            Err(e) if prefix.is_empty() => return Err(FormatError::io(name, e)),
            Err(e) => {
                catalog.issues.push(Issue::new("unreadable", format!("{name}/{prefix}"), e.to_string()));
                continue;
            }
        };
        if entries.is_empty() && !prefix.is_empty() {
            catalog.empty_folders.push(format!("{name}/{prefix}"));
        }
        entries.sort_by_key(std::fs::DirEntry::file_name);
        for entry in entries {
            let entry_name = entry.file_name().to_string_lossy().into_owned();
            let path_in_folder = if prefix.is_empty() { entry_name } else { format!("{prefix}/{entry_name}") };
            let place = format!("{name}/{path_in_folder}");
            let meta = match entry.metadata() {
                Ok(meta) => meta,
                Err(e) => {
                    catalog.issues.push(Issue::new("unreadable", place, e.to_string()));
                    continue;
                }
            };
            if meta.is_dir() {
                pending.push((entry.path(), path_in_folder));
            } else if meta.is_file() {
                add_file(catalog, root, &entry.path(), place, path_in_folder, &meta);
            } else if meta.is_symlink() {
                catalog.issues.push(Issue::new("link", place, "a link, not followed"));
            } else {
                catalog.issues.push(Issue::new("not_a_regular_file", place, "a device, not read"));
            }
            if (catalog.members.len() + catalog.empty_folders.len()) as u64 > limits.entries {
                return Err(FormatError::Limit { limit: "entries", place: name.into(), figure: limits.entries });
            }
        }
    }
    Ok(())
}

fn add_file(catalog: &mut Catalog, root: usize, path: &Path, place: String, name: String, meta: &std::fs::Metadata) {
    let modified = meta.modified().ok().and_then(|t| {
        let micros = t.duration_since(std::time::UNIX_EPOCH).ok()?.as_micros();
        Timestamp::from_micros(i64::try_from(micros).ok()?)
    });
    catalog.push_member(Member {
        id: 0,
        root,
        place,
        name,
        size: meta.len(),
        depth: 0,
        backslashes: false,
        archive: None,
        modified,
        location: Location::File(path.to_path_buf()),
    });
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use crate::{
        Catalog, FormatError,
        tests::{TempFolder, plain_entry, zip_bytes},
    };
    use mementory_model::Limits;

    #[test]
    fn empty_folders_are_listed() {
        let folder = TempFolder::new("empty-folders");
        let path = folder.put("in/a.txt", b"a").parent().unwrap().to_owned();
        std::fs::create_dir_all(path.join("x/y/z")).unwrap();
        std::fs::create_dir(path.join("e")).unwrap();
        let mut found = Catalog::open(&[path], &Limits::default(), None).unwrap().empty_folders().to_vec();
        found.sort();
        assert_eq!(found, ["in/e", "in/x/y/z"]);
        let files = [("a/b.txt", "x"), ("a/", ""), ("c/", ""), ("d/e/", ""), ("d/", "")];
        let entries: Vec<_> = files.iter().map(|(name, data)| plain_entry(name, data.as_bytes())).collect();
        let zip = folder.put("z.zip", &zip_bytes(&entries));
        let found = Catalog::open(&[zip], &Limits::default(), None).unwrap().empty_folders().to_vec();
        assert_eq!(found, ["z.zip!/c", "z.zip!/d/e"]);
    }

    #[test]
    fn the_files_at_a_path_are_those_that_are_opened() {
        let folder = TempFolder::new("files-at");
        let expected = [folder.put("in/a.txt", b"a"), folder.put("in/deep/b.zip", b"not an archive")];
        let path = expected[0].parent().unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink(&expected[0], path.join("link.txt")).unwrap();
        let limits = Limits { entries: 2, ..Limits::default() };
        let mut found = Catalog::files_at(path, &limits).unwrap();
        found.sort();
        assert_eq!(found, [(expected[0].clone(), 1), (expected[1].clone(), 14)]);
        assert_eq!(Catalog::files_at(&expected[1], &limits).unwrap(), [(expected[1].clone(), 14)]);
        folder.put("in/deep/c.txt", b"");
        let too_many = Catalog::files_at(path, &limits);
        assert!(matches!(too_many, Err(FormatError::Limit { limit: "entries", .. })), "{too_many:?}");
    }
}
