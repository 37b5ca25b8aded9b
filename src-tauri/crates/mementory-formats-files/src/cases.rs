//! Runs the fixture cases and the checks of writers. Detection tries the formats in `ALL`.
use crate::testing::ALL;
use mementory_format::{Detected, Format, FormatError, testkit::MemorySource};
use mementory_formats_shared::testkit::{self, Checks};
use mementory_model::Limits;
use std::path::Path;

pub use mementory_formats_shared::testkit::{Written, check_nothing_to_write, conversations, foreign_source};

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

pub fn import_with(path: &Path, format: &dyn Format, limits: Limits) -> (Detected, MemorySource) {
    testkit::import_with(&ALL, path, format, limits)
}

pub fn try_import_with(
    path: &Path,
    format: &dyn Format,
    limits: Limits,
) -> Result<(Detected, MemorySource), FormatError> {
    testkit::try_import_with(&ALL, path, format, limits)
}

pub fn check_texts_are_in_one_verbatim(format: &'static dyn Format, cases: &[&str]) {
    testkit::check_texts_are_in_one_verbatim(&ALL, format, cases);
}

pub fn claiming(path: &Path) -> Vec<&'static str> {
    testkit::claiming(&ALL, path)
}

/// Checks the cases of a format that is made for people to read. Its records have no verbatim text.
pub fn check_cases_for_reading(format: &'static dyn Format) -> usize {
    testkit::check_cases(&ALL, format, Checks { no_verbatim: true, ..Checks::default() })
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
