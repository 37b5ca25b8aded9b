//! Reduces names in Latin letters and in Katakana to their consonants, so that "Emil" and "エミル" are equal. The method
//! is rough: different names that sound alike become equal too. The result is therefore used only as evidence that two
//! names are the same.
use crate::fold::{Folded, fold, is_east_asian, is_function_word, noun_runs, words};

/// The names in a text, reduced to a form that is the same in all scripts. Each name is listed once.
pub(crate) fn names(folded: &Folded) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut add = |name: String| {
        if name.len() >= 2 && !out.contains(&name) {
            out.push(name);
        }
    };
    for word in folded.written.split(|c: char| !c.is_alphanumeric() || is_east_asian(c)) {
        let folded_word = fold(word);
        if word.chars().count() >= 3 && word.starts_with(char::is_uppercase) && !is_function_word(&folded_word) {
            add(latin_consonants(&folded_word));
        }
    }
    for word in words(&folded.text) {
        noun_runs(word, 3, usize::MAX).into_iter().for_each(|run| add(katakana_consonants(run)));
    }
    out
}

/// The names in a text: words with a capital letter that do not begin a sentence, and runs of Katakana. Empty for a
/// text that can only be German, because every German noun has a capital letter.
pub(crate) fn plain_names(folded: &Folded) -> Vec<String> {
    if folded.languages.de && !folded.languages.en {
        return Vec::new();
    }
    let mut out: Vec<String> =
        words(&folded.text).into_iter().flat_map(|word| noun_runs(word, 3, usize::MAX)).map(str::to_owned).collect();
    let mut starts_sentence = true;
    for word in folded.written.split(' ') {
        let trimmed = word.trim_matches(|c: char| !c.is_alphanumeric());
        if !starts_sentence && trimmed.starts_with(|c: char| c.is_uppercase() && !is_east_asian(c)) && trimmed.len() > 2
        {
            out.push(fold(trimmed));
        }
        starts_sentence = word.ends_with(['.', ':', '!', '?']);
    }
    out
}

/// True if a folded name in Latin letters and a folded name in Katakana, in any order, may be the same name. Their
/// consonants must be equal, and the first vowel of the Latin name must be spoken like that of the Katakana name. If
/// the Latin name ends in a vowel other than E, the last vowels must be equal too. Names with only one consonant must
/// have the same vowels, at least two.
pub(crate) fn same_name(one: &str, other: &str) -> bool {
    let Some((latin, katakana)) = in_two_scripts(one, other) else { return false };
    let sounds = katakana_consonants(katakana);
    let (written, silent) = (latin_consonants(latin), latin_consonants(&without_silent_r(latin)));
    if sounds != written && sounds != silent {
        return false;
    }
    let vowels: Vec<char> = latin.chars().map(without_accent).filter(|c| "aeiou".contains(*c)).collect();
    let spoken = vowels_of_katakana(katakana);
    if sounds.chars().count() < 2 {
        return sounds.chars().count() == 1 && spoken.len() >= 2 && vowels == spoken;
    }
    let end = latin.chars().next_back().filter(|c| "aiou".contains(*c));
    spoken.first().is_none_or(|vowel| first_vowels(latin).contains(vowel))
        && end.is_none_or(|end| spoken.last() == Some(&end))
}

/// The name in Latin letters and the name in Katakana. None unless one is in each script.
fn in_two_scripts<'n>(one: &'n str, other: &'n str) -> Option<(&'n str, &'n str)> {
    let is_katakana = |name: &str| !name.is_empty() && name.chars().all(|c| matches!(u32::from(c), 0x30a1..=0x30ff));
    let is_latin = |name: &str| !name.is_empty() && name.chars().all(|c| c.is_alphabetic() && !is_east_asian(c));
    let (latin, katakana) = if is_latin(one) { (one, other) } else { (other, one) };
    (is_latin(latin) && is_katakana(katakana)).then_some((latin, katakana))
}

