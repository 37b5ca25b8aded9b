//! Tests properties of the scan that hold for every text. The scan takes linear time and does not panic. Findings begin
//! and end at character boundaries, are in text order and do not overlap. A scan for keys alone finds the keys that the
//! whole scan finds with the highest confidence.

use mementory_scan::{Class, Confidence, Finding, scan, scan_keys};
use proptest::prelude::*;

fn assert_valid_findings(text: &str) {
    let mut last = 0;
    for finding in scan(text) {
        assert!(finding.start >= last && finding.start < finding.end && finding.end <= text.len());
        assert!(text.is_char_boundary(finding.start) && text.is_char_boundary(finding.end));
        last = finding.end;
    }
    let is_certain_key = |finding: &Finding| {
        matches!(finding.class, Class::AccessKey | Class::PrivateKey) && finding.confidence == Confidence::VeryLikely
    };
    let keys = scan_keys(text);
    for finding in &keys {
        assert!(is_certain_key(finding), "{finding:?}");
    }
    // Every key that the scan for all classes finds as very likely is also found by the scan for keys, at least in
    // part.
    for finding in scan(text).iter().filter(|finding| is_certain_key(finding)) {
        let last = keys[..keys.partition_point(|key| key.start < finding.end)].last();
        assert!(last.is_some_and(|key| key.end > finding.start), "{finding:?}");
    }
}

/// Fragments that trigger detectors. The tests combine them in any order.
const FRAGMENTS: &[&str] = &[
    "password",
    "Passwort lautet ",
    "mot de passe : ",
    "パスワードは",
    "密码是",
    "пароль: ",
    "=",
    ": ",
    "\"",
    "'",
    "`",
    "\\\"",
    "«",
    "»",
    "é",
    "電話",
    "“",
    "\u{a0}",
    "\n",
    "\\n",
    " ",
    "token",
    "api_key",
    "secret_",
    "key-",
    "AKIA",
    "ghp_",
    "sk-",
    "eyJ",
    ".",
    "-----BEGIN",
    " RSA PRIVATE KEY-----",
    "-----END",
    "---- BEGIN SSH2",
    "PuTTY-User-Key-File-",
    "Private-Lines:",
    "AGE-SECRET-KEY-",
    "xprv",
    "://",
    "user:",
    "@",
    "host.de",
    "Bearer ",
    "curl -u ",
    "mysql -p",
    "+",
    "(",
    ")",
    "0",
    "49",
    "30",
    "DE89",
    "1234",
    "4111",
    "756",
    "-",
    "/",
    "X",
    "tel ",
    "BSN ",
    "card ",
    "X1234567",
    "2A",
    "８",
    "²",
    "%",
    "<",
    ">",
    ":AA",
    "8Q~",
    "value",
    "as the ",
    "is ",
    "AbC9x8Q2zz1LmN0pQ7rT",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_gives_valid_findings(text in any::<String>()) {
        assert_valid_findings(&text);
    }

    #[test]
    fn any_mix_of_fragments_gives_valid_findings(picks in prop::collection::vec(0..FRAGMENTS.len(), 0..60)) {
        assert_valid_findings(&picks.iter().map(|pick| FRAGMENTS[*pick]).collect::<String>());
    }
}

#[test]
fn long_hostile_texts_are_scanned_to_the_end() {
    let pieces = FRAGMENTS.iter().copied().chain([
        "a",
        "7",
        "@",
        "password=",
        "password is ",
        "a@b.",
        "key ",
        "1 ",
        "12-",
        "tel 0301 ",
        "sk-a",
        "eyJa.",
        "-----BEGIN PRIVATE KEY-----\n",
        "a:b@",
        "://a:",
        "+1",
        "DE",
        "use x as password ",
        "use x as the token ",
        "API key is ",
        "n° de sécu",
        "telefonnummer",
        "0044 161 ",
        "DE89 1234 ",
        "0123456789abcdef-us1",
        "setPassword(\"",
        "define('password', '",
    ]);
    for piece in pieces {
        let text = piece.repeat(1_000_000 / piece.len());
        // In quadratic time, one of these texts would take hours.
        assert_valid_findings(&text);
    }
}
