//! Runs the fixture cases and the checks of writers. Inputs are detected among the formats in `ALL`.
use crate::testing::ALL;
use mementory_format::{Format, WriteReport, testkit::MemorySource};
use mementory_formats_shared::testkit::{self, Checks};
use std::path::Path;

pub use mementory_formats_shared::testkit::{keys, many};

/// Checks the fixture cases of a format, and that the input contains each verbatim.
pub fn check_cases(format: &'static dyn Format) -> usize {
    testkit::check_cases(&ALL, format, Checks { verbatims: true, ..Checks::default() })
}

/// Checks the fixture cases of a format whose detection does not depend on the name of the input.
pub fn check_cases_under_any_name(format: &'static dyn Format) -> usize {
    testkit::check_cases(&ALL, format, Checks { any_name: true, every_verbatim: true, ..Checks::default() })
}

pub fn read_renamed(file: &Path, name: &str, format: &dyn Format) -> MemorySource {
    testkit::read_renamed(&ALL, file, name, format)
}

pub fn read_sample(name: &str, format: &'static dyn Format) -> Option<MemorySource> {
    testkit::read_sample(&ALL, name, format)
}

pub fn fixture(format: &'static dyn Format, case: &str) -> MemorySource {
    testkit::fixture(&ALL, format, case)
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
