//! Tests the audit entries of imports and exports, and the stored paths of their files.
use mementory_api::{CreateOptions, Job, Session, types::*};
use std::path::Path;

const PASSPHRASE: &str = "harbour copper nineteen kite lantern";

fn vault(dir: &Path) -> Session {
    Session::create(dir, PASSPHRASE, CreateOptions { kdf_floor: true }).unwrap().0
}

fn add(session: &Session, text: &str) -> String {
    session.changes().add(&AddRequest { text: text.into(), ..AddRequest::default() }).unwrap().ids.remove(0)
}

fn export(session: &Session, out: &Path) {
    let request = ExportRequest { format: "mem".into(), out: out.display().to_string(), ..ExportRequest::default() };
    assert!(session.exports().export(&request, &Job::silent()).unwrap().validated);
}

fn last_entry(session: &Session) -> AuditEntry {
    session.overview().audit(true).unwrap().entries.pop().unwrap()
}

#[test]
fn a_failed_import_is_logged_without_its_file_name() {
    let folder = tempfile::tempdir().unwrap();
    let session = vault(&folder.path().join("v"));
    let file = folder.path().join("quokka-diary.alf");
    std::fs::write(&file, "no archive at all").unwrap();
    let request = |format: Option<&str>| ImportRequest {
        paths: vec![file.display().to_string()],
        format: format.map(str::to_owned),
        ..ImportRequest::default()
    };
    let error = session.imports().import(&request(Some("alf")), false, &Job::silent()).unwrap_err();
    let entry = last_entry(&session);
    assert_eq!((entry.op.as_str(), entry.target.as_str(), entry.detail.as_str()), ("import_failed", "alf", error.code));
    assert!(!serde_json::to_string(&session.overview().audit(true).unwrap()).unwrap().contains("quokka"));
    let seq = entry.seq;
    let failed = session.imports().failed().unwrap().failed.pop().unwrap();
    let path = file.display().to_string();
    assert_eq!((failed.seq, failed.paths), (seq, vec![path]), "the vault knows which file it was");
    assert_eq!((failed.error.code.as_str(), &failed.error.message), (error.code, &error.message), "and the error");
    assert!(session.imports().import(&request(Some("alf")), true, &Job::silent()).is_err());
    assert_eq!(last_entry(&session).seq, seq, "a preview is not logged");
    assert!(session.imports().import(&request(Some("quokka-form")), false, &Job::silent()).is_err());
    assert_eq!(last_entry(&session).target, "", "an unknown format is not written to the log");
    let job = Job::silent();
    job.cancel();
    let memory =
        ImportRequest { text: Some("- Likes tea.".into()), format: Some("transfer_text".into()), ..request(None) };
    let _ = session.imports().import(&memory, false, &job);
    let log = session.overview().audit(true).unwrap();
    assert!(log.entries.iter().all(|entry| entry.detail != "cancelled"), "a cancelled import is not logged");
    assert_eq!(log.verified, Some(true));
}

#[test]
fn paths_are_shown_while_their_files_exist() {
    let folder = tempfile::tempdir().unwrap();
    let session = vault(&folder.path().join("v"));
    add(&session, "Likes tea with milk.");
    let out = folder.path().join("out.mem");
    export(&session, &out);
    let path = out.display().to_string();
    assert_eq!(last_entry(&session).file.as_ref(), Some(&path));
    let other = vault(&folder.path().join("w"));
    let request = ImportRequest { paths: vec![path.clone()], ..ImportRequest::default() };
    other.imports().import(&request, false, &Job::silent()).unwrap();
    assert_eq!(other.imports().list().unwrap().batches[0].file.as_ref(), Some(&path));
    assert!(session.exports().remove(&path).is_err(), "a valid export cannot be deleted");
    assert!(out.exists());
    std::fs::remove_dir_all(&out).unwrap();
    assert_eq!((last_entry(&session).file, other.imports().list().unwrap().batches[0].file.clone()), (None, None));
}

#[test]
fn a_path_with_erased_words_is_forgotten() {
    let folder = tempfile::tempdir().unwrap();
    let session = vault(&folder.path().join("v"));
    let id = add(&session, "zanzibarquokka");
    let out = folder.path().join("all about zanzibarquokka.mem");
    export(&session, &out);
    assert!(last_entry(&session).file.is_some(), "before the erasure");
    let request = EraseRequest { ids: vec![id], ..EraseRequest::default() };
    let done = session.changes().erase(&request, &Job::silent()).unwrap();
    assert!(done.receipt.complete, "{:?}", done.receipt.places);
    let log = session.overview().audit(true).unwrap();
    assert!(log.entries.iter().all(|entry| entry.file.is_none()));
    assert!(out.exists(), "the file itself is not deleted");
}

