//! Sessions of Cowork, the agent of Claude's desktop app. Cowork runs Claude Code with a folder for each task,
//! `local_<id>`, which contains the logs (`.claude/projects/…`) and a copy of the messages (`audit.jsonl`). Next to
//! this folder is a description of the task (`local_<id>.json`).
use mementory_format::Member;
use mementory_formats_shared::object::Object;
use mementory_formats_shared::reader::FileReader;
use std::collections::{HashMap, HashSet};

/// Folder of the logs inside the folder of a task.
const LOGS_FOLDER: &str = ".claude/projects/";
/// Name of the file with the copy of the messages.
const COPY_FILE: &str = "audit.jsonl";

/// Root, archive and path of the folder of a task.
pub(super) type TaskFolder<'m> = (usize, Option<usize>, &'m str);

/// The folders of the tasks whose logs are among `logs`.
pub(super) fn task_folders<'m>(logs: impl Iterator<Item = &'m Member>) -> HashSet<TaskFolder<'m>> {
    let folder = |member: &'m Member| {
        let (before, _) = member.name.split_once(LOGS_FOLDER)?;
        Some((member.root, member.archive, before.trim_end_matches('/')))
    };
    logs.filter_map(folder).collect()
}

/// True for the copy of the messages of a task whose log is in the input.
pub(super) fn is_copy(member: &Member, tasks: &HashSet<TaskFolder<'_>>) -> bool {
    let folder = member.name.strip_suffix(COPY_FILE).filter(|folder| folder.is_empty() || folder.ends_with('/'));
    folder.is_some_and(|folder| tasks.contains(&(member.root, member.archive, folder.trim_end_matches('/'))))
}

/// True for the description of a task whose log is in the input.
pub(super) fn is_description(member: &Member, tasks: &HashSet<TaskFolder<'_>>) -> bool {
    let folder = member.name.strip_suffix(".json").filter(|_| member.file_name().starts_with("local_"));
    folder.is_some_and(|folder| tasks.contains(&(member.root, member.archive, folder)))
}

/// The titles of the tasks by the ids of their sessions. Files that do not describe a task are skipped.
pub(super) fn titles(reader: &FileReader<'_>, side_files: &[&Member]) -> HashMap<String, String> {
    let is_named = |member: &&&Member| member.file_name().starts_with("local_") && member.name.ends_with(".json");
    let title = |member: &&Member| {
        let bytes = reader.catalog.bytes(member, reader.context.limits.side_file_bytes).ok()?;
        let task = Object::parse(std::str::from_utf8(&bytes).ok()?)?;
        Some((task.non_blank_text("cliSessionId")?.into_owned(), task.non_blank_text("title")?.into_owned()))
    };
    side_files.iter().filter(is_named).filter_map(title).collect()
}
