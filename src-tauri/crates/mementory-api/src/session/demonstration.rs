//! The demonstration: a vault filled with built-in exports of a fictional person.
use super::{CreateOptions, Session};
use crate::{ApiError, ApiResult, Applied, Job, types::*};
use mementory_crypto::HEADER_FILE;
use mementory_formats::DEMONSTRATION;
use mementory_vault::{OwnContent, VaultError};
use std::{io, path::Path};
use tempfile::TempDir;

/// Passphrase of every demonstration vault. It protects nothing, because everything in it is fictional and public.
pub const DEMONSTRATION_PASSPHRASE: &str = "ferry lantern hazel afternoon";

/// Prefix of the names of the temporary folders in which demonstrations are created. The folder remains if the process
/// is killed. The next creation of a demonstration in the same parent folder removes it.
const UNFINISHED_PREFIX: &str = ".mementory-demonstration-";

impl Session {
    /// Creates a demonstration vault in `dir`, which must be missing or empty, and opens it. The vault is created in a
    /// folder next to `dir` and then moved, so that `dir` never contains an unfinished vault.
    ///
    /// # Errors
    /// As [`create`](Self::create) and [`Imports::import`](super::Imports::import). After an error, `dir` is missing or
    /// empty, unless the finished vault could not be moved completely or not be opened.
    pub fn create_demonstration(dir: &Path, job: &Job) -> ApiResult<(Self, Applied<CreatedDemonstration>)> {
        if dir.read_dir().map_or(dir.exists(), |mut entries| entries.next().is_some()) {
            return Err(VaultError::Exists(dir.display().to_string()).into());
        }
        let exports = tempfile::tempdir().map_err(|error| creation_error(&error))?;
        for (name, bytes) in DEMONSTRATION {
            std::fs::write(exports.path().join(name), bytes).map_err(|error| creation_error(&error))?;
        }
        let unfinished = new_unfinished_folder(dir).map_err(|error| creation_error(&error))?;
        let options = CreateOptions { kdf_floor: true };
        let (session, created) = Self::create(unfinished.path(), DEMONSTRATION_PASSPHRASE, options)?;
        let counts = session.fill_demonstration(exports.path(), job)?;
        // The vault is closed before it is moved, because an open vault uses its files by their paths.
        drop(session);
        move_vault(unfinished.path(), dir).map_err(|error| creation_error(&error))?;
        let (path, passphrase) = (dir.display().to_string(), DEMONSTRATION_PASSPHRASE.to_owned());
        let created = created.map(|_| CreatedDemonstration { path, passphrase, counts });
        Ok((Self::open(dir, DEMONSTRATION_PASSPHRASE)?, created))
    }

    /// Opens the demonstration vault in `dir`, or creates one if there is none. If `remake` is true, a vault in `dir`
    /// that cannot be used is deleted and created again.
    ///
    /// # Errors
    /// `demonstration_unusable` if calling again with `remake` could help; otherwise as [`open`](Self::open) and
    /// [`create_demonstration`](Self::create_demonstration).
    pub fn open_demonstration(dir: &Path, remake: bool, job: &Job) -> ApiResult<Self> {
        if dir.join(HEADER_FILE).exists() {
            match Self::open_watched(dir, DEMONSTRATION_PASSPHRASE, None, job) {
                Ok(session) if session.is_demonstration() => return Ok(session),
                Err(error) if !is_beyond_repair(&error) => return Err(error),
                _ if !remake => return Err(unusable_error(dir)),
                _ => {}
            }
        }
        if dir.exists() {
            // Also removes the remaining files of a vault whose deletion was interrupted.
            mementory_vault::remove_vault(dir)?;
        }
        Ok(Self::create_demonstration(dir, job)?.0)
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
        // If the mark cannot be read, the only consequence is that the window does not offer to delete the vault.
        matches!(self.context.vault.demonstration().batches(), Ok(Some(_)))
    }

