//! The demonstration: a vault filled with built-in exports of a fictional person.
use super::{CreateOptions, Session};
use crate::{ApiError, ApiResult, Applied, Job, types::*};
use mementory_formats::DEMONSTRATION;
use std::path::Path;

/// Passphrase of every demonstration vault. It protects nothing, because everything in it is fictional and public.
pub const DEMONSTRATION_PASSPHRASE: &str = "ferry lantern hazel afternoon";

impl Session {
    /// Creates a demonstration vault in `dir`, which must be missing or empty, and opens it.
    ///
    /// # Errors
    /// As [`create`](Self::create) and [`Imports::import`](super::Imports::import). After an error, `dir` is left
    /// empty.
    pub fn create_demonstration(dir: &Path, job: &Job) -> ApiResult<(Self, Applied<CreatedDemonstration>)> {
        let exports = tempfile::tempdir().map_err(|error| unpacking_error(&error))?;
        for (name, bytes) in DEMONSTRATION {
            std::fs::write(exports.path().join(name), bytes).map_err(|error| unpacking_error(&error))?;
        }
        let (session, created) = Self::create(dir, DEMONSTRATION_PASSPHRASE, CreateOptions { kdf_floor: true })?;
        match session.fill_demonstration(exports.path(), job) {
            Ok(counts) => {
                let passphrase = DEMONSTRATION_PASSPHRASE.to_owned();
                Ok((session, created.map(|created| CreatedDemonstration { path: created.path, passphrase, counts })))
            }
            Err(error) => {
                drop(session);
                // Even if the removal fails, the error that stopped the imports is returned.
                let _ = mementory_vault::remove_vault(dir);
                Err(error)
            }
        }
    }

    /// Imports the built-in exports from `folder` and marks the vault as a demonstration. Returns the number of records
    /// by kind.
    fn fill_demonstration(&self, folder: &Path, job: &Job) -> ApiResult<std::collections::BTreeMap<String, u32>> {
        let mut batches = Vec::new();
        for (name, _) in DEMONSTRATION {
            let paths = vec![folder.join(name).display().to_string()];
            let request = ImportRequest { paths, ..ImportRequest::default() };
            batches.push(self.imports().import(&request, false, job)?.batch);
        }
        let _guard = self.context.write_guard();
        self.context.vault.demonstration().mark(&batches)?;
        Ok(self.overview().info()?.counts)
    }

    /// True if the vault is a demonstration.
    pub fn is_demonstration(&self) -> bool {
        // If the mark cannot be read, the window merely does not offer to delete the vault.
        matches!(self.context.vault.demonstration().batches(), Ok(Some(_)))
    }

    /// Fails unless the vault is a demonstration and the person has imported nothing into it.
    ///
    /// # Errors
    /// `not_a_demonstration`, `own_imports`. Nothing is changed.
    pub fn check_deletable_demonstration(&self) -> ApiResult<()> {
        let Some(sample_batches) = self.context.vault.demonstration().batches()? else {
            return Err(ApiError::new(
                "not_a_demonstration",
                1,
                "This vault is not a demonstration. Nothing was deleted.",
            ));
        };
        let imports = self.imports().list()?.batches;
        let own_imports =
            imports.iter().filter(|batch| !batch.undone && !sample_batches.contains(&batch.batch)).count();
        if own_imports == 0 {
            return Ok(());
        }
        Err(ApiError::new(
            "own_imports",
            1,
            format!(
                "This demonstration also contains {own_imports} of your own imports. Nothing was deleted. Undo them first \
                 if you have the files elsewhere."
            ),
        )
        .with("n", own_imports))
    }
}

/// Deletes the files of a demonstration vault that is closed. Other files in its folder stay.
///
/// # Errors
/// `vault_in_use`, `io`.
pub fn delete_demonstration(dir: &Path) -> ApiResult<()> {
    Ok(mementory_vault::remove_vault(dir)?)
}

fn unpacking_error(error: &std::io::Error) -> ApiError {
    ApiError::io(format!(
        "The demonstration could not be unpacked: {error}. Nothing was created. Check the space on your disk."
    ))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn new_demonstration(dir: &Path) -> Session {
        Session::create_demonstration(dir, &Job::silent()).unwrap().0
    }

    #[test]
    fn the_demonstration_covers_a_year_in_the_life_of_a_fictional_person() {
        let folder = tempfile::tempdir().unwrap();
        let dir = folder.path().join("Demonstration.mementory");
        let (session, made) = Session::create_demonstration(&dir, &Job::silent()).unwrap();
        let count = |kind: &str| made.counts.get(kind).copied().unwrap_or_default();
        assert!((130..=170).contains(&count("memory")), "{:?}", made.counts);
        assert!((190..=210).contains(&count("conversation")), "{:?}", made.counts);
        assert!(count("attachment") >= 4, "{:?}", made.counts);
        assert_eq!(session.overview().info().unwrap().sources.len(), 4);
        for query in ["hazelnut", "Cacilhas", "half marathon"] {
            let request = SearchRequest {
                query: query.into(),
                filter: Filter::default(),
                limit: None,
                offset: None,
                typing: false,
            };
            assert!(session.search().hits(&request).unwrap().total > 2, "{query}");
        }
        let request = ScanRequest { filter: Filter::default(), classes: Vec::new() };
        let scan_result = session.scan().records(&request, &Job::silent()).unwrap();
        for class in ["card", "email", "iban", "phone", "access_key"] {
            assert!(scan_result.by_class.contains_key(class), "{class}: {:?}", scan_result.by_class);
        }
        assert!(!session.duplicates().groups(&Job::silent()).unwrap().groups.is_empty());
        drop(session);
        assert!(Session::open(&dir, &made.passphrase).unwrap().is_demonstration());
    }

    #[test]
    fn a_demonstration_is_deleted_only_if_the_person_imported_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let dir = folder.path().join("Demonstration.mementory");
        let session = new_demonstration(&dir);
        session.check_deletable_demonstration().unwrap();
        let text = "My own words.".to_owned();
        let request = ImportRequest { text: Some(text), ..ImportRequest::default() };
        let own_batch = session.imports().import(&request, false, &Job::silent()).unwrap().batch;
        assert_eq!(session.check_deletable_demonstration().unwrap_err().code, "own_imports");
        session.imports().undo(&own_batch, &Job::silent()).unwrap();
        session.check_deletable_demonstration().unwrap();

        assert_eq!(delete_demonstration(&dir).unwrap_err().code, "vault_in_use");
        drop(session);
        std::fs::write(dir.join("mine.txt"), "mine").unwrap();
        delete_demonstration(&dir).unwrap();
        let left: Vec<_> = std::fs::read_dir(&dir).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left, ["mine.txt"]);
        std::fs::remove_file(dir.join("mine.txt")).unwrap();
    }

    #[test]
    fn an_ordinary_vault_is_not_a_demonstration() {
        let folder = tempfile::tempdir().unwrap();
        let dir = folder.path().join("Mine.mementory");
        let (session, _) = Session::create(&dir, DEMONSTRATION_PASSPHRASE, CreateOptions { kdf_floor: true }).unwrap();
        assert!(!session.is_demonstration());
        assert_eq!(session.check_deletable_demonstration().unwrap_err().code, "not_a_demonstration");
    }
}
