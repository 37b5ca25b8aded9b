//! Tests with the cases in `fixtures/google_keep`, and with files that must not be mistaken for notes of Keep.
#![allow(clippy::unwrap_used)]
use super::GoogleKeep;
use crate::cases::{check_cases_under_any_name, claiming};
use crate::testing::read;
use mementory_format::testkit::{Scratch, put};

const NOTE: &str = r#"{"isTrashed":false,"isPinned":false,"isArchived":false,"textContent":"Sow leeks.",
    "createdTimestampUsec":1772359200000000,"userEditedTimestampUsec":1772359200000000}"#;

#[test]
fn cases_are_read_as_expected() {
    check_cases_under_any_name(&GoogleKeep);
}

#[test]
fn notes_of_other_programs_are_not_claimed() {
    let scratch = Scratch::new("other-notes");
    let list = format!("[{NOTE}]");
    for (name, text) in [
        ("states", r#"{"title":"a","isTrashed":false,"isPinned":true,"isArchived":false,"createdAt":1772359200}"#),
        ("times", r#"{"createdTimestampUsec":1772359200000000,"userEditedTimestampUsec":1,"events":[]}"#),
        ("list", list.as_str()),
        ("text", r#"{"textContent":"A page","title":"t","excerpt":"e","siteName":"s"}"#),
    ] {
        let path = scratch.put(&format!("{name}.json"), text);
        assert!(!claiming(&path).contains(&"google_keep"), "{name}");
    }
}

#[test]
fn a_note_is_recognised_under_every_name() {
    let scratch = Scratch::new("names");
    for name in ["Leeks.JSON", "note", "2026-03-01T10_00_00.000Z.json.txt", "Notiz.bak"] {
        assert_eq!(claiming(&scratch.put(name, NOTE)), ["google_keep"], "{name}");
    }
}

#[test]
fn only_files_that_notes_name_are_claimed_beside_them() {
    let scratch = Scratch::new("beside");
    let with_file = NOTE.replacen('{', r#"{"attachments":[{"filePath":"a.png","mimetype":"image/png"}],"#, 1);
    put(&scratch.0, &[("n.json", with_file.as_bytes()), ("a.png", b"a"), ("b.png", b"b"), ("other.html", b"<p>x</p>")]);
    let imported = read(&scratch.0, &GoogleKeep);
    let names: Vec<&str> = imported.files.iter().map(|(file, _)| file.name.as_str()).collect();
    assert_eq!((names, imported.dropped.len()), (vec!["a.png"], 0));
}

#[test]
fn a_note_without_a_time_of_creation_has_one_key_with_and_without_its_file() {
    let scratch = Scratch::new("stated");
    let note =
        r#"{"isTrashed":false,"attachments":[{"filePath":"a.jpeg"}],"userEditedTimestampUsec":1500000000000000}"#;
    scratch.put("n.json", note);
    let without_file = read(&scratch.0, &GoogleKeep);
    scratch.put("a.jpg", "no real picture");
    let with_file = read(&scratch.0, &GoogleKeep);
    assert_eq!((without_file.files.len(), with_file.files.len()), (0, 1));
    assert_eq!(without_file.records[0].key, with_file.records[0].key);
}

#[test]
fn a_long_note_whose_times_come_late_is_recognised() {
    let scratch = Scratch::new("long");
    let text = "Leeks need water. ".repeat(5000);
    let note = NOTE.replace("Sow leeks.", &text);
    assert_eq!(claiming(&scratch.put("long.json", note)), ["google_keep"]);
}
