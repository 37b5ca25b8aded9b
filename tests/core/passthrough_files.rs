//! Erasures remove words from passthrough files in every encoding and notation that the files use.
use crate::{
    deletion::{erase, outcome},
    proof::{flip_blobs, import_parts, vault_with},
    redaction::redact,
};
use mementory_testkit::{TempVault, at};
use mementory_vault::PlaceOutcome;

#[test]
fn escaped_words_are_removed_from_files_that_are_not_json() {
    let text = "She said: \"The old café is closed.\"\nAsk R&D for the <key>.";
    let (t, ids) = vault_with(&[text]);
    let json = serde_json::to_string(text).unwrap();
    let ascii = json
        .replace('é', "\\u00e9")
        .replace('<', "\\u003C")
        .replace('&', "\\u0026");
    let html = text.replace('&', "&amp;").replace('<', "&lt;");
    let line = format!("{{\"q\":{json}}}");
    let files = [
        (
            "tweets.js",
            format!("window.YTD.tweets.part0 = [{{\"n\":1,\"t\":{ascii}}}]"),
        ),
        ("run.log", format!("12:00 INFO {line}\n12:01 INFO end\n")),
        (
            "twice.log",
            format!(
                "12:00 got {}\n",
                serde_json::to_string(&format!("body: {line}")).unwrap()
            ),
        ),
        (
            "notes.md",
            format!("# Notes\n\n```json\n{{\n  \"t\": {ascii}\n}}\n```\n"),
        ),
        (
            "page.html",
            format!("<p>{}</p>", html.replace('"', "&quot;")),
        ),
        (
            "attribute.html",
            format!(
                "<p data-q=\"{}\">",
                json.replace('&', "&amp;").replace('"', "&#34;")
            ),
        ),
    ];
    let bystander = "window.data = [{\"t\":\"She said: \\\"The new caf\\u00e9 is open.\\\"\"}]";
    let utf16: Vec<u8> = format!("\u{feff}t = {json}")
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    let mut parts: Vec<(&str, &[u8])> = vec![
        ("utf16.js", utf16.as_slice()),
        ("bystander.js", bystander.as_bytes()),
    ];
    parts.extend(files.iter().map(|(name, file)| (*name, file.as_bytes())));
    import_parts(&t, &parts);
    let done = erase(&t, &ids);
    assert!(done.receipt.complete, "{:?}", done.receipt.places);
    assert_eq!(
        outcome(&done, "passthrough").1,
        "7 rewritten; 8 parts of imports searched"
    );
    let read = |name: &str| {
        let texts = t
            .vault
            .files()
            .passthrough_texts("test", name, 10_000)
            .unwrap();
        texts.concat()
    };
    for (name, _) in &files {
        let text = read(name);
        assert!(text.contains("[REDACTED:erased]"), "{name}: {text}");
        for word in ["said", "caf", "closed", "Ask", "key"] {
            assert!(!text.contains(word), "{name}: {text}");
        }
    }
    assert_eq!(read("bystander.js"), bystander);
}

#[test]
fn a_receipt_says_which_files_can_be_erased_as_a_whole() {
    let text = "The old key of the shed is under the red stone.";
    let (t, ids) = vault_with(&[text]);
    import_parts(&t, &[("notes.txt", text.as_bytes())]);
    // The file cannot be read, so its words cannot be removed.
    flip_blobs(&t);
    let done = erase(&t, &ids);
    let sql = "SELECT lower(hex(id)) FROM records WHERE title = 'notes.txt'";
    let file: String = t.database().query_row(sql, [], |r| r.get(0)).unwrap();
    let (place_outcome, detail) = outcome(&done, "passthrough");
    assert_eq!(place_outcome, PlaceOutcome::Failed);
    let advice = format!("to remove these files as a whole, erase {file}");
    assert!(detail.ends_with(&advice), "{detail}");
    let erased = erase(&t, &[file]);
    assert!(erased.receipt.complete, "{:?}", erased.receipt.places);
    let retried = t
        .vault
        .receipts()
        .retry(&done.receipt.id, at(200), &|_| {})
        .unwrap();
    assert!(retried.complete, "{:?}", retried.places);
}

