//! Runs one fuzzer input: writes it as a file, folder or archive, then detects, reads and validates it.
//!
//! The bytes are one file or several. If they are several, each begins with [`FILE_MARK`] and a line with its name,
//! followed by its content. For formats that are archives, several files are packed into one archive; a single file is
//! the archive itself. The test of `mementory-formats` that replays earlier findings includes this source file.
use mementory_formats::{
    AttachmentFile, Catalog, FormatError, PassthroughItem, ReadContext, Sink, by_id, detect as detect_in,
};
use mementory_model::{Dropped, Issue, Limits, Timestamp, Tombstone, Unit};
use sha2::{Digest, Sha256};
use std::{
    io::{Cursor, Read, Write},
    path::{Path, PathBuf},
};

/// Marks the beginning of a file, with bytes that do not occur in text. A length prefix would become wrong when the
/// fuzzer inserts bytes.
const FILE_MARK: &[u8] = b"\xff\0\xff";
/// Like [`FILE_MARK`], for a `.mem` bundle whose digests are corrected first. Without that, the fuzzer would never get
/// past the digest check.
const DIGEST_MARK: &[u8] = b"\xff\x01\xff";
/// Name of a copy of the input in the temporary folder of the run.
const INPUT_COPY: &str = "whole";
/// Maximum number of files in an input; any others are ignored.
const MAX_FILES: usize = 40;

/// Detects the input by content and by format id, then reads and validates every detected source. A panic is a finding.
pub fn run(format: &str, data: &[u8]) {
    let Ok(scratch) = tempfile::Builder::new().prefix("mementory-fuzz-").tempdir() else { return };
    // The copy stays for debugging, because nothing can be reported after a stack overflow.
    let _ = std::fs::write(scratch.path().join(INPUT_COPY), data);
    let Ok(path) = write_input(format, data, scratch.path()) else { return };
    // Small limits, so that unbounded growth is noticed soon.
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
        let mut sink = CountingSink::default();
        let _ = format.read(&catalog, source, &context, &mut sink);
        if format.capabilities().validate {
            let _ = format.validate(&catalog, source, &limits, &[]);
            let _ = format.signatures(&catalog, source, &limits, &mut |signed| {
                sink.bytes += signed.message.len() as u64;
                Ok(())
            });
        }
        std::hint::black_box(sink.bytes);
    }
}

/// Name of the file if the input is a single file, and whether several files are packed into an archive.
fn layout_of(format: &str) -> (&'static str, bool) {
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
        "agent_rules" => ("CLAUDE.md", false),
        "cursor" => ("state.vscdb", false),
        "agent_sessions" | "claude_code" | "codex" | "gemini_cli" | "grok_build" => ("input.jsonl", false),
        _ => ("input.json", false),
    }
}

/// Writes the input below `folder` and returns its path.
fn write_input(format: &str, data: &[u8], folder: &Path) -> std::io::Result<PathBuf> {
    let (single_name, is_archive) = layout_of(format);
    if !data.starts_with(FILE_MARK) && !data.starts_with(DIGEST_MARK) {
        let path = folder.join(single_name);
        std::fs::write(&path, data)?;
        return Ok(path);
    }
    let mut files = split_files(data);
    if data.starts_with(DIGEST_MARK) && format == "mem" {
        fix_digests(&mut files);
    }
    if is_archive {
        let path = folder.join(single_name);
        std::fs::write(&path, zip_files(&files)?)?;
        return Ok(path);
    }
    let is_safe_name = |name: &str| {
        let step = |s: &str| !matches!(s, "" | "." | "..") && s.len() < 100 && !s.contains('\0');
        name.len() < 400 && name.split('/').all(step)
    };
    files.retain(|(name, _)| is_safe_name(name));
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
        // If a name is also the folder of another file, only the first of the two can be written.
        let _ = path.parent().map(std::fs::create_dir_all);
        let _ = std::fs::write(path, content);
    }
    Ok(root)
}

fn split_files(data: &[u8]) -> Vec<(String, Vec<u8>)> {
    let mut starts: Vec<usize> =
        data.windows(3).enumerate().filter(|(_, w)| *w == FILE_MARK || *w == DIGEST_MARK).map(|(i, _)| i).collect();
    starts.truncate(MAX_FILES);
    let ends: Vec<usize> = starts.iter().skip(1).copied().chain([data.len()]).collect();
    let file = |(start, end): (usize, usize)| {
        let body = data.get(start + FILE_MARK.len()..end).unwrap_or_default();
        let line = body.iter().position(|b| *b == b'\n').unwrap_or(body.len());
        let (name, content) = body.split_at(line);
        (String::from_utf8_lossy(name).into_owned(), content.get(1..).unwrap_or_default().to_vec())
    };
    starts.into_iter().zip(ends).map(file).collect()
}

/// Packs an archive of uncompressed entries; skips duplicate names.
fn zip_files(files: &[(String, Vec<u8>)]) -> std::io::Result<Vec<u8>> {
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let options = zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    for (name, content) in files {
        if zip.start_file(name.as_str(), options).is_ok() {
            zip.write_all(content)?;
        }
    }
    Ok(zip.finish()?.into_inner())
}

/// Sets the digests and sizes in the manifest of a `.mem` bundle to those of its files.
fn fix_digests(files: &mut Vec<(String, Vec<u8>)>) {
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

/// A sink that counts bytes and stores nothing.
#[derive(Default)]
struct CountingSink {
    bytes: u64,
}

impl CountingSink {
    fn drain(&mut self, bytes: &mut dyn Read) -> Result<(), FormatError> {
        let io = |e| FormatError::Io { place: "input".into(), source: e };
        self.bytes += std::io::copy(bytes, &mut std::io::sink()).map_err(io)?;
        Ok(())
    }
}

impl Sink for CountingSink {
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
