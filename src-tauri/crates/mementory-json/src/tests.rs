#![allow(clippy::unwrap_used, clippy::expect_used)]
use super::{ElementError, Elements, Tree, repair};
use mementory_model::Limits;
use std::io::Read;

fn limits(element_bytes: u64) -> Limits {
    Limits { element_bytes, ..Limits::default() }
}

/// Reads all elements as `pointer=text`, followed by the text of the wrapping object. Also returns the last error, if
/// there was one.
fn read_all(input: &[u8]) -> (Vec<String>, Option<String>) {
    read_in_chunks(input, 1 << 20)
}

/// Reads the input several times with different chunk sizes, so that chunks end at many positions. Asserts that the
/// results are equal.
fn read_in_chunks(input: &[u8], bound: u64) -> (Vec<String>, Option<String>) {
    let whole = read_with_chunk_size(input, bound, 256 << 10);
    let pieces = if input.len() < 1000 { 4..40 } else { 4099..4100 };
    for chunk in pieces {
        assert_eq!(read_with_chunk_size(input, bound, chunk), whole, "chunk {chunk}");
    }
    whole
}

fn read_with_chunk_size(input: &[u8], bound: u64, chunk: u64) -> (Vec<String>, Option<String>) {
    let mut reader = input;
    let mut elements = Elements::new(&mut reader, &limits(bound)).with_chunk_bytes(chunk);
    let (mut out, mut error) = (vec![], None);
    for _ in 0..10_000 {
        match elements.next() {
            Ok(Some(e)) => out.push(format!("{}={}", e.pointer(), String::from_utf8_lossy(e.bytes))),
            Ok(None) => {
                out.extend(elements.wrapper().map(|w| String::from_utf8_lossy(w).into_owned()));
                return (out, error);
            }
            Err(e) => error = Some(e.to_string()),
        }
    }
    panic!("no end")
}

fn read_without_error(input: &[u8]) -> Vec<String> {
    let (out, error) = read_all(input);
    assert_eq!(error, None, "{}", String::from_utf8_lossy(input));
    out
}