    /// Fails unless the vault is a demonstration to which the person has added nothing. With `with_own_content`, the
    /// demonstration may contain records that the person added.
    ///
    /// # Errors
    /// `not_a_demonstration`, `own_content`. Nothing is changed.
    pub fn check_deletable_demonstration(&self, with_own_content: bool) -> ApiResult<()> {
        let Some(own) = self.context.vault.demonstration().own_content()? else {
            return Err(ApiError::new(
                "not_a_demonstration",
                1,
                "This vault is not a demonstration. Nothing was deleted.",
            ));
        };
        if own.is_empty() || with_own_content {
            return Ok(());
        }
        let OwnContent { imports, written, edited } = own;
        Err(ApiError::new(
            "own_content",
            1,
            format!(
                "This demonstration also contains what you added: {imports} imports, {written} new records and {edited} \
                 edited ones. Nothing was deleted. Export what you want to keep, then delete the demonstration."
            ),
        )
        .with("imports", imports)
        .with("written", written)
        .with("edited", edited))
    }
}

/// Deletes the files of a closed demonstration vault. Other files in its folder are kept.
///
/// # Errors
/// `vault_in_use`, `io`.
pub fn delete_demonstration(dir: &Path) -> ApiResult<()> {
    Ok(mementory_vault::remove_vault(dir)?)
}

/// Creates an empty folder next to `dir`, on the same disk. Also removes the folders that killed processes left behind.
fn new_unfinished_folder(dir: &Path) -> io::Result<TempDir> {
    let parent = std::path::absolute(dir)?.parent().map(Path::to_owned).unwrap_or_default();
    std::fs::create_dir_all(&parent)?;
    for entry in parent.read_dir()?.flatten() {
        if entry.file_name().to_string_lossy().starts_with(UNFINISHED_PREFIX) {
            // The folder of a running process is locked, so it is not removed.
            let _ = mementory_vault::remove_vault(&entry.path());
        }
    }
    tempfile::Builder::new().prefix(UNFINISHED_PREFIX).tempdir_in(&parent)
}

/// Moves a closed vault to `dir`, which must be missing or empty. The header is moved last, because a folder with a
/// header counts as a vault.
fn move_vault(from: &Path, dir: &Path) -> io::Result<()> {
    if !dir.exists() {
        return std::fs::rename(from, dir);
    }
    // `dir` is not replaced but filled, because it may be a folder that cannot be replaced, such as the current folder.
    let mut names = from.read_dir()?.map(|entry| Ok(entry?.file_name())).collect::<io::Result<Vec<_>>>()?;
    names.sort_by_key(|name| name == HEADER_FILE);
    names.iter().try_for_each(|name| std::fs::rename(from.join(name), dir.join(name)))
}

/// True for an error that occurs at every attempt to open the demonstration.
fn is_beyond_repair(error: &ApiError) -> bool {
    matches!(error.code, "wrong_passphrase" | "vault_damaged" | "index" | "store" | "internal")
}

fn unusable_error(dir: &Path) -> ApiError {
    ApiError::new(
        "demonstration_unusable",
        5,
        "The demonstration can't be used: it is incomplete or damaged. Nothing was changed. Delete it and make it again.",
    )
    .with("path", dir.display())
}

