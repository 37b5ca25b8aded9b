#![allow(clippy::unwrap_used)]
use super::CsvTable;
use crate::cases::{check_nothing_to_write, check_stripped, conversations, fixture, foreign_source, write_and_read};
use mementory_formats_shared::testkit::check_readable;
use mementory_formats_vendor::{chatgpt::ChatGpt, claude::Claude};
use mementory_model::{Kind, Record};

#[test]
fn every_fixture_is_read_as_its_case_expects() {
    crate::cases::check_cases_for_reading(&CsvTable);
}

#[test]
fn records_are_read_back_except_for_the_listed_losses() {
    for mut source in [foreign_source(), fixture(&ChatGpt, "memories"), fixture(&Claude, "export")] {
        let written = write_and_read(&mut source, &CsvTable);
        check_readable(&source, &written);
    }
}

#[test]
fn no_cell_begins_like_a_formula() {
    let written = write_and_read(&mut foreign_source(), &CsvTable);
    let text = std::fs::read_to_string(&written.path).unwrap();
    let mut bytes = text.as_bytes();
    let mut rows = mementory_formats_shared::tables::CsvRows::new(&mut bytes, &Default::default(), "x").unwrap();
    let mut count = 0;
    while let Some(row) = rows.next("x").unwrap() {
        assert!(row.cells.iter().all(|cell| !cell.starts_with(['=', '+', '-', '@', '\t', '\r'])), "{:?}", row.cells);
        count += 1;
    }
    assert!(count > 30 && text.contains("\r\n"));
}

#[test]
fn rows_and_columns_that_somebody_added_are_read() {
    let scratch = mementory_format::testkit::Scratch::new("csv");
    let path = scratch
        .put("mine.csv", "mementory_id;kind;title;text;my column\r\n;memory;;Likes figs;soft\r\n;;;Likes rye;\r\n");
    let imported = crate::testing::read(&path, &CsvTable);
    let texts: Vec<&str> = imported.records.iter().map(|r| r.text.as_str()).collect();
    assert_eq!(texts, ["Likes figs", "Likes rye"]);
    assert_eq!(imported.records[0].fields["my column"], "soft");
    assert!(imported.records.iter().all(|r: &Record| r.kind == Kind::Memory));
}

#[test]
fn a_large_vault_is_written_whole() {
    assert_eq!(write_and_read(&mut conversations(3400), &CsvTable).reread.records.len(), 10_200);
}

#[test]
fn an_export_without_records_is_refused() {
    check_nothing_to_write(&CsvTable);
}

#[test]
fn nothing_names_the_source_when_identifiers_are_left_out() {
    check_stripped(&CsvTable);
}
