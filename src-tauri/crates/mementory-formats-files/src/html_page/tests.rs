#![allow(clippy::unwrap_used)]
use super::HtmlPage;
use crate::cases::{check_nothing_to_write, check_stripped, conversations, fixture, foreign_source, write_and_read};
use mementory_formats_shared::testkit::check_readable;
use mementory_formats_vendor::{chatgpt::ChatGpt, claude::Claude};

#[test]
fn every_fixture_is_read_as_its_case_expects() {
    crate::cases::check_cases_for_reading(&HtmlPage);
}

#[test]
fn records_are_read_back_except_for_the_listed_losses() {
    for mut source in [foreign_source(), fixture(&ChatGpt, "memories"), fixture(&Claude, "export")] {
        let written = write_and_read(&mut source, &HtmlPage);
        check_readable(&source, &written);
    }
}

#[test]
fn the_page_has_no_script_no_request_and_no_tag_from_a_text() {
    let written = write_and_read(&mut foreign_source(), &HtmlPage);
    let page = std::fs::read_to_string(&written.path).unwrap();
    let mut tags: std::collections::BTreeSet<&str> = std::collections::BTreeSet::new();
    let mut rest = page.as_str();
    while let Some((_, tag)) = rest.split_once('<') {
        tags.insert(tag.split([' ', '>', '\n']).next().unwrap().trim_start_matches('/'));
        rest = tag;
    }
    let known = [
        "!doctype", "a", "article", "body", "div", "h1", "h2", "h3", "head", "header", "html", "li", "main", "meta",
        "nav", "p", "section", "small", "style", "title", "ul",
    ];
    assert!(tags.iter().all(|tag| known.contains(tag)), "{tags:?}");
    assert!(!page.contains("src=") && !page.contains("url(") && !page.contains("<link") && !page.contains("http:"));
    assert!(page.matches(" href=\"").count() == page.matches(" href=\"#").count());
    assert_eq!(page.matches("<section").count(), page.matches("</section>").count());
    assert_eq!(page.matches("\n<article ").count(), page.matches("\n</article>").count());
}

#[test]
fn a_large_vault_is_written_whole() {
    assert_eq!(write_and_read(&mut conversations(3400), &HtmlPage).reread.records.len(), 10_200);
}

#[test]
fn an_export_without_records_is_refused() {
    check_nothing_to_write(&HtmlPage);
}

#[test]
fn nothing_names_the_source_when_identifiers_are_left_out() {
    check_stripped(&HtmlPage);
}
