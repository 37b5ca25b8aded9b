//! Who said the content of a record, as far as the source states it.
use crate::{Kind, Record};

/// Who said the content of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SaidBy {
    /// The person wrote, dictated or pasted the content.
    User,
    /// The assistant wrote the content, or derived it from conversations.
    Assistant,
    /// A program inserted the content: a system prompt, the result of a tool, or context before a message.
    System,
}

impl SaidBy {
    /// Every value.
    pub const ALL: [Self; 3] = [Self::User, Self::Assistant, Self::System];

    /// The stable name of the speaker: `user`, `assistant` or `system`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::System => "system",
        }
    }

    /// Who stated the content of a memory that was created by this method (see [`crate::Source::method`]). None if the
    /// method does not show this: when ChatGPT called its memory tool or an agent wrote a file, the person may or may
    /// not have asked for the memory.
    fn from_method(method: &str) -> Option<Self> {
        match method {
            // The person wrote the memory in Mementory, in an input field of the assistant or in a rules file, or
            // pasted it.
            "written"
            | "manual"
            | "pasted"
            | "custom_instructions"
            | "project_instructions"
            | "project_doc"
            | "rules_file"
            | "explicit_user_input"
            | "user_authored"
            | "user" => Some(Self::User),
            // The vendor derived the memory from conversations, or a model extracted it (terms of PAM, `.alf` and
            // mem0).
            "conversations_memory" | "project_memory" | "llm_inference" | "llm_extracted" | "extracted" => {
                Some(Self::Assistant)
            }
            "injected" => Some(Self::System),
            _ => None,
        }
    }
}

impl Record {
    /// Who said the text of this record. None if the source does not state it, and for records that nobody says, such
    /// as conversations and files.
    pub fn said_by(&self) -> Option<SaidBy> {
        if let Some(message) = &self.message {
            return match message.role.as_str() {
                // Text that the assistant's own window hides or marks as context was not typed by the person.
                "user" if message.hidden || message.content_type == "context" => Some(SaidBy::System),
                "user" => Some(SaidBy::User),
                "assistant" => Some(SaidBy::Assistant),
                "system" | "tool" => Some(SaidBy::System),
                _ => None,
            };
        }
        match self.kind {
            Kind::Conversation | Kind::Attachment | Kind::Foreign => None,
            _ => self.source.method.as_deref().and_then(SaidBy::from_method),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{MessagePart, RecordKey};

    fn said_by(kind: Kind, method: Option<&str>) -> Option<SaidBy> {
        let mut record = Record::new(kind, RecordKey::new("test", "1"), "Likes figs.");
        record.source.method = method.map(Into::into);
        record.said_by()
    }

    #[test]
    fn the_method_shows_who_said_a_memory() {
        assert_eq!(said_by(Kind::Memory, Some("custom_instructions")), Some(SaidBy::User));
        assert_eq!(said_by(Kind::Profile, Some("conversations_memory")), Some(SaidBy::Assistant));
        assert_eq!(said_by(Kind::Memory, Some("injected")), Some(SaidBy::System));
        assert_eq!(said_by(Kind::Memory, Some("bio_write")), None);
        assert_eq!(said_by(Kind::Memory, None), None);
        assert_eq!(said_by(Kind::Attachment, Some("pasted")), None);
    }

    #[test]
    fn the_role_shows_who_said_a_message_unless_it_was_inserted() {
        let by = |role: &str, hidden: bool, content_type: &str| {
            let mut record = Record::new(Kind::Message, RecordKey::new("test", "1"), "Hello");
            let (role, content_type) = (role.to_owned(), content_type.to_owned());
            record.message = Some(MessagePart { role, hidden, content_type, ..MessagePart::default() });
            record.said_by()
        };
        assert_eq!(by("user", false, "text"), Some(SaidBy::User));
        assert_eq!(by("user", true, "text"), Some(SaidBy::System));
        assert_eq!(by("user", false, "context"), Some(SaidBy::System));
        assert_eq!(by("assistant", true, "thinking"), Some(SaidBy::Assistant));
        assert_eq!(by("tool", false, "tool_result"), Some(SaidBy::System));
        assert_eq!(by("moderator", false, "text"), None);
    }
}
