//! Each kind of damage to a vault has its own error, and detecting it writes nothing.
use mementory_testkit::{PASSPHRASE, TempVault, at, sample};
use mementory_vault::{IndexFault, IndexFilter, IndexState, IndexWatch, Vault, VaultError};
use std::path::{Path, PathBuf};
use std::sync::{
    Mutex,
    atomic::{AtomicBool, Ordering},
};

fn vault_with_sample() -> TempVault {
    let t = TempVault::new();
    t.import(&[sample("chatgpt-export.zip")]).unwrap();
    t
}

fn flip_bit(path: &Path, at: usize) {
    let mut bytes = std::fs::read(path).unwrap();
    let at = at.min(bytes.len() - 1);
    bytes[at] ^= 0x40;
    std::fs::write(path, bytes).unwrap();
}

fn files(dir: &Path) -> Vec<PathBuf> {
    let mut out: Vec<PathBuf> = std::fs::read_dir(dir)
        .unwrap()
        .map(|e| e.unwrap().path())
        .filter(|p| p.is_file())
        .collect();
    out.sort();
    out
}

/// Closes the vault but keeps its folder.
fn close_vault(t: TempVault) -> (tempfile::TempDir, PathBuf) {
    let dir = t.dir();
    let TempVault { folder, vault } = t;
    drop(vault);
    (folder, dir)
}

#[test]
fn each_reason_why_a_vault_does_not_open_has_its_own_error() {
    let t = vault_with_sample();
    assert!(
        matches!(Vault::open(&t.dir(), PASSPHRASE), Err(VaultError::InUse)),
        "a second opening is refused"
    );
    let (_folder, dir) = close_vault(t);
    assert!(
        matches!(
            Vault::open(&dir, "wrong horse"),
            Err(VaultError::WrongSecret)
        ),
        "wrong passphrase"
    );
    assert!(
        matches!(
            Vault::open(&dir.join("nowhere"), PASSPHRASE),
            Err(VaultError::Missing(_))
        ),
        "missing"
    );
    flip_bit(&dir.join("vault.json"), 40);
    assert!(
        matches!(Vault::open(&dir, PASSPHRASE), Err(VaultError::Damaged(_))),
        "damaged header"
    );
}

#[test]
fn a_damaged_first_page_is_damage_and_not_a_wrong_passphrase() {
    let (_folder, dir) = close_vault(vault_with_sample());
    flip_bit(&dir.join("store.db"), 3000);
    assert!(
        matches!(
            Vault::open(&dir, PASSPHRASE),
            Err(VaultError::DamagedPages { pages: 1 })
        ),
        "the first page"
    );
}

#[test]
fn pages_that_fail_their_check_are_counted() {
    let (_folder, dir) = close_vault(vault_with_sample());
    let store = dir.join("store.db");
    let original = std::fs::read(&store).unwrap();
    for page in [0, 1, 2, 5, 7] {
        flip_bit(&store, page * 8192 + 3000);
    }
    let Err(VaultError::DamagedPages { pages }) = Vault::open(&dir, PASSPHRASE) else {
        panic!("five pages are damaged")
    };
    assert_eq!(pages, 5);
    std::fs::write(&store, &original[..100]).unwrap();
    assert!(
        matches!(Vault::open(&dir, PASSPHRASE), Err(VaultError::Damaged(_))),
        "no number that was not counted"
    );
    std::fs::write(&store, original).unwrap();
    assert!(Vault::open(&dir, PASSPHRASE).is_ok(), "nothing was changed");
}

#[test]
fn rebuilding_the_index_reports_progress_and_can_be_cancelled() {
    let (_folder, dir) = close_vault(vault_with_sample());
    flip_bit(&dir.join("index/meta.json"), 50);
    let cancel = AtomicBool::new(true);
    let cancelled = Vault::open_watched(
        &dir,
        PASSPHRASE,
        &IndexWatch {
            progress: &|_, _, _| panic!("it was stopped before"),
            cancel: &cancel,
        },
    );
    assert!(matches!(cancelled, Err(VaultError::Cancelled)));
    cancel.store(false, Ordering::Relaxed);
    let reported_progress = Mutex::new(Vec::new());
    let open_vault = || {
        Vault::open_watched(
            &dir,
            PASSPHRASE,
            &IndexWatch {
                progress: &|fault, done, total| {
                    reported_progress.lock().unwrap().push((fault, done, total))
                },
                cancel: &cancel,
            },
        )
        .unwrap()
    };
    let vault = open_vault();
    let records = vault.index_documents();
    assert_eq!(
        *reported_progress.lock().unwrap(),
        [(IndexFault::Behind, 0, records)],
        "the cancelled rebuild starts again"
    );
    assert!(
        vault
            .integrity()
            .check()
            .unwrap()
            .iter()
            .all(|place| place.ok)
    );
    drop(vault);
    reported_progress.lock().unwrap().clear();
    drop(open_vault());
    assert!(
        reported_progress.lock().unwrap().is_empty(),
        "no rebuild, no progress"
    );
    flip_bit(&dir.join("index/meta.json"), 50);
    assert_eq!(open_vault().index_fault(), Some(IndexFault::Damaged));
    std::fs::remove_dir_all(dir.join("index")).unwrap();
    assert_eq!(open_vault().index_fault(), Some(IndexFault::Missing));
}

