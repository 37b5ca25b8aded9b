//! Passwords: assigned to a name, given to a function or a program. Those of sentences are in `password_sentence`.
use crate::password_sentence::{backwards, sentence};
use crate::password_value::{is_code, is_digest, is_label, is_path, measure, mingled, phrase, prose, strong};
use crate::password_words::{NOT, TERSE};
use crate::placeholder::is_placeholder;
use crate::value::{Join, LONGEST_NAME, Value, after_name, blanks, inflected, name_around, read};
use crate::{Class, Confidence, Finding};

pub(crate) fn finding(detector: &'static str, value: (usize, usize), confidence: Confidence) -> Finding {
    Finding { class: Class::Password, detector, start: value.0, end: value.1, confidence }
}

/// The password given to the name around `start..end`.
pub(crate) fn at(text: &str, start: usize, end: usize) -> Option<Finding> {
    let word = &text[start..end];
    let terse = TERSE.iter().any(|name| word.eq_ignore_ascii_case(name));
    let (from, to) = if word.is_ascii() { name_around(text, start, end) } else { (start, end) };
    let (plain, to) = (to, inflected(text, to));
    if to - from > LONGEST_NAME {
        return None;
    }
    let bytes = text.as_bytes();
    // "bypass", "compass": the word must begin here, or after a mark, or as a hump.
    let glued = start > 0 && bytes[start - 1].is_ascii_alphabetic();
    let hump = glued && bytes[start].is_ascii_uppercase() && bytes[start - 1].is_ascii_lowercase();
    let shout = glued && !terse && bytes[from..to].iter().all(|b| !b.is_ascii_lowercase());
    let root = ["db", "my", "user", "root", "admin", "wifi", "wlan", "smtp", "ftp", "vpn", "app"];
    let known = glued && root.iter().any(|root| text[from..start].eq_ignore_ascii_case(root));
    let joined = glued && !terse && word.len() > 6 && (from == start || !text[from..start].contains('-'));
    if glued && !hump && !shout && !known && !joined {
        return None;
    }
    let after = &text[end..plain];
    // `pass_by_ref`, `PASSTHRU`, `pw_uid`: a short name goes on with digits at most.
    if terse && after.len() > 1 && after.bytes().any(|b| b.is_ascii_alphabetic()) && !POSSESSIVE.contains(&after) {
        return None;
    }
    if word.is_ascii() && !after.is_empty() && !plain_tail(after, terse && !word.eq_ignore_ascii_case("parola")) {
        return None;
    }
    // "parolası", "parolam": with an ending the word can be nothing else.
    let terse = terse && (to == plain || !word.is_ascii()) && !POSSESSIVE.contains(&after);
    // "clave API": a key, not a password.
    let next = text[to..].trim_start_matches([' ', '_']).trim_start_matches("de ").trim_start_matches("de la ");
    if terse && next.get(..3).is_some_and(|word| word.eq_ignore_ascii_case("api")) {
        return crate::secret::at(text, start, end);
    }
    let before = text[from..start].to_ascii_lowercase();
    let last = before.trim_end_matches(['_', '-', '.']).rsplit(['_', '-', '.']).next().unwrap_or("");
    if NOT_BEFORE.contains(&last) {
        return None;
    }
    if let Some(found) = argument(text, (from, to), &before, terse) {
        return Some(found);
    }
    let option = before.starts_with("--") || before == "-";
    if let Some(value) = after_name(text, from, to) {
        let found = assigned(text, &text[from..to], &value, terse, option);
        // A mark joined the two: what the mark gives is all there is.
        if found.is_some() || value.join != Join::Space {
            return found;
        }
    }
    if terse && !matches!(word.to_ascii_lowercase().as_str(), "clave" | "pw" | "pwd" | "parola" | "pass" | "psk") {
        return None;
    }
    sentence(text, to, terse).or_else(|| backwards(text, from))
}

/// `password1`, `password_prod`, `passwordConfirmation`, but not `password_hash`.
fn plain_tail(after: &str, terse: bool) -> bool {
    let lower = after.to_ascii_lowercase();
    let marked = after.starts_with(|c: char| !c.is_ascii_lowercase());
    if !marked {
        // "passwords", "passwordless", "passing", "passport".
        let ending = matches!(lower.as_str(), "s" | "e" | "er" | "ene" | "et" | "en" | "n" | "ets" | "ens");
        return !terse && (ending || POSSESSIVE.contains(&after));
    }
    !NOT.iter().any(|word| lower.trim_start_matches(['_', '-']).starts_with(word))
}

