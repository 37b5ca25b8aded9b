//! Reads the list of the sessions of a project (`sessions-index.json`), which contains a summary of each session.
use mementory_format::Member;
use mementory_formats_shared::object::Object;
use mementory_formats_shared::reader::FileReader;
use std::collections::HashMap;

/// Name of the list, which is in the folder of the logs.
pub(super) const INDEX_FILE: &str = "sessions-index.json";

/// The summaries of the sessions, by session id. Files that are not such a list are skipped.
pub(super) fn summaries(reader: &FileReader<'_>, side_files: &[&Member]) -> HashMap<String, String> {
    let mut out = HashMap::new();
    for member in side_files.iter().filter(|member| member.file_name() == INDEX_FILE) {
        let bytes = reader.catalog.bytes(member, reader.context.limits.side_file_bytes).unwrap_or_default();
        let list = std::str::from_utf8(&bytes).ok().and_then(Object::parse);
        for raw in list.and_then(|list| list.list("entries")).into_iter().flatten() {
            let Some(entry) = Object::parse(raw.get()) else { continue };
            let summary = ["customTitle", "summary"].into_iter().find_map(|key| entry.non_blank_text(key));
            if let (Some(id), Some(summary)) = (entry.non_blank_text("sessionId"), summary) {
                out.insert(id.into_owned(), summary.into_owned());
            }
        }
    }
    out
}