#[test]
fn details_of_a_failed_import_with_erased_words_are_forgotten() {
    let folder = tempfile::tempdir().unwrap();
    let session = vault(&folder.path().join("v"));
    for name in ["all about zanzibarquokka.alf", "other.alf"] {
        let file = folder.path().join(name);
        std::fs::write(&file, "no archive at all").unwrap();
        let paths = vec![file.display().to_string()];
        let request = ImportRequest { paths, format: Some("alf".into()), ..ImportRequest::default() };
        assert!(session.imports().import(&request, false, &Job::silent()).is_err());
    }
    assert_eq!(session.imports().failed().unwrap().failed.len(), 2, "before the erasure");
    let id = add(&session, "zanzibarquokka");
    let request = EraseRequest { ids: vec![id], ..EraseRequest::default() };
    let done = session.changes().erase(&request, &Job::silent()).unwrap();
    assert!(done.receipt.complete, "{:?}", done.receipt.places);
    let left = session.imports().failed().unwrap().failed;
    assert!(left.len() == 1 && left[0].paths[0].ends_with("other.alf"), "{left:?}");
}

#[test]
fn a_failed_import_of_pasted_text_has_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let session = vault(&folder.path().join("v"));
    let request = ImportRequest {
        text: Some("no archive at all".into()),
        format: Some("alf".into()),
        paths: vec!["/x".into()],
        ..ImportRequest::default()
    };
    let error = session.imports().import(&request, false, &Job::silent()).unwrap_err();
    let failed = session.imports().failed().unwrap().failed.pop().unwrap();
    assert_eq!((failed.paths.len(), failed.error.code.as_str()), (0, error.code));
}

#[test]
fn an_evidence_pack_contains_the_chosen_parts_and_file_names_only_on_request() {
    use EvidencePart::{Key, Log, Tombstones, Transfers};
    let folder = tempfile::tempdir().unwrap();
    let session = vault(&folder.path().join("v"));
    let id = add(&session, "Likes tea with milk.");
    add(&session, "Plays the tuba on Fridays.");
    export(&session, &folder.path().join("quokka-out.mem"));
    let broken = folder.path().join("quokka-in.alf");
    std::fs::write(&broken, "no archive at all").unwrap();
    let paths = vec![broken.display().to_string()];
    let import = ImportRequest { paths, format: Some("alf".into()), ..ImportRequest::default() };
    assert!(session.imports().import(&import, false, &Job::silent()).is_err());
    session.changes().erase(&EraseRequest { ids: vec![id], ..EraseRequest::default() }, &Job::silent()).unwrap();
    let pack = |name: &str, request: EvidencePackRequest| {
        let out = folder.path().join(name);
        let made =
            session.evidence().write(&out, &EvidencePackRequest { sign: true, ..request }, &Job::silent()).unwrap();
        assert!(made.validated, "{name}");
        let text = |file: &str| std::fs::read_to_string(out.join(file)).ok();
        (
            made,
            ["receipts", "chain", "transfers"].map(|name| text(&format!("audit/{name}.jsonl"))),
            text("HOW-TO-CHECK.txt"),
        )
    };
    let (made, beside, guide) = pack("default.mem", EvidencePackRequest::default());
    assert_eq!((made.tombstones, made.receipts, made.transfers), (1, 0, 0));
    assert!(beside.iter().all(Option::is_none) && guide.is_none(), "the default parts");

    let chosen =
        |parts: &[EvidencePart]| EvidencePackRequest { parts: Some(parts.to_vec()), ..EvidencePackRequest::default() };
    let (made, [receipts, chain, transfers], guide) = pack("chosen.mem", chosen(&[Tombstones, Log, Key]));
    assert_eq!((made.tombstones, made.receipts, made.transfers), (1, 1, 0));
    let [receipts, chain] = [receipts, chain].map(Option::unwrap);
    assert!(receipts.contains("\"complete\":true") && !receipts.contains("detail"), "{receipts}");
    assert_eq!(chain.lines().count(), made.audit_entries as usize, "each entry with its signature");
    assert!(transfers.is_none() && guide.is_some());
    let (made, [receipts, chain, transfers], guide) = pack("names.mem", chosen(&[Transfers]));
    let transfers = transfers.unwrap();
    assert_eq!((made.tombstones, made.audit_entries, made.transfers), (0, 0, 2));
    assert!(receipts.is_none() && chain.is_none() && guide.is_none());
    for name in ["quokka-out.mem", "quokka-in.alf"] {
        assert!(transfers.contains(name) && !transfers.contains(&folder.path().display().to_string()), "{transfers}");
    }
    let (made, ..) = pack(
        "before.mem",
        EvidencePackRequest { until: Some("2020-01-01".into()), ..chosen(&[Tombstones, Log, Transfers]) },
    );
    assert_eq!((made.tombstones, made.receipts, made.audit_entries, made.transfers), (0, 0, 0, 0));
}

