#![allow(clippy::unwrap_used)]
use super::{ElementError, Elements};
use mementory_model::Limits;

/// Ids of the complete elements in the order of the input, and the pointers of the damaged ones.
#[derive(Debug, Default, PartialEq)]
struct ReadResult {
    ids: Vec<u64>,
    damaged: Vec<String>,
    other_errors: Vec<String>,
}

fn expected_result(ids: &[u64], damaged: &[&str]) -> ReadResult {
    let damaged = damaged.iter().map(|pointer| (*pointer).to_owned()).collect();
    ReadResult { ids: ids.to_vec(), damaged, other_errors: vec![] }
}

fn read(input: &[u8]) -> ReadResult {
    let whole = read_in_chunks(input, 256 << 10);
    for chunk in [5, 31] {
        assert_eq!(read_in_chunks(input, chunk), whole, "chunk {chunk}");
    }
    whole
}

fn read_in_chunks(mut input: &[u8], chunk: u64) -> ReadResult {
    let limits = Limits::default();
    let mut elements = Elements::new(&mut input, &limits).with_chunk_bytes(chunk).resync();
    let mut result = ReadResult::default();
    for _ in 0..1000 {
        match elements.next() {
            Ok(Some(element)) => {
                let value: serde_json::Value = serde_json::from_slice(element.bytes).unwrap();
                result.ids.push(value["id"].as_u64().unwrap());
            }
            Ok(None) => return result,
            Err(ElementError::Damaged { pointer, .. }) => result.damaged.push(pointer),
            Err(error) => result.other_errors.push(error.to_string()),
        }
    }
    panic!("no end")
}

/// A chat whose messages have the same first key as the chat. The text has JSON of another chat in it.
fn chat(id: u64) -> String {
    format!(
        r#"{{"id":{id},"title":"Chat {id}","account":{{"id":1}},"messages":[{{"id":71,"text":"One {{ \" ["}},{}],"end":{id}}}"#,
        r#"{"id":72,"text":"[{\"id\":99,\"title\":\"t\",\"account\":{},\"messages\":[],\"end\":9}]","files":[]}"#
    )
}

fn chats() -> Vec<String> {
    (0..6).map(chat).collect()
}

#[test]
fn an_element_with_other_keys_after_a_damaged_one_is_read() {
    let input =
        br#"[{"id":1,"content":"a"},{"id":2,"content":"b",},{"text":"c","tags":[],"id":3},{"id":4,"content":"d"}]"#;
    assert_eq!(read(input), expected_result(&[1, 3, 4], &["/1"]));
}

#[test]
fn each_keyed_array_has_elements_of_its_own_kind() {
    let mut input: &[u8] = br#"{"entities":[{"name":"a","type":"p","notes":[]}],
        "relations":[{"from":"a","to":"b" "c"},{"from":"b","to":"a"},{"from":"b","to":"c"}]}"#;
    let limits = Limits::default();
    let mut elements = Elements::new(&mut input, &limits).with_keys(&["entities", "relations"]).resync();
    let (mut read, mut damaged) = (Vec::new(), 0);
    loop {
        match elements.next() {
            Ok(Some(element)) => read.push(element.pointer()),
            Ok(None) => break,
            Err(ElementError::Damaged { .. }) => damaged += 1,
            Err(error) => panic!("{error}"),
        }
    }
    assert_eq!((read, damaged), (vec!["/entities/0".into(), "/relations/1".into(), "/relations/2".into()], 1));
}

