//! One activity in Takeout's My Activity. The readers of JSON and of web pages both produce this type.
use super::verbs::{self, Label, Title};
use mementory_format::Member;
use mementory_formats_shared::object::content_id;
use mementory_formats_shared::percent::percent_decoded;
use mementory_model::{AttachmentRef, Fields, RecordKey, Timestamp, Verbatim};
use std::ops::Range;

/// Scope of the record keys. It is also the id of the format and the name of the platform.
pub(super) const SCOPE: &str = "gemini";

/// An activity of Gemini, with the values that the export states.
#[derive(Debug, Default)]
pub(super) struct Activity {
    /// The title, which consists of Google's words and the prompt. No-break spaces are replaced with ordinary spaces.
    pub title: String,
    /// True if the title is a prompt without Google's words.
    pub is_request: bool,
    /// The header, unless it is the name of a product. In some exports, Google's words are in the header, and the title
    /// is only the prompt.
    pub label: Option<String>,
    /// Time of the activity. None if it is absent or cannot be read.
    pub time: Option<Timestamp>,
    /// Time as the page writes it. In JSON, set only if the time cannot be read.
    pub stamp: String,
    /// The chat to which the activity links. None if the activity has no link to a chat.
    pub chat: Option<ChatLink>,
    /// Text of the answer.
    pub answer: Option<String>,
    /// Files that the person sent with the prompt.
    pub files: Vec<AttachmentRef>,
    /// Files that the answer contains.
    pub answer_files: Vec<AttachmentRef>,
    /// Values of the source for which the model has no field.
    pub fields: Fields,
    /// The JSON or HTML of the activity.
    pub verbatim: Option<Verbatim>,
    /// Range in bytes of the answer in the text of `verbatim`.
    pub answer_range: Option<Range<usize>>,
    /// JSON pointer of the row, or `@` and the offset of the cell in a page.
    pub pointer: String,
}

/// A link to a chat of Gemini.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ChatLink {
    /// Id of the chat.
    pub id: String,
    /// Id of the Gem that the chat uses. None for a chat without a Gem.
    pub gem: Option<String>,
}

/// Whether an activity is a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Meaning {
    /// A prompt. The string is its text.
    Prompt(String),
    /// Something that the person did other than entering a prompt.
    Other,
}

impl Activity {
    /// Returns an id for the activity, because exports contain no ids. The id is the digest of the time in whole
    /// seconds and of the prompt or title, which are the same in JSON and in HTML. Google's words before a prompt are
    /// left out if they are known, because they depend on the language of the account.
    pub(super) fn id(&self) -> String {
        let text = match self.title() {
            Title::Prompt(prompt) => self.without_file_count(prompt),
            Title::Activity | Title::Unknown => self.title.as_str(),
        };
        let words: Vec<&str> = text.split_whitespace().collect();
        let time = match self.time {
            Some(time) => time.to_rfc3339_seconds(),
            None => self.stamp.clone(),
        };
        content_id(&format!("{time}\n{}", words.join(" ")))
    }

    /// Classifies the activity by its title and its header.
    pub(super) fn title(&self) -> Title<'_> {
        let title = self.title.trim();
        match self.label.as_deref().and_then(verbs::label) {
            _ if self.is_request => Title::Prompt(title),
            Some(Label::Activity) => Title::Activity,
            Some(Label::Prompt) => {
                // Google's words may be in both the header and the title, so they are removed from the title.
                let label = self.label.as_deref().unwrap_or_default().trim();
                let rest = title.strip_prefix(label).filter(|rest| rest.starts_with([' ', ':', '：']));
                Title::Prompt(rest.map_or(title, |rest| rest.trim_start_matches([' ', ':', '：'])))
            }
            None => verbs::read_title(&self.title),
        }
    }

    /// Returns a prompt without the number of its files, which the title contains in some exports.
    fn without_file_count<'p>(&self, prompt: &'p str) -> &'p str {
        if self.files.is_empty() { prompt } else { verbs::without_file_count(prompt) }
    }

    /// Determines whether the activity is a prompt. `is_prompt_word` is called for a title in an unknown language, with
    /// the header or the first word of the title. It returns true if an activity with an answer has the same header or
    /// first word.
    pub(super) fn meaning(&self, is_prompt_word: impl FnOnce(&str) -> bool) -> Meaning {
        let text = |prompt: &str| Meaning::Prompt(self.without_file_count(prompt).to_owned());
        match self.title() {
            Title::Prompt(prompt) => text(prompt),
            Title::Activity => Meaning::Other,
            Title::Unknown if self.answer.is_some() || self.prompt_word().is_some_and(is_prompt_word) => {
                text(self.title.trim())
            }
            Title::Unknown => Meaning::Other,
        }
    }

    /// Splits the verbatim into that of the prompt, without the answer, and that of the answer. So erasing one of the
    /// two messages erases its text completely.
    pub(super) fn split_verbatim(&self) -> (Option<Verbatim>, Option<Verbatim>) {
        let (Some(whole), Some(range)) = (&self.verbatim, &self.answer_range) else {
            return (self.verbatim.clone(), self.verbatim.clone());
        };
        let part = |range: Range<usize>| whole.text.get(range).unwrap_or_default();
        let placeholder = if whole.media_type == "application/json" { "null" } else { "" };
        let rest = [part(0..range.start), placeholder, part(range.end..whole.text.len())].concat();
        let verbatim = |text: String| Some(Verbatim { media_type: whole.media_type.clone(), text });
        (verbatim(rest), verbatim(part(range.clone()).to_owned()))
    }

    /// Returns the text that may be Google's word for a prompt: the header, or else the first word of the title.
    pub(super) fn prompt_word(&self) -> Option<&str> {
        self.label.as_deref().or_else(|| verbs::first_word(&self.title))
    }
}

