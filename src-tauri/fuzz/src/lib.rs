//! One input of the fuzzer: laid down as a person would give it, then detected, read and checked.
//!
//! The bytes are one file, or several: each begins with [`MARK`], a line with its name, then its content. Formats that
//! come as an archive get several packed into one, and those of one file as that archive itself. The test of
//! `mementory-formats` that replays what was found includes this file.
use mementory_formats::{
    AttachmentFile, Catalog, FormatError, PassthroughItem, ReadContext, Sink, by_id, detect as detect_in,
};
use mementory_model::{Dropped, Issue, Limits, Timestamp, Tombstone, Unit};
use sha2::{Digest, Sha256};
use std::{
    io::{Cursor, Read, Write},
    path::{Path, PathBuf},
};

/// Begins a file: bytes that stand in no text. Lengths would be wrong as soon as the fuzzer puts a byte in.
const MARK: &[u8] = b"\xff\0\xff";
/// Begins a file of a `.mem` bundle whose digests are to be made right, else nothing behind them is ever reached.
const SEALED: &[u8] = b"\xff\x01\xff";
/// Where the input lies as a whole while it is worked on, in a folder of its own below the system's temporary one.
const WHOLE: &str = "whole";
/// More files than this say nothing new.
const FILES: usize = 40;

/// Detects by content and by name, reads and validates everything that was claimed. Panics are the findings.
pub fn run(format: &str, data: &[u8]) {
    let Ok(scratch) = tempfile::Builder::new().prefix("mementory-fuzz-").tempdir() else { return };
    // A stack that overflows leaves no time to say what did it.
    let _ = std::fs::write(scratch.path().join(WHOLE), data);
    let Ok(path) = lay(format, data, scratch.path()) else { return };
    // Small, so that what grows past them is seen at once.
    let limits = Limits {
        total_bytes: 64 << 20,
        element_bytes: 4 << 20,
        line_bytes: 4 << 20,
        entries: 1000,
        mem_file_bytes: 4 << 20,
        side_file_bytes: 4 << 20,
        ..Limits::default()
    };
    let Ok(catalog) = Catalog::open(std::slice::from_ref(&path), &limits, None) else { return };
    let _ = detect_in(&catalog, &limits, None);
    let Ok(detection) = detect_in(&catalog, &limits, Some(format)) else { return };
    for source in &detection.sources {
        let Some(format) = by_id(source.format) else { continue };
        let Some(now) = Timestamp::from_micros(1_790_000_000_000_000) else { return };
        let context = ReadContext { limits: limits.clone(), now, passphrase: None };
        let mut seen = Seen::default();
        let _ = format.read(&catalog, source, &context, &mut seen);
        if format.capabilities().validate {
            let _ = format.validate(&catalog, source, &limits, &[]);
            let _ = format.signatures(&catalog, source, &limits, &mut |signed| {
                seen.bytes += signed.message.len() as u64;
                Ok(())
            });
        }
        std::hint::black_box(seen.bytes);
    }
}

/// Name of a file that stands alone; whether several are an archive.
fn shape(format: &str) -> (&'static str, bool) {
    match format {
        "alf" => ("input.alf", true),
        "alf_delta" => ("input.alf-delta", true),
        "chatgpt" | "claude" => ("export.zip", true),
        "mem" => ("input.mem.zip", false),
        "eventloom" => ("events.jsonl", false),
        "mif" => ("input.mif.json", false),
        "pam" => ("memory-store.json", false),
        "transfer_text" => ("memories.txt", false),
        "zeroclaw" => ("brain.db", false),
        _ => ("input.json", false),
    }
}

/// Puts the input down and says where.
fn lay(format: &str, data: &[u8], folder: &Path) -> std::io::Result<PathBuf> {
    let (alone, archive) = shape(format);
    if !data.starts_with(MARK) && !data.starts_with(SEALED) {
        let path = folder.join(alone);
        std::fs::write(&path, data)?;
        return Ok(path);
    }
    let mut files = files(data);
    if data.starts_with(SEALED) && format == "mem" {
        seal(&mut files);
    }
    if archive {
        let path = folder.join(alone);
        std::fs::write(&path, pack(&files)?)?;
        return Ok(path);
    }
    let safe = |name: &str| {
        let step = |s: &str| !matches!(s, "" | "." | "..") && s.len() < 100 && !s.contains('\0');
        name.len() < 400 && name.split('/').all(step)
    };
    files.retain(|(name, _)| safe(name));
    if let [(name, content)] = &files[..]
        && !name.contains('/')
    {
        std::fs::write(folder.join(name), content)?;
        return Ok(folder.join(name));
    }
    let root = folder.join(if format == "mem" { "input.mem" } else { "input" });
    std::fs::create_dir(&root)?;
    for (name, content) in &files {
        let path = root.join(name);
        // A name may be a folder of another one: the first stays.
        let _ = path.parent().map(std::fs::create_dir_all);
        let _ = std::fs::write(path, content);
    }
    Ok(root)
}

