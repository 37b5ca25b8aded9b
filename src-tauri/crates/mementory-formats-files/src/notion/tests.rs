//! Tests with the cases in `fixtures/notion`, and with pages that must not be mistaken for those of Notion.
#![allow(clippy::unwrap_used)]
use super::Notion;
use crate::cases::{check_cases_under_any_name, claiming};
use crate::testing::read;
use mementory_format::testkit::{Scratch, put};
use mementory_format::{Catalog, Format};
use mementory_model::Limits;

const ID: &str = "1f2e3d4c-5b6a-7988-1f2e-3d4c5b6a7901";

fn page(attributes: &str) -> String {
    format!("<html><body><article {attributes}><h1 class=\"page-title\">Kiln</h1></article></body></html>")
}

#[test]
fn cases_are_read_as_expected() {
    check_cases_under_any_name(&Notion);
}

#[test]
fn pages_of_other_programs_are_not_claimed() {
    let scratch = Scratch::new("other-pages");
    for (name, attributes) in [
        ("no-id", "class=\"page sans\"".to_owned()),
        ("short-id", "id=\"1f2e3d4c\" class=\"page sans\"".to_owned()),
        ("no-typeface", format!("id=\"{ID}\" class=\"page\"")),
        ("post", format!("id=\"{ID}\" class=\"post sans\"")),
    ] {
        let path = scratch.put(&format!("{name}.html"), page(&attributes));
        assert!(!claiming(&path).contains(&"notion"), "{name}");
    }
}

#[test]
fn a_page_is_recognised_under_every_name_and_behind_long_styles() {
    let scratch = Scratch::new("names");
    let page = page(&format!("id=\"{ID}\" class=\"page mono\""));
    let page = page.replace("<body>", &format!("<style>{}</style><body>", "p { color: red }\n".repeat(2000)));
    for name in ["Kiln.HTM", "page", "export.html.txt"] {
        assert_eq!(claiming(&scratch.put(name, &page)), ["notion"], "{name}");
    }
}

#[test]
fn only_files_in_the_folders_of_pages_are_claimed_beside_them() {
    let scratch = Scratch::new("beside");
    let kiln = page(&format!("id=\"{ID}\" class=\"page sans\""));
    let name = "Kiln 1f2e3d4c5b6a79881f2e3d4c5b6a7901.html";
    put(&scratch.0, &[(name, kiln.as_bytes()), ("Kiln/pot.png", b"a"), ("other.png", b"b"), ("Kiln 2/x.png", b"c")]);
    let imported = read(&scratch.0, &Notion);
    let names: Vec<&str> = imported.files.iter().map(|(file, _)| file.name.as_str()).collect();
    assert_eq!(names, ["pot.png"]);
}

#[test]
fn files_have_the_same_keys_in_another_export_of_their_page() {
    let scratch = Scratch::new("exports");
    let kiln = page(&format!("id=\"{ID}\" class=\"page sans\""));
    let kiln = kiln.replace("</article>", "<img src=\"Kiln/pot.png\"/></article>");
    let keys = |export: &str| {
        let name = format!("{export}/Kiln 1f2e3d4c5b6a79881f2e3d4c5b6a7901.html");
        scratch.put(&name, &kiln);
        scratch.put(&format!("{export}/Kiln/pot.png"), "a");
        let imported = read(&scratch.at("all"), &Notion);
        std::fs::remove_dir_all(scratch.at("all")).unwrap();
        let of_pages = imported.records.iter().flat_map(|record| &record.attachments).map(|file| file.key.clone());
        let keys: Vec<_> = of_pages.chain(imported.files.iter().map(|(file, _)| file.key.clone())).collect();
        assert_eq!(keys.len(), 2, "{export}");
        keys
    };
    let first = keys("all/Export-0a1b2c3d");
    assert_eq!(first[0], first[1]);
    assert_eq!(first, keys("all/Export-9f8e7d6c/Work & play"));
}

#[test]
fn tables_beside_pages_and_notes_are_left_to_them() {
    let table = "Pots 1f2e3d4c5b6a79881f2e3d4c5b6a7903.csv";
    let page = page(&format!("id=\"{ID}\" class=\"page sans\""));
    for (name, text, expected) in [("Kiln.html", page.as_str(), 1), ("Kiln.md", "Hot.", 0), ("kiln.png", "a", 2)] {
        let scratch = Scratch::new("tables");
        put(&scratch.0, &[(table, "Name\nBowl\nVase\n".as_bytes()), (name, text.as_bytes())]);
        let catalog = Catalog::open(std::slice::from_ref(&scratch.0), &Limits::default(), None).unwrap();
        let claims = Notion.detect(&catalog, &Limits::default()).unwrap();
        let records = if claims.is_empty() { 0 } else { read(&scratch.0, &Notion).records.len() };
        assert_eq!(records, expected, "{name}");
    }
}

#[test]
fn rows_and_cells_without_an_end_take_no_long_time() {
    let scratch = Scratch::new("hostile");
    let rows = "<tr class=\"property-row\"><th>a<td>".repeat(50_000);
    let page = page(&format!("id=\"{ID}\" class=\"page sans\"><table class=\"properties\">{rows}</table"));
    assert_eq!(read(&scratch.put("page.html", page), &Notion).records.len(), 1);
}
