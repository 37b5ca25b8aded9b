//! Files of a workspace that are not the runtime's own (spec §3.1.9): below the threshold they travel under `artifacts/`
//! (tier 2), from there on the index names them and they stay where they are (tier 3). What the runtime lives on (tier 1)
//! is under `raw/`.
use super::partitions::stable_v5;
use super::plan::{Plan, Row};
use super::sealed::sha256;
use mementory_format::{FormatError, RecordSource, WriteOptions};
use mementory_formats_vendor::openclaw::{
    Runtime,
    files::{self, FileRole},
    redact,
    write::Workspace,
};
use mementory_formats_vendor::zeroclaw::ZEROCLAW;
use mementory_json::Tree;
use std::collections::{BTreeSet, HashMap};

/// The specification's default.
const THRESHOLD: u64 = 102_400;

/// Files below this travel inside the archive.
pub(super) fn threshold(options: &WriteOptions) -> u64 {
    options.artifact_threshold.unwrap_or(THRESHOLD)
}

/// What is lost of a file that is too large.
pub(super) fn too_large(threshold: u64) -> String {
    format!("{threshold} bytes or more: only its entry in the index goes along (spec §3.1.9, tier 3)")
}

/// A file that the runtime does not live on.
pub(super) struct Artifact {
    /// Id space of its workspace.
    pub scope: String,
    /// Its path as the vault keeps it.
    pub own: String,
    /// Its path below the workspace.
    pub source: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// Takes those files out of a workspace. A settings file that holds secrets stays: it is what an agent signs in with, and
/// under `raw/` its secrets are taken out or sealed.
pub(super) fn take(runtime: &Runtime, workspace: &mut Workspace) -> Vec<Artifact> {
    let in_home = |path: &str| runtime.id == ZEROCLAW.id && path.starts_with("workspace/");
    let mut homes: BTreeSet<String> =
        workspace.parts.values().filter(|(_, own)| in_home(own)).map(|(scope, _)| scope.clone()).collect();
    if workspace.files.keys().any(|path| in_home(path)) {
        homes.insert(workspace.first.clone());
    }
    let mut out = Vec::new();
    for (path, (scope, own)) in &workspace.parts {
        let inner = if homes.contains(scope) { own.strip_prefix("workspace/") } else { Some(own.as_str()) };
        // beside the workspace a home has nothing but the runtime's own
        let Some(inner) = inner.filter(|inner| !files::is_managed(inner)) else { continue };
        let Some(bytes) = workspace.files.get(path) else { continue };
        if files::role(inner) != FileRole::Settings || !holds_secret(&String::from_utf8_lossy(bytes)) {
            out.push((path.clone(), scope.clone(), own.clone(), inner.to_owned()));
        }
    }
    let take = |(path, scope, own, source): (String, String, String, String)| {
        workspace.parts.remove(&path);
        Some(Artifact { scope, own, source, bytes: workspace.files.remove(&path)? })
    };
    out.into_iter().filter_map(take).collect()
}

/// Secrets, or what stands where some were: the file keeps its place.
fn holds_secret(text: &str) -> bool {
    text.contains(redact::REDACTED) || redact::redact(text).1 > 0
}

/// Which memory lines speak of which of these files, by the position of the file: those of its workspace that say its path,
/// or its name where no other file has it (spec §3.1.9, `referenced_by`).
pub(super) fn mentions(
    source: &mut dyn RecordSource,
    plan: &Plan,
    artifacts: &[&Artifact],
) -> Result<HashMap<usize, BTreeSet<String>>, FormatError> {
    let mut out: HashMap<usize, BTreeSet<String>> = HashMap::new();
    if artifacts.is_empty() {
        return Ok(out);
    }
    let mut known: HashMap<(&str, &str), Option<usize>> = HashMap::new();
    for (at, artifact) in artifacts.iter().enumerate() {
        let name = artifact.source.rsplit('/').next().filter(|name| name.contains('.') && name.len() > 4);
        for word in BTreeSet::from_iter([Some(artifact.source.as_str()), name].into_iter().flatten()) {
            known.entry((artifact.scope.as_str(), word)).and_modify(|one| *one = None).or_insert(Some(at));
        }
    }
    let around = |c: char| c.is_whitespace() || "()[]{}<>\"'`,;:|*=".contains(c);
    source.records(&mut |stored| {
        if plan.is_line(&stored) {
            let scope = stored.record.key.scope.as_str();
            for word in stored.record.text.split(around) {
                let word = word.trim_end_matches(['.', '!', '?']);
                let word = word.strip_prefix("./").unwrap_or(word);
                if let Some(Some(at)) = known.get(&(scope, word))
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

/// Id of a file's row: the same at each export.
pub(super) fn row_id(artifact: &Artifact) -> String {
    stable_v5(&format!("artifact:{}:{}", artifact.scope, artifact.own)).to_string()
}

/// The row of a file in the index. `path` = where it is in the archive; None = tier 3.
pub(super) fn row(
    runtime: &Runtime,
    artifact: &Artifact,
    path: Option<&str>,
    referenced_by: Option<&BTreeSet<String>>,
) -> Row {
    let Artifact { scope, own, source, bytes } = artifact;
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
        "keepsake": {"path": own, "runtime": runtime.id, "scope": scope},
    });
    Row { value: id, scope: String::new(), runtime: String::new(), text: text.to_string(), file: None }
}

/// The row of a file that an archive only named, still without its bytes.
pub(super) fn absent_row(runtime: &Runtime, scope: &str, path: &str, row: &Tree) -> Row {
    let mut row = row.clone();
    let text = |t: &str| Tree::Text(t.to_owned());
    let slot = [("path", text(path)), ("runtime", text(runtime.id)), ("scope", text(scope))];
    row.set("keepsake", Tree::Object(slot.into_iter().map(|(k, v)| (k.to_owned(), v)).collect()));
    row.set("archive_path", Tree::Null);
    let value = row.get("id").and_then(Tree::as_str).unwrap_or_default().to_owned();
    let mut written = String::new();
    row.write(&mut written);
    Row { value, scope: String::new(), runtime: String::new(), text: written, file: None }
}

/// The row of a file that came with an archive, if the file is too large for this one: it is only named then.
pub(super) fn only_named(row: &str, threshold: u64) -> Option<String> {
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

/// Whose file a row of ours is: the runtime, the id space, and the path there. None = not such a row. What is hidden is
/// never a file of tier 2 or 3, so that no row of ours names what is kept beside a workspace.
pub(super) fn slot(row: &Tree) -> Option<(&'static Runtime, String, String)> {
    let slot = row.get("keepsake")?;
    let text = |key: &str| slot.get(key).and_then(Tree::as_str);
    let runtime = super::workspaces::by_id(text("runtime")?)?;
    let scope = text("scope").filter(|scope| super::workspaces::is_scope_of(runtime, scope))?;
    let kept_beside = |path: &str| path.split('/').any(|part| [".mementory", ".keepsake"].contains(&part));
    let path = text("path").filter(|path| files::is_safe(path) && !kept_beside(path))?;
    Some((runtime, scope.to_owned(), path.to_owned()))
}

/// Media type by a file's name (spec §3.1.9, `media_type`).
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
