//! Tests that the scan finds exactly the marked values in texts.
//!
//! `cases.json` is a list of texts in which `⟦class|value⟧` marks a value. Parts such as `{alnum:36}` are generated
//! from a seed when the test runs, so that the repository contains nothing that looks like a real key.
#![allow(clippy::expect_used)]

use mementory_scan::{Class, Finding, scan};

/// A small random number generator (xorshift). It starts with the same seed in every run, so the texts are always the
/// same.
struct Seed(u64);

impl Seed {
    fn next(&mut self) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize
    }

    fn random_text(&mut self, kind: &str, length: usize) -> String {
        let alphabet: &[u8] = match kind {
            "alnum" => b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
            "low" => b"abcdefghijklmnopqrstuvwxyz0123456789",
            "up" => b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
            "hex" => b"0123456789abcdef",
            "HEX" => b"0123456789ABCDEF",
            "digit" => b"0123456789",
            "b64" => b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
            "url" => b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_",
            "bech" => b"QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
            other => panic!("no alphabet {other}"),
        };
        (0..length).map(|_| char::from(alphabet[self.next() % alphabet.len()])).collect()
    }
}

/// Replaces the parts in braces with random text and removes the marks. Returns the text, and the class, start and end
/// of each value.
fn expand_template(template: &str, seed: &mut Seed) -> (String, Vec<(Class, usize, usize)>) {
    let mut expanded = String::new();
    let mut rest = template;
    while let Some(open) = rest.find('{') {
        expanded.push_str(&rest[..open]);
        rest = &rest[open..];
        let close = rest.find('}').unwrap_or(0);
        let parts = rest.get(1..close).and_then(|inner| inner.split_once(':'));
        match parts.and_then(|(kind, length)| Some((kind, length.parse::<usize>().ok()?))) {
            Some((kind, length)) => {
                expanded.push_str(&seed.random_text(kind, length));
                rest = &rest[close + 1..];
            }
            None => {
                // `{+}` is removed. It splits a key, so that no file in the repository contains a complete one.
                let skip = if rest.starts_with("{+}") { 3 } else { 1 };
                expanded.push_str(if skip == 3 { "" } else { "{" });
                rest = &rest[skip..];
            }
        }
    }
    expanded.push_str(rest);
    let mut text = String::new();
    let mut values = Vec::new();
    let mut rest = expanded.as_str();
    while let Some(open) = rest.find('⟦') {
        text.push_str(&rest[..open]);
        let inner = &rest[open + '⟦'.len_utf8()..];
        let close = inner.find('⟧').expect("a mark is closed");
        let (class, value) = inner[..close].split_once('|').expect("class|value");
        values.push((Class::parse(class).expect("a class"), text.len(), text.len() + value.len()));
        text.push_str(value);
        rest = &inner[close + '⟧'.len_utf8()..];
    }
    text.push_str(rest);
    (text, values)
}

#[test]
fn every_marked_value_is_found_and_nothing_else() {
    let cases: Vec<String> = serde_json::from_str(include_str!("cases.json")).expect("cases.json is a list of texts");
    let mut seed = Seed(0x9E37_79B9_7F4A_7C15);
    let mut wrong_cases = Vec::new();
    let mut marked = 0;
    for case in &cases {
        // A case with generated parts is run several times, with different values each time.
        for _ in 0..if case.contains(":") && case.contains('{') { 20 } else { 1 } {
            let (text, expected) = expand_template(case, &mut seed);
            let findings: Vec<_> = scan(&text).iter().map(|f: &Finding| (f.class, f.start, f.end)).collect();
            marked += expected.len();
            for (problem, list, other) in [("missed", &expected, &findings), ("found too much", &findings, &expected)] {
                for value in list.iter().filter(|value| !other.contains(value)) {
                    wrong_cases.push(format!(
                        "{problem} {} {:?} in {text:?}",
                        value.0.as_str(),
                        &text[value.1..value.2]
                    ));
                }
            }
        }
    }
    assert!(marked > 250, "{marked} marked values");
    assert!(wrong_cases.is_empty(), "{} of {marked} wrong:\n{}", wrong_cases.len(), wrong_cases.join("\n"));
}

#[test]
fn a_class_is_parsed_from_its_name() {
    for class in Class::ALL {
        assert_eq!(Class::parse(class.as_str()), Some(class));
    }
    assert_eq!(Class::parse("Password"), None);
}
