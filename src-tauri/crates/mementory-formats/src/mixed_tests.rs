#![allow(clippy::unwrap_used)]
//! Tests with folders and archives as they occur in practice: exports of two vendors in one folder, a newer download
//! next to an unpacked export, unrelated files in the Downloads folder, incomplete exports.
use crate::{AttachmentFile, Catalog, FormatError, PassthroughItem, ReadContext, Role, Sink, by_id, detect};
use mementory_model::{Dropped, Issue, Kind, Limits, Record, Timestamp, Tombstone, Unit};
use std::{
    io::{Cursor, Read, Write},
    path::PathBuf,
};

#[derive(Default)]
struct ReadResult {
    /// Each record with the id of its format.
    records: Vec<(&'static str, Record)>,
    files: Vec<AttachmentFile>,
    dropped: Vec<Dropped>,
    format: &'static str,
}

impl Sink for ReadResult {
    fn unit(&mut self, unit: Unit) -> Result<(), FormatError> {
        self.records.extend(unit.records.into_iter().map(|r| (self.format, r)));
        Ok(())
    }
    fn attachment(&mut self, file: AttachmentFile, _: &mut dyn Read) -> Result<(), FormatError> {
        self.files.push(file);
        Ok(())
    }
    fn passthrough(&mut self, _: PassthroughItem, _: &mut dyn Read) -> Result<(), FormatError> {
        Ok(())
    }
    fn tombstone(&mut self, _: Tombstone) -> Result<(), FormatError> {
        Ok(())
    }
    fn note(&mut self, _: Issue) {}
    fn dropped(&mut self, dropped: Dropped) {
        self.dropped.push(dropped);
    }
    fn progress(&mut self, _: u64) -> Result<(), FormatError> {
        Ok(())
    }
}

impl ReadResult {
    fn texts(&self, format: &str, kind: Kind) -> Vec<&str> {
        let mut out: Vec<_> =
            self.records.iter().filter(|(f, r)| *f == format && r.kind == kind).map(|(_, r)| r.text.as_str()).collect();
        out.sort_unstable();
        out
    }

