//! Tests of what an export reports about files.
#![allow(clippy::unwrap_used)]
use crate::by_id;
use mementory_format::testkit::{MemorySource, write_options};
use mementory_format::{AttachmentFile, WriteOptions};
use mementory_model::{Kind, LossKind, Record, RecordKey};

#[test]
fn a_file_is_lost_by_an_export_only_if_the_vault_has_it() {
    for id in ["mem", "alf", "pam", "mif", "zaxy"] {
        let format = by_id(id).unwrap();
        let key = RecordKey::new("chatgpt", "file-1");
        let mut record = Record::new(Kind::Attachment, key.clone(), "");
        record.title = Some("boat.jpg".into());
        let mut vault = MemorySource { records: vec![record], ..MemorySource::default() };
        let left_out = |vault: &mut MemorySource| {
            let options = WriteOptions { everything: true, ..write_options(format) };
            let losses = format.plan(vault, &options).unwrap().losses;
            losses.items.into_iter().filter(|loss| loss.kind == LossKind::LeftOut).collect::<Vec<_>>()
        };
        assert_eq!(left_out(&mut vault), [], "{id}");
        let file =
            AttachmentFile { key, origin_id: None, name: "boat.jpg".into(), media_type: None, place: String::new() };
        // An `.alf` file can contain attachments, but not one of this size.
        vault.files.push((file, vec![0; 200_000]));
        assert_eq!(left_out(&mut vault).len(), 1, "{id}");
    }
}
