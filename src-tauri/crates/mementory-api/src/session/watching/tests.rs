#![allow(clippy::unwrap_used)]
use super::*;
use crate::{CreateOptions, Session};

const MIF: &str = "mif/v1/input.mif.json";
const MEM0: &str = "mem0/array/input.json";

fn fixture(name: &str) -> Vec<u8> {
    let folder = Path::new(&std::env::var_os("CARGO_MANIFEST_DIR").unwrap()).join("../../../fixtures");
    std::fs::read(folder.join(name)).unwrap()
}

/// A vault with one watched folder and a manual clock.
struct WatchingVault {
    dir: tempfile::TempDir,
    session: Session,
    clock: Duration,
}

impl WatchingVault {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("Downloads")).unwrap();
        let options = CreateOptions { kdf_floor: true };
        let (session, _) =
            Session::create(&dir.path().join("v.mementory"), "correct horse battery staple", options).unwrap();
        session.watching().add(&dir.path().join("Downloads")).unwrap();
        Self { dir, session, clock: Duration::ZERO }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join("Downloads").join(name)
    }

    fn write_file(&self, name: &str, bytes: &[u8]) {
        std::fs::write(self.path(name), bytes).unwrap();
    }

    fn scan(&mut self) -> FolderScan {
        self.session.watching().scan_folders(self.clock, &Job::silent()).unwrap()
    }

    /// Scans, waits until all files have settled, and scans again.
    fn settle(&mut self) -> FolderScan {
        let first = self.scan();
        self.clock += first.wait.unwrap_or_default();
        self.scan()
    }

    fn offers(&self) -> Vec<String> {
        self.session.watching().list().unwrap().detected_files.into_iter().map(|find| find.name).collect()
    }

    fn folder(&self) -> WatchedFolder {
        self.session.watching().list().unwrap().folders.pop().unwrap()
    }

    fn set(&self, mode: WatchMode) {
        self.session.watching().set_mode(&self.folder().id, mode).unwrap();
    }

    fn reopen(self) -> Self {
        let Self { dir, session, .. } = self;
        drop(session);
        let session = Session::open(&dir.path().join("v.mementory"), "correct horse battery staple").unwrap();
        Self { dir, session, clock: Duration::ZERO }
    }
}

#[test]
fn an_export_is_offered_when_it_stops_growing_and_other_files_are_ignored() {
    let mut watch = WatchingVault::new();
    let export = fixture(MIF);
    watch.write_file("mine.json", &export[..40]);
    watch.write_file("holiday.txt", b"Two weeks by the sea.");
    watch.write_file("notes.json", b"{\"a\": 1}");
    let scan = watch.scan();
    assert_eq!((scan.changed, scan.wait), (false, Some(mementory_vault::watching::QUIET_PERIOD)));
    assert!(watch.offers().is_empty());

    watch.clock += Duration::from_secs(2);
    watch.write_file("mine.json", &export);
    assert!(!watch.scan().changed);
    watch.clock += Duration::from_secs(2);
    assert!(!watch.scan().changed, "the other files have settled and are no exports");
    watch.clock += Duration::from_secs(1);
    let scan = watch.scan();
    assert!(scan.changed && scan.imports.is_empty() && scan.wait.is_none());
    assert_eq!(watch.offers(), ["mine.json"]);
    let find = watch.session.watching().list().unwrap().detected_files.remove(0);
    assert_eq!((find.format.as_deref(), find.fresh), (Some("mif"), true));
    assert_eq!(find.path, watch.path("mine.json").display().to_string());
    assert_eq!(watch.folder().last_name.as_deref(), Some("mine.json"));
    assert!(!watch.settle().changed, "it is detected once");
}

/// The names, contents and modification times of the watched folder and of everything in it.
fn folder_state(folder: &Path) -> Vec<(PathBuf, Vec<u8>, std::time::SystemTime)> {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.push(folder.to_path_buf());
    paths.sort();
    let state = |path: PathBuf| {
        let changed = path.metadata().unwrap().modified().unwrap();
        let bytes = if path.is_file() { std::fs::read(&path).unwrap() } else { Vec::new() };
        (path, bytes, changed)
    };
    paths.into_iter().map(state).collect()
}

