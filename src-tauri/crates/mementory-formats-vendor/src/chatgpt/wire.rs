//! The objects in ChatGPT's JSON. Every member is optional and may have any type. If a key is repeated, the last value
//! is used. Strings are borrowed from the JSON.
use mementory_model::Timestamp;
use serde::{
    Deserialize, Deserializer,
    de::{Error, IgnoredAny, MapAccess, SeqAccess, Visitor},
};
use serde_json::value::RawValue;
use std::{borrow::Cow, fmt, marker::PhantomData};

/// A text, or the digits of a number. None for any other value.
#[derive(Debug, Default, Clone)]
pub(super) struct Text<'a>(pub(super) Option<Cow<'a, str>>);

impl Text<'_> {
    /// Returns the text. None if there is no text or it is empty.
    pub(super) fn get(&self) -> Option<&str> {
        self.0.as_deref().filter(|t| !t.is_empty())
    }

    pub(super) fn to_owned_text(&self) -> Option<String> {
        self.get().map(str::to_owned)
    }
}

/// A time, which the source states as Unix seconds (a number or text) or as ISO 8601. Other programs write milliseconds
/// or microseconds, so a number that is too large for seconds is read in these units. None for zero, which means that
/// the time is unknown.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Time(pub(super) Option<Timestamp>);

/// A number, or a text with a number. None for any other value.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Number(pub(super) Option<f64>);

/// `true` or `false`. None for any other value.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Flag(pub(super) Option<bool>);

/// A JSON value of any type. The content of arrays and objects is skipped.
enum Scalar<'a> {
    Text(Cow<'a, str>),
    Int(i64),
    Unsigned(u64),
    Float(f64),
    Bool(bool),
    Other,
}

struct ScalarVisitor<'a>(PhantomData<&'a ()>);

impl<'de: 'a, 'a> Visitor<'de> for ScalarVisitor<'a> {
    type Value = Scalar<'a>;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }
    fn visit_borrowed_str<E: Error>(self, v: &'de str) -> Result<Self::Value, E> {
        Ok(Scalar::Text(Cow::Borrowed(v)))
    }
    fn visit_str<E: Error>(self, v: &str) -> Result<Self::Value, E> {
        Ok(Scalar::Text(Cow::Owned(v.to_owned())))
    }
    fn visit_i64<E: Error>(self, v: i64) -> Result<Self::Value, E> {
        Ok(Scalar::Int(v))
    }
    fn visit_u64<E: Error>(self, v: u64) -> Result<Self::Value, E> {
        Ok(Scalar::Unsigned(v))
    }
    fn visit_f64<E: Error>(self, v: f64) -> Result<Self::Value, E> {
        Ok(Scalar::Float(v))
    }
    fn visit_bool<E: Error>(self, v: bool) -> Result<Self::Value, E> {
        Ok(Scalar::Bool(v))
    }
    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(Scalar::Other)
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Scalar::Other)
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Scalar::Other)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        Ok(Text(match d.deserialize_any(ScalarVisitor(PhantomData))? {
            Scalar::Text(text) => Some(text),
            Scalar::Int(n) => Some(n.to_string().into()),
            Scalar::Unsigned(n) => Some(n.to_string().into()),
            Scalar::Float(n) => Some(n.to_string().into()),
            Scalar::Bool(_) | Scalar::Other => None,
        }))
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        Ok(Number(match d.deserialize_any(ScalarVisitor(PhantomData))? {
            Scalar::Text(text) => text.trim().parse().ok(),
            Scalar::Int(n) => Some(n as f64),
            Scalar::Unsigned(n) => Some(n as f64),
            Scalar::Float(n) => Some(n),
            Scalar::Bool(_) | Scalar::Other => None,
        }))
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let seconds = match d.deserialize_any(ScalarVisitor(PhantomData))? {
            Scalar::Text(text) => match text.trim().parse::<f64>() {
                Ok(n) => n,
                Err(_) => return Ok(Time(Timestamp::parse(&text))),
            },
            Scalar::Int(n) => n as f64,
            Scalar::Unsigned(n) => n as f64,
            Scalar::Float(n) => n,
            Scalar::Bool(_) | Scalar::Other => return Ok(Time(None)),
        };
        let seconds = match seconds.abs() {
            0.0 => return Ok(Time(None)),
            n if (1e11..1e14).contains(&n) => seconds / 1e3,
            n if (1e14..1e17).contains(&n) => seconds / 1e6,
            _ => seconds,
        };
        Ok(Time(Timestamp::from_seconds(seconds)))
    }
}

