//! Recognises export files that no format reads, so that the claim can describe them.
use mementory_format::{Catalog, JsonHead, Member};
use mementory_formats_shared::text_head::may_be_page;

/// Number of members that are examined. The files below are near the start of their archives, or alone.
const MAX_MEMBERS: usize = 500;
/// Number of bytes at the start of a file that are enough to recognise a web page.
const PAGE_BYTES: usize = 64;
/// Number of bytes of a web page that are enough to find its first activity.
const ACTIVITY_PAGE_BYTES: usize = 256 << 10;

/// A known kind of file.
struct KnownFile {
    /// Endings of paths. A file matches if its path has one of them, whatever its content is.
    paths: &'static [&'static str],
    /// Paths of JSON keys. A JSON file matches if it has all of them, whatever its path is.
    keys: &'static [&'static str],
    text: &'static str,
}

/// Describes a Google activity log that contains no chat.
const ACTIVITIES: &str = "It lists what you did in other products of Google, and none of it is a chat with Gemini. In \
    Google Takeout, choose My Activity, and in it Gemini Apps";

/// Describes the files in which Cline and Roo Code describe one task, or list all of them.
const TASKS: &str = "It describes tasks of Cline or Roo Code. What was said is in the folders of the tasks, in the \
    files ui_messages.json and api_conversation_history.json";

/// Describes a list of links to files, which may be the parts of an export.
const LINKS: &str = "It lists addresses of files. If they are the parts of your export, download them and import these \
    files instead";

const KNOWN_FILES: [KnownFile; 12] = [
    KnownFile { paths: &[], keys: &["header", "title", "time", "products"], text: ACTIVITIES },
    KnownFile {
        paths: &["snapchat_ai.json", "snapchat_ai.html"],
        keys: &["My AI Content"],
        text: "It is from a download of Snapchat. Only chats with My AI are read from it, if it was made with JSON files",
    },
    KnownFile {
        paths: &["data/tweets.js", "data/tweet.js"],
        keys: &[],
        text: "It is an archive of X without chats with Grok",
    },
    KnownFile {
        paths: &[],
        keys: &["messages.from_id", "messages.text_entities"],
        text: "It is a chat of people in Telegram, not with an assistant",
    },
    KnownFile {
        paths: &[],
        keys: &["guild.id", "messages.author.isBot"],
        text: "It is a channel of Discord, not a chat with an assistant",
    },
    KnownFile {
        paths: &[],
        keys: &["messages.sender_name", "messages.timestamp_ms"],
        text: "It is a chat of people in Messenger or Instagram, not with an assistant",
    },
    KnownFile {
        paths: &[],
        keys: &["trajectorySummaries"],
        text: "It lists conversations of Antigravity or Windsurf, without what was said in them",
    },
    KnownFile { paths: &[], keys: &["task", "tokensIn"], text: TASKS },
    KnownFile { paths: &[], keys: &["entries.task", "entries.tokensIn"], text: TASKS },
    KnownFile { paths: &[], keys: &["files.url"], text: LINKS },
    KnownFile { paths: &[], keys: &["files.download_url"], text: LINKS },
    KnownFile { paths: &["/NotebookLM"], keys: &[], text: "It is from NotebookLM, whose notebooks are not read" },
];

/// Describes the files in one sentence. None if their kind is not known.
pub(super) fn description(catalog: &Catalog) -> Option<&'static str> {
    let members = || catalog.members().iter().take(MAX_MEMBERS);
    if members().any(|member| is_page_instead_of_data(catalog, member)) {
        let text = "It is a web page and not the export itself: the link of the download may have expired, or it asks \
                    to sign in. Download the export again";
        return Some(text);
    }
    if members().any(|member| is_activity_page(catalog, member)) {
        return Some(ACTIVITIES);
    }
    KNOWN_FILES.iter().find(|known| members().any(|member| known.matches(catalog, member))).map(|known| known.text)
}

impl KnownFile {
    fn matches(&self, catalog: &Catalog, member: &Member) -> bool {
        let folder = member.name.rsplit_once('/').map_or("", |(folder, _)| folder);
        let has_path = |path: &str| member.name.ends_with(path) || path.starts_with('/') && has_folder(folder, path);
        self.paths.iter().any(|path| has_path(path))
            || !self.keys.is_empty()
                && member.name.ends_with(".json")
                && JsonHead::of(catalog, member).is_some_and(|head| self.keys.iter().all(|key| head.keys.has(key)))
    }
}

/// True if a folder in `path` has the name that follows the slash in `name`.
fn has_folder(path: &str, name: &str) -> bool {
    path.split('/').any(|part| name.strip_prefix('/') == Some(part))
}

/// True for a log of activities as a web page. Its styles come before its first activity.
fn is_activity_page(catalog: &Catalog, member: &Member) -> bool {
    if !may_be_page(catalog, member) {
        return false;
    }
    let head = catalog.head(member, ACTIVITY_PAGE_BYTES).unwrap_or_default();
    [&b"outer-cell"[..], b"mdl-typography--title"].iter().all(|class| memchr::memmem::find(&head, class).is_some())
}

/// True for a web page with the name of a JSON file.
fn is_page_instead_of_data(catalog: &Catalog, member: &Member) -> bool {
    let head = || catalog.head(member, PAGE_BYTES).unwrap_or_default();
    let is_page = |head: &[u8]| {
        let start = String::from_utf8_lossy(head).trim_start().to_ascii_lowercase();
        start.starts_with("<!doctype html") || start.starts_with("<html")
    };
    member.file_name().to_ascii_lowercase().ends_with(".json") && is_page(&head())
}
