//! Tests that a round trip preserves records as completely as the format declares, and that the loss report lists every
//! loss.
use crate::{
    cases::{Case, readable_cases},
    steps::{assert_covered, open, read, read_case, validate, without_origin, write_options},
};
use mementory_format::testkit::{MemorySource, Scratch, vault_id};
use mementory_formats::{Format, FormatError, WriteReport};
use mementory_model::{Limits, LossKind, Record};
use std::{collections::BTreeSet, path::PathBuf};

/// The result of writing a source.
struct Written {
    path: PathBuf,
    report: WriteReport,
    _scratch: Scratch,
}

/// Writes a source. None if the format supports none of the records, such as conversations in a format for memories.
fn write(source: &mut MemorySource, format: &dyn Format, base: Option<PathBuf>, name: &str) -> Option<Written> {
    let scratch = Scratch::new("written");
    let path = scratch.at(&format!("written{}", format.capabilities().ending));
    let report = match format.write(source, &path, &write_options(format, base)) {
        Err(FormatError::Invalid { code: "nothing_to_write", .. }) => return None,
        report => report.unwrap_or_else(|error| panic!("{name} as {}: {error:?}", format.id())),
    };
    Some(Written { path, report, _scratch: scratch })
}

fn writable_cases() -> Vec<Case> {
    readable_cases(|format| format.capabilities().read && format.capabilities().write)
}

/// Vault ids of the records named in a loss report.
fn ids_with_losses(report: &WriteReport) -> BTreeSet<&str> {
    report.losses.items.iter().map(|loss| loss.record.as_str()).collect()
}

fn id(record: &Record) -> String {
    vault_id(record.kind, &record.key)
}

/// True if the input is valid and every reference in it resolves. Only then can a round trip preserve all records.
fn is_valid_without_dangling_references(case: &Case) -> bool {
    if !case.format.capabilities().validate {
        return true;
    }
    let result = validate(&case.path, case.format).unwrap().unwrap();
    result.errors.is_empty() && result.warnings.iter().all(|warning| warning.code != "dangling_reference")
}

#[test]
fn a_format_reads_what_it_wrote() {
    let (cases, mut ran) = (writable_cases(), Vec::new());
    for case in &cases {
        let written = write(&mut read_case(case), case.format, case.base.clone(), &case.name);
        let Some(written) = written else { continue };
        ran.push(case);
        // A pasted text has no marker of its format, so detection needs the id of the format.
        let only_format = Some(case.format.id()).filter(|_| case.format.capabilities().text);
        let (_, sources) = open(&written.path, &Limits::default(), only_format).unwrap();
        let detected: Vec<&str> = sources.iter().map(|source| source.format).collect();
        assert_eq!(detected, [case.format.id()], "{}", case.name);
        let reread = read(&written.path, &Limits::default(), case.format).unwrap();
        let reported: u64 = written.report.by_kind.values().sum();
        assert!(reread.records.len() as u64 >= reported.min(1), "{}: {reported} written, none read", case.name);
    }
    assert_covered("reads what it wrote", ran, |can| can.read && can.write);
}

#[test]
fn records_are_preserved_as_completely_as_the_format_declares() {
    let cases = writable_cases();
    for case in &cases {
        if !is_valid_without_dangling_references(case) {
            continue;
        }
        let mut source = read_case(case);
        let Some(written) = write(&mut source, case.format, case.base.clone(), &case.name) else { continue };
        let reread = read(&written.path, &Limits::default(), case.format).unwrap();
        let (losses, byte_exact) = (ids_with_losses(&written.report), case.format.capabilities().byte_exact);
        let mut missing_count = 0;
        // Records in an older version of the format are converted to the current version, so they are not compared.
        let is_current = |record: &&Record| record.origin.version.as_ref().is_none_or(|v| *v == written.report.version);
        for record in source.records.iter().filter(is_current).filter(|record| !losses.contains(id(record).as_str())) {
            let is_same = |other: &&Record| other.kind == record.kind && other.text == record.text;
            let same_records: Vec<&Record> = reread.records.iter().filter(is_same).collect();
            if same_records.is_empty() {
                missing_count += 1;
                continue;
            }
            if byte_exact {
                let has_same_bytes = same_records.iter().any(|other| other.verbatim == record.verbatim);
                assert!(has_same_bytes, "{}: {:?} is not the same bytes", case.name, record.key);
            } else {
                let is_equal = same_records.iter().any(|other| without_origin(other) == without_origin(record));
                assert!(is_equal, "{}: {:?} differs", case.name, record.key);
            }
        }
        let withheld: u64 = written.report.withheld.values().sum();
        assert!(
            missing_count <= withheld,
            "{}: {missing_count} records do not come back, {withheld} are withheld",
            case.name
        );
    }
    assert_covered("round trip", &cases, |can| can.read && can.write);
}

