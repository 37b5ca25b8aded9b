//! Tests the evidence of memories, the review, the lists of memories to delete, and the report, with small exports.
use mementory_api::{CreateOptions, Job, Session, types::*};
use std::path::Path;

const PASSPHRASE: &str = "harbour copper nineteen kite lantern";
const TEXTS: [&str; 3] = ["User is allergic to penicillin.", "User lives in Graz.", "User plays the tuba."];

pub(crate) fn vault(folder: &Path) -> Session {
    Session::create(&folder.join("v"), PASSPHRASE, CreateOptions { kdf_floor: true }).unwrap().0
}

pub(crate) fn import(session: &Session, path: &Path) -> ImportReport {
    let request = ImportRequest { paths: vec![path.display().to_string()], ..ImportRequest::default() };
    session.imports().import(&request, false, &Job::silent()).unwrap()
}

/// An export of saved memories.
pub(crate) fn list(folder: &Path, name: &str, texts: &[&str]) -> std::path::PathBuf {
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
pub(crate) fn conversation(folder: &Path) -> std::path::PathBuf {
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
    let evidence = session.memory_evidence().of(&id_of(&session, TEXTS[0])).unwrap();
    assert_eq!((evidence.said_by.as_str(), evidence.trace.as_str()), ("user", "found"));
    let first = &evidence.messages[0];
    assert_eq!((first.role.as_str(), first.text.as_str()), ("user", "I am allergic to penicillin."));
    assert_eq!((first.start, first.end), (7, 35), "in code points");
    assert!(evidence.messages.iter().any(|message| message.how == "linked"));

    let kayak_evidence = session.memory_evidence().of(&id_of(&session, "User owns a red kayak.")).unwrap();
    assert_eq!(kayak_evidence.said_by, "unknown", "that the assistant wrote it down does not show who said it");
    import(&session, &list(folder.path(), "a.json", &TEXTS[1..]));
    let other_assistant = session.memory_evidence().of(&id_of(&session, TEXTS[2])).unwrap();
    assert_eq!((other_assistant.said_by.as_str(), other_assistant.trace.as_str()), ("unknown", "unknown"));
    let message = first.id.clone();
    assert_eq!(session.memory_evidence().of(&message).unwrap_err().code, "usage");
}

#[test]
fn answers_survive_imports_and_undo_and_are_removed_by_an_erasure() {
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
fn a_later_import_shows_which_memories_are_gone_still_there_or_back() {
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
fn the_report_is_one_new_file_with_sensitive_values_masked() {
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

/// Saved memories with the given days.
fn write_dated_memories(folder: &Path, name: &str, entries: &[(&str, &str)]) -> std::path::PathBuf {
    let entries: Vec<serde_json::Value> = entries
        .iter()
        .map(|(day, text)| {
            serde_json::json!({"id": format!("{day}-{}", text.len()), "memory": text, "user_id": "ines", "hash": text,
                "created_at": format!("{day}T09:00:00Z"), "updated_at": null, "categories": null, "metadata": null})
        })
        .collect();
    let path = folder.join(name);
    std::fs::write(&path, serde_json::json!({"results": entries}).to_string()).unwrap();
    path
}

const MEMORIES_OF_A_MOVE: [(&str, &str); 3] = [
    ("2024-03-01", "User lives in Graz."),
    ("2025-06-01", "User lives in Linz."),
    ("2024-01-05", "User plans to fly to Osaka in April 2025."),
];

#[test]
fn a_contradiction_is_listed_unless_both_memories_are_marked_as_true() {
    let folder = tempfile::tempdir().unwrap();
    let session = vault(folder.path());
    import(&session, &write_dated_memories(folder.path(), "a.json", &MEMORIES_OF_A_MOVE));
    let contradictions = || session.insights().contradictions(&Job::silent()).unwrap();
    let first = contradictions();
    let pair = &first.pairs[0];
    assert_eq!((first.pairs.len(), pair.newer.as_ref()), (1, Some(&pair.b)));
    assert_eq!(first.groups.len(), 1);
    assert_eq!((&first.groups[0].memories, &first.groups[0].pairs), (&vec![pair.a.clone(), pair.b.clone()], &vec![0]));
    assert_eq!([&pair.items[0].text, &pair.items[1].text], [MEMORIES_OF_A_MOVE[0].1, MEMORIES_OF_A_MOVE[1].1]);
    session.insights().keep_both(&pair.a, &pair.b, true).unwrap();
    assert!(contradictions().pairs.is_empty() && contradictions().groups.is_empty());
    session.insights().keep_both(&pair.b, &pair.a, false).unwrap();
    assert_eq!(contradictions().pairs.len(), 1, "in either order");
    assert_eq!(session.insights().keep_both(&pair.a, &pair.a, true).unwrap_err().code, "usage");

    let plan = &first.past_plans[0];
    assert_eq!((first.past_plans.len(), plan.text.as_str()), (1, MEMORIES_OF_A_MOVE[2].1));
    answer(&session, &plan.id, "true");
    assert!(contradictions().past_plans.is_empty(), "the person says that it still holds");
    answer(&session, &plan.id, "none");
    assert_eq!(contradictions().past_plans.len(), 1);
}

#[test]
fn a_correction_of_a_memorys_kind_can_be_undone() {
    let folder = tempfile::tempdir().unwrap();
    let session = vault(folder.path());
    import(&session, &list(folder.path(), "a.json", &TEXTS));
    let id = id_of(&session, TEXTS[1]);
    let about = || session.records().show(&id, false, false).unwrap().record.about;
    let suggested = about().unwrap();
    assert_eq!((suggested.by.as_str(), suggested.kind != "work"), ("suggested", true));
    let set = |about: &str| session.changes().set_about(&AboutRequest { ids: vec![id.clone()], about: about.into() });
    set("work").unwrap();
    assert_eq!(about().map(|about| (about.kind, about.by)), Some(("work".into(), "person".into())));
    set("suggested").unwrap();
    assert_eq!(about().map(|about| (about.kind, about.by)), Some((suggested.kind, "suggested".into())));
    assert_eq!(set("nonsense").unwrap_err().code, "usage");
}

#[test]
fn the_review_of_a_topic_has_only_its_memories() {
    let folder = tempfile::tempdir().unwrap();
    let session = vault(folder.path());
    import(&session, &list(folder.path(), "a.json", &TEXTS));
    let [allergy, home, tuba] = [0, 1, 2].map(|n| id_of(&session, TEXTS[n]));
    for (id, about) in [(&allergy, "food"), (&home, "work"), (&tuba, "work")] {
        session.changes().set_about(&AboutRequest { ids: vec![id.clone()], about: about.into() }).unwrap();
    }
    let next = |about: Option<&str>, special: Option<&str>| {
        let [about, special] = [about, special].map(|name| name.map(str::to_owned));
        session.review().next(&ReviewRequest { about, special, ..ReviewRequest::default() })
    };
    let state = next(Some("work"), None).unwrap();
    assert_eq!((state.left, state.total), (2, 2));
    let first = state.item.unwrap().record.id;
    assert!([&home, &tuba].contains(&&first));
    answer(&session, &first, "wrong");
    answer(&session, &allergy, "true");
    let state = next(Some("work"), None).unwrap();
    assert_eq!((state.left, state.total, state.answers), (1, 2, [("wrong".to_owned(), 1)].into()));
    assert_eq!(next(Some("plans"), None).unwrap().total, 0);
    let health = next(None, Some("health")).unwrap();
    assert_eq!((health.left, health.total), (0, 1), "the allergy, which has an answer");
    assert_eq!(next(None, None).unwrap().total, 3);
    for (about, special) in [(Some("nonsense"), None), (None, Some("nonsense"))] {
        assert_eq!(next(about, special).unwrap_err().code, "usage");
    }
}

#[test]
fn the_report_has_topics_and_contradictions() {
    let folder = tempfile::tempdir().unwrap();
    let session = vault(folder.path());
    let mut entries = MEMORIES_OF_A_MOVE.to_vec();
    entries.extend([
        ("2024-02-01", "The sailing boat needs varnish."),
        ("2024-02-02", "Varnish for the sailing boat was ordered."),
        ("2024-02-04", "User is allergic to penicillin."),
    ]);
    import(&session, &write_dated_memories(folder.path(), "a.json", &entries));
    let out = folder.path().join("report.html");
    for (language, heads) in [
        ("en", ["What contradicts itself", "Plans whose date has passed", "Private topics", "Topics"]),
        ("de", ["Was sich widerspricht", "Pläne, deren Datum vorbei ist", "Private Themen", "Themen"]),
        ("ja", ["食い違い", "日付が過ぎた予定", "私的な話題", "話題"]),
    ] {
        let request = ReportRequest { language: Some(language.into()) };
        session.review().report(&out, &request, &Job::silent()).unwrap();
        let html = std::fs::read_to_string(&out).unwrap();
        for head in heads {
            assert!(html.contains(&format!(">{head}</h")), "{language}: {head}");
        }
        let (_, after) = html.split_once(heads[0]).unwrap();
        let (pairs, _) = after.split_once("</section>").unwrap();
        let places = MEMORIES_OF_A_MOVE.map(|(_, text)| pairs.find(text));
        assert!(places.is_sorted() && places.iter().all(Option::is_some), "{language}: the older one, then the newer");
        assert!(!html.contains("No type") && !html.contains(">about_") && !html.contains(">special_"), "{language}");
        std::fs::remove_file(&out).unwrap();
    }
}

#[test]
fn the_memory_that_is_right_stays_and_the_others_go_to_the_trash() {
    let folder = tempfile::tempdir().unwrap();
    let session = vault(folder.path());
    import(&session, &write_dated_memories(folder.path(), "a.json", &MEMORIES_OF_A_MOVE));
    let [old, new] = [MEMORIES_OF_A_MOVE[0].1, MEMORIES_OF_A_MOVE[1].1].map(|text| id_of(&session, text));
    answer(&session, &old, "private");
    let resolve = |right: &String, other: &String| {
        session.insights().resolve(&ResolveRequest { right: right.clone(), others: vec![other.clone()] })
    };
    let pairs = || session.insights().contradictions(&Job::silent()).unwrap().pairs.len();
    let answers = || session.review().next(&ReviewRequest { counts_only: true, ..Default::default() }).unwrap().answers;
    let undo = |resolved: &Resolved| {
        session.changes().restore(&[resolved.before[1].id.clone()]).unwrap();
        session.review().answer(&resolved.before).unwrap();
    };

    let resolved = resolve(&new, &old).unwrap();
    let before: Vec<_> = resolved.before.iter().map(|each| (&each.id, each.answer.as_str())).collect();
    assert_eq!(before, [(&new, "none"), (&old, "private")]);
    assert_eq!((pairs(), ids(&session).len()), (0, 2));
    assert_eq!(answers(), [("outdated".into(), 1), ("true".into(), 1)].into());
    undo(&resolved);
    assert_eq!((pairs(), ids(&session).len()), (1, 3));
    assert_eq!(answers(), [("private".into(), 1)].into());

    // If the older memory is right, the newer one was never true, so it is wrong rather than outdated.
    let resolved = resolve(&old, &new).unwrap();
    assert_eq!(answers(), [("true".into(), 1), ("wrong".into(), 1)].into());
    undo(&resolved);
    assert_eq!(resolve(&old, &old).unwrap_err().code, "usage");
    assert_eq!(resolve(&old, &"nobody".into()).unwrap_err().code, "not_found");
    assert_eq!(ids(&session).len(), 3, "nothing was changed");
}
