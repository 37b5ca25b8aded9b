#![allow(clippy::unwrap_used)]
use super::{Rule::*, *};
use crate::Tree;

const EVEN_LENGTH: TextForm =
    TextForm { expected: "an even number of letters", fit: |text| (text.len() % 2 == 0).into() };
const RANGE_RULE: Rule = Object(&[required("from", Time), nullable("to", Time)]);
const RECORD_RULE: Rule = ClosedObject(&[
    required("id", Uuid),
    required_nullable("parent", Uuid),
    optional("kind", Word(&["a", "b"])),
    optional("origin", OpenWord(&["file"])),
    optional("text", Length(3)),
    optional("code", Form(&EVEN_LENGTH)),
    optional("count", Whole(1)),
    optional("count64", Int64(1)),
    optional("level", Range(0, 255)),
    optional("weight", UnitInterval),
    optional("vector", List(&Number)),
    optional("tags", Set(&Rule::NOT_EMPTY, 1)),
    optional("scores", Map(&UnitInterval)),
    nullable("range", RANGE_RULE),
    optional("input", TextOrObject),
    optional("trigger", Tagged(&[("time", Object(&[required("at", Time)]))])),
    optional("sealed", Bool),
]);

fn violations_in(json: &str) -> Vec<(String, Violation)> {
    let mut out = Vec::new();
    let tree = Tree::parse(json, 16).unwrap();
    check(&tree, &RECORD_RULE, RepeatedKeys::Report, &mut |at, violation| out.push((at.to_string(), violation)));
    out
}

#[test]
fn a_valid_record_has_no_violation() {
    let json = r#"{"id":"0190b1a2-0000-7000-8000-00000000000a","parent":null,"kind":"a","origin":"file","text":"ÄÖÜ",
        "code":"ab","count":2.0,"weight":1,"vector":[1,-0.5,1e-7,12345678901234567890],"tags":["x","y"],"scores":{"k":0},
        "range":{"from":"2026-01-01T00:00:00Z","to":null,"note":1},"input":{"q":1},
        "trigger":{"type":"time","at":"2026-01-01 00:00:00.5+05:30"},"sealed":true}"#;
    assert_eq!(violations_in(json), []);
    assert_eq!(
        violations_in(r#"{"id":"0190B1A2-0000-7000-8000-00000000000A","parent":null,"count":1e300,"range":null}"#),
        []
    );
}

#[test]
fn each_violation_has_its_place_in_the_order_of_the_table() {
    let json = r#"{"id":"{0190b1a2-0000-7000-8000-00000000000a}","kind":"c","origin":"web","text":"","code":"abc",
        "count":0,"weight":1.5,"vector":[1,1e999,"x"],"tags":[],"scores":{"a/b~":2},"range":{"to":"2026-01-01T00:00:00"},
        "input":7,"trigger":{"type":"moon"},"sealed":null,"":1,"":2}"#;
    let expected = [
        ("/id", Violation::BadForm("a UUID")),
        ("/parent", Violation::MissingField),
        ("/kind", Violation::UnknownWord(&["a", "b"])),
        ("/origin", Violation::UnlistedWord(&["file"])),
        ("/text", Violation::Empty),
        ("/code", Violation::BadForm("an even number of letters")),
        ("/count", Violation::TooSmall(1)),
        ("/weight", Violation::OutsideUnitInterval),
        ("/vector/1", Violation::NotFinite),
        ("/vector/2", Violation::WrongType("a number")),
        ("/tags", Violation::TooFewItems(1)),
        ("/scores/a~1b~0", Violation::OutsideUnitInterval),
        ("/range/from", Violation::MissingField),
        ("/range/to", Violation::NoTimeZone),
        ("/input", Violation::WrongType("a text or an object")),
        ("/trigger", Violation::UnknownTag),
        ("/sealed", Violation::WrongType("true or false")),
        ("/", Violation::UnknownField),
        ("/", Violation::UnknownField),
        ("", Violation::RepeatedKey),
    ];
    assert_eq!(violations_in(json), expected.map(|(at, violation)| (at.to_owned(), violation)));
    assert_eq!(violations_in("[]"), [(String::new(), Violation::WrongType("an object"))]);
}

