//! Finds passwords that are assigned to a name, or passed to a function or program. For sentences, see
//! `password_sentence`.
use crate::password_sentence::{password_in_sentence, value_before_name};
use crate::password_value::{
    has_mixed_case, is_code, is_digest, is_label, is_measure, is_ordinary_word, is_passphrase, is_path, is_strong,
    password_finding,
};
use crate::placeholder::is_placeholder;
use crate::value::{
    Join, MAX_NAME_BYTES, Value, count_blanks, end_of_inflection, name_around, read_value, value_after_name,
};
use crate::word_lists::password;
use crate::{Confidence, Finding};

/// The password that is assigned to the name with the word at `start..end`. If the name actually means a key, as in
/// "clave API", the key is returned instead.
pub(crate) fn password_for_name(text: &str, start: usize, end: usize) -> Option<Finding> {
    let word = &text[start..end];
    let is_ambiguous = password::AMBIGUOUS_NAMES.iter().any(|name| word.eq_ignore_ascii_case(name));
    let (from, to) = if word.is_ascii() { name_around(text, start, end) } else { (start, end) };
    let (ascii_end, to) = (to, end_of_inflection(text, to));
    if to - from > MAX_NAME_BYTES {
        return None;
    }
    let bytes = text.as_bytes();
    // The word must not be the end of another word, as in "bypass" and "compass". So it may follow a letter only in a
    // camelCase name, in an all-caps name, after a known prefix (`dbpassword`), or if it is long and unambiguous
    // (`Benutzerpasswort`).
    let follows_letter = start > 0 && bytes[start - 1].is_ascii_alphabetic();
    let starts_camel_case_word =
        follows_letter && bytes[start].is_ascii_uppercase() && bytes[start - 1].is_ascii_lowercase();
    let is_all_capitals = follows_letter && !is_ambiguous && bytes[from..to].iter().all(|b| !b.is_ascii_lowercase());
    let has_known_prefix =
        follows_letter && NAME_PREFIXES.iter().any(|prefix| text[from..start].eq_ignore_ascii_case(prefix));
    let is_compound =
        follows_letter && !is_ambiguous && word.len() > 6 && (from == start || !text[from..start].contains('-'));
    if follows_letter && !starts_camel_case_word && !is_all_capitals && !has_known_prefix && !is_compound {
        return None;
    }
    let ending = &text[end..ascii_end];
    let has_possessive_ending = password::POSSESSIVE_ENDINGS.contains(&ending);
    // An ambiguous name may be followed by digits, but not by letters, as in `pass_by_ref`, `PASSTHRU` and `pw_uid`.
    if is_ambiguous && ending.len() > 1 && ending.bytes().any(|b| b.is_ascii_alphabetic()) && !has_possessive_ending {
        return None;
    }
    let may_take_ending = !is_ambiguous || word.eq_ignore_ascii_case("parola");
    if word.is_ascii() && !ending.is_empty() && !is_name_ending(ending, may_take_ending) {
        return None;
    }
    // If an ending follows, as in "parolası" and "parolam", the word is not ambiguous.
    let is_ambiguous = is_ambiguous && (to == ascii_end || !word.is_ascii()) && !has_possessive_ending;
    // "clave API" is a key and not a password.
    let text_after = text[to..].trim_start_matches([' ', '_']).trim_start_matches("de ").trim_start_matches("de la ");
    if is_ambiguous && text_after.get(..3).is_some_and(|word| word.eq_ignore_ascii_case("api")) {
        return crate::secret::secret_for_name(text, start, end, false);
    }
    let text_before_name = text[from..start].to_ascii_lowercase();
    let last_prefix = text_before_name.trim_end_matches(['_', '-', '.']).rsplit(['_', '-', '.']).next().unwrap_or("");
    if password::NAME_PREFIXES_WITHOUT_VALUE.contains(&last_prefix) {
        return None;
    }
    if let Some(finding) = function_argument(text, (from, to), &text_before_name, is_ambiguous) {
        return Some(finding);
    }
    let is_option = text_before_name.starts_with("--") || text_before_name == "-";
    if let Some(value) = value_after_name(text, from, to) {
        let finding = assigned_password(text, &text[from..to], &value, is_ambiguous, is_option);
        // If the value is assigned with a sign, the rest of the sentence is not searched.
        if finding.is_some() || value.join != Join::Space {
            return finding;
        }
    }
    let lower = word.to_ascii_lowercase();
    if is_ambiguous && !password::AMBIGUOUS_NAMES_IN_SENTENCES.contains(&lower.as_str()) {
        return None;
    }
    password_in_sentence(text, to, is_ambiguous).or_else(|| value_before_name(text, from))
}

