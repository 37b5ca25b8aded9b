//! Runs the fixture cases and checks the output of writers. In these tests, detection tries the formats in `ALL`.
use crate::testing::ALL;
use mementory_format::{Format, WriteReport, testkit::MemorySource};
use mementory_formats_shared::testkit::{self, Checks};
use std::path::Path;

pub use mementory_formats_shared::testkit::{keys, many};

pub fn check_cases(format: &'static dyn Format) -> usize {
    testkit::check_cases(&ALL, format, Checks::default())
}

/// Checks the cases of a format whose detection does not depend on file names.
pub fn check_cases_under_any_name(format: &'static dyn Format) -> usize {
    testkit::check_cases(&ALL, format, Checks { any_name: true, every_verbatim: true, ..Checks::default() })
}

pub fn check_texts_are_in_one_verbatim(format: &'static dyn Format, cases: &[&str]) {
    testkit::check_texts_are_in_one_verbatim(&ALL, format, cases);
}

pub fn claiming(path: &Path) -> Vec<&'static str> {
    testkit::claiming(&ALL, path)
}

pub fn read_sample(name: &str, format: &'static dyn Format) -> Option<MemorySource> {
    testkit::read_sample(&ALL, name, format)
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
