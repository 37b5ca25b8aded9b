//! Tests that a record is exported in its original format with its edited text, after it was edited in one vault and
//! moved to another vault in a file of another format.
use mementory_api::{CreateOptions, Job, Session, types::*};
use std::path::{Path, PathBuf};

const PASSPHRASE: &str = "harbour copper nineteen kite lantern";
const EDITED_TEXT: &str = "Sold the bicycle in spring.";
const MEM_TEXT: &str = "Rides a red bicycle to work.";
const PAM_TEXT: &str = "The words before.";

fn vault(folder: &Path, name: &str) -> Session {
    let options = CreateOptions { kdf_floor: true };
    Session::create(&folder.join(name), PASSPHRASE, options).unwrap().0
}

fn import(session: &Session, path: &Path) {
    let request = ImportRequest { paths: vec![path.display().to_string()], ..ImportRequest::default() };
    session.imports().import(&request, false, &Job::silent()).unwrap();
}

fn export(session: &Session, format: &str, out: PathBuf) -> PathBuf {
    let request = ExportRequest { format: format.into(), out: out.display().to_string(), ..ExportRequest::default() };
    let written = session.exports().export(&request, &Job::silent()).unwrap();
    assert!(written.validated, "{format}");
    out
}

fn pam_store(folder: &Path) -> PathBuf {
    let digest = mementory_formats::sha256(&mut PAM_TEXT.to_lowercase().as_bytes(), "content").unwrap();
    let memory = serde_json::json!({"id": "m-1", "type": "fact", "content": PAM_TEXT,
        "content_hash": format!("sha256:{digest}"), "temporal": {"created_at": "2020-01-01T00:00:00Z"},
        "provenance": {"platform": "claude"}, "metadata": {"acmeRank": 7}});
    let store = serde_json::json!({"schema": "portable-ai-memory", "schema_version": "1.0", "owner": {"id": "ines"},
        "memories": [memory]});
    let path = folder.join("memory-store.json");
    std::fs::write(&path, store.to_string()).unwrap();
    path
}

/// All text in the files of a folder.
fn all_text(folder: &Path) -> String {
    let mut text = String::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        text.push_str(&if path.is_dir() { all_text(&path) } else { std::fs::read_to_string(path).unwrap() });
    }
    text
}

#[test]
fn a_record_edited_in_another_vault_is_exported_as_edited() {
    let folder = tempfile::tempdir().unwrap();
    let mem_source =
        Path::new(&std::env::var_os("CARGO_MANIFEST_DIR").unwrap()).join("../../../fixtures/mem/small/input.mem");
    let pam_source = pam_store(folder.path());
    for (home, source, original) in [("mem", mem_source, MEM_TEXT), ("pam", pam_source, PAM_TEXT)] {
        let first = vault(folder.path(), &format!("first-{home}"));
        import(&first, &source);
        let listed = first.records().list(&ListRequest { limit: Some(100), ..ListRequest::default() }).unwrap().items;
        let id = listed.iter().find(|item| item.text == original).unwrap().id.clone();
        let text = Some(EDITED_TEXT.to_owned());
        first.changes().edit(&EditRequest { id, text, title: None, tags: None, record_type: None }).unwrap();
        for via in ["alf", "mem", "mif", "pam", "zaxy"].into_iter().filter(|via| *via != home) {
            let name = format!("{home}-{via}");
            let exported_file = export(&first, via, folder.path().join(format!("{name}.{via}")));
            let second = vault(folder.path(), &format!("second-{name}"));
            import(&second, &exported_file);
            let out = export(&second, home, folder.path().join(format!("{name}-home")));
            assert!(all_text(&out).contains(EDITED_TEXT), "{name}");
        }
    }
}