fn text_of_part(t: &TempVault, name: &str) -> String {
    let texts = t.vault.files().passthrough_texts("test", name, 10_000);
    texts.unwrap().concat()
}

#[test]
fn a_file_that_quotes_a_redacted_copy_loses_the_same_words() {
    let erased = "The old café is closed. Ask Lena for the key.";
    let copy = "Ask Lena for the key. My PIN is 4711. The old café is closed.";
    let (t, ids) = vault_with(&[erased, copy]);
    let json = serde_json::to_string(copy).unwrap();
    let script = |json: &str| format!("part0 = [{{\"q\":{}}}]", json.replace('é', "\\u00e9"));
    let sidecar = |json: &str| format!("{{\"q\":{json}}}");
    import_parts(
        &t,
        &[
            ("side.json", sidecar(&json).as_bytes()),
            ("part0.js", script(&json).as_bytes()),
        ],
    );
    let eraser = t.vault.eraser();
    let done = eraser
        .erase(&ids[..1], "test", &ids[1..], at(100), &|_| {})
        .unwrap()
        .value;
    assert!(done.receipt.complete, "{:?}", done.receipt.places);
    let redacted_json = "\"[REDACTED:erased] My PIN is 4711. [REDACTED:erased]\"";
    assert_eq!(text_of_part(&t, "side.json"), sidecar(redacted_json));
    assert_eq!(text_of_part(&t, "part0.js"), script(redacted_json));
    let done = erase(&t, &ids[1..]);
    assert!(done.receipt.complete, "{:?}", done.receipt.places);
    assert_eq!(
        text_of_part(&t, "side.json"),
        sidecar("\"[REDACTED:erased]\"")
    );
    assert_eq!(
        text_of_part(&t, "part0.js"),
        script("\"[REDACTED:erased]\"")
    );
}

#[test]
fn short_words_are_redacted_in_files_that_quote_the_whole_text() {
    let text = "I am quite sure that Al is right here today.";
    let (t, ids) = vault_with(&[text]);
    // A word of two letters is redacted only in a quotation of the whole record, so "Al" in the second text stays.
    let quoted = |text: &str| format!(r#"["{text}","Al and I are quite sure."]"#);
    import_parts(&t, &[("side.json", quoted(text).as_bytes())]);
    let done = redact(&t, &ids[0], "Al", false);
    assert!(done.receipt.complete, "{:?}", done.receipt.places);
    let expected = quoted("I am quite sure that [REDACTED:test] is right here today.");
    assert_eq!(text_of_part(&t, "side.json"), expected);
}

#[test]
fn sentences_left_by_an_earlier_erasure_are_removed_from_files() {
    // Earlier versions left the words of a redacted copy in the files that quote it.
    let (t, ids) = vault_with(&["[REDACTED:erased] My PIN is 4711."]);
    let quoted = br#"{"q":"The key is here. My PIN is 4711.","other":"The PIN is 4812."}"#;
    import_parts(&t, &[("side.json", quoted)]);
    let done = erase(&t, &ids);
    assert!(done.receipt.complete, "{:?}", done.receipt.places);
    let expected = r#"{"q":"The key is here. [REDACTED:erased]","other":"The PIN is 4812."}"#;
    assert_eq!(text_of_part(&t, "side.json"), expected);
}

#[test]
fn a_short_text_is_removed_from_a_file_that_lost_its_first_sentence() {
    let (t, ids) = vault_with(&["Thank you.", "Thank you. My PIN is 4711."]);
    let quoted = br#"{"q":"Thank you. My PIN is 4711.","other":"My PIN was 4711, I think."}"#;
    import_parts(&t, &[("side.json", quoted)]);
    erase(&t, &ids[..1]);
    let done = erase(&t, &ids[1..]);
    assert!(done.receipt.complete, "{:?}", done.receipt.places);
    let text = text_of_part(&t, "side.json");
    assert!(!text.contains("My PIN is"), "{text}");
    assert!(text.contains("My PIN was 4711, I think."), "{text}");
}