/// True if a folded name of one word in Latin letters and a folded name in Katakana, in any order, surely are two names,
/// because they share no consonant. Each must have at least two consonants. Names that are only partly alike may be one,
/// because spelling and sound differ in many languages.
pub(crate) fn sound_unlike(one: &str, other: &str) -> bool {
    let Some((latin, katakana)) = in_two_scripts(one, other) else { return false };
    let (written, spoken) = (latin_consonants(latin), katakana_consonants(katakana));
    written.len() >= 2 && spoken.len() >= 2 && !written.chars().any(|consonant| spoken.contains(consonant))
}

/// The vowels with which Katakana may write the first vowels of a folded name in Latin letters: "Noor" is ヌール or ノール,
/// and "Heike" is ハイケ.
fn first_vowels(latin: &str) -> Vec<char> {
    const SPOKEN: [(&str, &str); 9] = [
        ("oo", "uo"),
        ("ou", "uao"),
        ("ee", "ie"),
        ("ea", "ie"),
        ("ie", "ie"),
        ("ei", "aei"),
        ("eu", "oue"),
        ("ai", "ae"),
        ("au", "ao"),
    ];
    let plain: String = latin.chars().map(without_accent).collect();
    let Some(at) = plain.find(|c: char| "aeiou".contains(c)) else { return Vec::new() };
    let vowels = &plain[at..];
    match SPOKEN.iter().find(|(written, _)| vowels.starts_with(written)) {
        Some((_, spoken)) => spoken.chars().collect(),
        None => vowels.chars().take(1).collect(),
    }
}

/// Removes the accent of a vowel. A German umlaut becomes the vowel that Katakana uses for it.
const fn without_accent(c: char) -> char {
    match c {
        'á' | 'à' | 'â' | 'å' | 'ã' => 'a',
        'é' | 'è' | 'ê' | 'ë' | 'ä' | 'ö' | 'ø' => 'e',
        'í' | 'ì' | 'î' | 'ï' => 'i',
        'ó' | 'ò' | 'ô' | 'õ' => 'o',
        'ú' | 'ù' | 'û' | 'ü' => 'u',
        c => c,
    }
}

/// Removes each R that is not before a vowel, because such an R is silent: "Martin" is written マーティン in Katakana.
fn without_silent_r(word: &str) -> String {
    let next = word.chars().skip(1).map(Some).chain([None]);
    let silent = |c: char, next: Option<char>| c == 'r' && next.is_none_or(|next| !"aeiouy".contains(next));
    word.chars().zip(next).filter(|(c, next)| !silent(*c, *next)).map(|(c, _)| c).collect()
}

/// The vowels of a name in Katakana, one for each syllable.
fn vowels_of_katakana(run: &str) -> Vec<char> {
    const ROWS: [(&str, char); 10] = [
        ("アカガサザタダナハバパマヤラワ", 'a'),
        ("イキギシジチヂニヒビピミリ", 'i'),
        ("ウクグスズツヅヌフブプムユルヴ", 'u'),
        ("エケゲセゼテデネヘベペメレ", 'e'),
        ("オコゴソゾトドノホボポモヨロヲ", 'o'),
        // A small character replaces the vowel of the syllable before it.
        ("ァャ", 'a'),
        ("ィ", 'i'),
        ("ゥュ", 'u'),
        ("ェ", 'e'),
        ("ォョ", 'o'),
    ];
    let mut out: Vec<char> = Vec::new();
    for c in run.chars() {
        if let Some((n, vowel)) =
            ROWS.iter().enumerate().find_map(|(n, (row, vowel))| row.contains(c).then_some((n, *vowel)))
        {
            if n >= 5 {
                out.pop();
            }
            out.push(vowel);
        }
    }
    out
}

/// Reduces a folded name and its German genitive to the form that `names` returns.
pub(crate) fn consonants(name: &str) -> Vec<String> {
    if name.chars().any(is_east_asian) {
        return vec![katakana_consonants(name)];
    }
    vec![latin_consonants(name), latin_consonants(&format!("{name}s"))]
}

