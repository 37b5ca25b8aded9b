//! Finds passwords in sentences.
use crate::Confidence;
use crate::Finding;
use crate::password_value::{
    has_inner_capital, is_code, is_digest, is_distinctive, is_measure, is_ordinary_word, is_passphrase, is_path,
    is_strong, password_finding,
};
use crate::placeholder::is_placeholder;
use crate::value::{Join, count_blanks, read_value};
use crate::word_lists::{grammar, password};

/// The password in a sentence such as "the password is X", "das Passwort für das WLAN lautet X" or "パスワードはX". `from`
/// is the end of the word that means "password".
pub(crate) fn password_in_sentence(text: &str, from: usize, is_ambiguous: bool) -> Option<Finding> {
    let rest = &text[from..text.floor_char_boundary((from + 160).min(text.len()))];
    let rest = &rest[..rest.find('\n').unwrap_or(rest.len())];
    let mut position = rest.len() - rest.trim_start_matches(['*', '"', '\'', '`', '»', '”', ')']).len();
    if let Some(particle) = grammar::PARTICLES.iter().find(|particle| rest[position..].starts_with(**particle)) {
        position += particle.len();
        position += count_blanks(rest.as_bytes(), position);
        position += rest[position..].strip_prefix(['：', ':']).map_or(0, |tail| rest[position..].len() - tail.len());
        let value = value_at(text, from + position)?;
        return finding_if_password(text, value, true);
    }
    // If one of these characters follows, the name is part of a list, a call or a type.
    if rest[position..].starts_with([',', ')', ']', '}', ';', '>', '<', '&', '(']) {
        return None;
    }
    // The value may follow the name directly, as in "the password X".
    let next = position + count_blanks(rest.as_bytes(), position);
    let is_unspaced = text[..from].chars().next_back().is_some_and(|c| c as u32 >= 0x2E80);
    if (next > position || is_unspaced)
        && rest[..position].bytes().all(|b| b == b'*')
        && (!is_ambiguous || text[..from].ends_with(['w', 'W', 'd', 'D']))
        && let Some(value) = value_at(text, from + next)
        && !value.is_quoted
        && is_distinctive(&text[value.start..value.end])
    {
        return finding_if_password(text, value, false);
    }
    // "pass" may be a verb, as in "pass the parcel".
    let may_be_verb = text[..from].ends_with(['s', 'S']);
    let mut is_linked = false;
    let mut link_word = "";
    let mut is_after_colon = false;
    for count in 0..9 {
        position += count_blanks(rest.as_bytes(), position);
        let word_end = rest[position..].find([' ', '\t']).map_or(rest.len(), |n| position + n);
        let word_with_signs = &rest[position..word_end];
        if word_with_signs.is_empty() || word_with_signs.starts_with(['{', '}']) {
            return None;
        }
        let bare_word = word_with_signs.trim_matches(['"', '\'', '`', '(', ')', '*', ',']);
        let lower = bare_word.to_lowercase();
        let is_filler = is_linked && password::FILLERS.contains(&lower.as_str());
        if is_linked && !is_filler || word_with_signs.starts_with(['"', '`', '“', '„', '«']) && count > 0 {
            let value = value_at(text, from + position)?;
            let quoted_without_link = !is_linked && !is_after_colon;
            if quoted_without_link && !(value.is_quoted && is_strong(&text[value.start..value.end])) {
                return None;
            }
            let is_weak_link = password::WEAK_LINKS.contains(&link_word);
            // In "pass a `Cache`" and "pass to x", for example, "pass" is a verb.
            if is_ambiguous && is_weak_link && !is_distinctive(&text[value.start..value.end]) {
                return None;
            }
            return finding_if_password(text, value, !is_weak_link || value.is_quoted);
        }
        let head = lower.trim_end_matches([':', '：']);
        if password::LINKS.contains(&lower.as_str()) || lower.ends_with([':', '：']) && !lower.is_empty() {
            // In "password length: 12", for example, the value is not the password itself.
            if lower.ends_with(':') && is_attribute(head) {
                return None;
            }
            is_linked = true;
            is_after_colon = lower.ends_with(':');
            link_word = password::LINKS.iter().find(|word| **word == lower).copied().unwrap_or("");
        } else if !is_linked {
            let ends_sentence = word_with_signs.ends_with(['.', '!', '?', ';']) || count > 5 || is_attribute(head);
            let is_conjunction = password::CONJUNCTIONS.contains(&lower.as_str());
            let is_too_far = is_ambiguous && (may_be_verb || !password::AMBIGUOUS_NAME_LINKS.contains(&lower.as_str()));
            if ends_sentence || is_conjunction || is_too_far {
                return None;
            }
        }
        position = word_end;
    }
    None
}

