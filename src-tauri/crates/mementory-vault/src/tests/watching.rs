#![allow(clippy::unwrap_used)]
use crate::{
    VaultError,
    vault::Vault,
    watching::{
        CandidateFile, FileStamp, FolderListing, LatestExport, MAX_FOLDERS, Mode, Offer, QUIET_PERIOD, SeenFile,
        UnsettledFiles, list_folder,
    },
};
use mementory_crypto::KdfChoice;
use mementory_model::Timestamp;
use std::{
    path::{Path, PathBuf},
    time::Duration,
};

const SECOND: Duration = Duration::from_secs(1);

fn time_at(seconds: i64) -> Timestamp {
    Timestamp::from_micros(seconds * 1_000_000).unwrap()
}

fn vault(dir: &Path) -> Vault {
    Vault::create(&dir.join("v.mementory"), "correct horse battery staple", KdfChoice::Floor, time_at(1)).unwrap().0
}

fn names(listing: FolderListing) -> Vec<String> {
    match listing {
        FolderListing::Files(files) => files.into_iter().map(|file| file.name).collect(),
        other => panic!("{other:?}"),
    }
}

fn file(name: &str, size: u64) -> CandidateFile {
    CandidateFile { name: name.into(), path: PathBuf::from(name), stamp: FileStamp { size, modified: 5 } }
}

fn offer(name: &str, digest: &str, at: i64) -> SeenFile {
    let offer = Offer { name: name.into(), format: Some("chatgpt".into()), digest: digest.into(), at };
    SeenFile { stamp: FileStamp { size: 7, modified: at }, offer: Some(offer) }
}

#[test]
fn only_finished_files_directly_in_the_folder_are_read() {
    let dir = tempfile::tempdir().unwrap();
    for name in [
        "export.zip",
        "b.json",
        ".hidden.json",
        "big.zip.crdownload",
        "big.zip.part",
        "x.PARTIAL",
        "draft.json~",
        "~$draft.docx",
        "y.tmp",
    ] {
        std::fs::write(dir.path().join(name), "{}").unwrap();
    }
    std::fs::write(dir.path().join("placeholder.zip"), "").unwrap();
    std::fs::create_dir_all(dir.path().join("below")).unwrap();
    std::fs::write(dir.path().join("below/other.zip"), "{}").unwrap();
    assert_eq!(names(list_folder(dir.path())), ["b.json", "export.zip"]);
    assert_eq!(list_folder(&dir.path().join("gone")), FolderListing::Missing);
    assert_eq!(list_folder(&dir.path().join("b.json")), FolderListing::Missing, "a file is no folder");
}