#[test]
fn a_range_includes_both_ends() {
    let level = |n: &str| {
        violations_in(&format!(r#"{{"id":"0190b1a2-0000-7000-8000-00000000000a","parent":null,"level":{n}}}"#))
    };
    for n in ["0", "255", "2.0"] {
        assert_eq!(level(n), [], "{n}");
    }
    for n in ["-1", "256", "1.5", "1e999"] {
        assert_eq!(level(n), [("/level".to_owned(), Violation::OutsideRange(0, 255))], "{n}");
    }
    assert_eq!(level("\"3\""), [("/level".to_owned(), Violation::WrongType("a whole number"))]);
}

#[test]
fn repeated_items_are_found_in_small_and_large_sets() {
    let tags = |n: usize, last: &str| {
        let tags: String = (0..n).map(|i| format!("\"t{i}\",")).collect();
        let json = format!(r#"{{"id":"0190b1a2-0000-7000-8000-00000000000a","parent":null,"tags":[{tags}"{last}"]}}"#);
        violations_in(&json)
    };
    for n in [3, 300] {
        assert_eq!(tags(n, "t1"), [("/tags".to_owned(), Violation::RepeatedItem)], "{n}");
        assert_eq!(tags(n, "last"), [], "{n}");
    }
}

#[test]
fn repeated_keys_are_found_in_every_object() {
    let cases = [
        (r#""scores":{"a":0,"a":1}"#, "/scores"),
        (r#""range":{"from":"2026-01-01T00:00:00Z","note":{"a":1,"a":2}}"#, "/range/note"),
        (r#""input":{"q":[{"a":1,"\u0061":2}]}"#, "/input/q/0"),
        (r#""note":[{"a":{},"a":{}}]"#, "/note/0"),
    ];
    for (member, place) in cases {
        let json = format!(r#"{{"id":"0190b1a2-0000-7000-8000-00000000000a","parent":null,{member}}}"#);
        let violations = violations_in(&json);
        let repeated = violations.iter().filter(|(_, violation)| *violation == Violation::RepeatedKey);
        assert_eq!(repeated.map(|(at, _)| at.as_str()).collect::<Vec<_>>(), [place], "{member}");
    }
}

#[test]
fn a_long_name_from_the_file_is_truncated() {
    let json = format!(r#"{{"id":"0190b1a2-0000-7000-8000-00000000000a","parent":null,"{}":1}}"#, "x".repeat(10_000));
    assert_eq!(violations_in(&json), [(format!("/{}", "x".repeat(80)), Violation::UnknownField)]);
}

#[test]
fn numbers_at_the_limits_are_checked() {
    let field = |name: &str, token: &str| {
        let json = format!(r#"{{"id":"0190b1a2-0000-7000-8000-00000000000a","parent":null,"{name}":{token}}}"#);
        violations_in(&json).first().map(|(_, violation)| *violation)
    };
    let count = |token: &str| field("count", token);
    for token in ["9223372036854775807", "9.0e18", "1"] {
        assert_eq!(field("count64", token), None, "{token}");
    }
    for token in ["9223372036854775808", "1e30"] {
        assert_eq!(field("count64", token), Some(Violation::TooLarge), "{token}");
    }
    assert_eq!(field("count64", "-1e30"), Some(Violation::TooSmall(1)));
    assert_eq!(count("9223372036854775808"), None);
    assert_eq!(count("-9223372036854775809"), Some(Violation::TooSmall(1)));
    assert_eq!(count("1.5"), Some(Violation::NotWhole(1)));
    assert_eq!(count("1e999"), Some(Violation::NotWhole(1)));
    assert_eq!(count("\"1\""), Some(Violation::WrongType("a whole number")));
}

#[test]
fn only_rfc_3339_times_with_a_zone_are_valid() {
    for text in [
        "2026-02-15T22:00:00Z",
        "2026-02-15T22:00:00.123456789+05:30",
        "2026-02-15T22:00:00.1234567890123Z",
        "2024-02-29t00:00:00z",
        "9999-12-31T23:59:59Z",
        "9999-12-31T23:59:59-23:59",
        "0001-01-01T00:00:00+23:59",
        "2016-12-31T23:59:60Z",
        "2016-12-31T15:59:60.5-08:00",
        "2017-01-01T05:29:60+05:30",
    ] {
        assert_eq!(rfc3339(text), Ok(()), "{text}");
    }
    assert_eq!(rfc3339("2026-02-15T22:00:00"), Err(TimeFault::NoZone));
    for text in [
        "2026-02-30T00:00:00Z",
        "2026-02-15",
        "yesterday",
        "",
        "2026-02-15T22:00:00.Z",
        "2026-02-15T25:00:00Z",
        "2026-02-15T22:00-05:00",
        "20260215T220000.000Z",
        " 2026-02-15T22:00:00Z",
        "2026-02-15T22:00:00,5Z",
        "2026-02-15T22:00:00+0530",
        "2026-02-15T22:00:60Z",
        "2016-12-31T23:58:60Z",
        "2016-12-31T23:59:60+01:00",
        "2016-12-31T23:59:61Z",
    ] {
        assert_eq!(rfc3339(text), Err(TimeFault::Bad), "{text}");
    }
}

#[test]
fn only_uris_by_rfc_3986_are_valid() {
    for text in [
        "https://example.org/a/b;c=1?q=x&y=(1)#part/2",
        "http://[::1]:8080/",
        "http://[2001:db8::192.0.2.1]",
        "ftp://ines:pw@[v1.fe80::a+en1]/x",
        "http://caf%C3%A9.example:/",
        "file:///home/ines/notes%20of%20June.md",
        "mailto:ines@example.org",
        "urn:isbn:0-330-34612-8",
        "s3://bucket/key",
    ] {
        assert!(is_uri(text), "{text}");
    }
    for text in [
        "http://[::1",
        "http://::1]",
        "http://[::1]x/",
        "http://[::g]/",
        "http://[1.2.3.4]/",
        "http://[v.a]/",
        "http://example.org:80a/",
        "http://a@b@c/",
        "http://example.org/100%",
        "http://example.org/%zz",
        "http://example.org/a[1]",
        "http://example.org/#a#b",
        "http://example.org/a b",
        "http://example.org/\u{e9}",
        "//example.org/",
        "1http://example.org",
        "over there",
        "http",
    ] {
        assert!(!is_uri(text), "{text}");
    }
}

/// The tree after [`make_valid`] as JSON, and the names of its changed members.
fn made_valid(json: &str, fallback: &str) -> Option<(String, Vec<String>)> {
    let mut tree = Tree::parse(json, 16).unwrap();
    let fallback = Tree::parse(fallback, 16).unwrap();
    let is_forbidden = |violation: &Violation| !matches!(violation, Violation::UnlistedWord(_));
    let names = make_valid(&mut tree, &RECORD_RULE, &fallback, &is_forbidden)?;
    let mut out = String::new();
    tree.write(&mut out);
    Some((out, names.into_iter().collect()))
}

#[test]
fn a_tree_that_was_made_valid_follows_its_rule() {
    let id = r#""id":"0190b1a2-0000-7000-8000-00000000000a","parent":null"#;
    for (forbidden, fallback, expected, changed) in [
        (r#","weight":0.5"#, "{}", r#","weight":0.5"#, ""),
        (r#","origin":"web""#, "{}", r#","origin":"web""#, ""),
        (r#","weight":1.5,"sealed":true"#, "{}", r#","sealed":true"#, "weight"),
        (r#","weight":1.5"#, r#"{"weight":1}"#, r#","weight":1"#, "weight"),
        (r#","weight":1.5"#, r#"{"weight":1.5}"#, "", "weight"),
        (r#","vector":[1,"x",3,"y"]"#, "{}", "", "vector"),
        (r#","vector":[1,"x"]"#, r#"{"vector":[1]}"#, r#","vector":[1]"#, "vector"),
        (r#","range":{"to":null,"note":1}"#, "{}", "", "range"),
        (r#","range":{"from":"soon"}"#, "{}", "", "range"),
        (
            r#","range":{"from":"soon","note":1}"#,
            r#"{"range":{"from":"2026-01-01T00:00:00Z"}}"#,
            r#","range":{"from":"2026-01-01T00:00:00Z","note":1}"#,
            "range",
        ),
        (r#","scores":{"a":0,"b":2}"#, "{}", r#","scores":{"a":0}"#, "scores"),
        (r#","code":"abc","code":"a""#, "{}", "", "code"),
        (r#","trigger":{"type":"moon"}"#, "{}", "", "trigger"),
        (r#","unknown":1"#, "{}", "", "unknown"),
    ] {
        let (tree, names) = made_valid(&format!("{{{id}{forbidden}}}"), fallback).unwrap();
        assert_eq!((tree, names.join(" ")), (format!("{{{id}{expected}}}"), changed.to_owned()), "{forbidden}");
    }
}

#[test]
fn a_tree_without_a_required_member_cannot_be_made_valid() {
    assert_eq!(made_valid(r#"{"id":"no UUID","parent":null}"#, "{}"), None);
    assert_eq!(made_valid(r#"{"parent":null}"#, r#"{"id":"no UUID"}"#), None);
    assert_eq!(made_valid("[]", "{}"), None);
    let (tree, _) = made_valid(r#"{"parent":null}"#, r#"{"id":"0190b1a2-0000-7000-8000-00000000000a"}"#).unwrap();
    assert_eq!(tree, r#"{"parent":null,"id":"0190b1a2-0000-7000-8000-00000000000a"}"#);
}

#[test]
fn making_a_list_valid_removes_whole_objects_of_a_list() {
    const LIST_RULE: Rule =
        Object(&[optional("list", List(&Object(&[required("a", Text), required("b", Text), optional("c", Bool)])))]);
    let mut tree =
        Tree::parse(r#"{"list":[{"c":5},{"a":"1","b":"2","c":5},{"b":"2"},{"a":"3","b":"4"}]}"#, 16).unwrap();
    let names = make_valid(&mut tree, &LIST_RULE, &Tree::Null, &|_| true).unwrap();
    let mut out = String::new();
    tree.write(&mut out);
    assert_eq!(out, r#"{"list":[{"a":"1","b":"2"},{"a":"3","b":"4"}]}"#);
    assert_eq!(names.into_iter().collect::<Vec<_>>(), ["list"]);
}
