//! The evidence of memories, the review, the lists for the assistants and the report, on small exports made here.
use mementory_api::{CreateOptions, Job, Session, types::*};
use std::path::Path;

const PASSPHRASE: &str = "harbour copper nineteen kite lantern";
const TEXTS: [&str; 3] = ["User is allergic to penicillin.", "User lives in Graz.", "User plays the tuba."];

fn vault(folder: &Path) -> Session {
    Session::create(&folder.join("v"), PASSPHRASE, CreateOptions { kdf_floor: true }).unwrap().0
}

fn import(session: &Session, path: &Path) -> ImportReport {
    let request = ImportRequest { paths: vec![path.display().to_string()], ..ImportRequest::default() };
    session.imports().import(&request, false, &Job::silent()).unwrap()
}

/// An export of saved memories.
fn list(folder: &Path, name: &str, texts: &[&str]) -> std::path::PathBuf {
    let entries: Vec<serde_json::Value> = texts
        .iter()
        .map(|text| {
            let id = format!("id-{}", text.len());
            serde_json::json!({"id": id, "memory": text, "user_id": "ines", "hash": id,
                "created_at": "2026-02-01T09:00:00Z", "updated_at": null, "categories": null, "metadata": null})
        })
        .collect();
    let path = folder.join(name);
    std::fs::write(&path, serde_json::json!({"results": entries}).to_string()).unwrap();
    path
}

/// A conversation in which the assistant calls its memory tool.
fn conversation(folder: &Path) -> std::path::PathBuf {
    let node = |id: &str, parent: Option<&str>, role: &str, recipient: &str, text: &str, second: u32| {
        serde_json::json!({"id": id, "parent": parent, "children": [], "message": {"id": id,
            "author": {"role": role}, "create_time": 1_770_000_000 + second, "recipient": recipient,
            "content": {"content_type": "text", "parts": [text]}, "metadata": {}}})
    };
    let said = "Grüße! I am allergic to penicillin. What else is there?";
    let chat = serde_json::json!([{"id": "a1", "conversation_id": "a1", "title": "Pharmacy",
        "create_time": 1_770_000_000, "update_time": 1_770_000_100, "current_node": "n4", "mapping": {
        "n1": node("n1", None, "user", "all", said, 1),
        "n2": node("n2", Some("n1"), "assistant", "bio", TEXTS[0], 2),
        "n3": node("n3", Some("n2"), "assistant", "bio", "User owns a red kayak.", 3),
        "n4": node("n4", Some("n3"), "assistant", "all", "Ask for a macrolide.", 4)}}]);
    let path = folder.join("conversations.json");
    std::fs::write(&path, chat.to_string()).unwrap();
    path
}

fn ids(session: &Session) -> Vec<(String, String)> {
    let filter = Filter { kind: Some("memory".into()), ..Filter::default() };
    let page = session.records().list(&ListRequest { filter, ..ListRequest::default() }).unwrap();
    page.items.into_iter().map(|item| (item.text, item.id)).collect()
}

fn id_of(session: &Session, text: &str) -> String {
    ids(session).into_iter().find(|(found, _)| found == text).unwrap().1
}

fn answer(session: &Session, id: &str, answer: &str) {
    session.review().answer(&[ReviewAnswer { id: id.into(), answer: answer.into() }]).unwrap();
}

fn states(session: &Session) -> Vec<(String, String)> {
    let todo = session.review().todo(None, None).unwrap();
    todo.items.into_iter().map(|item| (item.text, item.state)).collect()
}

#[test]
fn evidence_is_the_sentence_that_the_person_said() {
    let folder = tempfile::tempdir().unwrap();
    let session = vault(folder.path());
    import(&session, &conversation(folder.path()));
    let found = session.origins().of(&id_of(&session, TEXTS[0])).unwrap();
    assert_eq!((found.said_by.as_str(), found.trace.as_str()), ("user", "found"));
    let first = &found.messages[0];
    assert_eq!((first.role.as_str(), first.text.as_str()), ("user", "I am allergic to penicillin."));
    assert_eq!((first.start, first.end), (7, 35), "in code points");
    assert!(found.messages.iter().any(|message| message.how == "linked"));

    let guessed = session.origins().of(&id_of(&session, "User owns a red kayak.")).unwrap();
    assert_eq!(guessed.said_by, "unknown", "that the assistant wrote it down does not show who said it");
    import(&session, &list(folder.path(), "a.json", &TEXTS[1..]));
    let elsewhere = session.origins().of(&id_of(&session, TEXTS[2])).unwrap();
    assert_eq!((elsewhere.said_by.as_str(), elsewhere.trace.as_str()), ("unknown", "unknown"));
    let message = first.id.clone();
    assert_eq!(session.origins().of(&message).unwrap_err().code, "usage");
}

