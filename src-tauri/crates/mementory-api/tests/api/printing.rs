//! Tests the pages for reading and printing: lists, conversations and tables.
use crate::review::{conversation, import, list, vault};
use mementory_api::{Job, Session, types::*};

const HOSTILE: &str = "</p></style><script>alert(1)</script> & <img src=x onerror=y>";
const CARD: &str = "User's card is 4539 1488 0343 6467.";

fn memories() -> Filter {
    Filter { kind: Some("memory".into()), ..Filter::default() }
}

fn list_page(list: PrintList) -> PrintRequest {
    PrintRequest { title: "Memories".into(), list: Some(list), ..PrintRequest::default() }
}

fn html(session: &Session, request: &PrintRequest) -> String {
    session.pages().html(request, &Job::silent()).unwrap()
}

#[test]
fn a_list_has_all_records_as_text_with_sensitive_values_masked() {
    let folder = tempfile::tempdir().unwrap();
    let session = vault(folder.path());
    import(&session, &list(folder.path(), "a.json", &[CARD, HOSTILE, "User plays the tuba."]));
    let request = PrintRequest {
        title: format!("{HOSTILE} card 4539 1488 0343 6467"),
        lead: vec![format!("Search: {HOSTILE} {CARD}")],
        ..list_page(PrintList { filter: memories(), ..PrintList::default() })
    };
    let page = html(&session, &request);
    assert!(!page.contains("<script") && !page.contains("<img") && page.matches("</style>").count() == 1, "{page}");
    assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt; &amp; &lt;img src=x onerror=y&gt;"), "{page}");
    assert!(!page.contains("0343") && page.contains("card is █████"), "{page}");
    assert!(page.contains("User plays the tuba.") && page.contains("2026-02-01"), "{page}");
    assert_eq!(page.matches("<article>").count(), 3);
    assert!(!page.contains("http:") && !page.contains("https:") && !page.contains(" href="), "{page}");
}

#[test]
fn a_list_follows_its_filter_search_and_order_beyond_one_batch() {
    let folder = tempfile::tempdir().unwrap();
    let session = vault(folder.path());
    // `list` derives the id of each memory from the length of its text, so all lengths must differ.
    let texts: Vec<String> = (0..1_203).map(|n| format!("User likes tea {}", "x".repeat(n))).collect();
    let mut all: Vec<&str> = texts.iter().map(String::as_str).collect();
    all.push("Coffee.");
    import(&session, &list(folder.path(), "a.json", &all));
    let count = |request: PrintList| html(&session, &list_page(request)).matches("<article>").count();
    let filtered = PrintList { filter: memories(), ..PrintList::default() };
    assert_eq!(count(filtered.clone()), 1_204);
    assert_eq!(count(PrintList { query: "tea".into(), ..filtered.clone() }), 1_203);
    assert_eq!(count(PrintList { query: "coffee".into(), ..filtered.clone() }), 1);
    let other = Filter { source: Some("claude".into()), ..memories() };
    assert_eq!(count(PrintList { filter: other, ..PrintList::default() }), 0);
    let wrong = list_page(PrintList { sort: Some("sideways".into()), ..filtered });
    assert_eq!(session.pages().html(&wrong, &Job::silent()).unwrap_err().code, "usage");
}

#[test]
fn an_empty_list_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let session = vault(folder.path());
    let request = list_page(PrintList { filter: memories(), empty: "Nothing here".into(), ..PrintList::default() });
    let page = html(&session, &request);
    assert!(page.contains("<p>Nothing here</p>") && !page.contains("<article>"), "{page}");
}

#[test]
fn a_conversation_has_the_requested_messages_in_their_order() {
    let folder = tempfile::tempdir().unwrap();
    let session = vault(folder.path());
    import(&session, &conversation(folder.path()));
    let filter = Filter { kind: Some("conversation".into()), ..Filter::default() };
    let found = session.records().list(&ListRequest { filter, ..ListRequest::default() }).unwrap();
    let thread = session.records().thread(&found.items[0].id).unwrap();
    let id_of = |text: &str| thread.messages.iter().find(|message| message.text.contains(text)).unwrap().id.clone();
    let message = |id: String, heading: &str| PrintMessage { id, heading: heading.into(), details: vec![CARD.into()] };
    let messages = vec![
        message(id_of("macrolide"), "ChatGPT"),
        message(id_of("penicillin. What"), HOSTILE),
        message("00000000000000000000000000".into(), "gone"),
    ];
    let request = PrintRequest {
        title: "Pharmacy".into(),
        conversation: Some(PrintConversation { id: thread.conversation.id.clone(), messages }),
        ..PrintRequest::default()
    };
    let page = html(&session, &request);
    assert!(page.find("Ask for a macrolide.").unwrap() < page.find("Grüße! I am allergic").unwrap());
    assert_eq!(page.matches("<article>").count(), 2, "{page}");
    assert!(!page.contains("<script") && !page.contains("0343"), "{page}");
    let missing = PrintConversation { id: "nothing".into(), ..PrintConversation::default() };
    let request = PrintRequest { conversation: Some(missing), ..PrintRequest::default() };
    assert_eq!(session.pages().html(&request, &Job::silent()).unwrap_err().code, "not_found");
}

#[test]
fn a_saved_page_is_a_new_file_outside_the_vault() {
    let folder = tempfile::tempdir().unwrap();
    let session = vault(folder.path());
    import(&session, &list(folder.path(), "a.json", &[CARD, "User plays the tuba."]));
    let mut request = list_page(PrintList { filter: memories(), ..PrintList::default() });
    let row = vec!["Search index".to_owned(), HOSTILE.to_owned()];
    request.tables = vec![PrintTable { head: vec!["Place".into(), "Result".into()], rows: vec![row] }];
    let out = folder.path().join("page.html");
    for language in ["en", "de", "ja"] {
        request.language = Some(language.into());
        let saved = session.pages().save(&out, &request, &Job::silent()).unwrap();
        assert_eq!(saved.records, 2);
        assert_eq!(std::fs::read_to_string(&out).unwrap(), html(&session, &request));
        assert_eq!(session.pages().save(&out, &request, &Job::silent()).unwrap_err().code, "exists");
        assert!(out.exists(), "the existing file stays");
        std::fs::remove_file(&out).unwrap();
    }
    let inside = folder.path().join("v/page.html");
    assert_eq!(session.pages().save(&inside, &request, &Job::silent()).unwrap_err().code, "usage");
    request.language = Some("xx".into());
    assert_eq!(session.pages().save(&out, &request, &Job::silent()).unwrap_err().code, "usage");
    assert!(!out.exists(), "nothing is left of a page that could not be made");
}