fn files(data: &[u8]) -> Vec<(String, Vec<u8>)> {
    let mut starts: Vec<usize> =
        data.windows(3).enumerate().filter(|(_, w)| *w == MARK || *w == SEALED).map(|(i, _)| i).collect();
    starts.truncate(FILES);
    let ends: Vec<usize> = starts.iter().skip(1).copied().chain([data.len()]).collect();
    let file = |(start, end): (usize, usize)| {
        let body = data.get(start + MARK.len()..end).unwrap_or_default();
        let line = body.iter().position(|b| *b == b'\n').unwrap_or(body.len());
        let (name, content) = body.split_at(line);
        (String::from_utf8_lossy(name).into_owned(), content.get(1..).unwrap_or_default().to_vec())
    };
    starts.into_iter().zip(ends).map(file).collect()
}

/// An archive of stored entries; a name that is there already is left out.
fn pack(files: &[(String, Vec<u8>)]) -> std::io::Result<Vec<u8>> {
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let options = zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    for (name, content) in files {
        if zip.start_file(name.as_str(), options).is_ok() {
            zip.write_all(content)?;
        }
    }
    Ok(zip.finish()?.into_inner())
}

/// Makes the digests and sizes of a `.mem` bundle those of its files.
fn seal(files: &mut Vec<(String, Vec<u8>)>) {
    let (manifest_name, sums_name) = ("manifest.json", "CHECKSUMS");
    let Some(at) = files.iter().position(|(name, _)| name == manifest_name) else { return };
    let Ok(mut manifest) = serde_json::from_slice::<serde_json::Value>(&files[at].1) else { return };
    let Some(object) = manifest.as_object_mut() else { return };
    files.retain(|(name, _)| name != sums_name);
    let mut listed: Vec<&(String, Vec<u8>)> =
        files.iter().filter(|(name, _)| name != manifest_name && name != "manifest.sig").collect();
    listed.sort();
    let digest = |bytes: &[u8]| hex::encode(Sha256::digest(bytes));
    let sums: String = listed.iter().map(|(name, bytes)| format!("{}  {name}\n", digest(bytes))).collect();
    let rows = listed
        .iter()
        .map(|(name, bytes)| serde_json::json!({ "path": name, "sha256": digest(bytes), "bytes": bytes.len() }));
    object.insert("files".into(), rows.collect());
    object.insert("bundleDigest".into(), digest(sums.as_bytes()).into());
    let text = manifest.to_string().into_bytes();
    if let Some((_, bytes)) = files.iter_mut().find(|(name, _)| name == manifest_name) {
        *bytes = text;
    }
    files.push((sums_name.into(), sums.into_bytes()));
}

/// Counts what comes, and keeps nothing.
#[derive(Default)]
struct Seen {
    bytes: u64,
}

impl Seen {
    fn drain(&mut self, bytes: &mut dyn Read) -> Result<(), FormatError> {
        let io = |e| FormatError::Io { place: "input".into(), source: e };
        self.bytes += std::io::copy(bytes, &mut std::io::sink()).map_err(io)?;
        Ok(())
    }
}

impl Sink for Seen {
    fn unit(&mut self, unit: Unit) -> Result<(), FormatError> {
        self.bytes += unit.records.iter().map(|r| r.text.len() as u64).sum::<u64>();
        Ok(())
    }
    fn attachment(&mut self, _: AttachmentFile, bytes: &mut dyn Read) -> Result<(), FormatError> {
        self.drain(bytes)
    }
    fn passthrough(&mut self, _: PassthroughItem, bytes: &mut dyn Read) -> Result<(), FormatError> {
        self.drain(bytes)
    }
    fn tombstone(&mut self, _: Tombstone) -> Result<(), FormatError> {
        Ok(())
    }
    fn note(&mut self, _: Issue) {}
    fn dropped(&mut self, _: Dropped) {}
    fn progress(&mut self, _: u64) -> Result<(), FormatError> {
        Ok(())
    }
}
