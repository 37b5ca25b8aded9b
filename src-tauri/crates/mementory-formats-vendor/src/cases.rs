//! Runs the fixture cases and checks the output of writers. In these tests, detection tries the formats in `ALL`.
use crate::testing::ALL;
use mementory_format::{Detected, Format, testkit::MemorySource};
use mementory_formats_shared::testkit::{self, Checks};
use mementory_model::Limits;
use std::path::Path;

pub use mementory_formats_shared::testkit::{
    Written, check_nothing_to_write, conversations, count, foreign_source, id_of, keys, roles,
};

pub fn check_cases(format: &'static dyn Format) -> usize {
    testkit::check_cases(&ALL, format, Checks::default())
}

/// Checks the cases of a format whose detection does not depend on file names.
pub fn check_cases_under_any_name(format: &'static dyn Format) -> usize {
    testkit::check_cases(&ALL, format, Checks { any_name: true, every_verbatim: true, ..Checks::default() })
}

pub fn check_case(case: &Path, format: &'static dyn Format) {
    testkit::check_case(&ALL, case, format, Checks::default());
}

pub fn check_sample(name: &str, format: &'static dyn Format) -> Option<MemorySource> {
    testkit::check_sample(&ALL, name, format)
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

pub fn formats_claiming(path: &Path) -> Vec<&'static str> {
    testkit::formats_claiming(&ALL, path)
}

pub fn check_texts_are_in_one_verbatim(format: &'static dyn Format, cases: &[&str]) {
    testkit::check_texts_are_in_one_verbatim(&ALL, format, cases);
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