#[test]
fn writing_twice_gives_the_same_bytes_unless_they_are_encrypted() {
    let cases = writable_cases();
    for case in &cases {
        let mut source = read_case(case);
        let bytes = |written: Option<Written>| written.map(|written| crate::cases::files(&written.path));
        let first = bytes(write(&mut source, case.format, case.base.clone(), &case.name));
        let second = bytes(write(&mut source, case.format, case.base.clone(), &case.name));
        // Encrypted files must differ, because keys and nonces must never be reused.
        let is_expected = (first == second) != case.format.capabilities().needs_passphrase || first.is_none();
        assert!(is_expected, "{}", case.name);
    }
    assert_covered("deterministic", &cases, |can| can.read && can.write);
}

#[test]
fn the_output_for_a_valid_input_is_valid() {
    let cases: Vec<Case> = readable_cases(|format| {
        let can = format.capabilities();
        can.read && can.write && can.validate
    });
    let is_valid = |case: &&Case| validate(&case.path, case.format).unwrap().unwrap().errors.is_empty();
    let cases: Vec<&Case> = cases.iter().filter(is_valid).collect();
    for case in &cases {
        let written = write(&mut read_case(case), case.format, case.base.clone(), &case.name);
        let Some(written) = written else { continue };
        let result = validate(&written.path, case.format).unwrap().expect("detected");
        assert_eq!(result.errors, [], "{}", case.name);
    }
    assert_covered("validates", cases, |can| can.read && can.write && can.validate);
}

#[test]
fn the_plan_reports_what_is_written() {
    let cases = writable_cases();
    for case in &cases {
        let mut source = read_case(case);
        let plan = case.format.plan(&mut source, &write_options(case.format, case.base.clone())).unwrap();
        let Some(Written { report, .. }) = write(&mut source, case.format, case.base.clone(), &case.name) else {
            continue;
        };
        assert_eq!(plan.by_kind, report.by_kind, "{}", case.name);
        assert_eq!(plan.losses, report.losses, "{}", case.name);
        assert_eq!(plan.withheld, report.withheld, "{}", case.name);
    }
    assert_covered("plan", &cases, |can| can.read && can.write);
}

/// Writes the inputs of every format in every format that can be written.
#[test]
fn every_record_that_is_left_out_is_in_the_loss_report() {
    let (sources, targets) = (readable_cases(|format| format.capabilities().read), writable_cases());
    let mut left_out_count = 0;
    let mut written_in: BTreeSet<&str> = BTreeSet::new();
    // A format whose exports need a base accepts only records that were imported from that format, so it is skipped.
    let mut tested_formats: BTreeSet<&str> = BTreeSet::new();
    let is_target = |case: &Case| !case.format.capabilities().needs_base && tested_formats.insert(case.format.id());
    let targets: Vec<Case> = targets.into_iter().filter(is_target).collect();
    for case in &sources {
        let mut source = read_case(case);
        // A record that repeats another record may be merged with it, so it need not be written.
        let distinct_count = source.records.iter().filter(|record| !record.repeats).count() as u64;
        for target in &targets {
            let scratch = Scratch::new("losses");
            let out = scratch.at(&format!("out{}", target.format.capabilities().ending));
            // A format may refuse records that it cannot write. The error is visible, so nothing is lost unnoticed.
            let Ok(report) = target.format.write(&mut source, &out, &write_options(target.format, None)) else {
                continue;
            };
            written_in.insert(target.format.id());
            let written_count: u64 = report.by_kind.values().sum();
            let missing_count = distinct_count.saturating_sub(written_count);
            let listed_count: u64 =
                report.losses.counts.iter().filter(|((_, kind), _)| *kind == LossKind::LeftOut).map(|(_, n)| n).sum();
            let withheld_count: u64 = report.withheld.values().sum();
            left_out_count += missing_count;
            let name = &case.name;
            assert!(
                missing_count == 0 || listed_count + withheld_count > 0,
                "{name} as {}: {missing_count} records missing, {listed_count} listed, {withheld_count} withheld",
                target.format.id()
            );
        }
    }
    assert!(left_out_count > 0, "no record was left out: the property was not tested");
    let targets = targets.iter().filter(|case| written_in.contains(case.format.id()));
    assert_covered("losses", targets, |can| can.read && can.write && !can.needs_base);
}
