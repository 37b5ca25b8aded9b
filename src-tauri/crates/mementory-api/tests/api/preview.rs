//! Tests what the preview of an import reports, and which part of the report is stored with the import.
use mementory_api::{CreateOptions, Job, Session, types::*};
use std::path::Path;

/// An export with one conversation that references a missing file.
pub const EXPORT: &str = r#"[{"id": "a1", "conversation_id": "a1", "title": "The floor plan", "create_time": 1700000000,
  "update_time": 1700000000, "current_node": "n1", "mapping": {
    "n0": {"id": "n0", "message": null, "parent": null, "children": ["n1"]},
    "n1": {"id": "n1", "parent": "n0", "children": [], "message": {"id": "n1", "author": {"role": "user"},
      "create_time": 1700000000, "content": {"content_type": "text", "parts": ["Here it is."]},
      "metadata": {"attachments": [{"id": "file-Zk81", "name": "plan.pdf", "mime_type": "application/pdf"}]}}}}}]"#;

fn setup(folder: &Path) -> (Session, ImportRequest) {
    let words = "harbour copper nineteen kite lantern";
    let session = Session::create(&folder.join("v"), words, CreateOptions { kdf_floor: true }).unwrap().0;
    let export = folder.join("export-2024-01-02");
    std::fs::create_dir(&export).unwrap();
    std::fs::write(export.join("conversations.json"), EXPORT).unwrap();
    (session, ImportRequest { paths: vec![export.display().to_string()], ..ImportRequest::default() })
}

#[test]
fn a_preview_lists_new_records_and_missing_files_and_the_stored_report_does_not() {
    let folder = tempfile::tempdir().unwrap();
    let (session, request) = setup(folder.path());
    let plan = session.imports().import(&request, true, &Job::silent()).unwrap();
    let coming: Vec<_> = plan.coming.iter().map(|c| (c.kind.as_str(), c.text.as_str())).collect();
    assert_eq!(coming.len() as u32, plan.total.added);
    for expected in [("conversation", "The floor plan"), ("message", "Here it is."), ("attachment", "plan.pdf")] {
        assert!(coming.contains(&expected), "{expected:?} in {coming:?}");
    }
    assert_eq!((plan.missing_files.as_slice(), plan.missing_attachments), (&["plan.pdf".to_owned()][..], Some(1)));
    let report = session.imports().import(&request, false, &Job::silent()).unwrap();
    let stored = session.imports().report(&report.batch).unwrap();
    for report in [&report, &stored] {
        assert!(report.coming.is_empty() && report.missing_files.is_empty());
        assert_eq!(report.missing_attachments, Some(1), "the number is stored");
    }
    let again = session.imports().import(&request, true, &Job::silent()).unwrap();
    assert!(again.coming.is_empty());
    let kinds: Vec<_> = again.items.iter().map(|item| (item.kind.as_deref(), item.outcome.as_str())).collect();
    assert!(kinds.contains(&(Some("conversation"), "unchanged")), "{kinds:?}");
}

#[test]
fn an_export_without_a_date_in_its_name_has_the_date_of_its_import() {
    let folder = tempfile::tempdir().unwrap();
    let (session, request) = setup(folder.path());
    let exported = || session.overview().info().unwrap().sources[0].exported_at.clone().unwrap();
    let first = session.imports().import(&request, false, &Job::silent()).unwrap();
    assert!(exported().starts_with("2024-01-02"), "{}", exported());
    let unnamed = folder.path().join("export");
    std::fs::rename(&request.paths[0], &unnamed).unwrap();
    let request = ImportRequest { paths: vec![unnamed.display().to_string()], ..ImportRequest::default() };
    let again = session.imports().import(&request, false, &Job::silent()).unwrap();
    assert_eq!((first.total.added > 0, again.total.added), (true, 0));
    assert_eq!(exported(), session.imports().list().unwrap().batches[0].at);
    session.imports().undo(&again.batch, &Job::silent()).unwrap();
    assert!(exported().starts_with("2024-01-02"), "the second import was undone");
    session.changes().add(&AddRequest { text: "Likes tea.".into(), ..AddRequest::default() }).unwrap();
    let sources = session.overview().info().unwrap().sources;
    let own = sources.iter().find(|source| source.platform == "me").unwrap();
    assert_eq!(own.exported_at, None);
}
