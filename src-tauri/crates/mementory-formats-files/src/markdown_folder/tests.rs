#![allow(clippy::unwrap_used)]
use super::MarkdownFolder;
use crate::cases::{check_nothing_to_write, check_stripped, conversations, fixture, foreign_source, write_and_read};
use mementory_format::testkit::tree;
use mementory_formats_shared::testkit::check_readable;
use mementory_formats_vendor::{chatgpt::ChatGpt, claude::Claude};

#[test]
fn every_fixture_is_read_as_its_case_expects() {
    crate::cases::check_cases_for_reading(&MarkdownFolder);
}

#[test]
fn records_are_read_back_except_for_the_listed_losses() {
    for mut source in [foreign_source(), fixture(&ChatGpt, "memories"), fixture(&Claude, "export")] {
        let written = write_and_read(&mut source, &MarkdownFolder);
        check_readable(&source, &written);
        let key = |(file, bytes): &(mementory_format::AttachmentFile, Vec<u8>)| (file.key.value.clone(), bytes.clone());
        let keys: Vec<_> = written.reread.files.iter().map(key).collect();
        let stored: Vec<_> = source.files.iter().map(key).collect();
        assert_eq!(keys, stored);
    }
}

#[test]
fn texts_stay_in_their_quotes_and_files_in_the_folder() {
    let written = write_and_read(&mut foreign_source(), &MarkdownFolder);
    let names: Vec<String> = tree(&written.path).into_keys().collect();
    assert!(names.contains(&"index.md".to_owned()) && names.contains(&"memories.md".to_owned()), "{names:?}");
    for (name, bytes) in tree(&written.path).into_iter().filter(|(name, _)| name.ends_with(".md")) {
        let text = String::from_utf8(bytes).unwrap();
        assert!(text.starts_with(super::FORMAT_MARK) && !text.contains('\r'), "{name}");
        for line in text.lines() {
            let is_ours = ["<!-- mementory ", "#", ">", "- ["].iter().any(|begin| line.starts_with(begin));
            let is_plain = !line.contains(['`', '<']) || line.contains("\\`") || line.contains("\\<");
            assert!(is_ours || line.is_empty() || is_plain, "{name}: {line}");
            let is_comment_safe = !line.starts_with("<!--") || line.matches("--").count() == 2;
            assert!(is_comment_safe, "{name}: {line}");
        }
    }
    let is_safe = |c: char| c.is_alphanumeric() || matches!(c, '-' | '.' | '/');
    assert!(
        names.iter().all(|name| name.len() < 200 && name.chars().all(is_safe) && !name.contains("..")),
        "{names:?}"
    );
}

#[test]
fn a_text_edited_in_the_file_is_imported() {
    let written = write_and_read(&mut conversations(1), &MarkdownFolder);
    let path = written.path.join("conversations/00001-talk-0.md");
    let text = std::fs::read_to_string(&path).unwrap().replace("> user 0", "> user 0, and more\r\n>\r\n> lines");
    std::fs::write(&path, text).unwrap();
    let reread = crate::testing::read(&written.path, &MarkdownFolder);
    assert!(reread.records.iter().any(|r| r.text == "user 0, and more\n\nlines"));
    assert!(written.scratch.0.exists());
}

#[test]
fn a_large_vault_is_written_whole() {
    assert_eq!(write_and_read(&mut conversations(3400), &MarkdownFolder).reread.records.len(), 10_200);
}

#[test]
fn an_export_without_records_is_refused() {
    check_nothing_to_write(&MarkdownFolder);
}

#[test]
fn nothing_names_the_source_when_identifiers_are_left_out() {
    check_stripped(&MarkdownFolder);
}
