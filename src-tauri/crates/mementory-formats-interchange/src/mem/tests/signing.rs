//! Signatures that we write: over which bytes, and nothing else changed. Whether Ed25519 holds is shown by the reference
//! SDK (`interop`) and in `mementory-api`.
use super::{
    harness::{
        Stamp, Taken, Temp, all_stamped, bundle, copy, files, read, repo, signatures, validate, write, write_as,
    },
    travel::{everything, tombstone},
};
use crate::mem::sign;
use mementory_format::{FormatError, Signer, WriteOptions};
use std::{path::PathBuf, sync::Arc};

fn fixture(name: &str) -> PathBuf {
    repo().join("fixtures/mem").join(name).join("input.mem")
}

fn signed() -> WriteOptions {
    WriteOptions { signer: Some(Arc::new(Stamp)), ..WriteOptions::default() }
}

#[test]
fn a_written_bundle_is_signed_over_its_manifest() {
    let (taken, temp) = (everything(), Temp::new());
    let (plain, out) = (temp.join("plain.mem"), temp.join("signed.mem"));
    write(&taken, &[], &plain);
    write_as(&taken, &[], &out, signed()).unwrap();
    let found = signatures(&out);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].message, std::fs::read(out.join("manifest.json")).unwrap());
    assert!(all_stamped(&out));
    let token = std::fs::read_to_string(out.join("manifest.sig")).unwrap();
    assert_eq!(token, format!("ed25519:{}:{}\n", "07".repeat(32), hex::encode(Stamp::of(&found[0].message))));
    assert!(String::from_utf8(found[0].message.clone()).unwrap().contains("\"passthrough\",\"signed\"]"));
    // The records are the same bytes as without.
    let (before, after) = (files(&plain), files(&out));
    assert_eq!(after.len(), before.len() + 1);
    for (name, bytes) in before.iter().filter(|(n, _)| *n != "manifest.json") {
        assert_eq!(after.get(name), Some(bytes), "{name}");
    }
    let validation = validate(&out, &["07".repeat(32)]);
    assert!(validation.errors.is_empty() && validation.warnings.is_empty(), "{validation:?}");
    assert!(validation.signature.0);
}

/// What other vaults said stays theirs: unsigned as it came, or with their signature.
#[test]
fn own_tombstones_are_signed_and_foreign_ones_are_not() {
    let (mut taken, temp) = (Taken::default(), Temp::new());
    taken.tombstones = read(&fixture("all-kinds")).tombstones;
    let mut theirs = tombstone("mem", "episode", "ep_theirs");
    theirs.signature = Some(format!("ed25519:{}:{}", "ab".repeat(32), "cd".repeat(64)));
    taken.tombstones.extend([theirs, tombstone("keepsake", "memory", &"ab".repeat(16))]);
    let out = temp.join("out.mem");
    write_as(&taken, &[], &out, signed()).unwrap();
    let found: Vec<_> = signatures(&out).into_iter().filter(|s| s.tombstone.is_some()).collect();
    assert_eq!(found.len(), 2);
    let own = found.iter().find(|s| s.tombstone.as_deref() == Some(&format!("tomb_{}", "ab".repeat(16)))).unwrap();
    assert_eq!(own.token, Some((Stamp::KEY.to_vec(), Stamp::of(&own.message))));
    let text = String::from_utf8(own.message.clone()).unwrap();
    assert!(text.starts_with("{\"actor\":\"owner\",\"deletedAt\"") && !text.contains("signature"), "{text}");
    assert!(found.iter().any(|s| s.token == Some((vec![0xab; 32], vec![0xcd; 64]))));
    let lines = std::fs::read_to_string(out.join("audit/tombstones.jsonl")).unwrap();
    let came = lines.lines().find(|l| l.contains("\"tomb_1\"")).unwrap();
    assert!(!came.contains("signature") && came.contains("acmeTicket"));
    // Read again, and written again: the signature travels as it is.
    let again = temp.join("again.mem");
    write(&read(&out), &[], &again);
    assert_eq!(std::fs::read_to_string(again.join("audit/tombstones.jsonl")).unwrap(), lines);
}

