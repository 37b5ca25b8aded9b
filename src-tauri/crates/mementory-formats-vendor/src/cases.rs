//! Runs the fixture cases and the checks of writers. Detection tries the formats in `ALL`.
use crate::testing::ALL;
use mementory_format::{Detected, Format, WriteReport, testkit::MemorySource};
use mementory_formats_shared::testkit::{self, Checks};
use mementory_model::Limits;
use std::path::Path;

pub use mementory_formats_shared::testkit::{
    Written, check_nothing_to_write, conversations, count, foreign_source, id_of, keys, many, roles,
};

pub fn check_cases(format: &'static dyn Format) -> usize {
    testkit::check_cases(&ALL, format, Checks::default())
}

/// Checks the cases of a format that is detected regardless of the name of its input.
pub fn check_cases_under_any_name(format: &'static dyn Format) -> usize {
    testkit::check_cases(&ALL, format, Checks { any_name: true, every_verbatim: true, ..Checks::default() })
}

pub fn check_case(case: &Path, format: &'static dyn Format) {
    testkit::check_case(&ALL, case, format, Checks::default());
}

pub fn check_sample(name: &str, format: &'static dyn Format) -> Option<MemorySource> {
    testkit::check_sample(&ALL, name, format)
}

pub fn read_sample(name: &str, format: &'static dyn Format) -> Option<MemorySource> {
    testkit::read_sample(&ALL, name, format)
}

pub fn import(path: &Path, format: &dyn Format) -> (Detected, MemorySource) {
    import_with(path, format, Limits::default())
}

pub fn import_with(path: &Path, format: &dyn Format, limits: Limits) -> (Detected, MemorySource) {
    testkit::import_with(&ALL, path, format, limits)
}

pub fn claiming(path: &Path) -> Vec<&'static str> {
    testkit::claiming(&ALL, path)
}

pub fn claimed_by(path: &Path) -> Vec<&'static str> {
    testkit::claimed_by(&ALL, path)
}

/// Checks the cases of a format that is made for people to read. Its records have no verbatim text.
pub fn check_cases_for_reading(format: &'static dyn Format) -> usize {
    testkit::check_cases(&ALL, format, Checks { no_verbatim: true, ..Checks::default() })
}

/// Checks that the text of each message is in no other record's verbatim, so that erasing the message erases the text.
pub fn check_texts_are_in_one_verbatim(format: &'static dyn Format, cases: &[&str]) {
    for case in cases {
        let found = fixture(format, case);
        for message in found.records.iter().filter(|record| record.message.is_some() && !record.text.is_empty()) {
            let as_json = serde_json::Value::from(message.text.as_str()).to_string();
            for other in found.records.iter().filter(|other| other.key != message.key) {
                let verbatim = other.verbatim.as_ref().map_or("", |verbatim| verbatim.text.as_str());
                let is_inside = verbatim.contains(as_json.trim_matches('"')) || verbatim.contains(&message.text);
                assert!(!is_inside, "{case}: {:?} is in the verbatim of {:?}: {verbatim}", message.text, other.key);
            }
        }
    }
}

pub fn write_and_read(source: &mut MemorySource, format: &'static dyn Format) -> Written {
    testkit::write_and_read(&ALL, source, format)
}

pub fn fixture(format: &'static dyn Format, case: &str) -> MemorySource {
    testkit::fixture(&ALL, format, case)
}

pub fn check_stripped(format: &'static dyn Format) {
    testkit::check_stripped(&ALL, format);
}

pub fn check_fixtures(format: &'static dyn Format) {
    testkit::check_fixtures(&ALL, format);
}

pub fn check_hostile(format: &'static dyn Format) -> (WriteReport, MemorySource) {
    testkit::check_hostile(&ALL, format)
}

pub fn round_trip(format: &'static dyn Format, source: &mut MemorySource) -> (WriteReport, MemorySource) {
    testkit::round_trip(&ALL, format, source)
}