/// Whether the word after the name is an attribute of a password, as in "password policy" and "password fields". A word
/// from `ATTRIBUTES` may only have a known ending, because "portal" does not mean "port"; a stem may have any ending.
fn is_attribute(word: &str) -> bool {
    let is_ending = |rest: &str| rest.is_empty() || password::ATTRIBUTE_ENDINGS.contains(&rest);
    let mut attributes = password::ATTRIBUTES.iter().filter(|attribute| attribute.len() > 3);
    attributes.any(|attribute| word.strip_prefix(attribute).is_some_and(is_ending))
        || password::ATTRIBUTE_STEMS.iter().any(|stem| word.starts_with(stem))
}

/// The password that comes before its name, as in "use X as the password" and "X is the password".
pub(crate) fn value_before_name(text: &str, from: usize) -> Option<Finding> {
    let floor = text.ceil_char_boundary(from.saturating_sub(80));
    let head = &text[floor..from];
    let head = &head[head.rfind('\n').map_or(0, |n| n + 1)..];
    let mut words: Vec<&str> = head.split_whitespace().collect();
    while words.last().is_some_and(|word| password::WORDS_BEFORE_NAME.contains(&word.to_lowercase().as_str())) {
        let last = words.pop()?;
        if password::COPULAS.contains(&last) {
            words.push("as");
            break;
        }
    }
    if !password::AS_WORDS.contains(&words.pop()?) {
        return None;
    }
    let last_word = *words.last()?;
    let start = floor + text[floor..from].rfind(last_word)?;
    let value = last_word.trim_matches(['"', '\'', '`', ',', '(', ')', '“', '”']);
    let start = start + last_word.find(value)?;
    let is_quoted = value.len() < last_word.len();
    finding_if_password(text, SentenceValue { start, end: start + value.len(), is_quoted }, false)
}

#[derive(Clone, Copy)]
struct SentenceValue {
    start: usize,
    end: usize,
    is_quoted: bool,
}

/// The value at `position` in a sentence, without the punctuation that ends the sentence.
fn value_at(text: &str, position: usize) -> Option<SentenceValue> {
    let value = read_value(text, position, Join::Space)?;
    let (start, mut end) = (value.start, value.end);
    if !value.is_quoted {
        let word = &text[start..end];
        let trimmed_word = word.trim_end_matches(['?', ')', ',', '.', ';', '"', '»', '”', '。', '、', '」']);
        // Chinese, Japanese and Korean text may follow without a space; its first character ends the value.
        let trimmed_word = trimmed_word
            .find(|c: char| c as u32 >= 0x2E80)
            .map_or(trimmed_word, |n| if n > 0 { &trimmed_word[..n] } else { trimmed_word });
        end = start + trimmed_word.len();
    }
    (start < end).then_some(SentenceValue { start, end, is_quoted: value.is_quoted })
}

/// The finding for a value, if it looks like a password. `has_clear_link` is true if the words before the value can
/// only introduce a password.
fn finding_if_password(text: &str, value: SentenceValue, has_clear_link: bool) -> Option<Finding> {
    let SentenceValue { start, end, is_quoted } = value;
    let value = &text[start..end];
    let length = value.chars().count();
    if !(4..=80).contains(&length)
        || is_placeholder(value)
        || is_path(value)
        || is_digest(value)
        || is_ordinary_word(value)
        || is_measure(value)
        || value.contains("::")
    {
        return None;
    }
    if is_quoted {
        let looks_like_password =
            if value.contains(char::is_whitespace) { is_passphrase(value) } else { has_clear_link || is_strong(value) };
        return looks_like_password.then(|| password_finding("password_sentence", (start, end), Confidence::Likely));
    }
    if value.contains("://") || is_code(value) && !is_strong(value) || value.contains('(') {
        return None;
    }
    let has_only_digits = value.bytes().all(|b| b.is_ascii_digit());
    let text_after = text[end..].trim_start_matches(' ');
    let has_unit = password::COUNTED_UNITS.iter().any(|unit| text_after.starts_with(unit));
    let looks_like_password = if has_only_digits {
        has_clear_link && !has_unit
    } else {
        is_strong(value) && !has_unit || has_clear_link && has_inner_capital(value)
    };
    looks_like_password.then(|| password_finding("password_sentence", (start, end), Confidence::Likely))
}