#[test]
fn nothing_in_a_watched_folder_is_changed() {
    for mode in [WatchMode::Ask, WatchMode::Automatic] {
        let mut watch = WatchingVault::new();
        watch.set(mode);
        let names = ["mine.json", "mem0.json", "damaged.alf", "holiday.txt"];
        for (name, bytes) in
            names.into_iter().zip([fixture(MIF), fixture(MEM0), b"PK\x03\x04".to_vec(), b"sea".to_vec()])
        {
            watch.write_file(name, &bytes);
        }
        let folder = watch.path("mine.json").parent().unwrap().to_path_buf();
        let before = folder_state(&folder);
        watch.settle();
        for find in watch.session.watching().list().unwrap().detected_files {
            let request = ImportRequest { paths: vec![find.path], ..ImportRequest::default() };
            // The damaged file is refused.
            let _ = watch.session.imports().import(&request, false, &Job::silent());
        }
        watch.settle();
        assert!(!watch.session.imports().list().unwrap().batches.is_empty(), "they were imported");
        let watch = watch.reopen();
        watch.session.watching().remove(&watch.folder().id).unwrap();
        assert!(folder_state(&folder) == before);
    }
}

#[test]
fn files_already_in_the_folder_are_not_offered_until_they_change() {
    let dir = tempfile::tempdir().unwrap();
    let downloads = dir.path().join("Downloads");
    std::fs::create_dir(&downloads).unwrap();
    std::fs::write(downloads.join("old.json"), fixture(MIF)).unwrap();
    let options = CreateOptions { kdf_floor: true };
    let (session, _) =
        Session::create(&dir.path().join("v.mementory"), "correct horse battery staple", options).unwrap();
    session.watching().add(&downloads).unwrap();
    let mut watch = WatchingVault { dir, session, clock: Duration::ZERO };
    watch.settle();
    assert!(watch.offers().is_empty());
    watch.write_file("old.json", &fixture(MEM0));
    watch.settle();
    assert_eq!(watch.offers(), ["old.json"]);
}

#[test]
fn the_same_content_is_offered_once_and_not_again_after_it_was_declined() {
    let mut watch = WatchingVault::new();
    watch.write_file("one.json", &fixture(MIF));
    watch.settle();
    watch.write_file("one (1).json", &fixture(MIF));
    watch.settle();
    assert_eq!(watch.offers(), ["one.json"]);
    let id = watch.session.watching().list().unwrap().detected_files.remove(0).id;
    assert!(watch.session.watching().dismiss(&id).unwrap().detected_files.is_empty());
    assert_eq!(watch.session.watching().dismiss(&id).unwrap_err().code, "not_found");
    std::fs::remove_file(watch.path("one.json")).unwrap();
    watch.write_file("one again.json", &fixture(MIF));
    assert!(!watch.settle().changed && watch.offers().is_empty());
}

#[test]
fn an_offer_disappears_when_its_file_is_deleted_or_changed() {
    let mut watch = WatchingVault::new();
    watch.write_file("one.json", &fixture(MIF));
    watch.write_file("two.json", &fixture(MEM0));
    watch.settle();
    assert_eq!(watch.offers().len(), 2);
    std::fs::remove_file(watch.path("one.json")).unwrap();
    watch.write_file("two.json", b"{\"something\": \"else\"}");
    assert!(watch.offers().is_empty());
    watch.settle();
    assert!(watch.offers().is_empty());
}

#[test]
fn files_that_arrive_while_the_vault_is_locked_are_detected_at_the_next_opening() {
    let mut watch = WatchingVault::new();
    watch.write_file("before.json", &fixture(MIF));
    watch.settle();
    let mut watch = watch.reopen();
    watch.write_file("meanwhile.json", &fixture(MEM0));
    watch.settle();
    let detected = watch.session.watching().list().unwrap().detected_files;
    let names_and_freshness: Vec<_> = detected.iter().map(|find| (find.name.as_str(), find.fresh)).collect();
    assert_eq!(names_and_freshness, [("meanwhile.json", true), ("before.json", false)]);
}

