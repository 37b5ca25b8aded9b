//! ZIP archives, read in place; archives inside archives by role.
use super::catalog::{Catalog, Location, Spool};
use crate::FormatError;
use keepsake_model::Limits;
use std::{
    fs::File,
    io::{BufReader, Read},
    sync::Mutex,
};
use zip::ZipArchive;

/// An open archive.
pub(super) struct Archive {
    zip: Mutex<ZipArchive<BufReader<File>>>,
}

impl Archive {
    pub(super) fn with_entry<T>(
        &self,
        index: usize,
        place: &str,
        f: impl FnOnce(&mut dyn Read) -> Result<T, FormatError>,
    ) -> Result<T, FormatError> {
        let mut zip = self.zip.lock().map_err(|_| FormatError::invalid("malformed", place, "archive is unusable"))?;
        let mut entry = zip.by_index(index).map_err(|e| FormatError::invalid("malformed", place, e.to_string()))?;
        f(&mut entry)
    }
}

/// Replaces members that are archives by their entries.
pub(super) fn expand(catalog: &mut Catalog, _limits: &Limits, _spool: Option<&dyn Spool>) -> Result<(), FormatError> {
    let found: Vec<_> = std::mem::take(&mut catalog.members);
    for member in found {
        let is_zip =
            matches!(&member.location, Location::File(_)) && is_archive_name(&member.name.to_ascii_lowercase());
        let Some(Location::File(path)) = is_zip.then(|| member.location.clone()) else {
            catalog.push(
                member.root,
                member.place,
                member.name,
                member.size,
                member.depth,
                member.archive,
                member.modified,
                member.location,
            );
            continue;
        };
        let file = File::open(&path).map_err(|e| FormatError::io(&member.place, e))?;
        let mut zip = ZipArchive::new(BufReader::new(file))
            .map_err(|e| FormatError::invalid("malformed", &member.place, e.to_string()))?;
        let archive = catalog.archives.len();
        for index in 0..zip.len() {
            let entry =
                zip.by_index_raw(index).map_err(|e| FormatError::invalid("malformed", &member.place, e.to_string()))?;
            if entry.is_dir() {
                continue;
            }
            let name = entry
                .name()
                .map_or_else(|_| String::from_utf8_lossy(entry.name_raw()).into_owned(), |n| n.into_owned());
            let place = format!("{}!/{name}", member.place);
            let size = entry.size();
            drop(entry);
            catalog.push(
                member.root,
                place,
                name,
                size,
                member.depth + 1,
                Some(archive),
                None,
                Location::Zip { archive, index },
            );
        }
        catalog.archives.push(Archive { zip: Mutex::new(zip) });
    }
    Ok(())
}

fn is_archive_name(name: &str) -> bool {
    [".zip", ".alf"].iter().any(|end| name.ends_with(end))
}