#[test]
fn a_damaged_element_does_not_affect_the_next_ones() {
    // In each case, the first text in the third chat is replaced with the second one.
    let cases = [
        ("}],", "],"),
        (r#""end":2}"#, r#""end":2"#),
        (r#"],"end":2}"#, ""),
        (r#"],"end":2}"#, r#","end":2}"#),
        (r#""Chat 2""#, r#""Chat 2"#),
        (r#""Chat 2""#, r#"Chat 2""#),
        (r#""title":"#, r#""title"#),
        (r#""title":"#, r#"title":"#),
        (r#",{"id":72"#, r#","id":72"#),
        (r#"[{"id":71"#, r#"{"id":71"#),
        (r#"{"id":1}"#, r#"{"id":1}}"#),
        (r#""One { \" [""#, r#""One { " [""#),
        (r#""files":[]}"#, r#""files":]}"#),
        (r#":"Chat 2","account""#, "\u{1}\u{2}#\""),
        (r#"{"id":2,"#, r#""id":2,"#),
        (r#""end":2"#, r#""end:2"#),
        (r#""end":2"#, r#""end":"2"#),
    ];
    for (old, new) in cases {
        let mut chats = chats();
        assert!(chats[2].contains(old), "{old}");
        chats[2] = chats[2].replacen(old, new, 1);
        for (start, between, end) in [("[", ",", "]"), ("[\n  ", ",\n  ", "\n]\n")] {
            let text = format!("{start}{}{end}", chats.join(between));
            let read = read(text.as_bytes());
            let ids: Vec<u64> = read.ids.iter().copied().filter(|id| *id != 2).collect();
            assert_eq!(ids, [0, 1, 3, 4, 5], "{old} {new}: {read:?}");
            assert_eq!((read.damaged.len(), read.other_errors.len()), (1, 0), "{old} {new}");
            let wrapped = format!(r#"{{"a":1,"conversations":{text}}}"#);
            assert_eq!(read_in_chunks(wrapped.as_bytes(), 99).ids, read.ids, "{old} {new}");
        }
    }
}

#[test]
fn damage_at_the_start_and_at_the_end_is_left_out() {
    let mut first = chats();
    first[0] = first[0].replacen(r#""text":"One"#, r#""text":One"#, 1);
    assert_eq!(read(format!("[{}]", first.join(",")).as_bytes()), expected_result(&[1, 2, 3, 4, 5], &["/0"]));
    let mut last = chats();
    last[5] = last[5].replacen("[]}]", "[]]", 1);
    assert_eq!(read(format!("[{}]", last.join(",")).as_bytes()), expected_result(&[0, 1, 2, 3, 4], &["/5"]));
    let mut two = chats();
    two[1] = two[1].replacen(r#""Chat"#, "Chat", 1);
    two[2] = two[2].replacen("[]}]", "[]}", 1);
    assert_eq!(read(format!("[{}]", two.join(",")).as_bytes()), expected_result(&[0, 3, 4, 5], &["/1", "/2"]));
    let cut = format!("[{}", two.join(",").replace(r#","end":5}"#, ""));
    assert_eq!(read(cut.as_bytes()).other_errors.len(), 1, "the end is missing too");
}

#[test]
fn elements_inside_an_element_without_end_are_found() {
    let mut chats = chats();
    // The remaining text of this chat ends inside an array, so that all later chats look like entries of this array.
    let end = chats[2].find(r#"{"id":72"#).unwrap() - 1;
    chats[2].truncate(end);
    assert_eq!(read(format!("[{}]", chats.join(",")).as_bytes()), expected_result(&[0, 1, 3, 4, 5], &["/2"]));
}

#[test]
fn the_part_before_the_damage_can_be_read() {
    let mut chats = chats();
    chats[2] = chats[2].replacen(r#""end":"#, r#""end:"#, 1);
    let text = format!("[{}]", chats.join(","));
    let mut input = text.as_bytes();
    let limits = Limits::default();
    let mut elements = Elements::new(&mut input, &limits).resync();
    while elements.next().is_ok() {}
    let (pointer, closed) = elements.readable_part().unwrap();
    let value: serde_json::Value = serde_json::from_slice(&closed).unwrap();
    assert_eq!((pointer.as_str(), value["id"].as_u64()), ("/2", Some(2)));
    assert_eq!(value["messages"][1]["id"].as_u64(), Some(72));
    assert!(elements.next().is_ok_and(|element| element.is_some()));
    assert_eq!(elements.readable_part(), None);
}

#[test]
fn an_array_without_its_opening_bracket_is_read() {
    let text = format!("{}]", chats().join(",\n"));
    assert_eq!(read(text.as_bytes()), expected_result(&[0, 1, 2, 3, 4, 5], &[]));
}

#[test]
fn keys_after_a_string_without_end_are_found() {
    let keys = super::keys_of(br#"[{"title":"Figs,"mapping":{"n1":{"text":"a \" b","message":null}}}]"#);
    assert!(keys.has("mapping") && keys.has("mapping.n1.message") && !keys.has(",\"mapping"));
}

#[test]
fn a_bracket_too_many_between_elements_loses_nothing() {
    for (between, damaged) in [("],", 0), ("},", 1)] {
        let text = format!("[{}]", chats().join(",")).replacen(r#""end":2},"#, &format!(r#""end":2}}{between}"#), 1);
        let read = read(text.as_bytes());
        assert_eq!((read.ids.as_slice(), read.damaged.len()), (&[0, 1, 2, 3, 4, 5][..], damaged), "{between}");
    }
}

#[test]
fn what_can_be_repaired_is_no_damage() {
    let odd = "[{\"id\":0,\"a\":NaN,\"b\":-Infinity},\n{\"id\":1,\"a\":\"\u{0}\n\"},{\"id\":2,\u{0}\"a\":\"\\x\"}]";
    let mut input = odd.as_bytes();
    let limits = Limits::default();
    let mut elements = Elements::new(&mut input, &limits).resync();
    let mut count = 0;
    while let Some(element) = elements.next().unwrap() {
        assert!(super::repair(element.bytes).is_some(), "{}", String::from_utf8_lossy(element.bytes));
        count += 1;
    }
    assert_eq!(count, 3);
    let nested =
        format!("[{}]", ["{\"id\":1,\"a\":", "]}"].join(&format!("{}1{}", "[".repeat(5000), "]".repeat(4999))));
    assert!(matches!(Elements::new(&mut nested.as_bytes(), &limits).resync().next(), Ok(Some(_))));
}

#[test]
fn much_damage_is_read_in_linear_time() {
    let start = std::time::Instant::now();
    for damage in [r#"{"id":1,"a":[x,"#, r#"{"id":1,"a":[{"id":1,"a":["#, r#"{"id":1,"a":1},"b":"#, r#"{"id":{"id":"#] {
        let text = format!(r#"[{{"id":1,"a":[]}},{}"#, damage.repeat(100_000));
        let mut input = text.as_bytes();
        let limits = Limits::default();
        let mut elements = Elements::new(&mut input, &limits).resync();
        while !matches!(elements.next(), Ok(None)) {}
    }
    assert!(start.elapsed().as_secs() < 60);
}
