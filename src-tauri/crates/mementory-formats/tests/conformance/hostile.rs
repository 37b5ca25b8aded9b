//! Tests with input that is truncated, that is too large, or whose entry names lead out of the folder. The result must
//! be an error or fewer records, never a panic or a hang.
use crate::{
    cases::{Case, files, name, pack, readable_cases},
    steps::{assert_covered, read, read_case, validate, write_options},
};
use mementory_format::testkit::{Scratch, put, tree};
use mementory_formats::{Format, by_id};
use mementory_model::Limits;
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::mpsc,
    time::Duration,
};

/// A run that takes longer counts as hung. Even a debug build on a busy machine needs much less.
const MAX_DURATION: Duration = Duration::from_secs(60);
/// Number of cases of one format whose files are truncated.
const CUT_CASES_PER_FORMAT: usize = 2;
/// Number of evenly spread lengths to which a file is truncated, in addition to lengths near its start and end.
const CUT_LENGTHS_PER_FILE: usize = 8;

/// Reads and validates a path in a thread, and fails if this takes too long. Returns the number of records, or None if
/// the path is refused.
fn records_in_time(path: &Path, limits: Limits, format: &dyn Format) -> Option<usize> {
    let (path, id): (PathBuf, &'static str) = (path.to_path_buf(), by_id(format.id()).unwrap().id());
    let (done, wait) = mpsc::channel();
    let shown_path = path.display().to_string();
    let worker = std::thread::spawn(move || {
        let format = by_id(id).unwrap();
        if format.capabilities().validate {
            let _ = validate(&path, format);
        }
        let _ = done.send(read(&path, &limits, format).ok().map(|source| source.records.len()));
    });
    match wait.recv_timeout(MAX_DURATION) {
        Ok(records) => records,
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("{id} hangs on {shown_path}"),
        Err(mpsc::RecvTimeoutError::Disconnected) => panic!("{id} panics on {shown_path}: {:?}", worker.join().err()),
    }
}

fn first_cases(cases: Vec<Case>, max_per_format: usize) -> Vec<Case> {
    let mut counts: BTreeMap<&'static str, usize> = BTreeMap::new();
    let mut is_early = |case: &Case| {
        let count = counts.entry(case.format.id()).or_default();
        *count += 1;
        *count <= max_per_format
    };
    cases.into_iter().filter(|case| is_early(case)).collect()
}

#[test]
fn a_file_that_is_cut_off_is_an_error_or_has_fewer_records() {
    let cases = first_cases(readable_cases(|format| format.capabilities().read), CUT_CASES_PER_FORMAT);
    for case in &cases {
        let complete_count = read_case(case).records.len();
        let files = files(&case.path);
        for (file, bytes) in &files {
            let mut lengths: Vec<usize> =
                (0..CUT_LENGTHS_PER_FILE).map(|n| bytes.len() * n / CUT_LENGTHS_PER_FILE).collect();
            lengths.extend([1, 2, bytes.len().saturating_sub(2), bytes.len().saturating_sub(1)]);
            for length in lengths.into_iter().filter(|length| *length < bytes.len()) {
                let scratch = Scratch::new("cut");
                let mut truncated_files: Vec<(&str, &[u8])> =
                    files.iter().map(|(name, bytes)| (name.as_str(), &bytes[..])).collect();
                truncated_files
                    .iter_mut()
                    .filter(|(name, _)| name == file)
                    .for_each(|(_, bytes)| *bytes = &bytes[..length]);
                put(&scratch.at("input"), &truncated_files);
                let path = if case.path.is_dir() { scratch.at("input") } else { scratch.at("input").join(file) };
                let records = records_in_time(&path, Limits::default(), case.format).unwrap_or_default();
                assert!(
                    records <= complete_count,
                    "{}: {records} of {complete_count} with {length} bytes of {file}",
                    case.name
                );
            }
        }
    }
    assert_covered("cut off", &cases, |can| can.read);
}

/// Largest permitted size of a single value, in bytes. A value of `LARGE_VALUE_BYTES` exceeds it.
const MAX_VALUE_BYTES: u64 = 64 << 10;
const LARGE_VALUE_BYTES: usize = 4 << 20;

#[test]
fn a_value_above_the_limits_is_an_error_or_is_left_out() {
    let limits = Limits {
        element_bytes: MAX_VALUE_BYTES,
        line_bytes: MAX_VALUE_BYTES,
        tree_bytes: MAX_VALUE_BYTES,
        mem_file_bytes: MAX_VALUE_BYTES,
        side_file_bytes: MAX_VALUE_BYTES,
        ..Limits::default()
    };
    let cases = readable_cases(|format| format.capabilities().read);
    let mut tested_cases = Vec::new();
    for case in &cases {
        let Some((scratch, path)) = with_large_value(case) else { continue };
        records_in_time(&path, limits.clone(), case.format);
        let records = read(&path, &limits, case.format).map(|source| source.records).unwrap_or_default();
        let longest = records.iter().map(|record| record.text.len()).max().unwrap_or_default();
        assert!(longest < LARGE_VALUE_BYTES, "{}: a text of {longest} bytes was read", case.name);
        drop(scratch);
        tested_cases.push(case);
    }
    assert_covered("bounded memory", tested_cases, |can| can.read);
}

/// The input of a case, with the text of one record replaced by a large text. None if no file contains the text of a
/// record unchanged. In an encrypted file no text can be replaced, so the large text is appended to the file.
fn with_large_value(case: &Case) -> Option<(Scratch, PathBuf)> {
    let mut all = entries(&case.path);
    let source = read_case(case);
    let texts = source.records.iter().map(|record| record.text.as_bytes()).filter(|text| text.len() > 7);
    let place = texts.into_iter().find_map(|text| {
        let find_text = |(position, (_, bytes)): (usize, &(String, Vec<u8>))| {
            memchr::memmem::find(bytes, text).map(|from| (position, from, text.len()))
        };
        all.iter().enumerate().find_map(find_text)
    });
    let large_text = std::iter::repeat_n(b'x', LARGE_VALUE_BYTES);
    match place {
        Some((position, from, length)) => drop(all[position].1.splice(from..from + length, large_text)),
        None if case.passphrase.is_some() => all.first_mut()?.1.extend(large_text),
        None => return None,
    }
    let scratch = Scratch::new("large");
    let is_archive = !case.path.is_dir() && !name(&case.path).contains(&all[0].0);
    let path = if is_archive {
        scratch.put("input.zip", pack(all))
    } else {
        let files: Vec<(&str, &[u8])> = all.iter().map(|(name, bytes)| (name.as_str(), &bytes[..])).collect();
        put(&scratch.0, &files);
        scratch.at(&name(&case.path))
    };
    Some((scratch, path))
}

#[test]
fn more_bytes_or_entries_than_allowed_are_refused() {
    let cases = readable_cases(|format| format.capabilities().read);
    for case in &cases {
        for (limits, what) in [
            (Limits { total_bytes: 1, ..Limits::default() }, "bytes"),
            (Limits { entries: 0, ..Limits::default() }, "entries"),
        ] {
            let scratch = Scratch::new("packed");
            let path = scratch.put("input.zip", pack(files(&case.path)));
            let found = records_in_time(&path, limits, case.format);
            assert_eq!(found.unwrap_or_default(), 0, "{}: {what}", case.name);
        }
    }
    assert_covered("limits of the whole", &cases, |can| can.read);
}

/// Entry names that lead out of a folder, or that some file systems interpret differently.
const UNSAFE_NAMES: [&str; 14] = [
    "../escaped.json",
    "../../escaped.md",
    "a/../../escaped.txt",
    "/escaped.json",
    "C:\\escaped.json",
    "..\\escaped.json",
    "\\\\server\\share\\escaped.json",
    "./a//b/./c.json",
    "CON.json",
    "a\nb.json",
    "\u{202e}nosj.exe",
    "a\0b.json",
    "name. ",
    "~/escaped.json",
];

#[test]
fn entry_names_cannot_lead_out_of_the_folder() {
    let cases = first_cases(readable_cases(|format| format.capabilities().read), 1);
    for case in &cases {
        let long = "x".repeat(4000);
        let deep = "d/".repeat(2000) + "deep.json";
        for hostile in UNSAFE_NAMES.into_iter().chain([long.as_str(), deep.as_str()]) {
            let scratch = Scratch::new("names");
            let mut all = entries(&case.path);
            all.push((hostile.to_owned(), b"{\"content\": \"hostile\"}".to_vec()));
            let path = scratch.put("in/input.zip", pack(all));
            records_in_time(&path, Limits::default(), case.format);
            let Ok(mut source) = read(&path, &Limits::default(), case.format) else { continue };
            if case.format.capabilities().write {
                let out = scratch.at("out/written");
                std::fs::create_dir_all(scratch.at("out")).unwrap();
                let _ = case.format.write(&mut source, &out, &write_options(case.format, case.base.clone()));
                let files_outside: Vec<String> = tree(&scratch.0)
                    .into_keys()
                    .filter(|name| name != "in/input.zip" && !name.starts_with("out/written"))
                    .collect();
                assert_eq!(files_outside, [""; 0], "{}: {hostile:?}", case.name);
            }
        }
    }
    assert_covered("names of entries", &cases, |can| can.read);
}

/// The files of a case, with their names in an archive.
fn entries(path: &Path) -> Vec<(String, Vec<u8>)> {
    let Ok(file) = std::fs::File::open(path) else { return Vec::new() };
    if let (false, Ok(mut archive)) = (path.is_dir(), zip::ZipArchive::new(file)) {
        return (0..archive.len())
            .map(|position| {
                let mut entry = archive.by_index(position).unwrap();
                let mut bytes = Vec::new();
                std::io::Read::read_to_end(&mut entry, &mut bytes).unwrap();
                (entry.name().unwrap().into_owned(), bytes)
            })
            .collect();
    }
    let folder = if path.is_dir() { format!("{}/", name(path)) } else { String::new() };
    files(path).into_iter().map(|(name, bytes)| (folder.clone() + &name, bytes)).collect()
}
