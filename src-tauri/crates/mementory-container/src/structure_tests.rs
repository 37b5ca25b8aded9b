//! Tests of archives whose entries, directory and end record contradict each other, so that programs that read them in
//! different ways see different files.
#![allow(clippy::unwrap_used, clippy::expect_used)]
use super::tests::{EntrySpec, TempFolder, open, places, plain_entry, zip_bytes};

/// Offset of the end record.
fn end_of(bytes: &[u8]) -> usize {
    memchr::memmem::rfind(bytes, b"PK\x05\x06").unwrap()
}

fn read_u32(bytes: &[u8], position: usize) -> u32 {
    u32::from_le_bytes(bytes[position..position + 4].try_into().unwrap())
}

/// Offset of the directory.
fn directory_of(bytes: &[u8]) -> usize {
    read_u32(bytes, end_of(bytes) + 16) as usize
}

/// Inserts bytes before the directory. The end record then states the new offset of the directory.
fn insert_before_directory(bytes: &[u8], inserted: &[u8]) -> Vec<u8> {
    let (position, end) = (directory_of(bytes), end_of(bytes));
    let mut out = [&bytes[..position], inserted, &bytes[position..]].concat();
    out[end + inserted.len() + 16..][..4].copy_from_slice(&((position + inserted.len()) as u32).to_le_bytes());
    out
}

fn set_count(bytes: &[u8], count: u16) -> Vec<u8> {
    let (mut out, end) = (bytes.to_vec(), end_of(bytes));
    for position in [end + 8, end + 10] {
        out[position..position + 2].copy_from_slice(&count.to_le_bytes());
    }
    out
}