#[test]
fn every_shape_of_a_stream_is_read() {
    assert_eq!(
        read_without_error(br#" [ {"a":[1,"]"]} , {"b":"\"}"} ] "#),
        [r#"/0={"a":[1,"]"]}"#, r#"/1={"b":"\"}"}"#]
    );
    assert_eq!(read_without_error(b"[]"), [""; 0]);
    assert_eq!(read_without_error(b""), [""; 0]);
    assert_eq!(read_without_error(b" \n "), [""; 0]);
    assert_eq!(read_without_error(br#"{"mapping":{"x":[{}]}}"#), [r#"={"mapping":{"x":[{}]}}"#]);
    let wrapped = br#"{"version":1,"c":["conversations"], "conversations" : [{"a":1},{"a":2}], "more":{"conversations":[3]}, "x":[4]}"#;
    let rest = r#"{"version":1,"c":["conversations"], "conversations" : [], "more":{"conversations":[3]}, "x":[4]}"#;
    assert_eq!(read_without_error(wrapped), [r#"/conversations/0={"a":1}"#, r#"/conversations/1={"a":2}"#, rest]);
    assert_eq!(
        read_without_error(b"{\"a\":1}\n{\"b\":2}\n\n{\"c\":3}"),
        [r#"={"a":1}"#, r#"@8={"b":2}"#, r#"@17={"c":3}"#]
    );
    assert_eq!(read_without_error(br#"[null,"text",5 ,{"a":1}]"#), ["/0=null", "/1=\"text\"", "/2=5", "/3={\"a\":1}"]);
    assert_eq!(read_without_error(br#"{"a":"conversations","b":{"conversations":[1]}}"#).len(), 1);
}

#[test]
fn every_encoding_is_read() {
    assert_eq!(read_without_error(b"\xEF\xBB\xBF[{}]"), ["/0={}"]);
    let utf16 = |s: &str, big: bool, bom: bool| -> Vec<u8> {
        let units = bom.then_some(0xFEFF).into_iter().chain(s.encode_utf16());
        units.flat_map(|u| if big { u.to_be_bytes() } else { u.to_le_bytes() }).collect()
    };
    for (big, bom) in [(true, true), (true, false), (false, true), (false, false)] {
        assert_eq!(read_without_error(&utf16("[{\"a\":\"ü🚀\"}]", big, bom)), ["/0={\"a\":\"ü🚀\"}"]);
    }
    let inner = "[{\"a\":\"\u{1F680}ü\\ud83d\\n\\\"\"},{\"b\":2}]";
    let outer = serde_json::to_string(inner).unwrap();
    assert_eq!(read_without_error(outer.as_bytes()), ["/0={\"a\":\"\u{1F680}ü\\ud83d\\n\\\"\"}", "/1={\"b\":2}"]);
    let ascii: String = outer
        .encode_utf16()
        .map(|u| if u < 128 { char::from(u as u8).to_string() } else { format!("\\u{u:04x}") })
        .collect();
    assert_eq!(read_without_error(ascii.as_bytes()), read_without_error(outer.as_bytes()));
    let (some, error) = read_all(&outer.as_bytes()[..outer.len() - 3]);
    assert_eq!((some.len(), error.is_some()), (1, true));
}

#[test]
fn the_texts_of_a_tool_result_are_read_one_after_the_other() {
    let result = |texts: &[&str]| {
        let parts: Vec<_> = texts.iter().map(|text| serde_json::json!({ "type": "text", "text": text })).collect();
        serde_json::json!({ "jsonrpc": "2.0", "id": 1, "result": { "content": parts } }).to_string()
    };
    let list = result(&["[{\"a\":\"\\\"\"},{\"b\":2}]"]);
    assert_eq!(read_without_error(list.as_bytes()), ["/0={\"a\":\"\\\"\"}", "/1={\"b\":2}"]);
    let further = result(&["{\"a\":1}", " {\"b\":2}"]);
    let found: Vec<String> = read_without_error(further.as_bytes());
    let values: Vec<&str> =
        found.iter().filter_map(|element| element.split_once('=')).map(|(_, value)| value).collect();
    assert_eq!(values, ["{\"a\":1}", "{\"b\":2}"]);
    // A text that is not JSON is an ordinary member.
    let other = result(&["Found nothing."]);
    assert_eq!(read_without_error(other.as_bytes()), [format!("={other}")]);
    let (some, error) = read_all(&further.as_bytes()[..further.len() - 8]);
    assert_eq!((some.len(), error.is_some()), (2, true), "{some:?}");
}

#[test]
fn only_damaged_elements_are_lost() {
    let (some, error) = read_all(br#"[{"a":1},{"b":"#);
    assert_eq!((some.len(), error.unwrap()), (1, "the file ends early, at byte 14".into()));
    let (some, error) = read_all(br#"[{"a":1},"#);
    assert_eq!((some.len(), error.unwrap()), (1, "the file ends early, at byte 9".into()));
    let (some, error) = read_all(br#"[{"a":1}];junk"#);
    assert_eq!((some.len(), error.unwrap()), (1, "not JSON at byte 9".into()));
    assert!(matches!(read_all(b"hello"), (some, Some(_)) if some.is_empty()));
    assert_eq!(
        read_without_error(b"[{\"a\":1},NaN x,},{\"b\":2}]"),
        ["/0={\"a\":1}", "/1=NaN x", "/2=}", "/3={\"b\":2}"]
    );
    let lines = b"{\"a\":1}\nnot json\n{\"b\":\"cut\n{\"c\":3}\n{\"d\":[\n{\"e\":5}\n";
    assert_eq!(
        read_without_error(lines),
        ["={\"a\":1}", "@8=not json", "@17={\"b\":\"cut", "@27={\"c\":3}", "@35={\"d\":[", "@42={\"e\":5}"]
    );
}

#[test]
fn large_elements_are_skipped_and_padding_is_not_stored() {
    let large_input = format!("[{{\"a\":1}},{{\"b\":\"{}\"}},{{\"c\":3}}]", "x".repeat(1 << 20));
    let (some, error) = read_in_chunks(large_input.as_bytes(), 1000);
    assert_eq!(some, ["/0={\"a\":1}", "/2={\"c\":3}"]);
    assert!(error.unwrap().contains("larger than 1000"));
    let deep = [b"[".repeat(1 << 20), b"]".repeat(1 << 20)].concat();
    assert_eq!(read_in_chunks(&deep, 10 << 20).0.len(), 1);
    let mut padded = std::io::Cursor::new(b"[{}").chain(std::io::repeat(b' ').take(300 << 20)).chain(&b",{}]"[..]);
    let mut elements = Elements::new(&mut padded, &limits(1000));
    assert!(elements.next().unwrap().is_some());
    assert_eq!(elements.next().unwrap().unwrap().offset, 4 + (300 << 20));
    assert!(elements.next().unwrap().is_none());
    let mut failing = std::io::Cursor::new(b"[{},").chain(FailingReader);
    let mut elements = Elements::new(&mut failing, &limits(1000));
    assert!(elements.next().unwrap().is_some(), "what was read before an error is given");
    assert!(matches!(elements.next(), Err(ElementError::Io(_))));
    assert!(elements.next().unwrap().is_none());
}

struct FailingReader;
impl Read for FailingReader {
    fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
        Err(std::io::Error::other("no"))
    }
}

#[test]
fn near_json_is_repaired() {
    let cases: [(&[u8], &str, &[&str]); 8] = [
        (br#"{"a": NaN, "b":[-Infinity,Infinity,-1]}"#, r#"{"a": null, "b":[null,null,-1]}"#, &["nan"]),
        (b"{\"a\":\"x\ny\t\"}", r#"{"a":"x\u000ay\u0009"}"#, &["control_character"]),
        (br#"{"a":"\ud83d x \ud83d\ude00 \ude00"}"#, r#"{"a":"\ufffd x \ud83d\ude00 \ufffd"}"#, &["lone_surrogate"]),
        (b"{\"a\":\"\xff\"}", "{\"a\":\"\u{fffd}\"}", &["invalid_utf8"]),
        (br#"{"NaN":"Infinity \" NaN"}"#, r#"{"NaN":"Infinity \" NaN"}"#, &[]),
        (br#"{"a":"\x"}"#, r#"{"a":"\\x"}"#, &["invalid_escape"]),
        (br#"{"a":1.50,"a":1e400}"#, r#"{"a":1.50,"a":1e400}"#, &[]),
        (br#""\ud83d"#, "", &[]),
    ];
    for (input, expected, codes) in cases {
        match repair(input) {
            Some((text, found)) => assert_eq!((text.as_str(), found.as_slice()), (expected, codes)),
            None => assert_eq!(expected, "", "{}", String::from_utf8_lossy(input)),
        }
    }
}

#[test]
fn the_last_of_repeated_keys_is_kept() {
    let mut tree = Tree::parse(r#"{"a":1,"b":[{"c":1,"c":2}],"a":{"d":3,"d":4}}"#, 8).unwrap();
    tree.remove_repeated_keys();
    let mut out = String::new();
    tree.write(&mut out);
    assert_eq!(out, r#"{"b":[{"c":2}],"a":{"d":4}}"#);
}