/// Whether a name for a password still means a password with `appended_text` after it, as in `password1`,
/// `password_prod` and `passwordConfirmation`, but not in `password_hash`.
fn is_name_ending(appended_text: &str, may_take_ending: bool) -> bool {
    let lower = appended_text.to_ascii_lowercase();
    if appended_text.starts_with(|c: char| c.is_ascii_lowercase()) {
        // "passwords" is accepted, but not "passwordless", "passing" and "passport".
        let has_known_ending = password::NAME_ENDINGS.contains(&lower.as_str());
        return may_take_ending && (has_known_ending || password::POSSESSIVE_ENDINGS.contains(&appended_text));
    }
    let next_word = lower.trim_start_matches(['_', '-']);
    !password::ATTRIBUTES.iter().chain(password::ATTRIBUTE_STEMS).any(|word| next_word.starts_with(word))
}

/// Words that may be joined to a name for a password, as in `dbpassword`.
const NAME_PREFIXES: &[&str] = &["db", "my", "user", "root", "admin", "wifi", "wlan", "smtp", "ftp", "vpn", "app"];

/// Functions that always take a name and its value, as in `define('DB_PASSWORD', 'x')`.
const DEFINE_FUNCTIONS: &[&str] =
    &["define", "setenv", "putenv", "setdefault", "set_var", "env", "setproperty", "setsecret"];
/// Functions that can take a name and its value, but also have other uses.
const SET_FUNCTIONS: &[&str] = &["set", "put", "setitem", "append", "fill", "type", "setvalue", "setstring"];

/// A password that is passed to a function. The function is either named after the password (`setPassword("x")`), or
/// also takes the password's name (`define('DB_PASSWORD', 'x')`).
fn function_argument(text: &str, name: (usize, usize), text_before_name: &str, is_ambiguous: bool) -> Option<Finding> {
    let bytes = text.as_bytes();
    let (from, to) = name;
    let after_space = |position: usize| position + count_blanks(bytes, position);
    let head = &bytes[..from];
    let (position, is_certain) = match *bytes.get(to)? {
        b'(' => {
            let is_member_call = text_before_name.ends_with('.') || head.ends_with(b"->") || head.ends_with(b".");
            let is_setter = text_before_name
                .rsplit(['.', '_'])
                .find(|part| !part.is_empty())
                .is_some_and(|part| ["set", "with"].contains(&part));
            if !(is_member_call && !is_ambiguous || is_setter) {
                return None;
            }
            (after_space(to + 1), true)
        }
        quote @ (b'"' | b'\'') => {
            let head =
                head.strip_suffix(b"#").unwrap_or(head).strip_suffix(&[quote])?.trim_ascii_end().strip_suffix(b"(")?;
            let called_name =
                head.iter().rev().take(24).take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count();
            let called_name = text.get(head.len() - called_name..head.len())?.to_ascii_lowercase();
            let is_certain = DEFINE_FUNCTIONS.contains(&called_name.as_str());
            if !is_certain && !SET_FUNCTIONS.contains(&called_name.as_str()) {
                return None;
            }
            let comma = after_space(to + 1);
            if bytes.get(comma) != Some(&b',') {
                return None;
            }
            (after_space(comma + 1), is_certain)
        }
        _ => return None,
    };
    let value = read_value(text, position, Join::Space).filter(|value| value.is_quoted)?;
    let inner = &text[value.start..value.end];
    let length = inner.chars().count();
    let is_closed = bytes.get(after_space(value.end + 1)) == Some(&b')');
    let looks_like_password =
        is_strong(inner) && !is_measure(inner) || is_certain && length >= 5 && !is_ordinary_word(inner);
    (is_closed
        && looks_like_password
        && (4..=128).contains(&length)
        && !inner.contains(char::is_whitespace)
        && !is_placeholder(inner)
        && !is_path(inner)
        && !is_digest(inner))
    .then(|| password_finding("password_argument", (value.start, value.end), Confidence::Likely))
}