impl<'de> Deserialize<'de> for Flag {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        Ok(Flag(match d.deserialize_any(ScalarVisitor(PhantomData))? {
            Scalar::Bool(b) => Some(b),
            _ => None,
        }))
    }
}

/// Defines a struct for a JSON object with these members, all of them optional. If a key is repeated, the last value is
/// used. Unknown keys are skipped. A JSON value that is not an object is an error for an `object`, and an empty object
/// for a `lenient` struct.
macro_rules! define_object {
    (@other object) => {};
    (@other lenient) => {
        fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
            Ok(Default::default())
        }
        fn visit_bool<E: Error>(self, _: bool) -> Result<Self::Value, E> {
            Ok(Default::default())
        }
        fn visit_i64<E: Error>(self, _: i64) -> Result<Self::Value, E> {
            Ok(Default::default())
        }
        fn visit_u64<E: Error>(self, _: u64) -> Result<Self::Value, E> {
            Ok(Default::default())
        }
        fn visit_f64<E: Error>(self, _: f64) -> Result<Self::Value, E> {
            Ok(Default::default())
        }
        fn visit_str<E: Error>(self, _: &str) -> Result<Self::Value, E> {
            Ok(Default::default())
        }
        fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
            while seq.next_element::<IgnoredAny>()?.is_some() {}
            Ok(Default::default())
        }
    };
    ($(#[$doc:meta])* $mode:ident $name:ident { $($field:ident: $type:ty = $key:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Debug, Default)]
        pub(super) struct $name<'a> { $(pub(super) $field: $type,)+ }

        impl<'de: 'a, 'a> Deserialize<'de> for $name<'a> {
            fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
                struct V<'a>(PhantomData<&'a ()>);
                impl<'de: 'a, 'a> Visitor<'de> for V<'a> {
                    type Value = $name<'a>;
                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str("an object")
                    }
                    define_object!(@other $mode);
                    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                        let mut out = $name::default();
                        while let Some(key) = map.next_key::<Text<'de>>()? {
                            match key.0.as_deref() {
                                $(Some($key) => out.$field = map.next_value()?,)+
                                _ => {
                                    map.next_value::<IgnoredAny>()?;
                                }
                            }
                        }
                        Ok(out)
                    }
                }
                d.deserialize_any(V(PhantomData))
            }
        }
    };
}

define_object! {
    /// One conversation.
    object Conversation {
        id: Text<'a> = "id",
        conversation_id: Text<'a> = "conversation_id",
        title: Option<&'a RawValue> = "title",
        create_time: Time = "create_time",
        update_time: Time = "update_time",
        current_node: Text<'a> = "current_node",
        mapping: Option<&'a RawValue> = "mapping",
        model: Text<'a> = "default_model_slug",
        template: Text<'a> = "conversation_template_id",
        gizmo: Text<'a> = "gizmo_id",
        archived: Flag = "is_archived",
    }
}

define_object! {
    /// One node of `mapping`.
    object Node {
        parent: Text<'a> = "parent",
        children: Option<&'a RawValue> = "children",
        message: Option<Message<'a>> = "message",
    }
}

