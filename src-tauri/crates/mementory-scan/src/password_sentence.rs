//! Passwords said in a sentence.
use crate::Confidence;
use crate::Finding;
use crate::password::finding;
use crate::password_value::{camel, is_code, is_digest, is_path, measure, phrase, prose, strong, vivid};
use crate::password_words::{GLUED, IS, NOT, STILL, TERSE_OF};
use crate::placeholder::is_placeholder;
use crate::value::{Join, blanks, read};

/// "the password is X", "das Passwort für das WLAN lautet X", "パスワードはX".
pub(crate) fn sentence(text: &str, from: usize, terse: bool) -> Option<Finding> {
    let rest = &text[from..text.floor_char_boundary((from + 160).min(text.len()))];
    let rest = &rest[..rest.find('\n').unwrap_or(rest.len())];
    let mut at = rest.len() - rest.trim_start_matches(['*', '"', '\'', '`', '»', '”', ')']).len();
    if let Some(mark) = GLUED.iter().find(|mark| rest[at..].starts_with(**mark)) {
        at += mark.len();
        at += blanks(rest.as_bytes(), at);
        at += rest[at..].strip_prefix(['：', ':']).map_or(0, |tail| rest[at..].len() - tail.len());
        let value = spoken(text, from + at)?;
        return accept_spoken(text, value, true);
    }
    // A list of names, the end of a call or of a type.
    if rest[at..].starts_with([',', ')', ']', '}', ';', '>', '<', '&', '(']) {
        return None;
    }
    // "the password X": nothing between.
    let beside = at + blanks(rest.as_bytes(), at);
    let unspaced = text[..from].chars().next_back().is_some_and(|c| c as u32 >= 0x2E80);
    if (beside > at || unspaced)
        && rest[..at].bytes().all(|b| b == b'*')
        && (!terse || text[..from].ends_with(['w', 'W', 'd', 'D']))
        && let Some(value) = spoken(text, from + beside)
        && !value.2
        && vivid(&text[value.0..value.1])
    {
        return accept_spoken(text, value, false);
    }
    // "pass the parcel" is no password.
    let verb = text[..from].ends_with(['s', 'S']);
    let mut linked = false;
    let mut link_word = "";
    let mut colon = false;
    for count in 0..9 {
        at += blanks(rest.as_bytes(), at);
        let word_end = rest[at..].find([' ', '\t']).map_or(rest.len(), |n| at + n);
        let raw = &rest[at..word_end];
        if raw.is_empty() || raw.starts_with(['{', '}']) {
            return None;
        }
        let bare = raw.trim_matches(['"', '\'', '`', '(', ')', '*', ',']);
        let lower = bare.to_lowercase();
        let passing = linked && STILL.contains(&lower.as_str());
        if linked && !passing || raw.starts_with(['"', '`', '“', '„', '«']) && count > 0 {
            let value = spoken(text, from + at)?;
            let quoted_without_link = !linked && !colon;
            if quoted_without_link && !(value.2 && strong(&text[value.0..value.1])) {
                return None;
            }
            let weak = WEAK_LINKS.contains(&link_word);
            // "pass a `Cache`", "pass to x": the verb.
            if terse && weak && !vivid(&text[value.0..value.1]) {
                return None;
            }
            return accept_spoken(text, value, !weak || value.2);
        }
        let head = lower.trim_end_matches([':', '：']);
        if IS.contains(&lower.as_str()) || lower.ends_with([':', '：']) && !lower.is_empty() {
            // "password policy is", "password length: 12": about the password, not the password itself.
            if lower.ends_with(':') && is_about(head) {
                return None;
            }
            linked = true;
            colon = lower.ends_with(':');
            link_word = IS.iter().find(|word| **word == lower).copied().unwrap_or("");
        } else if !linked {
            let stop = raw.ends_with(['.', '!', '?', ';']) || count > 5 || is_about(head);
            let negative = matches!(
                lower.as_str(),
                "and"
                    | "or"
                    | "und"
                    | "oder"
                    | "y"
                    | "et"
                    | "not"
                    | "must"
                    | "should"
                    | "so"
                    | "because"
                    | "when"
                    | "if"
                    | "that"
            );
            if stop || negative || terse && (verb || !TERSE_OF.contains(&lower.as_str())) {
                return None;
            }
        }
        at = word_end;
    }
    None
}

