//! Tests how texts and queries are split into words.
use crate::{query_words, tokens};
use proptest::prelude::*;

#[test]
fn text_of_any_script_is_split_into_folded_words() {
    let table: [(&str, &[&str]); 24] = [
        ("", &[]),
        ("  ,.;!?  ", &[]),
        ("The quick BROWN fox", &["the", "quick", "brown", "fox"]),
        ("foo_bar-baz.qux", &["foo", "bar", "baz", "qux"]),
        ("key-7F3A 3.14", &["key", "7f3a", "3", "14"]),
        ("Café naïve Ångström", &["cafe", "naive", "angstrom"]),
        ("cafe\u{301}s", &["cafes"]),
        ("Straße STRASSE ẞ", &["strasse", "strasse", "ss"]),
        ("Łódź Kraków smørrebrød Æsir", &["lodz", "krakow", "smorrebrod", "aesir"]),
        ("ﬁle ﬀ Ｆｕｌｌ", &["file", "ff", "full"]),
        ("Привет, МИР", &["привет", "мир"]),
        ("ΟΔΟΣ οδός", &["οδοσ", "οδοσ"]),
        ("İstanbul Iğdır", &["istanbul", "igdir"]),
        ("مرحبا بالعالم", &["مرحبا", "بالعالم"]),
        ("שלום עולם", &["שלום", "עולם"]),
        ("word—next “quoted”", &["word", "next", "quoted"]),
        ("½ cup", &["1", "2", "cup"]),
        ("東京都", &["東京", "京都", "都"]),
        ("東", &["東"]),
        ("iPhone手机", &["iphone", "手机", "机"]),
        ("カタカナ", &["カタ", "タカ", "カナ", "ナ"]),
        ("한국어", &["한국", "국어", "어"]),
        ("กาแฟ", &["กา", "าแ", "แฟ", "ฟ"]),
        ("🧑‍🚀🚀 ok", &["ok"]),
    ];
    for (text, expected) in table {
        assert_eq!(tokens(text), expected, "{text}");
    }
}

#[test]
fn joined_query_words_are_a_query_for_the_same_words() {
    let table: [(&str, &[&str]); 6] = [
        ("", &[]),
        ("+Café -\"the Key\" 3.14", &["cafe", "the", "key", "3", "14"]),
        ("Ada's ½", &["ada", "s", "1", "2"]),
        ("東京都 東", &["東京", "京都", "東"]),
        ("iPhone手机", &["iphone", "手机"]),
        ("हिन्दी", &["हनद"]),
    ];
    for (query, expected) in table {
        let words = query_words(query);
        assert_eq!(words, expected, "{query}");
        assert_eq!(query_words(&words.join(" ")), expected, "{query}");
    }
}

#[test]
fn decomposed_hangul_and_half_width_kana_are_the_same_words() {
    let decomposed: String = unicode_normalization::UnicodeNormalization::nfd("한국어").collect();
    assert_eq!(tokens(&decomposed), tokens("한국어"));
    assert_eq!(tokens("ｶﾀｶﾅ"), tokens("カタカナ"));
}

#[test]
fn overlong_words_are_left_out_and_long_runs_are_complete() {
    assert_eq!(tokens(&format!("a {} b", "x".repeat(121))), ["a", "b"]);
    assert_eq!(tokens(&format!("a {} b", "x".repeat(120))).len(), 3);
    assert_eq!(tokens(&format!("a {} b", "é".repeat(100_000))), ["a", "b"]);
    let long: String = "漢字仮名交じり文".chars().cycle().take(10_000).collect();
    let all = tokens(&long);
    assert_eq!(all.len(), 10_000, "one token for each character");
    assert_eq!(all.iter().filter(|t| t.chars().count() == 1).count(), 1, "one tail");
}

proptest! {
    #[test]
    fn any_text_gives_folded_words(text in any::<String>()) {
        for token in tokens(&text) {
            prop_assert!(!token.is_empty() && token.len() <= 120);
            prop_assert!(token.chars().all(char::is_alphanumeric), "{:?}", token);
        }
    }
}
