//! The writer of an export may stop before all records were read.
#![allow(clippy::unwrap_used)]
use crate::{
    export::{
        ExportRun, Scope,
        export_reader::{BATCH_RECORDS, MAX_WAITING_BATCHES},
        source::VaultSource,
    },
    import::ImportOptions,
    vault::Vault,
};
use mementory_formats::{FormatError, RecordSource};
use mementory_model::{Kind, Limits, Record, RecordKey, Timestamp};
use std::sync::atomic::AtomicBool;

#[test]
fn a_writer_may_stop_before_all_records_were_read() {
    let folder = tempfile::tempdir().unwrap();
    let now = Timestamp::from_micros(1).unwrap();
    let cancel = AtomicBool::new(false);
    let kdf = mementory_crypto::KdfChoice::Floor;
    let (vault, _) = Vault::create(&folder.path().join("t.mementory"), "correct horse battery", kdf, now).unwrap();
    let record_count = BATCH_RECORDS * (MAX_WAITING_BATCHES + 3);
    let record = |n: usize| Record::new(Kind::Memory, RecordKey::new("test", n.to_string()), format!("words {n}"));
    let read =
        move |sink: &mut dyn mementory_formats::Sink| (0..record_count).try_for_each(|n| sink.unit(record(n).into()));
    let options = ImportOptions {
        dry_run: false,
        paths: &[],
        include_blocked: false,
        merge: None,
        forged: std::collections::BTreeSet::new(),
        refuse_deletions: false,
        is_unchanged: None,
        dropped_signatures: Vec::new(),
        prior_warnings: &[],
        findings: &[],
        salvage: false,
        is_conversion: false,
        missing: &[],
        limits: Limits::default(),
        now,
        passphrase: None,
        cancel: &cancel,
        progress: &|_, _, _, _| {},
    };
    vault.importer().import_from("test", &read, &options).unwrap();
    let scope = Scope { everything: true, ..Scope::default() };
    let run = ExportRun { scope: &scope, now, cancel: &cancel, progress: &|_, _| {} };
    let mut source = VaultSource::new(vault.context(), mementory_formats::by_id("mem"), run).unwrap();
    let mut seen = 0;
    let result = source.records(&mut |_| {
        seen += 1;
        if seen == BATCH_RECORDS + 1 { Err(FormatError::invalid("full", "out", "no room")) } else { Ok(()) }
    });
    assert!(result.is_err());
    assert_eq!(seen, BATCH_RECORDS + 1);
    // The same source can be read again. A writer that plans before it writes reads it twice.
    let mut all = 0;
    source
        .records(&mut |_| {
            all += 1;
            Ok(())
        })
        .unwrap();
    assert_eq!(all, record_count);
}