#[test]
fn signing_a_bundle_changes_nothing_else() {
    let temp = Temp::new();
    for name in ["all-kinds", "small", "loose-1.0", "forged"] {
        let input = fixture(name);
        let out = temp.join(&format!("{name}.mem"));
        let done = sign::sign(&input, &Stamp, &out).unwrap();
        assert_eq!((done.key, done.replaced), ("07".repeat(32), name == "forged"));
        let (before, mut after) = (files(&input), files(&out));
        assert!(after.remove("manifest.sig").is_some());
        assert_eq!(after, before.into_iter().filter(|(n, _)| n != "manifest.sig").collect(), "{name}");
        assert!(all_stamped(&out));
        assert!(validate(&out, &["07".repeat(32)]).errors.is_empty());
        // In place: only the signature is new.
        let here = temp.join(&format!("{name}-here.mem"));
        copy(&input, &here);
        sign::sign(&here, &Stamp, &here).unwrap();
        assert_eq!(files(&here), files(&out), "{name}");
        // As an archive and back.
        let (zipped, opened) = (temp.join(&format!("{name}.mem.zip")), temp.join(&format!("{name}-back.mem")));
        sign::sign(&input, &Stamp, &zipped).unwrap();
        assert!(all_stamped(&zipped));
        sign::pack(&zipped, &opened).unwrap();
        assert_eq!(files(&opened), files(&out), "{name}");
    }
}

fn refusal(result: Result<impl std::fmt::Debug, FormatError>) -> String {
    match result.unwrap_err() {
        FormatError::Invalid { code, .. } => code.into(),
        FormatError::Io { source, .. } => format!("{:?}", source.kind()),
        other => format!("{other:?}"),
    }
}

#[test]
fn what_is_not_whole_is_not_signed() {
    let temp = Temp::new();
    let out = temp.join("out.mem");
    assert_eq!(refusal(sign::sign(&fixture("wrong-checksum"), &Stamp, &out)), "checksum_mismatch");
    // A summary that lies is no reason to refuse an import; a name under it is another thing.
    let lies = temp.join("lies.mem");
    copy(&fixture("small"), &lies);
    let manifest = std::fs::read_to_string(lies.join("manifest.json")).unwrap();
    std::fs::write(lies.join("manifest.json"), manifest.replace("\"episode\":2", "\"episode\":9")).unwrap();
    assert_eq!(refusal(sign::sign(&lies, &Stamp, &out)), "counts_mismatch");
    assert!(!out.exists());
    let two = temp.join("two");
    copy(&fixture("small"), &two.join("a.mem"));
    copy(&fixture("small"), &two.join("b.mem"));
    assert_eq!(refusal(sign::sign(&two, &Stamp, &out)), "not_one_bundle");
    copy(&fixture("small"), &out);
    assert_eq!(refusal(sign::sign(&fixture("small"), &Stamp, &out)), "AlreadyExists");
    assert_eq!(files(&out), files(&fixture("small")));
}

#[cfg(unix)]
#[test]
fn a_link_is_not_signed_over() {
    let temp = Temp::new();
    let input = temp.join("linked.mem");
    copy(&fixture("small"), &input);
    std::os::unix::fs::symlink("/etc/hosts", input.join("notes.txt")).unwrap();
    assert_eq!(refusal(sign::sign(&input, &Stamp, &temp.join("out.mem"))), "path_escapes");
    assert!(!temp.join("out.mem").exists());
}

#[derive(Debug)]
struct Odd(&'static str, usize, usize);

impl Signer for Odd {
    fn algorithm(&self) -> &'static str {
        self.0
    }
    fn public_key(&self) -> Vec<u8> {
        vec![1; self.1]
    }
    fn sign(&self, _: &[u8]) -> Result<Vec<u8>, FormatError> {
        Ok(vec![2; self.2])
    }
}

#[test]
fn only_an_ed25519_key_signs() {
    let temp = Temp::new();
    let cases = [
        (Odd("ml-dsa-65", 1952, 3309), "key_not_supported"),
        (Odd("ed25519", 31, 64), "key_not_supported"),
        (Odd("ed25519", 32, 63), "signing_failed"),
    ];
    for (n, (odd, code)) in cases.into_iter().enumerate() {
        let out = temp.join(&format!("{n}.mem"));
        assert_eq!(refusal(sign::sign(&fixture("small"), &odd, &out)), code);
        assert!(!out.exists(), "nothing is left behind");
        let options = WriteOptions { signer: Some(Arc::new(odd)), ..WriteOptions::default() };
        assert_eq!(refusal(write_as(&everything(), &[], &out, options)), code);
    }
}