/// A password that is assigned to the name with a sign, given as an option of a command, or quoted directly after an
/// unambiguous name.
fn assigned_password(text: &str, name: &str, value: &Value, is_ambiguous: bool, is_option: bool) -> Option<Finding> {
    let (mut start, mut end) = (value.start, value.end);
    let mut inner = &text[start..end];
    if value.join == Join::Space && !is_option && (!value.is_quoted || is_ambiguous) {
        return None;
    }
    // A question mark at the end of a sentence is not part of the password.
    if !value.is_quoted && value.join == Join::Colon && inner.ends_with('?') {
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
    let very_likely_finding = Some(password_finding("password_assignment", (start, end), Confidence::VeryLikely));
    if value.is_quoted {
        return match inner.contains(char::is_whitespace) {
            true => is_passphrase(inner).then(|| password_finding("passphrase", (start, end), Confidence::Likely)),
            false if value.join == Join::Space => (is_strong(inner) || inner.len() >= 6 && !is_ordinary_word(inner))
                .then(|| password_finding("password_assignment", (start, end), Confidence::Likely)),
            false => (!is_ordinary_word(inner) && (!is_ambiguous || inner.len() >= 4))
                .then_some(very_likely_finding)
                .flatten(),
        };
    }
    // Program code, such as a call, a member or a variable, is not a password.
    if is_code(inner) {
        return None;
    }
    if is_strong(inner) && !is_measure(inner) || has_mixed_case(inner) {
        return very_likely_finding;
    }
    let has_only_digits = inner.bytes().all(|b| b.is_ascii_digit());
    if has_only_digits {
        return (length >= 4 && !is_ambiguous || length >= 6).then_some(very_likely_finding).flatten();
    }
    // A plain word is only accepted if nothing else follows on the line and the line is not code.
    let is_shell_variable = name.bytes().all(|b| !b.is_ascii_lowercase());
    let is_word = inner.bytes().all(|b| b.is_ascii_lowercase() || !b.is_ascii()) || is_shell_variable || is_option;
    // A command may follow, as in `PGPASSWORD=x psql`; the line is then not a sentence either.
    let is_followed_by_command = value.join == Join::TightEquals
        && (!is_ambiguous || name.contains('_'))
        && is_shell_variable
        && text[end..].strip_prefix(' ').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_lowercase()));
    let is_plain_word = (value.ends_line || is_followed_by_command)
        && is_word
        && length >= 5
        && !is_ordinary_word(inner)
        && !inner.contains('_');
    let is_unambiguous = value.join != Join::Colon || !is_ambiguous;
    (is_plain_word && is_unambiguous).then(|| password_finding("password_assignment", (start, end), Confidence::Likely))
}

/// A password on a command line: `mysql -pX`, `sshpass -p X`, `curl -u name:X`, `IDENTIFIED BY 'X'`.
pub(crate) fn password_on_command_line(text: &str, start: usize, end: usize) -> Option<Finding> {
    let name = text[start..end].to_ascii_lowercase();
    let line = &text[end..text.floor_char_boundary((end + 300).min(text.len()))];
    let line = &line[..line.find('\n').unwrap_or(line.len())];
    let read = |position: usize| {
        read_value(text, position, Join::Space).map(|value| (value.start, value.end, value.is_quoted))
    };
    let (from, to, _quoted) = match name.trim_end() {
        // In SQL, the value is quoted. Without quotes, "identified by" is part of an ordinary sentence.
        "identified by" => read(end + count_blanks(text.as_bytes(), end))
            .filter(|value| matches!(text.as_bytes()[value.0 - 1], b'\'' | b'"') && value.2)?,
        "sshpass -p" => read(end + count_blanks(text.as_bytes(), end))?,
        "curl" | "wget" => {
            let option = ["-u ", "--user ", "--user="].iter().filter_map(|o| find_option_value(line, o)).min()?;
            let (from, to, is_quoted) = read(end + option + count_blanks(line.as_bytes(), option))?;
            let colon = text[from..to].find(':')?;
            (from + colon + 1, to, is_quoted)
        }
        "docker login" => read(end + find_option_value(line, "-p ")?)?,
        "redis-cli" => read(end + find_option_value(line, "-a ")?)?,
        // The value must follow without a space, as in `-pX`. After `-p` alone, the program asks for the password.
        _ => read(end + find_option_value(line, "-p")?)
            .filter(|(from, ..)| text.as_bytes().get(from - 1) != Some(&b' '))?,
    };
    let value = &text[from..to];
    (value.len() >= 3
        && !is_placeholder(value)
        && !value.starts_with('-')
        && (!value.starts_with('$') || is_strong(value)))
    .then(|| password_finding("command_line", (from, to), Confidence::VeryLikely))
}

/// Position of the value after the first `option` on the line. The option must begin a word.
fn find_option_value(line: &str, option: &str) -> Option<usize> {
    let position = if line.starts_with(option) { Some(0) } else { None };
    let position = position.or_else(|| {
        line.match_indices(option)
            .map(|(position, _)| position)
            .find(|position| *position > 0 && line.as_bytes()[position - 1] == b' ')
    })?;
    let end = position + option.len();
    line.as_bytes().get(end).filter(|b| !b.is_ascii_whitespace() || option.ends_with(' ')).map(|_| end)
}