#[test]
fn a_manual_import_closes_the_offer_and_its_content_is_not_offered_elsewhere() {
    let mut watch = WatchingVault::new();
    watch.write_file("one.json", &fixture(MIF));
    watch.settle();
    let import = |path: &Path| {
        let request = ImportRequest { paths: vec![path.display().to_string()], ..ImportRequest::default() };
        watch.session.imports().import(&request, false, &Job::silent()).unwrap()
    };
    import(&watch.path("one.json"));
    assert!(watch.offers().is_empty());
    let elsewhere = watch.dir.path().join("elsewhere.json");
    std::fs::write(&elsewhere, fixture(MEM0)).unwrap();
    import(&elsewhere);
    watch.write_file("copy.json", &fixture(MEM0));
    assert!(!watch.settle().changed && watch.offers().is_empty());
}

#[test]
fn paused_folders_are_not_scanned_and_new_files_are_detected_afterwards() {
    let mut watch = WatchingVault::new();
    watch.set(WatchMode::Paused);
    watch.write_file("one.json", &fixture(MIF));
    let scan = watch.settle();
    assert_eq!((scan.watching, scan.folders.len(), watch.offers().len()), (false, 0, 0));
    watch.set(WatchMode::Ask);
    assert!(watch.settle().changed);
    assert_eq!(watch.offers(), ["one.json"]);
}

#[test]
fn an_automatic_import_leaves_a_report_and_no_offer() {
    let mut watch = WatchingVault::new();
    watch.set(WatchMode::Automatic);
    watch.write_file("one.json", &fixture(MIF));
    let scan = watch.settle();
    assert_eq!(scan.imports.len(), 1);
    let report = watch.session.watching().import_detected_file(&scan.imports[0], &Job::silent()).unwrap();
    assert!(report.total.added > 0);
    let after = watch.session.watching().list().unwrap();
    assert!(after.detected_files.is_empty() && after.importing.is_none());
    assert_eq!((after.imported[0].batch.as_str(), after.imported[0].name.as_str()), (&*report.batch, "one.json"));
    assert_eq!(watch.session.imports().list().unwrap().batches[0].batch, report.batch);
    assert!(watch.settle().imports.is_empty(), "once");
    watch.write_file("one (1).json", &fixture(MIF));
    assert!(watch.settle().imports.is_empty(), "nor its copy");
    assert_eq!(
        watch.session.watching().import_detected_file(&scan.imports[0], &Job::silent()).unwrap_err().code,
        "not_found"
    );
}

#[test]
fn a_failed_automatic_import_stays_on_offer() {
    let mut watch = WatchingVault::new();
    watch.set(WatchMode::Automatic);
    watch.write_file("one.json", &fixture(MIF));
    let scan = watch.settle();
    let job = Job::silent();
    job.cancel();
    assert_eq!(watch.session.watching().import_detected_file(&scan.imports[0], &job).unwrap_err().code, "cancelled");
    assert_eq!(watch.offers(), ["one.json"]);
    assert!(watch.session.watching().list().unwrap().detected_files[0].fresh, "and is shown as new");
    assert!(watch.settle().imports.is_empty(), "it is not attempted again and again");
    let mut watch = watch.reopen();
    assert_eq!(watch.settle().imports, scan.imports, "the next opening attempts it once more");
    watch.session.watching().import_detected_file(&scan.imports[0], &job).unwrap_err();
    watch.write_file("one.json", &fixture(MEM0));
    assert_eq!(watch.settle().imports, scan.imports, "so does new content under that name");
}