fn latin_consonants(word: &str) -> String {
    let mut text = word.replace("sch", "s").replace("sh", "s").replace("ph", "f").replace("th", "t");
    for (written, spoken) in [("ck", "k"), ("ch", "k"), ("qu", "k"), ("x", "ks"), ("ce", "s"), ("ci", "s"), ("cy", "s")]
    {
        text = text.replace(written, spoken);
    }
    reduced_consonants(text.chars().filter(char::is_ascii_alphabetic).map(|c| match c {
        'c' => 'k',
        'j' => 'y',
        c => c,
    }))
}

fn katakana_consonants(run: &str) -> String {
    // The rows of the Katakana table with their consonants, without the row of the plain vowels.
    const ROWS: [(&str, char); 17] = [
        ("カキクケコ", 'k'),
        ("ガギグゲゴ", 'k'),
        ("サシスセソ", 's'),
        ("ザジズゼゾ", 's'),
        ("タチツテト", 't'),
        ("ダヂヅデド", 't'),
        ("ナニヌネノン", 'n'),
        ("ハヒヘホ", 'h'),
        ("フ", 'h'),
        ("バビブベボ", 'b'),
        ("パピプペポ", 'b'),
        ("マミムメモ", 'm'),
        ("ヤユヨ", 'y'),
        ("ラリルレロ", 'r'),
        ("ワ", 'w'),
        ("ヴ", 'b'),
        ("ャュョ", 'y'),
    ];
    reduced_consonants(
        run.chars().filter_map(|c| ROWS.iter().find(|(row, _)| row.contains(c)).map(|(_, consonant)| *consonant)),
    )
}

/// Reduces a name to its consonants. Consonants that Katakana does not distinguish become the same letter, doubled
/// consonants become one, and vowels are left out.
fn reduced_consonants(letters: impl Iterator<Item = char>) -> String {
    let mut out = String::new();
    for letter in letters {
        let letter = match letter {
            'a' | 'e' | 'i' | 'o' | 'u' => continue,
            'g' => 'k',
            'v' | 'p' => 'b',
            'd' => 't',
            'z' => 's',
            'l' => 'r',
            'f' => 'h',
            // N and M become the same letter, because ン is written as M in Latin letters before B or P.
            'm' => 'n',
            letter => letter,
        };
        if !out.ends_with(letter) {
            out.push(letter);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOUND_UNLIKE: [(&str, &str); 2] = [("emden", "エスビャウ"), ("hugo", "リタ")];
    const MAY_SOUND_ALIKE: [(&str, &str); 5] =
        [("jonas", "マルク"), ("joaquín", "ホアキン"), ("tamsin", "タムシン"), ("ida", "エミ"), ("emil", "emil")];

    #[test]
    fn names_are_the_same_in_both_scripts() {
        for (latin, katakana) in [("emil", "エミル"), ("hana", "ハナ"), ("hamburg", "ハンブルク"), ("bella", "ベラ")]
        {
            assert_eq!(latin_consonants(latin), katakana_consonants(katakana), "{latin}");
        }
        assert_ne!(latin_consonants("rufus"), katakana_consonants("エミル"));
        for (latin, katakana) in [
            ("hana", "ハナ"),
            ("martin", "マーティン"),
            ("emil", "エミル"),
            ("emi", "エミ"),
            ("ida", "イダ"),
            ("noor", "ヌール"),
            ("heike", "ハイケ"),
            ("mélanie", "メラニー"),
        ] {
            assert!(same_name(latin, katakana), "{latin}");
            assert_eq!(same_name(latin, katakana), same_name(katakana, latin));
        }
        for (latin, katakana) in [("mario", "マリア"), ("nora", "エミル"), ("hana", "hana"), ("", ""), ("ed", "エド")]
        {
            assert!(!same_name(latin, katakana), "{latin} {katakana}");
        }
        for (latin, katakana) in SOUND_UNLIKE {
            assert!(sound_unlike(latin, katakana), "{latin}");
        }
        for (latin, katakana) in MAY_SOUND_ALIKE {
            assert!(!sound_unlike(latin, katakana), "{latin}");
        }
        assert_eq!(names(&Folded::new("The cat Pixel sleeps.")), ["bksr"]);
        assert_eq!(plain_names(&Folded::new("Lives in Leeds.")), ["leeds"]);
    }
}
