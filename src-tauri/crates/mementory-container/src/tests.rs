#![allow(clippy::unwrap_used, clippy::expect_used)]
use super::{Catalog, Spool, SpoolFile};
use crate::FormatError;
use mementory_model::Limits;
use std::{
    io::{Cursor, Read},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

/// One ZIP entry to write, which may be unusual or malformed.
#[derive(Clone, Default)]
pub(super) struct EntrySpec<'a> {
    pub(super) name: &'a [u8],
    pub(super) data: &'a [u8],
    pub(super) deflate: bool,
    pub(super) flags: u16,
    pub(super) mode: u32,
    /// True if the sizes are written after the data.
    pub(super) streamed: bool,
    pub(super) wrong_crc: bool,
    /// Name in the local header, if it differs from the name in the directory.
    pub(super) local_name: Option<&'a [u8]>,
    /// Number of additional bytes that the local header declares.
    pub(super) local_extra_bytes: u32,
    /// Bytes after the compressed data that belong to the entry.
    pub(super) packed_tail: &'a [u8],
    /// If set, the directory points to the header of the entry with this index instead of this entry's own.
    pub(super) header_of: Option<usize>,
}

pub(super) fn zip_bytes(entries: &[EntrySpec<'_>]) -> Vec<u8> {
    let (mut out, mut directory) = (Vec::new(), Vec::new());
    let mut starts: Vec<u32> = Vec::new();
    for entry in entries {
        let crc = crc32fast::hash(entry.data) ^ u32::from(entry.wrong_crc);
        let packed = if entry.deflate {
            let mut d = flate2::read::DeflateEncoder::new(entry.data, flate2::Compression::fast());
            let mut packed = Vec::new();
            d.read_to_end(&mut packed).unwrap();
            packed.extend(entry.packed_tail);
            packed
        } else {
            entry.data.to_vec()
        };
        let at = entry.header_of.map_or(out.len() as u32, |other| starts[other]);
        starts.push(out.len() as u32);
        let flags = entry.flags | if entry.streamed { 8 } else { 0 };
        let method = if entry.deflate { 8_u16 } else { 0 };
        let crc_and_sizes = [crc, packed.len() as u32, entry.data.len() as u32];
        let word = |out: &mut Vec<u8>, v: u16| out.extend(v.to_le_bytes());
        out.extend(b"PK\x03\x04\x14\x00");
        word(&mut out, flags);
        word(&mut out, method);
        out.extend([0; 4]);
        for v in if entry.streamed {
            [0; 3]
        } else {
            [crc_and_sizes[0], crc_and_sizes[1] + entry.local_extra_bytes, crc_and_sizes[2]]
        } {
            out.extend(v.to_le_bytes());
        }
        let local_name = entry.local_name.unwrap_or(entry.name);
        word(&mut out, local_name.len() as u16);
        word(&mut out, 0);
        out.extend(local_name);
        out.extend(&packed);
        if entry.streamed {
            out.extend(b"PK\x07\x08");
            crc_and_sizes.iter().for_each(|v| out.extend(v.to_le_bytes()));
        }
        directory.extend(b"PK\x01\x02\x14\x03\x14\x00");
        word(&mut directory, flags);
        word(&mut directory, method);
        directory.extend([0; 4]);
        crc_and_sizes.iter().for_each(|v| directory.extend(v.to_le_bytes()));
        word(&mut directory, entry.name.len() as u16);
        directory.extend([0; 8]);
        directory.extend((entry.mode << 16).to_le_bytes());
        directory.extend(at.to_le_bytes());
        directory.extend(entry.name);
    }
    let start = out.len() as u32;
    out.extend(&directory);
    out.extend(b"PK\x05\x06\0\0\0\0");
    out.extend((entries.len() as u16).to_le_bytes());
    out.extend((entries.len() as u16).to_le_bytes());
    out.extend((directory.len() as u32).to_le_bytes());
    out.extend(start.to_le_bytes());
    out.extend([0; 2]);
    out
}

pub(super) fn plain_entry<'a>(name: &'a str, data: &'a [u8]) -> EntrySpec<'a> {
    EntrySpec { name: name.as_bytes(), data, ..EntrySpec::default() }
}

pub(super) struct TempFolder(PathBuf);
impl TempFolder {
    pub(super) fn new(name: &str) -> Self {
        let dir = std::env::temp_dir().join(format!("mementory-input-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        Self(dir)
    }
    pub(super) fn put(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.0.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, bytes).unwrap();
        path
    }
}
impl Drop for TempFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub(super) fn open(paths: &[PathBuf]) -> Result<Catalog, FormatError> {
    Catalog::open(paths, &Limits::default(), None)
}

pub(super) fn places(catalog: &Catalog) -> Vec<&str> {
    catalog.members().iter().map(|m| m.place.as_str()).collect()
}

fn issue_codes(catalog: &Catalog) -> Vec<&str> {
    catalog.issues().iter().map(|i| i.code.as_str()).collect()
}

fn member_text(catalog: &Catalog, place: &str) -> Result<String, FormatError> {
    let found = catalog.members().iter().find(|m| m.place == place);
    let member = found.unwrap_or_else(|| panic!("{place} in {:?}", places(catalog)));
    Ok(String::from_utf8(catalog.bytes(member, 1 << 20)?).unwrap())
}

struct MemorySpool;
impl Spool for MemorySpool {
    fn create(&self) -> std::io::Result<Box<dyn SpoolFile>> {
        Ok(Box::new(Cursor::new(Vec::new())))
    }
}

#[test]
fn an_unreadable_entry_does_not_affect_the_others() {
    let dir = TempFolder::new("odd");
    let link = EntrySpec { mode: 0o120_777, ..plain_entry("link", b"/etc/passwd") };
    let device = EntrySpec { mode: 0o020_666, ..plain_entry("device", b"") };
    let locked = EntrySpec { flags: 1, ..plain_entry("locked", b"x") };
    let japanese = EntrySpec { name: b"\x93\xfa\x96\x7b\x8c\xea.txt", data: b"j", ..EntrySpec::default() };
    let bytes = zip_bytes(&[
        plain_entry("ok.txt", b"fine"),
        plain_entry("../up", b"x"),
        plain_entry("/abs", b"x"),
        plain_entry("C:\\drive", b"x"),
        plain_entry("a\\..\\..\\up", b"x"),
        plain_entry("nul\0.txt", b"x"),
        link,
        device,
        locked,
        japanese,
        plain_entry("a\\b/./c.txt", b"sep"),
        plain_entry("folder/", b""),
        EntrySpec { deflate: true, streamed: true, ..plain_entry("streamed", b"streamed streamed streamed") },
        EntrySpec { wrong_crc: true, ..plain_entry("wrong", b"bytes") },
        plain_entry("ok.txt", b"last"),
        plain_entry("empty", b""),
    ]);
    let catalog = open(&[dir.put("x.zip", &bytes)]).unwrap();
    let names: Vec<_> = catalog.members().iter().map(|m| m.name.as_str()).collect();
    assert_eq!(names, ["日本語.txt", "a/b/c.txt", "streamed", "wrong", "ok.txt", "empty"]);
    let unsafe_names = issue_codes(&catalog).iter().filter(|code| **code == "unsafe_name").count();
    assert_eq!(unsafe_names, 5);
    for code in ["link", "not_a_regular_file", "encrypted", "duplicate_name"] {
        assert!(issue_codes(&catalog).contains(&code), "{code}");
    }
    assert!(catalog.issues().iter().all(|i| i.place.starts_with("x.zip!/") && !i.place.contains('\0')));
    assert_eq!(member_text(&catalog, "x.zip!/ok.txt").unwrap(), "last");
    assert_eq!(member_text(&catalog, "x.zip!/streamed").unwrap(), "streamed streamed streamed");
    assert!(matches!(member_text(&catalog, "x.zip!/wrong"), Err(FormatError::Io { .. })));
    assert_eq!(member_text(&catalog, "x.zip!/empty").unwrap(), "");
}

#[test]
fn archives_are_read_if_they_lack_an_extension_have_a_prefix_or_are_truncated() {
    let dir = TempFolder::new("cut");
    let long_text = "conversation ".repeat(50_000);
    let entries = [
        EntrySpec { deflate: true, streamed: true, ..plain_entry("one", b"first") },
        EntrySpec { streamed: true, ..plain_entry("two", b"second") },
        EntrySpec { deflate: true, ..plain_entry("three", long_text.as_bytes()) },
    ];
    let valid_archive = zip_bytes(&entries);
    let catalog = open(&[dir.put("no-extension", &valid_archive)]).unwrap();
    assert_eq!(catalog.members().len(), 3);
    let prefixed = [b"#!/bin/sh\n".as_slice(), &valid_archive, b"trailing junk"].concat();
    let catalog = open(&[dir.put("prefixed.zip", &prefixed)]).unwrap();
    assert_eq!(member_text(&catalog, "prefixed.zip!/two").unwrap(), "second");
    let at = memchr::memmem::find(&valid_archive, b"three").unwrap();
    for end in [at + 200, valid_archive.len() - 10, at + 2, at - 20] {
        let catalog = open(&[dir.put("cut.zip", &valid_archive[..end])]).unwrap();
        assert_eq!(issue_codes(&catalog), ["truncated_archive"], "{end}");
        assert_eq!(member_text(&catalog, "cut.zip!/one").unwrap(), "first");
        assert_eq!(member_text(&catalog, "cut.zip!/two").unwrap(), "second");
        if end == at + 200 {
            let three = catalog.members().iter().find(|m| m.name == "three").unwrap();
            let (n, error) = catalog
                .read(three, |r| {
                    let mut out = Vec::new();
                    let error = r.read_to_end(&mut out).unwrap_err();
                    Ok((out.len(), error))
                })
                .unwrap();
            assert!(n > 100 && error.kind() == std::io::ErrorKind::UnexpectedEof, "{n} {error}");
        }
    }
    assert!(matches!(open(&[dir.put("bad.zip", b"not a zip")]), Err(FormatError::Invalid { .. })));
    assert!(matches!(open(&[dir.put("nil.zip", b"")]), Err(FormatError::Invalid { .. })));
    let catalog = open(&[dir.put("bad.zip", b"not a zip"), dir.put("a.txt", b"x")]).unwrap();
    assert_eq!((places(&catalog), issue_codes(&catalog)), (vec!["a.txt"], vec!["unreadable_archive"]));
}

#[test]
fn nested_archives_are_opened_unless_they_are_user_files() {
    let dir = TempFolder::new("nested");
    let inner = zip_bytes(&[
        plain_entry("conversations.json", b"[]"),
        plain_entry("upload.zip", &zip_bytes(&[plain_entry("x", b"x")])),
    ]);
    let files = zip_bytes(&[plain_entry("personal/mine.zip", &inner)]);
    let export_archive = zip_bytes(&[
        plain_entry("User Online Activity/Conversations__u-0001.zip", &inner),
        EntrySpec { deflate: true, ..plain_entry("User Online Activity/Files__u-0001.zip", &files) },
        plain_entry("file-AbCdEfGhIjKl-backup.zip", &inner),
        plain_entry("thing.dat", &inner),
        plain_entry("Ads__u.zip", b""),
    ]);
    let portal = dir.put("portal.zip", &export_archive);
    let expected = [
        "portal.zip!/User Online Activity/Conversations__u-0001.zip!/conversations.json",
        "portal.zip!/User Online Activity/Conversations__u-0001.zip!/upload.zip",
        "portal.zip!/User Online Activity/Files__u-0001.zip!/personal/mine.zip",
        "portal.zip!/file-AbCdEfGhIjKl-backup.zip",
        "portal.zip!/thing.dat",
        "portal.zip!/Ads__u.zip",
    ];
    assert_eq!(places(&open(std::slice::from_ref(&portal)).unwrap()), expected);
    let spooled = Catalog::open(std::slice::from_ref(&portal), &Limits::default(), Some(&MemorySpool)).unwrap();
    assert_eq!(places(&spooled), expected);
    assert_eq!(member_text(&spooled, expected[0]).unwrap(), "[]");
    // Archives nested three levels deep are read in place, by several threads at once.
    let mut deep = zip_bytes(&[plain_entry("bottom", b"down here")]);
    for _ in 0..3 {
        deep = zip_bytes(&[plain_entry("level.zip", &deep)]);
    }
    let path = dir.put("deep.zip", &deep);
    let catalog = open(std::slice::from_ref(&path)).unwrap();
    let place = "deep.zip!/level.zip!/level.zip!/level.zip!/bottom";
    std::thread::scope(|s| {
        for _ in 0..4 {
            s.spawn(|| assert_eq!(member_text(&catalog, place).unwrap(), "down here"));
        }
    });
    let shallow = Catalog::open(&[path], &Limits { archive_depth: 1, ..Limits::default() }, None).unwrap();
    assert_eq!(places(&shallow), ["deep.zip!/level.zip!/level.zip"]);
    assert_eq!(issue_codes(&shallow), ["archive_depth"]);
}

#[test]
fn limits_and_declared_sizes_are_enforced() {
    let dir = TempFolder::new("bounds");
    let bomb = zip_bytes(&[EntrySpec { deflate: true, ..plain_entry("bomb", &vec![0; 4 << 20]) }]);
    let path = dir.put("bomb.zip", &bomb);
    let limits = Limits { total_bytes: 1 << 20, ..Limits::default() };
    let catalog = Catalog::open(&[path], &limits, None).unwrap();
    let result = catalog.read(&catalog.members()[0], |r| Ok(std::io::copy(r, &mut std::io::sink()).is_err()));
    assert!(matches!(result, Err(FormatError::Limit { limit: "total_bytes", .. })));
    // The entry declares 10 bytes but contains 5000.
    let mut wrong_size = zip_bytes(&[EntrySpec { deflate: true, ..plain_entry("lie", &[7; 5000]) }]);
    let size = 5000_u32.to_le_bytes();
    while let Some(at) = memchr::memmem::find(&wrong_size, &size) {
        wrong_size[at..at + 4].copy_from_slice(&10_u32.to_le_bytes());
    }
    let catalog = open(&[dir.put("wrong_size.zip", &wrong_size)]).unwrap();
    assert!(member_text(&catalog, "wrong_size.zip!/lie").is_err());
    let names: Vec<_> = (0..20).map(|i| format!("f{i}")).collect();
    let entries: Vec<_> = names.iter().map(|n| plain_entry(n, b"")).collect();
    let path = dir.put("many.zip", &zip_bytes(&entries));
    let limits = Limits { entries: 10, ..Limits::default() };
    assert!(matches!(Catalog::open(&[path], &limits, None), Err(FormatError::Limit { limit: "entries", .. })));
}

#[test]
fn a_duplicate_file_is_dropped_and_a_missing_file_is_an_error() {
    let dir = TempFolder::new("twice");
    let bytes = zip_bytes(&[plain_entry("a", b"a")]);
    let other = zip_bytes(&[plain_entry("a", b"b")]);
    let input_paths =
        [dir.put("x.zip", &bytes), dir.put("x (1).zip", &bytes), dir.put("y.zip", &other), dir.put("t.json", b"[1]")];
    let paths_with_copy: Vec<_> = input_paths.iter().cloned().chain([dir.put("t (1).json", b"[1]")]).collect();
    let catalog = open(&paths_with_copy).unwrap();
    assert_eq!(places(&catalog), ["x.zip!/a", "y.zip!/a", "t.json"]);
    let dropped: Vec<_> = catalog.dropped().iter().map(|d| (d.place.as_str(), d.reason.as_str())).collect();
    let expected =
        [("x (1).zip", "duplicate_file: same bytes as x.zip"), ("t (1).json", "duplicate_file: same bytes as t.json")];
    assert_eq!(dropped, expected);
    match open(&[input_paths[0].clone(), dir.0.join("missing.zip")]) {
        Err(FormatError::Io { place, .. }) => assert_eq!(place, "missing.zip"),
        _ => panic!("a missing file is an error"),
    }
}

#[cfg(unix)]
#[test]
fn links_and_pipes_are_reported_and_not_read() {
    let dir = TempFolder::new("links");
    dir.put("tree/a.txt", b"a");
    std::os::unix::fs::symlink("/etc/passwd", dir.0.join("tree/link")).unwrap();
    std::os::unix::fs::symlink("..", dir.0.join("tree/loop")).unwrap();
    let pipe = dir.0.join("tree/pipe");
    let has_pipe = std::process::Command::new("mkfifo").arg(&pipe).status().is_ok_and(|s| s.success());
    let catalog = open(&[dir.0.join("tree")]).unwrap();
    assert_eq!(places(&catalog), ["tree/a.txt"]);
    assert_eq!(issue_codes(&catalog).iter().filter(|code| **code == "link").count(), 2);
    if has_pipe {
        assert!(issue_codes(&catalog).contains(&"not_a_regular_file"));
        assert!(matches!(open(&[pipe]), Err(FormatError::Refused { .. })));
    }
    let _: &Path = &dir.0;
}

#[test]
fn faults_that_reading_entries_does_not_detect_are_listed() {
    let dir = TempFolder::new("faults");
    let one = plain_entry("one.txt", b"first");
    let cases: [(&str, Vec<EntrySpec<'_>>, &[&str]); 22] = [
        ("nothing", vec![one.clone(), plain_entry("two", b"2")], &[]),
        ("streamed", vec![EntrySpec { streamed: true, deflate: true, ..one.clone() }], &[]),
        ("local-name", vec![EntrySpec { local_name: Some(b"../../x"), ..one.clone() }], &["container_header_differs"]),
        ("local-size", vec![EntrySpec { local_extra_bytes: 1, ..one.clone() }], &["container_header_differs"]),
        (
            "shared",
            vec![one.clone(), EntrySpec { header_of: Some(0), ..plain_entry("two.txt", b"first") }],
            &["container_header_differs", "container_shared_data", "container_hidden_entry"],
        ),
        ("empty-part", vec![plain_entry("a//b", b"x")], &["container_empty_name_part"]),
        ("dot-part", vec![plain_entry("./manifest.json", b"x")], &["container_empty_name_part"]),
        ("device", vec![plain_entry("raw/nul.md", b"x")], &["container_reserved_name"]),
        ("port", vec![plain_entry("LPT9", b"x")], &["container_reserved_name"]),
        ("dot", vec![plain_entry("notes./a", b"x")], &["container_reserved_name"]),
        ("control", vec![plain_entry("a\u{1}b", b"x")], &["container_reserved_name"]),
        ("no-device", vec![plain_entry("console/nullity/com/com10", b"x")], &[]),
        ("file-folder", vec![one.clone(), plain_entry("One.txt/a/b", b"x")], &["container_file_and_folder"]),
        ("same-folder", vec![plain_entry("a/b/c", b"x"), plain_entry("a/d", b"x"), plain_entry("ab", b"x")], &[]),
        ("folder-out", vec![one.clone(), plain_entry("a/../../b/", b"")], &["container_unsafe_folder"]),
        ("folder-absolute", vec![one.clone(), plain_entry("/etc/", b"")], &["container_unsafe_folder"]),
        ("folder-drive", vec![one.clone(), plain_entry("C:\\x\\", b"")], &["container_unsafe_folder"]),
        ("folder-here", vec![one.clone(), plain_entry("./", b""), plain_entry("/", b"")], &[]),
        ("folder-with-data", vec![plain_entry("a/", b"x")], &["container_folder_with_data"]),
        ("case", vec![one.clone(), plain_entry("One.txt", b"x")], &["container_similar_names"]),
        (
            "normalisation",
            vec![plain_entry("caf\u{e9}", b"x"), plain_entry("cafe\u{301}", b"x")],
            &["container_similar_names"],
        ),
        ("damage", vec![one.clone(), EntrySpec { wrong_crc: true, ..plain_entry("two", b"2") }], &["damaged_entry"]),
    ];
    for (name, entries, expected) in cases {
        let catalog = open(&[dir.put(&format!("{name}.zip"), &zip_bytes(&entries))]).unwrap();
        let damaged = catalog.damaged_entries(|_| true).unwrap();
        let codes: Vec<_> = catalog.faults().iter().chain(&damaged).map(|f| f.code).collect();
        assert_eq!(codes, expected, "{name}");
        assert!(catalog.faults().iter().all(|f| f.issue.place.starts_with(&format!("{name}.zip!/"))), "{name}");
    }
}

#[test]
fn an_entry_without_its_header_is_damaged_and_the_others_are_read() {
    let dir = TempFolder::new("no-header");
    let mut bytes = zip_bytes(&[plain_entry("one", b"first"), plain_entry("two", b"second")]);
    bytes[..4].fill(0);
    let catalog = open(&[dir.put("x.zip", &bytes)]).unwrap();
    let read = |index: usize| catalog.bytes(&catalog.members()[index], 100);
    assert!(matches!(read(0), Err(FormatError::Io { place, source }) if place == "x.zip!/one"
        && source.to_string() == "the entry is not where the directory says"));
    assert_eq!(catalog.head(&catalog.members()[0], 10).unwrap(), b"", "detection goes on");
    assert_eq!(read(1).unwrap(), b"second");
    let faults: Vec<_> = catalog.faults().iter().map(|fault| (fault.code, fault.issue.place.as_str())).collect();
    assert_eq!(faults, [("container_header_differs", "x.zip!/one")]);
}

#[test]
fn an_archive_that_expands_to_more_than_any_export_is_refused() {
    let dir = TempFolder::new("expansion");
    let zeros = vec![0; 3 << 20];
    let bomb = zip_bytes(&[EntrySpec { deflate: true, ..plain_entry("zeros", &zeros) }]);
    let nested = zip_bytes(&[plain_entry("conversations.zip", &bomb)]);
    let text: Vec<u8> = (0..3_u32 << 18).flat_map(|n| (n.wrapping_mul(2_654_435_761)).to_le_bytes()).collect();
    let large = zip_bytes(&[plain_entry("text", &text)]);
    let limits = Limits { expanded_bytes: 1 << 20, ..Limits::default() };
    let opened_member_count = |name: &str, bytes: &[u8], limits: &Limits| {
        Catalog::open(&[dir.put(name, bytes)], limits, None).map(|catalog| catalog.members().len())
    };
    for (name, bytes) in [("bomb.zip", &bomb), ("nested.zip", &nested)] {
        let refused = opened_member_count(name, bytes, &limits);
        assert!(matches!(refused, Err(FormatError::Limit { limit: "expanded_bytes", .. })), "{name}");
        assert_eq!(opened_member_count(name, bytes, &Limits::default()).unwrap(), 1, "{name}: below the limit");
        assert_eq!(opened_member_count(name, bytes, &Limits::allowing(1 << 30)).unwrap(), 1, "{name}: allowed");
    }
    assert_eq!(opened_member_count("large.zip", &large, &limits).unwrap(), 1, "large, but not by expanding");
}

/// A tar archive. Each entry is given by its name, content and type flag.
fn tar_bytes(entries: &[(&str, &[u8], u8)]) -> Vec<u8> {
    let mut out = tar::Builder::new(Vec::new());
    for (name, data, kind) in entries {
        let mut header = tar::Header::new_gnu();
        // The builder refuses names such as `../up`, so the bytes are written directly.
        header.as_gnu_mut().unwrap().name[..name.len()].copy_from_slice(name.as_bytes());
        header.set_entry_type(tar::EntryType::new(*kind));
        header.set_size(data.len() as u64);
        header.set_mode(0o644);
        header.set_cksum();
        out.append(&header, *data).unwrap();
    }
    out.into_inner().unwrap()
}

fn gzip_bytes(data: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    flate2::read::GzEncoder::new(data, flate2::Compression::fast()).read_to_end(&mut out).unwrap();
    out
}

fn zstd_bytes(data: &[u8]) -> Vec<u8> {
    zstd::stream::encode_all(data, 3).unwrap()
}

#[test]
fn tar_archives_are_read_like_zip_files_compressed_or_not() {
    let dir = TempFolder::new("tar");
    let long = format!("Takeout/{}MyActivity.json", "deep/".repeat(40));
    let mut builder = tar::Builder::new(Vec::new());
    for (name, data) in [("Takeout/a.json", "first"), (long.as_str(), "second")] {
        let mut header = tar::Header::new_gnu();
        header.set_size(data.len() as u64);
        builder.append_data(&mut header, name, data.as_bytes()).unwrap();
    }
    let tar = builder.into_inner().unwrap();
    for (name, bytes) in [
        ("t.tar", tar.clone()),
        ("t.tgz", gzip_bytes(&tar)),
        ("t.tar.gz", gzip_bytes(&tar)),
        ("no-ending", gzip_bytes(&tar)),
    ] {
        for spool in [None, Some(&MemorySpool as &dyn Spool)] {
            let catalog = Catalog::open(&[dir.put(name, &bytes)], &Limits::default(), spool).unwrap();
            assert_eq!(places(&catalog), [format!("{name}!/Takeout/a.json"), format!("{name}!/{long}")]);
            assert_eq!(member_text(&catalog, &format!("{name}!/{long}")).unwrap(), "second");
            assert_eq!(issue_codes(&catalog), [""; 0]);
        }
    }
    let plain = open(&[dir.put("memories.jsonl.gz", &gzip_bytes(b"{}"))]).unwrap();
    assert_eq!((plain.members()[0].name.as_str(), places(&plain)), ("memories.jsonl", vec!["memories.jsonl.gz"]));
    assert_eq!(member_text(&plain, "memories.jsonl.gz").unwrap(), "{}");
    assert!(plain.members()[0].is_selected_alone());
    let inside = zip_bytes(&[plain_entry("memories.jsonl.gz", &gzip_bytes(b"{}"))]);
    let inside = open(&[dir.put("backup.zip", &inside)]).unwrap();
    assert_eq!(inside.members()[0].name, "memories.jsonl");
    assert!(!inside.members()[0].is_selected_alone());
    assert_eq!(member_text(&inside, "backup.zip!/memories.jsonl.gz").unwrap(), "{}");
}

#[test]
fn zstd_files_are_read_in_all_their_frames_and_up_to_their_damage() {
    let dir = TempFolder::new("zstd");
    let frames = [zstd_bytes(b"{\"first\":1}\n"), zstd_bytes(b"{\"second\":2}\n")].concat();
    for (name, plain) in [("log.jsonl.zst", "log.jsonl"), ("LOG.JSONL.ZST", "LOG.JSONL"), ("no-ending", "no-ending")] {
        let catalog = open(&[dir.put(name, &frames)]).unwrap();
        assert_eq!((catalog.members()[0].name.as_str(), places(&catalog)), (plain, vec![name]));
        assert_eq!(member_text(&catalog, name).unwrap(), "{\"first\":1}\n{\"second\":2}\n");
        assert_eq!(issue_codes(&catalog), [""; 0]);
    }
    let catalog = open(&[dir.put("cut.jsonl.zst", &frames[..frames.len() - 3])]).unwrap();
    let text = member_text(&catalog, "cut.jsonl.zst").unwrap();
    assert!(text.starts_with("{\"first\":1}\n") && !text.ends_with("}\n{\"second\":2}\n"), "{text}");
    assert_eq!(issue_codes(&catalog), ["damaged_entry"]);
    let named_only = open(&[dir.put("text.zst", b"not compressed")]).unwrap();
    assert_eq!((named_only.members()[0].name.as_str(), issue_codes(&named_only)), ("text.zst", vec![]));
}

#[test]
fn names_links_and_devices_of_a_tar_archive_are_refused_like_those_of_a_zip_file() {
    let dir = TempFolder::new("tar-names");
    let tar = tar_bytes(&[
        ("../up", b"x", b'0'),
        ("/abs", b"x", b'0'),
        ("./ok.txt", b"fine", b'0'),
        ("link", b"", b'2'),
        ("hard", b"", b'1'),
        ("pipe", b"", b'6'),
        ("folder/", b"", b'5'),
        ("ok.txt", b"last", b'0'),
    ]);
    let catalog = open(&[dir.put("x.tar", &tar)]).unwrap();
    assert_eq!(places(&catalog), ["x.tar!/ok.txt"]);
    assert_eq!(member_text(&catalog, "x.tar!/ok.txt").unwrap(), "last");
    let codes = ["unsafe_name", "unsafe_name", "link", "link", "not_a_regular_file", "duplicate_name"];
    assert_eq!(issue_codes(&catalog), codes);
}

#[test]
fn only_the_entry_with_a_damaged_header_in_a_tar_archive_is_lost() {
    let dir = TempFolder::new("tar-header");
    let tar =
        tar_bytes(&[("one", b"1", b'0'), ("two", b"2", b'0'), ("three", &[b'3'; 2000], b'0'), ("four", b"4", b'0')]);
    for (name, damaged, left) in
        [("first.tar", 0, ["two", "three", "four"]), ("mid.tar", 1024, ["one", "three", "four"])]
    {
        let mut bytes = tar.clone();
        bytes[damaged + 150] ^= 1;
        let catalog = open(&[dir.put(name, &bytes)]).unwrap();
        assert_eq!(places(&catalog), left.map(|entry| format!("{name}!/{entry}")));
        assert_eq!(member_text(&catalog, &format!("{name}!/three")).unwrap(), "3".repeat(2000));
        assert_eq!(issue_codes(&catalog), ["truncated_archive"]);
    }
}

#[test]
fn everything_before_the_damage_in_a_tar_archive_is_read() {
    let dir = TempFolder::new("tar-cut");
    let long_text = "conversation ".repeat(5_000);
    let tar = tar_bytes(&[("one", b"first", b'0'), ("two", long_text.as_bytes(), b'0'), ("three", b"x", b'0')]);
    for end in [1_030, 1_600, 20_000] {
        let catalog = open(&[dir.put("cut.tar", &tar[..end])]).unwrap();
        assert_eq!(member_text(&catalog, "cut.tar!/one").unwrap(), "first", "{end}");
        assert_eq!(issue_codes(&catalog), ["truncated_archive"], "{end}");
        if let Some(two) = catalog.members().iter().find(|m| m.name == "two") {
            assert!(matches!(catalog.bytes(two, 1 << 20), Err(FormatError::Io { .. })));
        }
    }
    let packed = gzip_bytes(&tar);
    let catalog = open(&[dir.put("cut.tgz", &packed[..packed.len() - 20])]).unwrap();
    assert_eq!(member_text(&catalog, "cut.tgz!/one").unwrap(), "first");
    assert!(issue_codes(&catalog).contains(&"damaged_entry"), "{:?}", issue_codes(&catalog));
}

#[test]
fn a_compressed_file_that_expands_to_more_than_any_export_is_refused() {
    let dir = TempFolder::new("compressed-bomb");
    let zeros = vec![0; 3_000_000];
    let limits = Limits { expanded_bytes: 1_000_000, ..Limits::default() };
    for (name, bomb) in [("bomb.gz", gzip_bytes(&zeros)), ("bomb.zst", zstd_bytes(&zeros))] {
        for spool in [None, Some(&MemorySpool as &dyn Spool)] {
            let refused = Catalog::open(&[dir.put(name, &bomb)], &limits, spool);
            assert!(matches!(refused, Err(FormatError::Limit { limit: "expanded_bytes", .. })), "{name}");
        }
    }
    // Each level is a gzip file in a tar archive.
    let nested = (0..12).fold(b"core".to_vec(), |inner, _| gzip_bytes(&tar_bytes(&[("inner.tgz", &inner, b'0')])));
    let catalog = open(&[dir.put("nested.tgz", &nested)]).unwrap();
    assert!(catalog.members().iter().all(|m| u64::from(m.depth) <= u64::from(Limits::default().archive_depth) + 1));
}

#[test]
fn reading_ends_when_it_is_cancelled_even_if_the_caller_ignores_the_error() {
    let dir = TempFolder::new("cancel");
    let mut catalog = open(&[dir.put("a.txt", b"first"), dir.put("b.txt", b"second")]).unwrap();
    let flag = Arc::new(AtomicBool::new(false));
    catalog.cancel_with(flag.clone());
    assert_eq!(member_text(&catalog, "a.txt").unwrap(), "first");
    let stopped = catalog.read(&catalog.members()[0], |bytes| {
        flag.store(true, Ordering::Relaxed);
        Ok(bytes.read(&mut [0; 8]).is_err())
    });
    assert!(matches!(stopped, Err(FormatError::Cancelled)));
    assert!(matches!(catalog.bytes(&catalog.members()[1], 10), Err(FormatError::Cancelled)));
}

#[test]
fn heads_do_not_depend_on_the_order_of_the_requests() {
    let dir = TempFolder::new("heads");
    let contents: [Vec<u8>; 4] =
        [vec![], b"short".to_vec(), (0..5000).map(|n| n as u8).collect(), (0..200_000).map(|n| n as u8).collect()];
    let names = ["empty", "short", "middle", "long"];
    let entries: Vec<_> = names.iter().zip(&contents).map(|(name, bytes)| plain_entry(name, bytes)).collect();
    let path = dir.put("all.zip", &zip_bytes(&entries));
    let lengths = [4, 4096, 5, 5000, 1, 65_536, 65_537, 10_000, 150_000, 0, 300_000];
    for turn in 0..lengths.len() {
        let catalog = open(std::slice::from_ref(&path)).unwrap();
        for n in lengths.iter().cycle().skip(turn).take(2 * lengths.len()) {
            for (member, bytes) in catalog.members().iter().zip(&contents) {
                let expected = &bytes[..(*n).min(bytes.len())];
                assert_eq!(catalog.head(member, *n).unwrap(), expected, "{n} bytes of {}", member.name);
            }
        }
    }
}