#[cfg(unix)]
#[test]
fn links_are_not_followed() {
    let (dir, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    std::fs::write(outside.path().join("export.zip"), "{}").unwrap();
    std::os::unix::fs::symlink(outside.path().join("export.zip"), dir.path().join("export.zip")).unwrap();
    std::os::unix::fs::symlink(outside.path(), dir.path().join("folder")).unwrap();
    assert_eq!(names(list_folder(dir.path())), [""; 0]);
    assert_eq!(list_folder(&dir.path().join("folder")), FolderListing::Missing);
    assert_eq!(FileStamp::from_path(&dir.path().join("export.zip")), None);
    assert!(FileStamp::from_path(&outside.path().join("export.zip")).is_some());
}

#[test]
fn a_file_has_settled_when_size_and_time_stay_the_same_for_a_while() {
    let mut settling = UnsettledFiles::default();
    assert_eq!(settling.settle("f", vec![file("a", 1)], SECOND), (vec![], Some(QUIET_PERIOD)));
    // The wait starts again only for the file that grew.
    let (settled, wait) = settling.settle("f", vec![file("a", 2), file("b", 9)], SECOND * 2);
    assert_eq!((settled.len(), wait), (0, Some(QUIET_PERIOD)));
    let (settled, wait) = settling.settle("f", vec![file("a", 3), file("b", 9)], SECOND * 4);
    assert_eq!((settled.len(), wait), (0, Some(SECOND)), "b first");
    let (settled, wait) = settling.settle("f", vec![file("a", 3), file("b", 9)], SECOND * 5);
    assert_eq!((settled, wait), (vec![file("b", 9)], Some(SECOND * 2)));
    // Other folders have no effect, and a file that is gone is not waited for.
    settling.settle("g", vec![file("a", 3)], SECOND * 6);
    assert_eq!(settling.settle("f", vec![file("a", 3)], SECOND * 7), (vec![file("a", 3)], None));
    assert_eq!(settling.settle("f", vec![], SECOND * 8), (vec![], None));
    assert_eq!(settling.settle("f", vec![file("a", 3)], SECOND * 9), (vec![], Some(QUIET_PERIOD)), "it came back");
    assert_eq!(settling.settle("g", vec![file("a", 3)], SECOND * 9), (vec![file("a", 3)], None));
    assert_eq!(
        settling.settle("g", vec![file("a", 3)], SECOND),
        (vec![], Some(QUIET_PERIOD)),
        "the clock was set back"
    );
}

#[test]
fn watched_folders_and_seen_files_survive_reopening_and_end_with_unwatching() {
    let dir = tempfile::tempdir().unwrap();
    let watched = Path::new("/home/ines/Downloads");
    let vault = vault(dir.path());
    vault.watched_folders().watch(watched, &[file("old.zip", 3)], time_at(2)).unwrap();
    vault.watched_folders().watch(watched, &[], time_at(3)).unwrap();
    let folder = vault.watched_folders().folders().unwrap().pop().unwrap();
    assert_eq!(
        (vault.watched_folders().folders().unwrap().len(), folder.mode),
        (1, Mode::Ask),
        "the same folder is watched once"
    );
    vault.watched_folders().set_mode(&folder.id, Mode::Own, time_at(4)).unwrap();
    let last = LatestExport { name: "new.zip".into(), at: 9 };
    vault
        .watched_folders()
        .record_seen(&folder.id, &[("new.zip".into(), offer("new.zip", "d1", 9))], Some(last.clone()))
        .unwrap();
    drop(vault);

    let vault = Vault::open(&dir.path().join("v.mementory"), "correct horse battery staple").unwrap();
    let stored_folder = vault.watched_folders().folders().unwrap().pop().unwrap();
    assert_eq!((stored_folder.mode, stored_folder.last), (Mode::Own, Some(last)));
    let seen = vault.watched_folders().seen(&folder.id).unwrap();
    assert_eq!(
        seen[&vault.watched_folders().seen_key(&folder.id, "old.zip")].stamp,
        FileStamp { size: 3, modified: 5 }
    );
    assert!(seen.keys().all(|key| !key.contains("zip")), "names are not stored as they are");
    let waiting = vault.watched_folders().offers().unwrap();
    assert_eq!((waiting.len(), waiting[0].folder.as_str()), (1, folder.id.as_str()));

    vault.watched_folders().unwatch(&folder.id, time_at(5)).unwrap();
    assert!(
        vault.watched_folders().folders().unwrap().is_empty() && vault.watched_folders().offers().unwrap().is_empty()
    );
    assert!(vault.watched_folders().seen(&folder.id).unwrap().is_empty());
    vault.watched_folders().record_seen(&folder.id, &[("late.zip".into(), offer("late.zip", "d2", 9))], None).unwrap();
    assert!(vault.watched_folders().offers().unwrap().is_empty(), "a check that was already running adds nothing");
    assert!(matches!(vault.watched_folders().unwatch(&folder.id, time_at(6)), Err(VaultError::NotFound { .. })));
    assert!(matches!(vault.watched_folders().set_mode("?", Mode::Ask, time_at(6)), Err(VaultError::NotFound { .. })));
}

#[test]
fn an_answer_applies_to_all_files_with_the_same_content() {
    let dir = tempfile::tempdir().unwrap();
    let vault = vault(dir.path());
    vault.watched_folders().watch(Path::new("/a"), &[], time_at(2)).unwrap();
    vault.watched_folders().watch(Path::new("/b"), &[], time_at(3)).unwrap();
    let folders = vault.watched_folders().folders().unwrap();
    vault.watched_folders().record_seen(&folders[0].id, &[("x.zip".into(), offer("x.zip", "same", 10))], None).unwrap();
    let more_files =
        [("copy.zip".into(), offer("copy.zip", "same", 30)), ("y.zip".into(), offer("y.zip", "other", 20))];
    vault.watched_folders().record_seen(&folders[1].id, &more_files, None).unwrap();
    let waiting = vault.watched_folders().offers().unwrap();
    assert_eq!(waiting.iter().map(|each| each.offer.name.as_str()).collect::<Vec<_>>(), ["copy.zip", "y.zip", "x.zip"]);

    assert!(!vault.watched_folders().is_known_content("same").unwrap());
    vault.watched_folders().answer(&waiting[2].id).unwrap();
    assert!(
        vault.watched_folders().is_known_content("same").unwrap()
            && !vault.watched_folders().is_known_content("other").unwrap()
    );
    let remaining_offers = vault.watched_folders().offers().unwrap();
    assert_eq!(remaining_offers.iter().map(|each| each.offer.name.as_str()).collect::<Vec<_>>(), ["y.zip"]);
    assert!(matches!(vault.watched_folders().answer(&waiting[2].id), Err(VaultError::NotFound { .. })));
    let seen = vault.watched_folders().seen(&folders[0].id).unwrap();
    assert_eq!(
        seen[&vault.watched_folders().seen_key(&folders[0].id, "x.zip")].stamp.size,
        7,
        "its size and time are still known"
    );
}

#[test]
fn more_than_fifty_folders_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let vault = vault(dir.path());
    for n in 0..MAX_FOLDERS {
        vault.watched_folders().watch(Path::new(&format!("/f{n}")), &[], time_at(2)).unwrap();
    }
    assert!(matches!(vault.watched_folders().watch(Path::new("/more"), &[], time_at(3)), Err(VaultError::Usage(_))));
    assert_eq!(vault.watched_folders().folders().unwrap().len(), MAX_FOLDERS);
}
