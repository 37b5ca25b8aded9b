//! Tests that long jobs end soon after they are cancelled.
use mementory_api::{
    Job,
    files::{Check, validate},
};
use std::path::Path;

#[test]
fn validating_a_file_ends_when_it_is_cancelled() {
    let file =
        Path::new(&std::env::var_os("CARGO_MANIFEST_DIR").unwrap()).join("../../../fixtures/mif/v1/input.mif.json");
    assert!(validate(&file, &Check::default(), &Job::silent()).unwrap().ok);
    let job = Job::silent();
    job.cancel();
    assert_eq!(validate(&file, &Check::default(), &job).unwrap_err().code, "cancelled");
}
