//! Detects chats in common shapes. The confidence is low, so that a format that is made for the file takes precedence.
use super::cline::{self, MODEL_FILE};
use super::hugging_chat;
use super::shape::{Shape, shape, shape_of};
use super::tables::{self, Table};
use super::{
    amazon_q, anything_llm, chainlit, chat_databases, chatbox_page, goose, llm_logs, marked_page, ollama, superjson,
    void, zed,
};
use mementory_format::{Catalog, Claim, JsonHead, Member, Part, Role};
use mementory_formats_shared::files::{folder, root_of};
use mementory_formats_shared::json_head::{candidate_head, is_in_truncated_archive};
use mementory_formats_shared::sqlite_rows;
use std::collections::{HashMap, HashSet};

/// Version of the claim for a database of Goose.
pub(super) const GOOSE: &str = "goose";
/// Version of the claim for a database of Ollama's app.
pub(super) const OLLAMA: &str = "ollama";
/// Version of the claim for a database of AnythingLLM.
pub(super) const ANYTHING_LLM: &str = "anything_llm";
/// Version of the claim for a database of the command line program LLM.
pub(super) const LLM: &str = "llm";
/// Version of the claim for a database of Zed.
pub(super) const ZED: &str = "zed";
/// Version of the claim for a database of Void.
pub(super) const VOID: &str = "void";
/// Version of the claim for a database of Chainlit.
pub(super) const CHAINLIT: &str = "chainlit";
/// Version of the claim for a page of Chatbox.
pub(super) const CHATBOX_PAGE: &str = "chatbox_page";
/// Version of the claim for a page whose messages name their speakers.
pub(super) const MARKED_PAGE: &str = "marked_page";
/// Name of the file that lists the sessions of its folder.
const SESSION_LIST: &str = "sessions.json";
/// Version of the claim for a table.
const TABLE: &str = "table";