    fn file_keys(&self) -> Vec<&str> {
        let mut out: Vec<_> = self.files.iter().map(|f| f.key.value.as_str()).collect();
        out.sort_unstable();
        out
    }
}

/// A temporary folder that is removed when dropped.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn folder(name: &str, files: &[(&str, Vec<u8>)]) -> Folder {
    let dir = std::env::temp_dir().join(format!("mementory-mixed-{}-{name}", std::process::id()));
    let _ = std::fs::remove_dir_all(&dir);
    for (name, bytes) in files {
        let path = dir.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
    Folder(dir)
}

fn zip(files: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in files {
        zip.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// Reads every detected source. Also returns the missing parts and the members that no format claims.
fn read(folder: &Folder) -> (ReadResult, Vec<String>, Vec<String>) {
    let limits = Limits::default();
    let catalog = Catalog::open(std::slice::from_ref(&folder.0), &limits, None).unwrap();
    let found = detect(&catalog, &limits, None).unwrap();
    assert!(found.ties.is_empty(), "{:?}", found.ties);
    let context = ReadContext { limits, now: Timestamp::from_micros(0).unwrap(), passphrase: None };
    let (mut seen, mut missing) = (ReadResult::default(), vec![]);
    for source in &found.sources {
        seen.format = source.format;
        by_id(source.format).unwrap().read(&catalog, source, &context, &mut seen).unwrap();
        missing.extend(source.claim.missing_parts.iter().cloned());
        assert!(source.claim.parts.iter().any(|p| p.role != Role::Junk));
    }
    let unknown = found.unknown.iter().map(|id| catalog.members()[*id].name.clone()).collect();
    (seen, missing, unknown)
}

/// One ChatGPT conversation with one message. `rest` is JSON that is appended inside the message object.
fn chatgpt_conversation(id: &str, text: &str, rest: &str) -> String {
    format!(
        r#"{{"id":"{id}","title":"t","current_node":"n","mapping":{{"n":{{"id":"n","parent":null,"message":{{"id":"m-{id}","author":{{"role":"user"}},"content":{{"content_type":"text","parts":["{text}"]}}{rest}}}}}}}}}"#
    )
}

fn json_list(items: &[String]) -> Vec<u8> {
    format!("[{}]", items.join(",")).into_bytes()
}

fn claude(text: &str) -> Vec<u8> {
    format!(r#"[{{"uuid":"c","name":"n","chat_messages":[{{"uuid":"a","sender":"human","text":"{text}"}}]}}]"#)
        .into_bytes()
}

const ACCOUNT_ID: &str = "0f0e0d0c-0b0a-4908-8706-050403020100";

#[test]
fn a_claude_file_next_to_chatgpt_conversations_does_not_prevent_their_detection() {
    for (name, memories) in [
        ("memories.json", r#"[{"conversations_memory":"Is a nurse.","account_uuid":"x"}]"#),
        ("users.json", r#"[{"uuid":"u","full_name":"I","email_address":"e"}]"#),
    ] {
        let dir = folder(
            name,
            &[
                ("conversations.json", json_list(&[chatgpt_conversation("1", "from chatgpt", "")])),
                (name, memories.into()),
            ],
        );
        let (seen, ..) = read(&dir);
        assert_eq!(seen.texts("chatgpt", Kind::Message), ["from chatgpt"], "{name}");
        assert!(seen.dropped.is_empty(), "{:?}", seen.dropped);
    }
    // An empty list does not reveal its format, so the file name decides.
    let dir = folder(
        "empty",
        &[
            ("conversations.json", b"[]".to_vec()),
            ("memories.json", br#"[{"conversations_memory":"Is a nurse."}]"#.to_vec()),
        ],
    );
    let (seen, _, unknown) = read(&dir);
    assert_eq!(seen.texts("claude", Kind::Memory), ["Is a nurse."]);
    assert!(unknown.is_empty());
}

#[test]
fn a_newer_download_beside_an_unpacked_export_is_opened() {
    let newer = zip(&[("conversations.json", json_list(&[chatgpt_conversation("2", "newer", "")]))]);
    let unrelated_archive = zip(&[("photo.txt", b"x".to_vec())]);
    let upload = zip(&[("conversations.json", json_list(&[chatgpt_conversation("3", "uploaded", "")]))]);
    let dir = folder(
        "newer",
        &[
            ("conversations.json", json_list(&[chatgpt_conversation("1", "older", "")])),
            ("6f0a4d-2026-11-01.zip", newer),
            ("holiday.zip", unrelated_archive),
            ("file-AbCdEfGhIjKlMnOpQrSt-backup.zip", upload.clone()),
            ("file-ZyXwVuTsRqPoNmLkJiHg.dat", upload),
        ],
    );
    let (seen, _, unknown) = read(&dir);
    assert_eq!(seen.texts("chatgpt", Kind::Message), ["newer", "older"]);
    assert_eq!(seen.file_keys(), ["file/file-AbCdEfGhIjKlMnOpQrSt", "file/file-ZyXwVuTsRqPoNmLkJiHg"]);
    assert_eq!(unknown, ["holiday.zip"]);
}

#[test]
fn exports_of_several_programs_in_one_archive_are_all_read() {
    let chats = || json_list(&[chatgpt_conversation("1", "from chatgpt", "")]);
    let grok = br#"{"conversations":[{"conversation":{"id":"g","title":"t"},"responses":[{"response":{"_id":"r","message":"from grok","sender":"human"}}]}]}"#;
    let other_files = || {
        vec![
            ("grok.json", grok.to_vec()),
            ("memories.json", br#"[{"conversations_memory":"Is a nurse.","account_uuid":"x"}]"#.to_vec()),
        ]
    };
    let nested = [other_files(), vec![("chatgpt.zip", zip(&[("conversations.json", chats())]))]];
    let side_by_side = [other_files(), vec![("conversations.json", chats())]];
    for (name, files) in [("nested", nested.concat()), ("beside", side_by_side.concat())] {
        let (seen, ..) = read(&folder(name, &[("all.zip", zip(&files))]));
        assert_eq!(seen.texts("chatgpt", Kind::Message), ["from chatgpt"], "{name}");
        assert_eq!(seen.texts("grok", Kind::Message), ["from grok"], "{name}");
        assert_eq!(seen.texts("claude", Kind::Memory), ["Is a nurse."], "{name}");
    }
}

#[test]
fn a_message_that_contains_a_key_of_another_vendor_does_not_change_the_detected_format() {
    for word in ["fragments", "chat_messages"] {
        let metadata = format!(r#","metadata":{{"{word}":[1]}}"#);
        let dir = folder(
            word,
            &[(
                "conversations.json",
                json_list(&[chatgpt_conversation("1", word, ""), chatgpt_conversation("2", "b", &metadata)]),
            )],
        );
        let (seen, ..) = read(&dir);
        assert_eq!(seen.texts("chatgpt", Kind::Message), ["b", word]);
    }
    let deepseek = r#"[{"id":"1","title":"t","mapping":{"root":{"id":"root","parent":null,"message":null},"1":{"id":"1","parent":"root","message":{"model":"m","fragments":[{"type":"REQUEST","content":"x"}]}}},"current_node":"1","create_time":1}]"#;
    let dir = folder("deepseek", &[("conversations.json", deepseek.into())]);
    assert_eq!(read(&dir).0.texts("deepseek", Kind::Message), ["x"], "not a conversation of ChatGPT");
}

/// Every format reads every member during detection. Damage in one member must not end the import of the others.
#[test]
fn a_truncated_download_yields_the_records_before_the_cut() {
    let many_conversations: Vec<String> = (0..400_u64)
        .map(|i| {
            chatgpt_conversation(&i.to_string(), &format!("{:x}", (i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)), "")
        })
        .collect();
    let (user, photo) = (br#"{"id":"u"}"#.to_vec(), vec![7; 5000]);
    let all = zip(&[
        ("user.json", user),
        ("conversations.json", json_list(&many_conversations)),
        ("manifest.json", b"{}".to_vec()),
    ]);
    let dir = folder("cut", &[("in-chats.zip", all[..all.len() / 2].to_vec())]);
    let (seen, ..) = read(&Folder(dir.0.join("in-chats.zip")));
    let message_count = seen.texts("chatgpt", Kind::Message).len();
    assert!((50..400).contains(&message_count), "{message_count}");
    // The download is cut inside the file that follows the conversations. In the first case, that file is a manifest,
    // which interchange formats read first.
    for last_name in ["manifest.json", "memory-store.json", "file-AbCdEfGhIjKlMnOpQrSt.dat"] {
        let all = zip(&[("conversations.json", json_list(&many_conversations)), (last_name, photo.clone())]);
        let position = memchr::memmem::find(&all, last_name.as_bytes()).unwrap() + last_name.len() + 5;
        let dir = folder(last_name, &[("cut.zip", all[..position].to_vec())]);
        let (seen, ..) = read(&Folder(dir.0.join("cut.zip")));
        assert_eq!(seen.texts("chatgpt", Kind::Message).len(), 400, "{last_name}");
    }
}

#[test]
fn an_attachment_known_only_by_id_gets_the_name_of_its_file() {
    let attachment_metadata = r#","metadata":{"attachments":[{"id":"file-ZyXwVuTsRqPoNmLkJiHg"}]}"#;
    let dir = folder(
        "pointed",
        &[
            ("conversations.json", json_list(&[chatgpt_conversation("1", "look", attachment_metadata)])),
            ("file-ZyXwVuTsRqPoNmLkJiHg-holiday photo.png", b"x".to_vec()),
        ],
    );
    let (seen, ..) = read(&dir);
    let names: Vec<_> = seen.records.iter().flat_map(|(_, r)| &r.attachments).map(|a| a.name.as_str()).collect();
    assert_eq!(names, ["holiday photo.png"]);
}

#[test]
fn unrelated_files_in_the_folder_are_not_attachments() {
    let attachment_metadata = r#","metadata":{"attachments":[{"id":"file-Qq1","name":"plan.pdf"}]}"#;
    let names = r#"{"file_mapped.dat":"shopping list.txt","notes":"plan.pdf"}"#;
    let file = || b"x".to_vec();
    let chatgpt_files = [
        "file-AbCdEfGhIjKlMnOpQrSt-photo.png",
        "file_00000000aaaa1111bbbb2222cccc3333.dat",
        "dalle-generations/file-ZyXwVuTsRqPoNmLkJiHg-1.webp",
        "user-AbC123/file_00000000aaaa1111bbbb2222cccc4444-x.png",
        "0f0e0d0c-0b0a-4908-8706-050403020100/audio/file_00000000aaaa1111bbbb2222cccc5555.wav",
        "shopping list.txt",
        "file_mapped.dat",
    ];
    let unrelated_files = [
        "file-backup2024.txt",
        "notes/data.dat",
        "data.dat",
        "user-guide/manual.pdf",
        "music/audio/song.mp3",
        "tax.pdf",
    ];
    let mut files = vec![
        ("conversations.json", json_list(&[chatgpt_conversation("1", "a", attachment_metadata)])),
        ("conversation_asset_file_names.json", names.into()),
    ];
    files.extend(chatgpt_files.iter().chain(&unrelated_files).map(|name| (*name, file())));
    let (seen, _, mut unknown) = read(&folder("strangers", &files));
    assert_eq!(seen.files.len(), chatgpt_files.len(), "{:?}", seen.file_keys());
    unknown.sort();
    let mut expected = unrelated_files.to_vec();
    expected.sort_unstable();
    assert_eq!(unknown, expected);
}

#[test]
fn files_without_an_id_are_found_by_name() {
    let one = r#","metadata":{"attachments":[{"id":"file-AbCdEfGhIjKlMnOpQrSt","name":"plan.pdf"},{"name":"list.txt"},{"name":"known.csv"},{"name":"gone.csv"}],"aggregate_result":{"messages":[{"message_type":"image","image_url":"file-service://file-Plot0000000000000001"}]}}"#;
    let names = r#"{"file-Known000000000000001.dat":"known.csv"}"#;
    let archive = zip(&[
        ("conversations.json", json_list(&[chatgpt_conversation("1", "a", one)])),
        ("conversation_asset_file_names.json", names.into()),
        ("plan.pdf", b"%PDF".to_vec()),
        ("deep/list.txt", b"x".to_vec()),
        ("file-Known000000000000001.dat", b"x".to_vec()),
        ("file-Plot0000000000000001-plot.png", b"x".to_vec()),
        ("nobody's.txt", b"x".to_vec()),
    ]);
    let (seen, ..) = read(&folder("by-name", &[("export.zip", archive)]));
    let message = seen.records.iter().map(|(_, r)| r).find(|r| r.kind == Kind::Message).unwrap();
    let mut attachment_keys: Vec<_> = message.attachments.iter().map(|a| a.key.value.as_str()).collect();
    attachment_keys.sort_unstable();
    let expected = [
        "file/file-AbCdEfGhIjKlMnOpQrSt",
        "file/file-Known000000000000001",
        "file/file-Plot0000000000000001",
        "file/name/gone.csv",
        "file/name/list.txt",
    ];
    assert_eq!(attachment_keys, expected);
    let file_keys = seen.file_keys();
    for key in expected.iter().filter(|k| **k != "file/name/gone.csv") {
        assert!(file_keys.contains(key), "{key}: {file_keys:?}");
    }
    assert!(file_keys.contains(&"file/nobody's.txt"));
}

#[test]
fn a_gap_in_the_part_numbers_is_a_missing_part() {
    let shard = |id: &str| json_list(&[chatgpt_conversation(id, id, "")]);
    let dir = folder("shards", &[("conversations-000.json", shard("1")), ("conversations-002.json", shard("2"))]);
    assert_eq!(read(&dir).1, ["conversations-001.json"]);

    let part = |shard: &str, id: &str| zip(&[(shard, json_list(&[chatgpt_conversation(id, id, "")]))]);
    let names = |n: &str| format!("Conversations__user-1-chatgpt-0001-part-{n}.zip");
    let (first, third) = (names("0001"), names("0003"));
    let parts =
        [(first.as_str(), part("conversations-000.json", "1")), (third.as_str(), part("conversations-001.json", "2"))];
    assert_eq!(read(&folder("portal", &parts)).1, [names("0002")]);
    // The first and the third part again, but as entries of one archive.
    let archive_entries: Vec<(String, Vec<u8>)> =
        parts.iter().map(|(n, b)| (format!("User Online Activity/{n}"), b.clone())).collect();
    let archive_entries: Vec<(&str, Vec<u8>)> = archive_entries.iter().map(|(n, b)| (n.as_str(), b.clone())).collect();
    assert_eq!(read(&folder("portal-zip", &[("portal.zip", zip(&archive_entries))])).1, [names("0002")]);
}

#[test]
fn claude_memory_files_are_read_alone_and_in_any_form() {
    let files = [
        (r#"{"memory_files":[{"path":"/a.md","content":"Likes tea."}]}"#, vec!["Likes tea."], 0),
        (
            r#"{"memory_files":{"/a.md":"Likes tea.","/b.md":{"content":"Has a dog."},"/c.md":7}}"#,
            vec!["Has a dog.", "Likes tea."],
            1,
        ),
        (
            r#"{"memory_files":"lost","project_memories":3,"conversations_memory":"Is a nurse."}"#,
            vec!["Is a nurse."],
            2,
        ),
        (r#"{"something_new":[1]}"#, vec![], 1),
    ];
    for (index, (json, expected, dropped)) in files.iter().enumerate() {
        let archive = zip(&[(&format!("memories/{ACCOUNT_ID}.json"), (*json).into())]);
        // Some browsers name a second download with a number but without a space.
        let (seen, ..) = read(&folder(&format!("memories-{index}"), &[("memories-000(1).zip", archive)]));
        assert_eq!(seen.texts("claude", Kind::Memory), *expected, "{json}");
        assert_eq!(seen.dropped.len(), *dropped, "{json}: {:?}", seen.dropped);
        assert!(seen.dropped.iter().all(|d| d.kind == Some(Kind::Memory)));
    }
    let export_alone = folder("alone", &[("export.json", files[0].0.into())]);
    assert_eq!(read(&export_alone).0.texts("claude", Kind::Memory), ["Likes tea."]);
}

#[test]
fn a_second_download_without_a_space_is_the_same_part() {
    let manifest = r#"{"version":"1.0","data_files":[{"filename":"conversations-000.zip","category":"conversations","export_url":"https://x"},{"filename":"memories-000.zip","category":"memories","export_url":"https://x"}]}"#;
    let dir = folder(
        "parts",
        &[
            ("manifest-1.json", manifest.into()),
            ("conversations-000(1).zip", zip(&[("conversations.json", claude("hello"))])),
            ("conversations-002 (2).zip", zip(&[("conversations.json", claude("again"))])),
        ],
    );
    let (seen, missing, _) = read(&dir);
    assert_eq!(seen.texts("claude", Kind::Message), ["again", "hello"]);
    assert_eq!(missing, ["memories-000.zip", "conversations-001.zip"]);
}

#[test]
fn search_results_are_read() {
    let text = r#"[{"id":"1","current_node":"n","mapping":{"n":{"parent":null,"message":{"id":"m","author":{"role":"tool","name":"web"},"content":{"content_type":"search_result_groups","groups":[{"type":"search_result_group","domain":"example.org","entries":[{"type":"search_result","url":"https://example.org/slugs","title":"All about slugs","snippet":"They eat hostas.","text":"Copper helps."}]}]}}}}}]"#;
    let (seen, ..) = read(&folder("search", &[("conversations.json", text.into())]));
    let message = seen.texts("chatgpt", Kind::Message);
    assert_eq!(message, ["https://example.org/slugs\nAll about slugs\nThey eat hostas.\nCopper helps."]);
}

#[test]
fn chats_among_notes_are_not_their_attachments() {
    let mut files: Vec<(String, Vec<u8>)> = (1..10).map(|n| (format!("Notes/{n}.md"), note(n))).collect();
    let chat = |text: &str| format!(r#"{{"messages":[{{"role":"user","content":"{text}"}}]}}"#).into_bytes();
    files.push(("backup/chat.json".into(), chat("In a folder")));
    files.push((".continue/sessions/chat.json".into(), chat("In a hidden folder")));
    files.push(("backup/settings.json".into(), br#"{"theme":"dark"}"#.to_vec()));
    let read_notes = |files: &[(String, Vec<u8>)]| {
        let named_files: Vec<(&str, Vec<u8>)> =
            files.iter().map(|(name, bytes)| (name.as_str(), bytes.clone())).collect();
        read(&folder("notes", &named_files)).0
    };
    let seen = read_notes(&files);
    assert_eq!(seen.texts("generic_chat", Kind::Message), ["In a folder", "In a hidden folder"]);
    assert_eq!(seen.texts("obsidian", Kind::Resource).len(), 9);
    assert_eq!(seen.files.iter().map(|file| file.name.as_str()).collect::<Vec<_>>(), ["settings.json"]);
    // An Obsidian vault claims all files in it, except those in the hidden folders of assistants.
    files.push((".obsidian/app.json".into(), b"{}".to_vec()));
    let seen = read_notes(&files);
    assert_eq!(seen.texts("generic_chat", Kind::Message), ["In a hidden folder"]);
    assert_eq!(seen.files.len(), 2);
}

#[test]
fn a_note_and_its_picture_in_two_archives_of_a_takeout_belong_together() {
    let note = r#"{"attachments":[{"filePath":"a.jpeg","mimetype":"image/jpeg"}],"isTrashed":false,"textContent":"A bed",
        "createdTimestampUsec":1772359200000000,"userEditedTimestampUsec":1772359200000000}"#;
    let archives = [
        ("takeout-1-001.zip", zip(&[("Takeout/Notizen/A bed.json", note.into())])),
        ("takeout-1-002.zip", zip(&[("Takeout/Notizen/a.jpg", b"x".to_vec())])),
        ("takeout-2-001.zip", zip(&[("Takeout/Notizen/a.jpg", b"x".to_vec())])),
    ];
    let (seen, ..) = read(&folder("keep-parts", &archives));
    assert_eq!(seen.texts("google_keep", Kind::Resource), ["A bed"]);
    assert_eq!(seen.files.len(), 1);
    assert_eq!(seen.records[0].1.attachments[0].key, seen.files[0].key);
}

fn note(n: usize) -> Vec<u8> {
    format!("---\ncreated: 2026-05-0{n}\n---\nBed {n} is beside [[1]].\n").into_bytes()
}

/// If the document counted as an input, the archive would be validated and imported as this document alone.
#[test]
fn a_document_of_another_format_in_an_agent_archive_is_a_file_of_the_agent() {
    let manifest = r#"{"alf_version":"1.0.0","created_at":"2026-01-01T00:00:00Z","agent":{"id":"0197f2a0-1111-7000-8000-00000000000a","name":"Nova","source_runtime":"openclaw"},"layers":{}}"#;
    let document = r#"{"mif_version":"1.0","export":{"id":"exp_a","created_at":"2026-01-01T00:00:00Z","user_id":"u"},"memories":[{"id":"mem_aa","content":"hello","type":"Context","created_at":"2026-01-01T00:00:00Z"}]}"#;
    for place in ["export.mif.json", "raw/openclaw/export.mif.json", "artifacts/export.mif.json"] {
        for manifest in [Some(manifest), Some(&manifest[..90]), None] {
            let mut files: Vec<(&str, Vec<u8>)> = vec![
                (place, document.into()),
                ("identity.json", b"{}".to_vec()),
                ("memory/partitions/2026-Q1.jsonl", b"{}\n".to_vec()),
            ];
            files.extend(manifest.map(|text| ("manifest.json", text.as_bytes().to_vec())));
            let dir = folder("agent", &[("nova.alf", zip(&files))]);
            let limits = Limits::default();
            let catalog = Catalog::open(std::slice::from_ref(&dir.0), &limits, None).unwrap();
            let found = detect(&catalog, &limits, None).unwrap();
            let formats: Vec<_> = found.sources.iter().map(|source| source.format).collect();
            assert_eq!(formats, ["alf"], "{place}");
            assert!(found.ties.is_empty() && found.unknown.is_empty(), "{place}: {:?}", found.ties);
        }
    }
}