/// Endings that say whose: Turkish, Finnish.
const POSSESSIVE: &[&str] = &["m", "miz", "niz", "si", "ni", "nsa", "mme", "nne"];

/// Functions that are given a name and what it shall be: `define('DB_PASSWORD', 'x')`. Those of the first list are
/// used for nothing else.
const DEFINES: &[&str] = &["define", "setenv", "putenv", "setdefault", "set_var", "env", "setproperty", "setsecret"];
const SETS: &[&str] = &["set", "put", "setitem", "append", "fill", "type", "setvalue", "setstring"];

/// A value that a function is given: `setPassword("x")`, or behind the name, `define('DB_PASSWORD', 'x')`.
fn argument(text: &str, name: (usize, usize), before: &str, terse: bool) -> Option<Finding> {
    let bytes = text.as_bytes();
    let (from, to) = name;
    let after_space = |at: usize| at + blanks(bytes, at);
    let head = &bytes[..from];
    let (at, certain) = match *bytes.get(to)? {
        b'(' => {
            let member = before.ends_with('.') || head.ends_with(b"->") || head.ends_with(b".");
            let setter = before
                .rsplit(['.', '_'])
                .find(|part| !part.is_empty())
                .is_some_and(|part| ["set", "with"].contains(&part));
            if !(member && !terse || setter) {
                return None;
            }
            (after_space(to + 1), true)
        }
        quote @ (b'"' | b'\'') => {
            let head =
                head.strip_suffix(b"#").unwrap_or(head).strip_suffix(&[quote])?.trim_ascii_end().strip_suffix(b"(")?;
            let called = head.iter().rev().take(24).take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count();
            let called = text.get(head.len() - called..head.len())?.to_ascii_lowercase();
            let certain = DEFINES.contains(&called.as_str());
            if !certain && !SETS.contains(&called.as_str()) {
                return None;
            }
            let comma = after_space(to + 1);
            if bytes.get(comma) != Some(&b',') {
                return None;
            }
            (after_space(comma + 1), certain)
        }
        _ => return None,
    };
    let value = read(text, at, Join::Space).filter(|value| value.quoted)?;
    let inner = &text[value.start..value.end];
    let length = inner.chars().count();
    let closed = bytes.get(after_space(value.end + 1)) == Some(&b')');
    let fits = strong(inner) && !measure(inner) || certain && length >= 5 && !prose(inner);
    (closed
        && fits
        && (4..=128).contains(&length)
        && !inner.contains(char::is_whitespace)
        && !is_placeholder(inner)
        && !is_path(inner)
        && !is_digest(inner))
    .then(|| finding("password_argument", (value.start, value.end), Confidence::Likely))
}

