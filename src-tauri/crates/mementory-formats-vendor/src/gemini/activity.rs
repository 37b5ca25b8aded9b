//! One activity of Takeout's My Activity. JSON and HTML exports are both read into this form.
use super::verbs::{self, Label, Title};
use mementory_format::Member;
use mementory_formats_shared::object::content_id;
use mementory_model::{AttachmentRef, Fields, RecordKey, Timestamp, Verbatim};
use std::ops::Range;

/// Scope of the record keys. It is also the id of the format and the name of the platform.
pub(super) const SCOPE: &str = "gemini";

/// An activity of Gemini as it is in the export.
#[derive(Debug, Default)]
pub(super) struct Activity {
    /// The title: words that Google adds, then the prompt. No-break spaces are replaced with spaces.
    pub title: String,
    /// True if the title is only a prompt, without Google's words before it.
    pub is_request: bool,
    /// The header, if it is not the name of a product. In some exports, it has Google's words and the title has only
    /// the prompt.
    pub label: Option<String>,
    /// The time of the activity.
    pub time: Option<Timestamp>,
    /// The time as it is written in the page. Empty in JSON.
    pub stamp: String,
    /// The chat to which the activity links, and the Gem of that chat if it has one. None if there is no such link.
    pub chat: Option<ChatLink>,
    /// Text of the answer.
    pub answer: Option<String>,
    /// Files of the prompt.
    pub files: Vec<AttachmentRef>,
    /// Files of the answer.
    pub answer_files: Vec<AttachmentRef>,
    /// All values for which the model has no field.
    pub fields: Fields,
    /// The source text.
    pub verbatim: Option<Verbatim>,
    /// Range of the answer in the source text.
    pub answer_range: Option<Range<usize>>,
    /// JSON pointer, or `@` and the offset in a page.
    pub pointer: String,
}

/// The chat in a link to Gemini.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ChatLink {
    /// Id of the chat.
    pub id: String,
    /// Id of the Gem.
    pub gem: Option<String>,
}

/// The kind of an activity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Meaning {
    /// A prompt with this text.
    Prompt(String),
    /// Something else that the person did.
    Other,
}

impl Activity {
    /// Id of an activity: the digest of its time in whole seconds and its prompt or title, because exports have no ids.
    /// Both are the same in JSON and in HTML. Known words before a prompt are left out, because they change with the
    /// language of the account.
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

    /// The kind of the activity, as the title and the header show it.
    pub(super) fn title(&self) -> Title<'_> {
        let title = self.title.trim();
        match self.label.as_deref().and_then(verbs::label) {
            _ if self.is_request => Title::Prompt(title),
            Some(Label::Activity) => Title::Activity,
            Some(Label::Prompt) => {
                // Google's words may be in both the header and the title.
                let label = self.label.as_deref().unwrap_or_default().trim();
                let rest = title.strip_prefix(label).filter(|rest| rest.starts_with([' ', ':', '：']));
                Title::Prompt(rest.map_or(title, |rest| rest.trim_start_matches([' ', ':', '：'])))
            }
            None => verbs::read_title(&self.title),
        }
    }

    /// A prompt without the number of its files, which is part of the title in some exports.
    fn without_file_count<'p>(&self, prompt: &'p str) -> &'p str {
        if self.files.is_empty() { prompt } else { verbs::without_file_count(prompt) }
    }

    /// Determines whether the activity is a prompt. `is_prompt_word` gets the header or the first word of a title in an
    /// unknown language. It returns true if activities with answers have this header, or a title that begins with this
    /// word.
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

    /// The source text without the answer, and the source text of the answer. So erasing one of the two messages erases
    /// its text completely.
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

    /// The text that may be Google's word for a prompt: the header, or the first word of the title.
    pub(super) fn prompt_word(&self) -> Option<&str> {
        self.label.as_deref().or_else(|| verbs::first_word(&self.title))
    }
}

/// True if a file of a Takeout is in the folder of Gemini. In that folder, activities without the name of a
/// product are from Gemini. Outside of a Takeout, a folder called Gemini may contain other files too.
pub(super) fn is_in_gemini_folder(member: &Member) -> bool {
    let is_takeout = |part: &str| part.get(..7).is_some_and(|start| start.eq_ignore_ascii_case("takeout"));
    let path = if member.archive.is_some() { &member.name } else { &member.place };
    let Some((folder, _)) = path.rsplit_once('/') else { return false };
    is_product(folder.rsplit('/').next().unwrap_or(folder))
        && (member.archive.is_some() || folder.split('/').any(is_takeout))
}

/// True for a name of the product, in any language: `Gemini Apps`, `Gemini アプリ`, `Bard`.
pub(super) fn is_product(name: &str) -> bool {
    let name = name.to_lowercase();
    // Some languages have no space between the name and the next word.
    name.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| word == "gemini" || word == "bard")
        || name.starts_with("gemini")
}

/// The chat in a link: `gemini.google.com/app/<id>`, `/u/1/app/<id>`, `/gem/<gem>/<id>`. The outer None is for links to
/// other sites, the inner one for a link to Gemini without a chat.
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

/// A reference to a file that is stored next to the activities. None for all other links.
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

/// Key of the record of a file, made from its name in the export.
pub(super) fn file_key(file: &str) -> RecordKey {
    RecordKey::new(SCOPE, format!("file/{file}"))
}

/// Largest number of files of one activity. Additional files are kept only in the original text of the activity.
const MAX_FILES: usize = 500;

/// Adds a file unless it is there already.
pub(super) fn add_file(files: &mut Vec<AttachmentRef>, file: Option<AttachmentRef>) {
    if let Some(file) = file
        && files.len() < MAX_FILES
        && !files.iter().any(|known| known.key == file.key)
    {
        files.push(file);
    }
}

fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let code = after.get(..2).filter(|_| *first == b'%').and_then(|hex| std::str::from_utf8(hex).ok());
        match code.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = after.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
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