#[test]
fn a_text_export_is_logged_when_it_is_copied() {
    let folder = tempfile::tempdir().unwrap();
    let session = vault(&folder.path().join("v"));
    add(&session, "Likes tea with milk.");
    let before = last_entry(&session).seq;
    session.exports().record_copied_text().unwrap();
    let request = ExportRequest { format: "transfer_text".into(), ..ExportRequest::default() };
    session.exports().text(&request, &Job::silent()).unwrap();
    assert_eq!(last_entry(&session).seq, before, "making the text is not logged");
    session.exports().record_copied_text().unwrap();
    let entry = last_entry(&session);
    let fields = (entry.op.as_str(), entry.target.as_str(), entry.detail.as_str(), entry.file);
    assert_eq!(fields, ("export", "transfer_text", "1 records", None));
    session.exports().record_copied_text().unwrap();
    assert_eq!(last_entry(&session).seq, entry.seq, "logged once");
}

#[test]
fn a_saved_attachment_is_complete_private_and_logged_without_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let session = vault(&folder.path().join("v"));
    let sample = Path::new(&std::env::var_os("CARGO_MANIFEST_DIR").unwrap())
        .join("../../../fixtures/samples/chatgpt-export.zip");
    let import = ImportRequest { paths: vec![sample.display().to_string()], ..ImportRequest::default() };
    session.imports().import(&import, false, &Job::silent()).unwrap();
    let filter = Filter { kind: Some("attachment".into()), ..Filter::default() };
    let files = session.records().list(&ListRequest { filter, ..ListRequest::default() }).unwrap().items;
    let present = files.iter().find(|file| file.present == Some(true) && file.size > Some(0)).unwrap();
    let out = folder.path().join("quokka.bin");
    std::fs::write(&out, "an older file that is longer than the new one ".repeat(40)).unwrap();

    let saved = session.records().save_attachment(&present.id, &out, &Job::silent()).unwrap().value;
    let bytes = session.records().attachment(&present.id, u64::MAX).unwrap();
    assert_eq!(
        (std::fs::read(&out).unwrap(), saved),
        (bytes.clone(), present.size.unwrap()),
        "all bytes of the attachment and no others"
    );
    assert_eq!(session.records().attachment(&present.id, 3).unwrap(), bytes[..3], "only the first bytes");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(std::fs::metadata(&out).unwrap().permissions().mode() & 0o777, 0o600);
    }
    let entry = last_entry(&session);
    assert_eq!(
        (entry.op.as_str(), entry.target.as_str(), entry.detail.as_str()),
        ("save_file", present.id.as_str(), "")
    );

    let before = std::fs::read(&out).unwrap();
    let refused = |id: &str, out: &Path, job: &Job| session.records().save_attachment(id, out, job).unwrap_err().code;
    let job = Job::silent();
    job.cancel();
    assert_eq!(refused(&present.id, &out, &job), "cancelled");
    assert_eq!(std::fs::read(&out).unwrap(), before, "the old file stays until the new one is complete");
    assert_eq!(refused(&present.id, &folder.path().join("v/quokka.bin"), &Job::silent()), "usage");
    assert_eq!(refused(&present.id, &folder.path().join("v").join(".."), &Job::silent()), "usage");
    assert_eq!(refused(&present.id, &folder.path().join("not/present.bin"), &Job::silent()), "not_there");
    let other = folder.path().join("folder");
    std::fs::create_dir(&other).unwrap();
    assert_eq!(refused(&present.id, &other, &Job::silent()), "io", "a folder is not replaced");
    if let Some(missing) = files.iter().find(|file| file.present == Some(false)) {
        assert_eq!(refused(&missing.id, &out, &Job::silent()), "not_found");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 3, "no temporary files remain");
    assert_eq!(last_entry(&session).seq, entry.seq);
}