#[test]
fn files_with_deletions_are_never_imported_automatically() {
    let mut watch = WatchingVault::new();
    watch.set(WatchMode::Automatic);
    let options = CreateOptions { kdf_floor: true };
    let (other, _) =
        Session::create(&watch.dir.path().join("other.mementory"), "correct horse battery staple", options).unwrap();
    let add = |text: &str| {
        let add = AddRequest { text: text.into(), ..AddRequest::default() };
        other.changes().add(&add).unwrap().ids.remove(0)
    };
    let (_, gone) = (add("Sails on Sundays."), add("Has a dog called Kaspar."));
    let erase = EraseRequest { ids: vec![gone], reason: None, with_copies: false, copies: None };
    other.changes().erase(&erase, &Job::silent()).unwrap();
    let out = watch.path("theirs.mem.zip").display().to_string();
    let request = ExportRequest { format: "mem".into(), out, ..ExportRequest::default() };
    other.exports().export(&request, &Job::silent()).unwrap();

    let scan = watch.settle();
    assert_eq!(scan.imports.len(), 1);
    let refused = watch.session.watching().import_detected_file(&scan.imports[0], &Job::silent()).unwrap_err();
    assert_eq!(refused.code, "brings_deletions");
    assert!(watch.session.imports().list().unwrap().batches.is_empty());
    let detected = watch.session.watching().list().unwrap().detected_files;
    assert_eq!((detected[0].name.as_str(), detected[0].fresh), ("theirs.mem.zip", true));
}

/// Makes a file with a tombstone for a memory of `watch`'s vault. An attacker could replace another file with such a
/// file.
fn file_with_tombstone(watch: &WatchingVault, target_text: &str) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let export = |session: &Session, name: &str| {
        let out = folder.path().join(name);
        let request =
            ExportRequest { format: "mem".into(), out: out.display().to_string(), ..ExportRequest::default() };
        session.exports().export(&request, &Job::silent()).unwrap();
        out
    };
    let ours = export(&watch.session, "ours.mem.zip");
    let options = CreateOptions { kdf_floor: true };
    let (other, _) =
        Session::create(&folder.path().join("o.mementory"), "correct horse battery staple", options).unwrap();
    let request = ImportRequest { paths: vec![ours.display().to_string()], ..ImportRequest::default() };
    other.imports().import(&request, false, &Job::silent()).unwrap();
    let all = other.records().list(&ListRequest::default()).unwrap().items;
    let id = all.iter().find(|item| item.text == target_text).unwrap().id.clone();
    let erase = EraseRequest { ids: vec![id], reason: None, with_copies: false, copies: None };
    other.changes().erase(&erase, &Job::silent()).unwrap();
    std::fs::read(export(&other, "theirs.mem.zip")).unwrap()
}

#[test]
fn a_file_that_is_swapped_while_it_is_imported_deletes_nothing() {
    use std::sync::{Arc, atomic::AtomicU32};
    // The file is swapped when detection starts for the first or second time, or when the records are stored.
    for (stage, turn) in [("detect", 1), ("detect", 2), ("store", 1)] {
        let mut watch = WatchingVault::new();
        watch.set(WatchMode::Automatic);
        let target_text = "Sails on Sundays.";
        watch.session.changes().add(&AddRequest { text: target_text.into(), ..AddRequest::default() }).unwrap();
        let deleting_bytes = file_with_tombstone(&watch, target_text);
        watch.write_file("a.json", &fixture(MEM0));
        let scan = watch.settle();
        let (path, seen) = (watch.path("a.json"), AtomicU32::new(0));
        let job = Job::with_progress(Arc::new(move |progress: Progress| {
            if progress.stage == stage && seen.fetch_add(1, std::sync::atomic::Ordering::Relaxed) + 1 == turn {
                std::fs::write(&path, &deleting_bytes).unwrap();
            }
        }));
        let _ = watch.session.watching().import_detected_file(&scan.imports[0], &job);
        let all = watch.session.records().list(&ListRequest::default()).unwrap().items;
        assert!(all.iter().any(|item| item.text == target_text), "{stage} {turn}");
    }
}

#[test]
fn a_file_that_changes_while_it_is_imported_automatically_is_not_imported() {
    use std::sync::Arc;
    let mut watch = WatchingVault::new();
    watch.set(WatchMode::Automatic);
    watch.write_file("a.json", &fixture(MEM0));
    let scan = watch.settle();
    let path = watch.path("a.json");
    let job = Job::with_progress(Arc::new(move |progress: Progress| {
        if progress.stage == "detect" {
            std::fs::write(&path, fixture(MIF)).unwrap();
        }
    }));
    let refused = watch.session.watching().import_detected_file(&scan.imports[0], &job).unwrap_err();
    assert_ne!(refused.code, "internal");
    assert!(watch.session.imports().list().unwrap().batches.is_empty());
}

