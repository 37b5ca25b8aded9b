//! Tests of single events. Other tests read whole logs from `fixtures/eventloom`.
use crate::zaxy::log_event::{Event, EventVersion, version_of};
use mementory_json::Tree;

fn line(extra: &str) -> Tree {
    let text = format!(
        r#"{{"id":"own-1","type":"memory.noted","actorId":"ines","threadId":"cello","timestamp":"2026-03-02T18:00:00Z",
        "payload":{{"text":"naïve \u007f 🎻","n":1.0}},"integrity":{{"hash":"sha256:{}","previousHash":null}}{extra}}}"#,
        "ab".repeat(32)
    );
    Tree::parse(&text, 16).unwrap()
}

#[test]
fn the_hash_covers_only_the_listed_members() {
    let plain = Event::parse(&line(""), 3).unwrap();
    assert_eq!((plain.seq, plain.hash.as_str()), (3, "ab".repeat(32).as_str()));
    let seal = plain.computed_hash().unwrap();
    for extra in [r#","unknown":1"#, r#","parentEventId":null"#, r#","causedBy":[]"#, r#","causedBy":null"#] {
        assert_eq!(Event::parse(&line(extra), 3).unwrap().computed_hash().unwrap(), seal, "{extra}");
    }
    for extra in [r#","parentEventId":"own-0""#, r#","causedBy":["own-0"]"#] {
        assert_ne!(Event::parse(&line(extra), 3).unwrap().computed_hash().unwrap(), seal, "{extra}");
    }
}

#[test]
fn both_forms_of_an_event_are_recognized() {
    assert_eq!(version_of(&line("")), Some(EventVersion::V1));
    let legacy = |seq: &str| {
        let text = format!(r#"{{"seq":{seq},"timestamp":"t","type":"x","actor":"a","hash":"{}"}}"#, "00".repeat(32));
        Tree::parse(&text, 8).unwrap()
    };
    assert_eq!(version_of(&legacy("1")), Some(EventVersion::Legacy));
    assert_eq!(Event::parse(&legacy("1"), 9).unwrap().thread, "default");
    assert_eq!(Event::parse(&legacy("1"), 9).unwrap().seq, 1);
    for seq in ["0", "-1", "1.5", "\"1\"", "99999999999999999999"] {
        assert!(Event::parse(&legacy(seq), 9).is_err(), "{seq}");
    }
    let mut broken = line("");
    broken.set("payload", Tree::Text("text".into()));
    assert!(Event::parse(&broken, 1).is_err());
    let mut numbered = line("");
    numbered.set("id", Tree::Text("evt_zaxy_000000000042_0123456789abcdef".into()));
    assert_eq!(Event::parse(&numbered, 1).unwrap().seq, 42);
    assert_eq!(version_of(&Tree::Object(vec![])), None);
}
