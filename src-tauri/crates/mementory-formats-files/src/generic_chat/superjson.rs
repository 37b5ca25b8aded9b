//! Values that the library SuperJSON wrote: `{"json": …, "meta": …}`. Some servers of chat programs send responses in
//! this form, and browser scripts save the responses. Examples are HuggingChat and servers with tRPC, which puts the
//! value inside `result.data`.
use mementory_format::{FormatError, Member};
use mementory_formats_shared::json_head::candidate_head;
use mementory_formats_shared::object::{Object, list, with_replaced_values};
use mementory_formats_shared::reader::{FileReader, ObjectElement};
use mementory_model::Kind;
use serde_json::value::RawValue;

/// Key of the value. The types of its members, such as dates, are in `meta`.
const VALUE: &str = "json";
/// Keys of the two nested objects in which tRPC puts a response.
const ANSWER: [&str; 2] = ["result", "data"];

/// The start of the value, from the start of a file that SuperJSON wrote. The start of any other file is returned
/// unchanged.
pub(super) fn inner_head(head: &[u8]) -> &[u8] {
    let value =
        |keys: &[&str]| keys.iter().try_fold(without_list_start(head), |rest, key| value_of_first_key(rest, key));
    value(&[VALUE]).or_else(|| value(&[ANSWER[0], ANSWER[1], VALUE])).unwrap_or(head)
}

/// Leaves out the byte order mark and the opening bracket of a list. A batch of responses is a list.
fn without_list_start(head: &[u8]) -> &[u8] {
    let head = head.strip_prefix("\u{feff}".as_bytes()).unwrap_or(head).trim_ascii_start();
    head.strip_prefix(b"[").unwrap_or(head)
}

/// The text after the colon, if the text begins with an object whose first key is `key`.
fn value_of_first_key<'t>(text: &'t [u8], key: &str) -> Option<&'t [u8]> {
    let mut rest = text;
    for part in ["{", "\"", key, "\"", ":"] {
        // White space is skipped only outside the quotes, because inside them it would be a part of the key.
        let text = if part == key { rest } else { rest.trim_ascii_start() };
        rest = text.strip_prefix(part.as_bytes())?;
    }
    Some(rest.trim_ascii_start())
}

/// Like [`FileReader::objects`]. If SuperJSON wrote the file, calls `read` for each element of the value. The whole
/// value is then in memory, so it must not exceed the size limit of one element.
pub(super) fn each_element(
    files: &mut FileReader<'_>,
    member: &Member,
    keys: &[&str],
    kind: Kind,
    mut read: impl FnMut(&mut FileReader<'_>, &ObjectElement<'_>) -> Result<(), FormatError>,
) -> Result<(), FormatError> {
    let is_enveloped = candidate_head(files.catalog, member).is_some_and(|head| {
        let bytes = head.bytes();
        inner_head(&bytes).len() < bytes.len()
    });
    if !is_enveloped {
        return files.objects(member, keys, kind, read).map(|_| ());
    }
    files.objects(member, &[], kind, |files, element| {
        let Some((raw, pointer)) = value_in(&element.object) else { return read(files, element) };
        let pointer = format!("{}{pointer}", element.pointer);
        let object = Object::parse(raw.get()).unwrap_or_default();
        let wrapped_list = keys.iter().find_map(|key| Some((object.list(key)?, format!("{pointer}/{key}"))));
        match wrapped_list.or_else(|| Some((list(raw)?, pointer.clone()))) {
            Some((elements, at)) => {
                if let Some(list) =
                    keys.iter().find_map(|key| object.raw_value(key)).filter(|_| object.members().count() > 1)
                {
                    let rest = with_replaced_values(element.text, &[(list, "[]")]);
                    files.pass_through_wrapper(member, &element.pointer, &[], Some(rest))?;
                }
                for (index, raw) in elements.into_iter().enumerate() {
                    files.object(member, format!("{at}/{index}"), raw.get().as_bytes(), kind, &mut read)?;
                }
                Ok(())
            }
            None => files.object(member, pointer, raw.get().as_bytes(), kind, &mut read),
        }
    })?;
    Ok(())
}

/// The value in an object that SuperJSON wrote, and its JSON pointer.
fn value_in<'a>(object: &Object<'a>) -> Option<(&'a RawValue, String)> {
    let in_answer = || {
        let raw = object.object(ANSWER[0])?.object(ANSWER[1])?.raw_value(VALUE)?;
        Some((raw, format!("/{}/{}/{VALUE}", ANSWER[0], ANSWER[1])))
    };
    object.raw_value(VALUE).map(|raw| (raw, format!("/{VALUE}"))).or_else(in_answer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_first_key_begins_an_envelope() {
        for (text, inner) in [
            (r#"{"json":{"a":1},"meta":{}}"#, r#"{"a":1},"meta":{}}"#),
            ("{ \"json\" : [1]}", "[1]}"),
            (r#"[{"result":{"data":{"json":{"a":1}}}}]"#, r#"{"a":1}}}}]"#),
            (r#"{"id":1,"json":{"a":1}}"#, r#"{"id":1,"json":{"a":1}}"#),
            (r#"{"result":{"json":{}}}"#, r#"{"result":{"json":{}}}"#),
            (r#"[{"role":"user"}]"#, r#"[{"role":"user"}]"#),
        ] {
            assert_eq!(inner_head(text.as_bytes()), inner.as_bytes(), "{text}");
        }
    }
}