#[test]
fn a_cancelled_index_rebuild_is_done_at_the_next_opening() {
    let (_folder, dir) = close_vault(vault_with_sample());
    let vault = Vault::open(&dir, PASSPHRASE).unwrap();
    let documents = vault.index_documents();
    let cancelled = vault.index_rebuild_until(&AtomicBool::new(true));
    assert!(matches!(cancelled, Err(VaultError::Cancelled)));
    drop(vault);
    let vault = Vault::open(&dir, PASSPHRASE).unwrap();
    assert_eq!(vault.index_documents(), documents);
    assert!(
        vault
            .integrity()
            .check()
            .unwrap()
            .iter()
            .all(|place| place.ok)
    );
}

#[test]
fn a_damaged_later_page_is_found_by_the_check() {
    let (_folder, dir) = close_vault(vault_with_sample());
    let length = std::fs::metadata(dir.join("store.db")).unwrap().len() as usize;
    flip_bit(&dir.join("store.db"), length - 4000);
    if let Ok(vault) = Vault::open(&dir, PASSPHRASE) {
        let failed_places: Vec<&str> = vault.integrity().check().map_or(vec!["pages"], |p| {
            p.into_iter().filter(|p| !p.ok).map(|p| p.place).collect()
        });
        assert!(
            failed_places.contains(&"pages"),
            "the check names the pages, found {failed_places:?}"
        );
    }
}

#[test]
fn a_newer_schema_is_refused() {
    let t = vault_with_sample();
    let key = hex::encode(t.keys().store());
    let (_folder, dir) = close_vault(t);
    {
        let db = rusqlite::Connection::open(dir.join("store.db")).unwrap();
        db.execute_batch(&format!("PRAGMA key = \"x'{key}'\"; PRAGMA cipher_page_size = 8192; PRAGMA cipher_hmac_algorithm = HMAC_SHA256; PRAGMA user_version = 99;")).unwrap();
    }
    assert!(
        matches!(
            Vault::open(&dir, PASSPHRASE),
            Err(VaultError::NewerSchema { found: 99, .. })
        ),
        "written by a newer program"
    );
}

#[test]
fn an_older_schema_is_upgraded_and_no_copy_stays() {
    let t = vault_with_sample();
    let key = hex::encode(t.keys().store());
    let (_folder, dir) = close_vault(t);
    {
        let db = rusqlite::Connection::open(dir.join("store.db")).unwrap();
        db.execute_batch(&format!("PRAGMA key = \"x'{key}'\"; PRAGMA cipher_page_size = 8192; PRAGMA cipher_hmac_algorithm = HMAC_SHA256;")).unwrap();
        db.execute_batch(
            "DROP TABLE export_ids; DROP TABLE reviews; DROP TABLE vectors; DROP TRIGGER forget_changed_vector; DROP TRIGGER forget_trashed_vector; \
             DROP TRIGGER forget_erased_vector; DROP TRIGGER look_again; DROP TRIGGER forget_findings; DROP TABLE findings; DROP TABLE judged; \
             DROP TABLE unlooked; DROP TABLE apart; ALTER TABLE records DROP COLUMN details; \
             ALTER TABLE records DROP COLUMN updated; ALTER TABLE versions DROP COLUMN details; \
             ALTER TABLE versions DROP COLUMN updated; ALTER TABLE moved DROP COLUMN updated; PRAGMA user_version = 1;",
        )
        .unwrap();
    }
    let vault = Vault::open(&dir, PASSPHRASE).unwrap();
    assert!(
        !dir.join("store.schema-1.db").exists(),
        "the copy would keep what is erased later"
    );
    let all = vault.scanner().progress().unwrap();
    assert!(all.0.is_none() && all.1 > 0, "nothing was looked through");
    while vault
        .scanner()
        .scan_next(mementory_testkit::at(10))
        .unwrap()
        .left
        > 0
    {}
    assert!(
        vault
            .integrity()
            .check()
            .unwrap()
            .iter()
            .all(|place| place.ok)
    );
}