define_object! {
    /// One message.
    object Message {
        id: Text<'a> = "id",
        author: Author<'a> = "author",
        create_time: Time = "create_time",
        update_time: Time = "update_time",
        content: Option<&'a RawValue> = "content",
        weight: Number = "weight",
        metadata: Metadata<'a> = "metadata",
        recipient: Text<'a> = "recipient",
    }
}

define_object! {
    /// Author of a message.
    lenient Author {
        role: Text<'a> = "role",
        name: Text<'a> = "name",
    }
}

define_object! {
    /// The members of the `metadata` of a message that are read.
    lenient Metadata {
        model: Text<'a> = "model_slug",
        hidden: Flag = "is_visually_hidden_from_conversation",
        attachments: Option<&'a RawValue> = "attachments",
        aggregate_result: Option<&'a RawValue> = "aggregate_result",
        context: UserContext<'a> = "user_context_message_data",
    }
}

define_object! {
    /// Custom instructions as the user wrote them, without the words of the prompt around them.
    lenient UserContext {
        about_user: Text<'a> = "about_user_message",
        about_model: Text<'a> = "about_model_message",
    }
}

define_object! {
    /// The `content` of a message, with the members of all content types.
    lenient Content {
        content_type: Text<'a> = "content_type",
        parts: Option<&'a RawValue> = "parts",
        text: Text<'a> = "text",
        language: Text<'a> = "language",
        thoughts: Option<&'a RawValue> = "thoughts",
        content: Text<'a> = "content",
        user_profile: Text<'a> = "user_profile",
        user_instructions: Text<'a> = "user_instructions",
        model_set_context: Text<'a> = "model_set_context",
        repo_summary: Text<'a> = "repo_summary",
        structured_context: Text<'a> = "structured_context",
        result: Text<'a> = "result",
        summary: Text<'a> = "summary",
        title: Text<'a> = "title",
        url: Text<'a> = "url",
        snippet: Text<'a> = "snippet",
    }
}

define_object! {
    /// An entry of `thoughts` in the content of a message.
    lenient Thought {
        summary: Text<'a> = "summary",
        content: Text<'a> = "content",
        chunks: Option<&'a RawValue> = "chunks",
    }
}

define_object! {
    /// An entry of `metadata.attachments` or `library_files.json`.
    lenient File {
        id: Text<'a> = "id",
        name: Text<'a> = "name",
        size: Number = "size",
        mime_type: Text<'a> = "mime_type",
        mime_type_camel: Text<'a> = "mimeType",
        file_id: Text<'a> = "file_id",
        file_name: Text<'a> = "file_name",
    }
}

/// The members of an object such as `mapping`, in the order of the source. The keys are borrowed if possible.
pub(super) struct Nodes<'a>(pub(super) Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Nodes<'a> {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct V<'a>(PhantomData<&'a ()>);
        impl<'de: 'a, 'a> Visitor<'de> for V<'a> {
            type Value = Nodes<'a>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut out = Vec::new();
                while let Some((key, value)) = map.next_entry::<Text<'de>, &'de RawValue>()? {
                    out.push((key.0.unwrap_or_default(), value));
                }
                Ok(Nodes(out))
            }
        }
        d.deserialize_map(V(PhantomData))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn times_are_read_in_every_unit() {
        for text in [
            "1784455200",
            "1784455200.0",
            "\"1784455200\"",
            "1784455200000",
            "\"1784455200000\"",
            "1784455200000000",
            "\"2026-07-19T10:00:00Z\"",
            "\"2026-07-19T12:00:00+02:00\"",
        ] {
            let time: Time = serde_json::from_str(text).unwrap();
            assert_eq!(time.0.map(Timestamp::to_rfc3339).as_deref(), Some("2026-07-19T10:00:00Z"), "{text}");
        }
        for text in ["0", "null", "true", "\"soon\"", "1e300"] {
            assert_eq!(serde_json::from_str::<Time>(text).unwrap().0, None, "{text}");
        }
    }
}
