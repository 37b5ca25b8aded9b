//! Workspace files by tier (spec §3.1.9). The files that the runtime itself needs (tier 1) are under `raw/`. Other
//! files are under `artifacts/` if they are smaller than the threshold (tier 2), otherwise they are only listed in the
//! index (tier 3).
use super::document_row::Row;
use super::first_pass::ExportPlan;
use super::partitions::stable_v5;
use super::sealed_secrets::sha256;
use mementory_format::extension as slot_names;
use mementory_format::{FormatError, RecordSource, WriteOptions};
use mementory_formats_agents::openclaw::{
    Runtime,
    files::{self, FileRole},
    redact,
    write::Workspace,
};
use mementory_formats_agents::zeroclaw::ZEROCLAW;
use mementory_json::Tree;
use std::collections::{BTreeSet, HashMap};

/// The default threshold of the specification, in bytes.
const DEFAULT_THRESHOLD_BYTES: u64 = 102_400;

/// The threshold of an export in bytes. The archive contains only those artifacts and files of other formats that are
/// smaller.
pub(super) fn threshold(options: &WriteOptions) -> u64 {
    options.artifact_threshold.unwrap_or(DEFAULT_THRESHOLD_BYTES)
}

/// The loss note for a file that is too large for the archive.
pub(super) fn too_large_note(threshold: u64) -> String {
    format!("{threshold} bytes or more: only listed in the index, without its content (spec §3.1.9, tier 3)")
}

/// A workspace file that the runtime itself does not need.
pub(super) struct Artifact {
    /// Id space of the workspace with the file.
    pub scope: String,
    /// Path of the file in the vault.
    pub stored_path: String,
    /// Path inside the workspace.
    pub source_path: String,
    pub bytes: Vec<u8>,
}

/// Removes the artifacts from a workspace and returns them. A settings file with secrets stays in the workspace,
/// because secrets are redacted or sealed only in files under `raw/`.
pub(super) fn take_artifacts(runtime: &Runtime, workspace: &mut Workspace) -> Vec<Artifact> {
    let in_home = |path: &str| runtime.id == ZEROCLAW.id && path.starts_with("workspace/");
    // Id spaces of the workspaces that lie inside a ZeroClaw home.
    let mut homes: BTreeSet<String> =
        workspace.passthrough.values().filter(|(_, stored)| in_home(stored)).map(|(scope, _)| scope.clone()).collect();
    if workspace.files.keys().any(|path| in_home(path)) {
        homes.insert(workspace.main_scope.clone());
    }
    let mut out = Vec::new();
    for (path, (scope, stored_path)) in &workspace.passthrough {
        let workspace_path =
            if homes.contains(scope) { stored_path.strip_prefix("workspace/") } else { Some(stored_path.as_str()) };
        // In a ZeroClaw home folder, all files outside the workspace folder belong to the runtime, so they are not
        // artifacts.
        let Some(workspace_path) = workspace_path.filter(|workspace_path| !files::is_managed(workspace_path)) else {
            continue;
        };
        let Some(bytes) = workspace.files.get(path) else { continue };
        if files::role(workspace_path) != FileRole::Settings || !contains_secret(&String::from_utf8_lossy(bytes)) {
            out.push((path.clone(), scope.clone(), stored_path.clone(), workspace_path.to_owned()));
        }
    }
    let take_artifact = |(path, scope, stored_path, source_path): (String, String, String, String)| {
        workspace.passthrough.remove(&path);
        Some(Artifact { scope, stored_path, source_path, bytes: workspace.files.remove(&path)? })
    };
    out.into_iter().filter_map(take_artifact).collect()
}

/// True if the text contains secrets or redaction marks. Such a file must stay under `raw/`.
fn contains_secret(text: &str) -> bool {
    text.contains(redact::REDACTED) || redact::redact(text).1 > 0
}

/// For each file, the ids of the memory lines that mention it (spec §3.1.9, `referenced_by`). A line mentions a file of
/// its own workspace by path or by name. A name counts only if it contains a dot, has more than 4 bytes, and is unique
/// in the workspace.
pub(super) fn lines_by_artifact(
    source: &mut dyn RecordSource,
    plan: &ExportPlan,
    artifacts: &[&Artifact],
) -> Result<HashMap<usize, BTreeSet<String>>, FormatError> {
    let mut out: HashMap<usize, BTreeSet<String>> = HashMap::new();
    if artifacts.is_empty() {
        return Ok(out);
    }
    let mut artifacts_by_word: HashMap<(&str, &str), Option<usize>> = HashMap::new();
    for (at, artifact) in artifacts.iter().enumerate() {
        let name = artifact.source_path.rsplit('/').next().filter(|name| name.contains('.') && name.len() > 4);
        for word in BTreeSet::from_iter([Some(artifact.source_path.as_str()), name].into_iter().flatten()) {
            artifacts_by_word.entry((artifact.scope.as_str(), word)).and_modify(|one| *one = None).or_insert(Some(at));
        }
    }
    let is_delimiter = |c: char| c.is_whitespace() || "()[]{}<>\"'`,;:|*=".contains(c);
    source.records(&mut |stored| {
        if plan.is_line(&stored) {
            let scope = stored.record.key.scope.as_str();
            for word in stored.record.text.split(is_delimiter) {
                let word = word.trim_end_matches(['.', '!', '?']);
                let word = word.strip_prefix("./").unwrap_or(word);
                if let Some(Some(at)) = artifacts_by_word.get(&(scope, word))
                    && let Some(id) = plan.id_of(&stored.id)
                {
                    out.entry(*at).or_default().insert(id);
                }
            }
        }
        Ok(())
    })?;
    Ok(out)
}