#[test]
fn every_damaged_missing_or_stale_index_is_rebuilt() {
    let sound_vault = vault_with_sample();
    let document_count = sound_vault.vault.index_documents();
    let names: Vec<String> = files(&sound_vault.dir().join("index"))
        .iter()
        .map(|p| p.file_name().unwrap().to_string_lossy().into_owned())
        .collect();
    assert!(names.len() > 3, "the index has several files");
    drop(sound_vault);
    let (folder, dir) = close_vault(vault_with_sample());
    for path in files(&dir.join("index")) {
        flip_bit(&path, 50);
    }
    let vault = Vault::open(&dir, PASSPHRASE).unwrap();
    assert_eq!(
        (vault.index_state(), vault.index_documents()),
        (IndexState::Rebuilt, document_count),
        "damaged"
    );
    drop(vault);
    std::fs::remove_dir_all(dir.join("index")).unwrap();
    let vault = Vault::open(&dir, PASSPHRASE).unwrap();
    assert_eq!(
        (vault.index_state(), vault.index_documents()),
        (IndexState::Rebuilt, document_count),
        "missing"
    );
    drop(vault);
    // An older copy of the index replaces the current index. The copy is stale, because it lacks changes that the store
    // contains.
    let old_index = folder.path().join("old-index");
    copy(&dir.join("index"), &old_index);
    let vault = Vault::open(&dir, PASSPHRASE).unwrap();
    vault
        .editor()
        .add("A fresh xylophone thought.", None, vec![], at(500))
        .unwrap();
    drop(vault);
    std::fs::remove_dir_all(dir.join("index")).unwrap();
    copy(&old_index, &dir.join("index"));
    let vault = Vault::open(&dir, PASSPHRASE).unwrap();
    assert_eq!(
        vault
            .search()
            .search("xylophone", &IndexFilter::default(), 5, 0)
            .unwrap()
            .hits
            .len(),
        1,
        "stale: it catches up"
    );
    assert!(
        vault.integrity().check().unwrap().iter().all(|p| p.ok),
        "and checks clean"
    );
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for path in files(from) {
        std::fs::copy(&path, to.join(path.file_name().unwrap())).unwrap();
    }
}

#[test]
fn a_damaged_blob_is_reported_and_affects_nothing_else() {
    let (_folder, dir) = close_vault(vault_with_sample());
    let blob = files(&dir.join("blobs")).remove(0);
    flip_bit(&blob, 60);
    let vault = Vault::open(&dir, PASSPHRASE).unwrap();
    let failed_places: Vec<&str> = vault
        .integrity()
        .check()
        .unwrap()
        .into_iter()
        .filter(|p| !p.ok)
        .map(|p| p.place)
        .collect();
    assert_eq!(failed_places, ["blobs"], "only the blobs");
}

#[test]
fn truncation_of_any_file_never_panics() {
    let (folder, dir) = close_vault(vault_with_sample());
    for name in ["vault.json", "store.db"] {
        let original = std::fs::read(dir.join(name)).unwrap();
        for cut in [0, 1, 15, 16, 100, original.len() / 2, original.len() - 1] {
            std::fs::write(dir.join(name), &original[..cut.min(original.len())]).unwrap();
            if let Ok(vault) = Vault::open(&dir, PASSPHRASE) {
                assert!(
                    vault.integrity().check().is_err()
                        || vault.integrity().check().unwrap().iter().any(|p| !p.ok),
                    "{name} cut at {cut} is noticed"
                );
            }
        }
        std::fs::write(dir.join(name), &original).unwrap();
    }
    drop(folder);
}

#[test]
fn database_pages_that_changed_places_are_noticed() {
    const PAGE: usize = 8192;
    let (_folder, dir) = close_vault(vault_with_sample());
    let store = dir.join("store.db");
    let mut bytes = std::fs::read(&store).unwrap();
    let pages = bytes.len() / PAGE;
    assert!(pages > 8, "{pages} pages");
    for offset in 0..PAGE {
        bytes.swap((pages - 2) * PAGE + offset, (pages - 4) * PAGE + offset);
    }
    std::fs::write(&store, bytes).unwrap();
    let is_noticed = match Vault::open(&dir, PASSPHRASE) {
        Ok(vault) => !vault
            .integrity()
            .check()
            .is_ok_and(|places| places.iter().all(|place| place.ok)),
        Err(error) => matches!(
            error,
            VaultError::Damaged(_) | VaultError::DamagedPages { .. }
        ),
    };
    assert!(is_noticed);
}