/// True if a file is in Gemini's folder of a Takeout. In this folder, activities that name no product are Gemini's.
/// Outside of a Takeout, a folder called Gemini may contain other files too.
pub(super) fn is_in_gemini_folder(member: &Member) -> bool {
    let is_takeout = |part: &str| part.get(..7).is_some_and(|start| start.eq_ignore_ascii_case("takeout"));
    let path = if member.archive.is_some() { &member.name } else { &member.place };
    let Some((folder, _)) = path.rsplit_once('/') else { return false };
    is_product(folder.rsplit('/').next().unwrap_or(folder))
        && (member.archive.is_some() || folder.split('/').any(is_takeout))
}

/// True if a name is that of Gemini in any language, such as `Gemini Apps`, `Gemini アプリ` or `Bard`.
pub(super) fn is_product(name: &str) -> bool {
    let name = name.to_lowercase();
    // In some languages, no space separates the product name from the next word.
    name.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| word == "gemini" || word == "bard")
        || name.starts_with("gemini")
}

/// Parses a link such as `gemini.google.com/app/<id>`, `/u/1/app/<id>` or `/gem/<gem>/<id>`. Returns `None` for a link
/// to another site, and `Some(None)` for a link to Gemini that names no chat.
pub(super) fn chat_link(address: &str) -> Option<Option<ChatLink>> {
    let rest = address.strip_prefix("https://").or_else(|| address.strip_prefix("http://"))?;
    let rest = rest.split(['?', '#']).next().unwrap_or_default();
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    if !matches!(host, "gemini.google.com" | "bard.google.com") {
        return None;
    }
    let mut parts = path.split('/').filter(|part| !part.is_empty()).peekable();
    if parts.next_if_eq(&"u").is_some() {
        parts.next();
    }
    let is_id = |id: &&str| {
        id.len() >= 6 && id.len() <= 128 && id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
    };
    let link = match parts.next() {
        Some("app" | "chat") => {
            parts.next_if_eq(&"c");
            parts.next().filter(is_id).map(|id| ChatLink { id: id.into(), gem: None })
        }
        Some("gem") => {
            let gem = parts.next();
            parts.next().filter(is_id).map(|id| ChatLink { id: id.into(), gem: gem.map(Into::into) })
        }
        _ => None,
    };
    Some(link)
}

/// Returns a reference to a file in the folder of the activities. None for a link to anything else.
pub(super) fn file_reference(address: &str, name: &str) -> Option<AttachmentRef> {
    if address.contains("://") || address.starts_with(['#', '/']) || address.contains(':') && !address.contains('.') {
        return None;
    }
    let path = percent_decoded(address);
    let file = path.rsplit(['/', '\\']).next().filter(|file| !file.is_empty())?;
    let name = name.trim().trim_start_matches('-').trim();
    Some(AttachmentRef {
        key: file_key(file),
        origin_id: Some(address.to_owned()),
        name: if name.is_empty() { file.to_owned() } else { name.to_owned() },
        media_type: None,
        size: None,
        text: None,
    })
}

/// Returns the key of the record of a file. The key is made from the name of the file in the export.
pub(super) fn file_key(file: &str) -> RecordKey {
    RecordKey::new(SCOPE, format!("file/{file}"))
}

/// Largest number of files of one activity. Only the verbatim contains the links to additional files.
const MAX_FILES: usize = 500;

/// Adds a file, unless the list contains it already or has [`MAX_FILES`] files.
pub(super) fn add_file(files: &mut Vec<AttachmentRef>, file: Option<AttachmentRef>) {
    if let Some(file) = file
        && files.len() < MAX_FILES
        && !files.iter().any(|known| known.key == file.key)
    {
        files.push(file);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chats_are_found_in_links_to_gemini_only() {
        let chat = |address: &str| chat_link(address).map(|link| link.map(|link| (link.id, link.gem)));
        let id = || "0a1b2c3d4e5f6071".to_owned();
        assert_eq!(chat("https://gemini.google.com/app/0a1b2c3d4e5f6071?hl=de"), Some(Some((id(), None))));
        assert_eq!(chat("https://gemini.google.com/u/1/app/0a1b2c3d4e5f6071"), Some(Some((id(), None))));
        assert_eq!(chat("https://gemini.google.com/gem/g1/0a1b2c3d4e5f6071"), Some(Some((id(), Some("g1".into())))));
        assert_eq!(chat("https://gemini.google.com/app"), Some(None));
        assert_eq!(chat("https://www.google.com/search?q=gemini.google.com/app/0a1b2c3d4e5f6071"), None);
    }

    #[test]
    fn products_are_recognised_in_every_language() {
        for name in ["Gemini Apps", "Gemini アプリ", "Εφαρμογές Gemini", "Bard", "Gemini-Apps", "Geminiアプリ"]
        {
            assert!(is_product(name), "{name}");
        }
        for name in ["Search", "Bardeen", "YouTube"] {
            assert!(!is_product(name), "{name}");
        }
    }

    #[test]
    fn files_have_their_name_in_the_export_as_key() {
        let file = file_reference("a%20b-1.png", "-  a b.png").map(|f| (f.key.value, f.name));
        assert_eq!(file, Some(("file/a b-1.png".into(), "a b.png".into())));
        assert_eq!(file_reference("https://example.org/x.png", "x"), None);
    }
}