#[test]
fn files_that_mementory_writes_are_not_offered() {
    let mut watch = WatchingVault::new();
    let add = AddRequest { text: "Ich segle gern.".into(), ..AddRequest::default() };
    watch.session.changes().add(&add).unwrap();
    let out = watch.path("mine.alf");
    let request = ExportRequest { format: "alf".into(), out: out.display().to_string(), ..ExportRequest::default() };
    watch.session.exports().export(&request, &Job::silent()).unwrap();
    assert!(!watch.settle().changed && watch.offers().is_empty());
    // A file that appears in the folder while an export is being written is offered afterwards.
    {
        let _guard = Offers::new(&watch.session.context).begin_file_export(&watch.path("more.alf"));
        watch.write_file("more theirs.json", &fixture(MEM0));
        let scan = watch.session.watching().scan_folders(watch.clock, &Job::silent()).unwrap();
        assert_eq!((scan.changed, scan.folders.len(), scan.wait), (false, 1, Some(QUIET_PERIOD)));
    }
    assert!(watch.settle().changed);
    assert_eq!(watch.offers(), ["more theirs.json"]);
    std::fs::copy(&out, watch.path("moved.alf")).unwrap();
    assert!(!watch.settle().changed && watch.offers().len() == 1, "a copy of our export is not offered");
    watch.write_file("theirs.json", &fixture(MIF));
    assert!(watch.settle().changed, "other files still are");
}

#[test]
fn a_missing_folder_is_reported_and_recognised_when_it_returns() {
    let mut watch = WatchingVault::new();
    watch.write_file("one.json", &fixture(MIF));
    watch.settle();
    let (original, moved) = (watch.path(""), watch.dir.path().join("away"));
    std::fs::rename(&original, &moved).unwrap();
    let scan = watch.settle();
    assert_eq!((scan.watching, scan.folders.len()), (true, 0));
    assert_eq!(watch.folder().state, FolderState::Missing);
    assert!(watch.offers().is_empty());
    // An empty folder replaces the watched one, like the mount point of a disconnected drive.
    std::fs::create_dir(&original).unwrap();
    watch.settle();
    assert_eq!(watch.folder().state, FolderState::There);
    std::fs::remove_dir(&original).unwrap();
    std::fs::rename(&moved, &original).unwrap();
    assert!(!watch.settle().changed, "known files are still known");
    assert_eq!(watch.offers(), ["one.json"]);
}

#[test]
fn only_folders_outside_of_vaults_can_be_watched() {
    let watch = WatchingVault::new();
    let vault = watch.dir.path().join("v.mementory");
    for (path, code) in [
        (vault.clone(), "inside_a_vault"),
        (vault.join("blobs"), "inside_a_vault"),
        (watch.dir.path().join("nowhere"), "not_there"),
        (vault.join("vault.json"), "inside_a_vault"),
    ] {
        assert_eq!(watch.session.watching().add(&path).unwrap_err().code, code, "{}", path.display());
    }
    watch.write_file("file.txt", b"x");
    assert_eq!(watch.session.watching().add(&watch.path("file.txt")).unwrap_err().code, "not_there");
    assert_eq!(
        watch.session.watching().add(&watch.path("")).unwrap().folders.len(),
        1,
        "watching it again adds nothing"
    );
    let id = watch.folder().id;
    assert!(watch.session.watching().remove(&id).unwrap().folders.is_empty());
    assert!(watch.path("file.txt").exists());
}

#[test]
fn a_scan_ends_when_it_is_cancelled() {
    let mut watch = WatchingVault::new();
    watch.write_file("one.json", &fixture(MIF));
    watch.scan();
    watch.clock += mementory_vault::watching::QUIET_PERIOD;
    let job = Job::silent();
    job.cancel();
    assert_eq!(watch.session.watching().scan_folders(watch.clock, &job).unwrap_err().code, "cancelled");
    assert!(watch.offers().is_empty());
    watch.scan();
    assert_eq!(watch.offers(), ["one.json"]);
}