/// The bytes with a Zip64 end record that states `count` entries.
fn add_zip64_record(bytes: &[u8], count: u64) -> Vec<u8> {
    let (position, end) = (directory_of(bytes), end_of(bytes));
    let mut record = b"PK\x06\x06".to_vec();
    record.extend(44_u64.to_le_bytes());
    record.extend([45, 0, 45, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    [count, count, (end - position) as u64, position as u64].iter().for_each(|n| record.extend(n.to_le_bytes()));
    record.extend(b"PK\x06\x07\0\0\0\0");
    record.extend((end as u64).to_le_bytes());
    record.extend(1_u32.to_le_bytes());
    [&bytes[..end], &record, &bytes[end..]].concat()
}

#[test]
fn entries_that_only_some_programs_see_are_faults() {
    let dir = TempFolder::new("structure");
    let valid_archive = zip_bytes(&[plain_entry("one", b"first"), plain_entry("two", b"second")]);
    let streamed = zip_bytes(&[
        plain_entry("one", b"first"),
        EntrySpec { streamed: true, deflate: true, ..plain_entry("two", b"second") },
    ]);
    let hidden = zip_bytes(&[plain_entry("one", b"other text")]);
    let hidden = &hidden[..directory_of(&hidden)];
    let mut short_directory = valid_archive.clone();
    let size_at = end_of(&valid_archive) + 12;
    let size = read_u32(&valid_archive, size_at);
    short_directory[size_at..size_at + 4].copy_from_slice(&(size - 20).to_le_bytes());
    let mut long_directory = valid_archive.clone();
    long_directory[size_at..size_at + 4].copy_from_slice(&(size + 20).to_le_bytes());
    // The digital signature of a directory has a signature, a size and data.
    let signature = b"PK\x05\x05\x0e\0of the archive";
    let mut signed_directory =
        [&valid_archive[..end_of(&valid_archive)], signature, &valid_archive[end_of(&valid_archive)..]].concat();
    signed_directory[size_at + signature.len()..][..4].copy_from_slice(&(size + signature.len() as u32).to_le_bytes());
    let mut late_directory = valid_archive.clone();
    late_directory[end_of(&valid_archive) + 16..][..4]
        .copy_from_slice(&(directory_of(&valid_archive) as u32 + 4).to_le_bytes());
    let mut other_sizes = streamed.clone();
    let descriptor = memchr::memmem::rfind(&streamed, b"PK\x07\x08").unwrap();
    other_sizes[descriptor + 12] ^= 1;
    let mut other_checksum = streamed.clone();
    other_checksum[descriptor + 4] ^= 1;
    let with_byte = |bytes: &[u8], position: usize, value: u8| {
        let mut changed = bytes.to_vec();
        changed[position] = value;
        changed
    };
    let zip64_archive = add_zip64_record(&valid_archive, 2);
    let locator = memchr::memmem::rfind(&zip64_archive, b"PK\x06\x07").unwrap();
    let split_issues: &[&str] = &["container_split_archive"];
    let differs: &[&str] = &["container_directory_differs"];
    let cases: [(&str, Vec<u8>, &[&str]); 29] = [
        ("good", valid_archive.clone(), &[]),
        ("streamed", streamed.clone(), &[]),
        ("padded", insert_before_directory(&valid_archive, &[0; 100]), &[]),
        ("wide", add_zip64_record(&valid_archive, 2), &[]),
        ("junk-after", [valid_archive.as_slice(), b"junk"].concat(), &[]),
        ("hidden-first", [hidden, &valid_archive].concat(), &["container_hidden_entry"]),
        ("hidden-last", insert_before_directory(&valid_archive, hidden), &["container_hidden_entry"]),
        ("hidden-after-streamed", insert_before_directory(&streamed, hidden), &["container_hidden_entry"]),
        (
            "another-archive-first",
            [zip_bytes(&[plain_entry("x", b"y")]), valid_archive.clone()].concat(),
            &["container_hidden_entry"],
        ),
        ("fewer-stated", set_count(&valid_archive, 1), differs),
        ("none-stated", set_count(&valid_archive, 0), differs),
        ("fewer-on-this-disk", with_byte(&valid_archive, end_of(&valid_archive) + 8, 1), differs),
        ("more-on-this-disk", with_byte(&valid_archive, end_of(&valid_archive) + 8, 3), differs),
        ("fewer-on-all-disks", with_byte(&valid_archive, end_of(&valid_archive) + 10, 1), differs),
        ("wide-fewer-on-this-disk", with_byte(&zip64_archive, locator - 32, 1), differs),
        ("short-directory", short_directory, differs),
        ("long-directory", long_directory, differs),
        ("signed-directory", signed_directory, &[]),
        ("late-directory", late_directory, differs),
        ("two-end-records", set_count(&add_zip64_record(&valid_archive, 2), 1), differs),
        ("other-sizes", other_sizes, &["container_header_differs"]),
        ("other-checksum", other_checksum, &["container_header_differs"]),
        ("on-another-disk", with_byte(&valid_archive, end_of(&valid_archive) + 4, 1), split_issues),
        ("directory-on-another-disk", with_byte(&valid_archive, end_of(&valid_archive) + 6, 1), split_issues),
        ("entry-on-another-disk", with_byte(&valid_archive, directory_of(&valid_archive) + 34, 2), split_issues),
        ("wide-on-another-disk", with_byte(&zip64_archive, locator - 40, 1), split_issues),
        ("one-disk-of-two", with_byte(&zip64_archive, locator + 16, 2), split_issues),
        ("comment", [with_byte(&valid_archive, end_of(&valid_archive) + 20, 4).as_slice(), b"note"].concat(), &[]),
        (
            "cut-comment",
            [with_byte(&valid_archive, end_of(&valid_archive) + 20, 4).as_slice(), b"not"].concat(),
            differs,
        ),
    ];
    for (name, bytes, expected) in cases {
        let catalog = open(&[dir.put(&format!("{name}.zip"), &bytes)]).unwrap();
        let codes: Vec<_> = catalog.faults().iter().map(|fault| fault.code).collect();
        assert_eq!(codes, expected, "{name}");
        assert_eq!(places(&catalog), [format!("{name}.zip!/one"), format!("{name}.zip!/two")], "{name}");
    }
}

#[test]
fn a_number_of_entries_without_its_upper_bits_loses_none() {
    let dir = TempFolder::new("many-entries");
    let names: Vec<String> = (0..65_540).map(|n| format!("{n}")).collect();
    let entries: Vec<_> = names.iter().map(|name| plain_entry(name, b"")).collect();
    let catalog = open(&[dir.put("many.zip", &zip_bytes(&entries))]).unwrap();
    assert_eq!((catalog.members().len(), catalog.faults().len()), (65_540, 0));
}

#[test]
fn a_compression_that_is_not_supported_is_named() {
    let dir = TempFolder::new("methods");
    for (method, name) in [(12, "bzip2"), (14, "LZMA"), (200, "an unknown method")] {
        let mut bytes = zip_bytes(&[plain_entry("one", b"first")]);
        let directory = directory_of(&bytes);
        (bytes[8], bytes[directory + 10]) = (method, method);
        let catalog = open(&[dir.put("x.zip", &bytes)]).unwrap();
        let issues: Vec<_> =
            catalog.issues().iter().map(|issue| (issue.code.as_str(), issue.message.as_str())).collect();
        let expected = format!("the compression with {name} (method {method}) is not supported");
        assert!(matches!(issues[..], [("unsupported_compression", message)] if message.starts_with(&expected)));
    }
}

#[test]
fn every_flag_of_encryption_counts() {
    let dir = TempFolder::new("encryption-flags");
    for flags in [1, 1 | 1 << 6, 1 << 6, 1 << 13] {
        let bytes = zip_bytes(&[EntrySpec { flags, ..plain_entry("one", b"1") }, plain_entry("two", b"2")]);
        let catalog = open(&[dir.put("x.zip", &bytes)]).unwrap();
        let issues: Vec<_> = catalog.issues().iter().map(|issue| issue.code.as_str()).collect();
        assert_eq!(issues, ["encrypted"], "{flags:#x}");
        assert_eq!(places(&catalog), ["x.zip!/two"]);
    }
}

#[test]
fn an_entry_that_is_a_patch_is_not_read_as_the_file() {
    let dir = TempFolder::new("patch-flag");
    let bytes = zip_bytes(&[EntrySpec { flags: 1 << 5, ..plain_entry("one", b"1") }, plain_entry("two", b"2")]);
    // Without its directory, the archive is read by its local headers.
    for (name, bytes) in [("whole.zip", bytes.as_slice()), ("cut.zip", &bytes[..directory_of(&bytes)])] {
        let catalog = open(&[dir.put(name, bytes)]).unwrap();
        let issues = catalog.issues().iter().map(|issue| (issue.code.as_str(), issue.place.clone()));
        assert!(issues.collect::<Vec<_>>().contains(&("unsupported_compression", format!("{name}!/one"))), "{name}");
        assert_eq!(places(&catalog), [format!("{name}!/two")]);
    }
}

#[test]
fn the_flags_of_other_features_make_no_entry_unreadable() {
    let dir = TempFolder::new("other-flags");
    for bit in [1, 2, 4, 7, 8, 9, 10, 11, 12, 14, 15] {
        let bytes = zip_bytes(&[EntrySpec { flags: 1 << bit, ..plain_entry("one", b"1") }]);
        let catalog = open(&[dir.put("x.zip", &bytes)]).unwrap();
        assert_eq!((catalog.issues().len(), catalog.faults().len(), catalog.members().len()), (0, 0, 1), "{bit}");
    }
}

#[test]
fn a_flag_that_only_one_header_has_is_a_fault() {
    let dir = TempFolder::new("one-flag");
    let valid_archive = zip_bytes(&[plain_entry("one", b"1")]);
    let (local, central) = (6, directory_of(&valid_archive) + 8);
    for bit in [0, 5, 6, 13] {
        for position in [local, central] {
            let mut bytes = valid_archive.clone();
            bytes[position + bit / 8] |= 1 << (bit % 8);
            let catalog = open(&[dir.put("x.zip", &bytes)]).unwrap();
            let codes: Vec<_> = catalog.faults().iter().map(|fault| fault.code).collect();
            assert_eq!(codes, ["container_header_differs"], "bit {bit} at {position}");
        }
    }
}

#[test]
fn a_link_named_like_a_folder_is_a_link() {
    let dir = TempFolder::new("link-folder");
    let link = EntrySpec { mode: 0o120_777, ..plain_entry("link/", b"/etc") };
    let catalog = open(&[dir.put("x.zip", &zip_bytes(&[plain_entry("one", b"1"), link]))]).unwrap();
    assert_eq!(catalog.issues().iter().map(|issue| issue.code.as_str()).collect::<Vec<_>>(), ["link"]);
    assert!(catalog.faults().is_empty());
}

#[test]
fn archives_that_were_packed_together_are_opened_whatever_their_names_are() {
    let dir = TempFolder::new("packed");
    let (one, two) = (zip_bytes(&[plain_entry("a", b"1")]), zip_bytes(&[plain_entry("b", b"2")]));
    let packed = [
        EntrySpec { deflate: true, ..plain_entry("exports/one.agent", &one) },
        plain_entry("exports/two.agent", &two),
        plain_entry("__MACOSX/exports/._one.agent", b"of macOS"),
    ];
    let places_in = |name: &str, entries: &[EntrySpec<'_>]| {
        let catalog = open(&[dir.put(name, &zip_bytes(entries))]).unwrap();
        places(&catalog).into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(
        places_in("x.zip", &packed),
        ["x.zip!/exports/one.agent!/a", "x.zip!/exports/two.agent!/b", "x.zip!/__MACOSX/exports/._one.agent",]
    );
    // An archive next to other files may be a file of a workspace, which must stay whole.
    let with_other_file = [packed[1].clone(), plain_entry("exports/notes.txt", b"text")];
    assert_eq!(places_in("y.zip", &with_other_file), ["y.zip!/exports/two.agent", "y.zip!/exports/notes.txt"]);
    // An archive whose name ends like that of an export counts as an export, even next to other files.
    let export = [plain_entry("backup/Two.ALF", &two), plain_entry("backup/README.md", b"text")];
    assert_eq!(places_in("w.zip", &export), ["w.zip!/backup/Two.ALF!/b", "w.zip!/backup/README.md"]);
    assert_eq!(places_in("z.zip", &[plain_entry("report.docx", &one)]), ["z.zip!/report.docx"]);
}

#[test]
fn only_an_entry_that_was_read_to_its_end_without_damage_is_not_checked_again() {
    let dir = TempFolder::new("read-once");
    let text = vec![b'a'; 100_000];
    let valid_archive = zip_bytes(&[
        plain_entry("whole", &text),
        EntrySpec { deflate: true, ..plain_entry("packed", &text) },
        plain_entry("begun", &text),
        plain_entry("unread", &text),
        EntrySpec { wrong_crc: true, ..plain_entry("damaged", &text) },
    ]);
    let path = dir.put("x.zip", &valid_archive);
    let catalog = open(std::slice::from_ref(&path)).unwrap();
    let [whole, packed, begun, _, damaged] = catalog.members() else { panic!("{:?}", places(&catalog)) };
    assert_eq!(catalog.bytes(whole, 1 << 20).unwrap(), text);
    assert_eq!(catalog.bytes(packed, 1 << 20).unwrap(), text);
    assert_eq!(catalog.head(begun, 10).unwrap(), b"aaaaaaaaaa");
    assert!(catalog.bytes(damaged, 1 << 20).is_err());
    // From now on, the bytes of an entry match neither its size nor its checksum.
    std::fs::write(&path, vec![0; valid_archive.len()]).unwrap();
    let places: Vec<String> = catalog.damaged_entries(|_| true).unwrap().into_iter().map(|f| f.issue.place).collect();
    assert_eq!(places, ["x.zip!/begun", "x.zip!/unread", "x.zip!/damaged"]);
}

#[test]
fn bytes_after_the_compressed_data_of_an_entry_are_damage_but_do_not_hide_it() {
    let dir = TempFolder::new("packed-tail");
    let text = vec![b'a'; 1000];
    for tail in [b"x".as_slice(), b"\0", &[b'x'; 300_000]] {
        let hidden = EntrySpec { deflate: true, packed_tail: tail, ..plain_entry("hidden", &text) };
        let plain = EntrySpec { deflate: true, ..plain_entry("plain", &text) };
        let catalog = open(&[dir.put("x.zip", &zip_bytes(&[hidden, plain]))]).unwrap();
        for member in catalog.members() {
            assert_eq!(catalog.bytes(member, 1 << 20).unwrap(), text);
        }
        let places: Vec<String> =
            catalog.damaged_entries(|_| true).unwrap().into_iter().map(|f| f.issue.place).collect();
        assert_eq!(places, ["x.zip!/hidden"]);
    }
}