/// Id of a file's index row, which is the same in every export.
pub(super) fn row_id(artifact: &Artifact) -> String {
    stable_v5(&format!("artifact:{}:{}", artifact.scope, artifact.stored_path)).to_string()
}

/// The row of a file in the index. `path` is its name in the archive, or None for tier 3.
pub(super) fn row(
    runtime: &Runtime,
    artifact: &Artifact,
    path: Option<&str>,
    referenced_by: Option<&BTreeSet<String>>,
) -> Row {
    let Artifact { scope, stored_path: own, source_path: source, bytes } = artifact;
    let id = row_id(artifact);
    let filename = source.rsplit('/').next().unwrap_or(source);
    let text = serde_json::json!({
        "id": id,
        "filename": filename,
        "media_type": media_type(filename),
        "size_bytes": bytes.len(),
        "hash": {"algorithm": "sha256", "value": sha256(bytes)},
        "source_path": source,
        "archive_path": path,
        "remote_ref": null,
        "referenced_by": referenced_by.into_iter().flatten().collect::<Vec<_>>(),
        (slot_names::VENDOR): {"path": own, "runtime": runtime.id, "scope": scope},
    });
    Row { value: id, scope: String::new(), runtime: String::new(), text: text.to_string(), file: None }
}

/// The index row of a file that was already listed without its bytes in an imported archive.
pub(super) fn absent_row(runtime: &Runtime, scope: &str, path: &str, row: &Tree) -> Row {
    let mut row = row.clone();
    let text = |t: &str| Tree::Text(t.to_owned());
    let slot = [("path", text(path)), ("runtime", text(runtime.id)), ("scope", text(scope))];
    slot_names::set_vendor_slot(&mut row, Tree::Object(slot.into_iter().map(|(k, v)| (k.to_owned(), v)).collect()));
    row.set("archive_path", Tree::Null);
    let value = row.get("id").and_then(Tree::as_str).unwrap_or_default().to_owned();
    let mut row_text = String::new();
    row.write(&mut row_text);
    Row { value, scope: String::new(), runtime: String::new(), text: row_text, file: None }
}

/// The row without `archive_path`, so that its file is only listed. None if the row has no `archive_path`, or if the
/// file is smaller than `threshold`.
pub(super) fn as_tier_3(row: &str, threshold: u64) -> Option<String> {
    let mut row = Tree::parse(row, 512).ok()?;
    let size = match row.get("size_bytes") {
        Some(Tree::Number(n)) => n.parse::<u64>().ok()?,
        _ => return None,
    };
    row.get("archive_path").and_then(Tree::as_str).filter(|_| size >= threshold)?;
    row.set("archive_path", Tree::Null);
    let mut out = String::new();
    row.write(&mut out);
    Some(out)
}

/// Runtime, id space and path of the workspace file that a row describes. None if Mementory did not write the row, or
/// if the path is unsafe. Also None for a path in a bookkeeping folder, because files in such folders are always in
/// tier 1 and have no row.
pub(super) fn described_file(row: &Tree) -> Option<(&'static Runtime, String, String)> {
    let slot = slot_names::vendor_slot(row)?;
    let text = |key: &str| slot.get(key).and_then(Tree::as_str);
    let runtime = super::workspace_origin::by_id(text("runtime")?)?;
    let scope = text("scope").filter(|scope| super::workspace_origin::is_scope_of(runtime, scope))?;
    let is_bookkeeping = |path: &str| path.split('/').any(|part| [".mementory", ".keepsake"].contains(&part));
    let path = text("path").filter(|path| files::is_safe(path) && !is_bookkeeping(path))?;
    Some((runtime, scope.to_owned(), path.to_owned()))
}

/// Media type of a file, determined from its extension (spec §3.1.9, `media_type`).
fn media_type(name: &str) -> &'static str {
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending).to_ascii_lowercase();
    match ending.as_str() {
        "md" | "markdown" => "text/markdown",
        "txt" | "log" => "text/plain",
        "csv" => "text/csv",
        "tsv" => "text/tab-separated-values",
        "html" | "htm" => "text/html",
        "css" => "text/css",
        "py" => "text/x-python",
        "sh" | "bash" => "text/x-shellscript",
        "js" | "mjs" => "text/javascript",
        "ts" => "text/x-typescript",
        "rs" => "text/x-rust",
        "c" | "h" => "text/x-c",
        "json" => "application/json",
        "xml" => "application/xml",
        "yaml" | "yml" => "application/yaml",
        "toml" => "application/toml",
        "pdf" => "application/pdf",
        "zip" => "application/zip",
        "gz" => "application/gzip",
        "tar" => "application/x-tar",
        "db" | "sqlite" | "sqlite3" => "application/vnd.sqlite3",
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "svg" => "image/svg+xml",
        "wav" => "audio/wav",
        "mp3" => "audio/mpeg",
        "mp4" => "video/mp4",
        "mov" => "video/quicktime",
        _ => "application/octet-stream",
    }
}