#[test]
fn answers_survive_another_import_and_an_undone_one_and_go_with_an_erasure() {
    let folder = tempfile::tempdir().unwrap();
    let session = vault(folder.path());
    let export = list(folder.path(), "a.json", &TEXTS);
    let batch = import(&session, &export).batch;
    let [first, second] = [0, 1].map(|n| id_of(&session, TEXTS[n]));
    answer(&session, &first, "wrong");
    answer(&session, &second, "private");
    let wrong = ReviewAnswer { id: second.clone(), answer: "maybe".into() };
    assert_eq!(session.review().answer(&[wrong]).unwrap_err().code, "usage");
    import(&session, &export);
    assert_eq!(states(&session).len(), 2);
    session.imports().undo(&batch, &Job::silent()).unwrap();
    import(&session, &export);
    assert_eq!(states(&session).len(), 2, "the same ids have the same answers");
    let request = EraseRequest { ids: vec![first], ..EraseRequest::default() };
    session.changes().erase(&request, &Job::silent()).unwrap();
    assert_eq!(states(&session).iter().map(|(text, _)| text.as_str()).collect::<Vec<_>>(), [TEXTS[1]]);
    answer(&session, &second, "none");
    let state = session.review().next(&ReviewRequest::default()).unwrap();
    assert_eq!((state.left, state.total, state.answers.len()), (2, 2, 0));
}

#[test]
fn later_imports_say_what_is_gone_still_there_and_back_again() {
    let folder = tempfile::tempdir().unwrap();
    let session = vault(folder.path());
    let all = list(folder.path(), "a.json", &TEXTS);
    import(&session, &all);
    for text in &TEXTS[..2] {
        answer(&session, &id_of(&session, text), "wrong");
    }
    let expect = |states_of: [&str; 2]| {
        let found: Vec<String> = TEXTS[..2]
            .iter()
            .map(|text| states(&session).into_iter().find(|(found, _)| found == text).unwrap().1)
            .collect();
        assert_eq!(found, states_of);
    };
    expect(["not_checked", "not_checked"]);
    session.changes().delete(&[id_of(&session, TEXTS[0])]).unwrap();
    import(&session, &list(folder.path(), "b.json", &TEXTS[1..]));
    expect(["gone", "still_there"]);
    assert!(!session.review().todo(None, None).unwrap().message.contains(TEXTS[0]));
    import(&session, &conversation(folder.path()));
    expect(["gone", "still_there"]);
    import(&session, &all);
    expect(["back_again", "still_there"]);
}

#[test]
fn the_report_is_one_new_file_that_covers_sensitive_values() {
    let folder = tempfile::tempdir().unwrap();
    let session = vault(folder.path());
    let secret = "User's card is 4539 1488 0343 6467.";
    import(&session, &list(folder.path(), "a.json", &[secret, "<script>alert(1)</script> & more", TEXTS[1]]));
    answer(&session, &id_of(&session, secret), "private");
    let out = folder.path().join("report.html");
    for language in ["en", "de", "ja"] {
        let request = ReportRequest { language: Some(language.into()) };
        let made = session.review().report(&out, &request, &Job::silent()).unwrap();
        let html = std::fs::read_to_string(&out).unwrap();
        assert_eq!(made.memories, 3);
        assert!(!html.contains("4539 1488") && !html.contains("<script"), "{language}");
        assert!(html.contains("&lt;script&gt;") && html.contains(TEXTS[1]), "{language}");
        assert!(!html.contains("http:") && !html.contains("https:") && !html.contains("src="), "{language}");
        assert_eq!(session.review().report(&out, &request, &Job::silent()).unwrap_err().code, "exists");
        std::fs::remove_file(&out).unwrap();
    }
    let inside = folder.path().join("v/report.html");
    assert_eq!(session.review().report(&inside, &ReportRequest::default(), &Job::silent()).unwrap_err().code, "usage");
}
