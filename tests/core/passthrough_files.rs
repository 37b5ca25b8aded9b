//! Erasures remove words from passthrough files however the files write them.
use crate::{
    deletion::{erase, outcome},
    proof::{flip_blobs, import_parts, vault_with},
};
use mementory_testkit::at;
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
    let (found, detail) = outcome(&done, "passthrough");
    assert_eq!(found, PlaceOutcome::Failed);
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
