//! Tests that the file generated from the registry is up to date.
use mementory_format::testkit::repo;

#[test]
fn the_committed_list_of_formats_is_up_to_date() {
    let committed = std::fs::read_to_string(repo().join("ui/src/lib/ipc/formats.ts")).unwrap_or_default();
    let expected = mementory_formats::typescript();
    assert!(committed == expected, "formats.ts is stale: run `npm run bindings`. Expected:\n{expected}");
}