/// A value joined to the name by a mark.
fn assigned(text: &str, name: &str, value: &Value, terse: bool, option: bool) -> Option<Finding> {
    let (mut start, mut end) = (value.start, value.end);
    let mut inner = &text[start..end];
    if value.join == Join::Space && !option && (!value.quoted || terse) {
        return None;
    }
    // In prose a stop or a question mark ends the sentence, not the password.
    if !value.quoted && value.join == Join::Colon && inner.ends_with('?') {
        end -= 1;
        inner = &text[start..end];
    }
    if let Some(plain) = inner.strip_prefix("{noop}").or_else(|| inner.strip_prefix("{plain}")) {
        start = end - plain.len();
        inner = plain;
    }
    let length = inner.chars().count();
    if !(3..=128).contains(&length) || is_placeholder(inner) || is_path(inner) || is_digest(inner) || is_label(inner) {
        return None;
    }
    if name.eq_ignore_ascii_case("pwd") && inner.starts_with(['/', '~', '\\']) {
        return None;
    }
    let sure = Some(finding("password_assignment", (start, end), Confidence::VeryLikely));
    if value.quoted {
        return match inner.contains(char::is_whitespace) {
            true => phrase(inner).then(|| finding("passphrase", (start, end), Confidence::Likely)),
            false if value.join == Join::Space => (strong(inner) || inner.len() >= 6 && !prose(inner))
                .then(|| finding("password_assignment", (start, end), Confidence::Likely)),
            false => (!prose(inner) && (!terse || inner.len() >= 4)).then_some(sure).flatten(),
        };
    }
    // Code: a call, a member, a variable.
    if is_code(inner) {
        return None;
    }
    if strong(inner) && !measure(inner) || mingled(inner) {
        return sure;
    }
    let digits = inner.bytes().all(|b| b.is_ascii_digit());
    if digits {
        return (length >= 4 && !terse || length >= 6).then_some(sure).flatten();
    }
    // A bare word: only where it is all that the line has left, and where no code could stand.
    let shell = name.bytes().all(|b| !b.is_ascii_lowercase());
    let word = inner.bytes().all(|b| b.is_ascii_lowercase() || !b.is_ascii()) || shell || option;
    // `PGPASSWORD=x psql`: a command follows, not a sentence.
    let command = value.join == Join::Tight
        && (!terse || name.contains('_'))
        && shell
        && text[end..].strip_prefix(' ').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_lowercase()));
    let bare = (value.ends_line || command) && word && length >= 5 && !prose(inner) && !inner.contains('_');
    let space = value.join != Join::Colon || !terse;
    (bare && space).then(|| finding("password_assignment", (start, end), Confidence::Likely))
}

/// What a name begins with when it is about a password.
const NOT_BEFORE: &[&str] = &[
    "hashed",
    "encrypted",
    "no",
    "forgot",
    "reset",
    "invalid",
    "wrong",
    "min",
    "max",
    "has",
    "is",
    "use",
    "show",
    "hide",
    "enable",
    "hash",
    "check",
    "validate",
    "verify",
    "generate",
    "random",
];

/// A password on a command line: `mysql -pX`, `sshpass -p X`, `curl -u name:X`, `IDENTIFIED BY 'X'`.
pub(crate) fn command(text: &str, start: usize, end: usize) -> Option<Finding> {
    let name = text[start..end].to_ascii_lowercase();
    let line = &text[end..text.floor_char_boundary((end + 300).min(text.len()))];
    let line = &line[..line.find('\n').unwrap_or(line.len())];
    let take = |at: usize| read(text, at, Join::Space).map(|value| (value.start, value.end, value.quoted));
    let (from, to, _) = match name.trim_end() {
        // SQL; with another quote it is prose.
        "identified by" => take(end + blanks(text.as_bytes(), end))
            .filter(|value| matches!(text.as_bytes()[value.0 - 1], b'\'' | b'"') && value.2)?,
        "sshpass -p" => take(end + blanks(text.as_bytes(), end))?,
        "curl" | "wget" => {
            let option = ["-u ", "--user ", "--user="].iter().filter_map(|o| option_end(line, o)).min()?;
            let (from, to, quoted) = take(end + option + blanks(line.as_bytes(), option))?;
            let colon = text[from..to].find(':')?;
            (from + colon + 1, to, quoted)
        }
        "docker login" => take(end + option_end(line, "-p ")?)?,
        "redis-cli" => take(end + option_end(line, "-a ")?)?,
        // -pX without a space; -p alone asks for it.
        _ => take(end + option_end(line, "-p")?).filter(|(from, ..)| text.as_bytes().get(from - 1) != Some(&b' '))?,
    };
    let value = &text[from..to];
    (value.len() >= 3
        && !is_placeholder(value)
        && !value.starts_with('-')
        && (!value.starts_with('$') || strong(value)))
    .then(|| finding("command_line", (from, to), Confidence::VeryLikely))
}

/// Where the value of an option begins, the option standing as a word of its own.
fn option_end(line: &str, option: &str) -> Option<usize> {
    let at = if line.starts_with(option) { Some(0) } else { None };
    let at = at.or_else(|| {
        line.match_indices(option).map(|(at, _)| at).find(|at| *at > 0 && line.as_bytes()[at - 1] == b' ')
    })?;
    let end = at + option.len();
    line.as_bytes().get(end).filter(|b| !b.is_ascii_whitespace() || option.ends_with(' ')).map(|_| end)
}