/// Links that are also other words: what follows them must look like a password by itself.
const WEAK_LINKS: &[&str] = &["a", "on", "er", "to", "per", "por", "à", "-", "–", "—", "auf", "es"];

/// "password policy", "password fields": what a sentence about passwords goes on with. "Portal" is no "port".
fn is_about(word: &str) -> bool {
    const ENDINGS: &[&str] = &["", "s", "es", "d", "ed", "r", "ing", "ting", "out", "ion", "ation", "ity", "ies"];
    NOT.iter().filter(|stem| stem.len() > 3).any(|stem| {
        let open = matches!(*stem, "expir" | "attempt" | "encrypt" | "valid");
        word.strip_prefix(stem).is_some_and(|rest| open || ENDINGS.contains(&rest))
    })
}

/// "use X as the password": the value stands before the name.
pub(crate) fn backwards(text: &str, from: usize) -> Option<Finding> {
    let floor = text.ceil_char_boundary(from.saturating_sub(80));
    let head = &text[floor..from];
    let head = &head[head.rfind('\n').map_or(0, |n| n + 1)..];
    let mut words: Vec<&str> = head.split_whitespace().collect();
    while words.last().is_some_and(|word| {
        [
            "the",
            "my",
            "a",
            "your",
            "our",
            "their",
            "das",
            "mein",
            "la",
            "mi",
            "contraseña",
            "le",
            "new",
            "wifi",
            "temporary",
            "admin",
            "root",
            "is",
            "ist",
            "es",
            "est",
        ]
        .contains(&word.to_lowercase().as_str())
    }) {
        let last = words.pop()?;
        if ["is", "ist", "es", "est"].contains(&last) {
            words.push("as");
            break;
        }
    }
    if !matches!(words.pop()?, "as" | "als" | "como" | "comme" | "come") {
        return None;
    }
    let raw = *words.last()?;
    let start = floor + text[floor..from].rfind(raw)?;
    let value = raw.trim_matches(['"', '\'', '`', ',', '(', ')', '“', '”']);
    let start = start + raw.find(value)?;
    let quoted = value.len() < raw.len();
    accept_spoken(text, (start, start + value.len(), quoted), false)
}

/// The value at `at` of a sentence: start, end, and whether it is quoted.
fn spoken(text: &str, at: usize) -> Option<(usize, usize, bool)> {
    let value = read(text, at, Join::Space)?;
    let (start, mut end) = (value.start, value.end);
    if !value.quoted {
        let word = &text[start..end];
        let cut = word.trim_end_matches(['?', ')', ',', '.', ';', '"', '»', '”', '。', '、', '」']);
        // Japanese, Korean and Chinese go on without a space.
        let cut = cut.find(|c: char| c as u32 >= 0x2E80).map_or(cut, |n| if n > 0 { &cut[..n] } else { cut });
        end = start + cut.len();
    }
    (start < end).then_some((start, end, value.quoted))
}

fn accept_spoken(text: &str, (start, end, quoted): (usize, usize, bool), clear: bool) -> Option<Finding> {
    let value = &text[start..end];
    let length = value.chars().count();
    if !(4..=80).contains(&length)
        || is_placeholder(value)
        || is_path(value)
        || is_digest(value)
        || prose(value)
        || measure(value)
        || value.contains("::")
    {
        return None;
    }
    if quoted {
        let fits = if value.contains(char::is_whitespace) { phrase(value) } else { clear || strong(value) };
        return fits.then(|| finding("password_sentence", (start, end), Confidence::Likely));
    }
    if value.contains("://") || is_code(value) && !strong(value) || value.contains('(') {
        return None;
    }
    let digits = value.bytes().all(|b| b.is_ascii_digit());
    let after = text[end..].trim_start_matches(' ');
    let unit = [
        "char", "bit", "digit", "byte", "zeichen", "day", "week", "month", "year", "time", "minute", "hour", "caract",
        "年", "月", "日", "文字", "桁", "字", "位", "个", "個", "次", "回", "자", "글자", "번", "words", "letters",
        "stell", "attempts", "people", "users", "sites",
    ]
    .iter()
    .any(|unit| after.starts_with(unit));
    let fits = if digits { clear && !unit } else { strong(value) && !unit || clear && camel(value) };
    fits.then(|| finding("password_sentence", (start, end), Confidence::Likely))
}
