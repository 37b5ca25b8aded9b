//! The head of an exported conversation: front matter, and the link to the chat.

/// Addresses of chats, each with the name of the platform.
const CHATS: [(&str, &str); 22] = [
    ("chatgpt.com/c/", "chatgpt"),
    ("chatgpt.com/g/", "chatgpt"),
    ("chatgpt.com/share/", "chatgpt"),
    ("chat.openai.com/c/", "chatgpt"),
    ("chat.openai.com/share/", "chatgpt"),
    ("claude.ai/chat/", "claude"),
    ("claude.ai/share/", "claude"),
    ("gemini.google.com/app/", "gemini"),
    ("gemini.google.com/gem/", "gemini"),
    ("grok.com/chat/", "grok"),
    ("grok.com/c/", "grok"),
    ("perplexity.ai/search/", "perplexity"),
    ("chat.deepseek.com/a/chat/", "deepseek"),
    ("copilot.microsoft.com/chats/", "copilot"),
    ("copilot.com/chats/", "copilot"),
    ("chat.mistral.ai/chat/", "mistral"),
    ("chat.qwen.ai/c/", "qwen"),
    ("poe.com/chat/", "poe"),
    ("kimi.com/chat/", "kimi"),
    ("kimi.moonshot.cn/chat/", "kimi"),
    ("doubao.com/chat/", "doubao"),
    ("huggingface.co/chat/conversation/", "huggingchat"),
];

/// The platform of the first chat to which the text links.
pub(super) fn platform(text: &str) -> Option<&'static str> {
    let links = CHATS.iter().filter_map(|(address, name)| Some((text.find(*address)?, *name)));
    links.min_by_key(|(at, _)| *at).map(|(_, name)| name)
}

/// True if there is front matter, and it links to a chat.
pub(super) fn front_matter_links_to_chat(text: &str) -> bool {
    split(text).is_some_and(|(front, _)| platform(front).is_some())
}

/// The text after the front matter. The whole text, if there is none.
pub(super) fn without_front_matter(text: &str) -> &str {
    split(text).map_or(text, |(_, rest)| rest)
}

/// The title in the front matter, without quotes.
pub(super) fn title(text: &str) -> Option<&str> {
    value(text, "title")
}

/// The value of this name in the front matter, without quotes. None if it is empty.
pub(super) fn value<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let (front, _) = split(text)?;
    let value = front.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    let value = value.trim().trim_matches(['"', '\'']).trim();
    (!value.is_empty()).then_some(value)
}

/// The front matter, and the text after it.
fn split(text: &str) -> Option<(&str, &str)> {
    let after_opening = text.strip_prefix("---\n")?;
    after_opening.split_once("\n---\n").or_else(|| Some((after_opening.trim_end().strip_suffix("\n---")?, "")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_front_matter_and_the_link_are_found() {
        let head = "---\ntitle: \"Slugs: in pots\"\nlink: https://chatgpt.com/c/1\n---\n# Slugs";
        assert_eq!((title(head), without_front_matter(head)), (Some("Slugs: in pots"), "# Slugs"));
        assert_eq!(platform(head), Some("chatgpt"));
        assert!(front_matter_links_to_chat(head));
        assert!(!front_matter_links_to_chat("---\na: 1\n---\nhttps://chatgpt.com/c/1"));
        assert_eq!(without_front_matter("---\na: 1\n---"), "");
        assert_eq!(without_front_matter("---\na: 1"), "---\na: 1");
        assert_eq!((title("# Slugs"), platform("https://chatgpt.com/pricing")), (None, None));
    }
}