/// One claim for each file. Files in a truncated archive are claimed only if the user selected this format
/// (`is_selected`).
pub(super) fn claims(catalog: &Catalog, is_selected: bool) -> Vec<Claim> {
    let with_shape = catalog.members().iter().filter_map(|member| {
        let head = candidate_head(catalog, member)?;
        let bytes = head.bytes();
        let inner = superjson::inner_head(&bytes);
        let is_whole = inner.len() == bytes.len();
        let shape = if is_whole { shape_of(inner, &head.keys) } else { shape(inner) }?;
        (is_selected || !is_in_truncated_archive(catalog, member)).then_some((member, shape))
    });
    let shapes: Vec<(&Member, Shape)> = with_shape.collect();
    let screens = shapes.iter().filter(|(_, shape)| *shape == Shape::Cline).map(|(member, _)| place(member));
    let screens: HashSet<_> = screens.collect();
    // Cline stores a task in two files. The first file has the messages as the screen showed them, with their times.
    // The second file has the messages as the model received them, so it counts as a copy.
    let is_copy = |member: &Member| member.file_name() == MODEL_FILE && screens.contains(&place(member));
    let mut copies: HashMap<_, Vec<&Member>> = HashMap::new();
    for member in catalog.members().iter().filter(|member| is_copy(member)) {
        copies.entry(place(member)).or_default().push(member);
    }
    // The file with the title of a session of Kiro is next to it and has the same name with another ending.
    let has_kiro = shapes.iter().any(|(_, shape)| *shape == Shape::Kiro);
    let json_files = catalog.members().iter().filter(|member| has_kiro && member.name.ends_with(".json"));
    let headers: HashMap<_, &Member> = json_files.filter_map(|member| Some((stem(member)?, member))).collect();
    // Continue and Kiro list the sessions of a folder in a separate file.
    let mut session_lists: HashMap<_, Vec<&Member>> = HashMap::new();
    for list in catalog.members().iter().filter(|member| is_session_list(catalog, member)) {
        session_lists.entry(place(list)).or_default().push(list);
    }
    let task_files = cline::describing_files(catalog);
    // Files without messages that already belong to a task or a session.
    let mut described = HashSet::new();
    let part = |member: &Member, role| Part { member: member.id, role };
    let chat_claims = shapes.iter().filter(|(member, _)| !is_copy(member)).map(|(member, shape)| {
        let mut parts = vec![part(member, Role::Conversations)];
        if *shape == Shape::Cline {
            let copies_in_folder = copies.get(&place(member));
            parts.extend(copies_in_folder.into_iter().flatten().map(|other| part(other, Role::Sidecar)));
        }
        if *shape == Shape::Cline || member.file_name() == MODEL_FILE {
            parts.extend(cline::companions(&task_files, member, &mut described));
        }
        if *shape == Shape::Conversations {
            let lists = session_lists.get(&place(member)).into_iter().flatten();
            let lists = lists.filter(|list| list.id != member.id && described.insert(list.id));
            parts.extend(lists.map(|list| part(list, Role::Sidecar)));
        }
        if *shape == Shape::Kiro {
            let header = stem(member).and_then(|stem| headers.get(&stem)).filter(|header| header.id != member.id);
            parts.extend(header.map(|header| part(header, Role::Sidecar)));
        }
        if matches!(shape, Shape::Conversations | Shape::Messages) {
            parts.extend(hugging_chat::companions(catalog, member));
        }
        Claim {
            version: Some(shape.as_str().into()),
            confidence: 0.4,
            reason: "Messages with a speaker and a text, in a shape that many programs share".into(),
            parts,
            missing_parts: vec![],
        }
    });
    let databases = sqlite_rows::claims(catalog, 0.9, "The database of Kiro CLI or Amazon Q", amazon_q::is_database);
    let mut all_claims: Vec<Claim> = chat_claims.chain(databases).collect();
    let programs: [(&str, &str, IsDatabase); 7] = [
        (GOOSE, "The database of Goose", goose::is_database),
        (OLLAMA, "The database of Ollama's app", ollama::is_database),
        (ANYTHING_LLM, "The database of AnythingLLM", anything_llm::is_database),
        (LLM, "The database of the command line program LLM", llm_logs::is_database),
        (ZED, "The threads of Zed", zed::is_database),
        (VOID, "The storage of Void", void::is_database),
        (CHAINLIT, "The database of Chainlit", chainlit::is_database),
    ];
    for (version, reason, is_database) in programs {
        let database_claims = sqlite_rows::claims(catalog, 0.9, reason, is_database);
        all_claims.extend(database_claims.into_iter().map(|claim| Claim { version: Some(version.into()), ..claim }));
    }
    for program in &chat_databases::PROGRAMS {
        let database_claims = sqlite_rows::claims(catalog, 0.9, program.reason, |schema| program.is_database(schema));
        let with_version = |claim: Claim| Claim { version: Some(program.name.into()), ..claim };
        all_claims.extend(database_claims.into_iter().map(with_version));
    }
    let pages = catalog.members().iter().filter(|member| chatbox_page::is_page(catalog, member));
    all_claims.extend(pages.map(|member| Claim {
        version: Some(CHATBOX_PAGE.into()),
        confidence: 0.9,
        reason: "A session that Chatbox exported as a page".into(),
        parts: vec![part(member, Role::Manifest)],
        missing_parts: vec![],
    }));
    let pages = catalog.members().iter().filter(|member| marked_page::is_page(catalog, member));
    all_claims.extend(pages.map(|member| Claim {
        version: Some(MARKED_PAGE.into()),
        confidence: 0.4,
        reason: "A page whose messages name their speakers".into(),
        parts: vec![part(member, Role::Manifest)],
        missing_parts: vec![],
    }));
    let found = catalog.members().iter().filter_map(|member| Some((member, tables::table(catalog, member)?)));
    all_claims.extend(found.map(|(member, table)| Claim {
        version: Some(TABLE.into()),
        confidence: 0.9,
        reason: match table {
            Table::AnythingLlm => "A table of chats that AnythingLLM exported".into(),
            Table::Replika => "A chat with a Replika that replika_backup saved".into(),
        },
        parts: vec![part(member, Role::Records)],
        missing_parts: vec![],
    }));
    all_claims
}

/// True for the file in which Continue or Kiro lists the sessions of its folder.
fn is_session_list(catalog: &Catalog, member: &Member) -> bool {
    let has_members = |head: &JsonHead<'_>| ["sessionId", "dateCreated"].iter().all(|key| head.keys.has(key));
    let head = Some(member).filter(|member| member.file_name() == SESSION_LIST);
    head.and_then(|member| JsonHead::of(catalog, member)).is_some_and(|head| has_members(&head))
}

/// True for the tables of a program's database.
type IsDatabase = fn(&sqlite_rows::Schema) -> bool;

/// Root, archive and folder of a file. Files that were selected on their own are in the same place.
fn place(member: &Member) -> (Option<usize>, Option<usize>, &str) {
    (root_of(member), member.archive, folder(&member.name))
}

/// Root and archive of a file, and its name without the ending.
fn stem(member: &Member) -> Option<(Option<usize>, Option<usize>, &str)> {
    Some((root_of(member), member.archive, member.name.rsplit_once('.')?.0))
}
