//! A conversation, or several, inside another object: in the response of an API, or next to the details of an account.
use mementory_formats_shared::message::first_text;
use mementory_formats_shared::object::Object;
use serde_json::value::RawValue;

/// Keys of an object with one conversation, in a file that also has other members.
pub(super) const ENVELOPES: [&str; 9] =
    ["data", "result", "response", "export", "user_data", "conversation", "chat", "thread", "session"];
/// Keys of [`ENVELOPES`] that may contain another envelope.
pub(super) const OUTER_ENVELOPES: [&str; 3] = ["data", "result", "response"];
/// Key of the object in which Pi's download has the messages and the details of the account.
const PI_ENVELOPE: &str = "user_data";

/// A conversation inside another object.
pub(super) struct Enveloped<'a> {
    /// JSON pointer of the conversation in the outer object.
    pub pointer: String,
    pub raw: &'a RawValue,
    /// True if the outer object describes the conversation too. An API's response describes only the request.
    pub is_described_outside: bool,
    /// The title of the outer object. Several conversations may share this title.
    pub title: Option<String>,
    /// The assistant, if the file is a download of the person's own data.
    pub platform: Option<&'static str>,
}

/// Finds the conversations inside an object that has no messages itself, at most two objects deep. `has_messages` is
/// true for the text of a conversation. If there are several conversations, only the title of the outer object applies
/// to them.
pub(super) fn find<'a>(object: &Object<'a>, has_messages: fn(&RawValue) -> bool) -> Vec<Enveloped<'a>> {
    let found_inside = |outer: &Object<'a>, at: &str| {
        let found = ENVELOPES.iter().filter_map(|key| {
            let raw = outer.raw_value(key).filter(|raw| has_messages(raw))?;
            let is_described_outside = !OUTER_ENVELOPES.contains(key) && *key != PI_ENVELOPE;
            let platform = (*key == PI_ENVELOPE && outer.has("base64encoded_compressed_user_data")).then_some("pi");
            let title = first_text(outer, &["title"]).filter(|_| *key != PI_ENVELOPE);
            Some(Enveloped { pointer: format!("{at}/{key}"), raw, is_described_outside, title, platform })
        });
        found.collect::<Vec<_>>()
    };
    let mut out = found_inside(object, "");
    for key in OUTER_ENVELOPES {
        let is_conversation = out.iter().any(|found| found.pointer.strip_prefix('/') == Some(key));
        if let Some(outer) = object.object(key).filter(|_| !is_conversation) {
            let found = found_inside(&outer, &format!("/{key}")).into_iter();
            out.extend(found.map(|found| Enveloped { is_described_outside: false, ..found }));
        }
    }
    if out.len() > 1 {
        out.iter_mut().for_each(|found| found.is_described_outside = false);
    }
    out
}