/// A bundle through us into a bundle: all of it, as long as nothing is changed.
#[test]
fn a_signature_stays_where_every_byte_stays() {
    let temp = Temp::new();
    let version = |v: &str| WriteOptions { version: Some(v.into()), ..WriteOptions::default() };
    let whole = temp.join("whole.mem");
    sign::sign(&fixture("all-kinds"), &Stamp, &whole).unwrap();
    let out = temp.join("out.mem");
    let report = write_as(&read(&whole), &[], &out, version("1.1.0")).unwrap();
    assert_eq!(files(&out), files(&whole));
    assert_eq!(report.digest, hex::encode(<sha2::Sha256 as sha2::Digest>::digest(&files(&out)["CHECKSUMS"])));

    let mut taken = read(&whole);
    taken.records.retain(|r| r.key.value != "preference/units");
    let less = temp.join("less.mem");
    write_as(&taken, &[], &less, version("1.1.0")).unwrap();
    assert!(!less.join("manifest.sig").exists(), "a record less: the signature is over something else");
    assert!(validate(&less, &[]).errors.is_empty());
    let own = temp.join("own.mem");
    write_as(&read(&whole), &[], &own, signed()).unwrap();
    assert_ne!(files(&own)["manifest.json"], files(&whole)["manifest.json"], "ours says who wrote it");

    // 1.0 has no summaries; other versions are nobody's to guess at.
    let old = temp.join("old.mem");
    write_as(&read(&whole), &[], &old, version("1.0.0")).unwrap();
    let text = String::from_utf8(files(&old)["manifest.json"].clone()).unwrap();
    assert!(text.contains("\"format\":\"1.0.0\"") && !text.contains("bundleDigest") && !text.contains("specURL"));
    assert!(!old.join("manifest.sig").exists());
    let validation = validate(&old, &[]);
    assert!(validation.errors.is_empty() && validation.warnings.is_empty(), "{validation:?}");
    let refused = write_as(&read(&whole), &[], &temp.join("two.mem"), version("2.0.0"));
    assert!(matches!(refused, Err(FormatError::Version { .. })));
}

#[test]
fn an_archive_is_asked_for_by_name() {
    let (taken, temp) = (everything(), Temp::new());
    let (folder, archive) = (temp.join("me.mem"), temp.join("me.mem.zip"));
    let report = write_as(&taken, &[], &folder, signed()).unwrap();
    assert_eq!(write_as(&taken, &[], &archive, signed()).unwrap().digest, report.digest);
    assert!(archive.is_file());
    let zip = zip::ZipArchive::new(std::fs::File::open(&archive).unwrap()).unwrap();
    let names: std::collections::BTreeSet<String> = zip.file_names().map(|n| n.unwrap().into_owned()).collect();
    assert_eq!(names, files(&folder).into_keys().map(|n| format!("me.mem/{n}")).collect());
    assert!(validate(&archive, &[]).errors.is_empty());
    assert_eq!(read(&archive).records.len(), taken.records.len());
    let unpacked = temp.join("unpacked.mem");
    sign::pack(&archive, &unpacked).unwrap();
    assert_eq!(files(&unpacked), files(&folder));
    // Without a folder in it, as other programs may pack it.
    let flat = temp.join("flat.zip");
    let mut zip = zip::ZipWriter::new(std::fs::File::create(&flat).unwrap());
    for (name, bytes) in files(&folder) {
        zip.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
        std::io::Write::write_all(&mut zip, &bytes).unwrap();
    }
    zip.finish().unwrap();
    assert!(validate(&flat, &[]).errors.is_empty() && all_stamped(&flat));
    assert_eq!(read(&flat).records.len(), taken.records.len());
    // The same again is the same file.
    let second = temp.join("two");
    std::fs::create_dir(&second).unwrap();
    write_as(&taken, &[], &second.join("me.mem.zip"), signed()).unwrap();
    assert_eq!(std::fs::read(second.join("me.mem.zip")).unwrap(), std::fs::read(&archive).unwrap());
    // A bundle below other folders of an archive is found too, and can be signed into a folder.
    let deep = temp.join("deep");
    bundle(&deep.join("x/y.mem"), &[("items/preference.jsonl", "{\"key\":\"a\",\"value\":\"b\"}\n")]);
    sign::sign(&deep, &Stamp, &deep.join("x/y.mem")).unwrap();
    assert!(all_stamped(&deep));
}