fn creation_error(error: &io::Error) -> ApiError {
    ApiError::io(format!(
        "The demonstration could not be made: {error}. Nothing was created. Check the space on your disk."
    ))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::collections::BTreeMap;

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
        assert!((190..=240).contains(&count("conversation")), "{:?}", made.counts);
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
    fn an_interrupted_demonstration_leaves_no_vault_and_is_cleaned_up_by_the_next() {
        let folder = tempfile::tempdir().unwrap();
        let dir = folder.path().join("Demonstration.mementory");
        let names = || -> Vec<_> { folder.path().read_dir().unwrap().map(|e| e.unwrap().file_name()).collect() };
        let job = Job::silent();
        job.cancel();
        assert_eq!(Session::create_demonstration(&dir, &job).err().unwrap().code, "cancelled");
        assert!(names().is_empty(), "{:?}", names());

        // A process that is killed before it marks the vault leaves such a folder behind.
        let killed = folder.path().join(format!("{UNFINISHED_PREFIX}killed"));
        drop(Session::create(&killed, DEMONSTRATION_PASSPHRASE, CreateOptions { kdf_floor: true }).unwrap());
        drop(new_demonstration(&dir));
        assert_eq!(names(), ["Demonstration.mementory"]);

        let empty = folder.path().join("empty");
        std::fs::create_dir(&empty).unwrap();
        assert!(new_demonstration(&empty).is_demonstration());
        assert_eq!(Session::create_demonstration(&dir, &Job::silent()).err().unwrap().code, "exists");
    }

    #[test]
    fn a_demonstration_that_cannot_be_used_is_made_again_only_on_request() {
        let folder = tempfile::tempdir().unwrap();
        let dir = folder.path().join("Demonstration.mementory");
        let open = |remake| Session::open_demonstration(&dir, remake, &Job::silent());
        let create = |passphrase| drop(Session::create(&dir, passphrase, CreateOptions { kdf_floor: true }).unwrap());
        let check_remade = || {
            assert_eq!(open(false).err().unwrap().code, "demonstration_unusable");
            assert!(open(true).unwrap().is_demonstration());
            assert!(open(false).unwrap().is_demonstration());
        };
        // The demonstration replaces a vault without a mark, and a vault with another passphrase.
        for passphrase in [DEMONSTRATION_PASSPHRASE, "correct horse battery staple"] {
            create(passphrase);
            check_remade();
            delete_demonstration(&dir).unwrap();
        }
        // The demonstration replaces a damaged vault.
        drop(open(false).unwrap());
        std::fs::write(dir.join("vault.json"), "{}").unwrap();
        check_remade();
        // The demonstration replaces a vault of which only a part was deleted.
        std::fs::remove_file(dir.join("vault.json")).unwrap();
        let session = open(false).unwrap();
        // A usable vault is not replaced, and a vault in use is not changed.
        let text = "My own words.".to_owned();
        session.changes().add(&AddRequest { text, record_type: None, tags: Vec::new() }).unwrap();
        assert_eq!(open(true).err().unwrap().code, "vault_in_use");
        drop(session);
        assert_eq!(open(true).unwrap().check_deletable_demonstration(false).unwrap_err().code, "own_content");
    }

    #[test]
    fn a_demonstration_with_words_of_the_person_is_not_deleted_without_asking() {
        let folder = tempfile::tempdir().unwrap();
        let session = new_demonstration(&folder.path().join("Demonstration.mementory"));
        session.check_deletable_demonstration(false).unwrap();
        let refused = |details: [(&str, &str); 3]| {
            let error = session.check_deletable_demonstration(false).unwrap_err();
            let details = BTreeMap::from(details.map(|(name, value)| (name.to_owned(), value.to_owned())));
            assert_eq!((error.code, error.details), ("own_content", details));
            session.check_deletable_demonstration(true).unwrap();
        };
        let text = "My own words.".to_owned();
        session.changes().add(&AddRequest { text, record_type: None, tags: Vec::new() }).unwrap();
        refused([("imports", "0"), ("written", "1"), ("edited", "0")]);
        let request = ListRequest {
            filter: Filter { kind: Some("memory".into()), ..Filter::default() },
            ..ListRequest::default()
        };
        let memories = session.records().list(&request).unwrap().items;
        let sample = memories.iter().find(|memory| memory.source != "me").unwrap();
        let text = Some("Changed by me.".to_owned());
        let edit = EditRequest { id: sample.id.clone(), text, title: None, tags: None, record_type: None };
        session.changes().edit(&edit).unwrap();
        refused([("imports", "0"), ("written", "1"), ("edited", "1")]);
        // An edit is counted even after its text was restored, because the history contains it.
        session.changes().restore_version(&sample.id, 1).unwrap();
        refused([("imports", "0"), ("written", "1"), ("edited", "1")]);
    }

    #[test]
    fn a_demonstration_is_deleted_only_if_the_person_imported_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let dir = folder.path().join("Demonstration.mementory");
        let session = new_demonstration(&dir);
        session.check_deletable_demonstration(false).unwrap();
        let text = "My own words.".to_owned();
        let request = ImportRequest { text: Some(text), ..ImportRequest::default() };
        let own_batch = session.imports().import(&request, false, &Job::silent()).unwrap().batch;
        assert_eq!(session.check_deletable_demonstration(false).unwrap_err().code, "own_content");
        session.imports().undo(&own_batch, &Job::silent()).unwrap();
        session.check_deletable_demonstration(false).unwrap();

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
        assert_eq!(session.check_deletable_demonstration(false).unwrap_err().code, "not_a_demonstration");
    }
}
